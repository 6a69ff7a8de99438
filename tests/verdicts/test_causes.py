"""How often redundancy is said where there is none, and how often it is found: simulated on made-up texts."""

import numpy as np
import pytest
from scipy import stats

from core.mathematics.statistics import significant
from core.verdicts.chance import NullOrders, draws_needed, redundant, stepwise_p, tail_test

N, F, ORDERS = 600, 10, 30
X = np.arange(F + 1) / F


class Texts:
    """N texts as functions of what is left of them: v of bool[N, R, F], float[N, R]. Of two words, the one that counts
    most and another, each says what the other does; shared: how much that is, 0 for none.
    """

    def __init__(self, rng, shared: float = 0.0):
        weights = np.sort(rng.dirichlet(np.full(F, 0.5), N))[:, ::-1]
        self.own, self.shared = (1 - shared) * weights, shared
        if shared:
            self.own[:, 0], self.own[:, -1] = np.maximum(self.own[:, 0], 0.15), 0.0

    def v(self, left):
        return (left * self.own[:, None]).sum(axis=-1) + self.shared * (left[..., 0] | left[..., -1])

    def along(self, orders):
        """v along orders int[N, R, F], float[N, R, F + 1]."""
        left = np.ones((*orders.shape[:2], F), dtype=bool)
        found = [self.v(left)]
        for k in range(F):
            np.put_along_axis(left, orders[..., k : k + 1], False, axis=-1)
            found.append(self.v(left))
        return np.stack(found, axis=-1)

    def falls(self, left):
        """What each word that is left, bool[N, F], takes with it, float[N, F]."""
        without = left[:, None] & ~np.eye(F, dtype=bool)
        return self.v(left[:, None]) - self.v(without)

    def paths(self, rng, noise, anew: bool):
        """v along the order of leave-one-out with noise, once and computed at each step, float[N, F + 1] each; anew:
        whether the noise is drawn at each step.
        """
        drawn = noise * rng.normal(0, 1 / F, (N, F))
        left, order = np.ones((N, F), dtype=bool), []
        first = (-(self.falls(left) + drawn)).argsort(axis=1)
        for k in range(F):
            drawn = noise * rng.normal(0, 1 / F, (N, F)) if anew and k else drawn
            order.append(np.where(left, self.falls(left) + drawn, -np.inf).argmax(axis=1))
            left[np.arange(N), order[-1]] = False
        return self.along(np.stack([first, np.stack(order, axis=1)], axis=1)).transpose(1, 0, 2)


def found(texts: Texts, once, anew, rng, measures: int = 3):
    """Of each text whether its measure fails and is said to suffer from redundancy, and whether it is better at each
    step alone, which was the rule; drawing stops as it does.
    """
    draws = rng.random((N, draws_needed(measures) + ORDERS, F)).argsort(axis=-1)
    chance, said = texts.along(draws), []
    for mine, path, walks in zip(once, anew, chance):
        reached, drawn = (
            np.array([mine[0] - mine[1:].mean()]),
            walks[ORDERS:, :1].T[0] - walks[ORDERS:, 1:].mean(axis=1),
        )
        for k in range(8, len(drawn) + 8, 8):
            null = NullOrders(drawn[:k], len(drawn))
            tail = tail_test(reached, null, 1, measures)
            if tail.settled[0]:
                break
        p = stepwise_p(X, path, walks[:ORDERS])
        fails = not tail.rejected[0]
        said.append((fails and redundant(null, float(reached[0]), p), fails and significant(p)))
    return np.array(said).T


@pytest.mark.parametrize(
    ("noise", "anew", "rate", "once"),
    [(0.5, False, 0.01, 0.07), (1.0, False, 0.01, 0.15), (1.0, True, 0.08, 0.3), (2.0, True, 0.08, 0.25)],
)
def test_where_no_word_says_what_another_does_redundancy_is_said_as_seldom_as_is_stated(noise, anew, rate, once):
    rng = np.random.default_rng(11)
    texts = Texts(rng)
    said, before = found(texts, *texts.paths(rng, noise, anew), rng)
    assert said.sum() <= stats.binom.ppf(0.999, N, rate)
    # Not better once and better at each step is not enough: that happens more often.
    assert before.mean() > once


def test_of_random_attributions_it_is_said_as_seldom_as_is_stated():
    rng = np.random.default_rng(12)
    texts = Texts(rng)
    once, anew = texts.along(rng.random((N, 2, F)).argsort(axis=-1)).transpose(1, 0, 2)
    assert found(texts, once, anew, rng)[0].sum() <= stats.binom.ppf(0.999, N, 0.03)


@pytest.mark.parametrize(("noise", "rate"), [(0.0, 0.9), (0.3, 0.5)])
def test_a_word_that_hides_another_is_found_as_often_as_is_stated(noise, rate):
    rng = np.random.default_rng(13)
    texts = Texts(rng, shared=0.5)
    assert found(texts, *texts.paths(rng, noise, False), rng)[0].sum() >= stats.binom.ppf(0.001, N, rate)
