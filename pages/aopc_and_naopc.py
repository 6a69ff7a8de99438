"""AOPC and NAOPC: how close does a measure come to the best order of words?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.explanation.limiting import COMPREHENSIVENESS, DIRECTIONS, left_over
from core.explanation.standings import ARROWS
from core.results.limits import limits_result
from core.results.result import Result
from core.wording import plain
from pages.parts.face.body import draw_body
from pages.parts.face.headline import draw_headline
from pages.parts.frame.links import choose_one, folded, say_retired
from pages.parts.frame.sidebar import View, chosen_method, open_page
from pages.parts.frame.texts import about_text, view_badges, view_caveats
from pages.parts.limits.drawing import (
    draw_curves,
    draw_gauges,
    draw_orders,
    draw_slope,
    draw_standings,
    draw_verdicts,
    measure_badges,
)
from pages.parts.limits.standing import compared, result_of
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.sides import both_sides, draw_headlines, pick_beside, reference_tab
from pages.parts.sections.standings import Boards, KnownLimits, LimitsChoice, known_boards, refused
from pages.parts.sections.streaming import stream

DIRECTION_HELP = "Mask the most important first (comprehensiveness) or last (sufficiency)."
MEASURES_HELP = "Fast measures are scored at once; slow ones show their cost and wait for a click."
# What old links search in, which are told from the search of Examples by it.
SEARCHES = ("half precision", "the model’s own")
# The tab of two models.
BESIDE = "Before and after normalising"
TERMS = (
    "NAOPC",
    "AOPC",
    "comprehensiveness",
    "sufficiency",
    "limits",
    "random order",
    "verdict",
    "validity gate",
    "rejected (out-of-distribution)",
)


def aopc_and_naopc() -> None:
    """Draw the page."""
    view = open_page("AOPC and NAOPC", above=True)
    say_retired("beam")
    say_retired("search", SEARCHES)
    settings = _settings(view)
    stage, below = st.container(), st.container()
    with view.places.beside:
        beside = pick_beside(view.model)
    choice = LimitsChoice(**settings)
    sides = both_sides(view, beside, view.places.answer)
    known = [KnownLimits.of(side, choice) for side in sides] if left_over(view.encoded) else []
    if known:
        draw, say = partial(_draw, view, known), partial(_say, view, known)
        stream(lambda: [work for one in known for work in one.works], (stage, draw), (view.places.answer, say))
    else:
        with view.places.answer:
            draw_headline(limits_result(None, "", view.encoded), *view_badges(view), more=view_caveats(view))
    with below:
        about_text(view)


def _settings(view: View) -> dict:
    with view.places.measures:
        chosen = choose_measures(MEASURES_HELP, baselines=True)
    with folded(view.places.example):
        ways = {way: f"{way} {ARROWS[way]}" for way in DIRECTIONS}
        direction = choose_one(
            "Direction", DIRECTIONS, COMPREHENSIVENESS, "curves", DIRECTION_HELP, format_func=ways.get
        )
        sign = choose_sign()
    return {"measures": tuple(chosen), "sign": sign, "direction": direction} | chosen_method()._asdict()


def _say(view: View, known: list[KnownLimits]) -> None:
    boards = known_boards(known)
    results = [(one, result_of(one, boards.get(one))) for one in known]
    draw_headlines(view, [one.side for one in known], [(found, measure_badges(one, found)) for one, found in results])


def _draw(view: View, known: list[KnownLimits], asks: Callable[[], None]) -> None:
    boards, sides = known_boards(known), [one.side for one in known]
    tabs: dict[str, Callable[[], None]] = {
        "Which words first?": partial(draw_orders, boards),
        "Step by step": partial(draw_curves, view, known, boards),
        "Better than random?": partial(draw_verdicts, view, known),
        "All scores": partial(draw_standings, view, known, boards),
    }
    found = compared(boards)
    if found is not None:
        tabs[BESIDE] = partial(draw_slope, view, boards, found)
    tabs["MaSF test"] = partial(reference_tab, [side.explainer for side in sides], known[0].choice.form)
    offers, picture = partial(_offers, known, asks), _picture(view, boards)
    draw_body(_result(known, boards), picture, tabs, "parts-of-limits", asks=offers, terms=TERMS)


def _picture(view: View, boards: Boards) -> Callable[[], None] | None:
    """The gauges; Plotly refuses a figure without data."""
    drawn = {one: board for one, board in boards.items() if board.standings or board.chance is not None}
    return partial(draw_gauges, view, drawn) if drawn else None


def _offers(known: Sequence[KnownLimits], asks: Callable[[], None]) -> None:
    """Progress and offers, and why exact limits cannot be asked for, of two models as a rule for one reason."""
    asks()
    reasons = [refused(one.side) for one in known if one.exact is None and not one.search.exact]
    for reason in dict.fromkeys(filter(None, reasons)):
        st.caption(plain(reason))


def _result(known: Sequence[KnownLimits], boards: Boards) -> Result:
    """What the page shows as facts: of two models how close each comes and what it leaves to gain."""
    results = {one.side.model.name: result_of(one, boards.get(one)) for one in known}
    first, *others = results.values()
    if not others:
        return first
    caveats = dict.fromkeys(caveat for one in results.values() for caveat in one.caveats)
    found = [(name, result.fact(key)) for name, result in results.items() for key in ("naopc", "left")]
    facts = tuple(
        replace(fact, label=f"{fact.label} · {name}", about=fact.about or fact.label)
        for name, fact in found
        if fact is not None
    )
    return replace(first, facts=facts, caveats=tuple(caveats))


aopc_and_naopc()
