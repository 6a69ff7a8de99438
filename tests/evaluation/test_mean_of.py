"""The ordinary question, one number a text: `example_mean/all_masked.py` is all that is written for one."""

import json
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

from core.commands.command_line import main
from core.data.examples import Example
from core.evaluation import studies
from core.evaluation.asking import ask, read_study
from core.evaluation.mean_of import MeanReport
from core.evaluation.sampling import without_labels
from core.evaluation.studies.catalogue import questions
from core.evaluation.study import REGISTERED
from core.explanation.explainer import Explainer, softmax
from core.figures.catalogue import question_figure
from core.mathematics.statistics import Interval
from core.results.catalogue import question_result
from core.results.caveats import Caveat
from core.results.mean import MeanOutcome
from core.storage.store import Store
from core.texts.rendering import headline
from core.wording import WHOLE
from tests import tiny
from tests.adding import TESTS, one_more_file
from tests.app_session import App, wait
from tests.hostile import lines

NAN, NAME = float("nan"), "all masked"
TEXTS = tiny.SENTENCES[:4]
SAMPLE = without_labels("toy", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(TEXTS)])


@pytest.fixture(scope="module", autouse=True)
def added():
    with one_more_file(studies, REGISTERED, TESTS / "evaluation" / "example_mean"):
        yield


@pytest.fixture(scope="module")
def explainer(tiny_model):
    return Explainer(tiny_model("bert"))


def reported(values, **more) -> MeanReport:
    known = np.array(values)[~np.isnan(values)]
    mean = Interval(float(known.mean()) if len(known) else NAN, NAN, NAN)
    names = tuple(f"e{i}" for i in range(len(values)))
    return replace(MeanReport("fall", "↓", np.array(values, dtype=float), names, mean, WHOLE), **more)


def test_its_numbers_are_the_models(explainer, tmp_path):
    question, store = questions()[NAME](), Store(tmp_path)
    answers = ask(explainer, SAMPLE, question, store)
    report = question.conclude(answers)
    for i, text in enumerate(TEXTS):
        encoded = explainer.encode(text, None, "word")
        whole, empty = softmax(explainer.oracles.of(encoded).logits(np.repeat([[False], [True]], encoded.F, axis=1)))
        assert report.values[i] == pytest.approx(whole.max() - empty[whole.argmax()], abs=1e-6)
    assert report.mean.mean == pytest.approx(report.values.mean()) and report.examples == ("e0", "e1", "e2", "e3")
    assert question.cost(explainer, encoded).passes == 2
    # What it is asked by is a part of what it is kept under.
    assert read_study(explainer, SAMPLE, question, store).complete
    assert not read_study(explainer, SAMPLE, replace(question, unit="token"), store).done
    (header, rows), *others = question.tables(report)
    assert header == ["text", "fall when all is masked"] and not others
    assert [row[0] for row in rows] == [f"e{i}" for i in np.argsort(-report.values)]
    assert {row["example"]: row["value"] for row in question.records(answers)} == dict(
        zip(report.examples, report.values)
    )


@pytest.mark.parametrize(
    "values, outcome",
    [
        ([0.1, 0.5] * 10, MeanOutcome.MEAN),
        ([0.25] * 20, MeanOutcome.ALIKE),
        ([NAN] * 20, MeanOutcome.UNDEFINED),
        ([0.1, NAN] * 20, MeanOutcome.ALIKE),
    ],
)
def test_each_outcome_is_reached(values, outcome):
    result = question_result(NAME, reported(values))
    assert result.outcome is outcome and headline(result)
    known = [value for value in values if value == value]
    assert result.fact("texts").value == len(known)
    if known:
        assert (result.fact("smallest").value, result.fact("largest").value) == (min(known), max(known))
        assert result.slots["mean"] == pytest.approx(np.mean(known)) and result.fact("mean").better == "↓"


def test_of_few_texts_and_of_picked_or_cut_ones_it_says_so():
    assert question_result(NAME, reported([0.1, 0.2])).name == "few texts"
    found = question_result(NAME, reported([0.1, 0.5] * 10, cut=1, picked="mistakes"))
    assert found.has(Caveat.TRUNCATED) and found.has(Caveat.SELECTED)


def test_its_figure_has_a_point_a_text_and_a_line_at_the_mean():
    drawn = question_figure(NAME, [reported([0.1, NAN, 0.5])])
    (points,) = drawn["data"]
    assert (points["y"], points["customdata"]) == ([0.5, 0.1], ["e2", "e0"])
    assert drawn["layout"]["shapes"][0]["y0"] == pytest.approx(0.3)
    assert question_figure(NAME, [reported([NAN])]) is None


def test_the_command_and_the_page_ask_it(tiny_model, fresh, monkeypatch, tmp_path, capsys):
    data, out = tmp_path / "mine.jsonl", tmp_path / "found.csv"
    data.write_bytes(lines(*({"id": f"e{i}", "text": text} for i, text in enumerate(TEXTS))))
    with monkeypatch.context() as patch:
        patch.setattr("core.loading.loading.load", lambda *_: tiny_model("bert"))
        assert main(["evaluate", "--model", "tiny", "--data", str(data), "--what", NAME, "--out", str(out)]) == 0
    assert "mean fall when all is masked" in capsys.readouterr().out and "e3" in out.read_text(encoding="utf-8")
    monkeypatch.setenv("FAITHSCOPE_DATA", str(data))
    st.cache_resource.clear()
    app = App("pages/data_set.py", section=NAME)
    wait(app.press("Compute all masked", exact=False), lambda: app.outcomes == ["few texts"])
    saved = json.loads(app.download("All figures (JSON)"))
    assert app.at.get("plotly_chart") and len(saved["examples"]) == 4 and not app.errors
