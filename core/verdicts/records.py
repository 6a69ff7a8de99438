"""Verdicts as rows of tables and lines of files."""

import math

import numpy as np

from core.mathematics.statistics import ALPHA
from core.verdicts.deciding import Verdict, VerdictReport
from core.verdicts.finding import SIGNS
from core.wording import as_json, number, p_value

# By itself, of being better and of being worse, then the one that decided; each from and to.
_CHANCES = [f"p_{name}_{end}" for name in ("better", "worse", "holm") for end in ("from", "to")]
RECORDED = [
    "measure",
    "verdict",
    *_CHANCES,
    "aopc",
    "direction",
    "erasure",
    "orders",
    "orders_planned",
    "measures_tested",
    "causes",
    "why",
]
# Of these, what stands in the lines of files that hold other things besides; p by itself, then by Holm.
NOTED = ["verdict", *_CHANCES, "measures_tested"]


def p_text(p: tuple[float, float]) -> str:
    """A p-value as drawn; of one that was not drawn to its end, what it is at least, or at most, as far as is known."""
    if math.isnan(p[0]) or math.isnan(p[1]):
        return "—"
    if not p[0]:
        return f"p ≤ {number(p[1])}"
    return p_value(p[0]) if p[0] == p[1] else f"p ≥ {number(p[0])}"


def orders_as_good(report: VerdictReport, measure: str) -> int | None:
    """How many random orders do at least as well as a measure's own; None where that says nothing."""
    one, reached = report.of(measure), report.reached.get(measure)
    if one is None or not one.told or reached is None or not len(report.null.reached):
        return None
    return int(report.null.as_good(np.array([reached]), SIGNS[report.direction])[0]) - report.null.every


def verdict_line(report: VerdictReport, one: Verdict) -> list:
    """A measure's line under RECORDED: plain values."""
    null, reached = report.null, report.reached.get(one.measure)
    asked = [report.direction, report.erasure, len(null.reached), null.planned, report.planned]
    causes = ", ".join(one.causes)
    return [one.measure, str(one.word), *one.p, *one.worse, *one.adjusted, reached, *asked, causes, str(one.why or "")]


def verdict_record(one: Verdict, tested: int) -> dict:
    """A verdict for a line of a file that holds other things besides, of NOTED; tested: measures that were judged
    together.
    """
    told = [str(one.word), *one.p, *one.worse, *one.adjusted, tested]
    return {name: as_json(value) for name, value in zip(NOTED, told)}


def as_plain(report: VerdictReport) -> dict:
    """All of it as plain values for JSON, with the AOPC of every random order that was drawn."""
    return {
        "direction": report.direction,
        "erasure": report.erasure,
        "level": ALPHA,
        "orders": len(report.null.reached),
        "orders_planned": report.null.planned,
        "every_order": report.null.every,
        "orders_in_half_precision": report.null.rough,
        "measures_tested": report.planned,
        "limits": report.limits,
        "verdicts": [
            {name: as_json(value) for name, value in zip(RECORDED, verdict_line(report, one))}
            for one in report.verdicts
        ],
        "random_orders_aopc": report.null.reached[:1000].tolist(),
    }
