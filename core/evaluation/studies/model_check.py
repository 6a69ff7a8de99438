"""Check a model under masking: performance and p-values at every ratio, for measures and random order."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.evaluation.studies.orders import OrderStudy
from core.evaluation.study import Column, Known, Rows, Subject
from core.explanation.explainer import Cost, Explainer, softmax
from core.explanation.plausibility import evidence_of
from core.explanation.recursive import BY_RATIO, compared_at, follow, path_cost, planned_counts, random_masks
from core.explanation.rows import measured
from core.mathematics.masking import RATIOS
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.network.features import Encoded
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.validity.mask_tests import MaskTest
from core.validity.references import FORMS

K = len(RATIOS)


@dataclass(frozen=True, eq=False)
class Passed(Known):
    """N examples along one curve of K masking ratios, as far as they are computed.

    predicted: int32[N, K], −1 where not computed; values: float64[N, K], the label's probability; p: {form: float64[N,
    K]}, NaN without a reference; found: float64[N, 2], average precision of the evidence in the unmasked text's
    attribution and recall of the top k, NaN where there is none; problems: {example: sentence}, examples that have no
    curve; cut: examples that are longer than the model reads, {example: tokens that it reads}; chance: float64[N],
    average precision of a random order on average, NaN where no evidence is known, or None; tokens:
    float64[N], lengths of the examples, NaN of those that the model cannot read, or None.
    """

    predicted: np.ndarray
    values: np.ndarray
    p: dict[str, np.ndarray]
    found: np.ndarray
    problems: dict[int, str]
    cut: dict[int, int] = field(default_factory=dict)
    chance: np.ndarray | None = None
    tokens: np.ndarray | None = None
    typed: int = 0

    @property
    def there(self) -> np.ndarray:
        """Which examples are computed, bool[N]."""
        return self.predicted[:, 0] >= 0


@dataclass(frozen=True)
class Curve(OrderStudy[Passed]):
    """Follow an order on every example, explaining its label: a measure's, recomputed at each step or once, or a
    random.

    unit: what is masked as one piece. Source: FMM §5.2, Fig. 4; glossary, Score.
    """

    name, version = "model check", 2
    columns: ClassVar = {
        "predicted": Column((K,), np.int32(-1)),
        "values": Column((K,)),
        "p": Column((len(FORMS), K)),
        "found": Column((2,)),
    }

    recompute: bool = True
    seed: int = 0

    @property
    def label(self) -> str:
        """Its measure, and how it was computed where that is not recursive; a random order's seed, unless it is 0."""
        if self.random and self.seed:
            return f"{self.measure}, seed {self.seed}"
        return self.measure if self.random or self.recompute else f"{self.measure}, computed once"

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On the reference, and on a random order or a measure."""
        if self.random:
            return {"reference": explainer.tests_by, "seed": self.seed}
        about = measured(explainer, self.measure, self.sign) | {"reference": explainer.tests_by}
        return about | {"recompute": self.recompute and not measure(self.measure).recursive}

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it, the label, and the evidence that a measure is scored by."""
        evidence = () if self.random else subject.example.evidence
        about = {"example": subject.encoded.digest, "label": subject.label, "evidence": evidence}
        return [canonical_key("model check/row", 1, **about)]

    def content(self, explainer: Explainer) -> Content:
        """Classes of the model, shares, and p-values wherever there is a reference."""
        numbers = {
            "predicted": Numbers("int32", (K,), 0, explainer.model.C - 1),
            "values": Numbers("float64", (K,), 0, 1),
            "p": Numbers("float64", (len(FORMS), K), 0, 1, nan=explainer.reference is None),
            "found": Numbers("float64", (2,), 0, 1, nan=True),
        }
        return Content(numbers)

    def row(self, subject: Subject) -> dict[str, np.ndarray]:
        """What the model says at each ratio, and how well the first step's attribution finds the evidence."""
        logits, p, found = self._walk(subject)
        return {
            "predicted": logits.argmax(axis=1),
            "values": softmax(logits)[:, subject.label],
            "p": p,
            "found": np.array(found),
        }

    def facts(self, subject: Subject) -> dict[str, float]:
        """As everywhere, and what a random order would find of the evidence."""
        evidence = evidence_of(subject.encoded, subject.example.evidence)
        return super().facts(subject) | {"chance": np.nan if evidence is None else evidence.chance_precision}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Passed | None = None) -> Cost:
        """What the curve takes on an example at most; what is known already is not counted off."""
        if not self.random:
            return path_cost(explainer, encoded, self.measure, BY_RATIO, self.recompute)
        passes = len(np.unique(planned_counts(encoded.F, BY_RATIO, int(encoded.premasked.sum()))))
        return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)

    def report(self, rows: Rows) -> Passed:
        """The curve as far as it is known."""
        columns = {name: values.copy() for name, values in rows.columns.items()}
        p = {form: columns["p"][:, f] for f, form in enumerate(FORMS)}
        known = columns["predicted"], columns["values"], p, columns["found"]
        return Passed(*known, rows.problems, rows.cut, rows.fact("chance"), rows.fact("tokens"), rows.typed)

    def _walk(self, subject: Subject) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
        """Logits float32[K, C], p float64[forms, K], and what is found of the evidence."""
        explainer, encoded = subject.explainer, subject.encoded
        if self.random:
            counts = planned_counts(encoded.F, BY_RATIO, int(encoded.premasked.sum()))
            judged: MaskTest = explainer.tested(encoded).judge(
                random_masks(encoded, counts, 1, self.seed)[0],
                compared_at(counts, encoded.F, BY_RATIO),
                cancelled=subject.cancelled,
            )
            return judged.logits, np.stack([judged.p.get(form, np.full(K, np.nan)) for form in FORMS]), (np.nan, np.nan)
        name, label, cancelled = self.measure, subject.label, subject.cancelled
        first = None
        if subject.example.evidence and not encoded.premasked.all():
            first = explainer.attribute(encoded, name, label, cancelled=cancelled)
        walked = (name, label, self.sign, BY_RATIO, self.recompute)
        steps = finish(follow(explainer, encoded, *walked, together=True, first=first, cancelled=cancelled))
        p = np.array([[step.p.get(form, np.nan) for step in steps] for form in FORMS])
        return np.stack([step.logits for step in steps]), p, finds(encoded, steps[0].scores, subject.example.evidence)


def finds(encoded: Encoded, scores: np.ndarray, spans: tuple[tuple[int, int], ...]) -> tuple[float, float]:
    """Average precision of the evidence among the features, and recall of the top k; NaN without evidence."""
    evidence = evidence_of(encoded, spans)
    return (np.nan, np.nan) if evidence is None else (evidence.precision(scores), evidence.recall(scores))
