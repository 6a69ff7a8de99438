"""Checking models on a sample: each curve is work of its own, that streams, can be cancelled and goes on where it
stopped.
"""

from dataclasses import dataclass

import streamlit as st

from core.evaluation.sampling import Sample
from core.evaluation.studies.check_report import CheckReport, build_check_report
from core.evaluation.studies.check_sentences import name_of
from core.evaluation.studies.model_check import Curve, Passed, check, check_cost, known
from core.explanation.explainer import Cost
from core.storage.store import canonical_key
from pages.parts.check.models import OnSample
from pages.parts.frame import resources
from pages.parts.frame.working import Work

_RANDOM_SECONDS = 90.0


class Sampled(Work):
    """Work on a sample, example by example. A kind of it gives `explainer`, `sample`, `first` (of the model that the
    page is about), `random` (in random
    order), `look()`, what the store knows, and `count()`, its cost, besides what all work gives; what is known has
    `done`, a number of examples."""

    @property
    def cost(self) -> Cost:
        return _cost(self.key, self)

    @property
    def at_once(self) -> bool:
        # The page answers by random order: it streams from its first second on.
        return (
            super().at_once
            or (self.first and self.random and self.cost.seconds <= _RANDOM_SECONDS)
            or self._stored.done == len(self.sample)
        )

    @property
    def begun(self) -> bool:
        return super().begun or self._stored.done > 0

    @property
    def passed(self):
        """What is known: of the work under way or done, else of the store."""
        found = self.latest
        return self._stored if found is None else found

    @property
    def _stored(self):
        # A job that was forgotten, or another process, wrote more than was read before.
        job = self.job
        return _read(self.key, "" if job is None else f"{job.state} {job.started}", self)

    def ask(self) -> None:
        """Start the job, or let the one that is there go on."""
        _read.clear()
        super().ask()

    def key_of(self, producer: str, curve: str) -> str:
        """The job's key: of a curve on this sample."""
        return canonical_key(
            producer,
            1,
            curve=curve,
            data=self.sample.digest,
            labels=self.sample.labels.tolist(),
            examples=[example.id for example in self.sample.examples],
        )


@dataclass(frozen=True, eq=False)
class Checking(Sampled):
    """One curve of one model over a sample; first: of the model that is checked, whose random order the page answers
    by.
    """

    explainer: object
    sample: Sample
    curve: Curve
    first: bool

    @property
    def random(self) -> bool:
        return self.curve.random

    @property
    def key(self) -> str:
        return self.key_of("job/model check", self.curve.key(self.explainer))

    @property
    def label(self) -> str:
        return f"{name_of(self.curve)} ({self.explainer.model.name}, {len(self.sample):,} examples)"

    def look(self) -> Passed:
        """What the store knows of it."""
        return known(self.explainer, self.sample, self.curve, resources.store())

    def count(self) -> Cost:
        """What it takes at most."""
        return check_cost(self.explainer, self.sample, self.curve)

    def run(self, job):
        return check(
            self.explainer, self.sample, self.curve, resources.store(), progress=job.report, cancelled=job.cancelled
        )


@dataclass(frozen=True, eq=False)
class Checked(OnSample):
    """One model on the page and what its curves come to."""

    work, beside = Checking, 1

    def passed(self) -> dict[Curve, Passed]:
        """What is known of every curve."""
        return {work.curve: work.passed for work in self.works}

    def report(self, passed: dict[Curve, Passed], metric: str | None = None) -> CheckReport | None:
        """All of it in numbers, by a metric or the model's own; None before the first example."""
        return build_check_report(self.model, self.explainer.reference, self.sample, passed, metric)


@st.cache_resource(show_spinner=False, max_entries=64)
def _read(key: str, state: str, _work: Sampled):
    return _work.look()


@st.cache_resource(show_spinner=False, max_entries=64)
def _cost(key: str, _work: Sampled) -> Cost:
    return _work.count()
