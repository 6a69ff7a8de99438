"""Drift of embeddings and changes of prediction, by hand and over generated cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from core.mathematics.drift import centroid_change, spread_change
from core.mathematics.flips import first_flip, flip_share, never_flips, normalised_fidelity

SETS = arrays(
    np.float64,
    some.tuples(some.integers(1, 6), some.just(3)),
    elements=some.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3)),
)


# ---- drift


def test_centroids_at_right_angles_and_opposite_are_one_and_two_apart():
    start = np.array([[2.0, 0.0], [4.0, 0.0]])
    assert centroid_change(np.array([[0.0, 1.0], [0.0, 5.0]]), start) == pytest.approx(1)
    assert 2 - 1e-12 < centroid_change(-start, start) <= 2
    # 45 degrees: 1 − 1/√2. The examples lie at 0 and 90, their mean between them.
    assert centroid_change(np.array([[1.0, 0.0], [0.0, 1.0]]), start) == pytest.approx(1 - 0.5**0.5)


def test_spread_is_the_mean_over_dimensions_of_the_population_deviation():
    start, moved = np.array([[0.0, 0.0], [2.0, 6.0]]), np.array([[5.0, 1.0], [6.0, 2.0]])
    # Deviations 1 and 3, mean 2; then ½ and ½.
    assert spread_change(moved, start) == pytest.approx((0.5 - 2, 0.5 / 2 - 1))
    assert spread_change(np.vstack([moved, moved]), start)[1] == pytest.approx(-0.75), (
        "not the sample's deviation, which would shrink"
    )


@given(SETS)
def test_nothing_changes_where_nothing_is_masked(states):
    for change in (centroid_change(states, states), *spread_change(states, states)):
        assert change == 0 or np.isnan(change)


@given(SETS, SETS, some.floats(0.01, 100))
def test_a_centroid_change_is_bounded_symmetric_and_blind_to_size(states, start, scale):
    change = centroid_change(states, start)
    if not np.isnan(change):
        assert 0 <= change <= 2
        assert (
            change
            == pytest.approx(centroid_change(start, states))
            == pytest.approx(centroid_change(scale * states, start), abs=1e-9)
        )


@given(SETS, some.floats(0, 50), some.floats(-50, 50))
def test_a_spread_grows_with_size_and_not_with_place(states, scale, by):
    if states.std(axis=0).mean() > 1e-3:
        sigma = states.std(axis=0).mean()
        expected = pytest.approx((sigma * (scale - 1), scale - 1), abs=1e-6 * max(1, sigma))
        assert spread_change(scale * states + by, states) == expected


def test_what_has_no_direction_or_no_spread_has_no_number():
    assert (
        np.isnan(centroid_change(np.zeros((2, 3)), np.ones((2, 3))))
        and np.isnan(spread_change(np.ones((1, 3)), np.ones((1, 3)))).all()
    )
    for states in (np.zeros((0, 3)), np.zeros((2, 4)), np.zeros(3)):
        with pytest.raises(ValueError, match="drift compares"):
            centroid_change(states, np.ones((2, 3)))


def test_half_precision_is_summed_in_full():
    states = np.full((4000, 2), 60_000, dtype=np.float16)
    assert centroid_change(states, states) == 0 and np.isnan(spread_change(states, states)).all()


# ---- changes of prediction


def prefixes(F: int) -> np.ndarray:
    return np.tri(F + 1, F, -1, dtype=bool)


@given(some.lists(some.integers(0, 2), min_size=2, max_size=30), some.integers(1, 9))
def test_the_first_change_is_what_all_predictions_say_and_nothing_is_asked_after_it(predicted, chunk):
    predicted, asked = np.array(predicted), []

    def predict(masks):
        asked.extend(masks.sum(axis=1).tolist())
        return predicted[masks.sum(axis=1)]

    F = len(predicted) - 1
    count = first_flip(predict, prefixes(F), chunk)
    assert (count == 0) == never_flips(predicted) and (count / F if count else 1.0) == flip_share(predicted)
    assert asked == list(range(min(len(predicted), (count or F) // chunk * chunk + chunk)))


def test_coming_back_is_a_change_all_the_same():
    predicted = np.array([1, 1, 0, 1, 1])
    assert first_flip(lambda masks: predicted[masks.sum(axis=1)], prefixes(4)) == 2


def test_without_a_feature_there_is_no_change():
    with pytest.raises(ValueError, match="something erased"):
        first_flip(lambda masks: np.zeros(len(masks)), prefixes(0))


def test_normalised_fidelity_is_0_at_chance_1_at_the_best_and_says_nothing_where_they_coincide():
    assert normalised_fidelity(0.5, 0.25, 0.75) == pytest.approx(0.5) and normalised_fidelity(0.2, 0.25, 0.75) < 0
    assert normalised_fidelity(0.25, 0.25, 0.75) == 0 and normalised_fidelity(0.75, 0.25, 0.75) == 1
    assert np.isnan(normalised_fidelity(0.5, 0.5, 0.5))
