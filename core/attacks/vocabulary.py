"""Words that may stand for another: whole words of a tokenizer, by how near their input embeddings are."""

import weakref
from collections.abc import Sequence

import numpy as np

from core.network.architectures import Tokenizer
from core.network.model import Model
from core.network.tokens import read_tokens

# The most substitutes of a word, and the least cosine of theirs with it.
NEAREST, COSINE = 30, 0.35
# Behind it every word begins as inside a text.
_BEFORE = "the "
_WORDS: "weakref.WeakKeyDictionary[Tokenizer, tuple[list[str], np.ndarray]]" = weakref.WeakKeyDictionary()
_HELD: "weakref.WeakKeyDictionary[Model, Vocabulary]" = weakref.WeakKeyDictionary()


class Vocabulary:
    """N words of two letters or more, each read as one token.

    words: their spelling; ids: int64[N], their tokens; embeddings: float32[N, E], the model's input embeddings.
    """

    def __init__(self, words: Sequence[str], ids: np.ndarray, embeddings: np.ndarray):
        self.words, self.ids, self.embeddings = tuple(words), ids, embeddings
        self._unit = embeddings / np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-12)
        self._place = {word: i for i, word in enumerate(self.words)}
        self._folded = np.array([word.casefold() for word in self.words], dtype=object)

    def place(self, word: str) -> int | None:
        """Where a word stands, in its own spelling or in small letters; None for no whole word."""
        return self._place.get(word, self._place.get(word.casefold()))

    def near(self, word: str, most: int | None = None, cosine: float = COSINE) -> np.ndarray:
        """Places of other words, the nearest first, of at least this cosine with a word; none of no whole word.

        Source: Jin et al. 2020 (TextFooler), Alzantot et al. 2018. Departure: input embeddings of the model, where both
        take counter-fitted vectors, in which antonyms lie apart.
        """
        place = self.place(word)
        if place is None:
            return np.empty(0, dtype=np.int64)
        found = self._unit @ self._unit[place]
        kept = np.flatnonzero((found >= cosine) & (self._folded != word.casefold()))
        return kept[np.argsort(-found[kept], kind="stable")][:most]

    def spelled(self, place: int, word: str) -> str:
        """The word at a place with the capitals of the one that it stands for."""
        found = self.words[place]
        if word.isupper() and len(word) > 1:
            return found.upper()
        return found[:1].upper() + found[1:] if word[:1].isupper() else found


def vocabulary_of(model: Model) -> Vocabulary:
    """The vocabulary of a model, by its embeddings as they were when it was asked for first."""
    found = _HELD.get(model)
    if found is None:
        found = _HELD[model] = _read(model)
    return found


def _read(model: Model) -> Vocabulary:
    import torch

    words, ids = _whole_words(model)
    with model.lock, torch.inference_mode():
        # Through the layer, since an adapter may add to its matrix.
        embeddings = model.module.get_input_embeddings()(model.tensor(ids)).float().cpu().numpy()
    return Vocabulary(words, ids, embeddings.reshape(len(ids), -1))


def _whole_words(model: Model) -> tuple[list[str], np.ndarray]:
    """Those tokens of whole letters that the tokenizer gives back for their spelling inside a text, and their ids."""
    tokenizer = model.tokenizer
    if tokenizer in _WORDS:
        return _WORDS[tokenizer]
    size = min(len(tokenizer), int(model.module.config.vocab_size))
    special = {*tokenizer.all_special_ids}
    tokens = tokenizer.convert_ids_to_tokens([*range(size)])
    spelled = [(i, tokenizer.convert_tokens_to_string([token]).strip()) for i, token in enumerate(tokens)]
    spelled = [(i, word) for i, word in spelled if word.isalpha() and len(word) > 1 and i not in special]
    (before,) = read_tokens(tokenizer, [_BEFORE.strip()], None, model.max_tokens)
    start, words, ids = int((before.sides == 0).sum()), [], []
    texts = [_BEFORE + word for _, word in spelled]
    for (i, word), read in zip(spelled, read_tokens(tokenizer, texts, None, model.max_tokens)):
        if read.ids[read.sides == 0][start:].tolist() == [i]:
            words.append(word)
            ids.append(i)
    _WORDS[tokenizer] = words, np.array(ids, dtype=np.int64)
    return _WORDS[tokenizer]
