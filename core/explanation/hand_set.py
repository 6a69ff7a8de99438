"""Two attributions that a person sets by hand: the same words in the same order, other weights (SoftFaith Fig. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.explanation.judging import Judge
from core.explanation.rows import WordRow
from core.mathematics.ranking import ranking, ranks
from core.metrics.catalogue import hard_and_soft
from core.metrics.registry import Score

# Words whose weights are set, at most; and what every other word weighs.
TOP, REST = 3, 0.05
# Closer than this no three digits show a difference.
_SAME = 5e-4


@dataclass(frozen=True, eq=False)
class Pair:
    """Two attributions under hard and soft metrics.

    scores: two float64[F]; found: two {metric: Score}; same_order: whether they rank the words alike.
    """

    scores: tuple[np.ndarray, np.ndarray]
    found: tuple[dict[str, Score], dict[str, Score]]
    same_order: bool

    def differ(self, metric: str) -> bool | None:
        """Whether a metric tells the two apart; None where it is undefined."""
        first, second = (found[metric].value for found in self.found)
        return None if np.isnan(first) or np.isnan(second) else abs(first - second) > _SAME


def top_words(scores: np.ndarray, masked: np.ndarray, k: int = TOP) -> list[int]:
    """The k features that rank first, those that the text masks left out."""
    free = np.flatnonzero(~np.asarray(masked, dtype=bool))
    return free[ranking(np.asarray(scores, dtype=np.float64)[free])][:k].tolist()


def weighted(F: int, top: Sequence[int], weights: Sequence[float]) -> np.ndarray:
    """An attribution in which some features have the given weights and all others REST, float64[F]."""
    scores = np.full(F, REST)
    scores[list(top)] = weights
    return scores


def row_of(name: str, scores: np.ndarray, masked: np.ndarray) -> WordRow:
    """An attribution by hand as a row of coloured words."""
    largest, places = float(scores[~masked].max(initial=0.0)), np.zeros(len(scores), dtype=np.int64)
    places[~masked] = ranks(scores[~masked])
    return WordRow(
        name,
        "set by hand",
        "positive",
        "none",
        scores,
        np.where(masked, 0.0, scores / (largest or 1.0)),
        places,
        largest,
        masked,
    )


def judge_pair(judge: Judge, top: Sequence[int], first: Sequence[float], second: Sequence[float]) -> Pair:
    """Judge two attributions that give the same features other weights.

    Hard metrics read the order alone, soft ones the weights too.

    Raises:
        Cancelled, OutOfMemory, NonFinite: as the oracle.
    Source: SoftFaith Fig. 1.
    """
    masked = judge.encoded.premasked
    scores = weighted(judge.encoded.F, top, first), weighted(judge.encoded.F, top, second)
    one, other = (ranking(each[~masked]).tolist() for each in scores)
    metrics = [name for kind in zip(*hard_and_soft()) for name in kind]
    found = judge.rate(scores[0], metrics).found, judge.rate(scores[1], metrics).found
    return Pair(scores, found, one == other)
