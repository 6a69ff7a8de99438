"""Faithfulness against cost: the measures that none as cheap is as good as."""

import numpy as np

from core.evaluation.studies.board_report import RANDOM, BoardReport, arrow
from core.evaluation.studies.board_sentences import cell_text, cost_texts
from core.mathematics.ranking import pareto_front
from core.measures.catalogue import measures
from core.validity.marks import SIGN
from core.wording import joined


def front(report: BoardReport) -> list[str]:
    """Measures that none as cheap is as good as, by the figure of the first sentence, the cheapest first; where paired
    tests tell, a dearer one only if it beats the cheaper ones. Left out are those that rest on rejected inputs, and
    those not shown to do better than chance.
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


def picture_note(report: BoardReport) -> str:
    """What is drawn in the picture of faithfulness against cost, a sentence or two."""
    over = " on average over the texts" * (report.n > 1)
    told = f"Further left is cheaper. Dashed: {RANDOM}. Hollow: not shown to do better than chance{over}, or {SIGN}."
    if len(front(report)) < 2:
        return told
    by = report.board.by
    beats = " and beats those on the line before it (Who beats whom)" if by in report.beaten else ""
    unstable = " or unstable" * any(report.cells[name, by].unstable for name in report.names)
    dotted = f"from the cheapest on, each measure that is ahead of every cheaper one{beats}"
    return f"{told} Dotted: {dotted}; what is hollow{unstable} is left out."


def front_in_words(report: BoardReport) -> str:
    """The picture of faithfulness against cost for those who do not see it."""
    by = report.board.by
    told = [
        f"{name}: {cell_text(report, name, by)}, {cost_texts(report, name)[0]} forward passes"
        + ", not shown to do better than chance" * (name != RANDOM and report.not_better(name))
        for name in report.names
    ]
    left = [name for name in report.names if name != RANDOM and (report.not_better(name) or report.cells[name, by].out)]
    none = "Of the others none" if left else "No measure"
    best = f" {none} as cheap has a better mean than {joined(front(report))}." if front(report) else ""
    return f"{arrow(by)} against forward passes. {'; '.join(told)}.{best}"
