"""Faithfulness metrics on a lookup table, every number worked out by hand; and what every registered metric
promises.
"""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.erasure import (
    LENGTHS,
    MIN_MAX,
    REVERSED,
    SIGMOID,
    SOFTMAX,
    normalised_score,
    rationale_masks,
    rationale_sizes,
    retained,
)
from core.mathematics.flips import flip_share, never_flips
from core.metrics.catalogue import default_metrics, hard_and_soft, metrics, of_examples
from core.metrics.registry import HIGHER, LOWER, NO_ROOM, Case, Metric, register
from tests.table import Table

PROPERTY = settings(deadline=None, max_examples=60, derandomize=True)
EVERY = pytest.mark.parametrize("name", list(metrics()))

# p of the predicted class with each set of four words erased. By hand: p(X) = .9, p(nothing left) = .5, so 1 − S₀ = .4.
PROBABILITY = {
    (): 0.9,
    (0,): 0.6,
    (1,): 0.85,
    (2,): 0.9,
    (3,): 0.95,
    (0, 1): 0.45,
    (0, 2): 0.6,
    (0, 3): 0.6,
    (1, 2): 0.8,
    (1, 3): 0.8,
    (2, 3): 0.8,
    (0, 1, 2): 0.55,
    (0, 1, 3): 0.5,
    (0, 2, 3): 0.5,
    (1, 2, 3): 0.7,
    (0, 1, 2, 3): 0.5,
}
SCORES = np.array([4.0, 3.0, 2.0, 1.0])


def case_of(values=PROBABILITY, scores=SCORES, masked=(), **more) -> Case:
    table = Table(values)

    def erased(masks):
        v = table.value(masks | at)
        return np.column_stack([1 - v, v])

    at = np.zeros(table.F, dtype=bool)
    at[list(masked)] = True
    case = Case(np.array(scores, dtype=float), erased, 1, at, **more)
    case.table = table
    return case


def linear(retain, kind):
    """A model in which what is kept of each word counts by itself: p = .5 + Σ q·(.2, .1, .06, .04)."""
    return np.array([0.5 + retain @ np.array([0.2, 0.1, 0.06, 0.04])] * 4)


def value(name, case):
    return metrics()[name](case).value


def test_normalised_sufficiency_by_hand():
    # Rationales of one word four times and of two once: 1 − .2/.4 and 1 − .1/.4.
    score = metrics()["NS"](case_of())
    np.testing.assert_allclose(score.by_length, [0.5, 0.5, 0.5, 0.5, 0.75])
    assert score.value == pytest.approx(0.55) and score.note == "" and np.isnan(score.error)


def test_normalised_comprehensiveness_by_hand():
    # .3/.4, and .45/.4 which is clipped to 1.
    score = metrics()["NC"](case_of())
    np.testing.assert_allclose(score.by_length, [0.75, 0.75, 0.75, 0.75, 1])
    assert score.value == pytest.approx(0.8)


def test_orders_by_hand():
    case = case_of()
    # .9, .6, .45, .55, .5 with the most important erased first; .9, .95, .8, .7, .5 with the least important first.
    assert value("AOPC comprehensiveness", case) == pytest.approx((0.3 + 0.45 + 0.35 + 0.4) / 4)
    assert value("AOPC sufficiency", case) == pytest.approx((-0.05 + 0.1 + 0.2 + 0.4) / 4)
    # Restoring: .5 → .55 → .45 → .6 → .9, one fall in four steps.
    assert value("monotonicity", case) == 0.75
    # Below .5 with two of four erased.
    assert (
        value("decision flip", case) == 0.5
        and value("fidelity", case) == 0.5
        and value("non-perturbed frequency", case) == 0
    )


def test_correlation_and_sparsity_by_hand():
    # (1.5, .5, −.5, −1.5) · (.225, −.025, −.075, −.125) = .55; Σ² = 5 and .0725.
    assert value("CORR", case_of()) == pytest.approx(0.55 / np.sqrt(5 * 0.0725))
    score = metrics()["sparsity"](case_of(scores=[4, -3, 2, 1]))
    np.testing.assert_allclose(score.by_length, [0.4, 0.4, 0.4, 0.4, 0.7])
    assert score.value == pytest.approx(0.4)


def test_soft_metrics_by_hand():
    # Scaled: 1, 2/3, 1/3, 0. Kept: .2 + .2/3 + .06/3 = .28667 of .4, so that Soft-NS = .71667; erasing the same share,
    # Soft-NC = .71667.
    case = case_of(
        {s: 0.5 + sum(w for i, w in enumerate((0.2, 0.1, 0.06, 0.04)) if i not in s) for s in PROBABILITY},
        perturbed=linear,
    )
    for name in ("Soft-NS", "Soft-NC"):
        score = metrics()[name](case)
        assert score.value == pytest.approx((0.2 + 0.2 / 3 + 0.06 / 3) / 0.4) and score.error == 0


def test_soft_metrics_are_clipped_for_each_draw_and_then_averaged():
    def two_draws(retain, kind):
        # Nothing kept: .5. Else one draw gains and one loses .6 of .4: 1 and 0 after clipping, not the mean of both.
        return np.array([0.5, 0.5]) if not retain.any() else np.array([1.0, 0.3])

    score = metrics()["Soft-NS"](case_of(perturbed=two_draws))
    assert score.value == 0.5 and score.error == pytest.approx(np.std([1, 0], ddof=1) / np.sqrt(2))
    assert metrics()["Soft-NC"](case_of(perturbed=two_draws)).value == 0.5


def test_soft_comprehensiveness_erases_what_sufficiency_keeps_and_leaves_masked_words_alone():
    asked = {}

    def note(retain, kind):
        asked[kind] = [*asked.get(kind, []), retain.copy()]
        return np.array([0.5])

    case = case_of(masked=[1], perturbed=note)
    metrics()["Soft-NS"](case)
    metrics()["Soft-NC"](case)
    nothing, kept, again, erased = asked["Bernoulli"]
    np.testing.assert_array_equal(nothing, [0, 1, 0, 0])
    np.testing.assert_array_equal(again, nothing)
    np.testing.assert_allclose(kept, [1, 1, 1 / 3, 0])
    np.testing.assert_allclose(erased, [0, 1, 2 / 3, 1])


@pytest.mark.parametrize("scaling, kept, rest", [(MIN_MAX, [1, 1, 1 / 3, 0], 0), (REVERSED, [0, 1, 2 / 3, 1], 1)])
def test_what_is_no_feature_counts_as_the_least_important_where_it_is_perturbed(scaling, kept, rest):
    """Under Eq. 4 it is erased for Soft-NS and stays for Soft-NC, under the reverse the other way; S₀ keeps nothing."""
    asked = []

    def note(retain, kind):
        asked.append(retain)
        return np.array([0.5])

    case = case_of(masked=[1], perturbed=note, everything=True, scaling=scaling)
    metrics()["Soft-NS"](case)
    metrics()["Soft-NC"](case)
    metrics()["Soft-NS (attention mask)"](case)
    nothing, sufficient, _, comprehensive, _, attended = asked
    np.testing.assert_array_equal(nothing, [0, 1, 0, 0, 0])
    np.testing.assert_allclose(sufficient, [*kept, rest])
    np.testing.assert_allclose(comprehensive, [*np.where([0, 1, 0, 0], 1, 1 - np.array(kept)), 1 - rest])
    np.testing.assert_allclose(attended, [*kept, 1])


def test_rationales_round_up_and_hold_one_word_at_least():
    assert rationale_sizes(4).tolist() == [1, 1, 1, 1, 2]
    assert rationale_sizes(70).tolist() == [1, 4, 7, 14, 35]
    assert rationale_sizes(101).tolist() == [2, 6, 11, 21, 51]
    assert rationale_sizes(1).tolist() == [1] * 5
    for F in range(1, 400):
        by_hand = [max(1, -(-F * percent // 100)) for percent in (1, 5, 10, 20, 50)]
        assert rationale_sizes(F).tolist() == by_hand
    with pytest.raises(ValueError):
        rationale_sizes(0)


def test_a_rationale_never_holds_what_the_text_masks():
    kept, gone = rationale_masks(
        np.array([1.0, 9.0, 2.0, 3.0]), np.array([False, True, False, False]), np.array([1, 2])
    )
    np.testing.assert_array_equal(gone, [[False, False, False, True], [False, False, True, True]])
    np.testing.assert_array_equal(kept, [[True, False, True, False], [True, False, False, False]])


def test_what_is_masked_already_counts_for_no_metric():
    """The table without its second word is a table of three words: the same numbers."""
    small = {tuple(i - (i > 1) for i in s if i != 1): p for s, p in PROBABILITY.items() if 1 in s}
    three = case_of(small, SCORES[[0, 2, 3]])
    four = case_of(scores=SCORES, masked=[1])
    for name, metric in metrics().items():
        if not metric.soft:
            assert metric(four).value == pytest.approx(metric(three).value, nan_ok=True), name


def test_undefined_where_erasing_everything_costs_nothing():
    flat = case_of({s: 0.9 if s else 0.9 + 5e-5 for s in PROBABILITY}, perturbed=lambda retain, kind: np.full(3, 0.9))
    for name in ("NS", "NC", "Soft-NS", "Soft-NC"):
        score = metrics()[name](flat)
        assert np.isnan(score.value) and score.note == NO_ROOM, name
    # Not where it costs just enough.
    assert metrics()["NS"](case_of({s: 0.9 if s else 0.9 + 2e-4 for s in PROBABILITY})).value == pytest.approx(
        0.0, abs=1e-9
    )
    # And where erasing everything raises the class: nothing is lost, and S₀ is 1.
    assert np.isnan(value("NC", case_of({s: 0.9 if s else 0.6 for s in PROBABILITY})))


def test_a_single_feature():
    case = case_of({(): 0.9, (0,): 0.4}, [2.0], perturbed=lambda retain, kind: np.full(2, 0.4 + 0.5 * retain[0]))
    assert (value("NS", case), value("NC", case), value("monotonicity", case), value("decision flip", case)) == (
        1,
        1,
        1,
        1,
    )
    assert (
        value("AOPC comprehensiveness", case) == pytest.approx(0.5)
        and np.isnan(value("CORR", case))
        and value("sparsity", case) == 1
    )
    assert value("Soft-NS", case) == pytest.approx(0.5) and "half" in metrics()["Soft-NS"](case).note


def test_constant_scores_go_by_position_and_are_kept_by_half():
    case = case_of(scores=[7, 7, 7, 7], perturbed=linear)
    assert value("AOPC comprehensiveness", case) == value("AOPC comprehensiveness", case_of())
    np.testing.assert_array_equal(retained(case.scores, case.masked), [0.5] * 4)
    assert "half" in metrics()["Soft-NC"](case).note and np.isnan(value("CORR", case))


def test_scalings():
    scores, masked = np.array([-1.0, 0.0, 3.0, 9.0]), np.array([False, False, False, True])
    np.testing.assert_allclose(retained(scores, masked, MIN_MAX), [0, 0.25, 1, 1])
    np.testing.assert_allclose(retained(scores, masked, REVERSED), [1, 0.75, 0, 1])
    np.testing.assert_allclose(retained(scores, masked, SIGMOID), [1 / (1 + np.e), 0.5, 1 / (1 + np.exp(-3)), 1])
    expected = np.exp(scores[:3]) / np.exp(scores[:3]).sum()
    np.testing.assert_allclose(retained(scores, masked, SOFTMAX), [*expected, 1])
    assert np.isfinite(retained(np.array([1e300, -1e300, 0, 0]), masked, SOFTMAX)).all()
    with pytest.raises(ValueError, match="one of"):
        retained(scores, masked, "softplus")


def test_flips_by_hand():
    assert flip_share([1, 1, 0, 1, 0]) == 0.5 and not never_flips([1, 1, 0, 1])
    assert flip_share([2, 2, 2]) == 1 and never_flips([2, 2, 2])
    assert flip_share([0, 1]) == 1 and not never_flips([0, 1])
    # Fidelity of an input that never flips is 0.
    never = case_of(dict.fromkeys(PROBABILITY, 0.9))
    assert value("fidelity", never) == 0 and value("non-perturbed frequency", never) == 1
    with pytest.raises(ValueError):
        flip_share([1])


def test_places_have_no_magnitude():
    ranks = case_of(perturbed=linear, magnitudes=False)
    for name, metric in metrics().items():
        score = metric(ranks)
        if metric.magnitudes:
            assert np.isnan(score.value) and "no magnitudes" in score.note, name
        else:
            assert np.isfinite(score.value), name


def test_metrics_cite_the_equations_of_softfaith():
    """Its Eq. 3 is the perturbation, 4 and 5 the two soft scores, 7 and 8 the noise of App. C; mixed noise is in none."""
    numbers = {"NS": "1", "NC": "2", "Soft-NS": "34", "Soft-NC": "35", "Soft-NS (noise)": "78", "Soft-NC (noise)": "78"}
    for name, eqs in numbers.items():
        assert "SoftFaith" in metrics()[name].source and "".join(re.findall(r"\d", metrics()[name].source)) == eqs, name
    for name in ("Soft-NS (mixed noise)", "Soft-NC (mixed noise)"):
        assert "SoftFaith" not in metrics()[name].source
    assert metrics()["Soft-NS (attention mask)"].source == "SoftFaith App. C"


@EVERY
def test_every_metric_says_why_it_has_no_number(name):
    metric = metrics()[name]
    for case in (case_of(masked=[0, 1, 2, 3], perturbed=linear), case_of(scores=[1, np.nan, 2, 3], perturbed=linear)):
        score = metric(case)
        assert np.isnan(score.value) and score.note
    if metric.soft:
        score = metric(case_of())
        assert np.isnan(score.value) and "cannot be perturbed" in score.note


@EVERY
@PROPERTY
@given(st.data())
def test_every_metric_stays_in_its_range_and_leaves_its_inputs_alone(name, data):
    metric = metrics()[name]
    F = data.draw(st.integers(1, 5))
    values = np.array(data.draw(st.lists(st.floats(0, 1), min_size=2**F, max_size=2**F)))
    scores = np.array(data.draw(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0]), min_size=F, max_size=F)))
    masked = np.array(data.draw(st.lists(st.booleans(), min_size=F, max_size=F)))

    def erased(masks):
        v = Table(values).value(masks)
        return np.column_stack([1 - v, v])

    given_scores, given_masked = scores.copy(), masked.copy()
    scores.flags.writeable = masked.flags.writeable = False
    draws = np.random.default_rng(0).random(6)
    score = metric(Case(scores, erased, 1, masked, lambda retain, kind: draws * retain.mean()))
    np.testing.assert_array_equal(scores, given_scores)
    np.testing.assert_array_equal(masked, given_masked)
    assert np.isnan(score.value) or metric.low - 1e-12 <= score.value <= metric.high + 1e-12
    if metric.lengths and score.by_length is not None:
        assert score.by_length.shape == (len(LENGTHS),)
    if np.isnan(score.value):
        assert score.note, "an undefined number says why"


@EVERY
def test_metrics_that_read_the_order_alone_do_not_see_magnitudes(name):
    metric = metrics()[name]
    if metric.magnitudes:
        return
    for scores in (SCORES, np.array([1.0, 4.0, 2.0, 3.0])):
        assert metric(case_of(scores=scores)).value == metric(case_of(scores=np.exp(scores) * 10)).value


@EVERY
def test_no_more_inputs_are_asked_than_is_said(name):
    metric, draws = metrics()[name], 0

    def perturbed(retain, kind):
        nonlocal draws
        same = kind == "attention mask" or (kind == "Bernoulli" and set(retain) <= {0, 1})
        draws += 1 if same else 8
        return np.full(8, 0.5 + 0.4 * retain.mean())

    def single(retains, drawn, kind):
        nonlocal draws
        draws += len(drawn)
        return np.array([0.5 + 0.4 * retain.mean() for retain in retains])

    case = case_of(scores=[0.1, 0.9, 0.4, 0.2], perturbed=perturbed, single=single)
    metric(case)
    rows = case.table.asked.total()
    assert rows + draws <= metric.passes(4, 8)


def test_the_direction_is_the_one_in_which_a_perfect_order_wins():
    """On an additive model the words' own weights are the best attribution, and their negative the worst."""
    weights = np.array([0.2, 0.12, 0.08, 0.05])
    values = {s: 0.78 - sum(weights[i] for i in s) for s in PROBABILITY}

    def perturbed(retain, kind):
        return np.full(3, 0.78 - (1 - retain) @ weights)

    best, worst = (case_of(values, scores, perturbed=perturbed) for scores in (weights, -weights))
    for name, metric in of_examples().items():
        if metric.direction in (HIGHER, LOWER) and name != "monotonicity":
            assert metric.direction * (metric(best).value - metric(worst).value) > 0, name


def test_rounding_is_no_fall_and_no_correlation():
    case = case_of({s: 0.9 + 1e-8 * (-1) ** len(s) for s in PROBABILITY})
    assert np.isnan(value("CORR", case)) and value("monotonicity", case) == 1
    # Ten times what rounding makes is a fall.
    assert value("monotonicity", case_of({s: 0.9 + 1e-5 * (-1) ** len(s) for s in PROBABILITY})) == 0.5


def test_shuffles_are_random_orders_to_what_reads_the_order_and_not_to_corr():
    """A measure of one large score, at the only word that speaks against the class: to CORR no shuffle is worse, while
    evenly spread scores lie on both sides of it; to AOPC both are random orders.
    """
    rng, F, draws = np.random.default_rng(0), 8, 300
    costs = np.full(F, 0.01)
    costs[:2] = 0.5, -0.05
    table = Table(0.9 - np.array([[code >> i & 1 for i in range(F)] for code in range(2**F)]) @ costs)
    own = rng.permutation(np.linspace(0, 0.01, F))
    own[1] = 1

    def found(name, scores):
        def erased(masks):
            return np.column_stack([1 - table.value(masks), table.value(masks)])

        return metrics()[name](Case(scores, erased, 1, np.zeros(F, dtype=bool))).value

    share = {}
    for name in ("CORR", "AOPC comprehensiveness"):
        measure = found(name, own)
        for baseline, drawn in (("shuffled", lambda: rng.permutation(own)), ("random", lambda: rng.random(F))):
            ahead = np.array([measure - found(name, drawn()) for _ in range(draws)])
            share[name, baseline] = (ahead > 1e-6).mean() + (np.abs(ahead) <= 1e-6).mean() / 2
    # Three standard errors of the difference of two shares of 300.
    chance = 3 * np.sqrt(2 * 0.25 / draws)
    assert abs(share["AOPC comprehensiveness", "shuffled"] - share["AOPC comprehensiveness", "random"]) < chance
    assert abs(share["CORR", "shuffled"] - share["CORR", "random"]) > chance, share


def test_monotonicity_restores_ties_by_position():
    """Of two words that score the same the first is restored first: what is erased at each step is 0123, 123, 23, 3 and
    nothing.
    """
    case = case_of(scores=[1, 1, 1, 1])
    # .5 → .7 → .8 → .95 → .9.
    assert value("monotonicity", case) == 0.75


@pytest.mark.parametrize("scores", [[1, np.inf, 2, 3], [-np.inf, 0, 1, 2]])
def test_infinite_scores_are_refused_in_words(scores):
    for metric in metrics().values():
        score = metric(case_of(scores=scores, perturbed=linear))
        assert np.isnan(score.value) and "infinity" in score.note


def test_scores_at_the_edge_of_numbers():
    for scores in ([1.5e308, -1.5e308, 0, 1e300], [5e-324, 0, 0, 0], [1e-310, 2e-310, 0, -1e-310]):
        q = retained(np.array(scores), np.zeros(4, dtype=bool))
        assert np.isfinite(q).all() and q.min() >= 0 and q.max() <= 1
        for name, metric in metrics().items():
            score = metric(case_of(scores=scores, perturbed=linear))
            assert np.isfinite(score.value) or score.note, name


def test_where_the_network_cannot_be_perturbed_the_reason_is_that():
    score = metrics()["Soft-NC (attention mask)"](
        case_of(perturbed=lambda retain, kind: np.full(3, np.nan if kind == "attention mask" else 0.5))
    )
    assert np.isnan(score.value) and "attention" in score.note


@pytest.mark.parametrize("name", [name for name, metric in metrics().items() if metric.soft])
def test_nothing_is_the_zero_embedding_whatever_the_perturbation(name):
    asked = []

    def perturbed(retain, kind):
        asked.append((kind, retain.any()))
        return np.full(2, 0.7 if retain.any() else 0.5)

    assert np.isfinite(metrics()[name](case_of(perturbed=perturbed)).value)
    assert asked[0] == ("Bernoulli", False) and len(asked) > 1 and all(kept for _, kept in asked[1:])


def test_formulas_on_arrays():
    given = np.array([0.9, 0.95, 0.7, 0.5, 0.4])
    np.testing.assert_allclose(normalised_score(0.9, given, 0.5, True), [1, 1, 0.5, 0, 0])
    np.testing.assert_allclose(normalised_score(0.9, given, 0.5, False), [0, 0, 0.5, 1, 1])


def test_a_name_is_registered_once():
    taken = metrics()["NS"]
    with pytest.raises(ValueError, match="already"):
        register(taken)
    with pytest.raises(ValueError, match="range"):
        unused = {"definition": "", "cost": "", "source": "", "compute": lambda case: None}
        register(Metric(name="new", direction=HIGHER, low=1, high=0, passes=lambda F, draws: 0, **unused))
    assert "new" not in metrics()


def test_the_documented_metrics_stand_in_their_order():
    """In the order of menus; others may stand between them."""
    documented = ["NS", "NC", "Soft-NS", "Soft-NC", "AOPC comprehensiveness", "AOPC sufficiency", "monotonicity"]
    documented += ["CORR", "decision flip", "sparsity"]
    documented += [f"Soft-{kind} ({by})" for kind in ("NC", "NS") for by in ("attention mask", "mixed noise", "noise")]
    documented += ["fidelity", "non-perturbed frequency"]
    assert [name for name in metrics() if name in documented] == documented
    assert default_metrics()[:4] == ("NS", "NC", "Soft-NS", "Soft-NC")
    assert hard_and_soft()[:2] == (("NS", "Soft-NS"), ("NC", "Soft-NC"))
    assert all(metrics()[soft].soft and not metrics()[hard].soft for hard, soft in hard_and_soft())
    whole = [metric.whole for metric in metrics().values()]
    assert whole == sorted(whole) and not {name for name in of_examples() if metrics()[name].whole}
