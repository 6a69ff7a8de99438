"""The page Recursive masking without a browser: what it sends, says and marks, and what it does where something is
missing.
"""

import csv
import io
import threading
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.recursive import BY_FEATURE, BY_RATIO, Band, Step, follow, planned_counts, random_band, summarise
from core.measures.catalogue import measure
from core.network.features import find_words
from core.network.scheduler import Cancelled, NonFinite
from core.results.caveats import Caveat
from core.results.recursive_masking import RecursiveMaskingOutcome as Outcome
from core.results.recursive_masking import masking_result
from core.texts.rendering import headline
from core.validity.marks import OUT, decide, path_word
from core.validity.references import CALIBRATED, find_reference
from pages.parts.sections.paths import step_names
from pages.parts.sections.sides import PROBABILITY
from pages.parts.steps.drawing import TABLE, table_row
from tests.app_session import App, complete, wait

pytestmark = pytest.mark.usefixtures("server")
EARLY, FAR = (f"random orders as {how} ↓" for how in ("early", "far"))
PAGE = "pages/recursive_masking.py"
REVIEWS = read_bundled("reviews")
SMALL = next(example for example in REVIEWS if 9 <= len(example.text.split()) <= 10)


def panes(app: App, mode: str | None = None) -> dict:
    """What the page sends to its stepper, or to what-if."""
    found = [data for data in app.drawn("panes") if data.get("mode") == mode]
    return found[0] if found else {}


def told(page: str, **query) -> App:
    return complete(App(PAGE, example=SMALL.id, **query))


@pytest.fixture
def mine(bundled):
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(SMALL.text, None, "word")
    return explainer, encoded, int(explainer.logits(encoded).argmax())


def run_out(generator):
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


def test_a_ratio_masks_whole_words():
    nine, ten = ([one["count"] for one in step_names(F, "word", BY_RATIO, 0)] for F in (9, 10))
    assert nine[0] == "0 of 9 words" and nine[3] == "2 of 9 words" and nine[10] == "9 of 9 words"
    assert ten[3] == "3 of 10 words" and step_names(9, "word", BY_FEATURE, 0)[3]["count"] == "3 of 9 words"


def test_every_step_is_what_the_library_says(mine):
    explainer, encoded, target = mine
    app = told(PAGE)
    shown = panes(app)
    assert [step["name"] for step in shown["steps"]] == [f"{10 * i} % masked" for i in range(11)]
    (pane,) = shown["panes"]
    steps = run_out(follow(explainer, encoded, "leave-one-out", target, "signed"))
    for drawn, step, count in zip(pane["steps"], steps, planned_counts(encoded.F, BY_RATIO)):
        assert drawn["masked"] == np.flatnonzero(step.mask).tolist() and len(drawn["masked"]) == count
        np.testing.assert_allclose(drawn["probabilities"], step.probabilities, atol=1e-5)
        assert drawn["p"] == pytest.approx(step.p["calibrated"], abs=0.01)
        np.testing.assert_allclose(drawn["layer_ps"], step.layers["calibrated"], atol=0.02)
        largest = np.abs(step.scores).max()
        np.testing.assert_allclose(drawn["shades"], step.scores / largest if largest else step.scores, atol=1e-3)
    assert pane["classes"] == ["negative", "positive"] and pane["target"] == target and len(pane["layers"]) == 7


def paths_table(app: App) -> list[dict[str, str]]:
    """The rows of the table of all measures."""
    (found,) = [table for table in app.tables if table[0][:2] == ["model", "measure"]]
    return [dict(zip(found[0], row)) for row in found[1:]]


def test_the_headline_and_the_table_are_what_the_library_finds(mine):
    explainer, encoded, target = mine
    app = told(PAGE)
    band = run_out(random_band(explainer, encoded))
    rows = paths_table(app)
    assert [row["measure"] for row in rows] == ["leave-one-out", "gradient", "input × gradient"]
    for row in rows:
        found = summarise(
            run_out(follow(explainer, encoded, row["measure"], target, "signed")),
            encoded.F,
            BY_RATIO,
            target,
            band,
            explainer.reference,
        )
        areas, (low, high) = found.areas, (found.areas.acu.low, found.areas.acu.high)
        assert row["RACU ↑"] == ("—" if areas.unstable else f"{areas.racu.mean:.3g}")
        assert row["ACU ↑"] == f"{areas.acu.mean:.3g}" and row["ACU, 95 % interval"] == f"[{low:.3g}, {high:.3g}]"
        assert row["flips at"] == ("—" if found.flips is None else f"{10 * found.flips} % masked")
        assert row["flips again at"] == (", ".join(f"{10 * k} % masked" for k in found.again) or "—")
        assert row["validity"] == "not rejected" and row["⚠"] == "—" and row["random orders"] == "30"
        # How many random orders do as well, counted here from their curves, and from what they predict.
        turned = band.logits[:, : (found.flips or 0) + 1].argmax(axis=2) != found.first_predicted
        assert row[EARLY] == ("—" if found.flips is None else f"{turned.any(axis=1).sum()}")
        curves = np.trapezoid(band.values(target), found.x, axis=1)
        assert row[FAR] == f"{(curves <= np.trapezoid(found.values, found.x)).sum()}"
        if row["measure"] == "leave-one-out":
            result = masking_result("leave-one-out", found, encoded, explainer.model.labels)
            assert app.headlines == [("recursive_masking", result.name, headline(result))]
            assert app.facts[EARLY] == f"{found.as_early} of 30"
    assert not any("in-distribution" in one for one in app.badges)


def test_a_prediction_that_changes_again_stands_in_the_table(mine):
    explainer, encoded, target = mine
    steps = run_out(follow(explainer, encoded, "gradient", target, "signed"))
    found = summarise(steps, encoded.F, BY_RATIO, target, None, explainer.reference)
    side = SimpleNamespace(model=SimpleNamespace(name="m"), unstable=lambda names, sign: {})
    choice = SimpleNamespace(sign="signed")
    path = SimpleNamespace(side=side, measure="gradient", choice=choice, name=lambda k: f"{10 * k} % masked")
    cells = [
        dict(zip(TABLE, table_row(path, replace(found, flips=3, again=again))))["flips again at"]
        for again in ((), (4,), (4, 6))
    ]
    assert cells == [None, "40 % masked", "40 % masked, 60 % masked"]


def made_path(turns: int | None, orders: int = 0, p: float | None = 0.5, steps: int = 5):
    """Of four words masked one by one the prediction turns once `turns` are; `orders` of 4 random ones turn it, too;
    p: of every masked input, None without a reference; steps: those done so far.
    """
    logits = np.array([[0.0, 1.0]] * 5, dtype=np.float32)
    logits[turns if turns is not None else 5 :] = [1.0, 0.0]
    masks = np.tri(5, 4, -1, dtype=bool)
    walked = tuple(
        Step(k, masks[k], np.zeros(4), logits[k], {} if p is None else {CALIBRATED: p if k else 0.5}, {})
        for k in range(steps)
    )
    others = np.tile(np.array([0.0, 1.0], dtype=np.float32), (4, 5, 1))
    others[:orders, 1:] = [1.0, 0.0]
    known = {} if p is None else {CALIBRATED: np.full((4, 5), 0.5)}
    reference = SimpleNamespace(floor=lambda form: 0.00001, forms={CALIBRATED: SimpleNamespace(R=1)})
    return summarise(walked, 4, BY_FEATURE, 1, Band(others, known), None if p is None else reference)


ENCODED = SimpleNamespace(unit="word")


@pytest.mark.parametrize(
    "turns, p, steps, outcome, caveats",
    [
        (2, 0.5, 5, Outcome.FLIPS, set()),
        (2, 0.0001, 5, Outcome.FLIPS_OUT_OF_DISTRIBUTION, {Caveat.OUT_OF_DISTRIBUTION}),
        (2, None, 5, Outcome.NOT_TESTED, {Caveat.NOT_TESTED}),
        (None, 0.5, 5, Outcome.NEVER, set()),
        (None, 0.0001, 5, Outcome.NEVER, {Caveat.OUT_OF_DISTRIBUTION}),
        (None, 0.5, 3, Outcome.RUNNING, {Caveat.PARTIAL}),
        (2, 0.5, 3, Outcome.FLIPS, {Caveat.PARTIAL}),
    ],
)
def test_each_outcome_follows_from_where_the_prediction_turns_and_what_is_rejected(turns, p, steps, outcome, caveats):
    result = masking_result("LIME", made_path(turns, 0, p, steps), ENCODED, ("positive", "negative"))
    assert result.outcome is outcome and set(result.caveats) - {Caveat.UNSTABLE} == caveats
    if outcome is Outcome.FLIPS:
        assert result.slots["count"] == turns and result.slots["label"] == "positive"
        assert result.fact("flips_at").value == turns / 4 and not result.fact("flips_at").marked
    assert result.fact("flips_at").marked == (outcome is Outcome.FLIPS_OUT_OF_DISTRIBUTION)
    assert (result.fact("flips_at").value is None) == (turns is None)


@pytest.mark.parametrize("orders", [0, 1, 2])
def test_random_orders_that_turn_it_as_early_are_a_fact(orders):
    found = masking_result("LIME", made_path(2, orders), ENCODED, ("positive", "negative")).fact("as_early")
    assert (found.value, found.of, found.better) == (orders, 4, "↓")


def test_before_the_first_step_the_result_is_running():
    result = masking_result("LIME", None, ENCODED, ("positive", "negative"))
    assert result.outcome is Outcome.RUNNING and result.facts == () and "LIME" in headline(result)


def test_an_unstable_racu_is_a_caveat_and_no_number():
    found = made_path(2)
    areas = replace(found.areas, unstable=True)
    result = masking_result("LIME", replace(found, areas=areas), ENCODED, ("positive", "negative"))
    assert result.has(Caveat.UNSTABLE) and np.isnan(result.fact("racu").value)


def test_two_models_have_a_headline_each_under_their_names():
    app = complete(App(PAGE, example="s104", beside="sst2-plain", measures=["leave-one-out"]))
    assert app.outcomes == ["flips", "flips out-of-distribution"]
    (first, second) = (words for *_, words in app.headlines)
    assert first.startswith("sst2-fmm: ") and second.startswith("sst2-plain: ")
    assert "⚠ out-of-distribution" in app.badges
    (alone,) = told(PAGE, measures=["leave-one-out"]).headlines
    assert "sst2" not in alone[2]


@pytest.mark.usefixtures("orders_wait")
def test_steps_of_one_word_and_one_shot_order_are_choices(mine):
    _, encoded, _ = mine
    app = told(PAGE, measures=["leave-one-out"], steps="feature", computed="once")
    shown = panes(app)
    assert len(shown["steps"]) == encoded.F + 1 and "one-shot" in shown["panes"][0]["detail"]
    first = shown["panes"][0]["steps"][0]["shades"]
    order = np.argsort(-np.array(first), kind="stable")
    assert shown["panes"][0]["steps"][3]["masked"] == sorted(order[:3].tolist())


def test_the_twin_stands_beside_and_is_marked_where_it_is_rejected():
    app = told(PAGE, beside="sst2-plain", measures=["leave-one-out"])
    first, second = panes(app)["panes"]
    assert (first["title"], second["title"]) == ("sst2-fmm", "sst2-plain")
    assert first["gate"]["first"] is None and second["gate"]["first"] is not None
    at = second["gate"]["first"]
    assert [step["beyond"] for step in second["steps"]] == [k >= at for k in range(11)] and second["steps"][at][
        "rejected"
    ]
    assert not any(step["beyond"] or step["rejected"] for step in first["steps"])
    rows = {row["model"]: row for row in paths_table(app)}
    assert rows["sst2-fmm"]["⚠"] == "—" and rows["sst2-plain"]["⚠"] == "⚠"
    assert rows["sst2-plain"]["validity"].startswith("⚠ rejected from")
    assert "⚠ out-of-distribution" in app.badges


def test_the_plain_rule_and_the_literal_form_are_told_apart():
    holm, plain = (
        panes(told(PAGE, measures=["leave-one-out"], rule=rule))["panes"][0]["gate"]["limit"]
        for rule in ("Holm", "plain")
    )
    assert plain == 0.05 and holm < 0.05 / 5
    literal = panes(told(PAGE, measures=["leave-one-out"], form="literal", rule="plain"))["panes"][0]
    calibrated = panes(told(PAGE, measures=["leave-one-out"], rule="plain"))["panes"][0]
    assert [step["p"] for step in literal["steps"]] != [step["p"] for step in calibrated["steps"]]


@pytest.mark.usefixtures("orders_wait")
def test_a_reference_with_a_high_floor_is_unavailable_and_never_not_rejected():
    # The literal form of the twin cannot give less than 0.09.
    app = told(PAGE, model="sst2-plain", measures=["leave-one-out"], form="literal")
    (pane,) = panes(app)["panes"]
    assert not pane["gate"]["available"] and pane["gate"]["text"] == "unavailable"
    (row,) = paths_table(app)
    assert row["validity"] == "unavailable" and "⚠ not tested" in app.badges
    assert "not rejected" not in app.said and "flips" not in app.outcomes


@pytest.mark.usefixtures("orders_wait")
def test_of_too_many_steps_for_holm_the_eleven_ratios_are_tested():
    """On the model that should be rejected: validity may not go away where the steps are small."""
    long = min((e for e in REVIEWS if len(find_words(e.text)) > 22), key=lambda example: len(example.text))
    app = complete(App(PAGE, example=long.id, model="sst2-plain", measures=["gradient"], steps="feature"))
    (pane,) = panes(app)["panes"]
    assert len(pane["steps"]) > 22 and pane["gate"]["available"] and pane["gate"]["first"] is not None
    assert sum(step["rejected"] for step in pane["steps"]) <= 11
    app.set("button_group", "Validity gate", "plain")
    plain = panes(app)["panes"][0]
    assert plain["gate"]["available"] and sum(step["rejected"] for step in plain["steps"]) > 11


def test_without_a_reference_the_page_says_how_to_fit_one_and_shows_the_rest(monkeypatch, fresh):
    monkeypatch.setattr("core.explanation.explainer.find_reference", lambda *_: None)
    st.cache_resource.clear()
    app = told(PAGE)
    (pane,) = panes(app)["panes"]
    assert pane["layers"] == [] and all(step["p"] is None and step["layer_ps"] is None for step in pane["steps"])
    assert any("--model sst2-fmm" in one.value for one in app.at.code)
    assert app.outcomes in (["not tested"], ["never flips"]) and "⚠ not tested" in app.badges
    assert paths_table(app)[0]["RACU ↑"] != ""


@pytest.mark.usefixtures("orders_wait")
def test_a_reference_of_other_weights_is_refused_in_a_sentence(monkeypatch, tmp_path, fresh):
    import shutil

    from core import settings

    folder = shutil.copytree(settings.BUNDLED / "models" / "sst2-fmm", tmp_path / "other")
    shutil.copy(settings.BUNDLED / "models" / "sst2-plain" / "masf.safetensors", folder / "masf.safetensors")
    monkeypatch.setenv("FAITHSCOPE_MODEL", str(folder))
    st.cache_resource.clear()
    app = told(PAGE, measures=["gradient"])
    assert "other weights" in app.said and panes(app)["panes"][0]["layers"] == []


# What if


def test_masking_by_hand_shows_prediction_and_p_value(mine):
    explainer, encoded, _ = mine
    app = told(PAGE, masked="0.2.5", measures=["gradient"])
    shown = panes(app, "what-if")
    step = shown["panes"][0]["steps"][0]
    mask = np.isin(np.arange(encoded.F), [0, 2, 5])
    judged = explainer.tested(encoded).judge(mask[None])
    assert step["masked"] == [0, 2, 5] and step["p"] == pytest.approx(judged.p["calibrated"][0], abs=0.01)
    assert step["predicted"] == int(judged.logits[0].argmax()) and app.at.query_params["masked"] in (["0.2.5"], "0.2.5")


@pytest.mark.usefixtures("orders_wait")
def test_a_mask_made_by_hand_stays_with_its_text():
    app = told(PAGE, masked="1.3", measures=["gradient"])
    assert panes(app, "what-if")["panes"][0]["steps"][0]["masked"] == [1, 3]
    complete(app.press("Next"))
    assert panes(app, "what-if")["panes"][0]["steps"][0]["masked"] == [] and "masked" not in app.at.query_params


@pytest.mark.parametrize("masked", ["", "x", "99999", "1.-2.x.3000000000", "." * 50, "٣"])
def test_an_address_that_masks_nothing_that_is_there_masks_nothing(masked):
    shown = panes(told(PAGE, masked=masked, measures=["gradient"]), "what-if")
    assert shown["panes"][0]["steps"][0]["masked"] in ([], [1])


def test_every_word_may_be_masked_already():
    app = told(PAGE, measures=["leave-one-out", "gradient"])
    app.go("pages/attributions.py").type("[MASK] [MASK] [MASK]")
    app.go(PAGE)
    complete(app)
    (pane,) = panes(app)["panes"]
    assert all(step["masked"] == [0, 1, 2] for step in pane["steps"]) and "RACU ↑" in paths_table(app)[0]


def test_a_text_of_one_word():
    app = told(PAGE, measures=["leave-one-out"])
    app.go("pages/attributions.py").type("Dull")
    complete(app.go(PAGE))
    assert [len(step["masked"]) for step in panes(app)["panes"][0]["steps"]] == [0] * 10 + [1]
    assert "⚠ single feature" in app.badges


# Jobs


@pytest.fixture
def held_back(monkeypatch, fresh):
    """Leave-one-out that stops at its fourth step until it is let go or told to stop."""
    really, let_go, calls = Explainer.attribute, threading.Event(), []

    def attribute(self, encoded, name, target, masked=None, *more, cancelled=None, **rest):
        if name == "leave-one-out":
            calls.append(int(masked.sum()))
            while len(calls) >= 4 and not let_go.wait(0.02):
                if cancelled is not None and cancelled():
                    raise Cancelled("stopped")
        return really(self, encoded, name, target, masked, *more, cancelled=cancelled, **rest)

    monkeypatch.setattr(Explainer, "attribute", attribute)
    st.cache_resource.clear()
    yield let_go, calls
    let_go.set()


def computed(app: App) -> int:
    shown = panes(app)
    return sum(step is not None for step in shown["panes"][0]["steps"]) if shown else 0


@pytest.mark.usefixtures("orders_wait")
def test_steps_appear_as_they_are_computed_and_outlive_other_choices(held_back):
    let_go, calls = held_back
    app = App(PAGE, example=SMALL.id, measures=["leave-one-out"])
    wait(app, lambda: computed(app) == 3)
    assert app.has("button", "Cancel") and app.at.get("progress")
    app.go("pages/attributions.py")
    app.go(PAGE)
    app.set("button_group", "Validity gate", "plain")
    assert computed(app) == 3 and len(calls) >= 4
    let_go.set()
    complete(app)
    assert computed(app) == 11 and len(calls) == len(set(calls)), "no step was computed twice"


@pytest.mark.usefixtures("orders_wait")
def test_cancelling_keeps_the_steps_and_asking_again_goes_on(held_back):
    let_go, _calls = held_back
    app = App(PAGE, example=SMALL.id, measures=["leave-one-out"])
    wait(app, lambda: computed(app) == 3)
    app.press("Cancel")
    wait(app, lambda: app.has("button", "Go on with"))
    assert computed(app) == 3 and "Cancelled" in app.said and "so far" in str(panes(app)["panes"][0]["gate"])
    assert (
        paths_table(app)[0]["validity"] == "not rejected so far"
        and "⚠ partial" in app.badges
        and not panes(app)["panes"][0]["running"]
    )
    let_go.set()
    app.press("Go on with leave", exact=False)
    complete(app)
    assert computed(app) == 11


@pytest.mark.usefixtures("orders_wait")
def test_a_measure_that_gives_nan_stops_and_the_others_go_on(monkeypatch, fresh):
    really = Explainer.attribute

    def attribute(self, encoded, name, target, masked=None, *more, **rest):
        if name == "gradient" and masked is not None and masked.sum() >= 2:
            raise NonFinite("The gradient is NaN or infinite.")
        return really(self, encoded, name, target, masked, *more, **rest)

    monkeypatch.setattr(Explainer, "attribute", attribute)
    app = App(PAGE, example=SMALL.id, measures=["leave-one-out", "gradient"])
    complete(app)
    (said,) = app.errors
    assert "gradient" in said and "stopped" in said and "NaN" in said
    assert [row["measure"] for row in paths_table(app)] == ["leave-one-out", "gradient"] and computed(app) == 11


def test_dear_measures_wait_to_be_asked(monkeypatch, fresh):
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(PAGE, example=SMALL.id, measures=["gradient"])
    assert (
        computed(app) == 0
        and app.has("button", "Compute gradient")
        and app.has("button", "Compute random orders")
        and "forward passes" in app.said
    )
    app.press("Compute gradient", exact=False)
    complete(app)
    assert computed(app) == 11 and paths_table(app)[0]["RACU ↑"] == "—", "no RACU without random orders"
    assert app.facts["RACU ↑"] == "—"


def test_taking_away_the_measure_that_is_stepped_through_shows_another():
    app = told(PAGE, play="gradient")
    assert "gradient" in panes(app)["panes"][0]["detail"]
    complete(app.set("multiselect", "Measures", ["leave-one-out", "input × gradient"]))
    assert "leave-one-out" in panes(app)["panes"][0]["detail"] and "play" not in app.at.query_params


def test_what_rests_on_rejected_random_orders_is_marked_too(monkeypatch, mine):
    explainer, encoded, target = mine
    band = run_out(random_band(explainer, encoded, orders=4))
    steps = run_out(follow(explainer, encoded, "gradient", target, "signed"))
    assert not summarise(steps, encoded.F, BY_RATIO, target, band, explainer.reference).marked
    spoilt = replace(band, p={form: np.where(np.arange(11) == 10, 0.001, p) for form, p in band.p.items()})
    assert summarise(steps, encoded.F, BY_RATIO, target, spoilt, explainer.reference).marked


def test_no_measure_chosen_still_has_what_if():
    app = told(PAGE, measures=[])
    app.set("multiselect", "Measures", [])
    assert panes(app) == {} and panes(app, "what-if") and "Choose a measure" in app.said


# Keeping and sharing


def test_the_table_of_steps_holds_every_number(mine):
    explainer, encoded, target = mine
    app = told(PAGE, measures=["gradient"])
    rows = list(csv.DictReader(io.StringIO(app.download("Steps (CSV)").lstrip("\ufeff"))))
    assert (
        len(rows) == 11
        and [int(row["features masked"]) for row in rows] == planned_counts(encoded.F, BY_RATIO).tolist()
    )
    steps = run_out(follow(explainer, encoded, "gradient", target, "signed"))
    for row, step in zip(rows, steps):
        assert float(row["p (calibrated)"]) == pytest.approx(step.p["calibrated"], abs=0.01)
        assert float(row[PROBABILITY]) == pytest.approx(step.probabilities[target], abs=1e-5) and row[OUT] == "no"


def test_a_link_restores_the_view():
    app = told(
        PAGE,
        step="4",
        play="gradient",
        rule="plain",
        form="literal",
        computed="once",
        beside="sst2-plain",
        values="absolute",
    )
    shown = panes(app)
    assert shown["step"] == 4 and len(shown["panes"]) == 2
    assert shown["panes"][0]["detail"].startswith("gradient, one-shot")
    assert app.widget("button_group", "Form of the test").value == "literal"


@pytest.mark.parametrize("step", ["-1", "x", "99", "1e3", ""])
def test_a_link_to_no_step_begins_at_one_that_is_there(step):
    assert 0 <= panes(told(PAGE, step=step, measures=["gradient"]))["step"] <= 10


@pytest.mark.usefixtures("orders_wait")
def test_tokens_take_the_same_steps():
    app = told(PAGE, unit="token", measures=["gradient"], beside="sst2-plain")
    shown = panes(app)
    assert len(shown["panes"]) == 2 and "tokens" in shown["steps"][3]["count"]


def test_the_page_says_what_the_reference_is_worth(bundled):
    app = told(PAGE, measures=["gradient"])
    facts = dict(row for table in app.tables for row in table if len(row) == 2)
    reference = find_reference(bundled)
    assert next(value for name, value in facts.items() if name.startswith("floor")) == f"{reference.floor():.3g}"
    assert (
        f"{100 * reference.about['false_rejection']['calibrated'][0]:.1f} % unmasked"
        in facts["false rejections at 5 % ↓"]
    )


def test_a_gate_never_claims_that_an_input_is_known():
    for floor in (None, 0.001, 0.01, 0.2):
        said = path_word(decide(np.full(11, 0.5), np.arange(11), 11, floor), str)
        assert ("unavailable" in said) == (floor != 0.001) and "in-distribution" not in said
    assert "so far" in path_word(decide(np.full(3, 0.5), np.arange(3), 11, 0.001), str, complete=False)


def test_random_order_can_be_followed_too():
    app = told(PAGE, measures=["random", "leave-one-out"], play="random")
    assert [row["measure"] for row in paths_table(app)] == ["random", "leave-one-out"] and measure("random").baseline
