"""Every family through our own driver, held against `transformers` itself and against independent computations."""

import shutil

import numpy as np
import pytest
import torch

from core.loading.loading import load
from core.network.architectures import only_what_is_read
from core.network.features import BOTH, masked_ids
from tests import tiny
from tests.model_folders import change_json

TEXTS = (
    "The ferry leaves the old harbour before dawn.",
    "Soup!",
    "My brother's old plane still takes off a perfect curl of wood, and nobody knows why it's so sharp.",
    "He burned the onions (twice)",
)
PLAIN = "the captain reads the wind before the warning"
PRE_NORM = ("modernbert", "modernbert-mean", *tiny.DECODERS)
EVERY = pytest.mark.parametrize("kind", tiny.KINDS)


def single(model, encoded, ids=None, hidden=False):
    """Run one unpadded input: logits [C] and pooled states [L, H] or None."""
    ids = encoded.ids if ids is None else ids
    types = None if encoded.type_ids is None else encoded.type_ids[None]
    logits, pooled = model.run(ids[None], np.array([len(ids)]), types, hidden)
    return logits[0], pooled[0] if hidden else None


def padded(encoded):
    """Right-pad several inputs with zeros, as the scheduler does."""
    width = max(e.T for e in encoded)
    ids = np.stack([np.pad(e.ids, (0, width - e.T)) for e in encoded])
    types = None if encoded[0].type_ids is None else np.stack([np.pad(e.type_ids, (0, width - e.T)) for e in encoded])
    return ids, np.array([e.T for e in encoded]), types


def reference(model, ids, type_ids=None, **more):
    """`transformers`' own forward pass from token ids, of one unpadded input, with its pooled position at the end."""
    given = (
        {"token_type_ids": torch.from_numpy(type_ids)[None]}
        if type_ids is not None and model.architecture.type_ids
        else {}
    )
    before = model.module.config.pad_token_id
    model.module.config.pad_token_id = -1 if model.reading == "last" else before
    try:
        with torch.inference_mode():
            return model.module(input_ids=torch.from_numpy(ids)[None], **given, **more)
    finally:
        model.module.config.pad_token_id = before


@EVERY
def test_tiny_models_react_to_words_and_to_order(tiny_model, kind):
    model = tiny_model(kind)
    text = model.encode(PLAIN)
    whole = single(model, text)[0]
    first = single(model, text, masked_ids(text, np.arange(text.F)[None] == 0)[0])[0]
    swapped = text.ids.copy()
    swapped[[1, 4]] = swapped[[4, 1]]
    assert np.abs(whole - first).max() > 0.01
    assert np.abs(whole - single(model, text, swapped)[0]).max() > 0.01


@EVERY
@pytest.mark.parametrize(
    "seconds",
    [(None,) * 4, ("It did not wait.", "Oil the hinge before you paint the door.", "Cold coffee", "No.")],
    ids=["single", "pair"],
)
def test_a_padded_batch_equals_one_by_one(tiny_model, kind, seconds):
    model = tiny_model(kind)
    encoded = [model.encode(text, second) for text, second in zip(TEXTS, seconds)]
    logits, pooled = model.run(*padded(encoded), hidden=True)
    for i, one in enumerate(encoded):
        alone, alone_pooled = single(model, one, hidden=True)
        np.testing.assert_allclose(logits[i], alone, atol=1e-5)
        np.testing.assert_allclose(pooled[i], alone_pooled, atol=1e-5)
    assert pooled.shape[2] == model.H


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
@EVERY
def test_a_text_of_two_words_is_read_the_same_beside_one_of_sixty(tiny_root, tmp_path, kind, precision):
    """Alone, and in batches in either order: the shorter one is mostly padding, beyond ModernBERT's local attention."""
    folder = shutil.copytree(tiny.folder(kind, tiny_root), tmp_path / kind)
    bare = kind in ("gpt2", "llama", "mistral")
    if bare:
        change_json(folder / "tokenizer_config.json", pad_token=None)
        change_json(folder / "config.json", pad_token_id=None)
    model = load(str(folder), "cpu", precision)
    assert not bare or (model.tokenizer.pad_token is None and model.module.config.pad_token_id is None)
    words = [word for sentence in tiny.SENTENCES for word in sentence.lower().split() if word.isalpha()]
    for start in range(0, 40, 10):
        texts = [" ".join(words[start : start + 2]), " ".join((words * 2)[start : start + 60])]
        encoded = [model.encode(text) for text in texts]
        alone = [single(model, one, hidden=True) for one in encoded]
        for order in ([0, 1], [1, 0], [0, 1, 0]):
            logits, pooled = model.run(*padded([encoded[i] for i in order]), hidden=True)
            assert np.isfinite(logits).all() and np.isfinite(pooled).all()
            assert logits.argmax(axis=1).tolist() == [int(alone[i][0].argmax()) for i in order]
            if precision == "float32":
                np.testing.assert_allclose(logits, [alone[i][0] for i in order], atol=1e-5)
                np.testing.assert_allclose(pooled, [alone[i][1] for i in order], atol=1e-5)


@EVERY
@pytest.mark.parametrize("second", [None, "Is the bread too dry, or is it just too old?"], ids=["single", "pair"])
def test_logits_equal_the_library_from_token_ids(tiny_model, kind, second):
    model = tiny_model(kind)
    for text in TEXTS:
        encoded = model.encode(text, second)
        np.testing.assert_allclose(
            single(model, encoded)[0], reference(model, encoded.ids, encoded.type_ids).logits[0], atol=1e-5
        )


@EVERY
@pytest.mark.parametrize("second", [None, "Is it old?"], ids=["single", "pair"])
def test_ids_and_type_ids_are_the_tokenizers(tiny_model, kind, second):
    model = tiny_model(kind)
    encoded = model.encode(TEXTS[0], second)
    batch = model.tokenizer(TEXTS[0], second)
    assert encoded.ids.tolist() == batch["input_ids"]
    if model.architecture.type_ids:
        assert encoded.type_ids.tolist() == batch["token_type_ids"]
        assert set(encoded.type_ids) == ({0, 1} if second else {0})


@EVERY
def test_a_masked_word_loses_its_tokens_and_no_other(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(PLAIN)
    words = PLAIN.split()
    assert [f.text for f in encoded.features] == words
    mask = model.tokenizer.convert_ids_to_tokens(model.mask_id)
    for i, ids in enumerate(masked_ids(encoded, np.eye(encoded.F, dtype=bool))):
        at = np.flatnonzero(ids != encoded.ids)
        assert (np.diff(at) == 1).all() and (ids[at] == model.mask_id).all()
        assert model.tokenizer.decode(encoded.ids[at]).strip() == words[i]
        kept = (
            model.tokenizer.decode(ids[: at[0]], skip_special_tokens=True),
            model.tokenizer.decode(ids[at[-1] + 1 :], skip_special_tokens=True),
        )
        assert [part.split() for part in kept] == [words[:i], words[i + 1 :]]
        assert model.tokenizer.decode(ids[at]).count(mask) == len(at)


@EVERY
def test_a_masked_token_is_one_token(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(PLAIN, unit="token")
    owned = np.flatnonzero(encoded.feature_of >= 0)
    spelled = [model.tokenizer.decode([i], skip_special_tokens=True).strip() for i in encoded.ids]
    assert owned.tolist() == [i for i, piece in enumerate(spelled) if piece.removeprefix("##")], (
        "all but special tokens and lone spaces"
    )
    assert encoded.feature_of[owned].tolist() == list(range(encoded.F))
    assert "".join(f.text for f in encoded.features) == PLAIN.replace(" ", "")
    for i, ids in enumerate(masked_ids(encoded, np.eye(encoded.F, dtype=bool))):
        expected = encoded.ids.copy()
        expected[owned[i]] = model.mask_id
        assert ids.tolist() == expected.tolist()


@EVERY
def test_gradients_reach_every_token_and_agree_with_a_difference(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(PLAIN)
    module = model.module.double()
    try:
        with model.lock:
            embeddings = model.embed(encoded.ids[None])
            logits, _ = model.differentiable(embeddings, encoded.type_ids)
            (gradient,) = torch.autograd.grad(logits[0, 1], embeddings)
        assert (gradient[0].norm(dim=1) > 1e-6).all()
        assert embeddings.grad is None
        for token, coordinate in ((1, 3), (encoded.T - 1, 0)):
            sides = []
            for step in (1e-3, -1e-3):
                moved = embeddings.detach().clone()
                moved[0, token, coordinate] += step
                with torch.no_grad():
                    sides.append(_double_logits(model, moved, encoded.type_ids)[0, 1])
            assert float(sides[0] - sides[1]) / 2e-3 == pytest.approx(
                float(gradient[0, token, coordinate]),
                rel=2e-3,
                # Root-mean-square norms compute in float32 whatever they are given.
                abs=5e-4 if kind in tiny.ROTARY else 1e-5,
            )
    finally:
        module.float()
    assert all(not p.requires_grad and p.grad is None for p in model.module.parameters())


def _double_logits(model, embeddings, type_ids):
    """The logits before they are rounded to float32, so that a small difference can be seen."""
    from core.network.architectures import classify

    types = None if type_ids is None else torch.from_numpy(type_ids)[None]
    return classify(
        model.module, model.architecture, embeddings, None, types, torch.tensor([embeddings.shape[1]]), False, False
    )[0]


@EVERY
def test_differentiable_logits_are_those_of_run(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(TEXTS[2], "It wasn't bad.")
    with model.lock:
        embeddings = model.embed(np.stack([encoded.ids, np.roll(encoded.ids, 1)]))
        logits, maps = model.differentiable(embeddings, encoded.type_ids)
    assert maps is None and logits.dtype == torch.float32
    np.testing.assert_allclose(logits[0].detach(), single(model, encoded)[0], atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "electra", "roberta"])
def test_behind_the_last_attention_only_what_is_read_is_computed(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(TEXTS[2], "It wasn't bad.")
    seen, last = [], model.module.base_model.encoder.layer[-1]
    watch = last.intermediate.register_forward_pre_hook(lambda _, given: seen.append(tuple(given[0].shape[:2])))
    try:
        read, whole = single(model, encoded)[0], single(model, encoded, hidden=True)[0]
    finally:
        watch.remove()
    assert seen == [(1, 1), (1, encoded.T)], "hidden states need every token"
    np.testing.assert_allclose(read, whole, atol=1e-5)
    with pytest.raises(ZeroDivisionError), only_what_is_read(model.module, model.architecture):
        raise ZeroDivisionError
    assert not last.attention.output._forward_pre_hooks


@EVERY
def test_hidden_states_are_normalised_and_pooled_over_all_tokens(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(TEXTS[2])
    states = _states_by_hooks(model, encoded) if kind in PRE_NORM else _library_states(model, encoded)
    pooled = single(model, encoded, hidden=True)[1]
    assert (
        pooled.shape
        == (model.module.config.num_hidden_layers + 1, model.module.config.hidden_size)
        == (len(states), 32)
    )
    np.testing.assert_allclose(pooled, np.stack([s.numpy().max(axis=0) for s in states]), atol=1e-5)


def _library_states(model, encoded):
    return [
        state[0] for state in reference(model, encoded.ids, encoded.type_ids, output_hidden_states=True).hidden_states
    ]


def _states_by_hooks(model, encoded):
    """What each block's first norm, and the final norm, give while the library runs; the embedding's own norm where it
    has one.
    """
    body, seen, handles = model.module.base_model, [], []
    if model.architecture.embeddings == "":
        norms = [*(block.input_layernorm for block in body.layers), body.norm]
    elif model.module.config.model_type == "gpt2":
        norms = [block.ln_1 for block in body.h] + [body.ln_f]
    else:
        norms = [body.embeddings.norm, *(block.attn_norm for block in body.layers[1:]), body.final_norm]
    handles.extend(norm.register_forward_hook(lambda _, given, out: seen.append(out[0])) for norm in norms)
    try:
        reference(model, encoded.ids)
    finally:
        for handle in handles:
            handle.remove()
    return seen


@EVERY
def test_the_states_of_families_that_norm_after_are_norms_outputs(tiny_model, kind):
    """Each state of a family that norms after its blocks is what some LayerNorm gave; else the table would be wrong."""
    model = tiny_model(kind)
    encoded = model.encode(TEXTS[0])
    outputs, handles = [], []
    handles.extend(
        part.register_forward_hook(lambda _, given, out: outputs.append(out))
        for part in model.module.modules()
        if type(part).__name__.endswith(("LayerNorm", "RMSNorm"))
    )
    try:
        states = reference(model, encoded.ids, encoded.type_ids, output_hidden_states=True).hidden_states
    finally:
        for handle in handles:
            handle.remove()
    normed = [any(out.shape == state.shape and torch.equal(out, state) for out in outputs) for state in states]
    if kind == "electra":
        # Its embeddings are normalised and then projected to the hidden size.
        assert normed == [False, *[True] * (len(states) - 1)]
    elif kind in PRE_NORM:
        assert normed[-1] and not all(normed)
    else:
        assert all(normed)


@EVERY
def test_attention_maps_come_under_eager_attention_only_and_it_is_undone(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode(TEXTS[0])
    before, plain = model.module.config._attn_implementation, single(model, encoded)[0]
    with model.eager_attention():
        logits, maps = model.differentiable(model.embed(encoded.ids[None]), encoded.type_ids, attentions=True)
        eager = single(model, encoded)[0]
    assert maps.shape == (1, 2, encoded.T, encoded.T)
    np.testing.assert_allclose(maps.detach().sum(dim=-1), 1, atol=1e-5)
    np.testing.assert_allclose(logits[0].detach(), plain, atol=1e-5)
    np.testing.assert_allclose(eager, plain, atol=1e-5)
    assert model.module.config._attn_implementation == before
    np.testing.assert_array_equal(single(model, encoded)[0], plain)


@EVERY
def test_eager_attention_is_undone_after_an_error(tiny_model, kind):
    model = tiny_model(kind)
    before = model.module.config._attn_implementation
    with pytest.raises(ZeroDivisionError), model.eager_attention():
        assert model.module.config._attn_implementation == "eager"
        raise ZeroDivisionError
    assert model.module.config._attn_implementation == before
    assert not model.lock.mine


def test_the_sdpa_families_are_tested_under_sdpa(tiny_model):
    implementations = {kind: tiny_model(kind).module.config._attn_implementation for kind in tiny.KINDS}
    assert implementations == {kind: "eager" if kind in ("deberta", "gemma2") else "sdpa" for kind in tiny.KINDS}


def test_masking_the_tail_does_not_move_what_gpt2_reads(tiny_model):
    model = tiny_model("gpt2")
    assert model.mask_id == model.tokenizer.eos_token_id == model.module.config.pad_token_id
    encoded = [model.encode(text) for text in (PLAIN, "Nothing was broken")]
    tail = [masked_ids(e, np.arange(e.F)[None] >= e.F - 2)[0] for e in encoded]
    everything = [masked_ids(e, np.ones((1, e.F), dtype=bool))[0] for e in encoded]
    for ids in (*tail, *everything):
        assert ids[-1] == model.mask_id
        np.testing.assert_allclose(single(model, encoded[0], ids)[0], reference(model, ids).logits[0], atol=1e-5)
    naive = model.module(input_ids=torch.from_numpy(tail[0])[None]).logits[0].numpy()
    assert np.abs(naive - single(model, encoded[0], tail[0])[0]).max() > 0.01, (
        "the library itself reads an earlier position here"
    )
    width = max(map(len, tail))
    batch = np.stack([np.pad(ids, (0, width - len(ids)), constant_values=model.mask_id) for ids in tail])
    logits, _ = model.run(batch, np.array([len(ids) for ids in tail]))
    for row, ids in zip(logits, tail):
        np.testing.assert_allclose(row, single(model, encoded[0], ids)[0], atol=1e-5)


@EVERY
def test_of_a_pair_only_the_first_text_has_features_unless_asked(tiny_model, kind):
    model = tiny_model(kind)
    text, second = "the captain laughed", "the captain waited for the tide"
    one, both = model.encode(text, second), model.encode(text, second, maskable=BOTH)
    assert [f.text for f in one.features] == text.split()
    assert [f.text for f in both.features] == text.split() + second.split()
    assert [second[f.start : f.end] for f in both.features[3:]] == second.split()
    sides = np.array([-1 if s is None else s for s in model.tokenizer(text, second).encodings[0].sequence_ids])
    assert (one.feature_of[sides == 1] == -1).all() and (both.feature_of[sides == 1] >= 3).all()
    assert (both.feature_of[sides == 0] == one.feature_of[sides == 0]).all()
    assert (both.feature_of[sides == -1] == -1).all()
    masked = masked_ids(both, np.ones((1, both.F), dtype=bool))[0]
    assert (masked[sides >= 0] == model.mask_id).all() and (masked[sides < 0] == both.ids[sides < 0]).all()


def test_pairs_look_as_their_families_write_them(tiny_model):
    expected = {
        "bert": "[CLS] a [SEP] b [SEP]",
        "roberta": "<s> a </s> </s> b </s>",
        "deberta": "[CLS] ▁a [SEP] ▁b [SEP]",
        "modernbert": "[CLS] a [SEP] b [SEP]",
        "gpt2": "a b",
    }
    for kind, tokens in expected.items():
        model = tiny_model(kind)
        assert model.tokenizer.convert_ids_to_tokens(model.encode("a", "b").ids.tolist()) == tokens.split(), kind


@EVERY
@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
def test_half_precision_weights_are_computed_in_float32(tiny_model, tiny_root, tmp_path, kind, stored):
    from transformers import AutoModelForSequenceClassification

    model, half = tiny_model(kind), getattr(torch, stored)
    module = AutoModelForSequenceClassification.from_pretrained(tiny.folder(kind, tiny_root), dtype=torch.float32)
    module.to(half).save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    loaded = load(str(tmp_path), "cpu")
    originals = dict(model.module.named_parameters())
    for name, parameter in loaded.module.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, originals[name].to(half).float()), name
    for name, buffer in loaded.module.named_buffers():
        assert torch.equal(buffer, dict(model.module.named_buffers())[name]), name


@EVERY
def test_computing_in_bfloat16_gives_close_float32_output(tiny_model, tiny_root, kind):
    model, rough = tiny_model(kind), load(str(tiny.folder(kind, tiny_root)), "cpu", "bfloat16")
    assert {p.dtype for p in rough.module.parameters()} == {torch.bfloat16}
    assert rough.gram.dtype == torch.float32
    exact, coarse = [], []
    for text in TEXTS:
        encoded = rough.encode(text)
        logits, pooled = single(rough, encoded, hidden=True)
        assert logits.dtype == pooled.dtype == np.float32
        exact.append(single(model, encoded)[0])
        coarse.append(logits)
    assert not np.array_equal(exact, coarse)
    assert np.abs(np.subtract(exact, coarse)).max() < 0.15 * np.abs(exact).max()


def test_bfloat16_leaves_rotary_frequencies_exact(tiny_model, tiny_root):
    rough = load(str(tiny.folder("modernbert", tiny_root)), "cpu", "bfloat16")
    exact = dict(tiny_model("modernbert").module.named_buffers())
    assert exact
    for name, buffer in rough.module.named_buffers():
        assert torch.equal(buffer, exact[name]), name


@EVERY
def test_the_gram_matrix_gives_norms_over_the_vocabulary(tiny_model, kind):
    model = tiny_model(kind)
    gradient = torch.linspace(-1, 1, model.word_embeddings.shape[1])
    assert float(gradient @ model.gram @ gradient) == pytest.approx(
        float((model.word_embeddings @ gradient).square().sum()), rel=1e-4
    )


def test_what_the_classifier_reads_is_named(tiny_model):
    assert {kind: tiny_model(kind).reading for kind in tiny.KINDS} == {
        kind: {"modernbert-mean": "mean"}.get(kind, "last" if kind in tiny.DECODERS else "first") for kind in tiny.KINDS
    }


@EVERY
def test_the_longest_input_runs(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode("the tide " * 100)
    assert encoded.T == model.max_tokens == tiny.POSITIONS
    np.testing.assert_allclose(
        single(model, encoded)[0], reference(model, encoded.ids, encoded.type_ids).logits[0], atol=1e-5
    )
