"""How a model behaves under masking: where an order changes its predictions, and how far that moves its embeddings."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from core.evaluation.studies.orders import OrderStudy
from core.evaluation.study import Column, Known, Rows, Subject
from core.explanation.explainer import Cost, Explainer
from core.explanation.recursive import BY_FEATURE, BY_RATIO, planned_counts, random_masks
from core.explanation.rows import choose_variant, measured
from core.mathematics.flips import first_flip
from core.mathematics.masking import RATIOS
from core.mathematics.ranking import ranking
from core.measures.catalogue import measure
from core.network.features import Encoded, NoFeatures
from core.network.model import Model
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK, require_erasure
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key

K = len(RATIOS)
# Random orders of each example whose flips are averaged; its embeddings follow the first of them.
ORDERS = 3
# The hidden states that are pooled: of the second-to-last layer.
LAYER = -2


@dataclass(frozen=True, eq=False)
class Walked(Known):
    """N examples along one course, as far as they are computed; rows of what is not `there` mean nothing. The arrays
    are shared: not to be changed.

    there: bool[N]; flips: int32[N, O], features erased at the first change of prediction in each of O orders, 0 where
    it never changes; free: int32[N], features F' that can be erased; logits: float32[N, K, C] and states: float16[N, K,
    H], the mean over the tokens of the second-to-last layer, at K ratios of the first order; problems: {example:
    sentence}, examples without all of this; cut: examples that are longer than the model reads, {example: tokens that
    it reads}.
    """

    there: np.ndarray
    flips: np.ndarray
    free: np.ndarray
    logits: np.ndarray
    states: np.ndarray
    problems: dict[int, str]
    cut: dict[int, int] = field(default_factory=dict)
    typed: int = 0

    @property
    def judged(self) -> np.ndarray:
        """Which examples say something of an order, bool[N]: of one feature alone C/F is 1 whatever is done."""
        return self.there & (self.free > 1)

    @property
    def shares(self) -> np.ndarray:
        """Mean C/F over an example's orders, float64[N]; 1 without a change of prediction; lower is more faithful."""
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


@dataclass(frozen=True)
class Course(OrderStudy[Walked]):
    """Erase along an order on every example, a measure's for the predicted class, most important first, or a random
    one.

    The prediction is followed feature by feature until it changes, the embeddings at the ratios 0, 0.1 … 1 of all
    features. Departure: RobustInf replaces by the unknown token and ranks by integrated gradients; its Table 2 erases
    in every text half of the mean length, here each text loses half of its own. unit: what is erased as one piece;
    seed: of random orders.

    Source: RobustInf Eq. 1 and §5.
    """

    name = kept = "behaviour"
    columns: ClassVar = {
        "flips": Column((0,), np.int32(0)),
        "free": Column((), np.int32(0)),
        "logits": Column((K, 0), np.float32(0)),
        "states": Column((K, 0), np.float16(0)),
    }

    erasure: str = MASK
    seed: int = 0

    @property
    def leads(self) -> bool:
        """It stands in a part of a page that is opened for it, so that what takes a while waits to be asked for."""
        return False

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On the erasure, and on random orders or a measure; its label changes nothing."""
        if self.random:
            return {"erasure": self.erasure, "seed": self.seed, "orders": ORDERS}
        seed = self.seed if measure(self.measure).seeded else None
        return measured(explainer, self.measure, self.sign) | {"erasure": self.erasure, "seed": seed}

    def check(self, model: Model | None = None) -> None:
        """As everywhere: an erasure that there is not, or that the model's tokenizer has no token for."""
        if model is not None:
            require_erasure(model, self.erasure)

    def content(self, explainer: Explainer) -> Content:
        """Flips within the features that there are; logits and states of the model's own size."""
        numbers = {
            "flips": Numbers("int32", (ORDERS if self.random else 1,), 0),
            "free": Numbers("int32", (), 1),
            "logits": Numbers("float32", (K, explainer.model.C)),
            "states": Numbers("float16", (K, explainer.model.H)),
        }
        return Content(numbers, agrees=lambda rows, _: bool((rows["flips"] <= rows["free"][:, None]).all()))

    def report(self, rows: Rows) -> Walked:
        """The course as far as it is known; all pictures share its rows."""
        return Walked(rows.there, **rows.columns, problems=rows.problems, cut=rows.cut, typed=rows.typed)

    def cost(self, explainer: Explainer, encoded: Encoded, found: Walked | None = None) -> Cost:
        """What the course takes on an example at most, as if no prediction ever changed."""
        free = encoded.F - int(encoded.premasked.sum())
        ratios = len(np.unique(planned_counts(encoded.F, BY_RATIO, encoded.F - free)))
        passes, weight = ratios + free * (ORDERS if self.random else 1), 0
        if not self.random:
            named = measure(self.measure)
            weight = named.passes(free) * named.weight
            passes += named.passes(free)
        return Cost.of(passes, (passes + weight) * encoded.T, explainer.model.scheduler.counters)

    def row(self, subject: Subject) -> dict[str, np.ndarray]:
        """Where predictions change in each order, and logits and states along the first."""
        encoded, cancelled = subject.encoded, subject.cancelled
        start = int(encoded.premasked.sum())
        if start == encoded.F:
            raise NoFeatures("Everything is masked already.")
        oracle = subject.explainer.oracles.of(encoded, self.erasure)
        # With states from the start, so that the same pass is not asked for again.
        whole, _ = oracle.logits_and_states(encoded.premasked[None], "mean", cancelled=cancelled)
        orders = self._orders(subject, int(whole[0].argmax()))
        counts = planned_counts(encoded.F, BY_RATIO, start) - start
        logits, states = oracle.logits_and_states(orders[0][counts], "mean", cancelled=cancelled)
        with np.errstate(over="ignore"):
            pooled = states[:, LAYER].astype(np.float16)
        if not np.isfinite(pooled).all():
            raise NonFinite("The hidden states hold NaN, infinity or numbers above 65,504.")
        flips = [
            first_flip(lambda masks: oracle.logits(masks, cancelled=cancelled).argmax(axis=1), masks)
            for masks in orders
        ]
        return {
            "flips": np.array(flips, dtype=np.int32),
            "free": np.array(encoded.F - start, dtype=np.int32),
            "logits": logits,
            "states": pooled,
        }

    def _orders(self, subject: Subject, predicted: int) -> np.ndarray:
        """Prefixes of each order, bool[O, F' + 1, F]."""
        encoded = subject.encoded
        counts = planned_counts(encoded.F, BY_FEATURE, int(encoded.premasked.sum()))
        if self.random:
            return random_masks(encoded, counts, ORDERS, self.seed)
        named = measure(self.measure)
        scores = subject.explainer.attribute(
            encoded, named.name, predicted, seed=self.seed, cancelled=subject.cancelled
        ).scores[choose_variant(named, self.sign)]
        if np.isnan(scores).any():
            raise NonFinite(f"{named.name} gave NaN scores.")
        order = ranking(scores, encoded.premasked)
        masks = np.zeros((1, len(counts), encoded.F), dtype=bool)
        for k, count in enumerate(counts):
            masks[0, k, order[:count]] = True
        return masks


@dataclass(frozen=True)
class Changes(Course):
    """The same without embeddings, whose rows take a hundred times the room: when each prediction changes alone."""

    name = "first change"
    columns: ClassVar = {"flips": Column((0,), np.int32(0)), "free": Column((), np.int32(0))}

    def key(self, explainer: Explainer) -> str:
        """Apart from the whole course."""
        return canonical_key("first change", 1, course=super().key(explainer))

    def row_keys(self, subject: Subject) -> list[str]:
        """As of the course."""
        return [canonical_key("behaviour/row", 1, example=subject.encoded.digest)]

    def content(self, explainer: Explainer) -> Content:
        """The same of what there is."""
        whole = super().content(explainer)
        return replace(whole, arrays={name: whole.arrays[name] for name in self.columns})

    def report(self, rows: Rows) -> Walked:
        """The course without logits and states."""
        shape = len(rows), K, 0
        nothing = {"logits": np.zeros(shape, dtype=np.float32), "states": np.zeros(shape, dtype=np.float16)}
        return Walked(rows.there, **rows.columns, **nothing, problems=rows.problems, cut=rows.cut, typed=rows.typed)
