"""Which curves rise with masking: by hand, what never does, and how often noise is taken for a rise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.mathematics.curves import rising


def test_a_rise_by_hand():
    """Of 200 texts one pair of steps has to rise by 1.645 · √(½/200) = .0822."""
    low, high = np.full((2, 1), 0.5), np.full((2, 1), 0.583)
    curve = np.stack([low, high], axis=-1)
    assert rising(curve, 200).tolist() == [True] and rising(curve, 190).tolist() == [False]
    assert not rising(curve, 200, span=2.0).any()
    assert not rising(curve[:1], 200).any() and not rising(curve, 0).any()
    # Of three steps there are three pairs, of two curves six: 2.128 and 2.394 errors of .05.
    assert rising(np.array([[[0.9, 0.4, 0.507]]] * 2), 200).tolist() == [True]
    assert rising(np.array([[[0.9, 0.4, 0.507], [0.9, 0.4, 0.521]]] * 2), 200).tolist() == [False, True]


def test_every_seed_has_to_rise_and_what_is_lacking_does_not():
    assert not rising(np.array([[[0.2, 0.8]], [[0.5, 0.5]]]), 200).any()
    # Variances over seeds of 0 and .045: 1.645 · √(.0025 + 2 · .0225/2) = .26, and of .02 and .125 .55.
    assert rising(np.array([[[0.3, 0.8]], [[0.3, 0.5]]]), 200).all()
    assert not rising(np.array([[[0.1, 0.8]], [[0.3, 0.3001]]]), 200).any()
    assert not rising(np.array([[[0.2, 0.8]], [[0.2, np.nan]]]), 200).any()
    assert rising(np.array([[[0.2, np.nan, 0.8]]] * 2), 200).all()
    lost = np.full((1, 2, 2), np.nan)
    assert rising(np.concatenate([[[[0.2, 0.8], [0.8, 0.2]]] * 2, lost]), 200).tolist() == [True, False]
    assert not rising(np.concatenate([[[[0.2, 0.8], [0.8, 0.2]]], lost, lost]), 200).any()
    assert not rising(np.full((3, 2, 2), np.nan), 200).any() and not rising(np.full((3, 2, 1), 0.5), 200).any()


@given(some.lists(some.lists(some.floats(0, 1), min_size=4, max_size=4), min_size=2, max_size=4))
def test_curves_that_fall_never_rise(seeds):
    falling = -np.sort(-np.array(seeds), axis=1)[:, None]
    assert not rising(falling, 10_000).any()


@pytest.mark.simulation
@pytest.mark.parametrize(("seeds", "noise"), [(2, 0.05), (3, 0.0), (5, 0.1)])
def test_how_often_noise_is_taken_for_a_rise(seeds, noise):
    """300 studies of five flat curves on 200 texts of unlike difficulty, trainings differing by normal noise in their
    chance of a right answer: in at most 2 % is any curve said to rise.
    """
    rng, found = np.random.default_rng(seeds), 0
    for _ in range(300):
        chance = rng.beta(1.0, 1.0, 200) + rng.normal(0.0, noise, (seeds, 5, 11, 1))
        found += rising((rng.random(chance.shape) < chance).mean(axis=-1), 200).any()
    assert found <= 6
