"""Limits of AOPC by insertion search: from the orders of narrow beams on, one feature at a time to its best place."""

import numpy as np

from core.mathematics.arrays import Masks, Value
from core.mathematics.search.frontier import Frontier
from core.mathematics.search.known_sets import SIGNS, KnownSets
from core.mathematics.search.limits import INSERTION, Search, as_limits, free_features, most_sets

# Scores for each pair of features: three fifths of what a beam of 5 asks for; more widen little.
BUDGET = 2.6
# The graph of known sets holds so many bytes at most, unless the beams alone hold more.
_BYTES = 400_000_000
# Sets that are asked together: a device is slow in fewer, and more are chosen knowing less.
_AT_ONCE = 64


def insertion_search(
    value: Value, F: int, most: int, width: int = 1, masked: np.ndarray | None = None, rescore: Value | None = None
) -> Search:
    """Search limits by moving features of good orders to better places, as far as a number of scores goes.

    For each limit two narrow beams give the orders to start from: one masks features from the text on, the other takes
    them out of the whole set, since what matters together, or at the end, the first finds too late. Moving a feature of
    an order to another place passes through sets that differ by one feature from those of the order. Such sets are
    scored, about 64 at a time, and the best orders through everything that was scored are found anew, so that one step
    may move several features. Once everything beside the best orders is known, what lies beside the next best follows.
    It ends when so many sets were scored, or all of them.

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
    while known.count < most and len(sets := _beside_the_best(known, at_once)):
        known.ask(sets[: most - known.count])
        yield known.count
    found = [known.best(sign) for sign in SIGNS]
    return as_limits(found, INSERTION, width, known.count, rescore, F, masked)


def insertion_sets(F: int, width: int = 1) -> int:
    """Most sets that an insertion search of F features asks for unless told otherwise."""
    affordable = min(round(BUDGET * F**2), _BYTES // (5 * F + 8))
    return min(2**F, max(2 * most_sets(F, width), affordable))


def _beside_the_best(known: KnownSets, at_once: int) -> Masks:
    """About so many sets that are not known, half of them beside the best orders for each limit, bool[K, F']."""
    rows, parts = known.open(), []
    for sign in SIGNS:
        asked, best = 0, np.argsort(-known.through(sign)[rows], kind="stable")
        for row in rows[best]:
            if asked >= at_once // len(SIGNS):
                break
            parts.append(known.around(row))
            asked += len(parts[-1])
    return np.concatenate(parts) if parts else np.empty((0, len(known.free)), dtype=bool)
