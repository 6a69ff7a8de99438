"""A game split into what each feature adds by itself and what each pair adds together, by the library shapiq.

The index is k-SII of order 2: its pairs are the Shapley interaction index, the mean over all contexts of what two add
together beyond what each adds, so that they do not change with the order; together with what is left to each feature
alone they add up to v(∅) − v(all). It is known in closed form from all 2^F sets and estimated by KernelSHAP-IQ from
some; faithful interactions would be a best fit of all sets instead, whose pairs take in what three or more do.
Source: Grabisch and Roubens (1999), Eq. 1, the index; Bordt and von Luxburg (2023), Theorem 2, k-SII (there n-Shapley
values); Muschalik et al. (2024), shapiq.
"""

from dataclasses import dataclass

import numpy as np

from core.mathematics.arrays import Value
from core.network.memory import IMPORTING

INDEX, ORDER = "k-SII", 2
# A regression of this many features has 2,081 unknowns; beyond, its sets cost more than anybody waits for.
MOST_SAMPLED = 64
_LEAST_SETS, _SETS_EACH = 2_048, 4
# Seconds that the library takes for a set and an unknown, and for a sampled set and two unknowns, on one core.
_CLOSED, _FITTED = 3.3e-7, 4e-10


@dataclass(frozen=True, eq=False)
class Split:
    """own: float64[F], what a feature adds by itself; pairs: float64[F, F], symmetric, what two add together, 0 on the
    diagonal. Both in units of v, above 0 raises v; their sum, each pair once, is v(∅) − v(all).
    """

    own: np.ndarray
    pairs: np.ndarray

    @property
    def total(self) -> float:
        """The sum of all, each pair once."""
        return float(self.own.sum() + np.triu(self.pairs, 1).sum())


def load_library() -> None:
    """Import what splits; it takes seconds, and the first who asks for the scores of a text can do it meanwhile."""
    with IMPORTING:
        import shapiq as _  # noqa: F401


def split_exactly(scores: np.ndarray) -> Split:
    """k-SII of order 2 from v of every set.

    The library's SHAP-IQ is asked for all 2^F sets, so that nothing is drawn: the sum of its Eq. 4, exact to rounding.
    Its ExactComputer says the same in one thirtieth of that speed at F = 16 (`tests/interactions/test_splitting.py`).

    Args:
        scores: v of every set, float64[2^F], F at least 1; the set S of masked features stands at Σ_{i∈S} 2^i.
    Source: Fumagalli et al. (2023), SHAP-IQ, Theorem 1.
    """
    F = len(scores).bit_length() - 1
    if F == 1:
        return Split(np.array([scores[0] - scores[1]]), np.zeros((1, 1)))
    with IMPORTING:
        from shapiq import SHAPIQ

    whole, places = len(scores) - 1, 1 << np.arange(F)
    library = SHAPIQ(F, max_order=ORDER, index=INDEX, random_state=0)
    return _split(library.approximate(len(scores), lambda present: scores[whole - present @ places]), F)


def split_by_sample(value: Value, F: int, sets: int | None = None, seed: int = 0) -> Split:
    """k-SII of order 2, estimated by KernelSHAP-IQ from sets that a seed draws.

    Args:
        value: v, bool[M, F] → float[M], True = masked; asked once for all sets, none and all of them among them.
        F: from 2 to MOST_SAMPLED; sets: at least 2; None: `sample_sets` of them.
    Source: Fumagalli et al. (2024), KernelSHAP-IQ, Alg. 1.
    """
    with IMPORTING:
        from shapiq import KernelSHAPIQ

    count = sample_sets(F) if sets is None else sets
    found = KernelSHAPIQ(F, max_order=ORDER, index=INDEX, random_state=seed).approximate(
        count, lambda present: np.asarray(value(~present.astype(bool)), dtype=np.float64)
    )
    return _split(found, F)


def sample_sets(F: int) -> int:
    """How many sets are drawn of F features: 2,048, or four for each unknown; never more than there are."""
    return min(1 << F, max(_LEAST_SETS, _SETS_EACH * _unknowns(F)))


def splitting_seconds(F: int, exact: bool) -> float:
    """About how long the library takes once every score is there."""
    return _CLOSED * _unknowns(F) * (1 << F) if exact else _FITTED * _unknowns(F) ** 2 * sample_sets(F)


def _unknowns(F: int) -> int:
    return 1 + F + F * (F - 1) // 2


def _split(found, F: int) -> Split:
    own, pairs = np.zeros(F), np.zeros((F, F))
    for places, value in found.interactions.items():
        if len(places) == 1:
            own[places[0]] = value
        elif len(places) == 2:
            pairs[places] = pairs[places[::-1]] = value
    return Split(own, pairs)
