"""AOPC and NAOPC of measures and random order (NAOPC Table 4 ranks them)."""

from typing import TYPE_CHECKING

from core.evaluation.studies.board_report import COMPREHENSIVENESS, NAOPC_C, NAOPC_S, SUFFICIENCY, direction_of
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.study import Question
from core.sweeps.registry import DOTS, Line, Reply, SweepTable, interval_columns, register

if TYPE_CHECKING:
    from core.sweeps.configuration import Sweep

# Each AOPC with the one that is normalised.
NORMALISED = {COMPREHENSIVENESS: NAOPC_C, SUFFICIENCY: NAOPC_S}


def ask_board(choices: "Sweep") -> dict[int | None, Question]:
    """The scoreboard, whose random orders are its own; {} without measures."""
    return {None: Scoreboard(choices.measures, choices.values, choices.unit)} if choices.measures else {}


def aopc_lines(reply: Reply) -> list[Line]:
    """A line for each measure and figure; direction: 1 where higher is better, else −1."""
    report, lines = reply.conclude(), []
    for figure in (figure for both in NORMALISED.items() for figure in both) if report is not None else ():
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
        ask_board,
        aopc_lines,
        ("model", "data", "measure"),
        {"mean": ""},
        across="figure",
        drawn=DOTS,
    )
)
