"""Recursive masking: does masking the important words change the prediction, on inputs not rejected?"""

from functools import partial

import streamlit as st

from core.explanation.recursive import BY_FEATURE, BY_RATIO, STEPS
from core.verdicts.telling import suits_sentence
from core.wording import escaped, linked_name
from pages.parts.frame.links import choose_one, folded, link_to
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import captions, prediction_line, show_notes
from pages.parts.sections.asking import choose_measures, choose_sign
from pages.parts.sections.paths import Choice, Path, Summaries
from pages.parts.sections.sides import (
    Orders,
    Side,
    about_the_test,
    both_sides,
    choose_beside,
    choose_form,
    choose_order,
    choose_rule,
    reference_notes,
)
from pages.parts.sections.streaming import stream
from pages.parts.steps.drawing import draw_paths, draw_paths_table, draw_stepper
from pages.parts.steps.following import masking_answer
from pages.parts.steps.trying import what_if_section

MEASURES_HELP = (
    "Each masks what it ranks first, step by step. Cheap ones are followed at once; dear ones say what they cost and "
    "wait to be asked."
)
VALUES_HELP = "Signed: mask first what supports the class. Absolute: mask first what matters most either way."
PLAYED_HELP = "The measure whose steps are shown; the curves below show all that are chosen."


def recursive_masking() -> None:
    """Draw the page."""
    view = open_page("Recursive masking", above=True)
    said, settings = view.places.answer, _settings(view)
    chosen = settings["measures"]
    played = choose_one("Step through", chosen, chosen[0], "play", PLAYED_HELP) if chosen else ""
    stage, hand, below = (st.container() for _ in range(3))
    with view.places.beside:
        beside = choose_beside(view, "takes the same steps on the same example")
    choice = Choice(played=played, **settings)
    sides = both_sides(view, beside, said)
    orders = [Orders(side, choice.step) for side in sides]
    paths = [Path(side, name, choice, one) for side, one in zip(sides, orders) for name in choice.measures]
    stream([*paths, *orders], stage, partial(_draw, view, sides, paths), said, partial(_say, view, sides, paths))
    with hand:
        what_if_section(view, sides, choice)
    with below:
        about_the_test(sides, choice.form, notes=False)
        show_notes(view)


def _settings(view: View) -> dict:
    with view.places.measures:
        chosen = choose_measures(MEASURES_HELP, baselines=True)
    steps = {BY_RATIO: "10 % of the text", BY_FEATURE: f"one {view.encoded.unit}"}
    with folded(view.places.example):
        sign = choose_sign(VALUES_HELP)
        step = choose_one("Step", STEPS, BY_RATIO, "steps", format_func=steps.get)
        order = choose_order()
        form = choose_form()
        rule = choose_rule()
    return {"measures": tuple(chosen), "sign": sign, "step": step, "order": order, "rule": rule, "form": form}


def _say(view: View, sides: list[Side], paths: list[Path]) -> None:
    found = _found(paths)
    answer, numbers = masking_answer(paths, found)
    suits = suits_sentence(dict.fromkeys(path.measure for path in found), "as this page does")
    proof = linked_name("AOPC and NAOPC", link_to("aopc_and_naopc"))
    luck = f"Whether an order is more than luck is tested on {proof}, not here." if found else ""
    prediction_line(view, f"{luck} {escaped(suits, 400)}".strip(), numbers, first=answer, named=len(sides) > 1)
    # Where inputs are rejected the answer says it itself.
    captions(note for note in reference_notes(sides) if escaped(note, 400) not in answer)


def _draw(view: View, sides: list[Side], paths: list[Path], asks) -> None:
    found = _found(paths)
    draw_stepper(view, found)
    asks()
    if found:
        draw_paths(view, sides, found)
        draw_paths_table(view, sides, found)


def _found(paths: list[Path]) -> Summaries:
    found = {path: path.summary for path in paths}
    return {path: summary for path, summary in found.items() if summary is not None}


recursive_masking()
