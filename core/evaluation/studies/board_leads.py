"""Which measures a scoreboard puts first, metric by metric: unbeaten over texts, or ahead on one text."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from core.evaluation.studies.board_report import NAOPC_C, NAOPC_S, RANDOM, BoardReport, figures
from core.evaluation.studies.board_rows import board_metrics
from core.judging.metric_table import orders
from core.mathematics.ranking import are_level
from core.metrics.registry import HIGHER


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
    """Of each figure who is first; [] before that may be told. What is marked or unstable has no part in it.

    On one text erasure metrics are tied within their errors, other figures within a hundredth or overlapping intervals.
    """
    if not report.n == report.tally.total == 1:
        return [Lead(figure, LeadKind.UNBEATEN, report.unbeaten(figure)) for figure in report.beaten]
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
