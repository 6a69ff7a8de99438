"""Presses of Previous and Next, by mouse or key, counted in the browser: none is lost while a page is being drawn."""

import secrets
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.components.component import component

_draw = component("presses", "pressed")
_STATE = "presses taken"


class Presses:
    """What this session was pressed on so far and where that led: a record that a run which is cut short leaves whole.

    taken: steps that were taken, forward less backward; to: the example that they led to, until it is chosen.
    """

    def __init__(self):
        self.visit, self.taken, self.to = secrets.token_hex(4), 0, None

    def read(self, told: Any) -> int:
        """Steps that the browser tells of and that were not taken yet; those of another session, 0."""
        mine = isinstance(told, dict) and told.get("visit") == self.visit and isinstance(told.get("sum"), int)
        return told["sum"] - self.taken if mine else 0

    def take(self, steps: int, to: str | None) -> None:
        """These steps lead to an example or nowhere. Streamlit cuts a run short in its own calls only: none is here."""
        self.taken, self.to = self.taken + steps, to


def presses() -> Presses:
    """This session's."""
    held = st.session_state.get(_STATE)
    if not isinstance(held, Presses):
        held = st.session_state[_STATE] = Presses()
    return held


def draw_presses(held: Presses, on: bool) -> int:
    """Have the browser count; the steps since they were taken. on: whether there is anything to step to."""
    return held.read(_draw({"visit": held.visit, "taken": held.taken, "on": on}, "presses").get("pressed"))


def pressed(button: Callable[..., bool], label: str, key: str, **look: Any) -> bool:
    """Draw a button of this part of the page, and say once whether it was pressed.

    A press outlasts the run that it begins: that may end before it comes here, since the page is drawn anew.
    """

    def hold() -> None:
        st.session_state[f"pressed {key}"] = True

    button(label, key=f"press {key}", on_click=hold, **look)
    return st.session_state.pop(f"pressed {key}", False)
