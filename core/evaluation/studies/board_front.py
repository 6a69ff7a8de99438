"""Faithfulness against cost: the measures that none as cheap is as good as."""

import numpy as np

from core.evaluation.studies.board_report import RANDOM, BoardReport, arrow
from core.evaluation.studies.board_tables import cell_text, cost_texts
from core.mathematics.ranking import pareto_front
from core.measures.catalogue import measures

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
