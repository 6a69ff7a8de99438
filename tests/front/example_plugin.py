"""A plugin as people write one: a measure that ranks words by their length."""

import numpy as np

import core


def compute(explained):
    lengths = [len(feature.text) for feature in explained.features]
    return {"absolute": np.where(explained.masked, 0.0, np.array(lengths, dtype=np.float64))}


core.register(
    core.Measure(
        name="word length",
        variants=("absolute",),
        signed=frozenset(),
        definition="Letters of the word; ignores the model.",
        unit="letters",
        cost="0",
        passes=lambda F: 0,
        needs="nothing",
        source="made up",
        hue="#123456",
        compute=compute,
    )
)
