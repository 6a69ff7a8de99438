"""What goes on elsewhere for this session, in the sidebar: for which page and example, how far it is, and a stop."""

import streamlit as st

from core.jobs import Job
from core.wording import duration, plain
from pages.parts.frame import resources
from pages.parts.frame.working import place_of, viewer

# More than this are counted.
_MOST = 4
_SECONDS = 1.0


def draw_tray() -> None:
    """Draw it at the end of the sidebar; nothing where nothing goes on that is not on the page itself."""
    polls = bool(_elsewhere())

    def show() -> None:
        running = _elsewhere()
        if polls and not running:
            # The page stops to look for it.
            st.rerun()
        for job in running[:_MOST]:
            _line(job)
        if len(running) > _MOST:
            st.caption(f"and {len(running) - _MOST:,} more")

    if polls:
        st.caption("**Goes on elsewhere**")
        st.fragment(show, run_every=_SECONDS)()


def _elsewhere() -> list[Job]:
    """What this session asked for and is not asked for on this page at this example."""
    me = viewer()
    every = resources.jobs().active()
    return [job for job in every if me in job.askers and job.place != place_of(job.batch) and not job.cancelled()]


def _line(job: Job) -> None:
    seconds, jobs = resources.jobs().seconds_left(job.key), resources.jobs()
    far = f"{100 * job.done / job.total:.0f} %" if job.total else "waits" if jobs.ahead(job.key) else "begins"
    left = "" if seconds is None else f", about {duration(seconds)} left"
    with st.container(gap=None):
        st.caption(f"{plain(job.label)} · {plain(job.place)}: {far}{left}")
        st.button(
            f"Stop {plain(job.label)}",
            key=f"stop-{job.key}",
            on_click=job.cancel,
            type="tertiary",
            icon=":material/close:",
        )
