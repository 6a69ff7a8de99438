"""Attributions of many texts at once against the same texts one by one."""

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.many import attribute_many
from core.mathematics.ranking import ranking
from core.measures.catalogue import measure, measures
from core.oracle import together
from core.oracle.inside import Inside
from tests import tiny

# Three lengths; the first comes again, and one has a mask of its own.
TEXTS = [
    "The captain's boat reads the wind.",
    "The film was good and bad!",
    "a [MASK] wind",
    "The captain's boat reads the film.",
    "not the wind, the boat reads the thermometer and the captain",
]
AHEAD = [name for name in measures() if measure(name).ahead is not None]


@pytest.fixture(params=[2, 4096])
def tokens(request, monkeypatch):
    """Tokens that are read at once: those of one text, or of all."""
    monkeypatch.setattr(together, "TOKENS", request.param)
    monkeypatch.setattr("core.explanation.many.TOKENS", request.param)


def asked(model, second=None):
    texts = [model.encode(text, second) for text in TEXTS]
    masks = [np.arange(one.F) % 4 == 3 for one in texts]
    return texts, [i % model.C for i in range(len(texts))], masks


@pytest.mark.parametrize("name", [*AHEAD, "integrated gradients [steps=1, baseline=mask]", "random"])
@pytest.mark.parametrize("kind", ["bert", "gpt2", "bilstm", "modernbert"])
def test_as_one_by_one(tiny_model, kind, name, tokens):
    model = tiny_model(kind)
    texts, classes, masks = asked(model, "where is the boat?" if kind == "bert" else None)
    if why := measure(name).refusal(model.module.config.model_type):
        pytest.skip(why)
    found = attribute_many(Explainer(model), texts, name, classes, masks, 5)
    for text, label, mask, scores in zip(texts, classes, masks, found):
        alone = Explainer(model).attribute(text, name, label, mask, 5).scores
        assert scores.keys() == alone.keys()
        for variant in alone:
            np.testing.assert_allclose(scores[variant], alone[variant], rtol=1e-5, atol=1e-6)
            gaps = np.diff(np.unique(alone[variant]))
            # Rounding may turn what is equal but for rounding.
            if not len(gaps) or gaps.min() > 1e-5:
                assert np.array_equal(ranking(scores[variant], mask), ranking(alone[variant], mask))


@pytest.mark.parametrize("name", ["gradient", "integrated gradients", "attention", "scaled attention", "leave-one-out"])
def test_texts_of_one_length_share_their_passes(tiny_model, name, monkeypatch):
    model, read = tiny_model("bert"), []
    texts = [model.encode(text) for text in [TEXTS[0]] * 3]
    differentiable, run = model.differentiable, model.scheduler.network
    monkeypatch.setattr(
        model, "differentiable", lambda e, *rest, **how: (read.append(len(e)), differentiable(e, *rest, **how))[1]
    )
    monkeypatch.setattr(model.scheduler, "network", lambda ids, *rest: (read.append(len(ids)), run(ids, *rest))[1])
    attribute_many(Explainer(model), texts, name, [0, 1, 0], [np.zeros(one.F, dtype=bool) for one in texts], 0)
    # Of integrated gradients 20 points of each text, in one batch of at most 4,096 tokens.
    assert read == {"leave-one-out": [3 * (texts[0].F + 1)], "integrated gradients": [60]}.get(name, [3])


def test_what_is_not_finite_is_an_error(tiny_root, tiny_model):
    import torch

    from core.loading.loading import load
    from core.network.scheduler import NonFinite

    model = load(str(tiny.folder("bert", tiny_root)), "cpu")
    with torch.no_grad():
        model.module.classifier.weight[0, 0] = float("nan")
    texts, classes, masks = asked(model)
    for name in ("leave-one-out", "integrated gradients"):
        with pytest.raises(NonFinite):
            attribute_many(Explainer(model), texts, name, [0] * len(classes), masks, 0)


def test_another_model_of_the_text_is_not_needed(tiny_model):
    """What is computed ahead is of one input: a further one of the same text computes its own."""
    model = tiny_model("bert")
    text = model.encode(TEXTS[0])
    one = Inside(model, text, np.zeros(text.F, dtype=bool), 0)
    together.Together([one], []).word_gradients()
    other = Inside(model, text, np.ones(text.F, dtype=bool), 0)
    assert one.ahead and not other.ahead
    assert not np.allclose(one.word_gradient()[0], other.word_gradient()[0])
