"""How close does each measure come to the best order of masking? Mean NAOPC over many texts."""

from dataclasses import replace

from core.evaluation.studies.limits_of_texts import LimitsOfTexts, LimitsReport
from core.mathematics.statistics import Interval, meeting_best
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.caveats import Caveat, holding
from core.results.limits import HALF_WAY
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import caveat_measures, measure_caveats


class LimitsOfTextsOutcome(Outcome):
    """Where the measure of the best mean NAOPC comprehensiveness lies between the worst order, 0, and the best, 1."""

    CLOSEST = "closest on average"
    OVERLAP = "intervals overlap"
    HALF_WAY = "about half of the way"
    NEARER_WORST = "nearer the worst on average"
    TIED = "tied"
    NO_TEXTS = "no texts"


@register_result(LimitsOfTexts.name)
def limits_of_texts(report: LimitsReport) -> Result:
    """What the mean NAOPC of measures comes to, by comprehensiveness.

    Error rate, `tests/results/test_limits_of_texts_result.py`: of measures with equal means one is named closest on at
    most 2 % of samples, by the first 20 texts or by all; a mean of one half is called nearer the worst on at most 5 %,
    of a single measure with skewed NAOPC on at most 8 %.
    """
    means = {name: mean for name, (mean, _) in report.means.items()}
    closest, facts, caveats = meeting_best(means), _facts(report), _caveats(report)
    result = unanswered(report.tally, max(report.counts.values(), default=0) or report.n, facts, caveats)
    if not report.n and report.tally.complete:
        result = Result.of(LimitsOfTextsOutcome.NO_TEXTS, facts, caveats)
    elif result is None and not closest:
        result = Result.of(LimitsOfTextsOutcome.TIED, facts, caveats)
    elif result is None:
        first, count = means[closest[0]], report.counts[closest[0]]
        slots = {"measure": closest[0], "measures": closest, "way": first.mean, "count": count}
        result = Result.of(_outcome(first, len(closest)), facts, caveats, **slots)
    return replace(result, whose=caveat_measures(report.means, report.sign))


def _outcome(first: Interval, meeting: int) -> LimitsOfTextsOutcome:
    """What the best mean says; meeting: of how many measures the interval meets its own, itself among them."""
    if first.high < HALF_WAY:
        return LimitsOfTextsOutcome.NEARER_WORST
    if first.low < HALF_WAY:
        return LimitsOfTextsOutcome.HALF_WAY
    return LimitsOfTextsOutcome.OVERLAP if meeting > 1 else LimitsOfTextsOutcome.CLOSEST


def _facts(report: LimitsReport) -> list[Fact]:
    means = [report.means[name][0] for name in report.measures[:1]]
    return [
        *(Fact("naopc", "mean NAOPC", one.mean, Kind.NUMBER, "↑", one.low, one.high, about="NAOPC") for one in means),
        Fact("texts", "texts with limits", report.n, Kind.COUNT, of=report.tally.total),
        Fact("exact", "exact limits", report.exact, Kind.COUNT, of=report.n, about="limits"),
        Fact("cut", "truncated texts", report.cut, Kind.COUNT, of=report.n),
    ]


def _caveats(report: LimitsReport) -> list[Caveat]:
    found = sample_caveats(report.tally, report.n, report.cut, report.picked)
    searched = {Caveat.LIMITS_SEARCHED: report.exact < report.n, Caveat.OTHER_CLASSES: report.apart > 0}
    return [*found, *holding(searched), *measure_caveats(report.means, report.sign)]
