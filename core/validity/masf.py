"""MaSF: is an input one that the network was trained for? A p-value from its hidden states."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.mathematics.statistics import fisher, simes_of_counts

COMBINATIONS = ("simes", "fisher")
SMALLEST, LARGEST, BETWEEN = 96, 96, 65
_AT_ONCE = 8_000_000  # values held at a time


@dataclass(frozen=True)
class Combine:
    """How p-values become one: over the dimensions of a layer, and over layers; "simes" or "fisher"."""

    dimensions: str = "simes"
    layers: str = "fisher"

    def __post_init__(self):
        for stage, how in (("dimensions", self.dimensions), ("layers", self.layers)):
            if how not in COMBINATIONS:
                raise ValueError(f"{stage} must be one of {COMBINATIONS}, not {how!r}")


@dataclass(frozen=True, eq=False)
class Ecdf:
    """Empirical distribution of D columns, all or some of V sorted values each.

    values: float[D, K], ascending; places: int64[K], which of the V sorted values these are (K = V: all);
    count: V.
    """

    values: np.ndarray
    places: np.ndarray
    count: int

    @classmethod
    def of(cls, observations: np.ndarray) -> "Ecdf":
        """Sort float[V, D]; ValueError without observations or with NaN."""
        observations = np.asarray(observations)
        observations = observations if observations.dtype.kind == "f" else observations.astype(np.float64)
        if observations.ndim != 2 or len(observations) == 0:
            raise ValueError(f"a reference must be float[V ≥ 1, D], got shape {observations.shape}")
        if np.isnan(observations).any():
            raise ValueError("the reference holds NaN; compute it in float32")
        return cls(
            np.sort(np.ascontiguousarray(observations.T), axis=1), np.arange(len(observations)), len(observations)
        )

    def compact(self) -> "Ecdf":
        """Keep the 96 smallest, the 96 largest and 65 values between, in half precision but for the extremes; itself
        where that is no less.

        The tails are where Simes looks. The extremes stay exact, since states of the embeddings repeat: what all
        texts share (a special token) is often a dimension's smallest value, and would otherwise fall outside.
        """
        if self.count <= SMALLEST + BETWEEN + LARGEST:
            return self
        inner = np.linspace(SMALLEST, self.count - LARGEST - 1, BETWEEN + 2)[1:-1].round().astype(np.int64)
        places = np.unique(np.concatenate([np.arange(SMALLEST), inner, np.arange(self.count - LARGEST, self.count)]))
        with np.errstate(over="ignore"):
            kept = self.values[:, places].astype(np.float16)
        return self.from_compact(kept, self.values[:, [0, -1]].astype(np.float32), places, self.count)

    @classmethod
    def from_compact(cls, kept: np.ndarray, extremes: np.ndarray, places: np.ndarray, count: int) -> "Ecdf":
        """Put float16[D, K] and the exact extremes float32[D, 2] together again."""
        values = np.clip(kept.astype(np.float32), extremes[:, :1], extremes[:, 1:])
        values[:, [0, -1]] = extremes
        return cls(np.ascontiguousarray(values), places, count)

    def below(self, z: np.ndarray) -> np.ndarray:
        """#{reference < z} in each column, by binary search; between places that are not kept interpolated, to the
        nearest whole number: equal counts then tie, as those of all values would.

        Args:
            z: float[M, D].
        Returns:
            int64 or float64[M, D], whole numbers in [0, V].
        """
        import torch

        queries = np.ascontiguousarray(np.asarray(z).T, dtype=self.values.dtype)
        if len(self.places) < self.count:
            return self._between(queries).T
        return torch.searchsorted(torch.from_numpy(self.values), torch.from_numpy(queries)).numpy().T

    def _between(self, exact: np.ndarray) -> np.ndarray:
        """Counts by some of the values, float[D, M] → float64[D, M]: exact at the extremes, elsewhere what is compared
        is rounded as they were.
        """
        import torch

        with np.errstate(over="ignore"):
            queries = exact.astype(np.float16).astype(np.float32)
        found = torch.searchsorted(self._inner, torch.from_numpy(queries)).numpy().clip(1, len(self.places) - 1)
        lowest = (self.places + 1)[found - 1].astype(np.float64)
        highest = self.places[found]
        unsure = np.nonzero(highest > lowest)
        low, high = (self.values[unsure[0], k].astype(np.float64) for k in (found[unsure] - 1, found[unsure]))
        share = np.clip((queries[unsure] - low) / np.maximum(high - low, 1e-30), 0, 1)
        lowest[unsure] += np.rint(share * (highest[unsure] - lowest[unsure]))
        return np.where(
            exact <= self.values[:, :1], 0.0, np.where(exact > self.values[:, -1:], float(self.count), lowest)
        )

    @cached_property
    def _inner(self):
        """The kept values with infinity at both ends, since the extremes are compared by themselves."""
        import torch

        inner = self.values.copy()
        inner[:, 0], inner[:, -1] = -np.inf, np.inf
        return torch.from_numpy(inner)


@dataclass(frozen=True, eq=False)
class PValues:
    """by_ratio: float64[M, R], right-sided against each ratio of the last level, small speaks against the input;
    layers: float64[M, L].

    A layer's value is 2·min(P, 1 − P), so that each is a p-value by itself; the total combines
    min(P, 1 − P), as the paper does.
    """

    by_ratio: np.ndarray
    layers: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """The p-values of a last level that knows no ratios, float64[M]; ValueError of one that does."""
        if self.by_ratio.shape[1] != 1:
            raise ValueError(f"choose one of {self.by_ratio.shape[1]} ratios")
        return self.by_ratio[:, 0]

    def at(self, ratios: np.ndarray) -> np.ndarray:
        """Each input's p at its own ratio, float64[M].

        Args:
            ratios: int[M], places in the last level's ratios; of no account where it knows only one.
        """
        return at_ratio(self.by_ratio, ratios)


def at_ratio(by_ratio: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Pick p-values float64[M, R] at each input's own place, int[M]; the only one where R = 1."""
    return by_ratio[np.arange(len(by_ratio)), ratios if by_ratio.shape[1] > 1 else 0]


@dataclass(frozen=True, eq=False)
class Masf:
    """A fitted test: the distributions of its three levels, and how they are read.

    first: of the states, D = L·H columns; second: of each layer's statistic, D = L; third: of the total
    statistic, D = R, one column for each ratio of masking, or 1. calibrated: the form (see `fit_literal`,
    `fit_calibrated`); tolerance: states that are no further apart count as equal.
    """

    first: Ecdf
    second: Ecdf
    third: Ecdf
    combine: Combine
    calibrated: bool
    tolerance: float = 0.0

    @property
    def L(self) -> int:
        return len(self.second.values)

    @property
    def H(self) -> int:
        return len(self.first.values) // self.L

    @property
    def R(self) -> int:
        return len(self.third.values)

    @property
    def n(self) -> int:
        """Observations of the last level, at each ratio."""
        return self.third.count

    @property
    def floor(self) -> float:
        """The smallest attainable p at any ratio: that of an input outside the reference in every dimension of every
        layer.

        With few dimensions and Fisher over them an input may come a little below it.
        """
        return float(self.p_values(np.full((1, self.L, self.H), -np.inf, dtype=np.float32)).by_ratio.min())

    def p_values(self, states: np.ndarray) -> PValues:
        """Test M observations.

        The test can only reject: a large p does not show that an input is in-distribution.

        Args:
            states: float[M, L, H], pooled hidden states; not changed.
        Returns:
            PValues; below 0.05 is out-of-distribution.
        Raises:
            ValueError: states of another shape, or NaN.
        Source: FMM Alg. 2.
        """
        return p_values({"alone": self}, states)["alone"]


def p_values(forms: dict[str, Masf], states: np.ndarray) -> dict[str, PValues]:
    """Test the same M observations under several forms, as `Masf.p_values`; a first level that they share is looked up
    once.
    """
    states, one = np.asarray(states), next(iter(forms.values()))
    if states.ndim != 3 or states.shape[1:] != (one.L, one.H):
        raise ValueError(f"states must be float[M, {one.L}, {one.H}], got shape {states.shape}")
    if np.isnan(states).any():
        raise ValueError("the hidden states hold NaN; compute in float32")
    statistics = {name: [np.empty((0, one.L))] for name in forms}
    for chunk in _chunks(states):
        looked_up = {}
        for name, form in forms.items():
            key = id(form.first), form.tolerance
            if key not in looked_up:
                looked_up[key] = form.first.below((chunk - form.tolerance).reshape(len(chunk), -1))
            statistics[name].append(
                _reduced(looked_up[key], form.first.count, chunk.shape, form.calibrated, form.combine.dimensions)
            )
    found = {}
    for name, form in forms.items():
        layers, n = np.concatenate(statistics[name]), form.n
        sides, size = _sides(form.second.below(layers), form.second.count, form.calibrated)
        totals = _total(sides, size, form.combine.layers)
        below = form.third.below(np.repeat(totals[:, None], form.R, axis=1))
        found[name] = PValues((1 + n - below) / (n + 1) if form.calibrated else (n - below) / n, 2 * sides / size)
    return found


def fit_literal(
    states: np.ndarray, combine: Combine = Combine(), compact: bool = False, tolerance: float = 0.0
) -> Masf:
    """Fit all levels on the same reference, as the paper does: P = #{ref < z}/V everywhere, p = 1 − P.

    Nearly every observation leaves the reference's range in some of many dimensions, so this form
    saturates: it rejects too often, and its `floor` can be high.

    Args:
        states: float[V, L, H].
        compact: keep the first level's tails and some values between only (`Ecdf.compact`), after the other levels
            were fitted with all of it: rounding would put more of the reference's own values at its edge, where P = 0.
        tolerance: states no further apart count as equal. The same input gives states that differ in the last digits
            from batch to batch, and states of the embeddings repeat; without a tolerance such a repetition
            counts as smaller or larger by chance.
    Raises:
        ValueError: no observation, another shape, or NaN.
    Source: FMM Alg. 2; MaSF.
    """
    fitted = _fit((states, states, states), combine, False, calibrated=False, tolerance=tolerance)
    return replace(fitted, first=fitted.first.compact()) if compact else fitted


def fit_calibrated(
    first: np.ndarray,
    second: np.ndarray,
    third: np.ndarray,
    combine: Combine = Combine(),
    compact: bool = False,
    tolerance: float = 0.0,
) -> Masf:
    """Fit each level on observations of its own, so that p is valid: of inputs like those of the last part at a ratio
    at most a share α has p ≤ α, on average over references.

    Departure from FMM: P = (#{ref < z} + ½)/(V + 1) at the first two levels, p = (1 + #{ref ≥ z})/(n + 1)
    at the last. Valid by exchangeability of the last part with what is tested, whatever the first two hold; so the
    last part has each text once (once at each ratio), since copies of a text are not exchangeable with another.

    Args:
        first, second: float[V, L, H], of different texts, several observations of a text allowed.
        third: float[n, L, H], or float[R, n, L, H], of n other texts at each of R ratios of masking.
        compact, tolerance: as in `fit_literal`; the last level is then calibrated with what the first became.
    Raises:
        ValueError: a part without observations, another shape, or NaN.
    Source: glossary, MaSF.
    """
    return _fit((first, second, third), combine, compact, calibrated=True, tolerance=tolerance)


def _fit(parts, combine: Combine, compact: bool, calibrated: bool, tolerance: float) -> Masf:
    first_part, second_part, last = (np.asarray(part) for part in parts)
    last = last[None] if last.ndim == 3 else last
    for part in (first_part, second_part, *(last if last.ndim == 4 else [last])):
        if part.ndim != 3 or len(part) == 0 or part.shape[1:] != first_part.shape[1:]:
            raise ValueError(
                f"parts of a reference must be float[V ≥ 1, L, H], got shapes {[np.shape(p) for p in parts]}"
            )
        if np.isnan(part).any():
            raise ValueError("the reference holds NaN; compute it in float32")
    first = Ecdf.of(first_part.reshape(len(first_part), -1))
    first = first.compact() if compact else first
    second = Ecdf.of(_statistics(first, second_part - tolerance, calibrated, combine.dimensions))
    totals = []
    for part in last:
        below = second.below(_statistics(first, part - tolerance, calibrated, combine.dimensions))
        totals.append(_total(*_sides(below, second.count, calibrated), combine.layers))
    return Masf(first, second, Ecdf.of(np.stack(totals, axis=1)), combine, calibrated, tolerance)


def _statistics(first: Ecdf, states: np.ndarray, calibrated: bool, how: str) -> np.ndarray:
    """Each layer's statistic, float64[M, L]."""
    return np.concatenate(
        [
            _reduced(first.below(chunk.reshape(len(chunk), -1)), first.count, chunk.shape, calibrated, how)
            for chunk in _chunks(states)
        ]
    )


def _chunks(states: np.ndarray) -> Iterator[np.ndarray]:
    """Some observations at a time, so that memory stays bounded."""
    M, L, H = states.shape
    step = max(1, _AT_ONCE // (L * H))
    return (states[i : i + step] for i in range(0, M, step))


def _reduced(below: np.ndarray, count: int, shape: tuple[int, ...], calibrated: bool, how: str) -> np.ndarray:
    """One statistic a layer, float64[M, L], from the counts of its dimensions, float[M, L·H]."""
    sides, size = _sides(below, count, calibrated)
    return _combined(sides.reshape(shape), size, how)


def _sides(below: np.ndarray, count: int, calibrated: bool) -> tuple[np.ndarray, int]:
    """min(P, 1 − P) as a count and what it is a share of, from how many of `count` reference values lie below."""
    sides = np.minimum(below, count - below)
    return (sides + 0.5, count + 1) if calibrated else (sides, count)


def _combined(sides: np.ndarray, size: int, how: str) -> np.ndarray:
    """Sides over the last axis as one statistic."""
    return simes_of_counts(sides, size) if how == "simes" else fisher(sides / size)


def _total(sides: np.ndarray, size: int, how: str) -> np.ndarray:
    """The total statistic, large against the input: a small Simes must become a large one."""
    found = _combined(sides, size, how)
    return -found if how == "simes" else found
