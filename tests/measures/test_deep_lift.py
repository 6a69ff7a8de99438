"""DeepLift: Captum called by hand, its two baselines, what it leaves behind, and by how much it fails to add up."""

import numpy as np
import pytest
import torch

from core.explanation.completeness import completeness
from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from core.measures.deep_lift import lifted_tokens
from core.network.features import masked_ids
from core.oracle.inside import Inside
from tests import tiny

TEXT, TARGET = "The captain's boat reads the wind!", 1


def inside_of(model, encoded):
    return Inside(model, encoded, np.zeros(encoded.F, dtype=bool), TARGET)


@pytest.mark.parametrize("kind", tiny.KINDS)
@pytest.mark.parametrize("baseline", ["mask", "zero"])
def test_captum_called_by_hand(tiny_model, kind, baseline):
    from captum.attr import DeepLift

    model = tiny_model(kind)
    encoded = model.encode(TEXT, "Salt the water")

    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model.module

        def forward(self, embeddings):
            return model.differentiable(embeddings, encoded.type_ids)[0]

    given = model.embed(encoded.ids[None])
    empty = model.embed(masked_ids(encoded, np.ones((1, encoded.F), dtype=bool))).detach()
    with pytest.warns(UserWarning, match="hooks"), model.lock:
        expected = DeepLift(Whole()).attribute(given, empty if baseline == "mask" else empty * 0, target=TARGET)
    found = lifted_tokens(inside_of(model, encoded), baseline)
    torch.testing.assert_close(found, expected[0].detach().sum(dim=1), atol=1e-5, rtol=1e-5)
    if baseline == "mask":
        # What is the same in text and baseline has no part in it.
        assert (found[torch.from_numpy(encoded.feature_of < 0)] == 0).all() and found.abs().max() > 1e-4


def test_zero_embeddings_are_asked_for_in_brackets(tiny_model):
    model = tiny_model("bert")
    encoded, explainer = model.encode(TEXT), Explainer(model)
    found = explainer.attribute(encoded, "DeepLift [baseline=zero]", TARGET).scores
    inside = inside_of(model, encoded)
    np.testing.assert_allclose(found["signed"], inside.per_feature(lifted_tokens(inside, "zero")), atol=1e-6)
    assert np.abs(found["signed"] - explainer.attribute(encoded, "DeepLift", TARGET).scores["signed"]).max() > 1e-3
    assert measure("DeepLift").complete and not measure("DeepLift [baseline=zero]").complete
    with pytest.raises(ValueError, match="mask, zero"):
        measure("DeepLift").asked("baseline=pad")
    with pytest.raises(ValueError, match="'pad'"):
        lifted_tokens(inside, "pad")


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_nothing_stays_on_activations_after_an_error(tiny_model, monkeypatch, kind):
    """Captum puts inputs and outputs on them, and takes them away on the way back only."""
    model = tiny_model(kind)

    def stopped(*_, **__):
        raise RuntimeError("stopped on the way back")

    monkeypatch.setattr(torch.autograd, "grad", stopped)
    with pytest.raises(RuntimeError, match="on the way back"):
        lifted_tokens(inside_of(model, model.encode(TEXT)))
    assert not [part for part in model.module.modules() if {"input", "output"} & vars(part).keys()]
    assert not model.lock.mine


def test_how_far_scores_are_from_adding_up_is_told(bundled):
    """By hand on the bundled model: DeepLift's sum is logits away from the difference, Shapley values' is it."""
    encoded, explainer = bundled.encode("A dull film, and not a good one"), Explainer(bundled)
    whole, empty = explainer.oracles.of(encoded).logits(np.array([[False] * encoded.F, [True] * encoded.F]))[:, 0]
    lifted, exact = (
        completeness(explainer, encoded, explainer.attribute(encoded, name, 0))
        for name in ("DeepLift", "Shapley values")
    )
    assert lifted.due == exact.due == pytest.approx(float(whole - empty))
    assert exact.error == 0 and str(exact.error) == "0.0", "what rounding leaves is nothing"
    assert lifted.error == pytest.approx(lifted.total - lifted.due, abs=1e-6) and abs(lifted.error) > 0.5
    assert completeness(explainer, encoded, explainer.attribute(encoded, "gradient", 0)) is None
    assert lifted.large and not exact.large


def test_the_gap_of_a_path_closes_with_its_steps(bundled):
    """f(x) − f(0) by hand; one step misses most of it, twenty a little."""
    encoded, explainer = bundled.encode("A dull film, and not a good one"), Explainer(bundled)
    inside = inside_of(bundled, encoded)
    with torch.no_grad():
        embeddings = bundled.embed(inside.ids)
        due = float(inside.logit(embeddings) - inside.logit(torch.zeros_like(embeddings)))
    name = "integrated gradients"
    one, few, many = (
        completeness(explainer, encoded, explainer.attribute(encoded, asked, inside.target))
        for asked in (f"{name} [steps=1]", name, f"{name} [steps=300]")
    )
    assert all(found.due == pytest.approx(due, abs=1e-4) for found in (one, few, many))
    assert abs(one.error) > abs(few.error) > abs(many.error) and one.large and not many.large
    passes = bundled.scheduler.counters.passes
    assert completeness(explainer, encoded, explainer.attribute(encoded, name, inside.target)) == few
    assert bundled.scheduler.counters.passes - passes <= 20, "the path is held"
