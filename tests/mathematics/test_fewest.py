"""The fewest features that change a prediction: worked out by hand, and beside every order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.search.fewest import EXACT_FEATURES, fewest_to_flip, most_asked
from tests.table import Table


def logits_of(changes, asked=None):
    """A model of two classes whose prediction is another where changes(mask) says so."""

    def logits(masks):
        if asked is not None:
            asked.extend(map(tuple, masks))
        return np.array([[0.0, -1.0] if changes(mask) else [0.0, 1.0] for mask in masks])

    return logits


def test_by_hand():
    """Neither of the words that go together changes anything alone, and every order but two begins otherwise."""
    asked: list = []
    found = fewest_to_flip(logits_of(lambda mask: mask[1] and mask[3], asked), np.zeros(5, dtype=bool))
    assert found == 2 and len(asked) == len(set(asked)) == 1 + 5 + 10
    assert fewest_to_flip(logits_of(lambda mask: mask.all()), np.zeros(5, dtype=bool)) == 5
    assert fewest_to_flip(logits_of(lambda mask: False), np.zeros(5, dtype=bool)) == 0
    # What the text masks itself counts for none, and stays masked.
    masked = np.array([False, True, False, False, False])
    assert fewest_to_flip(logits_of(lambda mask: mask[1] and mask[3]), masked) == 1
    with pytest.raises(ValueError, match="nothing can be erased"):
        fewest_to_flip(logits_of(lambda mask: False), np.ones(3, dtype=bool))


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.integers(1, 5).flatmap(lambda F: st.tuples(*[st.floats(-1, 1)] * 2**F)), st.integers(1, 4))
def test_no_order_changes_a_prediction_earlier_and_a_beam_only_later(values, width):
    table = Table(np.array(values))

    def logits(masks):
        return np.column_stack([table.value(masks), np.zeros(len(masks))])

    F, start = table.F, np.zeros(table.F, dtype=bool)
    first = logits(start[None]).argmax()
    earliest = 0
    for order in permutations(range(F)):
        masks = np.array([np.isin(np.arange(F), order[:k]) for k in range(1, F + 1)])
        changed = np.flatnonzero(logits(masks).argmax(axis=1) != first)
        if len(changed):
            earliest = min(earliest or F, int(changed[0]) + 1)
    assert fewest_to_flip(logits, start) == earliest
    beam = fewest_to_flip(logits, start, exact_features=0, width=width)
    assert beam == 0 or beam >= earliest > 0
    # As wide as there are sets it misses none.
    assert fewest_to_flip(logits, start, exact_features=0, width=2**F) == earliest


@pytest.mark.parametrize("F", [1, 4, EXACT_FEATURES, EXACT_FEATURES + 1, 20])
def test_no_more_is_asked_than_is_said(F):
    asked: list = []
    assert fewest_to_flip(logits_of(lambda mask: False, asked), np.zeros(F, dtype=bool)) == 0
    assert len(asked) == len(set(asked)) <= most_asked(F)
