"""CORR: does an attribution go with what erasing each feature alone costs?"""

import numpy as np

from core.mathematics.erasure import constant
from core.metrics.registry import HIGHER, ROUNDING, Case, Metric, Score, register


def corr(case: Case) -> Score:
    """Pearson's correlation of the attribution with v(∅) − v({i}) over the features that can be erased.

    Returns:
        Score in [−1, 1]; higher is better. NaN below two features, or where either is constant, v within 1e-6: that is
        rounding.
    Source: SoftFaith §2.2; Arya et al. (2019).
    """
    free = case.free
    masks = np.zeros((len(free) + 1, len(case.masked)), dtype=bool)
    masks[np.arange(1, len(free) + 1), free] = True
    values = case.value(masks)
    scores, falls = np.asarray(case.scores, dtype=np.float64)[free], values[0] - values[1:]
    if len(free) < 2 or constant(scores) or constant(falls, ROUNDING):
        return Score(float("nan"), note="A single feature, or equal scores or effects, give no correlation.")
    # Scaled first: squares of very small or large scores would leave the range of numbers.
    scores = scores / np.abs(scores).max()
    scores, falls = (x / np.abs(x).max() for x in (scores - scores.mean(), falls - falls.mean()))
    return Score(float(np.clip((scores @ falls) / np.sqrt((scores @ scores) * (falls @ falls)), -1.0, 1.0)))


register(
    Metric(
        name="CORR",
        direction=HIGHER,
        low=-1,
        unit="Pearson’s r",
        magnitudes=True,
        definition="Correlation of attribution and fall of probability when each feature alone is erased.",
        cost="F + 1",
        passes=lambda F, draws: F + 1,
        source="SoftFaith §2.2",
        compute=corr,
        order=80,
    )
)
