"""Model check: are masked texts in-distribution for this model?"""

from functools import partial

import streamlit as st

from core.evaluation.studies.check_question import check_rows
from core.evaluation.studies.check_report import CheckReport, left_out, told_left_out
from core.results.asked import limited_answer
from core.results.model_check import check_result, unchecked_result
from core.results.result import Result
from core.texts.checks import checks_as_json
from core.texts.rendering import headline
from pages.parts.check.attacking import draw_attacks
from pages.parts.check.checking import CheckChoice, choose_check, models_on_sample
from pages.parts.check.making import measurable_tab
from pages.parts.check.tabs import (
    draw_behaviour,
    draw_check_curves,
    draw_findings,
    draw_measures,
    draw_models,
    draw_p_values,
)
from pages.parts.face.body import draw_body
from pages.parts.face.headline import Badge, Colour, draw_headline
from pages.parts.frame.links import held, say_missing
from pages.parts.frame.pages import CHECK_TABS, MAKING, MEASURABLE
from pages.parts.frame.sidebar import DataView, open_data_page
from pages.parts.frame.texts import captions
from pages.parts.sections.saving import save_records
from pages.parts.sections.sides import reference_tab
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking

OF_CHECK = ("With and without masking", "Measures", "p-values", "Paper’s findings")
BEHAVIOUR, ATTACKS = "Behaviour", "Attacks"
# What an address may open, and its tab.
PARTS = {"in-distribution": OF_CHECK[0], "behaviour": BEHAVIOUR, "attacks": ATTACKS, MEASURABLE: MAKING}
TERMS = ("random order", "class majority", "MaSF p", "calibrated, literal", "by count, by Simes", "plain twin")
OWN = "Your own text has no label. Choose labelled data"
_FEW = "Too few texts so far."
_COLOURS: dict[str, Colour] = {"yes": "green", "no": "red"}


def model_check() -> None:
    """Draw the page."""
    frame = open_data_page("Model check", OWN)
    if frame is None:
        return
    _open_part()
    said, choices, stage = (st.container() for _ in range(3))
    with said:
        coming = st.empty()
    with coming.container():
        draw_headline(unchecked_result(frame.explainer.model.name, True))
    with choices:
        choice = choose_check(frame)
    checked = models_on_sample(frame, choice, choice.check, said)
    coming.empty()
    if checked:
        works = [work for one in checked for work in one.works]
        stream(works, (stage, partial(_draw, frame, checked, choice)), (said, partial(_say, checked)))


def _open_part() -> None:
    """Open the tab that an address asks for."""
    part = held("part")
    if part is None or CHECK_TABS in st.session_state:
        return
    if part in PARTS:
        st.session_state[CHECK_TABS] = PARTS[part]
    else:
        say_missing("Part", [str(part)])


def _result(one: Asking) -> Result:
    report, chance = one.report, one.works[0]
    found = unchecked_result(one.model.name, not chance.complete) if report is None else check_result(report)
    return limited_answer(found, one.question, one.answers)


def _say(checked: list[Asking]) -> None:
    first, *others = checked
    badges = [_badge(_result(one), one.model.name) for one in others if one.report is not None]
    draw_headline(_result(first), *badges)
    if first.report is None:
        captions([*first.sample.notes, *told_left_out(left_out(first.works[0].found))])


def _badge(result: Result, name: str) -> Badge:
    """The answer of a model beside it."""
    answer = getattr(result.outcome, "answer", "not known")
    return Badge(f"{name}: {answer}", headline(result), _COLOURS.get(answer, "gray"))


def _draw(frame: DataView, checked: list[Asking], choice: CheckChoice, asks) -> None:
    first, found = checked[0].report, [report for one in checked if (report := one.report) is not None]
    tabs = {
        BEHAVIOUR: partial(draw_behaviour, frame, choice),
        ATTACKS: partial(draw_attacks, frame, choice),
        MAKING: partial(measurable_tab, frame),
        "Reference": partial(reference_tab, [one.explainer for one in checked], choice.form),
    }
    if first is None or not first.shown:
        # Of so few texts nothing is told. The tabs stand in place: the first is open, and Behaviour begins once opened.
        tabs = dict.fromkeys(OF_CHECK, partial(st.caption, _FEW)) | tabs
        draw_body(_result(checked[0]), None, tabs, CHECK_TABS, asks=asks, terms=TERMS)
        return
    drawn = (
        partial(_models, checked, found, choice.form),
        partial(draw_measures, checked, found, choice),
        partial(draw_p_values, checked, found, choice.form),
        partial(draw_findings, found),
    )
    tabs = dict(zip(OF_CHECK, drawn, strict=True)) | tabs
    draw_body(
        check_result(first),
        partial(draw_check_curves, checked, found, choice.form),
        tabs,
        CHECK_TABS,
        asks=asks,
        terms=TERMS,
    )
    captions(first.notes)


def _models(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    draw_models(checked, found, form)
    name = ["model-check", *(one.model for one in found)]
    plain = partial(checks_as_json, found, [_result(one) for one in checked if one.report is not None])
    save_records(lambda: [row for one in found for row in check_rows(one)], plain, name, "check")


model_check()
