"""Why one class rather than another, without a browser: where it is chosen, what takes it, and what files say."""

import csv
import io

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.limiting import find_exact
from core.mathematics.stepwise import finish
from core.oracle.target import Contrast, score_kind, score_name, target_name
from core.wording import number
from tests.app_session import ATTRIBUTIONS, PAGES, App, complete

pytestmark = pytest.mark.usefixtures("server")
RECURSIVE, AOPC = "pages/recursive_masking.py", "pages/aopc_and_naopc.py"
LABELS = ("negative", "positive")
SPORTS = target_name(("Sports", "World"), Contrast(0, 1))
DIFFERENCE = score_kind(Contrast(0, 1))
NEWS = {"model": "ag-news-fmm", "data": "news", "measures": ["leave-one-out", "gradient"]}


def test_the_score_is_the_difference_of_two_logits_in_words_colours_and_files(shipped):
    app = App(ATTRIBUTIONS, **NEWS, **{"class": "Sports"})
    app.set("selectbox", "Rather than", "World")
    assert app.at.query_params["than"] == "World" and f"explains {SPORTS}" in app.badges
    model = shipped("ag-news-fmm")
    explainer = Explainer(model)
    encoded = explainer.encode("".join(piece["gap"] + piece["text"] for piece in app.words["pieces"]), None, "word")
    target = Contrast(model.labels.index("Sports"), model.labels.index("World"))
    scores = explainer.attribute(encoded, "leave-one-out", target).scores["signed"]
    assert np.allclose(app.rows["leave-one-out"]["shades"], scores / np.abs(scores).max(), atol=1e-4)
    assert app.words["for"] == f"supports “{SPORTS}”"
    lines = list(csv.DictReader(io.StringIO(app.download("Table (CSV)"))))
    assert {line["class"] for line in lines} == {SPORTS}
    saved = app.download("Page (HTML)")
    assert SPORTS in saved and saved.count("set against") == 1
    # Turned round every sign is turned round, and the same link says the same.
    turned = App(ATTRIBUTIONS, **NEWS, **{"class": "World", "than": "Sports"})
    assert np.allclose(
        turned.rows["leave-one-out"]["shades"], -np.array(app.rows["leave-one-out"]["shades"]), atol=1e-4
    )
    again = App(ATTRIBUTIONS, **app.at.query_params)
    assert again.rows == app.rows
    # A press beside the classes takes it away, and another sets it against the likeliest other one.
    assert "rather than" not in app.press("rather than World").words["for"] and "than" not in app.at.query_params
    other = max((share, i) for i, share in enumerate(explainer.probabilities(encoded)) if i != target.of)[1]
    assert app.press(f"rather than {model.labels[other]}", exact=False).at.query_params["than"] == model.labels[other]


def test_of_two_classes_the_other_one_is_set_against_whichever_is_explained():
    app = App(ATTRIBUTIONS, measures=["gradient"], example="s003", **{"class": "positive", "than": "negative"})
    assert f"explains {target_name(LABELS, Contrast(1, 0))}" in app.badges
    app.set("selectbox", "Explained class", "negative")
    assert app.widget("selectbox", "Rather than").value == "positive"
    assert f"explains {target_name(LABELS, Contrast(0, 1))}" in app.badges


@pytest.mark.parametrize("than", ["negative", "<b>none</b>", ""])
def test_a_link_with_no_other_class_says_so_and_explains_the_class(than):
    why = "the contrast with"
    app = App(ATTRIBUTIONS, measures=["gradient"], example="s003", than=than, **{"class": "negative"})
    assert why in app.said and "rather than negative" not in app.words["title"] and app.rows and not app.errors
    assert app.widget("selectbox", "Rather than").value == "—" and not any(
        "<b>none" in text for _, text in app.markup()
    )
    assert why in app.run().said and why not in app.press("Dismiss").said


@pytest.mark.parametrize("page", [page for page in PAGES if page not in (ATTRIBUTIONS, RECURSIVE, AOPC)])
def test_a_page_whose_scores_are_probabilities_says_that_it_keeps_the_class(page, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.frame.data.CHEAP_SECONDS", -1.0)
    app = App(page, example="s003", than="positive", **{"class": "negative"})
    assert "the class alone" in app.said and "rather than positive" not in app.said
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
    assert score_name(LABELS, Contrast(1, 0)) in [row[0] for row in table]


@pytest.fixture
def curves_of(bundled, monkeypatch):
    """`curves_of(page)`: the page on a short text with a contrast, all of it computed."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)

    def opened(page: str) -> App:
        app = App(ATTRIBUTIONS, measures=["leave-one-out"], **{"class": "positive", "than": "negative"})
        return complete(app.type("Not one dull minute.").go(page))

    return opened


def test_a_masking_path_follows_the_difference_of_the_logits(curves_of, bundled):
    app, explainer = curves_of(RECURSIVE), Explainer(bundled)
    encoded = explainer.encode("Not one dull minute.", None, "word")
    rows = [
        row
        for row in csv.DictReader(io.StringIO(app.download("Steps (CSV)").lstrip("\ufeff")))
        if row["measure"] == "leave-one-out"
    ]
    assert {row["explained class"] for row in rows} == {target_name(LABELS, Contrast(1, 0))}
    assert "probability of it" not in rows[0] and not app.errors
    target = Contrast(bundled.labels.index("positive"), bundled.labels.index("negative"))
    scores = explainer.attribute(encoded, "leave-one-out", target).scores["signed"]
    first = np.zeros((1, encoded.F), dtype=bool)
    assert float(rows[0][DIFFERENCE]) == pytest.approx(_apart(explainer, encoded, first, target), abs=1e-4)
    first[0, scores.argmax()] = True
    (at,) = [row for row in rows if row["features masked"] == "1"][:1]
    assert float(at[DIFFERENCE]) == pytest.approx(_apart(explainer, encoded, first, target), abs=1e-4)


def test_limits_are_those_of_the_difference_of_the_logits(curves_of, bundled):
    app, explainer = curves_of(AOPC), Explainer(bundled)
    encoded = explainer.encode("Not one dull minute.", None, "word")
    found = finish(find_exact(explainer, encoded, Contrast(1, 0))).limits
    specs = [chart.proto.spec for chart in app.at.get("plotly_chart")]
    assert bundled.labels == ("negative", "positive") and any(number(found.upper) in one for one in specs)
    assert any("logit of positive" in one for one in specs)
    saved = app.download("Page (HTML)")
    assert score_name(LABELS, Contrast(1, 0)) in saved and "the probability once" not in saved


def _apart(explainer: Explainer, encoded, masks: np.ndarray, target: Contrast) -> float:
    logits = explainer.oracles.of(encoded).logits(masks)[0].astype(float)
    return logits[target.of] - logits[target.than]
