"""Limits and scores of a text as work: what is asked for, how far it is, and what is known of one side so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.explanation.explainer import Cost
from core.explanation.limiting import (
    Found,
    default_exact,
    exact_bytes,
    exact_cost,
    find_exact,
    find_limits,
    left_over,
    limits_known,
    refuse_dear,
    score,
    score_cost,
    search_cost,
)
from core.explanation.recursive import BY_FEATURE, Band
from core.explanation.standings import StandingGates, StandingTable, build_standings
from core.job import FAILED, Job
from core.mathematics.search.limits import BEAM, EXACT, Limits, TooDear
from core.verdicts.deciding import Reasons, VerdictReport, among_its_orders
from core.verdicts.reasons import find_unstable, known_pairs
from pages.parts.frame import resources
from pages.parts.frame.sidebar import View
from pages.parts.frame.working import Work
from pages.parts.sections.sides import Orders, SideWork
from pages.parts.sections.verdicts import VerdictWork

# Where an insertion search waits to be asked for, a beam of fewer scores and at most so many seconds starts unasked.
_NARROWER, _NARROWER_SECONDS = (20, 10, 5, 2, 1), 5.0


@dataclass(frozen=True)
class LimitsChoice:
    """What the page's settings say."""

    measures: tuple[str, ...]
    sign: str
    rule: str
    form: str
    direction: str
    # Measures that are chosen in all, where some of them are not here yet.
    planned: int = 0


@dataclass(frozen=True, eq=False)
class OrderScoring(SideWork):
    """One measure's orders under one model."""

    side: View
    measure: str
    sign: str
    rests = "measure", "sign"

    @property
    def label(self) -> str:
        return f"{self.measure} ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        return score_cost(self.side.explainer, self.side.encoded, self.measure)

    def run(self, job: Job) -> Any:
        side = self.side
        return score(side.explainer, side.encoded, self.measure, side.explained, self.sign, cancelled=job.cancelled)


@dataclass(frozen=True, eq=False)
class Searching(SideWork):
    """Limits under one model by insertion search or a beam; exact: then exact ones, which cost no more."""

    side: View
    width: int | None
    half: bool
    exact: bool
    counted, rests = "sets", ("width", "half", "exact")

    @property
    def label(self) -> str:
        return f"{'exact' if self.exact else search_name(self.width)} limits ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        """At most; what a search asks for is among what exact limits ask for."""
        if self.exact:
            return exact_cost(self.side.explainer, self.side.encoded)
        return search_cost(self.side.explainer, self.side.encoded, self.width, self.half)

    @property
    def at_once(self) -> bool:
        """Exact limits that may be spent unasked start by themselves, and so does what the store has every set of."""
        return self.exact or super().at_once or self.stored

    @property
    def stored(self) -> bool:
        """Whether the network is asked for nothing any more, since the store has every set."""
        return _known(self.key, self.side.explainer.oracles.of(self.side.encoded).count, self)

    def run(self, job: Job) -> Any:
        side = self.side
        asked = side.explained, self.width, self.half, self.exact
        return find_limits(side.explainer, side.encoded, *asked, progress=job.report, cancelled=job.cancelled)


@st.cache_resource(max_entries=512, show_spinner=False)
def _known(key: str, count: int, _work: Searching) -> bool:
    """Whether a search costs nothing any more; asked anew once more sets are known."""
    side = _work.side
    return limits_known(side.explainer, side.encoded, side.explained, _work.width, _work.half)


def search_name(width: int | None) -> str:
    """A search in words."""
    return "insertion search" if width is None else f"beam {width}"


def tag(limits: Limits) -> str:
    """How limits were found: "exact", "insertion search" or "beam 5"."""
    return EXACT if limits.method == EXACT else search_name(limits.width if limits.method == BEAM else None)


def refused(side: View) -> str:
    """Why exact limits cannot be asked for, a sentence with the number; "" where they can."""
    try:
        refuse_dear(left_over(side.encoded))
    except TooDear as error:
        return str(error)
    return ""


@dataclass(frozen=True, eq=False)
class Exact(SideWork):
    """Exact limits under one model, on request."""

    side: View
    counted, at_once = "sets", False

    @property
    def label(self) -> str:
        return f"exact limits ({self.side.model.name})"

    @property
    def cost(self) -> Cost:
        return exact_cost(self.side.explainer, self.side.encoded)

    @property
    def price(self) -> str:
        """What it costs, in words, with the memory that it holds."""
        return f"{super().price}; holds about {max(1, round(exact_bytes(left_over(self.side.encoded)) / 1e6)):,} MB"

    def run(self, job: Job) -> Any:
        side = self.side
        return find_exact(side.explainer, side.encoded, side.explained, progress=job.report, cancelled=job.cancelled)


@dataclass(frozen=True, eq=False)
class KnownLimits:
    """All work on one side, and what it says together; narrower: a cheap beam where the search waits to be asked for,
    else None; exact: the request for exact limits, None where they come unasked or cannot be asked for.
    """

    side: View
    choice: LimitsChoice
    scored: tuple[OrderScoring, ...]
    search: Searching
    narrower: Searching | None
    exact: Exact | None
    orders: Orders

    @classmethod
    def of(cls, side: View, choice: LimitsChoice) -> "KnownLimits":
        """The work of one side with these choices."""
        asked = Exact(side)
        # Decided once: what a search itself takes of the memory must not make another one of it.
        possible = asked.job is not None or not refused(side)
        allowed = resources.chosen_settings().exact_scores or default_exact(side.model.device)
        search = Searching(side, None, True, True)
        if 1 << left_over(side.encoded) > allowed or (not possible and search.job is None):
            search = replace(search, exact=False)
        offered = not search.exact and possible
        return cls(
            side,
            choice,
            tuple(OrderScoring(side, name, choice.sign) for name in choice.measures),
            search,
            _narrower(search),
            asked if offered else None,
            Orders(side, BY_FEATURE),
        )

    @property
    def works(self) -> list[Work]:
        """Everything, in the order in which it is asked for, verdicts once nothing else is to come: they rest on it.

        Jobs take turns: random orders wait for the search, which gives the answer, and are left out until it has ended
        or waits itself. Exact limits are offered once there is something to compare them with.
        """
        searches = [*([] if self.narrower is None else [self.narrower]), self.search]
        works: list[Work] = [*self.scored, *searches]
        if not any(one.comes for one in searches):
            works.append(self.orders)
        if self.exact is not None and (self.found is not None or self.exact.job is not None):
            works.append(self.exact)
        verdicts = None if any(one.comes for one in works) else self.verdicts
        return works if verdicts is None else [*works, verdicts]

    @property
    def verdicts(self) -> VerdictWork | None:
        """The verdicts of the measures whose orders are scored, or that have none; None where there is none."""
        ended = [one for one in self.scored if one.complete or ((job := one.job) is not None and job.state == FAILED)]
        planned = max(self.choice.planned, len(self.choice.measures))
        names, scores = tuple(one.measure for one in ended), {one.measure: one.latest for one in ended if one.complete}
        chosen = self.choice
        return VerdictWork(self.side, names, chosen.sign, planned, chosen.direction, scores) if ended else None

    def report(self, reasons: Reasons) -> VerdictReport | None:
        """What the verdicts are, with the limits that are known beside other reasons; None before they are there."""
        found, verdicts = self.found, self.verdicts
        reasons = reasons if found is None else replace(reasons, limits=found.limits)
        return None if verdicts is None else verdicts.report(self.gating, reasons)

    def report_with_reasons(self, stepwise: Callable[[], dict[str, float]] = dict) -> VerdictReport | None:
        """The verdicts with what the store knows of why measures fail; stepwise: gives that of `Reasons`."""
        if self.verdicts is None or not self.verdicts.complete:
            return None
        about = self.side.explainer, self.side.encoded, self.side.explained
        unstable = find_unstable(*about, self.choice.measures, self.choice.sign)
        return self.report(Reasons(None, stepwise(), unstable, known_pairs(*about)))

    @property
    def found(self) -> Found | None:
        """The best limits so far; a search that was stopped keeps them."""
        for one in (self.exact, self.search, self.narrower):
            if one is not None and (found := one.latest) is not None:
                return found
        return None

    @property
    def complete(self) -> bool:
        """Whether every measure is scored and no better limits of those that come unasked are still to come."""
        searched = self.search.complete or (self.exact is not None and self.exact.complete)
        return searched and all(one.complete for one in self.scored)

    @property
    def gating(self) -> StandingGates:
        """How the inputs are tested."""
        return StandingGates(self.side.encoded, self.side.reference, self.choice.rule, self.choice.form)

    @property
    def _band(self) -> Band | None:
        """The random orders whose inputs are tested; the verdicts ask for the same, where nobody did before."""
        verdicts = self.verdicts
        known = verdicts.latest if verdicts is not None and verdicts.complete else None
        return self.orders.band or (None if known is None else known.band)

    @property
    def table(self) -> StandingTable | None:
        """Where everything stands, among the verdicts' orders once these are told; None before there are limits."""
        found = self.found
        if found is None:
            return None
        scores = [one.latest for one in self.scored if one.latest is not None]
        board = build_standings(found, scores, self._band, self.side.explained, self.gating)
        return among_its_orders(board, self.report(Reasons()))


def _narrower(search: Searching) -> Searching | None:
    """The widest cheap beam of fewer scores, where the search itself waits to be asked for; None without one."""
    if search.exact or search.at_once or search.job is not None:
        return None
    beams = (replace(search, width=width) for width in _NARROWER)
    fewer = (one for one in beams if one.cost.passes < search.cost.passes)
    cheap = (one for one in fewer if one.job is not None or one.cost.seconds <= _NARROWER_SECONDS or one.stored)
    return next((one for one in cheap if one.job is not None or one.at_once), None)


# What is known of each side; those without limits are left out.
Boards = dict[KnownLimits, StandingTable]


def known_boards(known: Sequence[KnownLimits]) -> Boards:
    """What is known of each side so far."""
    found = {one: one.table for one in known}
    return {one: board for one, board in found.items() if board is not None}
