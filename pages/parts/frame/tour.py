"""For who comes first: one sentence masked step by step, and a tour over the real pages.

The strip ships, so that it is drawn before any model is loaded. A stop of the tour is a link, with one line for whoever
speaks; a line names no number: those on the page are the app's own.
"""

import functools
import json
from typing import NamedTuple

import streamlit as st

from core.settings import BUNDLED
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
        "What a classifier of reviews gets wrong although it is sure. The chosen sentence praises with two negations.",
        _EXAMPLE | {"outcome": "wrong", "tag": "negation", "order": "confidence", "descending": "1"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "Why? Three importance measures colour the words, and they disagree: see “wasted”. Which is to be believed?",
        _EXAMPLE,
    ),
    Stop(
        "Recursive masking",
        "pages/recursive_masking.py",
        "Mask what each measure names, step by step: one that found the words that matter changes the prediction soon, "
        "and a curve above random order names the wrong ones.",
        _EXAMPLE | {"step": "3"},
    ),
    Stop(
        "Recursive masking",
        "pages/recursive_masking.py",
        "The same steps for a twin that was trained without masking: where its words turn red it no longer knows such "
        "inputs, and its curve says nothing. The model beside it was made to be masked.",
        _EXAMPLE | _TWIN | {"step": "8"},
    ),
    Stop(
        "AOPC and NAOPC",
        "pages/aopc_and_naopc.py",
        "Raw scores compare how far two models can fall, not how good their explanations are. Set between the limits "
        "that each model allows, they can be compared.",
        _EXAMPLE | _TWIN,
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "A story whose answer rests on words that are known. A measure may find these and not be faithful, or be "
        "faithful to a model that reads something else.",
        {"model": "stories-1-fmm", "data": "stories 1"},
    ),
    Stop(
        "Model check",
        "pages/model_check.py",
        "One sentence proves little: over a sample, areas come with intervals, and beside the curves stands how many "
        "inputs are rejected.",
        {"model": "sst2-fmm", "data": "reviews"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "Now a text of yours: type or paste it, and go through the same pages.",
        {"model": "sst2-fmm", "data": "own text"},
    ),
)


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
    stop = STOPS[at - 1]
    # Of another example its line would be untrue.
    here = stop.title == title and all(held(key) == stop.choices.get(key, held(key)) for key in _SHOWN)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="tour"):
        st.markdown(
            f"**Tour, stop {at} of {len(STOPS)}.** {plain(stop.line if here else f'It goes on at {stop.title}.')}"
        )
        if st.button("Previous stop", key="tour-back", disabled=at == 1, icon=":material/arrow_back:"):
            take(at - 1)
        if not here and st.button("Back to the stop", key="tour-return", type="primary"):
            take(at)
        if here and st.button(
            "Next stop", key="tour-next", disabled=at == len(STOPS), type="primary", icon=":material/arrow_forward:"
        ):
            take(at + 1)
        st.button("Leave the tour", key="tour-leave", on_click=forget, args=(_KEY,), help="The page stays as it is.")


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
