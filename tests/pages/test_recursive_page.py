"""The page Recursive masking without a browser: what it sends, says and marks, and what it does where something is
missing.
"""

import csv
import io
import re
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple
from unittest.mock import Mock

import numpy as np
import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.recursive import (
    BY_FEATURE,
    BY_RATIO,
    Band,
    Step,
    area_cells,
    follow,
    planned_counts,
    random_band,
    summarise,
)
from core.measures.catalogue import measures
from core.network.features import find_words
from core.network.scheduler import Cancelled, NonFinite
from core.validity.marks import decide, path_text
from core.validity.references import CALIBRATED, find_reference
from core.wording import joined
from pages.parts.sections.paths import step_names
from pages.parts.steps.drawing import _above_one
from pages.parts.steps.following import (
    _at_once,
    _in_order,
    _never,
    masking_answer,
    narrow_text,
    table_row,
    what_is_tested,
)
from tests.app_session import App, complete, wait

pytestmark = pytest.mark.usefixtures("server")
PAGE = "pages/recursive_masking.py"
REVIEWS = read_bundled("reviews")
CHANGED = "masking “a” and “b”, the 2 words that leave-one-out names first, changes the prediction to positive"
IN_THE_END = ", as it is with every word masked"
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


def test_a_ratio_masks_whole_words_and_says_where_fewer_than_its_share():
    nine, ten = ([one["count"] for one in step_names(F, "word", BY_RATIO, 0)] for F in (9, 10))
    assert nine[0] == "0 of 9 words" and nine[3] == "2 of 9 words (2.7 rounded down)" and nine[10] == "9 of 9 words"
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


def test_the_answer_comes_first_and_the_table_says_the_same(mine):
    explainer, encoded, target = mine
    app = told(PAGE)
    band = run_out(random_band(explainer, encoded))
    header, *rows = app.tables[0]
    assert [row[1] for row in rows] == ["leave-one-out", "gradient", "input × gradient"] and "RACU ↑" in header
    for row in rows:
        found = summarise(
            run_out(follow(explainer, encoded, row[1], target, "signed")),
            encoded.F,
            BY_RATIO,
            target,
            band,
            explainer.reference,
        )
        assert (
            row[3:5] == list(area_cells(found.areas, False))
            and f"{found.acu:.3g} [{found.areas.acu.low:.3g}, " in row[4]
        )
        changes = [f"{10 * k} % masked" for k in ([] if found.flips is None else [found.flips, *found.again])]
        again = f", again at {joined(changes[1:])}" * (len(changes) > 1)
        assert row[2] == (f"{changes[0]}{again}" if changes else "never") and row[8] == "not rejected"
        # How many random orders do as well, counted here from their curves, and from what they predict.
        turned = band.logits[:, : (found.flips or 0) + 1].argmax(axis=2) != found.first_predicted
        assert row[5] == ("—" if found.flips is None else f"{turned.any(axis=1).sum()} of 30")
        areas = np.trapezoid(band.values(target), found.x, axis=1)
        assert row[6] == f"{(areas <= np.trapezoid(found.values, found.x)).sum()} of 30"
    assert (
        re.search(
            r"The MaSF test rejects none of these texts, which is no proof that the model knows them\. (Smallest )?MaSF",
            app.said,
        )
        and "in-distribution" not in app.said.replace("is in-distribution", "").split("Settings")[0]
    )


def test_words_are_told_in_the_order_in_which_they_go():
    masks = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1]], bool)
    summary = SimpleNamespace(steps=[SimpleNamespace(mask=mask) for mask in masks])
    # Those of one step as they stand in the text.
    assert [_in_order(summary, step) for step in range(4)] == [[], [3], [3, 1], [3, 1, 0, 2]]


def test_other_measures_that_never_change_the_prediction_are_told_beside_one_that_does():
    class Path(SimpleNamespace):
        __hash__ = object.__hash__

    here, twin = SimpleNamespace(), SimpleNamespace()
    first, second, third, beside = (
        Path(side=side, measure=name) for side, name in ((here, "a"), (here, "b<"), (here, "c"), (twin, "d"))
    )

    def told(*found) -> str:
        return _never(first, dict(zip((first, second, third, beside), found)))

    changes, never, unknown = (
        SimpleNamespace(flips=flips, complete=done) for flips, done in ((3, True), (None, True), (None, False))
    )
    whole = "Masking what <b>b&lt;</b> {} never changes it."
    assert told(changes, never, changes, never) == whole.format("names")
    assert told(changes, never, never, never) == whole.replace("</b> {}", "</b> and <b>c</b> {}").format("name")
    # What is still being followed may change it yet; "it" is what the first one changes.
    assert told(changes, unknown, changes, never) == "" and told(never, never, never, never) == ""


def test_a_prediction_that_changes_again_is_told_in_the_table(mine):
    explainer, encoded, target = mine
    steps = run_out(follow(explainer, encoded, "gradient", target, "signed"))
    found = summarise(steps, encoded.F, BY_RATIO, target, None, explainer.reference)
    side = SimpleNamespace(model=SimpleNamespace(name="m"))
    path = SimpleNamespace(side=side, measure="gradient", unstable={}, name=lambda k: f"{10 * k} % masked")
    cells = [table_row(path, replace(found, flips=3, again=again))[2] for again in ((), (4,), (4, 6))]
    assert cells == [
        "30 % masked",
        "30 % masked, again at 40 % masked",
        "30 % masked, again at 40 % masked and 60 % masked",
    ]
    # The second change, and it alone, comes after a step that is rejected.
    gate = replace(found.gate, why=None, first=5)
    row = table_row(path, replace(found, flips=3, again=(6,), gate=gate))
    assert row[2] == "30 % masked, again at 60 % masked ⚠"


@pytest.mark.parametrize(
    "turns, orders, p, lead, says",
    [
        (2, 0, 0.5, "Yes: ", f"{CHANGED}{IN_THE_END}. None of 4 random orders changes it as soon. The MaSF"),
        (
            2,
            1,
            0.5,
            f"Yes, but 1 of 4 random orders changes it as soon: {CHANGED}{IN_THE_END}.",
            "no proof that the model knows them. MaSF p = 0.5 at step 2, smallest 0.5; less",
        ),
        (
            2,
            2,
            0.5,
            f"Yes, but 2 of 4 random orders change it as soon: {CHANGED}{IN_THE_END}.",
            "no proof that the model knows them. MaSF p = 0.5 at step 2, smallest 0.5; less",
        ),
        (
            2,
            0,
            0.0001,
            "Cannot be told: ",
            f"{CHANGED}, but the model does not know such inputs. ⚠ Inputs are rejected",
        ),
        (
            2,
            0,
            None,
            "Cannot be told: ",
            f"{CHANGED}, but not whether the model knows such inputs. Validity unavailable",
        ),
        (
            None,
            0,
            0.5,
            "No: ",
            "masking what leave-one-out names never changes the prediction, not even with every word",
        ),
    ],
)
def test_the_first_word_answers_the_question_of_the_page(turns, orders, p, lead, says):
    """Of four words masked one by one the prediction turns once `turns` are; `orders` of 4 random ones turn it, too."""
    logits = np.array([[0.0, 1.0]] * 5, dtype=np.float32)
    logits[turns if turns is not None else 5 :] = [1.0, 0.0]
    masks = np.tri(5, 4, -1, dtype=bool)
    steps = tuple(
        Step(k, masks[k], np.zeros(4), logits[k], {} if p is None else {CALIBRATED: p if k else 0.5}, {})
        for k in range(5)
    )
    others = np.tile(np.array([0.0, 1.0], dtype=np.float32), (4, 5, 1))
    others[:orders, 1:] = [1.0, 0.0]
    known = {} if p is None else {CALIBRATED: np.full((4, 5), 0.5)}
    reference = SimpleNamespace(floor=lambda form: 0.00001, forms={CALIBRATED: SimpleNamespace(R=1)})
    found = summarise(steps, 4, BY_FEATURE, 1, Band(others, known), None if p is None else reference)
    features = [SimpleNamespace(text=one) for one in "abcd"]
    encoded = SimpleNamespace(unit="word", features=features, premasked=np.zeros(4, dtype=bool), F=4, second=None)
    side = SimpleNamespace(
        encoded=encoded, model=SimpleNamespace(labels=("positive", "negative")), predicted=1, target=1, reference=None
    )
    choice = SimpleNamespace(played="leave-one-out", recompute=False)
    path = Mock(measure="leave-one-out", side=side, choice=choice, runs=False)
    path.name = lambda k: f"step {k}"
    answer = re.sub("<.*?>", "", " ".join(masking_answer([path], {path: found})))
    assert answer.startswith(lead) and says in answer and "That step" not in answer
    # While the chosen measure is not there, what is known of another one answers.
    waiting = Mock(measure="LIME", side=side, choice=SimpleNamespace(played="LIME", recompute=False), runs=False)
    other = re.sub("<.*?>", "", masking_answer([waiting, path], {path: found})[0])
    assert other.startswith(f"LIME waits to be asked for below. Of another measure it is known: {lead}")
    assert masking_answer([waiting, path], {}) == ("LIME waits to be asked for below.", "")


def test_two_models_are_answered_each_under_its_name():
    app = complete(App(PAGE, example="s104", beside="sst2-plain", measures=["leave-one-out"]))
    answer = next(one.value for one in app.at.html if "leave-one-out</b> names first" in one.value)
    assert (
        "<b>sst2-fmm: Yes" in answer
        and "<b>sst2-plain: Cannot be told</b> by leave-one-out: the prediction changes only at 80\u00a0% masked, after "
        "⚠ inputs are rejected as out-of-distribution (from 70\u00a0% masked on)."
        in answer
    )
    assert "<b>sst2" not in " ".join(one.value for one in told(PAGE, measures=["leave-one-out"]).at.html)


def test_what_is_tested_and_which_number_has_no_interval_is_said_once():
    """A step for which the reference has no ratio of its own is one test with another that masks the same."""
    area = SimpleNamespace(mean=1.02, low=1.018, high=1.021)
    wide, gate = SimpleNamespace(mean=1.0, low=0.9, high=1.1), SimpleNamespace(available=True, tested=None, rule="Holm")
    areas = SimpleNamespace(racu=wide, acu=wide)

    def one(name, steps, areas):
        path = Mock(names=[{}] * 11, side=SimpleNamespace(model=SimpleNamespace(name=name)))
        return path, SimpleNamespace(gate=SimpleNamespace(**vars(gate), steps=steps), areas=areas)

    found = dict([one("a", 11, areas)])
    assert what_is_tested(found) == (
        "Each step is tested, the unmasked text included. Holm holds the tests of one path together to 5 %, if "
        "each by itself falsely rejects no more: how often it does is told below."
    )
    assert narrow_text(found) == ""
    found |= dict([one("b", 10, SimpleNamespace(racu=area, acu=wide))])
    assert "; of b steps that mask the same are one test. Holm" in what_is_tested(found)
    assert narrow_text(found) == "; none where its ends read alike"
    areas = SimpleNamespace(racu=area, acu=wide, unstable=False)
    assert area_cells(areas, True) == ("1.02 ⚠", "1 [0.9, 1.1] ⚠")


@pytest.mark.parametrize(
    "counts, known, says",
    [
        ((0, 1, 2), {}, ""),
        ((0, 2, 4), {}, " That step masks 2 words; fewer may do."),
        ((0, 1, 4), {}, " That step adds 3 words; fewer may do."),
        # Of a word that nobody asked for nothing is said, of one that does it that it does.
        ((0, 2, 4), {(0,): 0}, " That step masks 2 words; fewer may do."),
        (
            (0, 2, 4),
            {(1,): 1},
            " That step masks 2 words; “b” alone is enough, which no step tests: What if? below can.",
        ),
        (
            (0, 2, 4),
            {(0,): 1, (1,): 1},
            " That step masks 2 words; “a” alone is enough, which no step tests: What if? below can.",
        ),
        ((0, 2, 4), {(0,): 0, (1,): 0}, " That step masks 2 words; neither does it alone."),
        ((0, 3, 4), {(0,): 0, (1,): 0, (2,): 0}, " That step masks 3 words; fewer may do."),
        # Beside what was masked before: alone on the text as it stands is another question.
        ((0, 1, 4), {(2,): 1}, " That step adds 3 words; fewer may do."),
        (
            (0, 1, 4),
            {(0, 2): 1},
            " That step adds 3 words; “c” alone is enough, which no step tests: What if? below can.",
        ),
    ],
)
def test_of_words_that_a_step_masks_at_once_it_is_said_which_is_known_to_do_alone(counts, known, says):
    """`known`: the class that is predicted with features masked, of what leave-one-out asked for already."""

    class Known:
        def known(self, masks):
            return np.array([tuple(np.flatnonzero(mask)) in known for mask in masks], dtype=bool)

        def logits(self, masks):
            assert self.known(masks).all(), "nothing new is asked of the network"
            return np.eye(2)[[known[tuple(np.flatnonzero(mask))] for mask in masks]]

    logits = np.eye(2)[[0, 0, 1] if counts[1] == 1 else [0, 1, 1]]
    steps = [
        Step(count, np.arange(4) < count, np.array([0.4, 0.3, 0.2, 0.1]), one, {}, {})
        for count, one in zip(counts, logits)
    ]
    summary = SimpleNamespace(flips=int(logits.argmax(axis=1).argmax()), steps=steps)
    encoded = SimpleNamespace(features=[SimpleNamespace(text=one) for one in "abcd"], unit="word")
    explainer = SimpleNamespace(oracles=SimpleNamespace(of=lambda _: Known()))
    path = SimpleNamespace(side=SimpleNamespace(encoded=encoded, explainer=explainer))
    assert re.sub("<.*?>", "", _at_once(path, summary)) == says


@pytest.mark.usefixtures("orders_wait")
def test_steps_of_one_word_and_one_shot_order_are_choices(mine):
    _, encoded, _ = mine
    app = told(PAGE, measures=["leave-one-out"], steps="feature", computed="once")
    shown = panes(app)
    assert len(shown["steps"]) == encoded.F + 1 and "computed once" in shown["panes"][0]["detail"]
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
    rows = {row[0]: row for row in app.tables[0][1:]}
    assert "⚠" not in "".join(rows["sst2-fmm"]) and all(
        "⚠" in cell or cell == "—" for cell in (rows["sst2-plain"][i] for i in (3, 4, 5, 6, 8))
    )
    assert "sst2-plain" in app.said and "⚠" in app.said


def test_the_plain_rule_and_the_literal_form_are_told_apart():
    holm, plain = (
        panes(told(PAGE, measures=["leave-one-out"], rule=rule))["panes"][0]["gate"]["text"]
        for rule in ("Holm", "plain")
    )
    assert "Holm over" in holm and "each step by itself" in plain
    literal = panes(told(PAGE, measures=["leave-one-out"], form="literal", rule="plain"))["panes"][0]
    calibrated = panes(told(PAGE, measures=["leave-one-out"], rule="plain"))["panes"][0]
    assert [step["p"] for step in literal["steps"]] != [step["p"] for step in calibrated["steps"]]


@pytest.mark.usefixtures("orders_wait")
def test_a_reference_with_a_high_floor_is_unavailable_and_never_not_rejected():
    # The literal form of the twin cannot give less than 0.09.
    app = told(PAGE, model="sst2-plain", measures=["leave-one-out"], form="literal")
    (pane,) = panes(app)["panes"]
    assert not pane["gate"]["available"] and "unavailable" in pane["gate"]["text"]
    assert app.tables[0][1][8] == "unavailable" and "Validity unavailable" in app.said
    assert "not rejected" not in re.sub(r"“not rejected” is no proof", "", app.said)


@pytest.mark.usefixtures("orders_wait")
def test_of_too_many_steps_for_holm_the_eleven_ratios_are_tested():
    """On the model that should be rejected: validity may not go away where the steps are small."""
    long = min((e for e in REVIEWS if len(find_words(e.text)) > 22), key=lambda example: len(example.text))
    app = complete(App(PAGE, example=long.id, model="sst2-plain", measures=["gradient"], steps="feature"))
    (pane,) = panes(app)["panes"]
    assert len(pane["steps"]) > 22 and pane["gate"]["available"] and pane["gate"]["first"] is not None
    assert "11 tests" in pane["gate"]["text"] and "0, 10 … 100 %" in pane["gate"]["text"]
    assert sum(step["rejected"] for step in pane["steps"]) <= 11
    app.set("button_group", "Validity gate", "plain")
    assert "0, 10 … 100 %" not in panes(app)["panes"][0]["gate"]["text"]


def test_without_a_reference_the_page_says_how_to_fit_one_and_shows_the_rest(monkeypatch, fresh):
    monkeypatch.setattr("core.explanation.explainer.find_reference", lambda *_: None)
    st.cache_resource.clear()
    app = told(PAGE)
    (pane,) = panes(app)["panes"]
    assert pane["layers"] == [] and all(step["p"] is None and step["layer_ps"] is None for step in pane["steps"])
    assert (
        "python -m core reference --model sst2-fmm" in app.said
        and "unavailable" in app.said
        and app.tables[0][1][3] != ""
    )
    assert "no MaSF reference" in App().said


@pytest.mark.usefixtures("orders_wait")
def test_a_reference_of_other_weights_is_refused_in_a_sentence(monkeypatch, tmp_path, fresh):
    import shutil

    from core import settings

    folder = shutil.copytree(settings.BUNDLED / "models" / "sst2-fmm", tmp_path / "other")
    shutil.copy(settings.BUNDLED / "models" / "sst2-plain" / "masf.safetensors", folder / "masf.safetensors")
    monkeypatch.setenv("FAITHSCOPE_MODEL", str(folder))
    st.cache_resource.clear()
    app = told(PAGE, measures=["gradient"])
    assert "other weights or another tokenizer" in app.said and panes(app)["panes"][0]["layers"] == []


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
    assert all(step["masked"] == [0, 1, 2] for step in pane["steps"]) and "RACU" in str(app.tables[0])


def test_a_text_of_one_word():
    app = told(PAGE, measures=["leave-one-out"])
    app.go("pages/attributions.py").type("Dull")
    complete(app.go(PAGE))
    assert [len(step["masked"]) for step in panes(app)["panes"][0]["steps"]] == [0] * 10 + [1]
    assert "single feature" in app.said


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
        app.tables[0][1][8] == "not rejected so far"
        and "The MaSF test rejects none of these texts so far, which" in app.said
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
    assert [row[1] for row in app.tables[0][1:]] == ["leave-one-out", "gradient"] and computed(app) == 11


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
    assert computed(app) == 11 and app.tables[0][1][3] == "—", "no RACU without random orders"
    assert "— until the steps and the random orders that they are set against are computed" in app.said
    assert "ends no lower than it goes" not in app.said and "against random order" not in app.said


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
        assert (
            float(row["probability of it"]) == pytest.approx(step.probabilities[target], abs=1e-5)
            and row["rejected as out-of-distribution"] == "no"
        )


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
    assert shown["step"] == 4 and len(shown["panes"]) == 2 and "gradient, computed once" in shown["panes"][0]["detail"]
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
    assert facts["floor: the smallest MaSF p it can give ↓"] == f"{reference.floor():.3g}"
    assert (
        f"{100 * reference.about['false_rejection']['calibrated'][0]:.1f} % unmasked"
        in facts["false rejections at 5 % ↓"]
    )
    assert "MaSF tests masked inputs" in App().said


def test_a_gate_never_claims_that_an_input_is_known():
    for floor in (None, 0.001, 0.01, 0.2):
        said = path_text(decide(np.full(11, 0.5), np.arange(11), 11, floor), str, 0.5)
        assert ("unavailable" in said) == (floor != 0.001) and "in-distribution" not in said
    assert "so far" in path_text(decide(np.full(3, 0.5), np.arange(3), 11, 0.001), str, 0.5, complete=False)


def test_random_order_can_be_followed_too():
    app = told(PAGE, measures=["random", "leave-one-out"], play="random")
    assert [row[1] for row in app.tables[0][1:]] == ["random", "leave-one-out"] and measures()["random"].baseline


class Named(NamedTuple):
    """A path, of which only the measure and the model's name are asked."""

    measure: str
    model: str = "mine"

    @property
    def side(self):
        return SimpleNamespace(model=SimpleNamespace(name=self.model))


def test_a_racu_above_one_is_explained_where_there_is_one():
    def found(**racu):
        return {
            Named(name): SimpleNamespace(racu=value, areas=SimpleNamespace(unstable=name == "beam"))
            for name, value in racu.items()
        }

    said = "; above 1 (gradient) the score is, on average over the steps, below that of the fully masked text"
    assert _above_one(found(LIME=1.0, gradient=2.6, beam=9.0)) == said
    assert _above_one(found(LIME=0.9, attention=float("nan"), beam=9.0)) == ""
    # Of two models one alone may have it so.
    low = {Named("gradient", "twin"): SimpleNamespace(racu=-0.9, areas=SimpleNamespace(unstable=False))}
    assert "above 1 (gradient under mine) the" in _above_one(found(gradient=2.6) | low)
