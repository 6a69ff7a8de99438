"""The largest and the smallest AOPC that an input allows, exact over all orders or by beam search, and the orders that reach them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from core.mathematics.aopc import order_aopc
from core.mathematics.search import Frontier, Value

EXACT, BEAM = "exact", "beam"
# Above it 2^F scores are too many for any machine that this runs on.
MOST_EXACT = 20
_AT_ONCE = 4096


class TooDear(ValueError):
    """Exact limits would cost more scores than allowed; the message holds the number."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of AOPC and the orders of the features that attain them.

    lower, upper: float, lower ≤ upper; lowest, highest: int64[F'], the feature masked first comes first; method:
    "exact" or "beam", whose limits lie within the exact ones; width: of the beam, None for exact; scores: distinct sets that were scored.
    """

    lower: float
    upper: float
    lowest: np.ndarray
    highest: np.ndarray
    method: str
    width: int | None
    scores: int

    @property
    def coincide(self) -> bool:
        """Whether every order scores the same, within 1e-12, so that NAOPC is undefined."""
        return self.upper - self.lower <= 1e-12


def exact_limits(value: Value, F: int, masked: np.ndarray | None = None, most: int = 1 << MOST_EXACT) -> Limits:
    """Limits over all F! orders from the lattice of subsets: 2^F scores.

    Args:
        value: v, bool[M, F] → float[M]; every set is asked once, up to 4,096 at a time.
        masked: bool[F], features masked from the start; they are in no order, and F counts the others.
        most: scores allowed.
    Raises:
        TooDear: 2^F is more than `most`.
        ValueError: nothing is left to mask, or a score is NaN.
    Source: DESIGN §1, Exact limits; NAOPC §3 enumerates the orders.
    """
    start, free = _free(F, masked)
    if len(free) > MOST_EXACT or 1 << len(free) > most:
        raise TooDear(f"Exact limits of {len(free)} features need {float(2**len(free)):,.0f} scores; {most:,} are allowed. Use beam limits.")
    scores = np.empty(1 << len(free))
    for begin in range(0, len(scores), _AT_ONCE):
        scores[begin:begin + _AT_ONCE] = value(_sets(np.arange(begin, min(begin + _AT_ONCE, len(scores))), start, free))
    lower, upper, lowest, highest = lattice_limits(scores)
    return Limits(lower, upper, free[lowest], free[highest], EXACT, None, len(scores))


def lattice_limits(scores: np.ndarray) -> tuple[float, float, np.ndarray, np.ndarray]:
    """The dynamic program alone: U(∅) = 0, U(S) = v(∅) − v(S) + max_{i∈S} U(S∖{i}), upper = U(all)/F; with min the lower.

    Args:
        scores: float[2^F], v of the set whose members are the bits of the index; not changed.
    Returns:
        lower, upper, and the orders int64[F] that reach them; ties go to the lower position, masked later.
    Raises:
        ValueError: not 2^F scores with F at least 1, or NaN.
    Source: DESIGN §1, Exact limits.
    """
    scores = np.asarray(scores, dtype=np.float64)
    F = len(scores).bit_length() - 1
    if scores.ndim != 1 or F < 1 or len(scores) != 1 << F:
        raise ValueError(f"a lattice has 2^F scores with F at least 1, got shape {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("a score is NaN, so limits are undefined; compute in float32")
    gains = scores[0] - scores
    best = {sign: _accumulated(gains, F, sign) for sign in (-1, 1)}
    lower, upper = (float(best[sign][-1]) / F for sign in (-1, 1))
    return lower, upper, _traced(best[-1], F, -1), _traced(best[1], F, 1)


def _accumulated(gains: np.ndarray, F: int, sign: int) -> np.ndarray:
    """U of every set, float64[2^F]: sets of one size after those of the size below."""
    pick, worst = (np.maximum, -np.inf) if sign > 0 else (np.minimum, np.inf)
    codes = np.arange(1 << F, dtype=np.int32)
    sizes = np.zeros(1 << F, dtype=np.uint8)
    for i in range(F):
        sizes += (codes >> i & 1).astype(np.uint8)
    codes = codes[np.argsort(sizes, kind="stable")]
    U = np.zeros(1 << F)
    end = 1
    for size in range(1, F + 1):
        begin, end = end, end + comb(F, size)
        group = codes[begin:end]
        reached = np.full(len(group), worst)
        for i in range(F):
            holds = np.flatnonzero(group >> i & 1)
            reached[holds] = pick(reached[holds], U[group[holds] ^ (1 << i)])
        U[group] = gains[group] + reached
    return U


def _traced(U: np.ndarray, F: int, sign: int) -> np.ndarray:
    """An order that reaches U(all), from the last feature back to the first."""
    code, order = len(U) - 1, np.empty(F, dtype=np.int64)
    for k in range(F - 1, -1, -1):
        members = [i for i in range(F) if code >> i & 1]
        order[k] = max(members, key=lambda i: (sign * U[code ^ (1 << i)], -i))
        code ^= 1 << int(order[k])
    return order


def beam_limits(value: Value, F: int, width: int, masked: np.ndarray | None = None) -> Limits:
    """Limits by two beam searches over sets that share their scores: all sets of one size are asked in one call.

    Both lie within the exact limits, and are exact from width = the largest C(F, k) on. `widened` takes other
    orders in: a measure's own order can beat a narrow beam.

    Args:
        value: v, bool[M, F] → float[M].
        width: B, at least 1.
        masked: bool[F], as in `exact_limits`.
    Raises:
        ValueError: nothing is left to mask, width < 1, or a score is NaN.
    Source: NAOPC §3, Alg. 1; departure: sets and not orders are kept, and both limits at once.
    """
    start, free = _free(F, masked)
    beams = [Frontier(start, width, sign) for sign in (-1.0, 1.0)]
    whole, scores = float(value(start[None])[0]), 1
    for _ in free:
        parts = [beam.children() for beam in beams]
        asked, back = _distinct(np.concatenate(parts))
        gains = (whole - np.asarray(value(asked), dtype=np.float64))
        if np.isnan(gains).any():
            raise ValueError("a score is NaN, so limits are undefined; compute in float32")
        scores += len(asked)
        for beam, places in zip(beams, np.split(back, [len(parts[0])])):
            beam.keep(gains[places])
    lowest, highest = beams
    return Limits(lowest.total / len(free), highest.total / len(free), lowest.order, highest.order, BEAM, width, scores)


def widened(limits: Limits, value: Value, F: int, orders: Iterable[np.ndarray], masked: np.ndarray | None = None) -> Limits:
    """Limits that no given order exceeds: an order that scores beyond a limit becomes that limit.

    Args:
        orders: int64[F'] each, orders of the features that are not masked from the start.
    Returns:
        The same method and width; exact limits do not move beyond rounding.
    """
    for order in orders:
        reached = order_aopc(value, order, F, masked)
        if reached > limits.upper:
            limits = replace(limits, upper=reached, highest=np.array(order))
        if reached < limits.lower:
            limits = replace(limits, lower=reached, lowest=np.array(order))
    return limits


@dataclass(frozen=True, eq=False)
class BeamStudy:
    """Beam limits at widths 1, 2, 4 …: tried: the Limits of each; recommended: the narrowest whose limits moved less than the
    threshold at the next two doublings, or the widest that was tried; settled: whether it was found before the end."""

    tried: tuple[Limits, ...]
    recommended: int
    settled: bool


def beam_study(value: Value, F: int, threshold: float = 1e-3, widest: int = 1024, masked: np.ndarray | None = None) -> BeamStudy:
    """Double the beam's width until both limits move less than a threshold twice in a row.

    Args:
        threshold: in units of the score; widest: the last width that is tried.
    Raises:
        ValueError: as `beam_limits`.
    Source: NAOPC §3.
    """
    tried, still, width = [], 0, 1
    while width <= widest and still < 2:
        tried.append(beam_limits(value, F, width, masked))
        if len(tried) > 1:
            moved = max(abs(tried[-1].lower - tried[-2].lower), abs(tried[-1].upper - tried[-2].upper))
            still = still + 1 if moved < threshold else 0
        width *= 2
    settled = still == 2
    return BeamStudy(tuple(tried), tried[-3 if settled else -1].width, settled)


def _free(F: int, masked: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    start = np.zeros(F, dtype=bool) if masked is None else np.array(masked, dtype=bool)
    free = np.flatnonzero(~start)
    if len(free) == 0:
        raise ValueError("there are no features left to mask, so there are no orders to compare")
    return start, free


def _sets(codes: np.ndarray, start: np.ndarray, free: np.ndarray) -> np.ndarray:
    """bool[M, F] of sets of free features, whose members are the bits of their codes."""
    masks = np.tile(start, (len(codes), 1))
    masks[:, free] = codes[:, None] >> np.arange(len(free)) & 1
    return masks


def _distinct(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each set once, in the order of its first place, and where each row went."""
    _, first, back = np.unique(np.packbits(masks, axis=1), axis=0, return_index=True, return_inverse=True)
    return masks[first], back.reshape(-1)
