"""Data set: does what one example shows hold over the data?"""

from functools import partial
from typing import Any

import streamlit as st

from core.evaluation.studies.catalogue import questions
from core.evaluation.studies.diagnosticity_question import Diagnosing
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.scoring import Scoring
from core.evaluation.studies.verdicts import Verdicts
from core.evaluation.studies.words_question import Words
from core.results.caveats import Caveat
from core.results.model_check import check_result
from core.results.result import Result
from core.results.verdicts_of_texts import why_untested
from pages.parts.check.checking import known_check
from pages.parts.data_set.drawing import diagnosticity_parts, scores_parts, verdicts_parts, with_rejected
from pages.parts.data_set.over_seeds import seeds_of_question
from pages.parts.data_set.sweep import NAME as SWEEP
from pages.parts.data_set.sweep import choose_sweep, sweep_section
from pages.parts.data_set.words import words_parts
from pages.parts.frame.links import choose_one, folded, held
from pages.parts.frame.sidebar import DataView, open_data_page
from pages.parts.sections.filtered import choose_texts, drawn_texts, say_none
from pages.parts.sections.questions import (
    QuestionParts,
    QuestionView,
    choose_question,
    question_parts,
    question_section,
    say_command_only,
)
from pages.parts.sections.reporting import report_of_answers
from pages.parts.sections.studying import Asking

PAGE = "Data set"
OWN = "Your own text is one example. Choose data"
PARTS = {
    Verdicts.name: verdicts_parts,
    Scoring.name: scores_parts,
    Diagnosing.name: diagnosticity_parts,
    Words.name: words_parts,
}
TERMS = {
    Verdicts.name: ("verdict", "random order", "interval (95 %)"),
    Scoring.name: ("hard erasure", "soft erasure", "interval (95 %)"),
    LimitsOfTexts.name: ("NAOPC", "AOPC", "comprehensiveness", "interval (95 %)"),
    Diagnosing.name: ("diagnosticity", "hard erasure", "soft erasure", "interval (95 %)"),
}


def data_set() -> None:
    """Draw the page."""
    frame = open_data_page(PAGE, OWN)
    if frame is None:
        return
    # First what the page's title asks.
    others = [name for name, one in questions().items() if one.page == PAGE and name != Verdicts.name]
    offered = [Verdicts.name, *others, SWEEP]
    say_command_only()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = choose_one(
            "Question", offered, offered[0], "section", format_func=str.capitalize, label_visibility="collapsed"
        )
        settings = st.popover("Settings", icon=":material/tune:", width="content")
    if name == SWEEP:
        with folded(settings):
            chosen = choose_sweep()
        sweep_section(frame, *chosen)
        return
    with folded(settings):
        texts = choose_texts(frame)
        question = choose_question(questions()[name], frame.explainer.model)
    examples, picked, about = drawn_texts(frame, *texts)
    if not examples:
        say_none()
        return
    shown = _shown(frame, name)
    shown = shown._replace(parts=partial(_with_seeds, shown))
    if not picked:
        shown = shown._replace(parts=partial(_with_report, frame.browsed.key, shown))
    question_section(frame, question, examples, picked, about, shown)


def _with_seeds(shown: QuestionView, asked: Asking, report: Any, result: Result) -> QuestionParts:
    """What is drawn of a report, and a tab on the seeds of the model's family."""
    found, draw = shown.parts(asked, report, result), seeds_of_question(asked)
    return found if draw is None else found._replace(tabs=found.tabs | {"Seeds": draw})


def _with_report(key: str, shown: QuestionView, asked: Asking, report: Any, result: Result) -> QuestionParts:
    """What is drawn of a report, and a tab that writes it; key: of the data."""
    found, draw = shown.parts(asked, report, result), report_of_answers(asked, key)
    return found if draw is None else found._replace(tabs=found.tabs | {"Report": draw})


def _shown(frame: DataView, name: str) -> QuestionView:
    parts, terms, data = PARTS.get(name, question_parts), TERMS.get(name, ()), frame.browsed.index.data
    if name == Verdicts.name:
        return QuestionView(parts, more=lambda asked: why_untested(asked.report, lambda: _known(frame)), terms=terms)
    if name == LimitsOfTexts.name:
        return QuestionView(parts, more=lambda asked: _known(frame), terms=terms)
    if name in (Scoring.name, Diagnosing.name):
        return QuestionView(parts, lambda asked: with_rejected(asked, data), lambda asked: _known(frame), terms)
    return QuestionView(parts, terms=terms)


def _known(frame: DataView) -> list[Caveat]:
    """What *Model check* knows of these data that limits every score over them."""
    checked = known_check(frame.explainer, frame.browsed.index, held("unit") or "word")
    limits = (Caveat.OUT_OF_DISTRIBUTION, Caveat.NOT_TESTED)
    return [] if checked is None else [one for one in limits if check_result(checked).has(one)]


data_set()
