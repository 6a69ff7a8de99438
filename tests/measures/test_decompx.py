"""DecompX against its paper's equations, written out as loops over tokens and heads in float64."""

from math import erf, sqrt, tanh

import numpy as np
import pytest
import torch

from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from core.measures.decompx import decompose, token_shares, with_bias
from core.measures.registry import NotApplicable
from core.network.architectures import classify
from core.oracle.inside import Inside
from core.oracle.target import Contrast

TEXT, TARGET = "The captain's boat reads the wind!", 1
KINDS = pytest.mark.parametrize("kind", ["bert", "roberta", "bundled"])


@pytest.fixture
def loaded(tiny_model, request):
    return lambda kind: request.getfixturevalue("bundled") if kind == "bundled" else tiny_model(kind)


def read(model, encoded):
    """What the model computes itself: logits, hidden states and attention of every layer, in float64."""
    with model.eager_attention(), torch.no_grad():
        types = None if encoded.type_ids is None else torch.from_numpy(encoded.type_ids)[None]
        given = model.embed(encoded.ids[None]), None, types, torch.tensor([encoded.T]), True, True
        logits, states, maps = classify(model.module, model.architecture, *given)
    return logits[0].double().numpy(), states[0][0].double().numpy(), [one[0].double().numpy() for one in maps]


def shared(b, z):
    """Eq. 5 and 6: a bias b and the parts z_k that it is added to."""
    weights = [abs(b @ z_k) for z_k in z]
    return [z_k + w / sum(weights) * b if sum(weights) else z_k + b / len(z) for z_k, w in zip(z, weights)]


def normed(norm, z):
    """Eq. 8: the parts of LN(Σ z_k), with its own deviation and each part's own mean."""
    gamma, beta = (one.detach().double().numpy() for one in (norm.weight, norm.bias))
    s = sqrt(np.var(sum(z)) + norm.eps)
    return shared(beta, [(z_k - z_k.mean()) / s * gamma for z_k in z])


def activated(act, z):
    """Eq. 10 and 11: θ_t = act(x_t)/x_t of the whole, times each part."""
    whole = sum(z)
    theta = np.array([act(x) / x for x in whole])
    return [theta * z_k for z_k in z]


def through(linear, z):
    W, b = (one.detach().double().numpy() for one in (linear.weight, linear.bias))
    return shared(b, [W @ z_k for z_k in z])


def gelu(x):
    return x * (1 + erf(x / sqrt(2))) / 2


def twin(model, states, maps):
    """Logits' shares, float64[T, C]: x_{i⇐k}, layer by layer, token by token."""
    T, width = states.shape
    x = [[states[i] if k == i else np.zeros(width) for k in range(T)] for i in range(T)]
    for layer, alpha in zip(model.module.base_model.encoder.layer, maps):
        heads = len(alpha)
        size = width // heads
        W_v, b_v = (one.detach().double().numpy() for one in vars(layer.attention.self.value)["_parameters"].values())
        W_o, b_o = (one.detach().double().numpy() for one in vars(layer.attention.output.dense)["_parameters"].values())
        part = [slice(h * size, (h + 1) * size) for h in range(heads)]
        # Eq. 3: W_Att^h = W_v^h W_O^h, and b_Att, since attention adds up to 1.
        W_att = [W_o[:, p] @ W_v[p] for p in part]
        b_att = b_o + sum(W_o[:, p] @ b_v[p] for p in part)
        after = []
        for i in range(T):
            # Eq. 4, then 6.
            mixed = [
                sum(W_att[h] @ sum(alpha[h, i, j] * x[j][k] for j in range(T)) for h in range(heads)) for k in range(T)
            ]
            z = shared(b_att, mixed)
            tilde = normed(layer.attention.output.LayerNorm, [x[i][k] + z[k] for k in range(T)])
            inner = activated(gelu, through(layer.intermediate.dense, tilde))
            ffn = through(layer.output.dense, inner)
            after.append(normed(layer.output.LayerNorm, [tilde[k] + ffn[k] for k in range(T)]))
        x = after
    module = model.module
    if module.config.model_type == "bert":
        dense, last = module.bert.pooler.dense, module.classifier
    else:
        dense, last = module.classifier.dense, module.classifier.out_proj
    return np.array(through(last, activated(tanh, through(dense, x[0]))))


@KINDS
def test_each_tokens_share_is_that_of_the_equations(loaded, kind):
    model = loaded(kind)
    encoded = model.encode(TEXT)
    logits, states, maps = read(model, encoded)
    expected = twin(model, states, maps)
    found = decompose(model.module, torch.from_numpy(states).float(), [torch.from_numpy(one).float() for one in maps])
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4, rtol=1e-4)
    np.testing.assert_allclose(expected.sum(axis=0), logits, atol=1e-4)
    assert np.abs(expected).max() > 0.05


@KINDS
@pytest.mark.parametrize("second", [None, "Salt the water"])
def test_shares_add_up_to_the_models_own_logit(loaded, kind, second):
    model = loaded(kind)
    encoded = model.encode(TEXT, second)
    masked = np.arange(encoded.F) % 3 == 1
    for target in range(model.C):
        inside = Inside(model, encoded, masked, target)
        shares = token_shares(inside).double().numpy()
        logits, _ = model.run(
            inside.ids, np.array([encoded.T]), None if encoded.type_ids is None else encoded.type_ids[None]
        )
        assert shares.sum() == pytest.approx(float(logits[0, target]), abs=1e-4)
        found = Explainer(model).attribute(encoded, "DecompX", target, masked).scores["signed"]
        words = [shares[encoded.feature_of == i].sum() for i in range(encoded.F)]
        np.testing.assert_allclose(found, np.where(masked, 0, words), atol=1e-6)


def test_one_class_rather_than_another_has_the_difference_of_their_shares(tiny_model):
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    one, other, both = (
        token_shares(Inside(model, encoded, np.zeros(encoded.F, dtype=bool), target))
        for target in (0, 2, Contrast(0, 2))
    )
    torch.testing.assert_close(both, one - other)


def test_long_texts_go_through_in_blocks(tiny_model, monkeypatch):
    from core.measures import decompx as module

    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), TARGET)
    whole = token_shares(inside)
    for elements in (1, 3000):
        monkeypatch.setattr(module, "_ELEMENTS", elements)
        torch.testing.assert_close(token_shares(inside), whole, atol=1e-5, rtol=1e-5)


def test_a_bias_goes_where_it_points():
    """b · z is 3, −1 and 0: shares of 3/4, 1/4 and nothing; alike where all are 0."""
    parts = torch.tensor([[[3.0, 5.0], [-1.0, 0.0], [0.0, 9.0]]])
    found = with_bias(parts, torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(found - parts, torch.tensor([[[0.75, 0], [0.25, 0], [0, 0]]]))
    parts[..., 0] = 0
    torch.testing.assert_close((with_bias(parts, torch.tensor([1.0, 0.0])) - parts)[0, :, 0], torch.full((3,), 1 / 3))


def test_an_activation_at_zero_adds_nothing(tiny_model, monkeypatch):
    """0/0 where a hidden unit is off in exact zeros: no NaN, and the shares still add up."""
    model = tiny_model("bert")
    layer = model.module.bert.encoder.layer[0].intermediate
    kept = [one.detach().clone() for one in (layer.dense.weight, layer.dense.bias)]
    encoded = model.encode(TEXT)
    try:
        layer.dense.weight[:5], layer.dense.bias[:5] = 0, 0
        shares = token_shares(Inside(model, encoded, np.zeros(encoded.F, dtype=bool), TARGET))
        logits, _ = model.run(encoded.ids[None], np.array([encoded.T]), encoded.type_ids[None])
    finally:
        layer.dense.weight[:], layer.dense.bias[:] = kept
    assert float(shares.sum()) == pytest.approx(float(logits[0, TARGET]), abs=1e-4)


@pytest.mark.parametrize("kind", ["gpt2", "electra", "deberta", "modernbert", "distilbert"])
def test_other_families_get_a_sentence(tiny_model, kind):
    model = tiny_model(kind)
    with pytest.raises(NotApplicable, match=r"DecompX needs a model of type bert, roberta, not .*\.$"):
        Explainer(model).attribute(model.encode(TEXT), "DecompX", 0)
    named, family = measure("DecompX"), model.module.config.model_type
    assert family in named.refusal(family) and named.refusal("bert") == ""
    assert Explainer(model).cost(model.encode(TEXT), "DecompX").passes == 0
