"""Behaviour under masking, a tab of Model check: when predictions change, how far embeddings drift, and their map."""

from functools import partial

import streamlit as st

from core.evaluation.findings import FEW
from core.evaluation.studies.behaviour_rows import (
    HEADER,
    behaviour_in_words,
    behaviour_rows,
    behaviour_table,
    classes_apart,
)
from core.figures.behaviour_figures import behaviour_panels
from core.results.behaviour import behaviour_result, nothing_erased
from core.results.caveats import Caveat
from core.results.result import Result
from core.texts.checks import behaviour_as_json
from pages.parts.check.checking import CheckChoice, models_on_sample
from pages.parts.check.embedding_map import draw_maps, maps_of
from pages.parts.components.pictures import draw_figure
from pages.parts.components.tables import data_table
from pages.parts.face.body import draw_body
from pages.parts.face.headline import draw_headline
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.texts import captions
from pages.parts.sections.saving import about_models, save_report
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, Growing

_TABS, _FIDELITY = "parts-of-behaviour", "Fidelity and drift"
TERMS = ("random order", "fidelity", "embedding drift")


def draw_behaviour(frame: DataView, choice: CheckChoice) -> None:
    """Draw the tab; its work starts once it is open."""
    said, stage = st.container(), st.container()
    asked = models_on_sample(frame, choice, choice.behaviour, said, choice.behaviour.erasure)
    if not asked:
        return
    # Of many texts the first come unasked.
    grown = [Growing.of(one) for one in asked]
    stream(
        lambda: [*(work for one in grown for work in one.works), *maps_of(_shown(grown), choice.mapped)],
        stage,
        lambda asks: _draw(frame, _shown(grown), choice.mapped, asks),
        said,
        lambda: _say(_shown(grown)),
        every=1.0,
        name="behaviour",
        together=True,
    )


def _shown(grown: list[Growing]) -> list[Asking]:
    """What answers now, of all models on as many texts."""
    begins = all(one.shown is one.first for one in grown)
    return [one.shown if begins or one.first is None else one.whole for one in grown]


def _result(one: Asking) -> Result:
    report, chance = one.report, one.works[0]
    if report is not None:
        return behaviour_result(report)
    return nothing_erased(one.model.name, not chance.found.complete)


def _say(behaved: list[Asking]) -> None:
    first, apart = behaved[0], classes_apart([report for one in behaved if (report := one.report) is not None])
    draw_headline(_result(first), more=[Caveat.OTHER_CLASSES] if apart and apart[0] else [])
    if first.report is None and first.works[0].found.complete:
        captions(dict.fromkeys(first.works[0].found.problems.values()))


def _draw(frame: DataView, behaved: list[Asking], measure: str, asks) -> None:
    reports = [(one.model, one.report) for one in behaved]
    found = [report for _, report in reports if report is not None]
    result = _result(behaved[0])
    if not found:
        draw_body(result, None, {}, _TABS, asks=asks)
        return
    name = ["behaviour", *(one.model for one in found)]
    about = about_models([model for model, report in reports if report is not None], found[0].sample.name)
    # A curve of so few texts would tell what the answer does not.
    enough = not found[0].tally.coming or max((line.n for line in found[0].lines), default=0) >= FEW
    tabs = {
        _FIDELITY: partial(data_table, *behaviour_table(found), "behaviour-table"),
        "Embedding map": partial(draw_maps, frame, behaved, measure),
    }
    figure, said = behaviour_panels(found), behaviour_in_words(found)
    picture = partial(draw_figure, figure, "behaviour", said, name, about) if enough else None
    draw_body(result, picture, tabs, _TABS, asks=asks, terms=TERMS)
    captions(found[0].notes)
    save_report(
        HEADER,
        lambda: [row for one in found for row in behaviour_rows(one, found)],
        partial(behaviour_as_json, found),
        name,
        "behaviour",
    )
