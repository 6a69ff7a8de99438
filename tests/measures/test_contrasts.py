"""Why one class rather than another: v(S) is the difference of two logits, for every measure, by hand and by linearity."""

import numpy as np
import pytest

from core.explanation.explainer import Explainer, value_of
from core.explanation.limiting import find_exact
from core.explanation.recursive import follow, random_band, summarise
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure, measures
from core.measures.registry import Explained
from core.oracle.inside import Inside
from core.oracle.target import Contrast, classes_of, logit_of, score_name, target_key, target_name
from core.storage.store import Store
from tests.table import members

TEXT = "The captain's boat reads the wind, not the thermometer!"
# Linear in v, so that a contrast is a class's attribution less the other's.
LINEAR = ["leave-one-out", "input × gradient", "integrated gradients", "scaled attention", "KernelSHAP"]
THIRD = Contrast(1, 2)
# Logits of the four sets of two features {}, {0}, {1}, {0, 1} for three classes.
TABLE = np.array([[0.0, 5.0, 1.0], [9.0, 2.0, 3.0], [0.0, 4.0, 0.5], [0.0, 1.0, 1.0]])


def by_hand(target, F=2) -> Explained:
    return Explained(lambda masks: TABLE[masks @ (1 << np.arange(F))], F, target, np.zeros(F, dtype=bool))


def test_a_table_of_three_classes_worked_out_by_hand():
    # v = logit 1 − logit 2: 4, −1, 3.5, 0. Class 0 does not count.
    explained = by_hand(THIRD)
    every = np.array([[i in members(code, 2) for i in range(2)] for code in range(4)])
    assert explained.value(every).tolist() == [4.0, -1.0, 3.5, 0.0]
    scores = measure("leave-one-out").compute(explained)
    assert scores["signed"].tolist() == [5.0, 0.5] and scores["absolute"].tolist() == [5.0, 0.5]
    # {0} first costs 5, then all 4; {1} first costs 0.5, then 4.
    assert measure("beam").compute(explained)["signed"].tolist() == [2.0, 1.0]
    one, other, both = (measure("KernelSHAP").compute(by_hand(t))["signed"] for t in (1, 2, THIRD))
    assert np.allclose(both, one - other) and np.isclose(both.sum(), 4.0)
    # Of class 1 alone the same two words say something else.
    assert measure("leave-one-out").compute(by_hand(1))["signed"].tolist() == [3.0, 1.0]


@pytest.mark.parametrize("name", LINEAR)
def test_a_contrast_is_one_attribution_less_the_other_and_turns_its_sign_with_the_classes(name, tiny_model):
    explainer = Explainer(tiny_model("bert"))
    encoded = explainer.encode(TEXT, None, "word")
    one, other, both, turned = (
        explainer.attribute(encoded, name, target).scores["signed"] for target in (1, 0, Contrast(1, 0), Contrast(0, 1))
    )
    size = max(np.abs(one).max(), np.abs(other).max())
    assert np.abs(both).max() > 0 and np.allclose(both, one - other, atol=1e-5 * size)
    assert np.allclose(both, -turned, atol=1e-6 * size) and not np.allclose(both, one, atol=1e-3 * size)


def test_the_gradient_of_a_contrast_is_the_difference_of_gradients_and_its_norm_that_of_the_difference(tiny_model):
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    masked = np.zeros(encoded.F, dtype=bool)
    one, other, both = (Inside(model, encoded, masked, t).word_gradient()[1] for t in (1, 0, Contrast(1, 0)))
    assert np.allclose(both, one - other, atol=1e-6)
    norms = np.sqrt(np.einsum("te,ef,tf->t", *[(one - other).numpy(), model.gram.numpy(), (one - other).numpy()]))
    found = Explainer(model).attribute(encoded, "gradient", Contrast(1, 0)).scores["L2"]
    at = encoded.feature_of
    assert np.allclose(found, np.bincount(at[at >= 0], norms[at >= 0], encoded.F), rtol=1e-4)
    assert np.allclose(found, Explainer(model).attribute(encoded, "gradient", Contrast(0, 1)).scores["L2"], rtol=1e-5)


def test_attention_knows_no_class_and_every_measure_takes_a_contrast(tiny_model):
    explainer = Explainer(tiny_model("bert"))
    encoded = explainer.encode("Warm bread and salt", None, "word")
    # What is counted over a training split knows no text's score, and this model has no split.
    for name in measures().keys() - {"mutual information"}:
        scores = explainer.attribute(encoded, name, Contrast(1, 0)).scores
        assert all(np.isfinite(one).all() and len(one) == encoded.F for one in scores.values()), name
    found = [explainer.attribute(encoded, "attention", target).scores["absolute"] for target in (0, Contrast(1, 0))]
    assert (found[0] == found[1]).all()


def test_a_contrast_is_kept_apart_from_its_classes(tiny_model, tmp_path):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    encoded = explainer.encode(TEXT, None, "word")
    found = explainer.attribute(encoded, "leave-one-out", Contrast(1, 0))
    assert found.target == Contrast(1, 0) and found.passes == encoded.F + 1
    assert all(explainer.stored(encoded, "leave-one-out", target) is None for target in (0, 1, Contrast(0, 1)))
    again = Explainer(explainer.model, Store(tmp_path)).stored(encoded, "leave-one-out", Contrast(1, 0))
    assert again is not None and (again.scores["signed"] == found.scores["signed"]).all()
    # The other class costs no pass: both logits are known of each input.
    assert explainer.attribute(encoded, "leave-one-out", Contrast(0, 1)).passes == 0


def test_curves_and_limits_take_the_difference_of_logits(tiny_model):
    explainer, target = Explainer(tiny_model("bert")), Contrast(1, 0)
    encoded = explainer.encode("Warm bread and salt", None, "word")
    logits = explainer.oracles.of(encoded).logits
    steps = finish(follow(explainer, encoded, "leave-one-out", target, "signed", "feature"))
    band = finish(random_band(explainer, encoded, "feature", orders=3))
    found = summarise(steps, encoded.F, "feature", target, band, None)
    v = logits(np.stack([step.mask for step in steps])).astype(np.float64)
    assert np.allclose(found.values, v[:, 1] - v[:, 0])
    turned = summarise(steps, encoded.F, "feature", Contrast(0, 1), band, None)
    assert np.allclose(found.values, -turned.values) and np.allclose(band.values(target), -band.values(Contrast(0, 1)))
    # The best order against is the worst order for, and the other way round.
    limits, other = (finish(find_exact(explainer, encoded, one)).limits for one in (target, Contrast(0, 1)))
    assert np.allclose([limits.lower, limits.upper], [-other.upper, -other.lower])


def test_a_target_says_what_it_is_and_a_class_is_not_set_against_itself(tiny_model):
    labels = ("bad", "fair", "good")
    assert classes_of(THIRD) == (1, 2) and classes_of(2) == (2,) and target_key(2) == 2 and target_key(THIRD) == [1, 2]
    assert target_name(labels, THIRD).split()[::3] == ["fair", "good"] and target_name(labels, 0) == "bad"
    assert (
        score_name(labels, THIRD).split(" − ") == ["logit of fair", "logit of good"]
        and score_name(labels, 0) == "probability of bad"
    )
    assert logit_of(TABLE, THIRD).tolist() == [4.0, -1.0, 3.5, 0.0] == value_of(TABLE, THIRD).tolist()
    assert np.allclose(value_of(TABLE, 1), (np.exp(TABLE) / np.exp(TABLE).sum(axis=1, keepdims=True))[:, 1])
    with pytest.raises(ValueError, match="against itself"):
        Contrast(1, 1)
    explainer = Explainer(tiny_model("bert"))
    with pytest.raises(ValueError, match="no class 7"):
        explainer.attribute(explainer.encode(TEXT, None, "word"), "gradient", Contrast(1, 7))
