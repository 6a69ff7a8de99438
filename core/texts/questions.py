"""Answers of questions over a sample as text and as JSON: the result first, then the tables."""

from typing import Any

from core.evaluation.study import Answers, Question
from core.results.catalogue import question_result
from core.results.result import as_record
from core.texts.rendering import write_result
from core.wording import text_table


def readable_answer(question: Question, report: Any) -> str:
    """A report as text for a terminal."""
    result = question_result(question.name, report)
    said = [] if result is None else [write_result(result)]
    return "\n\n".join([*said, *(text_table(*one) for one in question.tables(report))])


def answer_as_json(question: Question, answers: Answers) -> dict[str, Any]:
    """Answers and what they come to as plain values: `Question.as_json` with outcome, facts and caveats."""
    report, found = question.conclude(answers), question.as_json(answers)
    result = None if report is None else question_result(question.name, report)
    if result is None:
        return found
    return found | as_record(result) | {"question": question.asks, "sentences": write_result(result).split("\n")}
