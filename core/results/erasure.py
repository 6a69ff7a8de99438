"""Hard and soft erasure: does it matter whether words are erased whole or in part?"""

from collections.abc import Collection
from typing import Any

import numpy as np

from core.judging.metric_report import MetricReport
from core.judging.metric_table import MetricTable
from core.measures.catalogue import is_measure, measure
from core.measures.registry import ORACLE
from core.results.caveats import Caveat
from core.results.inputs import gate_caveats
from core.results.result import Fact, Kind, Outcome, Result

# A kind of erasure that ranks more measures first than these names no winner.
MOST_FIRST = 3
_KINDS = {False: "hard", True: "soft"}
# The measures that each kind of erasure ranks first, by whether it is soft.
_First = dict[bool, tuple[str, ...]]


class ErasureOutcome(Outcome):
    """What ranking the measures of one text by hard and by soft metrics comes to."""

    SAME_WINNER = "same winner"
    DIFFERENT_WINNERS = "different winners"
    TIED = "tied"
    OUT_OF_DISTRIBUTION = "out-of-distribution"
    NOTHING_TO_COMPARE = "nothing to compare"
    RUNNING = "running"


def erasure_result(report: MetricReport, asked: int, coming: bool = False, unstable: Collection[str] = ()) -> Result:
    """Whether hard and soft metrics rank the same measure first, by scores on inputs that are not rejected.

    Args:
        asked: of how many measures scores are wanted; coming: whether some are under way.
        unstable: measures whose ranking is known to be unstable.
    """
    first = {soft: _winners(report.trusted, [soft]).get(soft, ()) for soft in _KINDS}
    both = _winners(report.trusted, list(_KINDS))
    outcome, slots = _outcome(report, first, both, coming)
    caveats = [*gate_caveats(report.gates.values())]
    caveats += [Caveat.PARTIAL] if len(report.rated) < asked else []
    caveats += [Caveat.UNSTABLE] if set(unstable) & set(report.rated) else []
    masking = any(is_measure(name) and measure(name).needs == ORACLE for name in first[False])
    caveats += [Caveat.MEASURE_USES_MASKING] if masking else []
    return Result.of(outcome, _facts(report, first, both), caveats, **slots)


def _outcome(report: MetricReport, first: _First, both: _First, coming: bool) -> tuple[ErasureOutcome, dict[str, Any]]:
    full, trusted = _comparable(report.table), _comparable(report.trusted)
    why = _why_undefined(report.table)
    if coming and not why:
        return ErasureOutcome.RUNNING, {}
    if len(full) < len(_KINDS):
        return ErasureOutcome.NOTHING_TO_COMPARE, {"why": why}
    if lost := [name for soft, name in _KINDS.items() if soft not in trusted]:
        return ErasureOutcome.OUT_OF_DISTRIBUTION, {"kinds": lost}
    if tied := [name for soft, name in _KINDS.items() if not 0 < len(first[soft]) <= MOST_FIRST]:
        return ErasureOutcome.TIED, {"kinds": tied}
    if not both:
        return ErasureOutcome.NOTHING_TO_COMPARE, {"why": ""}
    if same := [one for one in both[False] if one in both[True]]:
        return ErasureOutcome.SAME_WINNER, {"measures": same}
    return ErasureOutcome.DIFFERENT_WINNERS, {"hard": list(both[False]), "soft": list(both[True])}


def _facts(report: MetricReport, first: _First, both: _First) -> list[Fact]:
    named = {_KINDS[soft]: ", ".join(names) for soft, names in first.items() if names}
    firsts = [Fact(f"{kind}_first", f"first by {kind} erasure", names, Kind.TEXT) for kind, names in named.items()]
    common = _common_facts(report, both or first)
    return [*_pair_facts(report.trusted), *common, *firsts] if both else [*firsts, *common]


def _pair_facts(board: MetricTable) -> list[Fact]:
    pairs, about = board.pairs, "pair of measures"
    return [
        Fact("pairs_alike", "pairs ordered alike", pairs.same, Kind.COUNT, of=pairs.all, about=about),
        Fact("pairs_opposite", "pairs ordered oppositely", _opposite(board), Kind.COUNT, of=pairs.all, about=about),
    ]


def _common_facts(report: MetricReport, first: _First) -> list[Fact]:
    gates, drawn = report.gates, report.most_drawn
    marked, about = sum(gate.marked for gate in gates.values()), "rejected (out-of-distribution)"
    worst, random = _as_good(report, first), "random attribution"
    return [
        Fact("random_as_good", "random as good as the first", worst, Kind.COUNT, "↓", of=drawn, about=random),
        Fact("out_of_distribution", "scores out-of-distribution", marked, Kind.COUNT, "↓", of=len(gates), about=about),
        Fact("smallest_p", "smallest MaSF p", report.smallest, Kind.NUMBER, "↑", about="MaSF p"),
    ]


def _winners(board: MetricTable, kinds: list[bool]) -> _First:
    """Of these kinds the measures with the best sum of places; nothing where one places, or tells apart, under two."""
    telling = {soft: [k for k in board.columns(soft) if board.places[:, k].max(initial=0) > 1] for soft in kinds}
    if not all(telling.values()):
        return {}
    placed = (board.places[:, [k for columns in telling.values() for k in columns]] > 0).all(axis=1)
    if placed.sum() < 2:
        return {}
    sums = {soft: np.where(placed, board.places[:, columns].sum(axis=1), np.inf) for soft, columns in telling.items()}
    return {soft: tuple(np.array(board.measures)[one == one.min()].tolist()) for soft, one in sums.items()}


def _why_undefined(board: MetricTable) -> str:
    """Why no measure has a score by any of the metrics of a kind of erasure that was asked for; "" where one has."""
    for soft in _KINDS if board.measures else ():
        columns = board.columns(soft)
        notes = {board.notes[m][k] for m in range(len(board.measures)) for k in columns}
        if columns and np.isnan(board.values[:, columns]).all() and len(notes) == 1:
            return notes.pop()
    return ""


def _comparable(board: MetricTable) -> list[bool]:
    """The kinds of erasure by which at least two measures have a score."""
    able = board.comparable()
    return [soft for soft in _KINDS if able[board.columns(soft)].any()]


def _opposite(board: MetricTable) -> int:
    """How many pairs of measures some hard and some soft metric put in opposite orders."""
    between = board.reversals[:, :, board.columns(False)][:, :, :, board.columns(True)].any(axis=(2, 3))
    return int(np.triu(between, 1).sum())


def _as_good(report: MetricReport, first: _First) -> int | None:
    """How many random attributions do as well as a winner by the metrics it wins, at worst; None until it is known."""
    board, counts = report.trusted, []
    for soft, names in first.items():
        rows = [board.measures.index(one) for one in names]
        columns = [k for k in board.columns(soft) if board.places[:, k].max(initial=0) > 1]
        if rows:
            counts += report.as_good[np.ix_(rows, columns)].min(axis=0).tolist()
    return max(counts) if counts and min(counts) >= 0 else None
