"""The fewest features whose erasing changes a prediction: exact over all sets, or by beam search."""

from collections.abc import Callable, Iterator
from itertools import combinations, islice

import numpy as np

# Up to so many features every set is asked, smallest first; above, a beam of so many sets.
EXACT_FEATURES, WIDTH = 12, 5
_AT_ONCE = 64


def fewest_to_flip(
    logits: Callable[[np.ndarray], np.ndarray],
    masked: np.ndarray,
    exact_features: int = EXACT_FEATURES,
    width: int = WIDTH,
) -> int:
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
    free = np.flatnonzero(~masked)
    if not len(free):
        raise ValueError("everything is masked already, so nothing can be erased")
    first = int(np.asarray(logits(masked[None]))[0].argmax())
    kept = masked[None]
    for size in range(1, len(free) + 1):
        margins, sets = [], []
        for masks in _exact(masked, free, size) if len(free) <= exact_features else _grown(kept):
            found = np.asarray(logits(masks), dtype=np.float64)
            if (found.argmax(axis=1) != first).any():
                return size
            if len(free) > exact_features:
                margins.append(found[:, first] - np.delete(found, first, axis=1).max(axis=1))
                sets.append(masks)
        if sets:
            kept = np.concatenate(sets)[np.argsort(np.concatenate(margins), kind="stable")[:width]]
    return 0


def most_asked(free: int, exact_features: int = EXACT_FEATURES, width: int = WIDTH) -> int:
    """How many sets `fewest_to_flip` asks for at most."""
    return 2**free if free <= exact_features else 1 + free + width * free * (free - 1) // 2


def _exact(masked: np.ndarray, free: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """All sets of a size, some at a time, bool[M, F]."""
    every = combinations(free.tolist(), size)
    while chosen := list(islice(every, _AT_ONCE)):
        masks = np.repeat(masked[None], len(chosen), axis=0)
        masks[np.arange(len(chosen))[:, None], chosen] = True
        yield masks


def _grown(kept: np.ndarray) -> Iterator[np.ndarray]:
    """All sets with one feature more than those kept, each once, some at a time."""
    parents, added = np.nonzero(~kept)
    children = kept[parents]
    children[np.arange(len(parents)), added] = True
    children = children[np.sort(np.unique(np.packbits(children, axis=1), axis=0, return_index=True)[1])]
    yield from (children[start : start + _AT_ONCE] for start in range(0, len(children), _AT_ONCE))
