"""Half-written files: those of killed writers go, those of living ones stay, whoever looks at them meanwhile."""

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from core.storage.files import clear_abandoned, write_whole
from core.storage.library import Library
from core.storage.store import Store, canonical_key

ROOT = Path(__file__).resolve().parents[2]
needs_locks = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")

# Threads that all are in the middle of a file; killed, each leaves one.
WRITERS = """
import os, sys, threading, time
from pathlib import Path
from core.storage.files import write_whole
def stop(_):
    os.write(1, b"there\\n")
    time.sleep(600)
os.fsync = stop
for i in range(int(sys.argv[2])):
    threading.Thread(target=write_whole, args=(Path(sys.argv[1], f"{i:02}", "x"), b"x" * 100_000)).start()
"""


def writers(folder: Path, count: int) -> subprocess.Popen:
    """A process in the middle of so many files."""
    command = [sys.executable, "-c", WRITERS, str(folder), str(count)]
    found = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert [found.stdout.readline() for _ in range(count)] == ["there\n"] * count
    return found


def left(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.tmp"))


@needs_locks
def test_what_killed_writers_left_is_cleared_at_once_and_what_living_ones_write_is_not(tmp_path):
    killed, living = writers(tmp_path / "v1", 30), writers(tmp_path / "v1", 3)
    try:
        assert len(left(tmp_path)) == 33 and not clear_abandoned(tmp_path)
        killed.kill()
        killed.wait(30)
        assert len(left(tmp_path)) == 33
        # By the first result that another process keeps.
        Store(tmp_path).put(canonical_key("test", 1), {"x": np.zeros(3)}, {})
        assert len(left(tmp_path)) == 3 and all(f".{living.pid}-" in path.name for path in left(tmp_path))
    finally:
        living.kill()
        living.wait(30)
    assert clear_abandoned(tmp_path) and left(tmp_path) == [] and not clear_abandoned(tmp_path)


@needs_locks
def test_a_disk_that_is_full_of_what_killed_writers_left_has_room_again(tmp_path, monkeypatch):
    killed = writers(tmp_path / "v1", 2)
    killed.kill()
    killed.wait(30)
    synced = os.fsync

    def full(number):
        if len(left(tmp_path)) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(number)

    monkeypatch.setattr(os, "fsync", full)
    store = Store(tmp_path)
    store.put(canonical_key("test", 1), {"x": np.zeros(3)}, {})
    assert store.last_problem is None and left(tmp_path) == [] and store.get(canonical_key("test", 1)) is not None


def test_what_a_library_has_left_is_cleared_by_its_next_addition(tmp_path):
    folder = tmp_path / "library" / "files"
    folder.mkdir(parents=True)
    (folder / f".{os.getpid()}-{'0' * 16}.tmp").write_bytes(b"half")
    Library(tmp_path).add_model("x")
    assert left(tmp_path) == []


def test_whoever_looks_meanwhile_takes_no_file_away(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda number: None)
    ended, cleared = threading.Event(), []

    def look():
        while not ended.is_set():
            cleared.append(clear_abandoned(tmp_path))

    looking = [threading.Thread(target=look) for _ in range(2)]
    for one in looking:
        one.start()
    try:
        for i in range(300):
            write_whole(tmp_path / f"{i % 7}" / f"{i}", b"%d" % i)
    finally:
        ended.set()
        for one in looking:
            one.join()
    assert [(tmp_path / f"{i % 7}" / f"{i}").read_bytes() for i in range(300)] == [b"%d" % i for i in range(300)]
    assert len(cleared) > 3 and left(tmp_path) == []


def test_other_files_stay_and_those_of_unknown_writers_go_after_an_hour(tmp_path):
    mine, old = tmp_path / "notes.tmp", tmp_path / ".old.tmp"
    mine.write_text("x")
    old.write_text("x")
    os.utime(old, (1_000_000, 1_000_000))
    (tmp_path / f".1-{'a' * 16}.tmp").mkdir()
    assert (
        clear_abandoned(tmp_path) and mine.exists() and not old.exists() and (tmp_path / f".1-{'a' * 16}.tmp").exists()
    )
