"""Processes to be killed: each is forked from one that has imported everything, since imports take longer than what is
attacked.
"""

import ctypes
import importlib
import json
import os
import random
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# What Python says of every change to the disk before it happens; opening for reading is none.
_CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
_DIES_WITH_PARENT = 1
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Ended:
    """How a process ended. status: None where it was killed; seconds: without those in which it waited for a processor
    that others used; changes: how often it changed the disk, where it came to its end; megabytes: the most that it held
    at once.
    """

    status: int | None
    seconds: float
    screen: str
    changes: int
    megabytes: float


class Victim:
    """A function at work in a process of its own, with a folder for what it says.

    Args:
        dies: before which change of the disk it kills itself, counted from 1; 0: it does not. It changes nothing but
            what lies under `at`.
        torn: where it dies at the end of a file, it leaves a part of it only, as if killed while it wrote.
        most: bytes of address space that it may take beyond what it begins with.
    """

    def __init__(
        self, work: Callable[[], int | None], at: Path, *, dies: int = 0, torn: float | None = None, most: int = 0
    ):
        self.screen = at / f"screen-{time.monotonic_ns()}.txt"
        self.began, self.waited = time.monotonic(), 0.0
        self.ends, held = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if not self.pid:
            os.close(self.ends)
            _be(work, at, self.screen, dies, torn, most)
        os.close(held)

    def __enter__(self) -> "Victim":
        return self

    def __exit__(self, *_) -> None:
        if self.pid:
            self.kill()
            self.wait(60)

    def alive(self, seconds: float) -> bool:
        """Whether it is still at work after so many seconds."""
        return not select.select([self.ends], [], [], seconds)[0]

    def kill(self, how: int = signal.SIGKILL) -> None:
        """End it now."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, how)

    @property
    def seconds(self) -> float:
        """How long it is at work, without the time in which its first thread waited for a processor."""
        with suppress(OSError, IndexError):
            self.waited = int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[1]) / 1e9
        return time.monotonic() - self.began - self.waited

    def wait(self, limit: float) -> Ended:
        """Wait until it has ended; one that is at work after so many seconds is killed."""
        while self.alive(min(1.0, limit)):
            if self.seconds > limit:
                self.kill()
                break
        # Until it is waited for, the system still says what it took.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        seconds = self.seconds
        _, status, used = os.wait4(self.pid, 0)
        self.pid = 0
        os.close(self.ends)
        said = self.screen.read_text(encoding="utf-8", errors="replace") if self.screen.exists() else ""
        self.screen.unlink(missing_ok=True)
        ended = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        before, told, changes = said.rpartition("\nchanges: ")
        said, changes = (before, changes) if told else (said, "0")
        return Ended(ended, seconds, said, int(changes), used.ru_maxrss / 1024)


def _be(work: Callable[[], int | None], at: Path, screen: Path, dies: int, torn: float | None, most: int) -> None:
    """Be the victim; never returns."""
    status = 70
    try:
        # Whoever ends the attack ends its victims.
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        file = os.open(screen, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(file, 1)
        os.dup2(file, 2)
        if most:
            limit = most + resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        changes = _count_changes(at, dies, torn)
        status = work() or 0
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(1, b"\nchanges: %d" % changes[0])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(status)


def _count_changes(at: Path, dies: int, torn: float | None) -> list[int]:
    """Count what this process changes on the disk under a folder, and die before the nth."""
    changes, synced = [0], os.fsync

    def change() -> None:
        changes[0] += 1
        if changes[0] == dies:
            os.kill(os.getpid(), signal.SIGKILL)

    def seen(event: str, args: tuple) -> None:
        if event in _CHANGES or (event == "open" and isinstance(args[2], int) and args[2] & _WRITING):
            path = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes, os.PathLike)) else ""
            # A relative one is of a folder that is being removed.
            if path and (not os.path.isabs(path) or path.startswith(str(at))):
                change()

    def sync(file) -> None:
        number = file if isinstance(file, int) else file.fileno()
        if torn is not None and changes[0] + 1 == dies:
            os.ftruncate(number, int(torn * os.fstat(number).st_size))
        change()
        synced(number)

    sys.addaudithook(seen)
    os.fsync = sync
    return changes


def killed_at_random(work: Callable[[], int | None], at: Path, whole: Ended, rng: random.Random, limit: float) -> Ended:
    """Start a victim and kill it: at a random moment of what it takes undisturbed (whole), or before a random change;
    after so many seconds in any case.
    """
    if rng.random() < 0.5:
        with Victim(work, at) as victim:
            victim.alive(rng.uniform(0, whole.seconds))
            victim.kill()
            return victim.wait(60)
    dies = rng.randint(1, max(1, whole.changes))
    with Victim(work, at, dies=dies, torn=rng.choice((None, rng.random()))) as victim:
        return victim.wait(limit)


def undisturbed(work: Callable[[], int | None], at: Path) -> Ended:
    """Let a function run to its end in a process of its own, and import here what it imported there, so that those who
    come after it do not have to.
    """
    names = at / "imported.txt"

    def and_tell() -> int:
        status = work()
        names.write_text("\n".join(sys.modules))
        return status or 0

    with Victim(and_tell, at) as victim:
        ended = victim.wait(120)
    if ended.status:
        raise RuntimeError(f"undisturbed it ended with {ended.status}: {ended.screen}")
    for name in names.read_text().splitlines():
        if name not in sys.modules:
            with suppress(ImportError, AttributeError):
                importlib.import_module(name)
    names.unlink()
    return ended


def in_another(work: Callable[[], object], at: Path, limit: float) -> tuple[object, Ended]:
    """What a function returns (as JSON holds it) in a process of its own; None where it came to no end."""
    told = at / f"told-{time.monotonic_ns()}.json"

    def and_tell() -> None:
        told.write_text(json.dumps(work()))

    with Victim(and_tell, at) as victim:
        ended = victim.wait(limit)
    found = json.loads(told.read_text()) if told.exists() and ended.status == 0 else None
    told.unlink(missing_ok=True)
    return found, ended
