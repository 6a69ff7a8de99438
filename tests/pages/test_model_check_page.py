"""The page Model check without a browser: the verdict and its numbers, choices in the address, what cannot be checked,
and work that is stopped.
"""

import csv
import io
import json
import re
import threading
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

from core.data.examples import DataSet, read_bundled
from core.data.parsed import BadData
from core.evaluation.asking import run_study as check
from core.evaluation.engine import Run
from core.evaluation.sampling import draw_sample
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_question import check_json, check_rows
from core.evaluation.studies.check_report import build_check_report
from core.evaluation.studies.check_tables import faithfulness_table
from core.evaluation.studies.disagreement import disagreement
from core.evaluation.studies.model_check import Curve
from core.explanation.explainer import Explainer
from core.figures.check_figures import p_panels, panels
from core.mathematics.stepwise import finish
from core.network.scheduler import Cancelled, Scheduler
from core.results.caveats import Caveat
from core.results.model_check import ModelCheckOutcome, check_result
from core.texts.rendering import fact_label, fact_text, headline
from core.validity.references import CALIBRATED, LITERAL, find_reference
from core.wording import percent
from pages.parts.sections.asking import SIZES, sizes_of
from pages.parts.sections.filtered import FILTERED
from pages.parts.sections.studying import StudyWork
from tests import tiny
from tests.app_session import App, complete, unescaped, wait
from tests.evaluation.test_model_check import COLUMNS
from tests.hostile import lines
from tests.pages.test_pages import no_raw_markup

pytestmark = pytest.mark.usefixtures("server")
PAGE = "pages/model_check.py"
# Short ones, which the model gets right until most is masked.
SHORT = [
    example for example in read_bundled("reviews") if example.id in ("s041", "s068", "s076", "s096", "s180", "s205")
]
CHANCE, GRADIENT = Curve(), Curve("gradient")
AT_ONCE = StudyWork.at_once
ONCE = tuple(Curve(name, recompute=False) for name in ("gradient", "attention"))


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """A store of this file's own: what is added here is in nobody else's library."""
    return tmp_path_factory.mktemp("checked") / "cache"


@pytest.fixture(autouse=True)
def at_once(monkeypatch, server):
    """What is not held back starts at once."""
    monkeypatch.setattr(StudyWork, "at_once", AT_ONCE)
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)
    # The tabs Behaviour and Attacks, and models side by side, have files of their own.
    monkeypatch.setattr("pages.parts.check.tabs._draw_side_by_side", lambda *_: None)
    monkeypatch.setattr("pages.parts.check.tabs.draw_behaviour", lambda *_: None)
    monkeypatch.setattr("pages.parts.check.attacking.draw_attacks", lambda *_: None)


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
        return App(PAGE, **query)

    return session


def sizes(app: App) -> set[tuple[str, str]]:
    """What can be computed, and on how many examples."""
    labels = (button.label.replace("\\", "") for button in app.at.get("button"))
    found = (re.fullmatch(r"Compute (.*) \(.*, (.*) examples\)", label) for label in labels)
    return {(one[1], one[2]) for one in found if one}


def library(model, curves, examples=SHORT):
    """What the library says of the six sentences."""
    explainer = Explainer(model, None, find_reference(model))
    sample = draw_sample(DataSet("mine.jsonl", "0" * 64, tuple(examples), ("negative", "positive")), model.labels, 50)
    passed = {curve: finish(check(explainer, sample, curve)) for curve in curves}
    return build_check_report(model, explainer.reference, sample, passed), passed


@pytest.fixture(scope="module")
def by_hand(bundled, twin):
    return library(bundled, [CHANCE, GRADIENT])[0], library(twin, [CHANCE])[0]


def named(app: App, column: str) -> list[list[str]]:
    """The table that has a column."""
    (found,) = [table for table in app.tables if column in table[0]]
    return found


def charts(app: App) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.at.get("plotly_chart")]


def answered(app: App) -> bool:
    return any("all masked ↑" in table[0] for table in app.tables)


# What it says


def test_the_page_says_what_the_library_says(given, by_hand):
    app = complete(given(measures=["gradient"]))
    mine, other = by_hand
    result, beside = check_result(mine), check_result(other)
    assert app.headlines[0][1:] == (result.outcome.value, headline(result)) and not app.errors
    assert app.badges[0] == f"sst2-plain: {beside.outcome.answer}"
    assert set(app.badges[1:4]) <= {f"⚠ {one.badge}" for one in result.caveats} and len(app.badges) >= 3
    assert list(app.facts.items())[:4] == [
        (fact_label(one), fact_text(replace(one, low=None, high=None))) for one in result.facts[:4]
    ]
    header, *drawn = named(app, "all masked ↑")
    assert [row[0] for row in drawn] == ["sst2-fmm", "sst2-plain"], (
        "the one that was trained without masking stands beside it unasked"
    )
    for row, one in zip(drawn, by_hand):
        assert row[2:5] == [percent(value) for value in (one.unmasked, one.masked, one.majority)]
        for form, at in ((CALIBRATED, 5), (LITERAL, 7)):
            p, ratio = one.smallest(form)
            assert row[at : at + 2] == [f"{p:.3g}", f"{100 * ratio:.0f} %"]
        assert row[9:12] == [f"{one.random.rejected[CALIBRATED][k]}" for k in (0, 5, 10)]
        assert row[header.index("⚠")] == ("⚠" if one.random.marked(CALIBRATED) else "—") and row[-1] == f"{one.n}"
    found = check_findings([mine, other])
    assert [row[0] for row in named(app, "FMM found")[1:]] == [one.claim for one in found]
    assert [row[2:4] for row in named(app, "FMM found")[1:]] == [[one.here, one.word] for one in found]
    specs = charts(app)
    for place, expected in ((0, panels([mine, other])["data"]), (2, p_panels([mine, other])["data"])):
        shown = specs[place]
        assert len(shown["data"]) == len(expected)
        for drawn, wanted in zip(shown["data"], expected):
            assert drawn["name"] == wanted["name"] and drawn["y"] == pytest.approx(wanted["y"], abs=1e-3)
    assert len([trace for trace in specs[1]["data"] if trace["mode"] == "lines"]) == 3


def test_what_stands_behind_a_tab_of_the_check_is_drawn_once_it_is_opened(given, alone):
    app = given()
    complete(app).tabs = False
    app.run()
    before = len(charts(app))
    app.at.session_state["parts-of-check"] = "p-values"
    assert app.run() and len(charts(app)) == 2
    # The first tab has a picture of its own where a card tells of relatives.
    app.at.session_state["parts-of-check"] = "Measures"
    assert app.run() and len(charts(app)) == 1 and before == 2


def test_what_is_saved_is_every_number(given, by_hand):
    app = complete(given(measures=["gradient"]))
    header, *written = csv.reader(io.StringIO(saved(app, "csv").lstrip("\ufeff")))
    expected = [list(row.values()) for one in by_hand for row in check_rows(one)]
    assert header == COLUMNS and len(written) == len(expected) == 33
    for row, wanted in zip(written, expected):
        assert row[:2] == wanted[:2] and [float(cell or "nan") for cell in row[2:]] == pytest.approx(
            [float("nan") if cell == "" else cell for cell in wanted[2:]], abs=1e-3, nan_ok=True
        )
    whole = json.loads(saved(app, "json"), parse_constant=lambda constant: pytest.fail(constant))["models"]
    assert [one["sentence"] for one in whole] == [headline(check_result(one)) for one in by_hand]
    assert [one["outcome"] for one in whole] == [check_result(one).outcome.value for one in by_hand]
    assert [one["caveats"] for one in whole] == [[each.name for each in check_result(one).caveats] for one in by_hand]
    assert [line["performance"] for one in whole for line in one["curves"]] == [
        line["performance"] for one in by_hand for line in check_json(one)["curves"]
    ]


def test_a_second_visit_computes_nothing_and_a_new_measure_only_itself(given, monkeypatch, alone):
    app = complete(given(measures=["gradient"]))
    assert answered(app)
    asked, really = [], Run.add
    monkeypatch.setattr(
        Run, "add", lambda run, i, cancelled: asked.append(run.study.measure) or really(run, i, cancelled)
    )
    st.cache_resource.clear()
    again = complete(App(PAGE, measures=["gradient"]))
    assert (
        not asked and named(again, "all masked ↑") == named(app, "all masked ↑") and not again.has("button", "Compute")
    )
    again.set("multiselect", "Measures", ["gradient", "attention"])
    complete(again)
    assert asked == ["attention"] * len(SHORT) and any(
        "attention" in trace["name"] for trace in charts(again)[0]["data"]
    )


# What is chosen


def test_sample_and_choices_stand_in_the_address_and_slow_work_waits(monkeypatch, alone):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.sections.studying._LEADING_SECONDS", 0.0)
    monkeypatch.setattr("core.evaluation.engine.Run.read", lambda run: None)
    app = App(
        PAGE,
        data="contrast pairs",
        sample="50",
        measures=["leave-one-out"],
        computed="once",
        values="absolute",
        form=LITERAL,
    )
    assert app.widget("button_group", "Sample").value == "50" and app.widget("multiselect", "Measures").value == [
        "leave-one-out"
    ]
    assert (
        app.widget("button_group", "Compute the measure").value == "once"
        and app.widget("button_group", "Values").value == "absolute"
    )
    asked = sizes(app)
    assert ("random order", "50") in asked
    assert any(name.startswith("leave") and name.endswith("once") and size == "50" for name, size in asked)
    assert (
        app.at.query_params["sample"] in ("50", ["50"])
        and app.outcomes[0] == ModelCheckOutcome.RUNNING.value
        and re.search(r"[\d,]+ forward passes", app.said)
        and not charts(app)
    )
    app.set("button_group", "Sample", "100")
    assert ("random order", "86") in sizes(app)
    # All of them are what a link without a sample means, where there are no more.
    assert app.widget("button_group", "Sample").options == ["50", "all 86"] and "sample" not in app.at.query_params


def test_another_form_draws_the_other_rejected_shares(given, by_hand):
    app = complete(given(measures=["gradient"]))
    literal = complete(given(measures=["gradient"], form=LITERAL))
    for shown, form in ((app, CALIBRATED), (literal, LITERAL)):
        shares = [trace["y"] for trace in charts(shown)[0]["data"] if trace.get("yaxis") == "y2"]
        assert shares[0] == pytest.approx(
            (100 * by_hand[0].random.share(form)).tolist()
        ) and f", {form})" in json.dumps(charts(shown)[0])


def test_the_check_can_be_of_what_the_filter_shows(given, alone, monkeypatch, bundled):
    asked, really, keys, key_of = [], Run.add, set(), StudyWork.key.func
    monkeypatch.setattr(StudyWork, "key", property(lambda work: keys.add(key := key_of(work)) or key))
    whole = complete(given(measures=["gradient"]))
    works = set(keys)
    monkeypatch.setattr(
        Run, "add", lambda run, i, cancelled: asked.append(run.sample.examples[i].id) or really(run, i, cancelled)
    )
    # Without a filter it is the same work, whichever is chosen.
    app = complete(given(measures=["gradient"], texts=FILTERED))
    assert keys == works and not app.has("button", "Compute")
    assert named(app, "all masked ↑") == named(whole, "all masked ↑") and app.facts == whole.facts
    app = complete(given(measures=["gradient"], texts=FILTERED, label="positive"))
    positive = [e for e in SHORT if e.label == "positive"]
    assert app.facts["texts"] == f"{len(positive)} of {len(positive)}" and "(label positive)" in app.said
    assert not asked and app.headlines[0][2] == headline(check_result(library(bundled, [CHANCE], positive)[0]))
    empty = given(measures=["gradient"], texts=FILTERED, search="zebra crossing")
    assert "No text is left" in empty.said and not charts(empty) and not empty.errors


def test_texts_picked_by_the_prediction_give_no_verdict_on_the_model(given):
    app = complete(given(measures=["gradient"], texts=FILTERED, outcome="right"))
    assert app.outcomes[0] == ModelCheckOutcome.NOT_KNOWN.value and f"⚠ {Caveat.SELECTED.badge}" in app.badges
    assert app.facts["accuracy, unmasked ↑"] == "100 %"
    assert not any("FMM found" in table[0] for table in app.tables)
    told = json.loads(saved(app, "json"))["models"][0]
    assert told["outcome"] == ModelCheckOutcome.NOT_KNOWN.value and Caveat.SELECTED.name in told["caveats"]
    assert told["verdict"] == "picked texts" and told["data"] == "mine.jsonl, filtered"


@pytest.mark.parametrize(
    "query", [{"sample": "7"}, {"measures": ["nope"]}, {"models": ["nobody"]}, {"computed": "never"}]
)
def test_a_link_that_asks_for_what_is_not_there_says_so(query, monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("pages.parts.sections.studying._LEADING_SECONDS", 0.0)
    app = App(PAGE, data="contrast pairs", **query)
    assert len(app.lacking) == 1 and app.has("multiselect", "Measures") and not app.errors


# What cannot be checked


def test_a_text_of_ones_own_has_no_label():
    app = App("pages/attributions.py").type("A dull film.")
    app.go(PAGE)
    assert "no label" in app.at.info[0].value and not charts(app) and not app.errors


def test_data_that_cannot_be_read_any_more_is_no_text_of_ones_own(monkeypatch):
    def gone(key):
        raise BadData("It was there a moment ago.")

    app = App("pages/attributions.py")
    monkeypatch.setattr("pages.parts.frame.data.index", gone)
    app.go(PAGE)
    assert len(app.errors) == 1 and "a moment ago" in app.errors[0] and not app.at.info


def test_data_without_labels_or_of_another_task_are_a_sentence_and_the_page_goes_on(given, alone):
    app = given([{"text": e.text} for e in SHORT], measures=["gradient"])
    assert len(app.errors) == 1 and "mine.jsonl" in app.errors[0] and "no labels" in app.errors[0] and not charts(app)
    app.set("selectbox", "Data", "stories 1")
    assert len(app.errors) == 1 and "stories 1" in app.errors[0] and "negative, positive" in app.errors[0]
    app.set("button_group", "Sample", "50")
    assert len(app.errors) == 1 and app.has("multiselect", "Measures")
    app.set("selectbox", "Data", "contrast pairs")
    assert not app.errors
    app.press("Cancel")


def test_a_model_without_a_card_or_reference_is_not_tested(given, tiny_root, monkeypatch):
    folder = str(tiny.folder("bert", tiny_root))
    monkeypatch.setenv("FAITHSCOPE_MODEL", folder)
    app = complete(
        given(
            [{"text": text, "label": tiny.LABELS[i % 3]} for i, text in enumerate(tiny.SENTENCES[:9])],
            measures=["leave-one-out"],
        )
    )
    assert app.outcomes[0] == ModelCheckOutcome.NOT_KNOWN.value and not app.errors
    assert {f"⚠ {one.badge}" for one in (Caveat.FEW_TEXTS, Caveat.NOT_TESTED)} <= set(app.badges)
    assert any("python -m core reference" in one.value for one in app.at.code)
    (row,) = named(app, "all masked ↑")[1:]
    assert row[1] == "no card" and row[5:] == [*["—"] * 8, "9"]
    first = charts(app)[0]
    assert {trace.get("yaxis", "y") for trace in first["data"]} == {"y"}
    assert not any("FMM found" in table[0] for table in app.tables)


def test_a_model_of_another_task_beside_it_is_a_sentence(given, tiny_root, monkeypatch):
    folder = str(tiny.folder("bert", tiny_root))
    monkeypatch.setenv("FAITHSCOPE_MODEL", f"sst2-fmm;{folder}")
    app = complete(given(measures=["gradient"], models=[folder]))
    assert any("no class" in one.value for one in app.at.warning)
    # A folder is called by its name; where it lies is said where models are chosen.
    assert folder not in "".join(options for box in app.at.multiselect for options in box.options)
    assert folder in unescaped(app.widget("selectbox", "Model").help)
    assert [row[0] for row in named(app, "all masked ↑")[1:]] == ["sst2-fmm"] and not app.errors


def test_what_is_left_out_is_counted_and_said(given, alone, bundled):
    told = [{"text": e.text, "label": e.label} for e in SHORT] + [
        {"text": "\u200b", "label": "positive"},
        {"text": "A dull film.", "label": "dull"},
    ]
    # The first example is shown in the sidebar, the last two are not.
    app = complete(given(told, measures=["gradient"]))
    assert (
        "Left out (1 example)" in app.said
        and "tokenizer" in app.said
        and "1 of 8" in app.said
        and app.facts["texts"] == "6 of 7"
    )
    assert app.headlines[0][2] == headline(check_result(library(bundled, [CHANCE])[0]))


def test_an_example_that_cannot_be_shown_changes_nothing_of_what_is_checked(given, alone, monkeypatch):
    asked, really = set(), Run.add
    monkeypatch.setattr(Run, "add", lambda run, i, cancelled: asked.add(run.study.unit) or really(run, i, cancelled))
    app = complete(
        given(
            [{"text": "\u200b", "label": "positive"}, {"text": SHORT[0].text, "label": "negative"}],
            measures=["gradient"],
            unit="token",
            computed="once",
        )
    )
    assert asked == {"token"} and answered(app) and len(app.errors) == 1 and "one word" in app.errors[0]


def test_a_filter_that_leaves_no_example_changes_nothing_of_what_is_checked(given, alone):
    app = complete(given(measures=["gradient"], computed="once", search="zebra crossing", unit="nonsense"))
    assert answered(app) and len(app.errors) <= 1 and app.facts["texts"] == "6 of 6"


def test_a_card_that_does_not_say_what_it_was_trained_on_is_no_error(given, monkeypatch, bundled):
    import core.loading.loading as loading

    card = {name: value for name, value in bundled.card.items() if name != "data"}
    really = loading.load
    monkeypatch.setattr(
        loading, "load", lambda name, *more: replace(bundled, card=card) if name == "sst2-fmm" else really(name, *more)
    )
    app = complete(given(measures=["gradient"]))
    assert [row[0] for row in named(app, "all masked ↑")[1:]] == ["sst2-fmm"] and not app.errors
    assert "By their cards" not in app.said


# Evidence


def told_with_evidence(rename=str) -> list[dict]:
    """Each sentence with its longest word as the evidence."""
    longest = [max(e.text.split(), key=len).strip(".,!?'") for e in SHORT]
    return [
        {"id": rename(e.id), "text": e.text, "label": e.label, "evidence": [word]} for e, word in zip(SHORT, longest)
    ]


def test_finding_the_evidence_stands_beside_faithfulness(given, alone, bundled):
    told = told_with_evidence()
    app = complete(given(told, measures=["gradient", "attention"], computed="once"))
    examples = [
        replace(
            e,
            evidence=((e.text.index(row["evidence"][0]), e.text.index(row["evidence"][0]) + len(row["evidence"][0])),),
        )
        for e, row in zip(SHORT, told)
    ]
    found, passed = library(bundled, [CHANCE, *ONCE], examples)
    lines_ = [line for line in found.lines if not line.curve.random]
    header, *drawn = named(app, "recall of top k ↑")
    assert [row[0] for row in drawn] == ["gradient, computed once", "attention, computed once", "random order"]
    at = {name: place for place, name in enumerate(header)}
    assert drawn[-1][1] == drawn[-1][3] == "0"
    assert float(drawn[-1][at["average precision ↑"]]) == pytest.approx(lines_[0].chance, rel=6e-3)
    for row, line in zip(drawn, lines_):
        values = faithfulness_table(found, CALIBRATED)[1][lines_.index(line)]
        assert [row[at[name]] for name in ("against random order", "⚠")] == [
            "—",
            "⚠" if found.marked(line, CALIBRATED) else "—",
        ]
        for name in ("ACU ↑", "average precision ↑", "recall of top k ↑"):
            assert float(row[at[name]]) == pytest.approx(values[at[name]], rel=6e-3)
        assert float(row[at["average precision ↑"]]) == pytest.approx(line.precision, rel=6e-3) and row[-1] == "6"
    parts = disagreement(passed)
    example = found.sample.examples[parts.place].id
    (pair,) = (table for table in app.tables if table[0] == ["measure", "average precision ↑", "ACU ↑"])
    assert [row[0] for row in pair[1:]] == [parts.finder, parts.faithful]
    app.press(f"Choose {example}")
    assert app.example == example


def test_without_evidence_no_column_is_of_it(given, alone):
    app = complete(given(measures=["gradient"]))
    assert not any("average precision ↑" in table[0] for table in app.tables) and not app.has("button", "Choose ")


def test_no_measure_is_called_faithful_where_nothing_changes_under_masking(given, alone, monkeypatch, bundled, fresh):
    # Whatever it reads, the model says the same: RACU has no denominator.
    really = bundled.scheduler.network

    def network(ids, *more):
        _logits, states = really(ids, *more)
        return np.tile(np.array([[0, 1]], dtype=np.float32), (len(ids), 1)), states

    monkeypatch.setattr(bundled.scheduler, "network", network)
    app = complete(given(told_with_evidence(), measures=["gradient", "attention"], computed="once"))
    header, *rows = named(app, "recall of top k ↑")
    assert {row[1] for row in rows[:-1]} == {"—"} == {row[header.index("against random order")] for row in rows}


# Hostile names


def test_names_of_other_people_are_shown_as_written(given, alone, monkeypatch, bundled):
    import core.loading.loading as loading

    labels = ("<img src=x onerror=alert(1)>", "**b** $x$ [y](z) :smile:")
    monkeypatch.setattr(
        loading, "load", lambda *_: replace(bundled, labels=labels, name="<script>m</script>", card=None)
    )
    names = dict(zip(("negative", "positive"), labels))
    told = [
        row | {"label": names[row["label"]]} for row in told_with_evidence(lambda id: f"<script>{id}</script> **x**")
    ]
    told.append({"text": "A dull film.", "label": "<script>attic</script>", "id": "z", "evidence": []})
    app = complete(given(told, "<b>mine.jsonl", measures=["gradient", "attention"], computed="once"))
    assert answered(app) and not app.errors and "<script>m</script>" in app.headlines[0][2]
    no_raw_markup(app, "**b**", "<b>mine")
    assert "<script" not in json.dumps([chart["data"] for chart in charts(app)])


def test_labels_of_another_task_are_shown_as_written(given):
    app = given([{"text": e.text, "label": ("<img src=x>", "**b** $x$")[i % 2]} for i, e in enumerate(SHORT)])
    assert len(app.errors) == 1 and "<img src=x>" in app.errors[0]
    no_raw_markup(app, "**b**")


# Work that is stopped


@pytest.fixture
def held_back(monkeypatch, fresh):
    """Checks that stand still before their fourth example until they are let go or told to stop; what was computed is
    counted.
    """
    let_go, really, asked = threading.Event(), Run.add, []

    def add(run, i, cancelled):
        while i >= 3 and not let_go.wait(0.02):
            if cancelled():
                raise Cancelled("stopped")
        asked.append((run.study.measure, i))
        return really(run, i, cancelled)

    monkeypatch.setattr(Run, "add", add)
    let_go.asked = asked
    yield let_go
    let_go.set()


def test_what_is_known_so_far_is_shown_while_the_rest_is_computed(held_back, given, alone):
    app = given(measures=["gradient"], computed="once")
    wait(app, lambda: "3 done" in progress_of(app))
    assert app.has("button", "Cancel") and app.outcomes[0] == ModelCheckOutcome.RUNNING.value
    # Nothing is drawn or told of so few while more are to come.
    assert not answered(app) and not charts(app) and not app.facts
    held_back.set()
    complete(app)
    assert answered(app) and charts(app) and app.facts["texts"] == "6 of 6"
    assert app.outcomes[0] == ModelCheckOutcome.NOT_KNOWN.value and not app.errors


def test_before_the_first_example_it_runs(held_back, given, alone, monkeypatch):
    monkeypatch.setattr(
        "core.evaluation.engine.lacking", lambda run: [i for i in (5, 0, 1, 2, 3, 4) if not run.there[i]]
    )
    app = given(measures=["gradient"], computed="once")
    assert app.outcomes[0] == ModelCheckOutcome.RUNNING.value and app.has("button", "Cancel") and not answered(app)
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Compute random order"))
    assert app.outcomes[0] == ModelCheckOutcome.RUNNING.value


def test_cancelling_keeps_what_is_there_and_asking_again_goes_on(held_back, given, alone, bundled):
    app = given(measures=["gradient"], computed="once")
    wait(app, lambda: "3 done" in progress_of(app))
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Go on with random order"))
    assert app.outcomes[0] == ModelCheckOutcome.NOT_KNOWN.value and "Cancelled" in app.said
    assert f"⚠ {Caveat.PARTIAL.badge}" in app.badges
    # A server that starts anew knows what was written, and shows it before it is asked.
    st.cache_resource.clear()
    held_back.set()
    del held_back.asked[:]
    app = complete(App(PAGE, measures=["gradient"], computed="once"))
    for name in ("random order", "gradient"):
        if app.has("button", f"Go on with {name}"):
            complete(app.press(f"Go on with {name}", exact=False))
    assert [i for name, i in held_back.asked if name == "random order"] == [3, 4, 5], (
        "what was there is not computed again"
    )
    assert f"⚠ {Caveat.PARTIAL.badge}" not in app.badges
    assert app.headlines[0][2] == headline(check_result(library(bundled, [CHANCE])[0]))


def test_going_on_in_the_same_session_shows_no_less_than_before(held_back, given, alone):
    app = given(measures=["gradient"], computed="once")
    wait(app, lambda: "3 done" in progress_of(app))
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Go on with random order"))
    app.press("Go on with random order", exact=False)
    assert "3 done" in progress_of(app) and app.has("button", "Cancel")
    held_back.set()
    complete(app)
    assert app.facts["texts"] == "6 of 6"
    del held_back.asked[:]


@pytest.mark.parametrize("left_out", [1, 6])
def test_a_model_that_gives_nan_is_counted_and_said(given, alone, monkeypatch, bundled, fresh, left_out):
    really, tokens = Scheduler._batch, [bundled.encode(e.text, None, "word").T for e in SHORT]
    told = [{"id": f"x{i}", "text": e.text, "label": e.label} for i, e in enumerate(SHORT)]

    def batch(self, some, lengths, hidden):
        # Either the longest of them alone or all of them, and only once something is masked.
        logits, states = really(self, some, lengths, hidden)
        bad = np.array(
            [(row.ids == bundled.mask_id).any() and (left_out > 1 or len(row.ids) == max(tokens)) for row in some]
        )
        return np.where(bad[:, None], np.float32(np.nan), logits), states

    monkeypatch.setattr(Scheduler, "_batch", batch)
    app = complete(given(told, measures=["gradient"]))
    counted = [int(count) for count in re.findall(r"Left out \((\d+) example", app.said)]
    assert sum(counted) == (tokens.count(max(tokens)) if left_out == 1 else 6) and "NaN" in app.said
    assert app.outcomes[0] == ModelCheckOutcome.NOT_KNOWN.value and bool(app.facts) == (left_out == 1)
    assert answered(app) == (left_out == 1) and app.has("multiselect", "Measures")


@pytest.mark.parametrize(
    "most, offered",
    [
        (264, ("50", "100", "200", "500")),
        (12, ("50",)),
        (500, ("50", "100", "200", "500")),
        (10**6, SIZES),
        (0, ("50",)),
    ],
)
def test_no_more_texts_are_offered_than_there_are(most, offered):
    assert sizes_of(most) == offered


def test_the_last_size_is_called_all_of_them_and_a_link_that_asks_for_more_takes_these(monkeypatch, alone):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr(StudyWork, "at_once", False)
    app = App(PAGE, sample="1000")
    sample = app.widget("button_group", "Sample")
    count = len(read_bundled("reviews"))
    assert sample.options[-1] == f"all {count}" and sample.value == "500" and "not here" not in app.said


def saved(app: App, ending: str) -> str:
    """The file of the check."""
    return next(
        text for name, text in app.downloads.items() if name.startswith("model-check") and name.endswith(ending)
    )


def progress_of(app: App) -> str:
    """What the progress of work says."""
    return " ".join(one.proto.text for one in app.at.get("progress"))
