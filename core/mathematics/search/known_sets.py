"""Sets of masked features whose scores are known, joined by one feature, and the best order through them."""

import numpy as np

from core.mathematics.arrays import Masks, Order, Value

SIGNS = (-1.0, 1.0)


class KnownSets:
    """Sets that were scored, each once, as a graph: an order of masking is a path from the empty set to the whole.

    Two sets are joined where one has a single feature more. The best path through what is known is found by the dynamic
    program of exact limits, over these sets instead of all: known sets of different searches, and of both limits, make
    one graph, so that a path may take a part of each. Once every set is known the paths are those of exact limits.

    Args:
        value: v, bool[M, F] → float[M]; asked for each set once.
        start: bool[F], features masked from the start; they are in no order.
    """

    def __init__(self, value: Value, start: Masks):
        self.value, self.start = value, np.array(start, dtype=bool)
        self.free = np.flatnonzero(~self.start)
        self.count, self._rows = 0, {}
        # Of each set: its features, v, and the rows of the sets with one feature put in or taken out, −1 if unknown.
        self._sets = np.zeros((1024, len(self.free)), dtype=bool)
        self._scores = np.zeros(1024)
        self._beside = np.full((1024, len(self.free)), -1, dtype=np.int32)
        self.ask(np.array([[False] * len(self.free), [True] * len(self.free)]))

    def ask(self, sets: Masks) -> np.ndarray:
        """Sets of the free features, bool[M, F'] → int64[M]; v is asked once for new ones. ValueError: NaN."""
        keys = [int.from_bytes(row.tobytes()) for row in np.packbits(sets, axis=1)]
        new: dict[int, int] = {}
        for place, key in enumerate(keys):
            if key not in self._rows:
                new.setdefault(key, place)
        if new:
            self._take(np.asarray(sets)[list(new.values())], list(new))
        return np.array([self._rows[key] for key in keys], dtype=np.int64)

    def gains(self, rows: np.ndarray) -> np.ndarray:
        """v(∅) − v of known sets, float64[M]."""
        return self._scores[0] - self._scores[rows]

    def best(self, sign: float) -> tuple[Order, float]:
        """The best order through known sets, places int64[F'], and its AOPC, the largest (sign 1) or smallest (−1);
        ties to the set that was asked first. ValueError: there is no such order.
        """
        reached, _ = self._sums(sign)
        row, order = 1, []
        while row != 0:
            members = np.flatnonzero(self._sets[row] & (self._beside[row] >= 0))
            if not len(members):
                raise ValueError("no order passes through known sets alone")
            subsets = self._beside[row, members]
            best = np.lexsort((subsets, -reached[subsets]))[0]
            order.append(members[best])
            row = int(subsets[best])
        return self.free[order[::-1]], float(sign * reached[1] / len(self.free))

    def through(self, sign: float) -> np.ndarray:
        """The largest sum of sign·(v(∅) − v) over an order through each set, float64[K]; −inf where there is none."""
        reached, ahead = self._sums(sign)
        return reached + ahead

    def open(self) -> np.ndarray:
        """Rows of sets that have a neighbour, a set with one feature more or less, which is not known."""
        return np.flatnonzero((self._beside[: self.count] < 0).any(axis=1))

    def around(self, row: int) -> Masks:
        """The unknown neighbours of a set, bool[K, F']."""
        missing = np.flatnonzero(self._beside[row] < 0)
        sets = np.repeat(self._sets[row][None], len(missing), axis=0)
        sets[np.arange(len(missing)), missing] ^= True
        return sets

    def _take(self, sets: Masks, keys: list[int]) -> None:
        """Score sets that are not known yet and join them to those that are."""
        masks = np.tile(self.start, (len(sets), 1))
        masks[:, self.free] = sets
        scores = np.asarray(self.value(masks), dtype=np.float64)
        if np.isnan(scores).any():
            raise ValueError("a score is NaN, so limits are undefined; compute in float32")
        begin, n = self.count, len(self.free)
        self.count += len(sets)
        while self.count > len(self._scores):
            grown = [np.concatenate([one, one]) for one in (self._sets, self._scores, self._beside)]
            self._sets, self._scores, self._beside = grown
        self._sets[begin : self.count], self._scores[begin : self.count] = sets, scores
        self._beside[begin : self.count] = -1
        self._rows |= {key: begin + i for i, key in enumerate(keys)}
        # Packed bits are filled up behind the last feature.
        bits = [1 << (-(-n // 8) * 8 - 1 - i) for i in range(n)]
        near = [[self._rows.get(key ^ bit, -1) for bit in bits] for key in keys]
        self._beside[begin : self.count] = near
        rows, features = np.nonzero(self._beside[begin : self.count] >= 0)
        self._beside[self._beside[begin + rows, features], features] = begin + rows

    def _sums(self, sign: float) -> tuple[np.ndarray, np.ndarray]:
        """The best sums from the empty set to each set, that set's gain included, and from each to the whole."""
        K, sets = self.count, self._sets[: self.count]
        gains = np.append(sign * (self.gains(np.arange(K))), 0.0)
        sizes = sets.sum(axis=1)
        rows = np.split(np.argsort(sizes, kind="stable"), np.cumsum(np.bincount(sizes))[:-1])
        # Row K stands for what is not known.
        reached, ahead = np.full(K + 1, -np.inf), np.full(K + 1, -np.inf)
        reached[0], ahead[1] = 0.0, 0.0
        beside = np.where(self._beside[:K] < 0, K, self._beside[:K])
        for at in rows[1:]:
            reached[at] = gains[at] + reached[np.where(sets[at], beside[at], K)].max(axis=1)
        for at in reversed(rows[:-1]):
            larger = np.where(sets[at], K, beside[at])
            ahead[at] = (gains[larger] + ahead[larger]).max(axis=1)
        return reached[:K], ahead[:K]
