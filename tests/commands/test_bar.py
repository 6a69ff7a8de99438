"""Progress bars after an interrupt: nothing that it left locked keeps a later bar waiting."""

import subprocess
import sys
import threading
import time

import pytest

from core.commands import terminal
from core.commands.terminal import Bar
from tests.test_floors import ROOT

# Interrupted while tqdm makes its locks, one of them stays locked; its watching thread then takes the other.
INTERRUPTED = """
import sys, time
from tqdm import std
std.tqdm.monitor_interval = 0.05
makes, first = std.TqdmDefaultWriteLock.create_mp_lock.__func__, [True]
def interrupted(cls):
    if first and first.pop():
        raise KeyboardInterrupt
    makes(cls)
std.TqdmDefaultWriteLock.create_mp_lock = classmethod(interrupted)
from core.commands.terminal import Bar
for turn in range(2):
    try:
        with Bar() as bar:
            for i in range(100):
                bar(f"part {i // 20}, more", i % 20, 20)
                time.sleep(0.01)
    except KeyboardInterrupt:
        print("interrupted")
print("done")
"""


def test_a_bar_goes_on_after_an_interrupt_while_locks_were_made():
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert run.stdout.splitlines()[-1] == "done" and "part 4, more" in run.stderr


def test_a_bar_waits_for_no_lock_that_another_thread_left_locked(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "_PATIENCE", 0.01)
    locked = terminal._line().get_lock()
    thread = threading.Thread(target=locked.acquire)
    thread.start()
    thread.join()
    try:
        began = time.monotonic()
        with Bar() as bar:
            for i in range(5):
                bar("part", i, 4)
        assert time.monotonic() - began < 30
        assert "part" in capsys.readouterr().err
    finally:
        # For the bars of other tests.
        terminal._line().set_lock(type(locked)())


@pytest.mark.parametrize("turns", [1, 3])
def test_bars_of_several_threads_are_drawn_beside_each_other(turns, capsys):
    problems = []

    def draw(name: str) -> None:
        try:
            with Bar() as bar:
                for i in range(200):
                    bar(f"{name} {i % 7}", i % 50, 50)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=draw, args=(f"part {k}",)) for k in range(4 * turns)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert not problems and not any(one.is_alive() for one in threads)
