"""How far the attributions of the page's example move from seed to seed, where its model is one of a family."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import streamlit as st

from core.explanation.explainer import Cost, Explainer, read_alike
from core.explanation.limiting import left_over
from core.job import Job
from core.loading.loading import load
from core.loading.locating import member_names
from core.network.architectures import UnsupportedModel
from core.network.features import Encoded
from core.results.seed_stability import seed_stability_result
from core.stability.seeds import COLUMNS, TOP, WORDS, SeedsOfText, compare_seeds
from pages.parts.components.tables import table
from pages.parts.face.headline import draw_finding
from pages.parts.frame import resources
from pages.parts.frame.links import held
from pages.parts.frame.sidebar import View
from pages.parts.frame.working import Work
from pages.parts.sections.sides import SideWork
from pages.parts.sections.streaming import stream

TITLE = "Do seeds agree?"


@dataclass(frozen=True, eq=False)
class Seeding(SideWork):
    """Measures of the page's example by each member of its family, one after the other; what is stored costs little."""

    side: View
    members: tuple[str, ...]
    seeds: tuple[int, ...]
    measures: tuple[str, ...]
    sign: str
    at_once, aside, label = False, True, "seeds"
    rests = ("members", "seeds", "measures", "sign")

    @property
    def cost(self) -> Cost:
        about = [self.side.explainer.cost(self.side.encoded, name) for name in self.measures]
        return Cost.sum(about).times(len(self.members))

    def run(self, job: Job) -> Generator[list[SeedsOfText], None, list[SeedsOfText]]:
        side, chosen = self.side, resources.chosen_settings()

        def opened(name: str) -> Explainer:
            return Explainer(load(name, chosen.device, chosen.precision), side.explainer.store)

        def read(explainer: Explainer) -> Encoded:
            return read_alike(explainer, side.example, side.encoded)

        about = opened, dict(zip(self.members, self.seeds)), side.encoded, read, side.explained
        work = compare_seeds(*about, self.measures, self.sign, progress=job.report, cancelled=job.cancelled)
        return (yield from work)


def draw_seeds(view: View, names: list[str], sign: str) -> None:
    """Draw whether seeds agree, folded, where the model is a member of a family; nothing of it is computed unasked."""
    try:
        members = member_names(view.model.origin.rpartition("/")[0])
    except UnsupportedModel:
        return
    if view.model.origin not in members or not names or left_over(view.encoded) <= TOP:
        return
    work = Seeding(view, tuple(members), tuple(members.values()), tuple(names), sign)

    def works() -> list[Work]:
        return [] if work.complete else [work]

    def draw(asks: Callable[[], None]) -> None:
        found = work.latest or []
        if found:
            draw_finding(seed_stability_result(found))
            table(COLUMNS, [one.cells() for one in found])
            table(WORDS, [row for one in found for row in one.word_cells()])
        asks()

    with st.expander(TITLE, expanded=held("unfolded") == "seeds"):
        stream(works, (st.container(), draw), name="seeds")
