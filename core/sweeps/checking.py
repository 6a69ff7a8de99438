"""The model check of a sweep: one asking holds the random orders of all seeds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport, CurveFigures, build_check_report
from core.evaluation.studies.model_check import Curve
from core.evaluation.study import Question
from core.sweeps.registry import Reply

if TYPE_CHECKING:
    from core.sweeps.configuration import Sweep


@dataclass(frozen=True)
class SeededCheck(MaskingCheck):
    """A model check whose random orders are drawn by these seeds; measures are set against their mean."""

    orders: tuple[int, ...] = (0,)

    @property
    def studies(self) -> tuple[Curve, ...]:
        """Random order by the first seed, each measure's, and random orders by the other seeds."""
        measured = (Curve(name, self.sign, self.unit) for name in self.measures)
        first, *more = (Curve(unit=self.unit, seed=seed) for seed in self.orders)
        return (first, *measured, *more)


def ask_check(choices: "Sweep") -> dict[int | None, Question]:
    """The check by all seeds."""
    return {None: SeededCheck(choices.measures, choices.values, choices.unit, orders=choices.seeds)}


def curve_figures(reply: Reply) -> Iterator[tuple[CheckReport, CurveFigures]]:
    """Each curve in numbers: random order's, by seed, and each measure's."""
    whole = reply.conclude()
    if whole is None:
        return
    answers = reply.answers
    yield whole, whole.random
    for curve in [one for one in reply.question.studies if one.random][1:]:
        alone = {curve: answers.found[curve]}
        found = build_check_report(answers.model, answers.reference, answers.sample, alone, whole.metric)
        if found is not None:
            yield found, found.random
    yield from ((whole, line) for line in whole.lines if not line.curve.random)


def curve_name(line: CurveFigures) -> dict:
    """What names a curve in a line: its measure, or random order and its seed."""
    return {"measure": line.curve.measure, "seed": line.curve.seed if line.curve.random else None}
