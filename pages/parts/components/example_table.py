"""The table of examples with its search, filters and pages, drawn in the browser; what is asked comes back as an event.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import streamlit as st

from pages.parts.components.component import component

_draw = component("example_table", "asked")
_KEY = "browser"


def browser(shown: dict) -> None:
    """Draw the table. `shown`: what `pages.examples` puts together, JSON only."""
    _draw(shown, _KEY)


def asked() -> list[tuple[str, object]]:
    """What was asked of the table since the last run, oldest first: (what, value); an event is told once."""
    sent, told = (st.session_state.get(_KEY) or {}).get("asked"), st.session_state.get("browser event", 0)
    fresh = [
        event
        for event in (sent if isinstance(sent, list) else [sent])
        if isinstance(event, dict) and isinstance(event.get("at"), int | float) and event["at"] > told
    ]
    st.session_state["browser event"] = max([told, *(event["at"] for event in fresh)])
    return [(str(event.get("what")), event.get("value")) for event in fresh]
