"""What rows of attributions say in a sentence, without a page."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Attribution
from core.explanation.row_sentences import agreement_sentence, importance_sentence
from core.explanation.rows import build_row
from core.measures.catalogue import measures

WORDS = ("<b>bad</b>", "film", "not", "good")
TEXT = SimpleNamespace(unit="word", F=4, features=[SimpleNamespace(text=word) for word in WORDS])


def row(name: str, *scores: float):
    measure, values = measures()[name], np.array(scores, dtype=float)
    return build_row(measure, Attribution(name, 1, dict.fromkeys(measure.variants, values), 0, 0.0), "signed")


def test_what_matters_most_is_named_and_escaped():
    said = importance_sentence(row("leave-one-out", 2, 1, 0, -3), TEXT)
    assert "Masking “<b>&lt;b&gt;bad&lt;/b&gt;</b>” alone" in said and said.endswith("fall by 2.")
    assert importance_sentence(row("gradient", 0, 1, 3, 0), TEXT) == "It calls “<b>not</b>” most important."
    # What beam scores are places, and no fall of anything.
    assert importance_sentence(row("beam", 4, 3, 2, 1), TEXT).startswith("It calls")
    assert "No single word speaks" in importance_sentence(row("leave-one-out", -1, -1, 0, -3), TEXT)


@pytest.mark.parametrize("complete, said", [(True, "Choose a measure in"), (False, "Nothing is computed yet")])
def test_nothing_is_said_of_random_order_alone(complete, said):
    assert agreement_sentence([row("random", 1, 2, 3, 4)], TEXT, complete).startswith(said)


def test_measures_agree_on_what_all_put_first():
    first, second = row("leave-one-out", 4, 3, 2, 1), row("gradient", 1, 4, 3, 2)
    assert "Both measures put “<b>film</b>”, “<b>not</b>” among their top 3" in agreement_sentence(
        [first, second], TEXT, True
    )
    assert agreement_sentence([second], TEXT, True) == "By gradient, “<b>film</b>” matters most."


def test_measures_that_share_nothing_are_told_one_by_one():
    rows = [row("leave-one-out", 1, 0, 0, 0), row("gradient", 0, 0, 0, 0)]
    said = agreement_sentence(rows, TEXT, True)
    assert said.startswith("The measures share no word") and "gradient says none" in said
