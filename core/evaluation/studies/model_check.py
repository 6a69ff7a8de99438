"""Check a model under masking on a sample of its data: performance and p-values at every masking ratio, for measures
and random order.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from core.evaluation.engine import SampleRun, sample_cost
from core.evaluation.sampling import Sample
from core.explanation.explainer import Cost, Explainer, softmax
from core.explanation.plausibility import evidence_of
from core.explanation.recursive import BY_RATIO, follow, path_cost, planned_counts, random_masks
from core.explanation.rows import measured
from core.mathematics.masking import RATIOS
from core.measures.catalogue import measures
from core.network.features import Encoded
from core.storage.store import Store, canonical_key
from core.validity.mask_tests import MaskTest
from core.validity.references import FORMS

RANDOM = "random order"
K = len(RATIOS)


@dataclass(frozen=True)
class Curve:
    """What one curve follows: a measure, or a random order of its own seed; unit: what is masked as one piece;
    recompute: at each step, or once.
    """

    measure: str = RANDOM
    sign: str = "signed"
    unit: str = "word"
    recompute: bool = True
    seed: int = 0

    @property
    def random(self) -> bool:
        return self.measure == RANDOM

    def key(self, explainer: Explainer) -> str:
        """Where the store keeps it, for all examples of whatever data."""
        model, reference = explainer.model, explainer.reference
        about = {
            "model": model.digest,
            "precision": model.precision,
            "reference": None if reference is None else reference.digest,
            "unit": self.unit,
        }
        if self.random:
            about |= {"seed": self.seed}
        else:
            measure = measures()[self.measure]
            about |= measured(measure, self.sign) | {"recompute": self.recompute and not measure.recursive}
        return canonical_key("model check", 1, **about)


@dataclass(frozen=True, eq=False)
class Passed:
    """N examples along one curve of K masking ratios, as far as they are computed.

    predicted: int64[N, K], −1 where not computed; values: float64[N, K], the label's probability; p: {form: float64[N,
    K]},
    NaN without a reference; found: float64[N, 2], average precision of the evidence in the unmasked text's attribution
    and recall of the top k,
    NaN where there is none; problems: {example: sentence}, examples that have no curve; cut: examples that are longer
    than the model reads;
    chance: float64[N], average precision of a random order on average, NaN where no evidence is known, or None; tokens:
    int64[N'],
    lengths of the examples that the model can read, or None.
    """

    predicted: np.ndarray
    values: np.ndarray
    p: dict[str, np.ndarray]
    found: np.ndarray
    problems: dict[int, str]
    cut: int = 0
    chance: np.ndarray | None = None
    tokens: np.ndarray | None = None

    @property
    def there(self) -> np.ndarray:
        """Which examples are computed, bool[N]."""
        return self.predicted[:, 0] >= 0

    @property
    def done(self) -> int:
        """Examples that are computed or have a problem."""
        return int(self.there.sum()) + len(self.problems)


def check(
    explainer: Explainer,
    sample: Sample,
    curve: Curve,
    store: Store | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Passed, None, Passed]:
    """Follow a curve on every example of a sample, explaining its label; yields what is known after each, and returns
    all of it.

    What was computed before, on this or another sample, is read from the store; the work goes on where it was
    cancelled or killed. Texts in which nothing can be masked, or for which the model gives NaN, are left out and
    counted.

    Args:
        progress: called with (examples done, N).
    Raises:
        Cancelled, OutOfMemory: what was computed before is kept.
    Source: FMM §5.2, Fig. 4; glossary, Score: curves of a data set explain the label.
    """
    # The sample's own log is the store here: an entry for each step of each example would be thousands of files.
    bare = Explainer(explainer.model, None, explainer.reference)
    return (yield from _Run(bare, sample, curve, store).go(progress, cancelled))


def known(explainer: Explainer, sample: Sample, curve: Curve, store: Store) -> Passed:
    """What the store knows of a curve on a sample; computes nothing."""
    return _Run(explainer, sample, curve, store).so_far()


def check_cost(explainer: Explainer, sample: Sample, curve: Curve) -> Cost:
    """What a curve takes on a whole sample at most, going by some of its examples; what is known already is not counted
    off.
    """
    return sample_cost(explainer, sample, curve.unit, lambda encoded: _cost(explainer, encoded, curve))


def _cost(explainer: Explainer, encoded: Encoded, curve: Curve) -> Cost:
    if not curve.random:
        return path_cost(explainer, encoded, curve.measure, BY_RATIO, curve.recompute)
    passes = len(np.unique(planned_counts(encoded.F, BY_RATIO, int(encoded.premasked.sum()))))
    return Cost(passes, explainer.model.scheduler.counters.seconds_for(passes * encoded.T))


class _Run(SampleRun):
    """A curve on its way over a sample; a row is kept under the digest of its example, label and evidence."""

    columns = ("predicted", "values", "p", "found")

    def __init__(self, explainer: Explainer, sample: Sample, curve: Curve, store: Store | None):
        self.curve = curve
        self.chance = np.full(len(sample), np.nan)
        super().__init__(explainer, sample, curve.unit, curve.key(explainer), store)

    def so_far(self) -> Passed:
        """A picture of what is known now."""
        n = len(self.sample)
        blank = {
            "predicted": np.full((n, K), -1),
            "values": np.full((n, K), np.nan),
            "p": np.full((n, len(FORMS), K), np.nan),
            "found": np.full((n, 2), np.nan),
        }
        for column, rows in self.rows.items():
            blank[column][self.there] = rows[self.there]
        p = {form: blank["p"][:, f] for f, form in enumerate(FORMS)}
        return Passed(
            blank["predicted"],
            blank["values"],
            p,
            blank["found"],
            dict(self.problems),
            self.cut,
            self.chance.copy(),
            np.array([encoded.T for encoded in self.encoded.values()], dtype=np.int64),
        )

    def compute(self, i: int, encoded: Encoded, cancelled) -> dict[str, np.ndarray]:
        """The row of an example."""
        label = int(self.sample.labels[i])
        logits, p, found = self._walk(encoded, self.sample.examples[i], label, cancelled)
        return {
            "predicted": logits.argmax(axis=1).astype(np.int32),
            "values": softmax(logits)[:, label],
            "p": p,
            "found": np.array(found),
        }

    def encode(self, i: int) -> Encoded | None:
        """As everywhere; whether its evidence is known is noted on the way."""
        first, encoded = i not in self.encoded, super().encode(i)
        if first and encoded is not None:
            evidence = evidence_of(encoded, self.sample.examples[i].evidence)
            self.chance[i] = np.nan if evidence is None else evidence.chance_precision
        return encoded

    def name(self, i: int) -> str:
        """The example as the model reads it, the label, and the evidence that a measure is scored by."""
        evidence = () if self.curve.random else self.sample.examples[i].evidence
        return canonical_key(
            "model check/row", 1, example=self.encode(i).digest, label=int(self.sample.labels[i]), evidence=evidence
        )

    def _walk(
        self, encoded: Encoded, example, target: int, cancelled
    ) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
        """Logits float32[K, C], p float64[forms, K], and how well the first step's attribution finds the evidence."""
        if self.curve.random:
            counts = planned_counts(encoded.F, BY_RATIO, int(encoded.premasked.sum()))
            judged: MaskTest = self.explainer.tested(encoded).judge(
                random_masks(encoded, counts, 1, self.curve.seed)[0], cancelled=cancelled
            )
            return judged.logits, np.stack([judged.p.get(form, np.full(K, np.nan)) for form in FORMS]), (np.nan, np.nan)
        steps = ()
        for steps in follow(
            self.explainer,
            encoded,
            self.curve.measure,
            target,
            self.curve.sign,
            BY_RATIO,
            self.curve.recompute,
            cancelled=cancelled,
        ):
            pass
        p = np.array([[step.p.get(form, np.nan) for step in steps] for form in FORMS])
        return np.stack([step.logits for step in steps]), p, finds(encoded, steps[0].scores, example.evidence)

    def _fits(self, parts: dict[str, np.ndarray]) -> bool:
        return super()._fits(parts) and parts["p"].shape[1:] == (len(FORMS), K)


def finds(encoded: Encoded, scores: np.ndarray, spans: tuple[tuple[int, int], ...]) -> tuple[float, float]:
    """Average precision of the evidence among an example's features, and recall of the top k; NaN where no evidence is
    known.
    """
    evidence = evidence_of(encoded, spans)
    return (np.nan, np.nan) if evidence is None else (evidence.precision(scores), evidence.recall(scores))
