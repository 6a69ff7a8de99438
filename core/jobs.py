"""Long work that outlives a rerun of the page, keyed by content, with progress and cancel."""

import atexit
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from types import GeneratorType

from core.explanation.explainer import Cost
from core.job import CANCELLED, DONE, FAILED, Job
from core.mathematics.pace import Speed, between
from core.mathematics.search.limits import TooDear
from core.network import locks
from core.network.scheduler import Cancelled, NonFinite, OutOfMemory
from core.viewers import Viewers

_LOG = logging.getLogger(__name__)

# Of jobs that nobody looks at and nobody asked for, so many are kept where they stand, and for so many seconds.
_MOST_LEFT, _LEFT_SECONDS = 16, 300.0
# A page that is drawn anew has left all of its jobs for a moment: none is one too many before so many seconds.
_SPARED_SECONDS = 5.0
# Of work under way, after so many seconds of it, the pace says how long its like takes.
_TOLD_SECONDS = 2.0
# How often work looks whether anybody waits for a lock that it gave way with, and whether a page still is drawn.
_LOOK_SECONDS = 0.05


class Jobs:
    """Jobs of one device; the 200 that ended last are remembered.

    Of those that may go on, the most urgent have the turn, and among equals it goes round in order of asking: first
    what is about one example and looked at, then what is about one or looked at, then the rest. What nobody looks at
    and nobody asked for is parked. A job that has lost the turn goes on to its next batch, and waits there. While a
    page is drawn, only what is on it, or what is about one example and on another's, has turns.

    ended: how many have ended so far; what was read of the store before may be less than is there now.

    Args:
        remembered: how many that ended are; left: how many that are parked are kept.
        there: viewers that have not gone, None where nobody can tell; asked at most once a second.
    """

    def __init__(
        self, remembered: int = 200, left: int = _MOST_LEFT, there: Callable[[], Collection[str] | None] = lambda: None
    ):
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        # Those that have not ended, whose turn comes first in front.
        self._line: list[Job] = []
        # How long work took, by its kind.
        self._speeds: dict[str, Speed] = {}
        self._viewers = Viewers(there)
        self._at_turn: Job | None = None
        self._timer: threading.Timer | None = None
        # Whether somebody looks again while work is held: where no thread is left for that, nothing is held.
        self._looked_after = True
        self._remembered, self._most_left = remembered, left
        self._changed = threading.Condition()
        self._closed = False
        self.ended = 0
        # A thread that is inside a network when Python ends takes the process down with an abort.
        atexit.register(self.close)

    def close(self, seconds: float = 5.0) -> None:
        """Stop what runs at its next batch, start nothing any more, and wait for that, at most so long."""
        with self._changed:
            self._closed = True
            threads = [job._thread for job in self._line if job._thread is not None]
            for job in self._line:
                job._stop.set()
            self.look_again()
        until = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        atexit.unregister(self.close)

    def submit(
        self,
        key: str,
        label: str,
        work: Callable[[Job], object],
        *,
        wanted: bool = True,
        batch: bool = False,
        place: str = "",
        expected: float = 0.0,
        asker: str = "",
        kind: str = "",
        tokens: float = 0.0,
    ) -> Job:
        """Start work under a key, or return the job that is under way or done for it.

        Work that is a generator function takes turns with others: each `yield` ends its turn, and what
        it yields (unless None) becomes `partial`. Told to stop between turns, it is closed where it
        stands. A failed or cancelled job is started anew. Any exception of the work becomes `problem`,
        a sentence. Each job has a thread of its own, a daemon, so that a server that is told to stop does not wait.
        kind, tokens: as of `expects`; expected: seconds of its own work; the rest as of `Job`.
        """
        with self._changed:
            job = self._jobs.get(key)
            # A job that was told to stop but has not noticed yet cannot be taken up again.
            if job is None or not (job.state == DONE or (job.active and not job._stop.is_set())):
                # What a stopped one had found stays there until the new one has come as far.
                before, job = job, Job(key, label, wanted, batch)
                job.partial = None if before is None else before.partial
                job.place, job._pace.expected = place, expected
                if self._closed:
                    # Nobody takes it up any more; whoever asks again finds the jobs that came after these.
                    job._stop.set()
                    job.state = CANCELLED
                    return job
                job._look_again, job._give_way = self.look_again, self.give_way
                job._work, job._kind, job._tokens = work, kind, tokens
                self._jobs[key] = job
                self._jobs.move_to_end(key)
                self._forget()
                self._line.append(job)
            job.wanted |= wanted
            job.seen.add(asker)
            if wanted:
                job.askers.add(asker)
            self.look_again()
        return job

    def arrives(self, viewer: str, draws: Callable[[], bool] = lambda: False) -> None:
        """A viewer's page is drawn anew, for as long as `draws` says so: what was on it is looked at no longer."""
        with self._changed:
            self._viewers.arrives(viewer, draws)
            self.look_again()

    def looks(self, viewer: str, keys: Collection[str], aside: bool = False) -> None:
        """The jobs of these keys are on the viewer's page; aside: they wait until it is drawn, and go last."""
        with self._changed:
            self._viewers.looks(viewer, keys, aside)
            for job in filter(None, map(self._jobs.get, keys)):
                job.seen.add(viewer)
            self.look_again()

    def looked_at(self, viewer: str) -> frozenset[str]:
        """Keys of the jobs that are on the viewer's page, as far as it is drawn."""
        with self._changed:
            return self._viewers.looked_at(viewer)

    def find(self, key: str) -> Job | None:
        """The job of a key, whatever its state."""
        with self._changed:
            return self._jobs.get(key)

    def active(self) -> list[Job]:
        """Jobs that wait or run and are not parked, oldest first."""
        with self._changed:
            return [job for job in self._jobs.values() if job.active and not job.parked]

    def parked(self) -> list[Job]:
        """Jobs that stand still since nobody looks at them, oldest first."""
        with self._changed:
            return [job for job in self._jobs.values() if job.parked and not job._stop.is_set()]

    def ahead(self, key: str) -> int:
        """How many jobs have their turn before this one's next; 0 if it is at work, ended, parked or unknown."""
        with self._changed:
            return len(self._before(self._jobs.get(key)))

    def waits_for(self, key: str) -> list[Job]:
        """Jobs that go before this one while it stands still, the first in front; none where it merely takes turns."""
        with self._changed:
            job = self._jobs.get(key)
            if job is None:
                return []
            return [one for one in self._before(job) if not job.started or self._rank(one) < self._rank(job)]

    def expects(self, cost: Cost, kind: str = "") -> float:
        """Expected seconds of work by the clock: what such work took here for each token that it was said to take at
        most, by what is under way of its kind, else by what ended; before there was any, what its cost says.

        kind: of work that takes about as long for each token of its cost, whatever its texts; "" where nobody says.
        """
        with self._changed:
            pace = self._pace_now(kind)
            return cost.seconds if pace is None or not cost.tokens else pace * cost.tokens

    def _pace_now(self, kind: str) -> float | None:
        """Seconds a token of a kind, so that a button says the same as the progress beside it; None before any."""
        for job in self._line:
            left = job.remaining_seconds if kind and job._kind == kind and job._tokens and job.worked else None
            if left is not None and job.seconds >= _TOLD_SECONDS:
                return (job.seconds + left) / job._tokens
        speed = self._speeds.get(kind)
        return None if speed is None else speed.pace

    def knows(self, kind: str) -> bool:
        """Whether work of a kind was done here."""
        with self._changed:
            return kind in self._speeds

    def seconds_until(self, own: float, batch: bool = False) -> float:
        """Expected seconds until work of so many seconds of its own would end, with the jobs before and beside it."""
        with self._changed:
            others = [one for one in self._line if self._goes_on(one)]
            return self._ends_after(own, None, int(batch), others, others)

    def seconds_left(self, key: str) -> float | None:
        """Expected seconds until a job ends, with the jobs before and beside it; None where nobody can tell."""
        with self._changed:
            job = self._jobs.get(key)
            own = None if job is None else job.remaining_seconds
            if job is None or own is None or job.parked:
                return None
            others = [one for one in self._line if one is not job and self._goes_on(one)]
            return self._ends_after(own, job.turns, self._rank(job), others, self._before(job))

    def _ends_after(self, own: float, turns: int | None, rank: int, others: list[Job], first: list[Job]) -> float:
        """Seconds until work of a rank ends beside others; first: those that have a turn before its next."""
        whole = sum(_rest(one) for one in others if self._rank(one) < rank)
        equals = [one for one in others if self._rank(one) == rank]
        return (
            own + whole + sum(between(own, turns, _rest(one), one.turns, one.seconds, one in first) for one in equals)
        )

    def look_again(self) -> None:
        """Give the turn to whom it belongs now."""
        with self._changed:
            self._settle()
            if self._timer is None and not self._closed and any(self._held(job) for job in self._line):
                self._looked_after = self._sets_timer()
            while not self._gives_turn():
                pass
            self._changed.notify_all()

    def _sets_timer(self) -> bool:
        """Have somebody look again soon; False where there can be no thread for it."""
        timer = threading.Timer(_LOOK_SECONDS, self._look_later)
        timer.daemon = True
        try:
            timer.start()
        except (RuntimeError, MemoryError):
            return False
        self._timer = timer
        return True

    def _look_later(self) -> None:
        """No page says that it is drawn now, so that whoever waits for it has to look."""
        with self._changed:
            self._timer = None
            self.look_again()

    def _gives_turn(self) -> bool:
        """Whether the turn is where it belongs now; not where that job could not begin, which ends it."""
        ready = [job for job in self._line if self._goes_on(job) and not (self._looked_after and self._held(job))]
        best, holder = min(ready, key=self._rank, default=None), self._at_turn
        if holder in ready and best is not None and self._rank(best) >= self._rank(holder):
            return True
        if best is not None and best._thread is None and not self._begins(best):
            return False
        self._at_turn = best
        return True

    def _begins(self, job: Job) -> bool:
        """Start a job's thread; False where there can be none, and the job has failed."""
        job._thread = threading.Thread(target=self._live, args=(job, job._work), name="faithscope-job", daemon=True)
        try:
            job._thread.start()
        except (RuntimeError, MemoryError):
            _LOG.exception("the job %s could not begin", job.label)
            job._thread = None
            job.problem = "The server has no thread left. Try again later."
            job.state = FAILED
            self._leaves(job)
        job._work = None
        return job.active

    def give_way(self, job: Job, turn_ends: bool = False) -> None:
        """Called by a job's own thread: wait until the turn is its own or it is told to stop, or somebody needs a lock
        that it holds; turn_ends: whether its equals come first.
        """
        with self._changed:
            if turn_ends:
                self._line.append(self._line.pop(self._line.index(job)))
                self._at_turn = None if self._at_turn is job else self._at_turn
            self.look_again()
            if not self._waits(job):
                return
            job.turn(begins=False)
            while self._waits(job):
                self._changed.wait(_LOOK_SECONDS if locks.locks_held() else _LEFT_SECONDS)
                if job.left is not None and time.monotonic() - job.left >= _LEFT_SECONDS:
                    self._drop(job)
            job.turn(begins=True)

    def _waits(self, job: Job) -> bool:
        needed = any(lock.waiting for lock in locks.locks_held())
        return self._at_turn is not job and not job._stop.is_set() and not needed

    def _goes_on(self, job: Job) -> bool:
        return job.left is None and not job._stop.is_set()

    def _rank(self, job: Job) -> int:
        return (not self._viewers.anybody(job.key)) + job.batch

    def _held(self, job: Job) -> bool:
        passed = not job.wanted and self._viewers.passes_by(job.key)
        return passed or (self._rank(job) > 0 and self._viewers.drawing_without(job.key))

    def _before(self, job: Job | None) -> list[Job]:
        if job is None or job is self._at_turn or job not in self._line or not self._goes_on(job):
            return []
        ready, rank, place = [one for one in self._line if self._goes_on(one)], self._rank(job), self._line.index(job)
        return [
            one for one in ready if one is self._at_turn or (self._rank(one), self._line.index(one)) < (rank, place)
        ]

    def _settle(self) -> None:
        """Park what nobody looks at any more, keep few of these, and end what was told to stop and has not begun."""
        now = time.monotonic()
        self._viewers.settle()
        for job in self._line:
            job.left = None if job.wanted or self._viewers.anybody(job.key, aside=True) else job.left or now
        left = [job for job in self._line if job.left is not None and not job._stop.is_set()]
        # Of those that were left together, what is not begun goes first: nothing of it is lost.
        left.sort(key=lambda job: (job.left or 0.0, job.started is not None))
        for i, job in enumerate(left):
            if now - (job.left or now) >= (_SPARED_SECONDS if i < len(left) - self._most_left else _LEFT_SECONDS):
                self._drop(job)
        for job in [job for job in self._line if job._thread is None and job._stop.is_set()]:
            job._work = None
            job.state = CANCELLED
            self._leaves(job)

    def _drop(self, job: Job) -> None:
        """Have a job stop that is not told to anybody: whoever asks for it finds none."""
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]
        job._stop.set()

    def _leaves(self, job: Job) -> None:
        self._line.remove(job)
        # How long such work takes, from what this job did of it.
        if job._kind and job._tokens and job.worked:
            share, seconds = job.worked
            self._speeds.setdefault(job._kind, Speed()).add(share * job._tokens, seconds)
        self._at_turn = None if self._at_turn is job else self._at_turn
        self.ended += 1
        if self._jobs.get(job.key) is job:
            # The last to end is the last to be forgotten, however early it was asked for.
            self._jobs.move_to_end(job.key)

    def _live(self, job: Job, work: Callable[[Job], object]) -> None:
        """The whole of a job, on its own thread."""
        state = FAILED
        job.turn(begins=True)
        try:
            job.result, state = self._done(job, work), DONE
        except Cancelled:
            state = CANCELLED
        except (NonFinite, OutOfMemory, TooDear) as error:
            job.problem = str(error)
        except BaseException as error:
            # Whatever it is (a panic of a library in Rust is no Exception), the others go on.
            # A library's message is for the log: it may hold paths, and seldom says what to do.
            _LOG.exception("the job %s failed", job.label)
            name = type(error).__name__
            job.problem = f"The computation failed ({name}); see the terminal. Try again."
        with self._changed:
            job.turn(begins=False)
            # Last, so that whoever sees the state sees the rest as well.
            job.state = state
            self._leaves(job)
            self.look_again()

    def _done(self, job: Job, work: Callable[[Job], object]) -> object:
        job.turns = 0
        found = work(job)
        if not isinstance(found, GeneratorType):
            return found
        job.turns = 1
        while True:
            try:
                part = next(found)
            except StopIteration as end:
                return end.value
            job.partial = job.partial if part is None else part
            self.give_way(job, turn_ends=True)
            if job._stop.is_set():
                _close(job, found)
                raise Cancelled
            job.turns += 1

    def _forget(self) -> None:
        ended = [key for key, job in self._jobs.items() if not job.active]
        for key in ended[: max(0, len(ended) - self._remembered)]:
            del self._jobs[key]


def _rest(job: Job) -> float:
    """Expected seconds of a job's own work, none where nobody can tell."""
    return job.remaining_seconds or 0.0


def _close(job: Job, work: GeneratorType) -> None:
    try:
        work.close()
    except BaseException:
        _LOG.exception("stopping the job %s failed", job.label)
