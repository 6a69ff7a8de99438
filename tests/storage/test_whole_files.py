"""Files are written whole or not at all, and an output by one run at a time."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from safetensors import SafetensorError

from core.settings import ROOT
from core.storage.files import InUse, only_writer, whole_file, write_whole

HOLDS = """
import os, sys
from pathlib import Path
from core.storage.files import only_writer
with only_writer(Path(sys.argv[1])):
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
    with pytest.raises(SafetensorError), whole_file(tmp_path / "weights"):
        raise SafetensorError("Error while serializing: a tensor is not contiguous")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_output_is_written_by_one_run_and_free_once_that_is_killed(tmp_path, kind):
    out, elsewhere = tmp_path / "out", tmp_path / "link"
    if kind == "folder":
        out.mkdir()
    elsewhere.symlink_to(out)
    code = [sys.executable, "-c", HOLDS, str(out)]
    with subprocess.Popen(code, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        for place in (out, elsewhere):
            with pytest.raises(InUse, match=r"Another run is writing \S*out"), only_writer(place):
                pass
        other.stdin.close()
        assert other.wait() == -9
    with only_writer(elsewhere) as held:
        assert held == out
        with pytest.raises(InUse), only_writer(out):
            pass
    assert set(tmp_path.iterdir()) == ({out, elsewhere} if kind == "folder" else {elsewhere})
    assert kind == "file" or not list(out.iterdir())


def test_an_output_that_nothing_can_replace_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="neither a file nor a folder"), only_writer(tmp_path / "pipe"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
