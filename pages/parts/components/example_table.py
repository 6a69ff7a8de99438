"""The table of examples with its search, filters and pages, drawn in the browser; what is asked comes back as an event.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import secrets

import streamlit as st

from pages.parts.components.component import component

_draw = component("example_table", "asked")
_KEY, _TOLD, _VISIT = "browser", "browser event", "browser visit"


def browser(shown: dict) -> None:
    """Draw the table. `shown`: what `pages.examples` puts together, JSON only."""
    # Events are numbered from the last that was told; a browser that lost its session keeps those of the one before,
    # which were carried out then.
    known = {"told": st.session_state.get(_TOLD, 0), "visit": st.session_state.setdefault(_VISIT, secrets.token_hex(4))}
    _draw(shown | known, _KEY)


def asked() -> list[tuple[str, object]]:
    """What was asked of the table since the last run, oldest first: (what, value); an event is told once."""
    sent, told = (st.session_state.get(_KEY) or {}).get("asked"), st.session_state.get(_TOLD, 0)
    fresh = [
        event
        for event in (sent if isinstance(sent, list) else [sent])
        if isinstance(event, dict)
        and event.get("visit") == st.session_state.get(_VISIT, "")
        and isinstance(event.get("number"), int)
        and event["number"] > told
    ]
    st.session_state[_TOLD] = max([told, *(event["number"] for event in fresh)])
    return [(str(event.get("what")), event.get("value")) for event in fresh]
