"""The test of an order against random ones: by hand, by brute force, and how often it errs on made-up texts."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.explanation.limiting import EXACT_UP_TO
from core.mathematics.aopc import order_aopc
from core.mathematics.statistics import holm
from core.mathematics.stepwise import finish
from core.verdicts.chance import (
    EVERY_SET,
    MOST_DRAWS,
    NullOrders,
    aopc_of_orders,
    by_table,
    draw_null,
    draws_needed,
    null_of_table,
    reachable,
    second_look_p,
    stepwise_p,
    tail_test,
)
from core.verdicts.reaching import own_reach
from tests.table import Table


def null_of(*reached: float, planned: int | None = None) -> NullOrders:
    return NullOrders(np.array(reached), len(reached) if planned is None else planned)


def test_p_counts_the_order_itself_and_ties_in_full_both_ways():
    null = null_of(0.1, 0.2, 0.3, 0.3)
    for reached, better, worse in ((0.3, 3 / 5, 1.0), (0.31, 1 / 5, 1.0), (0.2, 4 / 5, 3 / 5), (0.05, 1.0, 1 / 5)):
        assert null.p(np.array([reached]), 1)[0] == pytest.approx([better])
        assert null.p(np.array([reached]), -1)[0] == pytest.approx([worse])
    # What rounding makes of equal scores is no difference.
    assert null.p(np.array([0.3 + 1e-8]), 1)[0] == null.p(np.array([0.3]), 1)[0]


def test_what_is_no_number_has_no_p():
    for reached, null in ((np.nan, null_of(0.1)), (0.1, null_of(np.nan))):
        with pytest.raises(ValueError, match="NaN"):
            null.p(np.array([reached]), 1)


def test_holm_over_measures_by_hand():
    """R = 99: p of .01, .02 and .03 against 1/60, 1/40 and 1/20."""
    null = null_of(*np.arange(99) / 99)
    tail = tail_test(np.array([2.0, 97.5 / 99, 96.5 / 99]), null, 1)
    assert tail.low == pytest.approx([0.01, 0.02, 0.03]) and (tail.low == tail.high).all()
    assert tail.rejected.tolist() == [True, True, True] and tail.settled.all()
    # .02, .03 and .04: the first does not fall below 1/60, and so none.
    tail = tail_test(np.array([97.5, 96.5, 95.5]) / 99, null, 1)
    assert tail.rejected.tolist() == [False] * 3 and (tail.rejected == holm(tail.low)).all()
    # Measures that are to come count as p = 1: .01 is not below 1/120.
    assert not tail_test(np.array([2.0]), null, 1, planned=6).rejected.any()


def test_so_many_orders_are_drawn_that_the_smallest_p_can_be_rejected():
    assert [draws_needed(m) for m in (0, 1, 3, 4, 5, 9, 10, 15)] == [60, 60, 60, 80, 100, 180, 200, 300]
    for measures in range(1, 30):
        null = NullOrders(np.zeros(1), draws_needed(measures))
        assert (
            reachable(null, measures) and tail_test(np.ones(measures), null_of(*[0.0] * null.planned), 1).rejected.all()
        )
    assert not reachable(NullOrders(np.zeros(0), 60), 4)


@pytest.mark.parametrize("F", range(1, 8))
def test_the_null_of_a_table_is_that_of_every_order(F):
    table = Table(np.random.default_rng(F).random(2**F).round(1))
    null = null_of_table(table.values)
    orders = [np.array(order) for order in permutations(range(F))]
    brute = np.array([order_aopc(table.value, order, F) for order in orders])
    assert null.every and null.planned == factorial(F) and null.floor == 1 / factorial(F)
    np.testing.assert_allclose(np.sort(null.reached), np.sort(brute), atol=1e-12)
    for mine in brute[:: max(1, len(brute) // 20)]:
        share = [sum(sign * (brute - mine) >= -1e-9) / len(brute) for sign in (1, -1)]
        assert [float(null.p(np.array([mine]), sign)[0][0]) for sign in (1, -1)] == pytest.approx(share)


def test_beyond_eight_features_a_table_gives_as_many_orders_as_are_asked_for():
    table = np.random.default_rng(0).random(2**10)
    null = null_of_table(table, seed=3)
    assert not null.every and null.planned == len(null.reached) == MOST_DRAWS and null.complete
    assert (null.reached == null_of_table(table, seed=3).reached).all()
    # Every set of a size is as likely: the mean is that of the mean falls of the sizes.
    sizes = np.array([code.bit_count() for code in range(2**10)])
    mean = np.mean([(table[0] - table[sizes == k]).mean() for k in range(1, 11)])
    assert null.reached.mean() == pytest.approx(mean, abs=5 * null.reached.std() / MOST_DRAWS**0.5)


@pytest.mark.parametrize(("F", "draws", "every"), [(1, 99, True), (4, 99, True), (5, 99, False), (5, 120, True)])
def test_where_there_are_no_more_orders_than_are_drawn_each_is_asked_for_once(F, draws, every):
    table, start = Table(np.random.default_rng(F).random(2 ** (F + 1))), np.zeros(F + 1, dtype=bool)
    start[1] = True
    rng, free = np.random.default_rng(0), np.flatnonzero(~start)
    null = finish(
        draw_null(own_reach(table.value, start), start, lambda r: rng.permutation(free), draws, lambda null: every)
    )
    assert null.every == every and null.complete and null.planned == (factorial(F) if every else draws)
    if every:
        brute = [order_aopc(table.value, np.array(one), F + 1, start) for one in permutations(free)]
        np.testing.assert_allclose(np.sort(null.reached), np.sort(brute), atol=1e-12)


def words(tables, orders, draws, F):
    """(better, worse) of each text's attributions, bool[N, M], by Holm over them."""
    found = []
    for table, own, random in zip(tables, orders, draws):
        null = NullOrders(aopc_of_orders(table, random), len(random))
        tails = (tail_test(aopc_of_orders(table, own), null, sign) for sign in (1, -1))
        found.append([tail.rejected for tail in tails])
    return np.moveaxis(np.array(found), 1, 0)


@pytest.mark.parametrize("kind", ["smooth", "steps", "additive"])
def test_random_attributions_are_believed_on_at_most_five_percent_of_texts(kind):
    """2,000 texts, three random attributions each; with ties, too, where most orders reach the same."""
    N, M, F, rng = 2_000, 3, 6, np.random.default_rng(17)
    sets = (np.arange(2**F)[:, None] >> np.arange(F) & 1).astype(float)
    tables = {
        "smooth": lambda: rng.random((N, 2**F)),
        "steps": lambda: rng.integers(0, 2, (N, 2**F)) * (rng.random((N, 1)) < 0.9),
        "additive": lambda: 1 - rng.dirichlet(np.full(F, 0.3), N) @ sets.T,
    }[kind]()
    own, draws = (rng.random((N, many, F)).argsort(axis=2) for many in (M, draws_needed(M)))
    better, worse = words(tables, own, draws, F)
    most = stats.binom.ppf(0.999, N, 0.05)
    assert better.any(axis=1).sum() <= most and worse.any(axis=1).sum() <= most
    if kind == "smooth":
        # It is no test that never speaks.
        assert better.any(axis=1).sum() >= stats.binom.ppf(0.001, N, 0.025)
    assert not (better & worse).any()


@pytest.mark.parametrize("values", ["signed", "absolute"])
def test_a_second_look_at_random_attributions_finds_something_on_at_most_five_percent_of_texts(values):
    """2,000 texts, three random attributions each, looked at by their other values where the verdict fails them."""
    N, M, F, rng = 2_000, 3, 6, np.random.default_rng(29)
    scores, tables = rng.normal(size=(N, M, F)), rng.random((N, 2**F))
    own, other = (np.argsort(-one, axis=2) for one in (scores, np.abs(scores)))
    if values == "absolute":
        own, other = other, own
    draws = rng.random((N, draws_needed(M), F)).argsort(axis=2)
    better, _ = words(tables, own, draws, F)
    found = 0
    for table, orders, random, believed in zip(tables, other, draws, better):
        null = NullOrders(aopc_of_orders(table, random), len(random))
        ps = [second_look_p(null, reached, M) for reached in aopc_of_orders(table, orders)]
        found += any(p <= 0.05 for p, told in zip(ps, believed) if not told)
    # It is no look that never finds any.
    assert stats.binom.ppf(0.001, N, 0.015) <= found <= stats.binom.ppf(0.999, N, 0.05)


def test_what_finds_the_words_that_count_is_believed():
    """Of additive texts the order of the weights is the best, its reverse the worst."""
    N, F, rng = 200, 8, np.random.default_rng(5)
    sets = (np.arange(2**F)[:, None] >> np.arange(F) & 1).astype(float)
    weights = rng.dirichlet(np.ones(F), N)
    best = (-weights).argsort(axis=1)
    own = np.stack([best, best[:, ::-1], rng.random((N, F)).argsort(axis=1)], axis=1)
    better, worse = words(1 - weights @ sets.T, own, rng.random((N, draws_needed(3), F)).argsort(axis=2), F)
    assert better[:, 0].mean() > 0.95 and worse[:, 1].mean() > 0.95
    assert not better[:, 1].any() and not worse[:, 0].any()


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([2, 30]))
def test_stopping_early_gives_the_same_words(seed, M, levels):
    rng, F, R = np.random.default_rng(seed), 6, draws_needed(M)
    table = Table(rng.integers(0, levels, 2**F) / levels)
    start, drawn = np.zeros(F, dtype=bool), rng.random((R, F)).argsort(axis=1)
    own = aopc_of_orders(table.values, rng.random((M, F)).argsort(axis=1))

    def settled(null):
        return all(tail_test(own, null, sign).settled.all() for sign in (1, -1))

    whole, part = (
        finish(draw_null(own_reach(table.value, start), start, drawn.__getitem__, R, *ask)) for ask in ((), (settled,))
    )
    assert whole.complete and settled(part) and (part.reached == whole.reached[: len(part.reached)]).all()
    for sign in (1, -1):
        first, last = tail_test(own, part, sign), tail_test(own, whole, sign)
        assert (first.rejected == last.rejected).all()
        assert (first.low <= last.low).all() and (last.high <= first.high).all() and (last.low == last.high).all()


def test_it_stops_where_nothing_can_be_better_and_not_before_what_wins_is_sure():
    table, F = Table(np.linspace(1, 0, 2**6)), 6
    rng, start = np.random.default_rng(1), np.zeros(6, dtype=bool)
    drawn = rng.random((99, F)).argsort(axis=1)
    middle = float(np.median(aopc_of_orders(table.values, drawn)))
    best = float(aopc_of_orders(table.values, np.array([[5, 4, 3, 2, 1, 0]]))[0])
    asked = []
    for own in (middle, best + 0.1):
        mine = np.array([own])
        done = lambda null, mine=mine: all(tail_test(mine, null, sign).settled.all() for sign in (1, -1))  # noqa: E731
        asked.append(len(finish(draw_null(own_reach(table.value, start), start, drawn.__getitem__, 99, done)).reached))
    assert asked[0] <= 32 and asked[1] >= 95


def test_every_set_is_asked_for_where_pages_do_unasked_and_where_orders_would_ask_for_more():
    assert min(EXACT_UP_TO.values()) == 1 << EVERY_SET
    assert [F for F in range(1, 21) if by_table(F, 99)] == list(range(1, 13))
    # 2^13 sets, and 12 of each order.
    assert by_table(13, 683) and not by_table(13, 682)
    # Orders that somebody chose the number of are drawn; and no table is larger than the app allows.
    assert [F for F in range(1, 21) if by_table(F, 99, chosen=True)] == list(range(1, 10)) and not by_table(
        12, 10, True
    )
    assert by_table(20, 300_000) and not by_table(21, 300_000)


def test_a_path_is_set_against_random_ones_at_the_same_ratios():
    x = np.array([0.0, 0.5, 1.0])
    orders = np.array([[1.0, 0.8, 0.2], [1.0, 0.6, 0.2], [1.0, 0.4, 0.2]])
    assert stepwise_p(x, np.array([1.0, 0.3, 0.2]), orders) == 1 / 4
    assert stepwise_p(x, np.array([1.0, 0.6, 0.2]), orders) == 3 / 4
