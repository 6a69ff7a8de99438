"""Where models come from, what is refused and how it is said, and adapters held equal to PEFT."""

import json
import shutil
import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.loading import loading, locating
from core.loading.loading import load
from core.loading.locating import MODELS, digest, locate
from core.network.architectures import UnsupportedModel
from core.storage import hub
from core.training.bases import load_base
from tests import tiny
from tests.model_folders import change_json, write_adapter

TEXT = "The captain's soup wasn't bad, but nobody heard the warning."


@pytest.fixture
def copied(tiny_root, tmp_path):
    """`copied(kind)`: a fresh copy of a kind's folder, to be damaged."""

    def copy(kind="bert"):
        return shutil.copytree(tiny.folder(kind, tiny_root), tmp_path / "copy")

    return copy


def refusal(name, *words, device="cpu"):
    """Load, and return the sentence that refuses; it must be short, whole, on one line, and hold the words."""
    with pytest.raises(UnsupportedModel) as caught:
        load(str(name), device)
    said = str(caught.value)
    assert "\n" not in said and said.endswith(".") and len(said) < 600 and said[0] != "("
    for word in words:
        assert word in said, said
    return said


def logits(model, text=TEXT):
    encoded = model.encode(text)
    types = None if encoded.type_ids is None else encoded.type_ids[None]
    return model.run(encoded.ids[None], np.array([encoded.T]), types)[0][0]


# ---- what is loaded


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_local_folder(tiny_model, tiny_root, kind):
    model = tiny_model(kind)
    assert model.labels == tiny.LABELS and model.C == 3
    assert model.max_tokens == tiny.POSITIONS
    assert model.device == "cpu" and not model.module.training
    assert model.card is None
    expected = {
        "NAOPC App. D": kind in tiny.MASKLESS,
        "input × gradient": kind in ("deberta", "modernbert", "modernbert-mean"),
    }
    assert all(any(word in note for note in model.notes) == there for word, there in expected.items())
    assert len(model.notes) == sum(expected.values())
    assert model.mask_id == (model.tokenizer.eos_token_id if kind in tiny.MASKLESS else model.tokenizer.mask_token_id)


def test_the_tokenizers_are_of_their_kind(tiny_model):
    assert {kind: type(tiny_model(kind).tokenizer).__name__ for kind in tiny.KINDS} == {
        "bert": "BertTokenizer",
        "distilbert": "DistilBertTokenizer",
        "electra": "BertTokenizer",
        "roberta": "RobertaTokenizer",
        "deberta": "DebertaV2Tokenizer",
        "modernbert": "TokenizersBackend",
        "modernbert-mean": "TokenizersBackend",
        "gpt2": "GPT2Tokenizer",
        **dict.fromkeys(tiny.ROTARY, "TokenizersBackend"),
        "qwen2": "Qwen2Tokenizer",
    }


def test_an_old_folder_with_a_vocabulary_file_only(tiny_model, copied):
    folder = copied()
    vocabulary = tiny_model("bert").tokenizer.get_vocab()
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.get)) + "\n", encoding="utf-8")
    model = load(str(folder), "cpu")
    assert model.encode(TEXT).ids.tolist() == tiny_model("bert").encode(TEXT).ids.tolist()


def test_a_folder_is_named_by_any_path(tiny_model, copied, monkeypatch):
    folder = copied()
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("HOME", str(folder.parent))
    for name in ("copy", "./copy", "copy/", "~/copy"):
        assert locate(name).top == folder.resolve()
    monkeypatch.chdir(folder)
    assert locate(".").top == folder.resolve()


def test_a_bundled_name_comes_before_a_folder(copied, monkeypatch, tmp_path):
    bundled = copied()
    monkeypatch.setattr(locating, "MODELS", bundled.parent)
    (tmp_path / "work" / "copy").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    assert locate("copy").top == bundled


def test_the_card_beside_the_weights(copied):
    folder = copied()
    good = json.loads((MODELS / "sst2-fmm" / "card.json").read_text(encoding="utf-8"))
    good["weights_sha256"] = load(str(folder), "cpu").digest
    (folder / "card.json").write_text(json.dumps(good), encoding="utf-8")
    assert load(str(folder), "cpu").card == good
    odd = [
        good | {"weights_sha256": "0" * 64},
        {name: value for name, value in good.items() if name != "weights_sha256"},
        good | {"plan": good["plan"] | {"training": "odd"}},
        good | {"seconds": None},
        good | {"performance": good["performance"] | {"masked": []}},
        good | {"performance": good["performance"] | {"metric": "<b>"}},
        {"labels": ["a"]},
        [],
        3,
    ]
    for text in [*map(json.dumps, odd), "{"]:
        (folder / "card.json").write_text(text, encoding="utf-8")
        assert load(str(folder), "cpu").card is None


@pytest.mark.parametrize(
    "adapter",
    [
        [],
        {},
        {"peft_type": "LORA"},
        {"peft_type": "LORA", "r": "x", "lora_alpha": 1},
        {"peft_type": "LORA", "r": 2, "lora_alpha": 2, "base_model_name_or_path": 7},
    ],
)
def test_odd_adapter_settings_are_a_sentence(tmp_path, adapter):
    (tmp_path / "adapter_config.json").write_text(json.dumps(adapter), encoding="utf-8")
    with pytest.raises(UnsupportedModel):
        load(str(tmp_path), "cpu")


@pytest.mark.parametrize("labels", ["abc", 7, {"0": "a"}, [1, 2], [None, "a"], ["a"], []])
def test_odd_classes_of_an_adapter_are_a_sentence(tiny_root, tmp_path, labels):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", faithscope_labels=labels)
    refusal(
        adapter,
        str(adapter),
        "output"
        if isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        else "faithscope_labels",
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"trainable_token_indices": None},
        {"trainable_token_indices": {"word_embeddings": [10**6]}},
        {"trainable_token_indices": {"word_embeddings": [-1]}},
        {"trainable_token_indices": {"other": [4]}},
        {"trainable_token_indices": {"word_embeddings": "four"}},
        {"rank_pattern": {"(": 2}},
        {"rank_pattern": {"(.*a){25}query": 2}},
        {"alpha_pattern": {"((q|u|e|r|y|[a-z.0-9])*)*x": 2}},
        {"rank_pattern": {"(q+)+": 2}},
        {"rank_pattern": {f"layer.{i}": 2 for i in range(100_000)}},
        {"rank_pattern": ["query"]},
        {"rank_pattern": {"query": 0}},
    ],
)
def test_settings_that_do_not_fit_an_adapters_weights_are_a_sentence(tiny_root, tmp_path, changes):
    _, adapter = write_adapter(
        tiny_root, tmp_path, "bert", target_modules=["query"], trainable_token_indices={"word_embeddings": [4]}
    )
    change_json(adapter / "adapter_config.json", **changes)
    started = time.monotonic()
    refusal(adapter, "cannot be added to its base", "PEFT")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    "pattern",
    [
        "query",
        "uery",
        "self.query",
        "layer.1.attention.self.query",
        r"layer\.1.attention.self.query$",
        "key|self.query",
        "^bert.encoder.layer.1.attention.self.query",
        "^encoder",
        "l.yer.1.attention.self.query",
        "attention-self",
    ],
)
def test_ranks_go_to_the_layers_that_peft_gives_them_to(tmp_path, pattern):
    from peft.utils.other import get_pattern_key

    from core.loading.lora import _by_layer

    layers = [f"bert.encoder.layer.{i}.attention.self.{part}" for i in (1, 11) for part in ("query", "key")]
    rank = _by_layer({pattern: 7}, 3, tmp_path)
    expected = [7 if get_pattern_key([pattern], layer) == pattern else 3 for layer in layers]
    assert [rank(f"{layer}.weight") for layer in layers] == expected


def test_more_classes_than_can_be_told_apart_are_a_sentence(tiny_root, tmp_path):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", faithscope_labels=[str(i) for i in range(100_000)])
    refusal(adapter, "at most 10,000 names", "faithscope_labels")


def test_an_adapter_on_anwrite_adapter(tiny_root, tmp_path):
    base, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    shutil.copy(adapter / "adapter_config.json", base)
    refusal(adapter, "is an adapter", "Merge")


@pytest.mark.parametrize("name", ["~nosuchuser/x", "x" * 300, "", " ", "a\0b"])
def test_odd_names_are_a_sentence(name):
    with pytest.raises(UnsupportedModel):
        load(name, "cpu")


@pytest.mark.parametrize("device", ["cpu:foo", "cuda:9", "tpu", ""])
def test_odd_devices_are_a_sentence(device):
    with pytest.raises(UnsupportedModel, match="FAITHSCOPE_DEVICE"):
        loading.choose_device(device)


@pytest.mark.parametrize(
    "named, labels",
    [(("a", "a", "predicted"), ("a", "a (1)", "predicted (2)")), (("—", "b", "a"), ("— (0)", "b", "a"))],
)
def test_classes_of_one_name_and_reserved_names_are_told_apart(copied, named, labels):
    folder = copied()
    change_json(folder / "config.json", id2label={str(i): name for i, name in enumerate(named)}, label2id={"a": 0})
    assert load(str(folder), "cpu").labels == labels


def test_every_class_has_a_name_of_its_own(copied):
    folder = copied()
    change_json(folder / "config.json", id2label={"0": "a", "1": "a (2)", "2": "a"}, label2id=None)
    assert load(str(folder), "cpu").labels == ("a", "a (2)", "a (2) (2)")


def test_a_lone_surrogate_in_the_name_of_a_class_is_shown_as_a_sign(copied, tiny_root, tmp_path):
    folder = copied()
    names = {"0": "a\ud800", "1": "\udfffb", "2": "c"}
    change_json(folder / "config.json", id2label=names, label2id=None)
    assert load(str(folder), "cpu").labels == ("a\ufffd", "\ufffdb", "c")
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", faithscope_labels=list(names.values()))
    assert load(str(adapter), "cpu").labels == ("a\ufffd", "\ufffdb", "c")


def test_labels_without_names_are_numbered(copied):
    folder = copied()
    change_json(folder / "config.json", id2label=None, label2id=None, num_labels=3)
    assert load(str(folder), "cpu").labels == ("LABEL_0", "LABEL_1", "LABEL_2")


# ---- digest


def test_the_digest_follows_what_decides_results_and_nothing_else(copied):
    folder = copied()

    def now():
        return digest(locate(str(folder)))

    first = now()
    for name in ("README.md", "card.json", "LICENSE", "notes.py"):
        (folder / name).write_text("{}", encoding="utf-8")
    assert now() == first
    seen = {first}
    for name in ("model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"):
        data = bytearray((folder / name).read_bytes())
        data[-1] ^= 1
        (folder / name).write_bytes(data)
        seen.add(now())
    assert len(seen) == 5


def test_the_digest_of_an_adapter_follows_its_base(tiny_root, tmp_path):
    base, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    first = digest(locate(str(adapter)))
    assert first != digest(locate(str(base)))
    data = bytearray((base / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (base / "model.safetensors").write_bytes(data)
    assert digest(locate(str(adapter))) != first


# ---- adapters


def _equals_peft(model, base, adapter, text, classes=3):
    """Compare logits with PEFT's unmerged adapter, and every weight with PEFT's own merge; return PEFT's logits."""
    from peft import PeftModel
    from transformers import AutoModelForSequenceClassification

    encoded = model.encode(text)
    module = AutoModelForSequenceClassification.from_pretrained(base, num_labels=classes)
    module.config.pad_token_id = None if module.config.model_type == "gpt2" else module.config.pad_token_id
    given = {"input_ids": torch.from_numpy(encoded.ids)[None]}
    if encoded.type_ids is not None:
        given["token_type_ids"] = torch.from_numpy(encoded.type_ids)[None]
    wrapped = PeftModel.from_pretrained(module, adapter).eval()
    with torch.inference_mode():
        expected = wrapped(**given).logits[0].numpy()
    np.testing.assert_allclose(logits(model, text), expected, atol=5e-6)
    merged, ours = dict(wrapped.merge_and_unload().named_parameters()), dict(model.module.named_parameters())
    assert merged.keys() == ours.keys()
    for name, parameter in merged.items():
        np.testing.assert_allclose(ours[name], parameter.detach(), atol=1e-6, err_msg=name)
    return expected


ADAPTERS = {
    "head and tokens": (
        "bert",
        {
            "target_modules": ["query", "value"],
            "modules_to_save": ["classifier"],
            "trainable_token_indices": {"word_embeddings": [4, 9]},
        },
    ),
    "tokens as a list": (
        "gpt2",
        {"target_modules": ["c_attn"], "fan_in_fan_out": True, "trainable_token_indices": [406, 2]},
    ),
    "pooler": ("bert", {"target_modules": "all-linear", "modules_to_save": ["pooler", "classifier"]}),
    "transposed": (
        "gpt2",
        {"target_modules": ["c_attn", "c_proj", "c_fc"], "fan_in_fan_out": True, "modules_to_save": ["score"]},
    ),
    "transposed and not": ("gpt2", {"target_modules": ["c_attn", "c_proj", "score"]}),
    "rank-stabilised": (
        "bert",
        {
            "target_modules": ["query", "dense"],
            "use_rslora": True,
            "rank_pattern": {"query": 2},
            "alpha_pattern": {"layer.1.attention.self.query": 40},
        },
    ),
    "deberta": ("deberta", {"target_modules": ["query_proj", "dense"], "modules_to_save": ["pooler", "classifier"]}),
    "modernbert": ("modernbert", {"target_modules": ["Wqkv", "Wo", "Wi"], "modules_to_save": ["head", "classifier"]}),
}


@pytest.mark.parametrize("kind, chosen", ADAPTERS.values(), ids=ADAPTERS)
def test_an_adapter_equals_peft(tiny_model, tiny_root, tmp_path, kind, chosen):
    base, adapter = write_adapter(tiny_root, tmp_path, kind, **chosen)
    model = load(str(adapter), "cpu")
    text = TEXT + " [MASK] <|endoftext|>"
    expected = _equals_peft(model, base, adapter, text)
    assert np.abs(expected - logits(tiny_model(kind), text)).max() > 0.05, "the adapter changes something"


def test_an_adapter_brings_its_head_to_a_base_without_one(tiny_root, tmp_path):
    base = shutil.copytree(tiny.base("bert", tiny_root), tmp_path / "base")
    base, adapter = write_adapter(
        tiny_root,
        tmp_path,
        "bert",
        base=base,
        classes=2,
        target_modules=["query"],
        modules_to_save=["pooler", "classifier"],
    )
    _equals_peft(load(str(adapter), "cpu"), base, adapter, TEXT, classes=2)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_an_adapter_in_half_precision_is_summed_before_it_is_rounded(tiny_root, tmp_path, precision):
    _, adapter = write_adapter(
        tiny_root, tmp_path, "modernbert", target_modules=["Wqkv", "Wo"], modules_to_save=["classifier"]
    )
    exact, rough = load(str(adapter), "cpu"), load(str(adapter), "cpu", precision)
    half = getattr(torch, precision)
    for (name, whole), rounded in zip(exact.module.named_parameters(), rough.module.parameters()):
        assert rounded.dtype == half and torch.equal(whole.to(half), rounded), name
    for (name, whole), same in zip(exact.module.named_buffers(), rough.module.named_buffers()):
        assert torch.equal(whole, same[1]), name
    assert np.abs(logits(exact) - logits(rough)).max() < 0.2


def test_an_adapter_names_its_classes(tiny_root, tmp_path):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", faithscope_labels=["x", "y", "z"])
    assert load(str(adapter), "cpu").labels == ("x", "y", "z")


@pytest.mark.parametrize("path", ["../base", "base"])
def test_an_adapter_with_a_relative_base_path(tiny_root, tmp_path, monkeypatch, path):
    base, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", base_model_name_or_path=path)
    monkeypatch.chdir(tmp_path)
    assert locate("adapter").base == base.resolve()


def test_an_adapter_on_a_bundled_base(tiny_root, tmp_path, monkeypatch):
    base, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", base_model_name_or_path="base")
    monkeypatch.setattr(locating, "BASES", tmp_path)
    assert locate(str(adapter)).base == base


def test_an_adapters_base_that_is_gone(tiny_root, tmp_path):
    base, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    shutil.rmtree(base)
    refusal(adapter, "adapter", "needs its base", str(base), "There is no folder")


def test_an_adapter_that_names_no_base(tiny_root, tmp_path):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", base_model_name_or_path=None)
    refusal(adapter, "names no base", "base_model_name_or_path")


@pytest.mark.parametrize("changes", [{"use_dora": True}, {"peft_type": "IA3"}, {"bias": "all"}])
def test_an_adapter_of_another_kind(tiny_root, tmp_path, changes):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(adapter / "adapter_config.json", **changes)
    refusal(adapter, "not plain LoRA", "Merge it")


def test_an_adapter_whose_settings_are_no_json(tiny_root, tmp_path):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    (adapter / "adapter_config.json").write_text("{", encoding="utf-8")
    refusal(adapter, "adapter_config.json", "cannot be read", "Save it again")


def test_an_adapter_with_damaged_weights(tiny_root, tmp_path):
    from safetensors.torch import load_file, save_file

    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"], modules_to_save=["classifier"])
    path = adapter / "adapter_model.safetensors"
    whole, tensors = path.read_bytes(), load_file(path)
    path.write_bytes(whole[: len(whole) // 2])
    refusal(adapter, "cut short", "again")
    half = next(name for name in tensors if "lora_B" in name)
    save_file({k: v for k, v in tensors.items() if k != half}, path)
    refusal(adapter, "lacks", "lora_B", "Save it again")
    save_file({k.replace("query", "quarry"): v for k, v in tensors.items()}, path)
    refusal(adapter, "quarry", "which its base lacks", "Give the base")
    save_file({k: v[:2] if "classifier" in k else v for k, v in tensors.items()}, path)
    refusal(adapter, "shape [2", "Give the base")
    path.unlink()
    torch.save(tensors, adapter / "adapter_model.bin")
    refusal(adapter, "holds no adapter_model.safetensors", "pickle")


# ---- what is refused


def test_a_folder_without_a_tokenizer(copied):
    folder = copied()
    for path in folder.glob("tokenizer*"):
        path.unlink()
    refusal(folder, "no tokenizer files", "save_pretrained")


def test_a_tokenizer_that_is_no_json(copied):
    folder = copied()
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    refusal(folder, "tokenizer", "cannot be read", "save_pretrained")


def test_weights_as_pickle_only_are_not_opened(copied):
    folder = copied()
    (folder / "model.safetensors").unlink()
    sentinel = folder / "ran"
    torch.save(_Trap(str(sentinel)), folder / "pytorch_model.bin")
    refusal(folder, "pickle", "save_pretrained", "safetensors")
    assert not sentinel.exists()


def test_a_pickle_beside_other_safetensors_is_not_opened(copied, tiny_root):
    folder = copied()
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    torch.save(load(str(tiny.folder("bert", tiny_root)), "cpu").module.state_dict(), folder / "pytorch_model.bin")
    refusal(folder, "weights", "cannot be read")


class _Trap:
    """Unpickling it would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_no_weights_at_all(copied):
    folder = copied()
    (folder / "model.safetensors").unlink()
    refusal(folder, "no model.safetensors", "save_pretrained")


@pytest.mark.parametrize("kept", [0, 4, 200, -1, -1000])
def test_weights_cut_short(copied, kept):
    folder = copied()
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:kept])
    refusal(folder, "cannot be read", "cut short", "again")


@pytest.mark.parametrize("content", ["{", "", "[]", "{}", '"bert"', "\ud800"])
def test_a_config_that_is_none(copied, content):
    folder = copied()
    (folder / "config.json").write_text(content, encoding="utf-8", errors="surrogatepass")
    refusal(folder, "config.json", "save_pretrained")


def test_a_config_that_is_missing(copied):
    folder = copied()
    (folder / "config.json").unlink()
    refusal(folder, "config.json", "save_pretrained")


def test_a_config_with_impossible_values(copied):
    folder = copied()
    change_json(folder / "config.json", num_hidden_layers="two")
    refusal(folder, "config.json", "save_pretrained")


@pytest.mark.parametrize(
    "changes",
    [
        {"num_hidden_layers": 10**9},
        {"num_labels": 10**9, "id2label": None, "label2id": None},
        {"num_hidden_layers": 1e9},
        {"id2label": ["a", "b", "c"]},
        {"id2label": {str(i): f"class {i}" for i in range(100_000)}, "label2id": None},
        {"num_hidden_layers": 1_000},
        {"model_type": ["bert"]},
        {"model_type": {}},
    ],
)
def test_a_config_made_to_hurt_is_refused_at_once(copied, changes):
    folder = copied()
    change_json(folder / "config.json", **changes)
    started = time.monotonic()
    refusal(folder, "config.json" if "model_type" not in changes else "not supported")
    assert time.monotonic() - started < 5


def test_a_config_of_endless_brackets(copied):
    folder = copied()
    (folder / "config.json").write_text("[" * 100_000, encoding="utf-8")
    refusal(folder, "config.json")


@pytest.mark.parametrize("most", [2, 0, -5, "long"])
def test_no_room_for_a_word(copied, most):
    folder = copied()
    change_json(folder / "tokenizer_config.json", model_max_length=most)
    refusal(folder, "longest input", "model_max_length")


def test_a_mask_token_without_a_word_embedding(copied):
    from transformers import AutoModelForSequenceClassification

    folder = copied("roberta")
    module = AutoModelForSequenceClassification.from_pretrained(folder)
    mask_id = module.config.vocab_size - 1
    module.resize_token_embeddings(mask_id)
    module.save_pretrained(folder)
    refusal(folder, f"token {mask_id}", f"beyond the model's {mask_id}", "own")


def test_a_config_that_does_not_fit_the_weights(copied):
    folder = copied()
    change_json(folder / "config.json", vocab_size=500)
    refusal(folder, "weights", "cannot be read")


def test_one_output(tiny_root, tmp_path):
    from transformers import AutoModelForSequenceClassification

    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "copy")
    AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=1, ignore_mismatched_sizes=True
    ).save_pretrained(folder)
    refusal(folder, "1 output", "at least 2 classes")


@pytest.mark.parametrize("kind", ["bert", "deberta", "gpt2"])
def test_a_base_without_a_head(tiny_root, kind):
    refusal(
        tiny.base(kind, tiny_root),
        "lacks trained weights",
        "score" if kind == "gpt2" else "classifier",
        "python -m core train",
    )


def test_a_family_that_is_not_supported(copied):
    folder = copied()
    for name in ("t5", "xlnet", "nothing-known"):
        change_json(folder / "config.json", model_type=name)
        refusal(folder, repr(name), "not supported", "bert, ", "gpt2", "Choose")


def test_a_tokenizer_with_nothing_to_mask_with(copied):
    from transformers import PreTrainedTokenizerFast

    folder = copied("modernbert")
    whole = tiny.tokenizer("modernbert")
    PreTrainedTokenizerFast(tokenizer_object=whole.backend_tokenizer, pad_token="[PAD]").save_pretrained(folder)
    refusal(folder, "no mask", "Name")


def test_unknown_and_absent_devices(copied, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    folder = copied()
    refusal(folder, "'tpu'", "not available", "FAITHSCOPE_DEVICE", device="tpu")
    refusal(folder, "'cuda:1'", "not available", "FAITHSCOPE_DEVICE", device="cuda:1")
    refusal(folder, "'mps'", "not available", "FAITHSCOPE_DEVICE", device="mps")
    assert loading.choose_device("auto") == "cpu"


@pytest.mark.parametrize("name", ["./gone", "/gone/model", "~/gone", "a/b/c", "gone\\model"])
def test_a_folder_that_is_not_there(name):
    refusal(name, "There is no folder", "hub id")


def test_a_file_is_no_folder(tiny_root, tmp_path, monkeypatch):
    refusal(tiny.folder("bert", tiny_root) / "model.safetensors", "is a file", "Give its folder")
    (tmp_path / "model.zip").touch()
    monkeypatch.chdir(tmp_path)
    refusal("model.zip", "is a file")


def test_a_padding_token_that_every_text_holds(copied, tiny_model):
    """RoBERTa counts positions from its id, and gives it none."""
    folder = copied("roberta")
    change_json(folder / "config.json", pad_token_id=tiny_model("roberta").tokenizer.bos_token_id)
    refusal(folder, "pad_token_id 0", "config.json")


# ---- the hub


@pytest.fixture
def answering(monkeypatch):
    """A hub that answers; what it hands out is the test's."""
    import huggingface_hub

    monkeypatch.setattr(hub, "_silent_since", -float("inf"))
    monkeypatch.setattr(huggingface_hub, "model_info", lambda *_, **__: None)


def test_a_hub_id_without_network_says_so_within_seconds(monkeypatch, tmp_path):
    import socket

    from huggingface_hub import constants

    def unreachable(*_, **__):
        raise socket.gaierror("no network in this test")

    monkeypatch.setattr(hub, "_silent_since", -float("inf"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, unreachable)
    monkeypatch.setattr(socket.socket, "connect", unreachable)
    started = time.monotonic()
    refusal("someone/some-model", "someone/some-model", "could not be reached", "Connect", "folder")
    assert time.monotonic() - started < 6


@pytest.mark.parametrize("error", [ConnectionError("refused"), TimeoutError(), OSError("offline")])
def test_whatever_goes_wrong_on_the_way_to_the_hub_is_one_sentence(monkeypatch, answering, error):
    import huggingface_hub

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    refusal("someone/some-model", "could not be reached")


@pytest.mark.parametrize("kind, said", [("RepositoryNotFoundError", "not found"), ("GatedRepoError", "hf auth login")])
def test_what_the_hub_answers_is_told(monkeypatch, answering, kind, said):
    import huggingface_hub
    from huggingface_hub import errors

    class Refused(getattr(errors, kind)):
        def __init__(self):
            pass

    def fail(*_, **__):
        raise Refused

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    refusal("someone/some-model", said, "hf auth login")


def test_only_data_files_are_fetched(monkeypatch, answering, tiny_root):
    import huggingface_hub

    asked = {}

    def fetch(name, **options):
        asked.update(options, name=name)
        assert options["local_files_only"] is False
        return str(tiny.folder("bert", tiny_root))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert load("someone/some-model", "cpu").labels == tiny.LABELS
    assert asked["name"] == "someone/some-model"
    assert {pattern.rpartition(".")[2] for pattern in asked["allow_patterns"]} == {
        "safetensors",
        "json",
        "txt",
        "model",
        "md",
    }


# ---- no code of a model's folder runs


@pytest.mark.parametrize("family", ["bert", "evil"])
def test_code_in_a_folder_is_never_run(copied, family):
    folder = copied()
    sentinel = folder / "ran"
    (folder / "evil.py").write_text(
        f"open({str(sentinel)!r}, 'w').close()\n"
        "from transformers import BertConfig, BertForSequenceClassification, BertTokenizer\n"
        "class Config(BertConfig):\n    model_type = 'evil'\n"
        "class Classifier(BertForSequenceClassification):\n    config_class = Config\n"
        "class Words(BertTokenizer):\n    pass\n",
        encoding="utf-8",
    )
    change_json(
        folder / "config.json",
        model_type=family,
        auto_map={
            "AutoConfig": "evil.Config",
            "AutoModelForSequenceClassification": "evil.Classifier",
            "AutoModel": "evil.Classifier",
        },
    )
    if family == "bert":
        assert type(load(str(folder), "cpu").module).__module__.startswith("transformers.")
    change_json(
        folder / "tokenizer_config.json",
        tokenizer_class="Words",
        auto_map={"AutoTokenizer": ["evil.Words", "evil.Words"]},
    )
    try:
        load(str(folder), "cpu")
    except UnsupportedModel as error:
        assert str(error).endswith(".")
    assert not sentinel.exists()


# ---- bases for training


def test_a_base_gets_a_head_of_the_asked_size(tiny_root):
    for folder in (tiny.base("bert", tiny_root), tiny.folder("bert", tiny_root)):
        module, _, mask_id, longest = load_base(str(folder), ("a", "b"), "full", 4, 0)
        assert module.classifier.weight.shape == (2, 32) and module.config.id2label == {0: "a", 1: "b"}
        assert module.get_input_embeddings().weight.abs().max() > 0.2, "the body is the pretrained one"
        assert mask_id == 4 and longest == tiny.POSITIONS


def test_a_bases_head_follows_the_seed(tiny_root):
    def head(seed):
        return load_base(str(tiny.base("bert", tiny_root)), ("a", "b"), "full", 4, seed)[0].classifier.weight

    assert torch.equal(head(1), head(1)) and not torch.equal(head(1), head(2))


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_lora_trains_the_linear_layers_the_head_and_the_mask_token(tiny_root, kind):
    module, *_ = load_base(str(tiny.base(kind, tiny_root)), ("a", "b"), "lora", 4, 0)
    trained = {name for name, p in module.named_parameters() if p.requires_grad}
    linear = {
        name for name, m in module.get_base_model().base_model.named_modules() if "lora_A" in dict(m.named_children())
    }
    assert len(linear) >= 4 * module.config.num_hidden_layers
    assert any("trainable_tokens_delta" in name for name in trained)
    heads = {name.split("modules_to_save")[0] for name in trained if "modules_to_save" in name}
    # Else PEFT would ask the hub for the base when it saves.
    assert module.peft_config["default"].base_model_name_or_path == str(tiny.base(kind, tiny_root))
    assert heads and all(p.requires_grad for name, p in module.named_parameters() if "modules_to_save.default" in name)
    assert all("lora_" in n or "modules_to_save" in n or "trainable_tokens" in n for n in trained)


def test_an_adapter_is_no_base(tiny_root, tmp_path):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    with pytest.raises(UnsupportedModel, match=r"is an adapter.*Give its base"):
        load_base(str(adapter), ("a", "b"), "full", 4, 0)


def test_a_damaged_base_is_refused_in_a_sentence(copied):
    folder = copied()
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:-100])
    with pytest.raises(UnsupportedModel, match="cut short"):
        load_base(str(folder), ("a", "b"), "full", 4, 0)
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(UnsupportedModel, match=r"config.json"):
        load_base(str(folder), ("a", "b"), "full", 4, 0)


@pytest.mark.parametrize(
    ("names", "called"),
    [
        (["sst2-fmm", "owner/model"], ["sst2-fmm", "owner/model"]),
        (["/a/b/mine/", "./here", "~/there"], ["mine", "here", "there"]),
        (["/a/x/mine", "/a/y/mine", "/b/y/mine"], ["x/mine", "a/y/mine", "b/y/mine"]),
        (["sst2-fmm", "/a/sst2-fmm"], ["sst2-fmm", "a/sst2-fmm"]),
        (["/", "~nobody/x", "/a\0b"], ["/", "x", "a\0b"]),
        (["/a/mine", "/a/mine/"], ["mine", "mine"]),
    ],
)
def test_a_folder_is_called_by_the_end_of_its_path_that_tells_it_from_the_others(names, called):
    assert list(locating.titles(names).values()) == called


@given(st.lists(st.from_regex(r"\A(/[ab]{1,2}){1,4}\Z|\A[ab]\Z"), unique=True, max_size=6))
def test_no_two_places_are_called_alike(names):
    titles = locating.titles(names)
    assert len(set(titles.values())) == len(names)
    assert all(name.endswith(title) for name, title in titles.items())
