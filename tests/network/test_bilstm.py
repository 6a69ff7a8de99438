"""The BiLSTM with attention: its equations in a slow loop, and what any family of models does."""

import numpy as np
import pytest
import torch

from core.explanation.explainer import Explainer
from core.loading.inspection import check_model
from core.loading.loading import load
from core.network.halves import half_copy
from core.network.scheduler import pad
from core.training.bases import save_trained
from core.training.fresh import fresh_bilstm

TEXTS = ["the ferry left the old harbour", "bread and soup", "salt the water well"]
SECONDS = ["where is the ferry", "what is cold", "who"]


def made(folder, pairs):
    module, tokenizer, _, _ = fresh_bilstm(TEXTS, SECONDS if pairs else None, ("a", "b", "c"), 3)
    save_trained(module, tokenizer, folder, "bilstm", "full", ("a", "b", "c"), False)
    return load(str(folder), "cpu")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(words, weights, prefix):
    """States float64[T, 2h] and the last of each direction, float64[2h], token by token."""
    both, last = [], []
    for direction in ("", "_reverse"):
        w, u, b, c = (
            weights[f"{prefix}.lstm.{kind}_l0{direction}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        h = cell = np.zeros(u.shape[1])
        states = []
        for word in words[::-1] if direction else words:
            i, f, g, o = np.split(w @ word + b + u @ h + c, 4)
            cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(cell)
            states.append(h)
        both.append(np.array(states[::-1] if direction else states))
        last.append(h)
    return np.concatenate(both, axis=1), np.concatenate(last)


def by_hand(model, encoded):
    """Logits float64[C] and attention float64[T of the first text]."""
    weights = {name: value.double().numpy() for name, value in model.module.state_dict().items()}

    def linear(name, x):
        return weights[f"{name}.weight"] @ x + weights.get(f"{name}.bias", 0)

    words = weights["words.weight"][encoded.ids]
    first = words[encoded.type_ids == 0]
    states, _ = lstm(first, weights, "first")
    pair = (encoded.type_ids == 1).any()
    question = lstm(words[encoded.type_ids == 1], weights, "second")[1] if pair else None
    scores = []
    for state in states:
        hidden = linear("attended", state) + (linear("asked", question) if pair else 0)
        scores.append(linear("score", np.tanh(hidden))[0])
    attention = np.exp(np.array(scores) - max(scores))
    attention /= attention.sum()
    context = sum(a * state for a, state in zip(attention, states))
    if pair:
        context = np.tanh(linear("context", context) + linear("question", question))
    return linear("classifier", context), attention


@pytest.mark.parametrize("pairs", [False, True])
def test_logits_and_attention_are_those_of_the_equations(tmp_path, pairs):
    model = made(tmp_path / "model", pairs)
    encoded = [model.encode(text, second if pairs else None) for text, second in zip(TEXTS, SECONDS)]
    lengths = np.array([one.T for one in encoded])
    logits, states = model.run(pad([one.ids for one in encoded]), lengths, pad([one.type_ids for one in encoded]), True)
    explainer = Explainer(model)
    for i, one in enumerate(encoded):
        expected, attention = by_hand(model, one)
        assert np.allclose(logits[i], expected, atol=1e-5)
        found = explainer.attribute(one, "attention", 0).scores["absolute"]
        assert np.allclose(found, attention, atol=1e-6) and found.sum() == pytest.approx(1, abs=1e-5)
    assert states.shape == (3, 2, model.H)


@pytest.mark.parametrize("pairs", [False, True])
def test_padding_changes_nothing_and_gradients_are_differences(tmp_path, pairs):
    model = made(tmp_path / "model", pairs)
    one = model.encode(TEXTS[1], SECONDS[1] if pairs else None)
    alone, _ = model.run(one.ids[None], np.array([one.T]), one.type_ids[None])
    wide = [np.pad(part, (0, 5)) for part in (one.ids, one.type_ids)]
    padded, _ = model.run(wide[0][None], np.array([one.T]), wide[1][None])
    assert np.allclose(alone, padded, atol=1e-6)
    with model.lock:
        embeddings = model.embed(one.ids[None])
        logits, attention = model.differentiable(embeddings, one.type_ids, attentions=True)
        (gradient,) = torch.autograd.grad(logits[0, 1], embeddings, retain_graph=True)
        (through,) = torch.autograd.grad(logits[0, 1], attention)
        step = 1e-2 * gradient / gradient.norm()
        ahead, back = (model.differentiable(embeddings.detach() + s * step, one.type_ids)[0][0, 1] for s in (1, -1))
    assert float(ahead - back) / 2e-2 == pytest.approx(float(gradient.norm()), rel=0.02)
    # Attention is read from the first position, as the classifier takes it.
    assert through[0, 0, 0].abs().sum() > 0 and through[0, 0, 1:].abs().sum() == 0


def test_it_is_loaded_saved_and_copied_as_any_family(tmp_path):
    model = made(tmp_path / "model", False)
    assert model.labels == ("a", "b", "c") and model.tokenizer.mask_token_id == model.mask_id and model.notes == ()
    assert made(tmp_path / "again", False).digest == model.digest
    assert {path.name for path in (tmp_path / "model").iterdir()} >= {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    one = model.encode(TEXTS[0])
    half = half_copy(model).run(one.ids[None], np.array([one.T]), one.type_ids[None])[0]
    assert np.allclose(half, model.run(one.ids[None], np.array([one.T]), one.type_ids[None])[0], atol=0.05)
    assert check_model(str(tmp_path / "model")).usable
    with pytest.raises(ValueError, match="single texts"):
        model.encode(TEXTS[0], SECONDS[0])
