"""The page Hard and soft erasure without a browser: numbers of the library, what they come to, and what happens where
something is missing.
"""

import csv
import io
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.judging.baselines import BASELINES, Baseline, judge_random
from core.judging.judging import How, Judge, judge_by_metric, judge_measure
from core.judging.metric_report import HEADER, MetricReport
from core.judging.metric_table import MetricTable, count_as_good, count_rejected, gate_together
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.metrics.catalogue import default_metrics, of_examples
from core.network.scheduler import NonFinite
from core.oracle import erasing
from core.oracle.erasing import ERASURES, MASK, REMOVAL, erasures_of
from core.oracle.oracle import Oracle
from core.results.caveats import Caveat
from core.results.erasure import ErasureOutcome, erasure_result
from core.texts.rendering import fact_text
from core.validity.references import find_reference
from pages.parts.erasure import drawing
from pages.parts.erasure.drawing import SCORES, score_table_rows
from tests.app_session import App, complete

pytestmark = pytest.mark.usefixtures("server")
DEFAULT, METRICS = default_measures(), default_metrics()
# A fact, and columns of the file.
REJECTED, RESTS, ERROR = "scores out-of-distribution ↓", "rests on rejected inputs", "standard error of its draws"
PAGE = "pages/hard_and_soft_erasure.py"
REVIEWS = {example.id: example for example in read_bundled("reviews")}
SMALL = REVIEWS["s040"]
EIGHT = How(draws=8)
# The columns of the table, by name.
COLUMNS = list(SCORES)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever this machine's speed, what the tests do not hold back starts at once; few draws are enough here."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)
    monkeypatch.setattr("pages.parts.erasure.judging._HOW", EIGHT)


@pytest.fixture
def few(monkeypatch):
    """Two random attributions instead of thirty, where they are not what is asked about."""
    monkeypatch.setattr(
        "pages.parts.erasure.judging.judge_random", lambda *given, **more: judge_random(*given, count=2, **more)
    )


def opened(**query) -> App:
    return complete(App(PAGE, **({"example": SMALL.id} | query)))


def typed(text: str, **query) -> App:
    app = App("pages/attributions.py", **({"measures": ["gradient"]} | query)).type(text)
    return complete(app.go(PAGE))


@pytest.fixture(scope="module")
def mine(bundled):
    explainer = Explainer(bundled, None, find_reference(bundled))
    return explainer, explainer.encode(SMALL.text, None, "word")


@pytest.fixture(scope="module")
def by_hand(mine):
    return {name: judge_measure(*mine, name, "signed", METRICS, EIGHT) for name in DEFAULT}


def scores(app: App) -> dict[tuple[str, str], dict[str, str]]:
    """{(measure, metric): its row of the table}, the metric without its arrow."""
    (found,) = [table for table in app.tables if table[0] == COLUMNS]
    rows = [dict(zip(COLUMNS, row)) for row in found[1:]]
    return {(row["measure"], row["metric"].rstrip(" ↑↓")): row for row in rows}


def has_table(app: App) -> bool:
    return any(table[0] == COLUMNS for table in app.tables)


def rows_of(app: App) -> list[dict]:
    return list(csv.DictReader(io.StringIO(app.download("Table (CSV)").lstrip("\ufeff"))))


def chart(app: App, axis: str) -> dict:
    """The one figure with an axis of this name."""
    every = [json.loads(chart.proto.spec) for chart in app.at.get("plotly_chart")]
    (found,) = [one for one in every if one["layout"]["yaxis"].get("title", {}).get("text") == axis]
    return found


def charts(app: App) -> int:
    return len(app.at.get("plotly_chart"))


def report_of(rated: dict, explainer: Explainer, encoded) -> MetricReport:
    """What the page should know of measures that are judged."""
    settings = "signed", EIGHT, "Holm", "calibrated", explainer.reference.floor("calibrated")
    return MetricReport("", "word", encoded.F, METRICS, *settings, rated, {}, {})


def number(cell: str) -> float:
    return float("nan") if cell == "—" else float(cell)


def test_every_number_is_what_the_library_says(by_hand, mine):
    app = opened()
    found, known = scores(app), report_of(by_hand, *mine)
    board, chance = known.trusted, finish(judge_random(*mine, METRICS, EIGHT))
    assert list(found) == [(measure, name) for measure in DEFAULT for name in METRICS]
    assert known.marked.any() and not known.marked.all()
    marked = {name: gate_together(one.p, known.floor).marked for name, one in chance.items()}
    as_good = count_as_good(board, {name: one.values for name, one in chance.items() if not marked[name]})
    for i, measure in enumerate(DEFAULT):
        for k, name in enumerate(METRICS):
            row, score = found[measure, name], by_hand[measure].found[name]
            assert number(row["score"]) == pytest.approx(score.value, rel=6e-3)
            assert number(row["±"]) == pytest.approx(score.error, rel=6e-3, nan_ok=True)
            assert row["erasure"] == ("soft" if k > 1 else "hard")
            assert (row["⚠"] == "⚠") == bool(known.marked[i, k]) and (row["random ⚠"] == "⚠") == marked[name]
            assert row["place"] == (str(board.places[i, k]) if board.places[i, k] else "—")
            assert bool(row["opposed"]) == bool(board.flips[i, k])
            assert row["random as good"] == (str(as_good[i, k]) if as_good[i, k] >= 0 else "—")
            drawn = chance[name].values
            assert number(row["random mean"]) == pytest.approx(np.nanmean(drawn), rel=6e-3)
            assert number(row["random sd"]) == pytest.approx(np.nanstd(drawn, ddof=1), rel=6e-3)
            # Which of them do as well is counted one by one; all four are better where they are higher.
            if as_good[i, k] >= 0:
                assert as_good[i, k] == sum(one >= score.value - 1e-6 for one in drawn)
    whole = replace(known, chance=chance, drawn=METRICS)
    expected = erasure_result(whole, len(DEFAULT))
    assert app.outcomes == [expected.outcome.value]
    shown = {key.rstrip(" ↑↓"): text for key, text in app.facts.items()}
    assert len(shown) == 4
    for one in expected.facts[:4]:
        assert shown[one.label] == fact_text(one)
    assert {one.badge for one in expected.caveats} <= {one.removeprefix("⚠ ") for one in app.badges}
    drawn = {one["name"]: one for one in chart(app, "score")["data"]}
    for i, measure in enumerate(DEFAULT):
        assert drawn[measure]["y"] == pytest.approx(known.table.values[i].tolist(), abs=1e-6)
        assert [one == "x" for one in drawn[measure]["marker"]["symbol"]] == known.marked[i].tolist()
    assert drawn["random attributions"]["y"] == pytest.approx([one.values.mean() for one in chance.values()], abs=1e-6)
    assert len(chance["NS"].values) == BASELINES


def test_random_attributions_are_tested_together_and_their_row_says_so(mine, by_hand):
    """30 of 150 inputs at p 0.001: by Simes 0.005, which is rejected; 5 of them are 0.03, and one is 0.15."""

    def beside(rejected: int) -> MetricReport:
        p = {"calibrated": np.where(np.arange(150) < rejected, 0.001, 0.9)}
        made = {"NS": Baseline(np.linspace(0, 1, 30), p)}
        shuffles = {"gradient": {"NS": Baseline(np.linspace(0, 1, 10), p)}}
        fine = replace(by_hand["gradient"], inputs={"NS": {"calibrated": np.array([0.9])}})
        known = replace(report_of({"gradient": fine}, *mine), names=("NS",), drawn=("NS",))
        return replace(known, chance=made, shuffles=shuffles, floor=0.001)

    for rejected, marked in ((30, True), (5, True), (1, False)):
        report = beside(rejected)
        (row,) = (dict(zip(COLUMNS, one)) for one in score_table_rows(report, {}))
        assert (row["random ⚠"] == "⚠") == (row["shuffled ⚠"] == "⚠") == marked, rejected
        assert row["⚠"] == "" and row["random mean"] == pytest.approx(0.5)
        assert row["random sd"] == pytest.approx(np.linspace(0, 1, 30).std(ddof=1))
        assert row["shuffled sd"] == pytest.approx(np.linspace(0, 1, 10).std(ddof=1))
        # How many do as well rests on them.
        assert (row["random as good"] is None) == (report.as_good[0, 0] == -1) == marked
        line = dict(zip(HEADER, report.rows()[0]))
        assert line[f"random: {RESTS}"] == line[f"shuffled: {RESTS}"]
        assert line[f"random: {RESTS}"] == ("yes" if marked else "no")


def test_what_is_there_of_a_measure_under_way_is_drawn_without_a_place(mine, by_hand):
    parts = list(judge_by_metric(*mine, "gradient", "signed", METRICS, EIGHT))
    assert [tuple(part.found) for part in parts] == [METRICS[: k + 1] for k in range(len(METRICS))]
    for name in METRICS:
        assert parts[-1].found[name].value == pytest.approx(by_hand["gradient"].found[name].value, abs=1e-6)
    report = replace(report_of({}, *mine), coming={"gradient": parts[0]})
    (row,) = (dict(zip(COLUMNS, one)) for one in score_table_rows(report, {}))
    assert row["score"] == pytest.approx(parts[0].found["NS"].value) and row["place"] is None
    result = erasure_result(report, 1, coming=True)
    assert result.outcome is ErasureOutcome.RUNNING and result.has(Caveat.PARTIAL)


def test_a_square_of_agreement_is_drawn_from_four_measures_on_where_two_metrics_order_them(monkeypatch):
    squares, figures, tables = [], [], []
    monkeypatch.setattr(drawing, "square", lambda values, _: squares.append(values))
    monkeypatch.setattr(drawing, "draw_on_text", lambda view, side, figure, *_: figures.append(figure))
    monkeypatch.setattr(drawing, "data_table", lambda _, rows, key: tables.append((key, rows)))
    view = SimpleNamespace()
    four = [[0.9, 0.8], [0.5, 0.4], [0.3, 0.2], [0.1, 0.3]]

    def drawn(values, marked=None):
        values = np.array(values)
        none = (("",) * 2,) * len(values)
        board = MetricTable(tuple("abcd"[: len(values)]), ("NS", "NC"), values, values * np.nan, none)
        trusted = board if marked is None else board.without(np.array([marked] * len(values)))
        figures.clear(), squares.clear(), tables.clear()
        drawing.draw_agreement(view, SimpleNamespace(trusted=trusted, table=board))
        return len(figures), len(squares), dict(tables)

    # Of three measures no τ; of four whose second metric is level, none either.
    assert drawn(four[:3])[:2] == drawn([[one, 0.5] for one, _ in four])[:2] == (1, 0)
    figure, square, found = drawn(four)
    assert (figure, square) == (1, 1) and squares[0][0, 1] == pytest.approx(4 / 6)
    assert figures[0]["layout"]["showlegend"] and [one["name"] for one in figures[0]["data"]] == list("abcd")
    assert [row[:3] for row in found["leaders"]] == [[name, "a", pytest.approx(0.4)] for name in ("NS ↑", "NC ↑")]
    assert all(np.isnan(row[3]) for row in found["leaders"]), "hard metrics draw nothing"
    assert found["opposed-pairs"] == [["c", "d", "NS", "NC"]]
    # One metric alone has places, and nothing to agree with.
    figure, square, found = drawn(four, [True, False])
    assert (figure, square) == (0, 0) and [row[0] for row in found["leaders"]] == ["NC ↑"]


def test_how_many_inputs_of_rationales_are_rejected_is_what_the_tests_of_rationales_say(first):
    """Of the first review, by each way of erasing; nothing of a measure whose rationales are not tested."""
    rows = drawing.leaving_rows(first)
    wanted = {
        (measure, erasure): (*count_rejected(gate, first.sizes), p.min())
        for measure in first.rated
        for erasure, (p, gate) in first.leaves(measure).items()
    }
    assert {(row[0], row[1]): tuple(row[2:]) for row in rows} == wanted
    assert {row[1] for row in rows} >= {MASK, REMOVAL} and len(rows) % len(DEFAULT) == 0
    name, rated = next(iter(first.rated.items()))
    untested = replace(first, rated=first.rated | {name: replace(rated, leaves={})})
    assert {row[0] for row in drawing.leaving_rows(untested)} == set(DEFAULT) - {name}


@pytest.fixture(scope="module")
def first(mine):
    """What is known of the first of the reviews, of which soft metrics alone make inputs that are rejected."""
    encoded = mine[0].encode(REVIEWS["s001"].text, None, "word")
    rated = {name: judge_measure(mine[0], encoded, name, "signed", METRICS, EIGHT) for name in DEFAULT}
    found = report_of(rated, mine[0], encoded)
    assert found.marked.all(axis=0).tolist() == found.marked.any(axis=0).tolist() == [False, False, True, True]
    return found


def test_the_page_answers_by_the_numbers_that_are_not_marked(few, first):
    app = opened(example="s001")
    expected = erasure_result(first, len(DEFAULT))
    assert expected.outcome is ErasureOutcome.OUT_OF_DISTRIBUTION and expected.slots == {"kinds": ["soft"]}
    assert app.outcomes == ["out-of-distribution"] and "⚠ out-of-distribution" in app.badges
    first_hard = expected.fact("hard_first")
    assert app.facts[first_hard.label] == first_hard.value
    rows = scores(app)
    for (_, name), row in rows.items():
        assert (row["place"] == row["random as good"] == "—") == name.startswith("Soft") == (row["⚠"] == "⚠")
    # The file gives no place either, and every number.
    saved = rows_of(app)
    assert {row["place (1 is best)"] for row in saved if row["metric"].startswith("Soft")} == {""}
    assert all(row["value"] for row in saved) and "1" in {row["place (1 is best)"] for row in saved}
    places = chart(app, "place, 1 is best")
    assert {trace["name"] for trace in places["data"]} == set(DEFAULT)
    assert len(places["layout"]["xaxis"]["ticktext"]) == 2 and not app.agreement
    # Hard metrics erase words as the measure does that they put first.
    assert any("leave-one-out" in led for led in first.trusted.leaders()) and "masks to score" in app.badges


def test_metrics_and_measures_are_chosen_and_a_link_holds_the_choice(few):
    app = opened(
        metrics=["AOPC sufficiency", "sparsity", "NS"],
        measures=["gradient", "beam"],
        erasure="removal",
        values="absolute",
        rule="plain",
    )
    rows = scores(app)
    # In the order of the registry; neither direction of sparsity is better.
    assert [(measure, row["metric"]) for (measure, _), row in rows.items()] == [
        (measure, name) for measure in ("gradient", "beam") for name in ("NS ↑", "AOPC sufficiency ↓", "sparsity")
    ]
    beam = rows["beam", "sparsity"]
    assert beam["score"] == "—" and "magnitudes" in beam["note"]
    assert rows["gradient", "sparsity"]["place"] == "—" and number(rows["gradient", "sparsity"]["score"]) > 0
    assert app.widget("button_group", "Erasure").value == "removal"
    assert app.widget("button_group", "Values").value == "absolute"
    (definitions,) = [table for table in app.tables if table[0][0] == "metric" and "source" in table[0]]
    assert [row[0] for row in definitions[1:]] == ["NS", "AOPC sufficiency", "sparsity"]
    assert app.outcomes == ["nothing to compare"], "no soft metric is chosen"


def test_settings_that_the_page_no_longer_takes_are_named_and_ignored(few, by_hand):
    app = opened(placement="after normalisation", sigma="0.5", scaling="softmax", draws="128", closer="weights")
    for name in ("placement", "sigma", "scaling", "draws"):
        assert f"sets {name}" in app.said and name not in app.at.query_params
    labels = {one.label for one in app.at.get("button_group")}
    assert not labels & {"Scaling", "Draws", "Soft metrics perturb", "Noise σ"} and not app.errors
    for row in rows_of(app):
        assert (row["placement"], row["sigma"], row["scaling"], row["draws"]) == (
            EIGHT.placement,
            str(EIGHT.sigma),
            EIGHT.scaling,
            "8",
        )
        assert float(row["value"]) == pytest.approx(by_hand[row["measure"]].found[row["metric"]].value, abs=1e-6)
    # What is taken anyhow is not named.
    assert not opened(scaling=EIGHT.scaling, sigma="1.0", draws="8").at.warning


def test_every_metric_of_the_registry_can_be_shown(few):
    app = opened(metrics=list(of_examples()), measures=[*DEFAULT, "attention"])
    assert {name for _, name in scores(app)} == set(of_examples()) and not app.errors
    assert app.agreement


def test_numbers_that_rest_on_rejected_inputs_are_marked_and_counted(few):
    app = opened(erasure="removal", measures=["gradient"])
    assert {row["⚠"] for row in scores(app).values()} == {"⚠"}
    assert app.facts[REJECTED] == "4 of 4" and "⚠ out-of-distribution" in app.badges
    assert {(line["metric"], line[RESTS]) for line in rows_of(app)} == {
        ("NS", "yes"),
        ("NC", "yes"),
        ("Soft-NS", "yes"),
        ("Soft-NC", "yes"),
    }


def test_where_the_mask_token_is_familiar_nothing_is_marked(few):
    app = opened(example="s001", measures=["gradient"], metrics=["NS", "NC", "sparsity"], rule="plain")
    assert app.facts[REJECTED] == "0 of 2" and "⚠ out-of-distribution" not in app.badges
    assert {row["⚠"] for row in scores(app).values()} == {""}
    assert {line[RESTS] for line in rows_of(app)} == {"no", "not tested"}, "sparsity asks for no input"


def test_a_gate_that_says_nothing_is_called_not_tested(few, monkeypatch, fresh):
    assert "⚠ not tested" in opened(model="sst2-plain", measures=["gradient"], form="literal").badges
    monkeypatch.setattr("core.explanation.explainer.find_reference", lambda *_: None)
    st.cache_resource.clear()
    app = opened(measures=["gradient"])
    assert "⚠ not tested" in app.badges and "no reference" in app.said
    assert app.facts["smallest MaSF p ↑"] == "—"
    assert {line[RESTS] for line in rows_of(app)} == {"unavailable"}


def test_scores_by_length_are_drawn(few, by_hand):
    lengths = chart(opened(), "NS ↑")
    assert len(lengths["data"]) == 3 * 2 * 2
    assert lengths["data"][0]["y"] == pytest.approx(by_hand["leave-one-out"].found["NS"].by_length.tolist())


def test_which_erasure_leaves_the_distribution_is_drawn_for_the_chosen_measure(few, by_hand):
    app = opened(rationales="gradient")
    p = by_hand["gradient"].leaves["removal"]["calibrated"]
    assert app.widget("selectbox", "Rationales of").value == "gradient"
    leaving = chart(app, "MaSF p ↑")
    assert leaving["data"][0]["name"] == "mask token" and len(leaving["data"]) == 6 + 1
    assert [trace["customdata"] for trace in leaving["data"] if trace["name"] == "removal"] == [
        pytest.approx(row.tolist()) for row in p
    ]
    assert "x" in leaving["data"][2]["marker"]["symbol"]
    (table,) = [table for table in app.tables if table[0][2:4] == ["inputs rejected", "inputs"]]
    (removal,) = [row for row in table[1:] if row[:2] == ["gradient", "removal"]]
    assert int(removal[2]) > 0 and removal[3] == "6" and number(removal[4]) == pytest.approx(p.min(), rel=6e-3)


def test_the_shuffled_baseline_waits_to_be_asked_and_stands_beside_its_measure(few):
    app = opened(measures=["gradient"], metrics=["NS", "Soft-NS"])
    assert {row["shuffled mean"] for row in scores(app).values()} == {"—"} and "forward passes" in app.said
    assert app.has("button", "Compute shuffled baseline")
    complete(app.press("Compute shuffled baseline", exact=False))
    rows = scores(app)
    assert rows["gradient", "NS"]["shuffled mean"] == "—" and number(rows["gradient", "Soft-NS"]["shuffled mean"]) >= 0
    assert not app.has("button", "Compute shuffled baseline")
    assert [line["shuffles"] for line in rows_of(app)] == ["", "10"]


def test_the_file_holds_every_value_with_its_settings(few, by_hand):
    lines = rows_of(opened())
    assert len(lines) == len(DEFAULT) * len(METRICS)
    for line in lines:
        score = by_hand[line["measure"]].found[line["metric"]]
        assert float(line["value"]) == pytest.approx(score.value, abs=1e-6)
        assert (line[ERROR] == "") == np.isnan(score.error)
        assert (
            line["erasure"] == "mask token"
            and line["draws"] == "8"
            and line["explained class"] == "positive"
            and line["direction"] == "higher is better"
        )
        if score.by_length is not None:
            assert float(line["value at 50 %"]) == pytest.approx(score.by_length[-1], abs=1e-6)
    assert {line["random: attributions"] for line in lines} == {"2"}


# Bad input


def test_another_class_than_the_predicted_one_is_said_and_not_explained(few):
    app = opened(**{"class": "negative"}, measures=["gradient"])
    assert "judges positive" in app.badges and not any(one.startswith("explains") for one in app.badges)
    assert rows_of(app)[0]["explained class"] == "positive"


def test_where_erasing_costs_nothing_the_values_are_undefined_and_that_is_said(few, monkeypatch, fresh):
    monkeypatch.setattr("core.mathematics.erasure.UNDEFINED", 2.0)
    app = opened(measures=["gradient", "leave-one-out"])
    rows = scores(app).values()
    assert {row["score"] for row in rows} == {"—"} and len({row["note"] for row in rows}) == 1
    assert "nothing" in next(iter(rows))["note"]
    assert app.outcomes == ["nothing to compare"] and not app.errors


def test_an_attribution_without_an_order_is_kept_by_half(few, monkeypatch, fresh):
    monkeypatch.setattr(Judge, "attribution", lambda self, *_: (np.zeros(self.encoded.F), True))
    app = opened(measures=["gradient"])
    assert "half" in scores(app)["gradient", "Soft-NS"]["note"] and not app.errors


def test_an_attribution_of_nan_is_undefined_everywhere_and_has_no_rationales(few, monkeypatch, fresh):
    monkeypatch.setattr(Judge, "attribution", lambda self, *_: (np.full(self.encoded.F, np.nan), True))
    app = opened(measures=["gradient"])
    rows = scores(app).values()
    assert {row["score"] for row in rows} == {"—"} and all("NaN" in row["note"] for row in rows)
    assert app.outcomes == ["nothing to compare"] and not app.errors
    assert not any("MaSF p" in json.dumps(chart.proto.spec) for chart in app.at.get("plotly_chart"))


def test_a_text_of_one_word_has_nothing_to_compare(few):
    app = typed("Dull", metrics=["NS", "CORR"])
    assert app.outcomes == ["nothing to compare"] and "⚠ single feature" in app.badges and not app.errors
    assert scores(app)["gradient", "CORR"]["score"] == "—"
    # Nor is anything ranked.
    app = typed("Dull", measures=["gradient", "leave-one-out"], metrics=["NS", "Soft-NS"])
    assert all(row["place"] == "—" and number(row["score"]) >= 0 for row in scores(app).values())
    assert app.outcomes == ["nothing to compare"] and not app.agreement
    assert {row["place (1 is best)"] for row in rows_of(app)} == {""}


def test_every_word_may_be_masked_already(few):
    app = typed("[MASK] [MASK]")
    assert app.outcomes == ["nothing to compare"] and not app.errors and not has_table(app) and not charts(app)


def test_removal_that_leaves_nothing_is_a_note(few, monkeypatch, fresh):
    really = erasing._without

    def nothing(encoded, whole, gone):
        # As with a tokenizer that adds no special tokens.
        if gone[encoded.feature_of >= 0].all():
            raise erasing.NothingLeft("With every word removed this model’s input is empty.")
        return really(encoded, whole, gone)

    monkeypatch.setattr(erasing, "_without", nothing)
    rows = scores(opened(measures=["gradient"], erasure="removal"))
    for (_, name), row in rows.items():
        assert (row["score"] == "—") == ("input is empty" in row["note"]) == (not name.startswith("Soft"))


def test_a_model_that_answers_nan_is_a_sentence_and_nothing_else_is_lost(few, monkeypatch, fresh):
    really = Oracle.logits

    def logits(self, masks, **more):
        if masks.sum() > 8:
            raise NonFinite("The model returned NaN or infinity for 3 of 9 inputs.")
        return really(self, masks, **more)

    monkeypatch.setattr(Oracle, "logits", logits)
    app = opened(measures=["gradient"])
    assert any("stopped" in error and "NaN" in error for error in app.errors) and app.has("multiselect", "Measures")


def test_a_tokenizer_without_an_unknown_token_does_not_offer_it(few):
    for unknown in (None, 103):
        assert erasures_of(SimpleNamespace(unknown_id=unknown, mask_id=103)) == (
            "mask token",
            "removal",
            "zero embedding",
        )
    assert erasures_of(SimpleNamespace(unknown_id=100, mask_id=103)) == ERASURES
    app = opened(measures=["gradient"], erasure="unknown token")
    assert app.widget("button_group", "Erasure").value == "unknown token" and has_table(app)
    assert rows_of(app)[0]["erasure"] == "unknown token"


@pytest.mark.parametrize("query", [{"metrics": ["fidelity"]}, {"erasure": "fire"}, {"rationales": "nobody"}])
def test_a_link_that_asks_for_what_is_not_there_says_so(few, query):
    app = opened(**({"measures": ["gradient"]} | query))
    # What a fragment draws may put nothing on the page around it, so that the next run says it.
    app = app.run() if "rationales" in query else app
    assert has_table(app) and len(app.lacking) == 1 and not app.errors
    # It stays until it is dismissed.
    assert len(app.run().lacking) == 1 and not app.press("Dismiss").lacking


def test_nothing_chosen_is_nothing_to_compare(few):
    app = opened(measures=["gradient"])
    app.set("multiselect", "Metrics", [])
    assert app.outcomes == ["nothing to compare"] and not has_table(app) and not charts(app)
    app.set("multiselect", "Metrics", ["NS"])
    assert complete(app).outcomes == ["nothing to compare"] and has_table(app)
    app.set("multiselect", "Measures", [])
    assert complete(app).outcomes == ["nothing to compare"] and not has_table(app) and not app.errors


def test_slow_work_waits_to_be_asked(few, monkeypatch, fresh):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    assert app.outcomes == ["nothing to compare"] and "⚠ partial" in app.badges and not has_table(app)
    complete(app.press("Compute scores of gradient"))
    assert len(scores(app)) == len(METRICS) and app.has("button", "Compute random baseline")
