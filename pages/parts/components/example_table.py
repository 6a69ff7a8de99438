"""The table of examples with its search, filters and pages, drawn in the browser; what is asked comes back as an event.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import secrets

import streamlit as st

from pages.parts.components.component import component

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
