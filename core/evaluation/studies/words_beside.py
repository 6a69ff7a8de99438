"""Two models side by side: words that are among the first three of one and not of the other, on the same texts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.evaluation.studies.known_words import KnownTexts
from core.evaluation.studies.words_question import Words
from core.evaluation.study import Answers, Table
from core.mathematics.statistics import holm_adjusted, significant
from core.wording import Tally, p_value, share_text

# Texts by word, each: whether it is in the top 3 of the first model, and of the second.
_Pairs = Mapping[tuple[str, str], list[tuple[int, int]]]


class WordGap(NamedTuple):
    """A word by one measure on the texts that hold it and of which the measure is heard under both models.

    texts: how many these are; first, second: share of them in which it is among the first three, of each model; p:
    two-sided p of McNemar's exact test of these shares, Holm-adjusted over words and measures.
    """

    word: str
    measure: str
    texts: int
    first: float
    second: float
    p: float


@dataclass(frozen=True)
class WordsBeside:
    """Words of two models. models: their names; gaps: the smallest p in front, of equal ones the largest difference; n:
    texts that both read; tally: how far the one is that is less far.
    """

    models: tuple[str, str]
    gaps: tuple[WordGap, ...]
    n: int
    tally: Tally

    @property
    def apart(self) -> list[WordGap]:
        """Words that one model has among the first three significantly more often."""
        return [one for one in self.gaps if significant(one.p)]


def compare_words(question: Words, first: Answers, second: Answers) -> WordsBeside | None:
    """Set the words of two models beside each other; None before the first text that both have.

    Tested are words of so many texts that they could be significant, by no more than how many that is: the most
    frequent k for which `2^(1 − texts) < 5 % / k`.

    Source: glossary, Words over the data; McNemar (1947); Holm (1979).
    """
    sides = [question.known(one) for one in (first, second)]
    both = np.intersect1d(sides[0].at, sides[1].at)
    if not len(both):
        return None
    pairs = dict(_pairs(question, [side.only(both) for side in sides]))
    tested = _testable({key: len(found) for key, found in pairs.items()})
    shares = {key: np.array(pairs[key], dtype=np.float64).mean(axis=0).tolist() for key in tested}
    p = holm_adjusted(np.array([_mcnemar(pairs[key]) for key in tested]))
    gaps = [WordGap(*key, len(pairs[key]), *shares[key], float(one)) for key, one in zip(tested, p)]
    gaps.sort(key=lambda one: (one.p, -abs(one.first - one.second), one.word, one.measure))
    tally = min((one.tally((question.scores,)) for one in (first, second)), key=lambda one: one.n)
    return WordsBeside((first.model.name, second.model.name), tuple(gaps), len(both), tally)


def words_beside_table(report: WordsBeside) -> Table:
    """Each tested word by each measure under both models."""
    header = ["word", "measure", "texts", *(f"in top 3, {name}" for name in report.models), "p (Holm)"]
    shares = [(share_text(one.first), share_text(one.second)) for one in report.gaps]
    return header, [
        [one.word, one.measure, f"{one.texts:,}", *each, p_value(one.p)] for one, each in zip(report.gaps, shares)
    ]


def _pairs(question: Words, sides: list[KnownTexts]) -> Iterator[tuple[tuple[str, str], list[tuple[int, int]]]]:
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for m, name in enumerate(question.measures):
        for i, heard in enumerate(sides[0].faithful[:, m] & sides[1].faithful[:, m]):
            if heard:
                tops = [dict(zip(side.texts[i]["words"], side.texts[i]["top"][m])) for side in sides]
                for word in tops[0].keys() & tops[1].keys():
                    found.setdefault((word, name), []).append((tops[0][word], tops[1][word]))
    yield from sorted(found.items())


def _testable(counts: Mapping[tuple[str, str], int]) -> list[tuple[str, str]]:
    """The most frequent that could all be significant at once, whatever the outcomes; of as many texts all or none."""
    most: list[tuple[str, str]] = []
    for n in sorted(set(counts.values()), reverse=True):
        k = sum(count >= n for count in counts.values())
        if significant(k * 2.0 ** (1 - n)):
            most = [key for key, count in counts.items() if count >= n]
    return most


def _mcnemar(pairs: list[tuple[int, int]]) -> float:
    from scipy.stats import binomtest

    more, less = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return float(binomtest(more, more + less).pvalue) if more + less else 1.0
