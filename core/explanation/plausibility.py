"""Known evidence of an example beside what measures rank first: how well each finds it, and which finds it best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.mathematics.evidence import (
    average_precision,
    evidence_mask,
    expected_average_precision,
    expected_recall,
    recall_at,
)
from core.measures.catalogue import measure
from core.network.features import Encoded

MEANING = (
    "Average precision: how far in front the measure ranks the evidence, "
    "1 is before everything else. It is plausibility, agreement with people; it does not say what the model uses."
)
_TIE = 1e-9
# Average precisions that are closer are about alike.
ALIKE = 0.05


@dataclass(frozen=True, eq=False)
class Evidence:
    """Which features of a text are evidence: mask bool[F]; masked: bool[F], features that the text itself masks, which
    count for nothing.
    """

    mask: np.ndarray
    masked: np.ndarray

    @property
    def m(self) -> int:
        """Features that are evidence and can be found, at least 1."""
        return int((self.mask & ~self.masked).sum())

    @property
    def F(self) -> int:
        """Features that are ranked."""
        return int((~self.masked).sum())

    @property
    def everything(self) -> bool:
        """Whether all of the text is evidence, so that every order finds it."""
        return self.m == self.F

    @property
    def chance_precision(self) -> float:
        """Average precision of a random order on average, higher is better."""
        return expected_average_precision(self.F, self.m)

    @property
    def chance_recall(self) -> float:
        """Recall of the top m of a random order on average, higher is better."""
        return expected_recall(self.F, self.m)

    def precision(self, scores: np.ndarray) -> float:
        """Average precision of float[F], in (0, 1], higher is better; NaN where all scores are equal, which is no
        order.
        """
        return average_precision(scores, self.mask, self.masked) if self._ordered(scores) else float("nan")

    def recall(self, scores: np.ndarray) -> float:
        """Recall of the top m of float[F], in [0, 1], higher is better; NaN where all scores are equal."""
        return recall_at(scores, self.mask, None, self.masked) if self._ordered(scores) else float("nan")

    def precision_of(self, first: np.ndarray, last: np.ndarray) -> float:
        """Average precision of an order, int64[F'], the most important first.

        last: the order of the negated scores; NaN where both are the same, since then all scores are equal.
        """
        scores = np.zeros(len(self.mask))
        scores[first] = -np.arange(len(first))
        return float("nan") if len(first) > 1 and np.array_equal(first, last) else self.precision(scores)

    def _ordered(self, scores: np.ndarray) -> bool:
        free = np.asarray(scores, dtype=np.float64)[~self.masked]
        return len(free) == 1 or bool(np.ptp(free) > 0)


def evidence_of(encoded: Encoded, spans: Sequence[tuple[int, int]]) -> Evidence | None:
    """The evidence of a text as a model reads it; None where nothing of it can be found: none is known, or it is not
    read, or masked in the text.
    """
    mask = feature_mask(encoded, spans)
    found = Evidence(mask, encoded.premasked)
    return found if found.m else None


def feature_mask(encoded: Encoded, spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """Which features of the first text share a character with a span, bool[F]."""
    features = encoded.features
    shared = evidence_mask([feature.start for feature in features], [feature.end for feature in features], spans)
    return shared & np.array([feature.side == 0 for feature in features], dtype=bool)


def leaders(values: Mapping[str, float], within: float = _TIE) -> tuple[str, ...]:
    """The measures with the highest value; those that tie, or lie `within` less of it, together, baselines and NaN
    left out.
    """
    known = {name: value for name, value in values.items() if value == value and not measure(name).baseline}
    return tuple(name for name, value in known.items() if value > max(known.values()) - within)
