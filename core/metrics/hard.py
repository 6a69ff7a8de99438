"""Hard erasure: normalised sufficiency and comprehensiveness at each length of the rationale, and their means."""

import numpy as np

from core.mathematics.erasure import (
    LENGTHS,
    normalised_comprehensiveness,
    normalised_sufficiency,
    rationale_masks,
    rationale_sizes,
)
from core.metrics.registry import HIGHER, NO_ROOM, Case, Metric, Score, register


def _hard(case: Case, sufficiency: bool) -> Score:
    """NS or NC over LENGTHS."""
    sizes = rationale_sizes(len(case.free))
    masks = rationale_masks(case.scores, case.masked, sizes)[0 if sufficiency else 1]
    ends = np.stack([np.zeros(len(case.masked), dtype=bool), ~case.masked])
    values = case.value(np.concatenate([ends, masks]))
    formula = normalised_sufficiency if sufficiency else normalised_comprehensiveness
    found = formula(values[0], values[2:], values[1])
    return Score(float(found.mean()), by_length=found, note=NO_ROOM if np.isnan(found).any() else "")


def ns(case: Case) -> Score:
    """Normalised sufficiency: how much of the prediction the rationale alone keeps, mean over 1, 5, 10, 20 and 50 %.

    Returns:
        Score in [0, 1] with a value at each length; higher is better. NaN where 1 − S₀ < 1e-4.
    Source: SoftFaith Eq. 1, §4.4.
    """
    return _hard(case, True)


def nc(case: Case) -> Score:
    """Normalised comprehensiveness: how much of the prediction goes with the rationale, mean over 1, 5, 10, 20 and 50
    %.

    Returns:
        Score in [0, 1] with a value at each length; higher is better. NaN where 1 − S₀ < 1e-4.
    Source: SoftFaith Eq. 2, §4.4.
    """
    return _hard(case, False)


def _passes(F: int, draws: int) -> int:
    return len(LENGTHS) + 2


register(
    Metric(
        name="NS",
        title="normalised sufficiency, mean over lengths",
        direction=HIGHER,
        low=0,
        high=1,
        unit="share",
        lengths=True,
        definition="Keep only the rationale: how much of the prediction is left? Mean over rationales of 1, 5, 10, 20 "
        "and 50 % of the features.",
        cost=f"{len(LENGTHS)} + 2",
        passes=_passes,
        source="SoftFaith Eq. 1",
        compute=ns,
        order=10,
        default=True,
    )
)
register(
    Metric(
        name="NC",
        title="normalised comprehensiveness, mean over lengths",
        direction=HIGHER,
        low=0,
        high=1,
        unit="share",
        lengths=True,
        definition="Erase the rationale: how much of the prediction goes with it? Mean over rationales of 1, 5, 10, 20 "
        "and 50 % of the features.",
        cost=f"{len(LENGTHS)} + 2",
        passes=_passes,
        source="SoftFaith Eq. 2",
        compute=nc,
        order=20,
        default=True,
    )
)
