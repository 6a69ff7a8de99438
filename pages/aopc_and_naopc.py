"""AOPC and NAOPC: how good is a measure's score, given what this model allows?"""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.explanation.limiting import WIDTH, left_over
from core.explanation.plausibility import evidence_of
from core.explanation.rows import SIGNS
from core.explanation.standings import (
    ARROWS,
    COMPREHENSIVENESS,
    DIRECTIONS,
    StandingGates,
    StandingTable,
    compare_standings,
)
from core.figures.figures import masking_paths
from core.figures.limit_figures import gauges, slope, widths
from core.mathematics.search.limits import EXACT, STILL
from core.measures.catalogue import default_measures, measures
from core.validity.marks import LINES, MEANING
from core.wording import escaped, number, plain, safe_name
from pages.parts.components.pictures import figure_buttons
from pages.parts.components.tables import table
from pages.parts.frame.links import linked
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import prediction_line, show_text_notes
from pages.parts.limits import standing
from pages.parts.limits.limiting import STUDIED, KnownLimits, Study, refused, studied_cases
from pages.parts.sections.evidence import COLUMN, disagreement, precision_note, show_marked_text
from pages.parts.sections.saving import about_view, save_limits, save_table
from pages.parts.sections.sides import about_the_test, both_sides, choose_beside, choose_form, choose_rule
from pages.parts.sections.streaming import stream
from pages.parts.steps.stepping import random_line

WIDTHS = ("1", "2", "5", "10", "20", "50")
HALF, FULL = "half precision", "the model’s own"
_QUIET = {"displayModeBar": False}


@dataclass(frozen=True)
class Choice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    sign: str
    width: int
    half: bool
    rule: str
    form: str
    direction: str

    def gating(self, side) -> StandingGates:
        """How the inputs of one side are tested."""
        return StandingGates(side.encoded, side.reference, self.rule, self.form)


def aopc_and_naopc() -> None:
    """Draw the page."""
    view = open_page("AOPC and NAOPC", "How good is that, given what this model allows?")
    said, controls, stage, beams, below = (st.container() for _ in range(5))
    with below:
        st.subheader("Settings", anchor=False)
        settings = _settings()
    with controls:
        left, right = st.columns([3, 2], gap="large")
        with left:
            direction = linked(
                st.segmented_control,
                "Direction",
                DIRECTIONS,
                COMPREHENSIVENESS,
                "curves",
                required=True,
                format_func=_direction_name,
                help="Comprehensiveness masks the most important words first, and the probability should fall fast. "
                "Sufficiency masks the least important first, and it should stay.",
            )
        with right:
            beside = choose_beside(view, "is set beside this one on the same text, before and after normalising")
    choice = Choice(direction=direction, **settings)
    sides = both_sides(view, beside, said)
    if left_over(view.encoded) == 0:
        with said:
            prediction_line(
                view, f"Every {view.encoded.unit} is masked in the text already, so there are no orders to compare."
            )
    else:
        known = [KnownLimits.of(side, choice.measures, choice.sign, choice.width, choice.half) for side in sides]
        stream(
            lambda: [work for one in known for work in one.works],
            stage,
            partial(_draw, view, known, choice),
            said,
            partial(_say, view, known, choice),
        )
        with beams:
            _studies(view, known[0], choice)
    with below:
        about_the_test(sides, choice.form)
        for note in view.model.notes:
            st.caption(plain(note))
        show_marked_text(view)
        show_text_notes(view)


def _direction_name(direction: str) -> str:
    return f"{direction} {ARROWS[direction]}"


def _settings() -> dict:
    chosen = linked(
        st.multiselect,
        "Measures",
        list(measures()),
        list(default_measures()),
        "measures",
        help="Each is set between the limits. Cheap ones are scored at once; dear ones say what they cost and wait to "
        "be asked.",
    )
    left, middle, right = st.columns(3)
    with left:
        sign = linked(
            st.segmented_control,
            "Values",
            SIGNS,
            "signed",
            "values",
            required=True,
            help="Signed: what supports the class is masked first. Absolute: what matters most either way.",
        )
        rule = choose_rule()
    with middle:
        width = linked(
            st.segmented_control,
            "Beam",
            WIDTHS,
            str(WIDTH),
            "beam",
            required=True,
            help="How many sets of each size a search keeps. Wider finds limits that lie further apart, and costs "
            "more.",
        )
        form = choose_form()
    with right:
        search = linked(
            st.segmented_control,
            "Search beams in",
            (HALF, FULL),
            HALF,
            "search",
            required=True,
            help="Half precision is used where this device is faster in it; the orders that it finds are scored in the "
            "model’s own "
            "precision, so that the limits shown are attained.",
        )
    return {
        "measures": tuple(chosen),
        "sign": sign,
        "rule": rule,
        "width": int(width),
        "form": form,
        "half": search == HALF,
    }


def _say(view: View, known: list[KnownLimits], choice: Choice) -> None:
    boards = _boards(known, choice)
    said = standing.limits_answer(known[0], boards.get(known[0]), choice.direction)
    told = _comparison(boards, choice)
    prediction_line(view, f"{said}</p><p style='font-size:1.12rem'>{told}" if told else said)


def _draw(view: View, known: list[KnownLimits], choice: Choice, asks) -> None:
    boards = _boards(known, choice)
    for i, (one, found) in enumerate(boards.items()):
        _gauge(view, one, found, boards, choice, str(i))
    asks()
    for one in known:
        if one.exact is None and not one.search.exact:
            st.caption(plain(refused(one.side)))
    if boards:
        compared = _compared(boards, choice)
        if compared is not None:
            _slope(view, compared, boards)
        st.subheader("The orders, step by step", anchor=False)
        _columns(known, lambda one, key: _curves(view, one, boards[one], choice, key) if one in boards else None)
        st.caption(
            "Each line masks one more feature in a measure’s order; the limits’ own orders are the best and the worst "
            "that were found. " + LINES
        )
        _table(view, boards, choice)


def _boards(known: list[KnownLimits], choice: Choice) -> dict[KnownLimits, StandingTable]:
    """What is known of each side so far; sides without limits are left out."""
    found = {one: one.board(choice.gating(one.side)) for one in known}
    return {one: board for one, board in found.items() if board is not None}


def _by_model(boards: dict[KnownLimits, StandingTable]) -> dict[str, StandingTable]:
    return {one.side.model.name: board for one, board in boards.items()}


def _compared(boards: dict[KnownLimits, StandingTable], choice: Choice):
    """The comparison of two models that explain the same class; None where there is none."""
    if len(boards) < 2 or len({one.side.class_name for one in boards}) > 1:
        return None
    return compare_standings(_by_model(boards), choice.direction)


def _comparison(boards: dict[KnownLimits, StandingTable], choice: Choice) -> str:
    """What comes of setting two models beside each other, in a sentence or two; "" with one."""
    if len(boards) < 2:
        return ""
    compared = _compared(boards, choice)
    if compared is None:
        return standing.no_comparison([one.side for one in boards])
    return standing.comparison_line(
        compared, _by_model(boards), not any(work.runs for one in boards for work in one.works)
    )


def _columns(known: list[KnownLimits], draw) -> None:
    """One column a side, headed by the model's name where there are two."""
    if len(known) == 1:
        draw(known[0], "0")
        return
    for i, (column, one) in enumerate(zip(st.columns(len(known), gap="large"), known)):
        with column:
            st.markdown(f"**{plain(one.side.model.name)}**")
            draw(one, str(i))


def _gauge(
    view: View,
    one: KnownLimits,
    board: StandingTable,
    boards: dict[KnownLimits, StandingTable],
    choice: Choice,
    key: str,
) -> None:
    if len(boards) > 1:
        st.markdown(f"**{plain(one.side.model.name)}**")
    if board.standings or board.chance is not None:
        _drawn_gauge(view, one, board, boards, choice, key)
    st.html(f"<p>{standing.limits_line(one, board, choice.width)}</p>")
    warning = standing.narrow_warning(board.limits)
    if warning:
        st.warning(plain(warning), icon=":material/warning:")
    untested = standing.untested(board, choice.direction)
    if untested:
        st.caption(plain(untested))


def _drawn_gauge(
    view: View,
    one: KnownLimits,
    board: StandingTable,
    boards: dict[KnownLimits, StandingTable],
    choice: Choice,
    key: str,
) -> None:
    # Under each other on one axis: what one model allows and another does not is seen at once.
    span = min(other.limits.lower for other in boards.values()), max(other.limits.upper for other in boards.values())
    drawn = gauges(
        standing.gauge_rows(board),
        standing.chance_range(board),
        board.limits,
        standing.tag(board.limits),
        _score_name(one),
        span,
    )
    st.plotly_chart(
        drawn,
        width="stretch",
        theme=None,
        key=f"gauges-{key}",
        config=_QUIET,
        alt=standing.in_words(board, choice.direction),
    )
    figure_buttons(
        f"gauges-{key}", safe_name(["naopc", view.example.id, one.side.model.name]), about_view(view), "the gauges"
    )


def _slope(view: View, compared, boards: dict[KnownLimits, StandingTable]) -> None:
    st.subheader("Before and after normalising", anchor=False)
    names = list(_by_model(boards))
    before, after = standing.slope_points(compared, names[1])
    st.plotly_chart(
        slope(before, after, f"place by {_direction_name(compared.direction)}, 1 is best"),
        width="stretch",
        theme=None,
        key="slope",
        config=_QUIET,
        alt=f"Places by AOPC and by NAOPC. {len(compared.changed)} of {len(compared.ahead)} comparisons change.",
    )
    st.caption(
        f"Full lines: {plain(names[0])}; dashed: {plain(names[1])}. Within one model normalising never changes the "
        f"order of measures; between models it can. "
        f"Agreement of the two orders (Kendall’s τ-b, 1 ↑ is the same): {number(compared.tau)}."
    )
    figure_buttons("slope", safe_name(["naopc-ranks", view.example.id, *names]), about_view(view), "the slope chart")


def _curves(view: View, one: KnownLimits, board: StandingTable, choice: Choice, key: str) -> None:
    gating, band = choice.gating(one.side), one.orders.band
    random = (
        None
        if board.chance is None
        else random_line(band, gating.counts / gating.encoded.F, board.chance.gate, one.side.target, gating.form)
    )
    drawn = masking_paths(
        standing.curve_lines(board, choice.direction, gating), random, _score_name(one), one.side.encoded.unit
    )
    st.plotly_chart(
        drawn,
        width="stretch",
        theme=None,
        key=f"curves-{key}",
        config=_QUIET,
        alt=standing.in_words(board, choice.direction),
    )
    figure_buttons(
        f"curves-{key}",
        safe_name(["aopc-curves", view.example.id, one.side.model.name]),
        about_view(view),
        "the curves",
    )


def _table(view: View, boards: dict[KnownLimits, StandingTable], choice: Choice) -> None:
    header, rows, two = (
        ["measure", "comprehensiveness ↑", "NAOPC ↑", "sufficiency ↓", "NAOPC ↓", "inputs along its orders"],
        [],
        len(boards) > 1,
    )
    known = {one: evidence_of(one.side.encoded, view.example.evidence) for one in boards}
    marked = any(evidence is not None for evidence in known.values())
    for one, board in boards.items():
        named = standing.table_rows(board, standing.counting(choice.gating(one.side)))
        named = (
            [[*row[:-1], cell, row[-1]] for row, cell in zip(named, standing.precision_cells(board, known[one]))]
            if marked
            else named
        )
        rows += [[one.side.model.name, *row] for row in named] if two else named
        told = _apart(one, board, known[one], choice.direction, two)
        if told:
            st.html(f"<p>{told}</p>")
    header = [*header[:-1], COLUMN, header[-1]] if marked else header
    header = ["model", *header] if two else header
    table(header, rows, most=90)
    st.caption(
        "AOPC: mean fall of the probability while features are masked one after the other. NAOPC: where that lies "
        "between the least (0) and the most (1) that "
        "this model allows on this text; — where the limits coincide. " + MEANING
    )
    if marked:
        st.caption(precision_note(next(iter(known.values())), view.encoded.unit))
    with st.container(horizontal=True, vertical_alignment="center"):
        save_table(
            "Scores (CSV)",
            standing.SCORE_COLUMNS + ["average precision of the evidence (higher is better)"] * marked,
            lambda: [
                row + [standing.precisions(board, known[one]).get(row[1])] * marked
                for one, board in boards.items()
                for row in standing.score_rows(one.side, board, choice.sign, choice.gating(one.side))
            ],
            safe_name(["naopc", view.example.id, view.model.name], "csv"),
            key="scores-csv",
        )
        save_table(
            "Orders (CSV)",
            standing.ORDER_COLUMNS,
            lambda: [
                row
                for one, board in boards.items()
                for row in standing.order_rows(one.side, board, choice.gating(one.side))
            ],
            safe_name(["aopc-orders", view.example.id, view.model.name], "csv"),
            key="orders-csv",
        )
        _save_page(view, boards, choice, (header, rows))


def _apart(one: KnownLimits, board: StandingTable, evidence, direction: str, two: bool) -> str:
    """Where plausible and faithful part under one model, once nothing of it may change any more; "" elsewhere."""
    if board.chance is None or any(work.runs for work in one.works):
        return ""
    faithful = {found.measure: found.naopc[direction] for found in board.standings}
    warned = [found.measure for found in board.standings if found.marked(direction, True)]
    return disagreement(
        evidence,
        standing.precisions(board, evidence),
        faithful,
        "NAOPC",
        board.chance.naopc,
        direction != COMPREHENSIVENESS,
        warned,
        one.side.model.name if two else "",
    )


def _save_page(
    view: View, boards: dict[KnownLimits, StandingTable], choice: Choice, scores: tuple[list[str], list[list[str]]]
) -> None:
    sides = [
        (
            one.side,
            standing.side_limits(one, board, choice.width, choice.direction, choice.gating(one.side), _score_name(one)),
        )
        for one, board in boards.items()
    ]
    first, board = next(iter(boards.items()))
    told = _comparison(boards, choice)
    settings = {"values": choice.sign, "validity gate": f"{choice.rule} rule, {choice.form} form of the test"}
    save_limits(
        view, sides, standing.limits_answer(first, board, choice.direction), told, scores, choice.direction, settings
    )


def _study_of_text(known: KnownLimits, choice: Choice) -> Study:
    return Study(known.side.explainer, ((known.side.encoded, known.side.target),), "this text", choice.half)


def _study_of_data(view: View, choice: Choice) -> list[Study]:
    """The study of the first texts of the data that the filters leave; [] for a text of one's own."""
    if view.browsed is None:
        return []
    examples = [view.browsed.index.data.examples[row] for row in view.browsed.rows[:STUDIED]]
    cases = studied_cases(view.explainer, [(example.text, example.second) for example in examples], view.encoded.unit)
    name = f"{len(cases)} texts of {view.browsed.index.data.name}"
    return [Study(view.explainer, cases, name, choice.half)] if len(cases) > 1 else []


def _studies(view: View, known: KnownLimits, choice: Choice) -> None:
    st.subheader("How wide must the beam be?", anchor=False)
    st.caption(
        f"For {plain(view.model.name)}. The width is doubled until the mean limits move by less than {STILL:g} "
        f"(probability) twice in a row."
    )
    for i, study in enumerate([_study_of_text(known, choice), *_study_of_data(view, choice)]):
        stream([study], st.container(), partial(_widths, view, known, study, i), name=f"study-{i}")


def _widths(view: View, known: KnownLimits, study: Study, i: int, asks) -> None:
    asks()
    found = study.study
    if found is None:
        return
    st.html(f"<p>{escaped(standing.study_line(found, study.name, study.complete), 300)}</p>")
    limits = known.found.limits if i == 0 and known.found is not None and known.found.limits.method == EXACT else None
    st.plotly_chart(
        widths(found, limits, "probability of the predicted class" if i else _score_name(known)),
        width="stretch",
        theme=None,
        key=f"widths-{i}",
        config=_QUIET,
        alt=standing.study_line(found, study.name, study.complete),
    )
    figure_buttons(
        f"widths-{i}", safe_name(["beam-size", study.name, view.model.name]), about_view(view), "the beam sizes"
    )


def _score_name(one: KnownLimits) -> str:
    return f"probability of {one.side.class_name}"


aopc_and_naopc()
