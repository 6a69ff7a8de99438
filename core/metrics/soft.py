"""Soft erasure: every feature is kept as much as its attribution says, at random or by noise."""

from collections.abc import Callable
from typing import cast

import numpy as np

from core.mathematics.erasure import (
    ADDED,
    ATTENTION,
    BERNOULLI,
    MIN_MAX,
    MIXED,
    PERTURBATIONS,
    constant,
    normalised_comprehensiveness,
    normalised_sufficiency,
    retained,
)
from core.metrics.registry import HIGHER, LAST, NO_ROOM, Case, Metric, Score, register

IMPOSSIBLE = "This model’s attention cannot be weighted word by word."
# What each perturbation does to a feature that is kept to the share q.
_DOES = {
    BERNOULLI: "each element of its word embedding stays with probability q, else it is zero",
    ADDED: "noise is added to its word embedding, 1 − q of it",
    MIXED: "its word embedding is mixed with noise, q to 1 − q",
    ATTENTION: "other words attend to it with weight q",
}
_SOURCES = {
    BERNOULLI: "SoftFaith Eq. 3 to 5",
    ADDED: "SoftFaith Eq. 7",
    MIXED: "SoftFaith Eq. 8",
    ATTENTION: "SoftFaith App. C",
}


def soft(case: Case, kind: str, sufficiency: bool) -> Score:
    """Soft-NS or Soft-NC: the hard formula on inputs in which each feature is kept to the share q, or 1 − q for
    Soft-NC.

    Scored and clipped for each draw, then the mean over the draws with its standard error. S₀ is by the zero embedding
    whatever
    the perturbation: noise alone would leave most of the text, and a score would be sampling noise over next to
    nothing.

    Returns:
        Score in [0, 1]; higher is better. NaN where 1 − S₀ < 1e-4, or where the network cannot be perturbed so.
    Source: SoftFaith Eq. 3 to 5, 7, 8; glossary, Hard and soft erasure, where the paper takes one draw and this K.
    """
    free, perturbed = ~case.masked, cast(Callable, case.perturbed)
    q = retained(case.scores, case.masked, case.scaling)
    keep = q if sufficiency else np.where(free, 1 - q, 1.0)
    full = float(case.value(np.zeros((1, len(case.masked)), dtype=bool))[0])
    none = float(np.mean(perturbed(np.where(free, 0.0, 1.0), BERNOULLI)))
    draws = np.asarray(perturbed(keep, kind), dtype=np.float64)
    if np.isnan(draws).any():
        return Score(float("nan"), note=IMPOSSIBLE)
    found = (normalised_sufficiency if sufficiency else normalised_comprehensiveness)(full, draws, none)
    error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
    return Score(float(found.mean()), error, note=_note(case, found))


def _note(case: Case, found: np.ndarray) -> str:
    if np.isnan(found).any():
        return NO_ROOM
    if case.scaling == MIN_MAX and constant(case.scores[case.free]):
        return "All features score the same, so each is kept by half."
    return ""


def _passes(kind: str):
    # The text itself, S₀, and the draws: one where there is no chance in them.
    return (lambda F, draws: 3) if kind == ATTENTION else (lambda F, draws: draws + 2)


def _register(kind: str, sufficiency: bool) -> None:
    short = "Soft-NS" if sufficiency else "Soft-NC"
    what = "sufficiency" if sufficiency else "comprehensiveness"
    asks = "how much of the prediction is left?" if sufficiency else "how much of the prediction goes?"
    share = "its attribution, scaled to [0, 1]" if sufficiency else "1 − its attribution, scaled to [0, 1]"
    # SoftFaith's own perturbation stands in menus and beside the hard metric of the same formula.
    first = kind == BERNOULLI
    register(
        Metric(
            name=short if first else f"{short} ({kind})",
            title=f"soft normalised {what}",
            direction=HIGHER,
            low=0,
            high=1,
            unit="share",
            definition=f"Keep of each feature a share q, {share}: {_DOES[kind]}; {asks}",
            cost="3" if kind == ATTENTION else "K + 2",
            passes=_passes(kind),
            source=_SOURCES[kind],
            compute=lambda case: soft(case, kind, sufficiency),
            perturbation=kind,
            magnitudes=True,
            order=(30 if sufficiency else 40) if first else LAST,
            default=first,
            hard=short.removeprefix("Soft-") if first else "",
        )
    )


for _kind in PERTURBATIONS:
    for _sufficiency in (True, False):
        _register(_kind, _sufficiency)
