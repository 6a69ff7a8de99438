"""What rows of attributions say in a sentence, as HTML in which all text is escaped."""

from collections.abc import Callable, Sequence

import numpy as np

from core.explanation.rows import WordRow, most_important
from core.measures.catalogue import measures
from core.network.features import Encoded, placed_word
from core.wording import escaped, number, shortened, strong

# k of the overlap of measures, and how many pieces of a text a sentence names.
TOP, MOST_LISTED = 3, 5


def importance_sentence(
    row: WordRow, encoded: Encoded, class_name: str, now: float, without: Callable[[int], tuple[float, str]]
) -> str:
    """What one measure calls most important, and how probable the class is without it where the measure masks.

    now: the class's probability in [0, 1] as the text stands; without: the same with one feature masked, by its place,
    and the class that is predicted then where that is another one, else "".
    """
    first, alone, by = most_important(row), measures()[row.measure].alone, escaped(row.measure)
    if first is None:
        lowers = ": masking any one of them would not lower its score" if alone else ""
        return f"By {by}, no single {encoded.unit} speaks for {strong(class_name)}{lowers}."
    word = _bold(encoded, first)
    if not alone:
        return f"By {by}, {word} matters most for {strong(class_name)}."
    # With several classes a score may fall and the share rise, so that is told as it is.
    (share, instead), lead = without(first), f"By {by}, {word} matters most for {strong(class_name)}"
    if instead:
        left = f"probability of {strong(class_name)} {number(share)}"
        return f"{lead}: without it the model predicts {strong(instead)} ({left})."
    if share < now:
        return f"{lead}: without it the model would be less sure of that (probability {number(share)})."
    return f"{lead}: without it that class’s score would fall, but not its probability ({number(share)})."


def importance_note(row: WordRow, encoded: Encoded) -> str:
    """What the number of the most important feature is, text; "" where there is none, or it is no fall of a score."""
    first = most_important(row)
    if first is None or not measures()[row.measure].alone:
        return ""
    return (
        f"{row.measure}: masking that {encoded.unit} alone lowers the class’s logit, its score before scores become "
        f"probabilities, by {number(float(row.scores[first]))} (logits; ↑ more important)."
    )


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


def _bold(encoded: Encoded, i: int) -> str:
    return placed_word(encoded.features, i)
