"""Behaviour under masking, a part of the page Model check, without a browser: its answer and numbers, what cannot be
judged, and work that is stopped.
"""

import csv
import io
import json
import threading
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

from core.data.examples import DataSet, read_bundled
from core.evaluation.asking import run_study as behave
from core.evaluation.engine import Run
from core.evaluation.sampling import draw_sample
from core.evaluation.studies import embedding_map
from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.behaviour_question import behaviour_rows
from core.evaluation.studies.behaviour_report import behaviour_report
from core.evaluation.studies.fewest import FewestFeatures
from core.explanation.explainer import Explainer
from core.figures.behaviour_figures import behaviour_panels
from core.mathematics.stepwise import finish
from core.network.scheduler import Cancelled
from core.oracle.erasing import REMOVAL
from core.results.behaviour import BehaviourOutcome, behaviour_result
from core.results.caveats import Caveat
from core.texts.rendering import headline
from pages.parts.sections.studying import StudyWork
from tests.app_session import App, complete, wait
from tests.evaluation.test_behaviour import COLUMNS
from tests.hostile import lines
from tests.pages.test_pages import no_raw_markup

pytestmark = pytest.mark.usefixtures("server")
PAGE, PART = "pages/model_check.py", "behaviour"
SHORT = [
    example for example in read_bundled("reviews") if example.id in ("s041", "s068", "s076", "s096", "s180", "s205")
]
AT_ONCE = StudyWork.at_once
CHANCE, GRADIENT = Course(), Course("gradient")


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """A store of this file's own."""
    return tmp_path_factory.mktemp("behaved") / "cache"


@pytest.fixture(autouse=True)
def at_once(monkeypatch, server):
    """Everything starts at once; a map is where the embeddings' first two numbers say."""
    monkeypatch.setattr(StudyWork, "at_once", AT_ONCE)
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)
    # The tab Attacks has a file of its own.
    monkeypatch.setattr("pages.parts.check.attacking.draw_attacks", lambda *_: None)
    monkeypatch.setattr(embedding_map, "_umap", lambda states: states[:, :2].copy())


@pytest.fixture
def alone(monkeypatch):
    """No other model stands beside unasked."""
    monkeypatch.setattr("core.evaluation.families.relatives", lambda *_: [])


@pytest.fixture
def given(monkeypatch, tmp_path):
    """`given(rows)`: a session whose data is these rows; six sentences unless others are given."""

    def session(told=None, name="mine.jsonl", **query) -> App:
        told = [{"id": e.id, "text": e.text, "label": e.label} for e in SHORT] if told is None else told
        (tmp_path / name).write_bytes(lines(*told))
        monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / name))
        st.cache_resource.clear()
        return App(PAGE, **({"part": PART, "measures": ["gradient"]} | query))

    return session


def by_library(model, courses, examples=SHORT):
    sample = draw_sample(DataSet("mine.jsonl", "0" * 64, tuple(examples), ("negative", "positive")), model.labels, 50)
    return behaviour_report(
        model, sample, {course: finish(behave(Explainer(model), sample, course)) for course in courses}
    )


def rows_of(app: App) -> list[list[str]]:
    """The table of orders, without its head."""
    (found,) = [table for table in app.tables if "normalised ↑" in table[0]]
    return found[1:]


def charts(app: App) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.at.get("plotly_chart")]


def test_the_page_says_what_the_library_says(given, bundled, twin):
    app = complete(given())
    mine, other = by_library(bundled, [CHANCE, GRADIENT]), by_library(twin, [CHANCE, GRADIENT])
    result = behaviour_result(mine)
    (found,) = (one for one in app.headlines if one[0] == "behaviour")
    assert found[1:] == (result.outcome.value, headline(result)) and not app.errors
    lines = [(one, line) for one in (mine, other) for line in one.lines]
    assert [row[:2] for row in rows_of(app)] == [[one.model, line.course.measure] for one, line in lines], (
        "the plain twin stands beside it unasked"
    )
    for row, (_, line) in zip(rows_of(app), lines):
        assert row[2] == f"{line.fidelity.mean:.3g}" and row[5] == f"{100 * line.never:.3g}"
        assert row[4] == ("0" if line.course.random else "—") and row[-1] == "6"
        assert row[8:10] == [f"{100 * line.spread[k]:.3g}" for k in (5, 10)]
    specs = charts(app)
    # Model check's own picture has as many panels: the curves are told apart by their names.
    names = [trace.get("name") for trace in behaviour_panels([mine, other])["data"]]
    panels = next(one for one in specs if [trace.get("name") for trace in one["data"]] == names)
    assert [trace["y"] for trace in panels["data"]] == [
        pytest.approx(trace["y"], abs=1e-2) for trace in behaviour_panels([mine, other])["data"]
    ]
    shares = [f"{share} masked" for share in ("0 %", "20 %", "50 %", "80 %", "100 %")]
    maps = maps_of(app)
    assert len(maps) == 2 and [trace["name"] for trace in maps[0]["data"]] == ["the chosen example", *shares]
    app.set("button_group", "Colour by", "prediction")
    assert {trace["name"] for trace in maps_of(app)[0]["data"][1:]} <= {
        "prediction: negative",
        "prediction: positive",
    } and not app.errors


def test_fidelity_is_normalised_once_the_fewest_words_are_searched(given, alone, bundled):
    app = complete(given(fewest="searched"))
    sample = draw_sample(DataSet("mine.jsonl", "0" * 64, tuple(SHORT), ("negative", "positive")), bundled.labels, 50)
    mine = behaviour_report(
        bundled,
        sample,
        {course: finish(behave(Explainer(bundled), sample, course)) for course in (CHANCE, GRADIENT)},
        finish(behave(Explainer(bundled), sample, FewestFeatures())),
    )
    assert [row[4] for row in rows_of(app)] == ["0", f"{mine.lines[1].normalised:.3g}"]
    told = json.loads(saved(app, "json"))["models"][0]
    assert told["largest_fidelity"] == pytest.approx(mine.best) and 0 < mine.lines[1].normalised < 1


def test_what_is_saved_is_every_number(given, alone, bundled):
    app, mine = complete(given()), by_library(bundled, [CHANCE, GRADIENT])
    header, *rows = csv.reader(io.StringIO(saved(app, "csv").lstrip("\ufeff")))
    assert header == COLUMNS and len(rows) == 22
    for row, wanted in zip(rows, [list(one.values()) for one in behaviour_rows(mine)]):
        assert row[:3] == wanted[:3] and [float(cell) if cell else None for cell in row[3:]] == [
            None if x != x else pytest.approx(x, abs=1e-3) for x in wanted[3:]
        ]
    told = json.loads(saved(app, "json"), parse_constant=lambda constant: pytest.fail(constant))
    result = behaviour_result(mine)
    assert told["answer"] == [headline(result)] and told["models"][0]["outcome"] == result.outcome.value
    assert [one["measure"] for one in told["models"][0]["curves"]] == ["random order", "gradient"]


def test_the_tab_starts_its_work_once_it_is_open(given, alone, monkeypatch, fresh):
    asked, really = [], Run.add
    monkeypatch.setattr(Run, "add", lambda run, i, cancelled: asked.append(run.study.name) or really(run, i, cancelled))
    monkeypatch.setattr(App, "tabs", False)
    app = complete(given(measures=["gradient"], computed="once", part="in-distribution"))
    assert set(asked) == {"model check"}
    del asked[:]
    app.at.session_state["parts-of-check"] = "Behaviour"
    complete(app.run())
    assert set(asked) == {"behaviour"} and len(rows_of(app)) == 2
    # A link opens it at once.
    assert len(rows_of(complete(App(PAGE, part=PART, measures=["gradient"])))) == 2


def test_a_second_visit_computes_nothing_and_another_erasure_its_own(given, alone, monkeypatch, bundled):
    first = rows_of(complete(given()))
    asked, really = [], Run.add
    monkeypatch.setattr(
        Run, "add", lambda run, i, cancelled: asked.append(run.study.erasure) or really(run, i, cancelled)
    )
    monkeypatch.setattr(embedding_map, "_umap", lambda _: pytest.fail("the map is in the store"))
    st.cache_resource.clear()
    app = complete(App(PAGE, part=PART, measures=["gradient"]))
    assert not asked and rows_of(app) == first and len(maps_of(app)) == 1
    monkeypatch.setattr(embedding_map, "_umap", lambda states: states[:, :2].copy())
    complete(app.set("selectbox", "Erase by", REMOVAL))
    found = by_library(bundled, [replace(CHANCE, erasure=REMOVAL)]).lines[0]
    assert (
        set(asked) == {REMOVAL}
        and rows_of(app)[0][2] == f"{found.fidelity.mean:.3g}"
        and app.at.query_params["erasure"] in (REMOVAL, [REMOVAL])
    )


def test_one_example_one_word_and_masked_texts_have_caveats(given, alone):
    app = complete(given([{"id": "a", "text": "Wonderful", "label": "positive"}]))
    assert outcome_of(app) == BehaviourOutcome.NOT_KNOWN.value and f"⚠ {Caveat.SINGLE_FEATURE.badge}" in app.badges
    row, _ = rows_of(app)
    assert [row[k] for k in (2, 4, 5, 8, 9)] == ["—", "0", "—", "—", "—"] and not maps_of(app)
    app = complete(given([{"id": "a", "text": "[MASK] [MASK]", "label": "positive"}]))
    assert "masked already" in app.said and outcome_of(app) == BehaviourOutcome.NOT_KNOWN.value


def test_without_umap_everything_else_is_there(given, alone, monkeypatch):
    monkeypatch.setattr("pages.parts.check.tabs.can_map", lambda: False)
    app = complete(given())
    assert "UMAP" in app.at.info[0].value and len(rows_of(app)) == 2 and not maps_of(app)


def test_names_of_other_people_are_shown_as_written(given, alone, monkeypatch, bundled):
    import core.loading.loading as loading

    labels = ("<img src=x onerror=alert(1)>", "**b** $x$ [y](z) :smile:")
    monkeypatch.setattr(
        loading, "load", lambda *_: replace(bundled, labels=labels, name="<script>m</script>", card=None)
    )
    names = dict(zip(("negative", "positive"), labels))
    app = complete(
        given(
            [{"id": f"<script>{e.id}</script>", "text": e.text, "label": names[e.label]} for e in SHORT],
            "<b>mine.jsonl",
            colour="label",
        )
    )
    assert len(rows_of(app)) == 2 and not app.errors
    no_raw_markup(app, "**b**", "<b>mine")
    drawn = json.dumps([chart["data"] for chart in charts(app)])
    assert "<script" not in drawn and "<img" not in drawn and "label: &lt;img" in drawn


def test_cancelling_keeps_what_is_there_and_asking_again_goes_on(given, alone, monkeypatch, fresh):
    let_go, really, asked = threading.Event(), Run.add, []

    def add(run, i, cancelled):
        while run.study.name == "behaviour" and i >= 3 and not let_go.wait(0.02):
            if cancelled():
                raise Cancelled("stopped")
        asked.append((run.study.name, i))
        return really(run, i, cancelled)

    def counts() -> list[str]:
        return [row[-1] for row in rows_of(app)] if any("normalised ↑" in table[0] for table in app.tables) else []

    monkeypatch.setattr(Run, "add", add)
    try:
        app = given()
        # Both courses take turns, and the second may be an example behind the first.
        wait(app, lambda: counts() == ["3", "3"])
        assert outcome_of(app) == BehaviourOutcome.RUNNING.value and not maps_of(app)
        wait(app, lambda: len([one for one in app.at.get("button") if one.label == "Cancel"]) == 1)
        app.press("Cancel")
        wait(app, lambda: app.has("button", "Go on with random order"))
        assert "Cancelled" in app.said
        let_go.set()
        del asked[:]
        complete(app.press("Compute all 2 parts"))
        assert sorted({i for name, i in asked if name == "behaviour"}) == [3, 4, 5]
        assert counts() == ["6", "6"] and outcome_of(app) == BehaviourOutcome.RANDOM_ALONE.value and maps_of(app)
    finally:
        let_go.set()


def test_a_fidelity_that_rests_on_nothing_is_a_dash_and_no_number_is_nan(given, alone):
    app = complete(
        given(
            [
                {"id": str(i), "text": word, "label": label}
                for i, (word, label) in enumerate([("Dull", "negative"), ("Great", "positive")])
            ]
        )
    )
    assert all(
        row[2] == "—" and "nan" not in " ".join(row) for row in rows_of(app)
    ) and "nan" not in app.said.lower().replace("financ", "")
    assert np.isfinite([float(cell) for cell in rows_of(app)[0][6:8]]).all()


def outcome_of(app: App) -> str:
    """The outcome of this tab."""
    return next(outcome for question, outcome, _ in app.headlines if question == "behaviour")


def maps_of(app: App) -> list[dict]:
    """The maps: figures in which a click selects."""
    return [one for one in charts(app) if one["layout"].get("clickmode")]


def saved(app: App, ending: str) -> str:
    """The file of this tab."""
    return next(text for name, text in app.downloads.items() if name.startswith("behaviour") and name.endswith(ending))
