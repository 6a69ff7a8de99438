"""Random orders in half precision: every verdict is that of the model's own, and what lies far is not asked twice."""

import numpy as np
import pytest

from core.mathematics.stepwise import finish
from core.network.scheduler import NonFinite
from core.verdicts.chance import aopc_of_orders, draw_null, tail_test
from core.verdicts.reaching import FIRST, LEAST, HalfReach, own_reach
from tests.table import Table

F, R = 10, 99


def rough_table(rng: np.random.Generator, noise: float) -> tuple[Table, Table]:
    """A table, and what half precision makes of it, which errs in the logit: most where the model is steep."""
    masked = np.arange(2**F)[:, None] >> np.arange(F) & 1
    logits = 2 - 8 * masked @ rng.normal(0, 0.15, F) - rng.normal(0, 0.5, 2**F)
    own, half = (1 / (1 + np.exp(-one)) for one in (logits, logits + noise * rng.normal(size=2**F)))
    return Table(own), Table(half)


def drawn(own: Table, half, against: np.ndarray, orders: np.ndarray, known=lambda masks: np.zeros(len(masks), bool)):
    reach = HalfReach(own.value, lambda: half, known, np.zeros(F, dtype=bool), against)
    return finish(draw_null(reach, np.zeros(F, dtype=bool), orders.__getitem__, len(orders))), reach


@pytest.mark.parametrize(("noise", "most"), [(0.01, 0.7), (0.03, 0.5), (0.1, 0.2)])
def test_every_verdict_is_that_of_the_models_own_at_fewer_of_its_inputs(noise, most):
    rng, spared, parted = np.random.default_rng(0), [], 0
    start = np.zeros(F, dtype=bool)
    for _ in range(200):
        own, half = rough_table(rng, noise)
        orders = rng.random((R, F)).argsort(axis=1)
        # Measures among the random orders, as they are where nothing can be told, and beyond them.
        measures = aopc_of_orders(own.values, np.stack([*orders[[40, 80]], rng.permutation(F), rng.permutation(F)]))
        null, reach = drawn(own, half.value, measures, orders)
        exact = finish(draw_null(own_reach(own.value, start), start, orders.__getitem__, R))
        for sign in (1, -1):
            mine, theirs = (tail_test(measures, one, sign) for one in (null, exact))
            np.testing.assert_array_equal(mine.low, theirs.low)
            np.testing.assert_array_equal(mine.rejected, theirs.rejected)
        assert np.abs(null.reached - exact.reached).max() < reach.margin
        assert reach.rough == (null.reached != exact.reached).sum() <= R - FIRST
        spared.append(reach.rough / (R - FIRST))
        parted += (half.values != own.values).any()
    assert parted == 200 and np.mean(spared) > most


def test_what_is_known_costs_nothing_and_teaches_how_far_half_precision_errs():
    rng = np.random.default_rng(1)
    own, half = rough_table(rng, noise=0.01)
    orders = rng.random((R, F)).argsort(axis=1)
    null, reach = drawn(own, half.value, np.array([0.9]), orders, lambda masks: np.ones(len(masks), bool))
    assert not half.asked and reach.rough == 0 and np.isnan(reach.margin)
    np.testing.assert_allclose(null.reached, aopc_of_orders(own.values, orders), atol=1e-12)


@pytest.mark.parametrize("constant", (0.4, 1.0))
def test_where_every_order_reaches_the_same_the_models_own_says_so(constant):
    """No noise of half precision is taken for a difference."""
    rng = np.random.default_rng(2)
    own, half = Table(np.full(2**F, constant)), Table(constant + rng.normal(0, 1e-3, 2**F))
    null, reach = drawn(own, half.value, np.zeros(2), rng.random((R, F)).argsort(axis=1))
    assert (null.reached == 0).all() and reach.rough == 0


def test_without_half_precision_or_where_it_fails_the_models_own_scores_all():
    rng = np.random.default_rng(3)
    own, _ = rough_table(rng, noise=0.0)
    orders = rng.random((R, F)).argsort(axis=1)

    def fails(masks: np.ndarray) -> np.ndarray:
        raise NonFinite("NaN")

    for half in (None, fails):
        null, reach = drawn(own, half, np.array([0.3]), orders)
        assert reach.rough == 0 and reach.margin == np.inf
        np.testing.assert_allclose(null.reached, aopc_of_orders(own.values, orders), atol=1e-12)


def test_a_copy_that_errs_by_nothing_still_asks_again_what_ties_with_a_measure():
    rng = np.random.default_rng(4)
    own, _ = rough_table(rng, noise=0.0)
    orders = rng.random((R, F)).argsort(axis=1)
    reached = aopc_of_orders(own.values, orders)
    null, reach = drawn(own, Table(own.values).value, reached[[50]], orders)
    assert reach.margin == LEAST and null.as_good(reached[[50]], 1) == (reached >= reached[50] - 1e-6).sum()
