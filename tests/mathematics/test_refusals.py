"""Where a definition ends: the smallest input that has an answer, and what is refused with a sentence."""

import numpy as np
import pytest
from scipy import stats

from core.mathematics.aopc import aopc
from core.mathematics.diagnosticity import Untested, compare_metrics
from core.mathematics.evidence import evidence_mask
from core.mathematics.masking import training_masks
from core.mathematics.ranking import kendall_tau, top_overlap
from core.mathematics.search.limits import MOST_EXACT, TooDear, exact_search, free_features


def test_orders_of_two_or_more_features_that_differ_are_compared():
    assert kendall_tau([1, 2], [1, 2]) == 1 and kendall_tau([1, 2], [2, 1]) == -1
    # Two of three pairs lie alike and one the other way.
    assert kendall_tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    for nothing in (([1], [1]), ([1, 1], [1, 2]), ([1, 2], [1, 1])):
        assert np.isnan(kendall_tau(*nothing))


def test_the_top_is_of_one_feature_at_least():
    assert top_overlap([3, 2, 1], [3, 1, 2], 1) == 1 and top_overlap([3, 2, 1], [1, 2, 3], 1) == 0
    assert top_overlap([3, 2, 1], [3, 1, 2], 2) == 0.5 and top_overlap([3, 2, 1], [1, 2, 3], 9) == 1
    for scores, k in (([1, 2], 0), ([], 1)):
        with pytest.raises(ValueError, match="at least 1"):
            top_overlap(scores, scores, k)


def test_the_strategy_says_which_examples_are_masked():
    maskable = np.ones((6, 40), dtype=bool)
    masked = {name: training_masks(maskable, name, np.random.default_rng(0)) for name in ("none", "mask", "half")}
    assert not masked["none"].any() and masked["mask"].any(axis=1).sum() >= 5
    np.testing.assert_array_equal(masked["half"][1::2], masked["mask"][1::2])
    assert not masked["half"][::2].any()


def test_exact_limits_are_refused_beyond_their_most_whatever_is_allowed():
    def never(masks):
        raise AssertionError("asked for a score")

    for F in (MOST_EXACT + 1, MOST_EXACT + 30):
        with pytest.raises(TooDear, match=f"Exact limits of {F} features"):
            next(exact_search(never, F, most=1 << 80))
    with pytest.raises(ValueError, match="no features are left"):
        free_features(2, np.ones(2, dtype=bool))


def test_what_is_no_list_of_values_is_refused():
    assert aopc([0.9, 0.5]) == pytest.approx(0.4)
    for values in (0.9, [0.9], [[0.9, 0.5]]):
        with pytest.raises(ValueError, match="at least one prefix"):
            aopc(values)
    for starts, ends in ((np.arange(3), np.arange(4)), (np.zeros((2, 2)), np.ones((2, 2)))):
        with pytest.raises(ValueError, match="as many ends as starts"):
            evidence_mask(starts, ends, [])
    for first, second in ((np.arange(3.0), np.arange(4.0)), (np.zeros((2, 2)), np.zeros((2, 2)))):
        with pytest.raises(ValueError, match=r"float\[N\] twice"):
            compare_metrics(first, second)


def test_two_examples_are_compared_and_one_is_not():
    found = compare_metrics(np.array([0.0, 1.0]), np.array([2.0, 5.0]))
    assert (found.n, found.first, found.second) == (2, 0.5, 3.5)
    # Differences 2 and 4: W = 0, expected 1.5, variance 1.25. Ranks of the first sum to 3, expected 5, variance 5/3.
    for p, z in ((found.paired, 1.5 / 1.25**0.5), (found.rank_sum, 2 / (5 / 3) ** 0.5)):
        assert p == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)
    one = compare_metrics(np.array([0.0, np.nan]), np.array([2.0, 5.0]))
    assert one.n == 1 and np.isnan(one.paired) and one.reason is Untested.FEW
