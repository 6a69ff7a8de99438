"""Kendall's τ-b of rankings: AOPC against NAOPC, model against model, measure against measure (NAOPC Table 4)."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from core.sweeps.naopc import NORMALISED, ask_limits
from core.sweeps.registry import Line, SweepTable, register


def correlation_lines(lines: Sequence[Line]) -> list[Line]:
    """A line for each two rankings over a data set: τ of `ranked` ("measures" or "models") by `first` and `second`,
    under `by`; n: how many both rank.
    """
    sets = dict.fromkeys(line["data"] for line in lines)
    return [{"data": data} | one for data in sets for one in _compared([one for one in lines if one["data"] == data])]


def kendall(first: np.ndarray, second: np.ndarray) -> tuple[float, int]:
    """Kendall's τ-b of float[K] and float[K] over the K' that both have, and K'; NaN of fewer than two, or where one
    ranks none above another. Source: Kendall (1945).
    """
    from scipy.stats import kendalltau

    both = np.array([first, second], dtype=np.float64)
    both = both[:, ~np.isnan(both).any(axis=0)]
    if both.shape[1] < 2 or (both == both[:, :1]).all(axis=1).any():
        return float("nan"), both.shape[1]
    return float(kendalltau(*both, variant="b").statistic), both.shape[1]


def _compared(lines: Sequence[Line]) -> Iterator[Line]:
    models, measures, figures = (
        list(dict.fromkeys(one[name] for one in lines)) for name in ("model", "measure", "figure")
    )
    means = np.full((len(models), len(measures), len(figures)), np.nan)
    for one in lines:
        place = models.index(one["model"]), measures.index(one["measure"]), figures.index(one["figure"])
        means[place] = np.nan if one["mean"] is None else one["direction"] * one["mean"]
    # Of one model alone there is nothing to rank.
    several = measures if len(models) > 1 else []
    for pair in NORMALISED.items():
        plain, normal = (means[:, :, figures.index(figure)] for figure in pair)
        for i, model in enumerate(models):
            yield _line("measures", model, pair, plain[i], normal[i])
        for k, measure in enumerate(several):
            yield _line("models", measure, pair, plain[:, k], normal[:, k])
    for f, figure in enumerate(figures):
        for i, j in combinations(range(len(models)), 2):
            yield _line("measures", figure, (models[i], models[j]), means[i, :, f], means[j, :, f])
        for i, j in combinations(range(len(several)), 2):
            yield _line("models", figure, (measures[i], measures[j]), means[:, i, f], means[:, j, f])


def _line(ranked: str, by: str, pair: tuple[str, str], first: np.ndarray, second: np.ndarray) -> Line:
    tau, n = kendall(first, second)
    about = {"ranked": ranked, "by": by, "first": pair[0], "second": pair[1]}
    return about | {"tau": None if np.isnan(tau) else tau, "n": n}


register(
    SweepTable(
        "rank_correlations",
        "NAOPC Table 4",
        ask_limits,
        correlation_lines,
        ("data", "ranked", "by", "first", "second"),
        {"tau": "τ-b", "n": "n"},
        over=("aopc", "naopc"),
    )
)
