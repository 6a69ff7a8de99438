"""How diagnostic are faithfulness metrics? The scores of measures against those of a baseline."""

from dataclasses import dataclass, replace
from typing import Any

from core.evaluation.studies.diagnosticity_report import (
    ALL,
    DiagnosticityReport,
    Tested,
    averages_table,
    build_diagnosticity_report,
    by_example,
    diagnosticity_table,
    lengths_table,
    paper_findings,
    softfaith_table,
    tests_table,
    undefined_table,
)
from core.evaluation.studies.scoring import SHUFFLED, Scored, Scoring
from core.evaluation.study import Answers, Table, register
from core.explanation.rows import values_taken
from core.mathematics.diagnosticity import HALF, STRICT
from core.mathematics.erasure import LENGTHS
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


# Of a row, and of a JSON file.
_COLUMNS = {
    "metric": "metric",
    "measure": "measure",
    "rationale length (empty: the metric's own value)": "length",
    "strict ↑": "strict",
    "strict, low": "strict_low",
    "strict, high": "strict_high",
    "half a tie ↑": "half",
    "half, low": "half_low",
    "half, high": "half_high",
    "share of ties": "ties",
    "examples": "examples",
    "undefined pairs": "undefined_pairs",
    "pairs": "pairs",
    "set against": "against",
}
HEADER = ("model", "data", *_COLUMNS)


def diagnosticity_rows(found: DiagnosticityReport) -> list[list]:
    """A report as rows, see HEADER; lengths are over all measures."""
    listed = [(metric, measure, None, one) for (metric, measure), one in found.cells.items()]
    listed += [
        (metric, ALL, length, one) for metric, cells in found.lengths.items() for length, one in zip(LENGTHS, cells)
    ]
    return [
        [
            found.model,
            found.data,
            metric,
            measure,
            length,
            *_three(one.strict),
            *_three(one.half),
            one.ties,
            one.n,
            one.undefined,
            one.pairs,
            found.study.baseline,
        ]
        for metric, measure, length, one in listed
    ]


def diagnosticity_json(found: DiagnosticityReport) -> dict:
    """A report as plain values for a JSON file; null where there is no number."""
    how = found.study.how
    return {
        "model": found.model,
        "data": found.data,
        "examples": found.n,
        "unit": found.study.unit,
        "measures": list(found.study.measures),
        "values": {name: values_taken(name, found.study.sign) for name in found.study.measures},
        "baseline": found.study.baseline,
        "count": found.study.count,
        "erasure": how.erasure,
        "scaling": how.scaling,
        "placement": how.placement,
        "sigma": how.sigma,
        "draws": how.draws,
        "seed": how.seed,
        "diagnosticity": [
            dict(zip(_COLUMNS.values(), map(as_json, row[2:]), strict=True)) for row in diagnosticity_rows(found)
        ],
        "tests": [_test_json(one) for one in (*found.tests, *found.fixed)],
        "predicted": found.predicted,
        "left_out": found.left_out,
        "undefined": found.undefined,
        "reasons": {name: list(why) for name, why in found.reasons.items()},
        "findings": [{"claim": one.claim, "here": one.ours, "agrees": one.agrees} for one in paper_findings(found)],
    }


def _test_json(one: Tested) -> dict:
    return {
        "hard": one.hard,
        "soft": one.soft,
        "rule": one.rule,
        "examples": one.found.n,
        "hard_mean": as_json(one.found.first),
        "soft_mean": as_json(one.found.second),
        "rank_sum_p": as_json(one.found.rank_sum),
        "paired_p": as_json(one.found.paired),
        "reason": one.found.reason,
    }


def _three(interval) -> tuple[float, float, float]:
    return interval.mean, interval.low, interval.high
