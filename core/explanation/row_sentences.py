"""What rows of attributions say in a sentence, as HTML in which all text is escaped."""

from collections.abc import Sequence

import numpy as np

from core.explanation.rows import WordRow
from core.measures.catalogue import measures
from core.network.features import Encoded
from core.wording import escaped, number, shortened

# k of the overlap of measures, and how many pieces of a text a sentence names.
TOP, MOST_LISTED = 3, 5


def models_sentence(predicted: Sequence[tuple[str, Sequence[str], np.ndarray]]) -> str:
    """What models predict for the same text; predicted: of each its name, its labels and their probabilities."""
    tops = [(name, labels[int(shares.argmax())], float(shares.max())) for name, labels, shares in predicted]
    told = [
        f"{escaped(name)} predicts <b>{escaped(label)}</b> (probability {number(share)})" for name, label, share in tops
    ]
    return f"{', '.join(told)}."


def kinds_sentence(rows: Sequence[WordRow]) -> str:
    """That two orders differ where one has a sign and the other has none, text; "" where all rows are of one kind."""
    ranked = [row for row in rows if not measures()[row.measure].baseline]
    without = [row.measure for row in ranked if row.kind == "positive"]
    if not without or len(without) == len(ranked):
        return ""
    return (
        f"No sign: {', '.join(without)}. What opposes the class strongly stands first there, and last where there is a "
        "sign, so between the two kinds a low figure may say that alone. Absolute values (More settings) compare "
        "magnitudes where a measure has them."
    )


def ranked_by(rows: Sequence[WordRow]) -> str:
    """By what rows put words in order, as a sentence goes on."""
    signed = [row.kind == "signed" for row in rows if row.kind != "rank" and not measures()[row.measure].baseline]
    if not signed:
        return "by place"
    where = "" if all(signed) else " where there is a sign"
    return f"by signed values{where}, what supports the class first" if any(signed) else "by size, for or against"


def unknown_sentence(encoded: Encoded) -> str:
    """Which pieces of the text the tokenizer does not know, text; "" where it knows all."""
    unknown = [feature.text for feature, yes in zip(encoded.features, encoded.unknown) if yes]
    if not unknown:
        return ""
    listed = ", ".join(f"“{shortened(text, 40)}”" for text in dict.fromkeys(unknown[:MOST_LISTED]))
    more = f" and {len(unknown) - MOST_LISTED} more" if len(unknown) > MOST_LISTED else ""
    return (
        f"Marked UNK: {listed}{more}. The tokenizer does not know that, wholly or in part, so the model reads its "
        "unknown token there: the score says nothing about the characters that you see."
    )
