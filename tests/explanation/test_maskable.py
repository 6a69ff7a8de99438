"""Which texts of a pair are masked: features of the first, the second or both, and everything that follows from them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core
from core.commands.command_line import main
from core.data.examples import Example
from core.data.tables import LabelledTexts
from core.evaluation.asking import read_study, run_study
from core.evaluation.sampling import without_labels
from core.evaluation.studies.model_check import Curve
from core.explanation.edits import replaced
from core.explanation.explainer import Explainer, softmax
from core.explanation.plausibility import feature_mask
from core.explanation.rows import pieces
from core.mathematics.stepwise import finish
from core.network.features import BOTH, FIRST, MASKABLE, SECOND, NoFeatures, masked_ids
from core.storage.store import Store
from core.validity.fitting import Drawing, fit_reference, observe
from core.validity.marks import Why, doubts
from tests import tiny

PAIR = ("The captain laughed.", "the old boat  waited for him")
NAMED = ["all of the first text", "all of the second text", "everything"]
KINDS = ("bert", "roberta", "deberta", "gpt2")
EACH = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def explainer(tiny_model, tmp_path):
    return Explainer(tiny_model("bert"), Store(tmp_path / "store"))


@EACH
def test_both_has_the_features_of_the_first_and_then_those_of_the_second(tiny_model, kind):
    first, second, both = (tiny_model(kind).encode(*PAIR, maskable=name) for name in MASKABLE)
    assert both.features == first.features + second.features and both.F == 4 + 6
    assert [one.side for one in both.features] == [0] * 4 + [1] * 6
    assert all(both.sides[one.side][one.start : one.end] == one.text for one in both.features)
    np.testing.assert_array_equal(first.ids, second.ids)
    shifted = np.where(second.feature_of >= 0, second.feature_of + first.F, -1)
    np.testing.assert_array_equal(both.feature_of, np.maximum(first.feature_of, shifted))
    assert (
        len({one.digest for one in (first, second, both)}) == 3
        and first.digest == tiny_model(kind).encode(*PAIR).digest
    )


@given(code=st.integers(0, 2**10 - 1))
def test_masking_both_is_masking_the_one_and_then_the_other(tiny_model, code):
    mask = np.array([[bool(code >> i & 1) for i in range(10)]])
    first, second, both = (tiny_model("bert").encode(*PAIR, maskable=name) for name in MASKABLE)
    one, other = masked_ids(first, mask[:, :4]), masked_ids(second, mask[:, 4:])
    np.testing.assert_array_equal(masked_ids(both, mask), np.where(first.feature_of >= 0, one, other))


def test_a_text_alone_is_masked_whatever_is_asked_and_has_no_second_one(tiny_model):
    model = tiny_model("bert")
    alone, asked = model.encode(PAIR[0]), model.encode(PAIR[0], maskable=BOTH)
    assert asked.digest == alone.digest and asked.maskable == FIRST and asked.features == alone.features
    for second in (None, "", " "):
        with pytest.raises(NoFeatures, match="no second text"):
            model.encode(PAIR[0], second, maskable=SECOND)
    with pytest.raises(ValueError, match="first, second, both"):
        model.encode(*PAIR, maskable="third")


@pytest.mark.parametrize("maskable", MASKABLE)
def test_leave_one_out_masks_each_word_of_either_text_by_hand(explainer, maskable):
    model = explainer.model
    encoded = explainer.encode(*PAIR, "word", maskable)
    logits = explainer.logits(encoded)
    target, expected = int(logits.argmax()), []
    for i in range(encoded.F):
        ids = np.where(encoded.feature_of == i, model.mask_id, encoded.ids)
        expected.append(
            logits[target] - model.run(ids[None], np.array([encoded.T]), encoded.type_ids[None])[0][0, target]
        )
    found = explainer.attribute(encoded, "leave-one-out", target)
    np.testing.assert_allclose(found.scores["signed"], expected, atol=1e-5)
    masks = np.ones((1, encoded.F), dtype=bool)
    left = np.where(encoded.feature_of >= 0, model.mask_id, encoded.ids)
    whole = model.run(left[None], np.array([encoded.T]), encoded.type_ids[None])[0]
    np.testing.assert_allclose(softmax(explainer.oracles.of(encoded).logits(masks)), softmax(whole), atol=1e-5)


@pytest.mark.parametrize(
    ("maskable", "drawn"), [(FIRST, PAIR[0]), (SECOND, f"{PAIR[0]}\n{PAIR[1]}"), (BOTH, f"{PAIR[0]}\n{PAIR[1]}")]
)
def test_words_stand_in_their_places_in_both_texts(tiny_model, maskable, drawn):
    encoded = tiny_model("bert").encode(*PAIR, maskable=maskable)
    found = pieces(encoded, [(4, 11)])
    assert "".join(one["gap"] + one["text"] for one in found) == drawn
    # Evidence is of the first text; the same characters of the second are none.
    assert [one["text"] for one in found if one.get("evidence")] == ([] if maskable == SECOND else ["captain"])
    assert feature_mask(encoded, [(0, 99)]).sum() == (0 if maskable == SECOND else 4)


def test_a_word_is_replaced_in_its_own_text(tiny_model):
    encoded = tiny_model("bert").encode(*PAIR, maskable=BOTH)
    assert replaced(encoded, 1, "crew") == ("The crew laughed.", PAIR[1])
    assert replaced(encoded, 6, "ship") == (PAIR[0], PAIR[1].replace("boat", "ship"))


# ---- samples


def test_rows_of_other_texts_are_kept_apart_and_the_first_are_as_before(explainer):
    examples = [Example("pair", *PAIR), Example("alone", PAIR[0])]
    sample, store, curve = without_labels("toy", "0" * 64, examples), explainer.store, Curve()
    before = curve.key(explainer)
    found = {name: finish(run_study(explainer, replace(sample, maskable=name), curve, store)) for name in MASKABLE}
    assert curve.key(explainer) == before
    assert found[FIRST].there.all() and found[BOTH].there.all() and found[SECOND].there.tolist() == [True, False]
    assert "no second text" in found[SECOND].problems[1]
    masked = {name: one.values[0, -1] for name, one in found.items()}
    for name, value in masked.items():
        encoded = explainer.encode(*PAIR, "word", name)
        whole = explainer.oracles.of(encoded).logits(np.ones((1, encoded.F), dtype=bool))
        assert value == pytest.approx(softmax(whole)[0, 0], abs=1e-5)
        again = read_study(explainer, replace(sample, maskable=name), curve, store)
        np.testing.assert_array_equal(again.values[again.there], found[name].values[again.there])
    assert masked[FIRST] != masked[BOTH] != masked[SECOND]


def test_what_is_masked_at_100_percent_is_named():
    pair, alone = (without_labels("toy", "", [Example("one", *texts)]) for texts in (PAIR, PAIR[:1]))
    named = [replace(pair, maskable=name).whole for name in MASKABLE]
    assert named == NAMED and alone.whole == NAMED[-1]


# ---- what the p-value needs


def test_a_reference_masks_the_texts_that_are_tested(tiny_model):
    """At 100 % it has seen the very input that masking everything gives; at 0 % the choice changes nothing."""
    model, few = tiny_model("bert"), tiny.SENTENCES[:6]
    data = LabelledTexts(list(few), list(few[::-1]), np.zeros(6, dtype=np.int64), (), "toy", "0" * 64)
    for maskable in MASKABLE:
        observed = observe(model, data, Drawing(maskable=maskable))
        encoded = model.encode(few[2], few[3], maskable=maskable)
        ids = masked_ids(encoded, np.array([[False], [True]]).repeat(encoded.F, axis=1))
        states = model.run(ids, np.array([encoded.T] * 2), encoded.type_ids[None].repeat(2, axis=0), "max")[1]
        np.testing.assert_allclose(observed.states[observed.by_ratio[2, [0, -1]]], states, atol=1e-5)


def test_p_values_of_texts_that_the_reference_leaves_unmasked_are_doubted(tiny_model):
    model, some = tiny_model("bert"), tiny.SENTENCES
    data = LabelledTexts(list(some), list(some[::-1]), np.zeros(len(some), dtype=np.int64), (), "toy", "0" * 64)
    for fitted in MASKABLE:
        reference = fit_reference(model, data, Drawing(maskable=fitted))
        assert ("maskable" in reference.about) == (fitted != FIRST), "what was fitted before has none"
        for asked in MASKABLE:
            found = doubts(reference, np.array([reference.about["tokens"][2]]), model.precision, "word", asked)
            assert (Why.TEXTS in found) == (asked != fitted)


# ---- the same name everywhere


def test_command_and_front_door_mask_what_they_are_asked_for(explainer, tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("core.commands.terminal.open_model", lambda *_: explainer)
    out = tmp_path / "found.json"
    asked = ["--text", PAIR[0], "--second", PAIR[1], "--measures", "leave-one-out", "--what", "attributions"]
    assert main(["explain", "--model", "tiny", *asked, "--maskable", "both", "--out", str(out)]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["maskable"] == "both"
    assert [one["text"] for one in told["attributions"]] == [1] * 4 + [2] * 6 and told["attributions"][4]["start"] == 0
    found = core.explain(explainer, PAIR[0], ["leave-one-out"], second=PAIR[1], maskable="second")
    assert found.words == PAIR[1].split() and found.provenance["maskable"] == "second"
    assert "maskable" not in core.explain(explainer, PAIR[0], ["leave-one-out"], second=PAIR[1]).provenance
    rows = [{"text": PAIR[0], "second": PAIR[1]}]
    lines = core.evaluate(explainer, rows, "verdicts", ["leave-one-out"], maskable="second").lines
    assert lines and all(line["problem"] is None for line in lines)
    with pytest.raises(ValueError, match="first, second, both"):
        core.explain(explainer, PAIR[0], maskable="third")
