"""A first visit shows the ordinary reviews; the hard ones are one click away, and links to them lead there still."""

import pytest

from core.data.examples import FIRST_REVIEWS, HARD_REVIEWS, first_example, read_bundled
from tests.app_session import ATTRIBUTIONS, EXAMPLES, HOME, App

pytestmark = pytest.mark.first_visit


def data_of(app: App) -> str:
    return app.widget("selectbox", "Data").value


@pytest.fixture
def ships(monkeypatch):
    """What ships computed is shown, as in the app."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "yes")


@pytest.mark.usefixtures("ships")
def test_a_first_visit_shows_the_ordinary_reviews_and_the_hard_ones_are_one_click_away():
    app = App(EXAMPLES)
    assert data_of(app) == FIRST_REVIEWS and app.example == first_example(FIRST_REVIEWS)
    assert "data" not in app.at.query_params
    assert app.widget("selectbox", "Data").options[:2] == ["ordinary reviews", "hard reviews"]
    app.set("selectbox", "Data", HARD_REVIEWS)
    assert app.example == first_example(HARD_REVIEWS) and HARD_REVIEWS in app.at.query_params["data"]


@pytest.mark.parametrize("asked", [{"data": "reviews"}, {}], ids=["with data", "from when they were the default"])
@pytest.mark.parametrize("model", [{}, {"model": "sst2-plain"}], ids=["first model", "twin"])
def test_links_to_hard_reviews_lead_there(asked, model):
    app = App(ATTRIBUTIONS, example="s005", measures=["gradient"], **asked, **model)
    assert (data_of(app), app.example) == (HARD_REVIEWS, "s005") and not app.errors
    app.set("selectbox", "Data", FIRST_REVIEWS)
    assert app.example in {one.id for one in read_bundled(FIRST_REVIEWS)}


def test_an_example_that_is_nowhere_is_named_and_the_data_stay():
    app = App(HOME, example="s999")
    assert data_of(app) == FIRST_REVIEWS and "s999" in app.said


def test_the_scoreboard_opens_on_a_sample_and_of_a_text_of_ones_own_on_that():
    app = App("pages/scoreboard.py", measures=["gradient"])
    assert app.widget("button_group", "Scored on").value == "a sample of the data"
    app.go(ATTRIBUTIONS).type("A fine film .").go("pages/scoreboard.py")
    assert app.widget("button_group", "Scored on").value == "this example"
    app.set("selectbox", "Data", FIRST_REVIEWS)
    assert app.widget("button_group", "Scored on").value == "a sample of the data"
    app.set("button_group", "Scored on", "this example")
    assert app.go(HOME).go("pages/scoreboard.py").widget("button_group", "Scored on").value == "this example"
