"""A map of the embeddings of erased texts: as work, and drawn."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.evaluation.studies.embedding_map import FEWEST, Points, can_map, draw_map, points_of
from core.explanation.explainer import Cost
from core.figures.behaviour_figures import COLOURS, MASKED, groups_of, map_figure
from core.job import Job
from core.storage.store import canonical_key
from core.wording import duration, plain
from pages.parts.components.pictures import draw_figure
from pages.parts.frame import resources
from pages.parts.frame.links import choose, choose_one
from pages.parts.frame.sidebar import DataView
from pages.parts.frame.working import PageWork
from pages.parts.sections.saving import about_models
from pages.parts.sections.studying import Asking, Studying

_NO_UMAP = "UMAP is not installed. Run the first line of the README."
_LATER = f"Drawn once all texts are erased, from {FEWEST} embeddings on."
_MEANING = "UMAP keeps neighbours together; distances between groups, their sizes and the axes mean nothing."


@dataclass(frozen=True, eq=False)
class MapWork(PageWork):
    """The map of one model's embeddings along one order."""

    behaving: Studying
    points: Points
    batch = True

    @classmethod
    def of(cls, behaving: Studying) -> "MapWork":
        """The map of what an order went through."""
        return cls(behaving, points_of(behaving.found))

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
    maps = [MapWork.of(work) for work in works if work.found.complete and work.found.there.any()]
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
