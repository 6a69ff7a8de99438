"""For who comes first: one sentence masked step by step, and a tour over the real pages.

The strip ships, so that it is drawn before any model is loaded. A stop of the tour is a link, with one line for whoever
speaks; a line names no number: those on the page are the app's own.
"""

import contextlib
import functools
import json
from typing import Any, NamedTuple

import streamlit as st

from core.settings import BUNDLED, SettingError
from core.validity.marks import SIGN
from core.wording import plain
from pages.parts.frame import resources
from pages.parts.frame.data import first_data
from pages.parts.frame.links import forget, held, hold, visit

STRIP = BUNDLED / "computed" / "strip.json"
_KEY = "tour"
# What is chosen that a stop is not about, as a sentence goes on.
_OTHER = {"model": "another model is", "data": "other data are", "example": "another example is"}


class Stop(NamedTuple):
    """One stop: the page's title and file; new: what is shown that was not before, in words, "" where nothing is; line:
    what is said there; recap: lines below it; choices: those of its address.
    """

    title: str
    path: str
    new: str
    line: str
    choices: dict[str, str]
    recap: tuple[str, ...] = ()


_EXAMPLE = {"model": "sst2-fmm", "data": "reviews", "example": "s140"}
_TWIN = {"beside": "sst2-plain"}
_BELIEVED = {"says": "which measures to believe"}
STOPS = (
    Stop(
        "Examples",
        "pages/examples.py",
        "The model sst2-fmm reads reviews.",
        "Of its mistakes on short reviews with a negation, it is surest of s140, “You won’t find a kinder film about "
        "debt.” That is praise, and the model calls it negative. Which words make it say so?",
        _EXAMPLE
        | {"outcome": "wrong", "tag": "negation", "length": "6 to 10", "order": "confidence", "descending": "1"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "",
        "Three importance measures colour the words; the first and the last disagree on “won’t”. If the words that a "
        "measure puts first matter, masking them first makes “negative” less likely than masking in random order does "
        "(the chance test). Only leave-one-out’s order is shown to do that. It begins with “won’t”; the whole order "
        "is tested, not any single word.",
        _EXAMPLE | _BELIEVED,
    ),
    Stop(
        "Recursive masking",
        "pages/recursive_masking.py",
        "",
        "Now leave-one-out is asked again after each word it hides, so its second word is another than before: "
        "“won’t”, then “debt”. With both masked (the slider stands there, ▴) the model no longer says negative; few "
        "random orders do that as soon. A second test, MaSF, rejects no step as unlike what the model knows.",
        _EXAMPLE | {"step": "3"},
    ),
    Stop(
        "Recursive masking",
        "pages/recursive_masking.py",
        "Home’s review, s104, beside a twin trained without masking, sst2-plain.",
        "Both change their prediction (▴). sst2-fmm does on a grey step (not rejected): that counts. sst2-plain does "
        "only on a red step (✕, slider): words or strangeness may be why, so it cannot be told. By other measures "
        "sst2-plain changes while grey: go by the step’s colour, not the model.",
        _EXAMPLE | _TWIN | {"example": "s104", "step": "8"},
    ),
    Stop(
        "AOPC and NAOPC",
        "pages/aopc_and_naopc.py",
        "s048, “Nothing else on television this autumn comes close.”: sst2-fmm and sst2-plain wrongly call it "
        "negative.",
        "Top triangles: by leave-one-out “negative” falls about as far in both (AOPC). Bars run from the worst to "
        "the best order. sst2-plain’s reaches further right, so the same fall is less of what is possible (NAOPC). Its "
        f"figures rest partly on rejected inputs ({SIGN}).",
        _EXAMPLE | _TWIN | {"example": "s048"},
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "Another model, stories-1-fmm, reads a story (stories 1, s1-025) and rightly finds Bruno in the orchard.",
        "All three look right: each has two of three evidence words (overlined) among the three it ranks highest "
        "(third row, below: only blue counts as for “orchard”). Yet no order is shown to be better than random ones. "
        "Looking right is no proof.",
        {"model": "stories-1-fmm", "data": "stories 1", "example": "s1-025"} | _BELIEVED,
    ),
    Stop(
        "Data set",
        "pages/data_set.py",
        "Back to sst2-fmm and its reviews, to s140 and many more.",
        "One text proves little, so ask many: on how many is a measure better than chance? Leave-one-out on most, "
        "though not on all, the others on about one in four. But leave-one-out masks words, as the chance test does: "
        "that favours it, and nobody knows by how much.",
        _EXAMPLE,
    ),
    Stop(
        "Attributions",
        "pages/attributions.py",
        "Now your own text, under sst2-fmm: type it below.",
        "To take away:",
        {"model": "sst2-fmm", "data": "own text"} | _BELIEVED,
        (
            "Measures often disagree.",
            "Masking sometimes tells which to believe, on inputs that MaSF does not reject.",
            "Looking right is no proof.",
            "Over these reviews leave-one-out stands out (masking to score favours it); on yours another may, or none.",
            "MaSF misses some strange inputs: “not rejected” is not “known”.",
        ),
    ),
)
_END = (
    "The page Attributions says which measures to believe on your text, once it is tested. That holds for this text "
    "only, and tells what the model goes by, not whether it is right. “Not rejected” is no proof that the model knows "
    "a text. Every page takes your text except Model check and Data set, which ask for many."
)


def take(stop: int) -> None:
    """Go to a stop, from 1, with its choices and nothing else chosen."""
    one = STOPS[stop - 1]
    visit(one.path, **one.choices, **{_KEY: str(stop)})


def touring() -> bool:
    """Whether a tour is under way."""
    return held(_KEY) is not None


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
    # On top of the page, whose title may take two lines: so the way on is at one place, whatever is said.
    with st.container(border=True, horizontal=True, vertical_alignment="top", key="tour"):
        said, ways = st.container(), st.container(horizontal=True, width=280)
        # The last stop asks for a text; with one, the tour is over on every page.
        ended = at == len(STOPS) and held("data") == STOPS[-1].choices["data"] and held("text")
        with ways:
            told = _end(at) if ended else _at(at, title)
            # No tooltip: it would cover the way on.
            st.button("Leave the tour", key="tour-leave", on_click=forget, args=(_KEY,))
        said.markdown(told)


def _at(at: int, title: str) -> str:
    """Draw the ways on from a stop, on the page of this title; its line as Markdown."""
    stop = STOPS[at - 1]
    # Of another example its line would be untrue.
    shown = _shown()
    others = [said for key, said in _OTHER.items() if shown[key] != stop.choices.get(key, shown[key])]
    here = stop.title == title and not others
    told = f"**Tour, stop {at} of {len(STOPS)}.** "
    if here:
        if at < len(STOPS) and st.button(
            "Continue the tour", key="tour-next", type="primary", icon=":material/tour:", width="stretch"
        ):
            take(at + 1)
        told += f"{plain(stop.new)} {_told(stop)}".strip()
    else:
        if st.button("Back to the tour", key="tour-return", type="primary", icon=":material/tour:", width="stretch"):
            take(at)
        left = f"Here {others[0]} chosen now, so what the tour says does not hold. " if stop.title == title else ""
        told += plain(f"{left}It goes on at {stop.title}{' with its own' * bool(left)}.")
    _back(at)
    return told


def _shown() -> dict[str, Any]:
    """What is chosen of what a stop is about; what nobody chose, and no address names, is what pages begin with."""
    model = held("model")
    with contextlib.suppress(SettingError):
        model = model or resources.chosen_settings().model
    return {"model": model, "data": held("data") or first_data(model or ""), "example": held("example")}


def _back(at: int) -> None:
    if st.button("Previous stop", key="tour-back", disabled=at == 1, icon=":material/arrow_back:"):
        take(at - 1)


def _end(at: int) -> str:
    """Draw where to go once the tour is over; what is said of it as Markdown."""
    of_data = {key: _EXAMPLE[key] for key in ("model", "data")}
    with st.popover("To take away", icon=":material/checklist:"):
        st.markdown(_bullets(STOPS[at - 1]))
    if st.button("More examples", key="tour-examples", type="primary"):
        visit("pages/examples.py", **of_data)
    if st.button("Check a model", key="tour-check"):
        visit("pages/model_check.py", **of_data)
    _back(at)
    return f"**Tour, stop {at} of {len(STOPS)}: the end.** {plain(_END)}"


def _told(stop: Stop) -> str:
    """What a stop says, Markdown."""
    return plain(stop.line) + _bullets(stop)


def _bullets(stop: Stop) -> str:
    return "".join(f"\n- {plain(one)}" for one in stop.recap)


class Strip(NamedTuple):
    """A review by its id, a model and the class that it predicts; rows: of each measure shown unasked its name, the
    variant and the scores of the words, and the name of its verdict; what the strip asks and what it shows, text; and
    what `pages.parts.components.player.player` draws.
    """

    model: str
    example: str
    predicted: str
    rows: list[dict]
    asks: str
    said: str
    shown: dict


@functools.cache
def shipped_strip() -> Strip | None:
    """The strip that ships (`python -m tests.shipping` writes it); None where it cannot be read."""
    try:
        return Strip(**json.loads(STRIP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
