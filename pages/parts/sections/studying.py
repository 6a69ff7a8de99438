"""A question to a model over a sample, as work that streams example by example, and what it comes to."""

import time
from collections.abc import Generator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import streamlit as st

from core.evaluation.asking import read_study, run_study, study_cost
from core.evaluation.findings import FEW
from core.evaluation.sampling import Sample
from core.evaluation.study import Answers, Known, Question, Study
from core.explanation.explainer import Cost, Explainer
from core.job import Job
from core.network.model import Model
from core.storage.store import canonical_key
from core.wording import amount, estimate
from pages.parts.frame import resources
from pages.parts.frame.sidebar import chosen_maskable
from pages.parts.frame.working import Work

# What the answer can be told from alone starts unasked up to this; the beginning of a sample, which streams from its
# first text on and stands still once nobody looks, up to that.
_LEADING_SECONDS, _BEGINNING_SECONDS = 90.0, 180.0


def masked_as_chosen(sample: Sample) -> Sample:
    """A sample of whose pairs those texts are masked that the sidebar names."""
    return replace(sample, maskable=chosen_maskable()) if sample.paired else sample


@dataclass(frozen=True, eq=False)
class StudyWork(Work):
    """Any study of one model over a sample; what is known of it is what the study reports. first: the one that answers
    first, of the model that the page is about; of: of how many examples the sample is the beginning, 0 where it is all;
    begins: whether it starts unasked because it is; beginnings: the same study on such beginnings, which this one
    takes over from.
    """

    explainer: Explainer
    sample: Sample
    study: Study
    first: bool = False
    of: int = 0
    begins: bool = False
    beginnings: tuple["StudyWork", ...] = ()
    batch = True

    @cached_property
    def key(self) -> str:
        return canonical_key(
            "job/study",
            1,
            study=self.study.key(self.explainer),
            words=self.explainer.words_digest,
            asked=self.study.name,
            choices=asdict(cast(Any, self.study)),
            data=self.sample.digest,
            labels=self.sample.labels.tolist(),
            examples=[example.id for example in self.sample.examples],
            maskable=self.sample.maskable,
        )

    @property
    def part(self) -> bool:
        return bool(self.of)

    @property
    def label(self) -> str:
        N, of = len(self.sample), self.of or len(self.sample)
        beginning = f"first {N:,} of " if N < of else ""
        return f"{self.study.label} ({self.explainer.model.name}, {beginning}{amount(of, 'example')})"

    @property
    def cost(self) -> Cost:
        return _cost(self.key, self._state, self)

    @property
    def likeness(self) -> str:
        model = self.explainer.model
        return f"{self.study.name} {self.study.label} {model.digest} {model.precision} {self.study.unit}"

    @property
    def about(self) -> str:
        return "up to" if self.study.seldom_all and not resources.jobs().knows(self.likeness) else "about"

    @property
    def takes(self) -> str:
        # It does not wait for what it takes over from.
        return estimate(self.seconds) if any(one.active for one in self.beginnings) else super().takes

    @property
    def complete(self) -> bool:
        # What lies whole in the store needs no job to be read once more.
        return super().complete or (self.job is None and self._stored.complete)

    @property
    def at_once(self) -> bool:
        # What leads streams from its first second on.
        leads = self.first and self.study.leads and self.cost.seconds <= _LEADING_SECONDS
        return super().at_once or self._stored.complete or leads or self.begins

    @property
    def begun(self) -> bool:
        return super().begun or self._stored.done > 0

    @property
    def counts(self) -> str:
        """Examples that are done, and what shows that a long one goes on."""
        job = self.job
        if job is None or not job.total:
            return ""
        # Of a first one that takes long; later ones tell it themselves.
        within = f", {job.batches:,} batches" if job.batches > 1 and not job.done else ""
        return within if job.total == 1 else f", {job.done:,} done{within}"

    @property
    def found(self) -> Any:
        """What is known: of the work under way or done, else of the store."""
        found = self.latest
        if found is None or self.active or self.complete:
            return self._stored if found is None else found
        # Of a stopped one, others may have written more since.
        return max(found, self._stored, key=lambda one: one.done)

    @property
    def _state(self) -> str:
        # Another job, which may have the same rows, wrote more than was read before.
        job, ended = self.job, resources.jobs().ended
        return f"{ended}" if job is None else f"{ended} {job.state} {job.started}"

    @property
    def _stored(self):
        return _read(self.key, self._state, self)

    def ask(self, wanted: bool = True) -> None:
        """Start the job, or let the one that is there go on."""
        # Another process may have written more than was read before.
        _read.clear()
        _cost.clear()
        for one in self.beginnings:
            one.cancel()
        super().ask(wanted)

    def run(self, job: Job) -> Generator[Any, None, Any]:
        """What the job does, once what it takes over from has kept its rows: nothing is computed twice."""
        while any(one.active for one in self.beginnings):
            time.sleep(0.01)
            yield None
        asked = self.explainer, self.sample, self.study, resources.store()
        search = run_study(*asked, progress=job.report, cancelled=job.cancelled, within=job.within)
        return (yield from search)


@st.cache_resource(show_spinner=False, max_entries=64)
def _read(key: str, state: str, _work: StudyWork):
    return read_study(_work.explainer, _work.sample, _work.study, resources.store())


@st.cache_resource(show_spinner=False, max_entries=64)
def _cost(key: str, state: str, _work: StudyWork) -> Cost:
    return study_cost(_work.explainer, _work.sample, _work.study, _work._stored)


@dataclass(frozen=True, eq=False)
class Asking:
    """One model that is asked a question on a sample: its works, and what is known of them together.

    first: the page is about this model; drawn_from: of how many examples the sample was drawn; grows: of a sample
    that takes long the beginning is asked first, and the whole waits to be asked for; of: as of `StudyWork`.
    """

    explainer: Explainer
    sample: Sample
    question: Question
    first: bool = True
    drawn_from: int = 0
    grows: bool = False
    of: int = 0

    @property
    def model(self) -> Model:
        return self.explainer.model

    @cached_property
    def works(self) -> list[StudyWork]:
        """One a study, the one that answers first in front; a beginning starts unasked where it is fast."""
        begun = self.beginning
        if begun is not None:
            return [replace(one, beginnings=(first,)) for one, first in zip(self._works, begun.works)]
        fast = self.of > 0 and sum(work.cost.seconds for work in self._works) <= _BEGINNING_SECONDS
        return [replace(work, begins=fast) for work in self._works]

    @cached_property
    def _works(self) -> list[StudyWork]:
        about, studies = (self.explainer, self.sample), self.question.studies
        return [StudyWork(*about, one, self.first and one == studies[0], self.of) for one in studies]

    @cached_property
    def beginning(self) -> "Asking | None":
        """The same of the first texts, as few as a finding is told of; None where all are asked at once."""
        if not self.grows or len(self.sample) <= FEW or all(work.at_once for work in self._works):
            return None
        sample = replace(self.sample, examples=self.sample.examples[:FEW], labels=self.sample.labels[:FEW])
        return replace(self, sample=sample, grows=False, of=len(self.sample))

    @property
    def shown(self) -> "Asking":
        """What answers now: the whole, or its beginning."""
        begun = self.beginning
        return self if begun is None or any(work.runs for work in self.works) or self.done > begun.done else begun

    @property
    def offered(self) -> list[StudyWork]:
        """The works that the page asks for now, or waits to be asked for."""
        begun = self.beginning
        if begun is None or self.shown is self or all(work.complete for work in begun.works):
            return self.works
        return [*begun.works, *self.works]

    @property
    def done(self) -> int:
        """Of its works the examples that are done, together."""
        return sum(work.found.done for work in self.works)

    @property
    def answers(self) -> Answers:
        """What is known now."""
        works = self.works
        # Asked first: what ends in between is known whole.
        coming = frozenset(work.study for work in works if work.runs)
        found = {work.study: work.found for work in works}
        return Answers(self.model, self.explainer.reference, self.sample, found, coming)

    @property
    def report(self) -> Any:
        """What that comes to; None while nothing can be said."""
        answers = self.answers
        key = canonical_key(
            "question's report",
            1,
            question=self.question.name,
            choices=asdict(cast(Any, self.question)),
            model=self.model.name,
            works=[work.key for work in self.works],
            done=[[*_done(one), study in answers.coming] for study, one in answers.found.items()],
        )
        return _report(key, self.question, answers)


def _done(found: Known) -> list:
    return [np.packbits(found.there).tobytes().hex(), sorted(found.problems)]


@st.cache_resource(show_spinner=False, max_entries=64)
def _report(key: str, _question: Question, _answers: Answers) -> Any:
    return _question.conclude(_answers)
