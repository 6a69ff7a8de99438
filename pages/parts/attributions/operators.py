"""Whether verdicts hang on how words are erased: the same under removal, zero embedding and the unknown token, where
somebody asks for it.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import streamlit as st

from core.explanation.explainer import Cost
from core.job import Job
from core.mathematics.stepwise import relay
from core.oracle.erasing import MASK
from core.results.verdicts import erasure_table
from core.storage.store import canonical_key
from core.verdicts.deciding import Reasons
from core.verdicts.finding import ChanceTest, find_chance
from core.verdicts.operators import UnderErasure, erasure_cost, other_erasures, under_erasure
from core.wording import joined
from pages.parts.attributions.scoring import ScoredRows
from pages.parts.components.tables import data_table
from pages.parts.frame.working import Work
from pages.parts.sections.standings import KnownLimits
from pages.parts.sections.streaming import stream
from pages.parts.sections.verdicts import VerdictWork

Tests = dict[str, ChanceTest]


@dataclass(frozen=True, eq=False)
class OtherErasures(Work):
    """The verdicts of a page under each other way of erasing that its model has, one after the other."""

    verdicts: VerdictWork
    failed, at_once, aside = "{problem}", False, True

    @property
    def key(self) -> str:
        return canonical_key("job/verdicts by erasure", 1, verdicts=self.verdicts.key)

    @property
    def label(self) -> str:
        return f"the same by {joined(other_erasures(self.verdicts.side.explainer))}"

    @property
    def cost(self) -> Cost:
        return Cost.sum([self._cost_of(erasure) for erasure in other_erasures(self.verdicts.side.explainer)])

    def run(self, job: Job) -> Generator[Tests, None, Tests]:
        asked, side, found, begun = self.verdicts, self.verdicts.side, Tests(), 0
        total = max(1, self.cost.passes)
        for erasure in other_erasures(side.explainer):
            passes = self._cost_of(erasure).passes
            work = find_chance(
                side.explainer,
                side.encoded,
                side.explained,
                asked.measures,
                asked.sign,
                planned=asked.planned,
                directions=(asked.direction,),
                erasure=erasure,
                progress=lambda done, of, begun=begun, passes=passes: job.report(begun + done * passes // of, total),
                cancelled=job.cancelled,
            )
            found = {**found, erasure: (yield from relay(work, lambda _, found=found: found))}
            begun += passes
            job.report(min(begun, total), total)
        return found

    def _cost_of(self, erasure: str) -> Cost:
        asked, side = self.verdicts, self.verdicts.side
        return erasure_cost(side.explainer, side.encoded, asked.measures, asked.planned, erasure)


def known_erasures(scoring: ScoredRows) -> dict[str, UnderErasure]:
    """What is known of verdicts by each way of erasing, the mask token first; none before another one is there."""
    known = scoring.limits
    work = _work(known)
    if known is None or work is None or not (tests := work.latest):
        return {}
    asked, masked = work.verdicts, work.verdicts.latest
    whole = {MASK: masked, **tests} if isinstance(masked, ChanceTest) else tests
    limits = None if known.found is None else known.found.limits
    # What limits are known are those of the mask token.
    return {
        name: under_erasure(test, known.gating, Reasons(limits) if name == MASK else None, asked.direction)
        for name, test in whole.items()
    }


def operators_section(scoring: ScoredRows) -> None:
    """Draw the verdicts by every way of erasing side by side, or offer to compute them."""
    work = _work(scoring.limits)
    if work is None or not work.verdicts.complete or not other_erasures(work.verdicts.side.explainer):
        return

    def draw(asks: Callable[[], None]) -> None:
        found = known_erasures(scoring)
        if found:
            data_table(*erasure_table({name: one.report for name, one in found.items()}), "erasures")
        asks()

    stream([work], (st.container(), draw), name="operators")


def _work(known: KnownLimits | None) -> OtherErasures | None:
    verdicts = None if known is None else known.verdicts
    return None if verdicts is None else OtherErasures(verdicts)
