"""Stability by hand: agreement on the top word, spread, the ladder of samples and where a ranking settles."""

import itertools

import numpy as np
import pytest

from core.stability.moving import (
    Moved,
    completeness_error,
    ladder,
    moved,
    settled_at,
    spread_of_runs,
    top_agreement,
    top_word,
)

NAN = float("nan")


def first(*tops: int, F: int = 4) -> np.ndarray:
    """Runs whose top words are these."""
    return np.eye(F)[list(tops)]


@pytest.mark.parametrize(
    ("tops", "agree"), [((0, 0, 1, 0, 2), 0.3), ((0, 0, 0, 0, 1), 0.6), ((1, 1), 1.0), ((0, 3), 0.0), ((2,) * 7, 1.0)]
)
def test_agreement_is_the_share_of_pairs(tops, agree):
    assert top_agreement(first(*tops)) == pytest.approx(agree)
    assert agree == pytest.approx(np.mean([a == b for a, b in itertools.combinations(tops, 2)]))


def test_whatever_the_number_of_runs_its_mean_is_the_chance():
    """Every outcome of three draws with its probability, written out: Σ p² = .38."""
    p = np.array([0.5, 0.3, 0.2])
    every = list(itertools.product(range(3), repeat=3))
    assert sum(p[list(tops)].prod() * top_agreement(first(*tops)) for tops in every) == pytest.approx(0.38)


def test_equal_scores_name_no_word_and_one_run_agrees_with_nobody():
    assert top_word(np.ones(3)) == -1 and top_word(np.array([1.0])) == -1 and top_word(np.array([0.0, 2, 2])) == 1
    assert top_agreement(np.stack([np.ones(3), np.zeros(3), [1, 0, 0]])) == pytest.approx(1 / 3)
    assert np.isnan(top_agreement(first(0)))


def test_spread_is_the_sample_deviation():
    mean, sd = spread_of_runs(np.array([[1.0, 5], [2, 5], [6, 5]]))
    assert mean.tolist() == [3, 5] and sd[0] == pytest.approx(np.sqrt((4 + 1 + 9) / 2)) and sd[1] == 0
    assert np.isnan(spread_of_runs(np.ones((1, 2)))[1]).all()


@pytest.mark.parametrize(
    ("count", "rungs"),
    [
        (200, (25, 50, 100, 200, 400, 800)),
        (20, (5, 10, 20, 40, 80)),
        (4, (2, 4, 8, 16)),
        (7, (7, 14, 28)),
        (2, (2, 4, 8)),
    ],
)
def test_a_ladder_doubles_through_what_a_measure_takes_by_itself(count, rungs):
    assert ladder(count) == rungs


@pytest.mark.parametrize(
    ("taus", "settles"),
    [
        ((0.5, 0.95, 0.92, 0.9), 50),
        ((0.95, 0.8, 0.91, 1.0), 100),
        ((0.95, 0.95, 0.95, 0.95), 25),
        ((0.95, 0.95, 0.95, 0.89), None),
        ((0.95, NAN, 0.95, 0.95), 100),
        ((NAN,) * 4, None),
    ],
)
def test_a_ranking_settles_where_it_stays(taus, settles):
    assert settled_at((25, 50, 100, 200), taus) == settles


def test_completeness_is_relative_to_what_is_due():
    assert completeness_error(1.5, 2.0) == 0.25 == completeness_error(-2.5, -2.0)
    assert completeness_error(2.0, 2.0) == 0 and np.isnan(completeness_error(1.0, 1e-7))


def test_what_a_change_moves():
    before = np.array([0.4, 0.3, 0.1])
    assert moved(before, before.copy()) == Moved(pytest.approx(1), True, True)
    assert moved(before, before + 1e-9) == Moved(pytest.approx(1), True, False)
    # One of three pairs turns round: (2 − 1)/3.
    assert moved(before, before[[1, 0, 2]]) == Moved(pytest.approx(1 / 3), False, False)
    flat = moved(before, np.zeros(3))
    assert np.isnan(flat.tau) and not flat.top and not flat.equal
