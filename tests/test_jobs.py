"""Long work: one at a time, keyed by content, outliving whoever asked for it."""

import gc
import threading
import time

import pytest

from core.composition import jobs as module
from core.composition.jobs import CANCELLED, DONE, FAILED, RUNNING, WAITING, Job, Jobs
from core.network.scheduler import Cancelled, NonFinite


@pytest.fixture
def jobs():
    made = Jobs(remembered=3)
    yield made


def until(condition, seconds=5):
    """Wait for a condition; it must come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.002)


def ended(job):
    until(lambda: not job.active)
    return job.state


class Work:
    """Work that reports, then goes on when it is let, and stops when it is told."""

    def __init__(self, result=None, error=None):
        self.result, self.error, self.go, self.began, self.runs = result, error, threading.Event(), threading.Event(), 0

    def __call__(self, job):
        self.runs += 1
        job.report(self.runs, 10)
        self.began.set()
        given_up = time.monotonic() + 10
        while not self.go.wait(0.002):
            if job.cancelled():
                raise Cancelled
            assert time.monotonic() < given_up, "nobody let the work go on"
        if self.error is not None:
            raise self.error
        return self.result


def test_a_job_outlives_its_caller_and_is_found_by_its_key(jobs):
    work = Work(result=42)
    def page():
        jobs.submit("key", "beam", work)
    caller = threading.Thread(target=page)
    caller.start()
    caller.join()
    gc.collect()
    until(work.began.is_set)
    job = jobs.find("key")
    assert (job.state, job.key, job.label, job.active, job.result) == (RUNNING, "key", "beam", True, None)
    work.go.set()
    assert ended(job) == DONE and job.result == 42 and jobs.find("key") is job and not jobs.active()
    assert jobs.find("another key") is None


def test_the_same_key_is_the_same_job_while_it_waits_runs_and_after_it_is_done(jobs):
    first, second = Work(1), Work(2)
    running, waiting = jobs.submit("a", "a", first), jobs.submit("b", "b", second)
    until(first.began.is_set)
    assert jobs.submit("a", "a", Work(9)) is running and jobs.submit("b", "b", Work(9)) is waiting and waiting.state == WAITING
    first.go.set(), second.go.set()
    assert ended(running) == ended(waiting) == DONE
    assert jobs.submit("a", "a", Work(9)) is running and (running.result, waiting.result) == (1, 2)
    assert first.runs == second.runs == 1


def test_one_at_a_time_in_the_order_of_asking(jobs):
    ran, gate, together, most = [], Work(), [0], [0]
    def work(job):
        together[0] += 1
        most[0] = max(most[0], together[0])
        ran.append(job.key)
        time.sleep(0.002)
        together[0] -= 1
    jobs.submit("gate", "", gate)
    made = [jobs.submit(f"{i}", "", work) for i in range(8)]
    assert [job.key for job in jobs.active()] == ["gate", *map(str, range(8))]
    gate.go.set()
    assert [ended(job) for job in made] == [DONE] * 8
    assert ran == [str(i) for i in range(8)] and most == [1]


def test_a_job_that_waits_and_is_cancelled_never_starts(jobs):
    gate, work = Work(), Work()
    jobs.submit("gate", "", gate)
    job = jobs.submit("key", "", work)
    job.cancel()
    assert job.cancelled() and job.state == WAITING
    gate.go.set()
    assert ended(job) == CANCELLED and work.runs == 0 and job.started is None


def test_a_running_job_stops_at_its_next_look(jobs):
    work = Work()
    job = jobs.submit("key", "", work)
    until(work.began.is_set)
    job.cancel()
    assert ended(job) == CANCELLED and work.runs == 1 and job.result is None and job.problem == ""


def test_work_that_finishes_although_it_was_told_to_stop_is_done(jobs):
    work = Work(result="whole")
    job = jobs.submit("key", "", lambda job: (work.began.set(), work.go.wait(5), "whole")[2])
    until(work.began.is_set)
    job.cancel()
    work.go.set()
    assert ended(job) == DONE and job.result == "whole" and jobs.submit("key", "", Work()) is job


def test_a_cancelled_job_can_be_asked_for_again_even_before_it_has_noticed(jobs):
    gate, old, new = Work(), Work(), Work(result="new")
    jobs.submit("gate", "", gate)
    first = jobs.submit("key", "", old)
    first.cancel()
    second = jobs.submit("key", "", new)
    assert second is not first and jobs.find("key") is second
    gate.go.set(), new.go.set()
    assert ended(second) == DONE and ended(first) == CANCELLED and (old.runs, new.runs) == (0, 1)
    assert jobs.find("key") is second and second.result == "new"


def test_a_failure_is_a_sentence_and_can_be_started_again(jobs):
    failing = Work(error=NonFinite("The model returned NaN. Compute in float32."))
    failing.go.set()
    first = jobs.submit("key", "", failing)
    assert ended(first) == FAILED and first.problem == "The model returned NaN. Compute in float32." and first.result is None
    working = Work(result=1)
    working.go.set()
    second = jobs.submit("key", "", working)
    assert second is not first and ended(second) == DONE and second.problem == "" and jobs.find("key") is second


def test_a_failure_without_words_names_its_kind(jobs):
    job = jobs.submit("key", "", Work(error=(bare := MemoryError())))
    until(lambda: job.state == RUNNING)
    job.cancel()
    assert ended(job) == CANCELLED
    failing = Work(error=bare)
    failing.go.set()
    job = jobs.submit("key", "", failing)
    assert ended(job) == FAILED and "(MemoryError)" in job.problem and job.problem.endswith("Try it again.")


def test_a_librarys_message_stays_out_of_the_page(jobs):
    failing = Work(error=RuntimeError("/home/someone/secret: kernel 17 failed"))
    failing.go.set()
    job = jobs.submit("key", "", failing)
    assert ended(job) == FAILED and "RuntimeError" in job.problem and "secret" not in job.problem


def test_after_a_failure_the_worker_goes_on(jobs):
    failing, working = Work(error=RuntimeError("x")), Work(result=3)
    failing.go.set(), working.go.set()
    assert ended(jobs.submit("a", "", failing)) == FAILED and ended(jobs.submit("b", "", working)) == DONE


def test_the_oldest_ended_jobs_are_forgotten_and_no_active_one(jobs):
    """Three are remembered when a new one is asked for."""
    for i in range(6):
        assert ended(jobs.submit(f"{i}", "", lambda job: None)) == DONE
    assert [jobs.find(f"{i}") is not None for i in range(6)] == [False, False, True, True, True, True]
    gate = Work()
    jobs.submit("gate", "", gate)
    waiting = [jobs.submit(f"w{i}", "", Work()) for i in range(10)]
    assert jobs.find("gate") is not None and all(jobs.find(job.key) is job for job in waiting)
    assert sum(jobs.find(f"{i}") is not None for i in range(6)) == 3
    for job in waiting:
        job.cancel()
    gate.go.set()


def test_remaining_seconds_go_by_the_pace_so_far(monkeypatch):
    monkeypatch.setattr(module.time, "monotonic", lambda: 108.0)
    job = Job("key", "label")
    assert job.remaining_seconds is None, "not started"
    job.started = 100.0
    assert job.remaining_seconds is None, "nothing is done"
    job.report(2, 10)
    assert job.remaining_seconds == pytest.approx(8 / 2 * 8)
    job.report(10, 10)
    assert job.remaining_seconds == 0
    job.report(12, 10)
    assert job.remaining_seconds == 0


def test_progress_can_be_read_while_the_work_runs(jobs):
    work = Work()
    job = jobs.submit("key", "", work)
    until(work.began.is_set)
    assert (job.done, job.total) == (1, 10) and job.remaining_seconds > 0
    work.go.set()
    ended(job)
