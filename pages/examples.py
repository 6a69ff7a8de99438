"""Examples: which example is worth looking at?"""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import cast

import streamlit as st

from core.data.browsing import names_by
from core.data.parsed import BadData
from core.data.sources import name_labels
from core.explanation.explainer import Explainer
from core.results.caveats import Caveat, holding
from core.results.examples import examples_result
from core.results.inputs import model_caveats
from core.results.result import Result
from core.wording import amount, plain
from pages.parts.attributions.keeping import keep_button, kept_section
from pages.parts.components.tables import asked, browser
from pages.parts.examples.finding import columns_chooser, finding_section, lacking_rows
from pages.parts.examples.listing import carry_out, save_listing, table_of
from pages.parts.examples.pinning import notes_section, pin_section
from pages.parts.examples.slicing import slices_section
from pages.parts.face.body import draw_body, draw_tabs
from pages.parts.face.headline import draw_badges, draw_headline
from pages.parts.frame import data, resources
from pages.parts.frame.adding import ADDING, add_data
from pages.parts.frame.links import choose
from pages.parts.frame.picking import Browsed, text_box
from pages.parts.frame.sidebar import Frame, View, open_frame
from pages.parts.frame.texts import about_text, captions, view_badges, view_caveats
from pages.parts.sections.evidence import show_text
from pages.parts.sections.reporting import report_of_pins
from pages.parts.sections.streaming import stream

_SUREST = "The most confident mistake of those shown."
TERMS = ("slice", "interval (95 %)", "feature, unit")


def examples() -> None:
    """Draw the page."""
    for what, value in asked():
        carry_out(what, value)
    frame = open_frame("Examples")
    if frame.browsed is None:
        _add_texts(expanded=True)
    else:
        _listing(frame, frame.browsed)
    draw_tabs(_tabs(frame), "tabs-of-examples")


def _listing(frame: Frame, browsed: Browsed) -> None:
    answer = st.container()
    if frame.explainer is not None:
        _predictions(frame.explainer, browsed)
    with answer:
        result = _answer(frame, browsed)
        with st.container(horizontal=True, vertical_alignment="center"):
            if frame.explainer is not None:
                columns_chooser(frame.explainer, browsed)
            _choose_mistake(frame, result)
    _add_texts()
    finding = st.container()
    draw_body(result, partial(browser, table_of(frame, browsed)), {}, "parts-of-examples", terms=TERMS)
    # Above the table, which need not wait until what this takes is known.
    if frame.explainer is not None:
        with finding:
            finding_section(frame.explainer, browsed)


def _tabs(frame: Frame) -> dict[str, Callable[[], None]]:
    tabs: dict[str, Callable[[], None]] = {}
    if frame.view is not None:
        tabs["Chosen example"] = partial(_chosen, frame, frame.browsed)
    if frame.browsed is not None:
        tabs["Slices"] = partial(slices_section, frame.browsed)
        tabs["Notes and files"] = partial(_notes_and_files, frame, frame.browsed)
        pins = data.pins_of(frame.browsed.index) or {}
        if frame.explainer is not None and not frame.browsed.index.rows.keys().isdisjoint(pins):
            tabs["Report"] = partial(report_of_pins, frame.explainer, frame.browsed, pins)
    return tabs


def _add_texts(expanded: bool = False) -> None:
    adding, ways = ADDING in st.session_state, ["A text of your own", "A file or data set"]
    with st.expander("Add texts", icon=":material/add:", expanded=expanded or adding):
        one, more = st.tabs(ways, default=ways[adding], key=f"ways-to-texts-{adding}")
        with one:
            text_box("", "")
        with more:
            add_data()


def _notes_and_files(frame: Frame, browsed: Browsed) -> None:
    save_listing(frame, browsed)
    notes_section(browsed)


def _answer(frame: Frame, browsed: Browsed) -> Result:
    # What a filter asks for and is not known yet leaves examples out.
    known = all(not len(lacking_rows(browsed, name)) for name in browsed.query.traits if name in browsed.judged.traits)
    complete = known and (browsed.known is None or browsed.known.complete)
    result = examples_result(browsed.index, browsed.judged, browsed.query, browsed.rows, complete)
    match, other, explainer = browsed.match, browsed.judged.other, frame.explainer
    doubts = {Caveat.LABEL_ORDER_DOUBTFUL: match.by_order and other is None, Caveat.LABELS_EXCHANGED: other is not None}
    draw_headline(result, more=[*holding(doubts), *(model_caveats(explainer.model) if explainer else ())])
    captions(one.how for one in (match, other) if one is not None and one.how)
    if names := names_by(other, browsed.judged.labels):
        st.button("Exchange labels", key="other-labels", on_click=_read_so, args=(browsed.key, names))
    return result


def _read_so(key: str, names: tuple[str, ...]) -> None:
    """Choose the same data under other names of its labels, unless somebody removed it meanwhile."""
    with contextlib.suppress(KeyError, BadData):
        choose("data", name_labels(resources.library(), key, names))


def _choose_mistake(frame: Frame, result: Result) -> None:
    """A button that chooses the surest mistake; none where it is chosen already."""
    fact = result.fact("surest_mistake")
    if fact is None or (frame.example is not None and frame.example.id == fact.value):
        return
    chosen, icon = ("example", fact.value), ":material/arrow_forward:"
    st.button("See the surest mistake", key="choose-worst", on_click=choose, args=chosen, icon=icon, help=_SUREST)


def _predictions(explainer: Explainer, browsed: Browsed) -> None:
    """Predict what is not predicted yet: at once where that takes seconds, else when asked."""
    known = browsed.known
    if known is None or not known.complete:
        work, place = data.Predicting(explainer, browsed.index), st.container()
        # As they come the table takes them in, by twelfths.
        with place:
            stream([work], rests_on=lambda: 12 * work.progress[0] // work.progress[1], name="predictions")
    elif known.problems:
        why = plain(next(iter(known.problems.values())))
        st.warning(f"No prediction of {amount(len(known.problems), 'example')}. {why}")


def _chosen(frame: Frame, browsed: Browsed | None) -> None:
    """The chosen example in full, its pin, and the way on."""
    view = cast(View, frame.view)
    kept_section(view, [], "signed")
    show_text(view)
    draw_badges(view_badges(view), view_caveats(view))
    about_text(view)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link("pages/attributions.py", label="Explain it", icon=":material/format_color_text:")
        keep_button(view)
    if browsed is not None:
        pin_section(frame, browsed)


examples()
