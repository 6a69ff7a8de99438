"""Gradients, attention and their measures against naive computations, finite differences, Captum and `transformers`."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch

from core.measures.catalogue import measure, measures
from core.measures.integrated_gradients import token_attributions
from core.measures.registry import WORDS, Explained
from core.network.architectures import classify
from core.network.features import masked_ids
from core.oracle.inside import Inside
from core.oracle.oracle import Oracle
from tests import tiny

TEXT = "The captain's boat reads the wind, not the thermometer!"
TARGET = 1
SOME = pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2", "electra"])
EVERY = pytest.mark.parametrize("kind", tiny.KINDS)
# These normalise the word embedding with nothing added to it, so that its length does not matter.
SCALE_FREE = ("deberta", "modernbert", "modernbert-mean")


def part_masked(encoded):
    """Every third feature masked."""
    return np.arange(encoded.F) % 3 == 1


@pytest.fixture(params=["whole", "masked"])
def start(request):
    """From an encoded text to bool[F] of what is masked already."""
    return part_masked if request.param == "masked" else lambda encoded: np.zeros(encoded.F, dtype=bool)


def skipped_elsewhere(model, name):
    """Nothing is asked of a measure that does not apply to a model's family; the contract says what it answers."""
    if why := measure(name).refusal(model.module.config.model_type):
        pytest.skip(why)
    if measure(name).needs == WORDS:
        pytest.skip("asks nothing of a model")


def scores_of(name, model, encoded, masked=None, target=TARGET):
    masked = np.zeros(encoded.F, dtype=bool) if masked is None else masked
    oracle, inside = Oracle(model, encoded), Inside(model, encoded, masked, target)
    return measure(name).compute(Explained(oracle.logits, encoded.F, target, masked, inside=inside))


def summed(encoded, masked, tokens):
    """Token scores added up over each feature's tokens, 0 where it is masked already."""
    tokens = np.asarray(tokens, dtype=np.float64)
    return np.array(
        [
            0.0 if masked[i] else sum(tokens[t] for t in range(encoded.T) if encoded.feature_of[t] == i)
            for i in range(encoded.F)
        ]
    )


def logit_of(model, encoded):
    """f as Captum calls it: Tensor[B, T, E] → Tensor[B, C], through the library's own batch of type ids."""

    def forward(embeddings):
        return model.differentiable(embeddings, encoded.type_ids)[0]

    return forward


def captum_input(model, ids):
    return model.word_embeddings[torch.from_numpy(ids)][None].detach().clone().requires_grad_(True)


def close(found, expected, rel=1e-4, largest=1e-3):
    """Equal within `rel` of the largest value, which is at least `largest`."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert np.abs(expected).max() > largest
    np.testing.assert_allclose(found, expected, atol=rel * np.abs(expected).max(), rtol=0)


def test_the_text_has_words_of_one_and_of_several_tokens(tiny_model):
    for kind in tiny.KINDS:
        encoded = tiny_model(kind).encode(TEXT)
        sizes = np.bincount(encoded.feature_of[encoded.feature_of >= 0])
        assert sizes.min() == 1 and sizes.max() > 1 and (sizes[part_masked(encoded)] > 1).any(), kind


# Gradient


@EVERY
def test_gradient_norms_are_those_of_the_whole_vocabulary(tiny_model, kind, start):
    """∂f/∂x_t = E ∂f/∂e_t written out as a vector over the vocabulary, in float64."""
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    masked = start(encoded)
    embeddings = captum_input(model, masked_ids(encoded, masked[None])[0])
    logit_of(model, encoded)(embeddings)[0, TARGET].backward()
    by_word = model.word_embeddings.double().numpy() @ embeddings.grad[0].double().numpy().T
    assert by_word.shape == (len(model.tokenizer), encoded.T)
    found = scores_of("gradient", model, encoded, masked)
    close(found["L2"], summed(encoded, masked, [np.sqrt((column**2).sum()) for column in by_word.T]))
    close(found["L1"], summed(encoded, masked, [np.abs(column).sum() for column in by_word.T]))


@SOME
def test_the_l1_norm_does_not_depend_on_the_blocks(tiny_model, kind, monkeypatch):
    from core.measures import gradient as module

    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    whole = scores_of("gradient", model, encoded)["L1"]
    for rows in (1, 7, len(model.tokenizer) - 1, len(model.tokenizer)):
        monkeypatch.setattr(module, "_ROWS", rows)
        close(scores_of("gradient", model, encoded)["L1"], whole, 1e-5)


@contextmanager
def in_double(model):
    """The module in float64, so that small differences can be seen; f without the rounding to float32."""
    with model.lock:
        model.module.double()
        try:

            def f(embeddings, type_ids):
                types = None if type_ids is None else torch.from_numpy(type_ids)[None]
                with torch.no_grad():
                    return float(
                        classify(
                            model.module,
                            model.architecture,
                            embeddings,
                            None,
                            types,
                            torch.tensor([embeddings.shape[1]]),
                            False,
                            False,
                        )[0][0, TARGET]
                    )

            yield f
        finally:
            model.module.float()


@EVERY
def test_the_gradient_is_the_slope_of_the_logit(tiny_model, kind, start):
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    inside = Inside(model, encoded, start(encoded), TARGET)
    embeddings, gradient = inside.word_gradient()
    # Rotary decoders normalise in float32, whatever the module's precision.
    step, rel = (3e-4, 1e-2) if kind in tiny.ROTARY else (1e-4, 1e-3)
    rng = np.random.default_rng(0)
    with in_double(model) as f:
        for token in (0, 1, encoded.T // 2, encoded.T - 1):
            direction = torch.from_numpy(rng.standard_normal(embeddings.shape[1]))
            sides = []
            for sign in (1, -1):
                moved = embeddings.double()[None].clone()
                moved[0, token] += sign * step * direction
                sides.append(f(moved, encoded.type_ids))
            slope = (sides[0] - sides[1]) / (2 * step)
            assert slope == pytest.approx(float(gradient[token].double() @ direction), rel=rel, abs=rel / 10)


@SOME
def test_the_gradients_size_is_captums_saliency(tiny_model, kind, start):
    from captum.attr import Saliency

    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    inside = Inside(model, encoded, start(encoded), TARGET)
    expected = Saliency(logit_of(model, encoded)).attribute(captum_input(model, inside.ids[0]), target=TARGET, abs=True)
    close(inside.word_gradient()[1].abs(), expected[0].detach(), 1e-6)


# Input × gradient


@SOME
@pytest.mark.parametrize("second", [None, "The pan was burned."], ids=["single", "pair"])
def test_input_x_gradient_is_captums_summed_over_the_embedding(tiny_model, kind, start, second):
    from captum.attr import InputXGradient

    model = tiny_model(kind)
    encoded = model.encode(TEXT, second)
    masked = start(encoded)
    ids = masked_ids(encoded, masked[None])[0]
    tokens = (
        InputXGradient(logit_of(model, encoded))
        .attribute(captum_input(model, ids), target=TARGET)[0]
        .sum(dim=1)
        .detach()
        .numpy()
    )
    found = scores_of("input × gradient", model, encoded, masked)
    close(found["signed"], summed(encoded, masked, tokens))
    close(found["absolute"], summed(encoded, masked, np.abs(tokens)))
    assert np.abs(found["absolute"] - np.abs(found["signed"])).max() > 1e-3, (
        "absolute values are summed, not the sum's taken"
    )


@EVERY
def test_input_x_gradient_vanishes_where_an_embeddings_length_does_not_matter(tiny_model, kind):
    """f(c·e) = f(e) for every c > 0 gives e · ∂f/∂e = 0 (Euler), but for the ε in the norm."""
    model = tiny_model(kind)
    embeddings, gradient = Inside(
        model, model.encode(TEXT), np.zeros(model.encode(TEXT).F, dtype=bool), TARGET
    ).word_gradient()
    share = float((embeddings * gradient).sum(dim=1).abs().max() / (embeddings * gradient).abs().sum(dim=1).max())
    # Rotary decoders add the embedding itself to what its norm feeds, so that its length matters a little.
    assert share < 1e-3 if kind in SCALE_FREE else share > (1e-3 if kind in tiny.ROTARY else 0.05)


# Integrated gradients


@SOME
def test_integrated_gradients_are_the_literal_loop(tiny_model, kind, start):
    """1/20 Σ_k ∂f/∂e at k/20 · e, times e: points 1/20, 2/20 … 1."""
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    masked = start(encoded)
    f, end = logit_of(model, encoded), captum_input(model, masked_ids(encoded, masked[None])[0]).detach()
    total = torch.zeros_like(end, dtype=torch.float64)
    for k in range(1, 21):
        point = (end * k / 20).requires_grad_(True)
        f(point)[0, TARGET].backward()
        total += point.grad.double()
    tokens = (total / 20 * end.double())[0].sum(dim=1).numpy()
    found = scores_of("integrated gradients", model, encoded, masked)
    close(found["signed"], summed(encoded, masked, tokens), 1e-3)
    close(found["absolute"], summed(encoded, masked, np.abs(tokens)), 1e-3)


@pytest.mark.parametrize(
    "kind, baseline",
    [
        (kind, baseline)
        for kind in tiny.KINDS
        for baseline in ("zero", "mask")
        # The first norm jumps at zero, and no path from there has steps enough.
        if baseline == "mask" or kind not in (*SCALE_FREE, *tiny.ROTARY)
    ],
)
def test_integrated_gradients_add_up_to_what_the_input_adds(tiny_model, kind, baseline):
    """Completeness, special tokens and second text included: Σ_t = f(x) − f(baseline); the error of a right sum falls
    as 1/n.
    """
    model = tiny_model(kind)
    encoded = model.encode("The soup wasn't cold", "Salt it")
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), TARGET)
    with torch.no_grad():
        end = model.embed(encoded.ids[None])
        start = torch.zeros_like(end) if baseline == "zero" else model.embed(np.full((1, encoded.T), model.mask_id))
        f = logit_of(model, encoded)
        added = float(f(end)[0, TARGET] - f(start)[0, TARGET])
    assert abs(added) > 0.02
    errors = [abs(float(token_attributions(inside, steps, baseline).sum()) - added) for steps in (200, 2000)]
    assert errors[1] < 0.02 * abs(added) and errors[1] < errors[0] / 5


@SOME
def test_integrated_gradients_do_not_depend_on_the_batches(tiny_model, kind, monkeypatch):
    from core.measures import integrated_gradients as module

    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), TARGET)
    whole = token_attributions(inside)
    for rows in (1, 3, 7):
        monkeypatch.setattr(module, "_TOKENS", rows * encoded.T)
        close(token_attributions(inside), whole, 1e-4)


def test_an_unknown_baseline_is_refused(tiny_model):
    model = tiny_model("bert")
    encoded = model.encode("the tide")
    with pytest.raises(ValueError, match="'pad'"):
        token_attributions(Inside(model, encoded, np.zeros(2, dtype=bool), 0), baseline="pad")


# Leave-one-out


@EVERY
def test_leave_one_out_is_captums_feature_ablation(tiny_model, kind, start):
    """Over token ids, one group of tokens a feature, the mask token as baseline; special tokens are ablated to
    themselves.
    """
    from captum.attr import FeatureAblation

    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    masked = start(encoded)
    ids = masked_ids(encoded, masked[None])
    owned = encoded.feature_of[None] >= 0
    groups = np.where(owned, encoded.feature_of[None], encoded.F)
    with torch.no_grad():
        tokens = FeatureAblation(
            lambda batch: logit_of(model, encoded)(model.module.get_input_embeddings()(batch))
        ).attribute(
            torch.from_numpy(ids),
            baselines=torch.from_numpy(np.where(owned, model.mask_id, ids)),
            target=TARGET,
            feature_mask=torch.from_numpy(groups),
        )
    expected = np.array([float(tokens[0, np.flatnonzero(encoded.feature_of == i)[0]]) for i in range(encoded.F)])
    found = scores_of("leave-one-out", model, encoded, masked)
    np.testing.assert_allclose(expected[masked], 0, atol=1e-6)
    close(found["signed"], np.where(masked, 0, expected))
    close(found["absolute"], np.where(masked, 0, np.abs(expected)))


# Attention


def library_attention(model, ids, type_ids, **more):
    """The last layer's attention as `transformers` returns it from token ids, Tensor[heads, T, T]."""
    given = (
        {"token_type_ids": torch.from_numpy(type_ids)[None]}
        if type_ids is not None and model.architecture.type_ids
        else {}
    )
    with model.eager_attention(), torch.no_grad():
        return model.module(input_ids=torch.from_numpy(ids)[None], output_attentions=True, **given).attentions[-1][0]


def reading_row(kind, table):
    """What the classifier reads: decoders the last position, mean pooling all of them, everyone else the first."""
    return table[-1] if kind in tiny.DECODERS else table.mean(axis=0) if kind == "modernbert-mean" else table[0]


@EVERY
def test_attention_is_the_librarys_from_the_position_that_is_read(tiny_model, kind, start):
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    masked = start(encoded)
    maps = library_attention(model, masked_ids(encoded, masked[None])[0], encoded.type_ids).double().numpy()
    tokens = reading_row(kind, maps.mean(axis=0))
    assert tokens.sum() == pytest.approx(1, abs=1e-5)
    close(scores_of("attention", model, encoded, masked)["absolute"], summed(encoded, masked, tokens))


@EVERY
def test_attention_alone_asks_for_no_gradient_and_is_the_same_to_the_bit(tiny_model, kind, monkeypatch):
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    nothing, grads = np.zeros(encoded.F, dtype=bool), []
    real = torch.autograd.grad
    monkeypatch.setattr(torch.autograd, "grad", lambda *given, **more: grads.append(1) or real(*given, **more))
    inside = Inside(model, encoded, nothing, TARGET)
    alone = inside.attention_weights()
    assert not grads and not alone.requires_grad and inside.counters.passes == 1
    whole = inside.attention()[0]
    assert torch.equal(alone, whole) and grads == [1] and inside.counters.passes == 2
    # What is known with its gradient is not asked for again.
    assert torch.equal(inside.attention_weights(), whole) and inside.counters.passes == 2


@EVERY
def test_scaled_attention_is_the_literal_product(tiny_model, kind, start):
    """Mean over heads of the attention, times the mean over heads of its gradient, one cell after the other."""
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    masked = start(encoded)
    with model.eager_attention():
        embeddings = model.embed(masked_ids(encoded, masked[None]))
        logits, maps = model.differentiable(embeddings, encoded.type_ids, attentions=True)
        gradients = [torch.autograd.grad(logits[0, TARGET], maps, retain_graph=True)[0][0]]
    weights, gradient = maps[0].detach().double().numpy(), gradients[0].double().numpy()
    heads = len(weights)
    table = np.array(
        [
            [
                sum(weights[h, i, j] for h in range(heads))
                / heads
                * sum(gradient[h, i, j] for h in range(heads))
                / heads
                for j in range(encoded.T)
            ]
            for i in range(encoded.T)
        ]
    )
    close(
        scores_of("scaled attention", model, encoded, masked)["signed"],
        summed(encoded, masked, reading_row(kind, table)),
    )


def test_the_attentions_gradient_is_the_slope_when_one_cell_moves(tiny_model):
    """Attention a_ij of a head adds a_ij · v_j to position i: moved by hand in the last layer of BERT, in float64."""
    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    gradient = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), TARGET).attention()[1]
    last, values = model.module.bert.encoder.layer[-1].attention, {}
    heads, step = model.module.config.num_attention_heads, 1e-4

    def moved(h, i, j, amount):
        def shift(_, given):
            context = given[0].clone()
            width = context.shape[-1] // heads
            context[0, i, h * width : (h + 1) * width] += amount * values["v"][0, j, h * width : (h + 1) * width]
            return (context, *given[1:])

        handles = [
            last.self.value.register_forward_hook(lambda _, given, out: values.update(v=out)),
            last.output.dense.register_forward_pre_hook(shift),
        ]
        try:
            return f(model.embed(encoded.ids[None]), encoded.type_ids)
        finally:
            for handle in handles:
                handle.remove()

    with in_double(model) as f:
        for h, i, j in ((0, 0, 0), (1, 0, 2), (0, 0, encoded.T - 1), (1, 0, 5), (1, 3, 1)):
            slope = (moved(h, i, j, step) - moved(h, i, j, -step)) / (2 * step)
            assert slope == pytest.approx(float(gradient[h, i, j]), rel=1e-3, abs=1e-5)
            assert abs(slope) > 1e-4 or i == 3, "only the position that is read matters in the last layer"


# Masked inputs


@pytest.mark.parametrize(
    "kind, mask", [("bert", "[MASK]"), ("roberta", "<mask>"), ("modernbert", "[MASK]"), ("deberta", "[MASK]")]
)
@pytest.mark.parametrize("name", list(measures()))
def test_a_masked_word_and_a_typed_mask_are_the_same_input(tiny_model, kind, mask, name):
    """A word of one token masked by us; the mask token typed in its place."""
    model = tiny_model(kind)
    skipped_elsewhere(model, name)
    ours, typed = model.encode("the tide and the wind"), model.encode(f"the tide {mask} the wind")
    masked = np.arange(5) == 2
    assert typed.premasked.tolist() == masked.tolist() and masked_ids(ours, masked[None]).tolist() == [
        typed.ids.tolist()
    ]
    found, expected = (scores_of(name, model, one, masked) for one in (ours, typed))
    assert set(found) == set(expected)
    for variant, scores in found.items():
        close(scores, expected[variant], 1e-5, 0 if kind in SCALE_FREE else 1e-3)
        # LIME's penalty leaves nothing of what is small.
        assert scores[2] == 0 and (np.count_nonzero(scores) == 4 or name == "LIME")


@EVERY
@pytest.mark.parametrize("name", [n for n, m in measures().items() if m.backward])
def test_a_score_is_the_sum_over_the_words_tokens(tiny_model, kind, name):
    """Words and tokens see the same network: the tokens of a word add up to it (absolute values where there is no
    sign).
    """
    model = tiny_model(kind)
    skipped_elsewhere(model, name)
    words, tokens = model.encode(TEXT), model.encode(TEXT, unit="token")
    by_word, by_token = scores_of(name, model, words), scores_of(name, model, tokens)
    owner = np.array([words.feature_of[np.flatnonzero(tokens.feature_of == i)[0]] for i in range(tokens.F)])
    for variant, scores in by_word.items():
        close(
            scores,
            np.bincount(owner, weights=by_token[variant], minlength=words.F),
            1e-5,
            0 if kind in SCALE_FREE else 1e-3,
        )


def test_integrated_gradients_tell_their_progress_and_can_be_stopped(tiny_model, monkeypatch):
    from core.explanation.explainer import Explainer
    from core.measures import integrated_gradients as ig
    from core.network.scheduler import Cancelled

    model = tiny_model("bert")
    encoded, told = model.encode("the boat sank in the bay"), []
    monkeypatch.setattr(ig, "_TOKENS", 5 * encoded.T)
    Explainer(model).attribute(
        encoded, "integrated gradients", 0, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(0, 20), (5, 20), (10, 20), (15, 20), (20, 20)]
    asked = []
    with pytest.raises(Cancelled):
        Explainer(model).attribute(
            encoded, "integrated gradients", 0, cancelled=lambda: asked.append(1) or len(asked) > 2
        )
    assert len(asked) == 3


def test_a_full_memory_in_a_gradient_is_a_sentence(tiny_model, monkeypatch):
    from core.explanation.explainer import Explainer
    from core.network.scheduler import OutOfMemory

    model = tiny_model("bert")

    def full(*_, **__):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(model, "differentiable", full)
    for name in ("gradient", "integrated gradients", "attention"):
        with pytest.raises(OutOfMemory, match="shorter text"):
            Explainer(model).attribute(model.encode("the boat"), name, 0)
