"""From text to features: what is masked as one piece, and which tokens belong to it."""

import functools
import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from core.network.architectures import Tokenizer
from core.network.grouping import GROUPS, RUN, find_groups
from core.network.tokens import Tokens, read_tokens
from core.wording import ordinal, refuse_unknown

UNITS = ("word", "token", *GROUPS)
FIRST, SECOND, BOTH = "first", "second", "both"
# Which texts of a pair have features, and their sides.
MASKABLE = {FIRST: (0,), SECOND: (1,), BOTH: (0, 1)}
# Spellings that stand for "masked from the start" whatever the model's own mask token is.
MASK_SPELLINGS = ("[MASK]", "<mask>")


class NoFeatures(ValueError):
    """The text holds nothing that can be masked; the message says what to type instead."""


class NoEmbedding(NoFeatures):
    """The model has no embedding for something in the text; the message says for what."""


@dataclass(frozen=True)
class Feature:
    """A word, token, clause or sentence: its spelling and its characters `[start, end)` of its text; side: 1 in the
    second text of a pair.
    """

    text: str
    start: int
    end: int
    side: int = 0


@dataclass(frozen=True)
class Truncation:
    """What the model reads of an example: so many words of the first text, those of which it reads anything; these are
    its features there, where words are the unit and the tokenizer keeps and parts them all.

    second_cut: whether the second text was cut; word_cut: whether the last word that is read was cut in two, so that
    only its beginning is read.
    """

    words: int
    words_read: int
    second_cut: bool
    word_cut: bool = False

    @property
    def cut(self) -> bool:
        return self.words_read < self.words or self.word_cut or self.second_cut


@dataclass(frozen=True, eq=False)
class Encoded:
    """One example as a model reads it.

    ids: int64[T]; type_ids: int64[T] or None; feature_of: int64[T], the feature of each token,
    -1 for special tokens and for a text that is not maskable; premasked: bool[F]. A typed
    mask inside a clause or sentence is `mask_id` in ids, whatever else is masked. unknown_id: the token that stands for
    what the tokenizer does not know; None where it knows everything. typed_special: whether special ones are typed.
    maskable: one of MASKABLE, which texts have features; the first where it is alone.
    """

    text: str
    second: str | None
    unit: str
    ids: np.ndarray
    type_ids: np.ndarray | None
    feature_of: np.ndarray
    features: tuple[Feature, ...]
    premasked: np.ndarray
    mask_id: int
    truncation: Truncation
    unknown_id: int | None = None
    typed_special: bool = False
    maskable: str = FIRST
    digest: str = field(init=False)

    def __post_init__(self):
        parts = (self.unit, self.text, self.second or "", "pair" if self.second is not None else "single")
        content = "\0".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
        object.__setattr__(self, "digest", hashlib.sha256(content + self.feature_of.tobytes()).hexdigest())

    @property
    def F(self) -> int:
        return len(self.features)

    @property
    def T(self) -> int:
        return len(self.ids)

    @property
    def sides(self) -> tuple[str, ...]:
        """The texts, as many as there are."""
        return (self.text,) if self.second is None else (self.text, self.second)

    def with_side(self, side: int, text: str) -> tuple[str, str | None]:
        """Both texts, one of them replaced."""
        return (text, self.second) if side == 0 else (self.text, text)

    @property
    def unknown(self) -> np.ndarray:
        """Features that are read as the unknown token, wholly or in part, bool[F]; none where that token masks, too."""
        unread = self.feature_of[(self.ids == self.unknown_id) & (self.ids != self.mask_id) & (self.feature_of >= 0)]
        return (np.bincount(unread, minlength=self.F) > 0) & ~self.premasked


def placed_word(features: Sequence[Feature], i: int) -> str:
    """The i-th of these in quotation marks, text; of one whose text occurs again, which of them it is."""
    text = features[i].text
    return f"“{text}”{placed_texts(features)[i].removeprefix(text)}"


def placed_texts(features: Sequence[Feature]) -> list[str]:
    """Their texts, with which of them it is behind one that occurs again: "so (1st of 3)"."""
    counts, seen, found = Counter(feature.text for feature in features), Counter(), []
    for feature in features:
        seen[feature.text] += 1
        again = f" ({ordinal(seen[feature.text])} of {counts[feature.text]})" if counts[feature.text] > 1 else ""
        found.append(f"{feature.text}{again}")
    return found


def find_words(text: str, mask_spellings: tuple[str, ...] = MASK_SPELLINGS) -> list[tuple[int, int]]:
    """Find the words of a text: runs of non-space characters, edge punctuation split off.

    The leading run of punctuation (Unicode category P) is one word, the trailing run another; what
    lies between keeps its apostrophes and hyphens. A mask token typed by a person is a word. The
    tokenizer is not asked, so that two models see the same words.

    Args:
        text: any string.
        mask_spellings: literal strings that stand for a masked word.
    Returns:
        list of (start, end), in order, not overlapping, none empty.
    Source: glossary, Feature.
    """
    literal = _literal(mask_spellings)
    any_typed, words = literal.search(text) is not None, []
    for run in RUN.finditer(text):
        start, end = run.span()
        for typed in literal.finditer(text, start, end) if any_typed else ():
            words += _split_edges(text, start, typed.start())
            words.append(typed.span())
            start = typed.end()
        words += _split_edges(text, start, end)
    return words


@functools.lru_cache(maxsize=64)
def _literal(spellings: tuple[str, ...]) -> re.Pattern:
    return re.compile("|".join(re.escape(m) for m in sorted(spellings, key=len, reverse=True)))


def _split_edges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    # Most words, and no letter or digit is punctuation.
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return [(start, end)]
    first = start
    while first < end and unicodedata.category(text[first])[0] == "P":
        first += 1
    last = end
    while last > first and unicodedata.category(text[last - 1])[0] == "P":
        last -= 1
    return [(a, b) for a, b in ((start, first), (first, last), (last, end)) if a < b]


def encode(
    tokenizer: Tokenizer,
    text: str,
    second: str | None = None,
    *,
    unit: str = "word",
    max_tokens: int,
    mask_id: int,
    maskable: str = FIRST,
    tokens: Tokens | None = None,
) -> Encoded:
    """Tokenise an example and tie its tokens to features.

    A token belongs to the word in which its first non-space character lies. Where one token spans
    several words ("'s" in byte-pair vocabularies) these become one feature, since they cannot be
    masked apart. A word that the tokenizer drops (a zero-width space) is no feature. So it is with
    clauses and sentences; one that the longest input cuts in two ends with the last word of which
    something is read. A typed mask masks its word, but not the clause or sentence around it: such a
    feature is masked from the start only if nothing else is in it.

    Args:
        tokenizer: a fast tokenizer of transformers.
        text, second: the example; `second` None for a single text.
        unit: one of UNITS; "clause" and "sentence" as `core.network.grouping` finds them.
        max_tokens: longest input that the model reads, special tokens included.
        mask_id: the token put at masked places.
        maskable: one of MASKABLE, which texts of a pair have features.
        tokens: of the example, where they were read together with others'.
    Returns:
        Encoded, with what was cut off in `truncation`.
    Raises:
        NoFeatures: blank text, nothing in it that the tokenizer keeps, or no second text to mask.
        ValueError: unknown unit or maskable.
    Source: glossary, Feature; FMM App. C for pairs.
    """
    refuse_unknown(("unit", (unit,), UNITS), ("maskable", (maskable,), tuple(MASKABLE)))
    if not text.strip():
        raise NoFeatures("The text is empty. Type at least one word.")
    if maskable == SECOND and not (second or "").strip():
        raise NoFeatures("There is no second text to mask; mask the first.")
    if tokens is None:
        (tokens,) = read_tokens(tokenizer, [text], [second] if second else None, max_tokens)
    ids, sides, offsets = tokens.ids, tokens.sides, tokens.offsets
    spellings = tuple({*MASK_SPELLINGS, tokenizer.convert_ids_to_tokens(mask_id)})
    own = (ids == mask_id) & (mask_id == tokenizer.mask_token_id)
    found = _worded(text, second, MASKABLE[maskable], spellings)
    texts = {side: found[side] for side in MASKABLE[maskable] if side in found}
    feature_of, features, premasked = _tied(texts, sides, offsets, unit, spellings, own)
    if not features:
        raise NoFeatures("The tokenizer drops every character. Type at least one word.")
    if unit in GROUPS:
        word_of, _, masked = _tied(texts, sides, offsets, "word", spellings, own)
        typed = (word_of >= 0) & masked[word_of]
        ids = np.where(typed, mask_id, ids)
        premasked = np.bincount(feature_of[(feature_of >= 0) & ~typed], minlength=len(features)) == 0
    cut = _truncation(found[0][1], second, tokens.cut, sides, offsets[:, 1])
    unknown = getattr(tokenizer, "unk_token_id", None)
    special = {*tokenizer.all_special_ids} - {mask_id, unknown, tokenizer.mask_token_id}
    typed = not special.isdisjoint(tokens.ids[sides >= 0].tolist())
    read = ids, tokens.type_ids, feature_of, tuple(features), premasked, mask_id, cut, unknown, typed
    return Encoded(text, second, unit, *read, FIRST if second is None else maskable)


def masked_ids(encoded: Encoded, masks: np.ndarray) -> np.ndarray:
    """Turn masks into token ids: the mask token at every token of each masked feature.

    The length never changes; features masked in the text itself stay masked.

    Args:
        encoded: T tokens, F features.
        masks: bool[M, F], True = masked; not changed.
    Returns:
        int64[M, T].
    Raises:
        ValueError: the masks do not have F columns.
    Source: glossary, Mask.
    """
    masks = with_premasked(encoded, masks)
    at_token = np.where(encoded.feature_of >= 0, masks[:, encoded.feature_of], False)
    return np.where(at_token, encoded.mask_id, encoded.ids)


def with_premasked(encoded: Encoded, masks: np.ndarray) -> np.ndarray:
    """Add what the text itself masks: bool[M, F] → a new bool[M, F]; ValueError on another width."""
    masks = np.asarray(masks)
    if masks.dtype != bool or masks.ndim != 2 or masks.shape[1] != encoded.F:
        raise ValueError(f"masks must be bool[M, {encoded.F}], got {masks.dtype}{list(masks.shape)}")
    return masks | encoded.premasked


def _worded(text: str, second: str | None, sides: Sequence[int], spellings) -> dict[int, tuple[str, np.ndarray]]:
    """Words of the first text, and of the second where it has features: finding them takes as long as tokenising."""
    return {
        side: (one, np.array(find_words(one, spellings), dtype=np.int64).reshape(-1, 2))
        for side, one in enumerate((text, second))
        if one is not None and side in (0, *sides)
    }


def _tied(texts, sides, offsets, unit, spellings, own) -> tuple[np.ndarray, list[Feature], np.ndarray]:
    """Tie tokens to the features of the texts that have any, {side: (text, its words)}.

    Returns:
        feature_of int64[T], features, and bool[F]: whether any of it is a typed mask; own: bool[T], the tokenizer's
        mask token.
    """
    feature_of, features, typed = np.full(len(offsets), -1, dtype=np.int64), [], []
    for side, (text, words) in texts.items():
        places = np.flatnonzero(sides == side)
        owner, spans = _owners(text, words, offsets[places], unit)
        feature_of[places] = np.where(owner >= 0, owner + len(features), -1)
        features += [Feature(text[a:b], a, b, side) for a, b in spans]
        masks = [found.span() for found in _literal(spellings).finditer(text)]
        first = [bisect_right(masks, a, key=itemgetter(1)) for a, _ in spans]
        typed += [i < len(masks) and masks[i][0] < b for i, (_, b) in zip(first, spans)]
    masked = np.array(typed, dtype=bool)
    masked[feature_of[own & (feature_of >= 0)]] = True
    return feature_of, features, masked


def _owners(text, words, offsets, unit):
    """Each token's feature (-1: none) and each feature's characters."""
    # Behind the space that a token begins with.
    starts, ends = [b - len(text[a:b].lstrip()) for a, b in offsets.tolist()], offsets[:, 1].tolist()
    owner = np.full(len(offsets), -1, dtype=np.int64)
    if unit == "token":
        spans = []
        for i, (start, end) in enumerate(zip(starts, ends)):
            if start < end:
                # Bytes of one sign, or a space and its letter: nobody could tell them apart.
                last = spans.pop() if spans and start < spans[-1][1] else (start, end)
                spans.append((min(start, last[0]), max(end, last[1])))
                owner[i] = len(spans) - 1
        return owner, spans
    words = _spans(text, words, offsets, unit)
    word_of, end_of = (
        (np.searchsorted(words[:, 0], at, side) - 1).tolist() for at, side in ((starts, "right"), (ends, "left"))
    )
    spans, last, words = [], -1, words.tolist()
    for i, (word, end_word) in enumerate(zip(word_of, end_of)):
        if word < 0 or starts[i] >= ends[i]:
            continue
        end_word = max(end_word, word)
        if word > last:
            spans.append((words[word][0], words[end_word][1]))
        elif end_word > last:
            spans[-1] = (spans[-1][0], words[end_word][1])
        last = max(last, end_word)
        owner[i] = len(spans) - 1
    return owner, spans


def _spans(text, words, offsets, unit) -> np.ndarray:
    """Characters of words, int64[W, 2], or of groups, the last no further than to the end of a word that is read."""
    if unit not in GROUPS:
        return words
    groups = np.array(find_groups(text, unit), dtype=np.int64).reshape(-1, 2)
    read_to = offsets[:, 1].max(initial=0)
    read = words[words[:, 0] < read_to, 1].max(initial=0)
    groups[:, 1] = np.where(groups[:, 0] < read_to, np.minimum(groups[:, 1], read), groups[:, 1])
    return groups


def _truncation(words, second, cut, sides, ends):
    if not cut:
        return Truncation(len(words), len(words), False)
    read_to, second_to = (ends[sides == side].max(initial=0) for side in (0, 1))
    read = int((words[:, 0] < read_to).sum())
    word_cut = read > 0 and bool(words[read - 1, 1] > read_to)
    return Truncation(len(words), read, second is not None and bool(second_to < len(second.rstrip())), word_cut)
