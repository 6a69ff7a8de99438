"""Words for a class and a measure, counted over the texts of which the measure is heard."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.evaluation.studies.known_words import KnownTexts
from core.mathematics.statistics import Interval, mean_intervals

# Texts that a word stands in at least, and resamples of an interval.
FEWEST, RESAMPLES = 5, 1_999


class WordLine(NamedTuple):
    """A word for a class and a measure, from the faithful texts of that class which hold it.

    texts: how many these are; mean: of its scores, ↑ supports the class where the measure has a sign, with a 95 % BCa
    interval over texts; top: share of them in which it is among the first three; alone: share in which masking it alone
    changes the prediction; right, others: accuracy on the labelled texts with the word and without, NaN where there are
    none.
    """

    word: str
    label: str
    measure: str
    texts: int
    mean: Interval
    top: float
    alone: float
    right: float
    others: float


def lines_by_word(
    measures: Sequence[str], known: KnownTexts, right: np.ndarray, labels: Sequence[str]
) -> list[WordLine]:
    """The words by measure and class, the largest mean in front.

    Args:
        right: float64[n], whether the prediction for a text is its label; NaN where it has none.
    """
    number: dict[str, int] = {}
    words = np.array([number.setdefault(word, len(number)) for one in known.texts for word in one["words"]], np.int64)
    texts = np.repeat(np.arange(len(known.texts)), [len(one["words"]) for one in known.texts])
    classes, named = np.array([one["class"] for one in known.texts]), list(number)
    m, at = np.nonzero(known.faithful[texts].T)
    keys = (m * len(labels) + classes[texts[at]]) * len(named) + words[at]
    # Text by text within a word: what is drawn depends on their order.
    order = np.argsort(keys, kind="stable")
    m, at, keys = m[order], at[order], keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(starts, append=len(keys))
    means = _means(_of_measures(known, "scores", measures)[m, at], starts, counts)
    alone, good = np.array([each for one in known.texts for each in one["alone"]])[at], right[texts[at]]
    added = np.stack([_of_measures(known, "top", measures)[m, at], alone, np.nan_to_num(good), ~np.isnan(good)])
    sums = np.add.reduceat(added, starts, axis=1).T.tolist()
    every = _judged(known, classes, right, len(labels))
    lines = []
    for start, n, (top, changed, own, judged) in zip(starts.tolist(), counts.tolist(), sums):
        if n >= FEWEST:
            of, word = divmod(int(keys[start]), len(named))
            name, label = measures[of // len(labels)], labels[of % len(labels)]
            correct, there = every[of]
            accuracies = _share(own, judged), _share(correct - own, there - judged)
            lines.append((of, WordLine(named[word], label, name, n, means[start], top / n, changed / n, *accuracies)))
    return [line for _, line in sorted(lines, key=lambda one: (one[0], -one[1].mean.mean, one[1].word))]


def _of_measures(known: KnownTexts, column: str, measures: Sequence[str]) -> np.ndarray:
    """A column of all words of all texts, float64[M, K]."""
    return np.array([[each for one in known.texts for each in one[column][k]] for k in range(len(measures))], float)


def _means(scores: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> dict[int, Interval]:
    """The mean of each run of scores with its interval, by its start; runs of one length share their resamples."""
    found = {}
    for n in np.unique(counts[counts >= FEWEST]).tolist():
        at = starts[counts == n]
        found |= dict(zip(at.tolist(), mean_intervals(scores[at + np.arange(n)[:, None]], RESAMPLES)))
    return found


def _judged(known: KnownTexts, classes: np.ndarray, right: np.ndarray, C: int) -> list[tuple[float, float]]:
    """Of each measure and class the texts that are right, and those that have a label."""
    chosen = [right[heard & (classes == c)] for heard in known.faithful.T for c in range(C)]
    return [(float(np.nansum(one)), float((~np.isnan(one)).sum())) for one in chosen]


def _share(count: float, n: float) -> float:
    return count / n if n else np.nan
