"""What a model is made of: only safetensors and small files of its own folder are read, each as it is digested."""

import builtins
import errno
import io
import json
import os
import pickle
import shutil
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from core.loading.inspection import check_model
from core.loading.loading import load
from core.loading.locating import digest, locate
from core.network.architectures import UnsupportedModel
from core.training.bases import load_base
from tests import tiny
from tests.model_folders import change_json, write_adapter

TEXT = "The captain's soup wasn't bad, but nobody heard the warning."
INDEX = "model.safetensors.index.json"


@pytest.fixture
def copied(tiny_root, tmp_path):
    """`copied(kind)`: a fresh copy of a kind's folder, to be damaged."""
    return lambda kind="bert": shutil.copytree(tiny.folder(kind, tiny_root), tmp_path / "copy")


@pytest.fixture
def unpickled(monkeypatch):
    """Whatever was to be unpickled: every way there is remembered and raises."""
    reached = []

    def refuse(*given, **_):
        reached.append(given)
        raise AssertionError("a pickle was opened")

    for place in (torch, torch.serialization, torch._weights_only_unpickler, pickle):
        monkeypatch.setattr(place, "load", refuse)
    return reached


def logits(model):
    encoded = model.encode(TEXT)
    return model.run(encoded.ids[None], np.array([encoded.T]), encoded.type_ids[None])[0][0]


def refused(folder) -> str:
    """The sentence by which a check, loading and training from it all refuse a model."""
    found = check_model(str(folder))
    assert not found.usable
    with pytest.raises(UnsupportedModel) as caught:
        load(str(folder), "cpu")
    with pytest.raises(UnsupportedModel):
        load_base(str(folder), ("a", "b"), "full", 4, 0)
    assert found.note.partition(" (")[0] == str(caught.value).partition(" (")[0]
    assert found.note.endswith(".") and "\n" not in found.note and len(found.note) < 600
    return found.note


def write_index(folder, *named, at=INDEX):
    """An index that names files for tensors, and no single file of weights beside it."""
    (folder / "model.safetensors").unlink(missing_ok=True)
    (folder / at).write_text(json.dumps({"metadata": {}, "weight_map": {str(i): n for i, n in enumerate(named)}}))


def pickled(tensors: Path, to: Path):
    """The same weights as torch pickles them."""
    from safetensors.torch import load_file

    to.parent.mkdir(exist_ok=True)
    torch.save(load_file(tensors), to)


def moved(tensors: Path, to: Path):
    to.parent.mkdir(exist_ok=True)
    shutil.copy(tensors, to)


# ---- pickle, subfolders, other folders


def _bin_beside(f):
    pickled(f / "model.safetensors", f / "pytorch_model.bin")
    write_index(f, "pytorch_model.bin")


def _bin_and_safetensors(f):
    pickled(f / "model.safetensors", f / "part.bin")
    moved(f / "model.safetensors", f / "part.safetensors")
    write_index(f, "part.safetensors", "part.bin")


def _bin_outside(f):
    pickled(f / "model.safetensors", f.parent / "pytorch_model.bin")
    write_index(f, "../pytorch_model.bin")


def _subfolder(f):
    moved(f / "model.safetensors", f / "part" / "model.safetensors")
    write_index(f, "part/model.safetensors")


def _subfolder_from_windows(f):
    moved(f / "model.safetensors", f / "part\\model.safetensors")
    write_index(f, "part\\model.safetensors")


def _outside(f):
    moved(f / "model.safetensors", f.parent / "other" / "model.safetensors")
    write_index(f, "../other/model.safetensors")


def _outside_by_its_full_name(f):
    moved(f / "model.safetensors", f.parent / "other" / "model.safetensors")
    write_index(f, str(f.parent / "other" / "model.safetensors"))


def _by_a_detour(f):
    moved(f / "model.safetensors", f / "part.safetensors")
    write_index(f, f"../{f.name}/part.safetensors")


def _a_reference(f):
    (f / "model.safetensors").rename(f / "masf.safetensors")
    write_index(f, "masf.safetensors")


def _named_bin(f):
    pickled(f / "model.safetensors", f / "adapter_model.bin")
    change_json(f / "config.json", transformers_weights="adapter_model.bin")


def _named_subfolder(f):
    moved(f / "model.safetensors", f / "part" / "model.safetensors")
    change_json(f / "config.json", transformers_weights="part/model.safetensors")


def _named_index_in_a_subfolder(f):
    moved(f / "model.safetensors", f / "part" / "a.safetensors")
    write_index(f, "a.safetensors", at=f"part/{INDEX}")
    change_json(f / "config.json", transformers_weights=f"part/{INDEX}")


def _named_index_of_pickle(f):
    pickled(f / "model.safetensors", f / "a.bin")
    write_index(f, "a.bin", at=f"other.{INDEX.removeprefix('model.')}")
    change_json(f / "config.json", transformers_weights=f"other.{INDEX.removeprefix('model.')}")


FOREIGN = [
    _bin_beside,
    _bin_and_safetensors,
    _bin_outside,
    _subfolder,
    _subfolder_from_windows,
    _outside,
    _outside_by_its_full_name,
    _by_a_detour,
    _a_reference,
    _named_bin,
    _named_subfolder,
    _named_index_in_a_subfolder,
    _named_index_of_pickle,
]


@pytest.mark.parametrize("change", FOREIGN)
def test_weights_that_are_not_the_folders_own_safetensors_are_refused(copied, unpickled, change):
    folder = copied()
    change(folder)
    said = refused(folder)
    assert "only safetensors" in said and "save_pretrained" in said
    assert not unpickled


@pytest.mark.parametrize("named", [3, None, {}, ["a"], "", "x" * 10_000, "\ud800"])
def test_an_index_that_names_no_files_is_refused(copied, named):
    folder = copied()
    write_index(folder, named)
    refused(folder)


def test_every_way_of_loading_opens_no_pickle(copied, unpickled, tiny_root, tmp_path):
    """Pickles lie wherever a library has been known to look for them."""
    from safetensors.torch import load_file

    base, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    weights = load_file(base / "model.safetensors")
    for folder in (base, adapter):
        for name in ("pytorch_model.bin", "adapter_model.bin", "model.pt", "training_args.bin", "vocab.pkl", "a.ckpt"):
            (folder / name).write_bytes(b"\x80\x04.")
    for folder in (str(base), str(adapter)):
        assert load(folder, "cpu").labels == tiny.LABELS and check_model(folder).usable
    assert load_base(str(base), ("a", "b"), "full", 4, 0) and load("sst2-fmm", "cpu")
    # Where the safetensors are gone, nothing stands in for them.
    (adapter / "adapter_model.safetensors").unlink()
    torch.save(weights, adapter / "adapter_model.bin")
    refused(adapter)
    (adapter / "adapter_config.json").unlink()
    (base / "model.safetensors").unlink()
    torch.save(weights, base / "pytorch_model.bin")
    assert "pickle" in refused(base)
    # A base that looks like an adapter, in the way in which transformers finds these by itself.
    change_json(_settings(base), peft_type="LORA", r=2, lora_alpha=2, base_model_name_or_path=str(base))
    refused(base)
    assert not unpickled


def _settings(folder):
    path = folder / "adapter_config.json"
    path.write_text("{}", encoding="utf-8")
    return path


@pytest.mark.parametrize("kept", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_tokenizer_reads_its_own_folder_only(copied, tiny_model, tmp_path, opened, kept):
    """Its settings name other files, which would change results behind the digest's back."""
    folder, vocabulary = copied(), tiny_model("bert").tokenizer.get_vocab()
    ordered = sorted(vocabulary, key=vocabulary.get)
    other = tmp_path / "vocab.txt"
    other.write_text("\n".join([*ordered[:5], *reversed(ordered[5:])]), encoding="utf-8")
    (folder / "tokenizer.json").rename(tmp_path / "tokenizer.json")
    (folder / "vocab.txt").write_text("\n".join(ordered), encoding="utf-8")
    (folder / kept).touch()
    found = json.loads((folder / kept).read_text(encoding="utf-8") or "{}")
    paths = {"vocab_file": str(other), "tokenizer_file": str(tmp_path / "tokenizer.json"), "vocab": str(other)}
    (folder / kept).write_text(json.dumps(found | paths | {"init_inputs": [str(other)]}), encoding="utf-8")
    assert {path.parent for path in opened(lambda: load(str(folder), "cpu"), tmp_path)} == {folder}
    assert load(str(folder), "cpu").tokenizer.get_vocab() == vocabulary


def _full(folder, patch):
    def write(path, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    patch.setattr(tempfile, "tempdir", str(folder))
    patch.setattr(Path, "write_bytes", write)


def _no_folder(folder, patch):
    (folder / "file").touch()
    patch.setattr(tempfile, "tempdir", str(folder / "file"))


def _nowhere(folder, patch):
    """As Python says it where nothing can be written into any of the folders that it tries."""

    def nowhere(*_, **__):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    patch.setattr(tempfile, "tempdir", None)
    patch.setattr(tempfile, "mkdtemp", nowhere)


@pytest.mark.parametrize(
    "how, said",
    [
        (_full, os.strerror(errno.ENOSPC)),
        (_no_folder, os.strerror(errno.ENOTDIR)),
        (_nowhere, "No usable temporary directory found in ['/tmp']"),
    ],
)
def test_a_temporary_folder_that_is_full_is_not_told_as_a_broken_tokenizer(copied, tmp_path, monkeypatch, how, said):
    folder = copied()
    how(tmp_path, monkeypatch)
    told = refused(folder)
    assert said in told and "TMPDIR" in told and "'copy'" in told
    assert (str(tmp_path) in told) == (how is not _nowhere)


# ---- one list: what is read is what is digested


@pytest.fixture
def opened(monkeypatch):
    """`opened(work, within)`: the files in a folder that Python opens meanwhile."""
    seen, really = [], io.open

    def watch(file, *given, **chosen):
        seen.append(file)
        return really(file, *given, **chosen)

    for place in (builtins, io):
        monkeypatch.setattr(place, "open", watch)

    def during(work, within: Path) -> set[Path]:
        seen.clear()
        work()
        return {Path(file) for file in seen if not isinstance(file, int) and within in Path(file).parents}

    return during


def sharded(folder):
    from transformers import AutoModelForSequenceClassification

    module = AutoModelForSequenceClassification.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    module.save_pretrained(folder, max_shard_size="40KB")
    return folder


def test_whatever_is_opened_is_in_the_digest(copied, opened):
    folder = sharded(copied())
    for name in ("notes.txt", "trainer_state.json", "chat.jinja", "card.json", "README.md", "model.pt", "weights.h5"):
        (folder / name).write_text("{}", encoding="utf-8")
    files = locate(str(folder)).base_files.names
    assert {INDEX, "config.json", "tokenizer.json", "notes.txt"} <= set(files) and len(files) > 7
    assert {path.name for path in opened(lambda: load(str(folder), "cpu"), folder)} == {*files, "card.json"}
    seen = {digest(locate(str(folder)))}
    for name in files:
        data = bytearray((folder / name).read_bytes())
        data[-1] ^= 1
        (folder / name).write_bytes(data)
        seen.add(digest(locate(str(folder))))
    assert len(seen) == len(files) + 1


def test_a_digest_of_many_files_is_as_it_always_was(tmp_path):
    import hashlib

    kept = ("a.json", "B.txt", "model.safetensors", "spm.model", "é.json", ".hidden.json")
    for name in (*kept, "card.json", "masf.safetensors", "LICENSE.txt", ".json", "x.bin", "y.JSON"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.json")
    (tmp_path / "loose.txt").symlink_to(tmp_path / "gone")
    expected = hashlib.sha256()
    for name in sorted([*kept, "link.txt"]):
        content = b"a.json" if name == "link.txt" else name.encode()
        expected.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    assert digest(locate(str(tmp_path))) == expected.hexdigest()


def other_weights(folder, to):
    """The weights of a folder, changed."""
    from safetensors.torch import load_file, save_file

    save_file({k: v * 1.5 for k, v in load_file(folder / "model.safetensors").items()}, to, {"format": "pt"})
    return to


def test_weights_that_are_replaced_while_they_load_are_not_taken_for_the_others(copied, tmp_path, monkeypatch):
    from transformers import BertForSequenceClassification

    folder = copied()
    before = load(str(folder), "cpu")
    other, really = other_weights(folder, tmp_path / "other"), BertForSequenceClassification.from_pretrained

    def then_replaced(*given, **chosen):
        found = really(*given, **chosen)
        os.replace(other, folder / "model.safetensors")
        change_json(folder / "config.json", id2label={"0": "x", "1": "y", "2": "z"})
        return found

    monkeypatch.setattr(BertForSequenceClassification, "from_pretrained", then_replaced)
    model = load(str(folder), "cpu")
    assert (model.digest, model.labels) == (before.digest, before.labels)
    np.testing.assert_array_equal(logits(model), logits(before))
    monkeypatch.undo()
    after = load(str(folder), "cpu")
    assert after.digest == digest(locate(str(folder))) != before.digest
    assert after.labels == ("x", "y", "z") and not np.allclose(logits(after), logits(before))


def test_a_loaded_model_stays_as_it_is_whatever_is_written_into_its_file(copied, tmp_path):
    folder = copied()
    model = load(str(folder), "cpu")
    before = logits(model)
    content = other_weights(folder, tmp_path / "other").read_bytes()
    with (folder / "model.safetensors").open("r+b") as file:
        file.write(content)
    np.testing.assert_array_equal(logits(model), before)


def test_an_adapters_files_are_digested_as_they_were_read(tiny_root, tmp_path, monkeypatch):
    from core.loading import loading

    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    before, really = load(str(adapter), "cpu"), loading.merged

    def then_replaced(*given):
        found = really(*given)
        (adapter / "adapter_model.safetensors").write_bytes(b"")
        change_json(adapter / "adapter_config.json", lora_alpha=1)
        return found

    monkeypatch.setattr(loading, "merged", then_replaced)
    model = load(str(adapter), "cpu")
    assert model.digest == before.digest
    np.testing.assert_array_equal(logits(model), logits(before))


# ---- what is no plain file, too long or too deep


def answered(work, seconds=30):
    """What work comes to, which must be within so many seconds."""
    found = []

    def run():
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it hangs"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def _holes(path):
    with path.open("wb") as file:
        file.truncate(300_000_000_000)


ODD = {
    "pipe": os.mkfifo if hasattr(os, "mkfifo") else None,
    "folder": Path.mkdir,
    "300 GB of holes": _holes,
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "deep": lambda path: path.write_text('{"a":' * 100_000, encoding="utf-8"),
}


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer.json", "tokenizer_config.json", "adapter_config.json", "model.safetensors", INDEX],
)
def test_files_that_are_none_are_a_sentence_at_once(copied, name, what):
    if ODD[what] is None or (what == "endless device" and not Path("/dev/zero").exists()):
        pytest.skip("this system has none")
    folder = copied()
    if name == INDEX:
        (folder / "model.safetensors").unlink()
    (folder / name).unlink(missing_ok=True)
    ODD[what](folder / name)
    if name == "tokenizer_config.json" and what != "deep":
        # A tokenizer can do without.
        assert answered(lambda: load(str(folder), "cpu")).labels == tiny.LABELS
    else:
        answered(lambda: refused(folder))


@pytest.mark.parametrize("what", ODD)
def test_an_adapter_whose_files_are_none_is_a_sentence(tiny_root, tmp_path, what):
    _, adapter = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    for name in ("adapter_model.safetensors", "adapter_config.json"):
        (adapter / name).unlink()
        if ODD[what] is None:
            pytest.skip("this system has none")
        ODD[what](adapter / name)
        answered(lambda: refused(adapter))


@pytest.mark.parametrize("what", ODD)
def test_a_card_that_is_none_is_no_card(copied, what):
    if ODD[what] is None:
        pytest.skip("this system has none")
    folder = copied()
    ODD[what](folder / "card.json")
    assert answered(lambda: load(str(folder), "cpu")).card is None
