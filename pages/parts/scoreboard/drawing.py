"""What the page Scoreboard draws: the picture of faithfulness against cost, the tables, who beats whom, the files."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from core.evaluation.findings import FEW
from core.evaluation.questions import Answers, Table
from core.evaluation.studies.board_front import picture_note
from core.evaluation.studies.board_report import EVIDENCE, BoardReport, arrow, figures
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.board_sentences import (
    board_table,
    draws_note,
    marked_table,
    means_note,
    pairs_table,
    parting,
)
from core.evaluation.studies.board_verdicts import VerdictColumn
from core.evaluation.studies.board_words import COSTS, ERASED, HOW, INTERVALS, KEPT, MEASURE, PASSES, TOOK
from core.evaluation.studies.check_sentences import expected_sentence
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.verdicts_question import Verdicts
from core.figures.board_figures import draw_front
from core.figures.verdicts_figures import verdict_shares
from core.texts.questions import answer_as_json
from core.wording import plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.links import linked
from pages.parts.frame.texts import captions
from pages.parts.sections.saving import about_models, save_board
from pages.parts.sections.studying import Asking

AS_CHOSEN = "as chosen"
_GOES_BY = ", and the first sentence goes by once it is told", ""


def choose_table_order() -> str:
    """Draw the choice by what the lines of the table are ordered, the best first; "" as measures were chosen."""
    offered = [AS_CHOSEN, *figures(), EVIDENCE, PASSES, TOOK]
    named = {one: arrow(one) for one in (*figures(), EVIDENCE)}
    chosen = linked(
        st.selectbox,
        "Order of the table",
        offered,
        AS_CHOSEN,
        "ranked",
        format_func=lambda one: named.get(one, one),
        help="The best come first; of cost, the least.",
    )
    return "" if chosen == AS_CHOSEN else chosen


def draw_board(work: Asking, asks: Callable[[], None], order: str, verdicts: Callable[[Asking], VerdictColumn]) -> None:
    """Draw what is known so far; verdicts: gives the column of the measures' verdicts, on one text or over texts."""
    report: BoardReport | None = work.report
    column = verdicts(work)
    if report is None:
        if column.over is not None and column.over.n >= FEW:
            shares, name = verdict_shares([column.over]), ["verdicts", work.model.name, work.sample.name]
            said = Verdicts(column.over.measures).in_words(column.over)
            draw_figure(shares, "verdicts", said, name, about_models([work.model], work.sample.name))
        if column.of:
            table([MEASURE, column.header], [[name, told] for name, told in column.of.items()], most=80)
            captions(filter(None, [column.about]))
        asks()
        return
    report = replace(report, better=column.better)
    # Of one text the verdicts may wait to be asked for, which is what the page is for; of a sample what is known stands
    # in view, and what is under way, part by part, behind it.
    parts, alone = parting(report), len(work.sample) == 1
    if parts and not alone:
        st.markdown(plain(parts))
    _picture(work, report)
    # The first sentence is the page's answer, or what one text cannot tell.
    captions([*(one for one in work.question.sentences(report)[1:] if one != parts), *_errs(work, report)])
    # Who is ahead on one text is no answer: the table has it, and one line for each metric.
    if parts and alone:
        with st.expander("Which measure is ahead here, metric by metric"):
            st.markdown(plain(parts))
    if alone:
        asks()
    _tables(report, order, column)
    if not alone:
        asks()
    pairs = pairs_table(report, report.board.by)
    # On one text nobody beats anybody.
    if not alone:
        _pairs(pairs)

    def tables() -> list[Table]:
        return [board_table(report, None, order, column), *[pairs] * bool(pairs[1])]

    question, answers = cast(Scoreboard, work.question), work.answers
    records = partial(_records, question, answers, column)
    about = partial(answer_as_json, question, answers)
    save_board(records, about, tables, ["scoreboard", work.model.name, work.sample.name])


def _pairs(pairs: Table) -> None:
    with st.expander("Who beats whom"):
        if pairs[1]:
            table(*pairs)
        else:
            st.caption(f"Told from {FEW} texts on, once none is on its way, unless a filter picks what is counted.")
        captions([HOW])


def _records(question: Scoreboard, answers: Answers, column: VerdictColumn) -> list[dict]:
    """The lines of a file, with the verdicts that are known."""
    return question.records(answers, column.lines())


def _picture(work: Asking, report: BoardReport) -> None:
    figure = draw_front([report])
    if figure is None:
        return
    name = ["scoreboard", report.board.by, work.model.name, work.sample.name]
    about = about_models([work.model], work.sample.name)
    draw_figure(figure, "board", work.question.in_words(report), name, about)
    goes_by = _GOES_BY[len(work.sample) == 1]
    st.caption(f"{picture_note(report)} Which figure this is{goes_by}, is chosen under By in the settings.")


def _errs(work: Asking, report: BoardReport) -> list[str]:
    """How often inputs are rejected that should not be, where some are."""
    reference = work.explainer.reference
    if reference is None or not any(one.marked for one in report.cells.values()):
        return []
    return [f"How often an input is rejected that should not be: {expected_sentence(reference)}"]


def _tables(report: BoardReport, order: str, column: VerdictColumn) -> None:
    st.header("Words erased one after the other", anchor=False)
    shown = [one for one in figures() if one not in board_metrics()]
    table(*board_table(report, shown, order, column), most=80)
    captions(filter(None, [means_note(report), column.about]))
    with st.expander("What these figures are"):
        captions([ERASED, INTERVALS, COSTS])
    st.header("Important words kept or erased, whole or in part", anchor=False)
    kinds = [*board_metrics(), EVIDENCE]
    header, rows = board_table(report, kinds, order, column)
    # Verdicts and costs stand in the table above.
    kept = [i for i, name in enumerate(header) if name in (MEASURE, *map(arrow, kinds))]
    table([header[i] for i in kept], [[row[i] for i in kept] for row in rows], most=80)
    with st.expander("What these are, and what was drawn for them"):
        captions([KEPT, draws_note(report)])
    rejected = marked_table(report)
    if rejected[1]:
        with st.expander("On how many texts inputs are rejected"):
            table(*rejected, most=80)
            st.caption("Texts some of whose inputs are rejected, of those tested.")
