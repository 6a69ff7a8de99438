"""The scoreboard over texts: on how many of them each measure is better than chance, where that is known already."""

from collections.abc import Callable, Collection
from typing import cast

import numpy as np

from core.data.examples import DataSet
from core.evaluation.sampling import Sample, scored_sample
from core.evaluation.studies.board_verdicts import VerdictColumn, VerdictLines, judged_already, verdicts_of_texts
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import better_counts, report_of_row
from core.evaluation.studies.verdicts_question import otherwise, shares_sentence
from core.explanation.explainer import Explainer
from core.verdicts.records import verdict_record
from core.wording import escaped, joined, linked_name
from pages.parts.frame.links import link_to
from pages.parts.sections.judged import known_family, known_report
from pages.parts.sections.studying import Asking


def known_verdicts(work: Asking, texts: Sample) -> VerdictColumn:
    """The column of verdicts over `texts`, of which the figures may rest on the first; nothing is computed for it."""
    board = cast(Scoreboard, work.question)
    family, known = known_family(work.explainer, texts, board.verdicts)

    def lines() -> VerdictLines:
        reports = {int(i): report_of_row(known, family, i) for i in np.flatnonzero(known.there)}
        return {
            (i, one.measure): verdict_record(one, report.planned)
            for i, report in reports.items()
            for one in report.verdicts
        }

    counts = better_counts(known, family.measures)
    column = verdicts_of_texts(counts, family.measures, lines, board.measures if counts else ())
    return column._replace(over=known_report(work.explainer, texts, board.verdicts))


def known_answer(work: Asking, texts: Sample, caution: Callable[[str], str]) -> str:
    """What *Data set* knows of these texts while nothing is known here, plain text; "" for nothing; caution: gives what
    *Model check* knows of them under a unit.
    """
    board = cast(Scoreboard, work.question)
    found = known_report(work.explainer, texts, board.verdicts)
    return "" if found is None else judged_already(found, board.sign, caution(board.unit))


def known_on_sample(explainer: Explainer, data: DataSet, board: Scoreboard, believed: Collection[str]) -> str:
    """On how many texts of the sample that this page takes unasked each measure is better than chance, in sentences of
    HTML beside what one text says; "" where that is not known, and nothing is computed for it. believed: the measures
    that are better than chance on the one text.
    """
    found = known_report(explainer, scored_sample(data), board.verdicts)
    page = linked_name("A sample of the data", link_to("scoreboard", on="a sample of the data"))
    told = "" if found is None else shares_sentence(found, board.measures, page)
    if found is None or not told:
        return ""
    turned = [name for name in otherwise(found, believed) if name in board.measures]
    begins = f"Over most texts it is otherwise for {escaped(joined(turned), 400)}" if turned else "Over many texts"
    return f"{begins}: {told} To choose a measure for other texts, go by these rather than by this one."
