"""Beam search over sets of masked features, shared by the measure beam and by the limits of AOPC."""

import numpy as np


class Frontier:
    """The best sets of one size, each once, with the best sum Σ_k sign·(v(∅) − v(first k)) that reaches it.

    A set is kept once, so that the beam holds different sets and not different orders of one. Ties go to the better
    parent, then to the lower position.

    Args:
        start: bool[F], features masked from the start; they are in no order.
        width: B, how many sets are kept; at least 1.
        sign: 1 looks for the largest sum, −1 for the smallest.
    Raises:
        ValueError: width < 1.
    Source: FMM App. E; over sets as in NAOPC §3.
    """

    def __init__(self, start: np.ndarray, width: int, sign: float = 1.0):
        if width < 1:
            raise ValueError(f"the beam's width must be at least 1, got {width}")
        self.width, self.sign = width, sign
        self.sets, self.sums = np.array(start, dtype=bool)[None], np.zeros(1)
        self.orders = np.empty((1, 0), dtype=np.int64)

    def children(self) -> np.ndarray:
        """All sets with one feature more than those kept, each once, bool[K, F]; their values go to `keep`."""
        parents, added = np.nonzero(~self.sets)
        children = self.sets[parents]
        children[np.arange(len(parents)), added] = True
        _, first, same = np.unique(np.packbits(children, axis=1), axis=0, return_index=True, return_inverse=True)
        self._grown = parents, added, children, same.reshape(-1)
        return children[first]

    def keep(self, gains: np.ndarray) -> None:
        """Keep the best of the children by v(∅) − v, float[K]."""
        parents, added, children, same = self._grown
        totals = self.sums[parents] + self.sign * np.asarray(gains, dtype=np.float64)[same]
        best = np.argsort(-totals, kind="stable")
        # The first time a set appears in this order it comes with its best sum.
        kept = best[np.sort(np.unique(same[best], return_index=True)[1])][: self.width]
        self.sets, self.sums = children[kept], totals[kept]
        self.orders = np.column_stack([self.orders[parents[kept]], added[kept]])

    @property
    def order(self) -> np.ndarray:
        """The best order so far, int64: the feature masked first comes first."""
        return self.orders[0]

    @property
    def total(self) -> float:
        """Its sum of v(∅) − v."""
        return float(self.sign * self.sums[0])
