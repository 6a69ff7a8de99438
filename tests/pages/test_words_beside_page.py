"""Two models' words on the page Data set: the second is asked where it stands, and each word leads to its texts."""

import json
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import streamlit as st
from scipy import stats

from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.evaluation.studies.word_scores import WordScores, by_word
from core.results.asked import AskedOutcome
from core.results.words_beside import WordsBesideOutcome
from pages.parts.sections.sides import ALONE
from pages.parts.sections.studying import StudyWork
from tests.app_session import App, complete
from tests.hostile import lines

pytestmark = pytest.mark.usefixtures("server")
PAGE, MEASURE, ODD = "pages/data_set.py", "leave-one-out", "<i>zebra</i>"
# The odd word is of the first model's top 3 in all 24 texts, of the second's in the first four.
TEXTS = [f"the cat saw a dog {end} {ODD}" for end in "abcdefghijklmnopqrstuvwx"]


@pytest.fixture
def planted(monkeypatch, tmp_path, fresh):
    """Scores and verdicts by the name of the model and the place of the text; nothing is asked unasked."""
    monkeypatch.setattr(StudyWork, "at_once", property(lambda work: work.complete))

    def scored(study, subject):
        words = [feature.text.casefold() for feature in subject.encoded.features]
        first = subject.explainer.model.name == "sst2-fmm" or subject.encoded.text in TEXTS[:4]
        scores = np.array([9.0 if first and word == ODD else -i for i, word in enumerate(words)])
        found = by_word(words, np.zeros(len(words), dtype=bool), [scores])
        return {"words": json.dumps({"class": 1} | found)}

    def judged(study, subject):
        own = 0.01 + 0.001 * TEXTS.index(subject.encoded.text)
        return {"word": np.ones(1), "p": np.array([own]), "worse": np.ones(1), "reached": np.zeros(1)}

    monkeypatch.setattr(WordScores, "row", scored)
    monkeypatch.setattr(VerdictsOfTexts, "row", judged)
    (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": f"t{i}", "text": text} for i, text in enumerate(TEXTS))))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
    st.cache_resource.clear()


def test_a_second_model_is_asked_where_it_stands_and_its_words_lead_to_their_texts(planted):
    asked = {"section": "words", "measures": [MEASURE], "beside": "sst2-plain"}
    app = App(PAGE, **asked)
    complete(app.press("Compute all", exact=False))
    assert not app.findings and frame(app) is None
    complete(app.press("Compute all", exact=False))
    ((_, outcome, said),) = app.findings
    assert outcome == WordsBesideOutcome.APART.value and "zebra" in said and "sst2-fmm" in said
    found = frame(app).to_dict("records")
    # Six words are in every text; the odd one pushes one of three others out of the top 3.
    (zebra,) = [row for row in found if row["word"] == ODD]
    shares = zebra["in top 3, sst2-fmm, %"], zebra["in top 3, sst2-plain, %"]
    assert zebra["texts"] == 24 and shares == (100.0, pytest.approx(100 * 4 / 24))
    assert zebra["p (Holm)"] == pytest.approx(len(found) * stats.binomtest(20, 20).pvalue)
    assert [row["p (Holm)"] for row in found] == sorted(row["p (Holm)"] for row in found)
    for row in found:
        assert dict(parse_qsl(urlsplit(row["examples"]).query))["search"] == f'"{row["word"]}"'
    # Another start knows both, and asks for nothing.
    st.cache_resource.clear()
    again = App(PAGE, **asked)
    assert again.findings == app.findings and not again.has("button", "Compute") and not again.errors


def test_of_few_texts_the_sentence_says_so_with_its_badges(planted, monkeypatch, tmp_path):
    (tmp_path / "few.jsonl").write_bytes(lines(*({"id": f"t{i}", "text": text} for i, text in enumerate(TEXTS[:8]))))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "few.jsonl"))
    st.cache_resource.clear()
    app = App(PAGE, section="words", measures=[MEASURE], beside="sst2-plain")
    complete(app.press("Compute all", exact=False))
    complete(app.press("Compute all", exact=False))
    assert [outcome for _, outcome, _ in app.findings] == [AskedOutcome.FEW_TEXTS.value]


def test_a_model_of_other_classes_and_no_model_are_no_tables(planted):
    app = App(PAGE, section="words", measures=[MEASURE])
    complete(app.press("Compute all", exact=False))
    assert app.widget("selectbox", "Beside it").value == ALONE and not app.findings and frame(app) is None


def frame(app: App):
    """The table of two models' words; None where there is none."""
    found = [one.value for one in app.at.dataframe if "p (Holm)" in one.value]
    return found[0] if found else None
