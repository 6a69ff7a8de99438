"""How diagnostic metrics are on a data set, by measure and rationale length, and whether soft ones beat hard ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from core.evaluation.findings import FEW, look_share, of_enough
from core.evaluation.studies.scoring import BY_LENGTH, RANDOM, SHUFFLED, VALUE, Scored, Scoring
from core.mathematics.diagnosticity import (
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
from core.mathematics.statistics import significant
from core.metrics.catalogue import hard_and_fixed, hard_and_soft, metrics
from core.wording import WHOLE, Tally

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
