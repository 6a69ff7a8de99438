"""Exact Shapley values: their definition over orders, and the axioms that single them out, on tables."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.explanation.explainer import Explainer
from core.explanation.limiting import find_exact
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.measures.registry import NotApplicable
from core.measures.shapley import exact_shapley, shapley_values
from tests.table import Table

TABLES = st.integers(1, 6).flatmap(lambda F: st.lists(st.floats(-9, 9), min_size=2**F, max_size=2**F).map(np.array))


def over_orders(values):
    """The mean, over every order of masking, of what v falls when i is masked."""
    F = len(values).bit_length() - 1
    falls = np.zeros(F)
    orders = list(permutations(range(F)))
    for order in orders:
        code = 0
        for i in order:
            falls[i] += values[code] - values[code | 1 << i]
            code |= 1 << i
    return falls / len(orders)


@given(TABLES)
def test_by_definition_and_efficient(values):
    found = shapley_values(values)
    np.testing.assert_allclose(found, over_orders(values), atol=1e-9)
    assert found.sum() == pytest.approx(values[0] - values[-1], abs=1e-9)


@given(st.integers(1, 5), st.integers(0, 99))
def test_symmetry_and_dummy(F, seed):
    """Features that only their number matters of share alike; one that never moves v has nothing, and changes nothing."""
    rng = np.random.default_rng(seed)
    by_size = rng.normal(size=F + 1)
    alike = np.array([by_size[code.bit_count()] for code in range(2**F)])
    np.testing.assert_allclose(shapley_values(alike), np.full(F, (alike[0] - alike[-1]) / F), atol=1e-9)
    values = rng.normal(size=2**F)
    found = shapley_values(np.concatenate([values, values]))
    np.testing.assert_allclose(found, [*shapley_values(values), 0], atol=1e-9)


def test_and_and_or_by_hand():
    """AND: only both kept give 6. OR: only both masked take 6. Either way 3 and 3."""
    np.testing.assert_allclose(shapley_values(np.array([6.0, 0, 0, 0])), [3, 3])
    np.testing.assert_allclose(shapley_values(np.array([6.0, 6, 6, 0])), [3, 3])


def test_what_is_masked_already_has_no_part():
    table = Table(np.random.default_rng(0).normal(size=2**5))
    found = exact_shapley(table.explained([1, 3]))
    free = [0, 2, 4]
    rest = [table.values[0b01010 | sum(1 << free[i] for i in range(3) if code >> i & 1)] for code in range(8)]
    np.testing.assert_allclose(found["signed"][free], shapley_values(np.array(rest)))
    assert found["signed"][[1, 3]].tolist() == [0, 0] and len(table.asked) == 8
    np.testing.assert_array_equal(found["absolute"], np.abs(found["signed"]))
    assert exact_shapley(table.explained(range(5)))["signed"].tolist() == [0] * 5


def test_where_exact_limits_were_computed_it_costs_nothing(tiny_model):
    model = tiny_model("bert")
    encoded, explainer = model.encode("the boat and the tide"), Explainer(model)
    finish(find_exact(explainer, encoded, 1))
    assert explainer.attribute(encoded, "Shapley values", 1).passes == 0


def test_too_many_features_are_a_sentence(tiny_model):
    model = tiny_model("bert")
    encoded, explainer = model.encode("the tide " * 12), Explainer(model)
    assert explainer.cost(encoded, "Shapley values").passes == 0
    with pytest.raises(NotApplicable, match=r"^Shapley values takes at most 20 features; .* 24 .*\.$"):
        explainer.attribute(encoded, "Shapley values", 1)
    named = measure("Shapley values")
    assert named.refusal("bert", 20) == "" and "21" in named.refusal("bert", 21)
    masked = np.arange(24) >= 6
    assert np.count_nonzero(explainer.attribute(encoded, "Shapley values", 1, masked).scores["signed"]) == 6
