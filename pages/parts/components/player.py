"""A text that is masked step by step, or by hand, drawn in the browser; what was stopped at, or clicked, comes back as
a number.

The markup is constant; texts travel as data and become `textContent`, never markup.
"""

import streamlit as st

from pages.parts.components.component import component

_draw = component("player", "step", "mask")
_WHAT_IF = "what-if"


def player(shown: dict, key: str = "player") -> int | None:
    """Draw the stepper; return the step that the person stopped at, None where none was chosen for this text.

    Args:
        shown: the text, its steps and a pane a model, JSON only; a step that is not computed yet is None, and a pane
            without `about` is not offered as a picture; with `brief` p is told and not drawn,
            and p by layer is left out. State told for another
            `shown["text"]` counts for nothing.
    """
    return _step(_draw(shown, key).step, shown["text"], len(shown["steps"]))


def what_if(shown: dict) -> list[int] | None:
    """Draw the panes of `player` for one mask set by hand; the masked words after the last click, None before any."""
    mask = _mask(_draw(shown | {"mode": "what-if"}, _WHAT_IF).mask, shown["text"], len(shown["pieces"]))
    if mask is None:
        return None
    return [i for i, (on, piece) in enumerate(zip(mask, shown["pieces"])) if on or piece["masked"]]


def _step(state, text: str, count: int) -> int | None:
    owner, _, place = str(state).rpartition(":")
    places = [str(k) for k in range(count)]
    return places.index(place) if owner == text and place in places else None


def _mask(state, text: str, count: int) -> list[bool] | None:
    owner, _, marks = str(state).rpartition(":")
    if owner != text or len(marks) != count or not set(marks) <= {"0", "1"}:
        return None
    return [mark == "1" for mark in marks]


def hand_set(text: str, count: int) -> list[bool] | None:
    """The mask that the person last made of this text, before it is drawn again; None before any click."""
    return _mask((st.session_state.get(_WHAT_IF) or {}).get("mask"), text, count)
