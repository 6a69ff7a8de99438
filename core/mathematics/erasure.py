"""Erasure: how much of a prediction a rationale keeps, and how much erasing it takes away, hard and soft."""

import numpy as np

from core.mathematics.ranking import ranking

# Rationales of SoftFaith §4.4; the mean over them is the metric's value.
LENGTHS = (0.01, 0.05, 0.10, 0.20, 0.50)
DRAWS = 32
# Below this nothing of the class's probability is lost when everything is erased, so that nothing can be normalised by
# it.
UNDEFINED = 1e-4
MIN_MAX, REVERSED, SIGMOID, SOFTMAX = "min–max", "min–max, reversed", "sigmoid", "softmax"
SCALINGS = (MIN_MAX, REVERSED, SIGMOID, SOFTMAX)
BERNOULLI, NOISE, MIXED, ATTENTION = "Bernoulli", "noise", "mixed noise", "attention mask"
PERTURBATIONS = (BERNOULLI, NOISE, MIXED, ATTENTION)
# Mean shares of the features at which measures are compared like with like; the mean over them is the metric's value.
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Where an embedding is perturbed: the word embedding alone, or all that is added to it, after normalisation, as the
# code of SoftFaith does.
WORD_EMBEDDING, NORMALISED = "word embedding", "after normalisation"
PLACEMENTS = (WORD_EMBEDDING, NORMALISED)
# Standard deviation of the noise as a share of what it is added to; SoftFaith tunes 0.005 to 2.
SIGMA = 1.0


def rationale_sizes(F: int, lengths: tuple[float, ...] = LENGTHS) -> np.ndarray:
    """Features of the rationale at each length, max(1, ceil(length·F)), int64[R].

    Rounded up beyond 1e-9 only, so that 10 % of 70 is 7 and not, by rounding of 0.1·70, 8.

    Raises:
        ValueError: F below 1, or a length outside (0, 1].
    Source: glossary, Hard and soft erasure; SoftFaith §4.4 for the lengths.
    """
    if F < 1 or not all(0 < length <= 1 for length in lengths):
        raise ValueError(f"rationales need features and lengths in (0, 1], got F = {F}, lengths {lengths}")
    return np.maximum(1, np.ceil(np.array(lengths) * F - 1e-9)).astype(np.int64)


def rationale_masks(scores: np.ndarray, masked: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is erased so that only a rationale is left, and so that only it is gone: bool[R, F] each, True = erased.

    scores: float[F]; masked: bool[F], by the text itself, False in both; sizes: int[R], of the rationales, ascending.
    """
    free = np.flatnonzero(~masked)
    order = free[ranking(np.asarray(scores, dtype=np.float64)[free])]
    gone = np.zeros((len(sizes), len(masked)), dtype=bool)
    for row, size in zip(gone, sizes):
        row[order[:size]] = True
    return ~gone & ~masked, gone


def normalised_score(full: float, given: np.ndarray, none: float, sufficiency: bool) -> np.ndarray:
    """NS = (S − S₀)/(1 − S₀) with S = 1 − max(0, p(ŷ|X) − p(ŷ|R)), or NC = C/(1 − S₀) with C = max(0, p(ŷ|X) −
    p(ŷ|X∖R)), clipped to [0, 1]; higher is better.

    Args:
        full: p(ŷ|X); given: float[…], p(ŷ|R) with only the rationale left, or p(ŷ|X∖R) with it erased; none: p(ŷ) with
            every feature erased, which gives S₀.
        sufficiency: NS, else NC.
    Returns:
        float64[…] in [0, 1]; NaN where 1 − S₀ < 1e-4: erasing everything costs the class nothing.
    Source: SoftFaith Eq. 1 and 2.
    """
    room = float(full) - float(none)
    lost = np.maximum(0.0, full - np.asarray(given, dtype=np.float64)) / (room if room >= UNDEFINED else float("nan"))
    return np.clip(1 - lost if sufficiency else lost, 0.0, 1.0)


def retained(scores: np.ndarray, masked: np.ndarray, scaling: str = MIN_MAX) -> np.ndarray:
    """Scale an attribution to how much of each feature a soft rationale keeps, q in [0, 1].

    Min–max over the features that can be erased; ½ everywhere where these score the same. Reversed, q is 1 − that, so
    that the most important is kept least: not what SoftFaith's Eq. 3 to 5 say, but what its code does. Sigmoid and
    softmax are its other scalings; softmax sums to 1 over the features, so it keeps little of each.

    Args:
        scores: float[F]; masked: bool[F], features that the text itself masks; they keep 1.
        scaling: one of SCALINGS.
    Returns:
        float64[F] in [0, 1].
    Raises:
        ValueError: an unknown scaling.
    Source: SoftFaith §3; glossary, Hard and soft erasure.
    """
    if scaling not in SCALINGS:
        raise ValueError(f"the scaling must be one of {SCALINGS}, got {scaling!r}")
    q = np.ones(len(masked))
    free = ~np.asarray(masked, dtype=bool)
    values = np.asarray(scores, dtype=np.float64)[free]
    if len(values) == 0:
        return q
    if scaling in (MIN_MAX, REVERSED):
        # Scaled first: the difference of very large scores would leave the range of numbers.
        values = values / max(np.abs(values).max(), 1e-300)
        q[free] = 0.5 if constant(values) else np.clip((values - values.min()) / np.ptp(values), 0.0, 1.0)
        if scaling == REVERSED:
            q[free] = 1 - q[free]
    elif scaling == SIGMOID:
        # tanh does not overflow where exp would.
        q[free] = 0.5 * (1 + np.tanh(values / 2))
    else:
        shifted = np.exp(values - values.max())
        q[free] = shifted / shifted.sum()
    return q


def at_share(shares: np.ndarray, counted: np.ndarray, mean: float) -> np.ndarray:
    """Shares in proportion to those that are given, so that the counted ones have a given mean.

    Each is min(1, c·share): what is more than whole is whole, and the others take over what is left (water-filling).
    Where that falls short because some are 0, all others are whole, and those at 0 have the rest in equal parts.
    Equal shares stay equal, and none overtakes a larger one; equal ones are the mean, a single one too.

    Args:
        shares: float[n] in [0, 1]; counted: bool[n], at least one: those whose mean it is; mean: in [0, 1].
    Returns:
        float64[n] in [0, 1]; what is not counted is scaled as the others are.
    Raises:
        ValueError: nothing counts, or a mean outside [0, 1].
    Source: ours; the aim, one expected share for all that are compared, is that of Huang and Chan (2026).
    """
    own = np.asarray(shares, dtype=np.float64)
    falling = -np.sort(-own[np.asarray(counted, dtype=bool)])
    if len(falling) == 0 or not 0 <= mean <= 1:
        raise ValueError(f"a mean share needs features and lies in [0, 1], got {len(falling)} and {mean}")
    wanted, above = mean * len(falling), int((falling > 0).sum())
    if wanted >= above:
        rest = min(1.0, (wanted - above) / (len(falling) - above)) if above < len(falling) else 1.0
        return np.where(own > 0, 1.0, rest)
    # What the k-th and all below it add up to, from the smallest on, so that little is not lost beside much.
    tails = np.cumsum(falling[::-1])[::-1][:above]
    whole = np.arange(above)
    # The first k of which are whole: the next one is not, and takes its part of what is left.
    k = int(np.argmax((wanted - whole) * (falling[:above] / tails) <= 1))
    with np.errstate(over="ignore"):
        return np.minimum(1.0, (wanted - k) * (own / tails[k]))


def constant(values: np.ndarray, within: float = 0.0) -> bool:
    """Whether scores give no order at all: all equal, or no further apart than `within`, or a single one."""
    return len(values) == 0 or float(values.max()) - float(values.min()) <= within
