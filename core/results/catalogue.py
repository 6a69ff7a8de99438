"""The results of questions over a sample, by the question's name or the class of its report: every file in this room
registers what it makes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from core import results as room
from core.network.model import Model
from core.registers import load_files
from core.results.inputs import model_caveats
from core.results.result import Result

Make = TypeVar("Make", bound=Callable[[Any], Result])
# Those registered so far; `question_result` loads them all.
REGISTERED: dict[str | type, Callable[[Any], Result]] = {}


def register_result(name: str | type) -> Callable[[Make], Make]:
    """Register what makes a report a result, that of a question or of whatever question has reports of this class;
    ValueError if another function does already.
    """

    def add(make: Make) -> Make:
        if name in REGISTERED:
            raise ValueError(f"{name!r} has a result already")
        REGISTERED[name] = make
        return make

    return add


def question_result(name: str, report: Any, model: Model | None = None) -> Result | None:
    """The result of a question's report under a model; None where nothing is registered under the name or for it."""
    load_files(room)
    make = REGISTERED.get(name) or REGISTERED.get(type(report))
    return None if make is None else make(report).limited(() if model is None else model_caveats(model))
