"""Data set: does it hold beyond this example?"""

import streamlit as st

from core.data.examples import Example
from core.evaluation.sampling import draw_examples
from core.evaluation.studies.catalogue import questions
from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.wording import plain
from pages.parts.data_set.diagnosticity import draw_diagnosticity
from pages.parts.frame.links import choose_one
from pages.parts.frame.sidebar import DataView, open_data_page
from pages.parts.sections.asking import choose_size
from pages.parts.sections.filtered import choose_which, count_kept, examples_kept, narrows, told_of
from pages.parts.sections.questions import question_section

PAGE = "Data set"
# Questions that have a picture of their own here, and what draws it; the others are drawn alike.
DRAWN = {Diagnosing.name: draw_diagnosticity}


def data_set() -> None:
    """Draw the page."""
    frame = open_data_page(PAGE, "A text of your own is one example, and this page asks about many. Choose data")
    if frame is None:
        return
    # In a row of its own: three side by side would be cut off in a window of ordinary width.
    offered = [name for name, one in questions().items() if one.page == PAGE]
    name = choose_one("Question", offered, Diagnosing.name, "section", format_func=str.capitalize)
    examples, picked = _choose_texts(frame, *st.columns([5, 4]))
    if examples is not None:
        st.caption(questions()[name].asks)
        question_section(frame, questions()[name], examples, DRAWN.get(name), picked)


def _choose_texts(frame: DataView, left, right) -> tuple[tuple[Example, ...] | None, str]:
    """The texts that are chosen, None, and a sentence, where there are none; and how a filter picks them, as of
    `core.evaluation.sampling.Sample`.
    """
    with left:
        filtered = choose_which("Labels are not needed: the prediction is explained.")
    with right:
        size = choose_size(count_kept(frame, filtered), "Texts drawn at random")
    kept = examples_kept(frame, filtered)
    if not kept:
        return None, ""
    drawn = draw_examples(kept, size)
    whole = "All of" if len(drawn) == len(kept) else f"{len(drawn):,}, drawn at random, of"
    st.caption(plain(f"{whole} {told_of(frame, filtered, kept)}."))
    return drawn, frame.browsed.query.picked_by if narrows(frame, filtered) else ""


data_set()
