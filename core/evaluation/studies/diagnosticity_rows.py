"""Diagnosticity as rows and as JSON."""

from core.evaluation.studies.diagnosticity_paper import paper_findings
from core.evaluation.studies.diagnosticity_report import ALL, DiagnosticityReport, Tested
from core.explanation.rows import values_taken
from core.mathematics.erasure import LENGTHS
from core.wording import as_json

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
