"""Files are written whole or not at all, and an output by one run at a time."""

import contextlib
import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from core.settings import ROOT
from core.storage.files import InUse, only_writer, whole_file, whole_folder, write_whole

HOLDS = """
import os, sys
from pathlib import Path
from core.storage.files import only_writer, whole_file
folder = sys.argv[2] == "folder"
with only_writer(Path(sys.argv[1]), folder) as out, whole_file(out / "card" if folder else out) as place:
    place.write_text("half")
    print("held", flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_what_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch, fails):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "kept"
    write_whole(path, b"before", replaces=True)
    monkeypatch.setattr(os, fails, full)
    for written in (lambda: write_whole(path, b"after", replaces=True), lambda: _in_parts(path)):
        with pytest.raises(OSError, match="No space left"):
            written()
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


def _in_parts(path: Path) -> None:
    with whole_file(path) as place, place.open("wb") as file:
        file.write(b"a")
        file.write(b"b")


def test_a_block_that_fails_writes_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "new" / "file") as place:
        place.write_bytes(b"half")
        raise KeyboardInterrupt
    assert not list((tmp_path / "new").iterdir())
    _in_parts(tmp_path / "new" / "file")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["file"]
    assert (tmp_path / "new" / "file").read_bytes() == b"ab"


def test_a_full_disk_is_the_systems_own_error_also_where_a_library_says_it_in_words(tmp_path):
    with pytest.raises(OSError) as told, whole_file(tmp_path / "weights"):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
    assert told.value.errno == errno.ENOSPC and told.value.filename == str(tmp_path / "weights")


def test_what_a_library_cannot_write_is_the_systems_own_error(tmp_path):
    with pytest.raises(NotADirectoryError) as told, whole_file(tmp_path / "weights") as place:
        place.write_bytes(b"no folder")
        save_file({"a": np.zeros(2)}, place / "x")
    assert told.value.filename == str(tmp_path / "weights") and not list(tmp_path.iterdir())
    with pytest.raises(SafetensorError), whole_file(tmp_path / "weights"):
        raise SafetensorError("Error while serializing: a tensor is not contiguous")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_output_is_written_by_one_run_and_free_once_that_is_killed(tmp_path, kind):
    out, elsewhere = tmp_path / "out", tmp_path / "link"
    elsewhere.symlink_to(out)
    code, folder = [sys.executable, "-c", HOLDS, str(out), kind], kind == "folder"
    with subprocess.Popen(code, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        for place in (out, elsewhere):
            with pytest.raises(InUse, match=r"Another run is writing \S*out"), only_writer(place, folder):
                pass
        other.stdin.close()
        assert other.wait() == -9
    # What it left half-written goes; what another run writes beside it stays, and so does another program's file.
    assert len(list((out if folder else tmp_path).glob(".*.tmp"))) == 1
    with contextlib.suppress(KeyboardInterrupt), whole_file((out if folder else tmp_path) / "beside") as beside:
        with only_writer(elsewhere, folder):
            assert list((out if folder else tmp_path).glob(".*.tmp")) == [beside]
        raise KeyboardInterrupt
    with only_writer(elsewhere, folder) as held:
        assert held == out
        with pytest.raises(InUse), only_writer(out, folder):
            pass
    assert set(tmp_path.iterdir()) == ({out, elsewhere} if folder else {elsewhere})
    assert not folder or not list(out.iterdir())


def test_what_is_cleared_away_at_the_moment_it_is_made_is_made_again(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    really, away = fcntl.flock, []

    def flock(file, how):
        if not away:
            away.append(file.name)
            os.unlink(file.name)
        really(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with whole_file(tmp_path / "file") as place:
        place.write_text("whole")
    assert away and (tmp_path / "file").read_text() == "whole" and len(list(tmp_path.iterdir())) == 1


def test_an_output_of_another_kind_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for out, folder, said in (
        (tmp_path / "pipe", False, "no file; name the file"),
        (tmp_path, False, "a folder; name the file"),
        (tmp_path / "pipe", True, "no folder; name the folder"),
    ):
        with pytest.raises(ValueError, match=said), only_writer(out, folder):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_folder_that_is_written_anew_never_has_old_weights_beside_what_is_new(tmp_path, monkeypatch):
    """Stopped before each change on the disk: everything is old, or there are no weights, or everything is new."""
    names = ("config.json", "model.safetensors", "vocabulary.txt")
    seen = set()
    for at in range(12):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        for name in (*names, "notes.md"):
            (folder / name).write_text("old")
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            stop_before(patch, at)
            with whole_folder(folder) as made:
                for name in names:
                    (made / name).write_text("new")
        found = {name: (folder / name).read_text() for name in names if (folder / name).exists()}
        weights = found.get("model.safetensors")
        assert weights is None or (set(found.values()) == {weights} and len(found) == 3)
        assert (folder / "notes.md").read_text() == "old" and not (folder / ".written").exists()
        seen.add(weights)
    assert seen == {"old", None, "new"}


def stop_before(patch, at: int) -> None:
    """Stop before the `at`-th change on the disk that matters: what is deleted or put in place."""
    left = [at]

    def counted(change):
        def change_or_stop(*given, **more):
            if left[0] == 0:
                left[0] -= 1
                raise KeyboardInterrupt
            left[0] -= 1
            return change(*given, **more)

        return change_or_stop

    for name in ("fsync", "replace", "unlink"):
        patch.setattr(os, name, counted(getattr(os, name)))
