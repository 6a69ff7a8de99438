"""The tab Attacks: how often an attack changes predictions, and originals against attacked texts."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
import streamlit as st

from core.attacks.attacked_data import Pair, keep_attacked
from core.attacks.attacking import OUTCOMES
from core.attacks.victim import AttackOutcome
from core.evaluation.studies.attacks import Attacking
from core.wording import plain
from pages.parts.check.checking import CheckChoice, models_on_sample
from pages.parts.components.presses import pressed
from pages.parts.face.body import draw_body
from pages.parts.face.headline import draw_headline
from pages.parts.frame import resources
from pages.parts.frame.links import folded, visit
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.questions import asked_result, choose_question, question_parts
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking

_TABS = "parts-of-attacks"


def draw_attacks(frame: DataView, choice: CheckChoice) -> None:
    """Draw the tab; its work waits to be asked for where it is slow."""
    said = st.container()
    with folded(st.popover("Attack", icon=":material/tune:", width="content")):
        question = choose_question(Attacking, frame.explainer.model)
    stage = st.container()
    try:
        question.check(frame.explainer.model)
    except ValueError as error:
        said.info(plain(str(error)))
        return
    asked = models_on_sample(frame, replace(choice, beside=()), question, said)
    for one in asked:
        stream(one.works, (stage, partial(_draw, one)), (said, partial(_say, one)), name="attacks", together=True)


def _say(one: Asking) -> None:
    draw_headline(asked_result(one, one.report))


def _draw(one: Asking, asks: Callable[[], None]) -> None:
    report = one.report
    result = asked_result(one, report)
    if report is None:
        draw_body(result, None, {}, _TABS, asks=asks)
        return
    parts = question_parts(one, report, result)
    draw_body(result, parts.picture, parts.tabs, _TABS, asks=asks)
    parts.save()
    if report.pairs:
        _offer_pairs(one)


def _offer_pairs(one: Asking) -> None:
    """The button that opens attacked texts as a data set of their own."""
    if pressed(st.button, "See attacked texts", "attacked", icon=":material/table_rows:"):
        visit("Examples", model=one.model.origin or one.model.name, data=_keep(one))


def _keep(one: Asking) -> str:
    """Put the pairs of original and attacked text into the library; the key of that data set."""
    (work,) = one.works
    rows = work.found
    won = rows.there & (rows.columns["outcome"] == OUTCOMES.index(AttackOutcome.SUCCEEDED))
    columns, examples = rows.columns, one.sample.examples
    pairs = [
        Pair(
            examples[i], rows.sentences[columns["text"][i]], int(columns["queries"][i]), float(columns["similarity"][i])
        )
        for i in np.flatnonzero(won)
    ]
    return keep_attacked(resources.library(), one.sample.name, cast(Attacking, work.study).attack, pairs).key
