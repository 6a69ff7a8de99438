"""Shapley values, exact: the yardstick of KernelSHAP and LIME."""

from math import comb

import numpy as np

from core.mathematics.search.limits import MOST_EXACT, score_every_set
from core.mathematics.stepwise import finish
from core.measures.registry import ORACLE, Explained, Measure, register, with_absolute


def shapley_values(scores: np.ndarray) -> np.ndarray:
    """φ_i = Σ_{S∌i} |S|!(F − |S| − 1)!/F! · (v(S) − v(S∪{i})), S masked: the mean fall of v when i is masked last.

    scores: v of every set, float64[2^F], S at Σ_{i∈S} 2^i. Returns float64[F], which add up to v(∅) − v(all).
    Source: Shapley (1953); Lundberg and Lee (2017), Eq. 4.
    """
    F = len(scores).bit_length() - 1
    sizes = np.array([code.bit_count() for code in range(len(scores))])
    weights = np.array([1 / (F * comb(F - 1, size)) for size in range(F)] + [0.0])[sizes]
    found = np.zeros(F)
    for i in range(F):
        without, masked = np.moveaxis(scores.reshape(-1, 2, 1 << i), 1, 0)
        found[i] = ((without - masked) * weights.reshape(-1, 2, 1 << i)[:, 0]).sum()
    return found


def exact_shapley(explained: Explained) -> dict[str, np.ndarray]:
    """Shapley values of the logit on top of what is masked already; a feature that is absent is masked.

    It asks for every set, as exact limits do: where these were computed nothing is asked again.

    Returns:
        {"signed", "absolute"}: float64[F]; signed ones add up to v(∅) − v(all masked).
    Source: Lundberg and Lee (2017), Eq. 4.
    """
    free = np.flatnonzero(~explained.masked)
    scores = np.zeros(explained.F)
    if len(free):
        scores[free] = shapley_values(finish(score_every_set(explained.value, explained.masked)))
    return with_absolute(scores, np.abs(scores), explained.masked)


register(
    Measure(
        name="Shapley values",
        definition="Mean fall of the logit when the word is masked, over every order: exact, from 2^F sets.",
        cost="2^F, none where exact limits were computed",
        passes=lambda F: 2 ** min(F, MOST_EXACT),
        needs=ORACLE,
        source="Lundberg and Lee (2017); Shapley (1953)",
        unit="logits",
        compute=exact_shapley,
        hue="#6f7a1c",
        order=66,
        swept=False,
        most=MOST_EXACT,
        complete=True,
    )
)
