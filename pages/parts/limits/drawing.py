"""Draw what stands between the limits: gauges, places before and after normalising, curves, the table of scores with
what is saved of it, limits by the beam.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter

import streamlit as st

from core.explanation.plausibility import Evidence
from core.explanation.rows import values_taken
from core.explanation.standings import ARROWS, COMPREHENSIVENESS, StandingTable
from core.figures.figures import masking_paths
from core.figures.limit_figures import ModelGauges, gauges, gauges_of_models, slope, widths
from core.mathematics.search.limits import EXACT
from core.reports.exports import VERDICT, verdict_columns
from core.stability.known import why_unstable
from core.validity.marks import MEANING, level_text
from core.verdicts.telling import favoured_sentence
from core.wording import escaped, number, plain, safe_name
from pages.parts.components.pictures import chart, draw_figure, figure_buttons
from pages.parts.frame.sidebar import View
from pages.parts.limits import setting_beside, standing
from pages.parts.limits.answering import how_read, limits_answer, score_line, text_shown, what_scores_are
from pages.parts.limits.limiting import WidthStudy
from pages.parts.limits.verdicts import beside_line, verdict_reports, verdicts_of
from pages.parts.limits.width_words import study_line
from pages.parts.sections.evidence import disagreement_text, known_evidence, score_table
from pages.parts.sections.saving import about_models, about_shown, save_limits, save_table
from pages.parts.sections.sides import Side, same_class, side_columns, with_score
from pages.parts.sections.standings import Boards, KnownLimits, tag

_ABOUT = (
    "AOPC: mean fall of {score} while features are masked one after the other. NAOPC: where that lies between "
    "the worst (0) and the best (1) {ends}; — where the limits coincide. " + MEANING
)
_CHANCE = attrgetter("chance_precision")
_HEADER = ["measure", "comprehensiveness ↑", "NAOPC ↑", "sufficiency ↓", "NAOPC ↓", "inputs along its orders"]


def draw_gauges(view: View, boards: Boards) -> None:
    """Each model's measures between its limits, what their scores are made of, and what is said of these limits."""
    drawn_of = {one: board for one, board in boards.items() if board.standings or board.chance is not None}
    if len(drawn_of) > 1 and same_class([one.side for one in drawn_of]):
        _draw_one_axis(view, drawn_of)
    else:
        _draw_each(view, drawn_of)
    for one, board in boards.items():
        direction = one.choice.direction
        made = score_line(one, board, direction, verdicts_of(one), setting_beside.same_measure(board, boards))
        whose = f"<b>{escaped(one.side.model.name)}</b>: " if len(boards) > 1 else ""
        st.html(f"<p>{whose}{made} {standing.limits_line(one, board, one.choice.width)}</p>")
        warning = standing.narrow_warning(board.limits)
        if warning:
            st.warning(plain(warning), icon=":material/warning:")
        untested = standing.untested(board, direction)
        if untested:
            st.caption(plain(untested))


def _draw_one_axis(view: View, boards: Boards) -> None:
    """Two models' measures on one axis: what one allows and the other does not is seen at once."""
    first, *_ = boards
    direction, sides = first.choice.direction, [one.side for one in boards]
    models = [
        ModelGauges(
            one.side.model.name,
            standing.gauge_rows(board),
            standing.chance_range(board),
            board.limits,
            tag(board.limits),
        )
        for one, board in boards.items()
    ]
    told = " ".join(
        f"{one.side.model.name}: {standing.standings_in_words(board, direction)}" for one, board in boards.items()
    )
    name = ["naopc", view.example.id, *(side.model.name for side in sides)]
    drawn = gauges_of_models(models, first.score_name, direction)
    draw_figure(drawn, "gauges-0", told, name, about_shown(view, *sides), "the gauges")


def _draw_each(view: View, boards: Boards) -> None:
    """One model's measures between its limits; of two that explain different classes each by itself, since their scores
    do not compare.
    """
    drawn_of = list(boards.items())
    for i, _ in side_columns([one.side for one, _ in drawn_of]):
        one, board = drawn_of[i]
        rows, direction = standing.gauge_rows(board), one.choice.direction
        chance, how = standing.chance_range(board), tag(board.limits)
        drawn = gauges(rows, chance, board.limits, how, one.score_name, direction)
        name, told = ["naopc", view.example.id, one.side.model.name], standing.standings_in_words(board, direction)
        draw_figure(drawn, f"gauges-{i}", told, name, about_shown(view, one.side), "the gauges")


def draw_slope(view: View, boards: Boards) -> None:
    """The places of two models' scores before and after normalising; nothing where there is no comparison."""
    found = setting_beside.compared(boards)
    if found is None:
        return
    names = list(setting_beside.by_model(boards))
    places = f"place by {found.direction} {ARROWS[found.direction]}, 1 is best"
    told = f"Places by AOPC and by NAOPC. {len(found.changed)} of {len(found.ahead)} comparisons change."
    chart(slope(*setting_beside.slope_points(found, names[1]), places), "slope", told)
    st.caption(
        f"Full lines: {plain(names[0])}; dashed: {plain(names[1])}. Within one model normalising never changes the "
        f"order of measures; between models it can. Agreement of the two orders (Kendall’s τ-b, 1 ↑ is the same): "
        f"{number(found.tau)}."
    )
    name, about = ["naopc-ranks", view.example.id, *names], about_shown(view, *(one.side for one in boards))
    figure_buttons("slope", safe_name(name), about, "the slope chart")


def draw_curves(view: View, known: Sequence[KnownLimits], boards: Boards) -> None:
    """The orders of each model, step by step."""
    for i, side in side_columns([one.side for one in known]):
        one, board = known[i], boards.get(known[i])
        if board is not None:
            gating, gate = one.gating, None if board.chance is None else board.chance.gate
            line = None if gate is None else one.orders.line(gating.counts / side.encoded.F, gate, gating.form)
            lines = standing.curve_lines(board, one.choice.direction, gating)
            decides = board.gates[0].threshold, level_text(board.gates[0])
            drawn = masking_paths(
                lines, line, one.score_name, side.encoded.unit, gate=decides, bounded=side.than is None
            )
            told, name = standing.standings_in_words(board, one.choice.direction), ["aopc-curves", view.example.id]
            draw_figure(drawn, f"curves-{i}", told, [*name, side.model.name], about_shown(view, side), "the curves")


def draw_standings(view: View, boards: Boards) -> None:
    """Every model's scores; where evidence is known, how well each order finds it; and the buttons that save them."""
    rows, two, why = [], len(boards) > 1, ""
    known = known_evidence(view, [one.side for one in boards])
    for one, board in boards.items():
        name, evidence = [one.side.model.name] * two, known[one.side]
        values, unstable = [partial(standing.precision, one=found) for found in board.standings], one.unstable
        cells = standing.table_rows(board, standing.counting(one.gating), unstable)
        why = f"{why} {why_unstable(unstable)}".strip()
        for row, value in zip(cells, [*values, _CHANCE]):
            rows.append((one.side, [*name, *row], value))
        told = _apart(one, board, evidence, two)
        if told:
            st.html(f"<p>{told}</p>")
    kinds = dict.fromkeys(one.side.score_kind for one in boards)
    about = (
        plain(why)
        + " " * bool(why)
        + _ABOUT.format(score=" or ".join(f"the {kind}" for kind in kinds), ends=standing.known_ends(boards.values()))
    )
    header = [*["model"] * two, *_HEADER]
    shown = score_table(known, header, rows, len(header) - 1, about)
    with st.container(horizontal=True, vertical_alignment="center"):
        _save_tables(view, boards, known)
        _save_page(view, boards, shown)


def _apart(one: KnownLimits, board: StandingTable, evidence: Evidence | None, two: bool) -> str:
    """Where plausible and faithful part under one model, once nothing of it may change any more; "" elsewhere."""
    if board.chance is None or one.runs:
        return ""
    direction = one.choice.direction
    return disagreement_text(
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
    about, same = [view.example.id, *setting_beside.by_model(boards)], same_class([one.side for one in boards])
    reports = verdict_reports(boards)
    save_table(
        "Scores (CSV)",
        standing.SCORE_COLUMNS
        + VERDICT * bool(reports)
        + ["average precision of the evidence (higher is better)"] * marked,
        lambda: [
            row
            + verdict_columns(reports.get(one), row[1]) * bool(reports)
            + [standing.precisions(board, known[one.side]).get(row[1])] * marked
            for one, board in boards.items()
            for row in standing.score_rows(one.side, board, one.choice.sign, one.gating, same)
        ],
        safe_name(["naopc", *about], "csv"),
        key="scores-csv",
    )
    save_table(
        "Orders (CSV)",
        with_score(standing.ORDER_COLUMNS, [one.side for one in boards]),
        lambda: [row for one, board in boards.items() for row in standing.order_rows(one.side, board, one.gating)],
        safe_name(["aopc-orders", *about], "csv"),
        key="orders-csv",
    )


def _save_page(view: View, boards: Boards, scores: tuple[list[str], list[list[str]]]) -> None:
    first, board = next(iter(boards.items()))
    choice = first.choice
    sides = [
        (one.side, standing.side_limits(one, found, choice.width, choice.direction, one.gating, one.score_name))
        for one, found in boards.items()
    ]
    settings = {
        "values": ", ".join(f"{name}: {values_taken(name, choice.sign)}" for name in choice.measures),
        "validity gate": f"{choice.rule} rule, {choice.form} form of the test",
    }
    about = first, board, choice.direction, verdicts_of(first)
    read = [escaped(one, 600) for one in (how_read(choice.direction, boards), what_scores_are(boards.values()))]
    verdicts, alone = verdicts_of(first), len(boards) == 1
    closest, *believed = limits_answer(*about, alone, beside_line(list(boards)))
    said = [
        closest,
        setting_beside.scores_of_both(boards),
        *believed,
        "" if alone or verdicts is None else favoured_sentence(verdicts),
        score_line(*about),
        text_shown(view),
        *read,
    ]
    answer = " ".join(filter(None, said))
    beside = setting_beside.comparison(boards)
    told = f"{beside.head} {beside.rest}".strip()
    save_limits(view, sides, answer, told, scores, choice.direction, settings)


def draw_widths(view: View, known: KnownLimits, study: WidthStudy, i: int, asks: Callable[[], None]) -> None:
    """What the i-th study says of how wide the beam must be."""
    asks()
    found = study.latest
    if found is None:
        return
    told = study_line(found, study.name, study.complete)
    st.html(f"<p>{escaped(told, 600)}</p>")
    exact = None if i or known.found is None or known.found.limits.method != EXACT else known.found.limits
    drawn = widths(found, exact, "probability of the predicted class" if i else known.score_name)
    # One of this text, the others of texts of the data.
    about = about_models([known.side.model], study.name) if i else about_shown(view, known.side)
    name = ["beam-size", *([study.name] if i else [view.example.id]), known.side.model.name]
    draw_figure(drawn, f"widths-{i}", told, name, about, "the beam sizes")
