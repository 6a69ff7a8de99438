"""Choices that hold on every page: what somebody chose goes along, a default that nobody chose does not."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.components.copy_link import MOST_CARRIED
from pages.parts.frame.links import MOST_OF_A_TEXT
from tests.app_session import ATTRIBUTIONS, EXAMPLES, App
from tests.pages.test_examples_page import predicted
from tests.pages.test_pages import no_raw_markup


def page():
    import streamlit as st

    from pages.parts.frame.links import arrive, linked

    where = st.session_state.setdefault("where", "few")
    arrive(where)
    linked(st.multiselect, "Measures", ["a", "b", "c"], ["a"] if where == "few" else ["a", "b", "c"], "measures")


def test_a_page_has_its_own_default_however_it_is_reached_and_a_choice_goes_along():
    app = AppTest.from_function(page).run()

    def at(where: str) -> list[str]:
        app.session_state["where"] = where
        return app.run().multiselect[0].value

    assert (at("few"), at("all"), at("few")) == (["a"], ["a", "b", "c"], ["a"])
    app.multiselect[0].set_value(["b"]).run()
    assert (at("all"), at("few")) == (["b"], ["b"])
    # A choice that happens to be the other page's default is a choice all the same.
    app.multiselect[0].set_value(["a", "b", "c"]).run()
    assert (at("all"), at("few")) == (["a", "b", "c"], ["a", "b", "c"])


def beginning():
    import streamlit as st

    from pages.parts.frame.links import arrive, linked

    arrive("one")
    linked(st.selectbox, "Example", ["a", "b", "c"], "a", "example")
    linked(st.multiselect, "Measures", ["a", "b", "c"], ["a"], "measures")
    linked(st.segmented_control, "Unit", ["a", "b", "c"], "a", "unit")
    linked(st.select_slider, "Weight", ["a", "b", "c"], "a", "weight")


def test_a_browser_that_a_run_cut_short_did_not_reach_is_told_by_the_next_where_a_choice_starts():
    """A run tells once of a value that is set, and what it told is dropped where the next one begins before it left."""
    app = AppTest.from_function(beginning)
    app.query_params |= {"example": "c", "measures": ["b", "c"], "unit": "b", "weight": "c"}
    for _ in range(2):
        app.run()
        chosen = app.selectbox[0], app.multiselect[0], app.segmented_control[0], app.select_slider[0]
        assert [list(one.proto.default) for one in chosen[1:]] == [[1, 2], [1], [2]] and chosen[0].proto.default == 2
        assert [one.value for one in chosen] == ["c", ["b", "c"], "b", "c"]
    app.selectbox[0].set_value("b").run()
    assert app.selectbox[0].value == "b" and not app.exception and not app.warning


def copied(app: App) -> dict:
    """What the button that copies the link puts into it."""
    drawn = [json.loads(json.loads(one.proto.json)["json"]) for one in app.at.sidebar if one.type == "bidi_component"]
    (found,) = [data for data in drawn if "carried" in data]
    return found


@pytest.mark.usefixtures("server")
def test_the_surest_mistake_is_chosen_by_a_button_and_the_rest_of_the_view_stays():
    app = predicted(App(EXAMPLES, tag="negation"))
    worst = app.facts["surest mistake"]
    assert app.example != worst
    app.press("See the surest mistake")
    assert app.example == worst and not app.has("button", "See the surest mistake")
    there = App(EXAMPLES, **app.at.query_params)
    assert there.example == worst and there.at.query_params["tag"] in ("negation", ["negation"])


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("more", [{}, {"data": "own text"}])
def test_a_link_may_carry_a_text_of_ones_own(more):
    typed = "A dull film <b>it</b> was."
    app = App(ATTRIBUTIONS, text=typed, **more)
    assert app.text == typed and app.widget("selectbox", "Data").value == "own text"
    no_raw_markup(app, "<b>it</b>")
    # From then on it is named by its digest; what is copied carries it again.
    assert re.fullmatch(
        "[0-9a-f]{64}",
        app.at.query_params["text"][0]
        if isinstance(app.at.query_params["text"], list)
        else app.at.query_params["text"],
    )
    assert copied(app)["carried"] == {"text": typed}
    assert App(ATTRIBUTIONS, **copied(app)["carried"]).text == app.text
    app.set("selectbox", "Data", "reviews")
    assert copied(app)["carried"] == {} and "text" not in app.at.query_params


@pytest.mark.usefixtures("server")
def test_a_link_may_carry_two_texts():
    app = App(ATTRIBUTIONS, model="sst2-fmm", text="A dull film.", second="Or is it?")
    assert copied(app)["carried"] == {"text": "A dull film.", "second": "Or is it?"} and "Or is it?" in app.said
    assert "second" not in app.at.query_params


@pytest.mark.usefixtures("server")
def test_a_text_in_a_link_is_bounded():
    app = App(ATTRIBUTIONS, text="film " * MOST_OF_A_TEXT)
    assert f"{MOST_OF_A_TEXT:,}" in app.at.warning[0].value and not app.errors
    told = copied(app)
    assert told["carried"] == {} and "link" in told["note"] and MOST_CARRIED < MOST_OF_A_TEXT


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("asked", [{"text": "0" * 64}, {"text": " "}, {"text": "A film.", "data": "reviews"}])
def test_what_carries_no_text_of_ones_own_shows_what_it_did(asked):
    app = App(ATTRIBUTIONS, **asked)
    assert app.widget("selectbox", "Data").value == "reviews" and not app.errors
