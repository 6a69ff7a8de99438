"""Order features by an attribution, compare two orders, and test which of several things beat which."""

from dataclasses import dataclass

import numpy as np

from core.mathematics.statistics import ALPHA, holm, holm_adjusted, signed_rank_p

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


@dataclass(frozen=True, eq=False)
class Beaten:
    """Which of K things another one beats, by paired tests over all pairs: p float64[K, K], Holm-adjusted, 1 on the
    diagonal; by bool[K, K], whether the first beats the second; n int64[K, K], texts that have both.
    """

    p: np.ndarray
    by: np.ndarray
    n: np.ndarray

    @property
    def unbeaten(self) -> np.ndarray:
        """bool[K], those that no other beats; which says of none that it is the best."""
        return np.asarray(~self.by.any(axis=0))


def compare_pairs(values: np.ndarray, spent: float = 1.0) -> Beaten:
    """Test each two of K things on the same N texts, by `signed_rank_p` and Holm over all pairs.

    One is ahead where the signed ranks of the differences add up to more than 0; a thing without a value is ahead of
    none.

    Args:
        values: float64[N, K], higher is better, NaN without a value; spent: of the 5 % what this look may spend.
    Source: Holm (1979); Demšar (2006) for classifiers over data sets.
    """
    from scipy import stats

    values = np.asarray(values, dtype=np.float64)
    K = values.shape[1]
    first, second = np.triu_indices(K, 1)
    d = values[:, first] - values[:, second]
    known = ~np.isnan(d)
    p, ahead = np.ones((K, K)), np.zeros((K, K))
    for pair, (i, j) in enumerate(zip(first, second)):
        p[i, j] = p[j, i] = signed_rank_p(d[:, pair])
        one = d[known[:, pair], pair]
        signs = np.where(np.abs(one) <= 1e-6, 0.0, np.sign(one))
        ahead[i, j] = (signs * stats.rankdata(np.where(signs == 0, 0.0, np.abs(one)))).sum() if len(one) else 0.0
        ahead[j, i] = -ahead[i, j]
    rejected = np.zeros((K, K), dtype=bool)
    if len(first):
        rejected[first, second] = rejected[second, first] = holm(p[first, second], alpha=spent * ALPHA)
        p[first, second] = p[second, first] = holm_adjusted(p[first, second])
    n = np.zeros((K, K), dtype=np.int64)
    n[first, second] = n[second, first] = known.sum(axis=0)
    return Beaten(p, rejected & (ahead > 0), n)
