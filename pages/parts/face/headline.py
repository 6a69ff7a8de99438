"""The first lines of a page: a result's headline, and badges for what limits it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import streamlit as st

from core.results.caveats import Caveat, Severity
from core.results.result import Result
from core.texts.rendering import Form, headline
from core.validity.marks import SIGN
from core.wording import escaped, plain

Colour = Literal["red", "orange", "yellow", "blue", "green", "violet", "gray"]
# A page shows so many; the others stand with these under "About these numbers".
MOST_BADGES = 4
_COLOURS: dict[Severity, Colour] = {Severity.INFO: "gray", Severity.WARNING: "orange", Severity.BLOCKS: "orange"}
_WEIGHT = {Severity.BLOCKS: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Badge(NamedTuple):
    """A badge of a page's own: its text, what pointing at it shows, and its colour, which is never its only sign."""

    text: str
    about: str = ""
    colour: Colour = "gray"


def draw_headline(result: Result, *badges: Badge, more: Sequence[Caveat] = (), name: str = "") -> None:
    """Draw a result's headline, and below it the page's own badges and those of caveats, the weightiest first.

    Args:
        badges: drawn before the caveats; more: caveats of what the page shows besides, such as a truncated text.
        name: whose result it is, where two stand beside each other.
    """
    whose = f"<b>{escaped(name)}</b>: " if name else ""
    # For tests and for whoever reads the page by a script: the outcome, whatever its words are.
    about = f"data-question='{escaped(result.question)}' data-outcome='{escaped(result.name)}'"
    st.html(f"<p class='headline' {about}>{whose}{headline(result, Form.HTML)}</p>")
    draw_badges(badges, [*result.caveats, *more], result.whose)


def draw_finding(result: Result, *badges: Badge) -> None:
    """Draw what a part of a page comes to, its sentence in the size of text and its badges."""
    about = f"data-question='{escaped(result.question)}' data-outcome='{escaped(result.name)}'"
    st.html(f"<p class='finding' {about}>{headline(result, Form.HTML)}</p>")
    draw_badges(badges, result.caveats, result.whose)


def draw_badges(
    badges: Sequence[Badge], caveats: Sequence[Caveat], whose: Mapping[Any, list[str]] | None = None
) -> None:
    """Draw badges in one line, at most `MOST_BADGES`; nothing where there are none. whose: as of `Result`."""
    weighed = sorted(dict.fromkeys(caveats), key=lambda one: _WEIGHT[one.severity])
    signs = {Severity.INFO: "", Severity.WARNING: f"{SIGN} ", Severity.BLOCKS: f"{SIGN} "}
    of = {one: _of(whose.get(one, []) if whose else []) for one in weighed}
    found = [
        Badge(f"{signs[one.severity]}{one.badge}{of[one]}", one.explanation, _COLOURS[one.severity]) for one in weighed
    ]
    drawn = [*badges, *found][:MOST_BADGES]
    if not drawn:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for text, about, colour in drawn:
            st.badge(plain(text), color=colour, help=plain(about) or None)


def _of(measures: Sequence[str]) -> str:
    """Whose caveat it is, behind its badge; "" where it is everybody's."""
    more = f" +{len(measures) - 1}" if len(measures) > 1 else ""
    return f": {measures[0]}{more}" if measures else ""
