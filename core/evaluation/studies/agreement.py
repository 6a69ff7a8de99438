"""How far importance measures agree on each example: rank correlations of their attributions of the unmasked text."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from core.evaluation.study import Column, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer
from core.explanation.rows import choose_variant, measured_each
from core.mathematics.ranking import kendall_tau
from core.measures.catalogue import measure, offered_measures
from core.network.features import Encoded
from core.network.model import Model
from core.network.scheduler import NonFinite
from core.storage.content import Content, Numbers
from core.wording import refuse_unknown


@dataclass(frozen=True)
class Agreement(Study[Rows]):
    """Kendall's τ-b of each two measures (at least two) for the predicted class over the features that the text does
    not mask, float64[M(M − 1)/2]; NaN where one of them has no order. Source: glossary, Agreement.
    """

    name = "agreement"
    columns: ClassVar = {"tau": Column((0,))}
    label = "disagreement of measures"

    measures: tuple[str, ...]
    sign: str = "signed"
    unit: str = "word"

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On each measure."""
        return {"measures": measured_each(explainer, self.measures, self.sign)}

    def check(self, model: Model | None = None) -> None:
        """As everywhere: a measure that there is not, or fewer than two."""
        refuse_unknown(("measure", self.measures, offered_measures(self.measures)))
        if len(self.measures) < 2:
            raise ValueError(f"measures can only disagree where there are two, got {self.measures}")

    def row(self, subject: Subject) -> dict[str, Any]:
        """How far each two measures agree."""
        encoded, cancelled = subject.encoded, subject.cancelled
        target, free = int(subject.explainer.probabilities(encoded).argmax()), ~encoded.premasked
        scores = []
        for name in self.measures:
            found = subject.explainer.attribute(encoded, name, target, cancelled=cancelled)
            scores.append(found.scores[choose_variant(measure(name), self.sign)][free])
            if np.isnan(scores[-1]).any():
                raise NonFinite(f"{name} gave NaN scores.")
        return {"tau": np.array([kendall_tau(first, second) for first, second in combinations(scores, 2)])}

    def content(self, explainer: Explainer) -> Content:
        """A correlation for each two."""
        M = len(self.measures)
        return Content({"tau": Numbers("float64", (M * (M - 1) // 2,), -1, 1, nan=True)})

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """What the attributions of an example take; what is known already is not counted off."""
        return Cost.sum([Cost(1, 0.0), *(explainer.cost(encoded, name) for name in self.measures)])


def least_agreement(rows: Rows) -> np.ndarray:
    """The smallest τ-b among each two measures of N examples, float64[N] in [−1, 1]; NaN where there is none."""
    # Of rows that are not known the column holds NaN, too.
    tau = rows.columns["tau"]
    there = ~np.isnan(tau)
    return np.where(there.any(axis=1), np.where(there, tau, np.inf).min(axis=1, initial=np.inf), np.nan)
