"""The scoreboard over a sample of the data: which measures no other beats."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from core.evaluation.findings import FEW
from core.evaluation.sampling import SCORED, Sample, without_labels
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts import report_of_row
from core.figures.board_figures import HEIGHT
from core.figures.verdicts_figures import verdict_shares
from core.results.asked import limited_answer
from core.results.result import Result
from core.results.scoreboard import scoreboard_result, waiting_result
from core.verdicts.records import verdict_record
from core.wording import amount, shortened
from pages.parts.components.pictures import draw_figure
from pages.parts.face.headline import Badge, draw_headline
from pages.parts.frame.links import folded
from pages.parts.frame.sidebar import DataView
from pages.parts.scoreboard.drawing import BoardPlaces, BoardVerdicts, draw_board, is_refused
from pages.parts.sections.filtered import choose_texts, drawn_texts, say_none
from pages.parts.sections.judged import known_family
from pages.parts.sections.questions import choose_question
from pages.parts.sections.saving import about_models
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, masked_as_chosen


def board_of_sample(frame: DataView, places: BoardPlaces) -> None:
    """Draw the scoreboard of a sample; of one that takes long the beginning is asked first."""
    explainer, data = frame.explainer, frame.browsed.index.data
    waits = places.stage.empty()
    waits.skeleton(HEIGHT)
    with folded(places.settings):
        drawn, picked, about = drawn_texts(frame, *choose_texts(frame, SCORED))
        question = cast(Scoreboard, choose_question(Scoreboard, explainer.model))
    if not drawn:
        waits.empty()
        with places.answer:
            say_none()
        return
    if is_refused(question, explainer.model, places.answer):
        waits.empty()
        return
    texts = masked_as_chosen(without_labels(data.name, data.digest, drawn))
    grown = Asking(explainer, replace(texts, picked=picked), question, drawn_from=len(data), grows=True)
    _ = grown.shown.report  # kept from here on
    waits.empty()
    draw, say = partial(_draw, grown, texts), partial(_say, grown, about)
    stream(lambda: grown.offered, (places.stage, draw), (places.answer, say), together=True)


def _say(grown: Asking, about: str) -> None:
    shown = grown.shown
    texts = f"{amount(len(shown.sample), 'text')} of {shortened(shown.sample.name, 24)}"
    draw_headline(_result(shown), Badge(texts, about))


def _result(asked: Asking) -> Result:
    report = asked.report
    if report is None:
        return waiting_result(len(asked.sample), asked.answers.complete)
    return limited_answer(scoreboard_result(report), asked.question, asked.answers)


def _draw(grown: Asking, texts: Sample, asks: Callable[[], None]) -> None:
    shown = grown.shown
    draw_board(shown, shown.report, _result(shown), known_verdicts(shown, texts), asks)


def known_verdicts(work: Asking, texts: Sample) -> BoardVerdicts:
    """The verdicts that *Data set* knows of `texts`."""
    board = cast(Scoreboard, work.question)
    family, known = known_family(work.explainer, texts, board.verdicts)
    report = Asking(work.explainer, texts, family).report
    if report is None:
        return BoardVerdicts()

    def lines() -> dict[tuple[int, str], dict]:
        reports = {int(i): report_of_row(known, family.study, i) for i in np.flatnonzero(known.there)}
        return {
            (i, one.measure): verdict_record(one, report.planned)
            for i, report in reports.items()
            for one in report.verdicts
        }

    table = family.tables(report)[0]
    alt = "; ".join(f"{name}: {share}" for name, share, *_ in table[1])
    name, about = ["verdicts", work.model.name, texts.name], about_models([work.model], texts.name)
    picture = partial(draw_figure, verdict_shares([report]), "verdicts", alt, name, about)
    return BoardVerdicts(table, lines, picture if report.n >= FEW else None)
