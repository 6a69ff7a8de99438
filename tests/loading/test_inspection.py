"""What a check claims about a model, held against what happens when the model is loaded and run."""

import json
import os
import random
import re
import shutil
import socket
import struct
import threading
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch

from core.evaluation.predicting import rows_of
from core.explanation.explainer import Explainer
from core.loading import inspection as checking
from core.loading.inspection import ModelCheck, blueprint, check_model, memory_bytes, read_headers
from core.loading.loading import load
from core.loading.locating import locate
from core.loading.small_files import read_config
from core.measures.catalogue import measures
from core.measures.registry import ORACLE
from core.network.architectures import UnsupportedModel
from core.network.features import NoFeatures
from core.oracle.erasing import UNKNOWN, erasures_of
from core.storage import hub
from tests import tiny
from tests.model_folders import change_json, write_adapter

TEXT = "The captain's soup wasn't bad, but nobody heard the warning."
PARTS = (
    "Device",
    "Files",
    "Family",
    "Classes",
    "Tokenizer",
    "Mask token",
    "Longest input",
    "Vocabulary",
    "Weights",
    "Hidden states",
    "Size on disk",
    "Memory",
)
# What needs a token that masks.
MASKING = {name for name, measure in measures().items() if measure.needs == ORACLE}
# Zero up to rounding where a family normalises its word embeddings first.
ZEROED = {"input × gradient", "input × SmoothGrad"}
EVERY = pytest.mark.parametrize("kind", tiny.KINDS)


@pytest.fixture
def copied(tiny_root, tmp_path):
    """`copied(kind)`: a fresh copy of a kind's folder, to be damaged."""
    return lambda kind="bert": shutil.copytree(tiny.folder(kind, tiny_root), tmp_path / "copy")


def check(name, precision="float32") -> ModelCheck:
    """Check, and see that whatever is said are sentences."""
    with mock.patch.dict(os.environ, FAITHSCOPE_DEVICE="cpu", FAITHSCOPE_PRECISION=precision):
        found = check_model(name if isinstance(name, str) else str(name))
    assert isinstance(found, ModelCheck) and len({f.what for f in found.findings}) == len(found.findings)
    for said in (found.note, *(f.why for f in found.findings)):
        assert said.endswith(".") and "\n" not in said and 0 < len(said) < 700 and "Traceback" not in said, said
    assert all(f.works in ("yes", "partly", "no") for f in found.findings)
    assert found.usable == (not any(f.works == "no" for f in found.findings if f.what not in measures()))
    return found


def refused(folder, *words):
    """The check says no and why, and so does loading, in the same words."""
    found = check(folder)
    with pytest.raises(UnsupportedModel) as caught:
        load(str(folder), "cpu")
    # What a library says in brackets may come from another of its corners.
    before, after = (re.sub(r" \(.*\)", "", said) for said in (found.note, str(caught.value)))
    assert not found.usable and before == after and found.note in [f.why for f in found.findings if f.works == "no"]
    for word in words:
        assert word in found.note
    return found


def numbers(text):
    return [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", text)]


# ---- what works


@EVERY
def test_every_part_is_as_claimed(tiny_root, tiny_model, kind):
    found, model = check(tiny.folder(kind, tiny_root)), tiny_model(kind)
    assert found.usable and [f.what for f in found.findings if f.what not in measures()] == list(PARTS)
    assert found.labels == model.labels and model.module.config.model_type in found["Family"].why
    assert "cpu" in found["Device"].why and "float32" in found["Device"].why
    assert found["Mask token"].works == ("partly" if kind in tiny.MASKLESS else "yes")
    assert model.tokenizer.convert_ids_to_tokens(model.mask_id) in found["Mask token"].why
    assert numbers(found["Longest input"].why) == [model.max_tokens]
    encoded = model.encode(TEXT)
    _, states = model.run(
        encoded.ids[None],
        np.array([encoded.T]),
        None if encoded.type_ids is None else encoded.type_ids[None],
        hidden=True,
    )
    L, H, layers = numbers(found["Hidden states"].why)
    assert states.shape == (1, L, H) and layers == L - 1
    assert found["Vocabulary"].works == "yes" and numbers(found["Vocabulary"].why) == [
        len(model.tokenizer),
        len(model.word_embeddings),
    ]
    assert found["Weights"].works == "yes" and "F32" in found["Weights"].why
    size = sum(path.stat().st_size for path in tiny.folder(kind, tiny_root).iterdir())
    assert found["Size on disk"].why == f"{size / 1e6:.3g} MB."


@EVERY
def test_every_measure_does_as_claimed(tiny_root, tiny_model, kind):
    found, model = check(tiny.folder(kind, tiny_root)), tiny_model(kind)
    explainer = Explainer(model)
    encoded = model.encode("The captain's boat reads the wind")
    elsewhere = {name: why for name, one in measures().items() if (why := one.refusal(model.module.config.model_type))}
    assert {name: found[name].why for name in elsewhere} == elsewhere
    for name in measures().keys() - elsewhere - {"mutual information"}:
        largest = max(np.abs(values).max() for values in explainer.attribute(encoded, name, 0).scores.values())
        # What is zero up to rounding is so beside the other measure in logits.
        rounding = (
            0.01 * np.abs(explainer.attribute(encoded, "leave-one-out", 0).scores["signed"]).max()
            if name in ZEROED
            else 1e-6
        )
        assert (largest > rounding) == (found[name].works != "no"), (name, largest)
    scale_free = kind in ("deberta", "modernbert", "modernbert-mean")
    partly = {name for name in measures() if found[name].works == "partly"}
    assert partly == ({"integrated gradients"} if scale_free else MASKING if kind in tiny.MASKLESS else set())
    zero = ZEROED if scale_free else set()
    assert {name for name in measures() if found[name].works == "no"} == zero | elsewhere.keys()
    limits = [f.what for f in found.findings if f.works != "yes"]
    assert found.note.endswith(f": {', '.join(limits) or 'none'}.")


@pytest.mark.parametrize("kind", ["deberta", "bert"])
def test_integrated_gradients_start_where_the_check_says(tiny_root, tiny_model, kind):
    from core.measures.integrated_gradients import token_attributions
    from core.oracle.inside import Inside

    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), 0)
    start = "mask" if "mask token" in check(tiny.folder(kind, tiny_root))["integrated gradients"].why else "zero"
    assert start == {"deberta": "mask", "bert": "zero"}[kind]
    assert torch.equal(token_attributions(inside), token_attributions(inside, baseline=start))


@EVERY
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_memory_is_counted_as_it_is_taken(tiny_root, tiny_model, kind, precision):
    folder = str(tiny.folder(kind, tiny_root))
    model = tiny_model(kind) if precision == "float32" else load(folder, "cpu", precision)
    source = locate(folder)
    config = read_config(source)
    weights, working = memory_bytes(blueprint(source, config, read_headers(source, config)), config, precision)
    held = sum(t.numel() * t.element_size() for t in [*model.module.parameters(), *model.module.buffers()])
    # Gemma's factor of the embeddings is one number, in the model's precision.
    assert weights - held == (2 if precision != "float32" and kind.startswith("gemma") else 0)
    kept = _kept_for_gradients(model, tiny.POSITIONS) * 4096 / tiny.POSITIONS
    assert kept / 4 < working < kept * 4
    assert precision in check(folder, precision=precision)["Device"].why


def _kept_for_gradients(model, tokens):
    """Bytes that a forward pass keeps for its gradients, its own weights left out."""
    own, kept = {p.untyped_storage().data_ptr() for p in model.module.parameters()}, {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage
        return tensor

    with model.lock, torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model.differentiable(model.embed(np.full((1, tokens), 5)), None)
    return sum(storage.nbytes() for storage in kept.values())


def test_more_memory_than_there_is_is_a_limit(tiny_root, monkeypatch):
    monkeypatch.setattr(checking, "_memory_of", lambda device: 1_000_000)
    found = check(tiny.folder("bert", tiny_root))
    assert found.usable and found["Memory"].works == "partly" and "cpu has 1 MB" in found["Memory"].why


def test_the_model_that_ships_works_in_full():
    found = check("sst2-fmm")
    assert found.usable and {f.works for f in found.findings} == {"yes"} and found.labels == ("negative", "positive")
    assert "LoRA" in found["Family"].why and found["Files"].why == "Bundled." and "F16" in found["Weights"].why


def test_device_and_precision_come_from_the_settings(tiny_root, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_DEVICE", "cpu")
    monkeypatch.setenv("FAITHSCOPE_PRECISION", "bfloat16")
    assert check_model(str(tiny.folder("bert", tiny_root)))["Device"].why == "cpu, bfloat16."
    for name, value in (("DEVICE", "abacus"), ("PRECISION", "int3")):
        with monkeypatch.context() as patch:
            patch.setenv(f"FAITHSCOPE_{name}", value)
            found = check_model(str(tiny.folder("bert", tiny_root)))
        assert not found.usable and f"FAITHSCOPE_{name}" in found.note and found["Hidden states"].works == "yes"


# ---- classes, masks, vocabulary


def test_names_that_mean_nothing(copied):
    folder = copied()
    change_json(folder / "config.json", id2label=None, label2id=None, num_labels=3)
    found = check(folder)
    assert found.usable and found.labels == load(str(folder), "cpu").labels
    assert found["Classes"].works == "partly" and "id2label" in found["Classes"].why
    change_json(folder / "config.json", id2label={"0": "LABEL_0", "1": "kitchen", "2": "LABEL_2"})
    assert check(folder)["Classes"].works == "yes"


NAMES = ("harbour", "kitchen", "workshop")


@pytest.mark.parametrize(
    "id2label, label2id, labels, works, said",
    [
        # Numbers to numbers, while the way back has names.
        ({0: "0", 1: "1", 2: "2"}, NAMES, NAMES, "partly", "label2id"),
        ({0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, NAMES, NAMES, "partly", "label2id"),
        (None, NAMES, NAMES, "partly", "label2id"),
        # A way back that lacks an output, or has two names for one, is no help.
        ({0: "0", 1: "1", 2: "2"}, {"harbour": 0, "kitchen": 1}, ("0", "1", "2"), "partly", "id2label"),
        ({0: "0", 1: "1", 2: "2"}, {"harbour": 0, "kitchen": 1, "attic": 1}, ("0", "1", "2"), "partly", "id2label"),
        # Keys that are no outputs.
        ({0: "harbour", 2: "workshop", 7: "kitchen"}, None, ("harbour", "class 1", "workshop"), "partly", "kitchen"),
        ({1: "harbour", 2: "kitchen", 3: "workshop"}, None, ("class 0", "harbour", "kitchen"), "partly", "workshop"),
        # Two maps that say otherwise.
        (dict(enumerate(NAMES)), NAMES[::-1], NAMES, "partly", "workshop, kitchen, harbour"),
        (dict(enumerate(NAMES)), None, NAMES, "yes", ""),
        (dict(enumerate(NAMES)), {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2}, NAMES, "yes", ""),
        # Stars are names, since they do not count the outputs.
        ({0: "1", 1: "2", 2: "3"}, None, ("1", "2", "3"), "yes", ""),
    ],
)
def test_what_is_unclear_about_names_is_said_and_what_is_consistent_used(
    copied, id2label, label2id, labels, works, said
):
    folder = copied()
    back = {name: i for i, name in enumerate(label2id)} if isinstance(label2id, tuple) else label2id
    count = 3 if id2label is None else None
    change_json(folder / "config.json", id2label=id2label, label2id=back, num_labels=count)
    found, model = check(folder), load(str(folder), "cpu")
    assert found.usable and found.labels == model.labels == labels
    assert found["Classes"].works == works and said in found["Classes"].why
    # Whoever loads it is told the same, but for names that say nothing, which anybody sees.
    assert any(said in note for note in model.notes) == (works == "partly" and labels != ("0", "1", "2"))


def test_one_output_is_refused_with_what_would_work(copied):
    folder = copied()
    change_json(folder / "config.json", id2label={"0": "score"}, label2id=None)
    found = check(folder)
    assert not found.usable and found["Classes"].works == "no" and "2 outputs" in found["Classes"].why


@pytest.mark.parametrize(
    "kind, works",
    [("multi_label_classification", "partly"), ("regression", "partly"), ("single_label_classification", "yes")],
)
def test_what_the_classes_are_for(copied, kind, works):
    folder = copied()
    change_json(folder / "config.json", problem_type=kind)
    assert check(folder)["Classes"].works == works and load(str(folder), "cpu")


@pytest.mark.parametrize("kind", ["roberta", "bert"])
def test_tokens_without_word_embeddings(copied, kind):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = copied(kind)
    words = AutoTokenizer.from_pretrained(folder)
    words.add_tokens(["zebra", "giraffe"])
    words.save_pretrained(folder)
    found = check(folder)
    assert (
        found.usable and found["Vocabulary"].works == "partly" and np.subtract(*numbers(found["Vocabulary"].why)) == 2
    )
    model = load(str(folder), "cpu")
    for texts in (("A zebra waits",), ("A captain waits", "as the giraffe does")):
        with pytest.raises(NoFeatures, match=r"'.*(zebra|giraffe)'"):
            model.encode(*texts)
        read, unread = rows_of(model, [("A captain waits", "as we do"), (*texts, None)[:2]])
        assert len(read.ids) > 5 and "cannot read" in unread
    # An unknown token without an embedding cannot be put into a text either.
    model.tokenizer.unk_token = "zebra"
    assert model.unknown_id is None and UNKNOWN not in erasures_of(model)
    # Tokens that no text can do without are another matter.
    module = AutoModelForSequenceClassification.from_pretrained(folder)
    module.resize_token_embeddings(4)
    module.save_pretrained(folder)
    refused(folder, "beyond the model's 4")


# ---- what does not work: check and load say the same


def cut(path, kept):
    path.write_bytes(path.read_bytes()[:kept])


def without(folder, *parts):
    """Take the tensors whose name holds one of the parts out of the weights."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    save_file(
        {name: t for name, t in tensors.items() if not any(part in name for part in parts)},
        folder / "model.safetensors",
        {"format": "pt"},
    )


def reshaped(folder, part):
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    save_file(
        {name: t[:-1].contiguous() if part in name else t for name, t in tensors.items()},
        folder / "model.safetensors",
        {"format": "pt"},
    )


def maskless(folder):
    from transformers import PreTrainedTokenizerFast

    whole = tiny.tokenizer("modernbert")
    PreTrainedTokenizerFast(tokenizer_object=whole.backend_tokenizer, pad_token="[PAD]").save_pretrained(folder)


def pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def untokenized(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()


BROKEN = {
    "no head": lambda f: without(f, "classifier"),
    "half a head": lambda f: without(f, "classifier.bias"),
    "no pooler": lambda f: without(f, "pooler"),
    "no layer": lambda f: without(f, "layer.1."),
    "nothing but a head": lambda f: without(f, "encoder", "embeddings", "pooler"),
    "a head of another size": lambda f: reshaped(f, "classifier"),
    "word embeddings of another size": lambda f: reshaped(f, "word_embeddings"),
    "another number of classes": lambda f: change_json(
        f / "config.json", id2label={"0": "a", "1": "b"}, label2id={"a": 0, "b": 1}
    ),
    "one class": lambda f: change_json(f / "config.json", id2label={"0": "a"}, label2id={"a": 0}),
    "another width": lambda f: change_json(f / "config.json", hidden_size=64),
    "a width that cannot be": lambda f: change_json(f / "config.json", hidden_size=33),
    "more layers": lambda f: change_json(f / "config.json", num_hidden_layers=5),
    "more layers than can be built": lambda f: change_json(f / "config.json", num_hidden_layers=10**9),
    "more classes than can be listed": lambda f: change_json(f / "config.json", id2label=None, num_labels=10**9),
    "a larger vocabulary": lambda f: change_json(f / "config.json", vocab_size=10**12),
    "layers in words": lambda f: change_json(f / "config.json", num_hidden_layers="two"),
    "classes as a list": lambda f: change_json(f / "config.json", id2label=["a", "b", "c"]),
    "an unknown family": lambda f: change_json(f / "config.json", model_type="crystal-ball"),
    "a family as a list": lambda f: change_json(f / "config.json", model_type=["bert"]),
    "no family": lambda f: change_json(f / "config.json", model_type=None),
    "no configuration": lambda f: (f / "config.json").unlink(),
    "a folder as configuration": lambda f: ((f / "config.json").unlink(), (f / "config.json").mkdir()),
    "a deep configuration": lambda f: (f / "config.json").write_text("[" * 100_000, encoding="utf-8"),
    "a quantised model": lambda f: change_json(
        f / "config.json", quantization_config={"quant_method": "bitsandbytes", "load_in_8bit": True}
    ),
    "weights elsewhere": lambda f: (
        shutil.copytree(f, f.parent / "other"),
        change_json(f / "config.json", transformers_weights="../other/model.safetensors"),
    ),
    "weights of another kind": lambda f: change_json(f / "config.json", transformers_weights="model.bin"),
    "weights by a number": lambda f: change_json(f / "config.json", transformers_weights=3),
    "weights by a name that is not there": lambda f: change_json(
        f / "config.json", transformers_weights="other.safetensors"
    ),
    "no tokenizer": untokenized,
    "a tokenizer that is none": lambda f: (f / "tokenizer.json").write_text("{}", encoding="utf-8"),
    "half a tokenizer": lambda f: cut(f / "tokenizer.json", 3_000),
    "nothing to mask with": maskless,
    "no room for a text": lambda f: change_json(f / "tokenizer_config.json", model_max_length=2),
    "a longest text in words": lambda f: change_json(f / "tokenizer_config.json", model_max_length="long"),
    "pickle only": pickled,
    "no weights": lambda f: (f / "model.safetensors").unlink(),
    "an empty file of weights": lambda f: cut(f / "model.safetensors", 0),
    "a head of eight bytes": lambda f: cut(f / "model.safetensors", 8),
    "half a header": lambda f: cut(f / "model.safetensors", 500),
    "one byte less": lambda f: cut(f / "model.safetensors", -1),
    "a folder as weights": lambda f: ((f / "model.safetensors").unlink(), (f / "model.safetensors").mkdir()),
    "weights of another name": lambda f: (f / "model.safetensors").rename(f / "other.safetensors"),
    "an index of nothing": lambda f: (
        (f / "model.safetensors").rename(f / "other.safetensors"),
        (f / "model.safetensors.index.json").write_text('{"weight_map": {"a": "gone.safetensors"}}', encoding="utf-8"),
    ),
    "an index that is none": lambda f: (
        (f / "model.safetensors").rename(f / "other.safetensors"),
        (f / "model.safetensors.index.json").write_text("[]", encoding="utf-8"),
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_whatever_is_broken_is_said_before_and_at_loading(copied, how):
    folder = copied()
    BROKEN[how](folder)
    refused(folder)


@pytest.mark.parametrize("kind", ["bert", "deberta", "gpt2", "modernbert"])
def test_a_base_without_a_head(tiny_root, kind):
    found = refused(tiny.base(kind, tiny_root), "lacks trained weights", "python -m core train")
    assert (
        found["Hidden states"].works == found["attention"].works == found["Tokenizer"].works == "yes"
        and found["Memory"].works == "yes"
    )


def test_what_could_be_established_is_listed_all_the_same(copied):
    folder = copied()
    (folder / "model.safetensors").unlink()
    untokenized(folder)
    found = check(folder)
    wrong = {f.what for f in found.findings if f.works == "no"}
    assert wrong == {"Tokenizer", "Weights", *MASKING} and found.labels == tiny.LABELS
    assert {"Device", "Files", "Family", "Classes", "Hidden states", "attention", "Memory"} <= {
        f.what for f in found.findings
    }


def test_old_names_of_tensors_are_read_as_loading_reads_them(copied):
    from safetensors.torch import load_file, save_file

    folder = copied()
    tensors = load_file(folder / "model.safetensors")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t
        for name, t in tensors.items()
    }
    assert old.keys() != tensors.keys()
    save_file(
        old | {"bert.embeddings.position_ids": torch.arange(64)[None], "cls.predictions.bias": torch.zeros(3)},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    assert check(folder)["Weights"].works == "yes" and load(str(folder), "cpu").labels == tiny.LABELS


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_and_several_files(tiny_root, tmp_path, dtype):
    from transformers import AutoModelForSequenceClassification

    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "sharded")
    module = AutoModelForSequenceClassification.from_pretrained(folder).to(getattr(torch, dtype))
    (folder / "model.safetensors").unlink()
    module.save_pretrained(folder, max_shard_size="40KB")
    shards = sorted(folder.glob("*.safetensors"))
    assert len(shards) > 1
    found = check(folder)
    assert (
        found.usable
        and {"float16": "F16", "bfloat16": "BF16"}[dtype] in found["Weights"].why
        and load(str(folder), "cpu")
    )
    shards[1].unlink()
    refused(folder, "cannot be read")


def test_damaged_bytes_never_raise_and_what_is_called_usable_loads(tiny_root, tmp_path):
    draw = random.Random(5)
    for i in range(60):
        folder = shutil.copytree(tiny.folder(draw.choice(("bert", "roberta", "gpt2")), tiny_root), tmp_path / str(i))
        path = folder / draw.choice(("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"))
        content = bytearray(path.read_bytes())
        for _ in range(draw.randint(1, 3)):
            content[draw.randrange(min(len(content), 4_000))] = draw.choice((0, 34, 44, 48, 57, 91, 123, 255))
        path.write_bytes(content)
        found = check(folder)
        try:
            load(str(folder), "cpu")
        except UnsupportedModel as error:
            assert not found.usable and found.note.partition(" (")[0] == str(error).partition(" (")[0]
        else:
            assert found.usable, found.note
        shutil.rmtree(folder)


# ---- adapters


def test_an_adapter_and_its_base(tiny_root, tmp_path):
    base, folder = write_adapter(
        tiny_root,
        tmp_path,
        "bert",
        target_modules=["query"],
        modules_to_save=["classifier"],
        trainable_token_indices={"word_embeddings": [4]},
    )
    (folder / "optimizer.pt").write_bytes(bytes(1_000_000))
    found = check(folder)
    assert (
        found.usable
        and "LoRA" in found["Family"].why
        and found["Weights"].works == "yes"
        and found.labels == load(str(folder), "cpu").labels
    )
    # What does not belong to the model does not count.
    own = [path for place in (base, folder) for path in place.iterdir() if path.suffix in (".json", ".safetensors")]
    size = sum(path.stat().st_size for path in own)
    assert found["Size on disk"].why == f"{size / 1e6:.3g} MB."
    without(base, "classifier")
    assert check(folder).usable, "the adapter brings its head"
    without(base, "pooler")
    refused(folder, "lacks trained weights", "pooler")


def _tensors(change):
    def damage(base, adapter):
        from safetensors.torch import load_file, save_file

        path = adapter / "adapter_model.safetensors"
        save_file(dict(change(load_file(path))), path)

    return damage


BROKEN_ADAPTERS = {
    "no base": lambda b, a: shutil.rmtree(b),
    "no name of a base": lambda b, a: change_json(a / "adapter_config.json", base_model_name_or_path=None),
    "a base that is an adapter": lambda b, a: shutil.copy(a / "adapter_config.json", b),
    "settings of another kind": lambda b, a: change_json(a / "adapter_config.json", use_dora=True),
    "settings that are none": lambda b, a: (a / "adapter_config.json").write_text("[", encoding="utf-8"),
    "classes as a word": lambda b, a: change_json(a / "adapter_config.json", faithscope_labels="abc"),
    "classes as numbers": lambda b, a: change_json(a / "adapter_config.json", faithscope_labels=[1, 2, 3]),
    "other classes": lambda b, a: change_json(a / "adapter_config.json", faithscope_labels=["a", "b"]),
    "one class": lambda b, a: change_json(a / "adapter_config.json", faithscope_labels=["a"]),
    "no weights": lambda b, a: (a / "adapter_model.safetensors").unlink(),
    "weights cut short": lambda b, a: cut(a / "adapter_model.safetensors", -1),
    "base cut short": lambda b, a: cut(b / "model.safetensors", -1),
    "another base": lambda b, a: change_json(a / "adapter_config.json", base_model_name_or_path="all-minilm-l6-v2"),
    "no tokens named": lambda b, a: change_json(a / "adapter_config.json", trainable_token_indices=None),
    "tokens beyond the vocabulary": lambda b, a: change_json(
        a / "adapter_config.json", trainable_token_indices={"word_embeddings": [10**6]}
    ),
    "tokens of another layer": lambda b, a: change_json(
        a / "adapter_config.json", trainable_token_indices={"other": [4]}
    ),
    "half a pair": _tensors(lambda t: {k: v for k, v in t.items() if "lora_B" not in k}),
    "unknown names": _tensors(lambda t: {k.replace("query", "quarry"): v for k, v in t.items()}),
    "another rank": _tensors(lambda t: {k: v[:1].contiguous() if "lora_A" in k else v for k, v in t.items()}),
    "another width": _tensors(lambda t: {k: v[:, :5].contiguous() if "lora_A" in k else v for k, v in t.items()}),
}


@pytest.mark.parametrize("how", BROKEN_ADAPTERS)
def test_a_broken_adapter_is_said_before_and_at_loading(tiny_root, tmp_path, how):
    base, folder = write_adapter(
        tiny_root,
        tmp_path,
        "bert",
        target_modules=["query"],
        modules_to_save=["classifier"],
        trainable_token_indices={"word_embeddings": [4]},
    )
    BROKEN_ADAPTERS[how](base, folder)
    refused(folder)


# ---- any name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\0",
        "a\0b",
        "x" * 10_000,
        "a/" * 3_000,
        "someone/" + "x" * 300,
        "/",
        ".",
        "..",
        "~",
        "~nosuchuser/x",
        "\ud800",
        "owner/name:config",
        "https://x/y/z",
        "a b",
        "a//b",
        "--",
        "owner/..",
        "CON",
        "C:\\x",
        "𝔘/x",
        "*",
        "<script>",
        None,
        3,
        b"x",
        ("a",),
        {},
    ],
)
def test_any_name_is_answered(name, unreachable):
    found = check_model(name)
    assert (
        not found.usable
        and found.note.endswith(".")
        and len(found.note) < 700
        and found["Files" if "Files" in [f.what for f in found.findings] else "Family"].why
    )


def test_a_file_is_no_folder(tiny_root, tmp_path, monkeypatch):
    refused(tiny.folder("bert", tiny_root) / "config.json", "is a file", "folder")
    refused(tmp_path, "config.json")
    (tmp_path / "model.zip").write_bytes(b"PK")
    monkeypatch.chdir(tmp_path)
    refused("model.zip", "is a file")


def test_what_a_library_raises_is_a_sentence(tiny_root, monkeypatch):
    class Panic(BaseException):
        """As Rust's libraries raise it."""

    for error in (
        Panic("index out of bounds: the len is 3\nnote: run with"),
        MemoryError(),
        RecursionError("too deep"),
        AssertionError(),
    ):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(checking, "read_tokenizer", fail)
        found = check(tiny.folder("bert", tiny_root))
        assert (
            not found.usable
            and "cannot be read" in found.note
            and found["Tokenizer"].works == "no"
            and found["Weights"].works == "yes"
        )


# ---- nothing is computed


def test_no_weights_are_read_and_nothing_is_run(copied, monkeypatch):
    """A model of 20 GB whose file has a head and then nothing but a hole: reading it would be seen."""
    folder = copied()
    width, words = 1_000, 5_000_000
    change_json(folder / "config.json", hidden_size=width, vocab_size=words, num_hidden_layers=1, intermediate_size=10)
    source = locate(str(folder))
    with torch.device("meta"):
        from transformers import AutoModelForSequenceClassification

        tensors = AutoModelForSequenceClassification.from_config(read_config(source)).state_dict()
    head, place = {}, 0
    for name, tensor in tensors.items():
        head[name] = {
            "dtype": "F32",
            "shape": list(tensor.shape),
            "data_offsets": [place, place := place + 4 * tensor.numel()],
        }
    about = json.dumps(head).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(about)) + about)
        file.truncate(8 + len(about) + place)

    def ran(*_, **__):
        raise AssertionError("a module was run")

    monkeypatch.setattr(torch.nn.Module, "__call__", ran)
    started = time.monotonic()
    found = check(folder)
    assert time.monotonic() - started < 5 and found.usable and place > 20e9
    assert "20" in found["Memory"].why and "GB" in found["Memory"].why and found["Size on disk"].why == "20 GB."
    module = blueprint(source, read_config(source), read_headers(source, read_config(source)))
    assert {p.device.type for p in module.parameters()} == {"meta"}


def test_a_check_beside_a_load_changes_neither(tiny_root):
    stop, folder = threading.Event(), str(tiny.folder("bert", tiny_root))
    wrong = []

    def keep_checking():
        while not stop.is_set():
            if not check_model(folder).usable:
                wrong.append("unusable")

    threads = [threading.Thread(target=keep_checking) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(15):
            model = load(folder, "cpu", "bfloat16")
            assert {p.dtype for p in model.module.parameters()} == {
                torch.bfloat16
            } and torch.get_default_dtype() == torch.float32
            assert all(p.device.type == "cpu" and torch.isfinite(p).all() for p in model.module.parameters())
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong


# ---- the hub


@pytest.fixture
def unreachable(monkeypatch, tmp_path):
    """No network, and an empty cache of the hub; returns the folder of that cache."""
    from huggingface_hub import constants

    def fail(*_, **__):
        raise socket.gaierror("no network in this test")

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, fail)
    monkeypatch.setattr(socket.socket, "connect", fail)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "_silent_since", -float("inf"))
    return tmp_path / "hub"


def cached(cache, name, folder, commit="0123456789abcdef0123456789abcdef01234567"):
    """Lay a model out as the hub's cache has it, with links to its content."""
    place = cache / f"models--{name.replace('/', '--')}"
    (place / "blobs").mkdir(parents=True)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit, encoding="utf-8")
    (place / "snapshots" / commit).mkdir(parents=True)
    for i, path in enumerate(sorted(folder.iterdir())):
        shutil.copy(path, place / "blobs" / str(i))
        (place / "snapshots" / commit / path.name).symlink_to(Path("../../blobs") / str(i))
    return place / "snapshots" / commit


class Hub:
    """A hub that answers: hands out one folder's files, as they are asked for, and remembers what was asked."""

    def __init__(self, monkeypatch, tmp_path, folder):
        import huggingface_hub

        self.folder, self.place, self.asked, self.headers = folder, tmp_path / ("a" * 40), [], []
        monkeypatch.setattr(hub, "_silent_since", -float("inf"))
        monkeypatch.setattr(huggingface_hub, "model_info", lambda name, **_: None)
        monkeypatch.setattr(huggingface_hub, "snapshot_download", self.snapshot)
        monkeypatch.setattr(huggingface_hub, "get_safetensors_metadata", self.metadata)
        monkeypatch.setattr(huggingface_hub, "parse_safetensors_file_metadata", self.metadata)

    def snapshot(self, name, *, allow_patterns, ignore_patterns, etag_timeout, local_files_only):
        assert not local_files_only and ignore_patterns == ["*/*"]
        self.place.mkdir(exist_ok=True)
        for path in self.folder.iterdir():
            if any(path.match(pattern) for pattern in allow_patterns):
                shutil.copy(path, self.place)
                self.asked.append(path.name)
        return str(self.place)

    def metadata(self, name, filename="model.safetensors", *, revision):
        from types import SimpleNamespace

        from huggingface_hub.errors import NotASafetensorsRepoError
        from safetensors import safe_open

        self.headers.append((name, filename, revision))
        if not (self.folder / filename).exists():
            raise NotASafetensorsRepoError("none")
        with safe_open(self.folder / filename, framework="pt") as file:
            views = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118 (no dictionary: it iterates over nothing)
            tensors = {
                key: SimpleNamespace(dtype=view.get_dtype(), shape=view.get_shape()) for key, view in views.items()
            }
        found = SimpleNamespace(tensors=tensors)
        return found if filename != "model.safetensors" else SimpleNamespace(files_metadata={filename: found})

    @property
    def weights(self):
        return [name for name in self.asked if name.endswith(".safetensors")]


def test_a_check_fetches_the_small_files_only_and_loading_the_rest(monkeypatch, tmp_path, tiny_root):
    server = Hub(monkeypatch, tmp_path, tiny.folder("bert", tiny_root))
    found = check("someone/some-model")
    assert (
        found.usable
        and not server.weights
        and server.headers == [("someone/some-model", "model.safetensors", "a" * 40)]
    )
    here = check(tiny.folder("bert", tiny_root))
    changed = {f.what for f, other in zip(found.findings, here.findings, strict=True) if f != other}
    assert (
        changed == {"Files", "Size on disk"}
        and found["Size on disk"].why.endswith("to fetch.")
        and "aaaaaaaa" in found["Files"].why
    )
    size = sum(p.numel() * 4 for p in load(str(tiny.folder("bert", tiny_root)), "cpu").module.parameters())
    assert found["Size on disk"].why == f"{size / 1e6:.3g} MB to fetch."
    assert load("someone/some-model", "cpu").labels == found.labels and server.weights == ["model.safetensors"]
    assert check("someone/some-model")["Size on disk"].why == here["Size on disk"].why and len(server.headers) == 1, (
        "now it is here"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "crystal-ball"},
        {"id2label": {"0": "a"}, "label2id": {"a": 0}},
        {"num_hidden_layers": "two"},
        {"vocab_size": 2},
    ],
)
def test_a_model_that_cannot_be_used_is_never_fetched_whole(monkeypatch, tmp_path, copied, change):
    folder = copied()
    change_json(folder / "config.json", **change)
    server = Hub(monkeypatch, tmp_path, folder)
    refused("someone/some-model")
    assert server.asked and not server.weights


@pytest.mark.parametrize("named", ["part/model.safetensors", "pytorch_model.bin", "../model.safetensors"])
def test_weights_of_the_hub_that_are_not_its_own_safetensors_are_never_fetched(monkeypatch, tmp_path, copied, named):
    folder = copied()
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": named}}), encoding="utf-8")
    server = Hub(monkeypatch, tmp_path, folder)
    refused("someone/some-model", "only safetensors")
    assert server.asked and not server.weights and not server.headers


def test_weights_of_the_hub_that_do_not_fit(monkeypatch, tmp_path, tiny_root, copied):
    Hub(monkeypatch, tmp_path, tiny.base("bert", tiny_root))
    refused("someone/some-model", "lacks trained weights")
    folder = copied()
    pickled(folder)
    shutil.rmtree(tmp_path / ("a" * 40))
    Hub(monkeypatch, tmp_path, folder)
    assert "reached" not in refused("someone/some-model", "safetensors", "on the hub").note


@pytest.mark.parametrize("error", [ConnectionError("refused"), TimeoutError(), KeyError("weight_map"), OSError("503")])
def test_a_hub_that_does_not_describe_the_weights(monkeypatch, tmp_path, tiny_root, error):
    import huggingface_hub

    def fail(*_, **__):
        raise error

    Hub(monkeypatch, tmp_path, tiny.folder("bert", tiny_root))
    monkeypatch.setattr(huggingface_hub, "get_safetensors_metadata", fail)
    found = check("someone/some-model")
    assert found.usable and found["Weights"].works == "partly"
    assert found["Hidden states"].works == found["attention"].works == "yes" and "Size on disk" not in [
        f.what for f in found.findings
    ]


def test_an_adapter_on_the_hub(monkeypatch, tmp_path, tiny_root):
    _, folder = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    server = Hub(monkeypatch, tmp_path, folder)
    found = check("someone/some-adapter")
    assert (
        found.usable
        and not server.weights
        and server.headers == [("someone/some-adapter", "adapter_model.safetensors", "a" * 40)]
    )
    assert load("someone/some-adapter", "cpu").labels == found.labels and server.weights == [
        "adapter_model.safetensors"
    ]


def test_a_cached_model_needs_no_network(unreachable, tiny_root, tiny_model):
    place = cached(unreachable, "someone/some-model", tiny.folder("roberta", tiny_root))
    started = time.monotonic()
    found = check("someone/some-model")
    model = load("someone/some-model", "cpu")
    assert time.monotonic() - started < 6 and found.usable and found.labels == model.labels == tiny.LABELS
    assert (
        model.digest == tiny_model("roberta").digest
        and locate("someone/some-model").base == place
        and found["Size on disk"].why.endswith("MB.")
    )


def test_a_cached_adapter_and_its_cached_base_need_no_network(unreachable, tiny_root, tmp_path):
    base, folder = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(folder / "adapter_config.json", base_model_name_or_path="someone/base")
    cached(unreachable, "someone/adapter", folder)
    assert "'someone/base'" in check("someone/adapter").note
    cached(unreachable, "someone/base", base)
    assert check("someone/adapter").usable and load("someone/adapter", "cpu").labels


def test_a_cache_with_the_small_files_only(unreachable, tiny_root, copied):
    folder = copied()
    (folder / "model.safetensors").unlink()
    cached(unreachable, "someone/some-model", folder)
    found = check("someone/some-model")
    assert found.usable and found["Weights"].works == "partly" and found["Hidden states"].works == "yes"
    with pytest.raises(UnsupportedModel, match=r"someone/some-model.*be reached"):
        load("someone/some-model", "cpu")


def test_no_network_is_said_within_seconds_even_where_nothing_answers(unreachable, monkeypatch):
    """A host's address that is looked up forever: no time limit of the library ends that."""
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(60))
    started = time.monotonic()
    try:
        found = check("someone/some-model")
        first = time.monotonic() - started
        assert not found.usable and "be reached" in found.note and first < 6
        for name in ("someone/some-model", "someone/another"):
            assert "be reached" in check(name).note
        assert time.monotonic() - started < first + 1, "a silent hub is left alone for a while"
    finally:
        released.set()


def test_a_silent_hub_is_asked_again_after_a_while(monkeypatch):
    import huggingface_hub

    asked = []
    monkeypatch.setattr(hub, "_silent_since", -float("inf"))
    monkeypatch.setattr(
        huggingface_hub, "model_info", lambda name, **_: asked.append(name) or (_ for _ in ()).throw(ConnectionError())
    )
    now = time.monotonic()
    for after, count in ((0, 1), (1, 1), (19, 1), (30, 2)):
        monkeypatch.setattr(time, "monotonic", lambda after=after: now + after)
        assert not hub.answers("someone/some-model") and len(asked) == count
    monkeypatch.setattr(time, "monotonic", lambda: now + 100)
    monkeypatch.setattr(huggingface_hub, "model_info", lambda name, **_: None)
    assert hub.answers("someone/some-model") and hub.answers("someone/some-model")


def test_a_refusal_is_an_answer(monkeypatch):
    import huggingface_hub
    from huggingface_hub import errors

    class Refused(errors.RepositoryNotFoundError):
        def __init__(self):
            pass

    def refuse(*_, **__):
        raise Refused

    monkeypatch.setattr(hub, "_silent_since", -float("inf"))
    monkeypatch.setattr(huggingface_hub, "model_info", refuse)
    assert hub.answers("someone/some-model")
