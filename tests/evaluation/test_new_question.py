"""How a new question over a sample is added, the example to read: `example/one_word.py` in the place of a file in
`core/evaluation/studies`, what it comes to `example_result/one_word_result.py` in the place of one in `core/results`
with its template beside it, its figure `example_figure/one_word_figure.py` in the place of one in `core/figures`, and
its test. The command, the page and the README follow from what they register.
"""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
from pyarrow import parquet

from core import figures, results
from core.commands.command_line import main
from core.data.examples import Example
from core.evaluation import studies
from core.evaluation.asking import ask
from core.evaluation.engine import Run
from core.evaluation.sampling import without_labels
from core.evaluation.studies.catalogue import questions
from core.evaluation.study import REGISTERED
from core.explanation.explainer import Explainer
from core.figures import catalogue
from core.figures.catalogue import question_figure
from core.network.scheduler import Cancelled
from core.results import catalogue as results_catalogue
from core.results.asked import AskedOutcome
from core.results.catalogue import question_result
from core.storage.store import Store
from core.texts import rendering
from core.texts.rendering import headline
from core.tools.readme import question_table
from core.wording import WHOLE
from pages.parts.frame.pages import PAGES
from tests import tiny
from tests.adding import TESTS, one_more_file
from tests.app_session import App, wait
from tests.hostile import lines
from tests.interrupted import interrupted

NAME = "one word"
TEXTS = tiny.SENTENCES[:4]


@pytest.fixture(scope="module", autouse=True)
def added():
    folder = TESTS / "evaluation" / "example_result"
    with (
        pytest.MonkeyPatch.context() as patch,
        one_more_file(studies, REGISTERED, TESTS / "evaluation" / "example"),
        one_more_file(results, results_catalogue.REGISTERED, folder),
        one_more_file(figures, catalogue.REGISTERED, TESTS / "evaluation" / "example_figure"),
    ):
        patch.setattr(rendering, "_TEMPLATES", [rendering._TEMPLATES, folder])
        rendering._environment.cache_clear()
        yield
    rendering._environment.cache_clear()
    assert NAME not in questions() and question_figure(NAME, []) is None


@pytest.fixture(scope="module")
def answers(tiny_model, tmp_path_factory):
    """Of the four sentences, by `asking.ask`."""
    sample = without_labels("toy", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(TEXTS)])
    store = Store(tmp_path_factory.mktemp("asked"))
    return ask(Explainer(tiny_model("bert")), sample, questions()[NAME](), store)


def test_what_it_comes_to_by_hand(answers):
    """What the new file's own test says of the report; its rows are tested in `test_engine.py`."""
    (rows,) = answers.found.values()
    drops = rows.columns["drop"]
    question = questions()[NAME](enough=float(np.sort(drops)[-2]))
    report = question.conclude(replace(answers, found={question: rows}))
    assert report.drop.mean == pytest.approx(drops.mean()) and report.hang == 0.5
    best = int(drops.argmax())
    result = question_result(NAME, report)
    assert result.outcome is AskedOutcome.FEW_TEXTS and result.fact("hang").value == 0.5
    whole = replace(report, drops=np.tile(drops, 5), tally=WHOLE)
    assert question_result(NAME, whole).name == "some predictions hang on one word"
    assert question_result(NAME, replace(whole, hang=0.0)).name == "no prediction hangs on one word"
    assert headline(question_result(NAME, whole)).startswith("50 % of predictions")
    assert report.words[0] == (drops[best], rows.sentences[rows.columns["word"][best]], f"e{best}")


def test_its_figure_is_found_by_its_name(answers):
    report = questions()[NAME]().conclude(answers)
    (line,) = question_figure(NAME, [report])["data"]
    assert line["y"] == sorted(report.drops, reverse=True)


def test_every_question_has_a_place_on_a_page():
    assert {question.page for question in questions().values()} <= {page.title for page in PAGES}


def test_it_has_a_row_in_the_readme():
    (row,) = [line for line in question_table().splitlines() if f"| {NAME} |" in line]
    assert "drop" in row and "enough" in row and questions()[NAME].asks in row


def test_the_command_asks_it_and_goes_on_where_it_stopped(tiny_model, tmp_path, monkeypatch, capsys):
    model, out = tiny_model("bert"), tmp_path / "found.parquet"
    (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": f"e{i}", "text": text} for i, text in enumerate(TEXTS))))
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("core.loading.loading.load", lambda *_: model)
    command = ["evaluate", "--model", "tiny", "--data", str(tmp_path / "mine.jsonl"), "--out", str(out)]
    asked, again = interrupted(lambda: main([*command, "--what", NAME, "--enough", "0.1"]), Run, "add", 2, out)
    assert sorted(i for _, i, _ in asked + again) == [0, 1, 2, 3] and len(again) == 2
    found = parquet.read_table(out).to_pylist()
    assert [line["row"] for line in found if line["example"] == "e2"] == [3] and all(line["word"] for line in found)
    assert json.loads(parquet.read_schema(out).metadata[b"faithscope"])["enough"] == 0.1
    said = capsys.readouterr().out
    assert "on one word: " in said and "mean fall: " in said and "few texts" in said
    with pytest.raises(SystemExit):
        main([*command, "--what", NAME, "--enough", "0.3"])


def test_the_page_offers_it_runs_it_stops_goes_on_and_saves(fresh, monkeypatch, tmp_path):
    (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": f"e{i}", "text": text} for i, text in enumerate(TEXTS))))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
    st.cache_resource.clear()
    really, held = Run.add, [True]

    def slow(run, i, cancelled):
        while run.done >= 2 and held:
            if cancelled():
                raise Cancelled("stopped")
        really(run, i, cancelled)

    monkeypatch.setattr(Run, "add", slow)
    app = App("pages/data_set.py", section=NAME)
    assert app.outcomes == ["not computed"]
    assert app.widget("button_group", "Enough").value == "0.5" and "forward passes" in app.said
    wait(app.press("Compute one word", exact=False), lambda: "2 of 4 texts" in app.said)
    assert app.outcomes == ["unfinished"]
    wait(app.press("Cancel"), lambda: app.has("button", "Go on with one word"))
    held.clear()
    wait(app.press("Go on with one word", exact=False), lambda: app.outcomes == ["few texts"])
    assert app.at.get("plotly_chart") and "4 of 4 texts" in app.badges
    (table,) = app.tables
    assert table[0] == ["word", "fall ↓", "text"] and len(table) == 1 + 4
    saved = json.loads(app.download("All figures (JSON)"))
    assert saved["tables"][0][1:] == table[1:] and saved["choices"]["enough"] == 0.5
    assert saved["outcome"] == "few texts" and "FEW_TEXTS" in saved["caveats"]
    rows = list(csv.DictReader(io.StringIO(app.download("Table (CSV)").lstrip("\ufeff"))))
    assert {row["example"] for row in rows} == {f"e{i}" for i in range(4)} and all(row["drop"] for row in rows)
