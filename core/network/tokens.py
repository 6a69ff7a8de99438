"""From texts to the tokens that a model reads of them; what is too long is cut here and not by the tokenizer.

A tokenizer that cuts keeps all that it cut off, in parts as long as the longest input, and of a pair each part of the
one text beside each part of the other: two texts of 100,000 words came to gigabytes.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.network.architectures import Tokenizer

_SURROGATE = re.compile("[\ud800-\udfff]")
# Texts, and characters of them, that are tokenised in one go, and so held whole; at least one text is.
_AT_ONCE, _CHARACTERS = 256, 2_000_000


class Tokens:
    """The T tokens of an example that a model reads; `cut` says whether there are more."""

    def __init__(self, encoding: Any, typed: bool, most: int, left: bool):
        self._encoding, self._typed, self.cut = encoding, typed, len(encoding) > most
        self._read = _read_places(_sides(encoding), most, left) if self.cut else slice(None)

    @property
    def ids(self) -> np.ndarray:
        """int64[T]."""
        return np.array(self._encoding.ids, dtype=np.int64)[self._read]

    @property
    def type_ids(self) -> np.ndarray | None:
        """int64[T]; None where the tokenizer gives its model none."""
        return np.array(self._encoding.type_ids, dtype=np.int64)[self._read] if self._typed else None

    @property
    def sides(self) -> np.ndarray:
        """int64[T]: 0 for the first text, 1 for the second, −1 for special tokens."""
        return _sides(self._encoding)[self._read]

    @property
    def offsets(self) -> np.ndarray:
        """int64[T, 2]: characters [start, end) of the token's text."""
        return np.array(self._encoding.offsets, dtype=np.int64).reshape(-1, 2)[self._read]


def read_tokens(
    tokenizer: Tokenizer, texts: Sequence[str], seconds: Sequence[str] | None, max_tokens: int
) -> Iterator[Tokens]:
    """Tokenise examples and leave out what is too long: of a pair the end of the longer text, down to the length of the
    other, then of both; as transformers' `truncation=True` does.

    Args:
        tokenizer: a fast tokenizer of transformers.
        texts, seconds: N texts, and the second of each pair or None; lone surrogates become U+FFFD, so that offsets
            stay.
        max_tokens: longest input that the model reads, special tokens included.
    Returns:
        N Tokens, one after the other.
    """
    typed, left = "token_type_ids" in tokenizer.model_input_names, tokenizer.truncation_side == "left"
    for some in _batches(texts, seconds):
        batch = tokenizer(
            [encodable(text) for text in texts[some]],
            None if seconds is None else [encodable(text) for text in seconds[some]],
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        yield from (Tokens(encoding, typed, max_tokens, left) for encoding in batch.encodings)


def _batches(texts: Sequence[str], seconds: Sequence[str] | None) -> Iterator[slice]:
    start = held = 0
    for i, text in enumerate(texts):
        length = len(text) + (len(seconds[i]) if seconds is not None else 0)
        if i > start and (i - start == _AT_ONCE or held + length > _CHARACTERS):
            yield slice(start, i)
            start, held = i, 0
        held += length
    if start < len(texts):
        yield slice(start, len(texts))


def encodable(text: str) -> str:
    """Put a replacement character for each lone surrogate: these cannot cross into a tokenizer; offsets stay."""
    return _SURROGATE.sub("\ufffd", text)


def _sides(encoding) -> np.ndarray:
    return np.array([-1 if side is None else side for side in encoding.sequence_ids], dtype=np.int64)


def _read_places(sides: np.ndarray, most: int, left: bool) -> np.ndarray:
    """Places of the tokens that are read, of more than `most`: all special ones, and of each text its share."""
    special, *texts = (np.flatnonzero(sides == side) for side in (-1, 0, 1))
    room = max(0, most - len(special))
    # Of two that are as long, the second has the odd token.
    shorter = int(len(texts[0]) > len(texts[1]))
    shares = [0, 0]
    shares[shorter] = min(len(texts[shorter]), room // 2)
    shares[1 - shorter] = room - shares[shorter]
    kept = (places[len(places) - share :] if left else places[:share] for places, share in zip(texts, shares))
    return np.sort(np.concatenate([special, *kept]))
