"""AOPC of random orders: in half precision where that tells on which side of every measure they lie, else in the
model's own.

A test counts the random orders that do at least as well as a measure. One whose AOPC lies far from that of every
measure counts the same in either precision; how far is far enough follows from inputs that are scored in both.
"""

from collections.abc import Callable, Sequence

import numpy as np

from core.mathematics.aopc import prefix_masks
from core.mathematics.arrays import Order, Value
from core.network.scheduler import NonFinite

# What scores random orders: so many orders → float64[R].
Reach = Callable[[Sequence[Order]], np.ndarray]
# Of random orders so many lie close to one of three measures or another, as measured on sentences of 12 to 40 words.
CLOSE = 0.15
# An order is scored again where it lies no farther from a measure than FAR times the largest error of v on BOTH inputs
# that are scored in both precisions, and than LEAST. These are of the orders, FIRST at least, that its own has scored.
FAR, BOTH, FIRST, LEAST = 1.25, 96, 10, 1e-4


def own_reach(value: Value, start: np.ndarray) -> Reach:
    """Scores orders by v alone. Args: value: bool[M, F] → float[M]; start: bool[F], masked from the start."""

    def reach(orders: Sequence[Order]) -> np.ndarray:
        masks = [prefix_masks(order, len(start), start) for order in orders]
        v = np.asarray(value(np.concatenate(masks)), dtype=np.float64).reshape(len(masks), -1)
        return v[:, 0] - v[:, 1:].mean(axis=1)

    return reach


class HalfReach:
    """Scores orders in half precision, and again in the model's own those that lie close to a measure.

    Orders whose masks are all known cost nothing and are scored by v.

    rough: how many are left as half precision scored them; margin: how far from every measure these lie at least, in
    units of AOPC, NaN before there is one.
    """

    def __init__(
        self,
        value: Value,
        half: Callable[[], Value | None],
        known: Callable[[np.ndarray], np.ndarray],
        start: np.ndarray,
        against: np.ndarray,
    ):
        """value: v, bool[M, F] → float[M]; half: gives v in half precision, None where that is no faster; known: which
        masks cost nothing, bool[M, F] → bool[M]; start: bool[F]; against: float64[M], AOPC of the measures' orders.
        """
        self._value, self._start, self._known, self._half = value, start, known, half
        self._against = np.asarray(against, dtype=np.float64)
        self._scored: list[Order] = []
        self._quick: Reach | None = None
        self.rough, self.margin, self._shift = 0, float("nan"), 0.0

    def __call__(self, orders: Sequence[Order]) -> np.ndarray:
        """AOPC of orders, float64[R]. Raises as v does."""
        free = np.array([self._known(prefix_masks(one, len(self._start), self._start)).all() for one in orders])
        reached = np.full(len(orders), np.nan)
        self._own(orders, reached, free)
        if not free.all():
            self._roughly(orders, reached, ~free)
            self._own(orders, reached, np.isnan(reached))
        return reached

    def _own(self, orders: Sequence[Order], reached: np.ndarray, which: np.ndarray) -> None:
        if which.any():
            chosen = [orders[i] for i in np.flatnonzero(which)]
            reached[which] = own_reach(self._value, self._start)(chosen)
            self._scored += chosen

    def _roughly(self, orders: Sequence[Order], reached: np.ndarray, which: np.ndarray) -> None:
        """Score those that lie far from every measure; NaN is left of the others."""
        try:
            if np.isnan(self.margin):
                self._learn()
            if self._quick is None or not np.isfinite(self.margin):
                return
            chosen = np.flatnonzero(which)
            half = self._quick([orders[i] for i in chosen]) + self._shift
        except NonFinite:
            self.margin = np.inf
            return
        far = (np.abs(half[:, None] - self._against) > self.margin).all(axis=1)
        reached[chosen[far]] = half[far]
        self.rough += int(far.sum())

    def _learn(self) -> None:
        """How far half precision errs, from inputs of all orders that the model's own has scored; nothing before there
        are enough.

        AOPC is a mean of v over inputs, of which the text itself is taken as the model's own scores it: it errs no more
        than v does on the worst of them.
        """
        if len(self._scored) < FIRST:
            return
        value = self._half()
        if value is None:
            self.margin = np.inf
            return
        self._quick = own_reach(value, self._start)
        masks = np.concatenate([prefix_masks(order, len(self._start), self._start) for order in self._scored])
        # The first of them is the text.
        some = masks[np.linspace(0, len(masks) - 1, min(BOTH, len(masks))).astype(int)]
        errors = np.asarray(self._value(some), dtype=np.float64) - np.asarray(value(some), dtype=np.float64)
        self._shift, self.margin = float(errors[0]), max(FAR * float(np.abs(errors).max()), LEAST)
