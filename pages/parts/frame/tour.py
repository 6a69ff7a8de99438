"""For who comes first: one sentence masked step by step, and a tour over the real pages.

The strip ships, so that it is drawn before any model is loaded. A stop of the tour is a link, with one line for whoever
speaks; a line names no number: those on the page are the app's own.
"""

import functools
import json
from typing import NamedTuple

import streamlit as st

from core.settings import BUNDLED
from core.validity.marks import SIGN
from core.wording import plain
from pages.parts.frame.links import forget, held, hold, visit

STRIP = BUNDLED / "computed" / "strip.json"
_KEY = "tour"
_SHOWN = ("model", "data", "example")


class Stop(NamedTuple):
    """One stop: the page's title and file, what is said there, and the choices of its address."""

    title: str
    path: str
    line: str
    choices: dict[str, str]


_EXAMPLE = {"model": "sst2-fmm", "data": "reviews", "example": "s009"}
_TWIN = {"beside": "sst2-plain"}
STOPS = (
    Stop(
        "Examples",
        "pages/examples.py",
        "What a classifier of reviews gets wrong although it is sure. Chosen in the sidebar is “Not one of the 190 "
        'minutes in "Saltmarsh Requiem" is wasted.”: praise by two negations, which it calls negative.',
        _EXAMPLE | {"outcome": "wrong", "tag": "negation", "order": "confidence", "descending": "1"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "Why? Three importance measures colour the words, and they disagree on “wasted”. Which is to be believed? Only "
        "one whose order of words, masked one by one, does better than random orders.",
        _EXAMPLE | {"says": "which measures to believe"},
    ),
    Stop(
        "Recursive masking",
        "pages/recursive_masking.py",
        "Mask what a measure ranks first, step by step, computed anew after each. A measure that found the words that "
        "matter changes the prediction soon: press the arrows. Further down, each against random order.",
        _EXAMPLE | {"step": "3"},
    ),
    Stop(
        "Recursive masking",
        "pages/recursive_masking.py",
        "The same steps under sst2-fmm, trained to be masked, and under its twin sst2-plain, trained without. Where a "
        "step is red with ✕ the model no longer knows such inputs, and what it predicts there says nothing.",
        _EXAMPLE | _TWIN | {"step": "8"},
    ),
    Stop(
        "AOPC and NAOPC",
        "pages/aopc_and_naopc.py",
        "By its raw score (AOPC) leave-one-out looks better under sst2-plain; set between the worst and the best order "
        "that each model allows (NAOPC), under sst2-fmm. The twin’s score rests on inputs that it does not know "
        f"({SIGN}), so neither is shown to be better.",
        _EXAMPLE | _TWIN | {"example": "s206"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "A story and a question. The words that hold the answer are known, and have a line above them. A measure may "
        "find them and not be faithful; or be faithful to a model that decides by others.",
        {"model": "stories-1-fmm", "data": "stories 1"},
    ),
    Stop(
        "Model check",
        "pages/model_check.py",
        "One sentence proves little, so ask many. What was said of single texts holds: each was tested by itself. Over "
        "many, too many are rejected; a good part are longer or shorter than those of the model’s reference, which "
        "alone may be why. So the app withholds its trust in averages, and says what to do.",
        {"model": "sst2-fmm", "data": "reviews"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "That was the tour: measures disagree, masking tests what each ranks first, and a test tells where the model "
        "no longer knows its inputs. Now a text of yours: type or paste it below and press Explain, or leave.",
        {"model": "sst2-fmm", "data": "own text"},
    ),
)
_END = "Your text is on every page now. Go on with more examples, or check a model of your own."


def take(stop: int) -> None:
    """Go to a stop, from 1, with its choices and nothing else chosen."""
    one = STOPS[stop - 1]
    visit(one.path, **one.choices, **{_KEY: str(stop)})


def tour_bar(title: str) -> None:
    """Where a tour is under way: its line, and the ways on; title: the page that is drawn."""
    asked = held(_KEY)
    if asked is None:
        return
    stops = [str(stop) for stop in range(1, len(STOPS) + 1)]
    if asked not in stops:
        forget(_KEY)
        return
    hold(_KEY, asked)
    st.query_params[_KEY] = asked
    at = int(asked)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="tour"):
        said, ways = st.container(), st.container(horizontal=True, width=280)
        # The last stop asks for a text; with one, the tour is over on every page.
        ended = at == len(STOPS) and held("data") == STOPS[-1].choices["data"] and held("text")
        with ways:
            told = _end(at) if ended else _at(at, title)
            st.button(
                "Leave the tour", key="tour-leave", on_click=forget, args=(_KEY,), help="The page stays as it is."
            )
        said.markdown(told)


def _at(at: int, title: str) -> str:
    """Draw the ways on from a stop, on the page of this title; its line as Markdown."""
    stop = STOPS[at - 1]
    # Of another example its line would be untrue.
    here = stop.title == title and all(held(key) == stop.choices.get(key, held(key)) for key in _SHOWN)
    told = f"**Tour, stop {at} of {len(STOPS)}.** "
    if here:
        if at < len(STOPS) and st.button(
            "Continue the tour", key="tour-next", type="primary", icon=":material/tour:", width="stretch"
        ):
            take(at + 1)
        told += plain(f"{stop.line}{shown_here(at)}")
    else:
        if st.button("Back to the tour", key="tour-return", type="primary", icon=":material/tour:", width="stretch"):
            take(at)
        left = f"It goes on at {stop.title}" + " with what it showed there" * (stop.title == title)
        told += plain(f"{left}.")
    _back(at)
    return told


def _back(at: int) -> None:
    if st.button("Previous stop", key="tour-back", disabled=at == 1, icon=":material/arrow_back:"):
        take(at - 1)


def shown_here(at: int) -> str:
    """What a stop shows that the one before it did not: " Here: stories-1-fmm, stories 1."; "" where it is the same."""
    named = [[STOPS[i].choices.get(key) for key in (*_SHOWN, "beside")] for i in (at - 2, at - 1) if i >= 0]
    return "" if len(named) == 2 and named[0] == named[1] else f" Here: {', '.join(filter(None, named[-1]))}."


def _end(at: int) -> str:
    """Draw where to go once the tour is over; what is said of it as Markdown."""
    of_data = {key: _EXAMPLE[key] for key in ("model", "data")}
    if st.button("More examples", key="tour-examples", type="primary"):
        visit("pages/examples.py", **of_data)
    if st.button("Check a model", key="tour-check", type="primary"):
        visit("pages/model_check.py", **of_data)
    _back(at)
    return f"**Tour, stop {at} of {len(STOPS)}: the end.** {plain(_END)}"


class Strip(NamedTuple):
    """What is said above it, text, and what `pages.parts.components.player.player` draws."""

    said: str
    shown: dict


@functools.cache
def shipped_strip() -> Strip | None:
    """The strip that ships (`python -m tests.shipping` writes it); None where it cannot be read."""
    try:
        return Strip(**json.loads(STRIP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
