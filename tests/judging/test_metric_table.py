"""The table of metrics, worked out by hand: places, leads, flips, pairs, agreement, chance, and the gate of the inputs."""

import numpy as np
import pytest
from scipy import stats

from core.judging.judging import Rated
from core.judging.metric_table import (
    APART,
    MetricTable,
    build_metric_table,
    count_as_good,
    count_pairs,
    count_rejected,
    flips,
    gate_of_inputs,
    gate_of_rationales,
    mean_and_spread,
    metric_agreement,
    orders,
    places,
    reversals,
)
from core.mathematics.erasure import rationale_sizes
from core.mathematics.ranking import LEVEL
from core.metrics.registry import HIGHER, LOWER, NEITHER, Score
from core.validity.marks import PLAIN, Why

NAN = float("nan")
# Measures a, b, c under an upward metric, a downward one, and one without a direction.
VALUES = np.array([[0.9, 0.1, 0.3], [0.5, 0.7, 0.2], [0.7, 0.4, 0.1]])
DIRECTIONS = np.array([HIGHER, LOWER, NEITHER])


def test_places_follow_the_direction_and_a_metric_without_one_gives_none():
    assert places(VALUES, DIRECTIONS).tolist() == [[1, 1, 0], [3, 3, 0], [2, 2, 0]]
    assert places(VALUES, np.array([LOWER, HIGHER, HIGHER])).tolist() == [[3, 3, 1], [1, 1, 2], [2, 2, 3]]


def test_scores_closer_than_a_hundredth_are_level_and_what_is_undefined_has_no_place():
    values = np.array([[0.956], [0.954], [NAN], [0.2], [0.97]])
    # 0.97 is .014 ahead; the two behind it are level.
    assert places(values, np.array([HIGHER])).ravel().tolist() == [2, 2, 0, 4, 1]
    assert places(np.array([[-1e-9], [0.0]]), np.array([LOWER])).ravel().tolist() == [1, 1]
    # A hundredth itself is a lead, on either side of the last bit: 0.3 − 0.29 is more, 0.96 − 0.95 less than 0.01.
    for high in (0.3, 0.96, 0.57):
        assert places(np.array([[high], [high - LEVEL]]), np.array([HIGHER])).ravel().tolist() == [1, 2]


def test_being_level_does_not_pass_on():
    # a and b are level, b and c are, and a is ahead of c.
    assert places(np.array([[0.516], [0.508], [0.5]]), np.array([HIGHER])).ravel().tolist() == [1, 1, 2]


def ordered(draws, leads: float = 0.0, apart: float = APART):
    """Of made-up draws float[texts, measures, draws] whether any two measures are ordered, and whether the first is
    ahead of the second, bool[texts] each; leads: by how many standard errors of a difference it truly does.
    """
    count = draws.shape[-1]
    values, errors = draws.mean(axis=-1), draws.std(axis=-1, ddof=1) / np.sqrt(count)
    values[:, 0] += leads * 0.1 * np.sqrt(2 / count)
    sign = orders(values.T, np.full(len(values), HIGHER), errors.T * apart / APART)
    return (sign != 0).any(axis=(0, 1)), sign[0, 1] == 1


@pytest.mark.parametrize(
    ("count", "many", "shared", "rate"),
    [(32, 2, 0.0, 0.05), (128, 2, 0.0, 0.05), (8, 2, 0.0, 0.07), (32, 2, 0.5, 0.01), (32, 5, 0.0, 0.30)],
)
def test_draws_alone_order_scores_as_seldom_as_is_stated(count, many, shared, rate):
    """2,000 texts; noise a tenth, so that a hundredth levels none of it; skewed draws, too."""
    N, rng = 2_000, np.random.default_rng(count + many)
    own, common = rng.normal(0, 0.1, (N, many, count)), rng.normal(0, 0.1, (N, 1, count))
    most = stats.binom.ppf(0.999, N, rate)
    assert ordered(0.4 + np.sqrt(1 - shared) * own + np.sqrt(shared) * common)[0].sum() <= most
    assert ordered(rng.beta(0.5, 2, (N, many, count)))[0].sum() <= most or shared
    # It does speak, and told apart beyond one standard error it would err more often.
    if not shared:
        assert ordered(0.4 + own)[0].sum() > stats.binom.ppf(0.001, N, 0.7 * rate)
        assert ordered(0.4 + own, apart=1.0)[0].sum() > 1.5 * most


def test_a_lead_of_three_standard_errors_is_found_as_often_as_is_stated():
    N, draws = 2_000, np.random.default_rng(7).normal(0.4, 0.1, (2_000, 2, 32))
    for leads, rate in ((3, 0.84), (4, 0.97)):
        assert ordered(draws.copy(), leads)[1].sum() == pytest.approx(rate * N, abs=0.02 * N)
    # Less than a hundredth is none, however little noise there is.
    assert not ordered(draws / 100 + [[[0.0], [0.009]]])[0].any()


@pytest.mark.parametrize(
    ("count", "shared", "within"), [(8, 0.0, 0.93), (32, 0.0, 0.95), (128, 0.0, 0.95), (8, 0.5, 0.98), (32, 0.5, 0.99)]
)
def test_the_true_lead_is_within_two_standard_errors_as_often_as_is_stated(count, shared, within):
    """4,000 texts, a true lead of so many standard errors of a difference; and what is told of small ones is large."""
    N, rng, unit = 4_000, np.random.default_rng(count), 0.1 * np.sqrt(2 / count)
    for leads, larger in ((1, 2.4), (3, 1.1), (6, 1.0)):
        noise = np.sqrt(1 - shared) * rng.normal(0, 0.1, (N, 2, count))
        draws = 0.3 + noise + np.sqrt(shared) * rng.normal(0, 0.1, (N, 1, count))
        values, errors = draws.mean(axis=-1), draws.std(axis=-1, ddof=1) / np.sqrt(count)
        values[:, 0] += leads * unit
        table = MetricTable(("a", "b"), ("Soft-NS",) * N, values.T, errors.T, ((),) * 2)
        found, error = np.array([table.lead(k) for k in range(N)]).T
        true = leads * unit * np.sign(values[:, 0] - values[:, 1])
        assert (np.abs(found - true) <= 2 * error).mean() == pytest.approx(within, abs=0.015)
        told = found > 2 * error
        if not shared:
            assert found[told].mean() == pytest.approx(larger * leads * unit, rel=0.06)


def test_scores_that_draws_alone_may_order_share_a_place_contradict_nobody_and_are_ties_of_agreement():
    # a and b lie 0.1 apart, each ± 0.04: within 2·√2·0.04 = 0.113; c lies beyond that from b, by .3.
    values, errors = np.array([[0.9, 0.2], [0.8, 0.3], [0.5, 0.1]]), np.array([[0.04, NAN]] * 3)
    both = np.array([HIGHER, HIGHER])
    assert places(values, both, errors).tolist() == [[1, 2], [1, 1], [3, 3]]
    assert places(values, both).tolist() == [[1, 2], [2, 1], [3, 3]]
    assert not flips(values, both, errors).any() and flips(values, both).tolist() == [[True] * 2] * 2 + [[False] * 2]
    found = count_pairs(values, both, errors)
    assert (found.same, found.contrary, found.tied) == (2, 0, 1)
    # Two pairs the same, one tied by the first: 2/√(2·3).
    assert metric_agreement(values, both, errors)[0, 1] == pytest.approx(2 / np.sqrt(6))


def board(values, names=("NS", "AOPC sufficiency", "sparsity"), error=NAN) -> MetricTable:
    values = np.array(values, dtype=float)
    names, measures = names[: values.shape[1]], tuple("abcd"[: len(values)])
    return MetricTable(measures, names, values, np.full_like(values, error), (("",) * len(names),) * len(values))


def test_random_attributions_that_score_at_least_as_well_are_counted():
    """AOPC sufficiency is better where it is lower, and a tie is as good."""
    chance = {"NS": np.array([0.2, 0.5, 0.8, NAN]), "AOPC sufficiency": np.array([0.2, 0.4, 0.6])}
    found = count_as_good(board([[0.5, 0.4, 0.3], [0.9, 0.1, 0.3], [NAN, 0.7, 0.3]]), chance)
    assert found.tolist() == [[2, 2, -1], [0, 0, -1], [-1, 3, -1]]
    assert count_as_good(board([[0.5]]), {}).tolist() == [[-1]]


def test_what_is_marked_is_in_no_order_and_nothing_else_is_ahead_of_it():
    given = board([[0.9, 0.1], [0.5, 0.4], [0.1, 0.2]])
    marked = np.array([[True, True], [False, True], [False, False]])
    found = given.without(marked)
    assert given.places.tolist() == [[1, 1], [2, 3], [3, 2]] and found.places.tolist() == [[0, 0], [1, 0], [2, 0]]
    assert found.leaders() == {("b",): ("NS",)}, "one number alone is neither first nor level"
    assert found.lead(0)[0] == pytest.approx(0.4) and given.lead(1)[0] == pytest.approx(0.1), "lower is better"


def test_contrary_pairs_name_the_measures_and_who_prefers_which():
    # a before b by NS, b before a by NC; c is behind both under either.
    given = board([[0.9, 0.5, 0.7], [0.5, 0.9, 0.7], [0.1, 0.1, 0.1]], ("NS", "NC", "Soft-NS"))
    assert given.contrary_pairs() == [("a", "b", ("NS",), ("NC",))]


@pytest.mark.parametrize(
    "values, names, error, contrary",
    [
        # 0.32911 and 0.31933 are printed a hundredth apart, and are level; 0.3294 and 0.3186 are not.
        ([[0.72, 0.83], [0.32911, 0.18178], [0.31933, 0.18668]], ("NS", "NC"), NAN, []),
        ([[0.3294, 0.1], [0.3186, 0.2]], ("NS", "NC"), NAN, [("a", "b", ("NS",), ("NC",))]),
        # One side may be a clear lead.
        ([[0.9, 0.181], [0.3, 0.185], [0.1, 0.1]], ("NS", "NC"), NAN, []),
        # Soft scores 0.1 apart lie within 2·√2·0.04 = 0.113 of each other, and not within 2·√2·0.03 = 0.085.
        ([[0.9, 0.2], [0.8, 0.3], [0.5, 0.1]], ("Soft-NS", "Soft-NC"), 0.04, []),
        ([[0.9, 0.2], [0.8, 0.3]], ("Soft-NS", "Soft-NC"), 0.03, [("a", "b", ("Soft-NS",), ("Soft-NC",))]),
        ([[0.9, 0.9], [0.5, 0.9]], ("NS", "NC"), NAN, []),
    ],
)
def test_scores_that_are_level_under_either_metric_are_no_opposite_orders(values, names, error, contrary):
    found = board(values, names, error)
    assert found.contrary_pairs() == contrary and bool(found.flips.any()) == bool(contrary)


def test_a_lead_by_means_over_draws_has_the_standard_error_of_both():
    """Of .03 and .04 each: .0424 and .0566."""
    for error, of_the_lead in ((0.03, 0.0424), (0.04, 0.0566)):
        lead, spread = board([[0.9], [0.5]], ("Soft-NS",), error).lead(0)
        assert lead == pytest.approx(0.4) and spread == pytest.approx(of_the_lead, abs=5e-5)


def test_nothing_given_is_changed():
    values = VALUES.copy()
    for work in (places, flips, reversals, metric_agreement, count_pairs):
        work(values, DIRECTIONS)
    assert (values == VALUES).all()


def test_a_flip_needs_two_metrics_that_order_a_pair_strictly_the_other_way():
    # The first metric: a > b > c. The second: a > c > b. So b and c flip, a does not.
    values = np.array([[0.9, 0.9], [0.5, 0.1], [0.1, 0.5]])
    both = np.array([HIGHER, HIGHER])
    assert flips(values, both).tolist() == [[False, False], [True, True], [True, True]]
    # A tie contradicts nobody, nor does what is undefined, nor a metric without a direction.
    assert not flips(np.array([[0.9, 0.3], [0.5, 0.3]]), both).any()
    assert not flips(np.array([[0.9, NAN], [0.5, 0.3]]), both).any()
    assert not flips(np.array([[0.9, 0.1], [0.5, 0.3]]), np.array([HIGHER, NEITHER])).any()
    # A downward metric agrees where its numbers run the other way.
    assert not flips(np.array([[0.9, 0.1], [0.5, 0.3]]), np.array([HIGHER, LOWER])).any()
    assert flips(np.array([[0.9, 0.1], [0.5, 0.3]]), both).all()


def test_only_the_metrics_that_take_part_are_marked():
    # a before b by the first and the third, b before a by the second; the fourth ties them.
    values = np.array([[0.9, 0.1, 0.8, 0.5], [0.5, 0.3, 0.2, 0.5]])
    found = flips(values, np.full(4, HIGHER))
    assert found.tolist() == [[True, True, True, False]] * 2
    assert MetricTable(
        ("a", "b"), ("NS", "NC", "Soft-NS", "Soft-NC"), values, values * NAN, (("",) * 4,) * 2
    ).flipped_with(0, 1) == [("b", ("NS", "Soft-NS"))]


def test_pairs_are_counted_once_as_same_contrary_or_tied():
    values = np.array([[0.9, 0.9], [0.5, 0.1], [0.1, 0.5], [0.1, 0.0]])
    # Pairs: ab same, ac same, ad same, bc contrary, bd same, cd tied by the first.
    found = count_pairs(values, np.array([HIGHER, HIGHER]))
    assert (found.same, found.contrary, found.tied, found.all, found.metrics) == (4, 1, 1, 6, 2)
    one = count_pairs(VALUES, DIRECTIONS)
    assert (one.same, one.contrary, one.metrics) == (3, 0, 2)
    silent = count_pairs(np.array([[0.9, 0.4, 1.0], [0.5, 0.6, 1.0]]), np.array([HIGHER, LOWER, HIGHER]))
    assert (silent.same, silent.metrics) == (1, 2), "a metric that ties all does not spoil what the others say"
    nothing = count_pairs(np.array([[NAN], [NAN]]), np.array([HIGHER]))
    assert (nothing.same, nothing.contrary, nothing.tied, nothing.metrics) == (0, 0, 1, 0)
    assert (
        count_pairs(np.zeros((1, 2)), np.array([HIGHER, LOWER])).all == 0
        and count_pairs(np.zeros((0, 2)), np.array([HIGHER, LOWER])).all == 0
    )


def test_agreement_of_metrics_is_tau_over_the_measures_both_can_score():
    values = np.array([[0.9, 0.1, 0.1], [0.5, 0.7, NAN], [0.7, 0.4, 0.9]])
    found = metric_agreement(values, np.array([HIGHER, LOWER, HIGHER]))
    assert found[0, 1] == pytest.approx(1) and found[0, 0] == pytest.approx(1)
    assert found[0, 2] == found[2, 0] == pytest.approx(-1), "a before c by the first, c before a by the third"
    assert np.isnan(metric_agreement(values, DIRECTIONS)[2]).all()
    # a > b > c against a > c > b: two pairs of three are the same.
    assert metric_agreement(np.array([[3, 3], [2, 1], [1, 2]]) / 4, np.array([HIGHER, HIGHER]))[0, 1] == pytest.approx(
        1 / 3
    )


def test_a_board_tells_who_leads_and_what_is_undefined():
    found = build_metric_table(
        {
            "a": Rated(np.zeros(2), {"NS": Score(0.9), "NC": Score(0.2), "CORR": Score(NAN, note="why")}),
            "b": Rated(np.zeros(2), {"NS": Score(0.4), "NC": Score(0.2004), "CORR": Score(0.5, note="know")}),
            "c": Rated(np.zeros(2), {"NS": Score(0.1), "NC": Score(0.1), "CORR": Score(NAN, note="why")}),
        },
        ("NS", "NC", "CORR"),
    )
    assert found.leaders() == {("a",): ("NS",), ("a", "b"): ("NC",)}, "CORR puts no two measures in an order"
    assert found.undefined == 2 and found.comparable().tolist() == [True, True, False], "CORR scores a single measure"
    assert found.notes == (("", "", "why"), ("", "", "know"), ("", "", "why"))
    assert found.columns(soft=False) == [0, 1, 2] and found.columns(soft=True) == []
    assert build_metric_table({}, ("NS",)).values.shape == (0, 1) and build_metric_table({}, ("NS",)).leaders() == {}


def test_a_number_is_marked_by_holm_over_its_distinct_inputs():
    p = {"calibrated": np.array([0.02, 0.3, 0.9]), "literal": np.array([0.01, 0.3, 0.9])}
    assert gate_of_inputs(p, 0.001).first is None, "0.02 is above 0.05/3"
    assert gate_of_inputs(p, 0.001, PLAIN).first == 0
    assert gate_of_inputs(p, 0.001, form="literal").first == 0
    assert (
        gate_of_inputs(p, None).why == Why.NO_REFERENCE
        and gate_of_inputs(p, 0.05).why == Why.FLOOR
        and gate_of_inputs(p, 0.03).why == Why.TOO_FEW
    )
    assert gate_of_inputs({}, 0.001).why is None and gate_of_inputs({}, 0.001).first is None


def test_lengths_of_the_same_number_of_features_are_one_input():
    sizes = rationale_sizes(8)
    assert sizes.tolist() == [1, 1, 1, 2, 4]
    assert rationale_sizes(100).tolist() == [1, 5, 10, 20, 50]
    p = np.array([[0.009, 0.009, 0.009, 0.5, 0.5], [0.5] * 5])
    # Six distinct inputs: 0.009 is above 0.05/6 = 0.0083, and below 0.05.
    assert gate_of_rationales(p, sizes, 0.001).steps == 6 and not gate_of_rationales(p, sizes, 0.001).rejected.any()
    assert gate_of_rationales(p, sizes, 0.001, PLAIN).rejected.reshape(2, 5).tolist() == [
        [True] * 3 + [False] * 2,
        [False] * 5,
    ]
    assert count_rejected(gate_of_rationales(p, sizes, 0.001, PLAIN), sizes) == (1, 6)


def test_means_leave_out_what_is_undefined():
    assert mean_and_spread(np.array([1.0, NAN, 3.0])) == (2.0, pytest.approx(np.sqrt(2)), 2)
    mean, spread, known = mean_and_spread(np.array([NAN]))
    assert np.isnan(mean) and np.isnan(spread) and known == 0
