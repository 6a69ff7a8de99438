"""An example that stays above those that follow on Attributions, without a browser."""

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from tests.app_session import ATTRIBUTIONS, EXAMPLES, App

pytestmark = pytest.mark.usefixtures("server")
SHORT = sorted(read_bundled("reviews"), key=lambda one: len(one.text))[:3]
FIRST, SECOND, THIRD = SHORT


def drawn(app: App) -> list[dict]:
    """What is drawn of coloured words: the example that stays comes first."""
    return app.drawn("pieces")


def text_of(data: dict) -> str:
    return "".join(piece["gap"] + piece["text"] for piece in data["pieces"]) + data["rest"]


def test_an_example_stays_above_the_next_with_the_scores_that_it_has_alone(bundled):
    app = App(ATTRIBUTIONS, data="reviews", example=FIRST.id, measures=["gradient"])
    assert len(drawn(app)) == 1 and "kept" not in app.at.query_params
    app.press("Keep beside")
    # Of the example itself there is no second row.
    assert len(drawn(app)) == 1
    app.set("selectbox", "Example", SECOND.id)
    kept, chosen = drawn(app)
    assert text_of(kept) == FIRST.text and text_of(chosen) == SECOND.text
    explainer = Explainer(bundled)
    target = bundled.labels.index(chosen["for"].split("“")[1].rstrip("”"))
    encoded = explainer.encode(FIRST.text, None, "word")
    found = explainer.attribute(encoded, "gradient", target).scores[measure("gradient").variants[0]]
    assert [row["name"] for row in kept["rows"]] == ["gradient"]
    shades = np.abs(kept["rows"][0]["shades"])
    assert np.argsort(-shades, kind="stable").tolist() == np.argsort(-np.abs(found), kind="stable").tolist()
    # The same link in another window, and another example.
    other = App(ATTRIBUTIONS, **app.at.query_params)
    assert [text_of(one) for one in drawn(other)] == [FIRST.text, SECOND.text]
    other.set("selectbox", "Example", THIRD.id)
    assert [text_of(one) for one in drawn(other)] == [FIRST.text, THIRD.text]
    # There and back by way of another page; then it is let go of.
    assert [text_of(one) for one in drawn(other.go(EXAMPLES).go(ATTRIBUTIONS))] == [FIRST.text, THIRD.text]
    assert text_of(drawn(other.press("Close"))[0]) == THIRD.text and "kept" not in other.at.query_params
    assert app.press(f"Go to {FIRST.id}").example == FIRST.id and len(drawn(app)) == 1 and not app.errors


def test_an_example_stays_above_the_next_on_examples_too_and_goes_along():
    app = App(EXAMPLES, data="reviews", example=FIRST.id).press("Keep beside")
    assert app.said.count(FIRST.text) == 1
    app.set("selectbox", "Example", SECOND.id)
    assert app.said.count(FIRST.text) == 1 and app.said.index(FIRST.text) < app.said.index(SECOND.text)
    assert [text_of(one) for one in drawn(app.go(ATTRIBUTIONS))] == [FIRST.text, SECOND.text]
    app.go(EXAMPLES).press("Close")
    assert FIRST.text not in app.said and SECOND.text in app.said and "kept" not in app.at.query_params


def test_an_example_that_is_not_in_the_data_is_said_of_a_link_and_let_go_of_with_other_data():
    link = App(ATTRIBUTIONS, data="reviews", example=FIRST.id, kept="no such id")
    assert (
        len(link.lacking) == 1
        and "no such" in link.lacking[0]
        and len(drawn(link)) == 1
        and "kept" not in link.at.query_params
    )
    app = App(ATTRIBUTIONS, data="reviews", example=SECOND.id, kept=FIRST.id)
    assert len(drawn(app)) == 2
    app.set("selectbox", "Data", "ordinary reviews")
    assert len(drawn(app)) == 1 and not app.lacking and not app.has("button", "Close")
    # A text of one's own belongs to no data.
    app.set("selectbox", "Data", "reviews").type("Not one dull minute.")
    assert not app.has("button", "Keep beside")
