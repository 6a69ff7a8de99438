"""The scoreboard over texts: on how many of them each measure is better than chance, where that is known already."""

from typing import cast

import numpy as np

from core.evaluation.sampling import Sample
from core.evaluation.studies.board_sentences import VerdictColumn, VerdictLines, verdicts_of_texts
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import better_counts, report_of_row
from core.verdicts.telling import verdict_record
from pages.parts.sections.studying import Asking, Studying


def known_verdicts(work: Asking, texts: Sample) -> VerdictColumn:
    """The column of verdicts over `texts`, of which the figures may rest on the first; nothing is computed for it."""
    board = cast(Scoreboard, work.question)
    found = {study: Studying(work.explainer, texts, study).found for study in board.verdicts}
    # The family that is known of more texts; of equals the one that is chosen here.
    family = max(found, key=lambda study: found[study].done)
    known = found[family]

    def lines() -> VerdictLines:
        reports = {int(i): report_of_row(known, family, i) for i in np.flatnonzero(known.there)}
        return {
            (i, one.measure): verdict_record(one, report.planned)
            for i, report in reports.items()
            for one in report.verdicts
        }

    return verdicts_of_texts(better_counts(known, family.measures), family.measures, lines)
