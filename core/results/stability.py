"""How stable the rankings of one text are: under other seeds, and under changes that should not matter."""

from collections.abc import Sequence

from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.stability.telling import Stability


class StabilityOutcome(Outcome):
    """What repeating measures on one text comes to."""

    UNSTABLE = "unstable"
    TOO_FEW_RUNS = "too few runs"
    NOT_SHOWN = "not shown"
    RUNNING = "running"


def stability_result(found: Sequence[Stability]) -> Result:
    """What the runs of these measures say, one or more."""
    unstable = [one.measure for one in found if one.unstable]
    dissenting = [one.measure for one in found if one.dissent and not one.unstable]
    running = any(not one.runs.complete for one in found)
    counted = ("unstable", "unstable rankings", unstable), ("dissenting", "too few runs to tell", dissenting)
    facts = [
        Fact(key, label, len(names), Kind.COUNT, "↓", of=len(found), about="order: unstable")
        for key, label, names in counted
    ]
    caveats = [Caveat.UNSTABLE] if unstable else []
    caveats += [Caveat.PARTIAL] if running else []
    if unstable:
        return Result.of(StabilityOutcome.UNSTABLE, facts, caveats, measures=unstable)
    if running:
        return Result.of(StabilityOutcome.RUNNING, facts, caveats, count=len(found))
    if dissenting:
        return Result.of(StabilityOutcome.TOO_FEW_RUNS, facts, caveats, measures=dissenting)
    return Result.of(StabilityOutcome.NOT_SHOWN, facts, caveats, measures=[one.measure for one in found])
