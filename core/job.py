"""One piece of work that outlives a rerun of the page: where it stands, and what is known of it."""

import threading
import time
from collections.abc import Callable
from typing import Any

from core.mathematics.pace import Pace

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


class Job:
    """One piece of work and where it stands; read from any thread.

    state: "running" from its first turn on, also while others have theirs; partial: what the work
    yielded last; result: what it returned; problem: why it failed, a sentence. wanted: somebody asked for it, so that
    it goes on while nobody looks; batch: it is about many examples, and those that are about one go first; place:
    where it was asked for, in words; askers: who asked for it; seen: who has it, or had it, on a page; batches: that
    were begun since `done` grew; turns: begun of work that yields, 0 of other work, None before it begins; far: how far
    it is of `total`, also between pieces.
    """

    def __init__(self, key: str, label: str, wanted: bool = True, batch: bool = False):
        self.key, self.label, self.wanted, self.batch = key, label, wanted, batch
        self.place, self.askers, self.seen = "", set[str](), set[str]()
        self.state = WAITING
        self.done = self.total = self.batches = 0
        self.far, self._weighed = 0.0, False
        self.turns: int | None = None
        self.partial: Any = None
        self.result: Any = None
        self.problem = ""
        self.started: float | None = None
        # Since when nobody looks at it, where nobody asked for it.
        self.left: float | None = None
        # Seconds of the turns that are over and the beginning of the one under way, in one piece for readers.
        self._clock: tuple[float, float | None] = (0.0, None)
        self._pace = Pace()
        self._stop = threading.Event()
        # Of the `Jobs` that it was submitted to.
        self._look_again: Callable[[], None] = lambda: None
        self._give_way: Callable[[Job], None] = lambda job: None
        # What it does, until it begins or is told to stop; kind and tokens: as of `Jobs.expects`.
        self._work: Callable[[Job], object] | None = None
        self._kind, self._tokens = "", 0.0
        self._thread: threading.Thread | None = None

    def report(self, done: int, total: int) -> None:
        """Tell how far the work is; the first report says where it begins (what was there already is no pace)."""
        self.batches = 0 if done > self.done else self.batches
        self.done, self.total = done, total
        if not self._weighed:
            self._advance(done)

    def within(self, far: float) -> None:
        """Tell how far the work is where pieces differ in length: of `total`; from then on its pace goes by this."""
        self._weighed = True
        self._advance(far)

    def _advance(self, far: float) -> None:
        self._pace.report(far, self.seconds)
        self.far = far

    def cancel(self) -> None:
        """Ask the work to stop at its next batch; one that has not begun never does."""
        self._stop.set()
        self._look_again()

    def cancelled(self) -> bool:
        """Whether stopping was asked for; asked between batches, where the work gives way to what is more urgent."""
        if threading.current_thread() is self._thread:
            self.batches += 1
            self._give_way(self)
        return self._stop.is_set()

    @property
    def latest(self) -> Any:
        """What is known of it: the result, else what it yielded last (a stopped one keeps that), else None."""
        return self.result if self.state == DONE else self.partial

    @property
    def active(self) -> bool:
        return self.state in (WAITING, RUNNING)

    @property
    def parked(self) -> bool:
        """Whether it has no turns since nobody looks at it and nobody asked for it; it goes on once somebody does."""
        return self.active and self.left is not None

    @property
    def seconds(self) -> float:
        """How long its own turns took so far; the others' turns do not count."""
        spent, began = self._clock
        return spent if began is None else spent + time.monotonic() - began

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return min(1.0, self.far / self.total) if self.total else 0.0

    @property
    def worked(self) -> tuple[float, float] | None:
        """The share of what there was to do at its first report that it did, and the seconds this took; None before."""
        return self._pace.worked(self.total)

    @property
    def remaining_seconds(self) -> float | None:
        """Expected seconds of its own work to the end; None where nobody can tell."""
        return self._pace.left(self.total, self.seconds)

    def turn(self, begins: bool) -> None:
        """Start or stop its clock; its thread calls this."""
        if begins:
            self.state, self._clock = RUNNING, (self._clock[0], time.monotonic())
            self.started = self.started or self._clock[1]
        else:
            self._clock = (self.seconds, None)
