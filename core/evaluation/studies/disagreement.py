"""Where the measure that finds the evidence is not the faithful one: over a sample, and on one example."""

from dataclasses import dataclass

import numpy as np

from core.evaluation.studies.check_report import X
from core.evaluation.studies.model_check import Curve, Passed
from core.mathematics.curves import acu


@dataclass(frozen=True)
class Disagreement:
    """An example at which `finder` finds the evidence better and `faithful` is the more faithful one: place in the
    sample, and of both (finder, faithful) the average precision ↑ and the ACU ↑ against one random order."""

    place: int
    finder: str
    faithful: str
    precision: tuple[float, float]
    acu: tuple[float, float]


def areas(passed: Passed, baseline: Passed) -> np.ndarray:
    """Each example's own ACU in the label's probability against its random order, float64[N] ↑; NaN without."""
    return np.array([acu(X, mine, chance) for mine, chance in zip(passed.values, baseline.values)])


def disagreement(passed: dict[Curve, Passed]) -> Disagreement | None:
    """The example and two measures whose differences in average precision and ACU have the largest product."""
    baseline = next((one for curve, one in passed.items() if curve.random), None)
    told = {curve.measure: one for curve, one in passed.items() if not curve.random}
    if baseline is None or len(told) < 2:
        return None
    names = list(told)
    precision = np.stack([told[name].found[:, 0] for name in names])
    area = np.stack([areas(told[name], baseline) for name in names])
    gain = precision[:, None] - precision[None]
    loss = area[None] - area[:, None]
    parted = np.where((gain > 0) & (loss > 0), gain * loss, np.nan)
    if np.isnan(parted).all():
        return None
    i, j, place = np.unravel_index(int(np.nanargmax(parted)), parted.shape)
    return Disagreement(
        int(place),
        names[i],
        names[j],
        (float(precision[i, place]), float(precision[j, place])),
        (float(area[i, place]), float(area[j, place])),
    )
