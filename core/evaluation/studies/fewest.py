"""How few features must be erased to change a prediction, whatever their order."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.evaluation.study import Column, Known, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer
from core.mathematics.search.fewest import EXACT_FEATURES, PROVEN, WIDTH, fewest_to_flip, most_asked
from core.network.features import Encoded, NoFeatures
from core.network.model import Model
from core.oracle.erasing import MASK, require_erasure
from core.storage.content import Content, Numbers

FEWEST = "fewest features"


@dataclass(frozen=True, eq=False)
class Searched(Known):
    """N examples, as far as they are searched. fewest: int32[N], features of the smallest set found that changes the
    prediction, 0 where none does; free: int32[N], features that can be erased; shared: not to be changed.
    """

    there: np.ndarray
    fewest: np.ndarray
    free: np.ndarray
    problems: dict[int, str]

    @property
    def exact(self) -> np.ndarray:
        """Where every smaller set was asked, bool[N]."""
        few = (self.fewest > 0) & (self.fewest <= PROVEN)
        return self.there & (few | (self.free <= EXACT_FEATURES))


@dataclass(frozen=True)
class FewestFeatures(Study[Searched]):
    """Search the smallest set of features whose erasing changes the prediction, exact up to 12, by a beam of 5 above.

    unit: what is erased as one piece; erasure: one of `core.oracle.erasing.ERASURES`.
    """

    seldom_all = True
    name = "fewest"
    columns: ClassVar = {"fewest": Column((), np.int32(0)), "free": Column((), np.int32(0))}
    label = FEWEST

    unit: str = "word"
    erasure: str = MASK

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On the erasure and the kind of search."""
        return {"erasure": self.erasure, "exact_features": EXACT_FEATURES, "width": WIDTH}

    def check(self, model: Model | None = None) -> None:
        """As everywhere: an erasure that there is not, or that the model's tokenizer has no token for."""
        if model is not None:
            require_erasure(model, self.erasure)

    def row(self, subject: Subject) -> dict[str, np.ndarray]:
        """The fewest features, and how many there are."""
        encoded, cancelled = subject.encoded, subject.cancelled
        free = int((~encoded.premasked).sum())
        if not free:
            raise NoFeatures("Everything is masked already.")
        oracle = subject.explainer.oracles.of(encoded, self.erasure)
        found = fewest_to_flip(lambda masks: oracle.logits(masks, cancelled=cancelled), encoded.premasked)
        return {"fewest": np.array(found, dtype=np.int32), "free": np.array(free, dtype=np.int32)}

    def content(self, explainer: Explainer) -> Content:
        """No more features than there are, at least one of them."""
        counts = {"fewest": Numbers("int32", (), 0), "free": Numbers("int32", (), 1)}
        return Content(counts, agrees=lambda arrays, _: bool((arrays["fewest"] <= arrays["free"]).all()))

    def report(self, rows: Rows) -> Searched:
        """The search as far as it is known."""
        return Searched(rows.there, **rows.columns, problems=rows.problems)

    def cost(self, explainer: Explainer, encoded: Encoded, found: Searched | None = None) -> Cost:
        """What an example takes at most, as if its prediction never changed; most take a small part of it."""
        passes = most_asked(int((~encoded.premasked).sum()))
        return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)
