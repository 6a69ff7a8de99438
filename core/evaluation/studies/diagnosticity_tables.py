"""What diagnosticity comes to as tables, each (header, rows) of text, and what stands under them on a page."""

from collections.abc import Sequence

from core.evaluation.findings import FEW, LOOKS
from core.evaluation.studies.diagnosticity_paper import PAPER, PAPER_BY_TASK, PAPER_MEASURES, PAPER_TASKS
from core.evaluation.studies.diagnosticity_report import ALL, DiagnosticityReport
from core.evaluation.studies.diagnosticity_sentences import BASELINE_WORDS, set_against
from core.evaluation.studies.scoring import COUNTS, RANDOM, interval_text
from core.mathematics.diagnosticity import CHANCE, HALF, STRICT, Diagnosticity
from core.mathematics.statistics import Interval
from core.metrics.catalogue import metrics
from core.wording import fixed_number, joined, share_text

RULES = {STRICT: "a tie counts 0", HALF: "a tie counts one half"}
# How the lines beside SoftFaith are told.
FINDINGS_NOTE = (
    f"By Wilcoxon’s signed-rank test on the same texts, a tie counting 0, {LOOKS}. p of each line is by itself, not "
    "adjusted over the lines. Of lengths the two ends are tested; it agrees only where means rise nowhere in between."
)
# How the numbers over all lengths come about, which may lie outside those at each length.
LENGTHS_NOTE = (
    "The number over all lengths is no mean of these: on each text the scores of an attribution at the lengths are "
    "averaged first, and these averages are compared, so that it may lie above or below them all."
)
# What the words in the table by measure are.
SIDES_NOTE = (
    "Intervals: 95 % over texts, each by itself and not corrected for how many there are; one that holds 0.5 does not "
    "tell the measure from what it is set against."
)
Table = tuple[list[str], list[list[str]]]


def averages_table(found: DiagnosticityReport) -> Table:
    """Each metric over all measures, beside what the paper reports where the baseline is the paper's."""
    paper = found.study.baseline == RANDOM
    header = [
        "metric",
        f"{RULES[STRICT]} ↑ (as SoftFaith)",
        f"{RULES[HALF]} ↑ (0.5: neither preferred)",
        "ties",
        "texts",
    ]
    return [*header, *["SoftFaith’s average ↑"] * paper], [
        [name, *_cells(found, name, ALL), *[fixed_number(PAPER[name][-1]) if name in PAPER else "—"] * paper]
        for name in found.told
    ]


def averages_note(found: DiagnosticityReport) -> str:
    """What the numbers of that table are."""
    count = len(found.study.measures)
    return (
        f"Diagnosticity over {count} measure{'' if count == 1 else 's'}, each set against {set_against(found.study)}; "
        f"in brackets the 95 % interval over texts, from {FEW} texts on. A metric that does not tell measures from "
        f"{BASELINE_WORDS[found.study.baseline]} says little about which measure is better. Clipping makes ties, and "
        "so do short texts on which both choose the same words. Whether the erased and perturbed inputs are "
        "out-of-distribution is not tested here: Scoreboard tests it over texts, Hard and soft erasure for one."
    )


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


def baselines_note(names: Sequence[str], amounts: bool) -> str:
    """Why a metric's numbers against the two baselines may differ, for the metrics of these names.

    Args:
        amounts: whether how much soft metrics keep depends on what scores add up to, but for those of a fixed share.
    """
    by_amount = [name for name in names if metrics()[name].amounts]
    orders = [name for name in names if not metrics()[name].magnitudes]
    sizes = [name for name in names if metrics()[name].magnitudes and name not in by_amount]
    told = []
    if amounts and by_amount:
        told.append(
            f"Shuffled scores make {joined(by_amount)} keep and erase as much as the measure’s own do, random scores "
            "another amount. One that is ahead against shuffles only, or against random ones only, may be telling "
            "amounts and not words."
        )
    if orders:
        told.append(
            f"{joined(orders)} read{'s' if len(orders) == 1 else ''} the order alone: where no scores tie, a shuffle "
            "is a random order like any other, and the numbers against the two differ by the draw."
        )
    if sizes:
        told.append(
            f"{joined(sizes)} read{'s' if len(sizes) == 1 else ''} how large scores are, and uniform random ones are "
            "spread otherwise than the measure’s own: where a few scores are far larger than the rest, the two numbers "
            "may lie far apart."
        )
    return " ".join(told)


def diagnosticity_table(found: DiagnosticityReport) -> Table:
    """Each measure under each metric, and on which side of one half its intervals lie, in a word."""
    return ["measure", "metric", f"{RULES[STRICT]} ↑", f"{RULES[HALF]} ↑", "intervals", "ties", "texts"], [
        [measure, name, *both, _sides(found.cells[name, measure]), *more]
        for measure in found.study.measures
        for name in found.told
        for both, more in [(cells[:2], cells[2:]) for cells in [_cells(found, name, measure)]]
    ]


def _sides(cell: Diagnosticity) -> str:
    """Whether the intervals by both rules for ties hold one half, in words; — without intervals."""
    strict, half = (_side(cell.by(rule)) for rule in (STRICT, HALF))
    return half if strict == half else f"{half}; a tie as 0: {strict}"


def _side(one: Interval) -> str:
    if not one.known:
        return "—"
    return "above 0.5" if one.low > CHANCE[HALF] else "below 0.5" if one.high < CHANCE[HALF] else "holds 0.5"


def preferences_in_words(found: DiagnosticityReport) -> str:
    """The figure of how often each metric prefers measures, for those who do not see it."""
    told = (f"{name} {_preferred(found, name)}" for name in found.told)
    return f"Share of pairs in which a metric prefers a measure, a tie counting one half: {'; '.join(told)}."


def _preferred(found: DiagnosticityReport, metric: str) -> str:
    """How often a metric prefers all measures together, and each by itself, where there are several."""
    whole, names = interval_text(found.cells[metric, ALL].half), found.study.measures
    each = [f"{name} {interval_text(found.cells[metric, name].half)}" for name in names if found.cells[metric, name].n]
    return f"{whole} ({', '.join(each)})" if len(names) > 1 and each else whole


def _cells(found: DiagnosticityReport, metric: str, measure: str) -> list[str]:
    cell = found.cells[metric, measure]
    ties = share_text(cell.ties, 1) if cell.n else "—"
    return [interval_text(cell.strict), interval_text(cell.half), ties, f"{cell.n:,}"]


def tests_table(found: DiagnosticityReport) -> Table:
    """Soft metrics against hard ones."""
    return ["soft against hard", "", "soft ↑", "hard ↑", "rank-sum p (SoftFaith’s)", "paired p", "texts"], [
        [
            f"{one.soft} against {one.hard}",
            RULES[one.rule],
            *map(fixed_number, (one.found.second, one.found.first)),
            *(_p(p) if one.found.n >= FEW else "—" for p in (one.found.rank_sum, one.found.paired)),
            f"{one.found.n:,}",
        ]
        for one in (*found.tests, *found.fixed)
    ]


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else fixed_number(p)


def paper_tables(found: DiagnosticityReport) -> tuple[Table, Table]:
    """SoftFaith's Table 2 (by measure, beside what is found here) and Table 3 (by task), of the metrics here."""
    names = [name for name in found.told if name in PAPER]
    heads = (head for name in names for head in (f"{name}, paper", f"{name}, here"))
    by_measure = [
        [
            "average" if measure == ALL else measure,
            *(cell for name in names for cell in (fixed_number(PAPER[name][place]), _here(found, name, measure))),
        ]
        for place, measure in enumerate(PAPER_MEASURES)
    ]
    by_task = [
        [task, *(fixed_number(PAPER_BY_TASK[name][place]) for name in names)] for place, task in enumerate(PAPER_TASKS)
    ]
    return (["over its tasks", *heads], by_measure), (["over its measures", *names], by_task)


def _here(found: DiagnosticityReport, name: str, measure: str) -> str:
    return fixed_number(found.cells[name, measure].strict.mean) if (name, measure) in found.cells else "—"


def lengths_in_words(found: DiagnosticityReport) -> str:
    """The figure of lengths for those who do not see it."""
    told = (
        f"{name}: {', '.join(fixed_number(cell.strict.mean) for cell in cells)}"
        for name, cells in found.lengths.items()
    )
    against = BASELINE_WORDS[found.study.baseline]
    return f"Diagnosticity against {against} at each length of the rationale, a tie counting 0. {'; '.join(told)}."
