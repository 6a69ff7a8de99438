"""The smallest sets of words that change the prediction or keep it, as work and as two lines."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.explanation.explainer import Cost
from core.explanation.limiting import left_over
from core.explanation.smallest import SmallestSets, find_sets, sets_cost, stored_sets
from core.job import Job
from core.mathematics.search.fewest import EXACT_FEATURES
from core.results.smallest_sets import SetsReport, sets_results
from core.terms import MASF_P
from core.texts.rendering import fact_text
from pages.parts.face.headline import Badge, draw_finding
from pages.parts.frame.sidebar import View, chosen_method
from pages.parts.sections.sides import SideWork
from pages.parts.sections.streaming import stream


@dataclass(frozen=True, eq=False)
class SmallestWork(SideWork):
    """Both searches on the page's example, whatever class it explains."""

    side: View
    label = "smallest sets"
    failed, aside, explains, counted = "{problem}", True, False, "forward passes"

    @property
    def cost(self) -> Cost:
        return sets_cost(self.side.explainer, self.side.encoded)

    @property
    def at_once(self) -> bool:
        """What the store has, and short texts, whose sets are those of exact limits; the rest has to be asked for."""
        side = self.side
        short = left_over(side.encoded) <= EXACT_FEATURES and super().at_once
        return short or stored_sets(side.explainer, side.encoded) is not None

    def run(self, job: Job) -> Generator[None, None, SmallestSets]:
        side = self.side
        return (yield from find_sets(side.explainer, side.encoded, progress=job.report, cancelled=job.cancelled))


def smallest_section(view: View) -> None:
    """Draw both sets below the words, or a button that asks for them; nothing where every word is masked."""
    if left_over(view.encoded):
        work = SmallestWork(view)
        stream([work], (st.container(key="smallest-sets"), partial(_draw, view, work)), name="sets")


def sets_report(view: View) -> SetsReport | None:
    """What is known of both; None before they are."""
    work = SmallestWork(view)
    if not left_over(view.encoded) or not work.complete:
        return None
    form, rule = chosen_method()
    about = view.model.labels[view.predicted], view.explainer.reference, rule, form
    return SetsReport(work.latest, view.encoded, *about)


def _draw(view: View, work: SmallestWork, asks: Callable[[], None]) -> None:
    report = sets_report(view)
    if report is None:
        # What starts unasked is no longer than a moment; a bar would only flicker.
        if not (work.runs and work.at_once):
            asks()
        return
    for result in sets_results(report).values():
        p = result.fact("p")
        tested = [] if p is None or p.value is None else [Badge(f"{MASF_P} = {fact_text(p)}")]
        draw_finding(result, *tested)
