"""Draw masks: the masked fine-tuning rule, and random masks of an exact ratio."""

import numpy as np

TRAINING_STRATEGIES = ("none", "mask", "half")
VALIDATION_STRATEGIES = ("none", "mask", "both")
RATIOS = tuple(i / 10 for i in range(11))


def masked_count(ratio: float, F: int) -> int:
    """How many features a masking ratio masks: floor(r·F + 1e-9), exactly F at r = 1; ValueError outside [0, 1].
    Source: FMM Alg. 3; glossary, Recursive masking.
    """
    if not 0 <= ratio <= 1:
        raise ValueError(f"a masking ratio lies in [0, 1], got {ratio}")
    return int(np.floor(ratio * F + 1e-9))


def nearest_ratio(masked: np.ndarray, F: int) -> np.ndarray:
    """Place in RATIOS, int64[M], of inputs on no masking path: 0 where nothing is masked, 1 where all is, else the
    nearest tenth from 0.1 to 0.9, half up; masked: float[M], features masked in [0, F]. Source: glossary, MaSF.
    """
    masked = np.asarray(masked, dtype=np.float64)
    tenth = np.clip(np.floor(10 * masked / F + 0.5), 1, len(RATIOS) - 2).astype(np.int64)
    return np.where(masked <= 1e-9, 0, np.where(masked >= F - 1e-9, len(RATIOS) - 1, tenth))


def path_ratios(counts: np.ndarray, F: int) -> np.ndarray:
    """Place in RATIOS of the steps of a path over all ratios, int64[11]: the step's own, or `nearest_ratio` where the
    text masks more; counts: int[11], features masked.
    """
    planned = np.array([masked_count(ratio, F) for ratio in RATIOS])
    return np.where(np.asarray(counts) == planned, np.arange(len(RATIOS)), nearest_ratio(counts, F))


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
    """Mask a mini-batch, bool[N, T] maskable → bool[N, T], True = masked.

    strategy: "none", "mask" (every example) or "half" (every second one), else ValueError. Source: FMM §3.2, Alg. 1,
    App. H.
    """
    if strategy not in TRAINING_STRATEGIES:
        raise ValueError(f"the training strategy must be one of {TRAINING_STRATEGIES}, got {strategy!r}")
    masks = bernoulli_masks(maskable, rng)
    if strategy == "half":
        masks[::2] = False
    return masks & (strategy != "none")
