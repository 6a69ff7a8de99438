"""AOPC of measures and random order."""

from typing import TYPE_CHECKING

from core.evaluation.studies.aopc_board import AopcBoard
from core.evaluation.studies.board_report import COMPREHENSIVENESS, SUFFICIENCY, direction_of
from core.evaluation.study import Question
from core.sweeps.registry import DOTS, Line, Reply, SweepTable, interval_columns, register

if TYPE_CHECKING:
    from core.sweeps.configuration import Sweep


def ask_aopc(choices: "Sweep", limited: bool = False) -> dict[int | None, Question]:
    """The scoreboard's AOPC, whose random orders are its own; {} without measures. limited: between limits."""
    if not choices.measures:
        return {}
    return {None: AopcBoard(choices.measures, choices.values, choices.unit, limited=limited)}


def aopc_lines(reply: Reply, figures: tuple[str, ...] = (COMPREHENSIVENESS, SUFFICIENCY)) -> list[Line]:
    """A line for each measure and figure; direction: 1 where higher is better, else −1."""
    report, lines = reply.conclude(), []
    for figure in figures if report is not None else ():
        for name in report.names:
            cell = report.cells[name, figure]
            counts = {"n": cell.n, "undefined": report.n - cell.n, "marked": cell.marked}
            about = {"measure": name, "figure": figure, "direction": direction_of(figure)}
            lines.append(reply.about | about | interval_columns("mean", cell.interval) | counts)
    return lines


register(
    SweepTable(
        "aopc",
        "NAOPC Fig. 2",
        ask_aopc,
        aopc_lines,
        ("model", "data", "measure"),
        {"mean": ""},
        across="figure",
        drawn=DOTS,
    )
)
