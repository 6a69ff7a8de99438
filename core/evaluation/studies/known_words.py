"""Words of texts whose scores and verdicts are known, and of which texts a measure is heard."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.evaluation.studies.word_scores import read_words
from core.evaluation.study import Rows
from core.mathematics.statistics import holm


@dataclass(frozen=True, eq=False)
class KnownTexts:
    """Texts that have scores and verdicts. at: int64[n], their places in the sample; texts: see `WordScores`; faithful:
    bool[n, M], of which each measure is heard.
    """

    at: np.ndarray
    texts: list[Mapping[str, Any]]
    faithful: np.ndarray

    def only(self, at: np.ndarray) -> "KnownTexts":
        """Those at these places, all of which there are."""
        chosen = np.searchsorted(self.at, at)
        return KnownTexts(at, [self.texts[i] for i in chosen], self.faithful[chosen])


def known_texts(scored: Rows, judged: Rows) -> KnownTexts:
    """What is known of each text by now, of `WordScores` and of `VerdictsOfTexts`."""
    at = np.flatnonzero(scored.there & judged.there)
    faithful = faithful_texts(*(judged.columns[name][at] for name in ("word", "worse", "p")))
    return KnownTexts(at, [read_words(scored, i) for i in at], faithful)


def faithful_texts(word: np.ndarray, worse: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Of which texts each measure is heard: in-distribution ones whose order beats more random orders than beat it, of
    measures that are better than random over all of them. A verdict of each text would drop those on which one word
    decides, where many random orders begin with it too.

    Args:
        word, worse, p: float64[n, M], columns of `VerdictsOfTexts`; the two p are bounds whose difference is exact.
    Returns:
        bool[n, M]. Source: glossary, Words over the data.
    """
    lead = np.where(np.isnan(word), np.nan, worse - p)
    return (lead > 0) & holm(np.array([_above_zero(one[~np.isnan(one)]) for one in lead.T]))


def _above_zero(lead: np.ndarray) -> float:
    """One-sided p of Student's t-test that the mean of float64[n] is not above 0."""
    from scipy.special import stdtr

    if len(lead) < 2 or np.ptp(lead) == 0:
        return 0.0 if len(lead) > 1 and lead[0] > 0 else 1.0
    return float(stdtr(len(lead) - 1, -lead.mean() / (lead.std(ddof=1) / np.sqrt(len(lead)))))
