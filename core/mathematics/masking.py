"""Draw masks: the masked fine-tuning rule, and random masks of an exact ratio."""

import numpy as np

TRAINING_STRATEGIES = ("none", "mask", "half")
VALIDATION_STRATEGIES = ("none", "mask", "both")
RATIOS = tuple(i / 10 for i in range(11))


def masked_count(ratio: float, F: int) -> int:
    """How many features a masking ratio masks: floor(r·F + 1e-9), exactly F at r = 1.

    Raises:
        ValueError: the ratio lies outside [0, 1].
    Source: FMM Alg. 3; glossary, Recursive masking.
    """
    if not 0 <= ratio <= 1:
        raise ValueError(f"a masking ratio lies in [0, 1], got {ratio}")
    return int(np.floor(ratio * F + 1e-9))


def random_mask(F: int, ratio: float, rng: np.random.Generator) -> np.ndarray:
    """Mask exactly `masked_count(ratio, F)` features, every such set equally likely → bool[F]."""
    mask = np.zeros(F, dtype=bool)
    mask[rng.permutation(F)[: masked_count(ratio, F)]] = True
    return mask


def bernoulli_masks(maskable: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mask each maskable token independently, at a ratio drawn uniformly from [0, 1) per example.

    Args:
        maskable: bool[N, T], False at special tokens and padding.
    Returns:
        bool[N, T], True = masked; a subset of `maskable`.
    Source: FMM §3.2, Alg. 1.
    """
    ratios = rng.random((len(maskable), 1))
    return (rng.random(maskable.shape) < ratios) & maskable


def training_masks(maskable: np.ndarray, strategy: str, rng: np.random.Generator) -> np.ndarray:
    """Mask a mini-batch by the training strategy.

    Args:
        maskable: bool[N, T].
        strategy: "none", "mask" (every example) or "half" (every second one: 50/50).
    Returns:
        bool[N, T], True = masked.
    Raises:
        ValueError: an unknown strategy.
    Source: FMM §3.2, Alg. 1, and App. H for the strategies.
    """
    if strategy not in TRAINING_STRATEGIES:
        raise ValueError(f"the training strategy must be one of {TRAINING_STRATEGIES}, got {strategy!r}")
    masks = bernoulli_masks(maskable, rng)
    if strategy == "half":
        masks[::2] = False
    return masks & (strategy != "none")
