"""A part of a page that streams: here the work that it declares is started, looked for, offered and cancelled."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.job import FAILED
from core.wording import amount, estimate, plain
from pages.parts.frame import resources
from pages.parts.frame.working import Work, look, price_of, waits_in_words

# What lies in the store is there within this; then the page need not be drawn twice.
_PATIENCE = 0.35
# Seconds from one drawing to the next, at least; what took long to draw when it was drawn last is drawn less often.
# Each takes a browser an eighth of a second: work on one example is drawn about _DRAWINGS times, or once a second.
_OF_ONE, _OF_MANY, _DRAWINGS = 0.4, 1.0, 8
# The share of the time that drawing again may take (the rest is for the work itself), and the seconds after which what
# is new is shown all the same.
_SHARE, _LONGEST = 0.25, 1.0
# So many works are named together; of more those that have their turn.
_STACKED = 3


def stream(
    works: Sequence[Work] | Callable[[], Sequence[Work]],
    picture: tuple[DeltaGenerator, Callable[[Callable[[], None]], None]] | None = None,
    answer: tuple[DeltaGenerator, Callable[[], None]] | None = None,
    *,
    rests_on: Callable[[], object] | None = None,
    name: str = "works",
    together: bool = False,
) -> None:
    """Start what is cheap, and draw what is known of all, again and again until nothing is under way.

    Args:
        works: what is asked for, or a function that gives it, where some work follows from other.
        picture: a container, and what draws there; it calls what it is given where progress and offers are to stand.
            Without it they stand here alone, and the page, which draws elsewhere what it found when it began, is drawn
            anew when any of the works is complete.
        answer: a container, and what draws the sentence there, above the picture or elsewhere.
        rests_on: gives what picture and answer rest on, or the page: they are drawn again only when that changes, and
            in between what the network computes need not wait for them; progress and offers go on.
        name: of these works, unique on the page; together: whether one button asks for all that waits.
    """
    wanted: Callable[[], Sequence[Work]] = (lambda: list(works)) if isinstance(works, Sequence) else works
    asked, tried = _started(wanted, _PATIENCE if picture else 0.0)
    stage, draw = picture or (st.container(), lambda asks: asks())
    followed = _Followed(wanted, asked, rests_on or (lambda: None), picture is not None)
    taken, spot = resources.drawing_seconds(), (urlsplit(st.context.url or "").path, name)
    interval = seconds_between(taken.get(spot, 0.0), _least(asked)) if followed.polls else None

    def asks() -> None:
        show_progress(asked, name)
        _offer(asked, together, name)

    def follow() -> None:
        followed.look()
        asks()

    def show() -> None:
        followed.look()
        stands = st.fragment(follow, run_every=interval) if rests_on else asks
        # Of this thread's own work, without waiting for the model or for others.
        began = time.thread_time()
        draw(stands)
        taken[spot] = time.thread_time() - began
        if not _going(asked) and (followed.polls or _cheap(wanted(), tried)):
            # They ended while it was drawn from what was there before, or what looked slow then no longer does.
            st.rerun()

    # Two, since the answer stands above what is chosen and the picture below it. The answer comes first: the other may
    # ask for the page to be drawn anew.
    for place, drawn in (*([answer] if answer else []), (stage, show)):
        with place:
            st.fragment(drawn, run_every=None if rests_on else interval)()


@dataclass
class _Followed:
    """What a part of a page shows of works; the page is drawn anew where it shows them no longer as they are."""

    wanted: Callable[[], Sequence[Work]]
    asked: Sequence[Work]
    state: Callable[[], object]
    draws: bool

    def __post_init__(self):
        self.polls, self.before = _going(self.asked), self.state()

    def look(self) -> None:
        """Look for them again, and rerun the page where it shows them no longer as they are."""
        # A browser that lost its server for a moment looks at them again.
        look(self.asked)
        ended = not self.draws and any(work.complete for work in self.asked)
        more = len(self.wanted()) != len(self.asked) or self.polls != _going(self.asked)
        if ended or more or self.state() != self.before:
            st.rerun()


def seconds_between(drawing: float, least: float) -> float:
    """Seconds from one drawing to the next: `least` or, up to 1, four times `drawing`, which is what it took last."""
    return max(least, min(drawing / _SHARE, _LONGEST))


def _least(works: Sequence[Work]) -> float:
    """Seconds from one drawing of works to the next, at least."""
    if any(work.batch for work in works):
        return _OF_MANY
    return min(max(_OF_ONE, sum(work.seconds for work in works if work.active) / _DRAWINGS), _OF_MANY)


def start(works: Sequence[Work], patience: float = _PATIENCE) -> None:
    """Start what is cheap and was not asked for yet, and wait some seconds for what only has to be read.

    Where something of it was cancelled nothing starts by itself: what comes after it waits to be asked for, too.
    """
    look(works)
    for work in _cheap(works):
        work.ask(wanted=False)
    until, awaited = time.monotonic() + patience, [work for work in works if not work.aside]
    while time.monotonic() < until and _going(awaited):
        time.sleep(0.02)


def _started(wanted: Callable[[], Sequence[Work]], patience: float) -> tuple[Sequence[Work], set[str]]:
    """Start what is cheap of what is wanted, and what turns out cheap or follows once that has ended; all of it, and
    the keys of what was started.
    """
    until, tried = time.monotonic() + patience, set()
    asked = wanted()
    # Once each: a job that is forgotten as soon as it ends looks as if it had never been started.
    while not tried or _cheap(asked, tried):
        tried |= {work.key for work in _cheap(asked)} or {""}
        start(asked, until - time.monotonic())
        asked = wanted()
    return asked, tried


def _cheap(works: Sequence[Work], tried: Collection[str] = ()) -> list[Work]:
    """What would start unasked, but for what was tried. A price changes with every pass that somebody measures."""
    if any(work.stopped for work in works):
        return []
    cheap = [work for work in works if work.job is None and not work.complete and work.at_once]
    return [work for work in cheap if work.key not in tried]


def _going(works: Sequence[Work]) -> bool:
    return any(work.active for work in works)


def show_progress(works: Sequence[Work], name: str) -> None:
    """How far what is under way is, together, with what cancels it; nothing where nothing is."""
    under_way = _once(work for work in works if work.runs)
    if not under_way:
        return

    def cancel() -> None:
        for work in under_way:
            work.cancel()

    share = sum(work.share for work in under_way) / len(under_way)
    waits = waits_in_words(under_way)
    seconds = [left for work in under_way if (left := work.seconds_left) is not None]
    # Each counts what goes before it and has its turns between.
    left = f", about {estimate(max(seconds))} left" if len(seconds) == len(under_way) else ""
    named = _together(under_way)
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.progress(share, plain(f"Computing {named}{f' ({waits})' if waits else ''}{left}"))
        st.button("Cancel", key=f"cancel-{name}", on_click=cancel)


def _together(works: Sequence[Work]) -> str:
    """What works are called together; what stands in brackets behind all of them once."""
    named = [*works]
    if len(works) > _STACKED:
        named = [work for work in works if work.job is not None and work.job.started] or named[:1]
    rest = f" and {amount(len(works) - len(named), 'other part')}" if len(named) < len(works) else ""
    parts = [work.label.partition(" (") for work in named]
    if len(named) == 1 or len({end for *_, end in parts}) > 1:
        return ", ".join(work.label + work.counts for work in named) + rest
    return ", ".join(name + work.counts for (name, *_), work in zip(parts, named)) + "".join(parts[0][1:]) + rest


def _offer(works: Sequence[Work], together: bool, name: str) -> None:
    """What waits to be asked for, with what it costs, and why it stopped; of many one button, and a menu of each."""
    waiting = _once(work for work in works if not work.complete and not work.runs)
    every = [work for work in waiting if not work.part]

    def ask() -> None:
        for work in every:
            work.ask()

    if not together or len(every) < 2:
        _offer_each(waiting, name)
    else:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            named, icon = f"Compute all {len(every)} parts", ":material/play_arrow:"
            st.button(named, key=f"ask-all-{name}", on_click=ask, icon=icon, type="primary")
            st.markdown(price_of(every))
            with st.popover("One part alone"):
                _offer_each(waiting, name)
    _say_ended(waiting)


def _once(works: Iterable[Work]) -> list[Work]:
    """Each work once: what is asked for in two places is one."""
    return list({work.key: work for work in works}.values())


def _offer_each(waiting: Sequence[Work], name: str) -> None:
    """A button for each, with what it costs; what two parts of a page offer has one in each."""
    for work in waiting:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            asks = work.asks_again if work.begun else work.asks
            kind = "primary" if work.first and work is waiting[0] else "secondary"
            st.button(asks.format(label=plain(work.label)), key=f"ask-{name}-{work.key}", on_click=work.ask, type=kind)
            st.markdown(work.price)


def _say_ended(waiting: Sequence[Work]) -> None:
    """Of what was told to stop or failed, that and why, each sentence once."""
    ended = [(work, job) for work in waiting if (job := work.job) is not None]
    for work, job in ended:
        if job.state == FAILED:
            st.error(work.failed.format(label=plain(work.label), problem=plain(job.problem)))
    kept = [work.kept for work, job in ended if job.state != FAILED and job.cancelled() and work.kept]
    for told in dict.fromkeys(kept):
        st.caption(told)
