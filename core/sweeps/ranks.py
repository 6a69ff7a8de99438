"""Ranks of measures by AOPC and by NAOPC under each model (NAOPC Fig. 2)."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from scipy.stats import rankdata

from core.sweeps.naopc import ask_limits
from core.sweeps.registry import Line, SweepTable, register

_WHERE = ("model", "data", "figure")


def rank_lines(lines: Sequence[Line]) -> list[Line]:
    """A line for each measure and figure, 1 the best, equals sharing their mean rank; what has no mean has no rank."""
    found = []
    for _, group in groupby(sorted(lines, key=_where), key=_where):
        together = list(group)
        means = np.array([np.nan if one["mean"] is None else one["direction"] * one["mean"] for one in together])
        ranks = rankdata(-means, nan_policy="omit")
        for one, rank in zip(together, ranks):
            named = {name: one[name] for name in (*_WHERE, "measure", "mean")}
            found.append(named | {"rank": None if np.isnan(rank) else float(rank)})
    return found


def _where(line: Line) -> tuple[str, ...]:
    return tuple(line[name] for name in _WHERE)


register(
    SweepTable(
        "ranks",
        "NAOPC Fig. 2",
        ask_limits,
        rank_lines,
        ("model", "data", "measure"),
        {"rank": "rank ↓"},
        across="figure",
        over=("aopc", "naopc"),
    )
)
