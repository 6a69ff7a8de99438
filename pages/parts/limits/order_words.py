"""The text with the orders that reach the limits, word by word."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from core.explanation.rows import pieces
from core.explanation.standings import ARROWS, StandingTable
from core.mathematics.search.limits import EXACT
from core.validity.marks import with_sign
from core.wording import number, plain
from pages.parts.components.tables import macros
from pages.parts.limits.standing import ends_of_board
from pages.parts.sections.standings import Boards

# The share of grey behind the word that is masked first.
_STRONGEST = 0.45


class OrderWords(NamedTuple):
    """An order over a text's words: places int[F], 1 for what is masked first, 0 for what the text masks itself;
    strengths float[F], in [0, 0.45], of the ground behind each word.
    """

    name: str
    detail: str
    places: list[int]
    strengths: list[float]


def order_words(name: str, detail: str, order: np.ndarray, features: int) -> OrderWords:
    """The order int64[F'], what is masked first in front, over all F words."""
    places = np.zeros(features, dtype=np.int64)
    places[order] = np.arange(1, len(order) + 1)
    strengths = np.where(places, _STRONGEST * (1 - (places - 1) / max(1, len(order))), 0.0)
    return OrderWords(name, detail, places.tolist(), strengths.tolist())


def shown_orders(board: StandingTable, direction: str, features: int) -> list[OrderWords]:
    """The best order, that of each measure, and the worst, for a direction."""
    best, worst = ends_of_board(board, direction)
    arrow, found = ARROWS[direction], "" if board.limits.method == EXACT else " found"
    orders = [
        (f"best order{found}", best, board.gates[1 if best is board.highest else 0]),
        *((one.measure, one.walks[direction], one.gates[direction]) for one in board.standings),
        (f"worst order{found}", worst, board.gates[1 if worst is board.highest else 0]),
    ]
    return [
        order_words(name, f"AOPC {with_sign(number(walk.aopc), gate.marked)} {arrow}", walk.order, features)
        for name, walk, gate in orders
    ]


def draw_orders(boards: Boards) -> None:
    """The words of the text in the best order, in that of each measure and in the worst, for each model."""
    for one, board in boards.items():
        if len(boards) > 1:
            st.markdown(f"**{plain(one.side.model.name)}**")
        side = one.side.encoded
        shown = shown_orders(board, one.choice.direction, side.F)
        st.html(macros("limits/order_words.html").rows(shown, pieces(side)))
