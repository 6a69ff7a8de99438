"""How diagnostic faithfulness metrics are on a data set: per measure, over measures and by the rationale's length, and
whether soft ones beat hard ones.
"""

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from core.evaluation.studies.check_report import FEW, told_left_out
from core.evaluation.studies.check_sentences import Finding
from core.evaluation.studies.scoring import BY_LENGTH, RANDOM, SHUFFLED, VALUE, Scored, Study
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
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import ALPHA
from core.metrics.catalogue import hard_and_soft, metrics
from core.wording import text_table

ALL = "all"
# What measures are set against, as sentences name it.
BASELINE_WORDS = {RANDOM: "random attributions", SHUFFLED: "shuffles of their own scores"}
NC_OVER_NS = "NC over NS"
SOFT, HARD, EQUAL, UNKNOWN = "soft", "hard", "equal", "unknown"
# SoftFaith Table 2 (by measure, mean over its tasks; DeepLift is in its average) and Table 3 (by task, mean over its
# measures).
PAPER_MEASURES = ("attention", "scaled attention", "input × gradient", "integrated gradients", ALL)
PAPER = {
    "NC": (0.404, 0.405, 0.358, 0.428, 0.394),
    "Soft-NC": (0.525, 0.514, 0.526, 0.516, 0.529),
    "NS": (0.400, 0.383, 0.300, 0.368, 0.349),
    "Soft-NS": (0.479, 0.480, 0.444, 0.467, 0.462),
}
PAPER_TASKS = ("SST", "Evidence Inference", "AG", "MultiRC")
PAPER_BY_TASK = {
    "NC": (0.409, 0.315, 0.416, 0.434),
    "Soft-NC": (0.431, 0.628, 0.649, 0.406),
    "NS": (0.384, 0.344, 0.385, 0.282),
    "Soft-NS": (0.467, 0.560, 0.294, 0.527),
}


@dataclass(frozen=True)
class Tested:
    """A hard metric (first) against its soft one (second), over all measures, by one rule for ties."""

    hard: str
    soft: str
    rule: str
    found: Compared

    @property
    def ahead(self) -> str:
        """Which is the more diagnostic one, by the paired test at 5 %: SOFT, HARD, EQUAL where it does not tell,
        UNKNOWN without a test.
        """
        if np.isnan(self.found.paired):
            return UNKNOWN if self.found.n < 2 or np.isnan(self.found.rank_sum) else EQUAL
        # Of a few texts the test's approximation is no good, and chance makes too much.
        return (
            EQUAL if self.found.n < FEW or self.found.paired >= ALPHA else SOFT if self.found.difference > 0 else HARD
        )


@dataclass(frozen=True, eq=False)
class DiagnosticityReport:
    """Diagnosticity on n of `total` examples.

    cells: {(metric, measure or ALL): Diagnosticity}; lengths: {metric: a Diagnosticity over all measures at each of
    LENGTHS}; tests: of hard against soft;
    trends: {NC_OVER_NS, or a metric with lengths: its shortest rationale (first) against its longest}, a tie counting
    0;
    predicted: {class: examples}, every class of the model; left_out: {sentence: examples}; undefined: {metric: examples
    on which it is undefined throughout};
    reasons: {metric: why it is undefined where it is, sentences}.
    """

    model: str
    data: str
    study: Study
    n: int
    total: int
    cells: dict[tuple[str, str], Diagnosticity]
    lengths: dict[str, tuple[Diagnosticity, ...]]
    tests: tuple[Tested, ...]
    trends: dict[str, Compared]
    predicted: dict[str, int]
    left_out: dict[str, int]
    undefined: dict[str, int]
    reasons: dict[str, tuple[str, ...]]

    @property
    def told(self) -> tuple[str, ...]:
        """Metrics that are defined on any example."""
        return tuple(name for name in self.study.metrics if self.cells[name, ALL].n)

    @property
    def complete(self) -> bool:
        return self.n + sum(self.left_out.values()) == self.total

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what lacks, is undefined or was left out."""
        notes = told_left_out(self.left_out)
        never = [name for name, count in self.predicted.items() if not count]
        if never:
            notes.append(
                f"On none of these texts does the model predict {', '.join(never)}, so nothing is known here about "
                f"explanations of that class."
            )
        for count, why in sorted({(count, self.reasons[name]) for name, count in self.undefined.items() if count}):
            names = [name for name, of in self.undefined.items() if (of, self.reasons[name]) == (count, why)]
            are = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} undefined on"
            where = (
                "every text"
                if count == self.n
                else f"{count:,} of {self.n:,} texts, which {'its' if len(names) == 1 else 'their'} numbers leave out"
            )
            notes.append(f"{are} {where}. {' '.join(why)}".rstrip())
        for (name, measure), one in self.cells.items():
            if not one.n and self.cells[name, ALL].n:
                notes.append(f"{name} cannot score {measure}, so tests of soft against hard leave {measure} out.")
        if self.n < FEW:
            notes.append(f"{self.n} text{'' if self.n == 1 else 's'} alone say{'s' if self.n == 1 else ''} little.")
        return tuple(notes)


def by_example(found: Scored, rows: np.ndarray | None = None) -> dict[tuple[str, float | None, str], Pairs]:
    """The comparisons with the baseline, of all examples or some: {(metric, length or None for its value, measure or
    ALL): Pairs}.

    Metrics without a direction have none.
    """
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


def _each(values: np.ndarray, study: Study, direction: int) -> list[Pairs]:
    """The comparisons of each measure with what it is set against; values: float64[N, A]."""
    return [compare(values[:, m], values[:, study.against(m)], direction) for m in range(len(study.measures))]


def _together(each: list[Pairs], n: int) -> Pairs:
    return reduce(add, each, Pairs(*np.zeros((4, n), dtype=np.int64)))


def _of_both(found: Scored, rows: np.ndarray, hard: str, soft: str) -> tuple[Pairs, Pairs]:
    """The comparisons of two metrics over the same measures of each text: one that only the other can score (places
    have no soft score) counts for neither.
    """
    M, places = len(found.study.measures), [found.study.metrics.index(name) for name in (hard, soft)]
    values = [found.values[rows][:, :, s, VALUE].copy() for s in places]
    gone = np.isnan(values[0][:, :M]) | np.isnan(values[1][:, :M])
    for one in values:
        one[:, :M][gone] = np.nan
    return tuple(
        _together(_each(one, found.study, metrics()[name].direction), len(rows))
        for one, name in zip(values, (hard, soft))
    )


def _reasons(found: Scored, rows: np.ndarray, name: str) -> tuple[str, ...]:
    """Why a metric is undefined where it is, sentences."""
    s = found.study.metrics.index(name)
    gone = np.isnan(found.values[rows, :, s, VALUE])
    return tuple(found.sentences[k] for k in np.unique(found.notes[rows, :, s][gone]) if found.sentences[k])


def build_diagnosticity_report(
    found: Scored, model: str, data: str, labels: tuple[str, ...], resamples: int = 9_999
) -> DiagnosticityReport | None:
    """Put what is scored so far into numbers; None while no example is.

    Args:
        labels: names of the model's classes; resamples: of the intervals, fewer while more examples are still to come.
    Source: SoftFaith Eq. 6, Tables 2 and 3, Fig. 3.
    """
    rows = np.flatnonzero(found.there)
    if not len(rows):
        return None
    tables = by_example(found, rows)
    names = [name for name in found.study.metrics if metrics()[name].direction]
    cells = {
        (metric, measure): diagnosticity(pairs, resamples)
        for (metric, length, measure), pairs in tables.items()
        if length is None
    }
    lengths = {
        name: tuple(diagnosticity(tables[name, length, ALL], resamples) for length in LENGTHS)
        for name in names
        if metrics()[name].lengths
    }
    both = {pair: _of_both(found, rows, *pair) for pair in hard_and_soft() if set(pair) <= set(names)}
    tests = tuple(
        Tested(*pair, rule, compare_metrics(*(one.by(rule) for one in pairs)))
        for rule in (STRICT, HALF)
        for pair, pairs in both.items()
    )
    trends = {
        name: compare_metrics(tables[name, LENGTHS[0], ALL].strict, tables[name, LENGTHS[-1], ALL].strict)
        for name in lengths
    }
    if {"NS", "NC"} <= set(names):
        trends[NC_OVER_NS] = compare_metrics(tables["NS", None, ALL].strict, tables["NC", None, ALL].strict)
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
        trends,
        predicted,
        dict(Counter(found.problems.values())),
        {name: int((tables[name, None, ALL].defined == 0).sum()) for name in names},
        {name: _reasons(found, rows, name) for name in names},
    )


# ---- in words


def number(value: float) -> str:
    """Three digits; — where there is no number."""
    return "—" if np.isnan(value) else f"{value:.3f}"


def p_value(p: float) -> str:
    """p as people read it."""
    # Spaces at which no line breaks.
    return "—" if np.isnan(p) else "p\u00a0<\u00a00.001" if p < 0.001 else f"p\u00a0=\u00a0{p:.2g}"


def diagnosticity_answer(found: DiagnosticityReport) -> str:
    """One or two sentences: do soft metrics tell measures from the baseline better than hard ones, and does the rule
    for ties decide that? Plain text.
    """
    against = BASELINE_WORDS[found.study.baseline]
    if not found.told:
        why = dict.fromkeys(sentence for reasons in found.reasons.values() for sentence in reasons)
        return f"Nothing can be said: every metric is undefined on these texts. {' '.join(why)}".rstrip()
    if not found.tests:
        best = max(found.told, key=lambda name: found.cells[name, ALL].half.mean)
        one, alone = found.cells[best, ALL], len(found.told) == 1
        what = f"tells the measures from {against}{'' if alone else ' the most often here'}"
        if one.half.mean <= 0.5:
            what = (
                f"prefers the measures to {against} in no more than half of the "
                f"pairs{'' if alone else ', and so does every other metric'}"
            )
        return (
            f"{best} {what}: diagnosticity {one.half.mean:.3g} ↑ with a tie as one half, where 0.5 prefers neither "
            f"({one.strict.mean:.3g} with a tie as 0), "
            f"over {found.n:,} text{'' if found.n == 1 else 's'}."
        )
    strict = [one for one in found.tests if one.rule == STRICT]
    ahead = {one.ahead for one in strict}
    begins = _verdict(found, frozenset(ahead), f"tell measures from {against} more often than")
    told = "; ".join(
        f"{one.soft} {number(one.found.second)}\u00a0↑ against {one.hard} {number(one.found.first)} "
        f"({one.found.reason.rstrip('.') or p_value(one.found.paired)})"
        for one in strict
    )
    both = {one.found.n for one in strict}
    where = f" on the {min(both):,} that have both" if both != {found.n} and len(both) == 1 and found.n > 1 else ""
    return f"{begins}. Diagnosticity{where}: {told}.{_by_half(found)}"


def _verdict(found: DiagnosticityReport, ahead: frozenset[str], more: str) -> str:
    """Which kind of metric is ahead and, against the paper's baseline, whether the paper says so too."""
    over, paper = f"Over {found.n:,} text{'' if found.n == 1 else 's'}", found.study.baseline == RANDOM
    unsure = (
        f"; in the paper soft ones {more} hard ones"
        if paper
        else f" in telling measures from {BASELINE_WORDS[found.study.baseline]}"
    )
    return {
        frozenset([SOFT]): f"{over}, soft metrics {more} hard ones{', as the paper found' if paper else ''}",
        frozenset([HARD]): f"{over}, hard metrics {more} soft ones{'; the paper found the reverse' if paper else ''}",
        frozenset([EQUAL]): f"{over}, soft and hard metrics do not differ for certain{unsure}",
        frozenset([UNKNOWN]): "Whether soft metrics beat hard ones cannot be tested here",
    }.get(ahead, f"{over}, neither kind of metric is ahead throughout{unsure}")


def set_against(study: Study) -> str:
    """What each measure is set against, with its number."""
    if study.baseline == RANDOM:
        return f"{study.count} random attribution{'' if study.count == 1 else 's'} of the same text"
    return f"{study.count} shuffle{'' if study.count == 1 else 's'} of its own scores"


def _by_half(found: DiagnosticityReport) -> str:
    """Whether a tie as one half says the same."""
    turned = [one for one, half in zip(found.tests, found.tests[len(found.tests) // 2 :]) if one.ahead != half.ahead]
    halves = {one.hard: one for one in found.tests if one.rule != STRICT}
    if not turned:
        return " A tie as one half leaves that as it is."
    words = {
        SOFT: "the soft metric is ahead",
        HARD: "the hard metric is ahead",
        EQUAL: "neither is ahead",
        UNKNOWN: "that cannot be tested",
    }
    return (
        " With a tie as one half it is otherwise: "
        + "; ".join(
            f"{one.soft} {halves[one.hard].found.second:.3g} against {one.hard} {halves[one.hard].found.first:.3g}, "
            f"{words[halves[one.hard].ahead]}"
            for one in turned
        )
        + "."
    )


def diagnosticity_findings(found: DiagnosticityReport) -> list[Finding]:
    """What SoftFaith found, beside what is found here; another model and other data, so the same sign is what counts.
    Nothing under another baseline than its own.
    """
    told = []
    if found.study.baseline != RANDOM:
        return told
    for one in found.tests:
        if one.rule == STRICT and not np.isnan(one.found.first):
            claim = (
                f"{one.soft} is more diagnostic than {one.hard} ({PAPER[one.soft][-1]:.3f} against "
                f"{PAPER[one.hard][-1]:.3f} on average)."
            )
            told.append(_finding(claim, f"{one.found.second:.3f} against {one.found.first:.3f}", one.found, True))
    if NC_OVER_NS in found.trends and not np.isnan(found.trends[NC_OVER_NS].first):
        one = found.trends[NC_OVER_NS]
        told.append(_finding("NC is more diagnostic than NS.", f"{one.second:.3f} against {one.first:.3f}", one, True))
    for name in found.lengths:
        one = found.trends[name]
        if name in PAPER and not np.isnan(one.first):
            here = f"{one.first:.3f} at {LENGTHS[0]:.0%}, {one.second:.3f} at {LENGTHS[-1]:.0%}"
            told.append(_finding(f"The longer the rationale, the less diagnostic is {name}.", here, one, False))
    return told


def _finding(claim: str, here: str, one: Compared, rises: bool) -> Finding:
    """A finding that is told by the sign of a difference, where the paired test is certain of it."""
    sure = one.n >= FEW and one.paired < ALPHA
    return Finding(
        claim,
        f"{here}, {p_value(one.paired)}" if one.paired == one.paired else here,
        (one.difference > 0) == rises if sure else None,
    )


def outcome(one: Finding) -> str:
    """Whether a finding is found here, in words."""
    return {True: "agrees", False: "departs from the paper", None: "not certain here"}[one.agrees]


# ---- as rows

HEADER = (
    "model",
    "data",
    "metric",
    "measure",
    "rationale length (empty: the metric's own value)",
    "strict ↑",
    "strict, low",
    "strict, high",
    "half a tie ↑",
    "half, low",
    "half, high",
    "share of ties",
    "examples",
    "undefined pairs",
    "pairs",
    "set against",
)


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
    names = (
        "metric",
        "measure",
        "length",
        "strict",
        "strict_low",
        "strict_high",
        "half",
        "half_low",
        "half_high",
        "ties",
        "examples",
        "undefined_pairs",
        "pairs",
        "against",
    )
    how = found.study.how
    return {
        "model": found.model,
        "data": found.data,
        "examples": found.n,
        "sentence": diagnosticity_answer(found),
        "notes": list(found.notes),
        "unit": found.study.unit,
        "measures": list(found.study.measures),
        "values": found.study.sign,
        "baseline": found.study.baseline,
        "count": found.study.count,
        "erasure": how.erasure,
        "scaling": how.scaling,
        "draws": how.draws,
        "seed": how.seed,
        "diagnosticity": [dict(zip(names, map(_null, row[2:]), strict=True)) for row in diagnosticity_rows(found)],
        "tests": [
            {
                "hard": one.hard,
                "soft": one.soft,
                "rule": one.rule,
                "examples": one.found.n,
                "hard_mean": _null(one.found.first),
                "soft_mean": _null(one.found.second),
                "rank_sum_p": _null(one.found.rank_sum),
                "paired_p": _null(one.found.paired),
                "reason": one.found.reason,
            }
            for one in found.tests
        ],
        "findings": [
            {"claim": one.claim, "here": one.here, "agrees": one.agrees} for one in diagnosticity_findings(found)
        ],
    }


def readable_diagnosticity(found: DiagnosticityReport) -> str:
    """A report as text for a terminal."""
    parts = [diagnosticity_answer(found), f"Each measure is set against {set_against(found.study)}.", *found.notes]
    body = [
        [
            metric,
            measure,
            _span(one.strict),
            _span(one.half),
            f"{one.ties:.1%}" if one.n else "—",
            f"{one.n}",
            f"{one.undefined}",
        ]
        for (metric, measure), one in found.cells.items()
    ]
    parts.append(
        text_table(["metric", "measure", "strict ↑", "a tie as ½ ↑", "ties", "examples", "undefined pairs"], body)
    )
    body = [
        [metric, *(number(one.strict.mean) for one in cells), *(number(one.half.mean) for one in cells)]
        for metric, cells in found.lengths.items()
    ]
    if body:
        parts.append(
            text_table(
                ["by length", *(f"{length:.0%}" for length in LENGTHS), *(f"½: {length:.0%}" for length in LENGTHS)],
                body,
            )
        )
    body = [
        [
            f"{one.soft} against {one.hard}",
            one.rule,
            number(one.found.second),
            number(one.found.first),
            *map(_p, (one.found.rank_sum, one.found.paired)),
            f"{one.found.n}",
            one.found.reason,
        ]
        for one in found.tests
    ]
    if body:
        parts.append(text_table(["", "ties", "soft", "hard", "rank-sum p", "paired p", "examples", ""], body))
    told = [[one.claim, one.here, outcome(one)] for one in diagnosticity_findings(found)]
    return "\n\n".join(
        [*parts, text_table(["SoftFaith found (other model and data)", "here", ""], told)] if told else parts
    )


def _span(interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]" if interval.mean == interval.mean else "—"


def _p(p: float) -> str:
    return "—" if np.isnan(p) else f"{p:.3g}"


def _three(interval) -> tuple[float, float, float]:
    return interval.mean, interval.low, interval.high


def _null(value):
    return None if isinstance(value, float) and np.isnan(value) else value
