"""How far does the prediction fall when everything is masked? The ordinary question: a file and nothing else."""

from dataclasses import dataclass

import numpy as np

from core.evaluation.mean_of import MeanOf
from core.evaluation.study import Subject, register
from core.explanation.explainer import softmax


@register
@dataclass(frozen=True)
class AllMasked(MeanOf):
    """The fall of the predicted class's probability when every piece of the text is masked."""

    name, asks, called = "all masked", "How far does the prediction fall when all is masked?", "fall when all is masked"

    def value(self, subject: Subject) -> float:
        """The fall of one text, in [−1, 1]."""
        ends = np.repeat([[False], [True]], subject.encoded.F, axis=1)
        whole, empty = softmax(subject.explainer.oracles.of(subject.encoded).logits(ends))
        return float(whole.max() - empty[whole.argmax()])

    def passes(self, encoded) -> int:
        """The text as it stands, and nothing of it."""
        return 2
