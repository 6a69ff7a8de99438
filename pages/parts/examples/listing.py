"""The table of examples: what it shows of the data that is browsed, and what is asked of it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from core.analysis.queries import READY, ready_query
from core.data.browsing import PINNED, Query, excerpt, is_trait, terms, trait_of_measure
from core.evaluation.predicting import EXAMPLE_COLUMNS, example_rows, label_text
from core.evaluation.slices import BY
from core.evaluation.studies.traits import trait_cell, trait_text
from core.results.caveats import Caveat
from core.wording import amount, plain, safe_name
from pages.parts.examples.finding import too_many, trait_facts, trait_name
from pages.parts.examples.pinning import toggle_pin
from pages.parts.frame import data, filters
from pages.parts.frame.links import choose
from pages.parts.frame.picking import Browsed, sought_traits
from pages.parts.frame.sidebar import Frame
from pages.parts.frame.tour import touring
from pages.parts.sections.saving import save_table

ROWS = 12
_NAMES = {
    "label": "Label",
    "predicted": "Predicted",
    "outcome": "The model is",
    "confidence": "Confidence",
    "length": "Words by spaces",
    "rejected": "First rejected step",
    "changes": "Prediction changes",
    "disagreement": "Measures agree",
    "twin": "Second model",
    "verdict": "Verdict",
    "smallest": "Smallest set",
    "best": "Best verdict",
    "naopc": "NAOPC",
    "racu": "RACU",
    "evidence": "Evidence",
    "tag": "Tags",
    "pinned": "Pinned",
}
_COLUMNS = {
    "row": ("id", "In the order of the file"),
    "text": ("text", "Sort by text"),
    "label": ("label", "Sort by label"),
    "predicted": ("predicted", "Sort by predicted class"),
    "label probability": ("p(label)", "Probability of the label; lowest: most confident mistakes"),
    "confidence": ("confidence", "Probability of the predicted class, 0 to 1"),
    "length": (
        "words by spaces",
        "Runs of text between spaces; the other pages split punctuation off, so they count more words",
    ),
    "rejected": (
        "first rejected",
        (
            "Share that is masked, in the order of the chosen measure, at the first step that MaSF rejects (Holm, "
            "calibrated); no step: none is rejected, which is no proof of being in-distribution"
        ),
    ),
    "changes": ("masked to change", "Masked, most important first, until the prediction changes"),
    "disagreement": (
        "least agreement (τ)",
        (
            "Smallest rank correlation (Kendall’s τ-b, −1 to 1) among each two of the measures shown unasked, by the "
            "magnitudes of their scores, whatever the sign; 1: all rank the words alike"
        ),
    ),
    "twin": ("second model", "Whether the second model predicts another class"),
    "verdict": (
        "verdict",
        (
            "Whether the order of the chosen measure is better than random orders of the same words, by AOPC; where it "
            "cannot be told, Attributions says why. A random attribution is called better on at most 5 % of texts"
        ),
    ),
    "smallest": ("smallest set", "Fewest masked, in any order, until the prediction changes"),
    "best": ("best verdict", "Best of the verdicts of all measures compared"),
    "naopc": ("NAOPC ↑", "Comprehensiveness of this measure between its limits"),
    "racu": ("RACU ↑", "Of this measure, against ten random orders"),
    "evidence": ("evidence ↑", "Share of the evidence among as many top features of the chosen measure"),
}
# How several tags combine.
ANY, ALL = "any", "all"
WAYS = {ANY: "any of", ALL: "all of"}
_FIRST_DOWN = ("confidence", "length")


def carry_out(what: str, value: Any) -> None:
    """Carry out what was asked of the table, before anything is drawn by it."""
    query = filters.current_query()
    # Half an emoji, where a text was cut, can stand neither in an address nor in a file.
    value = value.encode("utf-8", "replace").decode()[:500] if isinstance(value, str) else value
    if what == "search" and isinstance(value, str):
        filters.search_for(replace(query, search=value))
    elif what == "toggle" and isinstance(value, list) and len(value) == 2 and filters.is_facet(str(value[0])):
        filters.search_for(query.toggled(value[0], str(value[1]).encode("utf-8", "replace").decode()))
    elif what == "slice" and isinstance(value, list) and len(value) == 2 and value[0] in BY:
        filters.show_only(value[0], str(value[1]).encode("utf-8", "replace").decode())
    elif what == "way" and value in WAYS:
        filters.search_for(replace(query, all_tags=value == ALL))
    elif what == "query" and (ready := ready_query(value)) is not None:
        filters.search_for(Query() if query == ready else ready)
    elif what == "pin" and isinstance(value, str):
        toggle_pin(value)
    elif what == "clear":
        filters.clear_filters()
    elif what == "order" and isinstance(value, str) and filters.is_order(value):
        down = not query.descending if value == query.order else value in _FIRST_DOWN
        filters.search_for(replace(query, order=value, descending=down))
    elif what == "page" and isinstance(value, int):
        filters.turn_to(value)
    elif what == "example" and isinstance(value, str):
        choose("example", value)
        st.session_state["table shows"] = value


def table_of(frame: Frame, browsed: Browsed) -> dict:
    """What the table of examples shows, see `pages.parts.components.tables.browser`."""
    query, rows = browsed.query, browsed.rows
    pages = max(1, -(-len(rows) // ROWS))
    page = _page_of(frame, browsed, pages)
    here = rows[(page - 1) * ROWS : page * ROWS]
    wanted = terms(query.search)
    columns = _columns(browsed)
    left = f"{len(rows):,} of {len(browsed.index):,}" if query.narrows else f"{len(rows):,}"
    return {
        "search": query.search,
        "terms": wanted,
        "narrows": query.narrows,
        "queries": _queries(frame, browsed),
        "order": query.order,
        "descending": query.descending,
        "found": f"{left} examples",
        "page": page,
        "pages": pages,
        "where": f"{(page - 1) * ROWS + 1:,} to {(page - 1) * ROWS + len(here):,} of {len(rows):,}",
        "columns": [_column(order) for order in columns],
        "facets": [_facet(facet, browsed) for facet in _facets(browsed)],
        "rows": [_row(int(i), browsed, wanted, frame) for i in here],
    }


def _queries(frame: Frame, browsed: Browsed) -> list[dict]:
    """The ready-made queries that this data can answer; why: what keeps one from it, and what to do."""
    explainer, found = frame.explainer, []
    if explainer is None:
        return found
    offered = data.offered_traits(explainer, browsed.index)
    for one in READY:
        traits, why = {*one.query.traits}, ""
        if traits and not offered:
            why = too_many()
        elif "rejected" in traits - {*offered}:
            why = explainer.reference_problem or Caveat.NOT_TESTED.explanation
        elif traits - {*offered} or ("outcome" in one.query.facets and not browsed.match.classes):
            continue
        found.append({"name": one.name, "label": one.label, "on": browsed.query == one.query, "why": why})
    return found


def _columns(browsed: Browsed) -> list[str]:
    """The columns, of ORDERS; where traits are shown, some that can be spared make room."""
    judged, traits = browsed.judged, list(browsed.judged.traits)
    there = {
        "row": True,
        "text": True,
        "label": bool(browsed.index.data.classes),
        "predicted": bool(judged.labels),
        **dict.fromkeys(traits, True),
        "label probability": bool((judged.right >= 0).any()) and not traits,
        "confidence": bool(judged.labels),
        "length": not traits,
    }
    return [name for name, shown in there.items() if shown or browsed.query.order == name]


def _column(order: str) -> dict:
    kind, measure = trait_of_measure(order)
    name, about = _COLUMNS[kind]
    return {"order": order, "name": f"{name} {measure}".strip(), "about": about}


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
    here, everywhere = browsed.counts[facet], browsed.everything[facet]
    # What no example has is left out; what the other filters leave none of stays in its place.
    kind, measure = trait_of_measure(facet)
    return {
        "key": facet,
        "name": f"{_NAMES[kind]} {measure}".strip(),
        "ways": [
            {"value": way, "name": name, "on": (way == ALL) == browsed.query.all_tags} for way, name in WAYS.items()
        ]
        if facet == "tag" and len(browsed.index.tags) > 1
        else [],
        "values": [
            {"value": value, "count": count, "on": value in on}
            for value, count in here.items()
            if value in on or everywhere[value]
        ],
    }


def _facets(browsed: Browsed) -> list[str]:
    """Those that are shown: on a tour that filters what it filters by alone, so that the examples are in view."""
    every, asked = dict.fromkeys([*filters.FACETS, *browsed.judged.traits]), browsed.query.facets
    told = [facet for facet in every if _tells(facet, browsed)]
    chosen = [facet for facet in told if asked.get(facet)]
    return chosen if chosen and touring() else told


def _tells(facet: str, browsed: Browsed) -> bool:
    """Whether a facet tells examples apart: not where all fall into its value for "none"."""
    named = {
        "label": bool(browsed.index.data.classes),
        "tag": bool(browsed.index.tags),
        "length": True,
        "outcome": bool((browsed.judged.right >= 0).any()),
    }
    if is_trait(facet):
        return facet in browsed.judged.traits
    if facet == "pinned":
        return bool(browsed.everything[facet].get(PINNED) or browsed.query.facets.get(facet))
    return bool(browsed.query.facets.get(facet)) or named.get(facet, bool((browsed.judged.predicted >= 0).any()))


def _row(i: int, browsed: Browsed, wanted: list[str], frame: Frame) -> dict:
    example, judged = browsed.index.data.examples[i], browsed.judged
    there = judged.predicted[i] >= 0
    return {
        "id": example.id,
        "text": excerpt(example.text, wanted),
        "second": excerpt(example.second, wanted) if example.second else None,
        "label": label_text(judged, browsed.match, example.label),
        "predicted": judged.labels[judged.predicted[i]] if there else "—",
        "right": None if judged.right[i] < 0 else bool(judged.right[i]),
        "label_probability": _share(float(judged.label_probability[i])),
        "confidence": _share(float(judged.confidence[i])),
        "share": float(judged.confidence[i]) if there else None,
        "length": int(browsed.index.lengths[i]),
        "traits": {name: trait_text(name, trait, i) for name, trait in judged.traits.items()},
        "chosen": frame.example is not None and frame.example.id == example.id,
        "pinned": judged.pinned is not None and bool(judged.pinned[i]),
    }


def _share(value: float) -> str:
    """A probability to three digits, zeros at the end included, so that they stand in line."""
    return "—" if np.isnan(value) else f"{value:#.3g}"


def save_listing(frame: Frame, browsed: Browsed) -> None:
    """Draw what saves the examples that the filters leave, in their order, with the traits that are shown."""
    model, of = None if frame.explainer is None else frame.explainer.model, browsed.index.data
    origin = [*([model.name, model.digest] if model else ["", ""]), of.name, of.digest]
    traits, asked = browsed.judged.traits, sought_traits()
    facts, pins = trait_facts(traits, asked, frame.explainer), data.pins_of(browsed.index) or {}

    def rows() -> Iterator[list]:
        for i, row in zip(browsed.rows, example_rows(browsed.index, browsed.judged, browsed.rows)):
            found = (trait_cell(name, trait, int(i)) for name, trait in traits.items())
            yield [*row, pins.get(of.examples[i].id), *found, *facts.values(), *origin]

    with st.container(horizontal=True, vertical_alignment="center"):
        save_table(
            f"Download {'this' if len(browsed.rows) == 1 else 'these'} {amount(len(browsed.rows), 'example')} (CSV)",
            [
                *EXAMPLE_COLUMNS,
                "pinned note",
                *(trait_name(name, asked.unit) for name in traits),
                *facts,
                "model",
                "weights (SHA-256)",
                "data",
                "data (SHA-256)",
            ],
            rows,
            safe_name(["examples", of.name, *([model.name] if model else [])], "csv"),
            key="save-examples",
        )
        # What was left out or repaired when the data was read.
        for note in of.notes:
            st.caption(plain(note))
