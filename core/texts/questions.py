"""Answers of questions over a sample as text and as JSON: the result first, then the tables."""

from typing import Any

from core.evaluation.study import Answers, Question
from core.results.catalogue import answer_result
from core.results.result import as_record
from core.texts.rendering import write_result


def answer_as_json(question: Question, answers: Answers) -> dict[str, Any]:
    """Answers and what they come to as plain values: `Question.as_json` with outcome, facts and caveats."""
    report, found = question.conclude(answers), question.as_json(answers)
    result = answer_result(question, answers, report)
    if result is None:
        return found
    return found | as_record(result) | {"question": question.asks, "sentences": write_result(result).split("\n")}
