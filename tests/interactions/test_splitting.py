"""k-SII on tables: its definition beside the library's fast way and its slow one, games worked out by hand, axioms."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.interactions.splitting import MOST_SAMPLED, sample_sets, split_by_sample, split_exactly
from core.measures.shapley import shapley_values
from tests.table import Table, members

TABLES = st.integers(1, 5).flatmap(lambda F: st.lists(st.floats(-9, 9), min_size=2**F, max_size=2**F).map(np.array))


def kept(rule, F: int) -> np.ndarray:
    """The table in which v of a set of masked features is the rule's of those that are kept."""
    whole = 2**F - 1
    return np.array([rule(set(members(whole ^ code, F))) for code in range(2**F)], dtype=float)


def by_definition(scores):
    """The interaction index (Grabisch and Roubens 1999), its mean over contexts, and k-SII's own effects from it."""
    F = len(scores).bit_length() - 1
    whole, pairs, own = 2**F - 1, np.zeros((F, F)), np.zeros(F)

    def v(features):
        return scores[whole ^ sum(1 << i for i in features)]

    def contexts(without):
        others = [i for i in range(F) if i not in without]
        for size in range(len(others) + 1):
            for T in combinations(others, size):
                yield T, 1 / ((len(others) + 1) * comb(len(others), size))

    for i, j in combinations(range(F), 2):
        pairs[i, j] = pairs[j, i] = sum(
            weight * (v((*T, i, j)) - v((*T, i)) - v((*T, j)) + v(T)) for T, weight in contexts((i, j))
        )
    for i in range(F):
        own[i] = sum(weight * (v((*T, i)) - v(T)) for T, weight in contexts((i,))) - pairs[i].sum() / 2
    return own, pairs


@given(TABLES)
@settings(max_examples=30)
def test_by_definition_symmetric_and_efficient(scores):
    found = split_exactly(scores)
    own, pairs = by_definition(scores)
    np.testing.assert_allclose(found.own, own, atol=1e-9)
    np.testing.assert_allclose(found.pairs, pairs, atol=1e-9)
    assert (found.pairs == found.pairs.T).all() and not found.pairs.diagonal().any()
    assert found.total == pytest.approx(scores[0] - scores[-1], abs=1e-8)
    # Each pair shared by halves, what is left to each is its Shapley value.
    np.testing.assert_allclose(found.own + found.pairs.sum(axis=1) / 2, shapley_values(scores), atol=1e-8)


@given(st.integers(2, 5), st.integers(0, 99), st.floats(-3, 3))
@settings(max_examples=20)
def test_linear_and_blind_to_a_feature_that_never_counts(F, seed, times):
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(2, 2**F))
    both, first, second = (split_exactly(scores) for scores in (one + times * other, one, other))
    np.testing.assert_allclose(both.pairs, first.pairs + times * second.pairs, atol=1e-9)
    np.testing.assert_allclose(both.own, first.own + times * second.own, atol=1e-9)
    more = split_exactly(np.concatenate([one, one]))
    np.testing.assert_allclose(more.pairs[:F, :F], first.pairs, atol=1e-9)
    assert np.abs(more.pairs[F]).max() < 1e-9 and abs(more.own[F]) < 1e-9


def test_games_by_hand():
    """AND: 6 only where both are kept: all of it is the pair's. OR: 6 where either is: each has it alone, and the pair
    takes one away. Three words that add up have no pair. XOR of two: each alone 6, together nothing."""
    both = split_exactly(kept(lambda words: 6.0 * ({0, 1} <= words), 3))
    np.testing.assert_allclose(both.pairs, [[0, 6, 0], [6, 0, 0], [0, 0, 0]], atol=1e-9)
    np.testing.assert_allclose(both.own, [0, 0, 0], atol=1e-9)
    either = split_exactly(kept(lambda words: 6.0 * bool(words & {0, 2}), 3))
    np.testing.assert_allclose(either.pairs[0, 2], -6, atol=1e-9)
    np.testing.assert_allclose(either.own, [6, 0, 6], atol=1e-9)
    added = split_exactly(kept(lambda words: sum((1.0, -2.0, 4.0)[i] for i in words), 3))
    np.testing.assert_allclose(added.own, [1, -2, 4], atol=1e-9)
    np.testing.assert_allclose(added.pairs, np.zeros((3, 3)), atol=1e-9)
    differ = split_exactly(kept(lambda words: 6.0 * (len(words) == 1), 2))
    assert differ.pairs[0, 1] == pytest.approx(-12) and differ.own == pytest.approx([6, 6])


def test_what_takes_three_is_shared_by_the_pairs():
    """6 only where all three are kept. In the context of the third word a pair adds 6, without it 0, each context counts
    one half: 3 a pair. What is left to each: its Shapley value 2 less half of both pairs, −1."""
    found = split_exactly(kept(lambda words: 6.0 * (len(words) == 3), 3))
    assert found.pairs[np.triu_indices(3, 1)] == pytest.approx([3, 3, 3]) and found.own == pytest.approx([-1, -1, -1])


def test_the_librarys_exact_computer_says_the_same():
    from shapiq import ExactComputer

    scores = np.random.default_rng(5).normal(size=2**7)
    slow = ExactComputer(lambda present: scores[127 - present @ (1 << np.arange(7))], 7)("k-SII", 2)
    found = split_exactly(scores)
    for i, j in combinations(range(7), 2):
        assert found.pairs[i, j] == pytest.approx(slow[(i, j)], abs=1e-9)
    assert found.own == pytest.approx([slow[(i,)] for i in range(7)], abs=1e-9)


def test_one_feature_and_a_constant_have_no_pairs():
    one = split_exactly(np.array([2.0, -1.0]))
    assert one.own.tolist() == [3] and one.pairs.tolist() == [[0]]
    constant = split_exactly(np.full(16, 7.0))
    assert np.abs(constant.pairs).max() < 1e-9 and np.abs(constant.own).max() < 1e-9


def test_a_sample_finds_what_two_words_do_and_is_the_same_for_the_same_seed():
    """Of 24 words, two of which work only together, a sample of 2,048 of 16,777,216 sets; of 8 every set is drawn."""
    asked = []

    def value(masks):
        asked.append(masks)
        return 3.0 * (~masks[:, 4] & ~masks[:, 9]) + 1.0 * ~masks[:, 2]

    found, again = split_by_sample(value, 24), split_by_sample(value, 24)
    assert np.abs(found.pairs).argmax() in (4 * 24 + 9, 9 * 24 + 4) and found.pairs[4, 9] == pytest.approx(3, abs=0.3)
    assert found.total == pytest.approx(4, abs=1e-3) and len(asked) == 2
    assert (found.pairs == again.pairs).all() and (asked[0] == asked[1]).all() and len(asked[0]) == sample_sets(24)
    assert len(np.unique(asked[0], axis=0)) == 2_048 and {0, 24} <= set(asked[0].sum(axis=1))
    table = Table(np.random.default_rng(1).normal(size=2**8))
    np.testing.assert_allclose(split_by_sample(table.value, 8).pairs, split_exactly(table.values).pairs, atol=1e-4)
    assert sample_sets(8) == 256 and sample_sets(MOST_SAMPLED) > 4 * (MOST_SAMPLED * (MOST_SAMPLED - 1) // 2)
