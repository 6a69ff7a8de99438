"""Work on behaviour under masking: one job for each order of each model."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.behaviour_report import BehaviourReport, behaviour_report
from core.storage.store import canonical_key
from pages.parts.check.checking import Sampled
from pages.parts.check.models import OnSample


@dataclass(frozen=True, eq=False)
class Behaving(Sampled):
    """One order."""

    study: Course

    @property
    def label(self) -> str:
        return f"{self.study.measure} ({self.explainer.model.name}, {len(self.sample):,} examples)"


@dataclass(frozen=True, eq=False)
class Behaved(OnSample):
    """One model on the page and what its orders come to."""

    work, beside = Behaving, 2

    def report(self) -> BehaviourReport | None:
        """What is known so far in numbers; None before the first example."""
        walked = {work.study: work.found for work in self.works}
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
        return next((work for work in self.works if work.study.measure == measure), None)


@st.cache_resource(show_spinner=False, max_entries=32)
def _report(key: str, _one: Behaved, _walked: dict) -> BehaviourReport | None:
    return behaviour_report(_one.model, _one.sample, _walked)
