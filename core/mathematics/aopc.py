"""AOPC: how fast the score falls when features are masked in an order, and that score between its limits."""

import numpy as np

from core.mathematics.arrays import Value
from core.mathematics.ranking import ranking


def prefix_masks(order: np.ndarray, F: int, start: np.ndarray | None = None) -> np.ndarray:
    """Masks of an order's prefixes, the empty one first, on top of `start`, bool[F] → bool[len(order) + 1, F]."""
    masks = np.zeros((len(order) + 1, F), dtype=bool)
    if start is not None:
        masks[:] = start
    for k, feature in enumerate(order):
        masks[k + 1 :, feature] = True
    return masks


def aopc(values: np.ndarray) -> float:
    """Mean fall of the score along an order, 1/F · Σ_{i=1..F} v(∅) − v(r_1..r_i).

    values: float[F + 1], v of the prefixes, the empty one first. Comprehensiveness ↑, sufficiency ↓; NaN where a value
    is. ValueError: no feature is masked, or not one-dimensional. Source: NAOPC Eq. 1.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(
            f"AOPC needs the score of the unmasked input and of at least one prefix, got shape {values.shape}"
        )
    return float(np.mean(values[0] - values[1:]))


def order_aopc(value: Value, order: np.ndarray, F: int, start: np.ndarray | None = None) -> float:
    """AOPC of an order under a model, `aopc` of its prefixes; one call of `value`."""
    return aopc(value(prefix_masks(order, F, start)))


def comprehensiveness_order(scores: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """Features that are not masked yet, the most important first, int64[F']; ties by position."""
    return _free(ranking(scores, masked), masked)


def sufficiency_order(scores: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """Features that are not masked yet, the least important first: the ranking of −scores, int64[F'].

    The reverse of `comprehensiveness_order` only where no scores tie, since ties go by position in both.
    Source: NAOPC Eq. 3.
    """
    return _free(ranking(-np.asarray(scores, dtype=np.float64), masked), masked)


def naopc(score: float, lower: float, upper: float) -> float:
    """AOPC between its limits, (AOPC − lower)/(upper − lower); the paper's Eq. 8 prints its arrows swapped.

    Departure: NaN where the limits coincide within 1e-12, where the published code gives 0: an input on which
    every order scores the same says nothing about an order.

    Args:
        score: an AOPC; lower, upper: limits of the same input and model.
    Returns:
        float in [0, 1] where the limits are exact; beyond them by rounding at most. Direction as the AOPC's own.
    Source: NAOPC Eq. 8.
    """
    return (score - lower) / (upper - lower) if upper - lower > 1e-12 else float("nan")


def _free(order: np.ndarray, masked: np.ndarray | None) -> np.ndarray:
    return order if masked is None else order[~np.asarray(masked, dtype=bool)[order]]
