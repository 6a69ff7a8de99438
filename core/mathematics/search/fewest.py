"""The smallest sets of features that change a prediction or keep it: exact over all sets, or by beam search."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

# Up to so many features every set is asked, smallest first; above, a beam of so many sets.
EXACT_FEATURES, WIDTH = 12, 5
# A beam asks for every single feature, so that it cannot miss a set smaller than a pair.
PROVEN = 2
_AT_ONCE = 64
# Erasing the set changes the prediction; erasing all but the set keeps it.
CHANGES, KEEPS = "changes", "keeps"

Logits = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class SmallestSet:
    """The smallest set found, of those of its size the one that is furthest from the other prediction.

    kind: CHANGES or KEEPS; members: bool[F], None where no set that was asked does; erased: bool[F], the input that it
    leaves; probability: of the class predicted first, there; count: sets of this size that do, where all were asked;
    exact: whether every smaller set was asked, so that none is smaller, see `none_smaller`.
    """

    kind: str
    members: np.ndarray | None
    erased: np.ndarray | None
    probability: float
    count: int
    exact: bool

    @property
    def size(self) -> int:
        """How many features it has; 0 of none."""
        return 0 if self.members is None else int(self.members.sum())


def smallest_set(
    logits: Logits, masked: np.ndarray, kind: str, exact_features: int = EXACT_FEATURES, width: int = WIDTH
) -> Generator[int, None, SmallestSet]:
    """Search the smallest set of features whose erasing changes the prediction, or that keeps it, all others erased.

    All sets of a size are asked before the next. Of several of the smallest size the one is returned that leaves the
    first class the lowest probability (CHANGES) or the highest (KEEPS); ties go to lower positions. No feature at all
    is a set that may keep the prediction. Yields how many sets were asked for so far.

    Args: as `fewest_to_flip`.
    Raises:
        ValueError: nothing can be erased.
    Source: ours; the second as a sufficient input subset (Carter et al. 2019), here the smallest.
    """
    masked = np.asarray(masked, dtype=bool)
    free, asked = _free(masked), 1
    first = _predicted(logits, masked)
    best, size, count = None, None, 0
    for at, sets, erased, found in _by_size(logits, masked, kind, first, exact_features, width):
        if size is not None and at > size:
            break
        asked += len(sets)
        does = np.flatnonzero((found.argmax(axis=1) == first) == (kind == KEEPS))
        if len(does):
            size, count = at, count + len(does)
            p = _probability(found[does], first) * (1 if kind == KEEPS else -1)
            top = int(p.argmax())
            if best is None or p[top] > best[0]:
                best = float(p[top]), sets[does[top]] & ~masked, erased[does[top]]
        yield asked
    exact = none_smaller(size, free, exact_features)
    if best is None:
        return SmallestSet(kind, None, None, float("nan"), 0, exact)
    return SmallestSet(kind, best[1], best[2], abs(best[0]), count if free <= exact_features else 0, exact)


def fewest_to_flip(logits: Logits, masked: np.ndarray, exact_features: int = EXACT_FEATURES, width: int = WIDTH) -> int:
    """Size of the smallest set of features whose erasing changes the prediction; 0 where no set that was asked does.

    Sets are asked by size and none after the first change, so that no order of the features changes the prediction
    earlier. Exact up to `exact_features` features that can be erased. Above, each size keeps the `width` sets in which
    the first class is least ahead: what is found does change the prediction, but a smaller set may, too.

    Args:
        logits: bool[M, F] → float[M, C], True = erased; masked: bool[F], features that the text itself masks.
    Returns:
        int in 0..F'.
    Raises:
        ValueError: nothing can be erased.
    Source: ours; the largest `1 − C/F` of RobustInf Eq. 1 over all orders.
    """
    masked = np.asarray(masked, dtype=bool)
    _free(masked)
    first = _predicted(logits, masked)
    for size, _, _, found in _by_size(logits, masked, CHANGES, first, exact_features, width):
        if (found.argmax(axis=1) != first).any():
            return size
    return 0


def none_smaller(size: int | None, free: int, exact_features: int = EXACT_FEATURES) -> bool:
    """Whether a search that found a set of this size, None without one, asked for every smaller one."""
    return free <= exact_features or (size is not None and size <= PROVEN)


def most_asked(free: int, exact_features: int = EXACT_FEATURES, width: int = WIDTH) -> int:
    """How many sets a search for one kind asks for at most."""
    return 2**free if free <= exact_features else 1 + free + width * free * (free - 1) // 2


def _free(masked: np.ndarray) -> int:
    """How many features can be erased; ValueError where none can."""
    if masked.all():
        raise ValueError("everything is masked already, so nothing can be erased")
    return int((~masked).sum())


def _predicted(logits: Logits, masked: np.ndarray) -> int:
    return int(np.asarray(logits(masked[None]))[0].argmax())


def _probability(found: np.ndarray, first: int) -> np.ndarray:
    """Softmax of one class, float64[M]."""
    powers = np.exp(found - found.max(axis=1, keepdims=True))
    return powers[:, first] / powers.sum(axis=1)


def _by_size(
    logits: Logits, masked: np.ndarray, kind: str, first: int, exact_features: int, width: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Sets by size, some at a time: (size, sets bool[M, F] with what the text masks, the inputs bool[M, F] that they
    leave, float64[M, C] of these). A beam keeps of each size those that are nearest to what is searched.
    """
    free, kept = np.flatnonzero(~masked), masked[None]
    exact = len(free) <= exact_features
    # Without a feature erased the prediction is the first.
    for size in range(0 if kind == KEEPS else 1, len(free) + 1):
        ahead, grown = [], []
        for sets in _exact(masked, free, size) if exact else _grown(kept) if size else [kept]:
            erased = ~sets | masked if kind == KEEPS else sets
            found = np.asarray(logits(erased), dtype=np.float64)
            yield size, sets, erased, found
            if not exact:
                lead = found[:, first] - np.delete(found, first, axis=1).max(axis=1, initial=-np.inf)
                ahead.append(-lead if kind == KEEPS else lead)
                grown.append(sets)
        if grown:
            kept = np.concatenate(grown)[np.argsort(np.concatenate(ahead), kind="stable")[:width]]


def _exact(masked: np.ndarray, free: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """All sets of a size, some at a time, bool[M, F]."""
    every = combinations(free.tolist(), size)
    while chosen := list(islice(every, _AT_ONCE)):
        sets = np.repeat(masked[None], len(chosen), axis=0)
        sets[np.arange(len(chosen))[:, None], np.array(chosen, dtype=np.int64).reshape(len(chosen), size)] = True
        yield sets


def _grown(kept: np.ndarray) -> Iterator[np.ndarray]:
    """All sets with one feature more than those kept, each once, some at a time."""
    parents, added = np.nonzero(~kept)
    children = kept[parents]
    children[np.arange(len(parents)), added] = True
    children = children[np.sort(np.unique(np.packbits(children, axis=1), axis=0, return_index=True)[1])]
    yield from (children[start : start + _AT_ONCE] for start in range(0, len(children), _AT_ONCE))
