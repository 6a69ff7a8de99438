"""Long work that outlives a rerun of the page: one worker, jobs take turns, keyed by content, with progress and
cancel.
"""

import abc
import atexit
import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from types import GeneratorType
from typing import Any

from core.explanation.explainer import Cost
from core.mathematics.search.limits import TooDear
from core.network.scheduler import Cancelled, NonFinite, OutOfMemory

_LOG = logging.getLogger(__name__)

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


class Job:
    """One piece of work and where it stands; read from any thread.

    state: "running" from its first turn on, also while others have theirs; partial: what the work
    yielded last; result: what it returned; problem: why it failed, a sentence.
    """

    def __init__(self, key: str, label: str):
        self.key, self.label = key, label
        self.state = WAITING
        self.done = self.total = 0
        self.partial: Any = None
        self.result: Any = None
        self.problem = ""
        self.started: float | None = None
        # Seconds of the turns that are over and the beginning of the one under way, in one piece for readers.
        self._clock: tuple[float, float | None] = (0.0, None)
        self._first: tuple[int, float] | None = None
        self._stop = threading.Event()

    def report(self, done: int, total: int) -> None:
        """Tell how far the work is; the first report says where it begins (what was there already is no pace)."""
        if self._first is None:
            self._first = (done, self.seconds)
        self.done, self.total = done, total

    def cancel(self) -> None:
        """Ask the work to stop at its next batch; one that waits never starts."""
        self._stop.set()

    def cancelled(self) -> bool:
        """Whether stopping was asked for; the work asks this."""
        return self._stop.is_set()

    @property
    def latest(self) -> Any:
        """What is known of it: the result, else what it yielded last (a stopped one keeps that), else None."""
        return self.result if self.state == DONE else self.partial

    @property
    def active(self) -> bool:
        return self.state in (WAITING, RUNNING)

    @property
    def seconds(self) -> float:
        """How long its own turns took so far; the others' turns do not count."""
        spent, began = self._clock
        return spent if began is None else spent + time.monotonic() - began

    @property
    def remaining_seconds(self) -> float | None:
        """Expected seconds of its own work to the end, at the pace since the first report; None before there is one."""
        if self._first is None or self.done <= self._first[0]:
            return None
        done, seconds = self._first
        return (self.seconds - seconds) / (self.done - done) * max(0, self.total - self.done)

    def turn(self, begins: bool) -> None:
        """Start or stop its clock; the worker calls this."""
        if begins:
            self.state, self._clock = RUNNING, (self._clock[0], time.monotonic())
            self.started = self.started or self._clock[1]
        else:
            self._clock = (self.seconds, None)


class Work(abc.ABC):
    """What is asked for; the job of its key is how far that is.

    counted: what its progress counts, where a person should see the numbers.
    """

    counted = ""

    @property
    @abc.abstractmethod
    def key(self) -> str:
        """Hash of everything that the result depends on: the same work asked for twice is one job."""

    @property
    @abc.abstractmethod
    def label(self) -> str:
        """What it is called where it is offered and while it runs; text, not markup."""

    @property
    @abc.abstractmethod
    def cost(self) -> Cost:
        """What it takes at most."""

    @abc.abstractmethod
    def run(self, job: Job) -> object | Generator:
        """Do it: return the result, or yield what is known so far (each `yield` ends a turn) and return all of it.

        Reports to `job.report` and stops at its next batch once `job.cancelled()`.
        """


class Jobs:
    """Jobs of one device, taking turns in order of asking; the 200 that ended last are remembered.

    ended: how many have ended so far; what was read of the store before may be less than is there now.
    """

    def __init__(self, remembered: int = 200):
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._ready: deque[tuple[Job, object]] = deque()
        self._at_turn: Job | None = None
        self._remembered = remembered
        self._changed = threading.Condition()
        self._closed = False
        self.ended = 0
        # A daemon, so that a server that is told to stop does not wait for the work to end.
        self._thread = threading.Thread(target=self._work, name="faithscope-job", daemon=True)
        self._thread.start()
        # A thread that is inside a network when Python ends takes the process down with an abort.
        atexit.register(self.close)

    def close(self, seconds: float = 5.0) -> None:
        """Stop what runs at its next batch, start nothing any more, and wait for that, at most so long."""
        with self._changed:
            self._closed = True
            for job in self._jobs.values():
                job.cancel()
            self._changed.notify()
        self._thread.join(seconds)
        atexit.unregister(self.close)

    def submit(self, key: str, label: str, work: Callable[[Job], object]) -> Job:
        """Start work under a key, or return the job that is under way or done for it.

        Work that is a generator function takes turns with others: each `yield` ends its turn, and what
        it yields (unless None) becomes `partial`. Told to stop between turns, it is closed where it
        stands. A failed or cancelled job is started anew. Any exception of the work becomes `problem`,
        a sentence.
        """
        with self._changed:
            job = self._jobs.get(key)
            # A job that was told to stop but has not noticed yet cannot be taken up again.
            if job is not None and (job.state == DONE or (job.active and not job.cancelled())):
                return job
            # What a stopped one had found stays there until the new one has come as far.
            before, job = job, Job(key, label)
            job.partial = None if before is None else before.partial
            if self._closed:
                # Nobody takes it up any more; whoever asks again finds the jobs that came after these.
                job.cancel()
                job.state = CANCELLED
                return job
            self._jobs[key] = job
            self._jobs.move_to_end(key)
            self._forget()
            self._ready.append((job, work))
            self._changed.notify()
        return job

    def find(self, key: str) -> Job | None:
        """The job of a key, whatever its state."""
        with self._changed:
            return self._jobs.get(key)

    def active(self) -> list[Job]:
        """Jobs that wait or run, oldest first."""
        with self._changed:
            return [job for job in self._jobs.values() if job.active]

    def ahead(self, key: str) -> int:
        """How many jobs have their turn before this one's next; 0 if it is at work, ended or unknown."""
        with self._changed:
            job, line = self._jobs.get(key), [self._at_turn, *(other for other, _ in self._ready)]
            before = line[: line.index(job)] if job is not None and job in line else []
            return sum(other is not None and not other.cancelled() for other in before)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._closed)
                if not self._ready:
                    return
                job, work = self._ready.popleft()
                self._at_turn = job
            rest = _take_turn(job, work)
            with self._changed:
                self._at_turn = None
                if rest is not None:
                    self._ready.append((job, rest))
                else:
                    self.ended += 1
                    if self._jobs.get(job.key) is job:
                        # The last to end is the last to be forgotten, however early it was asked for.
                        self._jobs.move_to_end(job.key)
            # While nothing is asked for, nothing of the last job (its texts) is held.
            del job, work, rest

    def _forget(self) -> None:
        ended = [key for key, job in self._jobs.items() if not job.active]
        for key in ended[: max(0, len(ended) - self._remembered)]:
            del self._jobs[key]


def _take_turn(job: Job, work) -> GeneratorType | None:
    """Run a function to its end, or a generator to its next yield; return what is to go on later."""
    if job.cancelled():
        _close(job, work)
        return None
    job.turn(begins=True)
    state = FAILED
    try:
        going_on, value = _advance(job, work)
        if going_on is not None:
            job.partial = job.partial if value is None else value
            return going_on
        job.result, state = value, DONE
    except Cancelled:
        state = CANCELLED
    except (NonFinite, OutOfMemory, TooDear) as error:
        job.problem = str(error)
    except BaseException as error:
        # Whatever it is (a panic of a library in Rust is no Exception), the worker goes on with the next.
        # A library's message is for the log: it may hold paths, and seldom says what to do.
        _LOG.exception("the job %s failed", job.label)
        job.problem = f"The computation failed ({type(error).__name__}); the terminal has the details. Try it again."
    finally:
        job.turn(begins=False)
    # Last, so that whoever sees the state sees the rest as well.
    job.state = state
    return None


def _advance(job: Job, work) -> tuple[GeneratorType | None, object]:
    """One turn: (the generator, what it yields), or (None, the result) at the end."""
    if not isinstance(work, GeneratorType):
        work = work(job)
        if not isinstance(work, GeneratorType):
            return None, work
    try:
        return work, next(work)
    except StopIteration as end:
        return None, end.value


def _close(job: Job, work) -> None:
    try:
        if isinstance(work, GeneratorType):
            work.close()
    except BaseException:
        _LOG.exception("the job %s failed while it was stopped", job.label)
    job.state = CANCELLED
