"""Attributions judged by metrics as jobs: what is asked for, how far it is, and what is known of one side so far."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.explanation.explainer import Cost
from core.explanation.limiting import left_over
from core.job import Job
from core.judging.baselines import BASELINES, judge_random, judge_shuffled
from core.judging.judging import How, Rated, judge_by_metric, judging_cost
from core.judging.metric_report import MetricReport
from core.mathematics.stepwise import relay
from core.metrics.catalogue import default_metrics, metrics, of_examples
from pages.parts.frame import working
from pages.parts.frame.links import folded, linked, say_retired
from pages.parts.frame.sidebar import View, chosen_method
from pages.parts.frame.working import Work
from pages.parts.sections.asking import choose_measures, choose_sign, pick_erasure
from pages.parts.sections.sides import SideWork

_METRICS_HELP = "Hard metrics erase words whole; soft ones erase a share of every word, as its attribution says."
_RATIONALES_HELP = "Top words at each length, kept alone or erased."
# How soft metrics draw; the command line and the library take other settings, which links of earlier versions name.
_HOW = How()
_ELSEWHERE = ("scaling", "placement", "sigma", "draws")


@dataclass(frozen=True)
class ErasureChoice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    metrics: tuple[str, ...]
    sign: str
    how: How
    rule: str
    form: str


def choose_erasure(view: View) -> ErasureChoice:
    """Draw the settings of the page."""
    for key in _ELSEWHERE:
        say_retired(key, default=str(getattr(_HOW, key)))
    with view.places.measures:
        named = choose_measures(baselines=True)
    with folded(view.places.example):
        chosen = linked(
            st.multiselect, "Metrics", list(of_examples()), list(default_metrics()), "metrics", help=_METRICS_HELP
        )
        erasure = pick_erasure(view.model)
        sign = choose_sign()
    form, rule = chosen_method()
    in_order = tuple(name for name in of_examples() if name in chosen)
    return ErasureChoice(tuple(named), in_order, sign, replace(_HOW, erasure=erasure), rule, form)


def choose_rationale(choice: ErasureChoice) -> str:
    """Draw the choice of the measure whose rationales are tested."""
    names = list(choice.measures)
    return linked(st.selectbox, "Rationales of", names, names[0], "rationales", width=320, help=_RATIONALES_HELP)


SHUFFLES = 10


@dataclass(frozen=True, eq=False)
class Judging(SideWork):
    """One measure under metrics."""

    side: View
    measure: str
    sign: str
    names: tuple[str, ...]
    how: How
    rests = "measure", "sign", "names", "how"

    @property
    def label(self) -> str:
        return f"scores of {self.measure}"

    @property
    def cost(self) -> Cost:
        return judging_cost(self.side.explainer, self.side.encoded, self.names, self.how, self.measure)

    def run(self, job: Job) -> Any:
        side, asked = self.side, (self.measure, self.sign, self.names, self.how)
        return judge_by_metric(side.explainer, side.encoded, *asked, cancelled=job.cancelled)


@dataclass(frozen=True, eq=False)
class ChanceWork(SideWork):
    """Random attributions under metrics; kind: "hard" or "soft", what these have in common."""

    side: View
    names: tuple[str, ...]
    how: How
    kind: str
    rests = "names", "how"

    @property
    def label(self) -> str:
        return f"random baseline ({self.kind} metrics)"

    @property
    def cost(self) -> Cost:
        return judging_cost(self.side.explainer, self.side.encoded, self.names, self.how, attributions=BASELINES)

    @property
    def at_once(self) -> bool:
        """It streams and comes after the measures, so that it may take longer than what keeps others waiting."""
        return self.cost.seconds <= 2 * working.AT_ONCE_SECONDS

    def run(self, job: Job) -> Any:
        return judge_random(
            self.side.explainer, self.side.encoded, self.names, self.how, progress=job.report, cancelled=job.cancelled
        )


@dataclass(frozen=True, eq=False)
class Shuffling(SideWork):
    """The measures' own scores in other places under soft metrics, {measure: {metric: Baseline}}; on request."""

    side: View
    measures: tuple[str, ...]
    sign: str
    names: tuple[str, ...]
    how: How
    at_once, rests, label = False, ("measures", "sign", "names", "how"), "shuffled baseline"

    @property
    def cost(self) -> Cost:
        return judging_cost(
            self.side.explainer, self.side.encoded, self.names, self.how, attributions=SHUFFLES * len(self.measures)
        )

    def run(self, job: Job) -> Any:
        found = {}
        for i, measure in enumerate(self.measures):

            def report(done: int, _: int, before: int = i * SHUFFLES) -> None:
                job.report(before + done, SHUFFLES * len(self.measures))

            side, asked = self.side, (measure, self.sign, self.names, self.how, SHUFFLES)
            search = judge_shuffled(side.explainer, side.encoded, *asked, progress=report, cancelled=job.cancelled)
            found[measure] = yield from relay(search, lambda part, name=measure: {**found, name: part})
        return found


@dataclass(frozen=True, eq=False)
class KnownRatings:
    """All work on one side, and what it says together; shuffled: empty without a soft metric."""

    side: View
    choice: ErasureChoice
    judged: tuple[Judging, ...]
    chances: tuple[ChanceWork, ...]
    shuffled: tuple[Shuffling, ...]

    @classmethod
    def of(cls, side: View, choice: ErasureChoice) -> "KnownRatings":
        """The work of one side with these choices; nothing is to be done where no metric is chosen."""
        names, asked, sign, how = choice.metrics, choice.measures, choice.sign, choice.how
        soft = tuple(name for name in names if metrics()[name].soft)
        hard = tuple(name for name in names if name not in soft)
        return cls(
            side,
            choice,
            tuple(Judging(side, name, sign, names, how) for name in asked) if names else (),
            tuple(ChanceWork(side, kind, how, called) for kind, called in ((hard, "hard"), (soft, "soft")) if kind),
            (Shuffling(side, asked, sign, soft, how),) if soft and asked else (),
        )

    @property
    def works(self) -> list[Work]:
        """Everything that is asked for, in order; no baseline where no measure has a score by any metric."""
        if self.judged and all(one.complete for one in self.judged):
            table = self.report.table
            if table.undefined == table.values.size:
                return [*self.judged]
        return [*self.judged, *self.chances, *self.shuffled]

    @property
    def rated(self) -> dict[str, Rated]:
        """The measures that are judged, in the order of their choice."""
        return {one.measure: one.latest for one in self.judged if one.complete}

    @property
    def coming(self) -> dict[str, Rated]:
        """Those under way of which some metrics are there."""
        found = {one.measure: one.latest for one in self.judged if one.active and not one.complete}
        return {measure: rated for measure, rated in found.items() if rated is not None}

    @property
    def report(self) -> MetricReport:
        """What is known so far."""
        side, choice = self.side, self.choice
        return MetricReport(
            side.class_name,
            side.encoded.unit,
            left_over(side.encoded),
            choice.metrics,
            choice.sign,
            choice.how,
            choice.rule,
            choice.form,
            None if side.reference is None else side.reference.floor(choice.form),
            self.rated,
            {name: values for one in self.chances for name, values in (one.latest or {}).items()},
            {measure: found for one in self.shuffled for measure, found in (one.latest or {}).items()},
            self.coming,
            tuple(name for one in self.chances if one.complete for name in one.names),
        )
