"""Candidates for a word: by the masked-language head of a base where its folder holds one, else by embeddings."""

import shutil

import numpy as np
import pytest

from core.attacks.candidates import MOST, Proposer, candidates
from core.attacks.vocabulary import vocabulary_of
from core.loading.loading import load
from core.loading.masked_language import masked_language
from core.training.bases import load_base, save_trained
from tests import tiny

TEXT = "The cook's Knife was dull, and so was the soup."
KINDS = ("bert", "distilbert", "electra", "roberta", "deberta", "modernbert")

GAP = "The [MASK] was cold"


def adapter_on_head(kind: str, tiny_root, root):
    """An adapter whose base holds a masked-language head; both folders."""
    base = root / "pretrained"
    shutil.copytree(tiny.base(kind, tiny_root), base)
    module, words, _, _ = load_base(str(base), tiny.LABELS, "lora", 4, 3)
    return base, save_trained(module, words, root / "adapter", str(base), "lora", tiny.LABELS, False)


@pytest.mark.parametrize("kind", KINDS)
def test_the_heads_likeliest_whole_words_come_first(kind, tiny_root, tmp_path):
    """Against transformers, which reads the folder and the text with its mask token by itself."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    base, adapter = adapter_on_head(kind, tiny_root, tmp_path)
    model = load(str(adapter))
    encoded, words = model.encode(TEXT), AutoTokenizer.from_pretrained(base)
    other = AutoModelForMaskedLM.from_pretrained(base).eval()
    for i in (2, 4, 9):
        feature = encoded.features[i]
        # The space belongs to the token that is masked.
        masked = f"{TEXT[: feature.start].rstrip()}{words.mask_token}{TEXT[feature.end :]}"
        read = words(masked, return_tensors="pt")
        at = int((read["input_ids"][0] == words.mask_token_id).nonzero()[0, 0])
        with torch.inference_mode():
            logits = other(**read).logits[0, at].numpy()
        vocabulary = vocabulary_of(model)
        ranked = [vocabulary.words[k] for k in np.argsort(-logits[vocabulary.ids], kind="stable")]
        expected = dict.fromkeys(word.casefold() for word in ranked if word.casefold() != feature.text.casefold())
        found = candidates(model, encoded, i)
        assert found.by is Proposer.HEAD and [one.casefold() for one in found.words] == [*expected][:MOST]
        assert all(one[0].isupper() for one in found.words) or not feature.text[0].isupper()
    assert candidates(model, encoded, 6).words and not candidates(model, encoded, encoded.F - 1).words
    assert masked_language(model) is masked_language(model)


def test_a_typed_mask_has_candidates_by_the_head_and_none_by_embeddings(tiny_root, tiny_model, tmp_path):
    model = load(str(adapter_on_head("bert", tiny_root, tmp_path)[1]))
    assert len(candidates(model, model.encode(GAP), 1).words) == MOST
    plain = tiny_model("bert")
    assert candidates(plain, plain.encode(GAP), 1).words == ()


@pytest.mark.parametrize("kind", ["bert", "gpt2", "roberta"])
def test_without_a_head_they_are_the_nearest_by_embeddings(kind, tiny_model):
    model = tiny_model(kind)
    encoded, vocabulary = model.encode(TEXT), vocabulary_of(model)
    for i in range(encoded.F):
        word = encoded.features[i].text
        near = [vocabulary.spelled(int(one), word) for one in vocabulary.near(word)]
        found = candidates(model, encoded, i, 3)
        assert found.by is Proposer.EMBEDDINGS and found.words == tuple(dict.fromkeys(near))[:3]


@pytest.mark.parametrize("damage", ["gone", "cut short", "other tokens"])
def test_files_that_no_longer_fit_leave_the_embeddings(damage, tiny_root, tmp_path):
    base, adapter = adapter_on_head("bert", tiny_root, tmp_path)
    model = load(str(adapter))
    weights = base / "model.safetensors"
    if damage == "gone":
        weights.unlink()
    elif damage == "cut short":
        weights.write_bytes(weights.read_bytes()[:-100])
    else:
        text = (base / "tokenizer.json").read_text(encoding="utf-8")
        (base / "tokenizer.json").write_text(text.replace('"soup"', '"sooop"'), encoding="utf-8")
    assert candidates(model, model.encode(TEXT), 2).by is Proposer.EMBEDDINGS
