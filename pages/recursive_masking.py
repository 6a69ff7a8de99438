"""Recursive masking: does masking what a measure ranks first change the prediction?"""

from functools import partial

import streamlit as st

from core.explanation.recursive import BY_FEATURE, BY_RATIO, STEPS
from core.results.recursive_masking import RecursiveMaskingOutcome, masking_result
from core.results.result import Result
from core.texts.rendering import fact_text
from pages.parts.face.body import draw_body
from pages.parts.face.headline import Badge
from pages.parts.frame.links import choose_one, folded
from pages.parts.frame.sidebar import View, chosen_method, open_page
from pages.parts.frame.texts import about_text
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.paths import Choice, Path, Summaries
from pages.parts.sections.sides import Orders, both_sides, choose_order, draw_headlines, pick_beside, reference_tab
from pages.parts.sections.streaming import stream
from pages.parts.steps.drawing import draw_path_curves, draw_stepper, draw_table
from pages.parts.steps.trying import what_if_section

PLAYED_HELP = "The measure whose steps are shown; the curves show all that are chosen."
TERMS = (
    "recursive masking",
    "random order",
    "RACU",
    "ACU",
    "MaSF p",
    "validity gate",
    "rejected (out-of-distribution)",
)
_TABS = "parts-of-masking"


def recursive_masking() -> None:
    """Draw the page."""
    view = open_page("Recursive masking", above=True)
    settings = _settings(view)
    chosen = settings["measures"]
    played = choose_one("Step through", chosen, chosen[0], "play", PLAYED_HELP) if chosen else ""
    stage, below = st.container(), st.container()
    with view.places.beside:
        beside = pick_beside(view.model)
    choice = Choice(played=played, **settings)
    _open_linked_tab()
    sides = both_sides(view, beside, view.places.answer)
    orders = [Orders(side, choice.step) for side in sides]
    paths = [Path(side, name, choice, one) for side, one in zip(sides, orders) for name in choice.measures]
    stream(
        [*paths, *orders],
        (stage, partial(_draw, view, sides, paths, choice)),
        (view.places.answer, partial(_say, view, sides, paths)),
    )
    with below:
        about_text(view)


def _open_linked_tab() -> None:
    """A link that names a mask opens the tab where it is made, once."""
    if "masked" in st.query_params:
        st.session_state.setdefault(_TABS, "What if?")


def _settings(view: View) -> dict:
    with view.places.measures:
        chosen = choose_measures(baselines=True)
    steps = {BY_RATIO: "10 % of the text", BY_FEATURE: f"one {view.encoded.unit}"}
    with folded(view.places.example):
        sign = choose_sign()
        step = choose_one("Step", STEPS, BY_RATIO, "steps", format_func=steps.get)
        order = choose_order()
    return {"measures": tuple(chosen), "sign": sign, "step": step, "order": order} | chosen_method()._asdict()


def _say(view: View, sides: list[View], paths: list[Path]) -> None:
    played = {path.side: path for path in paths if path.measure == path.choice.played}
    if not played:
        st.info("Choose a measure to see what masking does.")
        return
    results = [_result(played[side]) for side in sides]
    draw_headlines(view, sides, [(one, _early_badges(one)) for one in results])


def _early_badges(result: Result) -> list[Badge]:
    """How many random orders change the prediction as early, where the order does and these are known."""
    early, known = result.fact("as_early"), result.outcome == RecursiveMaskingOutcome.FLIPS
    if not known or early is None or early.value is None or not early.of:
        return []
    return [Badge(f"{fact_text(early)} random orders as early", "Random orders that change it with as few masked.")]


def _result(path: Path) -> Result:
    return masking_result(path.measure, path.summary, path.side.encoded, path.side.model.labels)


def _draw(view: View, sides: list[View], paths: list[Path], choice: Choice, asks) -> None:
    found = _found(paths)
    played = next((path for path in paths if path.measure == choice.played), None)
    tabs = {
        "Curves": partial(draw_path_curves, view, sides, found),
        "All measures": partial(draw_table, view, sides, found),
        "What if?": partial(what_if_section, view, sides, choice),
        "MaSF test": partial(reference_tab, [side.explainer for side in sides], choice.form),
    }
    if played is None:
        tabs = {name: tabs[name] for name in ("What if?", "MaSF test")}
        draw_body(Result.of(RecursiveMaskingOutcome.RUNNING), lambda: None, tabs, _TABS, terms=TERMS)
        return
    shown = partial(draw_stepper, view, found) if played in found else None
    draw_body(_result(played), shown, tabs, _TABS, asks=asks, terms=TERMS)


def _found(paths: list[Path]) -> Summaries:
    found = {path: path.summary for path in paths}
    return {path: summary for path, summary in found.items() if summary is not None}


recursive_masking()
