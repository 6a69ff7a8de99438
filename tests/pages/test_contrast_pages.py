"""Why one class rather than another, without a browser: where it is chosen, what takes it, and what files say."""

import csv
import io

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.oracle.target import Contrast
from core.wording import number
from tests.app_session import ATTRIBUTIONS, PAGES, App

pytestmark = pytest.mark.usefixtures("server")
NEWS = {"model": "ag-news-fmm", "data": "news", "measures": ["leave-one-out", "gradient"]}


def test_the_score_is_the_difference_of_two_logits_in_words_colours_and_files(shipped):
    app = App(ATTRIBUTIONS, **NEWS, **{"class": "Sports"})
    app.set("selectbox", "Rather than", "World")
    assert app.at.query_params["than"] == "World" and "Explained here: Sports rather than World" in app.said
    model = shipped("ag-news-fmm")
    explainer = Explainer(model)
    encoded = explainer.encode("".join(piece["gap"] + piece["text"] for piece in app.words["pieces"]), None, "word")
    target = Contrast(model.labels.index("Sports"), model.labels.index("World"))
    scores = explainer.attribute(encoded, "leave-one-out", target).scores["signed"]
    assert np.allclose(app.rows["leave-one-out"]["shades"], scores / np.abs(scores).max(), atol=1e-4)
    logits = explainer.logits(encoded).astype(float)
    assert f"less that of the other: {number(logits[target.of] - logits[target.than])} here" in app.said
    assert app.words["for"] == "supports “Sports rather than World”"
    lines = list(csv.DictReader(io.StringIO(app.download("Table (CSV)"))))
    assert {line["class"] for line in lines} == {"Sports rather than World"}
    saved = app.download("Page (HTML)")
    assert "Sports rather than World" in saved and "set against it" in saved
    # Turned round every sign is turned round, and the same link says the same.
    turned = App(ATTRIBUTIONS, **NEWS, **{"class": "World", "than": "Sports"})
    assert np.allclose(
        turned.rows["leave-one-out"]["shades"], -np.array(app.rows["leave-one-out"]["shades"]), atol=1e-4
    )
    again = App(ATTRIBUTIONS, **app.at.query_params)
    assert again.rows == app.rows
    # A press beside the classes takes it away.
    assert "rather than" not in app.press("World").words["for"] and "than" not in app.at.query_params


def test_of_two_classes_the_other_one_is_set_against_whichever_is_explained():
    app = App(ATTRIBUTIONS, measures=["gradient"], example="s003", **{"class": "positive", "than": "negative"})
    assert "positive rather than negative" in app.words["title"] + app.said
    app.set("selectbox", "Explained class", "negative")
    assert app.widget("selectbox", "Rather than").value == "positive" and "negative rather than positive" in app.said


@pytest.mark.parametrize(
    ("than", "why"),
    [("negative", "the same class"), ("<b>none</b>", "a class that is not here"), ("", "a class that is not here")],
)
def test_a_link_with_no_other_class_says_so_and_explains_the_class(than, why):
    app = App(ATTRIBUTIONS, measures=["gradient"], example="s003", than=than, **{"class": "negative"})
    assert why in app.said and "rather than negative" not in app.words["title"] and app.rows and not app.errors
    assert app.widget("selectbox", "Rather than").value == "—" and not any(
        "<b>none" in text for _, text in app.markup()
    )
    assert why in app.run().said and why not in app.press("Dismiss").said


@pytest.mark.parametrize("page", [page for page in PAGES if page != ATTRIBUTIONS])
def test_a_page_whose_scores_are_probabilities_says_that_it_keeps_the_class(page, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.frame.data.CHEAP_SECONDS", -1.0)
    app = App(page, example="s003", than="positive", **{"class": "negative"})
    assert "This page explains the class alone" in app.said and "rather than positive" not in app.said
    assert App(ATTRIBUTIONS, example="s003").said.count("the class alone") == 0


def test_the_two_versions_of_a_pair_are_set_against_each_other_on_the_same_score():
    app = App(
        ATTRIBUTIONS,
        data="contrast pairs",
        example="p01a",
        against="pair",
        measures=["gradient"],
        **{"class": "positive", "than": "negative"},
    )
    (table,) = [table for table in app.tables if table[0][1:3] == ["p01a", "p01b"]]
    assert "logit of positive − logit of negative" in [row[0] for row in table]
