"""The page Data set without a browser: the answer and its numbers, which texts it is about, what cannot be scored, and
work that is stopped.
"""

import csv
import io
import json
import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from core.data.browsing import Index
from core.data.examples import DataSet, Example, read_bundled
from core.evaluation.asking import run_study
from core.evaluation.engine import Run
from core.evaluation.sampling import without_labels
from core.evaluation.studies.diagnosticity_question import HEADER
from core.evaluation.studies.diagnosticity_report import build_diagnosticity_report
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.scoring import RANDOM, SHUFFLED, Scoring
from core.evaluation.study import Answers
from core.explanation.explainer import Explainer
from core.judging.judging import How
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures, swept_measures
from core.network.scheduler import Cancelled
from core.results.caveats import Caveat
from core.results.diagnosticity import diagnosticity_result
from core.texts.rendering import fact_text
from core.validity.marks import SIGN
from pages.parts.frame import resources
from pages.parts.sections.filtered import count_kept, kept_examples, told_of
from pages.parts.sections.studying import StudyWork
from tests.app_session import App, complete, wait
from tests.hostile import lines
from tests.pages.test_pages import no_raw_markup

pytestmark = pytest.mark.usefixtures("server")
METRICS = "SoftFaith’s average ↑"
PAGE, FILTERED = "pages/data_set.py", "what the filter on Examples shows"
# Short ones, so that a test takes no longer than it must.
SHORT = [example for example in read_bundled("reviews") if example.id in ("s041", "s068", "s076", "s096")]
AT_ONCE = StudyWork.at_once
FEW = {RANDOM: 3, SHUFFLED: 2}
CHOSEN = {"section": "diagnosticity", "measures": ["gradient", "attention"], "draws-of-data": "1"}


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """A store of this file's own: what is added here is in nobody else's library."""
    return tmp_path_factory.mktemp("scored") / "cache"


@pytest.fixture(autouse=True)
def few(monkeypatch, server):
    """Three random attributions or two shuffles, and what is not held back starts at once."""
    monkeypatch.setattr("core.evaluation.studies.scoring.COUNTS", FEW)
    monkeypatch.setattr(StudyWork, "at_once", AT_ONCE)
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)


@pytest.fixture
def given(monkeypatch, tmp_path):
    """`given(rows)`: a session on the page whose data is these rows, without labels; four sentences unless others are
    given.
    """

    def session(told=None, name="mine.jsonl", page=PAGE, **query) -> App:
        told = [{"id": e.id, "text": e.text} for e in SHORT] if told is None else told
        (tmp_path / name).write_bytes(lines(*told))
        monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / name))
        st.cache_resource.clear()
        return App(page, **CHOSEN | query)

    return session


def named(app: App, column: str) -> list[list[str]]:
    """The table that has a column."""
    (found,) = [table for table in app.tables if column in table[0]]
    return found


def offered(app: App) -> list[str]:
    """What can be asked for."""
    labels = (button.label.replace("\\", "") for button in app.at.button)
    return [label for label in labels if label.startswith(("Compute", "Go on"))]


def sizes(app: App) -> list[str]:
    """Of how many examples each of them is."""
    return [re.search(r", (.*) examples\)", label)[1] for label in offered(app)]


@pytest.fixture(scope="module")
def by_hand(bundled):
    """What the library says of the four sentences."""

    def told(baseline):
        study = Scoring(("gradient", "attention"), how=How(draws=1), count=FEW[baseline], baseline=baseline)
        return build_diagnosticity_report(
            finish(run_study(Explainer(bundled), without_labels("d", "0" * 64, SHORT), study)),
            "sst2-fmm",
            "mine.jsonl",
            bundled.labels,
        )

    return {baseline: told(baseline) for baseline in FEW}


def close(told: list[str], values: list[float]) -> bool:
    """Whether numbers of a table are these, to three digits."""
    return [float(one) for one in told] == pytest.approx(values, rel=0.006)


def test_the_page_shows_what_the_library_computes(given, by_hand):
    by_hand = by_hand[RANDOM]
    result = diagnosticity_result(by_hand)
    app = complete(given())
    assert app.outcomes == ["few texts"] == [result.name] and not app.errors
    assert app.badges[0] == "4 of 4 texts" and any(Caveat.FEW_TEXTS.badge in one for one in app.badges)
    facts = {f"{one.label} {one.better}": fact_text(replace(one, low=None, high=None)) for one in result.facts[:4]}
    assert app.facts == facts
    drawn = named(app, METRICS)
    assert [row[0] for row in drawn[1:]] == ["NS", "NC", "Soft-NS", "Soft-NC"]
    for name, half, _low, _high, strict, ties, texts, _paper in drawn[1:]:
        cell = by_hand.cells[name, "all"]
        assert close([half, strict, ties, texts], [cell.half.mean, cell.strict.mean, 100 * cell.ties, cell.n])
    assert len(named(app, "interval")) == 1 + 2 * 4 and len(named(app, "ahead")) == 1 + 4
    preferred, lengths = (json.loads(figure.proto.spec)["data"] for figure in app.at.get("plotly_chart"))
    shares = [by_hand.cells[row[0], "all"].half.mean for row in drawn[1:]]
    assert [trace["x"][0] for trace in preferred if trace["name"] == "all measures together"] == pytest.approx(shares)
    # Two measures below each metric, each by itself.
    assert len(preferred) == len(shares) * (1 + 2)
    assert len(lengths) == 2 * 4 * 3
    no_raw_markup(app)


def test_what_stands_behind_a_tab_of_diagnosticity_is_drawn_once_it_is_opened(given):
    app = given()
    complete(app).tabs = False
    app.run()
    assert len(app.at.get("plotly_chart")) == 1 and named(app, METRICS)
    app.at.session_state["parts-of-diagnosticity"] = "By length"
    assert app.run() and len(app.at.get("plotly_chart")) == 2 and len(app.tables) == 0


def test_the_baseline_is_chosen_and_both_stand_beside_each_other(given, by_hand):
    app = complete(given())
    assert all("against random attributions ↑" not in table[0] for table in app.tables)
    app.set("button_group", "Baseline", SHUFFLED)
    complete(app)
    shares = [by_hand[SHUFFLED].cells[name, "all"].half.mean for name in by_hand[SHUFFLED].told]
    assert close([row[1] for row in named(app, "a tie as 0 ↑")[1:]], shares)
    beside = named(app, "against random attributions ↑")
    assert beside[0][::3] == ["metric", "texts"] and "random" in beside[0][1] and "shuffles" in beside[0][2]
    for name, *cells, texts in beside[1:]:
        assert texts == f"{by_hand[RANDOM].cells[name, 'all'].n}"
        assert [cell.split(" [")[0] for cell in cells] == [
            f"{by_hand[baseline].cells[name, 'all'].half.mean:.3f}" for baseline in FEW
        ]
    # What SoftFaith found is of random attributions.
    assert len(beside) == 1 + 4 and not any(METRICS in table[0] for table in app.tables)
    app.set("button_group", "Baseline", RANDOM)
    complete(app)
    assert named(app, "against random attributions ↑") == beside and named(app, METRICS)


def test_a_link_to_what_the_command_line_alone_offers_says_so(given):
    app = complete(given(scaling="softmax"))
    assert app.lacking == ["scaling softmax"] and "scaling" not in app.at.query_params
    assert not any(one.label == "Scaling" for one in app.at.get("button_group"))


def test_a_baseline_that_is_not_known_for_all_texts_does_not_stand_beside(given, bundled):
    app = complete(given())
    with_two = Scoring(("gradient", "attention"), how=How(draws=1), count=FEW[SHUFFLED], baseline=SHUFFLED)
    twice = without_labels("d", "0" * 64, [replace(e, text=f"{e.text} Twice.") for e in SHORT])
    work = run_study(Explainer(bundled), twice, with_two, resources.store())
    next(work)
    work.close()
    told = given([{"id": e.id, "text": f"{e.text} Twice."} for e in SHORT])
    assert named(complete(told), METRICS)
    assert all("against random attributions ↑" not in table[0] for table in told.tables)
    assert not app.errors


def test_what_is_saved_is_every_number(given, by_hand):
    by_hand = by_hand[RANDOM]
    app = complete(given())
    header, *saved = csv.reader(io.StringIO(app.download("Table (CSV)").lstrip("\ufeff")))
    assert tuple(header) == HEADER and len(saved) == 4 * 3 + 2 * 5
    whole = json.loads(app.download("All figures (JSON)"), parse_constant=lambda constant: pytest.fail(constant))
    assert whole["outcome"] == "few texts" and whole["notes"] == whole["caveats"] and "FEW_TEXTS" in whole["caveats"]
    assert whole["facts"]["NS"] == by_hand.cells["NS", "all"].half.mean
    assert len(whole["tests"]) == 4 and len(whole["weights"]) == 64
    assert [float(row[5]) for row in saved] == pytest.approx([one["strict"] for one in whole["diagnosticity"]])


def test_a_second_visit_computes_nothing_and_a_new_measure_only_itself(given, monkeypatch):
    app = complete(given())
    first = named(app, METRICS)
    asked, really = [], Scoring._attribution
    monkeypatch.setattr(
        Scoring,
        "_attribution",
        lambda run, judge, attributed, held: asked.append(attributed.name) or really(run, judge, attributed, held),
    )
    st.cache_resource.clear()
    again = complete(App(PAGE, **CHOSEN))
    assert not asked and named(again, METRICS) == first and not again.has("button", "Compute")
    again.set("multiselect", "Measures", ["gradient", "attention", "input × gradient"])
    complete(again)
    assert asked == ["input × gradient"] * 4 and len(named(again, "interval")) == 1 + 3 * 4


def test_dear_work_says_its_cost_and_waits(given, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = given(
        [{"id": "a", "text": "A film that nobody has scored as yet."}, {"id": "b", "text": "Nor has anybody this one."}]
    )
    assert app.outcomes == ["not computed"]
    assert "forward passes, about" in app.said and not app.at.get("plotly_chart")
    app.press("Compute diagnosticity", exact=False)
    complete(app)
    assert app.outcomes == ["few texts"] and app.badges[0] == "2 of 2 texts" and app.at.get("plotly_chart")


def test_of_many_texts_the_first_come_unasked_and_the_rest_goes_on_from_there(given, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.sections.studying.FEW", 2)
    asked, really = [], Run.add
    monkeypatch.setattr(Run, "add", lambda run, i, stop: asked.append((len(run.sample), i)) or really(run, i, stop))
    told = [{"id": e.id, "text": f"{e.text} And more."} for e in SHORT]
    app = complete(given(told))
    assert asked == [(2, 0), (2, 1)] and app.outcomes == ["few texts"] and app.badges[0] == "first 2 of 4 texts"
    assert sizes(app) == ["4"] and offered(app)[0].startswith("Go on")
    app.press("Go on with diagnosticity", exact=False)
    complete(app)
    assert asked[2:] == [(4, 2), (4, 3)], "what the first gave is not computed again"
    assert app.outcomes == ["few texts"] and app.badges[0] == "4 of 4 texts"
    # Where these take long, too, both wait, and both say how long.
    monkeypatch.setattr("pages.parts.sections.studying._BEGINNING_SECONDS", -1.0)
    app = given([one | {"text": f"{one['text']} Twice."} for one in told])
    assert sizes(app) == ["first 2 of 4", "4"] and len(asked) == 4
    assert all(one.startswith("Compute diagnosticity") for one in offered(app))


def test_all_texts_are_asked_for_while_the_first_stream_and_nothing_is_computed_twice(given, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.sections.studying.FEW", 3)
    asked, really, going = [], Run.add, threading.Event()

    def slow(run, i, cancelled):
        asked.append((len(run.sample), i))
        while run.done and not going.wait(0.02):
            if cancelled():
                asked.pop()
                raise Cancelled("stopped")
        really(run, i, cancelled)

    monkeypatch.setattr(Run, "add", slow)
    app = given([{"id": e.id, "text": f"{e.text} And yet."} for e in SHORT])
    wait(app, lambda: app.outcomes == ["unfinished"] and "1 of 3 texts" in app.said)
    assert app.badges[0] == "first 3 of 4 texts"
    assert sizes(app)[-1] == "4" and offered(app)[-1].startswith("Compute")
    app.press("Compute diagnosticity", exact=False)
    going.set()
    complete(app)
    assert sorted(i for _, i in asked) == [0, 1, 2, 3] and asked[0] == (3, 0), asked
    assert app.outcomes == ["few texts"] and app.badges[0] == "4 of 4 texts"


def test_the_page_opens_with_how_often_measures_beat_chance_each_question_with_its_own_measures(given):
    app = given([{"id": SHORT[0].id, "text": SHORT[0].text}], section=[], measures=[])
    assert app.widget("button_group", "Question").value == "verdicts"
    complete(app)
    assert list(app.widget("multiselect", "Measures").value) == list(default_measures())
    assert app.outcomes == ["few texts"] and app.badges[0] == "1 of 1 texts"
    app.set("button_group", "Question", "diagnosticity")
    assert list(app.widget("multiselect", "Measures").value) == list(swept_measures())
    assert "measures" not in app.at.query_params
    app.set("multiselect", "Measures", ["gradient"])
    app.set("button_group", "Question", "verdicts")
    assert list(app.widget("multiselect", "Measures").value) == ["gradient"], "what is chosen stays"


def test_the_filter_on_examples_says_which_texts(given):
    app = complete(given(texts=FILTERED))
    assert app.badges[0] == "4 of 4 texts" and Caveat.SELECTED.badge not in " ".join(app.badges)
    app = complete(given(texts=FILTERED, search="film"))
    left = sum("film" in example.text.casefold() for example in SHORT)
    assert app.badges[0] == f"{left} of 4 texts"
    picked = complete(given(texts=FILTERED, predicted="positive"))
    assert Caveat.SELECTED.badge in " ".join(picked.badges)
    empty = given(texts=FILTERED, search="zzzz")
    assert "No text is left" in empty.said and not empty.at.get("plotly_chart") and not empty.errors
    empty.set("button_group", "Texts", "all of the data")
    complete(empty)
    assert "No text is left" not in empty.said and empty.at.get("plotly_chart")


@pytest.mark.parametrize(
    "told, outcome",
    [
        ([{"text": SHORT[0].text}], "few texts"),
        ([{"text": "[MASK]"}, {"text": "[MASK] [MASK]"}], "undefined"),
        ([{"text": "\u200b"}, {"text": "\u200b\u200b"}], "no text"),
    ],
)
def test_texts_of_which_little_or_nothing_can_be_said(given, told, outcome):
    app = given(told)
    if app.at.get("progress"):
        complete(app)
    assert app.outcomes == [outcome]
    # What the sidebar says of its one example is no concern of this page.
    assert all("sidebar" in error for error in app.errors)


def test_a_class_that_is_never_predicted_has_no_text(given):
    app = complete(given([{"id": e.id, "text": e.text} for e in SHORT if e.label == SHORT[0].label][:2]))
    counts = dict(named(app, "predicted class")[1:])
    assert sorted(counts.values()) == ["0", "2"]


def test_a_text_of_ones_own_is_one_example():
    app = App("pages/attributions.py").type("A dull film.")
    app.go(PAGE)
    assert any("Choose data" in one.value for one in app.at.info) and not app.errors


def test_nothing_chosen_is_a_sentence(given):
    app = complete(given())
    app.set("multiselect", "Measures", [])
    assert "a measure" in app.at.info[0].value
    assert not app.at.get("plotly_chart") and not app.errors
    app.set("multiselect", "Metrics", [])
    assert "a metric" in app.at.info[0].value and not app.errors
    app.set("multiselect", "Measures", ["gradient"])
    app.set("multiselect", "Metrics", ["NS"])
    complete(app)
    assert app.outcomes == ["few texts"] and not any("ahead" in table[0] for table in app.tables)


def test_scores_are_told_as_means_over_the_texts(given, bundled):
    app = complete(given(section="scores"))
    study = Scoring(("gradient", "attention"), how=How(draws=1), count=FEW[RANDOM])
    found = finish(run_study(Explainer(bundled), without_labels("d", "0" * 64, SHORT), study))
    header, *rows = named(app, "beside baseline")
    assert header == ["measure", "metric", "mean", "95 % low", "95 % high", "beside baseline", SIGN, "texts"]
    lines = ["gradient", "attention", "random"]
    assert [row[0] for row in rows] == [name for name in lines for _ in range(4)]
    for a in range(3):
        values = found.values[:, a if a < 2 else slice(2, None), :, 0].reshape(4, -1, 4)
        means = np.nanmean(np.nanmean(values, axis=1), axis=0)
        assert close([row[2] for row in rows[4 * a : 4 * a + 4]], list(means))
    assert app.outcomes == ["few texts"] and not app.errors
    assert any("Scoreboard" in one.label for one in app.at.get("page_link"))
    assert len(json.loads(app.download("All figures (JSON)"))["examples"]) == 4 * 5 * (6 + 6 + 1 + 1)
    no_raw_markup(app)


def test_limits_are_told_as_mean_naopc_by_the_setting_of_exact_ones(given, bundled, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "16")
    app = complete(given(section="limits"))
    study = LimitsOfTexts(("gradient", "attention"), exact_up_to=16)
    sample = without_labels("d", "0" * 64, SHORT)
    rows = finish(run_study(Explainer(bundled), sample, study))
    report = study.conclude(Answers(bundled, None, sample, {study: rows}))
    _, *told = named(app, "NAOPC")
    assert [row[0] for row in told] == [name for name in report.measures for _ in range(2)] and report.exact < 4
    assert close([row[2] for row in told], [one.mean for name in report.measures for one in report.means[name]])
    assert app.outcomes == ["few texts"] and app.at.get("plotly_chart") and not app.errors
    written = json.loads(app.download("All figures (JSON)"))["examples"]
    assert len(written) == 4 * 2 and {one["method"] for one in written} >= {"insertion"}
    no_raw_markup(app)


def test_a_link_that_asks_for_what_is_not_there_says_so(given):
    app = given(texts="nope")
    assert app.lacking == ["texts nope"] and not app.errors


def test_work_streams_is_stopped_and_goes_on(given, monkeypatch):
    going, really = threading.Event(), Run.add

    def slow(run, i, cancelled):
        if run.done >= 2:
            while not going.wait(0.02):
                if cancelled():
                    raise Cancelled("stopped")
        really(run, i, cancelled)

    monkeypatch.setattr(Run, "add", slow)
    told = [{"id": e.id, "text": f"{e.text} Once more."} for e in SHORT]
    app = given(told)
    wait(app, lambda: "2 of 4 texts" in app.said)
    assert app.outcomes == ["unfinished"] and app.has("button", "Cancel") and app.at.get("plotly_chart")
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Go on with"))
    assert app.outcomes == ["unfinished"] and "2 of 4 texts" in app.said, "what was computed stays"
    going.set()
    app.press("Go on with", exact=False)
    complete(app)
    assert app.outcomes == ["few texts"] and named(app, METRICS)[1][6] == "4"


def test_the_work_is_named_by_all_that_it_rests_on(bundled):
    base = {"explainer": Explainer(bundled), "sample": without_labels("d", "0" * 64, SHORT), "study": Scoring()}
    others = [
        {"sample": without_labels("d", "1" * 64, SHORT)},
        {"sample": without_labels("d", "0" * 64, SHORT[:2])},
        *(
            {"study": study}
            for study in (
                Scoring(measures=("gradient",)),
                Scoring(metrics=("NS",)),
                Scoring(sign="absolute"),
                Scoring(count=5),
                Scoring(unit="token"),
                Scoring(baseline=SHUFFLED),
                *(
                    Scoring(how=How(**change))
                    for change in (
                        {"draws": 2},
                        {"draws": 8, "erasure": "removal"},
                        {"draws": 8, "scaling": "softmax"},
                        {"draws": 8, "seed": 1},
                        {"draws": 8, "placement": "after normalisation"},
                        {"draws": 8, "sigma": 0.5},
                    )
                ),
            )
        ),
    ]
    keys = [StudyWork(**base | change).key for change in ({}, *others)]
    assert len(set(keys)) == len(keys) and np.unique(keys).size == len(others) + 1


def test_every_page_leads_to_where_data_is_added():
    app = App(PAGE)
    app.press("Add data")
    assert app.at.main.expander[0].proto.expanded and app.at.title[0].value.startswith("Which example")
    assert app.at.tabs[0].label.startswith("A text") and app.has("button_group", "From")


def test_a_text_that_is_told_several_times_is_asked_about_once():
    """Of four examples two texts; the filter leaves the last three, which are of both."""
    examples = tuple(Example(f"e{i}", text) for i, text in enumerate(("a", "b", "a", "b")))
    index = Index(DataSet("mine.csv", "0" * 64, examples, ()))
    query = SimpleNamespace(asks_model=False, narrows=True, in_words="tag x")
    frame = SimpleNamespace(browsed=SimpleNamespace(index=index, rows=np.array([3, 2, 1]), query=query, known=None))
    assert [one.id for one in kept_examples(frame, False)] == ["e0", "e1"] and count_kept(frame, False) == 2
    told = told_of(frame, False, examples[:2])
    assert re.findall(r"\d+", told) == ["2", "4"] and told.endswith("mine.csv")
    kept = kept_examples(frame, True)
    assert [one.id for one in kept] == ["e1", "e2"] and count_kept(frame, True) == 2
    told = told_of(frame, True, kept)
    assert re.findall(r"\d+", told) == ["2", "2", "4"] and told.endswith("mine.csv (tag x)")
