"""What the page Data set draws of scores, of verdicts and of diagnosticity: pictures, and tables behind the tabs."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from core.data.examples import DataSet
from core.evaluation.studies.board_report import RejectedTexts
from core.evaluation.studies.diagnosticity_question import HEADER, diagnosticity_json, diagnosticity_rows
from core.evaluation.studies.diagnosticity_report import (
    ALL,
    PAPER,
    DiagnosticityReport,
    baselines_table,
    diagnosticity_table,
    paper_findings,
    paper_table,
    softfaith_table,
    tests_table,
    undefined_table,
)
from core.evaluation.studies.scoring import RANDOM, SHUFFLED, ScoresReport, Scoring
from core.evaluation.studies.verdicts import UNTOLD, VerdictsReport
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length, draw_preferences
from core.metrics.catalogue import metrics
from core.results.result import Result, as_record
from core.results.scores import score_cells
from core.results.verdicts import word_status
from core.texts.rendering import headline
from core.validity.marks import SIGN
from core.verdicts.deciding import Word
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.sections.judged import rejected_on_sample
from pages.parts.sections.questions import QuestionParts, question_parts
from pages.parts.sections.saving import about_models, save_report
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
    untested = [[name, *counts.tolist()] for name, counts in zip(report.measures, report.untold)]
    tabs = {
        "Measures": partial(data_table, *shares_table(report), "verdict-measures"),
        "Not tested": partial(data_table, ["measure", *UNTOLD], untested, "verdict-untested"),
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


def diagnosticity_parts(asked: Asking, report: DiagnosticityReport, result: Result) -> QuestionParts:
    """How often each metric prefers measures; behind it the tables, and SoftFaith's findings."""
    name, about = _name(report), about_models([asked.model], report.data)
    picture = None
    if report.told:
        figure, said = draw_preferences(report), headline(result)
        picture = partial(draw_figure, figure, "preferences", said, [*name, "preferences"], about)
    return QuestionParts(
        picture, _tabs(asked, report, result, name, about), partial(_save, asked, report, result, name)
    )


def metrics_table(found: DiagnosticityReport) -> tuple[list[str], list[list]]:
    """Each metric over all measures by both rules for ties, beside the paper's average where the baseline is its."""
    header = ["metric", "a tie as ½ ↑", "95 % low", "95 % high", "a tie as 0 ↑", "ties, %", "texts"]
    rows: list[list] = []
    for name in found.told:
        cell = found.cells[name, ALL]
        half = cell.half.mean, cell.half.low, cell.half.high
        rows.append([name, *half, cell.strict.mean, 100 * cell.ties, cell.n])
    if found.study.baseline != RANDOM:
        return header, rows
    paper = [PAPER[name][-1] if name in PAPER else None for name in found.told]
    return [*header, "SoftFaith’s average ↑"], [[*row, one] for row, one in zip(rows, paper)]


def _tabs(
    asked: Asking, found: DiagnosticityReport, result: Result, name: list[str], about: str
) -> dict[str, Callable[[], None]]:
    tabs: dict[str, Callable[[], None]] = {
        "Metrics": partial(_metrics, asked, found),
        "Measures": partial(data_table, *diagnosticity_table(found), "diagnosticity-measures"),
        "By length": partial(_lengths, found, result, name, about),
        "Tests": partial(data_table, *tests_table(found), "diagnosticity-tests"),
        "SoftFaith": partial(_paper, found),
        "Out-of-distribution": partial(draw_rejected, found.rejected),
        "Texts": partial(_texts, found),
    }
    lacking = {"Tests": not (found.tests or found.fixed), "SoftFaith": not paper_findings(found)}
    return {name: draw for name, draw in tabs.items() if not lacking.get(name)}


def _metrics(asked: Asking, found: DiagnosticityReport) -> None:
    data_table(*metrics_table(found), "diagnosticity-metrics")
    # The other baseline beside this one, once both are known for all of these texts.
    other = replace(asked, question=found.study.other())
    known = other.report if found.complete and other.answers.complete else None
    if known is not None:
        header, rows = baselines_table(found, known)
        data_table(header, rows, "diagnosticity-baselines")


def _lengths(found: DiagnosticityReport, result: Result, name: list[str], about: str) -> None:
    figure = draw_diagnosticity_by_length([found])
    if figure is None:
        st.caption("No metric here judges rationales of several lengths.")
    else:
        draw_figure(figure, "diagnosticity", headline(result), name, about)


def _paper(found: DiagnosticityReport) -> None:
    data_table(*softfaith_table(found), "softfaith-findings")
    data_table(*paper_table(found), "softfaith-averages")


def _texts(found: DiagnosticityReport) -> None:
    data_table(["predicted class", "texts"], [[*one] for one in found.predicted.items()], "predicted-classes")
    header, rows = undefined_table(found)
    if rows:
        data_table(header, rows, "undefined-metrics")


def _save(asked: Asking, found: DiagnosticityReport, result: Result, name: list[str]) -> None:
    def plain() -> dict:
        record = as_record(result)
        said = {"sentence": headline(result), "notes": record["caveats"]}
        where = {"weights": asked.model.digest, "data_sha256": asked.sample.digest}
        return diagnosticity_json(found) | record | said | where

    save_report(HEADER, lambda: diagnosticity_rows(found), plain, name, "diagnosticity")


def _name(found: DiagnosticityReport) -> list[str]:
    shuffled = ["shuffled"] if found.study.baseline == SHUFFLED else []
    return ["diagnosticity", *shuffled, found.model, found.data]
