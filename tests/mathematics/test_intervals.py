"""Intervals: SciPy, answers on paper, and how often they hold what they are intervals of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom

from core.mathematics.curves import areas_between
from core.mathematics.performance import METRICS, weighted_performance
from core.mathematics.statistics import (
    bootstrap_intervals,
    mean_interval,
    mean_intervals,
    paired_interval,
    share_interval,
    shares_difference,
)
from tests.p_values import PROPERTY

X = np.linspace(0, 1, 11)


def ends(found) -> list[float]:
    return [found.mean, found.low, found.high]


def test_an_interval_of_a_mean_is_scipys():
    values = np.random.default_rng(1).gamma(1.0, size=30)
    expected = stats.bootstrap((values,), np.mean, rng=np.random.default_rng(0)).confidence_interval
    assert ends(mean_interval(values)) == pytest.approx([values.mean(), *expected], abs=1e-12)


def test_intervals_of_several_statistics_are_those_of_each():
    values = np.random.default_rng(2).normal(size=(3, 25))

    def mean(of):
        return lambda weights: weights @ of.T / weights.sum(axis=1, keepdims=True)

    together = bootstrap_intervals(lambda weights: mean(values)(weights).T, 25, 999)
    alone = [bootstrap_intervals(lambda weights, of=of: mean(of[None])(weights).T, 25, 999)[0] for of in values]
    assert [ends(one) for one in together] == [pytest.approx(ends(one)) for one in alone]


@PROPERTY
@given(
    st.sampled_from([2, 5, 10, 30]),
    st.integers(0, 2**16),
    st.sampled_from([1 / 5, 1 / 3, 1 / 7, 0.1, 1e-9, 1e9, 1.0]),
    st.sampled_from([0.0, 0.1, 1 / 3, -7.7, 1e3, 1e6]),
)
def test_ends_move_with_the_values_whatever_their_unit(n, seed, scale, shift):
    """Whole numbers tie with their mean in many resamples; by the last bit they would be above or below."""
    whole = np.random.default_rng(seed).integers(0, 6, n).astype(float)
    values, expected = scale * (whole + shift), mean_interval(whole, 999)
    found = mean_interval(values, 999)
    # A shift costs the digits that it takes from the values themselves.
    atol = 1e-12 * scale * (1 + 100 * abs(shift))
    np.testing.assert_allclose(ends(found), scale * (np.array(ends(expected)) + shift), rtol=0, atol=atol)
    columns = np.stack([whole, values, whole / 3], axis=1)
    for one, alone in zip(mean_intervals(columns, 999), columns.T):
        assert ends(one) == pytest.approx(ends(mean_interval(alone, 999)), rel=1e-9, abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=200), st.sampled_from([-1.0, 1.0]))
def test_an_end_at_zero_is_zero(values, sign):
    """Not a rounding error on either side: a share has no end of ±3e-18."""
    found = mean_interval(sign * np.array(values), resamples=200)
    assert min(0.0, sign) <= found.low <= found.mean <= found.high <= max(0.0, sign)
    for end in (found.low, found.high):
        assert str(end) == "0.0" or abs(end) > 1e-6


def test_a_few_resamples_far_out_make_no_ties():
    """A ratio whose denominator is nothing in some resamples, as of RACU: all the others count as SciPy counts them."""
    above, below = np.random.default_rng(3).normal([[1], [0.45]], size=(2, 25))

    def ratio(above, below, axis=-1):
        return above.mean(axis=axis) / np.maximum(below.mean(axis=axis), 1e-6)

    def weighted(w):
        return (w @ above / w.sum(axis=1) / np.maximum(w @ below / w.sum(axis=1), 1e-6))[None]

    (found,) = bootstrap_intervals(weighted, 25)
    expected = stats.bootstrap((above, below), ratio, paired=True, rng=np.random.default_rng(0))
    assert expected.bootstrap_distribution.max() > 1e4 * expected.confidence_interval.high
    assert [found.low, found.high] == pytest.approx(list(expected.confidence_interval), rel=1e-6)


@pytest.mark.simulation
@pytest.mark.parametrize("n, least", [(5, 0.79), (10, 0.84), (30, 0.9), (200, 0.91)])
def test_intervals_of_values_in_fifths_hold_their_mean(n, least):
    """What BCa is known to hold of skewed values, too seldom of few; less three standard errors of 400 samples."""
    rng, shares = np.random.default_rng(n), [0.3, 0.25, 0.2, 0.12, 0.08, 0.05]
    true = np.dot(shares, np.arange(6)) / 5
    held = np.mean([mean_interval(rng.choice(6, n, p=shares) / 5, 999).holds(true) for _ in range(400)])
    assert least < held < 0.975


def test_there_is_no_interval_of_fewer_than_two_values_and_no_width_where_all_are_equal():
    assert not mean_interval([0.956]).known and mean_interval([0.956]).mean == 0.956
    assert not mean_interval([0.956, np.nan]).known and not mean_interval([]).known
    assert ends(mean_interval([0.3, 0.3, 0.3])) == [0.3] * 3
    assert not paired_interval([True], [False]).known and paired_interval([True], [False]).mean == 1
    assert mean_interval([0.956]).holds(0), "what is not known excludes nothing"


def test_paired_answers_by_hand():
    # Of 18 texts the first alone is right on 3, the second alone on 1: 4/20 and 2/20 of 20.
    first, second = np.zeros(18, dtype=bool), np.zeros(18, dtype=bool)
    first[:3] = second[3:4] = first[10:] = second[10:] = True
    reach = 1.959964 * np.sqrt((0.3 - 0.01) / 20)
    assert ends(paired_interval(first, second)) == pytest.approx([2 / 18, 0.1 - reach, 0.1 + reach], abs=1e-6)
    # Right on the same 20 texts: they may differ all the same, by 1.96·√(2/22/22).
    assert paired_interval(np.ones(20, bool), np.ones(20, bool)).high == pytest.approx(0.126, abs=5e-4)
    with pytest.raises(ValueError, match=r"\(2,\), \(3,\)"):
        paired_interval([True] * 2, [True] * 3)


@pytest.mark.parametrize(
    "n, b, c", [(20, 0.02, 0.02), (20, 0.3, 0.1), (60, 0.1, 0.0), (60, 0.25, 0.2), (200, 0.01, 0.06)]
)
def test_paired_intervals_hold_the_difference(n, b, c):
    """Exactly, over all outcomes: 95 % but for one and a half."""
    held = 0.0
    for more in range(n + 1):
        for less in range(n + 1 - more):
            chance = stats.multinomial.pmf([more, less, n - more - less], n, [b, c, 1 - b - c])
            if chance > 1e-7:
                first, second = np.arange(n) < more, np.arange(n) >= n - less
                held += chance * paired_interval(first, second).holds(b - c)
    assert held >= 0.935


def test_a_share_is_clopper_and_pearsons():
    assert ends(share_interval(0, 20)) == pytest.approx([0, 0, 1 - 0.025 ** (1 / 20)])
    for k, n in ((0, 1), (1, 1), (3, 7), (80, 200), (199, 200)):
        found = stats.binomtest(k, n).proportion_ci(0.95, "exact")
        assert ends(share_interval(k, n)) == pytest.approx([k / n, found.low, found.high], abs=1e-10)
    for k, n in ((-1, 2), (3, 2), (0, 0)):
        with pytest.raises(ValueError):
            share_interval(k, n)


@PROPERTY
@given(st.sampled_from(list(METRICS)), st.integers(0, 2**16))
def test_a_weight_is_how_often_a_text_is_there(metric, seed):
    rng = np.random.default_rng(seed)
    n, C = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    labels, predicted = rng.integers(0, C, n), rng.integers(0, C + 1, (2, 3, n))
    weights = rng.integers(0, 3, (4, n))
    weights[:, 0] += 1
    found = weighted_performance(metric, labels, predicted)(weights.astype(float))
    assert found.shape == (4, 2, 3)
    for b, i, k in np.ndindex(found.shape):
        expected = METRICS[metric](np.repeat(labels, weights[b]), np.repeat(predicted[i, k], weights[b]))
        assert found[b, i, k] == pytest.approx(expected, abs=1e-9)


def until(rng, n, ends_at) -> np.ndarray:
    """Answers bool[K, n] that are right up to a ratio drawn from [0, ends_at), and then in half of the texts."""
    return (X[:, None] < rng.random(n) * ends_at) | (rng.random(n) < 0.5)


def chance_of(ends_at) -> np.ndarray:
    """How often those are right, float64[K]."""
    return 0.5 + 0.5 * np.maximum(0, 1 - X / ends_at)


def between(mine, chance, resamples=499):
    answers = np.stack([mine, chance]).astype(np.int64)
    performance = weighted_performance("accuracy", np.ones(answers.shape[-1], dtype=np.int64), answers)

    def curves(weights):
        both = performance(weights)
        return both[:, 0], both[:, 1]

    return areas_between(X, curves, answers.shape[-1], resamples=resamples)


def test_intervals_of_acu_and_racu_hold_what_is_true():
    """Of 300 samples of 60 texts; what is true is an integral. 95 % but for three, and two standard errors of 1.3."""
    rng, p, b = np.random.default_rng(5), chance_of(0.3), chance_of(0.9)
    true = np.trapezoid(b - p, X), np.trapezoid(b - p, X) / np.trapezoid(b - b[-1], X)
    found = [between(until(rng, 60, 0.3), until(rng, 60, 0.9)) for _ in range(300)]
    sure = [one for one in found if not one.unstable]
    held = np.mean([one.acu.holds(true[0]) for one in found]), np.mean([one.racu.holds(true[1]) for one in sure])
    assert len(sure) > 270 and min(held) > 0.92 - 0.026 and max(held) < 0.995


def test_a_ratio_whose_denominator_may_be_nothing_is_unstable():
    rng = np.random.default_rng(8)
    # Random order changes the answer to one text, and only when everything is masked: nearly nothing to divide by.
    mine, chance = until(rng, 40, 0.3), np.ones((11, 40), dtype=bool)
    chance[-1, 0] = False
    found = between(mine, chance)
    assert found.unstable and not found.racu.known and found.acu.known
    assert found.racu.mean == pytest.approx(found.acu.mean / (0.95 / 40))
    falls = between(mine, until(rng, 40, 0.9), 9_999)
    assert not falls.unstable and falls.racu.low < falls.racu.mean < falls.racu.high


def test_one_text_cannot_tell_whether_a_denominator_is_nothing():
    # 0.45 − 0.15, and 0.45.
    found = between((X < 0.2)[:, None], (X < 0.5)[:, None])
    assert found.unstable and found.racu.mean == pytest.approx(2 / 3) and not found.racu.known and not found.acu.known


def test_the_difference_of_two_shares_by_hand():
    # 4 of 8 against 2 of 18: p' = 5/10, q' = 3/20.
    reach = 1.959963984540054 * np.sqrt(0.5 * 0.5 / 10 + 0.15 * 0.85 / 20)
    found = shares_difference(4, 8, 2, 18)
    assert ends(found) == pytest.approx([4 / 8 - 2 / 18, 0.35 - reach, 0.35 + reach], abs=1e-12)
    turned = shares_difference(2, 18, 4, 8)
    assert ends(turned) == pytest.approx([-found.mean, -found.high, -found.low], abs=1e-12)
    # Shares without any spread have width all the same, and never more than everything.
    assert shares_difference(20, 20, 20, 20).holds(0) and shares_difference(1, 1, 0, 1).high <= 1
    for bad in ((3, 2, 1, 2), (0, 0, 1, 2), (1, 2, -1, 2)):
        with pytest.raises(ValueError, match="a share is a count"):
            shares_difference(*bad)


def test_the_difference_of_two_shares_holds_what_is_true_nineteen_times_in_twenty():
    # Over all outcomes of 25 and 40 texts, each with its probability.
    for p, q in ((0.5, 0.5), (0.9, 0.6), (0.65, 0.62)):
        covered = sum(
            binom.pmf(a, 25, p) * binom.pmf(b, 40, q)
            for a in range(26)
            for b in range(41)
            if shares_difference(a, 25, b, 40).holds(p - q)
        )
        assert 0.935 < covered < 0.985
