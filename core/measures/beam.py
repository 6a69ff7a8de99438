"""The order of masking that beam search finds."""

import numpy as np

from core.mathematics.arrays import Value
from core.mathematics.search.limits import Frontier, most_sets
from core.measures.registry import ORACLE, Explained, Measure, register

WIDTH = 10


def beam_order(value: Value, F: int, width: int = WIDTH, masked: np.ndarray | None = None) -> np.ndarray:
    """Order features to maximise Σ_k v(∅) − v(first k), keeping the best `width` sets of each size.

    Sets and ties as in `core.mathematics.search.limits.Frontier`.

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
    frontier = Frontier(np.zeros(F, dtype=bool) if masked is None else masked, width)
    free = int((~frontier.sets[0]).sum())
    whole = float(value(frontier.sets)[0]) if free else 0.0
    for _ in range(free):
        frontier.keep(whole - np.asarray(value(frontier.children()), dtype=np.float64))
    return frontier.order


def beam(explained: Explained) -> dict[str, np.ndarray]:
    """F − rank of the order that `beam_order` finds on the logit: places without magnitudes. Source: FMM App. E."""
    order = beam_order(explained.value, explained.F, WIDTH, explained.masked)
    scores = np.zeros(explained.F)
    scores[order] = explained.F - np.arange(len(order))
    return {"signed": scores}


register(
    Measure(
        name="beam",
        variants=("signed",),
        signed=frozenset(),
        rank_only=True,
        recursive=True,
        definition=f"Place in the masking order that lowers the logit most, by beam search (B = {WIDTH}).",
        cost=f"about {WIDTH}·F²/2",
        passes=lambda F: most_sets(F, WIDTH, beams=1),
        needs=ORACLE,
        source="FMM §4, App. E",
        unit="place in the order",
        compute=beam,
        hue="#8c564b",
        order=70,
    )
)
