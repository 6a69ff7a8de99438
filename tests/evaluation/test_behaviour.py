"""Behaviour under masking: a slow twin that erases by hand, what the store saves, reports worked out on paper, and the
map.
"""

import html
import itertools
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest

from core.data.examples import Example
from core.evaluation import store_log
from core.evaluation.asking import read_study as known
from core.evaluation.asking import run_study as behave
from core.evaluation.asking import study_cost as behave_cost
from core.evaluation.findings import FEW
from core.evaluation.sampling import Sample
from core.evaluation.studies import embedding_map
from core.evaluation.studies.behaviour import ORDERS, Course, Walked
from core.evaluation.studies.behaviour_question import Behaviour, behaviour_json, behaviour_rows, behaviour_table
from core.evaluation.studies.behaviour_report import ALL, HALF, behaviour_report
from core.evaluation.studies.embedding_map import SHOWN, draw_map, points_of, read_map
from core.evaluation.studies.fewest import FewestFeatures, Searched
from core.evaluation.studies.orders import RANDOM
from core.explanation.explainer import Explainer
from core.explanation.recursive import random_masks
from core.figures.behaviour_figures import COLOURS, LABEL, MASKED, PREDICTION, behaviour_panels, groups_of, map_figure
from core.mathematics.flips import flip_share
from core.mathematics.stepwise import finish
from core.network.scheduler import Cancelled
from core.oracle.erasing import ERASURES, MASK, REMOVAL, UNKNOWN, ZERO, erased_rows, erasures_of
from core.results.behaviour import BehaviourOutcome, behaviour_result, nothing_erased
from core.results.caveats import Caveat
from core.storage.store import Store
from core.wording import Tally
from tests import tiny

CHANCE, LOO = Course(), Course("leave-one-out")


def sample_of(texts, labels=None) -> Sample:
    examples = tuple(Example(f"e{i}", text, None, tiny.LABELS[i % 3]) for i, text in enumerate(texts))
    return Sample("toy", "0" * 64, examples, np.arange(len(texts)) % 3 if labels is None else np.array(labels))


def part(sample: Sample, start: int, end: int) -> Sample:
    return replace(sample, examples=sample.examples[start:end], labels=sample.labels[start:end])


@pytest.fixture(scope="module")
def model(tiny_model):
    return tiny_model("bert")


@pytest.fixture
def explainer(model):
    return Explainer(model)


@pytest.fixture(scope="module")
def sample():
    return sample_of(tiny.SENTENCES[::8])


def same(one: Walked, other: Walked) -> bool:
    pairs = (
        (one.there, other.there),
        (one.flips, other.flips),
        (one.free, other.free),
        (one.logits, other.logits),
        (one.states, other.states),
    )
    return all(np.array_equal(a, b) for a, b in pairs) and one.problems == other.problems


# ---- a slow twin: one input at a time


def slow(model, encoded, order, erasure):
    """The prediction with 0, 1 … F' features erased, and logits and pooled states at 0, 10 … 100 % of all F."""
    start, predicted, answers = int(encoded.premasked.sum()), [], []
    for count in range(encoded.F - start + 1):
        mask = encoded.premasked.copy()
        mask[order[:count]] = True
        (row,) = erased_rows(encoded, mask[None], erasure, model.tokenizer.unk_token_id)
        types = None if row.type_ids is None else row.type_ids[None]
        logits, states = model.run(row.ids[None], np.array([len(row.ids)]), types, "mean")
        predicted.append(int(logits[0].argmax()))
        answers.append((logits[0], states[0, -2]))
    counts = [max(int(np.floor(tenths / 10 * encoded.F + 1e-9)), start) - start for tenths in range(11)]
    return predicted, [answers[count] for count in counts]


@pytest.mark.parametrize(
    "course",
    [
        CHANCE,
        LOO,
        Course("gradient", erasure=REMOVAL),
        Course("leave-one-out", "absolute", erasure=ZERO),
        Course(erasure=UNKNOWN, seed=3),
        Course("leave-one-out", unit="token"),
    ],
)
def test_it_finds_what_a_slow_twin_finds(model, explainer, course):
    some = sample_of([*tiny.SENTENCES[:2], "The [MASK] leaves the old harbour."])
    walked = finish(behave(explainer, some, course))
    assert (
        walked.there.all()
        and walked.states.dtype == np.float16
        and walked.flips.shape == (3, ORDERS if course.random else 1)
    )
    for i, example in enumerate(some.examples):
        encoded = explainer.encode(example.text, None, course.unit)
        free = np.flatnonzero(~encoded.premasked)
        if course.random:
            counts = np.arange(int(encoded.premasked.sum()), encoded.F + 1)
            orders = [
                [int(np.flatnonzero(b & ~a)[0]) for a, b in itertools.pairwise(masks)]
                for masks in random_masks(encoded, counts, ORDERS, course.seed)
            ]
        else:
            target = int(explainer.logits(encoded).argmax())
            found = explainer.attribute(encoded, course.measure, target).scores
            scores = found.get(course.sign, next(iter(found.values())))
            orders = [sorted(free, key=lambda k: (-scores[k], k))]
        assert walked.free[i] == len(free)
        for o, order in enumerate(orders):
            predicted, answers = slow(model, encoded, order, course.erasure)
            share = walked.flips[i, o] / walked.free[i] if walked.flips[i, o] else 1.0
            assert share == flip_share(predicted) and (walked.flips[i, o] == 0) == (len(set(predicted)) == 1)
            if o == 0:
                np.testing.assert_allclose(walked.logits[i], [logits for logits, _ in answers], atol=1e-4)
                np.testing.assert_allclose(walked.states[i].astype(float), [states for _, states in answers], atol=5e-3)


def test_an_erasure_that_the_tokenizer_cannot_do_is_refused(model, sample):
    bare = replace(model, tokenizer=SimpleNamespace(unk_token_id=None))
    assert erasures_of(model) == ERASURES and erasures_of(bare) == (MASK, REMOVAL, ZERO)
    with pytest.raises(ValueError, match="cannot erase by the unknown token"):
        next(behave(Explainer(bare), sample, Course(erasure=UNKNOWN)))


# ---- the store


def test_what_is_known_costs_nothing_and_a_larger_sample_only_what_is_new(explainer, sample, passes, tmp_path):
    store, some = Store(tmp_path), part(sample, 1, 3)
    assert known(explainer, some, LOO, store).done == 0
    first = passes(lambda: finish(behave(explainer, some, LOO, store)))
    assert first > 0 and passes(lambda: finish(behave(explainer, some, LOO, Store(tmp_path)))) == 0
    alone = passes(lambda: finish(behave(explainer, sample, LOO)))
    assert passes(lambda: finish(behave(explainer, sample, LOO, Store(tmp_path)))) == alone - first
    # What comes from the store is what would be computed.
    assert same(known(explainer, sample, LOO, store), finish(behave(explainer, sample, LOO)))
    files = len(list(tmp_path.rglob("*.safetensors")))
    assert files == 2 + len(sample), "two segments of rows, and a file a text of what was asked of it"


def test_whatever_the_result_depends_on_has_rows_of_its_own_and_labels_do_not(explainer, sample, tmp_path):
    store, some = Store(tmp_path), part(sample, 0, 2)
    courses = [
        *(Course(erasure=erasure) for erasure in ERASURES),
        LOO,
        replace(LOO, sign="absolute"),
        replace(LOO, unit="token"),
        Course(seed=1),
    ]
    for course in courses:
        assert known(explainer, some, course, store).done == 0, course
        finish(behave(explainer, some, course, store))
    for course in courses:
        assert same(known(explainer, some, course, store), finish(behave(explainer, some, course)))
    assert known(explainer, replace(some, labels=np.roll(some.labels, 1)), LOO, store).done == 2
    assert Course("gradient").key(explainer) == Course("gradient", "absolute").key(explainer), "it has no sign"


def test_cancelled_in_the_middle_it_keeps_what_was_done_and_goes_on(explainer, model, sample, passes, tmp_path):
    alone = [passes(lambda i=i: finish(behave(explainer, part(sample, i, i + 1), LOO))) for i in range(len(sample))]
    start, stop = model.scheduler.counters.passes, sum(alone[:2]) + 3
    with pytest.raises(Cancelled):
        finish(
            behave(
                explainer,
                sample,
                LOO,
                Store(tmp_path),
                cancelled=lambda: model.scheduler.counters.passes - start >= stop,
            )
        )
    assert known(explainer, sample, LOO, Store(tmp_path)).there.tolist() == [True] * 2 + [False] * (len(sample) - 2)
    # What was asked of the text that was not done is known, too.
    assert 0 < passes(lambda: finish(behave(explainer, sample, LOO, Store(tmp_path)))) < sum(alone[2:])
    assert same(known(explainer, sample, LOO, Store(tmp_path)), finish(behave(explainer, sample, LOO)))


def test_long_work_is_written_on_the_way_and_earlier_pictures_stay(explainer, sample, monkeypatch, tmp_path):
    monkeypatch.setattr(store_log, "SAVE_SECONDS", 0.0)
    told, work = [], behave(explainer, sample, CHANCE, Store(tmp_path), progress=lambda *done: told.append(done))
    first, second = next(work), next(work)
    assert known(explainer, sample, CHANCE, Store(tmp_path)).done == 2 and told == [(0, len(sample)), (1, len(sample))]
    assert (first.done, second.done) == (1, 2)
    work.close()


def test_what_it_costs_is_no_less_than_what_it_takes(explainer, sample, passes):
    for course in (CHANCE, LOO, Course("beam"), FewestFeatures()):
        some = part(sample, 0, 2)
        assert (
            passes(lambda course=course, some=some: finish(behave(explainer, some, course)))
            <= behave_cost(explainer, some, course).passes
        )


# ---- examples that say nothing


def test_what_cannot_be_erased_or_gives_nan_is_counted_and_does_not_stop_the_rest(explainer, model, monkeypatch):
    odd, really = (
        "It rained again and again through the roof of the workshop and onto the table.",
        model.scheduler.network,
    )
    some = sample_of([tiny.SENTENCES[0], "\u200b", "[MASK] [MASK]", odd, "Bread"])
    T = explainer.encode(odd, None, "word").T

    def network(ids, lengths, *more):
        logits, states = really(ids, lengths, *more)
        return np.where((lengths == T)[:, None], np.float32(np.nan), logits), states

    monkeypatch.setattr(model.scheduler, "network", network)
    walked = finish(behave(explainer, some, LOO))
    assert walked.there.tolist() == [True, False, False, False, True] and walked.done == 5
    assert (
        "at least one word" in walked.problems[1]
        and "masked already" in walked.problems[2]
        and "NaN" in walked.problems[3]
    )
    assert walked.judged.tolist() == [True, False, False, False, False], (
        "one word alone has C/F = 1 whatever the model does"
    )
    found = behaviour_report(model, some, {LOO: walked})
    assert found.lines[0].n == 2 and found.lines[0].judged == 1 and sum(found.left_out.values()) == 3


def test_hidden_states_that_half_precision_cannot_hold_are_said(explainer, model, sample, monkeypatch):
    really = model.scheduler.network

    def network(*asked):
        logits, states = really(*asked)
        return logits, None if states is None else np.full_like(states, 1e6)

    monkeypatch.setattr(model.scheduler, "network", network)
    walked = finish(behave(explainer, sample, CHANCE))
    assert len(walked.problems) == len(sample) and all("65,504" in problem for problem in walked.problems.values())
    assert behaviour_report(model, sample, {CHANCE: walked}) is None


def test_removal_that_leaves_nothing_is_a_sentence(tiny_model):
    gpt = tiny_model("gpt2")
    walked = finish(behave(Explainer(gpt), sample_of(["The ferry leaves."]), Course(erasure=REMOVAL)))
    assert list(walked.problems) == [0] and "Removal leaves nothing" in walked.problems[0]


# ---- reports, by hand


def walked_of(flips, free, states=None, C=2) -> Walked:
    flips, N = np.array(flips, dtype=np.int32), len(free)
    states = np.ones((N, 11, 2), np.float16) if states is None else np.asarray(states, np.float16)
    logits = np.zeros((N, 11, C), np.float32)
    return Walked(np.ones(N, bool), flips.reshape(N, -1), np.array(free, np.int32), logits, states, {})


def searched_of(fewest, free) -> Searched:
    return Searched(np.ones(len(free), bool), np.array(fewest, np.int32), np.array(free, np.int32), {})


@pytest.fixture
def reported(model):
    # Three texts of 4, 4 and 2 words. Random order: ½ and 1 (never), 1 and 1 (both at the last word), never twice.
    chance = walked_of([[2, 0], [4, 4], [0, 0]], [4, 4, 2])
    # The measure: the first word, two of four, never.
    states = np.ones((3, 11, 2))
    states[:, :, 1] = np.array([0, 1, 2])[:, None]
    states[:, HALF, :] = [[1, 0], [1, 1], [1, 2]]
    states[:, ALL, :] = [[0, 1], [0, 2], [0, 3]]
    loo = walked_of([[1], [2], [0]], [4, 4, 2], states)
    # One word of the first text changes its prediction, two of the second do, and nothing that of the third.
    searched = searched_of([1, 2, 0], [4, 4, 2])
    return behaviour_report(model, sample_of(["a b c d"] * 3), {LOO: loo, CHANCE: chance}, searched)


def test_a_report_by_hand(reported):
    chance, loo = reported.lines
    assert chance.course.random and reported.random is chance and [line.course for line in reported.ranked] == [LOO]
    assert loo.fidelity.mean == pytest.approx(1 - (0.25 + 0.5 + 1) / 3) and chance.fidelity.mean == pytest.approx(
        1 - (0.75 + 1 + 1) / 3
    )
    assert not loo.fidelity.known, "of three examples there is no interval"
    best = 1 - (0.25 + 0.5 + 1) / 3
    assert reported.best == pytest.approx(best)
    assert loo.normalised == pytest.approx(
        (loo.fidelity.mean - chance.fidelity.mean) / (best - chance.fidelity.mean)
    ) == pytest.approx(1) and np.isnan(chance.normalised)
    assert loo.never == pytest.approx(1 / 3) and chance.never == pytest.approx(0.5)
    # Not changed yet: all, then from 25 % on two, from 50 % on the one that never does.
    assert loo.unflipped == pytest.approx([1, 1, 1, *[2 / 3] * 2, *[1 / 3] * 6])
    assert (
        chance.unflipped[4] == 1
        and chance.unflipped[5] == pytest.approx(5 / 6)
        and chance.unflipped[10] == pytest.approx(0.5)
    )
    # Centroid (1, 1) to itself, then to (0, 2): 45 degrees. Spread (0 + σ)/2 stays.
    assert loo.centroid[[0, HALF]].tolist() == [0, 0] and loo.centroid[ALL] == pytest.approx(1 - 0.5**0.5)
    assert loo.spread[[0, HALF]].tolist() == [0, 0] and loo.spread[ALL] == pytest.approx(0)
    assert loo.sigma[[0, HALF]].tolist() == [0, 0] and loo.sigma[ALL] == pytest.approx(0)
    assert np.isnan(chance.spread).all() and np.isnan(chance.sigma).all(), "equal embeddings have no spread to change"


def test_every_model_reaches_1_under_an_order_that_is_best_for_it(model):
    """Divided by what no model allows, two models under their own best orders came to 1 and 0.53."""
    for fewest in ([1, 1, 1], [2, 3, 0], [4, 2, 2]):
        chance = walked_of([[0, 4], [4, 4], [0, 0]], [4, 4, 4])
        found = behaviour_report(
            model, sample_of(["x"] * 3), {CHANCE: chance, LOO: walked_of(fewest, [4] * 3)}, searched_of(fewest, [4] * 3)
        )
        assert found.lines[1].normalised == pytest.approx(1)
        assert found.best == pytest.approx(found.lines[1].fidelity.mean)


def test_an_order_that_a_beam_missed_bounds_what_is_best(model):
    walked = {CHANCE: walked_of([[13], [0]], [14, 14]), LOO: walked_of([[3], [5]], [14, 14])}
    found = behaviour_report(model, sample_of(["x"] * 2), walked, searched_of([4, 0], [14, 14]))
    assert found.best == pytest.approx(1 - (3 / 14 + 5 / 14) / 2) and found.lines[1].normalised == pytest.approx(1)
    assert found.beam == 2 and behaviour_result(found).has(Caveat.LIMITS_SEARCHED)
    none = behaviour_report(model, sample_of(["x"] * 2), walked)
    assert np.isnan(none.lines[1].normalised) and np.isnan(none.best)
    exact = behaviour_report(model, sample_of(["x"] * 2), walked, searched_of([1, 3], [12, 12]))
    assert exact.beam == 0 and not behaviour_result(exact).has(Caveat.LIMITS_SEARCHED)
    # Each single word is asked, so none is missed below a pair.
    pair = behaviour_report(model, sample_of(["x"] * 2), walked, searched_of([2, 1], [14, 14]))
    assert pair.beam == 0


def test_neither_many_nor_few_predictions_that_never_change_are_better(reported):
    header, rows = behaviour_table([reported])
    assert not re.search("[↑↓]", header[5]) and "never" in header[5] and all(len(row) == len(header) for row in rows)


@pytest.mark.parametrize("erasure", [MASK, REMOVAL])
def test_the_fewest_features_are_those_of_a_search_by_hand(explainer, erasure, tmp_path, passes):
    some, study, store = sample_of([*tiny.SENTENCES[:3], "[MASK]"]), FewestFeatures(erasure=erasure), Store(tmp_path)
    found = finish(behave(explainer, some, study, store))
    assert found.there.tolist() == [True] * 3 + [False] and "masked already" in found.problems[3]
    for i, example in enumerate(some.examples[:3]):
        encoded = explainer.encode(example.text, None, "word")
        oracle = explainer.oracles.of(encoded, erasure)
        first, fewest = oracle.logits(np.zeros((1, encoded.F), bool)).argmax(), 0
        for size in range(1, encoded.F + 1):
            masks = np.array([np.isin(np.arange(encoded.F), s) for s in itertools.combinations(range(encoded.F), size)])
            if not fewest and (oracle.logits(masks).argmax(axis=1) != first).any():
                fewest = size
        assert found.fewest[i] == fewest and found.free[i] == encoded.F
    again = Explainer(explainer.model)
    assert passes(lambda: finish(behave(again, some, study, Store(tmp_path)))) == 0
    assert known(again, some, replace(study, unit="token"), store).done == 0
    other = ERASURES[(ERASURES.index(erasure) + 1) % len(ERASURES)]
    assert known(again, some, replace(study, erasure=other), store).done == 0


def test_the_area_above_the_line_is_the_fidelity(model):
    # Of ten words each, so that the ratios are the steps: mean over the steps 0 … 9 of what has not changed is the mean
    # of C/F.
    line = behaviour_report(model, sample_of(["x"] * 4), {LOO: walked_of([[1], [3], [10], [7]], [10] * 4)}).lines[0]
    assert line.fidelity.mean == pytest.approx(1 - line.unflipped[:10].mean())


def test_drift_is_of_random_order_where_that_is_known(reported):
    chance, loo = reported.lines
    result, without = behaviour_result(reported), behaviour_result(replace(reported, lines=(loo,)))
    assert result.fact("centroid_all").value == chance.centroid[ALL] and without.fact("centroid_all") is None
    table = behaviour_table([reported])
    assert [row[table[0].index("centroid change at 100 %")] for row in table[1]] == [
        chance.centroid[ALL],
        pytest.approx(1 - 0.5**0.5),
    ]


def many(model, chance, loo, times=10, **more):
    """Random order and a measure, each text so many times: verdicts begin at 20."""
    walked = {CHANCE: walked_of(*(one * times for one in chance)), LOO: walked_of(*(one * times for one in loo))}
    return behaviour_report(model, replace(sample_of(["a"] * times * len(loo[1])), **more), walked)


def test_of_few_texts_and_of_picked_ones_no_order_is_the_earliest(model):
    chance, loo = ([[2], [4]], [4, 4]), ([[1], [2]], [4, 4])
    enough = behaviour_result(many(model, chance, loo))
    assert enough.outcome is BehaviourOutcome.EARLIER and enough.slots["measure"] == "leave-one-out"
    few = behaviour_result(many(model, chance, loo, 9))
    picked = behaviour_result(many(model, chance, loo, picked="by what the model does with them"))
    for result, caveat in ((few, Caveat.FEW_TEXTS), (picked, Caveat.SELECTED)):
        assert result.outcome is BehaviourOutcome.RANDOM_ALONE and result.has(caveat)
        assert result.slots["share"] == pytest.approx(0.75) and result.slots["measure"] == RANDOM
        assert result.fact("fidelity") is None and result.fact("fidelity_random").value == pytest.approx(0.25)


def test_the_outcome_is_which_order_changes_predictions_first(model, reported):
    lines = ([[2, 0], [4, 4], [0, 0]], [4, 4, 2]), ([[1], [2], [0]], [4, 4, 2])
    result = behaviour_result(many(model, *lines, 7))
    assert result.outcome is BehaviourOutcome.EARLIER and result.slots["model"] == model.name
    assert (result.slots["measure"], result.slots["count"]) == ("leave-one-out", 21)
    assert result.slots["share"] == pytest.approx(0.5833, abs=1e-4)
    facts = {one.key: one.value for one in result.facts}
    assert facts["fidelity"] == pytest.approx(0.4167, abs=1e-4) and facts["never"] == pytest.approx(1 / 3)
    assert facts["fidelity_random"] == pytest.approx(1 - 0.9167, abs=1e-4) and facts["centroid_half"] == 0
    assert result.caveats == (Caveat.NOT_TESTED,)
    none = many(model, ([[1], [1]], [4, 4]), ([[2], [4]], [4, 4]))
    assert behaviour_result(none).outcome is BehaviourOutcome.NOT_EARLIER
    assert none.lines[1].normalised != none.lines[1].normalised
    alone = behaviour_report(model, sample_of(["a b"]), {CHANCE: walked_of([[1]], [2])})
    assert behaviour_result(alone).fact("centroid_all") is None, "one embedding has no spread"
    short = behaviour_report(model, sample_of(["a", "b"]), {CHANCE: walked_of([[1], [1]], [1, 1])})
    result, (table,) = behaviour_result(short), Behaviour().tables(short)
    assert result.outcome is BehaviourOutcome.NOT_KNOWN and result.has(Caveat.SINGLE_FEATURE)
    assert table[1][0][table[0].index("never changes (%)")] == "—" and "nan" not in str(table)
    assert alone.random.fidelity.mean == 0.5 and not alone.random.fidelity.known and np.isnan(alone.random.spread).all()


@pytest.mark.parametrize("n", [FEW - 1, FEW])
def test_fidelity_has_an_interval_from_the_fewest_examples_on(model, n):
    found = behaviour_report(
        model, sample_of(["a b"] * n), {CHANCE: walked_of([[1 + i % 2] for i in range(n)], [2] * n)}
    )
    fidelity = found.random.fidelity
    assert fidelity.known == (n == FEW) and (not fidelity.known or fidelity.low < fidelity.mean < fidelity.high)


def test_a_measure_that_went_through_fewer_examples_is_not_set_before_the_others(model):
    """While it streamed, a measure's one example stood against ten of random order."""
    chance, few = walked_of([[2], [2]], [4, 4]), walked_of([[1], [1]], [4, 4])
    made = behaviour_report(
        model, sample_of(["x"] * 2), {CHANCE: chance, LOO: replace(few, there=np.array([True, False]))}
    )
    result = behaviour_result(made)
    assert made.ranked == [] and result.outcome is BehaviourOutcome.RANDOM_ALONE and result.fact("fidelity") is None


def test_no_order_is_the_earliest_while_examples_are_to_come(reported):
    lines = tuple(replace(line, n=20, judged=20) for line in reported.lines)
    made = replace(reported, lines=lines, tally=Tally(20, 55, coming=True, fewest=20))
    result = behaviour_result(made)
    assert result.outcome is BehaviourOutcome.RUNNING and result.has(Caveat.PARTIAL)
    assert result.fact("fidelity").value == pytest.approx(0.4167, abs=1e-4)
    assert result.fact("fidelity_random").value == pytest.approx(1 - 0.9167, abs=1e-4)
    # One of fewer is passed over.
    (first, second) = lines
    passed = behaviour_result(replace(made, lines=(first, replace(second, n=19, judged=19))))
    assert passed.fact("fidelity") is None and passed.fact("fidelity_random") is not None


def test_of_fewer_than_20_texts_none_is_the_earliest_once_all_are_there(reported):
    made = replace(reported, tally=Tally(6, 55, coming=True, fewest=20))
    assert behaviour_result(made).outcome is BehaviourOutcome.RUNNING
    result = behaviour_result(replace(reported, tally=Tally(6, 6)))
    assert result.outcome is BehaviourOutcome.RANDOM_ALONE and result.has(Caveat.FEW_TEXTS)
    coming, ended = nothing_erased("m", True), nothing_erased("m", False)
    assert coming.outcome is BehaviourOutcome.RUNNING and coming.caveats == (Caveat.PARTIAL,)
    assert ended.outcome is BehaviourOutcome.NOT_KNOWN and ended.caveats == (Caveat.FEW_TEXTS,)


def test_a_prediction_that_never_changes_is_called_so(model):
    made = behaviour_report(model, sample_of(["x"] * 2), {CHANCE: walked_of([[0], [0]], [4, 4])})
    assert behaviour_result(made).outcome is BehaviourOutcome.NEVER and made.random.never == 1
    # Random order changes some.
    both = many(model, ([[1], [3]], [4, 4]), ([[0], [0]], [4, 4]))
    result = behaviour_result(both)
    assert result.outcome is BehaviourOutcome.NOT_EARLIER and result.fact("never").value == 1
    assert result.fact("fidelity_random").value == pytest.approx(0.5) and result.slots["count"] == 20
    removed = behaviour_report(model, sample_of(["x"] * 2), {Course(erasure=REMOVAL): walked_of([[2], [4]], [4, 4])})
    assert behaviour_result(removed).outcome is BehaviourOutcome.RANDOM_ALONE


def test_normalised_fidelity_compares_on_the_examples_that_both_have(model):
    chance = walked_of([[4], [1], [1]], [4, 4, 4])
    chance = replace(chance, there=np.array([True, False, False]))
    walked = {CHANCE: chance, LOO: walked_of([[1], [4], [4]], [4, 4, 4])}
    line = behaviour_report(model, sample_of(["x"] * 3), walked, searched_of([1, 2, 3], [4, 4, 4])).lines[1]
    assert line.normalised == pytest.approx(1) and line.fidelity.mean == pytest.approx(1 - 0.75)


COLUMNS = [
    "model",
    "order",
    "erased by",
    "masking ratio (0 to 1)",
    "examples",
    "change of centroid (1 - cosine, 0 to 2)",
    "change of mean standard deviation (share)",
    "change of mean standard deviation (absolute)",
    "predictions not changed yet (share)",
    "fidelity (higher is more faithful)",
    "fidelity, 95 % from",
    "fidelity, 95 % to",
    "normalised fidelity (at most 1)",
    "predictions that never change (share)",
    "examples judged",
    "examples on which the models predict different classes",
]


def test_rows_json_and_figures_hold_every_number(reported):
    rows = behaviour_rows(reported)
    assert (
        len(rows) == 22
        and all(list(row) == COLUMNS for row in rows)
        and [row["masking ratio (0 to 1)"] for row in rows[:11]] == [k / 10 for k in range(11)]
    )
    told = behaviour_json([reported])["models"][0]["curves"]
    assert (
        [one["measure"] for one in told] == ["random order", "leave-one-out"]
        and told[0]["spread_change"] == told[0]["spread_difference"] == [None] * 11
        and told[0]["normalised_fidelity"] is None
    )
    figure = go.Figure(behaviour_panels([reported, replace(reported, model="<b>other")]))
    assert len(figure.data) == 12 and {trace.name for trace in figure.data} >= {
        f"leave-one-out, {html.escape('<b>other')}"
    }
    assert figure.data[3].y == pytest.approx(100 * reported.lines[1].unflipped)
    # A dash and a mark of its own for each model: colour is not the only sign.
    assert len({(trace.line.dash, trace.marker.symbol) for trace in figure.data}) == 2


# ---- the map


@pytest.fixture(scope="module")
def clouds():
    """Twelve texts whose embeddings lie in one cloud while unmasked and in another once half is masked."""
    rng = np.random.default_rng(0)
    states = rng.normal(0, 0.1, (12, 11, 6))
    states[:, :3, 0] += 3
    states[:, 3:, 1] += 3
    return walked_of([[1]] * 12, [4] * 12, states)


@pytest.fixture
def quick_umap(monkeypatch):
    """UMAP with a tenth of its epochs."""
    import umap

    monkeypatch.setattr(umap, "UMAP", partial(umap.UMAP, n_epochs=50))


def test_a_map_keeps_clouds_apart_is_the_same_again_and_is_kept(clouds, monkeypatch, tmp_path, quick_umap):
    points, store = points_of(clouds), Store(tmp_path)
    assert (
        len(points) == 12 * len(SHOWN)
        and points.states[1].tolist() == clouds.states[0, SHOWN[1]].astype(np.float32).tolist()
    )
    assert read_map(points, store) is None
    places = draw_map(points, store)
    assert places.shape == (60, 2) and places.dtype == np.float32 and np.isfinite(places).all()
    few = points.ratio <= 2
    nearest = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(60)
    assert (few[nearest.argmin(axis=1)] == few).mean() > 0.95
    assert np.array_equal(embedding_map._umap(points.states), places), "a fixed seed"
    monkeypatch.setattr(embedding_map, "_umap", lambda _: pytest.fail("it is in the store"))
    assert np.array_equal(draw_map(points_of(clouds), store), places)
    assert points_of(replace(clouds, states=clouds.states + np.float16(1))).key != points.key


def test_few_points_have_no_map(clouds):
    with pytest.raises(ValueError, match="at least 20 embeddings, there are 15"):
        draw_map(points_of(replace(clouds, there=np.arange(12) < 3)))


def test_points_are_told_apart_by_mark_and_colour(clouds):
    points, labels = points_of(clouds), np.repeat(np.arange(12) % 2, 5)
    predicted = np.zeros(60, dtype=int)
    for colour, count in ((MASKED, 5), (LABEL, 2), (PREDICTION, 1)):
        groups = groups_of(colour, points.ratio, labels, predicted, ("<i>no", "yes", "never predicted"))
        assert len(groups) == count == len({mark for _, _, mark, _ in groups}) == len({hue for _, hue, _, _ in groups})
        assert np.array_equal(sum(members.astype(int) for *_, members in groups), np.ones(60))
    told = [(f"<b>{i}", int(i), "no") for i in points.example]
    figure = go.Figure(
        map_figure(
            np.zeros((60, 2)),
            groups_of(LABEL, points.ratio, labels, predicted, ("<i>no", "yes")),
            told,
            points.ratio,
            np.arange(5),
        )
    )
    path, first, _ = figure.data
    assert (
        path.mode == "lines"
        and len(path.x) == 5
        and first.name == html.escape("label: <i>no")
        and list(first.customdata[0]) == [html.escape("<b>0"), 0, "no", 0]
    )
    with pytest.raises(ValueError, match="colour must be one of"):
        groups_of("taste", points.ratio, labels, predicted, ("a",))
    assert set(COLOURS) == {MASKED, LABEL, PREDICTION} and MASK in ERASURES
