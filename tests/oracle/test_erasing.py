"""Erasures beside the mask token: what the network reads, by hand and against itself."""

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.network.features import masked_ids
from core.network.scheduler import ZERO_ID
from core.oracle.erasing import ERASURES, MASK, REMOVAL, UNKNOWN, ZERO, NothingLeft, erased_rows
from core.oracle.oracle import Oracle, Oracles
from core.storage.store import Store
from tests import tiny

TEXT, SECOND = "The captain's boat reads the wind", "Salt the water"
EVERY = pytest.mark.parametrize("kind", tiny.KINDS)


@EVERY
@pytest.mark.parametrize("second", [None, SECOND])
def test_each_erasure_touches_the_tokens_of_its_features_and_no_other(tiny_model, kind, second):
    model = tiny_model(kind)
    encoded = model.encode(TEXT, second)
    mask = np.zeros((1, encoded.F), dtype=bool)
    mask[0, [1, 3]] = True
    before, touched = mask.copy(), np.isin(encoded.feature_of, [1, 3])
    for erasure in ERASURES:
        if erasure == UNKNOWN and model.tokenizer.unk_token_id is None:
            continue
        (row,) = erased_rows(encoded, mask, erasure, model.tokenizer.unk_token_id)
        if erasure == REMOVAL:
            np.testing.assert_array_equal(row.ids, encoded.ids[~touched])
            assert row.type_ids is None or len(row.type_ids) == len(row.ids)
            continue
        put = {MASK: encoded.mask_id, ZERO: ZERO_ID, UNKNOWN: model.tokenizer.unk_token_id}[erasure]
        np.testing.assert_array_equal(row.ids, np.where(touched, put, encoded.ids))
    np.testing.assert_array_equal(mask, before)


@EVERY
def test_erasing_nothing_is_the_same_input_under_all(tiny_model, kind):
    model = tiny_model(kind)
    encoded = model.encode("The [MASK] boat reads", None)
    none = np.zeros((1, encoded.F), dtype=bool)
    found = [Oracle(model, encoded, None, erasure).logits(none) for erasure in (MASK, REMOVAL, ZERO)]
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
    np.testing.assert_allclose(found[2], found[0], atol=1e-6)
    all_gone = np.ones((1, encoded.F), dtype=bool)
    (row,) = erased_rows(encoded, all_gone, ZERO)
    # What the text itself masks keeps its mask token.
    assert (row.ids[encoded.feature_of == 1] == encoded.mask_id).all() and (
        row.ids[encoded.feature_of == 0] == ZERO_ID
    ).all()


@EVERY
def test_the_zero_embedding_is_zero_and_padding_is_not(tiny_model, kind):
    """Several masks in one batch with removal's shorter rows give what each gives alone."""
    model = tiny_model(kind)
    encoded = model.encode(TEXT, SECOND)
    masks = np.random.default_rng(0).random((7, encoded.F)) < 0.5
    for erasure in (ZERO, REMOVAL):
        together = Oracle(model, encoded, None, erasure).logits(masks)
        alone = np.concatenate([Oracle(model, encoded, None, erasure).logits(mask[None]) for mask in masks])
        np.testing.assert_allclose(together, alone, atol=2e-5)


def test_the_zero_embedding_against_the_network_fed_by_hand(tiny_model):
    import torch

    model = tiny_model("bert")
    encoded = model.encode(TEXT)
    mask = np.zeros((1, encoded.F), dtype=bool)
    mask[0, 2] = True
    embeddings = model.embed(encoded.ids[None]).detach()
    embeddings[0, torch.tensor(encoded.feature_of == 2)] = 0.0
    with torch.no_grad():
        by_hand = model.differentiable(embeddings, encoded.type_ids)[0].numpy()
    np.testing.assert_allclose(Oracle(model, encoded, None, ZERO).logits(mask), by_hand, atol=1e-5)


def test_removal_that_leaves_special_tokens_is_computed_and_one_that_leaves_nothing_is_refused(tiny_model):
    encoded = tiny_model("bert").encode(TEXT)
    (row,) = erased_rows(encoded, np.ones((1, encoded.F), dtype=bool), REMOVAL)
    assert len(row.ids) == 2
    assert np.isfinite(
        Oracle(tiny_model("bert"), encoded, None, REMOVAL).logits(np.ones((1, encoded.F), dtype=bool))
    ).all()
    bare = tiny_model("gpt2").encode("boat")
    assert (bare.feature_of >= 0).all(), "this tokenizer adds no special tokens"
    with pytest.raises(NothingLeft, match="mask token"):
        erased_rows(bare, np.ones((1, bare.F), dtype=bool), REMOVAL)


def test_unknown_choices_are_refused(tiny_model):
    encoded = tiny_model("bert").encode(TEXT)
    with pytest.raises(ValueError, match="one of"):
        erased_rows(encoded, np.zeros((1, encoded.F), dtype=bool), "deletion")
    with pytest.raises(ValueError, match="no unknown token"):
        erased_rows(encoded, np.zeros((1, encoded.F), dtype=bool), UNKNOWN, None)


def test_each_erasure_has_a_memo_and_a_place_in_the_store_of_its_own(tiny_model, tmp_path):
    model, store = tiny_model("bert"), Store(tmp_path)
    encoded = model.encode(TEXT)
    masks = np.eye(encoded.F, dtype=bool)
    oracles = Oracles(model, store)
    found = {erasure: oracles.of(encoded, erasure).logits(masks) for erasure in (MASK, REMOVAL, ZERO)}
    assert not np.allclose(found[MASK], found[REMOVAL]) and not np.allclose(found[MASK], found[ZERO])
    assert oracles.of(encoded, ZERO) is oracles.of(encoded, ZERO) is not oracles.of(encoded)
    oracles.forget(encoded)
    for erasure, logits in found.items():
        again = Oracle(model, encoded, store, erasure)
        assert again.known(masks).all()
        np.testing.assert_array_equal(again.logits(masks), logits)
        assert again.counters.passes == 0
    # The mask token keeps the key that it always had.
    assert Oracle(model, encoded).key == Oracle(model, encoded, None, MASK).key


def test_p_values_go_with_the_erasure(bundled):
    from core.explanation.explainer import with_reference

    explainer = with_reference(bundled, None)
    encoded = explainer.encode("A warm and funny film about loss", None, "word")
    half = np.zeros((1, encoded.F), dtype=bool)
    half[0, ::2] = True
    masked, removed = explainer.tested(encoded).judge(half), explainer.tested(encoded, REMOVAL).judge(half)
    assert explainer.tested(encoded, REMOVAL) is not explainer.tested(encoded)
    assert set(removed.p) == set(masked.p) and not np.allclose(masked.logits, removed.logits)
    assert isinstance(explainer, Explainer)


def test_masked_ids_are_the_rows_of_the_mask_token(tiny_model):
    encoded = tiny_model("roberta").encode(TEXT)
    masks = np.random.default_rng(1).random((5, encoded.F)) < 0.5
    np.testing.assert_array_equal(
        np.stack([row.ids for row in erased_rows(encoded, masks)]), masked_ids(encoded, masks)
    )
