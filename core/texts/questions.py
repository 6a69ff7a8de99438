"""Answers of questions over a sample as text and as JSON: the result first, then the tables."""

from dataclasses import asdict
from typing import Any, cast

from core.evaluation.study import Answers, Question
from core.results.catalogue import answer_result
from core.results.result import as_record
from core.texts.rendering import write_result


def answer_as_json(question: Question, answers: Answers) -> dict[str, Any]:
    """Answers and what they come to as plain values for a JSON file, with outcome, facts and caveats."""
    report = question.conclude(answers)
    found = {
        "question": question.asks,
        "name": question.name,
        "choices": asdict(cast(Any, question)),
        "model": answers.model.name,
        "weights": answers.model.digest,
        "precision": answers.model.precision,
        "data": answers.sample.name,
        "data_sha256": answers.sample.digest,
        "sentences": [],
        "tables": [] if report is None else [[header, *rows] for header, rows in question.tables(report)],
        "examples": question.records(answers),
    }
    result = answer_result(question, answers, report)
    if result is None:
        return found
    return found | as_record(result) | {"question": question.asks, "sentences": write_result(result).split("\n")}
