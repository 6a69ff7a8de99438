"""Hard erasure: normalised sufficiency and comprehensiveness at each length of the rationale, and their means."""

import numpy as np

from core.mathematics.erasure import LENGTHS, normalised_score, rationale_masks, rationale_sizes
from core.metrics.registry import HIGHER, NO_ROOM, Case, Metric, Score, register


def hard(case: Case, sufficiency: bool) -> Score:
    """Normalised sufficiency, how much of the prediction the rationale alone keeps, or comprehensiveness, how much goes
    with it; mean over 1, 5, 10, 20 and 50 %.

    Returns:
        Score in [0, 1] with a value at each length; higher is better. NaN where 1 − S₀ < 1e-4.
    Source: SoftFaith Eq. 1 and 2, §4.4.
    """
    sizes = rationale_sizes(len(case.free))
    masks = rationale_masks(case.scores, case.masked, sizes)[0 if sufficiency else 1]
    ends = np.stack([np.zeros(len(case.masked), dtype=bool), ~case.masked])
    values = case.value(np.concatenate([ends, masks]))
    found = normalised_score(values[0], values[2:], values[1], sufficiency)
    return Score(float(found.mean()), by_length=found, note=NO_ROOM if np.isnan(found).any() else "")


def _register(sufficiency: bool, name: str, definition: str, source: str, order: int) -> None:
    register(
        Metric(
            name=name,
            direction=HIGHER,
            lengths=True,
            definition=f"{definition} Mean over rationales of 1, 5, 10, 20 and 50 %.",
            cost=f"{len(LENGTHS)} + 2",
            passes=lambda F, draws: len(LENGTHS) + 2,
            source=source,
            compute=lambda case: hard(case, sufficiency),
            order=order,
            default=True,
        )
    )


_register(True, "NS", "Share of the prediction that the rationale alone keeps.", "SoftFaith Eq. 1", 10)
_register(False, "NC", "Share of the prediction lost when the rationale is erased.", "SoftFaith Eq. 2", 20)
