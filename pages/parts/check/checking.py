"""Studies of the model of the page, and of those beside it, on one sample: work that streams, and what it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data.parsed import BadData
from core.evaluation.sampling import Sample, draw_sample, same_examples
from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.behaviour_report import BehaviourReport, behaviour_report
from core.evaluation.studies.check_report import CheckReport, build_check_report
from core.evaluation.studies.check_sentences import name_of
from core.evaluation.studies.fewest import FewestFeatures
from core.evaluation.studies.model_check import Curve, Passed
from core.explanation.explainer import Explainer
from core.network.architectures import UnsupportedModel
from core.network.model import Model
from core.oracle.erasing import MASK
from core.storage.store import canonical_key
from core.wording import plain
from pages.parts.frame.sidebar import DataView
from pages.parts.sections.asking import other_model
from pages.parts.sections.studying import Studying

_RANDOM_SECONDS = 90.0


@dataclass(frozen=True, eq=False)
class Sampled(Studying):
    """One curve or course of one model over a sample; first: of the model that the page is about, whose random order
    the page answers by.
    """

    study: Curve | Course | FewestFeatures
    first: bool

    @property
    def at_once(self) -> bool:
        # It streams from its first second on.
        return super().at_once or (self.first and self.study.random and self.cost.seconds <= _RANDOM_SECONDS)


@dataclass(frozen=True, eq=False)
class Checking(Sampled):
    """One curve."""

    study: Curve

    @property
    def label(self) -> str:
        return f"{name_of(self.study)} ({self.explainer.model.name}, {len(self.sample):,} examples)"


@dataclass(frozen=True, eq=False)
class Behaving(Sampled):
    """One order, or the search for the fewest features."""

    study: Course | FewestFeatures

    @property
    def label(self) -> str:
        return f"{self.study.measure} ({self.explainer.model.name}, {len(self.sample):,} examples)"


@dataclass(frozen=True, eq=False)
class OnSample:
    """One model on a sample: its works, random order first. A kind of it says `work`, the class of these, and `beside`,
    through how many of the orders asked for a model beside the page's own goes.
    """

    works: tuple

    @property
    def explainer(self) -> Explainer:
        return self.works[0].explainer

    @property
    def model(self) -> Model:
        return self.explainer.model

    @property
    def sample(self) -> Sample:
        return self.works[0].sample


@dataclass(frozen=True, eq=False)
class Checked(OnSample):
    """One model on the page and what its curves come to."""

    work, beside = Checking, 1

    def passed(self) -> dict[Curve, Passed]:
        """What is known of every curve."""
        return {work.study: work.found for work in self.works}

    def report(self, passed: dict[Curve, Passed], metric: str | None = None) -> CheckReport | None:
        """All of it in numbers, by a metric or the model's own; None before the first example."""
        return build_check_report(self.model, self.explainer.reference, self.sample, passed, metric)


@dataclass(frozen=True, eq=False)
class Behaved(OnSample):
    """One model on the page and what its orders come to."""

    work, beside = Behaving, 2

    def report(self) -> BehaviourReport | None:
        """What is known so far in numbers; None before the first example."""
        known = {work.study: work.found for work in self.works}
        key = canonical_key(
            "behaviour report",
            1,
            model=self.model.name,
            works=[work.key for work in self.works],
            done=[[np.packbits(one.there).tobytes().hex(), sorted(one.problems)] for one in known.values()],
        )
        return _report(key, self, known)

    def by_measure(self, measure: str) -> Behaving | None:
        """The work in the order of a measure, None where this model has none."""
        return next((work for work in self.works if work.study.measure == measure), None)


@st.cache_resource(show_spinner=False, max_entries=32)
def _report(key: str, _one: Behaved, _known: dict) -> BehaviourReport | None:
    walked = {study: found for study, found in _known.items() if isinstance(study, Course)}
    searched = next((found for study, found in _known.items() if study not in walked), None)
    return behaviour_report(_one.model, _one.sample, walked, searched)


def models_on_sample(
    kind: Any,
    frame: DataView,
    orders: Sequence,
    size: int,
    beside: Sequence[str],
    said: DeltaGenerator,
    erasure: str = MASK,
    always: Sequence = (),
) -> list:
    """The model of the page, and of those beside it the ones that can be loaded and erase so; `said` is where it stands
    why others cannot, or why there is no sample, in which case nothing is given. always: studies that each goes
    through besides its orders.
    """
    data, found = frame.browsed.index.data, []

    def add(explainer, sample: Sample, asked: Sequence) -> None:
        found.append(kind(tuple(kind.work(explainer, sample, order, not found) for order in asked)))

    with said:
        try:
            sample = draw_sample(data, frame.explainer.model.labels, size)
        except BadData as error:
            st.error(plain(str(error)), icon=":material/error:")
            return []
        add(frame.explainer, sample, [*orders, *always])
        for name in beside:
            try:
                other = other_model(name, [one.model for one in found], erasure)
                asked = [*orders[: kind.beside], *always]
                add(other, same_examples(sample, data, other.model.labels), asked)
            except (UnsupportedModel, BadData) as error:
                st.warning(f"{plain(name)} cannot stand beside it: {plain(str(error))}")
    return found
