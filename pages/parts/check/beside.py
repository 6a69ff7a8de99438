"""The models of Model check side by side: what masking does to them, verdicts of measures, and limits of AOPC."""

from functools import partial

import streamlit as st

from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport
from core.evaluation.studies.side_by_side import SideBySide, side_by_side_table
from core.measures.catalogue import default_measures
from pages.parts.components.tables import data_table
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking


def draw_side_by_side(checked: list[Asking], found: list[CheckReport], check: MaskingCheck) -> None:
    """Draw a line for each model; verdicts and limits are computed once they are asked for.

    checked, found: the models and what random order comes to; check: which measures have verdicts.
    """
    question = SideBySide(check.measures or default_measures(), check.sign, check.unit)
    asked = [Asking(one.explainer, one.sample, question, False) for one in checked]
    works = [work for one in asked for work in one.works]
    stream(works, (st.container(), partial(_draw, asked, found, question.measures)), name="beside", together=True)


def _draw(asked: list[Asking], found: list[CheckReport], measures: tuple[str, ...], asks) -> None:
    made = [one.model.card["plan"].get("method", "") if one.model.card else "" for one in asked]
    lines = list(zip(found, made, (one.report for one in asked), strict=True))
    data_table(*side_by_side_table(measures, lines), "models-side-by-side")
    asks()
