"""Scoreboard: which measure is faithful, over the data and on one example, and at what cost?"""

import streamlit as st

from pages.parts.frame.links import choose_one, forget_unasked
from pages.parts.frame.picking import text_box
from pages.parts.frame.sidebar import DataView, open_frame
from pages.parts.scoreboard.drawing import BoardPlaces
from pages.parts.scoreboard.one_text import board_of_text
from pages.parts.scoreboard.over_texts import board_of_sample

EXAMPLE, SAMPLE = "this example", "a sample of the data"
ON_HELP = "A sample compares measures; one text compares with random orders."


def scoreboard() -> None:
    """Draw the page."""
    frame = open_frame("Scoreboard")
    if frame.view is None:
        text_box("", "")
    if frame.explainer is None:
        return
    answer = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        on = _scored_on(SAMPLE if frame.browsed is not None else EXAMPLE)
        settings = st.popover("Settings", icon=":material/tune:", width="content")
    places = BoardPlaces(answer, settings, st.container())
    if on == EXAMPLE and frame.view is not None:
        board_of_text(frame.view, places)
    elif on == SAMPLE and frame.browsed is not None:
        board_of_sample(DataView(frame.explainer, frame.browsed, frame.example), places)
    elif on == SAMPLE and frame.example is not None:
        answer.info("A text of your own is one example. Choose data in the sidebar, or add a file on Examples.")


def _scored_on(first: str) -> str:
    """Draw the choice; what nobody chose gives way where a text of one's own leaves one example, or data are back."""
    if st.session_state.get("first of on") != first:
        forget_unasked("on")
    st.session_state["first of on"] = first
    return choose_one("Scored on", (SAMPLE, EXAMPLE), first, "on", ON_HELP)


scoreboard()
