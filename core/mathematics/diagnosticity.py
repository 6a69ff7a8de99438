"""Diagnosticity: how often a metric prefers a measure to a baseline, and whether two metrics differ in that."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.mathematics.statistics import Interval, mean_interval, signed_rank_p

# Values closer than this are a tie: the same input, read in another batch, moves by about 1e-7 in float32.
TIE = 1e-6
STRICT, HALF = "strict", "half"
# What a metric that tells nothing reaches: never ahead, or ahead half of the time.
CHANCE = {STRICT: 0.0, HALF: 0.5}


@dataclass(frozen=True, eq=False)
class Pairs:
    """N examples' pairs, int64[N] each: preferred, tied, defined (how many there are), left_out (NaN on a side)."""

    preferred: np.ndarray
    tied: np.ndarray
    defined: np.ndarray
    left_out: np.ndarray

    @property
    def strict(self) -> np.ndarray:
        """Share in which the measure is preferred, float64[N]; a tie counts 0, as in the paper. NaN without a pair."""
        return _share(self.preferred, self.defined)

    @property
    def half(self) -> np.ndarray:
        """The same with a tie as one half, float64[N]: ½ is chance."""
        return _share(self.preferred + 0.5 * self.tied, self.defined)

    @property
    def ties(self) -> np.ndarray:
        """Share of ties, float64[N]."""
        return _share(self.tied, self.defined)

    def __add__(self, other: "Pairs") -> "Pairs":
        """The comparisons of both, on the same N examples."""
        return Pairs(
            self.preferred + other.preferred,
            self.tied + other.tied,
            self.defined + other.defined,
            self.left_out + other.left_out,
        )

    def by(self, rule: str) -> np.ndarray:
        """`strict` or `half`."""
        return self.strict if rule == STRICT else self.half


def compare(measured: np.ndarray, baseline: np.ndarray, direction: int, tie: float = TIE) -> Pairs:
    """Set a metric's values of measures against its values of a baseline's attributions, every one of an example
    against every other.

    A pair with NaN (the metric is undefined for that example) is left out and counted.

    Args:
        measured: float64[N] or float64[N, M], of M measures; baseline: float64[N, R].
        direction: 1 where higher is better, −1 where lower is.
        tie: values that differ by no more are a tie. Departure: the paper compares exactly, within one run.
    Returns:
        Pairs over N examples, M·R each.
    Raises:
        ValueError: another direction, or other shapes.
    Source: SoftFaith Eq. 6.
    """
    measured, baseline = np.asarray(measured, dtype=np.float64), np.asarray(baseline, dtype=np.float64)
    measured = measured[:, None] if measured.ndim == 1 else measured
    if direction not in (1, -1):
        raise ValueError(f"a metric that prefers nothing has no diagnosticity; its direction is {direction}")
    if measured.ndim != 2 or baseline.ndim != 2 or len(measured) != len(baseline):
        raise ValueError(f"expected float[N, M] and float[N, R], got shapes {measured.shape} and {baseline.shape}")
    ahead = direction * (measured[:, :, None] - baseline[:, None, :])
    defined = ~np.isnan(ahead)
    tied = np.abs(ahead) <= tie
    return Pairs(*(part.sum(axis=(1, 2)) for part in ((ahead > tie), tied, defined, ~defined)))


@dataclass(frozen=True)
class Diagnosticity:
    """Diagnosticity over a data set ↑: its mean over the examples with a 95 % interval, by both rules; ties: share of
    ties; n: examples with any pair; undefined: pairs that are left out; pairs: all of them."""

    strict: Interval
    half: Interval
    ties: float
    n: int
    undefined: int
    pairs: int

    def by(self, rule: str) -> Interval:
        """`strict` or `half`."""
        return self.strict if rule == STRICT else self.half


def diagnosticity(pairs: Pairs, resamples: int = 9_999) -> Diagnosticity:
    """A data set’s diagnosticity, the mean over examples, with BCa intervals. Source: SoftFaith Eq. 6."""
    strict = mean_interval(pairs.strict, resamples)
    half = mean_interval(pairs.half, resamples) if pairs.tied.any() else strict
    told = pairs.defined > 0
    ties = float(pairs.ties[told].mean()) if told.any() else np.nan
    return Diagnosticity(
        strict, half, ties, int(told.sum()), int(pairs.left_out.sum()), int((pairs.defined + pairs.left_out).sum())
    )


class Untested(StrEnum):
    """Why two metrics are not tested."""

    FEW = "Fewer than two examples cannot be tested."
    LEVEL = "Both have the same values."
    SAME = "No example differs between the two."


@dataclass(frozen=True)
class Compared:
    """Two metrics on n examples that have both: their means, p of both tests (NaN: `reason` says why)."""

    n: int
    first: float
    second: float
    rank_sum: float
    paired: float
    reason: str = ""

    @property
    def difference(self) -> float:
        return self.second - self.first


def compare_metrics(first: np.ndarray, second: np.ndarray) -> Compared:
    """Test whether two metrics differ in diagnosticity, on the examples that have both.

    rank_sum: Wilcoxon's rank-sum test, as the paper does; it takes the examples of the two as independent, which they
    are not, and its normal approximation knows no ties. paired: `signed_rank_p` of the differences.

    Args:
        first, second: float64[N], diagnosticity of each example; NaN where a metric is undefined.
    Returns:
        Compared; two-sided p.
    Raises:
        ValueError: of other lengths.
    Source: SoftFaith §5; Wilcoxon (1945); Pratt (1959).
    """
    from scipy import stats

    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"expected float[N] twice, got shapes {first.shape} and {second.shape}")
    both = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[both], second[both]
    n = len(first)
    if n < 2:
        means = (float(first[0]), float(second[0])) if n else (np.nan, np.nan)
        return Compared(n, *means, np.nan, np.nan, Untested.FEW)
    means = float(first.mean()), float(second.mean())
    if np.ptp(np.concatenate([first, second])) == 0:
        return Compared(n, *means, np.nan, np.nan, Untested.LEVEL)
    rank_sum = float(stats.ranksums(first, second)[1])
    if (first == second).all():
        return Compared(n, *means, rank_sum, np.nan, Untested.SAME)
    return Compared(n, *means, rank_sum, signed_rank_p(second - first))


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
