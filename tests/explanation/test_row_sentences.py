"""What rows of attributions say in a sentence, without a page."""

from types import SimpleNamespace

import numpy as np

from core.explanation.explainer import Attribution
from core.explanation.row_sentences import importance_note, importance_sentence, kinds_sentence, ranked_by
from core.explanation.rows import build_row
from core.measures.catalogue import measures

WORDS = ("<b>bad</b>", "film", "not", "good")
TEXT = SimpleNamespace(unit="word", F=4, features=[SimpleNamespace(text=word) for word in WORDS])


def row(name: str, *scores: float):
    measure, values = measures()[name], np.array(scores, dtype=float)
    return build_row(measure, Attribution(name, 1, dict.fromkeys(measure.variants, values), 0, 0.0), "signed")


def test_what_matters_most_is_named_and_escaped():
    shares = (0.25, 0.5, 0.75, 0.9)

    def said(name: str, *scores: float, instead: str = "") -> str:
        return importance_sentence(row(name, *scores), TEXT, "<i>good", 0.4, lambda i: (shares[i], instead))

    assert said("leave-one-out", 2, 1, 0, -3) == (
        "By leave-one-out, “<b>&lt;b&gt;bad&lt;/b&gt;</b>” matters most for <b>&lt;i&gt;good</b>: without it the "
        "model would be less sure of that (probability 0.25)."
    )
    assert said("leave-one-out", 2, 1, 0, -3, instead="bad<").endswith(
        "without it the model predicts <b>bad&lt;</b> (probability of <b>&lt;i&gt;good</b> 0.25)."
    )
    # Of several classes a score may fall and the probability rise.
    assert "but not its probability (0.5)" in said("leave-one-out", 1, 2, 0, -3)
    assert said("gradient", 0, 1, 3, 0) == "By gradient, “<b>not</b>” matters most for <b>&lt;i&gt;good</b>."
    # What beam scores are places, and no fall of anything.
    assert "probability" not in said("beam", 4, 3, 2, 1)
    assert "no single word speaks" in said("leave-one-out", -1, -1, 0, -3)
    # The exact number has its unit and direction, where it is a fall of a score.
    assert "by 2 (logits; ↑ more important)" in importance_note(row("leave-one-out", 2, 1, 0, -3), TEXT)
    for other in (row("gradient", 0, 1, 3, 0), row("leave-one-out", -1, -1, 0, -3)):
        assert importance_note(other, TEXT) == ""


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
