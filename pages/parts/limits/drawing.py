"""Draw what stands between the limits: gauges, curves, scores and their files, and two models beside each other."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from core.explanation.plausibility import Evidence
from core.explanation.rows import pieces, values_taken
from core.explanation.standings import ARROWS, Comparison, StandingTable
from core.figures.figures import masking_paths
from core.figures.limit_figures import ModelGauges, gauges, gauges_of_models, slope
from core.figures.verdicts_figures import among_random_orders
from core.mathematics.search.limits import EXACT
from core.reports.exports import VERDICT, verdict_columns
from core.results.result import Fact, Result
from core.results.verdicts import HELP, TABLE, Status, verdict_rows, verdict_status
from core.validity.marks import with_sign
from core.verdicts.deciding import VerdictReport
from core.wording import number, plain, safe_name
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table, macros
from pages.parts.face.body import draw_facts
from pages.parts.face.headline import Badge, Colour
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import view_caveats
from pages.parts.limits import standing
from pages.parts.limits.standing import ends_of_board
from pages.parts.sections.evidence import PRECISION, known_evidence
from pages.parts.sections.saving import about_shown, draw_on_text, save_limits, save_table
from pages.parts.sections.sides import same_class, side_caveats, side_columns, with_score
from pages.parts.sections.standings import Boards, KnownLimits, tag

# The verdicts that stand beside the headline; why one is not tested, or tied, other badges say.
_COLOURS: dict[Status, Colour] = {Status.BETTER: "green", Status.NOT_SIGNIFICANT: "gray", Status.WORSE: "red"}
_BADGE_HELP = "Whether the closest measure beats random orders"


def draw_verdicts(view: View, known: Sequence[KnownLimits]) -> None:
    """Each model's verdicts, as far as they are known."""
    reports = verdict_reports(known)
    if not reports:
        st.skeleton(240)
        return
    for i, (one, report) in enumerate(reports.items()):
        if len(known) > 1:
            st.markdown(f"**{plain(one.side.model.name)}**")
        if report.reached:
            drawn = among_random_orders(report.null.reached, report.reached, one.side.score_name, report.null.every)
            alt = f"AOPC: {report.orders}"
            draw_on_text(view, one.side, drawn, f"verdicts-{i}", alt, "verdicts", "the random orders")
        data_table(TABLE, verdict_rows(report), f"verdicts-table-{i}", help=HELP)


def measure_badges(known: KnownLimits, result: Result) -> list[Badge]:
    """The verdict of the measure that a headline names; none before it is there, or where it cannot be given."""
    measure = result.slots.get("measure")
    if measure is None or (report := known.report_with_reasons()) is None:
        return []
    found = report.of(measure)
    status = None if found is None else verdict_status(found)
    return [Badge(str(status), _BADGE_HELP, _COLOURS[status])] if status in _COLOURS else []


def verdict_reports(known: Iterable[KnownLimits]) -> dict[KnownLimits, VerdictReport]:
    """The verdicts of each side, of those that are known."""
    return {one: report for one in known if (report := one.report_with_reasons()) is not None}


def draw_gauges(view: View, boards: Boards) -> None:
    """Each model's measures between its limits; two that explain one class, whose scores compare, on one axis."""
    if len(boards) > 1 and same_class([one.side for one in boards]):
        _draw_one_axis(view, boards)
    else:
        _draw_each(view, boards)


def _draw_one_axis(view: View, boards: Boards) -> None:
    first, *_ = boards
    direction, sides, named = first.choice.direction, [one.side for one in boards], standing.by_model(boards)
    models = [
        ModelGauges(name, standing.gauge_rows(board), standing.chance_range(board), board.limits, tag(board.limits))
        for name, board in named.items()
    ]
    words = " ".join(f"{name}: {standing.standings_in_words(board, direction)}" for name, board in named.items())
    name = ["naopc", view.example.id, *named]
    drawn = gauges_of_models(models, first.side.score_name, direction)
    draw_figure(drawn, "gauges-0", words, name, about_shown(view, *sides), "the gauges")


def _draw_each(view: View, boards: Boards) -> None:
    drawn_of = list(boards.items())
    for i, _ in side_columns([one.side for one, _ in drawn_of]):
        one, board = drawn_of[i]
        rows, direction = standing.gauge_rows(board), one.choice.direction
        chance, how = standing.chance_range(board), tag(board.limits)
        drawn = gauges(rows, chance, board.limits, how, one.side.score_name, direction)
        words = standing.standings_in_words(board, direction)
        draw_on_text(view, one.side, drawn, f"gauges-{i}", words, "naopc", "the gauges")


def draw_slope(view: View, boards: Boards, found: Comparison) -> None:
    """Which of two models is ahead before and after normalising, as places and as a table."""
    words = f"Places by AOPC and by NAOPC. {len(found.changed)} of {len(found.ahead)} comparisons change."
    name = ["naopc-ranks", view.example.id, *standing.by_model(boards)]
    about = about_shown(view, *(one.side for one in boards))
    draw_figure(slope(found), "slope", words, name, about, "the slope chart")
    data_table(*standing.compared_table(found), "compared-table")
    draw_facts([Fact("tau", "Kendall’s τ-b of the two rankings", found.tau, better="↑")])


def draw_curves(view: View, known: Sequence[KnownLimits], boards: Boards) -> None:
    """The orders of each model, step by step."""
    for i, side in side_columns([one.side for one in known]):
        one, board = known[i], boards.get(known[i])
        if board is not None:
            gating, gate = one.gating, None if board.chance is None else board.chance.gate
            line = None if gate is None else one.orders.line(gating.counts / side.encoded.F, gate, gating.form)
            lines = standing.curve_lines(board, one.choice.direction, gating)
            decides, bounded = board.gates[0], side.than is None
            drawn = masking_paths(lines, line, side.score_name, side.encoded.unit, decides, bounded=bounded)
            words = standing.standings_in_words(board, one.choice.direction)
            draw_on_text(view, side, drawn, f"curves-{i}", words, "aopc-curves", "the curves")


def draw_standings(view: View, known: Sequence[KnownLimits], boards: Boards) -> None:
    """Every model's scores; where evidence is known, how well each order finds it; and the buttons that save them."""
    evidence = known_evidence(view, [one.side for one in known])
    marked = any(one is not None for one in evidence.values())
    header = [*standing.TABLE, *([PRECISION] if marked else [])]
    rows = []
    for one in known:
        board = boards.get(one)
        precisions = {} if board is None else standing.precisions(board, evidence[one.side])
        if board is not None and board.chance is not None and (known_here := evidence[one.side]) is not None:
            precisions[board.chance.name] = known_here.chance_precision
        cells = standing.table_rows(one, board)
        rows += [[*row, *([precisions.get(row[1])] if marked else [])] for row in cells]
    data_table(header, rows, "scores-table")
    if boards:
        with st.container(horizontal=True, vertical_alignment="center"):
            _save_tables(view, boards, evidence)
            _save_page(view, boards, header, rows)


def _save_tables(view: View, boards: Boards, known: dict[View, Evidence | None]) -> None:
    marked = any(evidence is not None for evidence in known.values())
    about, same = [view.example.id, *standing.by_model(boards)], same_class([one.side for one in boards])
    reports = verdict_reports(boards)
    header = [*standing.SCORE_COLUMNS, *(VERDICT if reports else [])]
    header += ["average precision of the evidence (higher is better)"] if marked else []

    def scores() -> list[list]:
        rows = []
        for one, board in boards.items():
            precisions = standing.precisions(board, known[one.side])
            for row in standing.score_rows(one.side, board, one.choice.sign, one.gating, same):
                verdict = verdict_columns(reports.get(one), row[1]) if reports else []
                rows.append([*row, *verdict, *([precisions.get(row[1])] if marked else [])])
        return rows

    save_table("Scores (CSV)", header, scores, safe_name(["naopc", *about], "csv"), key="scores-csv")
    save_table(
        "Orders (CSV)",
        with_score(standing.ORDER_COLUMNS, [one.side for one in boards]),
        lambda: [row for one, board in boards.items() for row in standing.order_rows(one.side, board, one.gating)],
        safe_name(["aopc-orders", *about], "csv"),
        key="orders-csv",
    )


def _save_page(view: View, boards: Boards, header: list[str], rows: list[list]) -> None:
    choice, every = next(iter(boards)).choice, [one.side for one in boards]
    sides = [
        (one.side, standing.side_limits(one, board, (*view_caveats(view), *side_caveats(every, one.side))))
        for one, board in boards.items()
    ]
    settings = {
        "values": ", ".join(f"{name}: {values_taken(name, choice.sign)}" for name in choice.measures),
        "validity gate": f"{choice.rule} rule, {choice.form} form of the test",
    }
    save_limits(view, sides, (header, rows), choice.direction, settings)


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
