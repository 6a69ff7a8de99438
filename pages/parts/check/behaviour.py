"""Work on behaviour under masking: one job for each order of each model."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.evaluation.sampling import Sample
from core.evaluation.studies.behaviour import Course, Walked, behave, behave_cost, known
from core.evaluation.studies.behaviour_report import BehaviourReport, behaviour_report
from core.explanation.explainer import Cost
from core.storage.store import canonical_key
from pages.parts.check.checking import Sampled
from pages.parts.check.models import OnSample
from pages.parts.frame import resources


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
        return behave(
            self.explainer, self.sample, self.course, resources.store(), progress=job.report, cancelled=job.cancelled
        )


@dataclass(frozen=True, eq=False)
class Behaved(OnSample):
    """One model on the page and what its orders come to."""

    work, beside = Behaving, 2

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


@st.cache_resource(show_spinner=False, max_entries=32)
def _report(key: str, _one: Behaved, _walked: dict) -> BehaviourReport | None:
    return behaviour_report(_one.model, _one.sample, _walked)
