"""Measures over a masking oracle, orders and agreement: answers worked out by hand, and brute force."""

from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.ranking import kendall_tau, ranking, ranks, top_overlap
from core.mathematics.search.limits import most_sets
from core.measures.beam import WIDTH, beam, beam_order
from core.measures.leave_one_out import leave_one_out
from core.measures.random import random_scores
from tests.table import Table, from_gains

PROPERTY = settings(deadline=None, max_examples=60, derandomize=True)
numbers = st.integers(-9, 9)
tables = st.integers(1, 5).flatmap(lambda F: st.lists(numbers, min_size=2**F, max_size=2**F)).map(Table)
scores = st.lists(st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6), min_size=1, max_size=9)


def beam_passes(F, width=WIDTH):
    return most_sets(F, width, beams=1)


# Leave-one-out

#            ∅    0    1   01    2   02   12  012
THREE = Table([2.0, 0.5, 3.0, 1.0, 2.0, 9.0, 7.0, 4.0])


def test_leave_one_out_by_hand():
    found = leave_one_out(THREE.explained())
    assert found["signed"].tolist() == [1.5, -1.0, 0.0] and found["absolute"].tolist() == [1.5, 1.0, 0.0]


def test_leave_one_out_on_top_of_what_is_masked():
    """Feature 1 is masked: v({1}) − v({0,1}) = 3 − 1 and v({1}) − v({1,2}) = 3 − 7."""
    found = leave_one_out(THREE.explained(masked=[1]))
    assert found["signed"].tolist() == [2.0, 0.0, -4.0] and found["absolute"].tolist() == [2.0, 0.0, 4.0]


def test_leave_one_out_of_one_feature():
    assert leave_one_out(Table([3.0, 1.25]).explained())["signed"].tolist() == [1.75]


def test_leave_one_out_with_nothing_left_is_zero():
    found = leave_one_out(THREE.explained(masked=[0, 1, 2]))
    assert found["signed"].tolist() == found["absolute"].tolist() == [0.0, 0.0, 0.0]


@PROPERTY
@given(tables, st.data())
def test_leave_one_out_by_definition_and_asks_each_set_once(table, data):
    table.asked.clear()
    masked = sorted(data.draw(st.sets(st.integers(0, table.F - 1))))
    found = leave_one_out(table.explained(masked=masked))["signed"]
    base = sum(1 << i for i in masked)
    assert found.tolist() == [table.values[base] - table.values[base | 1 << i] for i in range(table.F)]
    assert max(table.asked.values()) == 1 and table.asked.total() == table.F - len(masked) + 1


# Beam search

# Gains v(∅) − v(S); every set that is not named has gain 0, the full set too.
FOUR = {"0": 10, "1": 9, "2": 8, "01": 3, "02": 4, "03": 6, "12": 2, "13": 11, "23": 13, "013": 1, "023": 2, "123": 3}


@pytest.mark.parametrize(
    "width, order, total",
    [
        # {0} 10; {0,3} 10 + 6 = 16 beats {0,2} 14 and {0,1} 13; {0,2,3} 16 + 2 beats {0,1,3} 16 + 1.
        (1, [0, 3, 2, 1], 18),
        # {0} 10 and {1} 9; {1,3} 9 + 11 = 20 and {0,3} 16; {1,2,3} 20 + 3 beats {0,1,3} 20 + 1 and {0,2,3} 16 + 2.
        (2, [1, 3, 2, 0], 23),
        # {0}, {1} and {2} 8; {2,3} 8 + 13 = 21, {1,3} 20, {0,3} 16; {1,2,3} from {2,3} 21 + 3 beats it from {1,3} 20 +
        # 3.
        (3, [2, 3, 1, 0], 24),
    ],
)
def test_beams_of_1_2_and_3_find_different_orders(width, order, total):
    table = from_gains(4, FOUR)
    assert beam_order(table.value, 4, width).tolist() == order
    assert _total(table, order) == total


def test_a_set_is_kept_once_however_many_orders_reach_it():
    """The orders 01 (20) and 10 (19) of one set would fill a beam of 2 and push out 02 (18), which leads to 18 + 20."""
    table = from_gains(4, {"0": 10, "1": 9, "01": 10, "02": 8, "023": 20})
    assert _beam_over_orders(table, 2) == [0, 1, 2, 3] and _total(table, [0, 1, 2, 3]) == 20
    assert beam_order(table.value, 4, 2).tolist() == [0, 2, 3, 1] and _total(table, [0, 2, 3, 1]) == 38


def test_a_set_comes_with_the_best_sum_that_reaches_it():
    """{0,1}: through {1} it sums to 7 + 1, through {0} to 5 + 1."""
    table = from_gains(3, {"0": 5, "1": 7, "01": 1}, otherwise=-9)
    assert beam_order(table.value, 3, 3).tolist() == [1, 0, 2]


def test_ties_go_to_the_lower_position():
    assert beam_order(from_gains(5, {}).value, 5, 3).tolist() == [0, 1, 2, 3, 4]
    assert beam_order(from_gains(3, {"1": 1, "2": 1, "12": 1}).value, 3, 4).tolist() == [1, 2, 0]


def test_ties_go_to_the_better_parent_before_the_lower_position():
    """{1} 5 then {1,2} 5 + 3; {0} 4 then {0,3} 4 + 4: both 8, and all four triples too."""
    table = from_gains(
        4, {"0": 4, "1": 5, "2": -20, "3": -20, "12": 3, "03": 4, "01": -20, "02": -20, "13": -20, "23": -20}
    )
    assert beam_order(table.value, 4, 2).tolist() == [1, 2, 0, 3]


@PROPERTY
@given(tables, st.integers(0, 20))
def test_a_wide_beam_equals_brute_force_over_all_orders(table, more):
    F = table.F
    order = beam_order(table.value, F, max(comb(F, k) for k in range(F + 1)) + more).tolist()
    assert sorted(order) == list(range(F))
    assert _total(table, order) == max(_total(table, other) for other in permutations(range(F)))


@PROPERTY
@given(tables, st.integers(1, 12))
def test_a_beam_asks_each_set_at_most_once_and_no_more_than_it_says(table, width):
    table.asked.clear()
    beam_order(table.value, table.F, width)
    assert max(table.asked.values()) == 1 and table.asked.total() <= beam_passes(table.F, width)


@PROPERTY
@given(tables, st.integers(1, 4), st.data())
def test_masked_features_are_left_out_as_if_they_were_not_there(table, width, data):
    """The beam over the free features of a table is that over the smaller table of sets which hold the masked ones."""
    masked = data.draw(st.sets(st.integers(0, table.F - 1), max_size=table.F - 1))
    free = [i for i in range(table.F) if i not in masked]
    base = sum(1 << i for i in masked)
    smaller = Table(
        [
            table.values[base | sum(1 << free[i] for i in range(len(free)) if code >> i & 1)]
            for code in range(2 ** len(free))
        ]
    )
    start = np.array([i in masked for i in range(table.F)])
    found = beam_order(table.value, table.F, width, start)
    assert found.tolist() == [free[i] for i in beam_order(smaller.value, len(free), width)]
    assert start.sum() == len(masked), "the caller's mask is not changed"


def test_with_everything_masked_there_is_no_order_and_nothing_is_asked():
    table = from_gains(3, {})
    assert beam_order(table.value, 3, 2, np.ones(3, dtype=bool)).tolist() == [] and not table.asked


@pytest.mark.parametrize("width", [0, -1])
def test_a_beam_needs_a_width(width):
    with pytest.raises(ValueError, match=f"at least 1, got {width}"):
        beam_order(from_gains(2, {}).value, 2, width)


def test_most_passes_of_a_beam():
    # A beam of 1 scores v(∅), then F, F − 1, … 1 sets; the widest scores all 2^F.
    assert [beam_passes(F, 1) for F in range(5)] == [1, 2, 4, 7, 11]
    assert [beam_passes(F, 1000) for F in range(8)] == [2**F for F in range(8)]
    # F = 4, B = 2: 1; 4; two parents × 3 = 6 = C(4,2); two × 2 = 4 = C(4,3); 1.
    assert beam_passes(4, 2) == 16
    # F = 6, B = 2: 1; 6; 2 × 5; 2 × 4; 2 × 3; 2 × 2; 1.
    assert beam_passes(6, 2) == 36
    assert beam_passes(40) < WIDTH * 40**2 / 2 + 40


def test_the_beams_score_is_f_minus_rank():
    """FOUR under B = 10 is optimal: 2, 3, 1, 0, so feature 2 scores 4 and feature 0 scores 1."""
    assert beam(from_gains(4, FOUR).explained())["signed"].tolist() == [1, 2, 4, 3]


def test_the_beams_score_with_a_masked_feature():
    """On top of {0}: {0,3} gains 6 against 4 and 3; then {0,2,3} 2 against {0,1,3} 1. Gains count from v({0})."""
    found = beam(from_gains(4, FOUR).explained(masked=[0]))["signed"]
    assert found.tolist() == [0, 2, 3, 4]


@PROPERTY
@given(tables)
def test_ranking_the_beams_score_gives_the_order_back(table):
    assert ranking(beam(table.explained())["signed"]).tolist() == beam_order(table.value, table.F, WIDTH).tolist()


def _total(table, order):
    return sum(table.gain(*order[:k]) for k in range(1, len(order) + 1))


def _beam_over_orders(table, width):
    """The same search keeping orders instead of sets: what must not happen."""
    held = [()]
    for _ in range(table.F):
        longer = [(*order, i) for order in held for i in range(table.F) if i not in order]
        held = sorted(longer, key=lambda order: -_total(table, order))[:width]
    return list(held[0])


# Random


def test_random_is_seeded_by_seed_and_example():
    def draw(**more):
        return tuple(random_scores(Table(np.zeros(16)).explained(**more))["random"])

    assert draw(seed=3, example=5) == draw(seed=3, example=5)
    assert len({draw(seed=s, example=e) for s in range(6) for e in range(6)}) == 36, "seed and example are not added up"
    assert draw(seed=3, example=5, masked=[1, 3]) == tuple(np.where([0, 1, 0, 1], 0.0, draw(seed=3, example=5)))


def test_random_is_uniform():
    drawn = np.concatenate([random_scores(Table(np.zeros(1024)).explained(example=e))["random"] for e in range(300)])
    assert drawn.min() >= 0 and drawn.max() < 1
    # 3,000 draws: each tenth holds 300 ± 16.4.
    assert np.abs(np.histogram(drawn, 10, (0, 1))[0] - 300).max() < 5 * 16.4


def test_random_asks_nothing():
    table = from_gains(3, {})
    random_scores(table.explained())
    assert not table.asked


# Ranking


@PROPERTY
@given(scores)
def test_ranking_is_descending_and_ties_keep_their_position(values):
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))
    assert ranking(np.array(values)).tolist() == expected
    places = ranks(np.array(values))
    assert [int(places[i]) for i in expected] == list(range(1, len(values) + 1))


@PROPERTY
@given(scores, st.data())
def test_masked_features_rank_first_by_position_whatever_their_scores(values, data):
    masked = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    first = [i for i, m in enumerate(masked) if m]
    rest = sorted((i for i, m in enumerate(masked) if not m), key=lambda i: (-values[i], i))
    assert ranking(np.array(values), np.array(masked)).tolist() == first + rest


@PROPERTY
@given(scores)
def test_sufficiency_is_the_exact_reverse_only_where_nothing_ties(values):
    values = np.array(values)
    reverse = ranking(-values).tolist() == ranking(values)[::-1].tolist()
    assert reverse == (len(np.unique(values)) == len(values))


def test_sufficiency_of_ties_by_hand():
    assert ranking(-np.array([2.0, 1.0, 2.0, 1.0])).tolist() == [1, 3, 0, 2]
    assert ranking(np.array([2.0, 1.0, 2.0, 1.0])).tolist() == [0, 2, 1, 3]


def test_infinite_scores_rank_and_signed_zeros_tie():
    assert ranking(np.array([0.0, np.inf, -np.inf, -0.0, 1.0])).tolist() == [1, 4, 0, 3, 2]


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(ValueError, match=r"features \[1, 2\] are NaN"):
        ranking(np.array([0.0, np.nan, np.nan]))
    with pytest.raises(ValueError, match=r"one-dimensional, got shape \(1, 2\)"):
        ranking(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"\(3,\).*\(2,\)"):
        ranking(np.zeros(2), np.zeros(3, dtype=bool))


def test_ranking_leaves_its_arguments_alone():
    values, masked = np.array([1.0, 3.0, 2.0]), np.array([False, True, False])
    ranking(values, masked)
    assert values.tolist() == [1.0, 3.0, 2.0] and masked.tolist() == [False, True, False]


# Agreement


@pytest.mark.parametrize(
    "first, second, tau",
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [3, 2, 1], -1.0),
        ([1, 2, 3], [1, 3, 2], 1 / 3),  # Two pairs agree, one does not.
        ([1, 1, 2], [1, 2, 3], 2 / 6**0.5),  # Two agree, one ties in the first: 2 / √(2 · 3).
        ([1, 1, 2, 2], [1, 2, 1, 2], 0.0),  # One agrees, one does not, two tie on either side.
    ],
)
def test_kendalls_tau_by_hand(first, second, tau):
    assert kendall_tau(first, second) == pytest.approx(tau, abs=1e-12)


@PROPERTY
@given(st.integers(2, 7).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-2, 2), min_size=n, max_size=n)] * 2)))
def test_kendalls_tau_by_counting_pairs(both):
    first, second = both
    pairs = [
        (np.sign(first[i] - first[j]), np.sign(second[i] - second[j])) for i, j in combinations(range(len(first)), 2)
    ]
    untied = sum(a != 0 for a, _ in pairs), sum(b != 0 for _, b in pairs)
    expected = sum(a * b for a, b in pairs) / (untied[0] * untied[1]) ** 0.5 if all(untied) else np.nan
    assert kendall_tau(first, second) == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert kendall_tau(second, first) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("first, second", [([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0]), ([1], [2]), ([], [])])
def test_without_an_order_there_is_no_tau(first, second):
    assert np.isnan(kendall_tau(first, second))


@pytest.mark.parametrize(
    "first, second, k, share",
    [
        ([4, 3, 2, 1], [4, 3, 2, 1], 2, 1.0),
        ([4, 3, 2, 1], [1, 2, 3, 4], 2, 0.0),
        ([4, 3, 2, 1], [4, 1, 2, 3], 3, 2 / 3),
        ([0, 0, 0], [1, 2, 3], 1, 0.0),  # Ties by position: feature 0 against feature 2.
        ([1, 2], [2, 1], 5, 1.0),  # More than F means F.
    ],
)
def test_top_overlap_by_hand(first, second, k, share):
    assert top_overlap(first, second, k) == pytest.approx(share)
    assert top_overlap(second, first, k) == pytest.approx(share)


def test_random_orders_share_k_of_f_on_average():
    F, k = 4, 2
    orders = list(permutations(range(F)))
    assert np.mean([top_overlap(range(F), order, k) for order in orders]) == pytest.approx(k / F) and len(
        orders
    ) == factorial(F)


@pytest.mark.parametrize("values, k", [([1.0], 0), ([], 1), ([1.0, 2.0], -1)])
def test_top_overlap_of_nothing_is_refused(values, k):
    with pytest.raises(ValueError, match=f"k = {k}, F = {len(values)}"):
        top_overlap(values, values, k)
