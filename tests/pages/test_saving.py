"""Saving without a browser: what a download holds is written when it is asked for."""

from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.testing.v1 import AppTest


def test_a_download_is_a_function_until_it_is_asked_for(monkeypatch):
    waiting, really = {}, MediaFileManager.add_deferred

    def keep(manager, content, mimetype, *more, file_name=None, **others):
        waiting[file_name] = (mimetype, content)
        return really(manager, content, mimetype, *more, file_name=file_name, **others)

    monkeypatch.setattr(MediaFileManager, "add_deferred", keep)

    def page():
        import streamlit as st

        from pages.parts.sections.saving import save_attributions, save_table
        from tests.shown import rows, view

        save_table("Table", ["a"], lambda: st.session_state.missing, "t.csv", "t")
        save_attributions(view(), rows(view().encoded), "Said <b>so</b>.")
        save_attributions(view(), [], "Nothing to save.")

    at = AppTest.from_function(page).run()
    assert not at.exception and [button.label for button in at.get("download_button")] == [
        "Table",
        "Table (CSV)",
        "Page (HTML)",
    ]
    assert [mime for mime, _ in waiting.values()] == ["text/csv", "text/csv", "text/html"]
    assert sorted(waiting) == [
        "attributions-reviews-s001-positive-story.csv",
        "attributions-reviews-s001-positive-story.html",
        "t.csv",
    ]
    table = waiting["attributions-reviews-s001-positive-story.csv"][1]()
    assert table.startswith(b"example,position,word,") and table.count(b"\r\n") == 1 + 3 * 8
    assert b"Said so." in waiting["attributions-reviews-s001-positive-story.html"][1]()
