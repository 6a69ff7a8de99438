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
)
from core.mathematics.statistics import ALPHA
from core.wording import number
from pages.parts.components.tables import slice_table
from pages.parts.frame.links import current
from pages.parts.frame.picking import Browsed

_REJECTED = "with a rejected step ↓"
_ABOUT = (
    "Each slice is compared with the examples outside it, by a 95 % interval of its own, from 20 judged texts on each "
    "side; a text that repeats counts once. Choose the column “first rejected step” to see rejected steps."
)
_NAMES = {"tag": "By tag", "label": "By label"}


def slices_section(browsed: Browsed) -> None:
    """Draw the table; nothing where no example can be judged, or where there is one slice only."""
    index, judged = browsed.index, browsed.judged
    groups = {facet: slices_by(index, judged, facet) for facet in BY} if (judged.right >= 0).any() else {}
    groups = {facet: found for facet, found in groups.items() if len(found) > 1}
    if not groups:
        return
    known = "rejected" in judged.traits
    complete = browsed.known is not None and browsed.known.complete
    slice_table(
        {
            "header": [*HEADER[:-1], *([_REJECTED] if known else []), HEADER[-1]],
            "groups": [
                {"name": _NAMES[facet], "rows": [_row(browsed, facet, complete, *one) for one in found.items()]}
                for facet, found in groups.items()
            ],
        }
    )
    by_chance = count_compared(groups) * ALPHA
    st.caption(f"Expected to differ by chance alone: {number(by_chance)}", help=_ABOUT)


def _row(browsed: Browsed, facet: str, complete: bool, value: str, one) -> dict:
    *cells, said = slice_cells(one, complete)
    view = {key: chosen for key in ("model", "unit") if (chosen := current(key))}
    return {
        "facet": facet,
        "value": value,
        "link": "?" + urlencode(view | {"data": browsed.key, facet: value}),
        "cells": [*cells, *([rejected_cell(one)] if "rejected" in browsed.judged.traits else []), said],
        "kind": "told" if said in (HIGHER, LOWER) else "few" if said in (TOO_FEW, COMING) else "",
        "on": dict(browsed.query.facets) == {facet: (value,)} and not browsed.query.search,
    }
