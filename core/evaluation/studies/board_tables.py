"""Tables of a scoreboard: of text for papers and terminals, of numbers for the page."""

import json
from collections import Counter
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from core.evaluation.studies.board_report import (
    COMPREHENSIVENESS,
    EVIDENCE,
    NAOPC_C,
    NAOPC_S,
    RANDOM,
    BoardReport,
    arrow,
    direction_of,
    figures,
)
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.study import Table
from core.explanation.recursive import UNSTABLE
from core.judging.metric_table import orders
from core.mathematics.ranking import are_level, pareto_front
from core.measures.catalogue import measures
from core.metrics.registry import HIGHER
from core.validity.marks import SIGN, with_sign
from core.verdicts.deciding import Word
from core.wording import fixed_number, joined, number, p_value, with_ends


class LeadKind(StrEnum):
    """What a metric says of who is first."""

    UNBEATEN = "unbeaten"
    AHEAD = "ahead"
    TIED = "all tied"
    OUT = "too few in-distribution or stable"
    NO_VALUE = "too few values"


class Lead(NamedTuple):
    """Who is first by a figure; names may hold random order, and are empty where nobody can be named."""

    figure: str
    standing: LeadKind
    names: tuple[str, ...] = ()


def figure_leads(report: BoardReport) -> list[Lead]:
    """Of each figure who is first; [] before that may be told. What is marked or unstable has no part in it."""
    if report.n == report.tally.total == 1:
        return _on_one_text(report)
    return [Lead(figure, LeadKind.UNBEATEN, report.unbeaten(figure)) for figure in report.beaten]


def _on_one_text(report: BoardReport) -> list[Lead]:
    """Erasure metrics are tied within their errors, other figures within a hundredth or overlapping intervals."""
    if report.waiting or len(report.names) < 3:
        return []
    # On one text NAOPC puts measures in the order of AOPC.
    return [_lead(report, figure) for figure in figures() if figure not in (NAOPC_C, NAOPC_S)]


def _lead(report: BoardReport, figure: str) -> Lead:
    values, own = report.means(figure), set(report.names) - {RANDOM}
    if (~np.isnan(values[:-1])).sum() < 2:
        out = any(report.cells[name, figure].out for name in report.names)
        return Lead(figure, LeadKind.OUT if out else LeadKind.NO_VALUE)
    best = tuple(name for name, first in zip(report.names, _first(report, figure, values)) if first)
    return Lead(figure, LeadKind.TIED if own <= set(best) else LeadKind.AHEAD, best)


def _first(report: BoardReport, figure: str, values: np.ndarray) -> np.ndarray:
    """Who none is ahead of, bool[M + 1]; values: float64[M + 1], higher is better, NaN where there is none."""
    if figure not in board_metrics():
        # RACU, which has no upper end, by so much of itself, and within its intervals.
        best = np.nanmax(values)
        ends = [report.cells[name, figure].interval for name in report.names]
        low = ends[int(np.nanargmax(values))].low
        within = np.array([one.known and one.high >= low for one in ends]) & ~np.isnan(values)
        return are_level((best - values) / max(1.0, abs(best))) | within
    errors = np.array([report.cells[name, figure].error for name in report.names])
    ahead = orders(values[:, None], np.array([HIGHER]), errors[:, None])[..., 0] == 1
    return ~np.isnan(values) & ~ahead.any(axis=0)


PASSES, TOOK, MEASURE = "forward passes", "milliseconds", "measure"
Rows = tuple[list[str], list[list[Any]]]
_NAN = float("nan")


# ---- of text


def board_table(report: BoardReport) -> Table:
    """Each measure, random order last: whether its mean is better than that of random order, figures, and cost."""
    known = _known(report)
    costs = [f"{PASSES} ↓", "ms ↓"] if _timed(report) else [f"{PASSES} ↓"]
    header = [MEASURE, "mean against random order", *map(arrow, known), *costs]
    rows = [
        [
            name,
            verdict_over_texts(report, name),
            *(cell_text(report, name, one) for one in known),
            *cost_texts(report, name)[: len(costs)],
        ]
        for name in report.names
    ]
    return header, rows


def pairs_table(report: BoardReport, figure: str) -> Table:
    """Holm-adjusted p of each pair by a figure, marked where the measure of the line beats that of the column."""
    if figure not in report.beaten:
        return [], []
    found, marked = report.beaten[figure], report.marked(figure)

    def cell(i: int, j: int) -> str:
        if i == j:
            return ""
        if {report.names[i], report.names[j]} & {*marked}:
            return SIGN
        return f"{'beats it, ' if found.by[i, j] else ''}{p_value(found.p[i, j])}"

    rows = [[name, *(cell(i, j) for j in range(len(report.names)))] for i, name in enumerate(report.names)]
    return [arrow(figure), *report.names], rows


def verdict_over_texts(report: BoardReport, name: str) -> str:
    """A measure's verdict over the texts; — before it may be told."""
    if name == RANDOM or not report.told:
        return "—"
    word = report.verdict(name)
    return with_sign(word, word == Word.UNTOLD and bool({name, RANDOM} & {*report.marked(COMPREHENSIVENESS)}))


def cell_text(report: BoardReport, name: str, figure: str) -> str:
    """A figure with its interval and mark."""
    cell = report.cells[name, figure]
    if cell.unstable:
        return with_sign(UNSTABLE, cell.marked)
    parts = [with_ends(cell.interval.mean, cell.interval.low, cell.interval.high, fixed_number)]
    if cell.error == cell.error and cell.n:
        parts.append(f"± {fixed_number(cell.error)}")
    if 0 < cell.n < report.n:
        parts.append(f"(n = {cell.n:,})")
    return with_sign(" ".join(parts), cell.marked)


def cost_texts(report: BoardReport, name: str) -> list[str]:
    """Forward passes, the mean over the texts, and milliseconds, their median."""
    if name == RANDOM:
        return ["0", "0"]
    passes, took = report.passes[name], report.milliseconds[name]
    return ["—" if passes != passes else f"{passes:,.0f}", f"{took:,.0f}" if took >= 10 else number(round(took, 1))]


# ---- of numbers


def measures_table(report: BoardReport, order: str = "") -> Rows:
    """A line for each measure: figures, which rest on rejected inputs, and cost; order: as of `ordered`."""
    known, timed = _known(report), _timed(report)
    header = [MEASURE, *map(arrow, known), SIGN, f"{PASSES} ↓", *(["ms ↓"] if timed else [])]
    rows = []
    for name in ordered(report, order or report.board.by):
        cells = [report.cells[name, one] for one in known]
        marked = joined([one for one, cell in zip(known, cells) if cell.marked]) or None
        costs = [_cost(report.passes, name), *([_cost(report.milliseconds, name)] if timed else [])]
        rows.append([name, *(_NAN if one.unstable else one.interval.mean for one in cells), marked, *costs])
    return header, rows


def values_table(report: BoardReport) -> Rows:
    """A line for each figure and measure: mean, interval, standard error, texts, and texts that are rejected."""
    header = ["metric", MEASURE, "value", "95 % from", "95 % to", "±", "texts", "rejected", "tested", SIGN]
    rows = []
    for figure in _known(report):
        for name in report.names:
            one = report.cells[name, figure]
            span = [_NAN] * 3 if one.unstable else [one.interval.mean, one.interval.low, one.interval.high]
            counts = [one.n, one.rejected if one.tested else None, one.tested or None]
            rows.append([arrow(figure), name, *span, one.error, *counts, SIGN if one.marked else None])
    return header, rows


def pairs_list(report: BoardReport, figure: str) -> Rows:
    """A line for each pair of measures that can be compared by a figure, the one that is ahead first: p of the paired
    test, adjusted by Holm, and whether that is significant; [] before that may be told.
    """
    header = [MEASURE, "against", "adjusted p ↓", "beats it", "texts"]
    if figure not in report.beaten:
        return header, []
    found, means, marked = report.beaten[figure], report.means(figure), report.marked(figure)
    rows = []
    for i, j in zip(*np.triu_indices(len(report.names), 1)):
        if {report.names[i], report.names[j]} & {*marked} or not found.n[i, j]:
            continue
        first, second = (j, i) if found.by[j, i] or (means[j] > means[i] and not found.by[i, j]) else (i, j)
        beats = "yes" if found.by[first, second] else "no"
        rows.append([report.names[first], report.names[second], float(found.p[i, j]), beats, int(found.n[i, j])])
    return header, sorted(rows, key=lambda row: row[2])


def leads_table(report: BoardReport) -> Rows:
    """A line for each metric: who is first by it."""
    return ["metric", "first", "how"], [
        [arrow(one.figure), joined(one.names) or None, str(one.standing)] for one in figure_leads(report)
    ]


def problems_table(report: BoardReport) -> Rows:
    """Why measures have no figures on some texts, a line for all that are alike, and what has not begun."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for name, why in report.problems.items():
        for kept, count in why.items():
            for figure, said in json.loads(kept).items():
                counts[said, name, figure] += count
    alike: dict[tuple[str, str, int], list[str]] = {}
    for (said, name, figure), count in counts.items():
        alike.setdefault((said, figure, count), []).append(name)
    rows: list[list[Any]] = [
        [joined(names), figure or None, count, said] for (said, figure, count), names in alike.items()
    ]
    rows += [[joined(report.names[:-1]), None, count, why] for why, count in report.left_out.items()]
    return [MEASURE, "metric", "texts", "why"], rows


def ordered(report: BoardReport, order: str) -> list[str]:
    """Names in the order of a figure, the best first, or of a cost, the least first; those without it last."""

    def key(name: str) -> float:
        if order in (PASSES, TOOK):
            value = (report.passes if order == PASSES else report.milliseconds).get(name, _NAN)
        else:
            value = -direction_of(order) * report.cells[name, order].interval.mean
        return float("inf") if value != value else value

    return sorted(report.names, key=key)


def _known(report: BoardReport) -> list[str]:
    """The figures that any measure has."""
    every = [*figures(), EVIDENCE]
    return [one for one in every if any(report.cells[name, one].n for name in report.names[:-1])]


def _timed(report: BoardReport) -> bool:
    return any(took == took for took in report.milliseconds.values())


def _cost(of: dict[str, float], name: str) -> float:
    """A mean or median cost, whole where it is not small; random order costs nothing."""
    value = of.get(name, 0.0)
    return round(value) if value >= 10 or value == 0 else value


# What the figure shows of measures by their look.
_GROUPS = "better than random", "on the line"


def front(report: BoardReport) -> list[str]:
    """Measures that none as cheap is as good as, the cheapest first; where paired tests tell, a slower one only if it
    beats the cheaper ones. Out-of-distribution ones, and those not better than random, are left out.
    """
    of = dict(zip(report.names, report.means(report.board.by)))
    named = [name for name in report.names if name in measures() and not report.not_better(name)]
    costs, values = [report.passes[name] for name in named], [of[name] for name in named]
    best = [name for name, on in zip(named, pareto_front(np.array(costs), np.array(values))) if on]
    beats, kept = report.beaten.get(report.board.by) if report.told else None, []
    for name in sorted(best, key=report.passes.__getitem__):
        at = report.names.index(name)
        if beats is None or all(beats.by[at, report.names.index(one)] for one in kept):
            kept.append(name)
    return kept


def front_numbers(report: BoardReport) -> str:
    """The numbers of the picture of faithfulness against cost, for those who do not see it."""
    by, costs = report.board.by, {name: cost_texts(report, name)[0] for name in report.names}
    points = [f"{name}: {cell_text(report, name, by)} at {costs[name]}" for name in report.names]
    better = [name for name in report.names if name != RANDOM and not report.not_better(name)]
    told = [f"{group}: {', '.join(names)}" for group, names in zip(_GROUPS, (better, front(report))) if names]
    return f"{arrow(by)} at forward passes. {'; '.join([*points, *told])}."
