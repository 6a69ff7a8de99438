"""Long work that outlives a rerun of the page: one worker, keyed by content, with progress and cancel."""

import logging
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from core.network.scheduler import Cancelled, NonFinite, OutOfMemory

_LOG = logging.getLogger(__name__)

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


class Job:
    """One piece of work and where it stands; read from any thread."""

    def __init__(self, key: str, label: str):
        self.key, self.label = key, label
        self.state = WAITING
        self.done = self.total = 0
        self.result = None
        self.problem = ""
        self.started: float | None = None
        self._stop = threading.Event()

    def report(self, done: int, total: int) -> None:
        """Tell how far the work is."""
        self.done, self.total = done, total

    def cancel(self) -> None:
        """Ask the work to stop at its next batch; one that waits never starts."""
        self._stop.set()

    def cancelled(self) -> bool:
        """Whether stopping was asked for; the work asks this."""
        return self._stop.is_set()

    @property
    def active(self) -> bool:
        return self.state in (WAITING, RUNNING)

    @property
    def remaining_seconds(self) -> float | None:
        """Expected seconds to the end at the pace so far; None before there is one."""
        if not self.started or not self.done:
            return None
        return (time.monotonic() - self.started) / self.done * max(0, self.total - self.done)


class Jobs:
    """Jobs of one device in order of asking; the newest 200 ended ones are remembered."""

    def __init__(self, remembered: int = 200):
        self._queue: queue.SimpleQueue = queue.SimpleQueue()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._remembered = remembered
        self._lock = threading.Lock()
        # A daemon, so that a server that is told to stop does not wait for the work.
        threading.Thread(target=self._work, name="faithscope-job", daemon=True).start()

    def submit(self, key: str, label: str, work: Callable[[Job], object]) -> Job:
        """Start work under a key, or return the job that is under way or done for it.

        A failed or cancelled job is started anew. Any exception of the work becomes `problem`, a sentence.
        """
        with self._lock:
            job = self._jobs.get(key)
            # A job that was told to stop but has not noticed yet cannot be taken up again.
            if job is not None and (job.state == DONE or job.active and not job.cancelled()):
                return job
            job = self._jobs[key] = Job(key, label)
            self._jobs.move_to_end(key)
            self._forget()
        self._queue.put((job, work))
        return job

    def find(self, key: str) -> Job | None:
        """The job of a key, whatever its state."""
        with self._lock:
            return self._jobs.get(key)

    def active(self) -> list[Job]:
        """Jobs that wait or run, oldest first."""
        with self._lock:
            return [job for job in self._jobs.values() if job.active]

    def _work(self) -> None:
        while True:
            self._run(*self._queue.get())

    def _run(self, job: Job, work) -> None:
        if job.cancelled():
            job.state = CANCELLED
            return
        job.state, job.started = RUNNING, time.monotonic()
        try:
            job.result = work(job)
            job.state = DONE
        except Cancelled:
            job.state = CANCELLED
        except (NonFinite, OutOfMemory) as error:
            job.problem, job.state = str(error), FAILED
        except Exception as error:
            # A library's message is for the log: it may hold paths, and seldom says what to do.
            _LOG.exception("the job %s failed", job.label)
            job.problem, job.state = f"The computation failed ({type(error).__name__}); the terminal has the details. Try it again.", FAILED

    def _forget(self) -> None:
        ended = [key for key, job in self._jobs.items() if not job.active]
        for key in ended[:max(0, len(ended) - self._remembered)]:
            del self._jobs[key]
