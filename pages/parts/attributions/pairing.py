"""Which words work only together, and which say the same twice: pairs as work, lines under the words, and a table."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.explanation.explainer import Cost
from core.explanation.limiting import left_over
from core.interactions.finding import AT_ONCE, find_interactions, interactions_cost, stored_interactions, why_no_pairs
from core.interactions.pairs import RULE, Paired, PairTest, check_pairs, masks_of_pair
from core.interactions.telling import COLUMNS, MASKED, MEANS, PairReport, signed
from core.job import Job
from core.results.word_pairs import pairs_result
from core.terms import MASF_P
from core.wording import plain
from pages.parts.components.joins import Join, joins_under
from pages.parts.components.tables import macros
from pages.parts.face.headline import draw_finding
from pages.parts.frame.links import choose, link_to
from pages.parts.frame.sidebar import ALL_OTHERS, View, chosen_method
from pages.parts.frame.texts import captions
from pages.parts.sections.saving import save_with_origin
from pages.parts.sections.sides import SideWork
from pages.parts.sections.streaming import stream

_MASKED = f"Under “masked” stands what that changes, in logits, and the {MASF_P} ↑ of that input where it is tested."


@dataclass(frozen=True, eq=False)
class Pairing(SideWork):
    """Interactions of the page's example, from every set of words or from a sample."""

    side: View
    exact: bool
    failed, aside, rests = "{problem}", True, ("exact",)

    @property
    def label(self) -> str:
        return f"pairs of words, {'exact' if self.exact else 'sampled'}"

    @property
    def cost(self) -> Cost:
        return interactions_cost(self.side.explainer, self.side.encoded, self.exact)

    @property
    def at_once(self) -> bool:
        """What the store has, and short texts; the rest has to be asked for."""
        side = self.side
        return (self.exact and left_over(side.encoded) <= AT_ONCE and super().at_once) or (
            stored_interactions(side.explainer, side.encoded, side.explained, self.exact) is not None
        )

    def run(self, job: Job) -> Generator[None, None, Paired]:
        side = self.side
        found = yield from find_interactions(
            side.explainer, side.encoded, side.explained, self.exact, progress=job.report, cancelled=job.cancelled
        )
        return check_pairs(side.explainer, side.encoded, found, cancelled=job.cancelled)


def _works(view: View) -> list[Pairing]:
    """What may be asked of an example: exact interactions, and of more words than that is cheap for a sample, which
    then stands first.
    """
    ways = (True,) if left_over(view.encoded) <= AT_ONCE else (False, True)
    works = [Pairing(view, exact) for exact in ways if not why_no_pairs(view.encoded, exact)]
    # Where every set was asked for nobody needs a sample.
    return works[-1:] if works and works[-1].exact and works[-1].complete else works


def pairs_report(view: View) -> PairReport | None:
    """What is known, exact before sampled; None where nothing is."""
    done, (form, rule) = next((work.latest for work in reversed(_works(view)) if work.complete), None), chosen_method()
    return None if done is None else PairReport(done, view.encoded, view.explainer.reference, rule, form)


def pairs_section(view: View) -> None:
    """Draw which pairs of words count only together, or offer to compute it."""
    unit = view.encoded.unit
    st.header(f"Which {unit}s work together?", anchor=False)
    if not _works(view):
        st.caption(plain(why_no_pairs(view.encoded, left_over(view.encoded) <= AT_ONCE)))
        return

    def draw(asks: Callable[[], None]) -> None:
        report = pairs_report(view)
        if report is not None:
            _show(view, report)
        if any(work.runs and work.at_once for work in _works(view)):
            # It started by itself, so nobody is asked whether it should go on.
            st.caption(f"Pairs of {unit}s are being computed …")
        else:
            asks()

    stream(partial(_works, view), (st.container(), draw), name="pairs")


def _show(view: View, report: PairReport) -> None:
    draw_finding(pairs_result(report))
    tests = report.paired.tests
    if not tests:
        st.caption(plain(f"{report.how}."))
        return
    largest = max(abs(one.pair.value) for one in tests)
    words = [feature.text for feature in view.encoded.features]
    captions([MEANS.format(unit=view.encoded.unit)])
    joins_under(
        words,
        [_join(report, one, largest) for one in tests],
        f"{view.encoded.unit.capitalize()}s, and under them a line for each of the strongest pairs",
        [
            f"full line, +: together they speak more for “{view.class_name}” than apart",
            "dashed, -: together they speak less for it than apart",
            "thicker: more",
        ],
        "pairs",
    )
    with st.expander("In numbers, with what masking each of them does"):
        header = [*COLUMNS, *MASKED]
        st.html(macros("attributions/pairs.html").pairs(header, [_line(view, report, one) for one in tests]))
        captions([f"{report.how}. {RULE}", _MASKED])
        save_with_origin(view, report.header, report.lines, report.as_json, "pairs")


def _join(report: PairReport, one: PairTest, largest: float) -> Join:
    pair, (first, second), value = one.pair, report.name(one), signed(one.pair.value)
    told, names = f"{first} and {second}: {value} logits together", f"{first} + {second}"
    told, names = (f"{text}, {pair.kind}" if pair.kind else text for text in (told, names))
    return Join(pair.first, pair.second, value, names, abs(pair.value) / largest, pair.value < 0, told)


def _line(view: View, report: PairReport, one: PairTest) -> dict[str, Any]:
    """A pair's cells, and its three inputs each with the address where it is masked by hand."""
    masks = masks_of_pair(view.encoded, one.pair) & ~view.encoded.premasked
    held = {"rule": report.rule, "form": report.form}
    places = [".".join(map(str, np.flatnonzero(mask))) for mask in masks]
    links = [link_to("recursive_masking", masked=place, **held) for place in places]
    return {"cells": report.cells(one), "inputs": list(zip(report.inputs(one), links))}


def rather_than(view: View) -> None:
    """Draw which class the explained one is set against, the likeliest other where it is none: a press sets it against
    this one, another press against none. The box "Rather than" has all.
    """
    others = [i for i in view.probabilities.argsort(kind="stable")[::-1].tolist() if i != view.target]
    if not others:
        return
    shown, chosen = (others[0], False) if view.than is None else (view.than, True)
    label = view.model.labels[shown]
    st.button(
        f"rather than {plain(label)}",
        key="rather-than",
        on_click=choose,
        args=("than", ALL_OTHERS if chosen else label),
        type="primary" if chosen else "secondary",
        help="The score is then the logit of the explained class less that of this one; press again for the class "
        "alone. “Rather than” offers every class.",
    )
