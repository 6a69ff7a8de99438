"""What every page needs of the browser: its style, and buttons that are pressed even where they move meanwhile."""

import streamlit as st

from pages.parts.components.component import FOLDER, component

_STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")
_draw = component("steady")


def page_style() -> None:
    """Draw it before all else, so that nothing moves when it comes; it takes no place."""
    st.html(f"<style>{_STYLE}</style>")


def steady_buttons(turn: int = 0) -> None:
    """Have every button of the page so; drawn once, invisible. turn: where it changes, the page begins at its top."""
    _draw({"style": _STYLE, "turn": turn}, "steady")
