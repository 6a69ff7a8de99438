"""What measures say of every word of each text, and whether masking that word alone changes the prediction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.evaluation.study import Column, Row, Rows, Study, Subject
from core.explanation.explainer import Cost, Explainer
from core.explanation.rows import choose_variant, measured_each
from core.mathematics.ranking import ranking
from core.measures.catalogue import measure
from core.network.features import Encoded

# Words that a measure ranks first.
TOP = 3


@dataclass(frozen=True)
class WordScores(Study[Rows]):
    """A text's words with the scores of M measures for the predicted class.

    Column words: JSON of {"class": predicted class, "words": case-folded, each once, "alone": 1 where masking it alone
    changes the prediction, "scores": M lists of the mean over its places, "top": M lists, 1 where it is among the first
    three}. What the text itself masks is left out.

    sign: which values; unit: what is scored as one piece. Source: glossary, Words over the data.
    """

    name = "word scores"
    columns: ClassVar = {"words": Column((), "")}
    label, leads = "words of texts", True

    measures: tuple[str, ...]
    sign: str = "signed"
    unit: str = "word"

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """On each measure."""
        return {"measures": measured_each(explainer, self.measures, self.sign)}

    def row(self, subject: Subject) -> Row:
        """One text."""
        explainer, encoded, cancelled = subject.explainer, subject.encoded, subject.cancelled
        free = np.flatnonzero(~encoded.premasked)
        masks = np.tile(encoded.premasked, (len(free) + 1, 1))
        masks[np.arange(1, len(free) + 1), free] = True
        predicted = explainer.oracles.of(encoded).logits(masks, cancelled=cancelled).argmax(axis=1)
        target, scores = int(predicted[0]), {}
        for name in self.measures:
            found = explainer.attribute(encoded, name, target, cancelled=cancelled)
            scores[name] = found.scores[choose_variant(measure(name), self.sign)]
        words = [encoded.features[i].text.casefold() for i in free]
        told = by_word(words, predicted[1:] != target, [scores[name][free] for name in self.measures])
        return {"words": json.dumps({"class": target} | told, ensure_ascii=False)}

    def cost(self, explainer: Explainer, encoded: Encoded, found: Rows | None = None) -> Cost:
        """Every word masked alone, and each measure once."""
        passes, tokens = encoded.F + 1, (encoded.F + 1) * encoded.T
        for named in map(measure, self.measures):
            passes += named.passes(encoded.F)
            tokens += named.passes(encoded.F) * encoded.T * named.weight
        return Cost.of(passes, tokens, explainer.model.scheduler.counters)


def by_word(words: Sequence[str], alone: np.ndarray, scores: Sequence[np.ndarray]) -> dict[str, list]:
    """A text's F words, each once, as the column of `WordScores`; alone: bool[F], whether masking that place alone
    changes the prediction; scores: M of float64[F].
    """
    places: dict[str, list[int]] = {}
    for i, word in enumerate(words):
        places.setdefault(word, []).append(i)
    first = [set(ranking(one, np.zeros(len(words), dtype=bool))[:TOP].tolist()) for one in scores]
    at = list(places.values())
    return {
        "words": list(places),
        "alone": [int(alone[one].any()) for one in at],
        "scores": [[float(f"{each[one].mean():.7g}") for one in at] for each in scores],
        "top": [[int(not top.isdisjoint(one)) for one in at] for top in first],
    }


def read_words(rows: Rows, i: int) -> Mapping[str, Any]:
    """The row of the i-th text, see `WordScores`."""
    return json.loads(rows.sentences[rows.columns["words"][i]])
