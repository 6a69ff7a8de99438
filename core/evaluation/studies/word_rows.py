"""Every word of every text by every measure, as lines of a file."""

from collections.abc import Iterator, Sequence

import numpy as np

from core.evaluation.studies.known_words import KnownTexts
from core.evaluation.study import Answers


def lines_of_words(known: KnownTexts, measures: Sequence[str], unit: str, answers: Answers) -> Iterator[dict]:
    """A line for each word of a text and measure: example, word, position (its first, from 1), times (in the text),
    class, measure, attribution (mean over its places), top_3, alone (masking it alone changes the prediction), faithful
    (whether the measure is heard of the text).
    """
    examples, labels = answers.sample.examples, answers.model.labels
    for i, text, faithful in zip(known.at.tolist(), known.texts, known.faithful):
        example = examples[i]
        places: dict[str, list[int]] = {}
        encoded = answers.model.encode(example.text, example.second or None, unit, answers.sample.maskable)
        for at in np.flatnonzero(~encoded.premasked).tolist():
            places.setdefault(encoded.features[at].text.casefold(), []).append(at + 1)
        for m, name in enumerate(measures):
            for word, score, top, alone in zip(text["words"], text["scores"][m], text["top"][m], text["alone"]):
                at = places.get(word, [])
                yield {
                    "example": example.id,
                    "word": word,
                    "position": at[0] if at else None,
                    "times": len(at),
                    "class": labels[text["class"]],
                    "measure": name,
                    "attribution": score,
                    "top_3": bool(top),
                    "alone": bool(alone),
                    "faithful": bool(faithful[m]),
                }
