"""The text with the orders that reach the limits, word by word, and what is known before there are limits."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import streamlit as st

from core.explanation.rows import pieces
from core.explanation.standings import ARROWS, COMPREHENSIVENESS, DIRECTIONS, StandingTable
from core.mathematics.search.limits import EXACT
from core.network.features import Encoded
from core.stability.known import labelled
from core.validity.marks import MEANING, with_sign
from core.wording import number, plain
from pages.parts.components.tables import macros, table
from pages.parts.frame.texts import captions
from pages.parts.limits.standing import known_ends
from pages.parts.sections.standings import Boards, KnownLimits

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


def shown_orders(board: StandingTable, direction: str, features: int, unstable: Mapping[str, str]) -> list[OrderWords]:
    """The best order, that of each measure, and the worst, for a direction; unstable: as of
    `core.stability.known.known_unstable`.
    """
    best, worst = board.highest, board.lowest
    if direction != COMPREHENSIVENESS:
        best, worst = worst, best
    arrow = ARROWS[direction]
    order = "order" if board.limits.method == EXACT else "order found"
    found = [
        (f"best {order}", best, board.gates[1 if best is board.highest else 0]),
        *((labelled(one.measure, unstable), one.walks[direction], one.gates[direction]) for one in board.standings),
        (f"worst {order}", worst, board.gates[1 if worst is board.highest else 0]),
    ]
    return [
        order_words(name, f"AOPC {with_sign(number(walk.aopc), gate.marked)} {arrow}", walk.order, features)
        for name, walk, gate in found
    ]


def draw_orders(encoded: Encoded, boards: Boards) -> None:
    """The words of the text in the best order, in that of each measure and in the worst, for each model."""
    for one, board in boards.items():
        if len(boards) > 1:
            st.markdown(f"**{plain(one.side.model.name)}**")
        side = one.side.encoded
        unstable = one.unstable
        shown = shown_orders(board, one.choice.direction, side.F, unstable)
        st.html(macros("limits/order_words.html").rows(shown, pieces(side)))
        captions(told for standing in board.standings if (told := unstable.get(standing.measure)))
    ends = f"Best and worst {known_ends(boards.values())}"
    st.caption(f"Under each {encoded.unit}: when it is masked, 1 first. {ends}, for the chosen direction. {MEANING}")


def draw_raw(one: KnownLimits) -> None:
    """The scores of the measures while there are no limits to set them between."""
    scores = [work.latest for work in one.scored if work.latest is not None]
    if not scores:
        return
    gating, unstable = one.gating, one.unstable
    rows = [
        [
            labelled(score.measure, unstable),
            *(
                with_sign(number(walk.aopc), gating.gate(walk).marked)
                for walk in (score.comprehensive, score.sufficient)
            ),
            "—",
        ]
        for score in scores
    ]
    table(["measure", *(f"{way} {ARROWS[way]}" for way in DIRECTIONS), f"NAOPC {ARROWS[one.choice.direction]}"], rows)
    what = f"AOPC under {plain(one.side.model.name)}: mean fall of the {plain(one.score_name)}"
    st.caption(
        f"{what} while {one.side.encoded.unit}s are masked one after the other. NAOPC is — until the limits of "
        f"this text are known. {MEANING}"
    )
