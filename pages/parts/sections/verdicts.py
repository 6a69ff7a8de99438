"""Verdicts as work: measures of a text beside random orders, under one model, and what is told of them."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cachetools import LRUCache, cached

from core.explanation.explainer import Cost
from core.explanation.limiting import OrderScore
from core.explanation.recursive import BY_FEATURE
from core.explanation.standings import StandingGates
from core.job import Job
from core.verdicts.deciding import Reasons, VerdictReport, decide_verdicts
from core.verdicts.finding import ChanceTest, chance_known, find_chance, null_cost
from pages.parts.frame import working
from pages.parts.frame.sidebar import View
from pages.parts.sections.sides import Orders, SideWork

# Verdicts may take so many times as long as other work that starts unasked: they go after all that is on the screen.
_LASTING = 18


@dataclass(frozen=True, eq=False)
class VerdictWork(SideWork):
    """Measures of one text whose own orders are scored already, beside random orders under one model; planned: measures
    that are chosen in all, scored or not; scores: their orders, of those that have one, where the page has them.
    """

    side: View
    measures: tuple[str, ...]
    sign: str
    planned: int
    direction: str
    scores: Mapping[str, OrderScore] = field(default_factory=dict)
    rests = "measures", "sign", "planned", "direction"

    @property
    def label(self) -> str:
        of = f" of {self.planned}" if self.planned > 1 else ""
        return f"which{of} measures to believe ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        """The random orders whose inputs are tested are those of the page, which has asked for them as a rule."""
        band = not Orders(self.side, BY_FEATURE).complete
        return null_cost(self.side.explainer, self.side.encoded, self.planned, band=band)

    @property
    def at_once(self) -> bool:
        """What the pages are for starts by itself unless it is very dear, and where the random orders that are known
        settle it, which costs nothing.
        """
        return self.cost.seconds <= _LASTING * working.AT_ONCE_SECONDS or self.known

    @property
    def known(self) -> bool:
        """Whether it is there, or asks nothing of the network: the page's own scores and orders, or those that are
        known of other pages or from before, settle it.
        """
        if self.complete:
            return True
        oracle = self.side.explainer.oracles.of(self.side.encoded)
        return (not self.scores or Orders(self.side, BY_FEATURE).complete) and _is_known(self, oracle.count)

    def run(self, job: Job) -> Any:
        side = self.side
        return find_chance(
            side.explainer,
            side.encoded,
            side.explained,
            self.measures,
            self.sign,
            planned=self.planned,
            directions=(self.direction,),
            progress=job.report,
            cancelled=job.cancelled,
        )

    def report(self, gating: StandingGates, reasons: Reasons) -> VerdictReport | None:
        """The verdicts; None before they are there."""
        test = self.latest if self.complete else None
        if test is None:
            return None
        # Pairs have no words for a key; they are asked for on one page alone.
        decide = _decided if reasons.pairs is None else decide_verdicts
        return decide(test, gating, reasons, self.direction)


def _rests_on(test: ChanceTest, gating: StandingGates, known: Reasons, direction: str) -> tuple:
    """All that verdicts rest on, but for pairs."""
    limits = None if known.limits is None else (known.limits.lower, known.limits.upper)
    stepwise = tuple(sorted((known.stepwise or {}).items()))
    tested = None if gating.reference is None else gating.reference.digest
    return test, tested, gating.rule, gating.form, limits, stepwise, tuple(sorted(known.unstable)), direction


# A page asks for the same verdicts in many of its parts.
_decided = cached(LRUCache(32), key=_rests_on, lock=threading.Lock())(decide_verdicts)


@cached(LRUCache(256), key=lambda work, count: (work.key, count, bool(work.scores)), lock=threading.Lock())
def _is_known(work: VerdictWork, count: int) -> bool:
    """Whether it asks nothing of the network, with so many masked inputs known; looked at once for each number."""
    about = work.side.explainer, work.side.encoded, work.side.explained
    names = work.scores or work.measures
    return chance_known(*about, names, work.sign, planned=work.planned, directions=(work.direction,))
