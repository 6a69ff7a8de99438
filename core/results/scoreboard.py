"""Scoreboard: which measure is faithful over the data, and at what cost?"""

from dataclasses import replace
from typing import Any

from core.evaluation.findings import FEW
from core.evaluation.studies.board_report import RANDOM, BoardReport, direction_of
from core.metrics.registry import ARROWS
from core.results.catalogue import register_result
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import caveat_measures, measure_caveats


class ScoreboardOutcome(Outcome):
    """What comparing measures over texts comes to."""

    ONE_LEADS = "one measure leads"
    SEVERAL_UNBEATEN = "several measures unbeaten"
    NONE_BETTER = "none better than random"
    FEW_TEXTS = "few texts"
    CANNOT_BE_TESTED = "cannot be tested"
    RUNNING = "running"


@register_result("scoreboard")
def scoreboard_result(report: BoardReport) -> Result:
    """What a scoreboard comes to by the figure that its measures are compared by."""
    by, tally = report.board.by, report.tally
    # The one that most other metrics leave unbeaten first.
    leaders = sorted(report.leaders(by), key=lambda name: -_agree(report, name))
    slots: dict[str, Any] = {"figure": by, "count": report.n, "total": tally.total, "needed": FEW}
    if leaders:
        passes = min(report.passes[name] for name in leaders)
        cheapest = [name for name in leaders if report.passes[name] == passes]
        slots |= {"measure": leaders[0], "measures": leaders, "cheapest": cheapest, "passes": round(passes)}
    result = Result.of(_outcome(report), _facts(report, leaders), _caveats(report), **slots)
    return replace(result, whose=caveat_measures(report.names, report.board.sign))


def waiting_result(total: int, complete: bool = False) -> Result:
    """The same while no text is scored by every part; complete: and none will be, since all that can be are."""
    outcome = ScoreboardOutcome.CANNOT_BE_TESTED if complete else ScoreboardOutcome.RUNNING
    caveats = [] if complete else [Caveat.PARTIAL]
    return Result.of(outcome, caveats=caveats, figure="any metric", count=0, total=total)


def _outcome(report: BoardReport) -> ScoreboardOutcome:
    by = report.board.by
    if not report.tally.settled:
        return ScoreboardOutcome.RUNNING
    if report.picked:
        return ScoreboardOutcome.CANNOT_BE_TESTED
    if report.n < FEW:
        return ScoreboardOutcome.FEW_TEXTS
    if RANDOM in report.unbeaten(by):
        return ScoreboardOutcome.NONE_BETTER
    match len(report.leaders(by)):
        case 0:
            return ScoreboardOutcome.CANNOT_BE_TESTED
        case 1:
            return ScoreboardOutcome.ONE_LEADS
    return ScoreboardOutcome.SEVERAL_UNBEATEN


def _agree(report: BoardReport, name: str) -> int:
    """By how many metrics no other measure beats one."""
    return sum(name in report.unbeaten(figure) for figure in report.beaten)


def _facts(report: BoardReport, leaders: list[str]) -> list[Fact]:
    by, tally = report.board.by, report.tally
    counted = Fact("texts", "texts scored", report.n, Kind.COUNT, of=tally.total)
    if not leaders:
        return [counted]
    first, best = leaders[0], report.cells[report.leaders(by)[0], by].interval
    passes = min(report.passes[name] for name in leaders)
    label = f"metrics for {first}"
    return [
        Fact("score", f"best {by}", best.mean, Kind.NUMBER, ARROWS[direction_of(by)], best.low, best.high, about=by),
        Fact("passes", "forward passes, cheapest", round(passes), Kind.COUNT, "↓", about="forward passes"),
        Fact("unbeaten", label, _agree(report, first), Kind.COUNT, of=len(report.beaten), about="unbeaten"),
        counted,
    ]


def _caveats(report: BoardReport) -> list[Caveat]:
    by, settled = report.board.by, report.tally.settled
    found = {
        Caveat.PARTIAL: not report.tally.complete,
        Caveat.FEW_TEXTS: settled and report.n < FEW,
        Caveat.SELECTED: bool(report.picked),
        Caveat.OUT_OF_DISTRIBUTION: bool(report.marked(by)),
        Caveat.NOT_TESTED: not report.tested,
        Caveat.UNSTABLE: any(report.cells[name, by].unstable for name in report.names),
        Caveat.TRUNCATED: bool(report.cut),
    }
    return [*(caveat for caveat, holds in found.items() if holds), *measure_caveats(report.names, report.board.sign)]
