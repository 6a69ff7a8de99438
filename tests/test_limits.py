"""AOPC and its limits: the papers' toy models to the digit, every order by brute force, and what must always hold."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.aopc import aopc, comprehensiveness_order, naopc, order_aopc, prefix_masks, sufficiency_order
from core.mathematics.limits import BEAM, EXACT, TooDear, beam_limits, beam_study, exact_limits, lattice_limits, widened
from tests.table import Table

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
    assert prefix_masks(np.array([2]), 3, np.array([True, False, False])).tolist() == [[True, False, False], [True, False, True]]


def test_orders_leave_out_what_is_masked_and_ties_go_by_position_both_ways():
    scores, masked = np.array([0.5, 0.9, 0.5, 0.1]), np.array([False, False, False, True])
    assert comprehensiveness_order(scores).tolist() == [1, 0, 2, 3] and sufficiency_order(scores).tolist() == [3, 0, 2, 1]
    assert comprehensiveness_order(scores, masked).tolist() == [1, 0, 2] and sufficiency_order(scores, masked).tolist() == [0, 2, 1]


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
        assert sorted(order.tolist()) == list(range(F)) and order_aopc(table.value, order, F) == pytest.approx(reached, abs=1e-12)


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
    wide = widened(beam_limits(table.value, table.F, 1), table.value, table.F, [np.array(order)])
    assert wide.lower <= reached <= wide.upper and wide.method == BEAM
    # Where the limits nearly coincide, rounding is as large as what lies between them.
    if exact.upper - exact.lower > 1e-6:
        assert -1e-6 <= naopc(reached, exact.lower, exact.upper) <= 1 + 1e-6


def test_an_order_that_beats_a_narrow_beam_widens_it():
    # Masking 1 alone gains nothing and 0 alone gains 1, but 1 and 2 together gain 10: a beam of one goes astray.
    table = Table({s: -(1.0 * (0 in s) + (10 if {1, 2} <= set(s) else 0)) for s in [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]})
    narrow = beam_limits(table.value, 3, 1)
    assert narrow.highest.tolist()[0] == 0 and narrow.upper == pytest.approx((1 + 1 + 11) / 3)
    wide = widened(narrow, table.value, 3, [np.array([1, 2, 0])])
    assert wide.upper == pytest.approx((0 + 10 + 11) / 3) and wide.highest.tolist() == [1, 2, 0] and wide.lower == narrow.lower


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
        assert sorted(limits.highest.tolist()) == [1, 2, 4, 5] and order_aopc(table.value, limits.highest, 6, masked) == pytest.approx(limits.upper)


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
    for wrong in (lambda: exact_limits(table.value, 4, np.ones(4, dtype=bool)), lambda: beam_limits(table.value, 4, 0), lambda: lattice_limits(np.zeros(6)),
                  lambda: exact_limits(lambda masks: np.full(len(masks), np.nan), 3), lambda: beam_limits(lambda masks: np.full(len(masks), np.nan), 3, 2),
                  lambda: aopc(np.array([1.0]))):
        with pytest.raises(ValueError):
            wrong()


def test_the_width_is_doubled_until_the_limits_stand_still_twice():
    table = Table(np.random.default_rng(4).normal(size=256))
    study = beam_study(table.value, 8, threshold=1e-9)
    exact = exact_limits(table.value, 8)
    assert study.settled and [limits.width for limits in study.tried] == [2**k for k in range(len(study.tried))]
    found = next(limits for limits in study.tried if limits.width == study.recommended)
    assert (found.lower, found.upper) == pytest.approx((study.tried[-1].lower, study.tried[-1].upper)) and found is study.tried[-3]
    assert study.tried[-1].upper <= exact.upper + 1e-12
    short = beam_study(table.value, 8, threshold=0.0, widest=4)
    assert not short.settled and short.recommended == 4
