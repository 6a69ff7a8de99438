"""At the end of the sidebar: what is stored, and what goes on elsewhere for this session, with a stop."""

from collections import Counter

import streamlit as st

from core.job import Job
from core.storage.holdings import delete_holding, holdings
from core.wording import amount, estimate, plain
from pages.parts.frame import resources
from pages.parts.frame.working import place_of, viewer, waiting_for

# More than this are counted.
_MOST = 4
_SECONDS = 1.0
# Where this session holds what was found last.
_FOUND = "tray-found"
_STORAGE = "storage"


def draw_tray() -> None:
    """Draw it at the end of the sidebar; nothing where nothing goes on that is not on the page itself."""
    if not _asked() and not _left():
        return
    place, drawn = place_of(batch=False), False

    def show() -> None:
        nonlocal drawn
        asked, left = _asked(), _left()
        if drawn and not asked and not left:
            # The page stops to look for it.
            st.rerun()
        away = _not_shown(asked, place) if drawn else _as_before(asked, place)
        drawn = True
        for job in left[:_MOST]:
            _still(job)
        if away:
            st.caption("**Goes on elsewhere**")
        for job in away[:_MOST]:
            _line(job)
        if len(away) > _MOST:
            st.caption(f"and {len(away) - _MOST:,} more")

    st.fragment(show, run_every=_SECONDS)()


@st.fragment
def draw_storage() -> None:
    """The button, and what it opens; the folder is looked at only once it is open."""
    opened = st.popover("Storage", icon=":material/database:", type="tertiary", on_change="rerun", key=_STORAGE)
    if opened.open:
        with opened:
            draw_holdings()


def draw_holdings() -> None:
    """A table of models and what each holds, and a button that deletes the results of one."""
    every = holdings(resources.store())
    named = Counter(one.label for one in every)
    # Other weights may have the same name.
    found = {one.label if named[one.label] == 1 else f"{one.label} {one.model[:12]}": one for one in every}
    if gone := st.session_state.pop(f"{_STORAGE} gone", None):
        st.success(plain(gone))
    st.metric("Stored results", f"{sum(one.size for one in found.values()) / 1e6:,.1f} MB")
    if not found:
        return
    columns = {"MB": st.column_config.NumberColumn(format="%.1f")}
    rows = [{"model": name, "files": one.files, "MB": one.size / 1e6} for name, one in found.items()]
    st.dataframe(rows, hide_index=True, column_config=columns)
    name = st.selectbox("Results of", list(found), key=f"{_STORAGE} model")
    st.button("Delete these results", on_click=_delete, args=(name, found[name].model), icon=":material/delete:")


def _asked() -> list[Job]:
    me = viewer()
    return [job for job in resources.jobs().active() if me in job.askers and not job.cancelled()]


def _left() -> list[Job]:
    """What began unasked over many examples on another page of this session, and stands still undone."""
    mine = [job for job in resources.jobs().parked() if job.batch and job.started and viewer() in job.seen]
    return [job for job in mine if job.place != place_of(batch=True) and job.share < 1]


def _not_shown(asked: list[Job], place: str) -> list[Job]:
    """Those that are not on the page, once that is drawn; this is remembered for the place."""
    shown = resources.jobs().looked_at(viewer())
    st.session_state[_FOUND] = (place, {job.key: job.key not in shown for job in asked})
    return [job for job in asked if job.key not in shown]


def _as_before(asked: list[Job], place: str) -> list[Job]:
    """The same while the page is not drawn yet: as it was found at this place, else by where it was asked for."""
    before, found = st.session_state.get(_FOUND, ("", {}))
    known = found if before == place else {}
    return [job for job in asked if known.get(job.key, job.place != place_of(job.batch))]


def _far(job: Job) -> str:
    """How much of it is done; what is not done to its end is never all of it."""
    return f"{int(100 * job.share + 1e-9)} %"


def _still(job: Job) -> None:
    far = f"{_far(job)}; it" if job.far else "it"
    where = plain(job.place)
    st.caption(f"{plain(job.label)} · {where}: {far} stands still until you come back to {where}.")


def _line(job: Job) -> None:
    seconds, waits = resources.jobs().seconds_left(job.key), waiting_for(resources.jobs().waits_for(job.key), viewer())
    begins = waits or ("at work" if job.started else "begins")
    far = f"{_far(job)}{waits and ', '}{waits}" if job.far else begins
    left = "" if seconds is None else f", about {estimate(seconds)} left"
    # By its key the page's voice knows it, see `pages/parts/components/voice.js`.
    with st.container(gap=None, key=f"elsewhere-{job.key}"):
        st.caption(f"{plain(job.label)} · {plain(job.place)}: {plain(far)}{left}")
        stop, icon = f"Stop {plain(job.label)}", ":material/close:"
        st.button(stop, key=f"stop-{job.key}", on_click=job.cancel, type="tertiary", icon=icon)


def _delete(name: str, model: str) -> None:
    count = delete_holding(resources.store(), model)
    st.session_state[f"{_STORAGE} gone"] = f"{amount(count, 'file')} of {name} deleted."
