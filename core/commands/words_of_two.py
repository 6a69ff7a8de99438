"""What `evaluate --what words --beside MODEL` adds: the words of the first model beside those of each further one."""

from collections.abc import Iterator, Sequence
from typing import Any

from core.evaluation.studies.words_beside import WordsBeside, compare_words, words_beside_table
from core.evaluation.studies.words_question import Words
from core.evaluation.study import Answers
from core.reports.answers import Section
from core.results.result import as_record
from core.results.words_beside import words_of_two


def sections_of_two(question: Words, found: Sequence[Answers]) -> list[Section]:
    """A headline and a table for each further model."""
    return [
        Section(" / ".join(report.models), words_of_two(report), [words_beside_table(report)] if report.gaps else [])
        for report in _reports(question, found)
    ]


def words_of_models(question: Words, found: Sequence[Answers]) -> dict[str, Any]:
    """The same as plain values: {"beside": one for each further model}."""
    return {
        "beside": [
            as_record(words_of_two(report)) | {"models": report.models, "words": [one._asdict() for one in report.gaps]}
            for report in _reports(question, found)
        ]
    }


def lines_of_two(question: Words, found: Sequence[Answers]) -> list[dict[str, Any]]:
    """The same as lines of a table: model, against, word, measure, texts, top_3 and top_3_against, p."""
    return [
        {"model": other, "against": first, "word": one.word, "measure": one.measure, "texts": one.texts}
        | {"top_3": one.second, "top_3_against": one.first, "p": one.p}
        for report in _reports(question, found)
        for first, other in [report.models]
        for one in report.gaps
    ]


def _reports(question: Words, found: Sequence[Answers]) -> Iterator[WordsBeside]:
    reports = (compare_words(question, found[0], other) for other in found[1:])
    return (one for one in reports if one is not None)
