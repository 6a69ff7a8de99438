"""Draw what metrics make of the measures: their places, scores by length, and the p-values of rationales."""

import numpy as np
import streamlit as st

from core.figures.erasure_figures import ByLength, draw_scores_by_length, leaving, places_across
from core.figures.palette import hue
from core.judging.metric_report import MetricReport, head
from core.judging.metric_sentences import directed, leaving_sentence, lengths_sentence, metrics_in_words
from core.judging.pair_sentences import pairs_sentences
from core.metrics.catalogue import hard_and_soft
from core.validity.marks import SIGN, level_text
from core.wording import joined, number, plain, without_markup
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import square
from pages.parts.frame.sidebar import View
from pages.parts.frame.texts import captions
from pages.parts.sections.saving import about_view

# Of fewer measures an agreement of two orders says little.
FEWEST_RANKED = 4
_BESIDE = (
    "Each line is a measure, as the legend names it; measures that share a place are set beside each other there, from "
    "left to right as in the table, so that none hides another: within a place the side means nothing."
)


def draw_agreement(view: View, report: MetricReport, rejected: str) -> None:
    """The places of the measures under each metric with a direction, and how far two metrics agree; rejected: what the
    part is called that shows where inputs are.
    """
    board = report.trusted
    if not board.ranked:
        st.caption(f"With a single {report.unit} there is nothing to rank.")
        return
    if len(directed(board.metrics)) < 2 or len(board.measures) < 2:
        st.caption("That takes two metrics with a direction, and two measures.")
        return
    lost = report.table.comparable() & ~board.comparable()
    shown = [k for k in directed(board.metrics) if not lost[k]]
    unranked = f"Numbers with {SIGN} are not ranked." if report.marked.any() else ""
    if len(shown) < 2:
        shows = f" *{rejected}* shows where inputs are rejected." * bool(report.marked.any())
        st.caption(f"{unranked} That leaves no two metrics to compare.{shows}".lstrip())
        return
    only = f" {joined([board.metrics[k] for k in shown])} alone are compared." if lost.any() else ""
    captions([f"{one}{only}" for one in [unranked] if one] + pairs_sentences(board))
    heads = [head(board.metrics[k]) for k in shown]
    # Lines that all run level say no more than the sentence and the table.
    if (board.places[:, shown] == board.places[:, shown[:1]]).all():
        st.caption("Each of them puts the measures at the same places, those of the table.")
        return
    texts = [[number(float(value)) for value in row] for row in board.values[:, shown]]
    drawn = places_across(board.measures, [hue(name) for name in board.measures], heads, board.places[:, shown], texts)
    _draw(view, drawn, "places", metrics_in_words(board), "metric-places", "the places")
    st.caption(_BESIDE)
    if len(board.measures) < FEWEST_RANKED:
        few = f"of {len(board.measures)} measures Kendall’s τ-b takes few values and says little"
        st.caption(f"How far two metrics agree is told from {FEWEST_RANKED} measures on: {few}.")
        return
    agreement = board.agreement[shown][:, shown]
    # Of a metric with itself it says nothing.
    if np.isnan(agreement[~np.eye(len(shown), dtype=bool)]).all():
        st.caption("How far two metrics agree cannot be said here: no two of them put the same measures in an order.")
        return
    square(agreement, heads)
    st.caption(
        f"Agreement of two metrics: Kendall’s τ-b over the {len(board.measures)} measures, better before worse; 1 is "
        "the same order, −1 the reverse, — where a metric ties all of them. Lines that cross are rank flips."
    )


def draw_lengths(view: View, report: MetricReport) -> None:
    """Scores of the hard metrics against the rationale's length, beside the soft metric of the same measure."""
    panels = []
    for hard, soft in hard_and_soft():
        scored = [(measure, one.found) for measure, one in report.rated.items() if hard in one.found]
        lines = [
            ByLength(measure, hue(measure), by_length, found[soft].value if soft in found else float("nan"))
            for measure, found in scored
            if (by_length := found[hard].by_length) is not None
        ]
        panels += [(head(hard), soft if soft in report.names else "", lines)] * bool(lines)
    if not panels:
        st.caption("That is asked of NS and NC where they are defined; choose one of them.")
        return
    told = "Scores of the hard metrics against the rationale’s length; the numbers are in the file of the table."
    drawn = draw_scores_by_length(panels, report.sizes, report.unit)
    _draw(view, drawn, "lengths", told, "erasure-by-length", "the scores by length")
    st.caption(
        "Full and dashed lines: hard metrics, which need a length; flat dotted lines: the soft metric of the same "
        f"measure, which needs none.{f' {same}' if (same := lengths_sentence(report)) else ''}"
    )


def draw_leaves(view: View, report: MetricReport, measure: str) -> None:
    """Which erasure of a measure's rationales leaves the distribution, or why that is not known."""
    if measure not in report.rated:
        st.caption("Its rationales are tested when it is judged.")
        return
    leaves = report.leaves(measure)
    if not leaves:
        st.caption(
            "This model has no reference to test erased inputs against."
            if report.floor is None
            else plain(f"{measure} gave no numbers, so it has no rationales.")
        )
        return
    said = leaving_sentence(report, measure)
    st.html(f"<p>{said}</p>")
    drawn = leaving(
        {erasure: p for erasure, (p, _) in leaves.items()},
        {erasure: gate.rejected.reshape(2, -1) for erasure, (_, gate) in leaves.items()},
        report.sizes,
        report.unit,
        next((gate.threshold, level_text(gate)) for _, gate in leaves.values()),
    )
    told = f"p-values of kept and erased rationales by erasure. {without_markup(said)}"
    _draw(view, drawn, "leaving", told, "erasure-p-values", "the p-values")
    st.caption(
        "↑ Higher is more familiar to the model. The dashed line: what the smallest must be below for any to be "
        "rejected; a cross: rejected as out-of-distribution. The test can only reject: “not rejected” is no proof. NS "
        "keeps the rationale, NC erases it."
    )


def _draw(view: View, figure: dict, key: str, told: str, name: str, title: str) -> None:
    draw_figure(figure, key, told, [name, view.example.id, view.model.name], about_view(view), title)
