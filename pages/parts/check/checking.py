"""Checking models on a sample: each curve is work of its own, that streams, can be cancelled and goes on where it
stopped.
"""

from dataclasses import dataclass

from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.check_report import CheckReport, build_check_report
from core.evaluation.studies.check_sentences import name_of
from core.evaluation.studies.model_check import Curve, Passed
from pages.parts.check.models import OnSample
from pages.parts.sections.studying import Studying

_RANDOM_SECONDS = 90.0


@dataclass(frozen=True, eq=False)
class Sampled(Studying):
    """One curve or course of one model over a sample; first: of the model that the page is about, whose random order
    the page answers by.
    """

    study: Curve | Course
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
class Checked(OnSample):
    """One model on the page and what its curves come to."""

    work, beside = Checking, 1

    def passed(self) -> dict[Curve, Passed]:
        """What is known of every curve."""
        return {work.study: work.found for work in self.works}

    def report(self, passed: dict[Curve, Passed], metric: str | None = None) -> CheckReport | None:
        """All of it in numbers, by a metric or the model's own; None before the first example."""
        return build_check_report(self.model, self.explainer.reference, self.sample, passed, metric)
