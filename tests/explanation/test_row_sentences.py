"""What rows of attributions say in a sentence, without a page."""

from types import SimpleNamespace

import numpy as np

from core.explanation.explainer import Attribution
from core.explanation.row_sentences import kinds_sentence, ranked_by
from core.explanation.rows import build_row
from core.measures.catalogue import measures

WORDS = ("<b>bad</b>", "film", "not", "good")
TEXT = SimpleNamespace(unit="word", F=4, features=[SimpleNamespace(text=word) for word in WORDS])


def row(name: str, *scores: float):
    measure, values = measures()[name], np.array(scores, dtype=float)
    return build_row(measure, Attribution(name, 1, dict.fromkeys(measure.variants, values), 0, 0.0), "signed")


def test_orders_with_and_without_a_sign_are_not_compared_unsaid():
    signed, places, norm = row("leave-one-out", 2, 1, 0, -3), row("beam", 4, 3, 2, 1), row("gradient", 0, 1, 3, 0)
    assert kinds_sentence([signed, norm, places]).startswith("No sign: gradient. What opposes the class strongly")
    # Random order opposes nothing; of one kind there is nothing to say.
    by_chance = row("random", 1, 2, 3, 4)
    assert kinds_sentence([signed, places, by_chance]) == kinds_sentence([norm, by_chance]) == kinds_sentence([]) == ""


def test_ranks_are_by_signed_values_where_there_is_a_sign():
    signed, norm = row("leave-one-out", 2, 1, 0, -3), row("gradient", 0, 1, 3, 0)
    assert ranked_by([signed, row("random", 1, 2, 3, 4)]) == "by signed values, what supports the class first"
    assert ranked_by([norm]) == "by size, for or against"
