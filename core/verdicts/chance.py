"""Whether an order does better than chance: its AOPC among those of random orders of the same features.

The null hypothesis is that an order is no better than a random order of the same features: then it and the R random
ones are exchangeable, and p is the share of all R + 1 that do at least as well. Pure: v comes as a callable.
Source: glossary, Verdict; Phipson and Smyth (2010) for p that counts the order itself.
"""

import itertools
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np

from core.mathematics.arrays import Order
from core.mathematics.curves import no_larger_area
from core.mathematics.search.limits import MOST_EXACT
from core.mathematics.statistics import ALPHA, holm, holm_adjusted, significant
from core.verdicts.reaching import Reach

# Random orders at least, as Holm over three measures takes; and where a table of every set is known.
DRAWS, MOST_DRAWS = 60, 99_999
# Exact limits of so many features are found unasked on any device (`core.explanation.limiting.EXACT_UP_TO`).
EVERY_SET = 12
# AOPCs that are closer tie: what lies below is rounding of the network.
TIE = 1e-6
# Redundancy hides words where so many of the random orders do as well as a measure's own.
HIDDEN = 0.25
# Orders asked for in one turn; and up to how many features every order is listed where it costs nothing.
_TURN, _LISTED = 8, 8


@dataclass(frozen=True, eq=False)
class NullOrders:
    """AOPC of orders that a measure's own is set against.

    reached: float64[r], of those drawn so far, or of every order there is, its own among them; planned: how many are
    drawn at most; every: whether these are all F! orders; rough: how many half precision alone scored, since they lie
    far from every measure.
    """

    reached: np.ndarray
    planned: int
    every: bool = False
    rough: int = 0

    @property
    def complete(self) -> bool:
        """Whether all that were planned are there; what stops before has settled every verdict."""
        return len(self.reached) == self.planned

    @property
    def floor(self) -> float:
        """The smallest p that there can be."""
        return 1 / self.planned if self.every else 1 / (self.planned + 1)

    def as_good(self, reached: np.ndarray, sign: int) -> np.ndarray:
        """How many orders do at least as well, int64[M]; of all orders one is the measure's own. Args, ties and Raises:
        as `p`.
        """
        reached = np.asarray(reached, dtype=np.float64)
        if np.isnan(reached).any() or np.isnan(self.reached).any():
            raise ValueError("an AOPC is NaN")
        return (sign * (self.reached - reached[:, None]) >= -TIE).sum(axis=1)

    def p(self, reached: np.ndarray, sign: int) -> tuple[np.ndarray, np.ndarray]:
        """Ends between which p lies once all planned orders are drawn, float64[M] each; equal once they are.

        Args:
            reached: float64[M], AOPC of the measures' orders; sign: 1 asks how many orders reach at least as much, −1
                how many at most as much. Orders within 1e-6 tie and count in full, whichever way is asked.
        Raises:
            ValueError: an AOPC is NaN.
        """
        counts = self.as_good(reached, sign)
        if self.every:
            p = counts / self.planned
            return p, p
        return (1 + counts) / (self.planned + 1), (1 + counts + self.planned - len(self.reached)) / (self.planned + 1)


@dataclass(frozen=True, eq=False)
class Tail:
    """One tail of M measures: p lies in [low, high], float64[M]; rejected: bool[M], by Holm at 5 %; settled: bool[M],
    whether orders that are still to come cannot change that; adjusted: ends of p as Holm adjusts it, float64[2, M].
    """

    low: np.ndarray
    high: np.ndarray
    rejected: np.ndarray
    settled: np.ndarray
    adjusted: np.ndarray


def tail_test(reached: np.ndarray, null: NullOrders, sign: int, planned: int | None = None) -> Tail:
    """Test one tail of M measures by Holm.

    Holm's rule is monotone: what it rejects with every p at its upper end it rejects whatever is drawn, and what it
    keeps with every p at its lower end it keeps.

    Args:
        reached: float64[M]; null: what they are set against; sign: as of `NullOrders.p`.
        planned: measures in all, at least M; those that are not there yet count as p = 1.
    """
    low, high = null.p(reached, sign)
    sure, kept = holm(high, planned), ~holm(low, planned)
    adjusted = np.stack([holm_adjusted(low, planned), holm_adjusted(high, planned)])
    return Tail(low, high, sure, sure | kept, adjusted)


def second_look_p(null: NullOrders, reached: float, measures: int) -> float:
    """p of the order by a measure's other values, absolute for signed, being better than random ones, in (0, 1], lower
    is stronger: times the number of measures (Bonferroni), since each has one; not adjusted for being a second look at
    the text.
    """
    return min(1.0, measures * float(null.p(np.array([reached]), 1)[1][0]))


def draws_needed(measures: int) -> int:
    """How many random orders Holm over so many measures takes: 20 a measure, the fewest with which the smallest p lies
    below 5 % divided by the measures, and 60 at least.

    A measure that no random order reaches is rejected first with these as with more; of those that a few reach, more
    orders would tell some apart that these do not.
    """
    # One order more than what makes the smallest p that share itself, which is not below it.
    return max(DRAWS, round(measures / ALPHA))


def reachable(null: NullOrders, measures: int) -> bool:
    """Whether the smallest p that there can be is rejected by Holm over so many measures."""
    return null.floor < ALPHA / max(1, measures)


def by_table(F: int, draws: int, chosen: bool = False) -> bool:
    """Whether the null comes from v of every set, 2^F inputs: of so few features that pages ask for all of them
    unasked, or where that is no more than so many random orders ask for. It hangs on nothing else, above all not on
    what was asked for before, so that a text has the same verdict wherever it is asked. chosen: whether somebody chose
    how many orders are drawn, so that these are.
    """
    return F <= MOST_EXACT and ((F <= EVERY_SET and not chosen) or 1 << F <= draws * max(F - 1, 1))


def aopc_of_orders(table: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """AOPC of orders int[R, F] by a table of v, float64[2^F]; the set S stands at Σ_{i∈S} 2^i → float64[R]."""
    codes = np.cumsum(1 << orders.astype(np.int64), axis=1)
    return table[0] - table[codes].mean(axis=1)


def null_of_table(table: np.ndarray, seed: int = 0, most: int = MOST_DRAWS) -> NullOrders:
    """The null from v of every set: all F! orders where these are no more than `most` (up to F = 8), else `most` random
    ones.

    Args:
        table: float64[2^F], F at least 1.
    """
    F = len(table).bit_length() - 1
    if F <= _LISTED and factorial(F) <= most:
        orders = np.array(list(itertools.permutations(range(F))))
        return NullOrders(aopc_of_orders(table, orders), len(orders), every=True)
    rng, parts = np.random.default_rng([seed, F]), []
    for begin in range(0, most, 10_000):
        drawn = rng.random((min(10_000, most - begin), F)).argsort(axis=1)
        parts.append(aopc_of_orders(table, drawn))
    return NullOrders(np.concatenate(parts), most)


def draw_null(
    reach: Reach,
    start: np.ndarray,
    order: Callable[[int], Order],
    planned: int,
    done: Callable[[NullOrders], bool] = lambda null: False,
) -> Generator[NullOrders, None, NullOrders]:
    """Ask for random orders, a few at a time; yields what is known after each turn, and returns the last.

    Where there are no more orders than are planned, every one of them is asked for instead.

    Args:
        reach: AOPC of so many orders → float64[R].
        start: bool[F], masked from the start; at least one feature is not.
        order: the r-th random order of the features that are not, int64[F'].
        planned: R; done: whether what is known decides, so that no more is asked for.
    """
    free = np.flatnonzero(~start)
    every = len(free) <= _LISTED and factorial(len(free)) <= planned
    orders: Sequence[Order] = [free[list(one)] for one in itertools.permutations(range(len(free)))] if every else ()
    planned = len(orders) if every else planned
    null = NullOrders(np.empty(0), planned, every)
    while not null.complete:
        drawn = range(len(null.reached), min(len(null.reached) + _TURN, planned))
        reached = reach([orders[r] if every else order(r) for r in drawn])
        null = NullOrders(np.concatenate([null.reached, reached]), planned, every)
        yield null
        # Of all orders a part is no sample.
        if not every and done(null):
            break
    return null


def stepwise_p(x: np.ndarray, path: np.ndarray, orders: np.ndarray) -> float:
    """p of a path whose measure is computed again at each step, among random orders masked at the same ratios: the
    share of all of them, its own counted, under whose curve the area is at most as large.

    Args:
        x: float[K], masking ratios, ascending; path: float[K], v along the path; orders: float[R, K].
    Returns:
        float in (0, 1]; small says that it does better than chance.
    """
    return (1 + no_larger_area(x, path, orders)) / (1 + len(orders))


def redundant(null: NullOrders, reached: float, anew: float) -> bool:
    """Whether a measure does better than chance at each step, and once not at all: at least a quarter of the random
    orders that were drawn do as well as its own.

    That it is not better once is not enough: an order that fails narrowly, over several measures, does better at
    each step without any redundancy.

    Error rate, `tests/verdicts/test_causes.py`: said of a random attribution on at most 3 % of texts (each measure by
    itself); where no word says what another does, of a measure that stays the same at each step on at most 1 %, of one
    whose noise is drawn anew there on at most 8 %. Found on 9 of 10 texts on which the word that counts most hides
    another one, and on half of them where the measure is noisy.

    Args:
        reached: AOPC of the order; anew: p of its path, as of `stepwise_p`.
    """
    share = float(null.as_good(np.array([reached]), 1)[0]) / max(1, len(null.reached))
    return significant(anew) and share >= HIDDEN


def decided(null: NullOrders, reached: np.ndarray, tests: int) -> bool:
    """Whether orders that are still to come cannot change which of these AOPC is better than chance, each held to as
    many tests.
    """
    low, high = (tests * end < ALPHA for end in null.p(reached, 1))
    return bool((low == high).all())
