"""How close does each measure come to the best order of masking? Mean NAOPC over many texts."""

from dataclasses import replace

from core.evaluation.studies.limits_of_texts import LimitsOfTexts, LimitsReport
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
    """What the mean NAOPC of measures comes to, by comprehensiveness."""
    closest = report.measures
    facts, caveats = _facts(report, closest[:1]), _caveats(report)
    early = unanswered(report.tally, report.counts[closest[0]] if closest else report.n, facts, caveats)
    if not report.n and report.tally.complete:
        result = Result.of(LimitsOfTextsOutcome.NO_TEXTS, facts, caveats)
    elif early is not None:
        result = early
    elif not closest:
        result = Result.of(LimitsOfTextsOutcome.TIED, facts, caveats)
    else:
        outcome, named = _outcome(report, closest)
        way = report.means[closest[0]][0].mean
        slots = {"measure": closest[0], "measures": named, "way": way, "count": report.counts[closest[0]]}
        result = Result.of(outcome, facts, caveats, **slots)
    return replace(result, whose=caveat_measures(report.means, report.sign))


def _outcome(report: LimitsReport, closest: list[str]) -> tuple[LimitsOfTextsOutcome, list[str]]:
    """What the best mean says, and the measures whose intervals meet its own."""
    first, *others = (report.means[name][0] for name in closest)
    named = [closest[0], *(name for name, one in zip(closest[1:], others) if not one.known or one.high >= first.low)]
    if first.high < HALF_WAY:
        return LimitsOfTextsOutcome.NEARER_WORST, named
    if not first.low >= HALF_WAY:
        return LimitsOfTextsOutcome.HALF_WAY, named
    return LimitsOfTextsOutcome.OVERLAP if len(named) > 1 else LimitsOfTextsOutcome.CLOSEST, named


def _facts(report: LimitsReport, first: list[str]) -> list[Fact]:
    means = [report.means[name][0] for name in first]
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
