"""How a model behaves under masking: where an order changes its predictions, and how far that moves its embeddings."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from core.evaluation.engine import SampleRun, sample_cost
from core.evaluation.sampling import Sample
from core.explanation.explainer import Cost, Explainer
from core.explanation.recursive import BY_FEATURE, BY_RATIO, planned_counts, random_masks
from core.explanation.rows import choose_variant, measured
from core.mathematics.flips import first_flip
from core.mathematics.masking import RATIOS
from core.mathematics.ranking import ranking
from core.measures.catalogue import measures
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK, erasures_of
from core.storage.store import Store, canonical_key

RANDOM = "random order"
K = len(RATIOS)
# Random orders of each example whose flips are averaged; its embeddings follow the first of them.
ORDERS = 3
# The hidden states that are pooled: of the second-to-last layer.
LAYER = -2


@dataclass(frozen=True)
class Course:
    """In which order features are erased, most important first, by the attribution of the unmasked text for the class
    predicted on it; or at random.

    unit: what is erased as one piece; erasure: one of `core.oracle.erasing.ERASURES`; seed: of random orders.
    """

    measure: str = RANDOM
    sign: str = "signed"
    unit: str = "word"
    erasure: str = MASK
    seed: int = 0

    @property
    def random(self) -> bool:
        return self.measure == RANDOM

    def key(self, explainer: Explainer) -> str:
        """Where the store keeps it, for all examples of whatever data."""
        about = {
            "model": explainer.model.digest,
            "precision": explainer.model.precision,
            "unit": self.unit,
            "erasure": self.erasure,
        }
        if self.random:
            about |= {"seed": self.seed, "orders": ORDERS}
        else:
            measure = measures()[self.measure]
            about |= measured(measure, self.sign) | {"seed": self.seed if measure.seeded else None}
        return canonical_key("behaviour", 1, **about)


@dataclass(frozen=True, eq=False)
class Walked:
    """N examples along one course, as far as they are computed; rows of what is not `there` mean nothing. The arrays
    are shared: not to be changed.

    there: bool[N]; flips: int32[N, O], features erased at the first change of prediction in each of O orders, 0 where
    it never changes; free: int32[N],
    features F' that can be erased; logits: float32[N, K, C] and states: float16[N, K, H], the mean over the tokens of
    the second-to-last layer, at K
    ratios of the first order; problems: {example: sentence}, examples without all of this; cut: examples that are
    longer than the model reads.
    """

    there: np.ndarray
    flips: np.ndarray
    free: np.ndarray
    logits: np.ndarray
    states: np.ndarray
    problems: dict[int, str]
    cut: int = 0

    @property
    def done(self) -> int:
        """Examples that are computed or have a problem."""
        return int(self.there.sum()) + len(self.problems)

    @property
    def judged(self) -> np.ndarray:
        """Which examples say something of an order, bool[N]: of one feature alone C/F is 1 whatever is done."""
        return self.there & (self.free > 1)

    @property
    def shares(self) -> np.ndarray:
        """C/F of each example, float64[N], mean over its orders; 1 where the prediction never changes; lower is more
        faithful.
        """
        free = np.maximum(self.free, 1)[:, None]
        return (
            np.where(self.flips > 0, self.flips / free, 1.0).mean(axis=1)
            if self.flips.size
            else np.ones(len(self.there))
        )

    @property
    def never(self) -> np.ndarray:
        """Share of each example's orders in which the prediction never changes, float64[N]."""
        return (self.flips == 0).mean(axis=1) if self.flips.size else np.ones(len(self.there))

    @property
    def predicted(self) -> np.ndarray:
        """The class predicted at each ratio, int64[N, K]."""
        return self.logits.argmax(axis=2)


def behave(
    explainer: Explainer,
    sample: Sample,
    course: Course,
    store: Store | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Walked, None, Walked]:
    """Erase along a course on every example of a sample; yields what is known after each, and returns all of it.

    The prediction is followed one feature at a time until it changes, the embeddings at the ratios 0, 0.1 … 1 of all
    features.
    What the text itself masks stays masked and counts as no feature that is erased. What was computed before, on this
    or another
    sample, is read from the store. Departure: RobustInf replaces by the unknown token and ranks by integrated
    gradients; here any erasure and measure.

    Args:
        progress: called with (examples done, N).
    Raises:
        Cancelled, OutOfMemory: what was computed before is kept.
        ValueError: an erasure that there is not, or that the model's tokenizer has no token for.
    Source: RobustInf Eq. 1 and §5.
    """
    if course.erasure not in erasures_of(explainer.model):
        raise ValueError(
            f"{explainer.model.name} cannot erase by the {course.erasure}; choose of "
            f"{', '.join(erasures_of(explainer.model))}"
        )
    # The sample's own log is the store here: an entry for each text would be thousands of files.
    return (yield from _Run(Explainer(explainer.model), sample, course, store).go(progress, cancelled))


def known(explainer: Explainer, sample: Sample, course: Course, store: Store) -> Walked:
    """What the store knows of a course on a sample; computes nothing."""
    return _Run(explainer, sample, course, store).so_far()


def behave_cost(explainer: Explainer, sample: Sample, course: Course) -> Cost:
    """What a course takes on a whole sample at most: as if no prediction ever changed; what is known already is not
    counted off.
    """
    return sample_cost(explainer, sample, course.unit, lambda encoded: _cost(explainer, encoded, course))


def _cost(explainer: Explainer, encoded: Encoded, course: Course) -> Cost:
    free = encoded.F - int(encoded.premasked.sum())
    passes, weight = (
        len(np.unique(planned_counts(encoded.F, BY_RATIO, encoded.F - free))) + free * (ORDERS if course.random else 1),
        0,
    )
    if not course.random:
        measure = measures()[course.measure]
        weight = measure.passes(free) * (3 if measure.backward else 1)
        passes += measure.passes(free)
    counters = explainer.model.scheduler.counters
    return Cost(passes, counters.seconds_for((passes + weight) * encoded.T))


class _Run(SampleRun):
    """A course on its way over a sample; a row is kept under the digest of its example."""

    columns = ("flips", "free", "logits", "states")

    def __init__(self, explainer: Explainer, sample: Sample, course: Course, store: Store | None):
        self.course = course
        super().__init__(explainer, sample, course.unit, course.key(explainer), store)

    def name(self, i: int) -> str:
        """The example as the model reads it; its label changes nothing, since the predicted class is explained."""
        return canonical_key("behaviour/row", 1, example=self.encode(i).digest)

    def so_far(self) -> Walked:
        """A picture of what is known now: a row never changes once it is there, so all pictures share them."""
        n = len(self.sample)
        empty = {
            "flips": np.zeros((n, 0), np.int32),
            "free": np.zeros(n, np.int32),
            "logits": np.zeros((n, K, 0), np.float32),
            "states": np.zeros((n, K, 0), np.float16),
        }
        return Walked(self.there.copy(), **(empty | self.rows), problems=dict(self.problems), cut=self.cut)

    def compute(self, i: int, encoded: Encoded, cancelled) -> dict[str, np.ndarray]:
        """The row of an example."""
        start = int(encoded.premasked.sum())
        if start == encoded.F:
            raise NoFeatures("Everything in the text is masked already, so nothing can be erased.")
        oracle = self.explainer.oracles.of(encoded, self.course.erasure)
        # With states from the start, so that the same pass is not asked for again.
        whole, _ = oracle.logits_and_states(encoded.premasked[None], "mean", cancelled=cancelled)
        orders = self._orders(encoded, int(whole[0].argmax()), cancelled)
        counts = planned_counts(encoded.F, BY_RATIO, start) - start
        logits, states = oracle.logits_and_states(orders[0][counts], "mean", cancelled=cancelled)
        with np.errstate(over="ignore"):
            pooled = states[:, LAYER].astype(np.float16)
        if not np.isfinite(pooled).all():
            raise NonFinite(
                "The model’s hidden states hold NaN, infinity or numbers above 65,504, so there is nothing to compare."
            )
        flips = [
            first_flip(lambda masks: oracle.logits(masks, cancelled=cancelled).argmax(axis=1), masks)
            for masks in orders
        ]
        return {
            "flips": np.array(flips, dtype=np.int32),
            "free": np.int32(encoded.F - start),
            "logits": logits,
            "states": pooled,
        }

    def _orders(self, encoded: Encoded, predicted: int, cancelled) -> np.ndarray:
        """Prefixes of each order, bool[O, F' + 1, F]."""
        counts = planned_counts(encoded.F, BY_FEATURE, int(encoded.premasked.sum()))
        if self.course.random:
            return random_masks(encoded, counts, ORDERS, self.course.seed)
        measure = measures()[self.course.measure]
        scores = self.explainer.attribute(
            encoded, measure.name, predicted, seed=self.course.seed, cancelled=cancelled
        ).scores[choose_variant(measure, self.course.sign)]
        if np.isnan(scores).any():
            raise NonFinite(f"{measure.name} gave NaN, so there is no order to erase in.")
        order = ranking(scores, encoded.premasked)
        masks = np.zeros((1, len(counts), encoded.F), dtype=bool)
        for k, count in enumerate(counts):
            masks[0, k, order[:count]] = True
        return masks
