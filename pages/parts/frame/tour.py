"""For who comes first: one example that ships, and a tour over the real pages, each stop a link with one sentence."""

import contextlib
import functools
import json
from typing import Any, NamedTuple

import streamlit as st

from core.data.examples import HARD_REVIEWS, first_example
from core.settings import BUNDLED, SettingError
from core.texts.rendering import sentences
from core.wording import plain
from pages.parts.frame import resources
from pages.parts.frame.data import first_data
from pages.parts.frame.links import current, forget, held, hold, visit
from pages.parts.frame.pages import page_of

STRIP = BUNDLED / "computed" / "strip.json"
_KEY = "tour"


class Stop(NamedTuple):
    """One stop of the tour: the page's title, and what is chosen there; its sentence is in `core.texts`."""

    title: str
    choices: dict[str, str]

    @property
    def path(self) -> str:
        return page_of(self.title).path


_EXAMPLE = {"model": "sst2-fmm", "data": HARD_REVIEWS, "example": "s140"}
_TWIN = {"beside": "sst2-plain"}
_FILTER = {"outcome": "wrong", "tag": "negation", "length": "6 to 10", "order": "confidence", "descending": "1"}
STOPS = (
    Stop("Examples", _EXAMPLE | _FILTER),
    Stop("Attributions", _EXAMPLE),
    Stop("Recursive masking", _EXAMPLE | {"step": "3"}),
    Stop("Recursive masking", _EXAMPLE | _TWIN | {"example": "s104", "step": "8"}),
    Stop("AOPC and NAOPC", _EXAMPLE | _TWIN | {"example": "s048"}),
    Stop("Attributions", {"model": "stories-1-fmm", "data": "stories 1", "example": "s1-025"}),
    Stop("Data set", _EXAMPLE),
    Stop("Attributions", {"model": "sst2-fmm", "data": "own text"}),
)


def take(stop: int) -> None:
    """Go to a stop, from 1, with its choices and nothing else chosen."""
    one = STOPS[stop - 1]
    visit(one.title, **one.choices, **{_KEY: str(stop)})


def touring() -> bool:
    """Whether a tour is under way."""
    return held(_KEY) is not None


def tour_bar(title: str) -> None:
    """Where a tour is under way: which stop it is, its sentence, and the ways on; title: the page that is drawn."""
    asked = held(_KEY)
    if asked is None:
        return
    if asked not in [str(stop) for stop in range(1, len(STOPS) + 1)]:
        forget(_KEY)
        return
    hold(_KEY, asked)
    st.query_params[_KEY] = asked
    at, shown = int(asked), shown_choices()
    stop = STOPS[at - 1]
    # Whether the page shows what the sentence is about.
    here = stop.title == title and all(shown[key] == stop.choices.get(key, shown[key]) for key in shown)
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="tour"):
        told = f" {plain(sentences('tour', 'stops')[at - 1])}" if here else ""
        st.container().markdown(f"**{at} of {len(STOPS)}**{told}")
        with st.container(horizontal=True, width="content"):
            _draw_ways(at, here)


def _draw_ways(at: int, here: bool) -> None:
    if st.button("Back", key="tour-back", disabled=at == 1, icon=":material/arrow_back:"):
        take(at - 1)
    if not here and st.button("Return to this stop", key="tour-return", icon=":material/tour:"):
        take(at)
    if at < len(STOPS):
        if st.button("Next", key="tour-next", type="primary", icon=":material/arrow_forward:"):
            take(at + 1)
    elif st.button("Finish", key="tour-finish", type="primary"):
        visit("Examples", model=_EXAMPLE["model"])
    st.button("Leave the tour", key="tour-leave", type="tertiary", on_click=forget, args=(_KEY,))


def shown_choices() -> dict[str, Any]:
    """The model, data and example that are chosen; where nobody chose, those that pages begin with."""
    model = current("model")
    with contextlib.suppress(SettingError):
        model = model or resources.chosen_settings().model
    data = current("data") or first_data(model or "")
    first = first_example(data) if resources.ships_results() else None
    return {"model": model, "data": data, "example": current("example") or first}


class Strip(NamedTuple):
    """What ships of the first example.

    rows: of each measure shown unasked its name, the variant and the scores of the words, and the name of its verdict;
    shown: what `pages.parts.components.player.player` draws.
    """

    model: str
    data: str
    example: str
    predicted: str
    rows: list[dict]
    shown: dict


@functools.cache
def shipped_strip() -> Strip | None:
    """The strip that ships (`python -m tests.shipping` writes it); None where it cannot be read."""
    try:
        return Strip(**json.loads(STRIP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
