"""AOPC and its limits: the papers' toy models to the digit, every order by brute force, and what must always hold."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.aopc import aopc, comprehensiveness_order, naopc, order_aopc, prefix_masks, sufficiency_order
from core.mathematics.search.limits import (
    BEAM,
    EXACT,
    TooDear,
    beam_search,
    exact_search,
    lattice_limits,
    most_sets,
    widened,
)
from tests.table import Table, beam_limits, exact_limits

TABLES = st.integers(1, 5).flatmap(lambda F: st.lists(st.floats(-1, 1), min_size=2**F, max_size=2**F))


def toy(F, function) -> Table:
    """v of x, where a masked feature is 0 and any other 1."""
    return Table([function(*(0.0 if code >> i & 1 else 1.0 for i in range(F))) for code in range(2**F)])


TOYS = {  # NAOPC Tables 1 and 2: (model, best comprehensiveness, best sufficiency)
    "f1": (toy(4, lambda a, b, c, d: 0.2 * a + 0.3 * b + 0.1 * c + 0.4 * d), 0.75, 0.50),
    "f2": (toy(4, lambda a, b, c, d: 0.0 * a + 0.1 * b + 0.7 * c + 0.2 * d), 0.90, 0.35),
    "f3": (toy(4, lambda a, b, c, d: 0.7 * max(a, b) + 0.3 * max(c, d)), 0.6, 0.325),
    "f4": (toy(4, lambda a, b, c, d: 0.7 * min(a, b) + 0.3 * min(c, d)), 0.925, 0.65),
}


def brute_force(table: Table) -> tuple[float, float]:
    reached = [order_aopc(table.value, np.array(order), table.F) for order in permutations(range(table.F))]
    return min(reached), max(reached)


@pytest.mark.parametrize("name", TOYS)
def test_the_papers_toy_models_to_the_digit(name):
    table, best, least = TOYS[name]
    for limits in (exact_limits(table.value, 4), beam_limits(table.value, 4, 6)):
        assert limits.upper == pytest.approx(best, abs=1e-12) and limits.lower == pytest.approx(least, abs=1e-12)


def test_aopc_by_hand():
    # v: 1.0 whole, 0.4 with feature 2 masked, 0.1 with 2 and 0, 0.0 with all: (0.6 + 0.9 + 1.0) / 3.
    assert aopc(np.array([1.0, 0.4, 0.1, 0.0])) == pytest.approx(2.5 / 3)
    assert prefix_masks(np.array([2, 0]), 3).tolist() == [[False] * 3, [False, False, True], [True, False, True]]
    assert prefix_masks(np.array([2]), 3, np.array([True, False, False])).tolist() == [
        [True, False, False],
        [True, False, True],
    ]


def test_orders_leave_out_what_is_masked_and_ties_go_by_position_both_ways():
    scores, masked = np.array([0.5, 0.9, 0.5, 0.1]), np.array([False, False, False, True])
    assert comprehensiveness_order(scores).tolist() == [1, 0, 2, 3] and sufficiency_order(scores).tolist() == [
        3,
        0,
        2,
        1,
    ]
    assert comprehensiveness_order(scores, masked).tolist() == [1, 0, 2] and sufficiency_order(
        scores, masked
    ).tolist() == [0, 2, 1]


@settings(max_examples=80, deadline=None)
@given(st.permutations(range(6)), st.lists(st.floats(-1, 1), min_size=64, max_size=64))
def test_without_ties_sufficiency_is_comprehensiveness_of_the_reverse(order, values):
    table, scores = Table(values), -np.argsort(order).astype(float)
    assert sufficiency_order(scores).tolist() == comprehensiveness_order(scores)[::-1].tolist()
    assert order_aopc(table.value, sufficiency_order(scores), 6) == order_aopc(table.value, np.array(order)[::-1], 6)


@pytest.mark.parametrize("F", range(1, 8))
@pytest.mark.parametrize("kind", ["any", "all negative", "ties"])
def test_exact_limits_are_those_of_every_order(F, kind):
    rng = np.random.default_rng(F)
    values = rng.normal(size=2**F) if kind != "ties" else rng.integers(0, 3, 2**F).astype(float)
    if kind == "all negative":
        # Masking only ever raises the score: a search that starts from 0 would find nothing.
        values[0] = values.min() - 1
    table = Table(values)
    lower, upper = brute_force(table) if F < 7 else brute_force_by_prefixes(table)
    limits = exact_limits(table.value, F)
    assert limits.lower == pytest.approx(lower, abs=1e-12) and limits.upper == pytest.approx(upper, abs=1e-12)
    assert limits.method == EXACT and limits.scores == 2**F and (kind != "all negative" or limits.upper < 0)
    for order, reached in ((limits.lowest, limits.lower), (limits.highest, limits.upper)):
        assert sorted(order.tolist()) == list(range(F)) and order_aopc(table.value, order, F) == pytest.approx(
            reached, abs=1e-12
        )


def brute_force_by_prefixes(table: Table) -> tuple[float, float]:
    """Every order of seven features, without asking the table for each."""
    gains = table.values[0] - table.values
    sums = [sum(gains[sum(1 << i for i in order[:k])] for k in range(1, 8)) / 7 for order in permutations(range(7))]
    return min(sums), max(sums)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.integers(1, 40))
def test_a_beam_lies_within_the_exact_limits_and_its_orders_attain_it(values, width):
    table = Table(values)
    exact, beam = exact_limits(table.value, table.F), beam_limits(table.value, table.F, width)
    assert exact.lower - 1e-9 <= beam.lower <= beam.upper + 1e-9 and beam.upper <= exact.upper + 1e-9
    for order, reached in ((beam.lowest, beam.lower), (beam.highest, beam.upper)):
        assert order_aopc(table.value, order, table.F) == pytest.approx(reached, abs=1e-9)
    if width >= 10:
        # Five features have at most ten sets of a size.
        assert beam.lower == pytest.approx(exact.lower, abs=1e-9) and beam.upper == pytest.approx(exact.upper, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.randoms(use_true_random=False))
def test_limits_bracket_every_order(values, random):
    table = Table(values)
    order = random.sample(range(table.F), table.F)
    reached, exact = order_aopc(table.value, np.array(order), table.F), exact_limits(table.value, table.F)
    assert exact.lower - 1e-9 <= reached <= exact.upper + 1e-9
    wide = widened(beam_limits(table.value, table.F, 1), [(np.array(order), reached)])
    assert wide.lower <= reached <= wide.upper and wide.method == BEAM
    # Where the limits nearly coincide, rounding is as large as what lies between them.
    if exact.upper - exact.lower > 1e-6:
        assert -1e-6 <= naopc(reached, exact.lower, exact.upper) <= 1 + 1e-6


def test_an_order_that_beats_a_narrow_beam_widens_it():
    # Masking 1 alone gains nothing and 0 alone gains 1, but 1 and 2 together gain 10: a beam of one goes astray.
    table = Table(
        {
            s: -(1.0 * (0 in s) + (10 if {1, 2} <= set(s) else 0))
            for s in [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
        }
    )
    narrow = beam_limits(table.value, 3, 1)
    assert narrow.highest.tolist()[0] == 0 and narrow.upper == pytest.approx((1 + 1 + 11) / 3)
    order = np.array([1, 2, 0])
    wide = widened(narrow, [(order, order_aopc(table.value, order, 3))])
    assert (
        wide.upper == pytest.approx((0 + 10 + 11) / 3)
        and wide.highest.tolist() == [1, 2, 0]
        and wide.lower == narrow.lower
    )


def test_a_beam_asks_for_each_set_once_and_for_all_of_one_size_together():
    table, calls = Table(np.random.default_rng(0).normal(size=256)), []
    beam_limits(lambda masks: calls.append(masks.sum(axis=1)) or table.value(masks), 8, 3)
    assert len(calls) == 9 and all(len(set(sizes.tolist())) == 1 for sizes in calls)
    assert max(table.asked.values()) == 1 and beam_limits(table.value, 8, 3).scores == sum(map(len, calls))


def test_features_that_are_masked_already_are_in_no_order():
    table, masked = Table(np.random.default_rng(1).normal(size=64)), np.array([True, False, False, True, False, False])
    inner = Table([table.values[0b001001 | (code & 3) << 1 | (code >> 2) << 4] for code in range(16)])
    exact, beam = exact_limits(table.value, 6, masked), beam_limits(table.value, 6, 20, masked)
    expected = exact_limits(inner.value, 4)
    for limits in (exact, beam):
        assert limits.upper == pytest.approx(expected.upper) and limits.lower == pytest.approx(expected.lower)
        assert sorted(limits.highest.tolist()) == [1, 2, 4, 5] and order_aopc(
            table.value, limits.highest, 6, masked
        ) == pytest.approx(limits.upper)


def test_one_feature_or_equal_scores_leave_nothing_to_compare():
    one = exact_limits(Table([1.0, 0.4]).value, 1)
    assert one.lower == one.upper == pytest.approx(0.6) and one.coincide and np.isnan(naopc(0.6, one.lower, one.upper))
    flat = exact_limits(Table(np.full(16, 0.3)).value, 4)
    assert flat.lower == flat.upper == 0 and flat.coincide


def test_what_cannot_be_is_a_sentence():
    table = Table(np.zeros(16))
    with pytest.raises(TooDear, match="16 scores; 8 are allowed"):
        exact_limits(table.value, 4, most=8)
    with pytest.raises(TooDear, match="2,097,152 scores"):
        exact_limits(lambda masks: pytest.fail("nothing may be asked"), 21)
    with pytest.raises(TooDear, match=r"2\^1100 scores"):
        exact_limits(lambda masks: pytest.fail("nothing may be asked"), 1100)
    for wrong in (
        lambda: exact_limits(table.value, 4, np.ones(4, dtype=bool)),
        lambda: beam_limits(table.value, 4, 0),
        lambda: lattice_limits(np.zeros(6)),
        lambda: exact_limits(lambda masks: np.full(len(masks), np.nan), 3),
        lambda: beam_limits(lambda masks: np.full(len(masks), np.nan), 3, 2),
        lambda: aopc(np.array([1.0])),
    ):
        with pytest.raises(ValueError):
            wrong()


def test_wider_beams_approach_the_exact_limits_and_reach_them():
    table = Table(np.random.default_rng(4).normal(size=256))
    exact = exact_limits(table.value, 8)
    found = [beam_limits(table.value, 8, 2**k) for k in range(8)]
    assert all(exact.lower - 1e-12 <= one.lower <= one.upper <= exact.upper + 1e-12 for one in found)
    # From width C(8, 4) = 70 on nothing is left out.
    assert (found[-1].lower, found[-1].upper) == pytest.approx((exact.lower, exact.upper))


def test_a_beam_that_keeps_no_part_of_features_that_matter_together_misses_them():
    """Masking 5, 6 and 7 takes 0.95, any part of them nothing; each of the others takes 0.02.

    The best order masks 5, 6, 7 first: (0 + 0 + 6 · 0.95 + 0.02 · 15) / 8 = 0.75.
    """
    table = Table([1 - 0.95 * (code >> 5 == 7) - 0.02 * (code & 31).bit_count() for code in range(256)])
    assert exact_limits(table.value, 8).upper == pytest.approx(0.75)
    assert [beam_limits(table.value, 8, width).upper for width in (4, 8, 16)] == pytest.approx([0.305] * 3)
    assert beam_limits(table.value, 8, 70).upper == pytest.approx(0.75)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.integers(1, 4), st.integers(0, 2**16))
def test_a_search_in_half_precision_reports_only_what_its_orders_attain(values, width, seed):
    exact, noise = Table(values), np.random.default_rng(seed).normal(scale=0.05, size=len(values))
    rough = Table(list(np.array(values) + noise))
    limits = beam_limits(rough.value, rough.F, width, rescore=exact.value)
    assert sum(exact.asked.values()) == 2 * (exact.F + 1), "only the two orders that were found are scored anew"
    within = exact_limits(exact.value, exact.F)
    assert limits.lower <= limits.upper
    for order, reached in ((limits.highest, limits.upper), (limits.lowest, limits.lower)):
        assert order_aopc(exact.value, order, exact.F) == reached and sorted(order.tolist()) == list(range(exact.F))
    assert within.lower - 1e-9 <= limits.lower and limits.upper <= within.upper + 1e-9


def test_a_score_that_is_nan_only_when_scored_anew_is_refused():
    table = Table(np.random.default_rng(4).normal(size=8))
    with pytest.raises(ValueError, match="NaN"):
        beam_limits(table.value, 3, 2, rescore=lambda masks: np.full(len(masks), np.nan))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**16))
def test_a_beam_asks_for_no_more_than_is_said_before(F, width, seed):
    table = Table(np.random.default_rng(seed).normal(size=2**F))
    limits = beam_limits(table.value, F, width)
    assert limits.scores == len(table.asked) <= min(most_sets(F, width), 2**F)
    # With room for every set of a size nothing is left out, and the bound is reached.
    assert most_sets(F, 2**F) == 2**F == beam_limits(table.value, F, 2**F).scores


def test_searches_tell_how_many_sets_they_have_asked_for():
    table = Table(np.random.default_rng(4).normal(size=2**11))
    assert list(exact_search(table.value, 11)) == [512, 1024, 1536, 2048]
    asked = list(beam_search(table.value, 11, 3))
    assert len(asked) == 11 and asked == sorted(asked) and asked[-1] == beam_limits(table.value, 11, 3).scores


def test_limits_that_nearly_coincide_are_called_narrow():
    wide, narrow = (exact_limits(Table([0.0, height]).value, 1) for height in (1.0, 0.01))
    assert wide.coincide and wide.narrow, "one feature has one order"
    table = Table([0.0, -0.04, 0.0, 0.0])
    assert exact_limits(table.value, 2).narrow and not exact_limits(table.value, 2).coincide and narrow.narrow
    assert not exact_limits(Table([0.0, -0.2, 0.0, 0.0]).value, 2).narrow
