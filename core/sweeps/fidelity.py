"""Fidelity, and predictions that never change (RobustInf Table 1)."""

from typing import TYPE_CHECKING

from core.evaluation.studies.behaviour_question import Behaviour
from core.evaluation.study import Question
from core.sweeps.registry import DOTS, Line, Reply, SweepTable, interval_columns, register

if TYPE_CHECKING:
    from core.sweeps.configuration import Sweep


def ask_behaviour(choices: "Sweep") -> dict[int | None, Question]:
    """Random order and each measure's by each seed."""
    return {seed: Behaviour(choices.measures, choices.values, choices.unit, seed=seed) for seed in choices.seeds}


def fidelity_lines(reply: Reply) -> list[Line]:
    """A line for each order; undefined: texts with one feature, of which an order says nothing."""
    report = reply.conclude()
    return [
        reply.about
        | {"measure": line.course.measure, "seed": reply.seed}
        | interval_columns("fidelity", line.fidelity)
        | {"never": None if line.never != line.never else line.never, "n": line.judged}
        | {"undefined": line.n - line.judged}
        for line in (() if report is None else report.lines)
    ]


register(
    SweepTable(
        "fidelity",
        "RobustInf Table 1",
        ask_behaviour,
        fidelity_lines,
        ("model", "data", "measure", "seed"),
        {"fidelity": "fidelity ↑", "never": "never changes", "n": "n"},
        drawn=DOTS,
    )
)
