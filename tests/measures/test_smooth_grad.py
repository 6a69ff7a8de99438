"""SmoothGrad: the mean of the plain measures over inputs with noise, one after the other."""

import numpy as np
import pytest
import torch

from core.explanation.explainer import Explainer
from core.measures import smooth_grad
from core.measures.catalogue import measure
from core.measures.registry import Explained
from core.oracle.inside import Inside

TEXT, TARGET = "The captain's boat reads the wind!", 1
KINDS = pytest.mark.parametrize("kind", ["bert", "gpt2", "electra"])


def explained_of(model, encoded, seed=0):
    masked = np.arange(encoded.F) % 3 == 1
    inside = Inside(model, encoded, masked, TARGET)
    return Explained(None, encoded.F, TARGET, masked, seed, 7, inside)


@KINDS
def test_it_is_the_mean_of_the_measure_at_each_noisy_input(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    explained = explained_of(model, encoded)
    rng, matrix = np.random.default_rng([0, 7]), model.word_embeddings.double().numpy()
    noise = rng.standard_normal((20, encoded.T, matrix.shape[1]), dtype=np.float32)
    clean = model.embed(explained.network.ids).detach()
    rows = {name: [] for name in ("L2", "L1", "signed", "absolute")}
    for one in noise:
        e = (clean + 0.1 * matrix.std(ddof=1) * torch.from_numpy(one)[None]).float().requires_grad_(True)
        model.differentiable(e, encoded.type_ids)[0][0, TARGET].backward()
        g, point = e.grad[0].double().numpy(), e[0].detach().double().numpy()
        rows["L2"].append(np.linalg.norm(matrix @ g.T, axis=0))
        rows["L1"].append(np.abs(matrix @ g.T).sum(axis=0))
        rows["signed"].append((point * g).sum(axis=1))
        rows["absolute"].append(np.abs((point * g).sum(axis=1)))
    found = smooth_grad.smooth_gradient(explained) | smooth_grad.input_x_smooth_gradient(explained)
    for name, values in rows.items():
        tokens = np.mean(values, axis=0)
        expected = [tokens[encoded.feature_of == i].sum() for i in range(encoded.F)]
        expected = np.where(explained.masked, 0, expected)
        np.testing.assert_allclose(found[name], expected, atol=1e-3 * np.abs(expected).max(), err_msg=name)


@KINDS
def test_without_noise_it_is_the_plain_measure(tiny_model, monkeypatch, kind):
    monkeypatch.setattr(smooth_grad, "SHARE", 0.0)
    model = tiny_model(kind)
    explained = explained_of(model, model.encode(TEXT))
    for smooth, plain in (("SmoothGrad", "gradient"), ("input × SmoothGrad", "input × gradient")):
        found, expected = (measure(name).compute(explained) for name in (smooth, plain))
        for variant, values in expected.items():
            np.testing.assert_allclose(found[variant], values, atol=1e-4 * np.abs(values).max())


def test_batches_do_not_matter_and_seeds_do(tiny_model, monkeypatch):
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    whole = smooth_grad.smooth_gradient(explained_of(model, encoded))["L2"]
    assert np.abs(smooth_grad.smooth_gradient(explained_of(model, encoded, 1))["L2"] - whole).max() > 1e-3
    monkeypatch.setattr(smooth_grad, "_TOKENS", 3 * encoded.T)
    again = smooth_grad.smooth_gradient(explained_of(model, encoded))["L2"]
    np.testing.assert_allclose(again, whole, rtol=1e-4)


def test_a_number_of_draws_can_be_asked_for(tiny_model):
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    found = Explainer(model).attribute(encoded, "SmoothGrad [draws=3]", TARGET)
    assert found.passes == 3 and "3 noisy inputs" in measure("SmoothGrad [draws=3]").definition
    for wrong in ("0", "many", "1000000"):
        with pytest.raises(ValueError, match="draws must be 1 to 10000"):
            measure("input × SmoothGrad").asked(f"draws={wrong}")
