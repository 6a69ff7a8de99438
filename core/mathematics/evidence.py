"""How well a ranking finds known evidence: plausibility, which says nothing of what the model uses."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.mathematics.ranking import ranking


def evidence_mask(starts: ArrayLike, ends: ArrayLike, spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """Which features, of characters [start, end), share a character with a span (start, end) of evidence: bool[F].

    Spans may overlap, and may lie beyond the text. ValueError: starts and ends, int[F], are not equally long.
    """
    starts, ends = np.asarray(starts, dtype=np.int64), np.asarray(ends, dtype=np.int64)
    if starts.shape != ends.shape or starts.ndim != 1:
        raise ValueError(f"features need as many ends as starts, got shapes {starts.shape} and {ends.shape}")
    found = np.zeros(len(starts), dtype=bool)
    for start, end in spans:
        # A span of a file may be larger than any machine integer.
        found |= np.minimum(ends, min(end, 1 << 60)) > np.maximum(starts, min(max(start, 0), 1 << 60))
    return found


def average_precision(scores: np.ndarray, evidence: np.ndarray, masked: np.ndarray | None = None) -> float:
    """Average precision, 1/m · Σ_{e ∈ evidence} (evidence among the first r_e)/r_e, with r_e the rank of e.

    Ties keep their position, as in every ranking here (departure from scikit-learn, which gives tied scores one
    threshold).
    NaN without evidence. Constant scores rank by position alone, so their value says nothing.

    Args:
        scores: float[F], higher is more important.
        evidence: bool[F].
        masked: bool[F], features that are masked already; they count neither as evidence nor as ranked.
    Returns:
        float in (0, 1]; higher is better; 1 is all evidence before everything else.
    Raises:
        ValueError: a score is NaN, or the arrays are not one-dimensional and equally long.
    Source: the usual one of information retrieval; ERASER (DeYoung et al. 2020, arXiv 1911.03429) scores soft
    rationales by the area under the same curve.
    """
    ranked = _ranked(scores, evidence, masked)
    hits = np.flatnonzero(ranked) + 1
    return float(np.mean(np.arange(1, len(hits) + 1) / hits)) if len(hits) else float("nan")


def recall_at(
    scores: np.ndarray, evidence: np.ndarray, k: int | None = None, masked: np.ndarray | None = None
) -> float:
    """Recall of the top k, |evidence ∩ top k| / m, in [0, 1] ↑; with k = m its precision too. NaN without evidence.

    Args:
        scores: float[F], higher is more important; ties keep their position; evidence: bool[F].
        k: at least 1, more than there are means all; None takes as many as there is evidence.
        masked: bool[F], features that are masked already; they count neither as evidence nor as ranked.
    Raises:
        ValueError: k < 1, a score is NaN, or the arrays are not one-dimensional and equally long.
    """
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    ranked = _ranked(scores, evidence, masked)
    m = int(ranked.sum())
    return float(ranked[: m if k is None else k].sum() / m) if m else float("nan")


def expected_average_precision(F: int, m: int) -> float:
    """Average precision of a random order on average, 1/F · Σ_{i=1..F} (1 + (i − 1)(m − 1)/(F − 1)) / i, in (0, 1].

    At rank i stands evidence with probability m/F, and then (i − 1)(m − 1)/(F − 1) of the others before it on average.
    F: features ranked; m: of them evidence, NaN for 0. ValueError: not 0 ≤ m ≤ F. Source: derived here.
    """
    _check(F, m)
    if m == 0:
        return float("nan")
    i = np.arange(1, F + 1)
    return float(np.mean((1 + (i - 1) * (m - 1) / max(1, F - 1)) / i))


def expected_recall(F: int, m: int, k: int | None = None) -> float:
    """Recall of the top k of a random order on average, min(k, F)/F in [0, 1]; k = m unless given, NaN for m = 0.

    F: features that are ranked; m: how many are evidence. ValueError: not 0 ≤ m ≤ F, or k < 1.
    """
    _check(F, m)
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    return min(m if k is None else k, F) / F if m else float("nan")


def _check(F: int, m: int) -> None:
    if not 0 <= m <= F:
        raise ValueError(f"of F = {F} features m = {m} cannot be evidence")


def _ranked(scores: np.ndarray, evidence: np.ndarray, masked: np.ndarray | None) -> np.ndarray:
    """Whether each rank holds evidence, bool[F'], the most important first."""
    scores, evidence = np.asarray(scores, dtype=np.float64), np.asarray(evidence, dtype=bool)
    free = np.ones(scores.shape, dtype=bool) if masked is None else ~np.asarray(masked, dtype=bool)
    if evidence.shape != scores.shape or free.shape != scores.shape:
        raise ValueError(
            f"scores have shape {scores.shape}, evidence {evidence.shape}, masked {free.shape}; all must be the same"
        )
    return evidence[free][ranking(scores[free])]
