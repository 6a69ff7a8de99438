"""Data set: does it hold beyond this example?"""

import numpy as np
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
from pages.parts.sections.questions import question_section

PAGE = "Data set"
# Questions that have a picture of their own here, and what draws it; the others are drawn alike.
DRAWN = {Diagnosing.name: draw_diagnosticity}
WHOLE, FILTERED = "all of the data", "what the filter on Examples shows"


def data_set() -> None:
    """Draw the page."""
    frame = open_data_page(PAGE, "A text of your own is one example, and this page asks about many. Choose data")
    if frame is None:
        return
    # In a row of its own: three side by side would be cut off in a window of ordinary width.
    offered = [name for name, one in questions().items() if one.page == PAGE]
    name = choose_one("Question", offered, Diagnosing.name, "section", format_func=str.capitalize)
    examples = _choose_texts(frame, *st.columns([5, 4]))
    if examples is not None:
        st.caption(questions()[name].asks)
        question_section(frame, questions()[name], examples, DRAWN.get(name))


def _choose_texts(frame: DataView, left, right) -> tuple[Example, ...] | None:
    """The texts that are chosen; None, and a sentence, where there are none."""
    with left:
        which = choose_one(
            "Texts", (WHOLE, FILTERED), WHOLE, "texts", "Labels are not needed: the prediction is explained."
        )
    with right:
        size = choose_size("Texts drawn at random")
    browsed = frame.browsed
    data = browsed.index.data
    # In the order of the file, so that another order of the table draws the same ones.
    kept = data.examples if which == WHOLE else tuple(data.examples[i] for i in np.sort(browsed.rows))
    if which == FILTERED and browsed.query.asks_model and browsed.known is not None and not browsed.known.complete:
        st.caption(
            "The filter asks what the model predicts, which is not known for all texts yet; the page Examples computes "
            "it."
        )
    if not kept:
        if which == FILTERED:
            st.info("The filter on Examples leaves no text. Take a filter away there, or choose all of the data here.")
            st.page_link("pages/examples.py", label="Examples", icon=":material/table_rows:")
        else:
            st.info(f"{plain(data.name)} holds no examples.")
        return None
    drawn = draw_examples(kept, size)
    of = f"{len(data):,} texts of {data.name}"
    narrowed = (
        f"the {len(kept):,} that the filter leaves of {of}"
        if which == FILTERED and browsed.query.narrows
        else f"the {of}"
    )
    unset = "; no filter is set on Examples" if which == FILTERED and not browsed.query.narrows else ""
    st.caption(
        plain(f"{'All of' if len(drawn) == len(kept) else f'{len(drawn):,}, drawn at random, of'} {narrowed}{unset}.")
    )
    return drawn


data_set()
