"""A study of a model over a sample as work: it streams example by example, can be cancelled, goes on where it stopped,
and is read from the store.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.evaluation.engine import Study, read_study, run_study, study_cost
from core.evaluation.sampling import Sample
from core.explanation.explainer import Cost, Explainer
from core.jobs import Job
from core.storage.store import canonical_key
from pages.parts.frame import resources
from pages.parts.frame.working import PageWork


@dataclass(frozen=True, eq=False)
class Studying(PageWork):
    """Any study of one model over a sample; what is known of it is what the study reports."""

    explainer: Explainer
    sample: Sample
    study: Study

    @property
    def key(self) -> str:
        return canonical_key(
            "job/study",
            1,
            study=self.study.key(self.explainer),
            data=self.sample.digest,
            labels=self.sample.labels.tolist(),
            examples=[example.id for example in self.sample.examples],
        )

    @property
    def label(self) -> str:
        return f"{self.study.name} ({self.explainer.model.name}, {len(self.sample):,} examples)"

    @property
    def cost(self) -> Cost:
        return _cost(self.key, self._state, self)

    @property
    def at_once(self) -> bool:
        return super().at_once or self._stored.complete

    @property
    def begun(self) -> bool:
        return super().begun or self._stored.done > 0

    @property
    def found(self) -> Any:
        """What is known: of the work under way or done, else of the store."""
        found = self.latest
        return self._stored if found is None else found

    @property
    def _state(self) -> str:
        # A job that was forgotten, or another process, wrote more than was read before.
        job = self.job
        return "" if job is None else f"{job.state} {job.started}"

    @property
    def _stored(self):
        return _read(self.key, self._state, self)

    def ask(self) -> None:
        """Start the job, or let the one that is there go on."""
        _read.clear()
        super().ask()

    def run(self, job: Job) -> Any:
        """What the job does."""
        return run_study(
            self.explainer, self.sample, self.study, resources.store(), progress=job.report, cancelled=job.cancelled
        )


@st.cache_resource(show_spinner=False, max_entries=64)
def _read(key: str, state: str, _work: Studying):
    return read_study(_work.explainer, _work.sample, _work.study, resources.store())


@st.cache_resource(show_spinner=False, max_entries=64)
def _cost(key: str, state: str, _work: Studying) -> Cost:
    return study_cost(_work.explainer, _work.sample, _work.study, _work._stored)
