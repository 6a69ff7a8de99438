"""The scoreboard over texts: on how many of them each measure is better than chance, where that is known already."""

from collections.abc import Callable
from typing import cast

import numpy as np

from core.evaluation.engine import Rows
from core.evaluation.sampling import Sample
from core.evaluation.studies.board_sentences import VerdictColumn, VerdictLines, judged_already, verdicts_of_texts
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import VerdictsOfTexts, better_counts, report_of_row
from core.evaluation.studies.verdicts_question import Verdicts
from core.verdicts.telling import verdict_record
from pages.parts.sections.studying import Asking, Studying


def known_verdicts(work: Asking, texts: Sample) -> VerdictColumn:
    """The column of verdicts over `texts`, of which the figures may rest on the first; nothing is computed for it."""
    family, known = _known(work, texts)

    def lines() -> VerdictLines:
        reports = {int(i): report_of_row(known, family, i) for i in np.flatnonzero(known.there)}
        return {
            (i, one.measure): verdict_record(one, report.planned)
            for i, report in reports.items()
            for one in report.verdicts
        }

    return verdicts_of_texts(better_counts(known, family.measures), family.measures, lines)


def known_answer(work: Asking, texts: Sample, caution: Callable[[str], str]) -> str:
    """What *Data set* knows of these texts while nothing is known here, plain text; "" for nothing; caution: gives what
    *Model check* knows of them under a unit.
    """
    board, (family, known) = cast(Scoreboard, work.question), _known(work, texts)
    if not known.there.any():
        return ""
    asked = Verdicts(family.measures, family.sign, family.unit, family.erasure)
    found = Asking(work.explainer, texts, asked).report
    return judged_already(found, board.measures, caution(board.unit))


def _known(work: Asking, texts: Sample) -> tuple[VerdictsOfTexts, Rows]:
    """The family that is known of more texts, of equals the one that is chosen here; and what is known of it."""
    board = cast(Scoreboard, work.question)
    found = {study: Studying(work.explainer, texts, study).found for study in board.verdicts}
    family = max(found, key=lambda study: found[study].done)
    return family, found[family]
