"""How much of a prediction hangs on one word?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.evaluation.engine import Column, Row, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer, softmax
from core.network.features import Encoded
from core.storage.store import canonical_key


@dataclass(frozen=True)
class OneWord(Study[Rows]):
    """How far the predicted class's probability falls at most when one piece of the text is masked, and which one."""

    name = "one word"
    columns: ClassVar = {"drop": Column(), "probabilities": Column((0,)), "word": Column((), "")}

    unit: str = "word"

    def key(self, explainer: Explainer) -> str:
        """A log for each model and unit."""
        model = explainer.model
        return canonical_key("one word", 1, model=model.digest, precision=model.precision, unit=self.unit)

    def row_keys(self, subject: Subject) -> list[str]:
        """The example as the model reads it."""
        return [canonical_key("one word/row", 1, example=subject.encoded.digest)]

    def row(self, subject: Subject) -> Row:
        """The text as it stands, and each of its pieces masked."""
        F = subject.encoded.F
        masks = np.concatenate([np.zeros((1, F), dtype=bool), np.eye(F, dtype=bool)])
        logits = subject.explainer.oracles.of(subject.encoded).logits(masks, cancelled=subject.cancelled)
        whole, *masked = softmax(logits)
        drops = np.array([whole.max() - one[whole.argmax()] for one in masked])
        word = subject.encoded.features[drops.argmax()].text
        return {"drop": drops.max(), "probabilities": whole, "word": word}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """As many passes as there are pieces, and one."""
        passes = encoded.F + 1
        return Cost(passes, explainer.model.scheduler.counters.seconds_for(passes * encoded.T))
