"""What a page starts by itself, and what it no longer does once somebody cancelled."""

from threading import Timer
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from core.explanation.explainer import Cost
from core.job import CANCELLED, DONE, FAILED, RUNNING, WAITING, Job
from core.network.scheduler import Cancelled
from pages.parts.frame.working import Work
from pages.parts.sections.streaming import _least, _together, seconds_between, start


class FakeJob:
    def __init__(self, stopped):
        self.stopped, self.active = stopped, False

    def cancelled(self):
        return self.stopped


class FakeWork(Work):
    """A piece of work that notes whether it was asked for."""

    key = label = "work"
    cost, run, job, at_once = Cost(10, 1.0), None, None, True

    def __init__(self, at_once=True, job=None):
        self.at_once, self.job, self.asked = at_once, job, 0

    def ask(self, wanted=True):
        self.asked += 1
        self.wanted = wanted
        self.job = FakeJob(False)


class Forgotten(FakeWork):
    """Its job is forgotten once it was asked for so many times, as others' jobs that end push it out."""

    key = "forgotten"

    def __init__(self, job, after):
        self.at_once, self._job, self.left = False, job, after

    @property
    def job(self):
        self.left -= 1
        return self._job if self.left >= 0 else None


def forgetful_page():
    import streamlit as st

    from pages.parts.sections.streaming import stream

    stream([st.session_state.work], (st.container(), lambda asks: asks()))


@pytest.mark.parametrize("state", [WAITING, RUNNING, DONE, CANCELLED, FAILED])
def test_work_may_be_forgotten_at_any_moment_while_it_is_drawn(state):
    for after in range(14):
        job = Job("forgotten", "work")
        job.state, job.done, job.total = state, 3, 10
        if state == CANCELLED:
            job.cancel()
        at = AppTest.from_function(forgetful_page)
        at.session_state["work"] = Forgotten(job, after)
        at.run()
        assert not at.exception, (after, at.exception[0].message)
        if at.session_state["work"].left >= 0:
            # It was there until the end, so that no later moment is one of this drawing.
            assert after > 3
            break
        # In the end it is offered anew, with its price.
        at.run()
        assert [button.label for button in at.button] == ["Compute work"]
        assert "10 forward passes" in at.markdown[0].value


def test_a_job_that_is_forgotten_cannot_be_cancelled_and_nothing_goes_wrong():
    for after in range(3):
        job = Job("forgotten", "work")
        Forgotten(job, after).cancel()
        assert job.cancelled() == (after > 0)


def test_what_is_cheap_starts_once_and_what_is_dear_waits():
    cheap, dear = FakeWork(), FakeWork(at_once=False)
    start([cheap, dear])
    start([cheap, dear])
    assert (cheap.asked, dear.asked) == (1, 0)


class Dear(FakeWork):
    """It waits to be asked for, and is done at once."""

    def __init__(self, key):
        self.key = self.label = key
        self.at_once, self.job, self.asked = False, None, 0

    def ask(self, wanted=True):
        self.asked += 1
        self.job = Job(self.key, self.key)
        self.job.state = DONE


def page_of_two_streams():
    import streamlit as st

    from pages.parts.sections.streaming import stream

    for name in ("above", "behind a tab"):
        stream(st.session_state.works, (st.container(), lambda asks: asks()), name=name, together=st.session_state.many)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("state", [None, CANCELLED, FAILED, RUNNING])
def test_the_same_work_may_be_offered_in_two_parts_of_a_page_and_twice_in_one(state, many):
    """A page offers the work of its model, and behind a tab that of every seed, its model among them."""
    works = [Dear(key) for key in ("work", "work", "other")]
    if state is not None:
        for work in works[:2]:
            work.job = Job("work", "work")
            work.job.state = state
    at = AppTest.from_function(page_of_two_streams)
    at.session_state["works"], at.session_state["many"] = works, many
    at.run()
    assert not at.exception, at.exception[0].message
    assert [str(one.key) for one in at.button if str(one.key).startswith("cancel-")] == (
        ["cancel-above", "cancel-behind a tab"] if state == RUNNING else []
    )
    offers = [one for one in at.button if one.label == "Compute work"]
    assert len(offers) == (0 if state == RUNNING else 2)
    if offers:
        offers[1].click().run()
        assert not at.exception and sum(work.asked for work in works) == 1


class Brief(FakeWork):
    """It is cheap once `cheap()`, and its job ends by itself a moment after it was asked for."""

    def __init__(self, key, cheap=lambda: True):
        self.key, self.cheap, self.job, self.asked = key, cheap, None, 0

    at_once = property(lambda self: self.cheap())

    def ask(self, wanted=True):
        self.asked += 1
        self.job = Job(self.key, self.key)
        self.job.state = RUNNING
        Timer(0.1, setattr, (self.job, "state", DONE)).start()


def measuring_page():
    import streamlit as st

    from pages.parts.sections.streaming import stream

    def draw(asks):
        st.session_state.drawn += 1
        asks()

    stream(lambda: st.session_state.works, (st.container(), draw))


@pytest.mark.parametrize("when", ["while the page waits", "while it is drawn"])
def test_what_turns_out_cheap_starts_and_is_not_waited_for_in_vain(when):
    """A price falls once passes are measured, without anything under way that would have the page drawn again."""
    at = AppTest.from_function(measuring_page)
    at.session_state["drawn"] = 0
    if when == "while the page waits":
        works = [first := Brief("first"), Brief("second", lambda: first.complete)]
    else:
        works = [Brief("only", lambda: at.session_state["drawn"] > 0)]
    at.session_state["works"] = works
    at.run()
    assert not at.exception and [work.asked for work in works] == [1] * len(works)


class Lost(FakeWork):
    """Its job is forgotten the moment that it ends, and it ends at once."""

    key = "lost"

    def ask(self, wanted=True):
        self.asked += 1


def test_what_is_forgotten_as_soon_as_it_ends_is_not_started_for_ever():
    at = AppTest.from_function(measuring_page, default_timeout=20)
    at.session_state["drawn"], at.session_state["works"] = 0, [lost := Lost()]
    at.run()
    assert not at.exception and (lost.asked, at.session_state["drawn"]) == (1, 1)


@pytest.mark.parametrize("stopped", [True, False])
def test_after_a_cancel_nothing_that_comes_later_starts_by_itself(stopped):
    """Random orders that become possible once limits are there used to start behind a search that was just
    cancelled.
    """
    follows = FakeWork()
    start([FakeWork(job=FakeJob(stopped)), follows])
    assert follows.asked == (not stopped)


def test_a_model_under_another_name_is_not_set_beside_itself(monkeypatch):
    from types import SimpleNamespace

    from core.network.architectures import UnsupportedModel
    from pages.parts.sections import asking

    models = {
        name: SimpleNamespace(model=SimpleNamespace(name=name, digest=digest, mask_id=1, unknown_id=None))
        for name, digest in (("one", "a"), ("copy", "a"), ("other", "b"))
    }
    monkeypatch.setattr(asking.resources, "explainer", models.get)
    shown = [models["one"].model]
    assert asking.other_model("other", shown) is models["other"]
    with pytest.raises(UnsupportedModel, match="the weights of one"):
        asking.other_model("copy", shown)


def slow_page():
    import time

    import streamlit as st

    from pages.parts.frame import resources
    from pages.parts.sections.streaming import stream

    def draw(asks):
        until = time.thread_time() + 0.3
        while time.thread_time() < until:
            pass
        asks()

    stream([st.session_state.work], (st.container(), draw), name="slow")
    st.session_state.drawing = dict(resources.drawing_seconds())


def test_of_many_works_those_that_have_their_turn_are_named_and_the_others_counted():
    def work(name, started=False, counts=""):
        job = SimpleNamespace(started=started)
        return SimpleNamespace(label=f"{name} (m, 1 example)", counts=counts, job=job)

    few = [work("a", True, ", 3 batches"), work("b"), work("c")]
    assert _together(few) == "a, 3 batches, b, c (m, 1 example)"
    many = _together([*few, work("d")])
    assert many.startswith("a (m, 1 example), 3 batches") and many.endswith("3 other parts")
    none = _together([work(name) for name in "abcd"])
    assert none.startswith("a (m, 1 example)") and none.endswith("3 other parts"), "before any has its turn"


def test_what_takes_long_to_draw_is_drawn_less_often_and_yet_every_second():
    assert seconds_between(0.0, 0.4) == 0.4 and seconds_between(0.05, 0.4) == 0.4
    assert seconds_between(0.2, 0.4) == pytest.approx(0.8)
    assert seconds_between(5.0, 0.4) == 1.0 and seconds_between(5.0, 3.0) == 3.0
    page = AppTest.from_function(slow_page)
    page.session_state.work = FakeWork(False)
    page.run()
    assert not page.exception
    assert {name: 0.3 <= taken < 3 for (_, name), taken in page.session_state.drawing.items()}["slow"]


def test_what_goes_on_for_long_is_drawn_less_often():
    def work(seconds, active=True, batch=False):
        return SimpleNamespace(seconds=seconds, active=active, batch=batch)

    assert [_least([work(seconds)]) for seconds in (0, 3, 4.8, 8, 3600)] == pytest.approx([0.4, 0.4, 0.6, 1.0, 1.0])
    assert _least([work(1), work(3600, active=False)]) == 0.4 and _least([work(2), work(2.8)]) == pytest.approx(0.6)
    assert _least([work(1, batch=True)]) == 1.0 and _least([]) == 0.4


def test_what_goes_on_elsewhere_stands_in_the_sidebar_and_is_stopped_there(server):
    from threading import Event

    from pages.parts.frame import resources
    from tests.app_session import App, wait
    from tests.waiting import until

    let_go = Event()

    def work(job):
        job.report(43, 100)
        while not (let_go.wait(0.01) or job.cancelled()):
            pass
        if job.cancelled():
            raise Cancelled
        return 1

    app = App("pages/attributions.py", measures=["gradient"])
    wait(app, lambda: not resources.jobs().active())
    (me,) = resources.jobs()._viewers._views

    def asked(key, place, asker=me):
        return resources.jobs().submit(key, f"beam *{key}*", work, place=place, asker=asker)

    def stops():
        return [button.label for button in app.at.sidebar.button if button.label.startswith("Stop")]

    elsewhere = asked("there", "Recursive masking, s041")
    # What stands on the page itself, and what others asked for.
    asked("here", f"Attributions, {app.example}"), asked("others", "Model check", "you")
    until(lambda: elsewhere.done)
    assert stops() == [] and app.run() and stops() == ["Stop beam \\*there\\*"]
    assert "beam *there*" in app.said and "s041: 43 %" in app.said
    app.press("Stop", exact=False)
    assert elsewhere.cancelled()
    wait(app, lambda: not stops())
    let_go.set()


def resting_page():
    import streamlit as st

    from pages.parts.sections.streaming import stream

    state = st.session_state

    def draw(asks):
        state.drawn += 1
        asks()

    rests_on = (lambda: state.known.pop() if len(state.known) > 1 else state.known[0]) if state.rests else None
    stage, said = st.container(), st.container()
    stream([state.work], (stage, draw), (said, lambda: None), rests_on=rests_on)


@pytest.mark.parametrize("rests", [True, False])
def test_what_rests_on_nothing_new_is_not_drawn_again_while_progress_goes_on(rests, monkeypatch):
    looks = []

    def fragment(drawn, run_every=None):
        looks.append((drawn.__name__, run_every))
        return drawn

    job = Job("resting", "work")
    job.state, job.done, job.total = RUNNING, 3, 10
    monkeypatch.setattr("pages.parts.sections.streaming.st.fragment", fragment)
    monkeypatch.setattr("pages.parts.sections.streaming._OF_ONE", 0.7)
    at = AppTest.from_function(resting_page)
    for name, value in {"work": FakeWork(job=job), "rests": rests, "known": ["one"], "drawn": 0}.items():
        at.session_state[name] = value
    at.run()
    assert not at.exception and at.session_state["drawn"] == 1
    wanted = [("<lambda>", None), ("show", None), ("follow", 0.7)] if rests else [("<lambda>", 0.7), ("show", 0.7)]
    assert looks == wanted and [one.label for one in at.button] == ["Cancel"]
    if rests:
        # What it rests on changes while it is drawn: the page is drawn anew, once.
        at.session_state["known"], at.session_state["drawn"] = ["new", "old"], 0
        at.run()
        assert at.session_state["known"] == ["new"] and at.session_state["drawn"] in (1, 2)
        assert [one.label for one in at.button] == ["Cancel"] and not at.exception
