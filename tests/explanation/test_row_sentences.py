"""What rows of attributions say in a sentence, without a page."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Attribution
from core.explanation.row_sentences import (
    importance_note,
    importance_sentence,
    kinds_sentence,
    outscaled_sentence,
    places_sentence,
    ranked_by,
    strongest_sentence,
)
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


@pytest.mark.parametrize("complete, said", [(True, "Choose a measure to"), (False, "Nothing is computed yet")])
def test_nothing_is_said_of_random_order_alone(complete, said):
    assert strongest_sentence([row("random", 1, 2, 3, 4)], TEXT, "bad", complete).startswith(said)


def test_the_strongest_for_and_against_are_told_where_measures_agree_and_where_they_part():
    first, second = row("leave-one-out", 4, 3, -2, 1), row("input × gradient", 5, 4, -3, -2)
    assert strongest_sentence([first, second], TEXT, "<i>", True) == (
        "Speaks most for <b>&lt;i&gt;</b>: “<b>&lt;b&gt;bad&lt;/b&gt;</b>” (leave-one-out, input × gradient); most "
        "against it: “<b>not</b>” (leave-one-out, input × gradient)."
    )
    other = row("input × gradient", 1, 4, 3, 2)
    said = strongest_sentence([first, other], TEXT, "bad", True)
    assert "“<b>&lt;b&gt;bad&lt;/b&gt;</b>” (leave-one-out), “<b>film</b>” (input × gradient); most" in said
    assert said.endswith("most against it: “<b>not</b>” (leave-one-out), none (input × gradient).")


def test_measures_without_a_sign_say_neither_for_nor_against():
    assert (
        strongest_sentence([row("gradient", 1, 4, 3, 2)], TEXT, "bad", True)
        == "Matters most: “<b>film</b>” (gradient)."
    )
    said = strongest_sentence([row("leave-one-out", -1, -2, 0, 0), row("gradient", 0, 0, 0, 0)], TEXT, "bad", True)
    assert said == (
        "Speaks most for <b>bad</b> by leave-one-out: none; most against it: “<b>film</b>”. Matters most, "
        "whether for or against: none (gradient)."
    )


def test_orders_with_and_without_a_sign_are_not_compared_unsaid():
    signed, places, norm = row("leave-one-out", 2, 1, 0, -3), row("beam", 4, 3, 2, 1), row("gradient", 0, 1, 3, 0)
    assert kinds_sentence([signed, norm, places]).startswith("No sign: gradient. What opposes the class strongly")
    # Random order opposes nothing; of one kind there is nothing to say.
    by_chance = row("random", 1, 2, 3, 4)
    assert kinds_sentence([signed, places, by_chance]) == kinds_sentence([norm, by_chance]) == kinds_sentence([]) == ""


def test_places_say_what_the_last_and_the_first_are_by_whether_a_measure_has_a_sign():
    signed, places, norm = row("leave-one-out", 2, 1, 0, -3), row("beam", 4, 3, 2, 1), row("gradient", 0, 1, 3, 0)
    opposes = "with a sign (leave-one-out) the last supports the class least, or opposes it most"
    either = "without a sign (gradient) 1 matters most, for or against the class"
    assert places_sentence([signed, norm, places]) == f"Place: 1 is masked first; {opposes}; {either}."
    assert places_sentence([places, row("random", 1, 2, 3, 4)]) == "Place: 1 is masked first."
    assert places_sentence([norm]) == f"Place: 1 is masked first; {either}."
    first = "what supports the class first"
    assert ranked_by([signed, row("random", 1, 2, 3, 4)]) == f"by signed values, {first}"
    assert ranked_by([signed, norm]) == f"by signed values where there is a sign, {first}"
    assert ranked_by([norm]) == "by size, for or against"


def test_a_row_that_is_outscaled_says_by_whom():
    said = outscaled_sentence(row("input × gradient", 0.02, 0, 0, 0), row("leave-one-out", 2, 0, 0, 0), 100.0)
    assert said == "coloured as strongly as leave-one-out, whose largest is 2 logits: about 100 times as large"


def test_of_a_word_that_occurs_again_it_is_told_which_one():
    again = SimpleNamespace(
        unit="word", F=4, features=[SimpleNamespace(text=word) for word in ("the", ",", "the", ",")]
    )
    said = strongest_sentence([row("leave-one-out", 1, 0, 4, -3)], again, "bad", True)
    assert said == (
        "Speaks most for <b>bad</b> by leave-one-out: “<b>the</b>” (2nd of 2); most against it: “<b>,</b>” (2nd of 2)."
    )
