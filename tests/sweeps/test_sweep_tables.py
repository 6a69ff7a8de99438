"""Tables of a sweep from made-up results whose answers are known."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.data.examples import Example
from core.evaluation.sampling import Sample
from core.evaluation.studies.model_check import Passed
from core.evaluation.study import Answers
from core.sweeps.areas import area_lines
from core.sweeps.checking import SeededCheck
from core.sweeps.p_values import p_lines
from core.sweeps.performance import performance_lines
from core.sweeps.rank_correlations import correlation_lines, kendall
from core.sweeps.ranks import rank_lines
from core.sweeps.registry import Reply, sweep_tables
from core.sweeps.writing import lay_out
from core.validity.references import FORMS

N, K = 30, 11
MODEL = SimpleNamespace(name="made", digest="0" * 64, card=None, labels=("no", "yes"), C=2, precision="float32")


def passed(wrong_from, p=None):
    """A curve along which the i-th text is answered wrongly from the ratio wrong_from[i]/10 on."""
    wrong = np.arange(K) >= np.asarray(wrong_from)[:, None]
    p = np.full((N, K), 0.5) if p is None else p
    there = np.where(wrong, 0, 1).astype(np.int32)
    return Passed(there, np.ones((N, K)), dict.fromkeys(FORMS, p), np.full((N, 2), np.nan), {})


def reply_of(measure, *random, p=None):
    """The case of one measure against random orders of the seeds 3, 4 …"""
    question = SeededCheck(("gradient",), orders=tuple(range(3, 3 + len(random))))
    orders = dict(zip([one for one in question.studies if one.random], map(passed, random)))
    found = {one: orders[one] if one.random else passed(measure, p) for one in question.studies}
    sample = Sample("data", "1" * 64, tuple(Example(f"{i}", "a b") for i in range(N)), np.ones(N, dtype=np.int64))
    return Reply(question, Answers(MODEL, None, sample, found), None)


# Three texts each go wrong at each ratio: performance falls from 1 to 0 along a line.
LINE, LAST, FIRST = np.repeat(np.arange(1, 11), 3), np.full(N, 10), np.full(N, 1)


def test_areas_are_those_of_the_curves():
    (one,) = area_lines(reply_of(FIRST, LINE))
    assert one["acu"] == pytest.approx(0.5 - 0.05) and one["racu"] == pytest.approx(0.45 / 0.5)
    assert (one["measure"], one["n"], one["undefined"]) == ("gradient", N, 0)


def test_a_measure_is_set_against_the_mean_of_the_random_orders_of_all_seeds():
    (one,) = area_lines(reply_of(FIRST, LINE, LAST))
    baseline = (0.5 + 0.95) / 2
    assert one["acu"] == pytest.approx(baseline - 0.05) and one["racu"] == pytest.approx((baseline - 0.05) / baseline)


def test_intervals_of_areas_are_scipys():
    rng = np.random.default_rng(5)
    measure, random = rng.integers(1, 7, N), rng.integers(3, 11, N)
    (one,) = area_lines(reply_of(measure, random))
    x = np.arange(K) / 10

    def areas(places, axis=-1):
        curves = [(np.arange(K) < kept[places][..., None]).mean(axis=-2) for kept in (measure, random)]
        return np.trapezoid(curves[1] - curves[0], x, axis=-1)

    found = stats.bootstrap(
        (np.arange(N),), areas, n_resamples=9_999, batch=200, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    assert (one["acu_low"], one["acu_high"]) == pytest.approx((found.low, found.high), abs=0.004)


def test_performance_has_a_line_for_each_seed_and_ratio():
    lines = performance_lines(reply_of(FIRST, LINE, LAST))
    shown = {(one["measure"], one["seed"], one["ratio"]): one["performance"] for one in lines}
    assert len(lines) == len(shown) == 3 * K
    assert shown["random order", 3, 0.4] == pytest.approx(0.6) and shown["random order", 4, 0.9] == 1
    assert shown["gradient", None, 0.0] == 1 and shown["gradient", None, 0.1] == 0
    exact = stats.binomtest(18, N).proportion_ci(method="exact")
    line = next(one for one in lines if one["seed"] == 3 and one["ratio"] == 0.4)
    assert (line["performance_low"], line["performance_high"]) == pytest.approx((exact.low, exact.high))


def test_p_of_the_data_is_by_simes_where_nothing_is_known_of_counts():
    p = np.random.default_rng(1).random((N, K)) ** 2
    found = [one for one in p_lines(reply_of(FIRST, LINE, p=p)) if one["measure"] == "gradient"]
    for k, one in enumerate(found):
        assert one["p_literal"] == pytest.approx((np.sort(p[:, k]) * N / np.arange(1, N + 1)).min())
        assert one["rejected"] == (p[:, k] < 0.05).sum()


def board(means, direction=1):
    """Lines of AOPC; means: {(model, measure, figure): mean}."""
    return [
        {"model": m, "data": "d", "measure": k, "figure": f, "direction": direction, "mean": mean}
        for (m, k, f), mean in means.items()
    ]


@pytest.mark.parametrize(("direction", "ranks"), [(1, [1, 2.5, 2.5, None]), (-1, [3, 1.5, 1.5, None])])
def test_ranks_share_places_and_pass_over_what_is_undefined(direction, ranks):
    means = dict(zip("abcd", (0.9, 0.5, 0.5, None)))
    lines = rank_lines(board({("m", name, "f"): mean for name, mean in means.items()}, direction))
    assert [one["rank"] for one in lines] == ranks


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7))
def test_kendalls_tau_counts_pairs(pairs):
    first, second = (np.array(one, dtype=float) for one in zip(*pairs))
    signs = [
        (np.sign(first[i] - first[j]), np.sign(second[i] - second[j]))
        for i, j in itertools.combinations(range(len(pairs)), 2)
    ]
    apart = [sum(bool(sign[side]) for sign in signs) for side in (0, 1)]
    tau, n = kendall(first, second)
    assert n == len(pairs)
    if 0 in apart:
        assert np.isnan(tau)
    else:
        assert tau == pytest.approx(sum(one * other for one, other in signs) / np.sqrt(apart[0] * apart[1]))


def test_rankings_are_compared_within_and_across_models():
    figures = ("comprehensiveness", "NAOPC comprehensiveness", "sufficiency", "NAOPC sufficiency")
    order = {"A": (3, 2, 1), "B": (1, 2, 3)}
    means = {(m, k, f): float(order[m][i]) for m in order for i, k in enumerate("xyz") for f in figures}
    # Under A normalising swaps the first two measures.
    means["A", "x", figures[1]], means["A", "y", figures[1]] = 2.0, 3.0
    found = {
        (one["ranked"], one["by"], one["first"], one["second"]): one["tau"] for one in correlation_lines(board(means))
    }
    assert found["measures", "A", *figures[:2]] == pytest.approx(1 / 3) and found["measures", "B", *figures[:2]] == 1
    assert found["measures", figures[0], "A", "B"] == -1
    assert found["models", figures[0], "x", "z"] == -1 and found["models", "x", *figures[2:]] == 1
    assert found["models", figures[0], "x", "y"] is None  # y ranks neither model above the other


def test_of_one_model_no_models_are_ranked():
    lines = board({("A", k, f): 1.0 * i for i, k in enumerate("xy") for f in ("comprehensiveness", "sufficiency",
                   "NAOPC comprehensiveness", "NAOPC sufficiency")})  # fmt: skip
    assert {one["ranked"] for one in correlation_lines(lines)} == {"measures"}


def test_what_is_undefined_is_a_dash_in_its_place():
    table = sweep_tables()["ranks"]
    lines = rank_lines(board({("m", "a", "f"): 1.0, ("m", "b", "f"): None}))
    header, rows = lay_out(table, lines)
    assert header == ["model", "data", "measure", "f rank ↓"] and [row[-1] for row in rows] == ["1", "—"]


def test_every_table_names_what_it_shows_and_where_it_is_printed():
    for name, table in sweep_tables().items():
        assert table.name == name and table.source and table.down and table.values
        assert {*table.over} <= {*sweep_tables()}
