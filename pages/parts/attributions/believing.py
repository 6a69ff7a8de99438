"""Which measures to believe on a text, as the page's answer, where somebody asks for that."""

import numpy as np
import streamlit as st

from core.validity.marks import Why, doubts
from core.verdicts.deciding import Cause, VerdictReport, Word
from core.verdicts.in_short import standing_sentence
from core.verdicts.telling import believe_sentence, favoured_sentence
from core.wording import escaped, linked_name
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.frame.data import first_data
from pages.parts.frame.links import choose_one, held, link_to
from pages.parts.frame.picking import OWN
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import prediction_line
from pages.parts.frame.tour import touring
from pages.parts.frame.working import PageWork
from pages.parts.sections.streaming import show_progress
from pages.parts.sections.verdicts import VerdictWork

WORDS, BELIEVED = "which words count", "which measures to believe"


def choose_believed() -> bool:
    """Draw the choice of what the answer says; whether it is which measures to believe."""
    return choose_one("The answer says", (WORDS, BELIEVED), WORDS, "says", label_visibility="collapsed") == BELIEVED


def say_believed(view: View, scoring: ScoredRows, words: str, seen: str) -> None:
    """The page's answer: which measures to believe, or what that waits for, and meanwhile which words count.

    words, seen: HTML in which all text is escaped; seen: what is known before they are tested, which measure finds the
    evidence best, or on which word they part, or "".
    """
    report = scoring.report
    if report is not None:
        # Each row of words has its own p.
        said = believe_sentence(report, view.encoded, why=False, chances=False)
        # On a tour, which says it where it is asked of many texts, it is a step away: the rows of words are in view.
        favours, tour = favoured_sentence(report), touring()
        believed = " ".join(filter(None, [said, _length(view, report), "" if tour else favours, _over_many(report)]))
        # What they part on, or where the evidence is, says which words count.
        prediction_line(view, seen or words, *[favours] * tour, first=believed)
        return
    offered = _offered(scoring)
    prediction_line(view, f"{seen} {_waits(scoring, offered)}".lstrip(), words)
    if offered is None:
        # Where it was asked for, not only in the sidebar.
        show_progress(_under_way(scoring), "believed")
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        if st.button("Compute which measures to believe", key="ask-believed"):
            offered.ask()
            # What looks for it begins with the page.
            st.rerun()
        st.markdown(offered.price)


def say_standing(scoring: ScoredRows) -> str:
    """Of each measure whether it is better than chance, in a sentence beside which words count, HTML; while that is
    under way that it is; "" where nobody asked.
    """
    report = scoring.report
    if report is not None:
        return standing_sentence({one.measure: one.word for one in report.verdicts})
    verdicts = None if scoring.limits is None else scoring.limits.verdicts
    coming = verdicts is not None and verdicts.comes
    return "Which of these are better than chance is being tested …" if coming else ""


def _length(view: View, report: VerdictReport) -> str:
    """That a text is of another length than those of the reference, where its inputs are rejected and nothing can be
    told of it, HTML; else "".
    """
    reference = view.explainer.reference
    if reference is None or not all(Cause.REJECTED in one.causes for one in report.verdicts):
        return ""
    return escaped(doubts(reference, np.array([view.encoded.T]), view.model.precision).get(Why.LENGTH, ""), 400)


def _over_many(report: VerdictReport) -> str:
    """Where to go on where none is believed, HTML; "" elsewhere."""
    if report.those(Word.BETTER) or not any(one.told for one in report.verdicts):
        return ""
    own = {"data": first_data(held("model") or "")} if held("data") == OWN else {}
    # Of what it asks instead of a text of one's own.
    of = f", of {escaped(own['data'])}" if own else ""
    return f"One text often tells too little; {linked_name('Data set', link_to('data_set', **own))} asks many{of}."


def _offered(scoring: ScoredRows) -> VerdictWork | None:
    """The verdicts, where they wait to be asked for."""
    known = scoring.limits
    verdicts = None if known is None else known.verdicts
    # Dear ones start for no other work that ends, so that they are offered beside it.
    if known is None or verdicts is None or any(work.comes for work in [verdicts, *known.scored]):
        return None
    return verdicts


def _under_way(scoring: ScoredRows) -> list[PageWork]:
    """All that it waits for."""
    known = scoring.limits
    return [] if known is None else [*scoring.works, *known.works]


def _waits(scoring: ScoredRows, offered: VerdictWork | None) -> str:
    """Why it is not said yet, HTML."""
    known = scoring.limits
    if known is None:
        return "There is no order here to believe or not."
    if offered is not None:
        return "Which measures to believe is not computed yet."
    if any(work.comes for work in _under_way(scoring)):
        return "Which measures to believe is being computed …"
    return "No order is scored yet, so none can be believed or not: ask for one below."
