"""How much of a prediction hangs on one word?"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.evaluation.study import Answers, Column, Row, Rows, Study, Subject, Table, choice, register
from core.explanation.explainer import Cost, Explainer, softmax
from core.mathematics.statistics import Interval, mean_interval
from core.network.features import Encoded
from core.storage.store import canonical_key
from core.wording import Tally, number


@dataclass(frozen=True, eq=False)
class OneWordReport:
    """drop: mean fall over the examples; hang: share of them that hang on one piece; drops: float64[n]; words: (drop,
    piece, example), the largest first; tally: how far it is.
    """

    drop: Interval
    hang: float
    drops: np.ndarray
    words: tuple[tuple[float, str, str], ...]
    tally: Tally


@register
@dataclass(frozen=True)
class OneWord(Study[Rows]):
    """How far the predicted class's probability falls at most when one piece of the text is masked, and which one."""

    name, asks = "one word", "How much of a prediction hangs on one word?"
    columns: ClassVar = {"drop": Column(), "probabilities": Column((0,)), "word": Column((), "")}

    unit: str = "word"
    enough: float = choice(0.5, (0.1, 0.25, 0.5), "a prediction hangs on one word from this fall of its probability on")

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
        return Cost.of(passes, passes * encoded.T, explainer.model.scheduler.counters)

    def conclude(self, answers: Answers) -> OneWordReport | None:
        """The mean fall, and how many predictions hang on one word."""
        rows: Rows = answers.found[self]
        there = np.flatnonzero(rows.there)
        if not len(there):
            return None
        drops, words = rows.columns["drop"][there], rows.columns["word"][there]
        told = [
            (float(drop), rows.sentences[word], answers.sample.examples[i].id)
            for drop, word, i in zip(drops, words, there)
        ]
        fall, hang = mean_interval(drops, answers.resamples), float((drops >= self.enough).mean())
        return OneWordReport(fall, hang, drops, (*sorted(told)[::-1],), answers.tally())

    def tables(self, report: OneWordReport) -> list[Table]:
        """The words on which most hangs."""
        return [([self.unit, "fall ↓", "text"], [[word, number(drop), text] for drop, word, text in report.words[:10]])]
