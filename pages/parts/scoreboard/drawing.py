"""What the page Scoreboard draws: the picture of faithfulness against cost, the tables, who beats whom, the files."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.evaluation.studies.board_report import EVIDENCE, BoardReport, arrow, figures
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.board_sentences import COSTS, HOW, PASSES, TOOK, board_table, marked_count, pairs_table
from core.figures.board_figures import draw_front
from core.wording import plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import table
from pages.parts.frame.links import linked
from pages.parts.frame.texts import captions
from pages.parts.sections.saving import about_models, save_board
from pages.parts.sections.studying import Asking

AS_CHOSEN = "as chosen"
_PICTURE = (
    "Further up is higher, further left is cheaper. Dotted: the measures than which none as cheap is better on "
    "average. Which figure this is, and the sentence above goes by, is chosen under By in the settings below."
)


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


def draw_board(work: Asking, asks: Callable[[], None], order: str = "", words: Mapping[str, str] | None = None) -> None:
    """Draw what is known so far; words: verdicts on one text, {measure: text}, those over texts without."""
    report: BoardReport | None = work.report
    if report is not None:
        _picture(work, report)
    asks()
    if report is None:
        return
    _tables(report, order, words)
    header, rows = pairs_table(report, report.board.by)
    with st.expander("Who beats whom"):
        if rows:
            table(header, rows)
        else:
            st.caption("Told over at least 20 texts, once none is on its way, unless a filter picks what is counted.")
        captions([HOW])
    save_board(work.question, work.answers, report, ["scoreboard", work.model.name, work.sample.name])


def _picture(work: Asking, report: BoardReport) -> None:
    figure = draw_front([report])
    if figure is None:
        return
    name = ["scoreboard", report.board.by, work.model.name, work.sample.name]
    about = about_models([work.model], work.sample.name)
    draw_figure(figure, "board", work.question.in_words(report), name, about)
    st.caption(_PICTURE)


def _tables(report: BoardReport, order: str, words: Mapping[str, str] | None) -> None:
    st.header("Words erased one after the other", anchor=False)
    ordered = [one for one in figures() if one not in board_metrics()]
    table(*board_table(report, ordered, order, words), most=80)
    intervals = "In brackets: 95 % over texts; of RACU of one text, over its random orders. " + COSTS
    captions([intervals])
    st.header("Important words kept or erased, whole or in part", anchor=False)
    header, rows = board_table(report, [*board_metrics(), EVIDENCE], order, words)
    kept = [i for i in range(len(header)) if i not in (1, len(header) - 2, len(header) - 1)]
    table([header[i] for i in kept], [[row[i] for i in kept] for row in rows], most=80)
    if counted := marked_count(report):
        with st.expander("On how many texts inputs are rejected"):
            st.caption(plain(counted))
