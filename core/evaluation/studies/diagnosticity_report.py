"""How diagnostic metrics are on a data set, by measure and rationale length, and whether soft ones beat hard ones."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from core.evaluation.findings import FEW, look_share, of_enough
from core.evaluation.studies.scoring import BY_LENGTH, COUNTS, RANDOM, SHUFFLED, VALUE, Scored, Scoring, interval_text
from core.evaluation.study import Table
from core.mathematics.diagnosticity import (
    CHANCE,
    HALF,
    STRICT,
    Compared,
    Diagnosticity,
    Pairs,
    compare,
    compare_metrics,
    diagnosticity,
)
from core.mathematics.erasure import LENGTHS, SOFTMAX
from core.mathematics.statistics import Interval, significant
from core.metrics.catalogue import hard_and_fixed, hard_and_soft, metrics
from core.wording import WHOLE, Tally, fixed_number, share_text

ALL = "all"
NC_OVER_NS = "NC over NS"
# What measures are set against, in words.
BASELINE_WORDS = {RANDOM: "random attributions", SHUFFLED: "shuffles of their own scores"}
SOFT, HARD, EQUAL, UNKNOWN, SPARSE = "soft", "hard", "equal", "unknown", "too few texts"


@dataclass(frozen=True)
class Tested:
    """A hard metric (first) against its soft one (second), over all measures, by one rule for ties."""

    hard: str
    soft: str
    rule: str
    found: Compared

    @property
    def ahead(self) -> str:
        """Which is the more diagnostic one, by the paired test at `look_share`: SOFT, HARD, EQUAL where it does not
        tell, UNKNOWN without a test, SPARSE of fewer texts on which both have a value than a verdict is told of.
        """
        untested = np.isnan(self.found.paired)
        if untested and (self.found.n < 2 or np.isnan(self.found.rank_sum)):
            return UNKNOWN
        # Of a few texts the test's approximation is no good, and chance makes too much.
        if self.found.n < FEW:
            return SPARSE
        if untested:
            return EQUAL
        if not significant(self.found.paired, look_share(self.found.n)):
            return EQUAL
        return SOFT if self.found.difference > 0 else HARD


@dataclass(frozen=True, eq=False)
class DiagnosticityReport:
    """Diagnosticity on n of `total` examples.

    cells: {(metric, measure or ALL): Diagnosticity}; lengths: {metric: a Diagnosticity over all measures at each of
    LENGTHS}; tests: of hard against soft; fixed: of hard against soft at a fixed share; trends: {NC_OVER_NS, or a
    metric with lengths: its shortest rationale (first) against its longest}, by each rule for ties; predicted: {class:
    examples}, every class of the model; left_out: {sentence: examples}; undefined: {metric: examples on which it is
    undefined throughout}; reasons: {metric: why it is undefined where it is, sentences}; cut: examples that are longer
    than the model reads, {example: tokens that it reads}; tally: how far it is; picked: as of `Sample`; rejected: as of
    `ScoresReport`.
    """

    model: str
    data: str
    study: Scoring
    n: int
    total: int
    cells: dict[tuple[str, str], Diagnosticity]
    lengths: dict[str, tuple[Diagnosticity, ...]]
    tests: tuple[Tested, ...]
    trends: dict[str, dict[str, Compared]]
    predicted: dict[str, int]
    left_out: dict[str, int]
    undefined: dict[str, int]
    reasons: dict[str, tuple[str, ...]]
    cut: dict[int, int] = field(default_factory=dict)
    tally: Tally = WHOLE
    fixed: tuple[Tested, ...] = ()
    picked: str = ""
    rejected: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> tuple[str, ...]:
        """Metrics that are defined on any example."""
        return tuple(name for name in self.study.metrics if self.cells[name, ALL].n)

    @property
    def by_amount(self) -> tuple[str, ...]:
        """Metrics that keep or erase more or less of a text for measures than for the baseline: a shuffle has the same
        amount, and softmax shares 1 over the words, whatever the scores.
        """
        same = self.study.baseline != RANDOM or self.study.how.scaling == SOFTMAX
        return () if same else tuple(name for name in self.told if metrics()[name].amounts)

    @property
    def complete(self) -> bool:
        return self.n + sum(self.left_out.values()) == self.total


def by_example(found: Scored, rows: np.ndarray | None = None) -> dict[tuple[str, float | None, str], Pairs]:
    """{(metric with a direction, length or None, measure or ALL): Pairs} of examples with the baseline."""
    rows = np.arange(len(found)) if rows is None else rows
    tables = {}
    for s, name in enumerate(found.study.metrics):
        metric = metrics()[name]
        if not metric.direction:
            continue
        places = [(None, VALUE), *(zip(LENGTHS, range(BY_LENGTH.start, BY_LENGTH.stop)) if metric.lengths else ())]
        for length, place in places:
            each = _each(found.values[rows, :, s, place], found.study, metric.direction)
            tables |= {(name, length, ALL): _together(each, len(rows))} | {
                (name, length, measure): one for measure, one in zip(found.study.measures, each)
            }
    return tables


def _each(values: np.ndarray, study: Scoring, direction: int) -> list[Pairs]:
    """The comparisons of each measure with what it is set against; values: float64[N, A]."""
    return [compare(values[:, m], values[:, study.against(m)], direction) for m in range(len(study.measures))]


def _together(each: list[Pairs], n: int) -> Pairs:
    return reduce(add, each, Pairs(*np.zeros((4, n), dtype=np.int64)))


def _of_both(found: Scored, rows: np.ndarray, hard: str, soft: str) -> tuple[Pairs, Pairs]:
    """The comparisons of two metrics over the same measures of each text: those that both can score."""
    M, places = len(found.study.measures), [found.study.metrics.index(name) for name in (hard, soft)]
    values = [found.values[rows][:, :, s, VALUE].copy() for s in places]
    gone = np.isnan(values[0][:, :M]) | np.isnan(values[1][:, :M])
    for one in values:
        one[:, :M][gone] = np.nan
    one, other = (
        _together(_each(value, found.study, metrics()[name].direction), len(rows))
        for value, name in zip(values, (hard, soft))
    )
    return one, other


def _reasons(found: Scored, rows: np.ndarray, name: str) -> tuple[str, ...]:
    """Why a metric is undefined where it is, sentences."""
    s = found.study.metrics.index(name)
    gone = np.isnan(found.values[rows, :, s, VALUE])
    return tuple(found.sentences[k] for k in np.unique(found.notes[rows, :, s][gone]) if found.sentences[k])


def _of_enough(one: Diagnosticity) -> Diagnosticity:
    return replace(one, strict=of_enough(one.strict, one.n), half=of_enough(one.half, one.n))


def build_diagnosticity_report(
    found: Scored, model: str, data: str, labels: tuple[str, ...], resamples: int = 9_999
) -> DiagnosticityReport | None:
    """Put what is scored so far into numbers; None while no example is. labels: the model's; resamples: of intervals.
    Source: SoftFaith Eq. 6, Tables 2 and 3, Fig. 3.
    """
    rows = np.flatnonzero(found.there)
    if not len(rows):
        return None
    tables = by_example(found, rows)
    names = [name for name in found.study.metrics if metrics()[name].direction]
    cells = {
        (metric, measure): _of_enough(diagnosticity(pairs, resamples))
        for (metric, length, measure), pairs in tables.items()
        if length is None
    }
    lengths = {
        name: tuple(_of_enough(diagnosticity(tables[name, length, ALL], resamples)) for length in LENGTHS)
        for name in names
        if metrics()[name].lengths
    }
    tests, fixed = (_tests(found, rows, pairs) for pairs in (hard_and_soft(), hard_and_fixed()))
    ends: dict[str, tuple] = {name: ((name, LENGTHS[0], ALL), (name, LENGTHS[-1], ALL)) for name in lengths}
    ends |= {NC_OVER_NS: (("NS", None, ALL), ("NC", None, ALL))} if {"NS", "NC"} <= set(names) else {}
    predicted = {label: int((found.predicted[rows] == c).sum()) for c, label in enumerate(labels)}
    return DiagnosticityReport(
        model,
        data,
        found.study,
        len(rows),
        len(found),
        cells,
        lengths,
        tests,
        {
            name: {rule: compare_metrics(*(tables[end].by(rule) for end in both)) for rule in (STRICT, HALF)}
            for name, both in ends.items()
        },
        predicted,
        dict(Counter(found.problems.values())),
        {name: int((tables[name, None, ALL].defined == 0).sum()) for name in names},
        {name: _reasons(found, rows, name) for name in names},
        found.cut,
        fixed=fixed,
    )


def _tests(found: Scored, rows: np.ndarray, pairs: Sequence[tuple[str, str]]) -> tuple[Tested, ...]:
    """Hard against soft, of those pairs of which both are scored, each on the examples that have both."""
    both = {pair: _of_both(found, rows, *pair) for pair in pairs if set(pair) <= set(found.study.metrics)}
    return tuple(
        Tested(*pair, rule, compare_metrics(*(one.by(rule) for one in two)))
        for rule in (STRICT, HALF)
        for pair, two in both.items()
    )


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


# SoftFaith Table 2: by measure, mean over its tasks; DeepLift is in its average.
PAPER_MEASURES = ("attention", "scaled attention", "input × gradient", "integrated gradients", ALL)
PAPER = {
    "NC": (0.404, 0.405, 0.358, 0.428, 0.394),
    "Soft-NC": (0.525, 0.514, 0.526, 0.516, 0.529),
    "NS": (0.400, 0.383, 0.300, 0.368, 0.349),
    "Soft-NS": (0.479, 0.480, 0.444, 0.467, 0.462),
}
_MORE, _SHORTER = "{} is more diagnostic than {}.", "The longer the rationale, the less diagnostic is {}."


class PaperFinding(NamedTuple):
    """A finding of the paper, its figure, the figure here and the p of its paired test; whether the two agree by the
    paper's rule for ties and with a tie as one half, None where that is not significant.
    """

    claim: str
    paper: str
    ours: str
    p: float
    agrees: bool | None
    agrees_half: bool | None


def paper_findings(found: DiagnosticityReport) -> list[PaperFinding]:
    """SoftFaith's findings by their sign, none under another baseline; open while more examples are to come."""
    if found.study.baseline != RANDOM:
        return []
    rules = {(one.soft, one.rule): one.found for one in found.tests}
    more: list[tuple[str, str, Mapping[str, Compared]]] = [
        (soft, hard, {rule: rules[soft, rule] for rule in RULES})
        for hard, soft in dict.fromkeys((one.hard, one.soft) for one in found.tests)
    ]
    if NC_OVER_NS in found.trends:
        more.append(("NC", "NS", found.trends[NC_OVER_NS]))
    told = []
    for one, other, by in more:
        paper = f"{PAPER[one][-1]:.3f} against {PAPER[other][-1]:.3f}"
        told.append(_finding(_MORE.format(one, other), paper, by, {rule: _rises(by[rule]) for rule in RULES}))
    for name in found.lengths:
        if name in PAPER and name in found.trends:
            claim = _SHORTER.format(name)
            agrees = {rule: _shorter(found, name, rule) for rule in RULES}
            told.append(_finding(claim, "falls", found.trends[name], agrees))
    told = [one for one in told if one.ours]
    if found.tally.complete or not found.tally.coming:
        return told
    return [one._replace(ours="…", p=float("nan"), agrees=None, agrees_half=None) for one in told]


def _finding(claim: str, paper: str, by: Mapping[str, Compared], agrees: Mapping[str, bool | None]) -> PaperFinding:
    one = by[STRICT]
    ours = "" if one.first != one.first else f"{one.second:.3f} against {one.first:.3f}"
    p = one.paired if one.n >= FEW else float("nan")
    return PaperFinding(claim, paper, ours, p, agrees[STRICT], agrees[HALF])


def _shorter(found: DiagnosticityReport, name: str, rule: str) -> bool | None:
    """Whether diagnosticity is less at the longest rationale than at the shortest, and rises nowhere in between; None
    where it rises there, or the ends do not differ significantly.
    """
    rises = _rises(found.trends[name][rule])
    if rises is not False:
        return None if rises is None else False
    means = [cell.by(rule).mean for cell in found.lengths[name]]
    return True if all(later <= earlier for earlier, later in itertools.pairwise(means)) else None


def _rises(one: Compared) -> bool | None:
    """Whether the second is above the first; None where the paired test is not significant."""
    sure = one.n >= FEW and significant(one.paired, look_share(one.n))
    return one.difference > 0 if sure else None
