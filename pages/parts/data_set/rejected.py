"""On how many texts the inputs that metrics give the model are rejected, as *Scoreboard* knows of this data."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import streamlit as st

from core.data.examples import DataSet
from core.evaluation.studies.board_report import RejectedTexts
from core.evaluation.studies.scoring import Scoring
from core.validity.marks import SIGN
from pages.parts.components.tables import data_table
from pages.parts.sections.judged import rejected_on_sample
from pages.parts.sections.studying import Asking

_HEADER = ("metric", "rejected texts, fewest", "rejected texts, most", "texts tested", "more than chance")


def with_rejected(asked: Asking, data: DataSet) -> Any:
    """The report that is known, with the rejected inputs that *Scoreboard* knows of; None where none is."""
    report, scored = asked.report, cast(Scoring, asked.question)
    if report is None:
        return None
    found = rejected_on_sample(asked.explainer, data, scored.metrics, scored.how, scored.sign, scored.unit)
    return replace(report, rejected=found)


def draw_rejected(found: Mapping[str, RejectedTexts]) -> None:
    """On how many texts each metric rests on rejected inputs, and where that is known of one text."""
    rows = [[name, one.least, one.most, one.texts, SIGN if one.marked else ""] for name, one in found.items()]
    if rows:
        data_table(_HEADER, rows, "rejected")
    st.page_link("pages/scoreboard.py", label="Scoreboard tests measures and inputs", icon=":material/leaderboard:")
