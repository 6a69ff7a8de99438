"""Diagnosticity: worked out on paper, its conservation laws, scores that are computed once, and reports in words."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.data.examples import Example
from core.evaluation.asking import read_study, run_study, study_cost
from core.evaluation.engine import Run
from core.evaluation.sampling import draw_examples, without_labels
from core.evaluation.store_log import StoreLog
from core.evaluation.studies import diagnosticity_report
from core.evaluation.studies.board_report import RejectedTexts
from core.evaluation.studies.diagnosticity_question import HEADER, Diagnosing, diagnosticity_json, diagnosticity_rows
from core.evaluation.studies.diagnosticity_report import (
    ALL,
    BASELINE_WORDS,
    HARD,
    SPARSE,
    build_diagnosticity_report,
    by_example,
    paper_findings,
)
from core.evaluation.studies.scoring import BY_LENGTH, ERROR, SHUFFLED, VALUE, Scored, Scoring, interval_text
from core.evaluation.study import Answers
from core.explanation.explainer import Cost, Explainer
from core.figures.catalogue import question_figure
from core.figures.diagnosticity_figures import draw_diagnosticity_by_length, draw_preferences
from core.judging.judging import How, Judge, judging_cost
from core.mathematics.diagnosticity import HALF, STRICT, TIE, Untested, compare, compare_metrics, diagnosticity
from core.mathematics.erasure import LENGTHS
from core.mathematics.statistics import Interval, mean_interval
from core.mathematics.stepwise import finish
from core.metrics.catalogue import hard_and_fixed, metrics
from core.metrics.registry import HIGHER, LOWER, NEITHER, NO_FEATURES, NO_ROOM, PLACES_ONLY, Case
from core.network.scheduler import Cancelled, NonFinite
from core.oracle.erasing import REMOVAL
from core.oracle.soft import Soft
from core.results.asked import AskedOutcome
from core.results.catalogue import question_result
from core.results.caveats import Caveat
from core.results.diagnosticity import DiagnosticityOutcome
from core.results.diagnosticity import diagnosticity_result as conclude
from core.results.scores import ABOVE, BELOW, OVERLAPS, ScoresOutcome, best_measures, score_cells, scores
from core.storage.store import Store
from core.validity.marks import SIGN
from core.wording import WHOLE, Tally, text_table
from tests import tiny

NAN = float("nan")
TEXTS = tuple(Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[:5]))
DIAGNOSING = Diagnosing()
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


def test_the_baseline_stands_behind_the_measures_where_there_is_one():
    assert SMALL.compared == (*SMALL.measures, SMALL.baseline)
    assert replace(SMALL, count=0).compared == SMALL.measures
    assert SMALL.other().compared == (*SMALL.measures, SHUFFLED)


@pytest.mark.parametrize(
    "first, second, said, tests",
    [
        ([0.1], [0.2], Untested.FEW, (False, False)),
        ([], [], Untested.FEW, (False, False)),
        ([NAN, 0.1], [0.2, NAN], Untested.FEW, (False, False)),
        ([0.5] * 4, [0.5] * 4, Untested.LEVEL, (False, False)),
        ([0.1, 0.2, 0.9], [0.1, 0.2, 0.9], Untested.SAME, (True, False)),
    ],
)
def test_what_cannot_be_tested_says_why(first, second, said, tests, recwarn):
    found = compare_metrics(np.array(first, dtype=float), np.array(second, dtype=float))
    both = ~np.isnan(first) & ~np.isnan(second)
    assert found.n == both.sum() and np.isnan(found.difference) == (found.n == 0)
    assert found.reason is said and (not np.isnan(found.rank_sum), not np.isnan(found.paired)) == tests
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
        for a, given in enumerate(attributions):
            for s, (_name, score) in enumerate(judge.rate(given, SMALL.metrics).found.items()):
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
    report = study.conclude(Answers(model, None, sample_of(TEXTS[:4]), {study: found}))
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
    assert scores(replace(report, tally=WHOLE)).outcome is AskedOutcome.FEW_TEXTS
    early = scores(report)
    assert early.outcome is AskedOutcome.UNFINISHED and (early.slots["count"], early.slots["total"]) == (2, 4)
    ((_, rows),) = study.tables(report)
    assert [["n = " in cell for cell in row[1:]] for row in rows] == [[False, False], [False, True], [False, False]]


def scored(found, tally=WHOLE, n=24, **change):
    """The report of made-up scores."""
    study = replace(found.study, **change)
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(n)])
    report = study.conclude(Answers(None, None, sample, {study: replace(found, study=study)}))
    return replace(report, tally=tally)


def test_which_means_are_not_better_than_the_baseline_is_counted_by_their_intervals():
    """Higher is better by NS, lower by AOPC sufficiency; touching ends meet."""
    metric_names, chance = ("NS", "AOPC sufficiency"), Interval(0.5, 0.4, 0.6)
    report = scored(made_up(), metrics=SMALL.metrics)
    study = replace(report.found.study, metrics=metric_names)

    def told(**of):
        means = {
            (s, m): one
            for s in metric_names
            for m, one in zip((*study.measures, "random"), (*of[s.split()[0]], chance))
        }
        counts = dict.fromkeys(means, 24)
        made = replace(report, found=replace(report.found, study=study), means=means, counts=counts)
        beside = {(one.metric, one.measure): one.beside for one in score_cells(made)}
        assert scores(made).fact("not_better").value == sum(one in (BELOW, OVERLAPS) for one in beside.values())
        return [beside[s, m] for s in metric_names for m in study.measures]

    far, near, behind = Interval(0.8, 0.7, 0.9), Interval(0.65, 0.6, 0.7), Interval(0.2, 0.1, 0.3)
    low = Interval(0.3, 0.2, 0.35)
    assert told(NS=(far, near), AOPC=(low, low)) == [ABOVE, OVERLAPS, ABOVE, ABOVE]
    assert told(NS=(near, behind), AOPC=(far, low)) == [OVERLAPS, BELOW, BELOW, ABOVE]
    assert told(NS=(far, far), AOPC=(low, low)) == [ABOVE] * 4
    few = Interval(0.8, NAN, NAN)
    assert told(NS=(few, few), AOPC=(few, few)) == [""] * 4


def test_whoever_meets_the_first_interval_is_named_with_it_and_nobody_else():
    """By the standard of random attributions: intervals that meet, and not how far means are apart."""
    names = ("leave-one-out", "gradient", "attention")
    first, meets, touches, apart = (
        Interval(*one) for one in ((0.8, 0.7, 0.9), (0.69, 0.6, 0.75), (0.65, 0.5, 0.7), (0.6, 0.5, 0.69))
    )

    def told(*means, name="NS"):
        return best_measures(name, dict(zip(names, means)))

    assert told(first, meets, apart) == told(first, touches, apart) == ["leave-one-out", "gradient"]
    assert told(first, apart, apart) == ["leave-one-out"]
    # Means less than 0.01 apart whose intervals do not meet are not named together.
    assert told(Interval(0.799, 0.798, 0.7995), Interval(0.8, 0.7998, 0.801), apart) == ["gradient"]
    # Two that meet the first and not each other.
    over = Interval(0.8, 0.7, 0.75)
    assert told(over, Interval(0.7, 0.6, 0.71), Interval(0.79, 0.74, 0.78)) == [*names]
    assert told(Interval(0.3, 0.2, 0.35), meets, first, name="AOPC sufficiency") == ["leave-one-out"]
    # Of a mean of few texts nothing is known.
    none = Interval(0.9, NAN, NAN)
    assert told(first, none, apart) == ["leave-one-out"] and told(none, none, none) == []


def test_the_outcome_of_scores_goes_by_hard_metrics_and_has_what_favours_a_measure():
    """Of 24 texts leave-one-out is first by hard metrics, and both by soft ones."""
    found = made_up(soft=0.9, hard=0.5)
    found.values[:, 0, :2, VALUE] += 0.3
    result = scores(scored(found))
    assert result.outcome is ScoresOutcome.ONE_HIGHEST
    assert (result.slots["measures"], result.slots["metrics"]) == (["leave-one-out"], ["NS", "NC"])
    assert result.has(Caveat.MEASURE_USES_MASKING) and not result.has(Caveat.OUT_OF_DISTRIBUTION)
    # What rests on rejected inputs is marked.
    marked = scores(replace(scored(found), rejected={"NS": RejectedTexts(100, 100, 100, True)}))
    assert marked.has(Caveat.OUT_OF_DISTRIBUTION) and marked.fact("NS").marked and not marked.fact("NC").marked
    # Words that are taken out are not masked, and who is not first is not favoured.
    assert not scores(scored(found, how=replace(SMALL.how, erasure=REMOVAL))).has(Caveat.MEASURE_USES_MASKING)
    early = scores(scored(found, Tally(24, 48, coming=True, fewest=20)))
    assert early.outcome is AskedOutcome.UNFINISHED and early.has(Caveat.PARTIAL)
    found.values[:, 1, :2, VALUE] += 0.6
    other = scores(scored(found))
    assert other.slots["measures"] == ["gradient"] and not other.has(Caveat.MEASURE_USES_MASKING)


def test_metrics_disagree_or_their_intervals_overlap():
    found = made_up(soft=0.9, hard=0.5)
    found.values[:, 0, 0, VALUE] += 0.3
    found.values[:, 1, 1, VALUE] += 0.3
    assert scores(scored(found)).outcome is ScoresOutcome.DISAGREE
    found = made_up(soft=0.9, hard=0.5)
    found.values[:, 1, :2, VALUE] = found.values[:, 0, :2, VALUE]
    result = scores(scored(found))
    assert result.outcome is ScoresOutcome.OVERLAP and result.slots["measures"] == ["leave-one-out", "gradient"]
    found.values[:5] = NAN
    assert scores(scored(found)).outcome is ScoresOutcome.NO_VALUE


def test_where_no_hard_metric_has_a_value_scores_go_by_soft_ones_over_their_texts():
    found = made_up(soft=0.9, hard=0.5)
    found.values[:, :, :2] = NAN
    found.values[:3, :, 2:] = NAN
    result = scores(scored(found))
    assert result.slots["metrics"] == ["Soft-NS", "Soft-NC"] and result.outcome is ScoresOutcome.OVERLAP
    assert {scored(found).counts[name, one] for name in SMALL.metrics[2:] for one in SMALL.measures} == {21}


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
    header, drawn = titles(replace(report, rejected={"Soft-NS": RejectedTexts(100, 100, 100, True)}))
    assert header == ["NS ↑", "NC ↑", f"Soft-NS ↑ {SIGN}", "Soft-NC ↑"]
    assert [one.endswith(SIGN) for one in drawn] == [False, False, True, False] and "Soft-NS" in drawn[2]


def test_scores_are_set_beside_random_attributions_and_shuffles_alike():
    found = made_up(soft=0.9, hard=0.1)
    for change in ({}, {"baseline": SHUFFLED, "count": 5}):
        cells = {(one.measure, one.metric): one.beside for one in score_cells(scored(found, **change))}
        assert {cells[one, name] for one in SMALL.measures for name in ("NS", "NC")} == {BELOW}
        assert {cells[one, name] for one in SMALL.measures for name in ("Soft-NS", "Soft-NC")} == {ABOVE}


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
        and paper_findings(made) == []
    )


@pytest.mark.parametrize(
    "levels, outcome",
    [
        ({}, DiagnosticityOutcome.SOFT_AHEAD),
        ({"soft": 0.1, "hard": 0.9}, DiagnosticityOutcome.HARD_AHEAD),
        ({"soft": 0.45, "hard": 0.45}, DiagnosticityOutcome.NEITHER_AHEAD),
    ],
)
def test_the_result_names_the_baseline(levels, outcome):
    found = made_up(**levels)
    study = replace(found.study, baseline=SHUFFLED, count=5)
    made = reported(replace(found, study=study))
    result = conclude(made)
    assert result.outcome is outcome and result.slots["against"] == BASELINE_WORDS[SHUFFLED]
    assert (result.fact("against").label, result.fact("against").value) == ("shuffled attributions", 5)


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
    assert np.isnan(found.values[2]).all() and found.sentences[found.notes[2, 0, 0]] == NO_FEATURES
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert made.n == 3 and made.undefined["NS"] >= 1 and list(made.left_out.values()) == [1]

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
        ({"metrics": ()}, "choose a metric"),
        ({"count": -1}, "fewer than 0"),
        ({"measures": (), "count": 0}, "choose a metric"),
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
    assert made.complete and made.predicted == dict(zip(tiny.LABELS, (24, 0, 0)))


def reported(found):
    return build_diagnosticity_report(found, "m", "d", tiny.LABELS)


def test_soft_metrics_at_a_fixed_share_are_tested_against_the_hard_ones_of_the_same_formula():
    names = ("NS", "NC", "Soft-NS (fixed share)", "Soft-NC (fixed share)")
    found = made_up(soft=0.45, hard=0.9)
    found = replace(found, study=replace(found.study, metrics=names))
    made = build_diagnosticity_report(found, "model", "data", tiny.LABELS)
    assert not made.tests and {(one.hard, one.soft) for one in made.fixed} == {("NS", names[2]), ("NC", names[3])}
    for one in made.fixed:
        first, second = (made.cells[name, ALL].strict.mean for name in (one.hard, one.soft))
        assert one.ahead == HARD and (one.rule != STRICT or one.found.difference == pytest.approx(second - first))
    assert [row[0] for row in diagnosticity_report.tests_table(made)[1]] == [
        f"{soft} against {hard}" for hard, soft in hard_and_fixed()
    ] * 2
    # What SoftFaith found is of its own metrics; without the pairs that it compares neither kind is ahead.
    assert not [one for one in paper_findings(made) if "fixed" in one.claim]
    assert conclude(made).outcome is DiagnosticityOutcome.NOT_COMPARED


def test_what_is_undefined_or_never_predicted_is_counted():
    """One text of a class, on which soft metrics have no value, and which NS cannot score of leave-one-out."""
    found = made_up(n=1, undefined=1)
    found.values[:, 0, 0] = NAN
    made = reported(found)
    assert made.predicted == dict(zip(tiny.LABELS, (1, 0, 0)))
    assert {name for name, count in made.undefined.items() if count == made.n} == {"Soft-NS", "Soft-NC"}
    assert not made.cells["NS", "leave-one-out"].n and made.cells["NS", ALL].n
    coming = conclude(replace(made, tally=Tally(1, 50, coming=True, fewest=20)))
    assert coming.outcome is AskedOutcome.UNFINISHED and coming.has(Caveat.PARTIAL)


@pytest.mark.parametrize(
    "told, outcome",
    [
        (made_up(), DiagnosticityOutcome.SOFT_AHEAD),
        (made_up(soft=0.1, hard=0.9), DiagnosticityOutcome.HARD_AHEAD),
        (made_up(soft=0.45, hard=0.45), DiagnosticityOutcome.NEITHER_AHEAD),
        (made_up(n=1), AskedOutcome.FEW_TEXTS),
    ],
)
def test_the_result_says_which_kind_is_ahead_and_holds_each_figure(told, outcome):
    made = reported(told)
    result = question_result("diagnosticity", made)
    assert result.outcome is outcome
    for name in told.study.metrics:
        half, fact = made.cells[name, ALL].half, result.fact(name)
        assert (fact.value, fact.low, fact.high) == pytest.approx((half.mean, half.low, half.high), nan_ok=True)
    every = [(name, one) for name in told.study.metrics for one in told.study.measures]
    known = [at for at in every if made.cells[at].half.known]
    alone = [at for at in known if min(made.cells[at].half.low, made.cells[at].strict.low) > 0.5]
    assert (result.fact("above").value, result.fact("above").of) == (len(alone), len(known))
    paired = {one.soft: one.found.paired for one in made.tests if one.rule == HALF}
    assert {soft: result.fact(f"p {soft}").value for soft in paired} == (
        dict.fromkeys(paired) if outcome is AskedOutcome.FEW_TEXTS else paired
    )


def test_intervals_beside_one_half_are_counted_and_shown_by_both_rules_for_ties():
    """Gradient by Soft-NS: no better than the middle of the random ones; by Soft-NC: tied with half of them, ahead of
    the others. Leave-one-out is ahead everywhere.
    """
    found = made_up(soft=2.0, hard=2.0)
    found.values[:, 1, 2, VALUE] = np.median(found.values[:, 2:, 2, VALUE], axis=1)
    found.values[:, 2:7, 3, VALUE] = found.values[:, 1:2, 3, VALUE]
    made = reported(found)
    assert made.cells["Soft-NC", "gradient"].half.mean == 0.75 and made.cells["Soft-NC", "gradient"].strict.mean == 0.5
    result = conclude(made)
    assert result.outcome is DiagnosticityOutcome.HARD_AHEAD
    assert (result.fact("above").value, result.fact("above").of) == (6, 8)

    def sides(found):
        header, rows = diagnosticity_report.diagnosticity_table(reported(found))
        places = [header.index(name) for name in ("interval", "interval, a tie as 0")]
        return {(row[0], row[1]): tuple(row[place] for place in places) for row in rows}

    assert (
        sides(found)["gradient", "Soft-NS"][0] == "holds 0.5" and sides(found)["leave-one-out", "NS"][0] == "above 0.5"
    )
    assert sides(found)["gradient", "Soft-NC"] == ("above 0.5", "holds 0.5")
    found.values[:, 1, 2, VALUE] = -1.0
    assert sides(found)["gradient", "Soft-NS"] == ("below 0.5", "below 0.5")
    assert set(sides(made_up(n=5)).values()) == {("—", "—")}


def test_soft_and_hard_are_compared_on_the_texts_that_have_both():
    """Soft-NS has a value on 21 of 24 texts, and then Soft-NC, too."""
    found = made_up()
    found.values[:3, :, 2] = NAN
    made = reported(found)
    assert {(one.soft, one.found.n) for one in made.tests} == {("Soft-NS", 21), ("Soft-NC", 24)}
    assert conclude(made).outcome is DiagnosticityOutcome.SOFT_AHEAD
    found.values[:3, :, 3] = NAN
    assert {one.found.n for one in reported(found).tests} == {21}


def test_the_number_over_all_lengths_compares_averages_over_them_and_is_no_average_of_what_stands_at_each():
    """The measure is behind by a little at four lengths and ahead by much at one: by the average it is always ahead."""
    found = made_up()
    found.values[:, :2, 0, BY_LENGTH], found.values[:, 2:, 0, BY_LENGTH] = [0.1, 0.1, 0.1, 0.1, 1.0], [0.2] * 5
    found.values[:, :, 0, VALUE] = found.values[:, :, 0, BY_LENGTH].mean(axis=-1)
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert [cell.strict.mean for cell in made.lengths["NS"]] == [0, 0, 0, 0, 1] and made.cells[
        "NS", ALL
    ].strict.mean == 1
    case = Case(
        np.array([3.0, 2.0, 1.0]), lambda masks: np.c_[0.9 - 0.2 * masks.sum(axis=1)], 0, np.zeros(3, dtype=bool)
    )
    one = metrics()["NS"].compute(case)
    assert one.value == pytest.approx(one.by_length.mean())


def test_neither_kind_leads_while_texts_are_to_come():
    made = build_diagnosticity_report(made_up(), "m", "d", tiny.LABELS)
    coming = replace(made, tally=Tally(24, 55, coming=True, fewest=20))
    result = conclude(coming)
    assert result.outcome is AskedOutcome.UNFINISHED and result.slots["total"] == 55
    assert result.fact("Soft-NS").value == made.cells["Soft-NS", ALL].half.mean
    assert any(one.agrees is not None for one in paper_findings(made))
    assert (
        {one.agrees for one in paper_findings(coming)} == {None} == {one.agrees_half for one in paper_findings(coming)}
    )


def test_a_lead_that_rests_on_ties_is_seen_in_the_tests():
    made = reported(made_up(soft=0.35, ties=True))
    assert conclude(made).outcome is DiagnosticityOutcome.HARD_AHEAD, "as the picture counts"
    header, rows = diagnosticity_report.tests_table(made)
    ahead = {(row[0].partition(" ")[0], row[1]): row[header.index("ahead")] for row in rows}
    assert (
        ahead["Soft-NS", diagnosticity_report.RULES[HALF]] == HARD
        and ahead["Soft-NS", diagnosticity_report.RULES[STRICT]] == "soft"
    )
    assert made.cells["NS", ALL].ties == 1 and made.cells["NS", ALL].half.mean == 0.5


def test_few_texts_are_ahead_of_nothing():
    """Five differences of one sign have an exact p of 0.06, which the approximation calls 0.04."""
    for told in (made_up(n=5), made_up(n=5, soft=0.1, hard=0.9)):
        result = conclude(reported(told))
        assert result.outcome is AskedOutcome.FEW_TEXTS and result.has(Caveat.FEW_TEXTS)
        assert result.fact("p Soft-NS").value is None


def test_pairs_of_which_nothing_is_told_take_no_part_in_what_is_said_of_the_others():
    """Soft-NS has a value on 18 of 24 texts; Soft-NC is ahead of NC on all."""
    found = made_up(soft=0.9, hard=0.6)
    found.values[:6, :, 2, :] = NAN
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert {one.soft: one.ahead for one in made.tests if one.rule == "half"} == {"Soft-NS": SPARSE, "Soft-NC": "soft"}
    result = conclude(made)
    assert result.outcome is DiagnosticityOutcome.SOFT_AHEAD
    assert result.fact("p Soft-NS").value is None and result.fact("p Soft-NC").value is not None
    # Equal on 18 texts is no more told than ahead.
    equal = made_up(soft=0.6, hard=0.6)
    equal.values[:, :, 2:, :] = equal.values[:, :, :2, :]
    equal.values[:6, :, 2:, :] = NAN
    level = build_diagnosticity_report(equal, "m", "d", tiny.LABELS)
    assert {one.ahead for one in level.tests} == {SPARSE} and conclude(level).outcome is AskedOutcome.FEW_TEXTS
    assert all(one.p != one.p for one in paper_findings(level)[:2])


def test_metrics_with_a_value_on_few_texts_are_told_of_nothing_and_have_no_p():
    """Of 24 texts soft metrics have a value on 18, where they are far ahead: a p would be small."""
    found = made_up(soft=0.9, hard=0.6)
    found.values[:6, :, 2:, :] = NAN
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert {one.found.n for one in made.tests} == {18} and {one.ahead for one in made.tests} == {SPARSE}
    result = conclude(made)
    assert result.outcome is AskedOutcome.FEW_TEXTS and result.slots["count"] == 18
    assert result.fact("p Soft-NS").value is None and result.fact("p Soft-NC").value is None
    # Of those that have a value on enough there is an interval.
    assert (
        result.fact("NS").low == made.cells["NS", ALL].half.low
        and result.fact("Soft-NS").low != result.fact("Soft-NS").low
    )


@pytest.mark.parametrize("n, there", [(19, False), (20, True)])
def test_intervals_and_tests_begin_where_verdicts_do(n, there):
    """Also of the scores themselves."""
    found = made_up(n=n)
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    every = [*made.cells.values(), *(one for cells in made.lengths.values() for one in cells)]
    assert {one.by(rule).known for one in every for rule in (STRICT, HALF)} <= {there, False}
    assert any(one.half.known for one in every) == there
    assert all((row[4:6] == ["—", "—"]) != there for row in diagnosticity_report.tests_table(made)[1])
    sample = without_labels("d", "0" * 64, [Example(f"e{i}", "a b") for i in range(n)])
    report = found.study.conclude(Answers(None, None, sample, {found.study: found}))
    assert any(one.known for one in report.means.values()) == there
    assert (scores(report).outcome is AskedOutcome.FEW_TEXTS) != there


def test_a_measure_that_one_metric_cannot_score_decides_no_test():
    """Places have no soft score: beam's hard scores, which nothing stands against, made hard metrics win."""
    found = made_up(soft=0.4, hard=0.4)
    found.values[:, 0, :2, VALUE], found.values[:, 0, 2:, VALUE] = 2.0, NAN
    found.values[:, :, 2:, VALUE][:, 1:] = found.values[:, 1:, :2, VALUE]
    made = build_diagnosticity_report(found, "m", "d", tiny.LABELS)
    assert all(one.found.difference == 0 for one in made.tests)
    assert conclude(made).outcome is DiagnosticityOutcome.NEITHER_AHEAD
    assert not made.cells["Soft-NS", "leave-one-out"].n and made.cells["NS", "leave-one-out"].strict.mean == 1


def test_what_is_undefined_says_its_own_reason():
    found = made_up(undefined=3)
    found.notes[:3, :, 2:] = 1
    made = build_diagnosticity_report(replace(found, sentences=("", PLACES_ONLY)), "m", "d", tiny.LABELS)
    assert made.undefined == dict(zip(SMALL.metrics, (0, 0, 3, 3)))
    assert made.reasons["Soft-NS"] == (PLACES_ONLY,) and not made.reasons["NS"]
    found.notes[:3, :, 2:], found.notes[:1, :, :2] = 1, 1
    found.values[:1, :, :2] = NAN
    made = reported(replace(found, sentences=("", NO_ROOM)))
    assert made.undefined == dict(zip(SMALL.metrics, (1, 1, 3, 3)))
    reasons = [made.reasons[name] for name in SMALL.metrics]
    assert reasons == [(NO_ROOM,)] * len(SMALL.metrics)
    header, rows = diagnosticity_report.undefined_table(made)
    assert [row[:2] for row in rows] == [
        [name, f"{count} of 24"] for name, count in zip(SMALL.metrics, (1, 1, 3, 3))
    ] and header[0] == "undefined metric"


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
    result = conclude(alone)
    assert result.outcome is DiagnosticityOutcome.NOT_COMPARED
    assert (result.slots["metric"], result.slots["share"]) == ("NS", 0.0)


def test_of_few_texts_one_metric_is_not_ahead_and_a_pair_without_values_has_no_p():
    few = made_up(n=5)
    alone = replace(
        few, study=replace(few.study, metrics=("NS",)), values=few.values[:, :, :1], notes=few.notes[:, :, :1]
    )
    assert conclude(reported(alone)).outcome is AskedOutcome.FEW_TEXTS
    apart = made_up()
    # On no text both are defined.
    apart.values[:12, :, 2] = NAN
    apart.values[12:, :, 0] = NAN
    result = conclude(reported(apart))
    assert result.fact("p Soft-NS").value is None and result.fact("p Soft-NC").value < 0.05
    assert result.outcome is DiagnosticityOutcome.SOFT_AHEAD


def test_undefined_and_few_texts_are_known():
    some, every, few = (reported(made_up(n, undefined=undefined)) for n, undefined in ((24, 3), (24, 24), (3, 0)))
    assert some.undefined["Soft-NS"] == 3 and some.cells["Soft-NS", ALL].undefined == 60
    assert every.undefined["Soft-NC"] == 24 and every.told == ("NS", "NC")
    assert {one.agrees for one in paper_findings(few)} == {None}
    nothing = reported(replace(made_up(), values=np.full((24, 12, 4, 7), NAN)))
    assert conclude(nothing).outcome is DiagnosticityOutcome.UNDEFINED and not nothing.told
    assert draw_diagnosticity_by_length([nothing]) is None
    text = "\n".join(text_table(*one) for one in DIAGNOSING.tables(nothing))
    assert "undefined" in text and "nan" not in text


def test_the_papers_findings_agree_or_not():
    agree, depart = (paper_findings(reported(told)) for told in (made_up(), made_up(soft=0.1, hard=0.9)))
    assert [one.agrees for one in agree[:2]] == [True, True] and [one.agrees for one in depart[:2]] == [False, False]
    assert agree[0].paper == "0.462 against 0.349"
    header, rows = diagnosticity_report.softfaith_table(reported(made_up()))
    assert [row[header.index("agrees")] for row in rows[:2]] == ["yes", "yes"] and len(rows) == len(agree)
    # Without a difference between lengths nothing is certain, nor of hardly any texts.
    assert [one.agrees for one in agree[3:]] == [None, None]
    assert {one.agrees for one in paper_findings(reported(made_up(n=8)))} == {None}
    falls = made_up()
    falls.values[:, :2, 0, 2:] = np.linspace(0.95, 0.05, len(LENGTHS))
    (told,) = (one for one in paper_findings(reported(falls)) if one.claim.endswith("is NS."))
    assert told.agrees is True and told.agrees_half is True


def test_longer_rationales_are_less_diagnostic_only_where_it_falls_throughout_and_not_by_the_ends_alone():
    """Of both lines the last length is certainly below the first; one rises in between."""
    told = []
    for levels in (np.linspace(0.95, 0.05, len(LENGTHS)), [0.6, 0.7, 0.9, 0.5, 0.05]):
        found = made_up()
        found.values[:, :2, 0, 2:] = levels
        report = reported(found)
        told.append((report, next(one for one in paper_findings(report) if one.claim.endswith("is NS."))))
    (_, falls), (report, rises) = told
    assert falls.agrees is True and rises.agrees is None
    cells = report.lengths["NS"]
    assert rises.ours == f"{cells[-1].strict.mean:.3f} against {cells[0].strict.mean:.3f}" and rises.p < 1e-4
    header, rows = diagnosticity_report.lengths_table(report)
    assert rows[0] == ["NS", "a tie counts 0", *(f"{cell.strict.mean:.3f}" for cell in cells)] and len(header) == 7


def test_the_two_rules_for_ties_stand_beside_the_paper_each_by_itself():
    """Hard metrics tie throughout: 0 by the paper's rule and ½ by the other, of which soft ones are below. At the
    longest rationale NS ties with all random attributions, and is ahead of half of them at the others.
    """
    tied = paper_findings(reported(made_up(soft=0.2, ties=True)))
    assert (tied[0].agrees, tied[0].agrees_half) == (True, False)
    found = made_up()
    found.values[:, 2:, 0, BY_LENGTH] = found.values[:, 2:, 0, :1]
    found.values[:, :2, 0, BY_LENGTH] = np.median(found.values[:, 2:, 0, VALUE], axis=1)[:, None, None]
    found.values[:, :, 0, BY_LENGTH.stop - 1] = 0.5
    last = paper_findings(reported(found))[3]
    assert (last.agrees, last.agrees_half) == (True, None)
    found.values[:, :2, 0, BY_LENGTH.start + 2] = 1.5
    rises = paper_findings(reported(found))[3]
    assert (rises.agrees, rises.agrees_half) == (None, None)


def test_a_lead_that_may_be_of_amounts_has_a_caveat():
    """Against shuffles, by softmax and of a fixed share soft metrics keep as much for measures as for what these are set
    against; where nothing leads, nothing is to be explained.
    """

    def unequal(**change):
        levels = {name: change.pop(name) for name in ("soft", "hard") if name in change}
        found = made_up(**levels)
        made = reported(replace(found, study=replace(found.study, **change)))
        return conclude(made).has(Caveat.DIFFERENT_AMOUNTS)

    assert unequal(soft=0.1, hard=0.9) and unequal()
    assert not unequal(soft=0.45, hard=0.45)
    assert not unequal(soft=0.1, hard=0.9, how=replace(SMALL.how, scaling="softmax"))
    assert not unequal(soft=0.1, hard=0.9, baseline=SHUFFLED, count=5)


def test_hard_metrics_that_are_ahead_by_masking_have_a_caveat():
    ahead = conclude(reported(made_up(soft=0.1, hard=0.9)))
    assert ahead.has(Caveat.MEASURE_USES_MASKING)
    assert not conclude(reported(made_up())).has(Caveat.MEASURE_USES_MASKING)
    found = made_up(soft=0.1, hard=0.9)
    removed = replace(found, study=replace(found.study, how=replace(SMALL.how, erasure=REMOVAL)))
    assert not conclude(reported(removed)).has(Caveat.MEASURE_USES_MASKING)
    rests = replace(reported(made_up()), rejected={"Soft-NS": RejectedTexts(100, 100, 100, True)})
    assert conclude(rests).has(Caveat.OUT_OF_DISTRIBUTION)
    assert not conclude(reported(made_up())).has(Caveat.OUT_OF_DISTRIBUTION)


def test_rows_json_and_text_hold_every_number():
    made = build_diagnosticity_report(made_up(undefined=2), "m", "d", tiny.LABELS)
    listed = diagnosticity_rows(made)
    assert len(listed) == 4 * 3 + 2 * 5 and all(len(row) == len(HEADER) for row in listed)
    whole = diagnosticity_json(made)
    assert [one["strict"] for one in whole["diagnosticity"]] == [row[5] for row in listed]
    assert whole["undefined"]["Soft-NS"] == 2 and len(whole["findings"]) == len(paper_findings(made))
    text = "\n".join(text_table(*one) for one in DIAGNOSING.tables(made))
    assert f"{made.cells['Soft-NC', 'gradient'].strict.mean:.3f} [" in text


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
    few = draw_preferences(build_diagnosticity_report(made_up(n=8), "m", "d", tiny.LABELS))
    assert all(one["error_x"]["array"] == [0] for one in few["data"])


def test_the_picture_of_one_measure_shows_it_once():
    found = made_up()
    study = replace(found.study, measures=found.study.measures[:1])
    values, kept = found.values[:, [0, *range(2, 12)]], {"notes": found.notes[:, 1:], "known": found.known[:, 1:]}
    made = build_diagnosticity_report(replace(found, study=study, values=values, **kept), "m", "d", tiny.LABELS)
    drawn = draw_preferences(made)
    assert len(drawn["data"]) == len(made.told) and "legend" not in drawn["layout"]
