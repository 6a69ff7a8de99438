"""Hard and soft erasure: does it matter whether words are erased whole or in part?"""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.explanation.limiting import left_over
from core.results.caveats import Caveat
from core.results.erasure import ErasureOutcome, erasure_result
from core.results.result import Result
from core.wording import shortened
from pages.parts.erasure.drawing import (
    draw_agreement,
    draw_leaves,
    draw_lengths,
    draw_metric_definitions,
    draw_metric_scores,
    draw_score_table,
)
from pages.parts.erasure.judging import KnownRatings, choose_erasure
from pages.parts.face.body import draw_body
from pages.parts.face.headline import Badge, draw_headline
from pages.parts.frame.sidebar import View, open_page
from pages.parts.frame.texts import about_text, view_badges, view_caveats
from pages.parts.sections.sides import reference_tab, side_caveats
from pages.parts.sections.streaming import stream

JUDGES = "This page always judges the predicted class."
TERMS = ("hard erasure", "soft erasure", "random attribution", "MaSF p", "rejected (out-of-distribution)")


def hard_and_soft_erasure() -> None:
    """Draw the page."""
    asked = open_page("Hard and soft erasure", above=True)
    # Whatever class the sidebar asks for: these metrics are defined for the one that is predicted.
    view = replace(asked, target=asked.predicted, than=None)
    badges = view_badges(view)
    if asked.target != view.target:
        badges.append(Badge(f"judges {shortened(view.class_name, 24)}", JUDGES))
    choice = choose_erasure(view)
    stage, below = st.container(), st.container()
    if left_over(view.encoded) == 0:
        with view.places.answer:
            draw_headline(Result.of(ErasureOutcome.NOTHING_TO_COMPARE, why=""), *badges, more=view_caveats(view))
    else:
        known = KnownRatings.of(view, choice)
        draw, say = partial(_draw, view, known), partial(_say, view, known, badges)
        stream(known.works, (stage, draw), (view.places.answer, say), together=True)
    with below:
        about_text(view)


def _result(known: KnownRatings) -> Result:
    coming = any(one.runs for one in known.judged if not one.complete)
    unstable = [name for name, why in known.side.unstable(known.choice.measures, known.choice.sign).items() if why]
    return erasure_result(known.report, len(known.judged), coming, unstable)


def _say(view: View, known: KnownRatings, badges: list[Badge]) -> None:
    more = [*view_caveats(view), *side_caveats([known.side], known.side)]
    more += [Caveat.PARTIAL] if any(one.runs for one in known.chances) else []
    draw_headline(_result(known), *badges, more=more)


def _draw(view: View, known: KnownRatings, asks) -> None:
    report = known.report
    if not known.judged:
        asks()
        return
    scored = bool(report.rated or report.coming)
    tabs = {
        "All scores": partial(draw_score_table, view, known),
        "Agreement of metrics": partial(draw_agreement, view, report),
        "Lengths": partial(draw_lengths, view, report),
        "Ways to erase": partial(draw_leaves, view, report, known.choice),
        "Metrics": partial(draw_metric_definitions, report),
        "MaSF test": partial(reference_tab, [known.side.explainer], known.choice.form),
    }
    picture = partial(draw_metric_scores, view, report) if scored else None
    draw_body(_result(known), picture, tabs if scored else {}, "parts-of-erasure", asks=asks, terms=TERMS)


hard_and_soft_erasure()
