"""What papers found of training with masking, beside what a model check finds."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from core.evaluation.findings import FEW, MARGIN, Finding, not_lower, not_more, once_counted, points_text
from core.evaluation.studies.check_report import REJECTED, CheckReport, X, difference_of
from core.evaluation.studies.model_check import Passed
from core.mathematics.masking import RATIOS
from core.mathematics.statistics import Interval, holm_adjusted, more_often, rejected_count_p, significant
from core.validity.marks import alone
from core.validity.references import CALIBRATED, LITERAL
from core.wording import number, p_value, percent, share_text

# What FMM found, and its figure.
_LOSES_NOTHING = "Masked fine-tuning loses no unmasked performance.", "0 points"
_REACHES = "With {} masked, a masked fine-tuned model reaches the class majority.", "class majority"
_FALLS = "With {} masked, a plain model falls below it.", "below it"
_NOT_REJECTED = "Inputs of a masked fine-tuned model are not rejected at any masking ratio.", "p ≥ 0.05"
_REJECTED = "Inputs of a plain model are rejected at some masking ratio.", "p < 0.05"


def check_findings(reports: list[CheckReport]) -> list[Finding]:
    """What FMM found, beside what these models do; the first of each training strategy on the first report's data.

    The two agree by 95 % intervals over the same texts and a margin of 5 points, from 20 texts on. Nothing is told of a
    sample of one class, nor of picked texts. Source: FMM §5.1 and §5.2.
    """
    by: dict[str, CheckReport] = {}
    for one in reports:
        if one is reports[0] or (one.trained_on is not None and one.trained_on == reports[0].trained_on):
            by.setdefault(one.training, one)
    masked, plain = by.get("half"), by.get("none")
    if reports[0].sample.one_class or reports[0].sample.picked:
        return []
    told = (*_performance(masked, plain), *_ends(masked, plain), *_validity(masked, plain))
    least = min((one.tally for one in by.values()), key=lambda tally: (not tally.coming, tally.n))
    return once_counted(told, least)


def _performance(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    if masked is None or plain is None or masked.metric != plain.metric:
        return
    both = np.flatnonzero(masked.followed.there & plain.followed.there)
    answers = [(one.sample.labels[both], one.followed.predicted[both, 0]) for one in (masked, plain)]
    lost = difference_of(masked.metric, *answers) if len(both) else Interval(np.nan, np.nan, np.nan)
    yield Finding(
        _LOSES_NOTHING[0],
        f"{percent(masked.unmasked, masked.metric)} against {percent(plain.unmasked, plain.metric)}: "
        f"{points_text(lost, masked.metric)}",
        not_lower(lost, len(both)),
        paper=_LOSES_NOTHING[1],
    )


def _ends(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    """What each reaches with everything masked: it, below it, or neither, where the margin decides."""
    for one, falls, (claim, paper) in ((masked, False, _REACHES), (plain, True, _FALLS)):
        if one is not None:
            gained, reaches = one.gained[1], not_lower(one.gained[1], one.n)
            little = reaches is True and gained.high < 0
            yield Finding(
                claim.format(one.sample.whole),
                f"{percent(one.masked, one.metric)} against {percent(one.majority, one.metric)}: "
                f"{points_text(gained, one.metric)}",
                None if reaches is None or (little and falls) else reaches != falls,
                paper=paper,
            )


def _validity(masked: CheckReport | None, plain: CheckReport | None) -> Iterator[Finding]:
    """Agreement asks for a share of texts rejected no more than 5 points above what is expected, by its 95 % interval
    at every ratio, and for the same result by the paper's literal form.
    """
    for one, should, (claim, paper) in ((masked, False, _NOT_REJECTED), (plain, True, _REJECTED)):
        if one is not None and CALIBRATED in one.random.gates and one.random.gates[CALIBRATED].available:
            k, found = one.worst(), _rejects(one, should)
            here = f"{share_text(one.random.share(CALIBRATED)[k])} rejected at {share_text(X[k])} masked"
            yield Finding(claim, here, None if found is None else found == should, more=_tests(one), paper=paper)


def _tests(one: CheckReport) -> str:
    """The numbers behind it: p of both forms, and of single texts the share rejected."""
    most = one.most_rejected()
    ends = f"{100 * most.mean:.1f} % [{100 * most.low:.1f}, {100 * most.high:.1f}]"
    p = f"{p_value(one.smallest()[0])} ({CALIBRATED}), {p_value(one.smallest(LITERAL)[0])} ({LITERAL})"
    return f"{p}; floor {number(one.floor[LITERAL])}; texts rejected {ends}, margin {100 * MARGIN:g}"


def _rejects(one: CheckReport, should: bool) -> bool | None:
    """Whether inputs are rejected, masking being why; None where that is not known."""
    within = not_more(one.most_rejected(), one.n)
    if one.n < FEW:
        return None
    if one.random.gates[CALIBRATED].marked or within is False:
        found = None if one.as_held_out or _unmasked_too(one, should) else True
    else:
        found = False if not len(one.rejected()) and within else None
    literal = one.random.gates.get(LITERAL)
    # A form that cannot reject says nothing against one that does.
    if literal is None or not literal.available:
        return found
    return found if found == (len(one.rejected(LITERAL)) > 0) else None


def _unmasked_too(one: CheckReport, should: bool) -> bool:
    """Whether even the unmasked texts are rejected, so that masking need not be why; should: where inputs are expected
    to be, more masked than unmasked ones at some ratio settle that (Fisher's exact tests, careful of the same texts).
    """
    counts = one.random.rejected[CALIBRATED]
    more = should and more_often(counts[1:], one.n, np.full(len(counts) - 1, counts[0]), one.n).any()
    return bool(one.random.gates[CALIBRATED].rejected[0] and not more)


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
