"""Examples: which example is worth looking at?"""

from dataclasses import replace

import numpy as np
import streamlit as st

from core.data.browsing import ORDERS, excerpt, terms, worst
from core.wording import escaped, number, plain, safe_name, shortened
from pages.parts.components.example_table import asked, browser
from pages.parts.frame import data, filters
from pages.parts.frame.adding import add_data, data_notes
from pages.parts.frame.links import choose
from pages.parts.frame.picking import Browsed
from pages.parts.frame.sidebar import Frame, open_frame, text_box
from pages.parts.frame.texts import second_text, show_text_notes
from pages.parts.sections.evidence import show_marked_text
from pages.parts.sections.saving import save_table
from pages.parts.sections.streaming import stream

ROWS = 12
_NAMES = {
    "label": "Label",
    "predicted": "Predicted",
    "outcome": "The model is",
    "confidence": "Confidence",
    "length": "Length",
    "tag": "Tags",
}
_COLUMNS = {
    "row": ("id", "In the order of the file"),
    "text": ("text", "Sort by text"),
    "label": ("label", "Sort by label"),
    "predicted": ("predicted", "Sort by predicted class"),
    "label probability": (
        "p(label) ↑",
        (
            "Probability that the model gives the label, 0 to 1, higher is better: the lowest are its most confident "
            "mistakes"
        ),
    ),
    "confidence": ("confidence", "Probability of the predicted class, 0 to 1"),
    "length": ("words", "Length in words, counted between spaces"),
}
_FIRST_DOWN = ("confidence", "length")
_HEADER = (
    "id",
    "text",
    "second text",
    "label",
    "predicted",
    "confidence (0 to 1)",
    "probability of label (0 to 1, higher is better)",
    "outcome",
    "words",
    "tags",
    "note",
    "model",
    "weights (SHA-256)",
    "data",
    "data (SHA-256)",
)


def examples() -> None:
    """Draw the page."""
    for what, value in asked():
        _answer_event(what, value)
    frame = open_frame("Examples", "Which example is worth looking at?")
    answer = st.container()
    with st.expander(
        "Other texts: type one, upload a file, fetch a data set", icon=":material/add:", expanded=frame.browsed is None
    ):
        one, more = st.tabs(["A text of your own", "A file or data set"])
        with one:
            text_box("", "")
        with more:
            add_data()
    if frame.browsed is not None:
        _page(frame, frame.browsed, answer)
    elif frame.view is not None:
        _chosen(frame)


def _page(frame: Frame, browsed: Browsed, answer) -> None:
    if frame.explainer is not None:
        _predictions(frame.explainer, browsed)
    browser(_shown(frame, browsed))
    _answer(answer, frame, browsed)
    _chosen(frame)
    _download(frame, browsed)


def _answer_event(what: str, value) -> None:
    """Carry out what was asked of the table, before anything is drawn by it."""
    query = filters.current()
    # Half an emoji, where a text was cut, can stand neither in an address nor in a file.
    value = value.encode("utf-8", "replace").decode()[:500] if isinstance(value, str) else value
    if what == "search" and isinstance(value, str):
        filters.search_for(replace(query, search=value))
    elif what == "toggle" and isinstance(value, list) and len(value) == 2 and value[0] in filters.FACETS:
        filters.search_for(query.toggled(value[0], str(value[1]).encode("utf-8", "replace").decode()))
    elif what == "clear":
        filters.forget()
    elif what == "order" and value in ORDERS:
        down = not query.descending if value == query.order else value in _FIRST_DOWN
        filters.search_for(replace(query, order=value, descending=down))
    elif what == "page" and isinstance(value, int):
        filters.turn_to(value)
    elif what == "example" and isinstance(value, str):
        choose("example", value)
        st.session_state["table shows"] = value


def _answer(place, frame: Frame, browsed: Browsed) -> None:
    judged, index = browsed.judged, browsed.index
    known = int((judged.predicted >= 0).sum())
    if not known:
        said = f"<b>{len(index):,}</b> examples. What the model predicts for them is not known yet."
    elif (judged.right >= 0).any():
        count, right = int((judged.right >= 0).sum()), int((judged.right == 1).sum())
        complete = browsed.known.complete
        said = (
            f"The model is right on <b>{right:,} of {count:,}</b> examples{'' if complete else ' so far'} "
            f"({100 * judged.accuracy:.1f} % ↑). "
            f"{_mistake(browsed, complete)}"
        )
    else:
        least = int(np.nanargmin(judged.confidence))
        said = (
            f"The model is least sure about <b>{escaped(index.data.examples[least].id)}</b>: "
            f"{escaped(judged.labels[judged.predicted[least]])} with probability "
            f"{number(float(judged.confidence[least]))}."
        )
    row = worst(judged)
    with place:
        st.html(f"<p style='font-size:1.12rem'>{said}</p>")
        if row is not None:
            mistake = index.data.examples[row].id
            st.button(
                f"Choose {plain(shortened(mistake))}",
                key="choose-worst",
                on_click=choose,
                args=("example", mistake),
                icon=":material/arrow_forward:",
            )
        if frame.explainer is not None and browsed.match.how:
            st.caption(plain(browsed.match.how))


def _mistake(browsed: Browsed, complete: bool) -> str:
    row = worst(browsed.judged)
    if row is None:
        return "It makes no mistake here." if complete else ""
    judged, example = browsed.judged, browsed.index.data.examples[row]
    return (
        f"Its most confident mistake is <b>{escaped(example.id)}</b>: it says "
        f"{escaped(judged.labels[judged.predicted[row]])} "
        f"with probability {number(float(judged.confidence[row]))}, the label is "
        f"{escaped(_label(browsed, example.label))}."
    )


def _predictions(explainer, browsed: Browsed) -> None:
    """Predict what is not predicted yet: at once where that takes seconds, else when asked."""
    index, known = browsed.index, browsed.known
    if known.complete:
        if known.problems:
            st.warning(
                f"{len(known.problems):,} examples have no prediction. {plain(next(iter(known.problems.values())))}"
            )
        return
    work = data.Predicting(explainer, index)

    def twelfths() -> int:
        """As they come the table takes them in."""
        done, total = work.progress
        return 12 * done // total

    stream([work], st.container(), anew=twelfths, every=1.0, name="predictions")


def _shown(frame: Frame, browsed: Browsed) -> dict:
    query, judged, rows = browsed.query, browsed.judged, browsed.rows
    pages = max(1, -(-len(rows) // ROWS))
    page = _page_of(frame, browsed, pages)
    here = rows[(page - 1) * ROWS : page * ROWS]
    wanted = terms(query.search)
    columns = ["row", "text"] + ["label"] * bool(browsed.index.data.classes) + ["predicted"] * bool(judged.labels)
    columns += (
        ["label probability"] * bool((judged.right >= 0).any()) + ["confidence"] * bool(judged.labels) + ["length"]
    )
    left = f"{len(rows):,} of {len(browsed.index):,}" if query.narrows else f"{len(rows):,}"
    return {
        "search": query.search,
        "terms": wanted,
        "narrows": query.narrows,
        "order": query.order,
        "descending": query.descending,
        "found": f"{left} examples",
        "page": page,
        "pages": pages,
        "where": f"{(page - 1) * ROWS + 1:,} to {(page - 1) * ROWS + len(here):,} of {len(rows):,}",
        "columns": [{"order": order, "name": _COLUMNS[order][0], "about": _COLUMNS[order][1]} for order in columns],
        "facets": [_facet(facet, browsed) for facet in filters.FACETS if _tells(facet, browsed)],
        "rows": [_row(int(i), browsed, wanted, frame) for i in here],
    }


def _page_of(frame: Frame, browsed: Browsed, pages: int) -> int:
    """The page that is held; another example than before (previous, next) brings its own page."""
    chosen = frame.example.id if frame.example is not None else None
    before = st.session_state.get("table shows")
    if before is not None and chosen != before:
        place = np.flatnonzero(browsed.rows == browsed.index.rows.get(chosen, -1))
        if len(place):
            filters.turn_to(int(place[0]) // ROWS + 1)
    st.session_state["table shows"] = chosen
    if filters.page() > pages:
        filters.turn_to(pages)
    filters.write(with_page=True)
    return filters.page()


def _facet(facet: str, browsed: Browsed) -> dict:
    on = browsed.query.facets.get(facet, ())
    values = [{"value": value, "count": count, "on": value in on} for value, count in browsed.counts[facet].items()]
    # What no example has is left out; what the other filters leave none of stays in its place.
    return {
        "key": facet,
        "name": _NAMES[facet],
        "values": [v for v in values if v["on"] or browsed.everything[facet][v["value"]]],
    }


def _tells(facet: str, browsed: Browsed) -> bool:
    """Whether a facet tells examples apart: not where all fall into its value for "none"."""
    named = {
        "label": bool(browsed.index.data.classes),
        "tag": bool(browsed.index.tags),
        "length": True,
        "outcome": bool((browsed.judged.right >= 0).any()),
    }
    return bool(browsed.query.facets.get(facet)) or named.get(facet, bool((browsed.judged.predicted >= 0).any()))


def _row(i: int, browsed: Browsed, wanted: list[str], frame: Frame) -> dict:
    example, judged = browsed.index.data.examples[i], browsed.judged
    there = judged.predicted[i] >= 0
    return {
        "id": example.id,
        "text": excerpt(example.text, wanted),
        "second": excerpt(example.second, wanted) if example.second else None,
        "label": _label(browsed, example.label),
        "predicted": judged.labels[judged.predicted[i]] if there else "—",
        "right": None if judged.right[i] < 0 else bool(judged.right[i]),
        "label_probability": _share(float(judged.label_probability[i])),
        "confidence": _share(float(judged.confidence[i])),
        "share": float(judged.confidence[i]) if there else None,
        "length": int(browsed.index.lengths[i]),
        "chosen": frame.example is not None and frame.example.id == example.id,
    }


def _label(browsed: Browsed, label: str | None) -> str:
    """A label as it stands in the data, and the class that it means where that is called otherwise."""
    if label is None:
        return "—"
    meant = browsed.class_of(label)
    name = label if meant is None else browsed.judged.labels[meant]
    return label if name.casefold() == label.casefold() else f"{label} = {name}"


def _share(value: float) -> str:
    """A probability to three digits, zeros at the end included, so that they stand in line."""
    return "—" if np.isnan(value) else f"{value:#.3g}"


def _chosen(frame: Frame) -> None:
    """The chosen example in full, and the way on."""
    view = frame.view
    if view is None:
        return
    st.subheader("Chosen", anchor=False)
    show_marked_text(view)
    if not view.example.evidence:
        style = "font-size:1.06rem;white-space:pre-wrap;overflow-wrap:anywhere;max-height:22rem;overflow-y:auto"
        st.html(f"<p dir='auto' style='{style}'>{escaped(view.example.text, 20_000)}</p>")
    likely = np.argsort(-view.probabilities, kind="stable")[:12]
    classes = " · ".join(
        f"{escaped(view.model.labels[i])} {number(float(view.probabilities[i]))}"
        for i in (sorted(likely) if view.model.C <= 12 else likely)
    )
    label = (
        f" The label is <b>{escaped(_label(view.browsed, view.example.label))}</b>."
        if view.browsed is not None and view.example.label is not None
        else ""
    )
    st.html(f"<p>Probability of each class: {classes}.{label}</p>")
    if view.example.second is not None:
        st.html(second_text(view))
    show_text_notes(view)
    st.page_link(
        "pages/attributions.py",
        label="See which words each importance measure calls important",
        icon=":material/format_color_text:",
    )


def _download(frame: Frame, browsed: Browsed) -> None:
    model = frame.explainer.model if frame.explainer is not None else None
    origin = [
        model.name if model else "",
        model.digest if model else "",
        browsed.index.data.name,
        browsed.index.data.digest,
    ]

    def rows():
        judged = browsed.judged
        for i in browsed.rows:
            example = browsed.index.data.examples[i]
            there = judged.predicted[i] >= 0
            yield [
                example.id,
                example.text,
                example.second or "",
                example.label or "",
                judged.labels[judged.predicted[i]] if there else "",
                float(judged.confidence[i]),
                float(judged.label_probability[i]),
                {1: "right", 0: "wrong", -1: ""}[int(judged.right[i])],
                int(browsed.index.lengths[i]),
                "; ".join(example.tags),
                example.note,
                *origin,
            ]

    with st.container(horizontal=True, vertical_alignment="center"):
        save_table(
            f"Download these {len(browsed.rows):,} examples (CSV)",
            list(_HEADER),
            rows,
            safe_name(["examples", browsed.index.data.name], "csv"),
            key="save-examples",
        )
        data_notes(browsed)


examples()
