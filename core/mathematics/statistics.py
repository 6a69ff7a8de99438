"""Combine p-values and decide over several of them."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

ALPHA = 0.05
# Of the normal distribution, for two-sided intervals at 95 %.
Z = 1.959963984540054
MOST_BCA, RESAMPLES = 4_000, 9_999
# Counts of a block of resamples, which fits the cache.
_BLOCK = 65_536
# Above rounding of values shifted by a million times their spread, below steps of a mean of 4,000 values.
_TIE = 1e-7
# Of the largest value: so little of a mean is zero but for rounding.
_ROUNDING = 1e-14


def simes(p: np.ndarray, axis: int = -1) -> np.ndarray:
    """Combine n p-values along an axis into one by Simes, min_i p_(i)·n/i, valid where they depend positively or not at
    all.

    Args:
        p: float[…, n, …] in [0, 1]; not changed. ValueError: n = 0.
    Returns:
        float64 without that axis, in [0, 1]; small speaks against the hypothesis.
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


def rejected_count_p(rejected: np.ndarray, tested: int, n: int) -> np.ndarray:
    """One p for K of N different texts with p < 5 %, each p = (1 + #{reference ≥ z})/(n + 1) of the same n texts.

    All N are compared with the same reference, so K is no binomial: given n, the share that a reference rejects is
    Beta(k, n + 1 − k), k = ceil(0.05·(n + 1)) − 1, and K beta-binomial. 1 where n < 20, which rejects nothing.

    Args:
        rejected: int[…], K; tested: N, at least 1; n: texts of the reference's last level.
    Returns:
        float64[…] in [0, 1]; small speaks against the hypothesis that the texts are like the reference's.
    Source: glossary, MaSF, the count rule.
    """
    from scipy.stats import betabinom

    rejected, k = np.asarray(rejected), int(np.ceil(round(ALPHA * (n + 1), 9))) - 1
    if k < 1:
        return np.ones(rejected.shape)
    # Summed from its small end: 1 − P(fewer) has no small values.
    exactly = betabinom.pmf(np.arange(tested + 1), tested, k, n + 1 - k)
    return np.minimum(exactly[::-1].cumsum()[::-1], 1.0)[rejected]


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
    p, planned, order = _in_order(p, planned)
    below = p[order] < alpha / (planned - np.arange(len(p)))
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order] = np.logical_and.accumulate(below)
    return rejected


def holm_adjusted(p: np.ndarray, planned: int | None = None) -> np.ndarray:
    """p-values that are held against 5 % itself where Holm's rule holds p against less: float[n] in [0, 1].

    One lies below a level where `holm` rejects its hypothesis at that level. Monotone: a smaller p leaves none larger.

    Args and Raises: as of `holm`.
    Source: Holm (1979).
    """
    p, planned, order = _in_order(p, planned)
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * (planned - np.arange(len(p)))))
    return adjusted


def _in_order(p: np.ndarray, planned: int | None) -> tuple[np.ndarray, int, np.ndarray]:
    """p, how many are planned, and the places of the smallest p to the largest."""
    p = np.asarray(p, dtype=np.float64)
    planned = len(p) if planned is None else planned
    if planned < len(p):
        raise ValueError(f"{len(p)} p-values were given, but {planned} planned")
    return p, planned, np.argsort(p, kind="stable")


def leads(better: np.ndarray, spent: float = 1.0) -> bool:
    """Whether one of M, better: bool[n, M], leads each other by `lead_p` at 5 %, of which `spent` may be spent."""
    p = lead_p(better)
    return bool(len(p)) and bool((p < spent * ALPHA).all())


def lead_p(better: np.ndarray) -> np.ndarray:
    """Of the one of M that is better on the most of n texts, better: bool[n, M], against each other in their order:
    two-sided p of exact sign tests, Holm-adjusted, float64[M − 1]. Source: McNemar (1947); Holm (1979).
    """
    from scipy.stats import binomtest

    best = int(better.sum(axis=0).argmax())
    p = []
    for other in np.delete(better, best, axis=1).T:
        more, less = int((better[:, best] & ~other).sum()), int((other & ~better[:, best]).sum())
        p.append(binomtest(more, more + less).pvalue if more + less else 1.0)
    return holm_adjusted(np.array(p)) if p else np.array([])


def significant(p: float, spent: float = 1.0) -> bool:
    """Whether a test is significant at 5 %, or at the share of that which this look may spend."""
    return p < spent * ALPHA


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % interval; ends are NaN where there is none, without width where all values are equal."""

    mean: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return self.low == self.low

    def holds(self, value: float) -> bool:
        """Whether a value lies in it; True where there is none, since nothing is excluded then."""
        return not self.known or self.low <= value <= self.high


def meeting_best(means: Mapping[str, Interval], direction: int = 1) -> list[str]:
    """The names whose 95 % interval meets that of the best mean, the best first; [] without an interval.

    direction: 1 where higher is better, −1 where lower is.
    """
    known = {name: mean for name, mean in means.items() if mean.known}
    if not known:
        return []
    first = max(known, key=lambda name: direction * known[name].mean)
    best = known.pop(first)
    return [first, *(name for name, mean in known.items() if mean.high >= best.low and mean.low <= best.high)]


def mean_interval(values: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """The mean of float[N] with a 95 % BCa bootstrap interval, low ≤ high, fixed seed; NaN values are left out, and
    there is no interval of a single one. Source: glossary, Intervals; Efron (1987).
    """
    values = np.asarray(values, dtype=np.float64)
    return _mean_interval(values[~np.isnan(values)].tobytes(), resamples, seed)


@functools.lru_cache(maxsize=1024)
def _mean_interval(known: bytes, resamples: int, seed: int) -> Interval:
    """Resampling takes a moment, and a page that streams asks for the same again."""
    values = np.frombuffer(known)
    if len(values) == 0:
        return Interval(np.nan, np.nan, np.nan)
    if len(values) > 1 and np.ptp(values) == 0:
        return Interval(float(values.mean()), float(values.mean()), float(values.mean()))
    return next(_intervals_of_means(values[:, None], resamples, seed))


def mean_intervals(values: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> tuple[Interval, ...]:
    """`mean_interval` of each of S columns float64[N, S]; those without NaN share their resamples."""
    values = np.asarray(values, dtype=np.float64)
    whole = ~np.isnan(values).any(axis=0) & (values != values[:1]).any(axis=0)
    found = _intervals_of_means(values[:, whole], resamples, seed) if whole.any() else iter(())
    return tuple(next(found) if whole[s] else mean_interval(one, resamples, seed) for s, one in enumerate(values.T))


def _intervals_of_means(values: np.ndarray, resamples: int, seed: int) -> Iterator[Interval]:
    """Of S columns float64[N, S], resampled around their means: digits that all values share are none to lose."""
    means = values.mean(axis=0)
    around, n = values - means, len(values)
    left_out = -around.T / max(n - 1, 1)
    shares = np.ascontiguousarray(around.T) / n
    # Products this small stay on one thread: several cost more than they save, and wait for each other.
    found = bootstrap_intervals(lambda w: shares @ w.T, n, resamples, seed, 8 * shares.size, left_out)
    for at, one, column in zip(means, found, values.T):
        ends = np.clip([at, at + one.low, at + one.high], column.min(), column.max())
        yield Interval(*np.where(np.abs(ends) <= _ROUNDING * np.abs(column).max(), 0.0, ends).tolist())


def seeds_interval(values: np.ndarray, low: float = 0.0, high: float = 1.0, n: int | None = None) -> Interval:
    """Mean of S values within (low, high) with a 95 % t-interval, both in logit space and transformed back.

    Values at or beyond an end have no logit: then mean and interval are those of the values themselves.

    Args:
        values: float[S]; NaN are left out.
        n: texts that each value is a share of: half a text is added at both ends, so that 0 and 1 have logits.
    Returns:
        Interval; no ends of a single value, without width where all values are equal.
    Source: glossary, ROAR; Madsen et al. (2022) for performance; Student (1908).
    """
    from scipy import special, stats

    values = np.asarray(values, dtype=np.float64)
    values = values[~np.isnan(values)]
    if not len(values):
        return Interval(np.nan, np.nan, np.nan)
    if np.ptp(values) == 0:
        ends = (values[0], values[0]) if len(values) > 1 else (np.nan, np.nan)
        return Interval(float(values[0]), float(ends[0]), float(ends[1]))
    shares = (values - low) / (high - low)
    shares = shares if n is None else (shares * n + 0.5) / (n + 1)
    curved = bool(((shares > 0) & (shares < 1)).all())
    found = special.logit(shares) if curved else values
    reach = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
    ends = found.mean() + np.array([0.0, -reach, reach])
    return Interval(*map(float, low + (high - low) * special.expit(ends) if curved else ends))


def signed_rank_p(differences: np.ndarray, tie: float = 1e-6) -> float:
    """Two-sided p of Wilcoxon's signed-rank test that paired differences lie around 0, by its normal approximation.

    Differences within `tie` are zeros, which are ranked and then left out (Pratt); NaN are left out. 1 where nothing
    differs, so that nothing speaks against it. The approximation is poor below some ten pairs.

    Source: Wilcoxon (1945); Pratt (1959).
    """
    from scipy import stats

    d = np.asarray(differences, dtype=np.float64)
    d = np.where(np.abs(d[~np.isnan(d)]) <= tie, 0.0, d[~np.isnan(d)])
    if not d.any():
        return 1.0
    return float(stats.wilcoxon(d, zero_method="pratt", method="asymptotic").pvalue)


def bootstrap_intervals(
    statistic: Callable[[np.ndarray], np.ndarray],
    n: int,
    resamples: int = RESAMPLES,
    seed: int = 0,
    width: int = 1,
    left_out: np.ndarray | None = None,
) -> tuple[Interval, ...]:
    """Statistics of n texts with their 95 % BCa bootstrap intervals, from the same resamples, fixed seed.

    The percentile interval where BCa has no ends, and beyond 4,000 texts, whose jackknife would take their square of
    memory and change nothing. No interval of fewer than two texts.

    Args:
        statistic: how often each text counts, float64[B, n] → float64[S, B]; it may not depend on the sum of a row.
        width: numbers that the statistic holds for each row on the way, for the memory.
        left_out: the statistics without each text, float64[S, n], where they are known.
    Returns:
        S intervals around the statistics of all texts, each once.
    Source: glossary, Intervals; Efron (1987).
    """
    at = np.asarray(statistic(np.ones((1, n))))[:, 0]
    if n < 2:
        return tuple(Interval(float(value), np.nan, np.nan) for value in at)
    rng, batch = np.random.default_rng(seed), max(1, min(_BLOCK // n, 2_000_000 // width))
    sizes = [min(batch, resamples - start) for start in range(0, resamples, batch)]
    drawn = np.concatenate([np.asarray(statistic(_resampled(rng, n, size))) for size in sizes], axis=1)
    drawn.sort(axis=1)
    levels = np.tile([ALPHA / 2, 1 - ALPHA / 2], (len(at), 1))
    ends = _quantiles(drawn, levels)
    if n <= MOST_BCA:
        # BCa counts ties as half; by the last bit they would count as above or below, which depends on the unit.
        near = np.abs(drawn - at[:, None]) <= _TIE * np.ptp(ends, axis=1, keepdims=True)
        drawn = np.where(near, at[:, None], drawn)
        below = (np.sum(drawn < at[:, None], axis=1) + np.sum(drawn <= at[:, None], axis=1)) / (2 * resamples)
        each = _left_out(statistic, n, batch) if left_out is None else left_out
        found = _quantiles(drawn, _corrected(levels, below, each))
        ends = np.where(np.isfinite(found).all(axis=1, keepdims=True), found, ends)
    return tuple(Interval(float(value), float(low), float(high)) for value, (low, high) in zip(at, ends))


def _resampled(rng: np.random.Generator, n: int, size: int) -> np.ndarray:
    """How often each of n texts is drawn, float64[size, n]."""
    drawn = rng.integers(0, n, (size, n))
    drawn += np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _left_out(statistic: Callable[[np.ndarray], np.ndarray], n: int, batch: int) -> np.ndarray:
    """Statistics without each of n texts, float64[S, n]."""
    parts = [np.arange(start, min(start + batch, n)) for start in range(0, n, batch)]
    return np.concatenate([statistic((np.arange(n) != one[:, None]).astype(np.float64)) for one in parts], axis=1)


def _corrected(levels: np.ndarray, below: np.ndarray, left_out: np.ndarray) -> np.ndarray:
    """The levels of BCa in place of those of the percentile interval, float64[S, 2]; NaN where nearly all resamples are
    equal.

    Args:
        below: float64[S], share of resamples below each statistic, ties as half; left_out: of `_left_out`.
    Source: Efron (1987), as SciPy has it.
    """
    from scipy.special import ndtr, ndtri

    n = left_out.shape[1]
    apart = (n - 1) * (left_out.mean(axis=1, keepdims=True) - left_out)
    with np.errstate(all="ignore"):
        bias, skew = ndtri(below), (apart**3).sum(axis=1) / n**3 / (6 * ((apart**2).sum(axis=1) / n**2) ** 1.5)
        moved = bias[:, None] + ndtri(levels)
        return np.asarray(ndtr(bias[:, None] + moved / (1 - skew[:, None] * moved)))


def _quantiles(ordered: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Quantiles of ascending rows float64[S, B] by linear interpolation; levels: float64[S, L] in [0, 1] or NaN."""
    place = np.nan_to_num(levels) * (ordered.shape[1] - 1)
    low = np.floor(place).astype(np.int64)
    first, second = (np.take_along_axis(ordered, at, axis=1) for at in (low, np.minimum(low + 1, ordered.shape[1] - 1)))
    return np.where(np.isnan(levels), np.nan, first + (place - low) * (second - first))


def paired_interval(first: np.ndarray, second: np.ndarray) -> Interval:
    """How much more often the first of two answers to the same n texts is right, with a 95 % interval.

    The adjusted Wald interval for paired proportions, `d' ± 1.96·√((b' + c' − (b' − c')²)/(n + 2))` with
    `b' = (b + 1)/(n + 2)` and `c' = (c + 1)/(n + 2)`, where the first alone is right on b texts, the second alone on c.
    Unlike resampling it has width where the two answers are right on the same texts: so it may be by chance.

    Args:
        first, second: bool[n], whether each answer is right.
    Returns:
        Interval around the plain difference, within [−1, 1]; no interval of fewer than two texts.
    Raises:
        ValueError: not equally long, or no texts.
    Source: Bonett and Price (2012).
    """
    first, second = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    n = len(first)
    if first.shape != second.shape or first.ndim != 1 or n == 0:
        raise ValueError(f"answers are not equally long, or empty: {first.shape}, {second.shape}")
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    if n < 2:
        return Interval((b - c) / n, np.nan, np.nan)
    more, less = (b + 1) / (n + 2), (c + 1) / (n + 2)
    reach = Z * np.sqrt((more + less - (more - less) ** 2) / (n + 2))
    return Interval((b - c) / n, max(-1.0, more - less - reach), min(1.0, more - less + reach))


def share_interval(count: int, n: int) -> Interval:
    """A share of n texts with its exact 95 % interval (Clopper and Pearson 1934), in [0, 1].

    Raises:
        ValueError: not 0 ≤ count ≤ n with n at least 1.
    """
    if not 0 <= count <= n or n < 1:
        raise ValueError(f"no share: {count} of {n}")
    low, high = share_ends(np.array([count]), n)[:, 0]
    return Interval(count / n, float(low), float(high))


def share_ends(counts: np.ndarray, n: int) -> np.ndarray:
    """The ends of `share_interval` of K counts, int[K], of n texts: float64[2, K] in [0, 1], low ≤ high."""
    from scipy.special import betaincinv

    k = np.asarray(counts)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, ALPHA / 2), 0.0)
    return np.stack([low, np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - ALPHA / 2), 1.0)])


def more_often(counts: np.ndarray, n: int, others: np.ndarray, m: int) -> np.ndarray:
    """Which of K shares of n texts, counts int[K], are larger than those of m others for certain: one-sided exact tests
    of Fisher, Holm over K at 5 %: bool[K]. Source: Fisher (1922); Holm (1979).
    """
    from scipy.stats import hypergeom

    counts, others = np.asarray(counts), np.asarray(others)
    return holm(hypergeom.sf(counts - 1, n + m, counts + others, n))


def shares_difference(count: int, n: int, other_count: int, other_n: int) -> Interval:
    """How much larger a share of n texts is than that of m others, with a 95 % interval within [−1, 1].

    The adjusted Wald interval of independent proportions, `p' − q' ± 1.96·√(p'(1 − p')/(n + 2) + q'(1 − q')/(m + 2))`
    with `p' = (count + 1)/(n + 2)`. ValueError: not 0 ≤ count ≤ n with n at least 1. Source: Agresti and Caffo (2000).
    """
    for part, whole in ((count, n), (other_count, other_n)):
        if not 0 <= part <= whole or whole < 1:
            raise ValueError(f"a share is a count of at least one text, got {part} of {whole}")
    p, q = (count + 1) / (n + 2), (other_count + 1) / (other_n + 2)
    reach = Z * np.sqrt(p * (1 - p) / (n + 2) + q * (1 - q) / (other_n + 2))
    return Interval(count / n - other_count / other_n, max(-1.0, p - q - reach), min(1.0, p - q + reach))
