"""What a question of one number a text comes to: its mean over the texts."""

from core.evaluation.mean_of import MeanReport
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.result import Fact, Kind, Outcome, Result


class MeanOutcome(Outcome):
    """What the numbers of texts come to."""

    MEAN = "mean"
    ALIKE = "the same on every text"
    UNDEFINED = "undefined"


@register_result(MeanReport)
def mean_result(report: MeanReport) -> Result:
    """What the numbers of the texts come to."""
    known, mean, called = report.known, report.mean, report.called
    facts = [
        Fact("mean", f"mean {called}", mean.mean, better=report.better, low=mean.low, high=mean.high),
        Fact("smallest", "smallest", float(known.min()) if len(known) else None),
        Fact("largest", "largest", float(known.max()) if len(known) else None),
        Fact("texts", "texts", len(known), Kind.COUNT, of=report.tally.total),
    ]
    caveats = sample_caveats(report.tally, len(known), report.cut, report.picked)
    slots = {"called": called, "mean": mean.mean, "count": len(known)}
    if not len(known):
        return Result.of(MeanOutcome.UNDEFINED, facts, caveats, called=called, count=len(report.values))
    outcome = MeanOutcome.ALIKE if known.min() == known.max() else MeanOutcome.MEAN
    return unanswered(report.tally, len(known), facts, caveats) or Result.of(outcome, facts, caveats, **slots)
