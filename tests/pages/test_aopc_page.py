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
from core.explanation.limiting import find_exact, score
from core.explanation.recursive import BY_FEATURE, random_band
from core.explanation.standings import COMPREHENSIVENESS, SUFFICIENCY, StandingGates, build_standings, compare_standings
from core.mathematics.aopc import order_aopc
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.network.features import find_words
from core.network.scheduler import Cancelled, NonFinite
from core.oracle.oracle import Oracle
from core.results.caveats import Caveat
from core.results.limits import LimitsOutcome, limits_result
from core.texts.rendering import fact_label, fact_text
from core.validity.marks import SIGN
from core.validity.references import find_reference
from core.wording import number
from pages.parts.limits.drawing import order_words, shown_orders
from pages.parts.limits.standing import SCORE_COLUMNS, TABLE
from pages.parts.sections.standings import KnownLimits, Searching
from tests.app_session import App, complete, wait

pytestmark = pytest.mark.usefixtures("server")
DEFAULT = default_measures()
PAGE = "pages/aopc_and_naopc.py"
SCORE, SETS, RESTS = (SCORE_COLUMNS[i] for i in (5, 12, 14))
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


def scores_table(app: App) -> list[dict[str, str]]:
    """The rows of the table of scores, by column."""
    ((header, *rows),) = [table for table in app.tables if "NAOPC ↑" in table[0]]
    assert header[: len(TABLE)] == TABLE
    return [dict(zip(header, row, strict=True)) for row in rows]


def scores_of(app: App) -> bool:
    """Whether measures stand between limits."""
    return any(row["NAOPC ↑"] != "—" for row in scores_table(app))


def shows(app: App, caveat: Caveat) -> bool:
    return any(badge.endswith(caveat.badge) for badge in app.badges)


def charts(app: App) -> list[str]:
    return [chart.proto.spec for chart in app.at.get("plotly_chart")]


def test_every_number_is_what_the_library_says(by_hand):
    app = told()
    *rows, chance = scores_table(app)
    assert [row["measure"] for row in rows] == list(DEFAULT)
    for row, one in zip(rows, by_hand.standings, strict=True):
        for way, name, arrow in ((COMPREHENSIVENESS,) * 2 + ("↑",), (SUFFICIENCY,) * 2 + ("↓",)):
            assert float(row[f"{name} {arrow}"]) == pytest.approx(one.aopc[way], abs=2e-3)
            assert float(row[f"NAOPC {arrow}"]) == pytest.approx(one.naopc[way], abs=2e-3)
            for kind, normalised in (("AOPC", False), ("NAOPC", True)):
                assert (f"{kind} {arrow}" in row[SIGN].split(", ")) == one.marked(way, normalised)
        assert (row["validity"] == "not rejected") == (one.gates[COMPREHENSIVENESS].first is None)
    # The verdicts' own, all that eight words have: one lot in the table, the facts and the bar.
    own = "all 40,320 orders of the chance test"
    assert chance["measure"] == own and chance["validity"].endswith("(30 tested)")
    mean, limits = float(chance["comprehensiveness ↑"]), by_hand.limits
    assert mean == pytest.approx(by_hand.chance.mean, abs=0.1)
    between = (mean - limits.lower) / (limits.upper - limits.lower)
    assert float(chance["NAOPC ↑"]) == pytest.approx(between, abs=5e-3)
    assert float(app.facts["NAOPC, random orders"].rstrip(f" {SIGN}")) == float(chance["NAOPC ↑"])
    assert any(f"br\\u003e{own}" in one or f"<br>{own}" in one for one in charts(app))
    assert any(f"best order {limits.upper:.3g} (exact)" in one for one in charts(app))
    assert not shows(app, Caveat.LIMITS_SEARCHED)


def test_random_orders_that_the_verdicts_asked_for_are_there_though_nobody_asked_for_them_before():
    def there(orders, verdicts):
        return KnownLimits._band.fget(SimpleNamespace(orders=SimpleNamespace(band=orders), verdicts=verdicts))

    done = SimpleNamespace(complete=True, latest=SimpleNamespace(band="theirs"))
    assert there(None, done) == "theirs" and there("own", done) == "own"
    assert there(None, None) is there(None, SimpleNamespace(complete=False, latest=None)) is None


def test_headline_and_facts_are_those_of_the_result_in_either_direction(mine, by_hand):
    app = told()
    for way in (COMPREHENSIVENESS, SUFFICIENCY):
        wanted = limits_result(by_hand, way, mine[1])
        ((question, outcome, words),) = app.headlines
        assert (question, outcome) == ("limits", wanted.name) and by_hand.best(way).measure in words
        for fact in wanted.facts[:3]:
            assert app.facts[fact_label(fact)] == fact_text(fact)
        assert shows(app, Caveat.OUT_OF_DISTRIBUTION) == wanted.has(Caveat.OUT_OF_DISTRIBUTION)
        if way == COMPREHENSIVENESS:
            complete(app.set("button_group", "Direction", SUFFICIENCY))
    assert app.at.query_params["curves"] in (SUFFICIENCY, [SUFFICIENCY])


@pytest.mark.usefixtures("orders_wait")
def test_a_longer_text_gets_limits_by_insertion_search_and_an_offer_with_its_cost():
    longer = next(example for example in REVIEWS.values() if len(find_words(example.text)) == 13)
    app = told(example=longer.id, measures=["gradient"])
    assert shows(app, Caveat.LIMITS_SEARCHED) and any("(insertion search)" in one for one in charts(app))
    assert app.has("button", "Compute exact limits")
    assert re.search(r"8,192 forward passes", app.said)


def test_what_is_too_dear_is_refused_with_the_number(monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(PAGE, example=LONG.id, measures=["gradient"])
    assert re.search(r"2\^\d+ scores.* 20 features", app.said) and not app.has("button", "Compute exact limits")


@pytest.mark.usefixtures("orders_wait")
def test_a_long_text_has_exact_limits_by_clause():
    app = told(example=LONG.id, measures=["leave-one-out"], unit="clause")
    assert exact(app) and scores_table(app)[0]["measure"] == "leave-one-out"


def exact(app: App) -> bool:
    """Whether the picture says that its limits are exact."""
    return not shows(app, Caveat.LIMITS_SEARCHED) and any("(exact)" in one for one in charts(app))


def test_memory_that_is_not_there_is_said_before_it_starts(monkeypatch):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr("core.explanation.limiting.free_memory", lambda: 1_000_000)
    app = App(PAGE, example="s001", measures=["gradient"])
    assert re.search(r"18 features .* \d+ MB, .* 1 MB", app.said) and not app.has("button", "Compute exact limits")


@pytest.mark.usefixtures("orders_wait")
def test_scores_that_exact_limits_may_cost_are_a_setting(monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "255")
    st.cache_resource.clear()
    assert exact(told(example="s230", measures=["gradient"]))
    app = told(measures=["gradient"])
    assert shows(app, Caveat.LIMITS_SEARCHED) and app.has("button", "Compute exact limits")
    complete(app.press("Compute exact limits", exact=False))
    assert exact(app)


def test_two_models_stand_beside_each_other_with_their_places_before_and_after(bundled, twin, by_hand):
    app = told(beside="sst2-plain")
    other = Explainer(twin, None, find_reference(twin))
    encoded = other.encode(SMALL.text, None, "word")
    target = twin.labels.index(bundled.labels[int(Explainer(bundled).logits(bundled.encode(SMALL.text)).argmax())])
    scores = [score(other, encoded, name, target) for name in DEFAULT]
    beside = build_standings(
        finish(find_exact(other, encoded, target)), scores, None, target, StandingGates(encoded, other.reference)
    )
    rows = [row for row in scores_table(app) if row["measure"] in DEFAULT]
    assert [row["model"] for row in rows] == ["sst2-fmm"] * 3 + ["sst2-plain"] * 3
    assert float(rows[3]["comprehensiveness ↑"]) == pytest.approx(beside.standings[0].aopc[COMPREHENSIVENESS], abs=2e-3)
    compared = compare_standings({"sst2-fmm": by_hand, "sst2-plain": beside}, COMPREHENSIVENESS)
    ((_, *table),) = [table for table in app.tables if "ahead by NAOPC" in table[0]]
    ahead = {row[0]: (row[3], row[6]) for row in table}
    assert ahead == {name: tuple(one or "tied" for one in both) for name, both in compared.ahead.items()}
    assert [row[-1] == SIGN for row in table] == [
        any(one.marked for one in compared.placed if one.measure == row[0]) for row in table
    ]
    assert app.outcomes == [limits_result(board, COMPREHENSIVENESS, encoded).name for board in (by_hand, beside)]
    assert any("by NAOPC" in chart and "1. " in chart for chart in charts(app))
    assert list(app.facts)[:4] == [
        f"{name} · {model} {arrow}"
        for model in ("sst2-fmm", "sst2-plain")
        for name, arrow in (("NAOPC", "↑"), ("AOPC to gain", "↓"))
    ]


@pytest.mark.usefixtures("orders_wait")
def test_a_model_with_the_same_weights_does_not_stand_beside(monkeypatch, tmp_path, fresh):
    import shutil

    from core import settings

    folder = shutil.copytree(settings.BUNDLED / "models" / "sst2-fmm", tmp_path / "copy")
    monkeypatch.setenv("FAITHSCOPE_MODEL", f"sst2-fmm;{folder}")
    st.cache_resource.clear()
    app = told(measures=["gradient"], beside=str(folder))
    assert len(app.headlines) == 1 and app.at.warning and {row["model"] for row in scores_table(app)} == {"sst2-fmm"}


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
    assert shows(app, Caveat.OTHER_CLASSES) and len(app.headlines) == 2
    assert not any("by NAOPC" in chart for chart in charts(app))
    assert not [table for table in app.tables if "ahead by NAOPC" in table[0]]


def test_values_of_another_kind_and_orders_of_the_other_direction_are_choices(mine):
    explainer, encoded, target = mine
    app = told(values="absolute", measures=["leave-one-out"])
    one = score(explainer, encoded, "leave-one-out", target, "absolute")
    assert float(scores_table(app)[0]["comprehensiveness ↑"]) == pytest.approx(one.aopc["comprehensiveness"], abs=2e-3)


@pytest.mark.usefixtures("orders_wait")
def test_the_twin_is_marked_where_its_inputs_are_rejected():
    app = told(model="sst2-plain", measures=["leave-one-out"], rule="plain")
    row = scores_table(app)[0]
    assert {"AOPC ↑", "NAOPC ↑"} <= {*row[SIGN].split(", ")} and f"{SIGN} rejected from" in row["validity"]
    assert app.outcomes == [LimitsOutcome.OUT_OF_DISTRIBUTION.value] and shows(app, Caveat.OUT_OF_DISTRIBUTION)
    assert app.facts["NAOPC ↑"].endswith(SIGN)


@pytest.mark.usefixtures("orders_wait")
def test_validity_that_cannot_be_told_is_called_unavailable():
    app = told(model="sst2-plain", measures=["leave-one-out"], form="literal")
    assert scores_table(app)[0]["validity"] == "unavailable" and shows(app, Caveat.NOT_TESTED)


def test_limits_that_nearly_coincide_are_warned_of(monkeypatch):
    monkeypatch.setattr("core.mathematics.search.limits.NARROW", 2.0)
    assert shows(told(measures=["gradient"]), Caveat.NARROW_LIMITS)


# Bad input


def test_a_text_of_one_word_has_one_order_and_no_naopc():
    app = App("pages/attributions.py").type("Dull")
    complete(app.go(PAGE))
    assert app.outcomes == [LimitsOutcome.TIED.value] and scores_table(app)[0]["NAOPC ↑"] == "—" and not app.errors
    assert shows(app, Caveat.SINGLE_FEATURE)


def test_every_word_may_be_masked_already():
    app = App("pages/attributions.py").type("[MASK] [MASK]")
    complete(app.go(PAGE))
    assert app.outcomes == [LimitsOutcome.NO_ORDERS.value] and not app.errors and not charts(app)


def test_words_that_are_masked_in_the_text_are_in_no_order():
    app = App("pages/attributions.py", measures=["leave-one-out"]).type("A [MASK] dull film")
    complete(app.go(PAGE))
    rows = list(csv.DictReader(io.StringIO(app.download("Orders (CSV)").lstrip("\ufeff"))))
    of_one = [
        row["masked here"] for row in rows if row["order"] == "leave-one-out" and row["direction"] == COMPREHENSIVENESS
    ]
    assert sorted(of_one) == ["", "A", "dull", "film"] and exact(app)
    scores = list(csv.DictReader(io.StringIO(app.download("Scores (CSV)").lstrip("\ufeff"))))
    assert scores[0][SETS] == "8"


def test_a_model_that_answers_nan_is_a_sentence_and_nothing_else_is_lost(monkeypatch, fresh):
    really = Oracle.logits

    def logits(self, masks, **more):
        if masks.sum() > 30:
            raise NonFinite("The model returned NaN or infinity for 3 of 9 inputs.")
        return really(self, masks, **more)

    monkeypatch.setattr(Oracle, "logits", logits)
    app = told(measures=["gradient"])
    assert any("stopped" in error and "NaN" in error for error in app.errors) and app.has("multiselect", "Measures")


def test_without_a_reference_everything_but_validity_is_there(monkeypatch, fresh):
    monkeypatch.setattr("core.explanation.explainer.find_reference", lambda *_: None)
    st.cache_resource.clear()
    app = told(measures=["gradient"])
    assert scores_table(app)[0]["validity"] == "unavailable" and exact(app)
    assert shows(app, Caveat.NOT_TESTED)


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


def searched(app: App) -> bool:
    """Whether the picture shows limits of an insertion search."""
    return any("(insertion search)" in one for one in charts(app))


@pytest.mark.usefixtures("orders_wait")
def test_limits_that_were_found_stand_there_while_exact_ones_are_searched_and_outlive_other_choices(held_back):
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    wait(app, lambda: searched(app) and scores_of(app))
    assert app.at.get("progress") and app.has("button", "Cancel") and shows(app, Caveat.PARTIAL)
    app.go("pages/attributions.py")
    app.go(PAGE)
    app.set("button_group", "Validity gate", "plain")
    assert searched(app) and app.has("button", "Cancel")
    held_back.set()
    complete(app)
    assert exact(app) and not shows(app, Caveat.PARTIAL)


@pytest.mark.usefixtures("orders_wait")
def test_cancelling_keeps_the_best_so_far_says_so_and_asking_again_goes_on(held_back):
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    wait(app, lambda: searched(app) and app.has("button", "Cancel"))
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Go on with exact limits"))
    assert searched(app) and shows(app, Caveat.PARTIAL) and "Cancelled" in app.said
    held_back.set()
    complete(app.press("Go on with exact limits", exact=False))
    assert exact(app) and not shows(app, Caveat.PARTIAL)


def test_dear_work_waits_to_be_asked(monkeypatch, fresh):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    st.cache_resource.clear()
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    assert app.outcomes == [LimitsOutcome.RUNNING.value] and not charts(app) and "forward passes" in app.said
    complete(app.press("Compute insertion search limits", exact=False))
    assert shows(app, Caveat.LIMITS_SEARCHED) and app.outcomes == [LimitsOutcome.RUNNING.value] and not searched(app)
    complete(app.press("Compute gradient", exact=False))
    assert [row["measure"] for row in scores_table(app)] == ["gradient"], "no random orders were asked for"
    assert app.outcomes != [LimitsOutcome.RUNNING.value]


def test_raw_scores_stand_there_before_the_limits_and_not_after(monkeypatch, fresh, mine):
    """The limits wait to be asked for, and the scores do not."""
    monkeypatch.setattr(Searching, "at_once", False)
    app = told(measures=["gradient"])
    (raw,) = scores_table(app)
    explainer, encoded, target = mine
    found = score(explainer, encoded, "gradient", target)
    assert [raw[name] for name in ("measure", "comprehensiveness ↑", "sufficiency ↓")] == [
        "gradient",
        number(found.aopc["comprehensiveness"]),
        number(found.aopc["sufficiency"]),
    ]
    assert raw["NAOPC ↑"] == raw["NAOPC ↓"] == "—" and not scores_of(app)
    complete(app.press("Compute exact limits", exact=False))
    assert scores_of(app)


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
    assert any("(beam 1)" in one for one in charts(app)) and shows(app, Caveat.PARTIAL)
    complete(app.press("Compute insertion search limits", exact=False))
    assert searched(app) and not shows(app, Caveat.PARTIAL)


def test_a_beam_whose_sets_are_known_starts_whatever_it_would_cost(monkeypatch, fresh):
    """The scoreboard asks for those of a beam of one, and the price of a search is that of all its sets."""
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    st.cache_resource.clear()
    really = limiting.search_cost
    monkeypatch.setattr("pages.parts.sections.standings.search_cost", lambda *about: Cost(really(*about).passes, 100.0))
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 10.0)
    monkeypatch.setattr("pages.parts.sections.standings.limits_known", lambda *about: about[3] == 1)
    assert any("(beam 1)" in one for one in charts(told(measures=["gradient"])))


def test_verdicts_are_told_without_limits(monkeypatch, fresh):
    monkeypatch.setattr(Searching, "at_once", False)
    app = told(measures=DEFAULT)
    assert app.outcomes == [LimitsOutcome.RUNNING.value]
    ((_, *rows),) = [table for table in app.tables if table[0][:2] == ["measure", "verdict"]]
    assert [row[0] for row in rows] == list(DEFAULT)


def test_the_best_and_the_worst_order_stand_under_the_words(mine, by_hand):
    shown = shown_orders(by_hand, COMPREHENSIVENESS, mine[1].F)
    names = [one.measure for one in by_hand.standings]
    assert [one.name for one in shown] == ["best order", *names, "worst order"] and len(names) > 1
    walked = [one.walks[COMPREHENSIVENESS].order for one in by_hand.standings]
    for one, order in zip(shown, (by_hand.limits.highest, *walked, by_hand.limits.lowest)):
        assert [one.places[i] for i in order] == list(range(1, len(order) + 1))
        assert one.strengths[order[0]] == max(one.strengths) and one.strengths[order[-1]] == min(one.strengths)
    turned = shown_orders(by_hand, SUFFICIENCY, mine[1].F)
    assert turned[0].places == shown[-1].places and turned[-1].places == shown[0].places


def test_what_the_text_masks_itself_is_in_no_order_of_words():
    found = order_words("best order", "", np.array([3, 1]), 4)
    assert found.places == [0, 2, 0, 1] and found.strengths[0] == 0.0


# Keeping and sharing


def test_the_tables_hold_every_number(mine, by_hand):
    _explainer, encoded, _target = mine
    app = told()
    rows = list(csv.DictReader(io.StringIO(app.download("Scores (CSV)").lstrip("\ufeff"))))
    assert [row["measure"] for row in rows] == list(DEFAULT)
    for row, one in zip(rows, by_hand.standings):
        assert float(row[SCORE]) == pytest.approx(one.aopc[COMPREHENSIVENESS], abs=1e-4)
        assert float(row["upper limit"]) == pytest.approx(by_hand.limits.upper, abs=1e-4) and row["limits"] == "exact"
        marked = one.marked(COMPREHENSIVENESS)
        assert row[RESTS] == ("yes" if marked else "no")
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
        values="absolute",
        rule="plain",
        form="literal",
        measures=["gradient"],
    )
    assert app.widget("button_group", "Direction").value == "sufficiency"
    assert app.widget("selectbox", "Beside it").value == "sst2-plain" and not app.at.warning


@pytest.mark.parametrize(
    "query", [{"beam": "2"}, {"search": "the model’s own"}, {"beam": "7", "search": "half precision"}]
)
def test_what_old_links_set_and_pages_no_longer_do_is_named_and_the_rest_holds(query):
    app = told(measures=["gradient"], **query)
    assert scores_table(app) and all(f"sets {key} to {value}" in app.said for key, value in query.items())
    assert not {"beam", "search"} & {*app.at.query_params}


@pytest.mark.parametrize("query", [{"curves": "x"}, {"beside": "nobody"}])
def test_a_link_that_asks_for_what_is_not_there_says_so(query):
    app = told(measures=["gradient"], **query)
    assert scores_table(app) and len(app.lacking) == 1
    assert not told(measures=["gradient"], search="dull").at.warning, "the search of Examples is none of this page"


def test_what_stands_behind_a_tab_is_drawn_once_it_is_opened():
    """Of six pictures of two models one is in view: the browser need not draw the others."""
    app = complete(Looking(PAGE, example=SMALL.id, beside="sst2-plain"))
    pictures = lambda: len(app.at.get("plotly_chart"))  # noqa: E731
    assert pictures() == 1 and [tab.label for tab in app.at.tabs][:2] == ["Which words first?", "Step by step"]
    for name, drawn in (("Step by step", 3), ("Which words first?", 1), ("Better than random?", 3)):
        app.at.session_state["parts-of-limits"] = name
        assert app.run() and pictures() == drawn, name
