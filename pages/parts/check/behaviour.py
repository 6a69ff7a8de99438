"""Work on behaviour under masking: one job for each order of each model, and one for each map of embeddings."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.evaluation.sampling import Sample
from core.evaluation.studies.behaviour import Course, Walked, behave, behave_cost, known
from core.evaluation.studies.behaviour_report import BehaviourReport, behaviour_report
from core.evaluation.studies.embedding_map import Points, draw_map, points_of
from core.explanation.explainer import Cost
from core.storage.store import canonical_key
from core.wording import duration
from pages.parts.check.checking import Sampled
from pages.parts.frame import resources
from pages.parts.frame.working import Work


@dataclass(frozen=True, eq=False)
class Behaving(Sampled):
    """One order of one model over a sample; first: of the model that the page is about."""

    explainer: object
    sample: Sample
    course: Course
    first: bool

    @property
    def random(self) -> bool:
        return self.course.random

    @property
    def key(self) -> str:
        return self.key_of("job/behaviour", self.course.key(self.explainer))

    @property
    def label(self) -> str:
        return f"{self.course.measure} ({self.explainer.model.name}, {len(self.sample):,} examples)"

    @property
    def through(self) -> bool:
        """Whether every example is computed, now or before."""
        return self.passed.done == len(self.sample)

    def look(self) -> Walked:
        """What the store knows of it."""
        return known(self.explainer, self.sample, self.course, resources.store())

    def count(self) -> Cost:
        """What it takes at most."""
        return behave_cost(self.explainer, self.sample, self.course)

    def run(self, job):
        """What the job does."""
        return behave(
            self.explainer, self.sample, self.course, resources.store(), progress=job.report, cancelled=job.cancelled
        )


@dataclass(frozen=True, eq=False)
class Behaved:
    """One model on the page: its works, random order first."""

    works: tuple[Behaving, ...]

    @property
    def model(self):
        return self.works[0].explainer.model

    @property
    def sample(self) -> Sample:
        return self.works[0].sample

    def report(self) -> BehaviourReport | None:
        """What is known so far in numbers; None before the first example."""
        walked = {work.course: work.passed for work in self.works}
        key = canonical_key(
            "behaviour report",
            1,
            model=self.model.name,
            works=[work.key for work in self.works],
            done=[[np.packbits(one.there).tobytes().hex(), sorted(one.problems)] for one in walked.values()],
        )
        return _report(key, self, walked)

    def by_measure(self, measure: str) -> Behaving | None:
        """The work in the order of a measure, None where this model has none."""
        return next((work for work in self.works if work.course.measure == measure), None)


@dataclass(frozen=True, eq=False)
class MapWork(Work):
    """The map of one model's embeddings along one order."""

    behaving: Behaving
    points: Points

    @classmethod
    def of(cls, behaving: Behaving) -> "MapWork":
        """The map of what an order went through."""
        return cls(behaving, points_of(behaving.passed))

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

    def run(self, job):
        """What the job does."""
        return draw_map(self.points, resources.store())


@st.cache_resource(show_spinner=False, max_entries=32)
def _report(key: str, _one: Behaved, _walked: dict) -> BehaviourReport | None:
    return behaviour_report(_one.model, _one.sample, _walked)
