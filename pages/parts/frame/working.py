"""Work that a page asks for: a job of this server, found by its key, with its cost and what is known of it."""

import abc
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.explanation.explainer import Cost
from core.job import DONE, Job
from core.network.model import Model
from core.wording import amount, estimate
from pages.parts.frame import resources
from pages.parts.frame.links import held, shown_page

# What takes longer waits to be asked for.
AT_ONCE_SECONDS = 10.0


class Work(abc.ABC):
    """What a page asks for; how far it is says a job of this server, found by its key. A job that has ended may be
    forgotten at any moment, so whoever asks two things of one asks for it once.

    counted: what its progress counts, where a person should see the numbers; batch: whether it is about many examples.
    asks, asks_again: what its button says before anything of it is computed, and after; failed: what is said of it
    once it failed. Texts in which {label} and {problem} stand for what they name. kept: what is said once it was
    cancelled; first: whether its button is the first to press; part: whether other work on the page holds it; aside:
    the page is not for it: it is drawn without it, and it goes after what is.
    """

    counted = ""
    asks, asks_again = "Compute {label}", "Go on with {label}"
    kept = "Cancelled; what was computed is kept, and asking again goes on from there."
    failed = "{label} stopped: {problem}"
    batch = first = part = aside = False
    # What stands before the time that it takes; and what work is like it, of which a token takes about as long.
    about, likeness = "about", ""

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

    @property
    def job(self) -> Job | None:
        return resources.jobs().find(self.key)

    @property
    def latest(self) -> Any:
        """What is known of it: all, else what came last, also of a stopped one; None before there is anything."""
        return None if (job := self.job) is None else job.latest

    @property
    def complete(self) -> bool:
        return (job := self.job) is not None and job.state == DONE

    @property
    def active(self) -> bool:
        """Whether its job has not ended yet, told to stop or not."""
        return (job := self.job) is not None and job.active

    @property
    def stopped(self) -> bool:
        """Whether somebody cancelled it."""
        return (job := self.job) is not None and job.cancelled()

    @property
    def runs(self) -> bool:
        """Whether it is being computed or waits for its turn."""
        return (job := self.job) is not None and job.active and not job.cancelled()

    @property
    def seconds_left(self) -> float | None:
        """Expected seconds to its end by the clock, with what goes before it; None where nobody can tell."""
        return resources.jobs().seconds_left(self.key)

    @property
    def begun(self) -> bool:
        """Whether something of it is computed, so that asking again goes on from there."""
        return (job := self.job) is not None and job.done > 0

    @property
    def price(self) -> str:
        """What it costs, in words."""
        return _price(self.cost.passes, self.about, self.takes)

    @property
    def seconds(self) -> float:
        """Expected seconds of its own work, by the clock."""
        return resources.jobs().expects(self.cost, self.likeness)

    @property
    def takes(self) -> str:
        """How long it takes if it is asked for now, in words."""
        return _takes(self.seconds, self.batch)

    @property
    def at_once(self) -> bool:
        """Whether it starts without being asked for."""
        return self.cost.seconds <= AT_ONCE_SECONDS

    @property
    def comes(self) -> bool:
        """Whether it is under way, or will be without being asked for."""
        return self.runs or (self.job is None and not self.complete and self.at_once)

    @property
    def progress(self) -> tuple[int, int]:
        """What is done, and all."""
        job = self.job
        return (0, 1) if job is None or not job.total else (job.done, job.total)

    @property
    def share(self) -> float:
        """How much is done, 0 to 1, also between pieces of it."""
        return 0.0 if (job := self.job) is None else job.share

    @property
    def counts(self) -> str:
        """What is done of it, in words that follow its label; "" where nothing is counted."""
        done, total = self.progress
        return f", {done:,} of at most {total:,} {self.counted}" if self.counted and done else ""

    def cancel(self) -> None:
        """Stop at the next batch; what is computed stays."""
        if (job := self.job) is not None:
            job.cancel()

    def ask(self, wanted: bool = True) -> None:
        """Start the job, or let it go on; wanted: a person asked for it, so that it goes on when nobody looks."""
        if wanted or self.key not in resources.jobs().looked_at(viewer()):
            resources.jobs().looks(viewer(), [self.key])
        resources.jobs().submit(
            self.key,
            self.label,
            self.run,
            wanted=wanted,
            batch=self.batch,
            place=place_of(self.batch),
            expected=self.seconds,
            asker=viewer(),
            kind=self.likeness,
            tokens=self.cost.tokens,
        )


def price_of(works: Sequence[Work]) -> str:
    """What several cost together, in words."""
    about = "up to" if any(work.about == "up to" for work in works) else "about"
    took = _takes(sum(work.seconds for work in works), all(work.batch for work in works))
    return _price(sum(work.cost.passes for work in works), about, took)


def _price(passes: int, about: str, takes: str) -> str:
    return f"at most {amount(passes, 'forward pass')}, {about} {takes}"


def _takes(own: float, batch: bool) -> str:
    """Until so many seconds of work are done if it is asked for now, with what goes before it or between."""
    return estimate(resources.jobs().seconds_until(own, batch))


def viewer() -> str:
    """The session that this run of a page is for; "" where there is none."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else context.session_id


def arrive_anew() -> None:
    """A page begins to be drawn: what this session looked at before, it has left."""
    # Streamlit runs a page on a thread that ends with it.
    resources.jobs().arrives(viewer(), threading.current_thread().is_alive)


def look(works: Sequence[Work]) -> None:
    """These works are on the page that this session looks at, or aside of it: they go before all others."""
    for aside in {work.aside for work in works}:
        resources.jobs().looks(viewer(), [work.key for work in works if work.aside is aside], aside)


def place_of(batch: bool) -> str:
    """Where something is asked for, in words: the page, and its example unless it is about many."""
    example = None if batch else held("example")
    return shown_page() if example is None else f"{shown_page()}, {example}"


def waits_in_words(works: Sequence[Work]) -> str:
    """What works wait for that stand still, all of them: "waiting for …"; "" while one is at work, or has its turns."""
    found = min((resources.jobs().waits_for(work.key) for work in works), key=len, default=[])
    return waiting_for(found, viewer())


def waiting_for(jobs: Sequence[Job], me: str) -> str:
    """That these jobs go first, in words: the first by its name where this viewer asked for it; "" for none."""
    if not jobs:
        return ""
    named = jobs[0].label if me in jobs[0].askers else "another job"
    more = len(jobs) - 1
    return f"waiting for {named}" + (f" and {more:,} more job{'' if more == 1 else 's'}" if more else "")


@contextmanager
def in_turn(model: Model) -> Generator[None]:
    """Say how many ask this model now, if anybody does; whoever asked first is served first, batch by batch."""
    others = model.lock.waiting
    if not others:
        yield
        return
    with st.spinner(f"{others} other{'' if others == 1 else 's'} asked this model before; yours comes in turn …"):
        yield
