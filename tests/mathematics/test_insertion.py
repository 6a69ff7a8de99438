"""Insertion search against brute force over all orders, and what must always hold of it."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.aopc import order_aopc
from core.mathematics.search.insertion import SIGNS, KnownSets, guessed_gains, insertion_search, insertion_sets
from core.mathematics.search.limits import INSERTION, exact_search, most_sets
from core.mathematics.stepwise import finish
from tests.table import Table, beam_limits, exact_limits

TABLES = st.integers(1, 5).flatmap(lambda F: st.lists(st.floats(-1, 1), min_size=2**F, max_size=2**F))


def search(table, most, **more):
    return finish(insertion_search(table.value, table.F, most, **more))


def sets_of(codes, F):
    return np.array([[bool(code >> i & 1) for i in range(F)] for code in codes])


def flipped(one, i):
    return (*one[:i], not one[i], *one[i + 1 :])


@settings(max_examples=80, deadline=None)
@given(TABLES)
def test_where_every_set_may_be_scored_the_limits_are_those_of_every_order(values):
    table = Table(values)
    reached = [order_aopc(Table(values).value, np.array(order), table.F) for order in permutations(range(table.F))]
    found = search(table, 2**table.F)
    assert found.lower == pytest.approx(min(reached), abs=1e-9) and found.upper == pytest.approx(max(reached), abs=1e-9)
    assert found.method == INSERTION and found.scores == len(table.asked) and max(table.asked.values()) == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(1, 3), st.integers(0, 300), st.integers(0, 2**16))
def test_it_is_never_narrower_than_beams_of_its_width_nor_wider_than_exact_limits(F, width, most, seed):
    table = Table(np.random.default_rng(seed).normal(size=2**F))
    beam, exact = beam_limits(Table(table.values).value, F, width), exact_limits(Table(table.values).value, F)
    found = search(table, most, width=width)
    assert exact.lower - 1e-9 <= found.lower <= beam.lower + 1e-9
    assert beam.upper - 1e-9 <= found.upper <= exact.upper + 1e-9
    for order, reached in ((found.lowest, found.lower), (found.highest, found.upper)):
        assert sorted(order.tolist()) == list(range(F))
        assert order_aopc(Table(table.values).value, order, F) == pytest.approx(reached, abs=1e-9)
    assert found.scores == len(table.asked) and max(table.asked.values()) == 1
    assert found.scores <= max(most, 2 * most_sets(F, width)) and found.scores <= 2**F


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 8), st.integers(0, 2**16))
def test_more_scores_never_narrow_it(F, seed):
    values = np.random.default_rng(seed).normal(size=2**F)
    found = [search(Table(values), most) for most in (0, 60, 120, 240)]
    for fewer, more in pairwise(found):
        assert more.lower <= fewer.lower + 1e-9 and more.upper >= fewer.upper - 1e-9 and more.scores >= fewer.scores


def test_words_that_matter_only_together_are_found_from_the_whole_set():
    """Masking 9, 10 and 11 takes 0.95 of the score, any part of them nothing; each of the other nine takes 0.005.

    The best order masks the three first: (10 · 0.95 + 0.005 · (1 + … + 9)) / 12; the worst masks two of them first and
    the third last: (0.005 · (1 + … + 9) + 0.95 + 0.005 · 9) / 12.
    """
    table = Table([1 - 0.95 * (code >> 9 == 7) - 0.005 * (code & 511).bit_count() for code in range(1 << 12)])
    found, beam = search(table, insertion_sets(12)), beam_limits(Table(table.values).value, 12, 5)
    assert found.upper == pytest.approx((9.5 + 0.225) / 12) and sorted(found.highest[:3].tolist()) == [9, 10, 11]
    assert found.lower == pytest.approx((0.225 + 0.995) / 12)
    assert found.scores <= insertion_sets(12) < 1 << 12 and beam.upper < found.upper - 0.5


@pytest.mark.parametrize("seed", range(12))
def test_noise_of_the_arithmetic_changes_no_set_that_is_asked(seed):
    """A network's scores move in the last digits with the batch that a set is read in. Every set along one order ties
    in what passes through it, so that such digits alone would choose what is scored next."""
    draws = np.random.default_rng(seed)
    values, noise = draws.uniform(size=2**12), 1e-9 * draws.uniform(-1, 1, size=2**12)
    one, other = Table(values), Table(values + noise)
    found, again = (search(table, insertion_sets(12)) for table in (one, other))
    assert one.asked == other.asked and found.scores == again.scores < 2**12
    assert (found.lowest == again.lowest).all() and (found.highest == again.highest).all()


def test_features_that_are_masked_already_are_in_no_order():
    table, masked = Table(np.random.default_rng(1).normal(size=64)), np.array([True, False, False, True, False, False])
    expected = exact_limits(table.value, 6, masked)
    found = finish(insertion_search(Table(table.values).value, 6, 16, masked=masked))
    assert found.lower == pytest.approx(expected.lower) and found.upper == pytest.approx(expected.upper)
    assert sorted(found.highest.tolist()) == sorted(found.lowest.tolist()) == [1, 2, 4, 5] and found.scores == 16


def test_a_search_in_half_precision_reports_only_what_its_orders_attain():
    exact, noise = Table(np.random.default_rng(3).normal(size=64)), np.random.default_rng(4).normal(size=64) / 20
    rough = Table(exact.values + noise)
    found = finish(insertion_search(rough.value, 6, 50, rescore=exact.value))
    assert sum(exact.asked.values()) == 2 * (exact.F + 1), "only the two orders that were found are scored anew"
    for order, reached in ((found.lowest, found.lower), (found.highest, found.upper)):
        assert order_aopc(exact.value, order, exact.F) == reached


def test_it_tells_how_many_sets_it_has_asked_for_and_asks_for_no_more_than_is_said_before():
    table = Table(np.random.default_rng(4).normal(size=2**10))
    told = list(insertion_search(table.value, 10, insertion_sets(10)))
    assert told == sorted(told) and told[-1] == len(table.asked) == insertion_sets(10) == 260
    assert insertion_sets(3) == 8, "there are no more sets"


def test_what_cannot_be_is_a_sentence():
    table = Table(np.zeros(16))
    for wrong in (
        lambda: search(table, 16, masked=np.ones(4, dtype=bool)),
        lambda: search(table, 16, width=0),
        lambda: finish(insertion_search(lambda masks: np.full(len(masks), np.nan), 3, 8)),
    ):
        with pytest.raises(ValueError):
            wrong()


# The graph of known sets


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 5), st.integers(0, 2**16), st.floats(0.3, 1))
def test_the_best_order_through_known_sets_is_that_of_all_orders_that_pass_through_nothing_else(F, seed, share):
    rng = np.random.default_rng(seed)
    table = Table(rng.normal(size=2**F))
    codes = np.flatnonzero(rng.random(2**F) < share)
    known = KnownSets(table.value, np.zeros(F, dtype=bool))
    if len(codes):
        known.ask(sets_of(codes, F))
    codes = {0, 2**F - 1, *codes.tolist()}
    passing = {}
    for order in permutations(range(F)):
        passed = [sum(1 << i for i in order[:k]) for k in range(F + 1)]
        if codes.issuperset(passed):
            passing[order] = passed
    reached = {order: float(np.mean(table.values[0] - table.values[passed[1:]])) for order, passed in passing.items()}
    rows = known.ask(sets_of(sorted(codes), F))
    for sign in SIGNS:
        if not reached:
            with pytest.raises(ValueError, match="no order"):
                known.best(sign)
            continue
        reached_to, ahead = known.sums(sign)
        order, best = known.best(sign)
        assert best == pytest.approx(sign * max(sign * one for one in reached.values()))
        assert reached[tuple(order.tolist())] == pytest.approx(best)
        for code, row in zip(sorted(codes), rows):
            through = [sign * F * reached[order] for order, passed in passing.items() if code in passed]
            assert (reached_to + ahead)[row] == pytest.approx(max(through, default=-np.inf))
    assert max(table.asked.values()) == 1 and known.count == len(codes)


@pytest.mark.parametrize("F", [5, 70])
def test_the_frontier_is_what_is_not_known_beside_what_is(F):
    """Beyond 64 features keys are drawn; what lies beside what is found among all sets, by hand."""
    rng = np.random.default_rng(F)
    known = KnownSets(lambda masks: masks @ np.arange(F), np.zeros(F, dtype=bool))
    asked = rng.random((12, F)) < 0.5
    asked[6:] = asked[:6] ^ (np.arange(F) == 2)
    rows = np.unique(known.ask(asked))
    held = [tuple(one) for one in known.members(np.arange(known.count)).tolist()]
    sets, beside, among = known.frontier(rows)
    found = [tuple(one) for one in sets.tolist()]
    around = {flipped(one, i) for one in (held[row] for row in rows) for i in range(F)}
    assert sorted(found) == sorted(around - set(held)) and len(set(rows) & set(known.open())) > 0
    for place, one in enumerate(found):
        near = [flipped(one, i) for i in range(F)]
        assert beside[place].tolist() == [held.index(other) if other in held else -1 for other in near]
        assert among[place].tolist() == [found.index(other) if other in found else -1 for other in near]


def test_scores_that_are_a_sum_over_features_are_guessed_nearly():
    """Each of eight features takes its own amount, up to 0.4; what a known neighbour scores would miss that much."""
    amounts = np.array([0.1, -0.2, 0.3, 0.0, 0.05, 0.4, -0.35, 0.25])
    known = KnownSets(lambda masks: 1 - masks @ amounts, np.zeros(8, dtype=bool))
    rows = known.ask(np.random.default_rng(0).random((60, 8)) < 0.5)
    sets, beside, _ = known.frontier(np.unique(rows))
    assert guessed_gains(known, sets, beside) == pytest.approx(sets @ amounts, abs=0.03) and len(sets) > 60


def test_known_sets_join_whatever_their_number():
    """More sets than there is room for at first: the graph grows, and its best orders are exact ones."""
    table = Table(np.random.default_rng(5).normal(size=2**12))
    known = KnownSets(table.value, np.zeros(12, dtype=bool))
    for codes in np.array_split(np.random.default_rng(6).permutation(2**12), 7):
        known.ask(sets_of(codes, 12))
    exact = finish(exact_search(Table(table.values).value, 12))
    assert known.best(1.0)[1] == pytest.approx(exact.upper) and known.best(-1.0)[1] == pytest.approx(exact.lower)
