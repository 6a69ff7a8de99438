"""What commands write: a full disk is a sentence and takes nothing away, two runs do not write one output, and a text
that a model cannot read is one row.
"""

import contextlib
import copy
import errno
import json
import os
import runpy
import subprocess
import sys
import types
from dataclasses import replace

import pytest
from pyarrow import parquet
from safetensors import SafetensorError

from core.commands import command_line
from core.commands.command_line import FREE_SPACE, main
from core.loading import loading
from core.storage.files import only_writer, whole_file
from core.tools import stories
from tests import tiny

FOLDERS = "train", "encoder"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = ({"id": f"t{i}", "text": text, "label": tiny.LABELS[i % 3]} for i, text in enumerate(tiny.SENTENCES[:20]))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def full(tmp_path, monkeypatch):
    """A folder on a disk without room; where none can be made, one in which nothing can be brought onto the disk."""
    folder = tmp_path / "full"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.name == "posix" and not subprocess.run(mount, capture_output=True, check=False).returncode:
        (folder / "other").write_bytes(b"0" * 60_000)
        yield folder
        subprocess.run(["umount", str(folder)], check=True)
        return
    really = os.fsync

    def sync(file):
        if str(folder) in os.readlink(f"/proc/self/fd/{file}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        really(file)

    monkeypatch.setattr(os, "fsync", sync)
    yield folder


def command(name, data, out, root) -> list[str]:
    few = ["--measures", "gradient", "--device", "cpu"]
    return (
        [name]
        + {
            "limits": ["--model", "tiny", "--data", f"{data}", *few, "--exact-up-to", "1", "--width", "1"],
            "evaluate": ["--model", "tiny", "--data", f"{data}", *few, "--metrics", "NS", "--count", "1"],
            "check": ["--model", "tiny", "--data", f"{data}", "--device", "cpu", "--sample", "4"],
            "reference": ["--model", "tiny", "--data", f"{data}", "--device", "cpu"],
            "stories": ["--task", "1", "--count", "100"],
            "encoder": ["--steps", "1", "--stop", "1"],
            "roar": f"--base bilstm --train {data} --validation {data} --test {data} --epochs 1 --ratios 0.5".split()
            + few,
            "train": f"--base {tiny.base('bert', root)} --train {data} --validation {data} --epochs 1 --device cpu".split(),
        }[name]
        + ["--out", str(out)]
    )


COMMANDS = "limits", "evaluate", "check", "reference", "stories", "encoder", "train", "roar"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_a_sentence(name, model, data, full, tiny_root, capsys):
    """What lay at the place of the output is there still, and nothing half-written."""
    out = full / "out"
    if name in FOLDERS:
        out.mkdir()
        out = out / "model.safetensors"
    out.write_bytes(b"before")
    there = sorted(full.rglob("*"))
    assert main(command(name, data, full / "out", tiny_root)) == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("OSError") and str(full) in told and told.endswith(FREE_SPACE)
    assert out.read_bytes() == b"before"
    left = {path.relative_to(full).parts[-1] for path in full.rglob("*") if path not in there}
    # What is done, or what decides it, as far as there was room.
    assert left <= {".progress", "out-models", "study.json"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_second_run_on_an_output_says_so(name, model, data, tmp_path, tiny_root, capsys):
    out = tmp_path / "out"
    with only_writer(out, name in FOLDERS):
        assert main(command(name, data, out, tiny_root)) == 1
    assert f"writing {out}. Wait" in capsys.readouterr().err
    assert not out.exists() or not list(out.iterdir())


def test_what_there_is_to_know_of_a_model_and_what_the_store_cannot_keep_is_said(
    model, data, full, tmp_path, tiny_root, monkeypatch, capsys
):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(full / "cache"))
    noted = replace(model, notes=("It has no mask token.", "Its card is of others."))
    monkeypatch.setattr(loading, "load", lambda *_: noted)
    for name in ("limits", "evaluate", "check"):
        assert main(command(name, data, tmp_path / name, tiny_root)) == 0
        said = capsys.readouterr().err
        assert "not kept" in said and (tmp_path / name).is_file()
        assert all(said.count(f"{model.name}: {note}\n") == 1 for note in noted.notes)


@pytest.mark.parametrize("moment", ["reading itself", "beginning", "working"])
def test_an_interrupt_says_what_stays_at_any_moment(monkeypatch, tmp_path, capsys, moment):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["core", "stories", "--task", "1", "--out", str(tmp_path / "out")])
    if moment == "reading itself":
        monkeypatch.setitem(sys.modules, "core.commands.command_line", types.ModuleType("core.commands.command_line"))
        sys.modules["core.commands.command_line"].__getattr__ = stop
    elif moment == "beginning":
        monkeypatch.setattr(command_line, "command", stop)
    else:
        monkeypatch.setattr(stories, "run", stop)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("core", run_name="__main__")
    told = capsys.readouterr().err.removeprefix("This is now python -m core.tools stories\n")
    assert ended.value.code == 130 and told.startswith("\nStopped") and told.endswith("command starts over.\n")


def test_whatever_a_library_says_of_weights_is_a_sentence(monkeypatch, tmp_path, capsys):
    said = "Error while deserializing header: header too large"

    def run(_):
        raise SafetensorError(said)

    monkeypatch.setattr(stories, "run", run)
    assert main(["stories", "--task", "1", "--out", str(tmp_path / "out")], "core.tools") == 1
    assert capsys.readouterr().err == f"SafetensorError: {said}\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no disk that is always full")
def test_what_is_printed_onto_a_full_disk_is_a_sentence(model, data, tmp_path, tiny_root, monkeypatch, capsys):
    with open("/dev/full", "w") as nowhere:
        monkeypatch.setattr("sys.stdout", nowhere)
        assert main(command("stories", data, tmp_path / "out", tiny_root)) == 1
        assert capsys.readouterr().err.rstrip().endswith(FREE_SPACE)
        # What could not be printed is not tried again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), nowhere.fileno())


def test_a_text_that_the_model_cannot_read_is_one_row_with_its_problem(
    model, data, tmp_path, tiny_root, monkeypatch, capsys
):
    """A tokenizer that knows a word which the model has no embedding for."""
    tokenizer = copy.deepcopy(model.tokenizer)
    assert tokenizer.add_tokens(["zzyzx"]) == 1 and len(tokenizer) > model.word_embeddings.shape[0]
    other = replace(model, tokenizer=tokenizer)
    monkeypatch.setattr(loading, "load", lambda *_: other)
    rows = [json.loads(line) for line in data.read_text().splitlines()[:4]]
    rows[1]["text"] = "The zzyzx leaves the harbour."
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = "cannot read 'zzyzx'"
    for name in ("limits", "evaluate", "check"):
        assert main(command(name, data, tmp_path / name, tiny_root)) == 0, capsys.readouterr().err
        told = capsys.readouterr().out
    found = parquet.read_table(tmp_path / "limits").to_pylist()
    assert [row["problem"] is None for row in found] == [True, False, True, True] and said in found[1]["problem"]
    of = {row["example"]: row["problem"] for row in parquet.read_table(tmp_path / "evaluate").to_pylist()}
    assert [of[f"t{i}"] is None for i in range(4)] == [True, False, True, True] and said in of["t1"]
    assert "1 example" in told and said in told and said in (tmp_path / "check").read_text()


@pytest.fixture
def short_files():
    """Lets a block write files of so many bytes at most, as a file-size limit does."""
    resource = pytest.importorskip("resource")

    @contextlib.contextmanager
    def limited(most: int):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.mark.parametrize("name", ["evaluate", "reference", "stories", "train", "limits"])
def test_a_limit_of_files_is_a_sentence_and_the_same_command_goes_on_afterwards(
    name, model, data, tmp_path, tiny_root, short_files, capsys
):
    out, asked = tmp_path / "out", command(name, data, tmp_path / "out", tiny_root)
    before = out / "model.safetensors" if name in FOLDERS else out
    before.parent.mkdir(exist_ok=True)
    before.write_bytes(b"before")
    with short_files(1_000):
        assert main(asked) == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert "Free some space" in told and "Errno" not in told
    assert before.read_bytes() == b"before"
    assert main(asked) == 0
    assert before.read_bytes() != b"before"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG], ids=errno.errorcode.get)
def test_no_room_of_any_kind_is_one_sentence(number, monkeypatch, tmp_path, capsys):
    errors = [OSError(number, os.strerror(number), "a"), SafetensorError(f"I/O error: no (os error {number})")]
    for error in (*errors, Exception(f"no (os error {number})")):

        def run(_, error=error):
            with whole_file(tmp_path / "out"):
                raise error

        monkeypatch.setattr(stories, "run", run)
        assert main(["stories", "--task", "1", "--out", "out"], "core.tools") == 1
        told = capsys.readouterr().err
        assert told.endswith(f"{FREE_SPACE}\n") and "Errno" not in told and str(tmp_path / "out") in told
    assert list(tmp_path.iterdir()) == []
