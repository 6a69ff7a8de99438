"""Curves of performance against the share masked: the area between a measure and random order."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.mathematics.statistics import ALPHA, RESAMPLES, Interval, bootstrap_intervals

# Below it a denominator is nothing but rounding.
NOTHING = 1e-6
# The mean of equal probabilities is off by as much, so that an area of none would have a sign.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Areas:
    """ACU and RACU with their 95 % intervals; unstable: whether the interval of RACU's denominator holds 0, so that
    RACU may be any number, and then has no interval.
    """

    acu: Interval
    racu: Interval
    unstable: bool


UNKNOWN = Areas(Interval(np.nan, np.nan, np.nan), Interval(np.nan, np.nan, np.nan), False)


def acu(x: np.ndarray, performance: np.ndarray, baseline: np.ndarray) -> float:
    """Area between the random baseline and a measure's curve, Σ ½ Δx_i ((b_i − p_i) + (b_{i+1} − p_{i+1})).

    It depends on how much the model loses under masking at all, so it does not compare across models.

    Args:
        x: float[K], masking ratios, ascending.
        performance: float[K], p_i: the measure's curve.
        baseline: float[K], b_i: the mean of random orders.
    Returns:
        float; higher is more faithful, 0 is random; NaN where a value is.
    Raises:
        ValueError: the arrays are not equally long, or x is not ascending.
    Source: FMM Eq. 3, numerator.
    """
    x, performance, baseline = (np.asarray(a, dtype=np.float64) for a in (x, performance, baseline))
    if x.ndim != 1 or not len(x) or not x.shape == performance.shape == baseline.shape:
        raise ValueError(
            f"x, performance and baseline must be equally long and not empty, got shapes {x.shape}, "
            f"{performance.shape}, {baseline.shape}"
        )
    if (np.diff(x) < 0).any():
        raise ValueError("the masking ratios must be ascending")
    return float(_area(x, baseline, performance))


def racu(x: np.ndarray, performance: np.ndarray, baseline: np.ndarray, floor: float | None = None) -> float:
    """`acu` relative to that of a measure which reaches the fully masked performance at once.

    The denominator is the same sum with b_i − b_I, b_I the baseline with everything masked. For a signed
    measure this is no 0–100 % scale: masking can push the score below b_I, and then it exceeds 1.

    Args:
        floor: b_I, where the curves end before everything is masked; the baseline's last value without.
    Returns:
        float; higher is more faithful, 0 is random; NaN where the denominator is below 1e-6.
    Raises:
        ValueError: as `acu`.
    Source: FMM Eq. 3.
    """
    found = acu(x, performance, baseline)
    last = float(np.asarray(baseline)[-1]) if floor is None else floor
    whole = acu(x, np.full(len(baseline), last), baseline)
    return found / whole if whole >= NOTHING else float("nan")


def areas_between(
    x: np.ndarray,
    curves: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    n: int,
    width: int = 1,
    resamples: int = RESAMPLES,
) -> Areas:
    """`acu` and `racu` with BCa intervals over n texts, or over the n random orders of one text: measure and baseline
    are resampled together.

    RACU is a ratio: where random order ends about where it dips, its denominator may as well be 0, and the ratio
    anything. Resamples whose denominator is no larger than `NOTHING` count as far out as they can be.

    Args:
        x: float[K], masking ratios, ascending.
        curves: how often each text counts, float64[B, n] → the measure's curve and the baseline's, float64[B, K] each.
        width: numbers that `curves` holds for each row on the way, for the memory.
    Returns:
        Areas; RACU is NaN where its denominator is below 1e-6, and unstable where there is no interval of that (n < 2).
    Source: FMM Eq. 3; glossary, ACU and RACU; glossary, Intervals.
    """
    x = np.asarray(x, dtype=np.float64)

    def parts(weights: np.ndarray) -> np.ndarray:
        performance, baseline = (np.asarray(curve, dtype=np.float64) for curve in curves(weights))
        area, whole = _area(x, baseline, performance), _area(x, baseline, baseline[..., -1:])
        return np.stack([area, area / np.maximum(whole, NOTHING), whole])

    area, ratio, whole = bootstrap_intervals(parts, n, resamples, width=max(width, 4 * len(x)))
    if not whole.mean >= NOTHING:
        return Areas(area, UNKNOWN.racu, False)
    unstable = whole.holds(0.0)
    return Areas(area, Interval(ratio.mean, np.nan, np.nan) if unstable else ratio, unstable)


def _area(x: np.ndarray, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Area between curves float64[…, K] by trapezoids, float64[…]; 0 where it is nothing but rounding."""
    found = np.trapezoid(upper - lower, x, axis=-1)
    return np.where(np.abs(found) < _ROUNDING, 0.0, found)


def rising(performance: np.ndarray, n: int, span: float = 1.0) -> np.ndarray:
    """Which curves of performance rise with masking, though retrained models are left less and less to read.

    A curve rises where, at some step, each seed that has both, two at least, lies above an earlier step, and their mean
    by more than chance allows:
    one-sided 5 % over all curves and pairs of steps (Bonferroni). Chance is that of n texts, with the largest variance
    there can be, and of trainings, whose variance over seeds is pooled over all points.

    Args:
        performance: float[S, M, K] of S seeds, M curves and K steps, ascending; NaN where there is none.
        n: test texts; span: the metric's largest value less its lowest.
    Returns:
        bool[M]; none of a single seed, whose noise is unknown.
    Source: ROAR, class leakage; the rule is ours; error rate, `tests/mathematics/test_rising.py`.
    """
    from scipy import stats

    _, M, K = performance.shape
    earlier, later = np.triu_indices(K, 1)
    known = np.ma.masked_invalid(performance)
    rises = known[..., later] - known[..., earlier]
    seeds = rises.count(axis=0)
    if not (seeds > 1).any() or not n:
        return np.zeros(M, dtype=bool)
    # Of either share at most a quarter, as if they were of different texts.
    variance = 0.5 * span**2 / n + 2 * known.var(axis=0, ddof=1).mean() / np.maximum(seeds, 1)
    least = stats.norm.isf(ALPHA / seeds.size) * np.sqrt(variance)
    found = (seeds > 1) & (rises.min(axis=0) > 0) & (rises.mean(axis=0) > least)
    return np.asarray(np.ma.filled(found, False).any(axis=-1))


def spread(curves: np.ndarray, share: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of R random curves, float[R, K], and the band that the middle `share` fills at each point: float64[K] each.

    The band is where a random order falls, not how well their mean is known. ValueError: no curve.
    """
    curves = np.asarray(curves, dtype=np.float64)
    if curves.ndim != 2 or len(curves) == 0:
        raise ValueError(f"curves must be float[R, K] with R at least 1, got shape {curves.shape}")
    lower, upper = np.quantile(curves, [(1 - share) / 2, (1 + share) / 2], axis=0)
    return curves.mean(axis=0), lower, upper


def importance_shares(scores: np.ndarray) -> np.ndarray:
    """How much of Σ|a| lies in the k features with the largest |a|, k = 1 … F: float64[F], ascending to 1.

    k/F where all of float[F] are equally large, NaN where all are zero. Neither direction is better. Source: ROAR §6.1.
    """
    sizes = np.sort(np.abs(np.asarray(scores, dtype=np.float64)))[::-1]
    if sizes[0] == 0:
        return np.full(len(sizes), np.nan)
    # Scaled first: a sum of very large scores would leave the range of numbers.
    shares = np.cumsum(sizes / sizes[0])
    return shares / shares[-1]


def no_larger_area(x: np.ndarray, path: np.ndarray, orders: np.ndarray) -> int:
    """How many of R orders' curves, float[R, K], have an area of at most that of a path, float[K], within 1e-6."""
    return int((np.trapezoid(orders, x, axis=1) <= np.trapezoid(path, x) + NOTHING).sum())
