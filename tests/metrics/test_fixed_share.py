"""Soft metrics at a fixed share: every number worked out by hand, and water-filling beside a search by halves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.erasure import MIN_MAX, REVERSED, SCALINGS, SHARES, SOFTMAX, at_share, retained
from core.metrics.catalogue import default_metrics, metrics, of_examples
from core.metrics.registry import NO_ROOM, Case

NS, NC = "Soft-NS (fixed share)", "Soft-NC (fixed share)"
PROPERTY = settings(deadline=None, max_examples=200, derandomize=True)
# Of scores 4, 3, 2, 1, scaled 1, 2/3, 1/3, 0: below one half in proportion; at .7 two are whole and the third has what
# is left of 2.8; at .9 the one at 0 has what is left of 3.6.
BY_HAND = {
    0.1: [0.2, 2 / 15, 1 / 15, 0],
    0.3: [0.6, 0.4, 0.2, 0],
    0.5: [1, 2 / 3, 1 / 3, 0],
    0.7: [1, 1, 0.8, 0],
    0.9: [1, 1, 1, 0.6],
}
SCORES = np.array([4.0, 3.0, 2.0, 1.0])
WEIGHTS = np.array([0.2, 0.1, 0.06, 0.04])


def case_of(scores=SCORES, weights=WEIGHTS, **more) -> Case:
    """A model in which what is kept of each word counts by itself: p = .5 + Σ q·w."""
    F, values = len(scores), {"masked": np.zeros(len(scores), dtype=bool)} | more

    def erased(masks):
        p = 0.5 + ~masks @ weights
        return np.column_stack([1 - p, p])

    def perturbed(retain, kind):
        return np.full(3, 0.5 + retain[:F] @ weights)

    return Case(np.asarray(scores, dtype=float), erased, 1, **({"perturbed": perturbed} | values))


def noting(asked):
    def perturbed(retain, kind):
        asked.append(retain.copy())
        return np.array([0.7 if retain.any() else 0.5])

    return perturbed


def test_shares_by_hand():
    base = retained(SCORES, np.zeros(4, dtype=bool))
    for share in SHARES:
        np.testing.assert_allclose(at_share(base, np.ones(4, dtype=bool), share), BY_HAND[share], atol=1e-12)


def test_the_metrics_on_a_linear_model_are_their_expectation():
    """What is kept of the .4 that words bring, on average over the shares; what is erased, for the other."""
    expected = np.mean([np.array(q) @ WEIGHTS for q in BY_HAND.values()]) / 0.4
    for name in (NS, NC):
        score = metrics()[name](case_of())
        assert score.value == pytest.approx(expected) and score.error == 0 and score.note == ""


@pytest.mark.parametrize("scaling", SCALINGS)
def test_where_every_word_counts_the_same_no_attribution_is_ahead(scaling):
    """Soft-NS is higher for scores whose mean is higher; at a fixed share each keeps as much as any other."""
    rng, own = np.random.default_rng(0), {NS: [], NC: [], "Soft-NS": []}
    for lift in (-2.0, 0.0, 3.0):
        scores = rng.normal(size=6) ** 3 + lift
        for name, found in own.items():
            found.append(metrics()[name](case_of(scores, np.full(6, 0.05), scaling=scaling)).value)
    assert own[NS] == pytest.approx([np.mean(SHARES)] * 3) and own[NC] == pytest.approx([np.mean(SHARES)] * 3)
    assert scaling == SOFTMAX or np.ptp(own["Soft-NS"]) > 0.1


def test_clipped_for_each_draw_and_share_and_the_error_is_of_strata():
    def two_draws(retain, kind):
        # Nothing kept: .5. Else one draw gains and one loses all: 1 and 0 at every share.
        return np.array([0.5, 0.5]) if not retain.any() else np.array([1.0, 0.3])

    score = metrics()[NS](case_of(perturbed=two_draws))
    # Of each of five shares the variance of the mean is .5 / 2; the error is that of the mean of the five.
    assert score.value == 0.5 and score.error == pytest.approx(np.sqrt(5 * 0.25) / 5)


def test_comprehensiveness_erases_what_sufficiency_keeps_and_leaves_masked_words_alone():
    asked, told = [], []

    def single(retains, draws, kind):
        told.append((kind, list(draws), [retain.copy() for retain in retains]))
        return np.full(len(retains), 0.7)

    case = case_of(
        [4, 9, 3, 2, 1],
        np.full(5, 0.08),
        masked=np.arange(5) == 1,
        perturbed=lambda retain, kind: asked.append(retain.copy()) or np.full(4, 0.5),
        single=single,
    )
    metrics()[NS](case)
    metrics()[NC](case)
    np.testing.assert_array_equal(asked, [[0, 1, 0, 0, 0]] * 2)
    # Of four draws two for each share, in one question, so that they share batches.
    assert [(kind, draws) for kind, draws, _ in told] == [("Bernoulli", [*range(10)])] * 2
    for _, _, retains in told:
        np.testing.assert_array_equal(retains[::2], retains[1::2])
    kept, erased = told[0][2][::2], told[1][2][::2]
    others = [0, 2, 3, 4]
    for keep, erase, share in zip(kept, erased, SHARES):
        assert keep[1] == erase[1] == 1
        np.testing.assert_allclose(keep[others], BY_HAND[share], atol=1e-12)
        np.testing.assert_allclose(erase[others], 1 - np.array(BY_HAND[share]), atol=1e-12)


@pytest.mark.parametrize("draws, of_each", [(1, 1), (2, 2), (8, 2), (10, 2), (14, 2), (15, 3), (32, 6), (128, 25)])
def test_draws_are_dealt_out_to_the_shares(draws, of_each):
    met = []

    def single(retains, draws, kind):
        met.extend(draws)
        return np.full(len(retains), 0.7)

    score = metrics()[NS](case_of(perturbed=lambda retain, kind: np.full(draws, 0.5), single=single))
    # A single draw is met by every share; of more, none by two.
    assert met == ([0] * 5 if draws == 1 else [*range(5 * of_each)]) and np.isnan(score.error) == (draws == 1)
    assert metrics()[NS].passes(4, draws) == 5 * of_each + 2


def test_the_error_is_that_of_the_value_over_fresh_draws():
    """Shares whose draws scatter unlike each other: over 4,000 runs the values scatter as the errors say."""
    rng, found = np.random.default_rng(3), []

    def single(retains, draws, kind):
        kept = np.array([retain.mean() for retain in retains])
        return 0.6 + 0.2 * kept + rng.normal(size=len(kept)) * 0.02 * kept

    for _ in range(4_000):
        score = metrics()[NS](case_of(perturbed=lambda retain, kind: np.full(15, 0.5), single=single))
        found.append((score.value, score.error))
    values, errors = np.array(found).T
    assert values.std() == pytest.approx(np.sqrt((errors**2).mean()), rel=0.05)


@pytest.mark.parametrize("scaling, rest", [(MIN_MAX, [0, 0, 0, 0, 0.6]), (REVERSED, [0.2, 0.6, 1, 1, 1])])
def test_what_is_no_feature_counts_as_the_least_important_and_not_in_the_share(scaling, rest):
    asked = []
    metrics()[NS](case_of(perturbed=noting(asked), everything=True, scaling=scaling))
    np.testing.assert_array_equal(asked[0], np.zeros(5))
    np.testing.assert_allclose([retain[4] for retain in asked[1:]], rest, atol=1e-12)
    np.testing.assert_allclose([retain[:4].mean() for retain in asked[1:]], SHARES)


@pytest.mark.parametrize("scores", [[7.0] * 4, [2.0]])
def test_scores_that_are_equal_and_a_single_word_are_kept_by_the_share_itself(scores):
    asked = []
    metrics()[NS](case_of(scores, np.full(len(scores), 0.1), perturbed=noting(asked)))
    np.testing.assert_allclose(asked[1:], [[share] * len(scores) for share in SHARES])
    score = metrics()[NC](case_of(scores, np.full(len(scores), 0.1)))
    assert score.value == pytest.approx(np.mean(SHARES)) and "kept by the share" in score.note


def test_a_model_that_always_says_the_same_has_no_number():
    for name in (NS, NC):
        score = metrics()[name](case_of(weights=np.zeros(4)))
        assert np.isnan(score.value) and score.note == NO_ROOM


def test_a_mean_share_needs_words_and_lies_between_none_and_all():
    for counted, mean in ((np.zeros(3, dtype=bool), 0.5), (np.ones(3, dtype=bool), 1.1)):
        with pytest.raises(ValueError, match="mean share"):
            at_share(np.ones(3), counted, mean)
    np.testing.assert_array_equal(at_share(np.array([1.0, 0.5, 0]), np.ones(3, dtype=bool), 0), [0, 0, 0])
    np.testing.assert_array_equal(at_share(np.array([1.0, 0.5, 0]), np.ones(3, dtype=bool), 1), [1, 1, 1])


def by_halves(shares: np.ndarray, mean: float) -> np.ndarray:
    """min(1, c·share) with the c that a search by halves finds; the rest to those at 0."""
    if (shares > 0).mean() <= mean:
        own = (shares > 0).astype(float)
        return own if own.all() else np.where(own == 1, 1.0, (mean * len(own) - own.sum()) / (len(own) - own.sum()))
    low, high = 0.0, 1 / shares[shares > 0].min()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(1, middle * shares).mean() < mean else (low, middle)
    return np.minimum(1, high * shares)


SOME = st.lists(st.floats(1e-6, 1) | st.sampled_from([0.0, 0.5, 1.0, 1 / 3]), min_size=1, max_size=30)


@PROPERTY
@given(SOME, st.floats(0, 1) | st.sampled_from(SHARES))
def test_water_filling_is_what_a_search_by_halves_finds(shares, mean):
    given_shares = np.array(shares)
    found = at_share(given_shares, np.ones(len(shares), dtype=bool), mean)
    np.testing.assert_allclose(found, by_halves(given_shares, mean), atol=1e-7)


@PROPERTY
@given(
    st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 1e-300, 5e-324]), min_size=1, max_size=30),
    st.sampled_from(SCALINGS),
    st.floats(0, 1) | st.sampled_from(SHARES),
)
def test_the_share_is_kept_and_so_is_the_order(scores, scaling, mean):
    base = retained(np.array(scores), np.zeros(len(scores), dtype=bool), scaling)
    q = at_share(base, np.ones(len(scores), dtype=bool), mean)
    assert q.min() >= 0 and q.max() <= 1 and abs(q.mean() - mean) <= 1e-9
    order = np.argsort(base)
    assert (np.diff(q[order]) >= 0).all() and (np.diff(q[order])[np.diff(base[order]) == 0] == 0).all()


def test_they_stand_after_the_metrics_of_their_formula_and_are_not_shown_unasked():
    names = list(of_examples())
    assert names.index("Soft-NC") < names.index(NS) < names.index(NC) < names.index("AOPC comprehensiveness")
    assert not {NS, NC} & set(default_metrics()) and not metrics()[NS].amounts and metrics()["Soft-NS"].amounts
