"""Soft erasure at a fixed share: every attribution keeps as much of a text as any other, and only where differs."""

from collections.abc import Callable
from typing import cast

import numpy as np

from core.mathematics.erasure import BERNOULLI, REVERSED, SHARES, at_share, constant, normalised_score, retained
from core.metrics.registry import HIGHER, NO_ROOM, Case, Metric, Score, register


def fixed_share(case: Case, sufficiency: bool) -> Score:
    """Soft-NS or Soft-NC at each of SHARES, and their mean.

    The shares that Soft-NS keeps, or Soft-NC erases, are scaled so that their mean over the features is each of SHARES,
    by water-filling (`at_share`). The two are then the same formulas, and scores of a larger mean keep no more than
    others. Scored and clipped for each draw and share. The draws are dealt out to the shares (`draws_of_share`): each
    meets draws of its own, the same for every attribution, and the standard error is that of a mean over strata. A
    single draw is met by all of them.

    Scores that are all equal keep every feature by the share itself, a single feature too: such a value is that of the
    model alone. What is no feature counts as the least important where the mask falls on it too, and not in the mean.

    Returns:
        Score in [0, 1]; higher is better. NaN where 1 − S₀ < 1e-4: a model that always says the same, for one.
    Source: Huang and Chan (2026), π-Soft-NS and π-Soft-NC, for the expected share that is the same for all;
    glossary, Fixed share, for how scores are scaled to it and which shares there are, which is ours.
    """
    free, perturbed = ~case.masked, cast(Callable, case.perturbed)
    shares, counted = retained(case.scores, case.masked, case.scaling), free
    if case.everything:
        shares = np.append(shares, 1.0 if case.scaling == REVERSED else 0.0)
        counted = np.append(free, False)
    # A feature that the text masks itself keeps what it is, its mask token.
    masked = np.append(case.masked, [False] * case.everything)
    taken = [at_share(shares, counted, mean) for mean in SHARES]
    nothing = np.where(masked, 1.0, 0.0)
    keeps = [np.where(masked, 1.0, part if sufficiency else 1 - part) for part in taken]
    full = float(case.value(np.zeros((1, len(case.masked)), dtype=bool))[0])
    bare = perturbed(nothing, BERNOULLI)
    none, n = float(np.mean(bare)), draws_of_share(len(bare))
    met = range(len(SHARES) * n) if n > 1 else [0] * len(SHARES)
    drawn = case.drawn([keep for keep in keeps for _ in range(n)], met, BERNOULLI).reshape(len(SHARES), n)
    found = normalised_score(full, drawn, none, sufficiency)
    error = float(np.sqrt((found.var(axis=1, ddof=1) / n).sum()) / len(SHARES)) if n > 1 else float("nan")
    return Score(float(found.mean()), error, note=_note(case, found))


def draws_of_share(draws: int) -> int:
    """How many of K draws each share meets: a fifth, but two at least, which a standard error takes; one of one."""
    return max(2, draws // len(SHARES)) if draws > 1 else 1


def _note(case: Case, found: np.ndarray) -> str:
    if np.isnan(found).any():
        return NO_ROOM
    if constant(case.scores[case.free]):
        return "All scores are equal; each feature is kept by the share."
    return ""


def _register(sufficiency: bool, fixes: str, does: str, equation: int, order: int) -> None:
    shares = f"{', '.join(f'{100 * share:g}' for share in SHARES[:-1])} and {100 * SHARES[-1]:g} %"
    register(
        Metric(
            name=f"{fixes} (fixed share)",
            direction=HIGHER,
            definition=f"As {fixes}, but with {shares} of the features {does} on average; mean over these.",
            cost=f"K + 2, {2 * len(SHARES) + 2} at least",
            passes=lambda F, draws: len(SHARES) * draws_of_share(draws) + 2,
            source=f"Huang and Chan (2026); SoftFaith Eq. 3, {equation}",
            compute=lambda case: fixed_share(case, sufficiency),
            perturbation=BERNOULLI,
            magnitudes=True,
            order=order,
            fixes=fixes,
            version=2,
        )
    )


_register(True, "Soft-NS", "kept", 4, 45)
_register(False, "Soft-NC", "erased", 5, 46)
