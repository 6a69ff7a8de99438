"""Diagnosticity of a data set as work: streamed text by text, cancelled, gone on with, and read from the store."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.data.examples import Example
from core.evaluation.studies.diagnosticity_report import DiagnosticityReport, build_diagnosticity_report
from core.evaluation.studies.scoring import SHUFFLED, Scored, Study, known_scores, score_examples, scoring_cost
from core.explanation.explainer import Cost
from core.storage.store import canonical_key
from pages.parts.frame import resources
from pages.parts.frame.working import Work

# While more texts are still to come, intervals are drawn from fewer resamples.
_STREAMING, _WHOLE = 999, 9_999


@dataclass(frozen=True, eq=False)
class Diagnosing(Work):
    """One study of one model on some examples of a data set."""

    explainer: object
    data: str
    digest: str
    examples: tuple[Example, ...]
    study: Study

    @property
    def key(self) -> str:
        model, how = self.explainer.model, self.study.how
        return canonical_key(
            "job/diagnosticity",
            1,
            model=model.digest,
            precision=model.precision,
            data=self.digest,
            examples=[example.id for example in self.examples],
            measures=self.study.measures,
            metrics=self.study.metrics,
            sign=self.study.sign,
            baseline=self.study.baseline,
            count=self.study.count,
            unit=self.study.unit,
            erasure=how.erasure,
            scaling=how.scaling,
            draws=how.draws,
            seed=how.seed,
        )

    @property
    def label(self) -> str:
        against = "against shuffles " * (self.study.baseline == SHUFFLED)
        return (
            f"diagnosticity {against}({self.explainer.model.name}, {len(self.examples):,} "
            f"text{'' if len(self.examples) == 1 else 's'})"
        )

    @property
    def cost(self) -> Cost:
        stored = self._stored
        return _cost(self.key, stored.done, int(stored.known.sum()), self)

    @property
    def at_once(self) -> bool:
        return super().at_once or self._stored.complete

    @property
    def begun(self) -> bool:
        return super().begun or self._stored.done > 0

    @property
    def found(self) -> Scored:
        """What is known: of the work under way or done, else of the store."""
        found = self.latest
        return self._stored if found is None else found

    @property
    def report(self) -> DiagnosticityReport | None:
        """All of it in numbers; None before the first text."""
        found = self.found
        done = canonical_key(
            "diagnosticity report",
            1,
            model=self.explainer.model.name,
            there=np.packbits(found.there).tobytes().hex(),
            problems=sorted(found.problems),
        )
        return _report(self.key, done, found, self)

    @property
    def _stored(self) -> Scored:
        # A job that was forgotten, or another process, wrote more than was read before.
        job = self.job
        return _read(self.key, "" if job is None else f"{job.state} {job.started}", self)

    def ask(self) -> None:
        """Start the job, or let the one that is there go on."""
        _read.clear()
        super().ask()

    def run(self, job):
        return score_examples(
            self.explainer, self.examples, self.study, resources.store(), progress=job.report, cancelled=job.cancelled
        )


@st.cache_resource(show_spinner=False, max_entries=16)
def _read(key: str, state: str, _work: Diagnosing) -> Scored:
    return known_scores(_work.explainer, _work.examples, _work.study, resources.store())


@st.cache_resource(show_spinner=False, max_entries=64)
def _cost(key: str, done: int, known: int, _work: Diagnosing) -> Cost:
    return scoring_cost(_work.explainer, _work.examples, _work.study, _work._stored)


@st.cache_resource(show_spinner=False, max_entries=32)
def _report(key: str, done: str, _found: Scored, _work: Diagnosing) -> DiagnosticityReport | None:
    return build_diagnosticity_report(
        _found,
        _work.explainer.model.name,
        _work.data,
        _work.explainer.model.labels,
        _WHOLE if _found.complete else _STREAMING,
    )
