"""A press is never lost: not where the page is drawn anew before it comes to the button that was pressed."""

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
# What these draw in the sidebar, in a box or on a card stands before all that streams.
BEFORE = {path for path in (ROOT / "pages/parts/frame").glob("*.py") if path.name != "adding.py"}
PARTS = [
    *(ROOT / "pages").glob("*.py"),
    *(path for path in (ROOT / "pages" / "parts").rglob("*.py") if path not in BEFORE),
]


def interrupted(form: bool) -> None:
    import streamlit as st

    from pages.parts.components.presses import pressed

    if st.session_state.pop("drawn anew", False):
        st.rerun()
    if form:
        with st.form("form"):
            asked = pressed(st.form_submit_button, "Do it", "it")
    else:
        asked = pressed(st.button, "Do it", "it")
    st.session_state.done = st.session_state.get("done", 0) + asked


@pytest.mark.parametrize("form", [False, True])
@pytest.mark.parametrize("anew", [False, True])
def test_a_press_counts_once_whatever_happens_to_its_run(form, anew):
    app = AppTest.from_function(interrupted, args=(form,)).run()
    for count in (1, 2):
        app.session_state["drawn anew"] = anew
        app.button[0].click().run()
        assert not app.exception and app.session_state.done == count
    assert app.run().session_state.done == 2


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_button_beside_what_streams_acts_in_the_run_of_its_press(path):
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    buttons = [
        c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in ("button", "form_submit_button")
    ]
    assert all("on_click" in {keyword.arg for keyword in call.keywords} for call in buttons)
