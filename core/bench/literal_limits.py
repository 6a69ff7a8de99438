"""Limits of AOPC by a beam over orders, as the paper prints it: slow, kept to be measured against."""

import numpy as np

from core.network.features import Encoded, masked_ids
from core.network.model import Model

_AT_ONCE = 1024


def literal_limits(model: Model, encoded: Encoded, target: int, width: int) -> tuple[float, float]:
    """Lower and upper AOPC by two beam searches over orders, on the probability of a class; width: B, at least 1.

    Every kept order is extended by every feature that it lacks, all are scored, and the best B sums Σ v(∅) − v(prefix)
    are kept. Not for families that read the last token. ValueError: width < 1, or nothing to mask. Source: NAOPC §3,
    Alg. 1.
    """
    if width < 1 or encoded.premasked.all():
        raise ValueError(f"width {width} and {int((~encoded.premasked).sum())} free features: both must be at least 1")
    lower, upper = (_search(model, encoded, target, width, sign) for sign in (-1.0, 1.0))
    return lower, upper


def _search(model: Model, encoded: Encoded, target: int, width: int, sign: float) -> float:
    """The largest (sign 1) or the smallest (−1) AOPC that a beam finds."""
    free = [int(i) for i in np.flatnonzero(~encoded.premasked)]
    whole = _scores(model, encoded, target, [()])[0]
    kept = [(0.0, ())]
    for _ in free:
        longer = [(total, (*order, i)) for total, order in kept for i in free if i not in order]
        scores = _scores(model, encoded, target, [order for _, order in longer])
        reached = [(total + whole - score, order) for (total, order), score in zip(longer, scores)]
        kept = sorted(reached, key=lambda one: -sign * one[0])[:width]
    return float(kept[0][0] / len(free))


def _scores(model: Model, encoded: Encoded, target: int, orders: list[tuple[int, ...]]) -> np.ndarray:
    """v with the features of each order masked, float64[M], by the classifier as anyone would call it."""
    import torch

    masks = np.zeros((len(orders), encoded.F), dtype=bool)
    for row, order in zip(masks, orders):
        row[list(order)] = True
    found = []
    for begin in range(0, len(masks), _AT_ONCE):
        ids = model.tensor(masked_ids(encoded, masks[begin : begin + _AT_ONCE]))
        given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if model.architecture.type_ids and encoded.type_ids is not None:
            given["token_type_ids"] = model.tensor(np.tile(encoded.type_ids, (len(ids), 1)))
        with model.lock, torch.inference_mode():
            found.append(model.module(**given).logits.cpu().double().softmax(dim=-1)[:, target].numpy())
    return np.concatenate(found)
