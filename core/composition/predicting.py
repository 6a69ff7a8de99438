"""Predict whole data sets, masked or not, through the scheduler."""

from collections.abc import Callable, Sequence

import numpy as np

from core.mathematics.masking import random_mask
from core.network.features import Encoded, masked_ids
from core.network.model import Model
from core.network.scheduler import Row


def predict(model: Model, encoded: Sequence[Encoded], masks: Sequence[np.ndarray] | None = None, *,
            progress: Callable[[int, int], None] | None = None, cancelled: Callable[[], bool] | None = None) -> np.ndarray:
    """Logits of N examples, each under its own mask.

    Args:
        encoded: N examples.
        masks: N arrays bool[F] of each example's own F, True = masked; None masks nothing.
    Returns:
        float32[N, C].
    Raises:
        ValueError: another number of masks than examples.
    """
    if masks is not None and len(masks) != len(encoded):
        raise ValueError(f"{len(encoded)} examples need as many masks, got {len(masks)}")
    rows = []
    for i, example in enumerate(encoded):
        mask = np.zeros(example.F, dtype=bool) if masks is None else masks[i]
        rows.append(Row(masked_ids(example, mask[None])[0], example.type_ids))
    logits = np.empty((len(rows), model.C), dtype=np.float32)
    for indices, batch, _ in model.scheduler.run(rows, progress=progress, cancelled=cancelled):
        logits[indices] = batch
    return logits


def predict_at_ratios(model: Model, encoded: Sequence[Encoded], ratios: Sequence[float], seed: int,
                      progress: Callable[[int, int], None] | None = None) -> np.ndarray:
    """Predicted classes under random masks of each ratio, every ratio with fresh masks.

    Returns:
        int64[R, N].
    Source: FMM Fig. 4, random baseline.
    """
    predicted = np.empty((len(ratios), len(encoded)), dtype=np.int64)
    for r, ratio in enumerate(ratios):
        rng = np.random.default_rng([seed, r])
        masks = [random_mask(example.F, ratio, rng) for example in encoded]
        predicted[r] = predict(model, encoded, masks).argmax(axis=1)
        if progress is not None:
            progress(r + 1, len(ratios))
    return predicted
