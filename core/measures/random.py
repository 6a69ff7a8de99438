"""The random baseline."""

import numpy as np

from core.measures.registry import NOTHING, Explained, Measure, register


def random_scores(explained: Explained) -> dict[str, np.ndarray]:
    """{"random": float64[F]}: uniform in [0, 1), by seed and example. Source: FMM §3.4, the baseline of RACU."""
    scores = np.random.default_rng([explained.seed, explained.example]).random(explained.F)
    return {"random": np.where(explained.masked, 0.0, scores)}


register(
    Measure(
        name="random",
        variants=("random",),
        signed=frozenset(),
        baseline=True,
        seeded=True,
        definition="Seeded random numbers: what a measure must beat.",
        cost="0",
        passes=lambda F: 0,
        needs=NOTHING,
        source="FMM §3.4",
        unit="none",
        compute=random_scores,
        order=80,
    )
)
