"""Curves of performance against the share masked: the area between a measure and random order."""

import numpy as np


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
    return float(np.trapezoid(baseline - performance, x))


def racu(x: np.ndarray, performance: np.ndarray, baseline: np.ndarray) -> float:
    """`acu` relative to that of a measure which reaches the fully masked performance at once.

    The denominator is the same sum with b_i − b_I, b_I the baseline with everything masked. For a signed
    measure this is no 0–100 % scale: masking can push the score below b_I, and then it exceeds 1.

    Returns:
        float; higher is more faithful, 0 is random; NaN where the denominator is below 1e-6.
    Raises:
        ValueError: as `acu`.
    Source: FMM Eq. 3.
    """
    found = acu(x, performance, baseline)
    whole = acu(x, np.full(len(baseline), float(np.asarray(baseline)[-1])), baseline)
    return found / whole if whole >= 1e-6 else float("nan")


def spread(curves: np.ndarray, share: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of R random curves, and the band that the middle `share` of them fills at each point.

    The band is where a random order falls, not how well their mean is known.

    Args:
        curves: float[R, K].
    Returns:
        mean, lower, upper: float64[K] each.
    Raises:
        ValueError: no curve.
    """
    curves = np.asarray(curves, dtype=np.float64)
    if curves.ndim != 2 or len(curves) == 0:
        raise ValueError(f"curves must be float[R, K] with R at least 1, got shape {curves.shape}")
    lower, upper = np.quantile(curves, [(1 - share) / 2, (1 + share) / 2], axis=0)
    return curves.mean(axis=0), lower, upper
