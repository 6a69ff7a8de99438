"""Saving without a browser: what a download holds is written when it is asked for."""

import time
from types import SimpleNamespace

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest

from pages.parts.frame.server import keep_downloads
from pages.parts.sections import saving


def test_a_download_is_a_function_until_it_is_asked_for(monkeypatch):
    waiting, really = {}, MediaFileManager.add_deferred

    def keep(manager, content, mimetype, *more, file_name=None, **others):
        waiting[file_name] = (mimetype, content)
        return really(manager, content, mimetype, *more, file_name=file_name, **others)

    monkeypatch.setattr(MediaFileManager, "add_deferred", keep)

    def page():
        import streamlit as st

        from core.results.verdicts import words_result
        from core.verdicts.deciding import Word
        from pages.parts.sections.saving import save_attributions, save_table
        from tests.shown import rows, view

        save_table("Table", ["a"], lambda: st.session_state.missing, "t.csv", "t")
        result = words_result({"<b>so</b>": Word.BETTER})
        save_attributions(view(), rows(view().encoded), result)
        save_attributions(view(), [], result)

    at = AppTest.from_function(page).run()
    assert not at.exception and [button.label for button in at.get("download_button")] == [
        "Table",
        "Table (CSV)",
        "Page (HTML)",
    ]
    assert [mime for mime, _ in waiting.values()] == ["text/csv", "text/csv", "text/html"]
    name = "attributions-reviews-s001-positive-story"
    assert sorted(waiting) == [f"{name}.csv", f"{name}.html", "t.csv"]
    table = waiting[f"{name}.csv"][1]()
    assert table.startswith(b"\xef\xbb\xbfexample,position,word,") and table.count(b"\r\n") == 1 + 3 * 8
    page = waiting["attributions-reviews-s001-positive-story.html"][1]()
    assert b"&lt;b&gt;so&lt;/b&gt;" in page and b"<b>so" not in page


def test_a_file_stays_until_it_is_fetched_however_many_pages_run(monkeypatch):
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(Runtime, "exists", lambda: True)
    monkeypatch.setattr(Runtime, "instance", lambda: SimpleNamespace(media_file_mgr=manager))

    def asked(content: str, held: bool) -> str:
        """The file that is written at a click, from where a browser fetches it."""
        written = (lambda: saving._held(content, "t.csv", "text/csv")) if held else content.encode
        return manager.execute_deferred(manager.add_deferred(written, "text/csv", "here", "t.csv")).split("/")[-1]

    def run() -> None:
        manager.clear_session_refs()
        manager.remove_orphaned_files()

    lost, kept = asked("lost", False), asked("kept", True)
    assert manager.read_file(lost) and manager.read_file(kept)
    for _ in range(3):
        run()
    assert manager.read_file(lost) is None
    assert manager.read_file(kept).content == b"kept"
    # Of many, the last few stay; the same one may be asked for again.
    for number in range(saving._FILES):
        asked(f"later {number}", True)
    again = asked("later 0", True)
    run(), run()
    assert manager.read_file(kept) is None and manager.read_file(again).content == b"later 0"


def test_a_button_that_is_replaced_while_it_is_pressed_writes_its_file():
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))

    def run() -> None:
        """A page that is drawn anew, up to its first button, while another visitor's run ends."""
        manager.clear_session_refs()
        manager.remove_orphaned_files()

    def drawn(content) -> str:
        return manager.add_deferred(content, "text/csv", "here", file_name="t.csv", element_id="save")

    lost = drawn(lambda: b"a")
    run()
    with pytest.raises(MediaFileStorageError, match="not found"):
        manager.execute_deferred(lost)
    keep_downloads(manager, seconds=0.2)
    old, standing = drawn(lambda: b"a"), drawn(lambda: b"b")
    named = manager.execute_deferred(standing)
    run()
    late = manager.execute_deferred(old)
    assert late.endswith(".csv") and manager.read_file(late.split("/")[-1]).content == b"a" and late != named
    calls = []
    broken = drawn(lambda: calls.append(1) or 1 / 0)
    with pytest.raises(MediaFileStorageError, match="division by zero"):
        manager.execute_deferred(broken)
    assert len(calls) == 1
    time.sleep(0.3)
    drawn(lambda: b"c")
    run()
    with pytest.raises(MediaFileStorageError, match="not found"):
        manager.execute_deferred(old)
