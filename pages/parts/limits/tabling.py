"""The table of scores between the limits, and what is saved of them."""

from functools import partial
from operator import attrgetter

import streamlit as st

from core.explanation.plausibility import Evidence
from core.explanation.standings import COMPREHENSIVENESS, StandingTable
from core.validity.marks import MEANING
from core.wording import safe_name
from pages.parts.frame.sidebar import View
from pages.parts.limits import standing
from pages.parts.limits.limiting import Boards, KnownLimits
from pages.parts.sections.evidence import disagreement, known_evidence, score_table
from pages.parts.sections.saving import save_limits, save_table
from pages.parts.sections.sides import Side

_ABOUT = (
    "AOPC: mean fall of the probability while features are masked one after the other. NAOPC: where that lies between "
    "the least (0) and the most (1) that this model allows on this text; — where the limits coincide. " + MEANING
)
_CHANCE = attrgetter("chance_precision")
_HEADER = ["measure", "comprehensiveness ↑", "NAOPC ↑", "sufficiency ↓", "NAOPC ↓", "inputs along its orders"]


def draw_table(view: View, boards: Boards) -> None:
    """Every model's scores; where evidence is known, how well each order finds it; and the buttons that save them."""
    rows, two = [], len(boards) > 1
    known = known_evidence(view, [one.side for one in boards])
    for one, board in boards.items():
        name, evidence = [one.side.model.name] * two, known[one.side]
        values = [partial(standing.precision, one=found) for found in board.standings]
        for row, value in zip(standing.table_rows(board, standing.counting(one.gating)), [*values, _CHANCE]):
            rows.append((one.side, [*name, *row], value))
        told = _apart(one, board, evidence, two)
        if told:
            st.html(f"<p>{told}</p>")
    header = [*["model"] * two, *_HEADER]
    shown = score_table(known, header, rows, len(header) - 1, _ABOUT)
    with st.container(horizontal=True, vertical_alignment="center"):
        _save_tables(view, boards, known)
        _save_page(view, boards, shown)


def _apart(one: KnownLimits, board: StandingTable, evidence: Evidence | None, two: bool) -> str:
    """Where plausible and faithful part under one model, once nothing of it may change any more; "" elsewhere."""
    if board.chance is None or one.runs:
        return ""
    direction = one.choice.direction
    return disagreement(
        evidence,
        standing.precisions(board, evidence),
        {found.measure: found.naopc[direction] for found in board.standings},
        "NAOPC",
        board.chance.naopc,
        direction != COMPREHENSIVENESS,
        [found.measure for found in board.standings if found.marked(direction, True)],
        one.side.model.name if two else "",
    )


def _save_tables(view: View, boards: Boards, known: dict[Side, Evidence | None]) -> None:
    marked = any(evidence is not None for evidence in known.values())
    save_table(
        "Scores (CSV)",
        standing.SCORE_COLUMNS + ["average precision of the evidence (higher is better)"] * marked,
        lambda: [
            row + [standing.precisions(board, known[one.side]).get(row[1])] * marked
            for one, board in boards.items()
            for row in standing.score_rows(one.side, board, one.choice.sign, one.gating)
        ],
        safe_name(["naopc", view.example.id, view.model.name], "csv"),
        key="scores-csv",
    )
    save_table(
        "Orders (CSV)",
        standing.ORDER_COLUMNS,
        lambda: [row for one, board in boards.items() for row in standing.order_rows(one.side, board, one.gating)],
        safe_name(["aopc-orders", view.example.id, view.model.name], "csv"),
        key="orders-csv",
    )


def _save_page(view: View, boards: Boards, scores: tuple[list[str], list[list[str]]]) -> None:
    first, board = next(iter(boards.items()))
    choice = first.choice
    sides = [
        (one.side, standing.side_limits(one, found, choice.width, choice.direction, one.gating, one.score_name))
        for one, found in boards.items()
    ]
    settings = {"values": choice.sign, "validity gate": f"{choice.rule} rule, {choice.form} form of the test"}
    answer = standing.limits_answer(first, board, choice.direction)
    save_limits(view, sides, answer, standing.comparison(boards), scores, choice.direction, settings)
