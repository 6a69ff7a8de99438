"""How often two words are said to work only together where none do, and how often those that do are found."""

import numpy as np
import pytest
from scipy import stats

from core.interactions import pairs
from core.interactions.pairs import TOGETHER, TWICE, WordPair
from core.interactions.splitting import split_exactly

pytestmark = pytest.mark.simulation
F, N = 6, 1_000
LEFT = ~(np.arange(2**F)[:, None] >> np.arange(F) & 1).astype(bool)
PAIRS = list(zip(*np.triu_indices(F, 1)))


@pytest.fixture(scope="module")
def splits():
    """A split is linear in v, so that 2^F of them, of one set each, give those of all texts."""
    found = [split_exactly(one) for one in np.eye(2**F)]
    own, both = np.stack([one.own for one in found]), np.stack([one.pairs for one in found])
    return lambda v: (v @ own, np.einsum("ns,sij->nij", v, both))


def said(split, kind: str) -> np.ndarray:
    """Which pairs of each text are of a kind, bool[texts, pairs]."""
    return np.array(
        [
            [WordPair(i, j, both[i, j], own[i], own[j]).kind == kind for i, j in PAIRS]
            for own, both in zip(*(part.round(12) for part in split))
        ]
    )


def texts(rng, noise: float) -> np.ndarray:
    """Scores of N texts whose words count by themselves, half of them for nothing, float[N, 2^F], in logits."""
    weights = rng.normal(0, 1, (N, F)) * (np.arange(F) < F // 2)
    return weights @ LEFT.T + noise * rng.normal(0, 1, (N, 2**F))


@pytest.mark.parametrize("noise", [1e-5, 0.05, 0.1])
def test_where_words_count_by_themselves_none_are_said_to_work_together_or_twice(splits, noise, monkeypatch):
    split = splits(texts(np.random.default_rng(1), noise))
    for kind in (TOGETHER, TWICE):
        assert said(split, kind).any(axis=1).sum() <= stats.binom.ppf(0.999, N, 0.001)
    # A rule of less would err.
    monkeypatch.setattr(pairs, "LEAST", noise / 2)
    assert said(split, TOGETHER).any(axis=1).sum() > 0.05 * N


@pytest.mark.parametrize(("size", "rate"), [(0.4, 0.03), (0.6, 0.97), (1.0, 1), (2.0, 1)])
def test_two_words_that_work_only_together_are_found(splits, size, rate):
    """One point of logits that are there while both words are; by itself each counts for little, or nothing."""
    rng = np.random.default_rng(2)
    weights = rng.normal(0, 1, (N, F))
    weights[:, :2] = rng.uniform(-0.15, 0.15, (N, 2))
    v = weights @ LEFT.T + size * (LEFT[:, 0] & LEFT[:, 1]) + 0.05 * rng.normal(0, 1, (N, 2**F))
    told = said(splits(v), TOGETHER)
    assert PAIRS[0] == (0, 1) and told[:, 1:].any(axis=1).sum() <= stats.binom.ppf(0.999, N, 0.001)
    count = told[:, 0].sum()
    assert count <= stats.binom.ppf(0.999, N, rate) if rate < 0.5 else count >= stats.binom.ppf(0.001, N, rate)


def test_two_words_that_say_the_same_are_found_and_do_not_work_only_together(splits):
    rng = np.random.default_rng(3)
    weights = rng.normal(0, 1, (N, F))
    weights[:, :2] = rng.uniform(0, 0.3, (N, 2))
    split = splits(weights @ LEFT.T + (LEFT[:, 0] | LEFT[:, 1]) + 0.05 * rng.normal(0, 1, (N, 2**F)))
    assert said(split, TWICE)[:, 0].mean() > 0.99 and not said(split, TOGETHER).any()


def test_what_three_words_do_only_together_is_said_of_pairs_of_them(splits):
    """By hand: I = 1/2 of a third's presence, and each word alone −A/6: so a pair of the three is named from A = 1 on."""
    three = LEFT[:, :3].all(axis=1).astype(float)
    own, both = splits(np.stack([0.9 * three, 1.1 * three]))
    np.testing.assert_allclose(own[1, :3], -1.1 / 6, atol=1e-9)
    np.testing.assert_allclose(both[1, 0, 1], 1.1 / 2, atol=1e-9)
    told = said((own, both), TOGETHER)
    assert not told[0].any() and told[1].sum() == 3
