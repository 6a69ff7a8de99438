"""What is stored, as its owner sees it in the sidebar."""

from unittest import mock

import pytest
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from core.storage.holdings import holdings
from pages.parts.frame import resources
from tests.app_session import ALL_OPEN, ATTRIBUTIONS, App, complete


@pytest.fixture
def opened():
    with mock.patch.object(PopoverContainer, "open", ALL_OPEN):
        yield


def test_closed_it_looks_at_no_file(monkeypatch):
    monkeypatch.setattr("pages.parts.frame.tray.holdings", lambda _: pytest.fail("nobody asked"))
    assert not App(ATTRIBUTIONS, measures=["gradient"]).has("metric", "Stored results")


def test_it_shows_each_model_and_deletes_its_results_and_nothing_else(opened, fresh):
    app = complete(App(ATTRIBUTIONS, measures=["gradient"]).type("A film worth deleting ."))
    app.run()
    (one,) = (one for one in holdings(resources.store()) if one.name == "sst2-fmm")
    table = next(rows for rows in app.tables if rows[0] == ["model", "files", "MB"])
    assert next(cell for cell in table if cell[0] == "sst2-fmm")[1] == str(one.files)
    app.widget("selectbox", "Results of").set_value("sst2-fmm")
    app.press("Delete these results")
    assert all(left.name != "sst2-fmm" or left.files < one.files for left in holdings(resources.store()))
    assert app.text.startswith("A film worth deleting") and app.at.success[0].value.startswith(f"{one.files} file")
