"""Order features by an attribution, and compare two orders."""

import numpy as np

# Scores closer than this are level: hard metrics draw nothing, so no noise says which lead is one, and less than a
# hundredth of the prediction (of NS and NC: of what there is to keep or to lose) is none that anybody would act on.
LEVEL = 0.01
# A difference of LEVEL itself is one, whatever the last bit says.
_LAST_BIT = 1e-9


def ranking(scores: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """Order features from the most to the least important; ties keep their position.

    Sufficiency ranks `-scores` with this same function (NAOPC Eq. 3), which reverses the
    order only where no scores tie.

    Args:
        scores: float[F], higher is more important.
        masked: bool[F], features that are masked already; they come first, by position.
    Returns:
        int64[F], feature indices, the most important first.
    Raises:
        ValueError: a score is NaN, or the arrays are not one-dimensional and equally long.
    Source: FMM §3.4; NAOPC Eq. 1 and 3.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(f"scores must be one-dimensional, got shape {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError(
            f"scores of features {np.flatnonzero(np.isnan(scores)).tolist()} are NaN; a ranking needs numbers"
        )
    if masked is None:
        return np.argsort(-scores, kind="stable")
    masked = np.asarray(masked, dtype=bool)
    if masked.shape != scores.shape:
        raise ValueError(f"masked has shape {masked.shape}, scores have shape {scores.shape}")
    return np.lexsort((np.where(masked, 0.0, -scores), ~masked))


def ranks(scores: np.ndarray) -> np.ndarray:
    """Each feature's place in `ranking` of scores float[F], int64[F] in 1..F; 1 is the most important."""
    order = ranking(scores)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(1, len(order) + 1)
    return places


def kendall_tau(first: np.ndarray, second: np.ndarray) -> float:
    """Kendall's tau-b of two attributions, float[F] each, in [−1, 1]: 1 is the same order; NaN where one has none.

    Source: NAOPC Table 4 compares rankings by tau.
    """
    # Imported here: it takes longer than the first attribution.
    from scipy import stats

    first, second = np.asarray(first, float), np.asarray(second, float)
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(stats.kendalltau(first, second, variant="b")[0])


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's ρ of two attributions, float[F] each, in [−1, 1], ties at their mean rank; NaN where one has no order.

    Source: Spearman (1904).
    """
    from scipy import stats

    first, second = np.asarray(first, float), np.asarray(second, float)
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(stats.spearmanr(first, second).statistic)


def top_overlap(first: np.ndarray, second: np.ndarray, k: int) -> float:
    """Share of the k most important features that two attributions, float[F] each, have in common, in [0, 1] ↑.

    Two random orders share k/F on average; k above F means F. ValueError: k < 1 or F = 0.
    """
    if k < 1 or len(first) == 0:
        raise ValueError(f"k must be at least 1 and there must be features, got k = {k}, F = {len(first)}")
    k = min(k, len(first))
    return len(set(ranking(first)[:k].tolist()) & set(ranking(second)[:k].tolist())) / k


def pareto_front(costs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which of K none equals at no higher cost, bool[K]; costs ↓, values ↑: float[K], NaN is on no front."""
    costs, values = np.asarray(costs, dtype=np.float64), np.asarray(values, dtype=np.float64)
    no_worse = (costs[:, None] <= costs) & (values[:, None] >= values)
    better = (costs[:, None] < costs) | (values[:, None] > values)
    return ~(no_worse & better).any(axis=0) & ~np.isnan(costs) & ~np.isnan(values)


def are_level(apart: np.ndarray | float) -> np.ndarray:
    """Whether two scores lie closer than LEVEL, by their difference."""
    return np.abs(apart) < LEVEL - _LAST_BIT
