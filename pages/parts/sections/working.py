"""Work that a page asks for as jobs: what is cheap starts at once, what is dear says its cost and waits, and all of it
can be cancelled.
"""

import time

import streamlit as st

from core import jobs
from core.wording import duration, plain
from pages.parts.frame import resources

# What takes longer waits to be asked for.
AT_ONCE_SECONDS = 10.0
# What lies in the store is there within this; then the page need not be drawn twice.
_PATIENCE = 0.35


class Work(jobs.Work):
    """Work of a page: a job of this server, found by its key."""

    @property
    def job(self):
        return resources.jobs().find(self.key)

    @property
    def complete(self) -> bool:
        job = self.job
        return job is not None and job.state == "done"

    @property
    def runs(self) -> bool:
        """Whether it is being computed or waits for its turn."""
        job = self.job
        return job is not None and job.active and not job.cancelled()

    @property
    def begun(self) -> bool:
        """Whether something of it is computed, so that asking again goes on from there."""
        job = self.job
        return job is not None and job.done > 0

    @property
    def price(self) -> str:
        """What it costs, in words."""
        return f"at most {self.cost.passes:,} forward passes, about {duration(self.cost.seconds)}"

    @property
    def at_once(self) -> bool:
        """Whether it starts without being asked for."""
        return self.cost.seconds <= AT_ONCE_SECONDS

    @property
    def progress(self) -> tuple[int, int]:
        """What is done, and all."""
        job = self.job
        return (0, 1) if job is None or not job.total else (job.done, job.total)

    def cancel(self) -> None:
        """Stop at the next batch; what is computed stays."""
        if self.job is not None:
            self.job.cancel()

    def ask(self) -> None:
        """Start the job, or let the one that is there go on."""
        resources.jobs().submit(self.key, self.label, self.run)


def start(works: list[Work]) -> None:
    """Start what is cheap and was not asked for yet, and wait a moment for what only has to be read.

    Where something of it was cancelled nothing starts by itself: what comes after it waits to be asked for, too.
    """
    stopped = any(work.job is not None and work.job.cancelled() for work in works)
    for work in works:
        if work.job is None and work.at_once and not stopped:
            work.ask()
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and going(works):
        time.sleep(0.02)


def going(works: list[Work]) -> bool:
    """Whether any of them is being computed, or waits for its turn."""
    return any(work.job is not None and work.job.active for work in works)


def progress(works: list, key: str = "works") -> None:
    """How far what is under way is, together; key: of its button, unique on the page."""
    under_way = [work for work in works if work.runs]
    if not under_way:
        return

    def cancel() -> None:
        for work in under_way:
            work.cancel()

    share = sum(done / total for done, total in (work.progress for work in under_way)) / len(under_way)
    ahead = min(resources.jobs().ahead(work.key) for work in under_way)
    seconds = [work.job.remaining_seconds for work in under_way]
    left = f", about {duration(sum(seconds))} left" if None not in seconds and share > 0.02 else ""
    waits = (
        f" ({ahead} other job{'' if ahead == 1 else 's'} asked for before; yours come in turn)"
        if ahead and not share
        else ""
    )
    named = plain(", ".join(work.label + _counts(work) for work in under_way))
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.progress(share, f"Computing {named}{waits}{left}")
        st.button("Cancel", key=f"cancel-{key}", on_click=cancel)


def _counts(work: Work) -> str:
    done, total = work.progress
    return f", {done:,} of at most {total:,} {work.counted}" if work.counted and done else ""


def offer(work) -> None:
    """What something costs that waits to be asked for, and why it stopped; nothing where it is under way or
    complete.
    """
    job = work.job
    if work.complete or work.runs:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.button(
            f"{'Go on with' if work.begun else 'Compute'} {plain(work.label)}", key=f"ask-{work.key}", on_click=work.ask
        )
        st.markdown(work.price)
        if job is not None and job.state == "failed":
            st.error(f"{plain(work.label)} stopped: {plain(job.problem)}")
        elif job is not None and job.cancelled():
            st.caption("Cancelled; what was computed is kept, and asking again goes on from there.")
