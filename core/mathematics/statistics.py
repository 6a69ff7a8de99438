"""Combine p-values and decide over several of them."""

from dataclasses import dataclass

import numpy as np

ALPHA = 0.05
MOST_BCA = 4_000


def simes(p: np.ndarray, axis: int = -1) -> np.ndarray:
    """Combine n p-values into one by Simes, min_i p_(i)·n/i.

    Valid for independent and for positively dependent p-values.

    Args:
        p: float[…, n, …] in [0, 1]; not changed.
        axis: the one that is combined.
    Returns:
        float64 without that axis, in [0, 1]; small speaks against the hypothesis.
    Raises:
        ValueError: n = 0.
    Source: FMM Alg. 2; MaSF.
    """
    ordered = np.sort(np.moveaxis(np.asarray(p, dtype=np.float64), axis, -1), axis=-1)
    n = ordered.shape[-1]
    if n == 0:
        raise ValueError("there are no p-values to combine")
    return (ordered * (n / np.arange(1, n + 1))).min(axis=-1)


def simes_of_counts(counts: np.ndarray, size: int) -> np.ndarray:
    """Simes over p-values that are counts of the same whole, p_i = counts_i/size: H/size · min_i counts_(i)/i.

    Ties are decided by the counts and never by the last bit: equal fractions divide to the same number, and the scale
    comes once, at the end. `simes` of counts/size gives equal statistics that differ by rounding.

    Args:
        counts: float[…, H], whole or half numbers, at least 0; not changed.
    Returns:
        float64[…].
    Source: FMM Alg. 2; glossary, MaSF.
    """
    H = counts.shape[-1]
    ordered = np.sort(np.asarray(counts, dtype=np.float64), axis=-1)
    ordered /= np.arange(1, H + 1)
    return ordered.min(axis=-1) * (H / size)


def fisher(p: np.ndarray, axis: int = -1) -> np.ndarray:
    """Fisher's statistic −2 Σ log(p + 1e-8); large speaks against the hypothesis.

    The small number is the paper's: it keeps p = 0 finite. This is the statistic and not a p-value,
    since MaSF sets it against its own reference and not against a χ².

    Args:
        p: float[…, n, …] in [0, 1].
    Returns:
        float64 without that axis, from about 0 to 37·n.
    Raises:
        ValueError: n = 0.
    Source: FMM Alg. 2; MaSF.
    """
    # In order and as one block: a sum depends on how it is added up, and the same values must give the same one.
    p = np.ascontiguousarray(np.sort(np.moveaxis(np.asarray(p, dtype=np.float64), axis, -1), axis=-1))
    if p.shape[-1] == 0:
        raise ValueError("there are no p-values to combine")
    return -2.0 * np.log(p + 1e-8).sum(axis=-1)


def holm(p: np.ndarray, planned: int | None = None, alpha: float = ALPHA) -> np.ndarray:
    """Say which hypotheses Holm's step-down rule rejects, so that any false rejection has probability at most alpha.

    Hypotheses that are planned and not tested yet count as if their p were 1; so what is rejected
    now stays rejected when they come.

    Args:
        p: float[n] in [0, 1].
        planned: how many hypotheses there are in all, at least n; n without.
    Returns:
        bool[n], True = rejected: p strictly below its threshold.
    Raises:
        ValueError: fewer planned than given.
    Source: Holm (1979).
    """
    p = np.asarray(p, dtype=np.float64)
    planned = len(p) if planned is None else planned
    if planned < len(p):
        raise ValueError(f"{len(p)} p-values were given, but {planned} planned")
    order = np.argsort(p, kind="stable")
    below = p[order] < alpha / (planned - np.arange(len(p)))
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order] = np.logical_and.accumulate(below)
    return rejected


def significant(p: float) -> bool:
    """Whether a test of its own speaks against its hypothesis at 5 %; not for what marks numbers, see
    `core.validity.marks`.
    """
    return p < ALPHA


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval; without width where fewer than two values are there or all are equal."""

    mean: float
    low: float
    high: float


def mean_interval(values: np.ndarray, resamples: int = 9_999, seed: int = 0) -> Interval:
    """The mean with a 95 % BCa bootstrap interval, fixed seed.

    NaN values are left out; NaN everywhere where none is left. The percentile interval where BCa has no ends, and
    beyond 4,000
    values, whose jackknife would take their square of memory and change nothing.

    Args:
        values: float[N], one for each example (or seed).
    Returns:
        Interval, low ≤ high.
    Source: glossary, Intervals; Efron (1987).
    """
    from scipy import stats

    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values)]
    if len(values) == 0:
        return Interval(np.nan, np.nan, np.nan)
    mean = float(values.mean())
    if len(values) < 2 or np.ptp(values) == 0:
        return Interval(mean, mean, mean)
    for method in ("BCa", "percentile") if len(values) <= MOST_BCA else ("percentile",):
        found = stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=resamples,
            batch=max(1, 2_000_000 // len(values)),
            method=method,
            rng=np.random.default_rng(seed),
        ).confidence_interval
        # Where nearly all values are equal, BCa cannot tell where its ends lie.
        if np.isfinite(found.low) and np.isfinite(found.high):
            return Interval(mean, float(found.low), float(found.high))
    return Interval(mean, np.nan, np.nan)
