"""Scoreboard: which measure should be believed, on this example and over the data, and at which cost?"""

from functools import partial

import streamlit as st

from core.evaluation.sampling import SCORED, without_labels
from core.evaluation.studies.scoreboard import Scoreboard
from pages.parts.check.known import caution
from pages.parts.frame.links import choose_one, forget_unasked
from pages.parts.frame.picking import text_box
from pages.parts.frame.sidebar import DataView, open_frame
from pages.parts.scoreboard.drawing import choose_table_order, draw_board
from pages.parts.scoreboard.one_text import board_of_text
from pages.parts.scoreboard.over_texts import known_answer, known_verdicts
from pages.parts.sections.filtered import choose_drawn
from pages.parts.sections.questions import question_section

EXAMPLE, SAMPLE = "this example", "a sample of the data"


def scoreboard() -> None:
    """Draw the page."""
    frame = open_frame("Scoreboard")
    if frame.view is None:
        text_box("", "")
    if frame.explainer is None:
        return
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        about = "Of one text there are verdicts on each measure; whether one beats another takes a sample."
        on = _scored_on(SAMPLE if frame.browsed is not None else EXAMPLE, about)
    with right:
        order = choose_table_order()
    if on == EXAMPLE and frame.view is not None:
        board_of_text(frame.view, order)
    elif on == SAMPLE and frame.browsed is not None:
        _board_of_sample(DataView(frame.explainer, frame.browsed, frame.example), order)
    elif on == SAMPLE and frame.example is not None:
        st.info("A text of your own is one example. Choose data in the sidebar, or add a file on the page Examples.")


def _scored_on(first: str, about: str) -> str:
    """Draw the choice; what nobody chose gives way where a text of one's own leaves one example, or data are back."""
    if st.session_state.get("first of on") != first:
        forget_unasked("on")
    st.session_state["first of on"] = first
    return choose_one("Scored on", (EXAMPLE, SAMPLE), first, "on", about)


def _board_of_sample(frame: DataView, order: str) -> None:
    # The answer stands above which texts are chosen for it.
    answered, chosen = st.container(), st.container()
    with chosen:
        drawn, picked, about = choose_drawn(frame, SCORED)
    if drawn is None:
        return
    data = frame.browsed.index.data
    texts = without_labels(data.name, data.digest, drawn)
    with answered:
        question_section(
            frame,
            Scoreboard,
            drawn,
            partial(draw_board, order=order, verdicts=partial(known_verdicts, texts=texts)),
            picked,
            about,
            already=partial(
                known_answer,
                texts=texts,
                caution=partial(caution, frame.explainer, frame.browsed.index, linked=False, means=False),
            ),
        )


scoreboard()
