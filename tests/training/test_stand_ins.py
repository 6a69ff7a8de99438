"""What masks for a base without a mask token: chosen, trained, saved and read again."""

import json
import shutil

import numpy as np
import pytest
import torch

from core.commands.command_line import main
from core.loading.loading import load
from core.network.architectures import UnsupportedModel
from core.results.caveats import Caveat
from core.results.inputs import model_caveats
from core.training.bases import load_base
from core.training.stand_ins import ADDED, END, RESERVED, STAND_INS, reserved_tokens
from core.training.training import Plan, train
from tests import tiny
from tests.model_folders import change_json

CLASSES = ("soup", "tide", "glue")


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A file of texts whose class is the word that they repeat."""
    rows = [{"text": f"the {word} {word} and the {word}", "label": word} for word in CLASSES * 12]
    path = tmp_path_factory.mktemp("planted") / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def plan(base, planted, out, **chosen):
    return Plan(str(base), planted, planted, str(out), device="cpu", **{"epochs": 1, "batch": 8, "rank": 4} | chosen)


@pytest.mark.parametrize("stand_in, method", [(END, "full"), (END, "lora"), (RESERVED, "lora"), (ADDED, "full")])
def test_what_masks_is_trained_saved_and_read_again(tiny_root, tmp_path, planted, stand_in, method):
    base, out = tiny.base("llama", tiny_root), tmp_path / "out"
    train(plan(base, planted, out, method=method, mask_token=stand_in, training="mask", learning_rate=1e-3))
    model, before = load(str(out), "cpu"), load_base(str(base), CLASSES, "full", 4, 0)[0].get_input_embeddings().weight
    masks = model.tokenizer.convert_ids_to_tokens(model.mask_id)
    assert masks == {END: "</s>", RESERVED: "<|reserved_special_token_0|>", ADDED: "<mask>"}[stand_in]
    assert (Caveat.STAND_IN in model_caveats(model)) == (stand_in == END)
    assert len(model.word_embeddings) == len(before) + (stand_in == ADDED)
    start = before.mean(dim=0) if stand_in == ADDED else before[model.mask_id]
    assert (model.word_embeddings[model.mask_id] - start).abs().max() > 1e-5, "its embedding was trained"
    if method == "lora":
        others = torch.arange(len(before)) != model.mask_id
        assert torch.equal(model.word_embeddings[others], before[others])
    card = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert card["plan"].get("mask_token", END) == stand_in
    encoded = model.encode("the soup")
    assert np.isfinite(model.run(encoded.ids[None], np.array([encoded.T]))[0]).all()


def test_an_adapter_takes_a_spare_row_and_is_refused_without_one(tiny_root, tmp_path, planted):
    base = tiny.base("llama", tiny_root)
    with pytest.raises(UnsupportedModel, match=r"spare embedding.*reserved.*full"):
        load_base(str(base), CLASSES, "lora", 4, 0, ADDED)
    from transformers import AutoModelForCausalLM

    roomy = shutil.copytree(base, tmp_path / "roomy")
    module = AutoModelForCausalLM.from_pretrained(base)
    tokens = module.config.vocab_size
    module.resize_token_embeddings(tokens + 3)
    module.save_pretrained(roomy)
    out = train(plan(roomy, planted, tmp_path / "out", method="lora", mask_token=ADDED))
    model = load(str(out), "cpu")
    assert model.mask_id == tokens and len(model.word_embeddings) == tokens + 3


def test_reserved_tokens_are_those_of_no_text(tiny_root):
    assert reserved_tokens(tiny.tokenizer("llama")) == ["<|reserved_special_token_0|>"]
    assert reserved_tokens(tiny.tokenizer("qwen2")) == ["<|im_start|>"]
    assert reserved_tokens(tiny.tokenizer("gpt2")) == []


@pytest.mark.parametrize(
    "kind, stand_in, words", [("gemma3", RESERVED, "mask token <mask>"), ("gpt2", RESERVED, "reserves no token")]
)
def test_a_base_that_cannot_have_it_is_refused_in_a_sentence(
    tiny_root, tmp_path, planted, capsys, kind, stand_in, words
):
    base, out = str(tiny.base(kind, tiny_root)), str(tmp_path / "out")
    given = ["--base", base, "--train", planted, "--validation", planted, "--out", out, "--mask-token", stand_in]
    assert main(["train", *given]) == 1
    said = capsys.readouterr().err
    assert words in said and "Traceback" not in said and not (tmp_path / "out" / "card.json").exists()


@pytest.mark.parametrize("kind", tiny.ROTARY)
@pytest.mark.parametrize("method", ["full", "lora"])
def test_the_mask_token_gets_a_gradient_though_it_pads(tiny_root, tmp_path, kind, method):
    base = shutil.copytree(tiny.base(kind, tiny_root), tmp_path / "base")
    module, tokenizer, mask_id, _ = load_base(str(base), CLASSES, method, 4, 0)
    embedded = module.get_input_embeddings()(torch.tensor([[mask_id, 7]]))
    embedded.sum().backward()
    (gradient,) = (p.grad for n, p in module.named_parameters() if "embed_tokens" in n and p.grad is not None)
    row = gradient[mask_id] if method == "full" else gradient[0]
    assert row.abs().min() > 0
    assert tokenizer.mask_token_id in (None, mask_id) and STAND_INS[0] == END


def test_without_pad_mask_or_end_token_a_sentence_says_what_to_name(tiny_root, tmp_path):
    folder = shutil.copytree(tiny.folder("llama", tiny_root), tmp_path / "bare")
    change_json(folder / "tokenizer_config.json", eos_token=None, pad_token=None)
    with pytest.raises(UnsupportedModel, match=r"no mask or end-of-sequence token.*tokenizer_config"):
        load(str(folder), "cpu")


@pytest.mark.parametrize("kind", tiny.ROTARY)
def test_padding_on_the_left_in_the_configuration_changes_nothing(tiny_model, tiny_root, tmp_path, kind):
    folder = shutil.copytree(tiny.folder(kind, tiny_root), tmp_path / kind)
    change_json(folder / "tokenizer_config.json", padding_side="left")
    left, right = load(str(folder), "cpu"), tiny_model(kind)
    assert left.tokenizer.padding_side == "left"
    texts = ("the boat", "the captain reads the wind before the warning and the crew does not")
    found = []
    for model in (left, right):
        encoded = [model.encode(text) for text in texts]
        ids = np.stack([np.pad(one.ids, (0, encoded[1].T - one.T)) for one in encoded])
        found.append(model.run(ids, np.array([one.T for one in encoded]))[0])
    np.testing.assert_allclose(*found, atol=1e-5)
    # The library's own head, padded on the left.
    short, long = (left.encode(text).ids for text in texts)
    gap = len(long) - len(short)
    padded = torch.tensor(np.stack([np.pad(short, (gap, 0)), long]))
    within = torch.tensor([[0] * gap + [1] * len(short), [1] * len(long)])
    own, before = left.module, left.module.config.pad_token_id
    own.config.pad_token_id = -1
    try:
        with torch.inference_mode():
            logits = own(
                input_ids=padded, attention_mask=within, position_ids=(within.cumsum(1) - 1).clamp(min=0)
            ).logits
    finally:
        own.config.pad_token_id = before
    np.testing.assert_allclose(found[0], logits, atol=1e-5)
