"""The verdict of each measure on an example, and its cause: from random orders, limits, and what the gate says."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from core.explanation.standings import COMPREHENSIVENESS, Chance, StandingGates, StandingTable, random_walks
from core.interactions.pairs import TOGETHER, Paired, PairTest
from core.mathematics.search.limits import NARROW, Limits
from core.mathematics.statistics import significant
from core.validity.marks import Gate
from core.verdicts.chance import TIE, NullOrders, reachable, redundant, second_look_p, tail_test
from core.verdicts.finding import SIGNS, ChanceTest, Untold


class Word(StrEnum):
    """What a verdict says of a measure's order on a text. NO_BETTER: that it is no better is not rejected, which does
    not show it.
    """

    BETTER = "better than chance"
    NO_BETTER = "not shown better than chance"
    WORSE = "worse than chance"
    UNTOLD = "cannot be told"


class Cause(StrEnum):
    """Why a measure fails or measures part, from what is known and no more."""

    REDUNDANCY = "redundancy"
    NARROW = "narrow limits"
    REJECTED = "rejected inputs"
    UNSTABLE = "unstable"
    TOGETHER = "only together"
    SIGN = "sign"


FAILS = Word.NO_BETTER, Word.WORSE
# Why no verdict is given, as far as that is a cause.
_CAUSES = {
    Untold.OWN_REJECTED: (Cause.REJECTED,),
    Untold.RANDOM_REJECTED: (Cause.REJECTED,),
    Untold.NARROW: (Cause.NARROW,),
    Untold.EQUAL: (Cause.NARROW,),
}
_LOST = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Verdict:
    """What is said of one measure in one direction.

    p: of being better than chance; worse: of being worse; each the ends between which it lies once all orders are
    drawn, equal once they are, NaN where there is no order; adjusted: p of worse where it is worse, else of better, as
    Holm adjusts it, which is held against 5 % itself; why: why no verdict is given, None where one is.
    """

    measure: str
    word: Word
    p: tuple[float, float]
    worse: tuple[float, float]
    why: Untold | None = None
    causes: tuple[Cause, ...] = ()
    adjusted: tuple[float, float] = _LOST

    @property
    def told(self) -> bool:
        """Whether there is a verdict."""
        return self.word != Word.UNTOLD


@dataclass(frozen=True, eq=False)
class Reasons:
    """What else is known of an example, from which causes are told: limits of AOPC; stepwise: {measure: p of its path
    that is computed again at each step}; unstable: measures whose ranking is; pairs: interactions
    of its words. Nothing has to be.
    """

    limits: Limits | None = None
    stepwise: Mapping[str, float] | None = None
    unstable: Collection[str] = ()
    pairs: Paired | None = None


@dataclass(frozen=True, eq=False)
class VerdictReport:
    """The verdicts on one example in one direction, in the order of its measures.

    pair: two words that work only together, where measures part or fail; untested: whether no input could be rejected;
    limits: lower and upper, None where neither is known; null: what orders were set against; direction
    and erasure as asked; stepwise: as of `Reasons`; turned: p of the other values' order, adjusted for the number of
    measures and not for being one more look, of measures that it is a cause of.
    """

    verdicts: tuple[Verdict, ...]
    direction: str
    sign: str
    erasure: str
    null: NullOrders
    planned: int
    limits: tuple[float, float] | None
    reached: dict[str, float]
    pair: PairTest | None
    untested: bool = False
    stepwise: Mapping[str, float] = field(default_factory=dict)
    turned: Mapping[str, float] = field(default_factory=dict)

    def of(self, measure: str) -> Verdict | None:
        """The verdict of a measure; None where it was not asked for."""
        return next((one for one in self.verdicts if one.measure == measure), None)

    def those(self, word: Word) -> list[Verdict]:
        """The verdicts that say so."""
        return [one for one in self.verdicts if one.word == word]

    def better(self, names: Iterable[str]) -> frozenset[str] | None:
        """The measures that are better than chance; None where one of these has no verdict, which may change others."""
        return frozenset(one.measure for one in self.those(Word.BETTER)) if all(map(self.of, names)) else None

    @property
    def part(self) -> bool:
        """Whether the verdicts differ, or none is better than chance."""
        told = {one.word for one in self.verdicts if one.told}
        return len(told) > 1 or (bool(told) and Word.BETTER not in told)

    @property
    def orders(self) -> str:
        """What was drawn, in words: "60 random orders", "all 120 orders", "8 of 60 random orders"."""
        drawn = len(self.null.reached)
        if self.null.every:
            return f"all {drawn:,} orders" if drawn > 1 else "the only order"
        return f"{drawn:,} random orders" if self.null.complete else f"{drawn:,} of {self.null.planned:,} random orders"


def decide_verdicts(
    test: ChanceTest, gating: StandingGates, known: Reasons | None = None, direction: str = COMPREHENSIVENESS
) -> VerdictReport:
    """Say of each measure whether its order is better than chance, over measures by Holm, each tail at 5 %.

    At most 5 % of texts have a random attribution among their measures that is called better, and at most 5 % one that
    is called worse. Cannot be told: where the gate rejects inputs of the order or of the random ones, the limits lie
    within 0.05, no p can be small enough, or the measure has no order.

    Source: glossary, Verdict.
    """
    known = known or Reasons()
    names, null, sign = list(test.scores), test.null, SIGNS[direction]
    reached = test.reached(direction)
    better, worse = (tail_test(reached, null, way * sign, test.planned) for way in (1, -1))
    limits = test.exact or (None if known.limits is None else (known.limits.lower, known.limits.upper))
    chance = gating.gate_of_all(random_walks(gating.encoded, test.band, test.target))
    # Of inputs that the model does not know no choice of measures or words tells anything.
    nothing = Untold.RANDOM_REJECTED if chance.marked and gating.encoded.F > 1 else _nothing(test, limits)
    found = []
    for i, name in enumerate(names):
        settled = better.settled[i] and worse.settled[i]
        why = nothing or _own(gating.gate(test.scores[name][direction]), settled)
        word = Word.UNTOLD if why else _word(bool(better.rejected[i]), bool(worse.rejected[i]))
        ends = [(float(tail.low[i]), float(tail.high[i])) for tail in (better, worse)]
        causes = _CAUSES.get(why, ()) if why else _causes(name, word, test, known, direction)
        low, high = (worse if word == Word.WORSE else better).adjusted[:, i].tolist()
        found.append(Verdict(name, word, *ends, why, causes, (low, high)))
    found += [Verdict(name, Word.UNTOLD, _LOST, _LOST, why) for name, why in test.problems.items()]
    turned = {one.measure: _turned(test, one.measure) for one in found if Cause.SIGN in one.causes}
    report = VerdictReport(
        tuple(found),
        direction,
        test.sign,
        test.erasure,
        null,
        test.planned,
        limits,
        dict(zip(names, reached.tolist())),
        None,
        not chance.available,
        known.stepwise or {},
        turned,
    )
    return _with_pair(report, known.pairs, gating)


def among_its_orders(board: StandingTable, report: VerdictReport | None) -> StandingTable:
    """A board with the orders that its verdicts rest on as its random ones, so that a page tells of one lot of them.

    As it is where no verdict is told, and where fewer orders settled them than the board has: these are among its own.
    """
    own = board.chance
    if own is None or report is None or not any(one.told for one in report.verdicts):
        return board
    null = report.null
    if len(null.reached) < len(own.aopc) and not null.every:
        return board
    name = f"{report.orders} of the chance test"
    return replace(board, chance=Chance.of(null.reached, board.limits, own.gate, name, own.tested))


def _word(better: bool, worse: bool) -> Word:
    return Word.BETTER if better else Word.WORSE if worse else Word.NO_BETTER


def _nothing(test: ChanceTest, limits: tuple[float, float] | None) -> Untold | None:
    """Why no verdict can be given on any order; None where one can."""
    if not reachable(test.null, test.planned):
        return Untold.FEW_ORDERS
    if limits is not None and limits[1] - limits[0] < NARROW:
        return Untold.NARROW
    if np.ptp(np.concatenate([test.null.reached, test.reached(COMPREHENSIVENESS)])) <= TIE:
        return Untold.EQUAL
    return None


def _own(gate: Gate, settled: bool) -> Untold | None:
    """Why no verdict can be given on this order; None where one can."""
    if gate.marked:
        return Untold.OWN_REJECTED
    return None if settled else Untold.NOT_DRAWN


def _causes(name: str, word: Word, test: ChanceTest, known: Reasons, direction: str) -> tuple[Cause, ...]:
    """What is known to make a measure fail."""
    found, fails = [], word in FAILS and direction == COMPREHENSIVENESS
    other, mine = test.other.get(name), dict(zip(test.scores, test.reached(COMPREHENSIVENESS)))[name]
    if fails and redundant(test.null, float(mine), (known.stepwise or {}).get(name, 1.0)):
        found.append(Cause.REDUNDANCY)
    # Equal orders fail alike, and the other values are one more try for each measure.
    if fails and other is not None and abs(other - mine) > TIE:
        found += [Cause.SIGN] * significant(_turned(test, name))
    if name in known.unstable:
        found.append(Cause.UNSTABLE)
    return tuple(found)


def _turned(test: ChanceTest, name: str) -> float:
    return second_look_p(test.null, test.other[name], test.planned)


def _with_pair(report: VerdictReport, pairs: Paired | None, gating: StandingGates) -> VerdictReport:
    """The two words that work only together, as a cause of what fails, where measures part or fail; none whose own
    inputs are rejected.
    """
    pair = None if pairs is None or not report.part else pairs.strongest(TOGETHER)
    if pair is None or pair.gate(gating.reference, gating.rule, gating.form).marked:
        return report
    verdicts = tuple(
        replace(one, causes=(*one.causes, Cause.TOGETHER)) if one.word in FAILS else one for one in report.verdicts
    )
    return replace(report, verdicts=verdicts, pair=pair)
