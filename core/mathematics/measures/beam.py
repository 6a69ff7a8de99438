"""The order of masking that beam search finds."""

from collections.abc import Callable
from math import comb

import numpy as np

from core.mathematics.registry import ORACLE, Explained, Measure, register

WIDTH = 10


def beam_order(value: Callable[[np.ndarray], np.ndarray], F: int, width: int = WIDTH, masked: np.ndarray | None = None) -> np.ndarray:
    """Order features to maximise Σ_k v(∅) − v(first k), keeping the best `width` sets of each size.

    A set is kept once, with the best sum that reaches it, so that the beam holds different sets and
    not different orders of one. Ties go to the better parent, then to the lower position.

    Args:
        value: v, bool[M, F] → float[M]; every distinct set is asked at most once.
        F: number of features.
        width: B, at least 1; from the largest C(F, k) on the order is optimal.
        masked: bool[F], features masked already; they are left out.
    Returns:
        int64[F − masked], the feature masked first comes first.
    Raises:
        ValueError: width < 1.
    Source: FMM §4 and App. E; over sets as in NAOPC §3.
    """
    if width < 1:
        raise ValueError(f"the beam's width must be at least 1, got {width}")
    start = np.zeros(F, dtype=bool) if masked is None else np.array(masked, dtype=bool)
    free = np.flatnonzero(~start)
    if len(free) == 0:
        return free
    whole = float(value(start[None])[0])
    sets, sums, orders = start[None], np.zeros(1), np.empty((1, 0), dtype=np.int64)
    for _ in free:
        parents, added = np.nonzero(~sets)
        children = sets[parents]
        children[np.arange(len(parents)), added] = True
        _, first, same = np.unique(np.packbits(children, axis=1), axis=0, return_index=True, return_inverse=True)
        same = same.reshape(-1)
        gains = whole - np.asarray(value(children[first]), dtype=np.float64)
        totals = sums[parents] + gains[same]
        best = np.argsort(-totals, kind="stable")
        # The first time a set appears in this order it comes with its best sum.
        kept = best[np.sort(np.unique(same[best], return_index=True)[1])][:width]
        sets, sums = children[kept], totals[kept]
        orders = np.column_stack([orders[parents[kept]], added[kept]])
    return orders[0]


def beam_passes(F: int, width: int = WIDTH) -> int:
    """Most sets that a beam over F features scores, v(∅) included."""
    return 1 + sum(min(min(width, comb(F, k)) * (F - k), comb(F, k + 1)) for k in range(F))


def beam(explained: Explained) -> dict[str, np.ndarray]:
    """Score F − rank of the order that `beam_order` finds on the logit, rank 0 for the first masked.

    The score tells places only; its size means nothing.
    Source: FMM App. E.
    """
    order = beam_order(explained.value, explained.F, WIDTH, explained.masked)
    scores = np.zeros(explained.F)
    scores[order] = explained.F - np.arange(len(order))
    return {"signed": scores}


register(Measure(
    name="beam", variants=("signed",), signed=frozenset(), rank_only=True, recursive=True,
    definition=f"Place in the order of masking that lowers the logit most, found by beam search (B = {WIDTH}); 1st matters most.",
    cost=f"about {WIDTH}·F²/2", passes=beam_passes, needs=ORACLE, source="FMM §4, App. E", unit="place in the order", compute=beam))
