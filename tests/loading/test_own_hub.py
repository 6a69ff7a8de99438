"""Models of a hub on this machine, read by the real `huggingface_hub`: what it gives, refuses and breaks."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from core.commands.command_line import main
from core.loading.inspection import check_model as check
from core.loading.loading import load
from core.loading.locating import locate
from core.network.architectures import UnsupportedModel
from core.storage import hub
from tests import tiny
from tests.model_folders import change_json, write_adapter
from tests.own_hub import environment, serving

NAME = "someone/some-model"
TEXT = "The captain reads the wind"


@pytest.fixture
def own(monkeypatch, tmp_path):
    with serving(monkeypatch, tmp_path / "hub-cache") as server:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "store"))
        yield server


@pytest.fixture
def folder(tiny_root, tmp_path):
    return shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "model")


@pytest.fixture
def said(capsys):
    """`said(name)`: the sentence by which page, loading and command refuse; the same, and the command ends with 1."""

    def refuse(name):
        hub._silent_since = -float("inf")
        found = check(name)
        assert not found.usable
        hub._silent_since = -float("inf")
        with pytest.raises(UnsupportedModel) as caught:
            load(name, "cpu")
        hub._silent_since = -float("inf")
        capsys.readouterr()
        assert main(["explain", "--model", name, "--text", TEXT, "--device", "cpu"]) == 1
        printed = capsys.readouterr().err.strip().splitlines()[-1].partition(": ")[2]
        sentences = {re.sub(r" \(.*\)", "", one) for one in (found.note, str(caught.value), printed)}
        assert len(sentences) == 1, sentences
        sentence = sentences.pop()
        assert sentence.endswith(".") and "\n" not in sentence and len(sentence) < 400 and "Traceback" not in sentence
        return str(caught.value)

    return refuse


def refused(name):
    """The sentence by which loading refuses what only the weights show, which a check does not fetch."""
    assert check(name).usable
    with pytest.raises(UnsupportedModel) as caught:
        load(name, "cpu")
    return str(caught.value)


def weights(server):
    return [name for name, _ in server.fetched if name.endswith(".safetensors")]


def shards(folder, parts=3):
    """Lay a model's weights out as large ones are saved."""
    from safetensors.torch import load_file, save_file

    tensors, place = load_file(folder / "model.safetensors"), {}
    for i in range(parts):
        name = f"model-{i + 1:05}-of-{parts:05}.safetensors"
        own = {key: tensors[key] for key in sorted(tensors)[i::parts]}
        save_file(own, folder / name, metadata={"format": "pt"})
        place |= dict.fromkeys(own, name)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": place}), encoding="utf-8")


def logits(model):
    encoded = model.encode(TEXT)
    types = None if encoded.type_ids is None else encoded.type_ids[None]
    return model.run(encoded.ids[None], np.array([encoded.T]), types)[0][0]


# ---- what it gives


@pytest.mark.parametrize("sharded", [False, True])
def test_a_whole_model_is_that_of_the_folder(own, folder, sharded):
    if sharded:
        shards(folder)
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    commit = own.add(NAME, folder)
    found = check(NAME)
    assert found.usable
    assert not [path for path in locate(NAME, weights=False).base.iterdir() if path.suffix == ".safetensors"]
    model, here = load(NAME, "cpu"), load(str(folder), "cpu")
    assert model.digest == here.digest and model.folder.name == commit
    np.testing.assert_array_equal(logits(model), logits(here))
    assert "pytorch_model.bin" not in {name for name, _ in own.fetched}
    assert check(NAME).labels == found.labels == tiny.LABELS


def test_an_adapter_and_its_base_of_the_hub(own, tiny_root, tmp_path):
    base, folder = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    here = load(str(folder), "cpu")
    change_json(folder / "adapter_config.json", base_model_name_or_path="someone/base")
    own.add("someone/adapter", folder)
    own.add("someone/base", base)
    assert check("someone/adapter").usable
    np.testing.assert_array_equal(logits(load("someone/adapter", "cpu")), logits(here))


def test_a_renamed_model_is_found_by_its_old_name(own, folder):
    own.add("someone/new-name", folder)
    own.moved[NAME] = "someone/new-name"
    assert check(NAME).usable
    assert load(NAME, "cpu").digest == load(str(folder), "cpu").digest


@pytest.mark.parametrize("after", range(6))
def test_whenever_a_revision_moves_one_commit_is_loaded(own, folder, tiny_root, tmp_path, after):
    newer = shutil.copytree(tiny.folder("roberta", tiny_root), tmp_path / "newer")
    own.add(NAME, folder)
    left = [after]

    def move():
        if left[0] == 0:
            own.add(NAME, newer)
        else:
            left[0] -= 1
            own.after[NAME] = move

    own.after[NAME] = move
    model = load(NAME, "cpu")
    own.after.clear()
    moved = len(own.commits[NAME]) > 1
    assert moved or after > 3, "it is asked so often at least"
    # The small files are asked for first, so that what has moved by then counts.
    expected = {load(str(one), "cpu").digest: one for one in (folder, newer)}
    assert model.digest in expected
    np.testing.assert_array_equal(logits(model), logits(load(str(expected[model.digest]), "cpu")))
    if moved:
        assert load(NAME, "cpu").digest == load(str(newer), "cpu").digest


def test_the_environment_says_which_hub(own, folder, tmp_path):
    own.add(NAME, folder)
    asked = [sys.executable, "-m", "core", "explain", "--model", NAME, "--text", TEXT, "--measures", "gradient"]
    done = subprocess.run(
        [*asked, "--device", "cpu"],
        cwd=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
        env=environment(own, tmp_path / "other-cache"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert weights(own) == ["model.safetensors"]


# ---- what it refuses


def test_a_model_that_there_is_not(own, said):
    assert "not found" in said("someone/nothing")


def test_a_gated_model_is_said_to_be_gated(own, folder, said):
    own.add(NAME, folder)
    own.gated.add(NAME)
    sentence = said(NAME)
    assert "gated" in sentence and "hf auth login" in sentence and "not found" not in sentence
    own.gated.clear()
    assert load(NAME, "cpu").labels == tiny.LABELS


def test_an_adapter_whose_base_is_gated(own, tiny_root, tmp_path, said):
    base, folder = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    change_json(folder / "adapter_config.json", base_model_name_or_path="someone/base")
    own.add("someone/adapter", folder)
    own.add("someone/base", base)
    own.gated.add("someone/base")
    sentence = said("someone/adapter")
    assert "someone/base" in sentence and "gated" in sentence


def test_pickle_is_refused_and_never_fetched(own, folder, said):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    own.add(NAME, folder)
    assert "safetensors" in said(NAME)
    assert not [name for name, _ in own.fetched if name.endswith(".bin")]


def test_a_shard_that_the_hub_lacks(own, folder, said):
    shards(folder)
    (folder / "model-00002-of-00003.safetensors").unlink()
    own.add(NAME, folder)
    assert "safetensors" in said(NAME)


def test_an_adapter_without_weights(own, tiny_root, tmp_path, said):
    base, folder = write_adapter(tiny_root, tmp_path, "bert", target_modules=["query"])
    (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin")
    change_json(folder / "adapter_config.json", base_model_name_or_path="someone/base")
    own.add("someone/adapter", folder)
    own.add("someone/base", base)
    assert "adapter_model.safetensors" in said("someone/adapter")


# ---- what breaks on the way


def test_a_full_disk_is_not_taken_for_a_silent_hub(own, folder, said, monkeypatch):
    from huggingface_hub import file_download

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    own.add(NAME, folder)
    with monkeypatch.context() as patched:
        patched.setattr(file_download, "http_get", full)
        assert "disk is full" in said(NAME)
    assert load(NAME, "cpu").labels == tiny.LABELS


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_connection_that_breaks_once_goes_on_where_it_stopped(own, folder, name):
    own.add(NAME, folder)
    own.breaks[name] = 1
    assert load(NAME, "cpu").digest == load(str(folder), "cpu").digest


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_connection_that_always_breaks_is_a_sentence_and_leaves_no_half_file(own, folder, said, name):
    own.add(NAME, folder)
    own.breaks[name] = 10**6
    sentence = refused(NAME) if name == "model.safetensors" else said(NAME)
    assert sentence.endswith(".") and "\n" not in sentence
    own.breaks.clear()
    assert load(NAME, "cpu").digest == load(str(folder), "cpu").digest


def test_a_network_that_asks_to_sign_in_answers_every_question_with_a_page(own, folder, said):
    own.add(NAME, folder)
    own.portal = True
    assert "reached" in said(NAME)
    own.portal, hub._silent_since = False, -float("inf")
    assert load(NAME, "cpu").labels == tiny.LABELS


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_that_is_a_page_is_a_sentence_and_is_not_kept(own, folder, said, name):
    own.add(NAME, folder)
    own.pages.add(name)
    sentence = refused(NAME) if name == "model.safetensors" else said(NAME)
    assert sentence.endswith(".") and "\n" not in sentence
    own.pages.clear()
    assert load(NAME, "cpu").digest == load(str(folder), "cpu").digest
