"""What the page Data set draws of verdicts over texts."""

from functools import partial

from core.evaluation.studies.verdicts_question import UNTOLD, Verdicts, VerdictsReport
from core.figures.verdicts_figures import verdict_shares
from core.results.result import Result
from core.results.verdicts import word_status
from core.texts.questions import answer_as_json
from core.texts.rendering import headline
from core.verdicts.deciding import Word
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.sections.questions import QuestionParts
from pages.parts.sections.saving import about_models, save_records
from pages.parts.sections.studying import Asking


def verdicts_parts(asked: Asking, report: VerdictsReport, result: Result) -> QuestionParts:
    """Of each measure the shares of texts by verdict; the counts, and why some have none."""
    name, about = [Verdicts.name, asked.model.name, asked.sample.name], about_models([asked.model], asked.sample.name)
    question, answers = asked.question, asked.answers
    return QuestionParts(
        partial(draw_figure, verdict_shares([report]), "question", headline(result), name, about),
        {
            "Measures": partial(data_table, *shares_table(report), "verdict-measures"),
            "Not tested": partial(data_table, *untested_table(report), "verdict-untested"),
        },
        partial(
            save_records,
            partial(question.records, answers),
            partial(answer_as_json, question, answers),
            name,
            "question",
        ),
    )


def shares_table(report: VerdictsReport) -> tuple[list[str], list[list]]:
    """Of each measure the share of texts on which it is better than random, and the texts by verdict."""
    header = ["measure", "better, % ↑", "95 % low", "95 % high", *(str(word_status(word)) for word in Word), "texts"]
    rows = [
        [name, *(100 * end for end in (share.mean, share.low, share.high)), *counts.tolist(), report.n]
        for name, share, counts in zip(report.measures, report.better, report.counts)
    ]
    return header, rows


def untested_table(report: VerdictsReport) -> tuple[list[str], list[list]]:
    """Of each measure the texts on which it has no verdict, by why."""
    rows = [[name, *counts.tolist()] for name, counts in zip(report.measures, report.untold)]
    return ["measure", *UNTOLD], rows
