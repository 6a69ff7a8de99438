"""Long work: what is looked at first, in turns, keyed by content, outliving whoever asked for it."""

import gc
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

from core import jobs as module
from core.job import CANCELLED, DONE, FAILED, RUNNING, WAITING, Job
from core.jobs import Jobs
from core.mathematics.search.limits import TooDear
from core.network.scheduler import Cancelled, NonFinite
from tests.waiting import ended, until

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def jobs():
    made = Jobs(remembered=3)
    yield made


class Work:
    """Work that reports, then goes on when it is let, and stops when it is told."""

    def __init__(self, result=None, error=None):
        self.result, self.error, self.go, self.began, self.runs = result, error, threading.Event(), threading.Event(), 0

    def __call__(self, job):
        self.runs += 1
        job.report(0, 10)
        time.sleep(0.001)
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
    assert (
        jobs.submit("a", "a", Work(9)) is running
        and jobs.submit("b", "b", Work(9)) is waiting
        and waiting.state == WAITING
    )
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
    assert job.cancelled() and job.state == CANCELLED, "at once: nothing of it is under way"
    gate.go.set()
    assert work.runs == 0 and job.started is None


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
    failing = Work(error=NonFinite("NaN or infinity."))
    failing.go.set()
    first = jobs.submit("key", "", failing)
    assert ended(first) == FAILED and first.problem == "NaN or infinity." and first.result is None
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
    assert ended(job) == FAILED and "(MemoryError)" in job.problem and job.problem.endswith("Try again.")


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


def test_remaining_seconds_go_by_the_pace_since_the_first_report_in_its_own_turns(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    job = Job("key", "label")
    assert job.remaining_seconds is None and job.seconds == 0, "not started"
    job.turn(begins=True)
    now[0] = 103.0
    job.report(40, 100)
    assert job.remaining_seconds is None, "what was there at the first report is no work"
    now[0] = 108.0
    job.report(50, 100)
    # 10 in the 5 seconds since, 50 to go: the pace of late, and nothing since the last report.
    assert job.remaining_seconds == pytest.approx(25) and job.seconds == 8 and job.started == 100
    job.turn(begins=False)
    now[0] = 1000.0
    assert job.remaining_seconds == pytest.approx(25) and job.seconds == 8, "others have their turns"
    job.turn(begins=True)
    now[0] = 1005.0
    job.report(60, 100)
    assert job.remaining_seconds == pytest.approx(10 / 20 * 40) and job.seconds == 13 and job.started == 100
    for done in (100, 120):
        job.report(done, 100)
        assert job.remaining_seconds == 0


def test_what_was_expected_is_told_first_and_a_pause_is_no_work(monkeypatch):
    """60 s were expected; the first piece of 30 takes 9 s, the next 1 s each; it is parked for an hour between."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    job = Job("key", "label")
    job._pace.expected = 60.0
    assert job.remaining_seconds == 60
    job.turn(begins=True)
    job.report(0, 30)
    now[0] = 3.0
    assert job.remaining_seconds == 57 and job.share == 0
    now[0] = 9.0
    job.report(1, 30)
    # 2 s at the 2 s that were expected of a piece, and 9 s of the first.
    assert job.remaining_seconds == pytest.approx(29 * 11 / 2) and job.share == 1 / 30
    job.turn(begins=False)
    now[0] = 3609.0
    assert job.remaining_seconds == pytest.approx(29 * 11 / 2) and job.seconds == 9
    job.turn(begins=True)
    now[0] = 3610.0
    job.report(2, 30)
    assert job.remaining_seconds == pytest.approx(28 * 3 / 2), "the first is forgotten: 1 s, and 2 s as expected"
    assert job.worked == (2 / 30, 10.0)


def test_progress_moves_within_a_piece_and_the_pace_goes_by_it(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    job = Job("key", "label")
    job.turn(begins=True)
    job.report(0, 4)
    job.within(0.0)
    for second in range(1, 11):
        now[0] = float(second)
        job.within(second / 10)
        assert job.share == pytest.approx(second / 40) and job.done == 0
    assert job.remaining_seconds == pytest.approx(30)
    job.report(1, 4)
    assert job.remaining_seconds == pytest.approx(30) and job.share == pytest.approx(0.25)


def test_progress_can_be_read_while_the_work_runs(jobs):
    work = Work()
    job = jobs.submit("key", "", work)
    until(work.began.is_set)
    assert (job.done, job.total) == (1, 10) and job.seconds > 0 and job.remaining_seconds > 0
    work.go.set()
    ended(job)
    spent = job.seconds
    time.sleep(0.01)
    assert job.seconds == spent, "its clock stands"


# Turns


def steps(log, count, result=None, look=lambda i: None):
    """Work of `count` turns that writes (key, turn) to a log and then returns."""

    def work(job):
        try:
            for i in range(count):
                log.append((job.key, i))
                look(i)
                yield (job.key, i) if i % 2 else None
        finally:
            log.append((job.key, "end"))
        return result

    return work


def test_generators_take_turns_in_order_of_asking(jobs):
    gate, log = Work(), []
    jobs.submit("gate", "", gate)
    made = [
        jobs.submit(key, "", steps(log, count, result=key.upper())) for key, count in (("a", 3), ("b", 1), ("c", 2))
    ]
    plain = jobs.submit("d", "", lambda job: log.append(("d", "whole")))
    gate.go.set()
    assert [ended(job) for job in [*made, plain]] == [DONE] * 4
    assert log == [
        ("a", 0),
        ("b", 0),
        ("c", 0),
        ("d", "whole"),
        ("a", 1),
        ("b", "end"),
        ("c", 1),
        ("a", 2),
        ("c", "end"),
        ("a", "end"),
    ]
    assert [job.result for job in made] == ["A", "B", "C"]


def test_what_comes_while_a_long_job_has_its_turn_does_not_wait_for_its_end(jobs):
    log, first = [], threading.Event()
    began = threading.Event()

    def look(i):
        began.set()
        if i == 0:
            assert first.wait(10)

    long = jobs.submit("long", "", steps(log, 200, look=look))
    began.wait(10)
    short = jobs.submit("short", "", lambda job: len(log))
    first.set()
    assert ended(short) == DONE and short.result == 1, "after the turn under way"
    assert ended(long) == DONE and len(log) == 201


def test_partial_results_are_what_was_yielded_last(jobs):
    log, go, there = [], threading.Event(), threading.Event()

    def look(i):
        if i == 3:
            there.set()
            assert go.wait(10)

    job = jobs.submit("a", "", steps(log, 4, result="all", look=look))
    there.wait(10)
    # The turns yielded None, (a, 1), None; None changes nothing.
    assert (job.partial, job.result, job.state) == (("a", 1), None, RUNNING)
    go.set()
    assert ended(job) == DONE and job.partial == ("a", 3) and job.result == "all"


def test_work_may_set_partial_itself(jobs):
    def work(job):
        job.partial = "mine"
        yield
        return job.partial

    job = jobs.submit("a", "", work)
    assert ended(job) == DONE and job.result == "mine"


def test_a_function_that_returns_a_generator_is_one_too(jobs):
    log = []
    job = jobs.submit("a", "", lambda job: steps(log, 2, result=5)(job))
    assert ended(job) == DONE and job.result == 5 and log == [("a", 0), ("a", 1), ("a", "end")]


def test_an_empty_generator_is_done_at_once(jobs):
    job = jobs.submit("a", "", steps([], 0, result=7))
    assert ended(job) == DONE and job.result == 7 and job.partial is None


def test_a_generator_told_to_stop_between_turns_is_closed_where_it_stands(jobs):
    log, gate = [], Work()
    job = jobs.submit("a", "", lambda job: steps(log, 10**9, look=lambda i: time.sleep(0.001))(job))
    until(lambda: job.partial is not None)
    jobs.submit("gate", "", gate)
    until(gate.began.is_set)
    assert job.state == RUNNING, "its next turn is to come"
    before = len(log)
    job.cancel()
    assert ended(job) == CANCELLED and log[before:] == [("a", "end")] and job.result is None and job.problem == ""
    gate.go.set()


def test_a_generator_that_fails_while_it_is_closed_is_cancelled_all_the_same(jobs):
    def work(job):
        try:
            while True:
                yield 1
        finally:
            raise OSError("disk")

    job = jobs.submit("a", "", work)
    until(lambda: job.partial == 1)
    job.cancel()
    assert ended(job) == CANCELLED and ended(jobs.submit("b", "", lambda job: 2)) == DONE


@pytest.mark.parametrize(
    "error, state, problem",
    [
        (Cancelled(), CANCELLED, ""),
        (NonFinite("A sentence."), FAILED, "A sentence."),
        (RuntimeError("/secret"), FAILED, "RuntimeError"),
    ],
)
def test_a_generator_fails_in_any_turn_as_a_function_does(jobs, error, state, problem):
    def work(job):
        yield "some"
        raise error

    job = jobs.submit("a", "", work)
    assert (
        ended(job) == state
        and problem in job.problem
        and "secret" not in job.problem
        and job.partial == "some"
        and job.result is None
    )
    again = jobs.submit("a", "", steps([], 1, result=3))
    assert again is not job and ended(again) == DONE and again.result == 3


def test_a_cancelled_generator_can_be_asked_for_again_before_it_has_noticed(jobs):
    log, gate = [], Work()
    first = jobs.submit("a", "", steps(log, 10**9, look=lambda i: time.sleep(0.001)))
    until(lambda: first.partial is not None)
    jobs.submit("gate", "", gate)
    until(gate.began.is_set)
    first.cancel()
    second = jobs.submit("a", "", steps([], 2, result="new"))
    assert second is not first and jobs.find("a") is second
    gate.go.set()
    assert ended(second) == DONE and ended(first) == CANCELLED and second.result == "new" and jobs.find("a") is second


def test_ahead_counts_the_jobs_whose_turn_comes_before(jobs):
    gate, log = Work(), []
    jobs.submit("gate", "", gate)
    until(gate.began.is_set)
    assert jobs.ahead("gate") == 0 and jobs.ahead("unknown") == 0
    made = [jobs.submit(key, "", steps(log, 2)) for key in "abc"]
    assert [jobs.ahead(key) for key in "abc"] == [1, 2, 3]
    made[0].cancel()
    assert [jobs.ahead(key) for key in "abc"] == [0, 1, 2], "who was told to stop holds nobody up"
    gate.go.set()
    assert [ended(job) for job in made] == [CANCELLED, DONE, DONE]
    assert [jobs.ahead(key) for key in ("gate", *"abc")] == [0] * 4


def test_ahead_counts_a_job_between_its_turns(jobs):
    inside, go, go2, gate = threading.Event(), threading.Event(), threading.Event(), Work()

    def look(i):
        if i == 1:
            inside.set()
            assert go.wait(10)

    jobs.submit("a", "", steps([], 3, look=look))
    inside.wait(10)
    b = jobs.submit("b", "", steps([], 2, look=lambda i: go2.wait(10) if i == 1 else None))
    jobs.submit("gate", "", gate)
    assert (jobs.ahead("a"), jobs.ahead("b"), jobs.ahead("gate")) == (0, 1, 2)
    go.set()
    until(gate.began.is_set)
    # a and b have had a turn each and stand in line again.
    assert (jobs.ahead("gate"), jobs.ahead("a"), jobs.ahead("b")) == (0, 1, 2)
    go2.set(), gate.go.set()
    assert ended(b) == DONE


def test_the_last_to_end_is_the_last_to_be_forgotten(jobs):
    """Jobs that were asked for first end last; three ended ones are remembered."""
    go, enough = threading.Event(), threading.Event()

    def work(job):
        while not enough.is_set():
            yield
        return job.key

    early = [jobs.submit(key, "", work) for key in ("first", "second")]
    for i in range(5):
        assert ended(jobs.submit(f"{i}", "", lambda job: None)) == DONE
    enough.set()
    assert [ended(job) for job in early] == [DONE, DONE]
    jobs.submit("new", "", lambda job: go.wait(10))
    assert [jobs.find(job.key) for job in early] == early and sum(jobs.find(f"{i}") is not None for i in range(5)) == 1
    go.set()


def test_an_idle_worker_holds_nothing_of_the_last_job(jobs):
    class Texts(list):
        pass

    texts = Texts([1, 2])
    held = weakref.ref(texts)

    def start(texts):
        return jobs.submit("a", "", lambda job: steps([], len(texts))(job)), jobs.submit(
            "b", "", lambda job: len(texts)
        )

    assert [ended(job) for job in start(texts)] == [DONE, DONE]
    del texts
    until(lambda: gc.collect() is not None and held() is None)


def test_python_ends_in_the_middle_of_a_job_without_an_abort(tmp_path):
    code = f"""
import time
from pathlib import Path
import torch
from core.jobs import Jobs

def work(job):
    one = torch.ones(8)
    while not job.cancelled():
        one = one + one
    Path({str(tmp_path / "stopped")!r}).write_text("in order")

jobs = Jobs()
jobs.submit("a", "endless", work)
jobs.submit("b", "never begun", lambda job: Path({str(tmp_path / "begun")!r}).write_text(""))
while jobs.find("a").state != "running":
    time.sleep(0.01)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "stopped").read_text() == "in order" and not (tmp_path / "begun").exists()


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, type("PanicException", (BaseException,), {})])
def test_whatever_ends_one_job_the_next_is_done(error, jobs):
    def work(job):
        raise error("panic")

    assert ended(jobs.submit("a", "bad", work)) == FAILED and jobs.find("a").problem
    assert ended(jobs.submit("b", "good", lambda job: 7)) == DONE


def test_closed_jobs_start_nothing_any_more():
    jobs = Jobs()
    jobs.close()
    job = jobs.submit("a", "late", lambda job: 1)
    time.sleep(0.05)
    assert job.state == "cancelled" and job.result is None


def test_what_a_stopped_job_had_found_stays_until_the_next_has_as_much(jobs):
    found, let_go = [], threading.Event()

    def work(job):
        yield "narrow"
        while not let_go.wait(0.002):
            if job.cancelled():
                raise Cancelled
        yield "wide"
        return "exact"

    first = jobs.submit("key", "limits", work)
    until(lambda: first.partial == "narrow")
    first.cancel()
    assert ended(first) == CANCELLED

    def slow(job):
        found.append(job.partial)
        return (yield from work(job))

    again = jobs.submit("key", "limits", slow)
    until(lambda: found)
    assert again is not first and found == ["narrow"]
    let_go.set()
    assert ended(again) == DONE and again.partial == "wide" and again.result == "exact"


def test_what_is_too_dear_is_told_with_its_number(jobs):
    def work(job):
        raise TooDear("Exact limits of 20 features hold about 369 MB, and 200 MB are free.")

    job = jobs.submit("key", "exact", work)
    assert ended(job) == FAILED and "369 MB" in job.problem
