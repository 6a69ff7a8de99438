"""The results of questions over a sample, by the question's name or the class of its report: every file in this room
registers what it makes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from core import results as room
from core.evaluation.study import Answers, Question
from core.registers import load_files
from core.results.asked import limited_answer
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


def question_result(name: str, report: Any) -> Result | None:
    """The result of a question's report; None where nothing is registered under the name or for it."""
    load_files(room)
    make = REGISTERED.get(name) or REGISTERED.get(type(report))
    return None if make is None else make(report)


def answer_result(question: Question, answers: Answers, report: Any) -> Result | None:
    """The same with what limits any answer; None without a report, too."""
    result = None if report is None else question_result(question.name, report)
    return None if result is None else limited_answer(result, question, answers)
