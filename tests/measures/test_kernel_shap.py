"""KernelSHAP against Shapley values by their definition, on models that are tables."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.explanation.explainer import Explainer
from core.measures.catalogue import measure
from core.measures.kernel_shap import drawn_sets, kernel_shap, samples, shapley_by_kernel
from core.measures.registry import Explained
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


@pytest.mark.parametrize("F", [9, 10])
def test_shapley_values_of_any_model_come_close_and_add_up(F):
    table = Table(np.random.default_rng(F).normal(size=2**F))
    exact = shapley(table)
    found = np.array([kernel_shap(table.explained(seed=seed))["signed"] for seed in range(40)])
    np.testing.assert_allclose(found.sum(axis=1), table.values[0] - table.values[-1], atol=1e-9)
    # One draw of 200 sets errs by a tenth or so, the mean of forty by far less.
    assert np.abs(found - exact).mean() < 0.15 and np.abs(found.mean(axis=0) - exact).max() < 0.06


@pytest.mark.parametrize("F", range(1, 11))
def test_over_all_sets_it_is_exact(F):
    """Up to seven features unasked, since there are no more sets than it would draw; then where as many are asked for."""
    table = Table(np.random.default_rng(F).normal(size=2**F))
    found = kernel_shap(table.explained(seed=F), None if F <= 7 else 2**F)["signed"]
    np.testing.assert_allclose(found, shapley(table), atol=1e-9)
    assert set(table.asked.values()) == {1} and len(table.asked) == 2**F


def test_with_all_sets_as_often_as_the_kernel_weighs_them_it_is_exact():
    """F = 3: sizes 1 and 2 weigh alike, so that each of the six sets counts once."""
    table = Table(np.random.default_rng(0).normal(size=8))
    present = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1]], bool)
    found = shapley_by_kernel(present, table.value(~present), np.ones(6))
    np.testing.assert_allclose(found, shapley(table), atol=1e-12)


def test_what_is_masked_already_is_as_if_it_were_not_there():
    found = kernel_shap(additive([1.0, 2.0, -4.0]).explained([1]))
    np.testing.assert_allclose(found["signed"], [1, 0, -4], atol=1e-9)
    np.testing.assert_allclose(found["absolute"], [1, 0, 4], atol=1e-9)
    everything = additive([1.0, 2.0])
    assert kernel_shap(everything.explained([0, 1]))["signed"].tolist() == [0, 0] and not everything.asked


def test_sizes_come_as_the_kernel_weighs_them():
    """F = 4: 1/(k(4 − k)) is 1/3, 1/4, 1/3; of 20,000 drawn sets (15 at a time, or all would be asked) each share."""
    rng = np.random.default_rng(0)
    drawn = np.concatenate([drawn_sets(4, rng, 15)[0][2:] for _ in range(20_000)])
    shares = np.bincount(drawn.sum(axis=1), minlength=5) / len(drawn)
    np.testing.assert_allclose(shares, np.array([0, 4, 3, 4, 0]) / 11, atol=0.005)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.005)


@pytest.mark.parametrize("F", [1, 2, 9, 40])
def test_a_model_that_never_moves_gives_zeros(F):
    still = Explained(lambda masks: np.full((len(masks), 1), 0.3), F, 0, np.zeros(F, dtype=bool))
    np.testing.assert_allclose(kernel_shap(still)["signed"], 0, atol=1e-12)


@pytest.mark.parametrize("asked", [2, 3, 10])
def test_fewer_sets_than_features_still_add_up(asked):
    """What they leave open is shared alike: with ∅ and all alone every feature has the same."""
    gains = np.arange(30.0)
    explained = Explained(lambda masks: 5 - masks @ gains[:, None], 30, 0, np.zeros(30, dtype=bool))
    found = kernel_shap(explained, asked)["signed"]
    assert found.sum() == pytest.approx(gains.sum()) and np.isfinite(found).all()
    assert (asked > 2) == (np.ptp(found) > 1e-6)


def test_more_features_than_the_kernels_weights_have_room_for():
    """C(1030, 515) is beyond floating point: the sizes are drawn by what does not need it."""
    F = 1030
    with pytest.raises(OverflowError):
        float(comb(F, F // 2))
    gains = np.random.default_rng(0).normal(size=F)
    explained = Explained(lambda masks: 5 - masks @ gains[:, None], F, 0, np.zeros(F, dtype=bool))
    np.testing.assert_allclose(kernel_shap(explained)["signed"], gains, atol=1e-8)


def test_the_same_values_as_captum_called_by_hand():
    """Captum's KernelShap over the same sets, but that it weighs ∅ and all by 1e6 where here they hold exactly."""
    import torch
    from captum.attr import KernelShap

    pytest.importorskip("sklearn")
    table = Table(np.random.default_rng(3).normal(size=2**9))
    present, weights = drawn_sets(9, np.random.default_rng([0, 0]))
    assert (weights == 1).all()

    def forward(kept):
        return torch.from_numpy(table.value(~kept.bool().numpy()))

    sets, captums = iter(present), KernelShap(forward)
    captums.perturb_func = lambda *_, **__: torch.from_numpy(next(sets)[None].astype(np.int64))
    expected = captums.attribute(torch.ones(1, 9), n_samples=len(present))[0].numpy()
    np.testing.assert_allclose(kernel_shap(table.explained())["signed"], expected, atol=2e-3)


def test_a_number_of_sets_can_be_asked_for(tiny_model):
    model = tiny_model("bert")
    encoded = model.encode("the boat and the tide and the wind and the rain")
    found = Explainer(model).attribute(encoded, "KernelSHAP [samples=30]", 0)
    assert found.passes <= 30 == measure("KernelSHAP [samples=30]").passes(encoded.F)
    assert "from 30 sampled sets" in measure("KernelSHAP [samples=30]").definition
    for wrong in ("1", "0", "many", "9999999999"):
        with pytest.raises(ValueError, match="samples must be 2 to 1000000"):
            measure("KernelSHAP").asked(f"samples={wrong}")
