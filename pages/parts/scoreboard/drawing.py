"""What the page Scoreboard draws: faithfulness against cost, the files, and tables behind tabs."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.evaluation.studies.board_report import NAOPC_C, NAOPC_S, BoardReport, arrow
from core.evaluation.studies.board_rows import board_metrics
from core.evaluation.studies.board_tables import (
    board_table,
    front_numbers,
    leads_table,
    measures_table,
    pairs_list,
    pairs_table,
    problems_table,
    values_table,
)
from core.evaluation.studies.scoreboard import Scoreboard
from core.figures.board_figures import draw_front
from core.metrics.catalogue import metrics
from core.network.model import Model
from core.results.result import Result
from core.results.scoreboard import scoreboard_result
from core.results.verdicts import HELP
from core.texts.questions import answer_as_json
from core.validity.marks import SIGN
from core.wording import number, plain
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table, meaning_of
from pages.parts.face.body import draw_body
from pages.parts.frame.links import held
from pages.parts.sections.saving import about_models, save_board
from pages.parts.sections.studying import Asking

TERMS = (
    "unbeaten",
    "comprehensiveness",
    "sufficiency",
    "NAOPC",
    "RACU",
    "hard erasure",
    "soft erasure",
    "random order",
    "verdict",
    "interval (95 %)",
)


class BoardPlaces(NamedTuple):
    """Where the answer, the settings and the picture with all below it stand."""

    answer: DeltaGenerator
    settings: DeltaGenerator
    stage: DeltaGenerator


def is_refused(question: Scoreboard, model: Model, place: DeltaGenerator) -> bool:
    """Whether the question cannot be asked as chosen, which is shown there."""
    try:
        question.check(model)
    except ValueError as error:
        said = str(error).rstrip(".")
        place.info(plain(f"{said[:1].upper()}{said[1:]}."))
        return True
    return False


class BoardVerdicts(NamedTuple):
    """Verdicts beside a scoreboard. table: (header, rows); lines: gives what a file says of them, as of
    `Scoreboard.records`; picture: drawn while there is no report.
    """

    table: tuple[list[str], list[list[Any]]] = ([], [])
    lines: Callable[[], dict[tuple[int, str], dict]] = dict
    picture: Callable[[], None] | None = None


def draw_board(
    work: Asking, report: BoardReport | None, result: Result, verdicts: BoardVerdicts, asks: Callable[[], None]
) -> None:
    """Draw what is known so far, below the headline."""
    tabs: dict[str, Callable[[], None]] = {}
    picture = verdicts.picture
    if report is not None:
        tabs = _tabs(report)
        picture = partial(_picture, work, report, verdicts)
    if verdicts.table[1]:
        tabs["Verdicts"] = partial(data_table, *verdicts.table, "board-verdicts", help=HELP)
    draw_body(result, picture, tabs, "parts-of-board", asks=asks, terms=TERMS)


def _tabs(report: BoardReport) -> dict[str, Callable[[], None]]:
    # Old links may name an order.
    tables = {
        "Measures": measures_table(report, str(held("ranked") or "")),
        "By metric": leads_table(report),
        "Pairs": pairs_list(report, report.board.by),
        "Intervals": values_table(report),
        "Not scored": problems_table(report),
    }
    about = _columns()
    return {
        name: partial(data_table, *found, f"board-{name}", help=about) for name, found in tables.items() if found[1]
    }


def _columns() -> dict[str, str]:
    normal = meaning_of("NAOPC")
    return {
        **{arrow(name): metrics()[name].definition for name in board_metrics()},
        arrow(NAOPC_C): normal,
        arrow(NAOPC_S): normal,
        SIGN: meaning_of("rejected (out-of-distribution)"),
        "first": meaning_of("unbeaten"),
        "adjusted p ↓": "Wilcoxon signed-rank test, Holm-adjusted",
        "beats it": "Whether the first is significantly more faithful",
        "ms ↓": "Median time on this machine",
    }


def _picture(work: Asking, report: BoardReport, verdicts: BoardVerdicts) -> None:
    """The picture, and below it the files."""
    name = ["scoreboard", work.model.name, work.sample.name]
    figure = draw_front([report])
    if figure is None:
        st.info("No measure has a value to draw.")
    else:
        alt, about = front_numbers(report), about_models([work.model], work.sample.name)
        draw_figure(figure, "board", alt, [*name, report.board.by], about)
    question, answers = cast(Scoreboard, work.question), work.answers
    header, rows = verdicts.table
    written = [["—" if one is None else one if isinstance(one, str) else number(one) for one in row] for row in rows]
    tables = [board_table(report), pairs_table(report, report.board.by), (header, written)]
    save_board(
        lambda: question.records(answers, verdicts.lines()),
        partial(answer_as_json, question, answers),
        [one for one in tables if one[1]],
        scoreboard_result(report),
        name,
    )
