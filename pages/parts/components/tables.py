"""Tables: sortable ones of Streamlit with what each column means, one of examples, squares of agreement as HTML."""

import math
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from core.reports.page import environment
from core.terms import TERMS
from pages.parts.components.component import component

_PARTS = Path(__file__).parent.parent


# What the glossary says of a term, by its name without arrows.
_MEANINGS = {name.strip(" ↑↓").lower(): meaning for name, meaning in TERMS.items()}


def meaning_of(name: str) -> str:
    """What a column or a fact of this name is, from the glossary; "" where it has no such term."""
    return _MEANINGS.get(name.strip(" ↑↓").lower(), "")


def data_table(
    header: Sequence[str], rows: Sequence[Sequence[Any]], key: str, *, help: Mapping[str, str] | None = None
) -> None:
    """A table that can be sorted and searched; numbers are numbers, with three significant digits, the rest is text.

    Args:
        header: names of columns, all different; rows: values, None or NaN where there is none.
        help: {column: what it means}; of others the glossary is asked.
    """
    import pandas

    columns = {name: [row[i] for row in rows] for i, name in enumerate(header)}
    config = {}
    for name, values in columns.items():
        about = (help or {}).get(name) or meaning_of(name) or None
        present = [value for value in values if not _missing(value)]
        if present and all(isinstance(value, (int, float, np.number)) for value in present):
            columns[name] = [math.nan if _missing(value) else float(value) for value in values]
            # Whole numbers keep all their digits.
            whole = all(float(value).is_integer() for value in present)
            config[name] = st.column_config.NumberColumn(help=about, format="localized" if whole else "%.3g")
        else:
            columns[name] = [None if _missing(value) else str(value) for value in values]
            config[name] = st.column_config.TextColumn(help=about)
    st.dataframe(pandas.DataFrame(columns), key=key, hide_index=True, column_config=config, placeholder="—")


def _missing(value: Any) -> bool:
    return value is None or value != value


def table(header: list[str], rows: list[list[str]], most: int = 60) -> None:
    """A plain table; every text is escaped and cut to `most` characters, the first column names the row."""
    st.html(macros("components/tables.html").table(header, rows, most))


def square(values: np.ndarray, names: list[str]) -> None:
    """A square of agreement, each cell with its number and a shade of it; — where there is none.

    Args:
        values: float[M, M], in [-1, 1]; higher is more agreement.
        names: M names.
    """
    st.html(macros("components/tables.html").square(values, names))


class RankedCell(NamedTuple):
    """A cell: its text, its place from 0, the worst or of no rank, to 1, the best, and where it leads, "" nowhere."""

    text: str
    share: float = 0.0
    link: str = ""


def ranked_table(header: Sequence[str], rows: Sequence[tuple[Sequence[str], Sequence[RankedCell]]]) -> None:
    """A table shaded from worst to best, each cell a link; rows: (what names it, its cells)."""
    st.html(macros("components/tables.html").ranked(header, rows))


def macros(template: str) -> Any:
    """The macros of a template of these parts, as functions that give HTML in which every text is escaped."""
    return environment(_PARTS).get_template(template).module


_draw = component("example_table", "asked")
_draw_slices = component("slice_table", "asked")
_BROWSER, _SLICES, _VISIT = "browser", "slices", "browser visit"


def browser(shown: dict) -> None:
    """Draw the table. `shown`: what `pages.examples` puts together, JSON only."""
    _draw(shown | _numbered(_BROWSER), _BROWSER)


def slice_table(shown: dict) -> None:
    """Draw a table of which each row leads to the examples of a slice. `shown`: JSON only.

    header: names of the columns; groups: a list of (name, rows), each row {"facet", "value", "link", "cells", "on"}.
    """
    _draw_slices(shown | _numbered(_SLICES), _SLICES)


def asked() -> list[tuple[str, object]]:
    """What was asked of the tables since the last run, oldest first of each: (what, value); an event is told once."""
    return [*_heard(_BROWSER), *_heard(_SLICES)]


def _numbered(key: str) -> dict:
    """Events are numbered from the last that was told, for each session anew."""
    visit = st.session_state.setdefault(_VISIT, secrets.token_hex(4))
    return {"told": st.session_state.get(f"{key} event", 0), "visit": visit}


def _heard(key: str) -> list[tuple[str, object]]:
    sent, told = (st.session_state.get(key) or {}).get("asked"), st.session_state.get(f"{key} event", 0)
    fresh = [
        event
        for event in (sent if isinstance(sent, list) else [sent])
        if isinstance(event, dict)
        and event.get("visit") == st.session_state.get(_VISIT, "")
        and isinstance(event.get("number"), int)
        and event["number"] > told
    ]
    st.session_state[f"{key} event"] = max([told, *(event["number"] for event in fresh)])
    return [(str(event.get("what")), event.get("value")) for event in fresh]
