"""How far a set of embeddings has moved from another: its centre, and its spread around it."""

import numpy as np


def centroid_change(states: np.ndarray, start: np.ndarray) -> float:
    """1 − cosine of the two sets' centroids, as ½‖u − v‖² of their unit vectors; a centroid is the mean over the
    examples.

    Exactly 0 for the same set, which 1 − u·v need not be. Not a distance between single examples: those may all move
    while their mean stays. The paper prints a change without saying how; a cosine of 1 is "no change" here.

    Args:
        states: float[N, H], embeddings of N examples; start: float[M, H], of the unmasked ones.
    Returns:
        float in [0, 2], 0 where the centroids point the same way; higher is farther. NaN where a centroid is zero.
    Raises:
        ValueError: a set without examples, or sets of different widths.
    Source: RobustInf §5, Table 2.
    """
    states, start = _sets(states, start)
    u, v = states.mean(axis=0), start.mean(axis=0)
    lengths = np.linalg.norm(u), np.linalg.norm(v)
    if min(lengths) == 0:
        return float("nan")
    # Rounding may leave a hair above the largest distance of unit vectors.
    return float(min(0.5 * np.sum((u / lengths[0] - v / lengths[1]) ** 2), 2.0))


def spread_change(states: np.ndarray, start: np.ndarray) -> tuple[float, float]:
    """σ − σ₀ and (σ − σ₀)/σ₀ with σ the mean over the dimensions of the standard deviation over the examples (ddof 0).

    The paper does not say which of the two it prints. Exactly 0 for the same set, −0.1 as a share is a spread one tenth
    smaller, and NaN where σ₀ = 0. Says nothing of one example.

    states: float[N, H]; start: float[M, H], of the unmasked ones; ValueError as `centroid_change`. Source: RobustInf
    §5, Table 2.
    """
    states, start = _sets(states, start)
    sigma, first = (float(one.std(axis=0).mean()) for one in (states, start))
    return (sigma - first, (sigma - first) / first) if first > 0 else (float("nan"), float("nan"))


def _sets(states: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    states, start = np.asarray(states, dtype=np.float64), np.asarray(start, dtype=np.float64)
    if states.ndim != 2 or start.ndim != 2 or not len(states) or not len(start) or states.shape[1] != start.shape[1]:
        raise ValueError(
            f"drift compares two sets of embeddings float[N, H] of the same width, at least one each; got shapes "
            f"{states.shape} and {start.shape}"
        )
    return states, start
