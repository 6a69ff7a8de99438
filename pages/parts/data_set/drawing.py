"""What the page Data set draws of scores and of verdicts over texts: tables of their own behind the tabs."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from core.data.examples import DataSet
from core.evaluation.studies.board_report import RejectedTexts
from core.evaluation.studies.scoring import ScoresReport, Scoring
from core.evaluation.studies.verdicts import UNTOLD, VerdictsReport
from core.metrics.catalogue import metrics
from core.results.result import Result
from core.results.scores import score_cells
from core.results.verdicts import word_status
from core.validity.marks import SIGN
from core.verdicts.deciding import Word
from pages.parts.components.tables import data_table
from pages.parts.sections.judged import rejected_on_sample
from pages.parts.sections.questions import QuestionParts, question_parts
from pages.parts.sections.studying import Asking

_HEADER = ("metric", "rejected texts, fewest", "rejected texts, most", "texts tested", "more than chance")


def with_rejected(asked: Asking, data: DataSet) -> Any:
    """The report that is known, with the rejected inputs that *Scoreboard* knows of; None where none is."""
    report, scored = asked.report, cast(Scoring, asked.question)
    if report is None:
        return None
    found = rejected_on_sample(asked.explainer, data, scored.metrics, scored.how, scored.sign, scored.unit)
    return replace(report, rejected=found)


def draw_rejected(found: Mapping[str, RejectedTexts]) -> None:
    """On how many texts each metric rests on rejected inputs, and where that is known of one text."""
    rows = [[name, one.least, one.most, one.texts, SIGN if one.marked else ""] for name, one in found.items()]
    if rows:
        data_table(_HEADER, rows, "rejected")
    st.page_link("pages/scoreboard.py", label="Scoreboard tests measures and inputs", icon=":material/leaderboard:")


def scores_parts(asked: Asking, report: ScoresReport, result: Result) -> QuestionParts:
    """The means of each measure by each metric, and what they rest on."""
    tabs = {
        "Means": partial(data_table, *means_table(report), "score-means", help=_columns(report)),
        "Out-of-distribution": partial(draw_rejected, report.rejected),
    }
    return question_parts(asked, report, result)._replace(tabs=tabs)


def verdicts_parts(asked: Asking, report: VerdictsReport, result: Result) -> QuestionParts:
    """Of each measure the texts by verdict, and why some have none."""
    tabs = {
        "Measures": partial(data_table, *shares_table(report), "verdict-measures"),
        "Not tested": partial(data_table, *untested_table(report), "verdict-untested"),
    }
    return question_parts(asked, report, result)._replace(tabs=tabs)


def means_table(report: ScoresReport) -> tuple[list[str], list[list]]:
    """The mean of each measure by each metric with its interval, and beside the baseline."""
    header = ["measure", "metric", "mean", "95 % low", "95 % high", "beside baseline", SIGN, "texts"]
    study: Scoring = report.found.study
    beside = {(one.measure, one.metric): one.beside for one in score_cells(report)}
    rows = []
    for one in study.compared:
        for metric in study.metrics:
            mean, sign = report.means[metric, one], SIGN if metric in report.marked else ""
            spans = mean.mean, mean.low, mean.high
            named = f"{metric} {metrics()[metric].arrow}".rstrip()
            rows.append([one, named, *spans, beside.get((one, metric), ""), sign, report.counts[metric, one]])
    return header, rows


def _columns(report: ScoresReport) -> dict[str, str]:
    return {
        "beside baseline": f"Whether the interval lies beside that of {report.found.study.baseline} attributions.",
        SIGN: "Out-of-distribution on more texts than chance explains.",
    }


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
