"""Whether a model check's rejected texts are those that are longer or shorter than its reference's."""

from dataclasses import dataclass, field

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.studies.check_report import REJECTED, CheckReport
from core.evaluation.studies.model_check import Passed
from core.mathematics.masking import RATIOS
from core.mathematics.statistics import holm_adjusted, more_often, rejected_count_p, significant
from core.validity.marks import alone
from core.validity.references import CALIBRATED


@dataclass(frozen=True)
class LengthSplit:
    """Texts rejected by themselves at a masking ratio, split by length: low, high: tokens, between which nine of ten
    texts of the reference are; alike: (rejected, texts) between them; others: the same of the longer and shorter ones;
    together: the ratios at which those between are rejected together, by count and Holm, None where nobody knows;
    rejected: (of those between, of the others) int64[K], at every ratio; p: float64[K], by count, unadjusted, of those
    between, None where together is.
    """

    low: int
    high: int
    alike: tuple[int, int]
    others: tuple[int, int]
    together: tuple[float, ...] | None = None
    rejected: tuple[np.ndarray, np.ndarray] | None = field(default=None, compare=False)
    p: np.ndarray | None = field(default=None, compare=False)

    @property
    def more(self) -> bool | None:
        """Whether the others are rejected more often (Fisher, one-sided at 5 %); None of fewer than 20 of either."""
        (count, m), (other, n) = self.alike, self.others
        return None if min(m, n) < FEW else bool(more_often(np.array([other]), n, np.array([count]), m)[0])

    @property
    def parted(self) -> bool:
        """Whether those of usual length are rejected together nowhere, and the others more often."""
        return self.more is True and self.together == ()


def by_length(passed: Passed, span: tuple[int, int], form: str, k: int, fitted: int = 0) -> LengthSplit | None:
    """Texts rejected at the k-th ratio by length; None where lengths are not known. fitted: texts of the last level."""
    if passed.tokens is None:
        return None
    told = passed.there & ~np.isnan(passed.tokens)
    rejected = alone(passed.p[form][told])
    alike = (passed.tokens[told] >= span[0]) & (passed.tokens[told] <= span[1])
    mine, others = rejected[alike].sum(axis=0), rejected[~alike].sum(axis=0)
    m, n = int(alike.sum()), int((~alike).sum())
    together = p = None
    if fitted and m >= FEW:
        p = rejected_count_p(mine, m, fitted)
        together = tuple(ratio for ratio, one in zip(RATIOS, holm_adjusted(p).tolist()) if significant(one))
    return LengthSplit(*span, (int(mine[k]), m), (int(others[k]), n), together, (mine, others), p)


def leads_by_length(found: CheckReport) -> bool:
    """Whether the answer begins with the lengths of which texts are rejected, and of which they are not."""
    split = length_split(found)
    masked_alone = found.verdict == REJECTED and not found.random.gates[CALIBRATED].rejected[0]
    return masked_alone and split is not None and split.parted


def length_split(found: CheckReport) -> LengthSplit | None:
    """The texts rejected where most are by length; None where nobody knows, and where lengths are usual."""
    span = found.other_lengths
    return None if span is None else by_length(found.followed, span, CALIBRATED, found.worst(), found.fitted)


def known_split(found: CheckReport) -> LengthSplit | None:
    """The same of the whole sample, where there is enough to tell of it at every ratio."""
    enough = found.tally.settled and found.n >= FEW and CALIBRATED in found.random.gates
    return length_split(found) if enough else None
