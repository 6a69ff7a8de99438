"""How diagnostic are faithfulness metrics? The scores of measures against those of a baseline."""

from dataclasses import dataclass, replace
from typing import Any

from core.evaluation.studies.diagnosticity_report import (
    ALL,
    DiagnosticityReport,
    build_diagnosticity_report,
    by_example,
)
from core.evaluation.studies.diagnosticity_tables import (
    averages_table,
    diagnosticity_table,
    lengths_table,
    softfaith_table,
    tests_table,
    undefined_table,
)
from core.evaluation.studies.scoring import SHUFFLED, Scored, Scoring
from core.evaluation.study import Answers, Table, register
from core.mathematics.diagnosticity import HALF, STRICT
from core.metrics.catalogue import metrics
from core.network.model import Model
from core.wording import as_json


@register
@dataclass(frozen=True)
class Diagnosing(Scoring):
    """How often a metric prefers a measure to a baseline. Source: SoftFaith §4; glossary, Diagnosticity."""

    name, order = "diagnosticity", 1
    asks = "How often does a faithfulness metric prefer a measure to what is set against it?"

    @property
    def label(self) -> str:
        """What it is called as work."""
        return "diagnosticity against shuffles" if self.baseline == SHUFFLED else "diagnosticity"

    def check(self, model: Model | None = None) -> None:
        """As the scores; a metric that prefers neither more nor less, and nothing to set against each other."""
        super().check(model)
        without = [name for name in self.metrics if not metrics()[name].direction]
        if without:
            raise ValueError(
                f"{without[0]} prefers neither more nor less, so it has no diagnosticity; choose another metric"
            )
        if not self.measures or not self.count:
            raise ValueError("diagnosticity needs a measure and a baseline attribution")

    def conclude(self, answers: Answers) -> DiagnosticityReport | None:
        """All of it in numbers; None before the first text."""
        about = answers.model.name, answers.sample.name, answers.model.labels
        found = build_diagnosticity_report(answers.found[self], *about, answers.resamples)
        return None if found is None else replace(found, tally=answers.tally(), picked=answers.sample.picked)

    def tables(self, report: Any) -> list[Table]:
        """By measure, soft metrics against hard ones, by length, SoftFaith's findings, and what is undefined."""
        every = (averages_table, diagnosticity_table, tests_table, lengths_table, softfaith_table, undefined_table)
        first, *rest = (one(report) for one in every)
        return [first, *(table for table in rest if table[1])]

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example, metric, measure ("all": over the measures), and length of the rationale.

        Columns: metric, direction, length (null: the metric's own value), measure, strict and half (diagnosticity by
        both rules, ↑), ties (share of them), pairs, undefined (pairs that are left out), against (random or shuffled),
        erasure, scaling, placement, sigma, draws, seed.
        """
        found: Scored = answers.found[self]
        tables, lines = by_example(found), []
        for i, about in enumerate(self.about_examples(answers)):
            for (metric, length, measure), pairs in tables.items() if found.there[i] else ():
                told = {
                    "measure": measure or ALL,
                    "length": length,
                    STRICT: as_json(pairs.strict[i]),
                    HALF: as_json(pairs.half[i]),
                    "ties": as_json(pairs.ties[i]),
                    "against": self.baseline,
                    "pairs": int(pairs.defined[i]),
                    "undefined": int(pairs.left_out[i]),
                }
                lines.append(about | self.how_scored(metric) | told)
            lines += [] if found.there[i] else [about]
        return lines
