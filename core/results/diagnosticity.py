"""How often does a metric prefer a measure to a baseline, and do soft metrics so more often than hard ones?"""

import itertools
from typing import Any

from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.diagnosticity_report import (
    ALL,
    BASELINE_WORDS,
    HARD,
    SOFT,
    SPARSE,
    UNKNOWN,
    DiagnosticityReport,
    Tested,
)
from core.mathematics.diagnosticity import CHANCE, HALF, STRICT
from core.oracle.erasing import MASK
from core.results.asked import sample_caveats, unanswered
from core.results.catalogue import register_result
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result
from core.results.verdicts import measure_caveats


class DiagnosticityOutcome(Outcome):
    """Which kind of metric prefers measures more often, by the paired tests at which a tie counts one half."""

    SOFT_AHEAD = "soft metrics ahead"
    HARD_AHEAD = "hard metrics ahead"
    NEITHER_AHEAD = "neither ahead"
    NOT_COMPARED = "not compared"
    UNDEFINED = "undefined"


@register_result(Diagnosing.name)
def diagnosticity_result(report: DiagnosticityReport) -> Result:
    """What the diagnosticity of metrics over a sample comes to."""
    halves = [one for one in report.tests if one.rule == HALF]
    able = [one for one in halves if one.ahead not in (SPARSE, UNKNOWN)]
    n = report.n
    if not able and any(one.ahead == SPARSE for one in halves):
        n = max(one.found.n for one in halves)
    facts = _facts(report, halves)
    caveats = sample_caveats(report.tally, n, len(report.cut), report.picked) + _test_caveats(report, able)
    caveats += [Caveat.OUT_OF_DISTRIBUTION] if any(one.marked for one in report.rejected.values()) else []
    slots: dict[str, Any] = {"count": report.n, "against": BASELINE_WORDS[report.study.baseline]}
    if not report.told:
        return Result.of(DiagnosticityOutcome.UNDEFINED, facts, caveats, **slots)
    best = max(report.told, key=lambda name: report.cells[name, ALL].half.mean)
    slots |= {"metric": best, "share": report.cells[best, ALL].half.mean}
    return unanswered(report.tally, n, facts, caveats) or Result.of(_outcome(able), facts, caveats, **slots)


def _outcome(able: list[Tested]) -> DiagnosticityOutcome:
    if not able:
        return DiagnosticityOutcome.NOT_COMPARED
    alone = {SOFT: DiagnosticityOutcome.SOFT_AHEAD, HARD: DiagnosticityOutcome.HARD_AHEAD}
    first, *others = {one.ahead for one in able}
    return DiagnosticityOutcome.NEITHER_AHEAD if others else alone.get(first, DiagnosticityOutcome.NEITHER_AHEAD)


def _test_caveats(report: DiagnosticityReport, able: list[Tested]) -> list[Caveat]:
    """What favours measures by hard metrics, and whether what soft metrics keep may make a lead."""
    ahead = {one.ahead for one in able}
    found = measure_caveats(report.study.measures, report.study.sign)
    if HARD not in ahead or report.study.how.erasure != MASK:
        found = [one for one in found if one != Caveat.MEASURE_USES_MASKING]
    amounts = ahead & {SOFT, HARD} and any(one.soft in report.by_amount for one in able)
    return [*found, *([Caveat.DIFFERENT_AMOUNTS] if amounts else [])]


def _facts(report: DiagnosticityReport, halves: list[Tested]) -> list[Fact]:
    facts = []
    for name in report.told:
        half = report.cells[name, ALL].half
        facts.append(Fact(name, name, half.mean, Kind.NUMBER, "↑", half.low, half.high, about="diagnosticity"))
    for one in halves:
        p = one.found.paired if one.ahead not in (SPARSE, UNKNOWN) else None
        facts.append(Fact(f"p {one.soft}", f"{one.soft} against {one.hard}", p, Kind.P, "↓"))
    known, above = _single(report)
    return [
        *facts,
        Fact("above", "measures above one half", above, Kind.COUNT, "↑", of=known),
        Fact("against", f"{report.study.baseline} attributions", report.study.count, Kind.COUNT),
        Fact("texts", "texts", report.n, Kind.COUNT, of=report.total),
        Fact("cut", "texts cut", len(report.cut), Kind.COUNT, of=report.n),
    ]


def _single(report: DiagnosticityReport) -> tuple[int, int]:
    """How many pairs of metric and measure have an interval, and how many of these lie above one half by both rules."""
    cells = [report.cells[at] for at in itertools.product(report.told, report.study.measures)]
    known = [one for one in cells if one.half.known]
    return len(known), sum(all(one.by(rule).low > CHANCE[HALF] for rule in (STRICT, HALF)) for one in known)
