"""The picture of a model check and its tabs: models, measures, p-values, a paper's findings, behaviour with a map."""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from core.evaluation.families import family
from core.evaluation.findings import FEW
from core.evaluation.studies import check_tables
from core.evaluation.studies.behaviour_question import (
    behaviour_in_words,
    behaviour_rows,
    behaviour_table,
    classes_apart,
)
from core.evaluation.studies.check_findings import check_findings
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import CheckReport
from core.evaluation.studies.disagreement import disagreement
from core.evaluation.studies.embedding_map import FEWEST, Points, can_map, draw_map, points_of
from core.evaluation.studies.side_by_side import SideBySide, side_by_side_table
from core.explanation.explainer import Cost
from core.figures.behaviour_figures import COLOURS, MASKED, behaviour_panels, groups_of, map_figure
from core.figures.check_figures import p_panels, panels, spans
from core.job import Job
from core.measures.catalogue import default_measures
from core.results.asked import limited_answer
from core.results.behaviour import behaviour_result, nothing_erased
from core.results.caveats import Caveat
from core.results.result import Result
from core.storage.store import canonical_key
from core.texts.checks import behaviour_as_json
from core.wording import duration, plain
from pages.parts.check.checking import CheckChoice, models_on_sample
from pages.parts.components.pictures import chart, draw_figure
from pages.parts.components.presses import pressed
from pages.parts.components.tables import data_table
from pages.parts.face.body import draw_body
from pages.parts.face.headline import draw_headline
from pages.parts.frame import resources
from pages.parts.frame.links import choose, choose_one, held_of_all, visit
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.texts import captions
from pages.parts.frame.working import Work
from pages.parts.sections.saving import about_models, save_records
from pages.parts.sections.streaming import stream
from pages.parts.sections.studying import Asking, StudyWork

# What stands in a tab that has nothing to show.
_NO_MEASURE = "No measure is computed yet."
_NO_REFERENCE = "Without a MaSF reference there are no p-values."
_NO_FINDINGS = "Needs a model card and unpicked texts of two classes."


def draw_check_curves(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    """What masking does to performance, and how many texts are rejected."""
    name, about = _file_of(checked, found)
    draw_figure(panels(found, form), "curves", check_tables.curves_in_words(found), name, about)


def draw_models(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    """Models trained with and without masking: on these texts, and by their cards."""
    data_table(*check_tables.training_table(found, form), "models-checked")
    cards = family(checked[0].model.card)
    if len(cards) > 1:
        rows = [(f"{one.name} ({check_tables.STRATEGIES[one.training]})", one) for one in cards]
        drawn = [(name, one.unmasked, one.masked, one.majority) for name, one in rows]
        st.markdown(f"**By their cards, on {cards[0].examples:,} test examples**")
        chart(spans(drawn, cards[0].metric, cards[0].paired), "spans", check_tables.spans_in_words(cards))


def draw_measures(checked: list[Asking], found: list[CheckReport], choice: CheckChoice) -> None:
    """How faithful the measures are, where evidence is known beside how well they find it; then models side by side."""
    _draw_faithfulness(checked, found[0], choice.form)
    if len(found) == len(checked) > 1:
        _draw_side_by_side(checked, found, choice.check)


def _draw_faithfulness(checked: list[Asking], found: CheckReport, form: str) -> None:
    if not found.measured:
        st.caption(_NO_MEASURE)
        return
    data_table(*check_tables.faithfulness_table(found, form), "measures-checked")
    # The example at which finding the evidence and being faithful part most.
    known = found.measured_tally.settled and check_tables.with_evidence(found)
    parts = disagreement(checked[0].answers.found) if known else None
    if parts is None:
        return
    example = found.sample.examples[parts.place].id
    st.markdown(f"**Largest disagreement: {plain(example)}**")
    data_table(*check_tables.disagreement_table(parts), "disagreement")
    if pressed(st.button, f"Choose {plain(example)}", f"disagreement {example}", icon=":material/arrow_forward:"):
        choose("example", example)
        # The sidebar shows it too.
        st.rerun()


def _draw_side_by_side(checked: list[Asking], found: list[CheckReport], check: MaskingCheck) -> None:
    """Draw a line for each model; verdicts and limits are computed once they are asked for.

    checked, found: the models and what random order comes to; check: which measures have verdicts.
    """
    question = SideBySide(check.measures or default_measures(), check.sign, check.unit)
    asked = [Asking(one.explainer, one.sample, question, False) for one in checked]
    works = [work for one in asked for work in one.works]
    stream(works, (st.container(), partial(_draw_lines, asked, found, question.measures)), name="beside", together=True)


def _draw_lines(asked: list[Asking], found: list[CheckReport], measures: tuple[str, ...], asks) -> None:
    made = [one.model.card["plan"].get("method", "") if one.model.card else "" for one in asked]
    lines = list(zip(found, made, (one.report for one in asked), strict=True))
    data_table(*side_by_side_table(measures, lines), "models-side-by-side")
    asks()


def draw_p_values(checked: list[Asking], found: list[CheckReport], form: str) -> None:
    """The p-values of the data set at every ratio, and a way to the texts that are rejected."""
    if not any(one.floor for one in found):
        st.caption(_NO_REFERENCE)
        return
    name, about = _file_of(checked, found)
    draw_figure(p_panels(found), "p-values", check_tables.p_in_words(found), [*name, "p"], about)
    data_table(*check_tables.ratios_table(found, form), "ratios-checked")
    if pressed(st.button, "See which texts are rejected", "rejected", icon=":material/table_rows:"):
        visit("Examples", **held_of_all("model", "data", "unit"), columns="rejected", order="rejected")


def draw_findings(found: list[CheckReport]) -> None:
    """What a paper found of training with masking, row by row."""
    findings = check_findings(found)
    if findings:
        data_table(*check_tables.findings_table(findings), "findings-fmm")
    else:
        st.caption(_NO_FINDINGS)


def _file_of(checked: list[Asking], found: list[CheckReport]) -> tuple[list[str], str]:
    """The parts of a file's name, and the line under a picture."""
    models = [one.model for one in checked if one.model.digest in {report.digest for report in found}]
    return ["model-check", *(one.model for one in found)], about_models(models, checked[0].sample.name)


_TABS, _FIDELITY = "parts-of-behaviour", "Fidelity and drift"
TERMS = ("random order", "fidelity", "embedding drift")


def draw_behaviour(frame: DataView, choice: CheckChoice) -> None:
    """Draw the tab; its work starts once it is open."""
    said, stage = st.container(), st.container()
    asked = models_on_sample(frame, choice, choice.behaviour, said, choice.behaviour.erasure)
    if not asked:
        return
    # Of many texts the first come unasked.
    grown = [replace(one, grows=True) for one in asked]
    stream(
        lambda: [*(work for one in grown for work in one.offered), *maps_of(_shown(grown), choice.mapped)],
        (stage, lambda asks: _draw(frame, _shown(grown), choice.mapped, asks)),
        (said, lambda: _say(_shown(grown))),
        name="behaviour",
        together=True,
    )


def _shown(grown: list[Asking]) -> list[Asking]:
    """What answers now, of all models on as many texts."""
    begins = all(one.shown is one.beginning for one in grown)
    return [one.shown if begins else one for one in grown]


def _result(one: Asking) -> Result:
    report, chance = one.report, one.works[0]
    if report is not None:
        return limited_answer(behaviour_result(report), one.question, one.answers)
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
    save_records(
        lambda: [row for one in found for row in behaviour_rows(one, found)],
        partial(behaviour_as_json, found),
        name,
        "behaviour",
    )


_NO_UMAP = "UMAP is not installed. Run the first line of the README."
_LATER = f"Drawn once all texts are erased, from {FEWEST} embeddings on."
_MEANING = "UMAP keeps neighbours together; distances between groups, their sizes and the axes mean nothing."


@dataclass(frozen=True, eq=False)
class MapWork(Work):
    """The map of one model's embeddings along one order; points: what that went through."""

    behaving: StudyWork
    points: Points
    batch = True

    @property
    def key(self) -> str:
        return canonical_key("job/embedding map", 1, points=self.points.key)

    @property
    def label(self) -> str:
        return f"map of the embeddings ({self.behaving.explainer.model.name}, {len(self.points):,} points)"

    @property
    def cost(self) -> Cost:
        return Cost(0, self.points.seconds)

    @property
    def price(self) -> str:
        return f"UMAP on the processor, about {duration(self.points.seconds)}; no forward passes"

    @property
    def places(self) -> np.ndarray | None:
        """Where the points lie, float32[P, 2]; None before it is drawn."""
        return self.latest if self.complete else None

    def run(self, job: Job) -> np.ndarray:
        return draw_map(self.points, resources.store())


def maps_of(behaved: list[Asking], measure: str) -> list[MapWork]:
    """A map for each model whose embeddings along an order are all there."""
    works = [work for one in behaved for work in one.works if work.study.label == measure] if can_map() else []
    maps = [MapWork(work, points_of(work.found)) for work in works if work.found.complete and work.found.there.any()]
    return [one for one in maps if len(one.points) >= FEWEST]


def draw_maps(frame: DataView, behaved: list[Asking], measure: str) -> None:
    """Draw the maps that are there; a click on a point chooses its example."""
    drawn = [(one, places) for one in maps_of(behaved, measure) if (places := one.places) is not None]
    if not can_map():
        st.info(_NO_UMAP)
        return
    if not drawn:
        st.caption(_LATER)
        return
    colour = choose_one("Colour by", COLOURS, MASKED, "colour", _MEANING)
    for column, (one, places) in zip(st.columns(len(drawn)), drawn):
        with column:
            _map(frame, one, places, colour)


def _map(frame: DataView, one: MapWork, places: np.ndarray, colour: str) -> None:
    work, points = one.behaving, one.points
    model, sample, walked = work.explainer.model, work.sample, work.found
    predicted = walked.predicted[points.example, points.ratio]
    chosen = frame.example.id if frame.example is not None else None
    path = np.flatnonzero([sample.examples[i].id == chosen for i in points.example])
    told = [(sample.examples[i].id, int(i), model.labels[c]) for i, c in zip(points.example, predicted)]
    groups = groups_of(colour, points.ratio, sample.labels[points.example], predicted, model.labels)
    st.markdown(f"**{plain(model.name)}**")
    # A new key after each choice, so that the point that was clicked does not choose its example again.
    event = draw_figure(
        map_figure(places, groups, told, points.ratio, path),
        f"map-{model.digest[:12]}-{st.session_state.get('map picks', 0)}",
        f"{len(points):,} embeddings of {model.name} in the plane, by {colour}.",
        ["map", sample.name, model.name],
        about_models([model], sample.name),
        "the map",
        on_select="rerun",
        selection_mode="points",
    )
    for point in event["selection"]["points"][:1]:
        place = point.get("customdata", [None, None])[1]
        if isinstance(place, int) and 0 <= place < len(sample):
            st.session_state["map picks"] = st.session_state.get("map picks", 0) + 1
            choose("example", sample.examples[place].id)
            # The sidebar shows it too.
            st.rerun()
