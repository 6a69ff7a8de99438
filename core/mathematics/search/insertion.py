"""Limits of AOPC by insertion search: from the orders of narrow beams on, one feature at a time to its best place."""

import numpy as np

from core.mathematics.arrays import Masks, Order, Value
from core.mathematics.search.limits import INSERTION, Frontier, Search, as_limits, free_features, most_sets

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
        # A set's key is the exclusive or of its features' marks: a bit each, beyond 64 numbers of a fixed seed.
        n = len(self.free)
        numbers = np.random.default_rng(0).integers(1, 2**64, n, dtype=np.uint64)
        self._marks = np.uint64(1) << np.arange(n, dtype=np.uint64) if n <= 64 else numbers
        self.count, self._rows = 0, {}
        # Of each set: its features, v, and the rows of the sets with one feature put in or taken out, −1 if unknown.
        self._sets = np.zeros((1024, n), dtype=bool)
        self._scores, self._keys = np.zeros(1024), np.zeros(1024, dtype=np.uint64)
        self._beside = np.full((1024, n), -1, dtype=np.int32)
        self.ask(np.array([[False] * n, [True] * n]))

    def ask(self, sets: Masks) -> np.ndarray:
        """Sets of the free features, bool[M, F'] → int64[M]; v is asked once for new ones. ValueError: NaN."""
        keys = np.bitwise_xor.reduce(np.where(sets, self._marks, np.uint64(0)), axis=1).tolist()
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
        reached, _ = self.sums(sign)
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

    def members(self, rows: np.ndarray) -> Masks:
        """Known sets, bool[M, F']."""
        return self._sets[rows]

    def open(self) -> np.ndarray:
        """Rows of sets that have a neighbour, a set with one feature more or less, which is not known."""
        return np.flatnonzero((self._beside[: self.count] < 0).any(axis=1))

    def frontier(self, rows: np.ndarray) -> tuple[Masks, np.ndarray, np.ndarray]:
        """The unknown neighbours of known sets, each once, bool[M, F'], and what lies beside each with a feature more
        or less: rows of known sets and places in this frontier, int64[M, F'], −1 where there is none.
        """
        at, features = np.nonzero(self._beside[rows] < 0)
        keys, first = np.unique(self._keys[rows[at]] ^ self._marks[features], return_index=True)
        sets = self._sets[rows[at[first]]]
        sets[np.arange(len(sets)), features[first]] ^= True
        near, turns = keys[:, None] ^ self._marks, np.argsort(self._keys[: self.count])
        known = _places(self._keys[turns], near)
        return sets, np.where(known < 0, -1, turns[known]), _places(keys, near)

    def _take(self, sets: Masks, keys: list[int]) -> None:
        """Score sets that are not known yet and join them to those that are."""
        masks = np.tile(self.start, (len(sets), 1))
        masks[:, self.free] = sets
        scores = np.asarray(self.value(masks), dtype=np.float64)
        if np.isnan(scores).any():
            raise ValueError("a score is NaN, so limits are undefined; compute in float32")
        begin = self.count
        self.count += len(sets)
        while self.count > len(self._scores):
            grown = [np.concatenate([one, one]) for one in (self._sets, self._scores, self._keys, self._beside)]
            self._sets, self._scores, self._keys, self._beside = grown
        self._sets[begin : self.count], self._scores[begin : self.count] = sets, scores
        self._keys[begin : self.count] = keys
        self._beside[begin : self.count] = -1
        self._rows |= {key: begin + i for i, key in enumerate(keys)}
        marks = self._marks.tolist()
        self._beside[begin : self.count] = [[self._rows.get(key ^ mark, -1) for mark in marks] for key in keys]
        rows, features = np.nonzero(self._beside[begin : self.count] >= 0)
        self._beside[self._beside[begin + rows, features], features] = begin + rows

    def sums(self, sign: float) -> tuple[np.ndarray, np.ndarray]:
        """The largest sums of sign·(v(∅) − v) from the empty set to each set, with its own, and on to the whole,
        float64[K] each; −inf where no order leads there.
        """
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


def _places(among: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where keys stand among sorted ones, int64, −1 where they do not."""
    places = np.minimum(np.searchsorted(among, wanted), len(among) - 1)
    return np.where(among[places] == wanted, places, -1)


# Scores for each pair of features: three fifths of what a beam of 5 asks for; more widen little.
BUDGET = 2.6
# The graph of known sets holds so many bytes at most, unless the beams alone hold more.
_BYTES = 400_000_000
# Sets that are asked together: a device is slow in fewer, and more are chosen knowing less.
_AT_ONCE = 32
# Of so many known sets on the best orders the unknown neighbours are thought of.
_LOOKED_AT = 30
# Decimals to which sums of scores tell orders apart.
_DIGITS = 10


def insertion_search(
    value: Value, F: int, most: int, width: int = 1, masked: np.ndarray | None = None, rescore: Value | None = None
) -> Search:
    """Search limits by moving features of good orders to better places, as far as a number of scores goes.

    For each limit two narrow beams give the orders to start from: one masks features from the text on, the other takes
    them out of the whole set, since what matters together, or at the end, the first finds too late. Moving a feature of
    an order to another place passes through sets that differ by one feature from those of the order. What such sets
    score is guessed from known ones beside them; those on the orders that would be best then are scored, about 32 at a
    time, and the best orders are found anew, so that one step may move several features. It ends when so many sets were
    scored, or all of them.

    Both limits lie within the exact ones, and never within those of beams of the same width; they are exact where
    2^F' sets may be scored. Nothing is drawn: the same scores give the same limits.

    Args:
        value: v, bool[M, F] → float[M]; every set is asked once.
        most: sets that may be scored; the beams it starts from are finished in any case.
        width: of the beams that it starts from, at least 1.
        masked, rescore: as of `core.mathematics.search.limits.beam_search`.
    Raises:
        ValueError: nothing is left to mask, width < 1, or a score is NaN.
    Source: ours; insertion moves as in local search over permutations.
    """
    start, free = free_features(F, masked)
    known = KnownSets(value, start)
    # A beam from the whole set takes features out: its sets are the complements of what it took.
    fronts = [(Frontier(start, width, sign), from_whole) for sign in SIGNS for from_whole in (False, True)]
    for _ in free[1:]:
        parts = [front.children()[:, free] ^ from_whole for front, from_whole in fronts]
        gains = known.gains(known.ask(np.concatenate(parts)))
        for (front, _), found in zip(fronts, np.split(gains, np.cumsum([len(part) for part in parts])[:-1])):
            front.keep(found)
        yield known.count
    at_once = max(_AT_ONCE, len(free) ** 2 // 16)
    while known.count < min(most, 1 << len(free)):
        sets = np.concatenate([_promising(known, sign, at_once // len(SIGNS)) for sign in SIGNS])
        known.ask(sets[: most - known.count])
        yield known.count
    found = [known.best(sign) for sign in SIGNS]
    return as_limits(found, INSERTION, width, known.count, rescore, F, masked)


def insertion_sets(F: int, width: int = 1) -> int:
    """Most sets that an insertion search of F features asks for unless told otherwise."""
    affordable = min(round(BUDGET * F**2), _BYTES // (5 * F + 16))
    return min(2**F, max(2 * most_sets(F, width), affordable))


def _promising(known: KnownSets, sign: float, count: int) -> Masks:
    """So many unknown sets beside the best orders, those first through which the best would pass, bool[M, F']."""
    reached, ahead = known.sums(sign)
    rows = known.open()
    # All sets along one order tie; added up from two sides, their sums differ in digits that say nothing.
    rows = rows[np.argsort(-(reached + ahead)[rows].round(_DIGITS), kind="stable")[:_LOOKED_AT]]
    sets, beside, among = known.frontier(rows)
    gains, sizes = np.append(sign * guessed_gains(known, sets, beside), 0.0), sets.sum(axis=1)
    # The last place stands for what is not there. Orders may pass through several sets of the frontier in turn.
    before = np.append(reached, -np.inf)
    after = np.append(sign * known.gains(np.arange(known.count)) + ahead, -np.inf)
    into = np.append(before[np.where(sets, beside, -1)].max(axis=1), -np.inf)
    onward = np.append(after[np.where(sets, -1, beside)].max(axis=1), -np.inf)
    for size in np.unique(sizes):
        at = np.flatnonzero(sizes == size)
        into[at] = gains[at] + np.maximum(into[at], into[np.where(sets[at], among[at], -1)].max(axis=1))
    for size in np.unique(sizes)[::-1]:
        at = np.flatnonzero(sizes == size)
        larger = np.where(sets[at], -1, among[at])
        onward[at] = np.maximum(onward[at], (gains[larger] + onward[larger]).max(axis=1))
    return sets[np.argsort(-(into + onward)[:-1].round(_DIGITS), kind="stable")[:count]]


def guessed_gains(known: KnownSets, sets: Masks, beside: np.ndarray) -> np.ndarray:
    """v(∅) − v of unknown sets, guessed: a sum over features that fits the known sets beside them, and on average what
    it misses of those beside each.

    Args:
        sets, beside: unknown sets and rows of the known ones beside each, of `KnownSets.frontier`.
    """
    rows, places = np.unique(beside[beside >= 0], return_inverse=True)
    gains, held = known.gains(rows), np.column_stack([known.members(rows), np.ones(len(rows))])
    fit = np.linalg.solve(held.T @ held + np.eye(held.shape[1]), held.T @ gains)
    missed = np.zeros(beside.shape)
    missed[beside >= 0] = (gains - held @ fit)[places]
    return sets @ fit[:-1] + fit[-1] + missed.sum(axis=1) / (beside >= 0).sum(axis=1)
