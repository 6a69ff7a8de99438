"""KernelSHAP against Shapley values by their definition, on models that are tables."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.measures.kernel_shap import drawn_sets, kernel_shap, samples, shapley_by_kernel
from tests.table import Table


def additive(gains, whole=3.0):
    """The table of a model in which masking i lowers v by gains[i], whatever else is masked."""
    return Table([whole - sum(g for i, g in enumerate(gains) if code >> i & 1) for code in range(2 ** len(gains))])


def shapley(table):
    """By definition: the mean over all sets S without i of v(S masked) − v(S and i masked), each size alike."""
    F, found = table.F, np.zeros(table.F)
    for i in range(F):
        rest = [j for j in range(F) if j != i]
        for size in range(F):
            for others in combinations(rest, size):
                code = sum(1 << j for j in others)
                found[i] += (table.values[code] - table.values[code | 1 << i]) / (F * comb(F - 1, size))
    return found


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=8), st.integers(0, 99))
def test_an_additive_model_is_told_exactly(gains, seed):
    table = additive(gains)
    np.testing.assert_allclose(kernel_shap(table.explained(seed=seed))["signed"], gains, atol=1e-9)
    assert len(table.asked) <= min(2**table.F, samples(table.F))


@pytest.mark.parametrize("F", [2, 4, 7, 9])
def test_shapley_values_of_any_model_come_close_and_add_up(F):
    table = Table(np.random.default_rng(F).normal(size=2**F))
    exact = shapley(table)
    found = np.array([kernel_shap(table.explained(seed=seed))["signed"] for seed in range(40)])
    np.testing.assert_allclose(found.sum(axis=1), table.values[0] - table.values[-1], atol=1e-9)
    # One draw of 200 sets errs by a tenth or so, the mean of forty by far less.
    assert np.abs(found - exact).mean() < 0.15 and np.abs(found.mean(axis=0) - exact).max() < 0.06


def test_with_all_sets_as_often_as_the_kernel_weighs_them_it_is_exact():
    """F = 3: sizes 1 and 2 weigh alike, so that each of the six sets counts once."""
    table = Table(np.random.default_rng(0).normal(size=8))
    present = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], bool)
    np.testing.assert_allclose(shapley_by_kernel(present, table.value(~present)), shapley(table), atol=1e-12)


def test_what_is_masked_already_is_as_if_it_were_not_there():
    found = kernel_shap(additive([1.0, 2.0, -4.0]).explained([1]))
    np.testing.assert_allclose(found["signed"], [1, 0, -4], atol=1e-9)
    np.testing.assert_allclose(found["absolute"], [1, 0, 4], atol=1e-9)
    everything = additive([1.0, 2.0])
    assert kernel_shap(everything.explained([0, 1]))["signed"].tolist() == [0, 0] and not everything.asked


def test_sizes_come_as_the_kernel_weighs_them():
    """F = 4: 1/(k(4 − k)) is 1/3, 1/4, 1/3; of 300,000 drawn sets each share within 0.005."""
    rng = np.random.default_rng(0)
    drawn = np.concatenate([drawn_sets(4, rng)[2:] for _ in range(1500)])
    shares = np.bincount(drawn.sum(axis=1), minlength=5) / len(drawn)
    np.testing.assert_allclose(shares, np.array([0, 4, 3, 4, 0]) / 11, atol=0.005)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.005)
