"""A closer look at what metrics make of the measures: one question at a time."""

import streamlit as st

from pages.parts.erasure.choosing import choose_rationale
from pages.parts.erasure.drawing import draw_agreement, draw_leaves, draw_lengths
from pages.parts.erasure.hand_setting import hand_setting
from pages.parts.erasure.judging import KnownRatings
from pages.parts.frame.links import choose_one
from pages.parts.frame.sidebar import View

RANKING, LENGTH, WEIGHTS, VALIDITY = "ranking", "length", "weights", "validity"
# Names in the address, and what each part asks.
PARTS = {
    RANKING: "Do they rank the measures alike?",
    LENGTH: "Does the rationale’s length decide?",
    WEIGHTS: "Same order, other weights: who notices?",
    VALIDITY: "Which erasure leaves the distribution?",
}


def closer_look(view: View, known: KnownRatings) -> None:
    """The choice of a part, and that part; what is not shown is neither drawn nor asked for."""
    st.header("A closer look", anchor=False)
    part = choose_one(
        "A closer look", list(PARTS), RANKING, "closer", format_func=PARTS.get, label_visibility="collapsed"
    )
    report = known.report
    if part == VALIDITY:
        rationale = choose_rationale(known.choice)
        if rationale is not None:
            draw_leaves(view, report, rationale)
    elif part == WEIGHTS:
        _weights(known)
    elif not (report.rated and report.names):
        st.caption("This begins with the first measure that is judged.")
    elif part == RANKING:
        draw_agreement(view, report, PARTS[VALIDITY])
    else:
        draw_lengths(view, report)


def _weights(known: KnownRatings) -> None:
    first = next(iter(known.rated.items()), None)
    if first is None:
        st.caption("This begins with the words that the first measure ranks first; it waits for that measure.")
        return
    st.fragment(hand_setting)(known.side, known.choice, first[1].scores, first[0])
