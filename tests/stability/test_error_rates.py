"""How often a ranking is called unstable that is not, and how often one that is: simulated on made-up measures."""

import itertools

import numpy as np
import pytest
from scipy import stats

from core.stability.moving import AGREE, OFFERED, dissenting, least_dissenting, shown_agreement, top_agreement

pytestmark = pytest.mark.simulation
TEXTS = 2_000


def chances(agree: float, words: int) -> np.ndarray:
    """Of each word to come first: one has more, the others are alike, so that Σ p² is what two runs agree with."""
    if words == 1:
        return np.ones(1)
    more = 1 / words + np.sqrt(max(0.0, (agree - 1 / words) * (1 - 1 / words)))
    return np.array([more, *[(1 - more) / (words - 1)] * (words - 1)])


def drawn(p: np.ndarray, k: int, texts: int = TEXTS, seed: int = 3) -> np.ndarray:
    """Which word is first in each of k runs, int[texts, k]."""
    return np.random.default_rng(seed).choice(len(p), p=p / p.sum(), size=(texts, k))


def dissents(tops: np.ndarray) -> np.ndarray:
    """How many runs of each text name another word than most of them do, int[texts]."""
    return tops.shape[1] - np.stack([(tops == word).sum(axis=1) for word in range(tops.max() + 1)]).max(axis=0)


def called(tops: np.ndarray) -> np.ndarray:
    return dissents(tops) >= least_dissenting(tops.shape[1])


def test_how_many_runs_dissent_by_hand():
    for tops, many in (((0, 0, 1, 0, 2), 2), ((0, 0, 0, 0, 0), 0), ((0, 1), 1), ((0, 1, 2, 3), 3)):
        assert dissenting(np.eye(4)[list(tops)]) == many == dissents(np.array([tops]))[0]
    assert dissenting(np.ones((3, 4))) == 0, "equal scores name no word, and that alike"


def test_the_number_is_that_of_the_exact_tail():
    """q by hand: Σ p² = q² + (1 − q)² = .9 of two words."""
    q = (1 + np.sqrt(0.8)) / 2
    assert q**2 + (1 - q) ** 2 == pytest.approx(AGREE)
    for k in (2, 3, 5, 7, 10, 20, 50, 100):
        c, level = least_dissenting(k), 0.05 * min(1, 5 / k)
        assert stats.binom.sf(c - 1, k, 1 - q) < level <= stats.binom.sf(c - 2, k, 1 - q)
    assert [least_dissenting(k) for k in OFFERED] == [2, 3, 5, 8]


# Of each chance to agree how many words come first, and how often five runs and fifty call that unstable.
RATES = {
    (1.0, 1): (0, 0),
    (0.9, 2): (0.025, 0.004),
    (0.9, 20): (0.025, 0.004),
    (0.75, 2): (0.15, 0.45),
    (0.5, 2): (0.62, 1),
    (0.25, 4): (0.94, 1),
}


@pytest.mark.parametrize(("agree", "words"), RATES)
def test_it_is_said_as_often_as_is_stated(agree, words):
    p = chances(agree, words)
    assert (p**2).sum() == pytest.approx(agree)
    for k, rate in zip((5, 50), RATES[agree, words]):
        tops = drawn(p, k)
        # What is stated is rounded to a point of percent.
        low, high = stats.binom.ppf(0.001, TEXTS, max(rate - 0.01, 0)), stats.binom.ppf(0.999, TEXTS, rate + 0.01)
        assert low <= called(tops).sum() <= (high if rate < 1 else TEXTS)


@pytest.mark.parametrize("words", [2, 3, 20])
def test_a_ranking_that_agrees_nine_times_in_ten_is_called_unstable_on_at_most_five_percent_however_often_one_looks(
    words,
):
    tops, most = drawn(chances(AGREE, words), OFFERED[-1], seed=words), stats.binom.ppf(0.999, TEXTS, 0.05)
    looks = np.stack([called(tops[:, :k]) for k in OFFERED])
    assert looks.any(axis=0).sum() <= most
    # The bound is not one that anything passes: the share of pairs below 0.9, as a rule, errs on a quarter of texts.
    shares = np.array([top_agreement(np.eye(words)[one[:5]]) for one in tops])
    assert (shares < AGREE).sum() > 3 * most


def test_runs_that_are_still_to_come_cannot_take_it_back():
    tops = drawn(chances(0.5, 3), 20)
    every = np.stack([dissents(tops[:, :k]) for k in range(1, 21)])
    assert (np.diff(every, axis=0) >= 0).all()


def test_what_runs_that_agree_show_holds_on_nineteen_texts_of_twenty():
    """Where two agree with less than what is told, all k do on at most 5 % of texts, whichever words come first."""
    for k, words in itertools.product((5, 10, 50), (2, 3, 20)):
        agree = shown_agreement(k)
        if agree <= 1 / words:
            continue
        p = chances(agree, words)
        assert (p**k).sum() <= 0.05 + 1e-12
        assert (dissents(drawn(p, k)) == 0).sum() <= stats.binom.ppf(0.999, TEXTS, 0.05)
    assert [round(shown_agreement(k), 2) for k in (5, 50)] == [0.3, 0.89]
