"""The scoreboard of one text: its figures, and the verdict of each measure against random orders."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from core.evaluation.sampling import without_labels
from core.evaluation.studies.board_sentences import cheapest_believed, verdicts_of_text
from core.evaluation.studies.scoreboard import Scoreboard
from core.explanation.limiting import left_over
from core.explanation.standings import COMPREHENSIVENESS, StandingGates
from core.verdicts.deciding import Reasons, VerdictReport, Word
from core.verdicts.telling import believe_sentence, chance_sentence
from core.wording import escaped, plain
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import prediction_line, show_notes
from pages.parts.scoreboard.drawing import draw_board
from pages.parts.sections.questions import choose_question
from pages.parts.sections.sides import Side
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking
from pages.parts.sections.verdicts import VerdictWork


def board_of_text(view: View, order: str) -> None:
    """Draw the scoreboard of the example, or say why there is none."""
    # Whatever class the sidebar asks for: erasure metrics are defined for the one that is predicted.
    view = replace(view, target=view.predicted, than=None)
    said, stage, below = (st.container() for _ in range(3))
    with below:
        st.header("Settings", anchor=False)
        question = cast(Scoreboard, choose_question(Scoreboard, view.model))
        show_notes(view)
    try:
        question.check(view.model)
    except ValueError as error:
        told = str(error).rstrip(".")
        with said:
            st.info(plain(f"{told[:1].upper()}{told[1:]}."))
        return
    if left_over(view.encoded) == 0:
        with said:
            unit = view.encoded.unit
            prediction_line(view, f"Every {unit} is masked in the text already, so there are no orders to compare.")
        return
    digest = "" if view.browsed is None else view.browsed.index.data.digest
    one = Asking(view.explainer, without_labels(view.data, digest, [view.example]), question, drawn_from=1)
    side = Side(view.explainer, view.encoded, view.predicted, view.predicted)
    asked = question.measures
    verdicts = VerdictWork(side, asked, question.sign, len(asked), COMPREHENSIVENESS)
    draw, say = partial(_draw, one, side, verdicts, order), partial(_say, view, one, side, verdicts)
    stream([*one.works, verdicts], stage, draw, said, say, together=True)


def _verdicts(side: Side, work: VerdictWork) -> VerdictReport | None:
    return work.report(StandingGates(side.encoded, side.reference), Reasons())


def _draw(one: Asking, side: Side, verdicts: VerdictWork, order: str, asks: Callable[[], None]) -> None:
    report = _verdicts(side, verdicts)
    draw_board(one, asks, order, lambda _: verdicts_of_text(() if report is None else report.verdicts))


def _say(view: View, one: Asking, side: Side, verdicts: VerdictWork) -> None:
    report, board = _verdicts(side, verdicts), one.report
    if report is None:
        waits = any(work.runs for work in (*one.works, verdicts))
        asked = f"Ask below which measures to believe: {escaped(verdicts.price, 200)}."
        told = "Measures are being set against random orders …" if waits else asked
        prediction_line(view, told)
        return
    believed = [each.measure for each in report.those(Word.BETTER)]
    cheapest = "" if board is None else escaped(cheapest_believed(believed, board), 400)
    prediction_line(view, believe_sentence(report, view.encoded), cheapest)
    st.caption(plain(chance_sentence(report)))
