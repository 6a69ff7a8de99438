"""The table of slices: how often the model is right by tag and by label, each row the way to its examples."""

from urllib.parse import urlencode

import streamlit as st

from core.evaluation.slices import (
    BY,
    COMING,
    HEADER,
    HIGHER,
    LOWER,
    TOO_FEW,
    count_compared,
    rejected_cell,
    slice_cells,
    slices_by,
    slices_note,
)
from pages.parts.components.example_table import slice_table
from pages.parts.frame.links import current
from pages.parts.frame.picking import Browsed

_REJECTED = "with a rejected step ↓"
_NAMES = {"tag": "By tag", "label": "By label"}


def slices_section(browsed: Browsed) -> None:
    """Draw the table, folded away; nothing where no example can be judged, or where there is one slice only."""
    index, judged = browsed.index, browsed.judged
    groups = {facet: slices_by(index, judged, facet) for facet in BY} if (judged.right >= 0).any() else {}
    groups = {facet: found for facet, found in groups.items() if len(found) > 1}
    if not groups:
        return
    known = "rejected" in judged.traits
    complete = browsed.known is not None and browsed.known.complete
    told = count_compared(groups)
    with st.expander("Slices: where is the model right more or less often?", icon=":material/data_table:"):
        slice_table(
            {
                "header": [*HEADER[:-1], *[_REJECTED] * known, HEADER[-1]],
                "groups": [
                    {"name": _NAMES[facet], "rows": [_row(browsed, facet, complete, *one) for one in found.items()]}
                    for facet, found in groups.items()
                ],
            }
        )
        if index.different < len(index):
            again = len(index) - index.different
            repeat = f"{again:,} of {len(index):,} examples repeat another’s"
            st.caption(f"Where it is judged or tested each text counts once: {repeat}.")
        st.caption(slices_note(told) if complete else "Slices are compared once every example is predicted.")
        st.caption(
            f"{_REJECTED.capitalize()}: of the examples for which that is computed, by Holm over the steps at 5 %."
            if known
            else "Choose the column *first rejected step* above to see on how many examples of each a step is rejected."
        )


def _row(browsed: Browsed, facet: str, complete: bool, value: str, one) -> dict:
    *cells, said = slice_cells(one, complete)
    view = {key: chosen for key in ("model", "unit") if (chosen := current(key))}
    return {
        "facet": facet,
        "value": value,
        "link": "?" + urlencode(view | {"data": browsed.key, facet: value}),
        "cells": [*cells, *[rejected_cell(one)] * ("rejected" in browsed.judged.traits), said],
        "kind": "told" if said in (HIGHER, LOWER) else "few" if said in (TOO_FEW, COMING) else "",
        "on": dict(browsed.query.facets) == {facet: (value,)} and not browsed.query.search,
    }
