"""What diagnosticity comes to as tables, each (header, rows) of text."""

from core.evaluation.findings import FEW
from core.evaluation.studies.diagnosticity_paper import PAPER, PAPER_MEASURES, paper_findings
from core.evaluation.studies.diagnosticity_report import ALL, BASELINE_WORDS, DiagnosticityReport
from core.evaluation.studies.scoring import COUNTS, RANDOM, interval_text
from core.evaluation.study import Table
from core.mathematics.diagnosticity import CHANCE, HALF, STRICT, Diagnosticity
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import Interval
from core.wording import fixed_number, share_text

RULES = {STRICT: "a tie counts 0", HALF: "a tie counts one half"}
_AGREES = {True: "yes", False: "no", None: "not significant"}


def averages_table(found: DiagnosticityReport) -> Table:
    """Each metric over all measures, beside what the paper reports where the baseline is the paper's."""
    header = [
        "metric",
        f"{RULES[STRICT]} ↑ (as SoftFaith)",
        f"{RULES[HALF]} ↑ (0.5: neither preferred)",
        "ties",
        "texts",
    ]
    rows = [[name, *_cells(found, name, ALL)] for name in found.told]
    if found.study.baseline != RANDOM:
        return header, rows
    return [*header, "SoftFaith’s average ↑"], [
        [*row, fixed_number(PAPER[name][-1]) if name in PAPER else "—"] for name, row in zip(found.told, rows)
    ]


def baselines_table(found: DiagnosticityReport, other: DiagnosticityReport) -> Table:
    """Each metric against both baselines, a tie counting one half; no rows where the two share no metric."""
    shown = {one.study.baseline: one for one in (found, other)}
    return ["metric", *(f"against {BASELINE_WORDS[name]} ↑" for name in COUNTS), "texts"], [
        [
            name,
            *(interval_text(shown[baseline].cells[name, ALL].half) for baseline in COUNTS),
            f"{found.cells[name, ALL].n:,}",
        ]
        for name in found.told
        if name in other.told
    ]


def diagnosticity_table(found: DiagnosticityReport) -> Table:
    """Each measure under each metric, and on which side of one half its intervals by both rules for ties lie."""
    header = ["measure", "metric", f"{RULES[STRICT]} ↑", f"{RULES[HALF]} ↑", "interval", "interval, a tie as 0"]
    rows = []
    for measure in found.study.measures:
        for name in found.told:
            cell, (strict, half, *more) = found.cells[name, measure], _cells(found, name, measure)
            rows.append([measure, name, strict, half, _side(cell.half), _side(cell.strict), *more])
    return [*header, "ties", "texts"], rows


def tests_table(found: DiagnosticityReport) -> Table:
    """Soft metrics against hard ones, and which kind is ahead."""
    header = ["soft against hard", "", "soft ↑", "hard ↑", "rank-sum p (SoftFaith’s)", "paired p", "ahead", "texts"]
    return header, [
        [
            f"{one.soft} against {one.hard}",
            RULES[one.rule],
            *map(fixed_number, (one.found.second, one.found.first)),
            *(_p(p) if one.found.n >= FEW else "—" for p in (one.found.rank_sum, one.found.paired)),
            one.ahead,
            f"{one.found.n:,}",
        ]
        for one in (*found.tests, *found.fixed)
    ]


def lengths_table(found: DiagnosticityReport) -> Table:
    """Diagnosticity over all measures at each length of the rationale, by both rules for ties."""
    ends = [share_text(length) for length in LENGTHS]
    return ["by length", "", *ends], [
        [name, RULES[rule], *(fixed_number(cell.by(rule).mean) for cell in cells)]
        for name, cells in found.lengths.items()
        for rule in RULES
    ]


def softfaith_table(found: DiagnosticityReport) -> Table:
    """SoftFaith's findings, its figures, those here, and whether they agree by either rule for ties."""
    header = ["SoftFaith’s finding", "SoftFaith", "here", "paired p", "agrees", "agrees, a tie as one half"]
    return header, [
        [one.claim, one.paper, one.ours, _p(one.p), _AGREES[one.agrees], _AGREES[one.agrees_half]]
        for one in paper_findings(found)
    ]


def paper_table(found: DiagnosticityReport) -> Table:
    """SoftFaith's Table 2, by measure, beside what is found here, a tie counting 0."""
    return ["measure", "metric", "SoftFaith ↑", "here ↑"], [
        [measure, name, fixed_number(PAPER[name][place]), fixed_number(found.cells[name, measure].strict.mean)]
        for place, measure in enumerate(PAPER_MEASURES)
        for name in found.told
        if name in PAPER and (name, measure) in found.cells
    ]


def undefined_table(found: DiagnosticityReport) -> Table:
    """On how many texts a metric has no value, and why."""
    return ["undefined metric", "texts", "why"], [
        [name, f"{count:,} of {found.n:,}", " ".join(found.reasons[name])]
        for name, count in found.undefined.items()
        if count
    ]


def _cells(found: DiagnosticityReport, metric: str, measure: str) -> list[str]:
    cell: Diagnosticity = found.cells[metric, measure]
    ties = share_text(cell.ties, 1) if cell.n else "—"
    return [interval_text(cell.strict), interval_text(cell.half), ties, f"{cell.n:,}"]


def _side(one: Interval) -> str:
    """On which side of one half an interval lies; — without one."""
    if not one.known:
        return "—"
    if one.low > CHANCE[HALF]:
        return "above 0.5"
    return "below 0.5" if one.high < CHANCE[HALF] else "holds 0.5"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else fixed_number(p)
