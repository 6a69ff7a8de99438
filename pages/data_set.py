"""Data set: does what one example shows hold over the data?"""

from functools import partial

import streamlit as st

from core.evaluation.studies.catalogue import questions
from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.scoring import Scoring
from core.evaluation.studies.verdicts_question import Verdicts
from pages.parts.check.known import caution
from pages.parts.data_set.diagnosticity import draw_diagnosticity
from pages.parts.data_set.scores import draw_scored, rejected_here, signed_scores, where_tested
from pages.parts.data_set.verdicts import known_shares, verdict_of_chosen
from pages.parts.frame.links import choose_one, held
from pages.parts.frame.sidebar import DataView, open_data_page
from pages.parts.sections.filtered import choose_drawn
from pages.parts.sections.questions import question_section
from pages.parts.sections.studying import Asking

PAGE = "Data set"


def _where_tested(frame: DataView, asked: Asking) -> tuple[str, str]:
    return where_tested(frame, asked, caution(frame.explainer, frame.browsed.index, held("unit") or "word")), ""


def _known_shares(frame: DataView, asked: Asking) -> tuple[str, str]:
    return rejected_here(frame, asked), known_shares(asked)


def _of_chosen(frame: DataView, asked: Asking) -> tuple[str, str]:
    return verdict_of_chosen(frame, asked), ""


# Questions that have a picture of their own here, and what draws it; the others are drawn alike.
DRAWN = {Diagnosing.name: draw_diagnosticity, Scoring.name: draw_scored}
# What stands behind the answer besides, in view and folded.
ADDED = {Verdicts.name: _of_chosen, Scoring.name: _where_tested, Diagnosing.name: _known_shares}
# What is told with what else the page knows.
SHOWN = {Scoring.name: signed_scores}
# What they are called here; others by their name.
CALLED = {
    Scoring.name: "Scores by metrics",
    Diagnosing.name: "Metrics against chance (diagnosticity)",
    Verdicts.name: "Measures against chance (verdicts)",
}


def data_set() -> None:
    """Draw the page."""
    frame = open_data_page(PAGE, "A text of your own is one example, and this page asks about many. Choose data")
    if frame is None:
        return
    # First what the page's title asks.
    others = [name for name, one in questions().items() if one.page == PAGE and name != Verdicts.name]
    offered = [Verdicts.name, *others]
    name = choose_one("Question", offered, offered[0], "section", format_func=_named, label_visibility="collapsed")
    # The answer stands above what is chosen for it.
    answered, chosen = st.container(), st.container()
    with chosen:
        examples, picked, about = choose_drawn(frame)
    if examples is not None:
        added = partial(ADDED[name], frame) if name in ADDED else None
        with answered:
            drawn = partial(DRAWN[name], frame) if name in DRAWN else None
            known = partial(SHOWN[name], frame) if name in SHOWN else lambda asked: asked.report
            question_section(frame, questions()[name], examples, drawn, picked, about, added, shown=known)


def _named(name: str) -> str:
    return CALLED.get(name, name.capitalize())


data_set()
