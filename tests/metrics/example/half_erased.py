"""Half erased, an example: this file alone would be the whole of it in `core/metrics`."""

import numpy as np

from core.mathematics.aopc import comprehensiveness_order, prefix_masks
from core.metrics.registry import HIGHER, Case, Metric, Score, register


def half_erased(case: Case) -> Score:
    """p(ŷ|X) − p(ŷ|X without the more important half of its features).

    Returns:
        Score in [−1, 1]; higher is better.
    Source: made up, after SoftFaith Eq. 2.
    """
    masks = prefix_masks(comprehensiveness_order(case.scores, case.masked), len(case.masked))
    values = case.value(masks[[0, len(masks) // 2]])
    return Score(float(values[0] - np.asarray(values[1])))


register(
    Metric(
        name="half erased",
        direction=HIGHER,
        low=-1,
        high=1,
        unit="probability",
        definition="Erase the more important half: fall of the class’s probability.",
        cost="2",
        passes=lambda F, draws: 2,
        source="SoftFaith Eq. 2, at one half",
        compute=half_erased,
        order=55,
    )
)
