"""Erase features of an example: by the mask token, by taking their tokens out, by the zero embedding or by the unknown
token.
"""

from itertools import repeat

import numpy as np

from core.network.features import Encoded, masked_ids, with_premasked
from core.network.model import Model
from core.network.scheduler import ZERO_ID, Input, NonFinite

MASK, REMOVAL, ZERO, UNKNOWN = "mask token", "removal", "zero embedding", "unknown token"
ERASURES = (MASK, REMOVAL, ZERO, UNKNOWN)


class NothingLeft(NonFinite):
    """An input without a token has no score; the message says what to do."""


def erasures_of(model: Model) -> tuple[str, ...]:
    """The erasures that differ under a model: its tokenizer may have no unknown token, or use that one for masking."""
    return tuple(name for name in ERASURES if name != UNKNOWN or model.unknown_id not in (None, model.mask_id))


def require_erasure(model: Model, erasure: str) -> None:
    """ValueError with a sentence for an erasure that there is not, or that the model's tokenizer has no token for."""
    if erasure not in erasures_of(model):
        raise ValueError(f"{model.name} cannot erase by the {erasure}; choose of {', '.join(erasures_of(model))}")


def erased_rows(encoded: Encoded, masks: np.ndarray, erasure: str = MASK, unknown: int | None = None) -> list[Input]:
    """Inputs with features erased.

    A feature that the text itself masks keeps its mask token under every erasure, so that erasing nothing is the same
    input under
    all; a typed mask inside a clause or sentence goes with it.
    Removal alone changes the length; special tokens and the second text stay, alone where every feature is removed.

    Args:
        encoded: F features; masks: bool[M, F], True = erased; not changed.
        erasure: one of ERASURES.
        unknown: id of the unknown token, for that erasure.
    Returns:
        M rows; ZERO_ID in their ids stands for a zero word embedding.
    Raises:
        NothingLeft: removal leaves no token at all (a tokenizer without special tokens).
        ValueError: an unknown erasure, a tokenizer without that token, or masks of another shape.
    Source: glossary, Hard and soft erasure; RobustInf §4 replaces by the unknown token.
    """
    if erasure == MASK:
        return [*map(Input, masked_ids(encoded, masks), repeat(encoded.type_ids))]
    if erasure not in ERASURES:
        raise ValueError(f"the erasure must be one of {ERASURES}, got {erasure!r}")
    if erasure == UNKNOWN and unknown is None:
        raise ValueError("this model's tokenizer has no unknown token; choose another erasure")
    masks = with_premasked(encoded, masks) & ~encoded.premasked
    at_token = np.where(encoded.feature_of >= 0, masks[:, encoded.feature_of], False)
    whole = masked_ids(encoded, np.zeros((1, encoded.F), dtype=bool))[0]
    if erasure == REMOVAL:
        return [_without(encoded, whole, gone) for gone in at_token]
    return [Input(ids, encoded.type_ids) for ids in np.where(at_token, ZERO_ID if erasure == ZERO else unknown, whole)]


def _without(encoded: Encoded, whole: np.ndarray, gone: np.ndarray) -> Input:
    if gone.all():
        raise NothingLeft("Removal leaves nothing that this model can read. Choose erasure by the mask token.")
    return Input(whole[~gone], None if encoded.type_ids is None else encoded.type_ids[~gone])
