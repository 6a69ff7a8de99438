"""Two attributions that a person sets by hand: the same words in the same order, other weights (SoftFaith Fig. 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.explanation.rows import WordRow
from core.judging.judging import Inputs, Judge
from core.judging.metric_table import gate_of_inputs, orders
from core.mathematics.ranking import ranking, ranks
from core.metrics.catalogue import hard_and_soft, metrics
from core.metrics.registry import Score
from core.validity.marks import Gate

# Words whose weights are set, at most; and what every other word weighs.
TOP, REST = 3, 0.05


@dataclass(frozen=True, eq=False)
class Pair:
    """Two attributions under hard and soft metrics.

    scores: two float64[F]; found: two {metric: Score}; same_order: whether they rank the words alike; inputs: of each
    the tested inputs behind its scores, {metric: Inputs}.
    """

    scores: tuple[np.ndarray, np.ndarray]
    found: tuple[dict[str, Score], dict[str, Score]]
    same_order: bool
    inputs: tuple[dict[str, Inputs], dict[str, Inputs]] = ({}, {})

    def gates(self, floor: float | None, rule: str, form: str) -> dict[tuple[int, str], Gate]:
        """{(0 or 1, metric): gate} of the scores whose inputs were tested, as of `gate_of_inputs`."""
        return {
            (k, name): gate_of_inputs(found.p, floor, rule, form)
            for k, inputs in enumerate(self.inputs)
            for name, found in inputs.items()
            if not np.isnan(self.found[k][name].value)
        }

    def differ(self, metric: str) -> bool | None:
        """Whether a metric tells the two apart, by the rule of places, see `orders`; None where it is undefined."""
        both = [found[metric] for found in self.found]
        values, errors = np.array([[one.value] for one in both]), np.array([[one.error] for one in both])
        order = orders(values, np.array([metrics()[metric].direction]), errors)[0, 1, 0]
        return None if np.isnan(order) else bool(order)


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
    names = [name for kind in zip(*hard_and_soft()) for name in kind]
    rated, beside = (judge.rate(each, names) for each in scores)
    return Pair(scores, (rated.found, beside.found), one == other, (rated.inputs, beside.inputs))
