"""The figures of questions over a sample, by the question's name or the class of its report; every file in this room
registers its own.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core import figures as room
from core.registers import load_files

# From reports of several models, that of the page first, to a figure; None where there is nothing to draw.
Draw = TypeVar("Draw", bound=Callable[..., dict | None])
# Those registered so far; `question_figure` loads them all.
REGISTERED: dict[str | type, Callable[..., dict | None]] = {}


def register_figure(name: str | type) -> Callable[[Draw], Draw]:
    """Say of a function that it draws a question's reports, or all of this class; ValueError if another one does."""

    def add(draw: Draw) -> Draw:
        if name in REGISTERED:
            raise ValueError(f"{name!r} has a figure already")
        REGISTERED[name] = draw
        return draw

    return add


def question_figure(name: str, reports: Sequence[Any]) -> dict | None:
    """The figure of a question's reports; None where it has none, or none of these."""
    load_files(room)
    draw = REGISTERED.get(name) or REGISTERED.get(type(next(iter(reports), None)))
    return None if draw is None else draw(reports)
