"""Combined p-values, Holm's rule and curves: SciPy, slow twins, and answers worked out by hand."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.mathematics.curves import acu, racu, spread
from core.mathematics.statistics import (
    ALPHA,
    fisher,
    holm,
    holm_adjusted,
    lead_p,
    leads,
    more_often,
    rejected_count_p,
    simes,
)
from tests.p_values import PROPERTY, several, slow_holm

# Simes


@PROPERTY
@given(several)
def test_simes_is_what_scipy_says(p):
    """The smallest p-value adjusted by Benjamini and Hochberg."""
    assert simes(p) == pytest.approx(stats.false_discovery_control(p, method="bh").min(), rel=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_simes_combines_any_axis(axis):
    p = np.random.default_rng(0).random((3, 4, 5))
    expected = stats.false_discovery_control(p, axis=axis, method="bh").min(axis=axis)
    found = simes(p, axis)
    assert found.shape == expected.shape and found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "p, expected",
    [
        ([0.3], 0.3),
        ([0.01, 0.5], 0.02),  # 0.01 · 2/1 against 0.5 · 2/2.
        ([0.04, 0.03], 0.04),  # 0.03 · 2 against 0.04.
        ([0.9, 0.02, 0.03, 0.8], 0.06),  # 0.08, 0.06, 1.07, 0.9.
        ([1.0, 1.0, 1.0], 1.0),
        ([0.0, 1.0, 1.0], 0.0),
    ],
)
def test_simes_by_hand(p, expected):
    assert simes(p) == pytest.approx(expected, abs=1e-15)


@PROPERTY
@given(several, st.randoms(use_true_random=False))
def test_simes_asks_for_no_order_and_stays_between_the_smallest_p_times_n_and_the_largest(p, shuffle):
    other = shuffle.sample(p, len(p))
    assert simes(p) == simes(other)
    assert min(p) <= simes(p) <= min(max(p), len(p) * min(p))


def test_simes_of_independent_p_values_is_uniform():
    found = simes(np.random.default_rng(1).random((4000, 12)))
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_adjusted_by_holm_by_hand():
    """0.01 · 3, then 0.02 · 2, then 0.03, which may not lie below the one before."""
    assert holm_adjusted(np.array([0.03, 0.01, 0.02])) == pytest.approx([0.04, 0.03, 0.04])
    assert holm_adjusted(np.array([0.01]), planned=6) == pytest.approx([0.06])
    assert holm_adjusted(np.array([0.5, 0.9])).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="2 p-values were given"):
        holm_adjusted(np.array([0.1, 0.2]), planned=1)


@PROPERTY
@given(several, st.integers(0, 5), st.sampled_from([0.01, 0.05, 0.2]))
def test_what_holm_rejects_is_what_lies_below_the_level_once_adjusted(p, more, level):
    adjusted = holm_adjusted(np.array(p), len(p) + more)
    sure = np.abs(adjusted - level) > 1e-12
    assert (holm(np.array(p), len(p) + more, level) == (adjusted < level))[sure].all()
    assert (adjusted >= np.array(p)).all() and (adjusted[np.argsort(p, kind="stable")] == np.sort(adjusted)).all()
    lower = holm_adjusted(np.array(p) * 0.5, len(p) + more)
    assert (lower <= adjusted).all()


def test_shares_are_larger_by_fishers_exact_test_and_holm():
    rng = np.random.default_rng(3)
    for _ in range(30):
        counts, others = rng.integers(0, 21, 4), rng.integers(0, 61, 4)
        pairs = zip(counts.tolist(), others.tolist())
        p = [stats.fisher_exact([[a, 20 - a], [b, 60 - b]], alternative="greater").pvalue for a, b in pairs]
        assert (more_often(counts, 20, others, 60) == holm(np.array(p))).all()


@pytest.mark.parametrize("n, share", [(20, 0.05), (50, 0.07), (200, 0.07)])
def test_shares_that_are_alike_are_told_apart_on_at_most_one_sample_in_twenty(n, share):
    """Eleven ratios of the same texts, as one text rejected at one of them is often rejected at the next."""
    rng, K, m, runs = np.random.default_rng(5), 11, 872, 400

    def rejected(texts: int) -> np.ndarray:
        common = rng.normal(size=(texts, 1))
        return (stats.norm.cdf(0.8 * common + 0.6 * rng.normal(size=(texts, K))) < share).sum(axis=0)

    told = sum(more_often(rejected(n), n, rejected(m), m).any() for _ in range(runs))
    assert stats.binomtest(told, runs, 0.05, alternative="greater").pvalue > 1e-3
    # A share three times as large is found on enough texts.
    assert n < 200 or more_often(np.full(K, 3 * int(share * n)), n, np.full(K, int(share * m)), m).all()


def test_combining_does_not_change_the_p_values():
    p = np.array([[0.5, 0.1, 0.3], [0.9, 0.2, 0.0]])
    before = p.copy()
    simes(p), simes(p, 0), fisher(p), fisher(p, 0), holm(p[0])
    assert (p == before).all()


@pytest.mark.parametrize("combine", [simes, fisher])
@pytest.mark.parametrize("shape, axis", [((0,), -1), ((3, 0), -1), ((0, 3), 0)])
def test_no_p_values_cannot_be_combined(combine, shape, axis):
    with pytest.raises(ValueError, match="no p-values"):
        combine(np.empty(shape), axis)


# Fisher


@PROPERTY
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=9))
def test_fishers_statistic_is_what_scipy_says_where_p_is_not_tiny(p):
    # 1e-8 changes each logarithm by less than 1e-8 / p.
    assert fisher(p) == pytest.approx(stats.combine_pvalues(p, method="fisher").statistic, abs=2 * len(p) * 1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_fisher_combines_any_axis(axis):
    p = np.random.default_rng(2).uniform(0.01, 1, (3, 4, 5))
    expected = stats.combine_pvalues(p, method="fisher", axis=axis).statistic
    assert fisher(p, axis).shape == expected.shape
    np.testing.assert_allclose(fisher(p, axis), expected, atol=2 * 5 * 1e-6)


@pytest.mark.parametrize(
    "p, expected",
    [
        ([0.0], 36.841361487904734),  # 16 · log 10.
        ([0.0, 0.0, 0.0], 3 * 36.841361487904734),
        ([1e-8], 35.45506712678484),  # 16 · log 10 − 2 · log 2.
        ([np.exp(-1), np.exp(-2)], 6.0),
        ([1.0, 1.0], 0.0),
    ],
)
def test_fishers_statistic_by_hand(p, expected):
    assert fisher(p) == pytest.approx(expected, abs=1e-6)


# Holm


@PROPERTY
@given(several, st.integers(0, 5), st.sampled_from([0.01, 0.05, 0.3]))
def test_holm_is_the_slow_step_down(p, more, alpha):
    assert holm(p, len(p) + more, alpha).tolist() == slow_holm(p, len(p) + more, alpha)
    assert holm(p, alpha=alpha).tolist() == slow_holm(p, len(p), alpha)


@pytest.mark.parametrize(
    "p, planned, rejected",
    [
        # Thresholds 0.05/4 = 0.0125, 0.0167, 0.025, 0.05.
        ([0.01, 0.04, 0.03, 0.005], None, [True, False, False, True]),
        # 0.0166 after 0.001, 0.024 after both, 0.049 last.
        ([0.049, 0.0166, 0.024, 0.001], None, [True, True, True, True]),
        # 0.013 misses the first threshold; 0.02, which its own threshold would let through, is not looked at any more.
        ([0.02, 0.013, 0.02, 0.013], None, [False, False, False, False]),
        ([0.04], None, [True]),
        ([0.04], 2, [False]),
        # Of ten planned: 0.005, 0.00556, 0.00625.
        ([0.0062, 0.0049, 0.0055], 10, [True, True, True]),
        ([0.0063, 0.0049, 0.0055], 10, [False, True, True]),
        ([], None, []),
        ([], 3, []),
    ],
)
def test_holm_by_hand(p, planned, rejected):
    found = holm(p, planned)
    assert found.tolist() == rejected and found.dtype == bool


@pytest.mark.parametrize("planned", [1, 2, 4])
def test_holm_rejects_strictly_below_the_threshold(planned):
    threshold = ALPHA / planned
    assert not holm([threshold], planned)[0] and holm([np.nextafter(threshold, 0)], planned)[0]


@PROPERTY
@given(several, several)
def test_what_holm_rejects_stays_rejected_when_the_missing_p_values_come(now, later):
    before = holm(now, planned=len(now) + len(later))
    after = holm(now + later)[: len(now)]
    assert (after >= before).all()
    assert before.tolist() == holm(now + [1.0] * len(later))[: len(now)].tolist(), "what is missing counts as 1"


def test_holm_rejects_anything_true_in_at_most_5_percent_of_families():
    drawn = np.random.default_rng(3)
    wrong = sum(holm(drawn.random(6)).any() for _ in range(3000))
    # Independent: 1 − (1 − 0.05/6)^6 = 0.049.
    assert stats.binomtest(wrong, 3000, 1 - (1 - 0.05 / 6) ** 6).pvalue > 1e-3


@pytest.mark.parametrize("planned", [2, 0])
def test_holm_refuses_fewer_planned_than_given(planned):
    with pytest.raises(ValueError, match=f"3 p-values were given, but {planned} planned"):
        holm([0.1, 0.2, 0.3], planned)


# ACU and RACU

X = [0.0, 0.1, 0.5, 1.0]
MEASURE, BASELINE = [1.0, 0.2, 0.4, 0.0], [1.0, 0.8, 0.6, 0.2]
ELEVEN = np.linspace(0, 1, 11)
curves = st.lists(st.tuples(st.floats(0.01, 1), st.floats(-1, 1)), min_size=2, max_size=12)


def test_acu_by_hand():
    """b − p is 0, 0.6, 0.2, 0.2: 0.05 · 0.6 + 0.2 · 0.8 + 0.25 · 0.4."""
    assert acu(X, MEASURE, BASELINE) == pytest.approx(0.29, abs=1e-15)
    assert acu(X, BASELINE, MEASURE) == pytest.approx(-0.29, abs=1e-15)


def test_racu_by_hand():
    """b − b_I is 0.8, 0.6, 0.4, 0: 0.05 · 1.4 + 0.2 · 1 + 0.25 · 0.4 = 0.37."""
    assert racu(X, MEASURE, BASELINE) == pytest.approx(0.29 / 0.37, rel=1e-12)


@PROPERTY
@given(curves, st.data())
def test_acu_is_the_sum_of_the_paper(curve, data):
    x, b = np.cumsum([step for step, _ in curve]), [value for _, value in curve]
    p = data.draw(st.lists(st.floats(-1, 1), min_size=len(b), max_size=len(b)))
    expected = sum(0.5 * (x[i + 1] - x[i]) * ((b[i] - p[i]) + (b[i + 1] - p[i + 1])) for i in range(len(b) - 1))
    assert acu(x, p, b) == pytest.approx(expected, abs=1e-12)


@PROPERTY
@given(curves)
def test_racu_of_reaching_the_end_at_the_first_step_misses_one_only_by_the_first_trapezoid(curve):
    x, b = np.cumsum([step for step, _ in curve]), np.array([1.5] + [value for _, value in curve[1:-1]] + [-1.5])
    whole = sum(0.5 * (x[i + 1] - x[i]) * (b[i] + b[i + 1] - 2 * b[-1]) for i in range(len(b) - 1))
    at_once = np.where(np.arange(len(b)) == 0, b[0], b[-1])
    assert racu(x, at_once, b) == pytest.approx(1 - 0.5 * (x[1] - x[0]) * (b[0] - b[-1]) / whole, abs=1e-12)
    assert racu(x, b, b) == 0.0


def test_racu_of_reaching_the_end_at_once_is_90_percent_of_a_linear_baseline_in_eleven_points():
    assert racu(ELEVEN, [1.0] + [0.2] * 10, 1 - 0.8 * ELEVEN) == pytest.approx(0.9, abs=1e-12)


def test_racu_of_the_baseline_is_0_and_of_its_opposite_negative():
    assert racu(X, BASELINE, BASELINE) == 0.0
    # On a text of one word every order is the measure's; the mean of 30 equal curves is not quite the curve.
    one = np.array([0.7253, 0.1912])
    assert racu(np.array([0.0, 1.0]), one, np.mean([one] * 30, axis=0)) == 0.0
    assert racu(X, 2 * np.array(BASELINE) - MEASURE, BASELINE) == pytest.approx(-0.29 / 0.37, rel=1e-12)


def test_racu_exceeds_1_where_masking_pushes_below_the_end():
    # 0.9 for reaching 0.2 at once, and nine points at −0.6 instead: 9 · 0.1 · 0.8 / 0.4 more.
    assert racu(ELEVEN, [1.0] + [-0.6] * 9 + [0.2], 1 - 0.8 * ELEVEN) == pytest.approx(0.9 + 1.8, abs=1e-12)


@pytest.mark.parametrize("drop, defined", [(0.0, False), (1.9e-6, False), (2.1e-6, True), (-1.0, False)])
def test_racu_is_nan_where_the_baseline_loses_next_to_nothing(drop, defined):
    """The denominator of a linear baseline is half of what it loses."""
    baseline = -drop * ELEVEN
    found = racu(ELEVEN, np.full(11, -1.0), baseline)
    assert np.isnan(found) != defined
    assert not defined or found == pytest.approx(acu(ELEVEN, np.full(11, -1.0), baseline) / (drop / 2), rel=1e-6)


def test_nan_stays_nan():
    holed = [1.0, np.nan, 0.4, 0.0]
    assert np.isnan(
        [acu(X, holed, BASELINE), acu(X, MEASURE, holed), racu(X, holed, BASELINE), racu(X, MEASURE, holed)]
    ).all()


@pytest.mark.parametrize("area", [acu, racu])
def test_what_is_no_curve_is_refused(area):
    with pytest.raises(ValueError, match=r"\(4,\), \(3,\), \(4,\)"):
        area(X, MEASURE[:3], BASELINE)
    with pytest.raises(ValueError, match="equally long"):
        area(X, MEASURE, BASELINE[:3])
    with pytest.raises(ValueError, match="equally long"):
        area(X[:3], MEASURE, BASELINE)
    with pytest.raises(ValueError, match="ascending"):
        area(X[::-1], MEASURE, BASELINE)
    with pytest.raises(ValueError, match="ascending"):
        area([0.0, 0.5, 0.4, 1.0], MEASURE, BASELINE)


def test_a_ratio_that_repeats_adds_no_area():
    """One feature of two at eleven ratios: a step without width."""
    assert acu([0.0, 0.5, 0.5, 1.0], [1, 1, 0, 0], [1, 1, 1, 1]) == 0.5


# Spread


@pytest.mark.parametrize("share, lower, upper", [(0.95, 1, 39), (0.5, 10, 30), (1.0, 0, 40), (0.0, 20, 20)])
def test_the_middle_share_of_41_curves_by_hand(share, lower, upper):
    """41 values 0 … 40: the quantile q is 40 · q; the other point holds −2 times as much."""
    values = np.random.default_rng(4).permutation(41).astype(float)
    found = spread(np.stack([values, -2 * values], axis=1), share)
    for got, expected in zip(found, ([20, -40], [lower, -2 * upper], [upper, -2 * lower])):
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_the_spread_is_95_percent_and_interpolates():
    mean, lower, upper = spread([[0.0, 1.0], [1.0, 1.0]])
    np.testing.assert_allclose([mean, lower, upper], [[0.5, 1.0], [0.025, 1.0], [0.975, 1.0]], atol=1e-12)


def test_the_spread_of_one_curve_is_itself():
    assert [part.tolist() for part in spread([[3.0, -1.0]])] == [[3.0, -1.0]] * 3


@pytest.mark.parametrize("bad", [np.empty((0, 3)), np.zeros(3), np.zeros((2, 2, 2))])
def test_a_spread_needs_curves(bad):
    with pytest.raises(ValueError, match="R at least 1"):
        spread(bad)


# ---- the count rule


def test_the_count_rule_is_the_share_of_all_orders():
    """n + N texts in any order of their statistics are equally likely under the null; a text is rejected where fewer
    than k of the n are above it.
    """
    for n, tested in ((20, 6), (39, 9), (40, 9), (450, 100)):
        k = n // 20
        orders = comb(n + tested, tested)
        # j of the N stand above the k-th largest of the n: places of these j among k gaps, of the others among the rest.
        exactly = [comb(j + k - 1, j) * comb(tested - j + n - k, tested - j) for j in range(tested + 1)]
        assert sum(exactly) == orders
        at_least = [float(Fraction(sum(exactly[j:]), orders)) for j in range(tested + 1)]
        np.testing.assert_allclose(rejected_count_p(np.arange(tested + 1), tested, n), at_least, rtol=1e-9)


def test_what_a_reference_of_fewer_than_20_texts_rejects_says_nothing():
    assert rejected_count_p(np.arange(6), 5, 19).tolist() == [1.0] * 6
    # One of 20: p of a single text can be 1/21.
    assert rejected_count_p(np.array(1), 1, 20) == pytest.approx(1 / 21)


def test_the_count_rule_counts_what_is_below_5_percent():
    """k is the number of ranks whose p = i/(n + 1) is below 0.05, also where 0.05·(n + 1) is whole."""
    for n in range(20, 500):
        below = int((np.arange(1, n + 2) / (n + 1) < ALPHA).sum())
        assert rejected_count_p(np.array(1), 1, n) == pytest.approx(below / (n + 1), rel=1e-9)


@pytest.mark.parametrize("M", [2, 3, 5])
def test_of_measures_that_are_alike_one_leads_on_at_most_one_in_twenty_samples(M):
    """Texts differ in how often any measure is better on them, as real ones do; the measures do not."""
    rng, samples = np.random.default_rng(M), 600
    chances = rng.uniform(0.1, 0.9, size=(samples, 40, 1))
    found = sum(leads(one) for one in rng.random((samples, 40, M)) < chances)
    assert found <= stats.binom.ppf(0.999, samples, ALPHA)
    assert leads(np.eye(M, dtype=bool)[np.zeros(12, dtype=int)]), "one that alone is better on 12 texts leads"


def test_p_of_who_is_better_most_often_is_of_the_texts_on_which_two_differ_by_holm():
    """9 of 10 have p = 22 / 2^10 and 12 of 12 2 / 2^12; the larger is not doubled by Holm."""
    first = np.r_[np.ones(12, dtype=bool), np.zeros(8, dtype=bool)]
    second = np.r_[np.zeros(9, dtype=bool), np.ones(4, dtype=bool), np.zeros(7, dtype=bool)]
    found = lead_p(np.c_[second, first, np.zeros(20, dtype=bool)])
    assert found == pytest.approx([22 / 2**10, 2 * 2 / 2**12])
    assert len(lead_p(first[:, None])) == 0 and not leads(first[:, None])
    assert lead_p(np.zeros((5, 2), dtype=bool)).tolist() == [1.0]
