"""Attention of the position that the classifier reads, raw and scaled by its gradient."""

import numpy as np

from core.measures.registry import ATTENTION, Explained, Measure, register


def attention(explained: Explained) -> dict[str, np.ndarray]:
    """Last layer's attention, mean over heads, from the position that the classifier reads.

    Where the classifier reads the mean of all positions, so does this.

    Returns:
        {"absolute": float64[F]}, in [0, 1]; special tokens hold the rest of the 1.
    Source: SoftFaith §4.3.
    """
    return {"absolute": _from_reading(explained, explained.network.attention_weights().mean(dim=0))}


def scaled_attention(explained: Explained) -> dict[str, np.ndarray]:
    """{"signed": float64[F]} ↑: mean over heads of the last layer's attention times that of its gradient.
    Source: SoftFaith §4.3; Serrano and Smith (2019).
    """
    weights, gradient = explained.network.attention()
    return {"signed": _from_reading(explained, weights.mean(dim=0) * gradient.mean(dim=0))}


def _from_reading(explained: Explained, table) -> np.ndarray:
    inside = explained.network
    read = inside.model.tensor(inside.reading()).to(table)
    return np.where(explained.masked, 0.0, inside.per_feature(read @ table))


register(
    Measure(
        name="attention",
        variants=("absolute",),
        signed=frozenset(),
        definition="Last-layer attention to the word from the position that the classifier reads; no sign.",
        cost="1",
        passes=lambda F: 1,
        needs=ATTENTION,
        forward_only=True,
        source="SoftFaith §4.3",
        unit="share of attention",
        compute=attention,
        ahead=lambda together: together.attention_weights(),
        hue="#3d9bd6",
        order=50,
    )
)
register(
    Measure(
        name="scaled attention",
        variants=("signed",),
        definition="Attention times the logit's gradient with respect to it.",
        cost="1 and its gradient",
        passes=lambda F: 1,
        needs=ATTENTION,
        source="SoftFaith §4.3",
        unit="logits per unit of log attention",
        compute=scaled_attention,
        ahead=lambda together: together.attention(),
        hue="#7d5498",
        order=60,
    )
)
