"""AOPC and NAOPC: how close does a measure come to the best order of words?"""

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.explanation.limiting import left_over
from core.explanation.standings import ARROWS, COMPREHENSIVENESS, DIRECTIONS
from core.mathematics.search.limits import INSERTION, STILL
from core.verdicts.telling import favoured_sentence
from core.wording import escaped, plain
from pages.parts.face.body import draw_tabs
from pages.parts.frame.links import choose_one, folded
from pages.parts.frame.sidebar import View, chosen_method, open_page
from pages.parts.frame.texts import captions, prediction_line, show_answer, show_notes
from pages.parts.limits import setting_beside
from pages.parts.limits.answering import how_read, limits_answer, text_shown
from pages.parts.limits.drawing import draw_curves, draw_gauges, draw_slope, draw_standings, draw_widths
from pages.parts.limits.limiting import studies_of
from pages.parts.limits.order_words import draw_orders, draw_raw
from pages.parts.limits.standing import curves_caption
from pages.parts.limits.verdicts import beside_line, draw_verdicts, verdicts_of
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.evidence import show_marked_text
from pages.parts.sections.sides import about_the_test, both_sides, choose_beside
from pages.parts.sections.standings import (
    FULL,
    HALF,
    SEARCHES,
    Boards,
    KnownLimits,
    LimitsChoice,
    known_boards,
    refused,
    search_name,
    width_of,
)
from pages.parts.sections.streaming import stream

_DIRECTION = (
    "Comprehensiveness masks the most important words first, and the score should fall fast. Sufficiency masks "
    "the least important first, and it should stay."
)
_MEASURES = (
    "Each is set between the limits. Cheap ones are scored at once; dear ones say what they cost and wait to be asked."
)
_SEARCHED = (
    "How limits are found where exact ones are too dear. An insertion search moves one word after the other to its "
    "best place. A beam keeps so many sets of each size: wider finds limits that lie further apart, and costs more."
)
_PRECISION = (
    "Half precision is used where this device is faster in it; the orders that it finds are scored in the model’s own "
    "precision, so that the limits shown are attained."
)


def aopc_and_naopc() -> None:
    """Draw the page."""
    view = open_page("AOPC and NAOPC", above=True)
    said, settings = view.places.answer, _settings(view)
    stage, beams, below = (st.container() for _ in range(3))
    with view.places.beside:
        beside = choose_beside(view, "is set beside this one on the same text, before and after normalising")
    choice = LimitsChoice(**settings)
    sides = both_sides(view, beside, said)
    if left_over(view.encoded) == 0:
        with said:
            unit = view.encoded.unit
            prediction_line(view, f"Every {unit} is masked in the text already, so there are no orders to compare.")
    else:
        known = [KnownLimits.of(side, choice) for side in sides]
        stream(
            lambda: [work for one in known for work in one.works],
            stage,
            partial(_draw, view, known),
            said,
            partial(_say, view, known),
        )
        # Where limits come exact and nobody chose a beam, none has to be of any width.
        if choice.width is not None or not known[0].search.exact:
            with beams.expander("How wide must the beam be?"):
                _studies(view, known[0])
    with below:
        about_the_test(sides, choice.form)
        show_marked_text(view)
        show_notes(view)


def _settings(view: View) -> dict:
    with view.places.measures:
        chosen = choose_measures(_MEASURES, baselines=True)
    with folded(view.places.example):
        ways = {way: f"{way} {ARROWS[way]}" for way in DIRECTIONS}
        direction = choose_one("Direction", DIRECTIONS, COMPREHENSIVENESS, "curves", _DIRECTION, format_func=ways.get)
        sign = choose_sign("Signed: what supports the class is masked first. Absolute: what matters most either way.")
        named = {search: search_name(width_of(search)) for search in SEARCHES}
        width = width_of(choose_one("Search", SEARCHES, INSERTION, "beam", _SEARCHED, format_func=named.get))
        half = choose_one("Search in", (HALF, FULL), HALF, "search", _PRECISION) == HALF
        form, rule = chosen_method()
    told = {"sign": sign, "rule": rule, "width": width, "form": form, "half": half, "direction": direction}
    return {"measures": tuple(chosen), **told}


def _say(view: View, known: list[KnownLimits]) -> None:
    boards = known_boards(known)
    compared = setting_beside.comparison(boards)
    closest, *believed = _answer(known)
    # The page's own question first; beside a second model, which of the two is explained better, and whom to believe.
    beside = [*filter(None, [compared.head])]
    verdicts, two = verdicts_of(known[0]), len(known) > 1
    closest = f"{closest} {setting_beside.scores_of_both(boards)}".rstrip()
    more = [*beside, *believed] if compared.settled else [*believed, *beside]
    favours = favoured_sentence(verdicts) if two and verdicts is not None else ""
    prediction_line(view, f"{text_shown(view)} {favours}".rstrip(), *more, first=closest, named=two)


def _answer(known: list[KnownLimits]) -> list[str]:
    one, board = known[0], known_boards(known).get(known[0])
    return limits_answer(one, board, one.choice.direction, verdicts_of(one), len(known) == 1, beside_line(known))


def _draw(view: View, known: list[KnownLimits], asks) -> None:
    boards, first = known_boards(known), known[0]
    for one in known:
        if one not in boards:
            draw_raw(one)
    draw_gauges(view, boards)
    compared = setting_beside.comparison(boards)
    show_answer(after=f"<p>{compared.rest}</p>" if compared.rest else "")
    st.html(f"<p>{escaped(how_read(first.choice.direction, boards), 600)}</p>")
    asks()
    # As a rule two models are refused for one reason.
    told = (refused(one.side) for one in known if one.exact is None and not one.search.exact)
    captions(dict.fromkeys(filter(None, told)))
    if not boards:
        return
    draw_tabs(_parts(view, known, boards), "parts-of-limits")


def _parts(view: View, known: list[KnownLimits], boards: Boards) -> dict[str, Callable[[], None]]:
    """What stands behind the answer, a question each; a second model adds one, at the end."""
    parts = {
        "Which words first?": partial(draw_orders, view.encoded, boards),
        "Step by step": partial(_curves, view, known, boards),
        "Better than chance?": partial(draw_verdicts, view, known),
        "All scores": partial(draw_standings, view, boards),
    }
    return parts if len(known) < 2 else parts | {"Before and after normalising": partial(draw_slope, view, boards)}


def _curves(view: View, known: list[KnownLimits], boards: Boards) -> None:
    draw_curves(view, known, boards)
    st.caption(plain(curves_caption(boards.values(), known[0].gating)))


def _studies(view: View, known: KnownLimits) -> None:
    studies = studies_of(known, view.browsed)
    kinds = dict.fromkeys(f"{study.score_kind} on {study.name}" for study in studies)
    st.caption(
        plain(
            f"For {view.model.name}. The width is doubled until the mean limits move by less than {STILL:g} "
            f"({', '.join(kinds)}) twice in a row."
        )
    )
    for i, study in enumerate(studies):
        stream([study], st.container(), partial(draw_widths, view, known, study, i), name=f"study-{i}")


aopc_and_naopc()
