"""Mutual information of a word's presence and the class, over a training split: what a measure must beat."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from core.measures.registry import WORDS, Explained, Measure, NotApplicable, WordBits, register
from core.network.features import find_words


class MissingClass(ValueError):
    """A training split lacks one of the classes; the message names it."""


def count_bits(present: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Σ_c P(c) · I(U_w; C_c): presence of word w, and class c against the rest; smoothed by a text of each class that
    holds every word.

    I = Σ_{u,c} N_uc/N · log₂(N · N_uc/(N_u · N_c)), and 0 · log₂ 0 = 0.

    Args:
        present: texts of each class that hold each word, int64[W, C].
        sizes: texts of each class, int64[C].
    Returns:
        float64[W], bits, in [0, 1].
    Source: ROAR §5.2 and its code, which this follows.
    """
    both = present + 1.0
    of_class, with_word = sizes + 1.0, both.sum(axis=1, keepdims=True)
    N = of_class.sum()
    cells = (
        (both, with_word, of_class),
        (with_word - both, with_word, N - of_class),
        (of_class - both, N - with_word, of_class),
        (N - with_word - of_class + both, N - with_word, N - of_class),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(n > 0, n / N * np.log2(N * n / (u * c)), 0.0) for n, u, c in cells]
    # Rounding can leave what is independent a little below zero.
    return np.maximum((np.sum(terms, axis=0) * of_class / N).sum(axis=1), 0.0)


def measure_words(texts: Sequence[str], labels: np.ndarray, classes: Sequence[str]) -> WordBits:
    """Mutual information of every word of labelled texts; a word counts once a text, however it is capitalised.

    Args:
        texts: N; labels: int64[N], indices into `classes`.
    Raises:
        MissingClass: a class has no text.
    Source: ROAR §5.2. Words are those of the app, where ROAR counts its tokenizer's tokens.
    """
    sizes = np.bincount(labels, minlength=len(classes))
    lacking = [name for name, size in zip(classes, sizes) if not size]
    if len(classes) < 2:
        raise MissingClass("Mutual information needs two classes; there is one.")
    if lacking:
        raise MissingClass(
            f"None of these {len(texts)} texts is of class {', '.join(lacking)}; give the whole training split."
        )
    counts: Counter = Counter()
    for text, label in zip(texts, labels.tolist()):
        counts.update((word, label) for word in {text[a:b].casefold() for a, b in find_words(text)})
    place = {word: i for i, word in enumerate(sorted({word for word, _ in counts}))}
    # The last row is a word that is nowhere.
    present = np.zeros((len(place) + 1, len(classes)), dtype=np.int64)
    for (word, label), count in counts.items():
        present[place[word], label] = count
    *bits, unseen = count_bits(present, sizes).tolist()
    return WordBits(dict(zip(place, bits)), unseen)


def mutual_information(explained: Explained) -> dict[str, np.ndarray]:
    """Bits of the words that a feature holds any part of, added up; what the model does has no part in it.

    Returns:
        {"absolute": float64[F]}, at least 0, the same for every class.
    Raises:
        NotApplicable: no words were measured for this model.
    Source: ROAR §5.2.
    """
    bits, encoded = explained.words, explained.network.encoded
    if bits is None:
        raise NotApplicable(
            "Mutual information is not measured for this model. Run: python -m core words --model MODEL "
            "--data FILE, FILE being its labelled training texts."
        )
    words = [find_words(text) for text in encoded.sides]
    scores = [
        sum(
            bits.of(encoded.sides[feature.side][a:b])
            for a, b in words[feature.side]
            if a < feature.end and b > feature.start
        )
        for feature in encoded.features
    ]
    return {"absolute": np.where(explained.masked, 0.0, scores)}


register(
    Measure(
        name="mutual information",
        variants=("absolute",),
        signed=frozenset(),
        baseline=True,
        definition="Information about the class in whether a training text holds the word; ignores the model.",
        cost="0",
        passes=lambda F: 0,
        needs=WORDS,
        source="ROAR §5.2",
        unit="bits",
        compute=mutual_information,
        hue="#8a7a3c",
        order=75,
    )
)
