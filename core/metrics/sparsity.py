"""Sparsity: how much of an attribution lies in few features."""

import numpy as np

from core.mathematics.curves import importance_shares
from core.mathematics.erasure import LENGTHS, rationale_sizes
from core.metrics.registry import NEITHER, Case, Metric, Score, register

AT = 0.20


def sparsity(case: Case) -> Score:
    """Share of Σ|a| in the top k features by |a|; the value is at 20 % of the features, where ROAR finds measures at
    their best.

    Returns:
        Score in [0, 1] with a value at each of LENGTHS; neither direction is better: sparse is no more faithful. NaN
        where Σ|a| = 0.
    Source: ROAR §6.1.
    """
    shares = importance_shares(np.asarray(case.scores)[case.free])
    if np.isnan(shares[0]):
        return Score(float("nan"), note="All scores are zero.")
    by_length = shares[rationale_sizes(len(shares)) - 1]
    return Score(float(by_length[LENGTHS.index(AT)]), by_length=by_length)


register(
    Metric(
        name="sparsity",
        direction=NEITHER,
        lengths=True,
        magnitudes=True,
        definition="Share of importance in the top 20 % of features: concentration, not faithfulness.",
        cost="0",
        passes=lambda F, draws: 0,
        source="ROAR §6.1",
        compute=sparsity,
        order=100,
    )
)
