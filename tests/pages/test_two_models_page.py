"""Attributions: the same text under two models, and how concentrated each measure is."""

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Cost, Explainer
from core.mathematics.ranking import kendall_tau
from core.results.caveats import Caveat
from core.validity.marks import SIGN
from core.validity.references import find_reference
from core.wording import number
from pages.parts.sections.sides import ALONE
from tests.app_session import ATTRIBUTIONS, App

NAMES = ["leave-one-out", "gradient"]


def both(app: App) -> dict:
    """What is drawn of two models."""
    (found,) = app.drawn("changed")
    return found


@pytest.fixture(scope="module")
def text():
    return next(one.text for one in read_bundled("reviews") if one.id == "s104")


def test_the_same_words_stand_under_both_models_and_their_orders_are_compared(bundled, shipped, text, monkeypatch):
    # However busy the machine is, nothing waits to be asked for.
    monkeypatch.setattr(Cost, "cheap", property(lambda _: True))
    app = App(ATTRIBUTIONS, example="s104", measures=NAMES, beside="sst2-plain")
    drawn, explainers = both(app), [Explainer(bundled), Explainer(shipped("sst2-plain"))]
    assert drawn["names"] == ["sst2-fmm", "sst2-plain"] and not any(drawn["changed"])
    assert drawn["words"][0] == drawn["words"][1]
    encoded = [explainer.encode(text, None, "word") for explainer in explainers]
    target = int(explainers[0].probabilities(encoded[0]).argmax())
    (table,) = [table for table in app.tables if table[0][0] == "measure" and "same order?" in table[0][1]]
    for name, line in zip(NAMES, table[1:]):
        scores = [
            next(iter(one.attribute(words, name, target).scores.values())) for one, words in zip(explainers, encoded)
        ]
        assert line[:2] == [name, number(kendall_tau(*scores))]
        (row,) = [row for row in drawn["rows"] if row["name"] == name]
        largest = max(np.abs(one).max() for one in scores)
        for side, one in zip(row["sides"], scores):
            assert np.allclose([cell["shade"] for cell in side], one / largest, atol=1e-4)
    for explainer, words in zip(explainers, encoded):
        shares, named = explainer.probabilities(words), explainer.model.name
        (line,) = [row for table in app.tables if table[0][1:2] == ["predicts"] for row in table[1:] if row[0] == named]
        likely = explainer.model.labels[int(shares.argmax())]
        assert line[1:4] == [likely, number(float(shares.max())), bundled.labels[target]]
        assert line[4].removesuffix(f" {SIGN}") == number(_p_of_unmasked(explainer.model, words))


def _p_of_unmasked(model, encoded) -> float:
    tested = Explainer(model, None, find_reference(model)).tested(encoded)
    return float(tested.judge(np.zeros((1, encoded.F), dtype=bool)).p["calibrated"][0])


def test_models_that_answer_other_questions_are_not_compared_and_none_is_needed():
    app = App(ATTRIBUTIONS, example="s104", measures=["gradient"], beside="ag-news-fmm")
    assert f"{SIGN} {Caveat.OTHER_CLASSES.badge}" in app.badges and not app.drawn("changed") and not app.errors
    app = App(ATTRIBUTIONS, example="s104", measures=["gradient"])
    assert not app.drawn("changed") and app.widget("selectbox", "Beside it").value == ALONE


def test_what_lies_in_the_top_words_is_said_and_drawn(bundled, text):
    app = App(ATTRIBUTIONS, example="s104", measures=NAMES)
    explainer = Explainer(bundled)
    encoded = explainer.encode(text, None, "word")
    sizes = np.sort(np.abs(explainer.attribute(encoded, "leave-one-out", 0).scores["signed"]))[::-1]
    assert f"leave-one-out {100 * sizes[:3].sum() / sizes.sum():.1f} %" in app.said
