"""Choices that hold on every page: what somebody chose goes along, a default that nobody chose does not."""

from streamlit.testing.v1 import AppTest


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
