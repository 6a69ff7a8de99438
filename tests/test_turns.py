"""Whose turn it is: what somebody looks at goes first, what nobody looks at and nobody asked for waits where it
stands, and none of that changes a number.
"""

import random
import threading
from functools import partial

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Cost, Explainer
from core.explanation.recursive import follow, random_band
from core.job import CANCELLED, DONE, FAILED, WAITING, Job
from core.jobs import Jobs
from core.mathematics.stepwise import finish
from core.network.locks import FairLock
from core.network.scheduler import Cancelled
from tests.waiting import ended, until


@pytest.fixture
def jobs():
    made = Jobs(left=3)
    yield made
    made.close()


class Steps:
    """Work whose batches are let through one by one: it says after which it is, and asks before each whether to go
    on.
    """

    def __init__(self, count=3, lock=None, yields=False):
        self.count, self.lock, self.yields = count, lock, yields
        self.at, self.let, self.inside = 0, threading.Semaphore(0), threading.Event()

    def __call__(self, job):
        for _ in range(self.count):
            if job.cancelled():
                return "stopped"
            self.inside.set()
            while not self.let.acquire(timeout=0.01):
                if job._stop.is_set():
                    return "stopped"
            self.inside.clear()
            self.at += 1
            if self.yields:
                yield self.at
        return "whole"

    def go(self, batches=1):
        self.let.release(batches)


class Plain(Steps):
    """The same without a turn's end in it."""

    def __call__(self, job):
        steps = super().__call__(job)
        if self.lock is None:
            return finish(steps)
        with self.lock:
            return finish(steps)


def test_what_is_looked_at_begins_beside_a_batch_under_way_and_the_rest_waits_at_its_next_batch(jobs):
    many, one = Plain(), Plain(1)
    jobs.looks("me", ["many"])
    batch = jobs.submit("many", "", many, batch=True)
    until(many.inside.is_set)
    jobs.looks("me", ["one"])
    first = jobs.submit("one", "", one, wanted=False)
    until(one.inside.is_set)
    assert jobs.ahead("many") == 1 and jobs.ahead("one") == 0
    many.go(2)
    until(lambda: many.at == 1)
    until(lambda: batch._clock[1] is None)
    assert not many.inside.is_set(), "it looks before its second batch, and waits"
    one.go()
    assert ended(first) == DONE
    many.go()
    assert ended(batch) == DONE and many.at == 3


def test_the_order_is_looked_at_then_asked_for_then_many_examples(jobs):
    order, gate = [], Plain(1)
    jobs.looks("me", ["gate", "seen", "seen many"])
    jobs.submit("gate", "", gate)
    until(gate.inside.is_set)
    for key, batch in (("many", True), ("seen many", True), ("asked", False), ("seen", False)):
        jobs.submit(key, "", lambda job: order.append(job.key), batch=batch)
    assert [jobs.ahead(key) for key in ("seen", "seen many", "asked", "many")] == [1, 2, 3, 4]
    gate.go()
    until(lambda: not jobs.active())
    assert order == ["seen", "seen many", "asked", "many"]


def test_while_a_page_is_drawn_what_is_not_on_it_has_no_turns_but_what_is_about_one_and_looked_at(jobs):
    drawn, many, one, seen = [True], Plain(), Plain(1), Plain(1)
    jobs.looks("you", ["many", "one"])
    batch = jobs.submit("many", "", many, batch=True)
    until(many.inside.is_set)
    jobs.arrives("me", lambda: drawn[0])
    many.go(3)
    until(lambda: many.at == 1 and batch._clock[1] is None)
    other = jobs.submit("one", "", one)
    jobs.submit("more", "", lambda job: "more", batch=True)
    one.go()
    assert ended(other) == DONE and many.at == 1, "what another's page shows of one example goes on"
    jobs.looks("me", ["seen"])
    mine = jobs.submit("seen", "", seen, wanted=False)
    seen.go()
    assert ended(mine) == DONE and many.at == 1 and jobs.find("more").state == WAITING
    drawn[0] = False
    assert ended(batch) == DONE and ended(jobs.find("more")) == DONE


def test_where_no_thread_is_left_to_look_again_nothing_is_held(jobs, monkeypatch):
    begins, refused, drawn, work = threading.Timer.start, [], [True], Plain()

    def start(timer):
        refused.append(timer)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Timer, "start", start)
    jobs.arrives("me", lambda: drawn[0])
    first = jobs.submit("many", "", work, batch=True)
    until(work.inside.is_set)
    work.go(3)
    assert ended(first) == DONE and refused
    # Once there are threads again a page that is drawn has its turn, and somebody looks when it no longer is.
    monkeypatch.setattr(threading.Timer, "start", begins)
    second = jobs.submit("more", "", lambda job: "more", batch=True)
    assert second.state == WAITING
    drawn[0] = False
    assert ended(second) == DONE


def test_what_the_drawn_page_itself_looks_at_has_turns_and_a_page_that_is_drawn_for_long_holds_nobody(jobs):
    work = Plain(2)
    jobs.arrives("me", lambda: True)
    job = jobs.submit("many", "", work, batch=True)
    assert job.state == WAITING
    jobs.looks("me", ["many"])
    until(work.inside.is_set)
    jobs.arrives("you", lambda: True)
    work.go(2)
    until(lambda: work.at == 1 and job._clock[1] is None)
    jobs._viewers._views["you"].began -= 60
    assert ended(job) == DONE


def test_what_stands_aside_waits_until_its_page_is_drawn_and_goes_after_what_the_page_is_for(jobs):
    drawn, aside, front = [True], Plain(2), Plain(1)
    jobs.arrives("me", lambda: drawn[0])
    jobs.looks("me", ["aside"], aside=True)
    later = jobs.submit("aside", "", aside, wanted=False)
    assert later.state == WAITING and not later.parked and "aside" in jobs.looked_at("me")
    drawn[0] = False
    stays(jobs, "me")
    until(aside.inside.is_set)
    jobs.looks("me", ["front"])
    first = jobs.submit("front", "", front, wanted=False)
    aside.go(2)
    until(front.inside.is_set)
    until(lambda: aside.at)
    assert aside.at == 1, "it gives way at its next batch"
    front.go()
    assert ended(first) == DONE and ended(later) == DONE
    # On another page it is left like all else that nobody asked for.
    jobs.looks("me", ["left"], aside=True)
    left = jobs.submit("left", "", Plain(), wanted=False)
    jobs.arrives("me")
    assert left.parked


def stays(jobs, *viewers):
    """These look at their pages for a while."""
    for viewer in viewers:
        jobs._viewers._views[viewer].began -= 2


def test_who_turns_pages_starts_nothing_that_stands_aside_before_they_stay(jobs):
    def put(key, *viewers, wanted=False):
        for viewer in viewers:
            jobs.looks(viewer, [key], aside=True)
        return jobs.submit(key, "", lambda job: key, wanted=wanted)

    jobs.arrives("me")
    jobs.arrives("you")
    mine, ours, asked = put("mine", "me"), put("ours", "me", "you"), put("asked", "me", wanted=True)
    assert ended(asked) == DONE, "who asks for it does not wait"
    jobs.look_again()
    assert (mine.state, ours.state) == (WAITING, WAITING)
    stays(jobs, "you")
    assert ended(ours) == DONE and mine.state == WAITING
    # The page is what it is for, for somebody who has just come.
    jobs.arrives("they")
    jobs.looks("they", ["mine"])
    assert ended(mine) == DONE


@pytest.mark.parametrize("kind", [Plain, lambda: Steps(yields=True)])
def test_what_is_left_waits_where_it_stands_and_goes_on_on_return(jobs, kind):
    left, other = kind(), Plain(1)
    jobs.looks("me", ["left"])
    job = jobs.submit("left", "", left, wanted=False)
    until(left.inside.is_set)
    jobs.arrives("me")
    assert job.parked and job.active and job not in jobs.active() and jobs.seconds_left("left") is None
    left.go(3)
    until(lambda: left.at == 1 and job._clock[1] is None)
    jobs.looks("me", ["other"])
    seen = jobs.submit("other", "", other, wanted=False)
    other.go()
    assert ended(seen) == DONE and left.at == 1, "nothing else is left to do, and it waits all the same"
    jobs.arrives("me")
    jobs.looks("me", ["left"])
    assert jobs.submit("left", "", Plain(), wanted=False) is job and ended(job) == DONE
    assert job.result == "whole" and left.at == 3, "nothing of it was done twice"


def test_what_a_person_asked_for_goes_on_when_it_is_left(jobs):
    work = Plain()
    jobs.looks("me", ["key"])
    job = jobs.submit("key", "", work, wanted=False)
    assert jobs.submit("key", "", work) is job and job.wanted
    jobs.arrives("me")
    work.go(3)
    assert not job.parked and ended(job) == DONE


def test_what_one_leaves_another_may_still_look_at(jobs):
    work = Plain()
    for viewer in ("me", "you"):
        jobs.looks(viewer, ["key"])
    job = jobs.submit("key", "", work, wanted=False)
    jobs.arrives("me")
    assert not job.parked
    jobs.arrives("you")
    assert job.parked


def test_whose_browser_is_gone_has_left(monkeypatch):
    there = {"me", "you"}
    jobs = Jobs(there=lambda: there)
    work = Plain(10)
    jobs.looks("me", ["key"])
    job = jobs.submit("key", "", work, wanted=False)
    until(work.inside.is_set)
    there.remove("me")
    # It is asked again a second later at the earliest.
    jobs._viewers._asked -= 1
    work.go()
    until(lambda: job.parked and job._clock[1] is None)
    assert work.at == 1
    jobs.close()
    assert not job.active


def test_few_are_kept_of_what_was_left_and_asked_again_they_begin_anew(jobs):
    """Three are kept."""
    works = [Plain() for _ in range(4)]
    for i, work in enumerate(works):
        jobs.arrives("me")
        jobs.looks("me", [f"{i}"])
        jobs.submit(f"{i}", "", work, wanted=False)
        until(work.inside.is_set)
        work.go()
    oldest = jobs.find("0")
    assert oldest.parked and not oldest.cancelled()
    jobs.arrives("me")
    assert jobs.find("0") is oldest, "a page that is only drawn anew asks for it in a moment"
    oldest.left -= 10
    jobs.arrives("me")
    assert jobs.find("0") is None, "whoever looks for it finds nothing that was stopped"
    assert all(jobs.find(key).parked for key in "123") and ended(oldest) == DONE and oldest.result == "stopped"
    jobs.looks("me", ["0"])
    again = jobs.submit("0", "", Plain(0), wanted=False)
    assert ended(again) == DONE and again.result == "whole"


def test_a_page_drawn_anew_finds_all_of_its_jobs_as_they_were(jobs):
    """Five, where three are kept of what is left."""
    first, keys = Plain(), "01234"
    jobs.looks("me", keys)
    made = [jobs.submit(key, "", first if key == "0" else Plain(0), wanted=False) for key in keys]
    until(first.inside.is_set)
    jobs.arrives("me")
    assert all(job.parked for job in made)
    jobs.looks("me", keys)
    assert [jobs.submit(key, "", Plain(), wanted=False) for key in keys] == made
    first.go(3)
    assert [ended(job) for job in made] == [DONE] * 5 and [job.result for job in made] == ["whole"] * 5


def test_of_what_was_left_together_what_has_not_begun_is_dropped_first(jobs):
    first, keys = Plain(), "0123"
    jobs.looks("me", keys)
    made = [jobs.submit(key, "", first if key == "0" else Plain(0), wanted=False) for key in keys]
    until(first.inside.is_set)
    jobs.arrives("me")
    for job in made:
        job.left -= 10
    jobs.arrives("me")
    assert [job.state == CANCELLED for job in made] == [False, True, False, False] and jobs.find("0") is made[0]


def test_what_was_left_long_ago_is_dropped_begun_or_not(jobs):
    first = Plain()
    jobs.looks("me", ["first", "second", "third"])
    begun = jobs.submit("first", "", first, wanted=False)
    until(first.inside.is_set)
    waiting, late = (jobs.submit(key, "", Plain(), wanted=False) for key in ("second", "third"))
    jobs.arrives("me")
    begun.left, waiting.left = begun.left - 301, waiting.left - 301
    jobs.arrives("me")
    assert waiting.state == CANCELLED and ended(begun) == DONE and begun.result == "stopped"
    assert [jobs.find(key) for key in ("first", "second", "third")] == [None, None, late] and late.parked


def test_what_waits_and_was_left_can_be_cancelled(jobs):
    gate = Plain(1)
    jobs.looks("me", ["gate", "key"])
    jobs.submit("gate", "", gate)
    job = jobs.submit("key", "", Plain(), wanted=False)
    jobs.arrives("me")
    assert job.state == WAITING and job.parked
    job.cancel()
    assert job.state == CANCELLED and not job.parked
    gate.go()


def test_work_that_gave_way_goes_on_as_far_as_a_lock_that_others_need(jobs):
    """An example's oracle is held during a search; whoever looks at that example must not wait for what waits for
    them.
    """
    lock = FairLock()
    long, urgent = Plain(3, lock), Plain(1, lock)
    first = jobs.submit("long", "", long)
    until(long.inside.is_set)
    jobs.looks("me", ["urgent"])
    second = jobs.submit("urgent", "", urgent, wanted=False)
    until(lambda: lock.waiting == 1)
    long.go(3), urgent.go()
    assert ended(first) == DONE and ended(second) == DONE


def test_a_page_that_needs_the_lock_of_parked_work_gets_it(jobs):
    lock = FairLock()
    work = Plain(3, lock)
    jobs.looks("me", ["key"])
    job = jobs.submit("key", "", work, wanted=False)
    until(work.inside.is_set)
    jobs.arrives("me")
    work.go(3)
    with lock:
        assert work.at == 3
    assert ended(job) == DONE


def test_seconds_left_count_what_goes_before_and_between(jobs, monkeypatch):
    one, two, three = Plain(1), Plain(1), Plain(1)
    jobs.looks("me", ["seen"])
    seen = jobs.submit("seen", "", one, wanted=False, expected=7.0)
    until(one.inside.is_set)
    asked = jobs.submit("asked", "", two, expected=100.0)
    many = jobs.submit("many", "", three, batch=True)
    for job, seconds in ((seen, 4.0), (asked, 30.0), (many, 10.0)):
        monkeypatch.setattr(job, "_pace", type("Fixed", (), {"left": lambda *_, s=seconds: s})())
    assert [jobs.seconds_left(job.key) for job in (seen, asked, many)] == [4.0, 34.0, 44.0]
    jobs.looks("me", ["asked"])
    assert [jobs.seconds_left(job.key) for job in (seen, asked)] == [4.0, 34.0], "it never ends a turn"
    one.go(), two.go(), three.go()
    assert jobs.seconds_left("unknown") is None


def test_what_is_asked_for_now_ends_after_what_goes_before_it_and_with_what_takes_turns(jobs, monkeypatch):
    """By hand: 4 s are looked at, 30 s share their turns, and 20 s would take theirs between."""
    one, two = Plain(1), Steps(2, yields=True)
    jobs.looks("me", ["seen", "many"])
    seen = jobs.submit("seen", "", one, wanted=False)
    until(one.inside.is_set)
    many = jobs.submit("many", "", two, batch=True)
    for job, seconds in ((seen, 4.0), (many, 30.0)):
        monkeypatch.setattr(job, "_pace", type("Fixed", (), {"left": lambda *_, s=seconds: s})())
    assert jobs.seconds_until(20.0, batch=True) == 20 + 4 + 20 and jobs.seconds_until(50.0, batch=True) == 50 + 4 + 30
    assert jobs.seconds_until(20.0) == 20 + 4, "what is about one example goes before the other"
    assert jobs.waits_for("many") == [seen] and jobs.waits_for("seen") == jobs.waits_for("unknown") == []
    one.go(), two.go(2)
    assert ended(seen) == ended(many) == DONE and jobs.seconds_until(20.0) == 20


def test_what_has_begun_waits_for_what_is_more_urgent_and_merely_takes_turns_with_its_equals(jobs):
    first, other, urgent = Steps(3, yields=True), Steps(3, yields=True), Plain(1)
    job = jobs.submit("many", "", first, batch=True)
    until(first.inside.is_set)
    equal = jobs.submit("other", "", other, batch=True)
    assert jobs.waits_for("other") == [job]
    first.go()
    until(other.inside.is_set)
    assert jobs.waits_for("many") == [] and jobs.ahead("many") == 1
    jobs.looks("me", ["urgent"])
    before = jobs.submit("urgent", "", urgent)
    assert jobs.waits_for("many") == [before] and before in jobs.waits_for("other")[:1] + jobs.waits_for("many")
    urgent.go(), other.go(3), first.go(3)
    assert ended(job) == ended(equal) == ended(before) == DONE


def test_what_work_of_a_kind_took_is_what_the_next_is_expected_to_take(jobs, monkeypatch):
    """Half of 1,000 tokens took 30 s before it stopped: 6,000 such tokens are 360 s, however fast a pass was timed."""
    clock = [0.0]
    monkeypatch.setattr(Job, "seconds", property(lambda job: clock[0]))

    def work(job):
        job.report(10, 20)
        clock[0] += 30.0
        job.report(15, 20)
        raise Cancelled

    cost = Cost(100, 999.0, 6_000)
    assert jobs.expects(cost, "curve") == 999
    assert ended(jobs.submit("a", "", work, kind="curve", tokens=1_000)) == CANCELLED
    assert jobs.expects(cost, "curve") == 360 and jobs.expects(cost, "other") == jobs.expects(cost) == 999
    assert jobs.expects(Cost(100, 5.0), "curve") == 5, "of no tokens"
    assert ended(jobs.submit("b", "", lambda job: 1, kind="other", tokens=1_000)) == DONE
    assert jobs.expects(cost, "other") == 999, "it never said how far it was"


def test_what_is_under_way_says_how_long_its_like_takes_as_its_own_progress_does(jobs, monkeypatch):
    """Of 1,000 tokens, expected to take 10 s, half took 100 s: a button for 2,000 more of the kind says twice what the
    progress does, with what is behind it.
    """
    clock, told, go = [0.0], threading.Event(), threading.Event()
    monkeypatch.setattr(Job, "seconds", property(lambda job: clock[0]))

    def work(job):
        job.report(0, 20)
        clock[0] = 100.0
        job.report(10, 20)
        told.set()
        assert go.wait(10)

    job = jobs.submit("a", "", work, kind="curve", tokens=1_000, expected=10.0)
    assert told.wait(10)
    whole = 100.0 + jobs.seconds_left("a")
    assert jobs.expects(Cost(100, 20.0, 2_000), "curve") == pytest.approx(2 * whole) and 150 < whole < 210
    assert jobs.expects(Cost(1, 7.0, 500), "other") == 7
    go.set()
    assert ended(job) == DONE


def test_seconds_left_of_equals_go_by_who_ends_a_turn_before_its_end(jobs, monkeypatch):
    """30 s of work that shares and 4 s of work that keeps its turn, by hand; the first turn of the one took 2 s."""
    sharing, keeping = Steps(2, yields=True), Plain(1)
    jobs.looks("me", ["sharing", "other", "keeping"])
    shares = jobs.submit("sharing", "", sharing)
    until(sharing.inside.is_set)
    other, keeps = jobs.submit("other", "", Steps(1, yields=True)), jobs.submit("keeping", "", keeping)
    for job, seconds in ((shares, 30.0), (other, 10.0), (keeps, 4.0)):
        monkeypatch.setattr(job, "_pace", type("Fixed", (), {"left": lambda *_, s=seconds: s})())
    assert shares.turns == 1 and other.turns is None
    # What has not begun may share; each has a turn for one of the other's, until the shorter ends.
    assert jobs.seconds_left("sharing") == 30 + 10 + 4 and jobs.seconds_left("other") == 10 + 10 + 4
    other.cancel()
    sharing.go()
    until(keeping.inside.is_set)
    shares._clock = (2.0, None)
    assert jobs.seconds_left("sharing") == 30 + 4, "whole: it has begun and keeps its turn"
    assert jobs.seconds_left("keeping") == 4, "nothing comes between"
    jobs._at_turn = shares
    assert jobs.seconds_left("keeping") == 4 + 2, "one turn before, as long as the one that ended"
    jobs._at_turn = keeps
    monkeypatch.setattr(shares, "_pace", type("Fixed", (), {"left": lambda *_: 1.0})())
    assert jobs.seconds_left("sharing") == 1 + 4, "however little is left of what shares"
    keeping.go(), sharing.go()
    assert ended(shares) == ended(keeps) == DONE


def test_where_no_thread_can_be_started_the_job_fails_and_the_next_goes_on(jobs, monkeypatch):
    gate, start = Plain(1), threading.Thread.start
    jobs.looks("me", ["gate", "bad", "good"])
    first = jobs.submit("gate", "", gate)
    until(gate.inside.is_set)
    bad, good = (jobs.submit(key, "", lambda job: 7) for key in ("bad", "good"))

    def none_for_bad(thread):
        if thread._args[0] is bad:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", none_for_bad)
    gate.go()
    assert ended(first) == DONE and ended(good) == DONE and good.result == 7
    assert bad.state == FAILED and "Try again" in bad.problem and bad.started is None and not jobs.active()
    monkeypatch.undo()
    again = jobs.submit("bad", "", lambda job: 8)
    assert again is not bad and ended(again) == DONE


def test_batches_since_the_last_piece_show_that_a_long_one_goes_on(jobs):
    go = threading.Event()

    def work(job):
        job.report(0, 2)
        for _ in range(5):
            job.cancelled()
        assert go.wait(10)
        job.report(1, 2)
        job.cancelled()

    job = jobs.submit("key", "", work)
    until(lambda: job.batches == 5)
    assert job.cancelled() is False and job.batches == 5, "others that ask are no batches"
    go.set()
    assert ended(job) == DONE and job.batches == 1


def _asks(model, examples):
    """Paths and random orders of some examples, each as work of a job. Each has an oracle of its own: of a shared one,
    who asked first decides which inputs are read together, and so the last bits.
    """
    for example in examples:
        for name in ("leave-one-out", "random", *["integrated gradients"] * (example is examples[0])):
            explainer = Explainer(model)
            encoded = explainer.encode(example.text, None, "word")
            if name == "random":
                work = partial(random_band, explainer, encoded, orders=4)
            else:
                work = partial(follow, explainer, encoded, name, 0, "signed")
            yield f"{example.id} {name}", lambda job, work=work: work(cancelled=job.cancelled)


def _numbers(result):
    steps = result if isinstance(result, tuple) else ()
    return [array for step in steps for array in (step.logits, step.scores, step.mask)] or [result.logits]


def test_whoever_looks_at_what_and_when_every_number_is_the_same(tiny_model):
    """Ten changes of what is looked at, with a batch run and with what is left half done, against undisturbed work."""
    model, examples = tiny_model("bert"), sorted(read_bundled("reviews"), key=lambda one: len(one.text))[:2]
    wanted = {key: _numbers(finish(work(Quiet()))) for key, work in _asks(model, examples)}
    for seed in range(2):
        jobs, rng, works = Jobs(), random.Random(seed), dict(_asks(model, examples))
        for turn in range(10):
            jobs.arrives("me")
            for key in rng.sample(sorted(works), 3):
                jobs.looks("me", [key])
                jobs.submit(key, "", works[key], wanted=turn % 3 == 0, batch=turn % 2 == 0)
            threading.Event().wait(rng.random() / 50)
        jobs.looks("me", works)
        made = {key: jobs.submit(key, "", work) for key, work in works.items()}
        until(lambda made=made: not any(job.active for job in made.values()), 60)
        for key, job in made.items():
            assert job.state == DONE, (key, job.problem)
            for found, expected in zip(_numbers(job.result), wanted[key], strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=key)
        jobs.close()


class Quiet:
    """A job that nobody stops."""

    def cancelled(self):
        return False
