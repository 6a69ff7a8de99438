"""Draw what stands between the limits: gauges, places before and after normalising, curves, limits by the beam."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.explanation.standings import ARROWS
from core.figures.figures import masking_paths
from core.figures.limit_figures import gauges, slope, widths
from core.mathematics.search.limits import EXACT
from core.wording import escaped, number, plain, safe_name
from pages.parts.components.pictures import chart, draw_figure, figure_buttons
from pages.parts.frame.sidebar import View
from pages.parts.limits import standing
from pages.parts.limits.limiting import Boards, KnownLimits, Study
from pages.parts.sections.saving import about_view
from pages.parts.sections.sides import side_columns


def draw_gauges(view: View, boards: Boards) -> None:
    """Each model's measures between its limits, and what is said of these."""
    for i, (one, board) in enumerate(boards.items()):
        if len(boards) > 1:
            st.markdown(f"**{plain(one.side.model.name)}**")
        direction = one.choice.direction
        if board.standings or board.chance is not None:
            # Under each other on one axis: what one model allows and another does not is seen at once.
            every = [other.limits for other in boards.values()]
            drawn = gauges(
                standing.gauge_rows(board),
                standing.chance_range(board),
                board.limits,
                standing.tag(board.limits),
                one.score_name,
                (min(limits.lower for limits in every), max(limits.upper for limits in every)),
            )
            name = ["naopc", view.example.id, one.side.model.name]
            told = standing.in_words(board, direction)
            draw_figure(drawn, f"gauges-{i}", told, name, about_view(view), "the gauges")
        st.html(f"<p>{standing.limits_line(one, board, one.choice.width)}</p>")
        warning = standing.narrow_warning(board.limits)
        if warning:
            st.warning(plain(warning), icon=":material/warning:")
        untested = standing.untested(board, direction)
        if untested:
            st.caption(plain(untested))


def draw_slope(view: View, boards: Boards) -> None:
    """The places of two models' scores before and after normalising; nothing where there is no comparison."""
    found = standing.compared(boards)
    if found is None:
        return
    st.subheader("Before and after normalising", anchor=False)
    names = list(standing.by_model(boards))
    places = f"place by {found.direction} {ARROWS[found.direction]}, 1 is best"
    told = f"Places by AOPC and by NAOPC. {len(found.changed)} of {len(found.ahead)} comparisons change."
    chart(slope(*standing.slope_points(found, names[1]), places), "slope", told)
    st.caption(
        f"Full lines: {plain(names[0])}; dashed: {plain(names[1])}. Within one model normalising never changes the "
        f"order of measures; between models it can. Agreement of the two orders (Kendall’s τ-b, 1 ↑ is the same): "
        f"{number(found.tau)}."
    )
    figure_buttons("slope", safe_name(["naopc-ranks", view.example.id, *names]), about_view(view), "the slope chart")


def draw_curves(view: View, known: Sequence[KnownLimits], boards: Boards) -> None:
    """The orders of each model, step by step."""
    for i, side in side_columns([one.side for one in known]):
        one, board = known[i], boards.get(known[i])
        if board is not None:
            gating, gate = one.gating, None if board.chance is None else board.chance.gate
            line = None if gate is None else one.orders.line(gating.counts / side.encoded.F, gate, gating.form)
            lines = standing.curve_lines(board, one.choice.direction, gating)
            drawn = masking_paths(lines, line, one.score_name, side.encoded.unit)
            told, name = standing.in_words(board, one.choice.direction), ["aopc-curves", view.example.id]
            draw_figure(drawn, f"curves-{i}", told, [*name, side.model.name], about_view(view), "the curves")


def draw_widths(view: View, known: KnownLimits, study: Study, i: int, asks: Callable[[], None]) -> None:
    """What the i-th study says of how wide the beam must be."""
    asks()
    found = study.study
    if found is None:
        return
    told = standing.study_line(found, study.name, study.complete)
    st.html(f"<p>{escaped(told, 300)}</p>")
    exact = None if i or known.found is None or known.found.limits.method != EXACT else known.found.limits
    drawn = widths(found, exact, "probability of the predicted class" if i else known.score_name)
    draw_figure(
        drawn, f"widths-{i}", told, ["beam-size", study.name, view.model.name], about_view(view), "the beam sizes"
    )
