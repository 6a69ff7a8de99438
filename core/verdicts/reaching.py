"""AOPC of random orders: in half precision where that tells on which side of every measure they lie, else in the
model's own.

A test counts the random orders that do at least as well as a measure. One whose AOPC lies far from that of every
measure counts the same in either precision; how far is far enough is told by orders that are scored in both.
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
# An order is scored again where it lies no farther from a measure than FAR times the largest error of BOTH orders that
# are scored in both precisions, and than LEAST.
FAR, BOTH, LEAST = 5.0, 10, 1e-4


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
        self._value, self._start, self._known, self._half = own_reach(value, start), start, known, half
        self._against = np.asarray(against, dtype=np.float64)
        self._free: list[tuple[Order, float]] = []
        self._quick: Reach | None = None
        self.rough, self.margin = 0, float("nan")

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
        chosen = np.flatnonzero(which)
        if len(chosen):
            reached[chosen] = self._value([orders[i] for i in chosen])
            self._free += [(orders[i], reached[i]) for i in chosen[: max(0, BOTH - len(self._free))]]

    def _roughly(self, orders: Sequence[Order], reached: np.ndarray, which: np.ndarray) -> None:
        """Score those that lie far from every measure; NaN is left of the others."""
        try:
            if np.isnan(self.margin):
                self._learn()
            if self._quick is None or not np.isfinite(self.margin):
                return
            chosen = np.flatnonzero(which)
            half = self._quick([orders[i] for i in chosen])
        except NonFinite:
            self.margin = np.inf
            return
        far = (np.abs(half[:, None] - self._against) > self.margin).all(axis=1)
        reached[chosen[far]] = half[far]
        self.rough += int(far.sum())

    def _learn(self) -> None:
        """How far half precision errs, from orders that the model's own has scored; nothing before there are enough."""
        if len(self._free) < BOTH:
            return
        value = self._half()
        if value is None:
            self.margin = np.inf
            return
        self._quick = own_reach(value, self._start)
        orders, own = zip(*self._free)
        self.margin = max(FAR * float(np.abs(self._quick(orders) - own).max()), LEAST)
