"""Ready-made queries on planted data with known answers, by brute force, and how long 60,000 rows take."""

import random
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.analysis.queries import READY, ready_query
from core.data.browsing import ORDERS, TRAITS, Index, Query, Trait, counts, judge, match_labels, select
from core.data.examples import DataSet, Example

LABELS = ("negative", "positive")
NAN, INF = np.nan, np.inf


def planted(p, labels, **traits):
    """Examples whose label, probability of the second class and traits are planted; None: not computed."""
    texts = tuple(Example(f"e{i}", f"text {i}", None, LABELS[one]) for i, one in enumerate(labels))
    index = Index(DataSet("planted", "0" * 64, texts, LABELS))
    judged = judge(index, LABELS, match_labels(LABELS, LABELS), np.stack([1 - np.array(p), p], axis=1))
    for name, values in traits.items():
        known = np.array([one is not None for one in values])
        judged.traits[name] = Trait(np.array([NAN if one is None else one for one in values], dtype=float), known)
    return index, judged


def found(name, index, judged):
    return select(index, judged, ready_query(name)).tolist()


def test_each_query_finds_what_was_planted():
    index, judged = planted(
        [0.99, 0.97, 0.6, 0.02, 0.999],
        [0, 1, 0, 1, 0],
        rejected=[INF, 0.0, 0.3, 0.0, None],
        disagreement=[0.2, -0.7, NAN, 0.9, None],
        best=[-1.0, 1.0, 0.0, -1.0, NAN],
        smallest=[1.0, 2.0, INF, None, 1.0],
        evidence=[0.0, 0.5, 1.0, 0.0, NAN],
        twin=[1.0, 0.0, None, 1.0, 0.0],
    )
    # The surest first; what is not computed, or cannot be told, matches nothing.
    assert found("sure", index, judged) == [4, 0, 3]
    assert found("known", index, judged) == [0, 2]
    assert found("parted", index, judged) == [1, 0, 3, 2, 4]
    assert found("worse", index, judged) == [0, 3]
    assert found("one", index, judged) == [0, 4]
    assert found("missed", index, judged) == [0, 3]
    assert found("models", index, judged) == [0, 3]
    assert {one.name for one in READY} == {"sure", "known", "parted", "worse", "one", "missed", "models"}
    assert ready_query("none of them") is None and ready_query(["sure"]) is None


@given(some.data())
def test_confident_and_wrong_is_what_a_loop_finds(data):
    p = data.draw(some.lists(some.floats(0, 1), min_size=1, max_size=12))
    labels = data.draw(some.lists(some.integers(0, 1), min_size=len(p), max_size=len(p)))
    index, judged = planted(p, labels)
    sure = [i for i, one in enumerate(p) if max(1 - one, one) >= 0.95 and int(one > 1 - one) != labels[i]]
    got = found("sure", index, judged)
    assert sorted(got) == sure
    shares = [max(1 - p[i], p[i]) for i in got]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("one", READY, ids=lambda one: one.name)
def test_a_query_asks_for_what_there_is_and_says_of_which_examples_its_traits_are_asked(one):
    query = one.query
    assert query.order in ORDERS
    for name in query.traits:
        assert {*query.facets.get(name, ())} <= {*TRAITS[name].values()}
    before = query.before_traits
    assert not before.traits and before.facets == {k: v for k, v in query.facets.items() if k not in TRAITS}


def test_sixty_thousand_rows_are_filtered_sorted_and_counted_in_half_a_second():
    rng, N, quick = np.random.default_rng(0), 60_000, random.Random(0)
    words = [f"w{i}" for i in range(5_000)]
    texts = tuple(
        Example(f"e{i}", " ".join(quick.choices(words, k=20)), None, quick.choice(LABELS), ("a", "b")[: i % 3])
        for i in range(N)
    )
    index = Index(DataSet("many", "0" * 64, texts, LABELS))
    judged = judge(index, LABELS, match_labels(LABELS, LABELS), rng.dirichlet([1, 1], N))
    judged = replace(judged, traits={name: Trait(rng.uniform(-1, 6, N), np.ones(N, dtype=bool)) for name in TRAITS})
    asked = [one.query for one in READY] + [Query("w1", {"outcome": ("wrong",)}, "text"), Query(order="naopc")]
    for query in asked:
        best = min(_seconds(index, judged, query) for _ in range(3))
        assert best < 0.5, query.in_words


def _seconds(index, judged, query) -> float:
    began = time.thread_time()
    select(index, judged, query)
    counts(index, judged, query)
    return time.thread_time() - began
