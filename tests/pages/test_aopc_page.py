"""The page AOPC and NAOPC without a browser: scores between limits, what is said of them, and what happens where
something is missing.
"""

import csv
import io
import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.explanation import limiting
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import find_exact, find_searched, score
from core.explanation.recursive import BY_FEATURE, random_band
from core.explanation.standings import COMPREHENSIVENESS, SUFFICIENCY, StandingGates, build_standings, compare_standings
from core.mathematics.aopc import order_aopc
from core.mathematics.search.limits import BeamStudy
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.network.features import find_words
from core.network.scheduler import Cancelled, NonFinite
from core.oracle.oracle import Oracle
from core.validity.marks import OUT, SIGN
from core.validity.references import find_reference
from core.verdicts.deciding import Word
from core.wording import number
from pages.parts.limits.answering import how_read, limits_answer, score_line
from pages.parts.limits.order_words import order_words, shown_orders
from pages.parts.limits.width_words import study_line
from pages.parts.sections.standings import KnownLimits, Searching
from tests.app_session import App, complete, wait
from tests.verdicts.table_explainer import TableExplainer
from tests.verdicts.test_deciding import additive, decided, signed

pytestmark = pytest.mark.usefixtures("server")
DEFAULT = default_measures()
PAGE = "pages/aopc_and_naopc.py"
REVIEWS = {example.id: example for example in read_bundled("reviews")}
SMALL, LONG = REVIEWS["s040"], max(REVIEWS.values(), key=lambda example: len(example.text))


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Whatever this machine's speed, what the tests do not hold back starts at once."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)


def told(**query) -> App:
    return complete(App(PAGE, **({"example": SMALL.id} | query)))


class Looking(App):
    """Who opens one tab after the other."""

    tabs = False


@pytest.fixture(scope="module")
def mine(bundled):
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(SMALL.text, None, "word")
    return explainer, encoded, int(explainer.logits(encoded).argmax())


@pytest.fixture(scope="module")
def by_hand(mine):
    explainer, encoded, target = mine
    scores = [score(explainer, encoded, name, target) for name in DEFAULT]
    band = finish(random_band(explainer, encoded, BY_FEATURE))
    return build_standings(
        finish(find_exact(explainer, encoded, target)),
        scores,
        band,
        target,
        StandingGates(encoded, explainer.reference),
    )


def scores_table(app: App) -> list[list[str]]:
    (found,) = [table for table in app.tables if "NAOPC ↑" in table[0]]
    return found


def scores_of(app: App) -> bool:
    return any("NAOPC ↑" in table[0] for table in app.tables)


def charts(app: App) -> list[str]:
    return [chart.proto.spec for chart in app.at.get("plotly_chart")]


def test_every_number_is_what_the_library_says(by_hand):
    app = told()
    header, *rows = scores_table(app)
    assert header[0] == "measure" and [row[0] for row in rows] == [*DEFAULT, rows[-1][0]]
    for row, one in zip(rows, by_hand.standings):
        for cell, value in zip(
            row[1:5],
            (one.aopc[COMPREHENSIVENESS], one.naopc[COMPREHENSIVENESS], one.aopc[SUFFICIENCY], one.naopc[SUFFICIENCY]),
        ):
            assert float(cell.rstrip(f" {SIGN}")) == pytest.approx(value, abs=2e-3)
        # The column tells of the direction that is shown.
        assert (row[5] == "not rejected") == (one.gates[COMPREHENSIVENESS].first is None)
        assert [SIGN in cell for cell in row[1:5]] == [
            one.marked(direction, normalised)
            for direction in (COMPREHENSIVENESS, SUFFICIENCY)
            for normalised in (False, True)
        ]
    # The verdicts' own, all that eight words have: one lot in the table, the headline, the bar and the words
    # for those who do not see it.
    own = "all 40,320 orders of the chance test"
    mean = re.fullmatch(r"([\d.e-]+) \(([\d.e-]+) to ([\d.e-]+)\)", rows[-1][1])[1]
    assert rows[-1][0] == own and rows[-1][-1].endswith("(30 tested)")
    assert float(mean) == pytest.approx(by_hand.chance.mean, abs=0.1)
    limits = by_hand.limits
    between = (float(mean) - limits.lower) / (limits.upper - limits.lower)
    goes = re.search(rf"{own} go ([\d.]+) on average", app.said)
    assert float(goes[1]) == float(rows[-1][2]) == pytest.approx(between, abs=5e-3)
    assert f"the middle 95 % of {own} reach" in app.said and any(
        f"br\\u003e{own}" in one or f"<br>{own}" in one for one in charts(app)
    )
    said = re.search(r"lies between ([\d.e-]+) and ([\d.e-]+): exact, over all orders \(256 sets\)", app.said)
    assert [float(part) for part in said.groups()] == pytest.approx([limits.lower, limits.upper], abs=2e-3)


@pytest.mark.parametrize("way", [COMPREHENSIVENESS, SUFFICIENCY])
def test_the_answer_says_where_random_orders_reach_as_far_and_calls_no_searched_limit_the_best_possible(by_hand, way):
    model = SimpleNamespace(name="<model>")
    side = SimpleNamespace(score_kind="probability", reference=None, encoded=SimpleNamespace(unit="word"), model=model)
    known = SimpleNamespace(side=side, scored=[])
    reached, middle = by_hand.best(way).aopc[way], by_hand.chance
    for low, high, as_far in ((-0.1, 0.1, True), (0, 0, True), (0.05, 0.2, False), (-0.2, -0.05, False)):
        board = replace(by_hand, chance=replace(middle, low=reached + low, high=reached + high))
        said = score_line(known, board, way)
        assert ("no better than one by chance can be" in said) is as_far
        assert (f"random orders reach {number(reached + low)} to {number(reached + high)}" in said) is as_far
    assert "random orders" not in score_line(known, replace(by_hand, chance=None), way)
    searched = replace(by_hand, limits=replace(by_hand.limits, method="beam", width=5))
    (found,), (exact,) = limits_answer(known, searched, way), limits_answer(known, by_hand, way)
    assert "the best order of words that was found" in found
    ends = "worst order found (0) to the best" if way == COMPREHENSIVENESS else "best order found (0) to the worst"
    assert f"from the {ends} found (1)" in found and "the best order of words there is" in exact
    better = "higher" if way == COMPREHENSIVENESS else "lower"
    assert f"(1), its NAOPC ({way}, {better} is better); {len(by_hand.chance.aopc)} random orders go " in exact
    best, clear = by_hand.best(way), replace(by_hand.gates[0], first=None)
    for marked in (False, True):
        one = replace(best, gates=dict.fromkeys(best.gates, clear), limits_marked=marked)
        alone, beside = (limits_answer(known, replace(by_hand, standings=(one,)), way, alone=two)[0] for two in (1, 0))
        # What rests on rejected inputs is said to before the number is, and that is not printed as an answer.
        begins = f"{SIGN} Some of the masked inputs that this rests on are {OUT}. By the numbers alone, "
        assert alone.startswith(f"{begins}of these measures" if marked else "Of these measures")
        under = "under <b>&lt;model&gt;</b>, of these measures"
        assert beside.startswith(f"{begins}{under}" if marked else f"U{under[1:]}")
        assert bool(re.search(rf"it goes [0-9.]+ {SIGN} of the way from", alone)) is marked
    assert "the best order that was found lowers it" in score_line(known, searched, way)
    bar = f"the middle 95 % of {len(middle.aopc)} random orders reach."
    known, other = (SimpleNamespace(side=SimpleNamespace(model=SimpleNamespace(name=name))) for name in ("one", "twin"))
    boards = SimpleNamespace(items=lambda: [(known, by_hand)])
    assert bar in how_read(way, boards) and "grey bar" not in how_read(way, {}), "before there is one"
    # Of two models each bar is of its own orders.
    fewer = replace(by_hand, chance=replace(by_hand.chance, name="7 random orders"))
    both = how_read(way, SimpleNamespace(items=lambda: [(known, by_hand), (other, fewer)]))
    assert f"random orders (one: {len(middle.aopc)} random orders; twin: 7 random orders) reach" in both


def test_random_orders_that_the_verdicts_asked_for_are_there_though_nobody_asked_for_them_before():
    def there(orders, verdicts):
        return KnownLimits._band.fget(SimpleNamespace(orders=SimpleNamespace(band=orders), verdicts=verdicts))

    done = SimpleNamespace(complete=True, latest=SimpleNamespace(band="theirs"))
    assert there(None, done) == "theirs" and there("own", done) == "own"
    assert there(None, None) is there(None, SimpleNamespace(complete=False, latest=None)) is None


def test_of_two_models_the_answer_says_in_short_under_which_whom_to_believe(by_hand):
    weights = np.array([0.3, 0.2, 0.1, 0.05, 0.03, 0.02])
    report = decided(TableExplainer(additive(weights), {name: signed(weights) for name in DEFAULT[:1]}))
    encoded = SimpleNamespace(unit="word", features=[])
    model = SimpleNamespace(name="<model>")
    side = SimpleNamespace(score_kind="probability", reference=None, encoded=encoded, model=model)
    about = SimpleNamespace(side=side, scored=[]), by_hand, COMPREHENSIVENESS, report
    _, alone = limits_answer(*about)
    _, beside = limits_answer(*about, alone=False, beside="Under <b>other</b> believe none.")
    assert alone.startswith(f"Believe <b>{DEFAULT[0]}</b> (chance p = ") and "in random orders" in alone
    assert beside.startswith(f"Under <b>&lt;model&gt;</b> believe <b>{DEFAULT[0]}</b> (chance p = ")
    assert "Under <b>other</b> believe none." in beside and "in random orders" not in beside
    # What favours a measure stands behind the answer of one model, and below that of two.
    other = replace(
        report, verdicts=(*report.verdicts, replace(report.verdicts[0], measure="gradient", word=Word.NO_BETTER))
    )
    told = [limits_answer(*about[:3], other, alone=alone)[1] for alone in (True, False)]
    assert ["that favours it" in one for one in told] == [True, False]


def test_the_answer_names_the_measure_that_comes_closest_and_how_the_limits_were_found(by_hand):
    app = told()
    first = by_hand.best(COMPREHENSIVENESS)
    said = app.said.split("Settings")[0]
    assert (
        f"{first.measure} comes closest to the best order of words there is" in said
        and "(exact)" in said
        and "of the way from the worst order (0) to the best (1)" in said
    )
    assert any("best order (falls fastest)" in one and "worst order (falls slowest)" in one for one in charts(app))
    best = by_hand.best(SUFFICIENCY)
    app.set("button_group", "Direction", SUFFICIENCY)
    complete(app)
    assert (
        f"{best.measure} comes closest" in app.said
        and "of the way from the best order (0) to the worst (1)" in app.said
        and app.at.query_params["curves"] in (SUFFICIENCY, [SUFFICIENCY])
    )
    assert any("best order (falls slowest)" in one and "worst order (falls fastest)" in one for one in charts(app))


@pytest.mark.usefixtures("orders_wait")
def test_a_longer_text_gets_limits_by_insertion_search_and_an_offer_with_its_cost():
    longer = next(example for example in REVIEWS.values() if len(find_words(example.text)) == 13)
    app = told(example=longer.id, measures=["gradient"])
    assert "insertion search; exact limits can lie further apart" in app.said
    assert app.has("button", "Compute exact limits")
    assert re.search(r"at most 8,192 forward passes, about ", app.said)


def test_what_is_too_dear_is_refused_with_the_number(monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(PAGE, example=LONG.id, measures=["gradient"])
    assert "up to 20 features can be asked for" in app.said and not app.has("button", "Compute exact limits")
    assert re.search(r"Exact limits of \d+ features would need 2\^\d+ scores", app.said)


@pytest.mark.usefixtures("orders_wait")
def test_a_long_text_has_exact_limits_by_clause():
    app = told(example=LONG.id, measures=["leave-one-out"], unit="clause")
    assert re.search(r"exact, over all orders \(\d+ sets\)", app.said) and scores_table(app)[1][0] == "leave-one-out"


def test_memory_that_is_not_there_is_said_before_it_starts(monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("core.explanation.limiting.free_memory", lambda: 1_000_000)
    app = App(PAGE, example="s001", measures=["gradient"])
    assert re.search(r"Exact limits of 18 features hold about \d+ MB, and 1 MB are free", app.said) and not app.has(
        "button", "Compute exact limits"
    )


@pytest.mark.usefixtures("orders_wait")
def test_scores_that_exact_limits_may_cost_are_a_setting(monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "255")
    st.cache_resource.clear()
    app = told(example="s230", measures=["gradient"])
    assert "exact, over all orders (128 sets)" in app.said
    app = told(measures=["gradient"])
    assert "insertion search;" in app.said and app.has("button", "Compute exact limits")
    assert "beam 5; exact limits can lie further apart" in told(measures=["gradient"], beam="5").said
    complete(app.press("Compute exact limits", exact=False))
    assert "exact, over all orders (256 sets)" in app.said


def test_two_models_stand_beside_each_other_with_their_places_before_and_after(bundled, twin, by_hand):
    app = told(beside="sst2-plain")
    other = Explainer(twin, None, find_reference(twin))
    encoded = other.encode(SMALL.text, None, "word")
    target = twin.labels.index(bundled.labels[int(Explainer(bundled).logits(bundled.encode(SMALL.text)).argmax())])
    scores = [score(other, encoded, name, target) for name in DEFAULT]
    beside = build_standings(
        finish(find_exact(other, encoded, target)), scores, None, target, StandingGates(encoded, other.reference)
    )
    header, *rows = scores_table(app)
    assert header[0] == "model" and [row[0] for row in rows] == ["sst2-fmm"] * 4 + ["sst2-plain"] * 4
    assert float(rows[4][2].split(" ")[0]) == pytest.approx(beside.standings[0].aopc[COMPREHENSIVENESS], abs=2e-3)
    compared = compare_standings({"sst2-fmm": by_hand, "sst2-plain": beside}, COMPREHENSIVENESS)
    changes = f"ormalising changes {'which' if compared.turned else 'whether a'} model is ahead"
    assert (changes in app.said) == bool(compared.changed)
    assert ("ormalising does not change which model is ahead" in app.said) == (not compared.changed)
    # The page's own question first. What rests on rejected inputs tells of no better model.
    none = "Which of the two models a measure explains better cannot be told here"
    marked = by_hand.best(COMPREHENSIVENESS).marked(COMPREHENSIVENESS, True)
    assert app.said.startswith(SIGN if marked else "Under sst2-fmm, of these measures ")
    assert "nder sst2-fmm, of these measures " in app.said
    assert (none in app.said) == any(one.marked for one in compared.placed)
    assert any("by NAOPC" in chart and "1. " in chart for chart in charts(app)) and "Kendall" in app.said


@pytest.mark.usefixtures("orders_wait")
def test_a_model_with_the_same_weights_does_not_stand_beside(monkeypatch, tmp_path, fresh):
    import shutil

    from core import settings

    folder = shutil.copytree(settings.BUNDLED / "models" / "sst2-fmm", tmp_path / "copy")
    monkeypatch.setenv("FAITHSCOPE_MODEL", f"sst2-fmm;{folder}")
    st.cache_resource.clear()
    app = told(measures=["gradient"], beside=str(folder))
    assert "has the same weights as sst2-fmm" in app.said and scores_table(app)[0][0] == "measure"


@pytest.mark.usefixtures("orders_wait")
def test_models_that_explain_different_classes_are_not_compared(monkeypatch, fresh):
    import core.loading.loading as loading

    really = loading.load
    monkeypatch.setattr(
        loading,
        "load",
        lambda name, *more: (
            replace(really(name, *more), labels=("LABEL_0", "LABEL_1")) if name == "sst2-plain" else really(name, *more)
        ),
    )
    app = told(measures=["gradient"], beside="sst2-plain")
    assert "The two models explain different classes, “positive” (sst2-fmm) and “LABEL_" in app.said
    assert "Normalising" not in app.said and not any("by NAOPC" in chart for chart in charts(app))


def test_values_of_another_kind_and_orders_of_the_other_direction_are_choices(mine):
    explainer, encoded, target = mine
    app = told(values="absolute", measures=["leave-one-out"])
    one = score(explainer, encoded, "leave-one-out", target, "absolute")
    assert float(scores_table(app)[1][1]) == pytest.approx(one.comprehensiveness, abs=2e-3)


@pytest.mark.usefixtures("orders_wait")
def test_the_twin_is_marked_where_its_inputs_are_rejected():
    app = told(model="sst2-plain", example="s001", measures=["leave-one-out"], rule="plain", beam="1")
    row = scores_table(app)[1]
    assert "⚠" in row[1] and "⚠" in row[2] and "rejected from" in row[5] and "words masked on" in row[5]
    assert "⚠ Some of the masked inputs that this rests on are rejected" in app.said
    assert re.search("orders? that attains? the", app.said)


@pytest.mark.usefixtures("orders_wait")
def test_validity_that_cannot_be_told_is_called_unavailable():
    app = told(model="sst2-plain", measures=["leave-one-out"], form="literal")
    assert scores_table(app)[1][5] == "unavailable" and "Validity unavailable" in app.said


def test_limits_that_nearly_coincide_are_warned_of(monkeypatch):
    monkeypatch.setattr("core.mathematics.search.limits.NARROW", 2.0)
    assert "NAOPC magnifies trifles" in told(measures=["gradient"]).said


# Bad input


def test_a_text_of_one_word_has_one_order_and_no_naopc():
    app = App("pages/attributions.py").type("Dull")
    complete(app.go(PAGE))
    assert "every order of masking scores the same" in app.said and scores_table(app)[1][2] == "—" and not app.errors


def test_every_word_may_be_masked_already():
    app = App("pages/attributions.py").type("[MASK] [MASK]")
    complete(app.go(PAGE))
    assert "no orders to compare" in app.said and not app.errors and not charts(app)


def test_words_that_are_masked_in_the_text_are_in_no_order():
    app = App("pages/attributions.py", measures=["leave-one-out"]).type("A [MASK] dull film")
    complete(app.go(PAGE))
    rows = list(csv.DictReader(io.StringIO(app.download("Orders (CSV)").lstrip("\ufeff"))))
    of_one = [
        row["masked here"] for row in rows if row["order"] == "leave-one-out" and row["direction"] == COMPREHENSIVENESS
    ]
    assert sorted(of_one) == ["", "A", "dull", "film"] and "exact, over all orders (8 sets)" in app.said


def test_a_model_that_answers_nan_is_a_sentence_and_nothing_else_is_lost(monkeypatch, fresh):
    really = Oracle.logits

    def logits(self, masks, **more):
        if masks.sum() > 30:
            raise NonFinite("The model returned NaN or infinity for 3 of 9 inputs.")
        return really(self, masks, **more)

    monkeypatch.setattr(Oracle, "logits", logits)
    app = told(measures=["gradient"], search="the model’s own")
    assert any("stopped" in error and "NaN" in error for error in app.errors) and app.has("multiselect", "Measures")


def test_without_a_reference_everything_but_validity_is_there(monkeypatch, fresh):
    monkeypatch.setattr("core.explanation.explainer.find_reference", lambda *_: None)
    st.cache_resource.clear()
    app = told(measures=["gradient"])
    assert (
        scores_table(app)[1][5] == "unavailable"
        and "no MaSF reference" in app.said
        and "exact, over all orders" in app.said
    )


# Jobs


@pytest.fixture
def held_back(monkeypatch, fresh):
    """Exact limits that stand still after their first sets until they are let go or told to stop."""
    let_go, really = threading.Event(), limiting.find_exact

    def held(*given, cancelled=None, **more):
        search = really(*given, cancelled=cancelled, **more)
        while True:
            try:
                value = next(search)
            except StopIteration as end:
                return end.value
            while not let_go.wait(0.02):
                if cancelled():
                    raise Cancelled("stopped")
            yield value

    monkeypatch.setattr(limiting, "find_exact", held)
    st.cache_resource.clear()
    yield let_go
    let_go.set()


@pytest.mark.usefixtures("orders_wait")
def test_limits_that_were_found_stand_there_while_exact_ones_are_searched_and_outlive_other_choices(held_back):
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    wait(app, lambda: "exact limits are under way" in app.said and "insertion search;" in app.said and scores_of(app))
    assert (
        "best so far" in app.said and app.at.get("progress") and app.has("button", "Cancel") and scores_table(app)[1][1]
    )
    app.go("pages/attributions.py")
    app.go(PAGE)
    app.set("button_group", "Validity gate", "plain")
    assert "exact limits are under way" in app.said
    held_back.set()
    complete(app)
    assert "exact, over all orders (256 sets)" in app.said


@pytest.mark.usefixtures("orders_wait")
def test_cancelling_keeps_the_best_so_far_says_so_and_asking_again_goes_on(held_back):
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    wait(app, lambda: "exact limits are under way" in app.said and "insertion search;" in app.said)
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Go on with exact limits"))
    assert (
        re.search(r"exact limits stopped after \d+ of at most \d+ sets", app.said)
        and "best so far" in app.said
        and "insertion search;" in app.said
        and "Cancelled" in app.said
    )
    held_back.set()
    complete(app.press("Go on with exact limits", exact=False))
    assert "exact, over all orders" in app.said


def test_dear_work_waits_to_be_asked(monkeypatch, fresh):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    st.cache_resource.clear()
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    assert "Ask for the limits" in app.said and not charts(app) and "forward passes" in app.said
    complete(app.press("Compute insertion search limits", exact=False))
    assert "insertion search" in app.said and "Choose a measure" in app.said
    complete(app.press("Compute gradient", exact=False))
    assert scores_table(app)[1][0] == "gradient" and len(scores_table(app)) == 2, "no random orders were asked for"


def test_raw_scores_stand_there_before_the_limits_and_not_after(monkeypatch, fresh, mine):
    """The limits wait to be asked for, and the scores do not."""
    monkeypatch.setattr(Searching, "at_once", False)
    app = told(measures=["gradient"])
    (raw,) = [table for table in app.tables if table[0][-1] == "NAOPC ↑"]
    explainer, encoded, target = mine
    found = score(explainer, encoded, "gradient", target)
    assert raw[1] == ["gradient", number(found.comprehensiveness), number(found.sufficiency), "—"]
    complete(app.press("Compute exact limits", exact=False))
    assert not [table for table in app.tables if table[0][-1] == "NAOPC ↑"] and scores_of(app)


def test_a_narrower_beam_starts_where_the_chosen_one_is_too_dear(monkeypatch, fresh):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    st.cache_resource.clear()
    really = limiting.search_cost
    monkeypatch.setattr(
        "pages.parts.sections.standings.search_cost",
        lambda explainer, encoded, width, half: Cost(
            really(explainer, encoded, width, half).passes, 3.0 * (width or 5)
        ),
    )
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 10.0)
    # What costs nothing, since other work asked for it, would start.
    monkeypatch.setattr("pages.parts.sections.standings.limits_known", lambda *about: False)
    app = told(measures=["gradient"])
    assert "beam 1; exact limits can lie" in app.said
    assert "an insertion search waits to be asked for" in app.said
    complete(app.press("Compute insertion search limits", exact=False))
    assert "insertion search; exact limits can lie" in app.said and "waits to be asked for" not in app.said


def test_a_beam_whose_sets_are_known_starts_whatever_it_would_cost(monkeypatch, fresh):
    """The scoreboard asks for those of a beam of one, and the price of a search is that of all its sets."""
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    st.cache_resource.clear()
    really = limiting.search_cost
    monkeypatch.setattr("pages.parts.sections.standings.search_cost", lambda *about: Cost(really(*about).passes, 100.0))
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 10.0)
    monkeypatch.setattr("pages.parts.sections.standings.limits_known", lambda *about: about[3] == 1)
    assert "beam 1; exact limits can lie" in told(measures=["gradient"]).said


def test_verdicts_are_told_without_limits(monkeypatch, fresh):
    monkeypatch.setattr(Searching, "at_once", False)
    app = told(measures=DEFAULT)
    assert "Ask for the limits" in app.said and "better than chance" in app.said


def test_the_best_and_the_worst_order_stand_under_the_words(mine, by_hand):
    shown = shown_orders(by_hand, COMPREHENSIVENESS, mine[1].F, {})
    names = [one.measure for one in by_hand.standings]
    assert [one.name for one in shown] == ["best order", *names, "worst order"] and len(names) > 1
    walked = [one.walks[COMPREHENSIVENESS].order for one in by_hand.standings]
    for one, order in zip(shown, (by_hand.limits.highest, *walked, by_hand.limits.lowest)):
        assert [one.places[i] for i in order] == list(range(1, len(order) + 1))
        assert one.strengths[order[0]] == max(one.strengths) and one.strengths[order[-1]] == min(one.strengths)
    turned = shown_orders(by_hand, SUFFICIENCY, mine[1].F, {})
    assert turned[0].places == shown[-1].places and turned[-1].places == shown[0].places


def test_what_the_text_masks_itself_is_in_no_order_of_words():
    found = order_words("best order", "", np.array([3, 1]), 4)
    assert found.places == [0, 2, 0, 1] and found.strengths[0] == 0.0


def test_the_beams_size_is_studied_on_request_and_recommended(mine):
    explainer, encoded, target = mine
    # Where limits come exact, this is offered to who chooses a beam alone.
    assert not told(measures=["gradient"]).has("button", "Compute beam sizes")
    app = told(measures=["gradient"], beam="5")
    before = len(charts(app))
    complete(app.press("Compute beam sizes on this text", exact=False))
    said = re.search(r"On this text a beam of (\d+) is enough", app.said)
    assert said and len(charts(app)) == before + 1
    width = int(said[1])
    exact, beam = (
        finish(find_exact(explainer, encoded, target)).limits,
        finish(find_searched(explainer, encoded, target, width, half=False)).limits,
    )
    assert beam.upper == pytest.approx(exact.upper, abs=0.02) and beam.lower == pytest.approx(exact.lower, abs=0.02)


def studied(upper, exact=None, settled=True, at=0) -> BeamStudy:
    """A study whose upper limits, of each text one row, are given; lower limits are all 0."""
    upper = np.array(upper)
    widths = tuple(2**i for i in range(upper.shape[1]))
    known = np.full((len(upper), 2), np.nan) if exact is None else np.array(exact, dtype=float)
    return BeamStudy(widths, np.zeros(upper.shape), upper, known, widths[at], settled)


def test_a_beam_is_enough_only_where_exact_limits_say_so():
    still = study_line(studied([[0.1, 0.2, 0.234, 0.234, 0.234]], at=2), "this text", True)
    assert "stand still from a beam of 4 on" in still and "enough" not in still and "can miss" in still
    exact = study_line(studied([[0.1, 0.2, 0.619]], [[0, 0.619]], at=2), "this text", True)
    assert "a beam of 4 is enough" in exact and "exact ones" in exact
    missed = study_line(studied([[0.1, 0.234, 0.234]], [[0, 0.619]], False, 2), "this text", True)
    assert "a beam of 4, the widest that is tried, is not enough" in missed and "0.385 further out" in missed
    some = study_line(studied([[0.2] * 4, [0.3] * 4], [[0, 0.2], [np.nan] * 2]), "2 texts of x", True)
    assert "stand still from a beam of 1 on" in some and "On 1 of 2 texts" in some and "can miss" in some
    # Nothing is said before it is done.
    assert "so far" in study_line(studied([[0.1, 0.234]], [[0, 0.619]], False, 1), "this text", False)


@pytest.mark.usefixtures("orders_wait")
def test_the_beams_size_is_studied_on_texts_of_the_data(monkeypatch):
    monkeypatch.setattr("pages.parts.limits.limiting.STUDIED", 2)
    monkeypatch.setattr("pages.parts.limits.limiting.WIDEST", 2)
    # Exact limits beside them cost most.
    monkeypatch.setenv("FAITHSCOPE_EXACT", "512")
    st.cache_resource.clear()
    app = told(measures=["gradient"], data="contrast pairs", example="p14a", beam="5")
    button = next(w.label for w in app.at.get("button") if "texts of contrast pairs" in w.label)
    complete(app.press(button))
    assert re.search(r"On \d+ texts of contrast pairs ", app.said) and "Compute beam sizes on this text" in " ".join(
        w.label for w in app.at.get("button")
    )


# Keeping and sharing


def test_the_tables_hold_every_number(mine, by_hand):
    _explainer, encoded, _target = mine
    app = told()
    rows = list(csv.DictReader(io.StringIO(app.download("Scores (CSV)").lstrip("\ufeff"))))
    assert [row["measure"] for row in rows] == list(DEFAULT)
    for row, one in zip(rows, by_hand.standings):
        assert float(row["comprehensiveness (higher is better)"]) == pytest.approx(
            one.aopc[COMPREHENSIVENESS], abs=1e-4
        )
        assert float(row["upper limit"]) == pytest.approx(by_hand.limits.upper, abs=1e-4) and row["limits"] == "exact"
        marked = one.marked(COMPREHENSIVENESS)
        assert row["comprehensiveness rests on rejected inputs"] == ("yes" if marked else "no")
    steps = list(csv.DictReader(io.StringIO(app.download("Orders (CSV)").lstrip("\ufeff"))))
    highest = [row for row in steps if row["order"] == "upper limit"]
    assert len(highest) == encoded.F + 1 and float(highest[0]["p (calibrated)"]) > 0
    values = np.array([float(row["probability of it"]) for row in highest])
    assert float(np.mean(values[0] - values[1:])) == pytest.approx(by_hand.limits.upper, abs=1e-4)
    assert order_aopc(lambda masks: np.full(len(masks), 1.0), by_hand.highest.order, encoded.F) == 0.0


def test_a_link_restores_the_view():
    app = told(
        curves="sufficiency",
        beside="sst2-plain",
        beam="2",
        search="the model’s own",
        values="absolute",
        rule="plain",
        form="literal",
        measures=["gradient"],
    )
    assert (
        app.widget("button_group", "Direction").value == "sufficiency"
        and app.widget("button_group", "Search").value == "2"
    )
    assert (
        app.widget("button_group", "Search in").value == "the model’s own"
        and app.widget("selectbox", "Beside it").value == "sst2-plain"
    )


@pytest.mark.parametrize("query", [{"beam": "7"}, {"curves": "x"}, {"beside": "nobody"}, {"search": ""}])
def test_a_link_that_asks_for_what_is_not_there_says_so(query):
    app = told(measures=["gradient"], **query)
    assert scores_table(app) and (not query.get("beam") or "which is not here" in app.said)


def test_what_stands_behind_a_tab_is_drawn_once_it_is_opened():
    """Of six pictures of two models one is in view: the browser need not draw the others."""
    app = complete(Looking(PAGE, example=SMALL.id, beside="sst2-plain"))
    pictures = lambda: len(app.at.get("plotly_chart"))  # noqa: E731
    assert pictures() == 1 and [tab.label for tab in app.at.tabs][:2] == ["Which words first?", "Step by step"]
    for name, drawn in (("Step by step", 3), ("Which words first?", 1), ("Better than chance?", 3)):
        app.at.session_state["parts-of-limits"] = name
        assert app.run() and pictures() == drawn, name
