"""Input × gradient."""

import numpy as np

from core.measures.registry import GRADIENTS, Explained, Measure, register, with_absolute, zero_scores


def input_x_gradient(explained: Explained) -> dict[str, np.ndarray]:
    """e_t · ∂f/∂e_t, summed over a feature's tokens, signed or as absolute values; Captum's InputXGradient.

    Up to rounding 0 on families that normalise the word embedding alone (`is_scale_free`).

    Returns:
        {"signed", "absolute"}: float64[F]; higher is more important.
    Source: FMM §4 and App. E.
    """
    inside = explained.network
    embeddings, g = inside.word_gradient()
    scores = (embeddings * g).sum(dim=1)
    return with_absolute(inside.per_feature(scores), inside.per_feature(scores.abs()), explained.masked)


register(
    Measure(
        name="input × gradient",
        definition="The word's embedding times its gradient: a linear estimate of its effect on the logit.",
        cost="1 and its gradient",
        passes=lambda F: 1,
        needs=GRADIENTS,
        source="FMM §4, App. E",
        unit="logits",
        compute=input_x_gradient,
        ahead=lambda together: together.word_gradients(),
        hue="#cc79a7",
        order=30,
        default=True,
        scale_free=zero_scores("input × gradient"),
    )
)
