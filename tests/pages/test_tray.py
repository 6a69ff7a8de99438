"""What goes on for a session away from its page, as its sidebar lists it."""

from threading import Event

import pytest
from streamlit.testing.v1 import AppTest

from core.job import Job
from core.jobs import Jobs
from pages.parts.frame import resources, tray
from pages.parts.frame.working import waiting_for
from tests.waiting import until

ME, PLACE = "me", "Attributions, s001"


def page():
    import streamlit as st

    from pages.parts.frame import resources, tray

    jobs = resources.jobs()
    jobs.arrives("me")
    tray.draw_tray()
    # The browser asks for its fragments a second after the page is drawn.
    jobs.looks("me", st.session_state.looked)
    if st.session_state.get("later"):
        st.session_state.fragment()


@pytest.fixture
def asked(monkeypatch):
    """Jobs of a server of which the first is at work, and what draws a page that looks at some of them."""
    import streamlit

    jobs, go = Jobs(), Event()
    monkeypatch.setattr(resources, "jobs", lambda: jobs)
    monkeypatch.setattr(tray, "viewer", lambda: ME)
    monkeypatch.setattr(tray, "place_of", lambda batch: PLACE.partition(",")[0] if batch else PLACE)

    def fragment(show, run_every):
        streamlit.session_state["fragment"] = show
        return show

    monkeypatch.setattr(streamlit, "fragment", fragment)
    app = AppTest.from_function(page)

    def shown(looked, later):
        app.session_state["looked"], app.session_state["later"] = looked, later
        app.run()
        assert not app.exception
        return [caption.value for caption in app.caption]

    def ask(key, place=PLACE, asker=ME, wanted=True, batch=False):
        def work(job):
            for done in (0, 2) if batch else ():
                job.report(done, 5)
            return go.wait(10)

        return jobs.submit(key, key, work, place=place, asker=asker, wanted=wanted, batch=batch)

    ask.shown, ask.jobs = shown, jobs
    yield ask
    go.set()
    jobs.close()


def test_work_of_another_model_on_the_same_page_goes_on_elsewhere(asked):
    job = asked("path")
    until(lambda: job.started)
    line = "path · Attributions, s001: at work"
    assert asked.shown(["path"], later=True) == []
    assert asked.shown(["another model's"], later=False) == [], "until the page is drawn it is not known"
    app_lines = asked.shown(["another model's"], later=True)
    assert app_lines == ["**Goes on elsewhere**", line]
    assert asked.shown(["another model's"], later=False) == app_lines, "drawn anew, it stays listed"
    assert asked.shown(["path"], later=True)[2:] == [], "chosen again, it stands on the page"
    assert asked.shown(["path"], later=False) == []


def test_what_another_page_asked_for_first_is_here_where_it_is_looked_at(asked):
    asked("path", "Recursive masking, s001", "you")
    asked("path")
    assert asked.shown(["path"], later=True)[2:] == []
    assert asked.shown(["path"], later=False) == []


def test_what_started_by_itself_or_others_asked_for_is_not_listed(asked):
    asked("itself", "Model check", wanted=False)
    asked("theirs", "Model check", "you")
    assert asked.shown(["itself"], later=False) == []


def test_what_began_by_itself_over_many_says_that_it_stands_still_away_from_its_page(asked):
    asked.jobs.looks(ME, ["texts of *reviews*"])
    own = asked("texts of *reviews*", "Data set", wanted=False, batch=True)
    asked("theirs", "Data set", "you", wanted=False, batch=True)
    asked("of one text", "Attributions, s002", wanted=False)
    until(lambda: own.done)
    line = r"texts of \*reviews\* · Data set: 40 %; it stands still until you come back to Data set."
    assert asked.shown([], later=False) == [line] and asked.shown([], later=True) == [line, line]
    asked.jobs.looks(ME, [own.key])
    assert not own.parked, "where it is looked at it goes on"
    asked(own.key, "Data set", wanted=True, batch=True)
    told = asked.shown([], later=False)
    assert told[0] == "**Goes on elsewhere**" and line not in told, "once it is asked for it goes on"


def test_what_is_done_but_for_its_end_does_not_say_that_it_stands_still(asked):
    asked.jobs.looks(ME, ["texts"])
    own = asked("texts", "Data set", wanted=False, batch=True)
    until(lambda: own.done)
    own.report(996, 1000)
    (line,) = asked.shown([], later=False)
    assert line.startswith("texts · Data set: 99 %") and "still" in line
    own.report(1000, 1000)
    assert asked.shown([], later=False) == []


def test_what_stands_still_does_not_stand_under_what_goes_on(asked):
    asked.jobs.looks(ME, ["texts"])
    own = asked("texts", "Data set", wanted=False, batch=True)
    until(lambda: own.done)
    asked("path", "Recursive masking, s001")
    still = "texts · Data set: 40 %; it stands still until you come back to Data set."
    assert asked.shown([], later=False)[:2] == [still, "**Goes on elsewhere**"]


def test_what_waits_says_so(asked):
    first = asked("first", "Model check")
    until(lambda: first.started)
    asked("second", "Model check")
    assert [line.rpartition(": ")[2] for line in asked.shown([], later=False)[1:]] == ["at work", "waiting for first"]


def test_what_it_waits_for_is_named_where_this_person_asked_for_it():
    path, beam = Job("path", "path of *gradient*"), Job("beam", "beam")
    other = waiting_for([path], ME)
    assert waiting_for([], ME) == "" and "gradient" not in other
    path.askers = {ME}
    named = waiting_for([path], ME)
    assert named.endswith(path.label)
    assert waiting_for([path, beam], ME) == f"{named} and 1 more job"
    assert waiting_for([beam, path, beam], ME) == f"{other} and 2 more jobs"
