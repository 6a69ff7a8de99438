"""LIME against planted linear models, Captum's and scikit-learn's own, and by hand."""

import numpy as np
import pytest

from core.measures.kernel_shap import all_sets, samples
from core.measures.lime import PENALTY, drawn_alike, lasso, lime, nearness
from core.measures.registry import Explained
from tests.table import Table


def planted(gains, masked=(), **more):
    """A model in which masking i lowers v by gains[i], whatever else is masked."""
    gains, start = np.asarray(gains, dtype=float), np.zeros(len(gains), dtype=bool)
    start[list(masked)] = True
    return Explained(lambda masks: 3 - masks @ gains[:, None], len(gains), 0, start, **more)


@pytest.mark.parametrize("F", [1, 2, 5, 8, 25, 120])
def test_a_planted_linear_model_is_found(F):
    """But for the penalty: 0.01 over a variance of about ¼, more where sets are few for the features."""
    gains = np.random.default_rng(F).normal(size=F) * 3
    found = lime(planted(gains))["signed"]
    np.testing.assert_allclose(found, gains, atol=0.06 if F <= 8 else 0.16)
    assert np.abs(found - gains).max() > 1e-3, "the penalty takes something"


def test_what_does_nothing_gets_exactly_nothing():
    gains = np.zeros(20)
    gains[[3, 11]] = 2.0, -1.5
    found = lime(planted(gains))
    assert np.flatnonzero(found["signed"]).tolist() == [3, 11]
    np.testing.assert_array_equal(found["absolute"], np.abs(found["signed"]))


def test_one_feature_by_hand():
    """Two sets, v = 3 and 1 with weights 1 and e^−½: b = 2 − penalty/variance of a coin with these odds."""
    p = 1 / (1 + np.exp(-0.5))
    assert lime(planted([2.0]))["signed"][0] == pytest.approx(2 - PENALTY / (p * (1 - p)))


def test_nearness_by_hand():
    """All: 1. A quarter of the features: the cosine is ½, so e^(−⅛). None: e^−½."""
    present = np.array([[1, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]], bool)
    np.testing.assert_allclose(nearness(present), np.exp([0, -1 / 8, -1 / 2]))


def test_every_set_once_where_there_are_no_more():
    table = Table(np.random.default_rng(0).normal(size=2**6))
    assert np.abs(lime(table.explained(seed=1))["signed"] - lime(table.explained(seed=2))["signed"]).max() == 0
    assert len(table.asked) == 2**6
    rng = np.random.default_rng(0)
    drawn = drawn_alike(40, rng)
    assert drawn.shape == (samples(40), 40) and abs(drawn.mean() - 0.5) < 0.02


def test_the_same_coefficients_as_captum_called_by_hand():
    """Captum's Lime, its Lasso, kernel and all, over the same sets."""
    import torch
    from captum._utils.models.linear_model import SkLearnLasso
    from captum.attr import Lime

    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    table = Table(rng.normal(size=2**9) + all_sets(9) @ rng.normal(size=9))
    drawn = drawn_alike(9, np.random.default_rng([0, 0]))
    sets = iter(drawn)

    def perturb(*_, **__):
        return torch.from_numpy(next(sets)[None].astype(np.int64))

    def forward(present):
        return torch.from_numpy(table.value(~present.bool().numpy()))

    model = SkLearnLasso(alpha=PENALTY, tol=1e-6, max_iter=100_000)
    captums = Lime(forward, interpretable_model=model, perturb_func=perturb).attribute(
        torch.ones(1, 9), n_samples=len(drawn)
    )
    np.testing.assert_allclose(lime(table.explained())["signed"], captums[0].numpy(), atol=1e-4)


def test_coefficients_are_where_the_lasso_has_its_least():
    """Its conditions: the slope of the squares is the penalty where b is not 0, and within it where b is."""
    rng = np.random.default_rng(2)
    present, values, weights = rng.random((50, 80)) < 0.5, rng.normal(size=50), rng.random(50)
    found = lasso(present, values, weights)
    share = weights / weights.sum()
    left = values - present @ found
    slope = (present - share @ present).T @ (share * (left - share @ left))
    np.testing.assert_allclose(slope[found != 0], PENALTY * np.sign(found[found != 0]), atol=1e-6)
    assert (np.abs(slope) <= PENALTY + 1e-6).all() and 0 < np.count_nonzero(found) < 80


@pytest.mark.parametrize("F", [1, 2, 9, 40])
def test_a_model_that_never_moves_gives_zeros(F):
    assert lime(planted(np.zeros(F)))["signed"].tolist() == [0] * F


@pytest.mark.parametrize("asked", [2, 10])
def test_fewer_sets_than_features_are_no_error(asked):
    assert np.isfinite(lime(planted(np.arange(30.0)), asked)["signed"]).all()


def test_what_is_masked_already_is_as_if_it_were_not_there():
    found = lime(planted([1.0, 2.0, -4.0], masked=[1]))["signed"]
    assert found[1] == 0 and found == pytest.approx([1, 0, -4], abs=0.06)
    assert lime(planted([1.0, 2.0], masked=[0, 1]))["signed"].tolist() == [0, 0]
