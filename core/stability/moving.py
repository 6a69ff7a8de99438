"""How far attributions of the same features lie apart: arrays in, numbers out; what the text masks is left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from math import comb

import numpy as np

from core.mathematics.ranking import kendall_tau, ranking
from core.mathematics.statistics import ALPHA

# A ranking is unstable whose runs name the same word first with a chance below this.
AGREE = 0.9
# How many runs are offered; the level of what is said is shared among these looks at the same draws.
OFFERED = 5, 10, 20, 50
# From this τ-b on with the order of the most samples a ranking has settled.
SETTLED = 0.9
# A ladder goes down from what a measure draws by itself by so many halves, and up by so many doublings.
_HALVES, _DOUBLINGS, _LEAST = 3, 2, 2


def top_word(scores: np.ndarray) -> int:
    """Which of float[F'] ranks first, ties by position; −1 where all are equal, so that none does."""
    return -1 if len(scores) < 2 or np.ptp(scores) == 0 else int(ranking(scores)[0])


def top_agreement(runs: np.ndarray) -> float:
    """The chance that two runs rank the same word first: the share of all k(k − 1)/2 pairs of k runs that do.

    Its mean over draws of the k runs is Σ_i p_i², p_i the chance that word i is first, whatever k is.

    Args:
        runs: float[k, F'], one a seed.
    Returns:
        float in [0, 1], 1 is best; NaN of fewer than two runs.
    """
    k = len(runs)
    if k < 2:
        return float("nan")
    _, counts = np.unique([top_word(one) for one in runs], return_counts=True)
    return float((counts * (counts - 1)).sum() / (k * (k - 1)))


def dissenting(runs: np.ndarray) -> int:
    """How many of float[k, F'] name another word first than most of them do, from 0 to k − 1."""
    _, counts = np.unique([top_word(one) for one in runs], return_counts=True)
    return len(runs) - int(counts.max(initial=0))


@lru_cache(maxsize=256)
def least_dissenting(k: int) -> int:
    """How many of k runs must name another word first than most do, so that the ranking is said to be unstable.

    Where two runs agree with a chance of 0.9 or more, one word is first with a chance of at least
    q = (1 + √(2 · 0.9 − 1))/2 = .947, so that no more runs dissent than Binomial(k, 1 − q) says. The number is the
    smallest whose tail lies below 5 % · 5/k, 5 % up to five runs: 2 of 5, 3 of 10, 5 of 20, 8 of 50.

    Error rate, `tests/stability/test_error_rates.py`: runs that agree with a chance of 0.9 or more are called unstable
    on at most 2.6 % of texts by five of them, and on at most 5 % by looking at 5, 10, 20 and 50 in turn. How often it
    is found, by five runs and by fifty, where at most four words come first: on 15 and 45 % of texts where that chance
    is .75, on 62 and 100 % where it is .5, on 94 and 100 % where it is .25.
    Source: Clopper and Pearson (1934) for the exact binomial tail.
    """
    other = (1 - (2 * AGREE - 1) ** 0.5) / 2
    level, tail, c = ALPHA * min(1.0, OFFERED[0] / k), 0.0, k + 1
    while tail < level and c > 0:
        c -= 1
        tail += comb(k, c) * other**c * (1 - other) ** (k - c)
    return c + 1


def shown_agreement(k: int) -> float:
    """What k runs that all name the same word show: the chance that two agree is at least this, at 95 %.

    All k agree with a chance of Σ p_i^k, at most a^(k/2) where two agree with a chance of a = Σ p_i²: 0.3 of five runs,
    0.89 of fifty.
    """
    return float(ALPHA ** (2 / k))


def spread_of_runs(runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (ddof 1) of k runs float[k, F'] → float64[F'] each; the second is NaN for one run."""
    runs = np.asarray(runs, dtype=np.float64)
    return runs.mean(axis=0), runs.std(axis=0, ddof=1) if len(runs) > 1 else np.full(runs.shape[1], np.nan)


def ladder(count: int) -> tuple[int, ...]:
    """Numbers of samples, each twice the one before it: `count` itself, up to three halves of it, as long as these are
    whole and at least 2, and twice and four times as many.
    """
    first = count
    for _ in range(_HALVES):
        first = first // 2 if first % 2 == 0 and first // 2 >= _LEAST else first
    rungs = [first]
    while rungs[-1] < count << _DOUBLINGS:
        rungs.append(2 * rungs[-1])
    return tuple(rungs)


def settled_at(counts: Sequence[int], taus: Sequence[float]) -> int | None:
    """The smallest count from which on τ-b stays at 0.9 or more up to the largest; None where it is below at the
    largest, too: not settled. A τ-b that is NaN, where there is no order, is below.

    Args:
        counts: ascending; taus: τ-b of each order with that of the largest count.
    """
    settled = takewhile(lambda one: one[1] >= SETTLED, zip(reversed(counts), reversed(taus)))
    return min((count for count, _ in settled), default=None)


def completeness_error(total: float, due: float) -> float:
    """|Σ scores − (f(x) − f(baseline))| / |f(x) − f(baseline)|, at least 0, 0 is best; NaN where that difference is
    below 1e-6.

    Source: Sundararajan et al. (2017), Proposition 1.
    """
    return abs(total - due) / abs(due) if abs(due) >= 1e-6 else float("nan")


@dataclass(frozen=True)
class Moved:
    """What a change did to an attribution.

    tau: Kendall's τ-b of both orders, 1 is the same, NaN where there is no order; top: whether the same word ranks
    first; equal: whether every score is the same number.
    """

    tau: float
    top: bool
    equal: bool


def moved(before: np.ndarray, after: np.ndarray) -> Moved:
    """Compare float[F'] with what it is after a change that should not matter."""
    return Moved(kendall_tau(before, after), top_word(before) == top_word(after), bool(np.array_equal(before, after)))
