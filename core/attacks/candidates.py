"""Words that a person may put in the place of one: by the base's masked-language head, else by input embeddings."""

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from core.attacks.vocabulary import vocabulary_of
from core.loading.masked_language import masked_language
from core.network.architectures import Module
from core.network.features import Encoded, masked_ids
from core.network.model import Model
from core.network.scheduler import memory_in_words

# As many as a row of buttons holds.
MOST = 8


class Proposer(StrEnum):
    """What candidates come from."""

    HEAD = "masked-language head"
    EMBEDDINGS = "nearest input embeddings"


class Candidates(NamedTuple):
    """Words for one place of a text, the likeliest or nearest first, and what they come from."""

    words: tuple[str, ...]
    by: Proposer


def candidates(model: Model, encoded: Encoded, i: int, most: int = MOST) -> Candidates:
    """Other words for the i-th word of a text; none for punctuation, and by embeddings none for a word of several
    tokens.

    Args:
        encoded: by words; most: so many at most.
    Raises:
        OutOfMemory: as the scheduler.
    Source: the head's probabilities of whole words where the word is masked, as Devlin et al. 2019; else
        `Vocabulary.near`.
    """
    word, module = encoded.features[i].text, masked_language(model)
    by = Proposer.EMBEDDINGS if module is None else Proposer.HEAD
    if not encoded.premasked[i] and not any(map(str.isalpha, word)):
        return Candidates((), by)
    vocabulary = vocabulary_of(model)
    if module is None:
        places = vocabulary.near(word)
    else:
        scores = _logits_at(model, module, encoded, i)[vocabulary.ids]
        places = np.argsort(-scores, kind="stable")
    found: dict[str, str] = {}
    for place in places.tolist():
        spelled = vocabulary.spelled(place, word)
        if spelled.casefold() != word.casefold():
            found.setdefault(spelled.casefold(), spelled)
        if len(found) == most:
            break
    return Candidates(tuple(found.values()), by)


def _logits_at(model: Model, module: Module, encoded: Encoded, i: int) -> np.ndarray:
    """The head's logits for one mask token in the place of a word, float32[vocabulary]."""
    import torch

    feature = encoded.features[i]
    text = encoded.sides[feature.side]
    masked = f"{text[: feature.start]}{model.tokenizer.mask_token}{text[feature.end :]}"
    read = model.encode(*encoded.with_side(feature.side, masked), "word", encoded.maskable)
    at = int(np.flatnonzero(read.feature_of == i)[0])
    given = {"input_ids": model.tensor(masked_ids(read, np.zeros((1, read.F), dtype=bool)))}
    if read.type_ids is not None and model.architecture.type_ids:
        given["token_type_ids"] = model.tensor(read.type_ids[None])
    with memory_in_words(), torch.inference_mode():
        return module(**given).logits[0, at].float().cpu().numpy()
