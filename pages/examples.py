"""Examples: which example is worth looking at?"""

import numpy as np
import streamlit as st

from core.data.browsing import worst
from core.evaluation.predictions_report import label_text, predictions_sentence
from core.evaluation.slices import slice_sentence
from core.explanation.explainer import Explainer
from core.wording import amount, escaped, number, plain, shortened
from pages.parts.components.example_table import asked, browser
from pages.parts.examples.finding import finding_section
from pages.parts.examples.listing import carry_out, table_of
from pages.parts.examples.listing_file import save_listing
from pages.parts.examples.pinning import pin_section
from pages.parts.examples.slicing import slices_section
from pages.parts.frame import data
from pages.parts.frame.adding import ADDING, add_data
from pages.parts.frame.links import choose, link_to
from pages.parts.frame.picking import Browsed, text_box
from pages.parts.frame.sidebar import Frame, View, open_frame
from pages.parts.frame.texts import second_text, show_answer, show_text_notes
from pages.parts.sections.evidence import show_marked_text
from pages.parts.sections.streaming import stream


def examples() -> None:
    """Draw the page."""
    for what, value in asked():
        carry_out(what, value)
    frame = open_frame("Examples")
    browsed, answer = frame.browsed, st.container()
    adding = ADDING in st.session_state
    with st.expander(
        "Other texts: type one, upload a file, fetch a data set",
        icon=":material/add:",
        expanded=browsed is None or adding,
    ):
        ways = ["A text of your own", "A file or data set"]
        one, more = st.tabs(ways, default=ways[adding], key=f"ways-to-texts-{adding}")
        with one:
            text_box("", "")
        with more:
            add_data()
    if browsed is not None:
        if frame.explainer is not None:
            _predictions(frame.explainer, browsed)
        browser(table_of(frame, browsed))
        if frame.explainer is not None:
            finding_section(frame.explainer, browsed)
        slices_section(browsed)
        with answer:
            _answer(frame, browsed)
    if frame.view is not None:
        _chosen(frame.view)
    if browsed is not None:
        pin_section(frame, browsed)
    if browsed is not None:
        save_listing(frame, browsed)


def _answer(frame: Frame, browsed: Browsed) -> None:
    index, judged = browsed.index, browsed.judged
    complete = browsed.known is None or browsed.known.complete
    # What the filter leaves comes first: it is what is asked for.
    left = browsed.rows if browsed.query.narrows else None
    here = slice_sentence(judged, browsed.rows, browsed.query, complete, index.texts)
    said = predictions_sentence(index, judged, browsed.match, complete, lambda one: link_to(example=one), left)
    show_answer(*(said, here) if left is not None and browsed.query.picked_by else (here, said))
    row = worst(judged, left)
    mistake = None if row is None else index.data.examples[row].id
    # Of the one that is chosen already there is nothing to press.
    if mistake is not None and (frame.example is None or frame.example.id != mistake):
        st.button(
            f"Choose {plain(shortened(mistake))}",
            key="choose-worst",
            on_click=choose,
            args=("example", mistake),
            icon=":material/arrow_forward:",
        )
    if frame.explainer is not None and browsed.match.how:
        st.caption(plain(browsed.match.how))


def _predictions(explainer: Explainer, browsed: Browsed) -> None:
    """Predict what is not predicted yet: at once where that takes seconds, else when asked."""
    known = browsed.known
    if known is None or not known.complete:
        work = data.Predicting(explainer, browsed.index)
        # As they come the table takes them in, by twelfths.
        stream(
            [work],
            st.container(),
            anew=lambda: 12 * work.progress[0] // work.progress[1],
            every=1.0,
            name="predictions",
        )
    elif known.problems:
        why = plain(next(iter(known.problems.values())))
        lack = "has" if len(known.problems) == 1 else "have"
        st.warning(f"{amount(len(known.problems), 'example')} {lack} no prediction. {why}")


def _chosen(view: View) -> None:
    """The chosen example in full, and the way on."""
    st.header("Chosen", anchor=False)
    show_marked_text(view)
    if not view.example.evidence:
        st.html(f"<p dir='auto' class='whole-text'>{escaped(view.example.text, 20_000)}</p>")
    likely = np.argsort(-view.probabilities, kind="stable")[:12]
    classes = " · ".join(
        f"{escaped(view.model.labels[i])} {number(float(view.probabilities[i]))}"
        for i in (sorted(likely) if view.model.C <= 12 else likely)
    )
    label = ""
    if view.browsed is not None and view.example.label is not None:
        named = label_text(view.browsed.judged, view.browsed.match, view.example.label)
        label = f" The label is <b>{escaped(named)}</b>."
    st.html(f"<p>Probability of each class: {classes}.{label}</p>")
    if view.example.second is not None:
        st.html(second_text(view))
    show_text_notes(view)
    st.page_link(
        "pages/attributions.py",
        label="See which words each importance measure calls important",
        icon=":material/format_color_text:",
    )


examples()
