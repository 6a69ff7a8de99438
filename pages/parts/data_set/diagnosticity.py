"""What the page Data set draws of diagnosticity."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

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
from core.evaluation.studies.scoring import RANDOM, SHUFFLED
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length, draw_preferences
from core.results.result import Result, as_record
from core.texts.rendering import headline
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.data_set.scores import draw_rejected
from pages.parts.sections.questions import QuestionParts
from pages.parts.sections.saving import about_models, save_report
from pages.parts.sections.studying import Asking


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
