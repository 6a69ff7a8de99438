"""Does retraining agree? What ROAR's ranking beside an FMM's comes to."""

from dataclasses import replace

from core.evaluation.studies.retraining import Retraining, RetrainingReport
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.caveats import Caveat, holding
from core.results.result import Fact, Kind, Outcome, Result


class RetrainingOutcome(Outcome):
    """Whether ROAR ranks measures as the FMM does."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    UNDECIDED = "undecided"
    OTHER_TEXTS = "other texts"


@register_result(Retraining.name)
def retraining_result(report: RetrainingReport) -> Result:
    """What both rankings come to."""
    found, tau = report.retrained, report.tau
    facts = [
        Fact("tau", "τ-b", tau.mean, better="↑", low=tau.low, high=tau.high, about="ROAR"),
        Fact("seeds", "seeds", len(report.taus), Kind.COUNT),
        Fact("trainings", "trainings", found.trainings, Kind.COUNT),
        Fact("shared", "ROAR’s test texts", report.shared, Kind.COUNT, of=report.n),
    ]
    leaking = [name for name, leaks in zip(found.names[1:], found.leaking) if leaks]
    rejected = [name for name, gate in report.gates.items() if gate.marked]
    caveats = sample_caveats(report.tally, report.n, report.cut, report.picked)
    caveats += holding(
        {
            Caveat.CLASS_LEAKAGE: bool(leaking),
            Caveat.OUT_OF_DISTRIBUTION: bool(rejected),
            Caveat.NOT_TESTED: not report.gates,
        }
    )
    slots = {"count": len(report.ranked), "model": report.model}
    answered = Result.of(_outcome(report), facts, caveats, **slots)
    result = unanswered(report.tally, report.n, facts, caveats) or answered
    return replace(result, whose={Caveat.OUT_OF_DISTRIBUTION: rejected, Caveat.CLASS_LEAKAGE: leaking})


def _outcome(report: RetrainingReport) -> RetrainingOutcome:
    if not report.shared:
        return RetrainingOutcome.OTHER_TEXTS
    if report.tau.known and report.tau.low > 0:
        return RetrainingOutcome.AGREES
    if report.tau.known and report.tau.high < 0:
        return RetrainingOutcome.DISAGREES
    return RetrainingOutcome.UNDECIDED
