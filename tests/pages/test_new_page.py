"""A new page is one file that declares what it needs: `tests/pages/new_page.py` is the example to read, with a table of
results that stream. In the app it stands in `pages/`, with an entry in `pages.parts.frame.pages.PAGES`.
"""

import threading

import pytest
from streamlit.testing.v1 import AppTest

from core.network.scheduler import Cancelled
from core.oracle.oracle import Oracle
from pages.parts.frame import pages, sidebar
from tests.app_session import ROOT, App, wait

pytestmark = pytest.mark.usefixtures("fresh")
PAGE = ROOT / "tests" / "pages" / "new_page.py"


@pytest.fixture
def app(monkeypatch):
    """A person's session with the new page, as yet unopened."""
    entry = pages.Page(str(PAGE), "Words alone", ":material/abc:", "Which word alone would do?")
    monkeypatch.setattr(pages, "PAGES", (entry,))
    # A session of one page has no other to link to.
    monkeypatch.setattr(sidebar, "PAGES", ())
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)
    app = App.__new__(App)
    app.at = AppTest.from_file(str(PAGE), default_timeout=180)
    return app


@pytest.fixture
def held_back(monkeypatch):
    """The third word waits until it is let go or told to stop."""
    let_go, really = threading.Event(), Oracle.logits

    def logits(self, masks, *, cancelled=None, **more):
        while cancelled is not None and masks.sum() == self.F - 1 and not masks[0, 2] and not let_go.wait(0.02):
            if cancelled():
                raise Cancelled("stopped")
        return really(self, masks, cancelled=cancelled, **more)

    monkeypatch.setattr(Oracle, "logits", logits)
    yield let_go
    let_go.set()


def words_of(app: App) -> int:
    return sum(len(table) - 1 for table in app.tables)


def test_it_starts_by_itself_streams_and_shows_the_result(app, held_back):
    wait(app.run(), lambda: words_of(app) == 2)
    assert app.at.get("progress") and app.has("button", "Cancel")
    (bar,) = app.at.get("progress")
    assert "words by themselves, 2 of at most" in bar.proto.text
    held_back.set()
    wait(app, lambda: not app.at.get("progress"))
    assert (
        words_of(app) > 2
        and any(one.startswith("best alone: ") for one in app.badges)
        and not app.has("button", "Compute")
    )


def test_what_is_dear_is_offered_with_its_cost_and_cancelled_work_goes_on(app, held_back, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", -1.0)
    app.run()
    assert not words_of(app) and "forward passes, about" in app.said and not app.at.get("progress")
    wait(app.press("Compute words by themselves"), lambda: words_of(app) == 2)
    wait(app.press("Cancel"), lambda: app.has("button", "Go on with words by themselves"))
    assert words_of(app) == 2 and "Cancelled; what was computed is kept" in app.said
    held_back.set()
    wait(app.press("Go on with words by themselves"), lambda: not app.at.get("progress"))
    assert words_of(app) > 2
