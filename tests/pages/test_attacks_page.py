"""The tab Attacks of Model check without a browser: it waits to be asked, says what the library says, and keeps the
attacked texts as data.
"""

import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.data.sources import open_data
from core.explanation.edits import changed_spans
from core.results.asked import AskedOutcome
from pages.parts.frame import resources
from tests.app_session import App, wait
from tests.hostile import lines

pytestmark = pytest.mark.usefixtures("server")
PAGE, PART = "pages/model_check.py", "attacks"
SHORT = [one for one in read_bundled("reviews") if one.id in ("s041", "s068", "s076", "s096")]


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """A store of this file's own: what is added here is in nobody else's library."""
    return tmp_path_factory.mktemp("attacked") / "cache"


@pytest.fixture
def app(monkeypatch, tmp_path):
    """A session whose data is four sentences, with nothing of the other tabs."""
    monkeypatch.setattr("core.evaluation.families.relatives", lambda *_: [])
    monkeypatch.setattr("pages.parts.check.tabs.draw_behaviour", lambda *_: None)
    (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": e.id, "text": e.text, "label": e.label} for e in SHORT)))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
    st.cache_resource.clear()
    return App(PAGE, part=PART, measures=["gradient"])


def test_it_waits_to_be_asked_and_keeps_attacked_texts_behind_their_originals(app):
    assert app.widget("button_group", "Attack").value == "DeepWordBug" and not app.errors
    wait(app.press("Compute DeepWordBug", exact=False), lambda: AskedOutcome.FEW_TEXTS.value in app.outcomes)
    (ended,) = [table for table in app.tables if table[0] == ["attack", "value"]]
    counts = {row[0]: row[1] for row in ended[1:]}
    assert sum(int(counts[name]) for name in ("succeeded", "failed", "already wrong", "no room")) == len(SHORT)
    assert not app.errors
    if int(counts["succeeded"]):
        app.press("See attacked texts")
        (key,) = [key for key, about in resources.library().data().items() if "DeepWordBug" in about["origin"]]
        kept = open_data(resources.library(), key).examples
        assert len(kept) == 2 * int(counts["succeeded"])
        marked = changed_spans(kept[0].text, kept[1].text)
        (text,) = [markup for raw, markup in app.markup() if raw and "class='whole-text'" in markup]
        assert text.count("<span class='overlined'>") == len(marked) > 0


def test_words_are_protected_by_page_and_link_and_none_of_two_words(app):
    app.set("text_input", "Protected words", "dull, word")
    assert "not one" in app.said and app.at.query_params["protect"] == "dull, word" and not app.errors
    app.set("text_input", "Protected words", "dull")
    assert "not one" not in app.said
    again = App(PAGE, part=PART, measures=["gradient"], protect="dull")
    assert again.widget("text_input", "Protected words").value == "dull" and not again.errors


def test_a_unit_that_is_no_word_is_refused(app):
    app = App(PAGE, part=PART, measures=["gradient"], unit="token")
    assert "unit word" in app.said and not app.errors
