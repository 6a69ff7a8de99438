"""What do faithfulness metrics say of each measure? Means over many texts, without a test of their differences."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from core.evaluation.studies.scoring import ScoresReport, Scoring
from core.mathematics.statistics import Interval, meeting_best
from core.measures.catalogue import measure
from core.measures.registry import ORACLE
from core.metrics.catalogue import metrics
from core.metrics.registry import LOWER
from core.oracle.erasing import MASK
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import measure_caveats

ABOVE, OVERLAPS, BELOW = "better", "overlaps", "worse"


class ScoresOutcome(Outcome):
    """Which measures have the best mean by hard metrics, or by soft ones where no hard metric has a value."""

    ONE_HIGHEST = "one measure highest"
    OVERLAP = "intervals overlap"
    DISAGREE = "metrics disagree"
    NO_VALUE = "no value"


class MeanCell(NamedTuple):
    """The mean of a measure by a metric over n texts, and where its interval lies beside that of the baseline: ABOVE,
    OVERLAPS or BELOW, by what the metric calls better; "" without both intervals.
    """

    measure: str
    metric: str
    mean: Interval
    n: int
    beside: str


@register_result(Scoring.name)
def scores(report: ScoresReport) -> Result:
    """What the means of scores over a sample come to."""
    best = {name: best_measures(name, means) for name, means in _means(report).items()}
    ranked = {name: found for name, found in best.items() if found}
    decide = {name: found for name, found in ranked.items() if not metrics()[name].soft} or ranked
    facts, caveats = _facts(report, ranked), _caveats(report, decide)
    early = unanswered(report.tally, report.n, facts, caveats)
    named = [one for one in report.found.study.measures if any(one in found for found in decide.values())]
    return early or Result.of(_outcome(decide), facts, caveats, measures=named, metrics=list(decide), count=report.n)


def best_measures(metric: str, means: Mapping[str, Interval]) -> list[str]:
    """The measures whose 95 % interval meets that of the best mean by a metric, the best first; [] without one."""
    return meeting_best(means, metrics()[metric].direction)


def score_cells(report: ScoresReport) -> Iterator[MeanCell]:
    """Each measure by each metric."""
    study: Scoring = report.found.study
    for name in study.measures:
        for metric in study.metrics:
            mean, chance = report.means[metric, name], report.means.get((metric, study.baseline))
            yield MeanCell(name, metric, mean, report.counts[metric, name], _beside(metric, mean, chance))


def _outcome(best: Mapping[str, list[str]]) -> ScoresOutcome:
    if not best:
        return ScoresOutcome.NO_VALUE
    every = [set(found) for found in best.values()]
    if not set.intersection(*every):
        return ScoresOutcome.DISAGREE
    return ScoresOutcome.OVERLAP if len(set.union(*every)) > 1 else ScoresOutcome.ONE_HIGHEST


def _means(report: ScoresReport) -> dict[str, dict[str, Interval]]:
    study: Scoring = report.found.study
    directed = [name for name in study.metrics if metrics()[name].direction]
    return {name: {one: report.means[name, one] for one in study.measures} for name in directed}


def _facts(report: ScoresReport, best: Mapping[str, list[str]]) -> list[Fact]:
    facts = []
    for name, (first, *_) in best.items():
        mean, marked = report.means[name, first], name in report.marked
        about = (mean.mean, Kind.NUMBER, metrics()[name].arrow, mean.low, mean.high)
        facts.append(Fact(name, f"{name}, {first}", *about, marked=marked, about=name))
    beside = [one.beside for one in score_cells(report) if one.beside]
    cut, n = len(report.found.cut), report.n
    behind = len(beside) - beside.count(ABOVE)
    return [
        *facts,
        Fact("not_better", "not better than the baseline", behind, Kind.COUNT, "↓", of=len(beside)),
        Fact("texts", "texts", n, Kind.COUNT, of=report.tally.total),
        Fact("cut", "texts cut", cut, Kind.COUNT, of=n),
    ]


def _caveats(report: ScoresReport, best: Mapping[str, list[str]]) -> list[Caveat]:
    study: Scoring = report.found.study
    found = sample_caveats(report.tally, report.n, len(report.found.cut), report.picked)
    named = {one for names in best.values() for one in names}
    favours = measure_caveats(study.measures, study.sign)
    hard = study.how.erasure == MASK and any(not metrics()[name].soft for name in best)
    if not (hard and any(measure(one).needs == ORACLE for one in named)):
        favours = [one for one in favours if one != Caveat.MEASURE_USES_MASKING]
    return [*found, *favours, *([Caveat.OUT_OF_DISTRIBUTION] if report.marked else [])]


def _beside(metric: str, one: Interval, chance: Interval | None) -> str:
    if not metrics()[metric].direction or not one.known or chance is None or not chance.known:
        return ""
    above, below = one.low > chance.high, one.high < chance.low
    if metrics()[metric].direction == LOWER:
        above, below = below, above
    return ABOVE if above else BELOW if below else OVERLAPS
