"""Metrics of an order: features are erased one after the other, the most important first."""

import numpy as np

from core.mathematics.aopc import aopc, comprehensiveness_order, prefix_masks, sufficiency_order
from core.mathematics.flips import flip_share, never_flips
from core.metrics.registry import HIGHER, LOWER, NEITHER, ROUNDING, Case, Metric, Score, register


def _along(case: Case, order: np.ndarray) -> np.ndarray:
    """Probabilities along an order's prefixes, the empty one first, float64[F' + 1, C]."""
    return np.asarray(case.erased(prefix_masks(order, len(case.masked))), dtype=np.float64)


def _descending(case: Case) -> np.ndarray:
    return _along(case, comprehensiveness_order(case.scores, case.masked))


def aopc_comprehensiveness(case: Case) -> Score:
    """AOPC of the most important first, on the probability of the predicted class; in [−1, 1], higher is better.

    Features that the text itself masks are not counted, so that it is the mean over the F' that can be erased.
    Source: NAOPC Eq. 1.
    """
    return Score(aopc(_descending(case)[:, case.target]))


def aopc_sufficiency(case: Case) -> Score:
    """AOPC of the least important first, probability of ŷ; in [−1, 1], lower is better. Source: NAOPC Eq. 1 and 3."""
    return Score(aopc(_along(case, sufficiency_order(case.scores, case.masked))[:, case.target]))


def monotonicity(case: Case) -> Score:
    """Share of the steps at which restoring the next feature, in ascending order of importance, does not lower v.

    Ascending is the ranking of the negated scores, ties by position, as for sufficiency; without ties its inputs are
    those of the metrics that erase in descending order. Falls within 1e-6 are rounding and count as none.

    Returns:
        Score in [0, 1]; higher is better; 1 for a single feature that matters.
    Source: SoftFaith §2.2; Arya et al. (2019).
    """
    values = _along(case, sufficiency_order(case.scores, case.masked)[::-1])[::-1, case.target]
    return Score(float(np.mean(np.diff(values) >= -ROUNDING)))


def decision_flip(case: Case) -> Score:
    """Share of the features erased at the first change of the prediction, most important first; 1 if none.

    Returns:
        Score in [1/F', 1]; lower is better.
    Source: SoftFaith §2.2; Chrysostomou and Aletras (2021).
    """
    predicted = _descending(case).argmax(axis=1)
    return Score(flip_share(predicted), note="The prediction never changes." if never_flips(predicted) else "")


def fidelity(case: Case) -> Score:
    """One example's share of a data set's fidelity: 1 − C/F; the data set's is the mean. In [0, 1), higher is better.

    Specific to a model: not for comparing models.
    Source: RobustInf Eq. 1.
    """
    found = decision_flip(case)
    return Score(1 - found.value, note=found.note)


def non_perturbed(case: Case) -> Score:
    """Whether the prediction never changes however much is erased, 1 or 0: on how many examples a fidelity rests that
    no order could flip. Source: RobustInf Table 1.
    """
    return Score(float(never_flips(_descending(case).argmax(axis=1))))


def _register(name: str, **own) -> None:
    register(Metric(name=name, cost="F + 1", passes=lambda F, draws: F + 1, **own))


_register(
    "AOPC comprehensiveness",
    direction=HIGHER,
    low=-1,
    unit="probability",
    definition="Mean fall of the probability, most important erased first.",
    source="NAOPC Eq. 1",
    compute=aopc_comprehensiveness,
    order=50,
)
_register(
    "AOPC sufficiency",
    direction=LOWER,
    low=-1,
    unit="probability",
    definition="Mean fall of the probability, least important erased first.",
    source="NAOPC Eq. 1, 3",
    compute=aopc_sufficiency,
    order=60,
)
_register(
    "monotonicity",
    direction=HIGHER,
    definition="Share of steps that do not lower the probability, least important restored first.",
    source="SoftFaith §2.2",
    compute=monotonicity,
    order=70,
)
_register(
    "decision flip",
    direction=LOWER,
    definition="Share of features erased when the prediction changes, most important first; 1 if never.",
    source="SoftFaith §2.2",
    compute=decision_flip,
    order=90,
)
_register(
    "fidelity",
    direction=HIGHER,
    whole=True,
    definition="1 − mean share erased when the prediction changes, most important first.",
    source="RobustInf Eq. 1",
    compute=fidelity,
)
_register(
    "non-perturbed frequency",
    direction=NEITHER,
    whole=True,
    definition="Share of examples whose prediction never changes.",
    source="RobustInf Table 1",
    compute=non_perturbed,
)
