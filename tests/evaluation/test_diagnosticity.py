"""Diagnosticity: worked out on paper, its conservation laws, scores that are computed once, and reports in words."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.data.examples import Example
from core.evaluation.engine import Run, read_study, run_study, study_cost
from core.evaluation.questions import Answers
from core.evaluation.sampling import draw_examples, without_labels
from core.evaluation.store_log import StoreLog
from core.evaluation.studies import diagnosticity_tables
from core.evaluation.studies.diagnosticity_paper import diagnosticity_findings
from core.evaluation.studies.diagnosticity_report import ALL, HARD, SPARSE, build_diagnosticity_report, by_example
from core.evaluation.studies.diagnosticity_sentences import (
    HEADER,
    diagnosticity_answer,
    diagnosticity_json,
    diagnosticity_rows,
    interval_text,
    readable_diagnosticity,
)
from core.evaluation.studies.diagnosticity_tables import baselines_note, preferences_in_words
from core.evaluation.studies.score_leads import ahead_by, beside_random, named_together
from core.evaluation.studies.scoring import BY_LENGTH, ERROR, SHUFFLED, VALUE, Scored, Scoring
from core.explanation.explainer import Cost, Explainer
from core.figures.catalogue import question_figure
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length, draw_preferences
from core.judging.judging import How, Judge, judging_cost
from core.mathematics.diagnosticity import HALF, STRICT, TIE, compare, compare_metrics, diagnosticity
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import Interval, mean_interval
from core.mathematics.stepwise import finish
from core.metrics.catalogue import hard_and_fixed, metrics
from core.metrics.registry import HIGHER, LOWER, NEITHER, NO_ROOM, Case
from core.network.scheduler import Cancelled, NonFinite
from core.oracle.erasing import REMOVAL
from core.oracle.soft import Soft
from core.storage.store import Store
from core.validity.marks import SIGN
from core.verdicts.telling import suits_sentence
from core.wording import WHOLE, Tally, fixed_number, share_text
from tests import tiny

NAN = float("nan")
TEXTS = tuple(Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[:5]))
SMALL = Scoring(("leave-one-out", "gradient"), ("NS", "NC", "Soft-NS", "Soft-NC"), "signed", How(draws=2), 3)


def sample_of(examples):
    return without_labels("toy", "0" * 64, examples)


def score_examples(explainer, examples, *more, **options):
    return run_study(explainer, sample_of(examples), *more, **options)


def known_scores(explainer, examples, *more):
    return read_study(explainer, sample_of(examples), *more)


def scoring_cost(explainer, examples, *more):
    return study_cost(explainer, sample_of(examples), *more)


# ---- the arithmetic


def test_by_hand_each_pair_is_ahead_tied_behind_or_undefined():
    measured = np.array([[0.5, 0.2], [0.9, NAN], [NAN, NAN]])
    random = np.array([[0.5, 0.1, 0.6, NAN], [0.9, 0.9, 0.9, 0.1], [0.1, 0.2, 0.3, 0.4]])
    found = compare(measured, random, HIGHER)
    # 0.5: tied, ahead, behind; 0.2: behind, ahead, behind; one NaN each.
    assert found.preferred.tolist() == [2, 1, 0] and found.tied.tolist() == [1, 3, 0]
    assert found.defined.tolist() == [6, 4, 0] and found.left_out.tolist() == [2, 4, 8]
    np.testing.assert_allclose(found.strict, [2 / 6, 1 / 4, NAN])
    np.testing.assert_allclose(found.half, [2.5 / 6, 2.5 / 4, NAN])
    np.testing.assert_allclose(found.ties, [1 / 6, 3 / 4, NAN])
    whole = diagnosticity(found)
    assert (whole.n, whole.undefined, whole.pairs) == (2, 14, 24)
    assert whole.strict.mean == pytest.approx((2 / 6 + 1 / 4) / 2) and whole.ties == pytest.approx((1 / 6 + 3 / 4) / 2)


def test_a_metric_whose_lower_values_are_better_prefers_the_lower():
    measured, random = np.array([0.2, 0.9]), np.array([[0.5, 0.1], [0.95, 0.99]])
    np.testing.assert_allclose(compare(measured, random, LOWER).strict, [0.5, 1])
    np.testing.assert_allclose(compare(-measured, -random, HIGHER).strict, [0.5, 1])
    with pytest.raises(ValueError, match="prefers nothing"):
        compare(measured, random, NEITHER)


def test_values_that_differ_by_rounding_alone_are_a_tie():
    found = compare(np.array([0.5, 0.5]), np.array([[0.5 - TIE / 3], [0.5 - 3 * TIE]]), HIGHER)
    assert found.tied.tolist() == [1, 0] and found.preferred.tolist() == [0, 1]


@pytest.mark.parametrize("shapes", [((3,), (2, 4)), ((3, 2), (3,)), ((3, 2, 1), (3, 4))])
def test_arrays_of_other_shapes_are_refused(shapes):
    with pytest.raises(ValueError, match="shapes"):
        compare(*(np.zeros(shape) for shape in shapes), HIGHER)


def test_a_perfect_metric_has_one_and_a_constant_one_none_or_half():
    rng = np.random.default_rng(0)
    perfect = diagnosticity(compare(1 + rng.random((7, 2)), rng.random((7, 30)), HIGHER))
    assert perfect.strict.mean == perfect.half.mean == 1 and perfect.ties == 0
    constant = diagnosticity(compare(np.full((7, 2), 0.3), np.full((7, 30), 0.3), HIGHER))
    assert (constant.strict.mean, constant.half.mean, constant.ties) == (0, 0.5, 1)


@pytest.mark.parametrize("seed", range(20))
def test_conservation_laws(seed):
    rng = np.random.default_rng(seed)
    # Few different values, so that there are ties, and some undefined.
    measured, random = (rng.integers(0, 4, shape) / 4.0 for shape in ((6, 3), (6, 5)))
    measured[rng.random(measured.shape) < 0.1] = NAN
    found = compare(measured, random, HIGHER)
    told = found.defined > 0
    assert (found.half[told] >= found.strict[told]).all() and np.allclose(
        found.half[told] - found.strict[told], found.ties[told] / 2
    )
    permuted = compare(measured[:, rng.permutation(3)], random[:, rng.permutation(5)], HIGHER)
    np.testing.assert_array_equal(permuted.strict, found.strict)
    order = rng.permutation(6)
    np.testing.assert_array_equal(compare(measured[order], random[order], HIGHER).half, found.half[order])
    # Either the measure is preferred, or the random one, or they tie.
    back = compare(measured, random, LOWER)
    np.testing.assert_array_equal(found.preferred + back.preferred + found.tied, found.defined)
    np.testing.assert_allclose((found.half + back.half)[told], 1)


def test_the_interval_is_over_examples():
    rng = np.random.default_rng(3)
    pairs = compare(rng.random((12, 2)), rng.random((12, 9)), HIGHER)
    assert (
        diagnosticity(pairs).strict == mean_interval(pairs.strict)
        and diagnosticity(pairs).strict.low < diagnosticity(pairs).strict.high
    )
    one = diagnosticity(compare(np.array([0.5]), np.array([[0.1, 0.9]]), HIGHER))
    assert one.strict.mean == 0.5 and not one.strict.known and interval_text(one.strict) == "0.500"


def test_hard_and_soft_are_tested_on_the_examples_that_have_both():
    rng = np.random.default_rng(1)
    first, second = rng.random(30), rng.random(30) + 0.2
    second[3], first[4] = first[3], NAN
    found, kept = compare_metrics(first, second), ~np.isnan(first)
    assert found.n == 29 and found.difference == pytest.approx(second[kept].mean() - first[kept].mean())
    assert found.rank_sum == stats.ranksums(first[kept], second[kept]).pvalue
    assert (
        found.paired
        == stats.wilcoxon(second[kept] - first[kept], zero_method="pratt", method="asymptotic").pvalue
        < 0.05
    )


@pytest.mark.parametrize(
    "first, second, said, tests",
    [
        ([0.1], [0.2], "1 example cannot be tested", (False, False)),
        ([], [], "0 examples cannot be tested", (False, False)),
        ([NAN, 0.1], [0.2, NAN], "0 examples", (False, False)),
        ([0.5] * 4, [0.5] * 4, "same value under both", (False, False)),
        ([0.1, 0.2, 0.9], [0.1, 0.2, 0.9], "No example differs", (True, False)),
    ],
)
def test_what_cannot_be_tested_says_why(first, second, said, tests, recwarn):
    found = compare_metrics(np.array(first, dtype=float), np.array(second, dtype=float))
    assert said in found.reason and (not np.isnan(found.rank_sum), not np.isnan(found.paired)) == tests
    assert not recwarn.list


# ---- scores of many examples


@pytest.fixture(scope="module")
def model(tiny_model):
    return tiny_model("bert")


@pytest.fixture
def explainer(model):
    return Explainer(model)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def passes(model):
    """`passes(work)`: what work returns, and what it costs in forward passes."""

    def count(work):
        before = model.scheduler.counters.passes
        found = work()
        return found, model.scheduler.counters.passes - before

    return count


@pytest.fixture(scope="module")
def found(model):
    return finish(score_examples(Explainer(model), TEXTS, SMALL))


def same(one: Scored, other: Scored, places=slice(None)) -> bool:
    return np.allclose(one.values[:, places], other.values[:, places], atol=1e-5, equal_nan=True) and np.array_equal(
        one.predicted, other.predicted
    )


def test_scores_are_those_of_a_judge_of_one_example(explainer, found):
    assert (
        found.complete
        and found.values.shape == (5, 5, 4, 2 + len(LENGTHS))
        and found.there.all()
        and not found.problems
    )
    for i, example in enumerate(TEXTS):
        judge = Judge(explainer, explainer.encode(example.text, None, "word"), SMALL.how)
        attributions = [judge.attribution(name)[0] for name in SMALL.measures] + [judge.random(r) for r in range(3)]
        assert found.predicted[i] == judge.target
        for a, scores in enumerate(attributions):
            for s, (_name, score) in enumerate(judge.rate(scores, SMALL.metrics).found.items()):
                np.testing.assert_allclose(found.values[i, a, s, VALUE], score.value, atol=1e-5)
                if score.by_length is not None:
                    np.testing.assert_allclose(found.values[i, a, s, BY_LENGTH], score.by_length, atol=1e-5)
                    assert np.isnan(found.values[i, a, s, ERROR]) and np.isclose(
                        found.values[i, a, s, BY_LENGTH].mean(), score.value, equal_nan=True, atol=1e-5
                    )


def test_means_are_over_the_texts_that_are_scored_wholly_and_say_where_they_are_of_fewer(model):
    """Texts 0 and 1 are whole, and NC of the gradient is undefined on text 1; of text 2 leave-one-out alone is there,
    with values that would put it first.
    """
    study = Scoring(("leave-one-out", "gradient"), ("NS", "NC"), count=2)
    values = np.full((4, 4, 2, 2 + len(LENGTHS)), NAN)
    # (leave-one-out, gradient, two random ones), each by (NS, NC).
    values[0, :, :, VALUE] = [[0.1, 0.2], [0.3, 0.6], [0.0, 0.1], [0.2, 0.1]]
    values[1, :, :, VALUE] = [[0.3, 0.4], [0.5, NAN], [0.4, NAN], [0.2, 0.3]]
    values[2, 0, :, VALUE] = 9.0
    there = np.array([True, True, False, False])
    known = there[:, None] | (np.arange(4) == 0) & (np.arange(4) == 2)[:, None]
    found = Scored(
        study, values, np.zeros(values.shape[:3], np.int32), ("",), known, there, np.zeros(4, int), np.ones(4), {}
    )
    report = study.conclude(Answers(model, None, sample_of(TEXTS[:4]), {study: found}, 4))
    means = {about: round(one.mean, 9) for about, one in report.means.items()}
    assert means == {
        ("NS", "leave-one-out"): 0.2,
        ("NS", "gradient"): 0.4,
        ("NS", "random"): 0.2,
        ("NC", "leave-one-out"): 0.3,
        ("NC", "gradient"): 0.6,
        ("NC", "random"): 0.2,
    }
    assert report.n == 2 and [report.counts["NC", one] for one in (*study.measures, "random")] == [2, 1, 2]
    assert (
        study.sentences(replace(report, tally=WHOLE))[0] == "Over 2 texts no measure is put first: answers begin at 20."
    )
    early = study.sentences(report)[0]
    assert early.startswith("2 of 4 examples so far; answers begin at 20") and "best" not in early
    ((_, rows),) = study.tables(report)
    assert [["n = " in cell for cell in row[1:]] for row in rows] == [[False, False], [False, True], [False, False]]


def test_which_means_are_not_ahead_of_random_attributions_is_told_by_their_intervals():
    """Higher is better by NS, lower by AOPC sufficiency; touching ends meet."""
    names, chance = (
        ("leave-one-out", "gradient"),
        {"NS": Interval(0.5, 0.4, 0.6), "AOPC sufficiency": Interval(0.5, 0.4, 0.6)},
    )

    def told(**of):
        means = {(s, m): one for s in chance for m, one in zip((*names, "random"), (*of[s.split()[0]], chance[s]))}
        return beside_random(means, names, "random")

    far, near, behind = Interval(0.8, 0.7, 0.9), Interval(0.65, 0.6, 0.7), Interval(0.2, 0.1, 0.3)
    low = Interval(0.3, 0.2, 0.35)
    begins = "Not ahead of random attributions, or so little that the 95 % intervals meet"
    assert told(NS=(far, near), AOPC=(low, low)) == f"{begins}: gradient by NS."
    assert (
        told(NS=(near, behind), AOPC=(far, low))
        == f"{begins}: leave-one-out and gradient by NS; leave-one-out by AOPC sufficiency."
    )
    assert told(NS=(far, near), AOPC=(low, far)) == f"{begins}: gradient by NS and AOPC sufficiency."
    every = "Every mean is ahead of that of random attributions, and their 95 % intervals do not meet."
    assert told(NS=(far, far), AOPC=(low, low)) == every
    few = Interval(0.8, NAN, NAN)
    assert told(NS=(few, few), AOPC=(few, few)) == ""


def test_whoever_meets_the_first_interval_is_named_with_it_and_nobody_else():
    """By the standard of random attributions: intervals that meet, and not how far means are apart."""
    names = ("leave-one-out", "gradient", "attention")
    first, meets, touches, apart = (
        Interval(*one) for one in ((0.8, 0.7, 0.9), (0.69, 0.6, 0.75), (0.65, 0.5, 0.7), (0.6, 0.5, 0.69))
    )

    def told(*means, name="NS"):
        return ahead_by({name: dict(zip(names, means))})

    both = "by NS the highest are leave-one-out and gradient"
    assert told(first, meets, apart) == both and named_together("NS", dict(zip(names, (first, meets, apart)))) == [
        *names[:2]
    ]
    assert told(first, touches, apart) == both
    assert told(first, apart, apart) == "by NS the highest is leave-one-out"
    # Means less than 0.01 apart whose intervals do not meet are not named together.
    near = Interval(0.799, 0.798, 0.7995), Interval(0.8, 0.7998, 0.801), apart
    assert told(*near) == "by NS the highest is gradient"
    # Two that meet the first and not each other.
    over = Interval(0.8, 0.7, 0.75)
    assert told(over, Interval(0.7, 0.6, 0.71), Interval(0.79, 0.74, 0.78)) == (
        "by NS the highest are leave-one-out, gradient and attention"
    )
    low = told(Interval(0.3, 0.2, 0.35), meets, first, name="AOPC sufficiency")
    assert low == "by AOPC sufficiency the lowest is leave-one-out"
    none = Interval(0.9, NAN, NAN)
    few = "by NS the highest is leave-one-out (gradient left out, of fewer than 20 texts)"
    assert told(first, none, apart) == few
    assert told(none, none, none) == "by NS none is put first, since fewer than 20 texts have a value"
    # Metrics that say the same are named together, the others by themselves.
    same, other = dict(zip(names, (first, meets, apart))), dict(zip(names, (apart, apart, first)))
    assert ahead_by({"NS": same, "NC": other, "Soft-NS": same}) == (
        "by NS and Soft-NS the highest are leave-one-out and gradient; by NC the highest is attention"
    )


def test_the_answer_on_scores_begins_with_hard_metrics_says_what_favours_whom_and_spells_them_out():
    """Of 24 texts leave-one-out is first by hard metrics, and both by soft ones."""
    found = made_up(soft=0.9, hard=0.5)
    found.values[:, 0, :2, VALUE] += 0.3
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(24)])

    def said(tally=WHOLE, **change):
        study = replace(found.study, **change)
        report = study.conclude(Answers(None, None, sample, {study: replace(found, study=study)}))
        return study.sentences(replace(report, tally=tally))

    answer, soft, spelled, untested, together = said()
    suits = suits_sentence(SMALL.measures, "as hard metrics erase them")
    means = "(means over 24 texts; with the highest stand those whose 95 % interval overlaps its; whether they differ is not tested here)."
    lead = f"By NS and NC the highest is leave-one-out {means}"
    assert answer.startswith(f"{lead} {suits} ")
    assert soft == "By Soft-NS and Soft-NC the highest are leave-one-out and gradient."
    assert "normalised sufficiency (" in spelled and "comprehensiveness (" in spelled
    assert "the model knows the inputs that these scores rest on, is not tested on this page;" in untested
    assert together.startswith("Intervals (95 %, over the texts) are of each mean by itself.")
    # What rests on rejected inputs stands last, with its sign.
    report = found.study.conclude(Answers(None, None, sample, {found.study: found}))
    marked = found.study.sentences(replace(report, rejected=frozenset(["NS", "Soft-NS"])))
    assert marked[0].startswith(f"By NC and NS ⚠ the highest is leave-one-out {means}")
    assert marked[1] == "By Soft-NC and Soft-NS ⚠ the highest are leave-one-out and gradient."
    # Words that are taken out are not masked, and who is not named is not favoured.
    assert suits not in said(how=replace(SMALL.how, erasure=REMOVAL))[0]
    found.values[:, 1, :2, VALUE] += 0.6
    assert suits not in said()[0] and said()[0].startswith("By NS and NC the highest is gradient (")
    early = said(Tally(24, 48, coming=True, fewest=20))
    assert not any("highest" in one for one in early), "no order before the last text"


def test_where_no_hard_metric_has_a_value_scores_begin_with_soft_ones_over_their_texts():
    found = made_up(soft=0.9, hard=0.5)
    found.values[:, :, :2] = NAN
    found.values[:3, :, 2:] = NAN
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(24)])
    report = found.study.conclude(Answers(None, None, sample, {found.study: found}))
    said = found.study.sentences(report)[0]
    assert said.startswith("By Soft-NS and Soft-NC the highest are") and "(means over 21 of 24 texts;" in said


def test_metrics_known_to_rest_on_rejected_inputs_have_the_sign_in_table_and_picture():
    found = made_up(soft=0.9, hard=0.5)
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(24)])
    study = found.study
    report = study.conclude(Answers(None, None, sample, {study: found}))

    def titles(report):
        header = study.tables(report)[0][0][1:]
        drawn = [one["text"] for one in question_figure(study.name, [report])["layout"]["annotations"]]
        return header, [one for one in drawn if one.startswith("<b>")]

    assert not any(SIGN in one for both in titles(report) for one in both)
    header, drawn = titles(replace(report, rejected=frozenset(["Soft-NS"])))
    assert header == ["NS ↑", "NC ↑", f"Soft-NS ↑ {SIGN}", "Soft-NC ↑"]
    assert [one.endswith(SIGN) for one in drawn] == [False, False, True, False] and "Soft-NS" in drawn[2]


def test_the_answer_on_scores_says_who_is_not_ahead_of_random_attributions_and_of_shuffles_nothing():
    found = made_up(soft=0.9, hard=0.1)
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(24)])
    for study, there in ((found.study, True), (replace(found.study, baseline=SHUFFLED, count=5), False)):
        scored = replace(found, study=study)
        report = study.conclude(Answers(None, None, sample, {study: scored}))
        assert ("Not ahead of random attributions" in study.sentences(report)[0]) == there
        if there:
            assert "leave-one-out and gradient by NS and NC." in study.sentences(report)[0]


def test_a_shuffled_baseline_is_each_measures_own_scores_in_other_places(explainer, model, monkeypatch):
    study = replace(SMALL, baseline=SHUFFLED, count=2)
    computed, really = [], Judge.attribution
    monkeypatch.setattr(
        Judge, "attribution", lambda judge, name, sign="signed": computed.append(name) or really(judge, name, sign)
    )
    found = finish(score_examples(explainer, TEXTS[:2], study))
    assert found.complete and found.values.shape[1] == 2 + 2 * 2 and computed == ["leave-one-out", "gradient"] * 2, (
        "once, whatever the number of shuffles"
    )
    assert [one.name for one in study.attributions[2:]] == [
        f"{name}, shuffle {r}" for name in SMALL.measures for r in range(2)
    ]
    for i, example in enumerate(TEXTS[:2]):
        judge = Judge(explainer, explainer.encode(example.text, None, "word"), SMALL.how)
        for m, name in enumerate(SMALL.measures):
            scores, _ = judge.attribution(name)
            for r, place in enumerate(range(*study.against(m).indices(6))):
                expected = judge.rate(judge.shuffled(scores, r), ("NS", "Soft-NC")).found
                np.testing.assert_allclose(
                    found.values[i, place, [0, 3], VALUE], [expected["NS"].value, expected["Soft-NC"].value], atol=1e-5
                )


def test_shuffles_stay_what_they_are_in_the_store(explainer):
    """Pinned: what is stored under their name is of just this permutation."""
    judge = Judge(explainer, explainer.encode("One two three four five six.", None, "word"), SMALL.how)
    assert [judge.shuffled(np.arange(judge.encoded.F), r).astype(int).tolist() for r in range(2)] == [
        [5, 1, 0, 3, 4, 6, 2],
        [2, 3, 6, 0, 4, 1, 5],
    ]


def test_without_a_measure_there_is_no_pair(found):
    none = replace(found, study=replace(found.study, measures=()), values=found.values[:, 2:])
    assert by_example(none)["NS", None, ALL].defined.tolist() == [0] * 5


def test_each_measure_stands_against_its_own_shuffles_only():
    """Two measures at 0.3 and 0.8, whose shuffles have 0.2 and 0.9: one is always ahead, one never; against each
    other's it would be the reverse.
    """
    found = made_up(n=3)
    study = replace(found.study, baseline=SHUFFLED, count=5)
    values = np.full((3, 12, 4, 2 + len(LENGTHS)), NAN)
    for place, value in ((0, 0.3), (1, 0.8), (slice(2, 7), 0.2), (slice(7, 12), 0.9)):
        values[:, place] = value
    told = by_example(replace(found, study=study, values=values))
    for name in SMALL.metrics:
        assert [told[name, None, measure].strict.tolist() for measure in (ALL, "leave-one-out", "gradient")] == [
            [0.5] * 3,
            [1.0] * 3,
            [0.0] * 3,
        ]
    made = build_diagnosticity_report(replace(found, study=study, values=values), "m", "d", tiny.LABELS)
    assert (
        made.cells["NS", "gradient"].strict.mean == 0
        and made.cells["NS", ALL].strict.mean == 0.5
        and diagnosticity_findings(made) == []
    )


@pytest.mark.parametrize(
    "levels, said",
    [
        ({}, "Over 24 texts, soft metrics prefer measures to shuffles of their own scores more often than hard ones"),
        (
            {"soft": 0.1, "hard": 0.9},
            "hard metrics prefer measures to shuffles of their own scores more often than soft ones",
        ),
        (
            {"soft": 0.45, "hard": 0.45},
            "do not differ for certain in how often they prefer measures to shuffles of their own scores. ",
        ),
    ],
)
def test_the_sentence_names_the_baseline_and_leaves_the_paper_out(levels, said):
    found = made_up(**levels)
    told = diagnosticity_answer(
        build_diagnosticity_report(
            replace(found, study=replace(found.study, baseline=SHUFFLED, count=5)), "m", "d", tiny.LABELS
        )
    )
    assert said in told and "paper" not in told and "random" not in told


def test_both_baselines_share_the_measures_in_the_store(explainer, store, passes):
    """What one wrote of the measures is read by the other; the baselines are kept apart."""
    shuffled = replace(SMALL, baseline=SHUFFLED, count=1)
    first = finish(score_examples(explainer, TEXTS[:2], SMALL, store))
    known = known_scores(explainer, TEXTS[:2], shuffled, store)
    assert (
        known.known[:, :2].all()
        and not known.known[:, 2:].any()
        and np.array_equal(known.values[:, :2], first.values[:, :2], equal_nan=True)
    )
    cost = scoring_cost(explainer, TEXTS[:2], shuffled, known)
    found, really = passes(lambda: finish(score_examples(explainer, TEXTS[:2], shuffled, store)))
    assert really <= cost.passes < scoring_cost(explainer, TEXTS[:2], shuffled).passes
    # The measures' own scores are not kept, so that shuffles cost them anew, once for each text.
    own = [
        explainer.cost(explainer.encode(example.text, None, "word"), name).passes
        for example in TEXTS[:2]
        for name in SMALL.measures
    ]
    bare = replace(known, known=np.ones_like(known.known))
    bare.known[:, 2:] = False
    judged = [
        judging_cost(explainer, explainer.encode(one.text, None, "word"), SMALL.metrics, SMALL.how, attributions=2)
        for one in TEXTS[:2]
    ]
    assert (
        cost.passes == scoring_cost(explainer, TEXTS[:2], shuffled, bare).passes == sum(own) + Cost.sum(judged).passes
    )
    assert np.array_equal(found.values[:, :2], first.values[:, :2], equal_nan=True)
    assert np.array_equal(known_scores(explainer, TEXTS[:2], SMALL, store).values, first.values, equal_nan=True)
    assert scoring_cost(explainer, TEXTS[:2], shuffled, found).passes == 0


def test_the_hard_inputs_of_all_attributions_are_asked_at_once(explainer, model, monkeypatch):
    asked, really = [], model.scheduler.run
    monkeypatch.setattr(model.scheduler, "run", lambda batch, **more: asked.append(len(batch)) or really(batch, **more))
    finish(
        score_examples(
            explainer, TEXTS[:1], replace(SMALL, measures=(), metrics=("NS", "NC", "AOPC comprehensiveness"), count=6)
        )
    )
    # The text as it stands, and then everything else.
    assert len(asked) == 2 and asked[0] == 1 and asked[1] > 20


@pytest.mark.parametrize("max_rows", [1, 5, 64])
@pytest.mark.parametrize("draws", [1, 3])
def test_many_soft_perturbations_at_once_are_those_of_one_at_a_time(model, max_rows, draws, monkeypatch, passes):
    monkeypatch.setattr(model.scheduler, "max_rows", max_rows)
    encoded = model.encode(f"[MASK] {tiny.SENTENCES[0]}", tiny.SENTENCES[1])
    rng = np.random.default_rng(0)
    retains = [rng.random(encoded.F), np.zeros(encoded.F), np.ones(encoded.F), rng.random(encoded.F)]
    many, one = (Soft(model, encoded, draws, 3) for _ in range(2))
    _, cost = passes(lambda: many.ask([*retains, retains[0]]))
    # Without chance in it, one draw is all of them.
    assert cost == 2 * draws + 2 and passes(lambda: many.ask(retains))[1] == 0
    expected, alone = passes(lambda: [one.probabilities(retain) for retain in retains])
    found, more = passes(lambda: [many.probabilities(retain) for retain in retains])
    assert (alone, more) == (cost, 0)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_many_soft_perturbations_are_stopped_between_batches_and_refuse_nan(model, monkeypatch):
    encoded = model.encode(tiny.SENTENCES[0])
    retain = np.full(encoded.F, 0.5)
    with pytest.raises(Cancelled):
        Soft(model, encoded, 2, cancelled=lambda: True).ask([retain])
    really = type(model).read
    monkeypatch.setattr(type(model), "read", lambda *more: (really(*more)[0] * NAN, None))
    with pytest.raises(NonFinite, match="softly perturbed"):
        Soft(model, encoded, 2).ask([retain])


def test_a_second_run_reads_everything_and_a_new_measure_computes_only_itself(explainer, store, passes, found):
    first, cost = passes(lambda: finish(score_examples(explainer, TEXTS, SMALL, store)))
    assert same(first, found) and cost > 0
    again, cost = passes(lambda: finish(score_examples(explainer, TEXTS, SMALL, store)))
    assert (
        cost == 0
        and np.array_equal(again.values, first.values, equal_nan=True)
        and same(known_scores(explainer, TEXTS, SMALL, store), first)
    )
    more = replace(SMALL, measures=("attention", "leave-one-out", "gradient"))
    _, alone = passes(
        lambda: finish(score_examples(explainer, TEXTS, replace(SMALL, measures=("attention",), count=0)))
    )
    added, cost = passes(lambda: finish(score_examples(explainer, TEXTS, more, store)))
    assert np.array_equal(added.values[:, 1:], first.values, equal_nan=True)
    # What is the same for every attribution (the text as it stands, S₀) is asked again at most.
    assert 0 < cost <= alone
    # Fewer measures, metrics or random ones, another order of texts, a part of them: all there.
    fewer = replace(SMALL, measures=("gradient",), metrics=("Soft-NC", "NS"), count=2)
    part, cost = passes(lambda: finish(score_examples(explainer, TEXTS[3:0:-1], fewer, store)))
    assert cost == 0 and np.array_equal(part.values, first.values[3:0:-1][:, [1, 2, 3]][:, :, [3, 0]], equal_nan=True)


@pytest.mark.parametrize(
    "change, which",
    [
        ({"draws": 3}, [2, 3]),
        ({"scaling": "softmax"}, [2, 3]),
        ({"erasure": "removal"}, [0, 1]),
        ({"seed": 1}, [0, 1, 2, 3]),
    ],
)
def test_other_choices_compute_only_the_metrics_that_rest_on_them(change, which, explainer, store, found):
    finish(score_examples(explainer, TEXTS[:2], SMALL, store))
    study = replace(SMALL, how=replace(SMALL.how, **change))
    run = Run(explainer, sample_of(TEXTS[:2]), study, StoreLog(store, study.key(explainer)))
    known = run.known[:, 1:].reshape(2, -1, 4)
    assert [s for s in range(4) if not known[:, :, s].any()] == which and known[
        :, :, [s for s in range(4) if s not in which]
    ].all()


def test_work_that_is_stopped_keeps_what_it_had(explainer, store, passes):
    whole, all_of_it = passes(lambda: finish(score_examples(explainer, TEXTS, SMALL)))
    work = score_examples(explainer, TEXTS, SMALL, store)
    seen = [next(work), next(work)]
    assert [one.done for one in seen] == [1, 2] and seen[0].there.tolist() == [True] + [False] * 4
    work.close()
    assert known_scores(explainer, TEXTS, SMALL, store).done == 2
    asked = []
    with pytest.raises(Cancelled):
        finish(score_examples(explainer, TEXTS, SMALL, store, cancelled=lambda: asked.append(0) or len(asked) > 3))
    rest, cost = passes(lambda: finish(score_examples(explainer, TEXTS, SMALL, store)))
    assert same(rest, whole) and cost < all_of_it


def test_what_is_held_of_a_text_is_let_go_before_the_next(explainer, monkeypatch):
    gone, really = [], Explainer.forget
    monkeypatch.setattr(Explainer, "forget", lambda of, encoded: gone.append(encoded.text) or really(of, encoded))
    for done, _ in enumerate(
        score_examples(explainer, TEXTS[:3], replace(SMALL, measures=("gradient",), metrics=("NS",), count=1)), start=1
    ):
        assert gone == [example.text for example in TEXTS[:done]]


def test_texts_that_cannot_be_scored_are_counted_and_the_rest_goes_on(explainer, monkeypatch):
    texts = (Example("blank", "   "), TEXTS[0], Example("masked", "[MASK] [MASK]"), TEXTS[1])
    found = finish(score_examples(explainer, texts, SMALL))
    assert list(found.problems) == [0] and found.there.tolist() == [False, True, True, True]
    assert (
        np.isnan(found.values[2]).all()
        and found.sentences[found.notes[2, 0, 0]] == "Every feature is masked in the text already."
    )
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert made.n == 3 and made.undefined["NS"] >= 1 and any("Left out (1 example)" in note for note in made.notes)

    def broken(judge, scores, names, magnitudes=True):
        if judge.encoded.text == TEXTS[0].text:
            raise NonFinite("not a number")
        return really(judge, scores, names, magnitudes)

    really = Judge.rate
    monkeypatch.setattr(Judge, "rate", broken)
    assert finish(score_examples(explainer, TEXTS[:2], SMALL)).problems == {0: "not a number"}
    nothing = finish(score_examples(explainer, texts[:1], SMALL))
    assert nothing.complete and build_diagnosticity_report(nothing, "m", "d", tiny.LABELS) is None


def test_the_cost_counts_off_what_is_known(explainer, store, passes):
    whole = scoring_cost(explainer, TEXTS, SMALL)
    found, cost = passes(lambda: finish(score_examples(explainer, TEXTS, SMALL, store)))
    assert cost <= whole.passes and scoring_cost(explainer, TEXTS, SMALL, found).passes == 0
    more = replace(SMALL, measures=(*SMALL.measures, "attention"))
    some = scoring_cost(explainer, TEXTS, more, known_scores(explainer, TEXTS, more, store))
    assert 0 < some.passes < whole.passes / 2


@pytest.mark.parametrize(
    "change, said",
    [
        ({"measures": ("nope",)}, "no measure 'nope'"),
        ({"metrics": ("nope",)}, "no metric 'nope'"),
        ({"metrics": ()}, "at least one metric"),
        ({"count": -1}, "fewer than 0"),
        ({"measures": (), "count": 0}, "at least one metric"),
        ({"unit": "page"}, "no unit"),
        ({"baseline": "x"}, "no baseline"),
        ({"measures": ("gradient", "gradient")}, "twice"),
        ({"how": How(erasure="x")}, "no erasure"),
        ({"how": How(draws=0)}, "at least one draw"),
        ({"how": How(scaling="x")}, "no scaling"),
        ({"how": How(placement="x")}, "no placement"),
        ({"how": How(sigma=0)}, "above 0"),
        ({"how": How(sigma=float("nan"))}, "above 0"),
        ({"sign": "x"}, "no kind of values"),
    ],
)
def test_choices_that_cannot_be_carried_out_are_a_sentence(change, said, explainer):
    with pytest.raises(ValueError, match=said):
        next(score_examples(explainer, TEXTS, replace(SMALL, **change)))


def test_a_sample_of_texts_without_labels_grows_in_the_order_of_drawing():
    drawn = [draw_examples(TEXTS, count) for count in (1, 3, 5, 50)]
    assert [len(one) for one in drawn] == [1, 3, 5, 5] and all(
        large[: len(small)] == small for small, large in itertools.pairwise(drawn)
    )
    assert set(drawn[2]) == set(TEXTS)
    with pytest.raises(ValueError, match="at least 1"):
        draw_examples(TEXTS, 0)


# ---- reports


def made_up(n=24, soft=0.9, hard=0.1, ties=False, undefined=0) -> Scored:
    """Scores in which soft metrics nearly always prefer the two measures, and hard ones seldom; by length the same."""
    rng = np.random.default_rng(0)
    study = replace(SMALL, count=10)
    values = np.full((n, 12, 4, 2 + len(LENGTHS)), NAN)
    for s, level in enumerate((hard, hard, soft, soft)):
        values[:, 2:, s, VALUE] = rng.random((n, 10))
        values[:, :2, s, VALUE] = level + 0.1 * rng.random((n, 2))
        if ties and s < 2:
            values[:, :, s, VALUE] = 1.0
        if s < 2:
            values[:, :, s, BY_LENGTH] = values[:, :, s, :1]
    values[:undefined, :, 2:] = NAN
    there = np.ones(n, dtype=bool)
    return Scored(
        study,
        values,
        np.zeros((n, 12, 4), dtype=np.int32),
        ("",),
        np.ones((n, 12), dtype=bool),
        there,
        np.zeros(n, dtype=np.int64),
        np.full(n, 0.9),
        {},
    )


def test_the_report_is_what_the_arithmetic_says():
    found = made_up()
    made = build_diagnosticity_report(found, "model", "data", tiny.LABELS)
    for s, name in enumerate(SMALL.metrics):
        for measure, columns in ((ALL, slice(0, 2)), ("leave-one-out", slice(0, 1)), ("gradient", slice(1, 2))):
            assert made.cells[name, measure] == diagnosticity(
                compare(found.values[:, columns, s, VALUE], found.values[:, 2:, s, VALUE], HIGHER)
            )
    assert set(made.lengths) == {"NS", "NC"} and all(cell == made.cells["NS", ALL] for cell in made.lengths["NS"])
    assert len(by_example(found)) == 4 * 3 + 2 * 5 * 3
    assert [(one.hard, one.soft, one.rule) for one in made.tests] == [
        (hard, f"Soft-{hard}", rule) for rule in (STRICT, HALF) for hard in ("NS", "NC")
    ]
    never = (
        f"None of the 24 texts is predicted to be {tiny.LABELS[1]} or {tiny.LABELS[2]}, so nothing is known here about "
        "explanations of that class."
    )
    assert made.complete and made.notes == (never,)


def test_soft_metrics_at_a_fixed_share_are_tested_against_the_hard_ones_of_the_same_formula():
    names = ("NS", "NC", "Soft-NS (fixed share)", "Soft-NC (fixed share)")
    found = made_up(soft=0.45, hard=0.9)
    found = replace(found, study=replace(found.study, metrics=names))
    made = build_diagnosticity_report(found, "model", "data", tiny.LABELS)
    assert not made.tests and {(one.hard, one.soft) for one in made.fixed} == {("NS", names[2]), ("NC", names[3])}
    for one in made.fixed:
        first, second = (made.cells[name, ALL].strict.mean for name in (one.hard, one.soft))
        assert one.ahead == HARD and (one.rule != STRICT or one.found.difference == pytest.approx(second - first))
    answer = diagnosticity_answer(made)
    assert "Where soft metrics keep a fixed share" in answer and f"{names[2]} 0." in answer
    assert [row[0] for row in diagnosticity_tables.tests_table(made)[1]] == [
        f"{soft} against {hard}" for hard, soft in hard_and_fixed()
    ] * 2
    # What SoftFaith found is of its own metrics.
    assert not [one for one in diagnosticity_findings(made) if "fixed" in one.claim]


def test_what_the_next_text_may_refute_is_not_told_while_it_is_to_come():
    """After one text of many: a class that is not predicted yet, a metric that is undefined so far, a measure without a
    score.
    """
    found = made_up(n=1, undefined=1)
    found.values[:, 0, 0] = NAN
    made = build_diagnosticity_report(found, "model", "data", tiny.LABELS)
    for part in ("Not even the one text", "undefined on every text", "cannot score leave-one-out"):
        assert part in " ".join(made.notes), made.notes
    coming = replace(made, tally=Tally(1, 50, coming=True, fewest=20))
    for part in ("None of", "Not even", "every text", "cannot score"):
        assert part not in " ".join(coming.notes), coming.notes
    assert "undefined on 1 of 1 texts" in " ".join(coming.notes)


@pytest.mark.parametrize(
    "told, begins",
    [
        (made_up(), "Over 24 texts, soft metrics prefer"),
        (made_up(soft=0.1, hard=0.9), "Over 24 texts, hard metrics prefer"),
        (made_up(soft=0.45, hard=0.45), "Over 24 texts, soft and hard metrics do not differ"),
        (made_up(n=1), "Whether soft metrics beat hard ones cannot be tested"),
    ],
)
def test_the_sentence_says_plainly_which_is_ahead(told, begins):
    said = diagnosticity_answer(build_diagnosticity_report(told, "m", "d", tiny.LABELS))
    plain, rest = said.split(" (tossing a coin: 50 %). ") if "coin" in said else ("", said)
    assert f" {begins}" in f" {rest}" and "Soft-NS" in rest and "against NS" in rest
    if plain:
        cells = build_diagnosticity_report(told, "m", "d", tiny.LABELS).cells
        half = sorted((cells[name, "all"].half.mean, name) for name in told.study.metrics)
        ends = [f"{100 * share:.1f} % ({name})" for share, name in (half[0], half[-1])]
        assert f"attributions are preferred in {ends[0]} to {ends[1]} of the pairs" in plain
        sure = [name for name in told.study.metrics if cells[name, "all"].half.low > 0.5]
        named = plain.removeprefix("Over all measures together ").partition(" tell")[0]
        every = [(name, one) for name in told.study.metrics for one in told.study.measures]
        alone = [at for at in every if min(cells[at].half.low, cells[at].strict.low) > 0.5]
        many = f"Measure by measure {len(alone)} of 8 intervals (95 %, each by itself, not corrected"
        assert many in rest and rest.index(begins) < rest.index(many)
        assert named != plain and named == {4: "every one of these metrics", 0: "none of these metrics"}.get(
            len(sure), " and ".join(sure)
        )


def test_whom_metrics_prefer_by_themselves_is_counted_and_named_by_both_rules_for_ties():
    """Gradient by Soft-NS: no better than the middle of the random ones; by Soft-NC: tied with half of them, ahead of
    the others. Leave-one-out is ahead everywhere.
    """
    found = made_up(soft=2.0, hard=2.0)
    found.values[:, 1, 2, VALUE] = np.median(found.values[:, 2:, 2, VALUE], axis=1)
    found.values[:, 2:7, 3, VALUE] = found.values[:, 1:2, 3, VALUE]
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert made.cells["Soft-NC", "gradient"].half.mean == 0.75 and made.cells["Soft-NC", "gradient"].strict.mean == 0.5
    said = diagnosticity_answer(made)
    # What is not told stands in view behind the verdict, how sure each is with what is folded.
    verdict, untold, rest = said.partition("coin: 50 %). ")[2].split(". ", 2)
    assert verdict.startswith("Over 24 texts, hard metrics prefer measures to random attributions more often than soft")
    assert untold == "Taken measure by measure, Soft-NS does not tell gradient from random attributions"
    assert (
        "Measure by measure 6 of 8 intervals (95 %, each by itself, not corrected for how many there are) lie above one "
        "half, whichever way ties count; not that of gradient by Soft-NS; that of gradient by Soft-NC only with a tie as "
        "one half. "
    ) in rest
    level = diagnosticity_answer(build_diagnosticity_report(made_up(soft=0.1, hard=0.9), "m", "d", tiny.LABELS))
    assert "Taken measure by measure" not in level, "where a metric tells nothing of all together, no measure is named"
    # The table says so in words, line by line.
    header, rows = diagnosticity_tables.diagnosticity_table(made)
    sides = {(row[0], row[1]): row[header.index("intervals")] for row in rows}
    assert sides["gradient", "Soft-NS"] == "holds 0.5" and sides["leave-one-out", "NS"] == "above 0.5"
    assert sides["gradient", "Soft-NC"] == "above 0.5; a tie as 0: holds 0.5"
    found.values[:, 1, 2, VALUE] = -1.0
    rows = diagnosticity_tables.diagnosticity_table(build_diagnosticity_report(found, "m", "d", tiny.LABELS))[1]
    assert {row[4] for row in rows if row[:2] == ["gradient", "Soft-NS"]} == {"below 0.5"}
    few = diagnosticity_tables.diagnosticity_table(build_diagnosticity_report(made_up(n=5), "m", "d", tiny.LABELS))[1]
    assert {row[4] for row in few} == {"—"}


def test_soft_and_hard_are_said_to_be_compared_on_the_texts_that_have_both():
    """Soft-NS has a value on 21 of 24 texts, and then Soft-NC, too."""
    found = made_up()
    found.values[:3, :, 2] = NAN
    said = diagnosticity_answer(build_diagnosticity_report(found, "m", "d", tiny.LABELS))
    assert "Over the 21 to 24 of 24 texts on which both kinds have a value, soft metrics prefer" in said
    found.values[:3, :, 3] = NAN
    said = diagnosticity_answer(build_diagnosticity_report(found, "m", "d", tiny.LABELS))
    assert "Over the 21 of 24 texts on which both kinds have a value, soft metrics prefer" in said


def test_the_number_over_all_lengths_compares_averages_over_them_and_is_no_average_of_what_stands_at_each():
    """The measure is behind by a little at four lengths and ahead by much at one: by the average it is always ahead."""
    found = made_up()
    found.values[:, :2, 0, BY_LENGTH], found.values[:, 2:, 0, BY_LENGTH] = [0.1, 0.1, 0.1, 0.1, 1.0], [0.2] * 5
    found.values[:, :, 0, VALUE] = found.values[:, :, 0, BY_LENGTH].mean(axis=-1)
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert [cell.strict.mean for cell in made.lengths["NS"]] == [0, 0, 0, 0, 1] and made.cells[
        "NS", ALL
    ].strict.mean == 1
    assert "averaged first, and these averages are compared" in diagnosticity_tables.LENGTHS_NOTE
    case = Case(
        np.array([3.0, 2.0, 1.0]), lambda masks: np.c_[0.9 - 0.2 * masks.sum(axis=1)], 0, np.zeros(3, dtype=bool)
    )
    one = metrics()["NS"].compute(case)
    assert one.value == pytest.approx(one.by_length.mean())


def test_neither_kind_leads_while_texts_are_to_come():
    made = build_diagnosticity_report(made_up(), "m", "d", tiny.LABELS)
    coming = replace(made, tally=Tally(24, 55, coming=True, fewest=20))
    said = diagnosticity_answer(coming)
    assert said.startswith("24 of 55 examples so far") and "prefer" not in said and "p\u00a0" not in said
    assert f"Soft-NS {made.cells['Soft-NS', ALL].half.mean:.3f}" in said
    assert any(one.agrees is not None for one in diagnosticity_findings(made))
    assert {one.agrees for one in diagnosticity_findings(coming)} == {None}


def test_a_lead_that_rests_on_ties_is_said():
    made = build_diagnosticity_report(made_up(soft=0.35, ties=True), "m", "d", tiny.LABELS)
    said = diagnosticity_answer(made)
    assert (
        "Over 24 texts, hard metrics" in said
        and "With a tie as 0, as SoftFaith counts, it is otherwise" in said
        and "the soft metric is ahead" in said
    )
    assert f"{fixed_number(made.cells['NS', ALL].half.mean)}" in said, "the headline counts as the picture does"
    assert made.cells["NS", ALL].ties == 1 and made.cells["NS", ALL].half.mean == 0.5


def test_few_texts_are_ahead_of_nothing():
    """Five differences of one sign have an exact p of 0.06, which the approximation calls 0.04."""
    for told in (made_up(n=5), made_up(n=5, soft=0.1, hard=0.9)):
        assert diagnosticity_answer(build_diagnosticity_report(told, "m", "d", tiny.LABELS)).startswith(
            "Not enough to say: 5 texts, and verdicts begin at 20. "
        )


def test_pairs_of_which_nothing_is_told_take_no_part_in_what_is_said_of_the_others():
    """Soft-NS has a value on 18 of 24 texts; Soft-NC is ahead of NC on all."""
    found = made_up(soft=0.9, hard=0.6)
    found.values[:6, :, 2, :] = NAN
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert {one.soft: one.ahead for one in made.tests if one.rule == "half"} == {"Soft-NS": SPARSE, "Soft-NC": "soft"}
    said = diagnosticity_answer(made)
    assert "Over 24 texts, soft metrics prefer" in said and "(told of Soft-NC and NC alone)" in said
    assert "throughout" not in said and "Soft-NS does not for certain" not in said
    # Equal on 18 texts is no more told than ahead.
    equal = made_up(soft=0.6, hard=0.6)
    equal.values[:, :, 2:, :] = equal.values[:, :, :2, :]
    equal.values[:6, :, 2:, :] = NAN
    level = build_diagnosticity_report(equal, "m", "d", tiny.LABELS)
    assert {one.ahead for one in level.tests} == {SPARSE} and "do not differ" not in diagnosticity_answer(level)
    assert all("p =" not in one.here and "p <" not in one.here for one in diagnosticity_findings(level)[:2])


def test_metrics_with_a_value_on_few_texts_are_told_of_nothing_and_have_no_p():
    """Of 24 texts soft metrics have a value on 18, where they are far ahead: a p would be small."""
    found = made_up(soft=0.9, hard=0.6)
    found.values[:6, :, 2:, :] = NAN
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert {one.found.n for one in made.tests} == {18} and {one.ahead for one in made.tests} == {SPARSE}
    said = diagnosticity_answer(made)
    assert "Which of soft and hard metrics prefer measures more often is not told: both have a value on" in said
    assert "do not differ" not in said and "p\u00a0" not in said and said.count("(18 texts, too few to test)") == 2
    assert "NS and NC, of which alone enough texts have a value, tell the measures from random attributions" in said
    # What is left out there is no end of the range either.
    assert "% (NS) to " in said and "(Soft-" not in said.partition("of the pairs")[0] and "Soft-NS do" not in said


@pytest.mark.parametrize("n, there", [(19, False), (20, True)])
def test_intervals_and_tests_begin_where_verdicts_do(n, there):
    """Also of the scores themselves."""
    found = made_up(n=n)
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    every = [*made.cells.values(), *(one for cells in made.lengths.values() for one in cells)]
    assert {one.by(rule).known for one in every for rule in (STRICT, HALF)} <= {there, False}
    assert any(one.half.known for one in every) == there
    assert all((row[4:6] == ["—", "—"]) != there for row in diagnosticity_tables.tests_table(made)[1])
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(n)])
    report = found.study.conclude(Answers(None, None, sample, {found.study: found}))
    assert any(one.known for one in report.means.values()) == there
    assert ("are of each mean by itself. Named together are" in " ".join(found.study.sentences(report))) == there


def test_a_measure_that_one_metric_cannot_score_decides_no_test():
    """Places have no soft score: beam's hard scores, which nothing stands against, made hard metrics win."""
    found = made_up(soft=0.4, hard=0.4)
    found.values[:, 0, :2, VALUE], found.values[:, 0, 2:, VALUE] = 2.0, NAN
    found.values[:, :, 2:, VALUE][:, 1:] = found.values[:, 1:, :2, VALUE]
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert all(one.found.difference == 0 for one in made.tests) and "do not differ" in diagnosticity_answer(made)
    assert (
        any("Soft-NS cannot score leave-one-out" in note for note in made.notes)
        and made.cells["NS", "leave-one-out"].strict.mean == 1
    )


def test_what_is_undefined_says_its_own_reason():
    found = made_up(undefined=3)
    found.notes[:3, :, 2:] = 1
    made = build_diagnosticity_report(
        replace(found, sentences=("", "This measure gives places only.")), "m", "d", tiny.LABELS
    )
    assert any(
        "undefined on 3 of 24 texts" in note and note.endswith("This measure gives places only.") for note in made.notes
    )
    assert not any("costs the predicted class nothing" in note for note in made.notes)
    # Hard ones erase words, soft ones set embeddings to zero, so that the two may have no value on other texts.
    found.notes[:3, :, 2:], found.notes[:1, :, :2] = 1, 1
    found.values[:1, :, :2] = NAN
    notes = build_diagnosticity_report(replace(found, sentences=("", NO_ROOM)), "m", "d", tiny.LABELS).notes
    hard = "NS and NC are undefined on 1 of 24 texts, which their numbers leave out. Erasing everything (mask token) costs the predicted class nothing, so there is nothing to normalise by."
    soft = "Soft-NS and Soft-NC are undefined on 3 of 24 texts, which their numbers leave out. Setting every embedding to zero costs the predicted class nothing, so there is nothing to normalise by."
    assert {hard, soft} <= {*notes}


def test_one_metric_below_chance_is_not_called_the_best():
    found = made_up(hard=-1.0)
    alone = build_diagnosticity_report(
        replace(
            found,
            study=replace(found.study, metrics=("NS",)),
            values=found.values[:, :, :1],
            notes=found.notes[:, :, :1],
        ),
        "m",
        "d",
        tiny.LABELS,
    )
    assert diagnosticity_answer(alone).startswith(
        "NS prefers the measures to random attributions in no more than half of the pairs: diagnosticity 0.000 ["
    )


def test_of_few_texts_one_metric_is_not_called_ahead_and_a_pair_without_values_has_no_arrow():
    few = made_up(n=5)
    alone = replace(
        few, study=replace(few.study, metrics=("NS",)), values=few.values[:, :, :1], notes=few.notes[:, :, :1]
    )
    said = diagnosticity_answer(build_diagnosticity_report(alone, "m", "d", tiny.LABELS))
    assert said.startswith("Not enough to say: 5 texts, and verdicts begin at 20. NS: diagnosticity") and (
        "prefers the measures" not in said
    )
    apart = made_up()
    # On no text both are defined.
    apart.values[:12, :, 2] = NAN
    apart.values[12:, :, 0] = NAN
    told = diagnosticity_answer(build_diagnosticity_report(apart, "m", "d", tiny.LABELS))
    assert "Soft-NS beside NS — (" in told and "—\u00a0↑" not in told and "Soft-NC 0.990\u00a0↑ against NC" in told


def test_undefined_and_few_texts_are_said():
    some, every, few = (
        build_diagnosticity_report(made_up(n, undefined=undefined), "m", "d", tiny.LABELS)
        for n, undefined in ((24, 3), (24, 24), (3, 0))
    )
    assert (
        any("Soft-NS and Soft-NC are undefined on 3 of 24 texts" in note for note in some.notes)
        and some.cells["Soft-NS", ALL].undefined == 60
    )
    assert any("undefined on every text" in note for note in every.notes) and every.told == ("NS", "NC")
    assert any("fewer than 20 texts there is no verdict" in note for note in few.notes) and all(
        one.agrees is None and "3 texts" in one.said and "20" in one.said for one in diagnosticity_findings(few)
    )
    nothing = build_diagnosticity_report(replace(made_up(), values=np.full((24, 12, 4, 7), NAN)), "m", "d", tiny.LABELS)
    assert (
        diagnosticity_answer(nothing).startswith("Nothing can be said: every metric is undefined") and not nothing.told
    )
    assert (
        draw_diagnosticity_by_length([nothing]) is None
        and "undefined" in readable_diagnosticity(nothing)
        and "nan" not in readable_diagnosticity(nothing)
    )


def test_the_papers_findings_agree_or_not():
    agree, depart = (
        diagnosticity_findings(build_diagnosticity_report(told, "m", "d", tiny.LABELS))
        for told in (made_up(), made_up(soft=0.1, hard=0.9))
    )
    assert [one.agrees for one in agree[:2]] == [True, True] and [one.agrees for one in depart[:2]] == [False, False]
    assert "0.462 against 0.349" in agree[0].claim
    # One data set refutes no paper.
    assert agree[0].said == "agrees on this data" and depart[0].said == "departs from the paper on this data"
    # Without a difference between lengths nothing is certain, nor of hardly any texts.
    assert [one.agrees for one in agree[3:]] == [None, None] and {
        one.agrees for one in diagnosticity_findings(build_diagnosticity_report(made_up(n=8), "m", "d", tiny.LABELS))
    } == {None}
    falls = made_up()
    falls.values[:, :2, 0, 2:] = np.linspace(0.95, 0.05, len(LENGTHS))
    assert {
        one.claim: one.agrees
        for one in diagnosticity_findings(build_diagnosticity_report(falls, "m", "d", tiny.LABELS))
    }["The longer the rationale, the less diagnostic is NS."] is True


def test_longer_rationales_are_less_diagnostic_only_where_it_falls_throughout_and_not_by_the_ends_alone():
    """Of both lines the last length is certainly below the first; one rises in between."""
    told = []
    for levels in (np.linspace(0.95, 0.05, len(LENGTHS)), [0.6, 0.7, 0.9, 0.5, 0.05]):
        found = made_up()
        found.values[:, :2, 0, 2:] = levels
        report = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
        told.append((report, next(one for one in diagnosticity_findings(report) if one.claim.endswith("is NS."))))
    (_, falls), (report, rises) = told
    ends = [share_text(length) for length in (LENGTHS[0], LENGTHS[-1])]
    assert falls.agrees is True and "most at" not in falls.here
    assert (
        rises.agrees is None and rises.said == f"less at {ends[1]} than at {ends[0]}, but it does not fall throughout"
    )
    cells = report.lengths["NS"]
    most = f", most at {share_text(LENGTHS[2])}: {cells[2].strict.mean:.3f}"
    assert f"p < 0.0001{most}; a tie as ½: {cells[0].half.mean:.3f}, {cells[-1].half.mean:.3f}" in rises.here
    # A cell of the page holds all of it.
    assert len(rises.here) <= 120
    assert "not adjusted over the lines" in diagnosticity_tables.FINDINGS_NOTE


def test_where_the_two_rules_for_ties_part_a_verdict_beside_the_paper_says_so():
    """Hard metrics tie throughout: 0 by the paper's rule and ½ by the other, of which soft ones are below. At the
    longest rationale NS ties with all random attributions, and is ahead of half of them at the others.
    """
    tied = diagnosticity_findings(build_diagnosticity_report(made_up(soft=0.2, ties=True), "m", "d", tiny.LABELS))
    assert tied[0].agrees is True and tied[0].said == "agrees on this data; with a tie as one half it departs"
    ends = [share_text(length) for length in (LENGTHS[0], LENGTHS[-1])]
    found = made_up()
    found.values[:, 2:, 0, BY_LENGTH] = found.values[:, 2:, 0, :1]
    found.values[:, :2, 0, BY_LENGTH] = np.median(found.values[:, 2:, 0, VALUE], axis=1)[:, None, None]
    found.values[:, :, 0, BY_LENGTH.stop - 1] = 0.5
    last = diagnosticity_findings(build_diagnosticity_report(found, "m", "d", tiny.LABELS))[3]
    assert last.agrees is True and last.said == (
        "agrees on this data; with a tie as one half the paired test does not tell them apart"
    )
    found.values[:, :2, 0, BY_LENGTH.start + 2] = 1.5
    rises = diagnosticity_findings(build_diagnosticity_report(found, "m", "d", tiny.LABELS))[3]
    assert rises.agrees is None and rises.said == (
        f"less at {ends[1]} than at {ends[0]}, but it does not fall throughout; with a tie as one half the paired test does not tell them apart"
    )
    # A cell of the page holds all of it.
    assert len(rises.said) <= 140


def test_a_lead_that_may_be_of_amounts_is_said_to_be_right_behind_it_and_only_there():
    """Against shuffles, by softmax and of a fixed share soft metrics keep as much for measures as for what these are set
    against; where nothing leads, nothing is to be explained.
    """

    def said(**change):
        levels = {name: change.pop(name) for name in ("soft", "hard") if name in change}
        found = made_up(**levels)
        study = replace(found.study, **change)
        return diagnosticity_answer(build_diagnosticity_report(replace(found, study=study), "m", "d", tiny.LABELS))

    amounts = (
        "; that may come from how much Soft-NS and Soft-NC keep or erase and not from which words (Baseline shuffled, in "
        "the settings, compares at the same amount)."
    )
    assert f"found the reverse{amounts} " in said(soft=0.1, hard=0.9)
    assert f"(Zhao and Aletras, ACL 2023) found{amounts} " in said()
    assert "amounts" not in said(soft=0.45, hard=0.45)
    assert "amounts" not in said(soft=0.1, hard=0.9, how=replace(SMALL.how, scaling="softmax"))
    assert "amounts" not in said(soft=0.1, hard=0.9, baseline=SHUFFLED, count=5)


def test_of_one_measure_its_attributions_are_preferred():
    found = made_up()
    keep = [0, *range(2, 12)]
    alone = replace(
        found,
        study=replace(found.study, measures=("leave-one-out",)),
        values=found.values[:, keep],
        notes=found.notes[:, keep],
        known=found.known[:, keep],
    )
    said = diagnosticity_answer(build_diagnosticity_report(alone, "m", "d", tiny.LABELS))
    assert said.startswith("Of leave-one-out ") and ": its attributions are preferred" in said
    both = diagnosticity_answer(build_diagnosticity_report(found, "m", "d", tiny.LABELS))
    assert " the measures from random attributions" in both and ": the measures’ attributions" in both


def test_rows_json_and_text_hold_every_number():
    made = build_diagnosticity_report(made_up(undefined=2), "m", "d", tiny.LABELS)
    listed = diagnosticity_rows(made)
    assert len(listed) == 4 * 3 + 2 * 5 and all(len(row) == len(HEADER) for row in listed)
    whole = diagnosticity_json(made)
    assert [one["strict"] for one in whole["diagnosticity"]] == [row[5] for row in listed] and whole[
        "sentence"
    ] == diagnosticity_answer(made)
    assert f"{made.cells['Soft-NC', 'gradient'].strict.mean:.3f} [" in readable_diagnosticity(made)


def test_the_figure_shows_lengths_levels_bands_and_chance():
    made = build_diagnosticity_report(made_up(), "m", "d", tiny.LABELS)
    drawn = draw_diagnosticity_by_length([made])
    lines = [trace for trace in drawn["data"] if trace.get("name")]
    assert sorted({trace["name"] for trace in lines}) == ["NC", "NS", "Soft-NC", "Soft-NS"] and len(lines) == 8
    for trace in lines:
        rule = HALF if trace.get("xaxis") == "x2" else STRICT
        cells = made.lengths.get(trace["name"], (made.cells[trace["name"], ALL],) * 2)
        assert trace["y"] == [cell.by(rule).mean for cell in cells]
    assert [shape["y0"] for shape in drawn["layout"]["shapes"]] == [0.5] and drawn["layout"]["shapes"][0][
        "yref"
    ] == "y2"


def test_the_picture_has_each_metric_over_all_measures_and_each_measure_below_it_with_intervals_from_enough_texts():
    made = build_diagnosticity_report(made_up(), "m", "d", tiny.LABELS)
    drawn = draw_preferences(made)
    whole = [one for one in drawn["data"] if one["name"] == "all measures together"]
    # In no colour of a measure, and named once.
    assert [one["showlegend"] for one in whole] == [True] + [False] * (len(whole) - 1)
    assert len({one["marker"]["color"] for one in whole}) == 1
    assert [one["x"] for one in whole] == [[made.cells[name, ALL].half.mean] for name in made.told]
    assert [one["y"] for one in whole] == [[y] for y in drawn["layout"]["yaxis"]["tickvals"]]
    for place, name in enumerate(made.told):
        ends = [*drawn["layout"]["yaxis"]["tickvals"], drawn["layout"]["yaxis"]["range"][0]]
        below = [one for one in drawn["data"] if one not in whole and ends[place] < one["y"][0] < ends[place + 1]]
        assert [(one["name"], one["x"]) for one in below] == [
            (measure, [made.cells[name, measure].half.mean]) for measure in SMALL.measures
        ]
        # A measure is told by its mark as well as by its colour, and named once.
        assert len({one["marker"]["symbol"] for one in below}) == 2
        assert all(one["showlegend"] == (place == 0) for one in below)
        span = made.cells[name, SMALL.measures[0]].half
        bar = below[0]["error_x"]
        assert (bar["array"], bar["arrayminus"]) == ([span.high - span.mean], [span.mean - span.low])
    assert [shape["x0"] for shape in drawn["layout"]["shapes"]] == [0.5]
    said = preferences_in_words(made)
    assert said.count("gradient") == len(made.told) and said.count("leave-one-out") == len(made.told)
    few = draw_preferences(build_diagnosticity_report(made_up(n=8), "m", "d", tiny.LABELS))
    assert all(one["error_x"]["array"] == [0] for one in few["data"])


def test_the_picture_of_one_measure_shows_it_once():
    found = made_up()
    study = replace(found.study, measures=found.study.measures[:1])
    values, kept = found.values[:, [0, *range(2, 12)]], {"notes": found.notes[:, 1:], "known": found.known[:, 1:]}
    made = build_diagnosticity_report(replace(found, study=study, values=values, **kept), "m", "d", tiny.LABELS)
    drawn = draw_preferences(made)
    assert len(drawn["data"]) == len(made.told) and "legend" not in drawn["layout"]
    assert "(" not in preferences_in_words(made)


def test_why_numbers_against_two_baselines_differ_is_told_by_what_a_metric_reads():
    """Of metrics that read the order alone; CORR reads sizes, and was said to differ by chance, too."""
    both = baselines_note(["NS", "CORR", "Soft-NS"], True)
    order, sizes = both.index("NS reads the order alone"), both.index("CORR reads how large scores are")
    assert both.index("amounts and not words") < order < sizes
    assert "NS and NC read the order" in baselines_note(["NS", "NC"], True)
    assert "CORR" not in baselines_note(["NS", "NC"], True) and "order" not in baselines_note(["CORR"], True)
    assert "amounts" not in baselines_note(["NS", "Soft-NS"], False) and baselines_note([], True) == ""
    # At a fixed share no attribution keeps more than another; how its scores are spread it does read.
    fixed = baselines_note(["Soft-NS", "Soft-NS (fixed share)"], True)
    assert "make Soft-NS keep" in fixed and "Soft-NS (fixed share) reads how large scores are" in fixed
