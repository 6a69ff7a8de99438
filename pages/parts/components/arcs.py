"""Arcs over the words of a text, one for each pair; texts travel as data and become `textContent`."""

from collections.abc import Sequence
from typing import NamedTuple

from pages.parts.components.component import component

_draw = component("arcs")


class Arc(NamedTuple):
    """A pair of words: their places; text: its value, with a sign; share: of the largest, 0 to 1; against: whether it
    is below 0, drawn dashed; told: all of it in words.
    """

    first: int
    second: int
    text: str
    share: float
    against: bool
    told: str


def arcs_over(words: Sequence[str], arcs: Sequence[Arc], label: str, legend: Sequence[str], key: str) -> None:
    """Draw the words in a line and the arcs over them; label: what the picture is, for who cannot see it."""
    _draw({"words": list(words), "arcs": [arc._asdict() for arc in arcs], "label": label, "legend": list(legend)}, key)
