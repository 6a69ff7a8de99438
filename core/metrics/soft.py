"""Soft erasure: every feature is kept as much as its attribution says, at random or by noise."""

from collections.abc import Callable
from typing import cast

import numpy as np

from core.mathematics.erasure import (
    ATTENTION,
    BERNOULLI,
    MIN_MAX,
    MIXED,
    NOISE,
    PERTURBATIONS,
    REVERSED,
    constant,
    normalised_score,
    retained,
)
from core.metrics.registry import HIGHER, LAST, NO_ROOM, Case, Metric, Score, register

IMPOSSIBLE = "This model’s attention cannot be weighted by word."
# What each perturbation does to a feature that is kept to the share q, and its source; `equation`: of the score.
_KINDS = {
    BERNOULLI: ("each embedding element is kept with probability q", "SoftFaith Eq. 3, {equation}"),
    NOISE: ("embeddings get normal noise in proportion to their size and 1 − q", "SoftFaith App. C, Eq. 7 and 8"),
    MIXED: ("embeddings are mixed with noise, q to 1 − q", "ours, of no paper"),
    ATTENTION: ("attention to the word is weighted by q", "SoftFaith App. C"),
}


def soft(case: Case, kind: str, sufficiency: bool) -> Score:
    """Soft-NS or Soft-NC: the hard formula on inputs in which each feature is kept to the share q, or 1 − q for
    Soft-NC.

    Scored and clipped for each draw, then the mean over the draws with its standard error. S₀ is by the zero embedding
    whatever the perturbation: noise alone would leave most of the text, and a score would be sampling noise over next
    to nothing. Departure: S₀ of the paper's code is of a text of padding tokens. What is no feature is kept whole,
    unless the Bernoulli mask falls on it too (`Case.everything`): then it counts as the least important there is.

    Returns:
        Score in [0, 1]; higher is better. NaN where 1 − S₀ < 1e-4, or where the network cannot be perturbed so.
    Source: SoftFaith Eq. 3 (the perturbation), 4 (Soft-NS) and 5 (Soft-NC), App. C (noise, Eq. 7 and 8; attention
    mask); glossary, Hard and soft erasure, where the paper takes one draw and this K.
    """
    free, perturbed = ~case.masked, cast(Callable, case.perturbed)
    q, least = retained(case.scores, case.masked, case.scaling), 1.0 if case.scaling == REVERSED else 0.0
    keep, rest = (q, least) if sufficiency else (np.where(free, 1 - q, 1.0), 1 - least)
    full = float(case.value(np.zeros((1, len(case.masked)), dtype=bool))[0])
    none = float(np.mean(perturbed(_with_rest(case, np.where(free, 0.0, 1.0), 0.0), BERNOULLI)))
    # Departure: the paper's noise spares special tokens, too; its attention mask does not ([CLS] is 1, [SEP] least).
    rest = rest if kind == BERNOULLI else 1.0
    draws = np.asarray(perturbed(_with_rest(case, keep, rest), kind), dtype=np.float64)
    if np.isnan(draws).any():
        return Score(float("nan"), note=IMPOSSIBLE)
    found = normalised_score(full, draws, none, sufficiency)
    error = float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
    return Score(float(found.mean()), error, note=_note(case, found))


def _with_rest(case: Case, keep: np.ndarray, rest: float) -> np.ndarray:
    """Shares of the features, and where it is perturbed too the share of what is none."""
    return np.append(keep, rest) if case.everything else keep


def _note(case: Case, found: np.ndarray) -> str:
    if np.isnan(found).any():
        return NO_ROOM
    if case.scaling in (MIN_MAX, REVERSED) and constant(case.scores[case.free]):
        return "All scores are equal; each feature is kept by half."
    return ""


def _register(kind: str, sufficiency: bool, hard: str, share: str, asks: str, order: int) -> None:
    # SoftFaith's own perturbation stands in menus and beside the hard metric of the same formula.
    first, (does, source) = kind == BERNOULLI, _KINDS[kind]
    register(
        Metric(
            name=f"Soft-{hard}" if first else f"Soft-{hard} ({kind})",
            direction=HIGHER,
            definition=f"Share of the prediction {asks} with q = {share}, scaled to [0, 1]: {does}.",
            cost="3" if kind == ATTENTION else "K + 2",
            # The text itself, S₀, and the draws: one where there is no chance in them.
            passes=lambda F, draws: 3 if kind == ATTENTION else draws + 2,
            source=source.format(equation=4 if sufficiency else 5),
            compute=lambda case: soft(case, kind, sufficiency),
            perturbation=kind,
            magnitudes=True,
            order=order if first else LAST,
            default=first,
            amounts=True,
            hard=hard if first else "",
        )
    )


for _kind in PERTURBATIONS:
    _register(_kind, True, "NS", "the attribution", "kept", 30)
    _register(_kind, False, "NC", "1 − the attribution", "lost", 40)
