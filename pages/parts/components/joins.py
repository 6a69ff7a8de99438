"""A line under the words of a text for each pair of them; texts travel as data and become `textContent`."""

from collections.abc import Sequence
from typing import NamedTuple

from pages.parts.components.component import component

_draw = component("joins")


class Join(NamedTuple):
    """A pair of words: their places; text: its value, with a sign; names: the two words; share: of the largest, 0 to 1;
    against: whether it is below 0, drawn dashed; told: all of it in words.
    """

    first: int
    second: int
    text: str
    names: str
    share: float
    against: bool
    told: str


def joins_under(words: Sequence[str], joins: Sequence[Join], label: str, legend: Sequence[str], key: str) -> None:
    """Draw the words in a line and what joins them; label: what the picture is, for who cannot see it."""
    _draw(
        {"words": list(words), "joins": [join._asdict() for join in joins], "label": label, "legend": list(legend)}, key
    )
