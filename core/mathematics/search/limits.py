"""The largest and the smallest AOPC that an input allows, exact or by beam search, and their orders."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from core.mathematics.aopc import order_aopc
from core.mathematics.arrays import Order, Value


class Frontier:
    """The best sets of one size, each once, with the best sum Σ_k sign·(v(∅) − v(first k)) that reaches it.

    A set is kept once, so that the beam holds different sets and not different orders of one. Ties go to the better
    parent, then to the lower position.

    Args:
        start: bool[F], features masked from the start; they are in no order.
        width: B, how many sets are kept; at least 1.
        sign: 1 looks for the largest sum, −1 for the smallest.
    Raises:
        ValueError: width < 1.
    Source: FMM App. E; over sets as in NAOPC §3.
    """

    def __init__(self, start: np.ndarray, width: int, sign: float = 1.0):
        if width < 1:
            raise ValueError(f"the beam's width must be at least 1, got {width}")
        self.width, self.sign = width, sign
        self.sets, self.sums = np.array(start, dtype=bool)[None], np.zeros(1)
        self.orders = np.empty((1, 0), dtype=np.int64)

    def children(self) -> np.ndarray:
        """All sets with one feature more than those kept, each once, bool[K, F]; their values go to `keep`."""
        parents, added = np.nonzero(~self.sets)
        children = self.sets[parents]
        children[np.arange(len(parents)), added] = True
        _, first, same = np.unique(np.packbits(children, axis=1), axis=0, return_index=True, return_inverse=True)
        self._grown = parents, added, children, same.reshape(-1)
        return children[first]

    def keep(self, gains: np.ndarray) -> None:
        """Keep the best of the children by v(∅) − v, float[K]."""
        parents, added, children, same = self._grown
        totals = self.sums[parents] + self.sign * np.asarray(gains, dtype=np.float64)[same]
        best = np.argsort(-totals, kind="stable")
        # The first time a set appears in this order it comes with its best sum.
        kept = best[np.sort(np.unique(same[best], return_index=True)[1])][: self.width]
        self.sets, self.sums = children[kept], totals[kept]
        self.orders = np.column_stack([self.orders[parents[kept]], added[kept]])

    @property
    def order(self) -> np.ndarray:
        """The best order so far, int64: the feature masked first comes first."""
        return self.orders[0]

    @property
    def total(self) -> float:
        """Its sum of v(∅) − v."""
        return float(self.sign * self.sums[0])


EXACT, BEAM, INSERTION = "exact", "beam", "insertion"
# Above it 2^F scores are too many for any machine that this runs on.
MOST_EXACT = 20
# Limits closer than this, in units of the score, leave so little between them that NAOPC magnifies trifles.
NARROW = 0.05
_AT_ONCE = 512

# A search that can be watched: yields how many sets it has asked for so far, and returns the limits.
Search = Generator[int, None, "Limits"]


class TooDear(ValueError):
    """Exact limits would cost more scores than allowed; the message holds the number."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of AOPC and the orders of the features that attain them.

    lower, upper: float, lower ≤ upper; lowest, highest: int64[F'], the feature masked first comes first; method:
    "exact", or "beam" or "insertion", whose limits lie within the exact ones; width: of the beam, or of those that an
    insertion search starts from, None for exact; scores: distinct sets that were scored.
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

    @property
    def narrow(self) -> bool:
        """Whether every order scores nearly the same, within 0.05, so that NAOPC says more than the input does."""
        return self.upper - self.lower < NARROW


def exact_search(value: Value, F: int, masked: np.ndarray | None = None, most: int = 1 << MOST_EXACT) -> Search:
    """Search the exact limits, 512 sets at a time.

    Args:
        value: v, bool[M, F] → float[M]; every set is asked once.
        masked: bool[F], features masked from the start; they are in no order, and F counts the others.
        most: scores allowed.
    Raises:
        TooDear: 2^F is more than `most`; before anything is asked.
        ValueError: nothing is left to mask, or a score is NaN.
    Source: glossary, Exact limits; NAOPC §3 enumerates the orders.
    """
    start, free = free_features(F, masked)
    if len(free) > MOST_EXACT or 1 << len(free) > most:
        needed = f"{1 << len(free):,}" if len(free) <= 40 else f"2^{len(free)}"
        raise TooDear(f"Exact limits of {len(free)} features need {needed} scores; {most:,} are allowed. Use a search.")
    scores = yield from score_every_set(value, start)
    lower, upper, lowest, highest = lattice_limits(scores)
    return Limits(lower, upper, free[lowest], free[highest], EXACT, None, len(scores))


def score_every_set(value: Value, start: np.ndarray) -> Generator[int, None, np.ndarray]:
    """v of every set of the features that are not masked from the start, 512 at a time; yields how many are there.

    Args:
        value: v, bool[M, F] → float[M]; every set is asked once, on top of start, bool[F].
    Returns:
        float64[2^F']; the set S of masked features stands at Σ_{i∈S} 2^i.
    """
    free = np.flatnonzero(~start)
    scores = np.empty(1 << len(free))
    for begin in range(0, len(scores), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(scores))
        masks = np.tile(start, (end - begin, 1))
        masks[:, free] = np.arange(begin, end)[:, None] >> np.arange(len(free)) & 1
        scores[begin:end] = value(masks)
        yield end
    return scores


def lattice_limits(scores: np.ndarray) -> tuple[float, float, np.ndarray, np.ndarray]:
    """The dynamic program alone: U(∅) = 0, U(S) = v(∅) − v(S) + max_{i∈S} U(S∖{i}), upper = U(all)/F; with min the
    lower.

    Args:
        scores: float[2^F], v of the set whose members are the bits of the index; not changed.
    Returns:
        lower, upper, and the orders int64[F] that reach them; ties go to the lower position, masked later.
    Raises:
        ValueError: not 2^F scores with F at least 1, or NaN.
    Source: glossary, Exact limits.
    """
    scores = np.asarray(scores, dtype=np.float64)
    F = len(scores).bit_length() - 1
    if scores.ndim != 1 or F < 1 or len(scores) != 1 << F:
        raise ValueError(f"a lattice has 2^F scores with F at least 1, got shape {scores.shape}")
    _refuse_nan(scores)
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


def beam_search(
    value: Value, F: int, width: int, masked: np.ndarray | None = None, rescore: Value | None = None
) -> Search:
    """Search limits with two beams over sets: all sets of one size, for both limits, are asked in one call.

    Both limits lie within the exact ones, and are exact from width = the largest C(F, k) on. `widened` takes other
    orders in: a measure's own order can beat a narrow beam.

    Args:
        value: v, bool[M, F] → float[M].
        width: B, at least 1.
        masked: bool[F], as in `exact_search`.
        rescore: v more precisely: the orders that the beams find are scored by it, so that they attain the limits
            there; `value` itself without.
    Raises:
        ValueError: nothing is left to mask, width < 1, or a score is NaN.
    Source: NAOPC §3, Alg. 1; departure: sets and not orders are kept, and both limits at once.
    """
    start, free = free_features(F, masked)
    beams = [Frontier(start, width, sign) for sign in (-1.0, 1.0)]
    whole, scores = float(value(start[None])[0]), 1
    for _ in free:
        parts = [beam.children() for beam in beams]
        children = np.concatenate(parts)
        _, first, back = np.unique(np.packbits(children, axis=1), axis=0, return_index=True, return_inverse=True)
        gains = whole - np.asarray(value(children[first]), dtype=np.float64)
        _refuse_nan(gains)
        scores += len(first)
        for beam, places in zip(beams, np.split(back.reshape(-1), [len(parts[0])])):
            beam.keep(gains[places])
        yield scores
    found = [(beam.order, beam.total / len(free)) for beam in beams]
    return as_limits(found, BEAM, width, scores, rescore, F, masked)


def as_limits(
    found: Sequence[tuple[Order, float]],
    method: str,
    width: int,
    scores: int,
    rescore: Value | None,
    F: int,
    masked: np.ndarray | None,
) -> Limits:
    """The limits that two orders attain, scored by `rescore` where there is one. ValueError: a score is NaN."""
    if rescore is not None:
        found = [(order, order_aopc(rescore, order, F, masked)) for order, _ in found]
        _refuse_nan([score for _, score in found])
    # Scored anew, two orders that hardly differ may change places.
    (lowest, lower), (highest, upper) = sorted(found, key=lambda one: one[1])
    return Limits(lower, upper, lowest, highest, method, width, scores)


def most_sets(F: int, width: int, beams: int = 2) -> int:
    """Most sets that one or two beams ask for over F features: at most B·(F − k) children of size k + 1."""
    return 1 + sum(min(comb(F, k + 1), beams * min(width, comb(F, k)) * (F - k)) for k in range(F))


def widened(limits: Limits, scored: Iterable[tuple[np.ndarray, float]]) -> Limits:
    """Limits that no scored order exceeds: (int64[F'], AOPC under the same v) beyond one becomes the limit."""
    for order, reached in scored:
        if reached > limits.upper:
            limits = replace(limits, upper=reached, highest=np.array(order))
        if reached < limits.lower:
            limits = replace(limits, lower=reached, lowest=np.array(order))
    return limits


def free_features(F: int, masked: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """What is masked from the start, bool[F], and the other features, int64[F']; ValueError where there is none."""
    start = np.zeros(F, dtype=bool) if masked is None else np.array(masked, dtype=bool)
    free = np.flatnonzero(~start)
    if len(free) == 0:
        raise ValueError("no features are left to mask")
    return start, free


def _refuse_nan(scores) -> None:
    if np.isnan(scores).any():
        raise ValueError("a score is NaN, so limits are undefined; compute in float32")
