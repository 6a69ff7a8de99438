"""Soft perturbations: against expectations worked out exactly for a linear model, and against the network itself."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from core.mathematics.erasure import ATTENTION, BERNOULLI, MIXED, NOISE, NORMALISED, PERTURBATIONS
from core.metrics.catalogue import metrics
from core.metrics.registry import Case
from core.network.scheduler import Cancelled, NonFinite, Scheduler
from core.oracle.erasing import ZERO
from core.oracle.oracle import Oracle
from core.oracle.soft import Soft
from core.validity.mask_tests import MasfTest
from tests import tiny

TEXT, SECOND = "The captain's boat reads the wind", "Salt the water"
EVERY = pytest.mark.parametrize("kind", tiny.KINDS)
MASKS_ATTENTION = {"bert", "distilbert", "electra", "roberta"}
E, TOKENS = 16, 6
# Two special tokens around four words.
WEIGHTS = np.array([0.0, 0.08, 0.04, 0.24, 0.04, 0.0])


class Linear:
    """p of class 1 is linear in the word embeddings: .5 + Σ_t w_t · mean of token t's elements; every element is 1."""

    C, device = 2, "cpu"
    spread = 0.01
    advice = "Choose another model."
    architecture = SimpleNamespace(soft_attention=True)

    def __init__(self):
        self.lock = contextlib.nullcontext()
        self.scheduler = Scheduler(None)
        self.word_embeddings = np.ones((1, E))
        self.rows = 0

    def embed(self, ids):
        return torch.ones(len(ids), ids.shape[1], E)

    def tensor(self, array):
        return torch.from_numpy(np.ascontiguousarray(array))

    def read(self, embeddings, type_ids=None, weights=None, pooling=""):
        self.rows += len(embeddings)
        tokens = embeddings.double().mean(dim=2) * (1 if weights is None else weights.double())
        p = (0.5 + tokens @ torch.tensor(WEIGHTS)).clamp(1e-9, 1 - 1e-9)
        return torch.log(torch.stack([1 - p, p], dim=1)).numpy(), None


def encoded(digest="0" * 64):
    return SimpleNamespace(
        F=4,
        T=TOKENS,
        ids=np.arange(TOKENS),
        feature_of=np.array([-1, 0, 1, 2, 3, -1]),
        premasked=np.zeros(4, dtype=bool),
        mask_id=99,
        type_ids=None,
        digest=digest,
    )


def case_of(soft, scores):
    full, none = 0.9, 0.5
    return Case(
        np.asarray(scores, dtype=float),
        lambda masks: np.array([[1 - full, full] if not mask.any() else [1 - none, none] for mask in masks]),
        1,
        np.zeros(4, dtype=bool),
        lambda retain, kind: soft.probabilities(retain, kind)[:, 1],
        single=lambda retains, draws, kind: soft.single(retains, draws, kind)[0][:, 1],
    )


def test_bernoulli_draws_have_the_expectation_of_the_linear_model():
    """E[p] = .5 + Σ q_t w_t; of the .4 that words bring, q = (0, 1/3, 2/3, 1) keeps (.04/3 + .24·2/3 + .04)."""
    expected = (0.04 / 3 + 0.24 * 2 / 3 + 0.04) / 0.4
    soft = Soft(Linear(), encoded(), draws=2_000)
    # At a tenth to nine tenths of the words q is, on average over these, .12, .48, .64 and .76 (`test_fixed_share`).
    fixed = np.array([0.12, 0.48, 0.64, 0.76]) @ WEIGHTS[1:5] / 0.4
    forms = {"Soft-NS": expected, "Soft-NC": expected, "Soft-NS (fixed share)": fixed, "Soft-NC (fixed share)": fixed}
    for name, share in forms.items():
        score = metrics()[name](case_of(soft, [0, 1, 2, 3]))
        assert abs(score.value - share) < 4 * score.error and score.error < 0.01, name


def test_noise_leaves_the_expectation_and_mixed_noise_scales_it():
    retain = np.array([0, 1 / 3, 2 / 3, 1])
    soft = Soft(Linear(), encoded(), draws=4_000, sigma=0.01)
    added, mixed = soft.probabilities(retain, NOISE)[:, 1], soft.probabilities(retain, MIXED)[:, 1]
    # Noise of σ = .01 on each of E elements, of which the mean counts.
    sigma = 0.01 * np.sqrt(((1 - retain) ** 2 * WEIGHTS[1:5] ** 2).sum() / E)
    assert abs(added.mean() - 0.9) < 4 * sigma / np.sqrt(4_000) and added.std() == pytest.approx(sigma, rel=0.06)
    assert abs(mixed.mean() - (0.5 + retain @ WEIGHTS[1:5])) < 4 * sigma / np.sqrt(
        4_000
    ) and mixed.std() == pytest.approx(sigma, rel=0.06)


def read_by(model, ask):
    """Word embeddings that the network reads while `ask` runs, Tensor[B, T, E]."""
    seen, really = [], model.read

    def read(embeddings, *more, **named):
        seen.append(embeddings.detach().clone())
        return really(embeddings, *more, **named)

    model.read = read
    try:
        ask()
    finally:
        del model.read
    return torch.cat(seen)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0])
def test_noise_keeps_what_it_is_added_to_and_is_in_proportion_to_it(tiny_model, sigma):
    """x' = x + γλ ⊙ x: at λ = 1 a correlation with x of 1/√(1 + σ²), .71 for σ = 1; mixed noise leaves nothing of x."""
    model = tiny_model("bert")
    example = model.encode(TEXT)
    words = example.feature_of >= 0
    x = model.embed(example.ids[None]).detach()[:, words]
    soft, nothing = Soft(model, example, 400, sigma=sigma), np.zeros(example.F)
    found = {kind: read_by(model, lambda k=kind: soft.probabilities(nothing, k))[:, words] for kind in (NOISE, MIXED)}
    change = found[NOISE] / x - 1
    # 400 draws of 7 words of 32 elements.
    assert change.std().item() == pytest.approx(sigma, rel=0.02)
    assert change.mean().item() == pytest.approx(0, abs=0.02 * sigma)

    def correlation(kind):
        return np.corrcoef(found[kind].ravel(), x.expand_as(found[kind]).ravel())[0, 1]

    assert correlation(NOISE) == pytest.approx(1 / np.sqrt(1 + sigma**2), abs=0.02)
    assert correlation(MIXED) == pytest.approx(0, abs=0.02)


FIRST_BLOCK = dict.fromkeys(("bert", "roberta", "deberta"), "encoder.layer.0") | {
    "electra": "embeddings_project",
    "distilbert": "transformer.layer.0",
    "modernbert": "layers.0",
    "modernbert-mean": "layers.0",
    "gpt2": "h.0",
    **dict.fromkeys(tiny.ROTARY, "layers.0"),
}


@EVERY
def test_after_normalisation_nothing_of_an_erased_token_is_read_special_ones_included(tiny_model, kind):
    model = tiny_model(kind)
    example = model.encode(TEXT, SECOND)
    seen = []
    hook = model.module.base_model.get_submodule(FIRST_BLOCK[kind]).register_forward_pre_hook(
        lambda _, given: seen.append(given[0].clone())
    )
    keep = np.ones(example.F)
    keep[1] = 0
    soft = Soft(model, example, 4, placement=NORMALISED)
    try:
        whole, without = (soft.probabilities(np.append(keep, rest))[0] for rest in (1, 0))
        some = soft.probabilities(np.append(keep, 0.5))
        plain = Soft(model, example, 1).probabilities(np.ones(example.F))[0]
    finally:
        hook.remove()
    kept, words, drawn, text = seen[0][0], seen[1][0], seen[2], seen[-1][0]
    gone, special = example.feature_of == 1, example.feature_of < 0
    assert (kept[gone] == 0).all()
    torch.testing.assert_close(kept[~gone], text[~gone])
    assert (words[gone | special] == 0).all()
    torch.testing.assert_close(words[~gone & ~special], text[~gone & ~special])
    zero = (drawn[:, special] == 0).double().mean().item()
    assert 0.4 < zero < 0.6 and len(drawn) == len(some) == 4
    assert not np.allclose(whole, plain) and not np.allclose(whole, without)
    with pytest.raises(ValueError, match=f"{example.F + 1}"):
        soft.probabilities(keep)
    # With everything kept it is the text itself, and what is changed for one reading is not for the next.
    np.testing.assert_allclose(soft.probabilities(np.ones(example.F + 1))[0], plain, atol=2e-5)
    again = Soft(model, example, 1).probabilities(np.ones(example.F))[0]
    np.testing.assert_array_equal(again, plain)


def test_the_attention_mask_has_no_chance_in_it():
    retain = np.array([0, 0.25, 0.5, 1])
    found = Soft(Linear(), encoded(), draws=5).probabilities(retain, ATTENTION)
    assert found.shape == (5, 2)
    np.testing.assert_allclose(found[:, 1], 0.5 + retain @ WEIGHTS[1:5], atol=1e-6)


def test_more_draws_shrink_the_standard_error_as_the_root_of_their_number():
    errors = {
        K: metrics()["Soft-NS"](case_of(Soft(Linear(), encoded(), draws=K), [3, 1, 2, 0])).error for K in (64, 4096)
    }
    assert errors[64] / errors[4096] == pytest.approx(8, rel=0.25)


def test_seeds_reproduce_and_more_draws_begin_with_the_same():
    retain = np.array([0.2, 0.4, 0.6, 0.8])
    eight = Soft(Linear(), encoded(), 8, seed=3).probabilities(retain)
    np.testing.assert_array_equal(eight, Soft(Linear(), encoded(), 8, seed=3).probabilities(retain))
    np.testing.assert_array_equal(eight[:5], Soft(Linear(), encoded(), 5, seed=3).probabilities(retain))
    assert not np.array_equal(eight, Soft(Linear(), encoded(), 8, seed=4).probabilities(retain))
    assert not np.array_equal(eight, Soft(Linear(), encoded("1" * 64), 8, seed=3).probabilities(retain)), (
        "another example, other draws"
    )


def test_attributions_meet_the_same_draws():
    """Where all keep more, no draw keeps less: every element that stays under the smaller share stays under the
    larger.
    """
    soft = Soft(Linear(), encoded(), 16)
    less, more = (soft.probabilities(np.full(4, share))[:, 1] for share in (0.3, 0.6))
    assert (more > less).all()


def test_what_was_asked_before_is_not_asked_again_and_certain_draws_are_one_pass():
    model = Linear()
    soft = Soft(model, encoded(), 32)
    soft.probabilities(np.full(4, 0.5))
    assert model.rows == 32
    soft.probabilities(np.full(4, 0.5))
    assert model.rows == 32
    assert soft.probabilities(np.zeros(4)).shape == (32, 2) and model.rows == 33
    assert soft.probabilities(np.ones(4), MIXED).shape == (32, 2) and model.rows == 34
    soft.probabilities(np.full(4, 0.5), ATTENTION)
    assert model.rows == 35 == soft.counters.passes
    assert model.scheduler.counters.tokens == 35 * TOKENS


def test_many_attributions_at_once_are_each_by_itself():
    rng = np.random.default_rng(0)
    retains = [rng.random(4) for _ in range(5)] + [np.zeros(4), np.ones(4)]
    for kind in PERTURBATIONS:
        model = Linear()
        together = Soft(model, encoded(), 7)
        together.ask(retains + retains[:2], kind)
        rows = model.rows
        assert rows == (7 if kind == ATTENTION else 5 * 7 + 2 if kind == BERNOULLI else 6 * 7 + 1)
        for retain in retains:
            np.testing.assert_allclose(
                together.probabilities(retain, kind),
                Soft(Linear(), encoded(), 7).probabilities(retain, kind),
                atol=1e-12,
            )
        assert model.rows == rows, "what was asked ahead is not asked again"


def test_small_batches_give_what_one_batch_gives():
    whole, parts = Linear(), Linear()
    parts.scheduler.max_tokens = 3 * TOKENS
    retain = np.array([0.1, 0.5, 0.9, 0.3])
    for kind in PERTURBATIONS:
        np.testing.assert_allclose(
            Soft(parts, encoded(), 8).probabilities(retain, kind),
            Soft(whole, encoded(), 8).probabilities(retain, kind),
            atol=1e-12,
        )


def test_draws_too_large_to_hold_are_the_same(monkeypatch):
    retain = np.array([0.1, 0.5, 0.9, 0.3])
    held = Soft(Linear(), encoded(), 8).probabilities(retain)
    monkeypatch.setattr("core.oracle.soft._HELD_BYTES", 0)
    np.testing.assert_array_equal(Soft(Linear(), encoded(), 8).probabilities(retain), held)


@EVERY
def test_everything_kept_is_the_text_itself_and_nothing_kept_the_zero_embedding(tiny_model, kind):
    model = tiny_model(kind)
    example = model.encode(TEXT, SECOND)
    soft, ends = Soft(model, example, 2), np.stack([np.zeros(example.F, dtype=bool), np.ones(example.F, dtype=bool)])
    expected = np.exp(Oracle(model, example, None, ZERO).logits(ends).astype(float))
    expected /= expected.sum(axis=1, keepdims=True)
    for perturbation in PERTURBATIONS:
        if perturbation == ATTENTION and kind not in MASKS_ATTENTION:
            assert np.isnan(soft.probabilities(np.ones(example.F), perturbation)).all()
            continue
        np.testing.assert_allclose(soft.probabilities(np.ones(example.F), perturbation)[0], expected[0], atol=2e-5)
    np.testing.assert_allclose(soft.probabilities(np.zeros(example.F))[1], expected[1], atol=2e-5)


@pytest.mark.parametrize("kind", sorted(MASKS_ATTENTION))
def test_attention_of_weight_zero_hides_a_word_as_padding_is_hidden(tiny_model, kind):
    model = tiny_model(kind)
    example = model.encode(TEXT)
    retain = np.ones(example.F)
    retain[2] = 0
    types = None if example.type_ids is None else model.tensor(example.type_ids[None])
    with torch.no_grad():
        hidden = model.module(
            inputs_embeds=model.embed(example.ids[None]),
            attention_mask=model.tensor((example.feature_of != 2).astype(np.int64)[None]),
            **({} if types is None or not model.architecture.type_ids else {"token_type_ids": types}),
        ).logits
    found = Soft(model, example, 1).probabilities(retain, ATTENTION)
    np.testing.assert_allclose(found[0], torch.softmax(hidden.double(), dim=1)[0].numpy(), atol=2e-5)


def test_half_precision_keeps_what_must_be_kept(tiny_root):
    """A uniform number close to 1 rounds to 1 in half precision, so that what is kept with certainty was not."""
    from core.loading.loading import load

    model = load(str(tiny.folder("bert", tiny_root)), "cpu", "bfloat16")
    example, seen = model.encode(TEXT, SECOND), []
    soft = Soft(model, example, 256)
    really = model.read
    model.read = lambda embeddings, *more: (seen.append(embeddings.clone()), really(embeddings, *more))[1]
    soft.probabilities(np.full(example.F, 1 - 1e-7))
    kept = (seen[0] != 0).double().mean().item()
    assert kept == 1.0 and seen[0].dtype == torch.bfloat16


def test_a_full_memory_halves_the_batch(monkeypatch):
    model, asked = Linear(), []
    model.scheduler = Scheduler(None, max_rows=64)
    really = model.read

    def read(embeddings, *more):
        asked.append(len(embeddings))
        if len(embeddings) > 8:
            raise MemoryError("out of memory")
        return really(embeddings, *more)

    model.read = read
    found = Soft(model, encoded(), 32).probabilities(np.full(4, 0.5))
    np.testing.assert_allclose(found, Soft(Linear(), encoded(), 32).probabilities(np.full(4, 0.5)), atol=1e-12)
    assert asked == [32, 16, 8, 8, 8, 8] and model.scheduler.max_rows == 8


def test_special_tokens_the_second_text_and_masks_of_the_text_stay(tiny_model):
    model = tiny_model("bert")
    example = model.encode("The [MASK] boat", SECOND)
    soft = Soft(model, example, 3)
    nothing = read_by(model, lambda: soft.probabilities(np.zeros(example.F)))
    mixed = read_by(model, lambda: soft.probabilities(np.full(example.F, 0.5), MIXED))
    plain = model.embed(np.where(example.feature_of == 1, example.mask_id, example.ids)[None]).detach()[0]
    stays = (example.feature_of < 0) | (example.feature_of == 1)
    for row in (*nothing, *mixed):
        np.testing.assert_allclose(row[stays], plain[stays], atol=1e-6)
    assert (nothing[:, ~stays] == 0).all()


def test_a_search_can_be_stopped_and_bad_numbers_are_refused():
    soft = Soft(Linear(), encoded(), 4, cancelled=lambda: True)
    with pytest.raises(Cancelled):
        soft.probabilities(np.full(4, 0.5))
    broken = Linear()
    broken.read = lambda embeddings, *more: (np.full((len(embeddings), 2), np.nan), None)
    with pytest.raises(NonFinite, match=broken.advice):
        Soft(broken, encoded(), 4).probabilities(np.full(4, 0.5))
    for wrong in (np.full(3, 0.5), np.full(4, 1.5)):
        with pytest.raises(ValueError, match="retain"):
            Soft(Linear(), encoded()).probabilities(wrong)
    with pytest.raises(ValueError, match="one of"):
        Soft(Linear(), encoded()).probabilities(np.full(4, 0.5), "dropout")
    with pytest.raises(ValueError, match="draw"):
        Soft(Linear(), encoded(), 0)


def test_inputs_stay_as_they_are(tiny_model):
    example = tiny_model("bert").encode(TEXT)
    retain = np.linspace(0, 1, example.F)
    before = retain.copy(), example.ids.copy()
    retain.flags.writeable = False
    for kind in (BERNOULLI, NOISE, MIXED):
        Soft(tiny_model("bert"), example, 2).probabilities(retain, kind)
    np.testing.assert_array_equal(retain, before[0])
    np.testing.assert_array_equal(example.ids, before[1])


def test_p_values_come_from_the_same_passes(bundled):
    from core.validity.references import find_reference

    reference = find_reference(bundled)
    example = bundled.encode("A warm and funny film about loss")
    tested, bare = Soft(bundled, example, 4, test=MasfTest(reference, bundled)), Soft(bundled, example, 4)
    retain = np.linspace(0, 1, example.F)
    for kind in PERTURBATIONS:
        np.testing.assert_allclose(tested.probabilities(retain, kind), bare.probabilities(retain, kind), atol=1e-5)
        assert {form: len(p) for form, p in tested.p(retain, kind).items()} == dict.fromkeys(
            ("calibrated", "literal"), 1 if kind == ATTENTION else 4
        )
    assert bare.p(retain) == {} and tested.counters.passes == bare.counters.passes
    # With everything kept it is the text itself, whose p-value is known otherwise; with nothing kept the zero
    # embedding's.
    oracle, ends = (
        Oracle(bundled, example, None, ZERO),
        np.stack([np.zeros(example.F, dtype=bool), np.ones(example.F, dtype=bool)]),
    )
    from core.validity.masf import p_values

    found = p_values(reference.forms, oracle.logits_and_states(ends, reference.pooling)[1])["calibrated"]
    # Compared with unmasked texts, and with those that are all masked.
    expected = found.at(np.array([0, 10]))
    for share, p in zip((1.0, 0.0), expected):
        assert tested.p(np.full(example.F, share))["calibrated"] == pytest.approx([p], abs=0.02)


def test_draws_are_pinned():
    """The store keeps what they give: whoever draws otherwise raises the version of the soft metrics."""
    expected = {
        BERNOULLI: [0.68, 0.74, 0.7275],
        NOISE: [0.8737365, 0.9249136, 0.8868667],
        MIXED: [0.7077374, 0.7082491, 0.7078687],
        ATTENTION: [0.708] * 3,
    }
    for kind, p in expected.items():
        np.testing.assert_allclose(
            Soft(Linear(), encoded(), 3).probabilities(np.array([0.2, 0.4, 0.6, 0.8]), kind)[:, 1], p, atol=2e-7
        )
    versions = {metric.version for metric in metrics().values() if metric.soft and not metric.fixes}
    assert versions == {1}
