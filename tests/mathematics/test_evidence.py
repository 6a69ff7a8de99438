"""How well a ranking finds evidence: cases worked out by hand, all permutations, and a slow twin by the textbook."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.mathematics.evidence import (
    average_precision,
    evidence_mask,
    expected_average_precision,
    expected_recall,
    recall_at,
)
from core.network.features import find_words

SCORES = some.lists(some.floats(-5, 5), min_size=1, max_size=12)


def flags(*evidence):
    return np.array(evidence, dtype=bool)


def textbook(scores, evidence) -> float:
    """Σ (R_n − R_{n−1}) P_n over falling thresholds, as scikit-learn has it; the same where no scores tie."""
    total, recall_before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        taken = [flag for score, flag in zip(scores, evidence) if score >= threshold]
        recall = sum(taken) / sum(evidence)
        total += (recall - recall_before) * sum(taken) / len(taken)
        recall_before = recall
    return total


# ---- which features are evidence

TEXT = "Mary took the milk, then left."


def marked(*spans) -> list[str]:
    words = find_words(TEXT)
    return [TEXT[a:b] for (a, b), hit in zip(words, evidence_mask(*zip(*words), spans)) if hit]


def test_a_feature_is_evidence_where_it_shares_a_character():
    assert marked((10, 18)) == ["the", "milk"]
    assert marked((12, 13)) == ["the"] and marked((13, 14)) == [] and marked((13, 15)) == ["milk"]
    assert marked((0, 1), (29, 30)) == ["Mary", "."] and marked() == []


def test_spans_that_are_empty_or_beyond_the_text_meet_nothing():
    assert marked((14, 14), (18, 14), (len(TEXT), len(TEXT) + 5), (900, 10**30), (-9, 0)) == []
    assert marked((25, 10**30)) == ["left", "."] and marked((-(10**30), 2)) == ["Mary"]
    assert marked((0, 30), (2, 3)) == [TEXT[a:b] for a, b in find_words(TEXT)]


def test_no_features_are_no_evidence():
    assert evidence_mask([], [], [(0, 9)]).tolist() == []
    with pytest.raises(ValueError, match="as many ends"):
        evidence_mask([0, 1], [1], [])


# ---- the measures


@pytest.mark.parametrize(
    ("scores", "evidence", "precision", "recall"),
    [
        ([3, 2, 1], (1, 0, 0), 1, 1),
        ([1, 2, 3], (1, 0, 0), 1 / 3, 0),
        ([4, 3, 2, 1], (1, 0, 1, 0), (1 + 2 / 3) / 2, 1 / 2),
        ([1, 2, 3, 4], (1, 1, 0, 0), (1 / 3 + 2 / 4) / 2, 0),
        ([-1, -2, 0, -9], (1, 1, 1, 0), 1, 1),
        ([5], (1,), 1, 1),
        # Ties by position.
        ([0, 0, 0], (1, 0, 0), 1, 1),
        ([0, 0, 0], (0, 0, 1), 1 / 3, 0),
        ([1, 2, 1], (0, 0, 1), 1 / 3, 0),
    ],
)
def test_by_hand(scores, evidence, precision, recall):
    assert average_precision(scores, flags(*evidence)) == pytest.approx(precision)
    assert recall_at(scores, flags(*evidence)) == pytest.approx(recall)


def test_recall_of_another_k():
    scores, evidence = [5, 4, 3, 2, 1], flags(0, 1, 0, 1, 1)
    assert [recall_at(scores, evidence, k) for k in (1, 2, 3, 4, 5, 99)] == pytest.approx(
        [0, 1 / 3, 1 / 3, 2 / 3, 1, 1]
    )


def test_without_evidence_there_is_no_number():
    assert np.isnan(
        [
            average_precision([1, 2], flags(0, 0)),
            recall_at([1, 2], flags(0, 0)),
            average_precision([], flags()),
            recall_at([], flags()),
            expected_average_precision(4, 0),
            expected_recall(4, 0),
            expected_average_precision(0, 0),
        ]
    ).all()
    # Evidence that the text itself masks is none.
    assert np.isnan(average_precision([1, 2], flags(1, 0), flags(1, 0)))


def test_what_is_masked_already_counts_for_nothing():
    scores, evidence, masked = [9, 0, 3, 2, 1], flags(0, 1, 1, 0, 1), flags(1, 1, 0, 0, 0)
    assert (
        average_precision(scores, evidence, masked)
        == average_precision([3, 2, 1], flags(1, 0, 1))
        == pytest.approx((1 + 2 / 3) / 2)
    )
    assert recall_at(scores, evidence, masked=masked) == 1 / 2


def test_what_cannot_be_ranked_is_refused():
    for find in (average_precision, recall_at):
        with pytest.raises(ValueError, match="NaN"):
            find([1, np.nan], flags(1, 0))
        with pytest.raises(ValueError, match="shape"):
            find([1, 2], flags(1))
        with pytest.raises(ValueError, match="shape"):
            find([1, 2], flags(1, 0), masked=flags(1))
    for k in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            recall_at([1, 2], flags(1, 0), k)
        with pytest.raises(ValueError, match="at least 1"):
            expected_recall(2, 1, k)
    for F, m in ((2, 3), (2, -1)):
        with pytest.raises(ValueError, match="cannot be evidence"):
            expected_average_precision(F, m)


@pytest.mark.parametrize("F", range(1, 7))
def test_a_random_order_has_the_mean_over_all_permutations(F):
    for m in range(1, F + 1):
        evidence = np.arange(F) < m
        orders = [np.array(order) for order in permutations(range(F))]
        assert expected_average_precision(F, m) == pytest.approx(
            np.mean([average_precision(order, evidence) for order in orders])
        )
        for k in (None, *range(1, F + 2)):
            assert expected_recall(F, m, k) == pytest.approx(
                np.mean([recall_at(order, evidence, k) for order in orders])
            )


@given(scores=SCORES, data=some.data())
def test_the_range_and_the_invariances_hold(scores, data):
    evidence = np.array(data.draw(some.lists(some.booleans(), min_size=len(scores), max_size=len(scores))))
    before = list(scores), evidence.copy()
    precision, recall, m = average_precision(scores, evidence), recall_at(scores, evidence), int(evidence.sum())
    assert before[0] == scores and (before[1] == evidence).all()
    if m == 0:
        assert np.isnan(precision) and np.isnan(recall)
        return
    worst = np.mean(np.arange(1, m + 1) / (len(scores) - m + np.arange(1, m + 1)))
    assert worst - 1e-12 <= precision <= 1 and 0 <= recall <= 1 and (precision == 1) == (recall == 1)
    # Only the order counts.
    places = np.empty(len(scores))
    places[np.argsort(-np.array(scores), kind="stable")] = -np.arange(len(scores))
    assert average_precision(places, evidence) == precision and recall_at(places, evidence) == recall
    assert worst - 1e-12 <= expected_average_precision(len(scores), m) <= 1


@given(scores=some.lists(some.integers(-99, 99), min_size=1, max_size=12, unique=True), data=some.data())
def test_without_ties_it_is_the_textbooks(scores, data):
    evidence = np.array(data.draw(some.lists(some.booleans(), min_size=len(scores), max_size=len(scores)).filter(any)))
    assert average_precision(scores, evidence) == pytest.approx(textbook(scores, evidence))
