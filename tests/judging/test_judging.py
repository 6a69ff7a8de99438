"""Attributions judged under a real network: the formulas again, literally; what is shared, tested and stored."""

import numpy as np
import pytest

from core.data.tables import LabelledTexts
from core.explanation.explainer import Explainer, softmax, with_reference
from core.judging.baselines import BASELINES, judge_random, judge_shuffled
from core.judging.judging import How, Judge, judge_measure, judging_cost
from core.mathematics.erasure import NORMALISED, REVERSED, SHARES, at_share, retained
from core.mathematics.ranking import ranking
from core.mathematics.statistics import simes
from core.mathematics.stepwise import finish
from core.metrics.catalogue import default_metrics, of_examples
from core.network.scheduler import Cancelled
from core.oracle.erasing import MASK, REMOVAL, ZERO, erased_rows
from core.storage.store import Store
from core.validity.fitting import Drawing, fit_reference
from core.validity.references import find_reference
from tests import tiny

TEXT = "A warm and funny film about two brothers who lose it all"
HARD = tuple(name for name, metric in of_examples().items() if not metric.soft)
DEFAULT = default_metrics()
CHEAP = ("leave-one-out", "gradient", "input × gradient", "integrated gradients", "attention", "scaled attention")


@pytest.fixture(scope="module")
def reference(bundled):
    return find_reference(bundled)


@pytest.fixture
def explainer(bundled, reference, tmp_path):
    return Explainer(bundled, Store(tmp_path), reference)


@pytest.fixture
def encoded(explainer):
    return explainer.encode(TEXT, None, "word")


def tiny_reference(model):
    """A reference of a tiny model's own texts."""
    texts = list(tiny.SENTENCES)
    return fit_reference(
        model,
        LabelledTexts(texts, None, np.zeros(len(texts), dtype=np.int64), (), "tiny", "0" * 64),
        Drawing(maskings=3),
    )


def probability(model, encoded, mask, erasure, target):
    """One erased input, alone, through the network."""
    (row,) = erased_rows(encoded, mask[None], erasure)
    return softmax(
        model.run(row.ids[None], np.array([len(row.ids)]), None if row.type_ids is None else row.type_ids[None])[0][0]
    )[target]


@pytest.mark.parametrize("erasure", [MASK, REMOVAL, ZERO])
def test_hard_metrics_are_the_papers_formulas_written_out(explainer, encoded, erasure):
    """Against a slow twin, one input at a time."""
    model = explainer.model
    judge = Judge(explainer, encoded, How(erasure=erasure))
    scores, _ = judge.attribution("leave-one-out")
    order, F = ranking(scores), encoded.F

    def p(erased):
        mask = np.zeros(F, dtype=bool)
        mask[list(erased)] = True
        return probability(model, encoded, mask, erasure, judge.target)

    full, none = p([]), p(range(F))
    sufficiency, comprehensiveness = [], []
    for percent in (1, 5, 10, 20, 50):
        rationale = order[: max(1, -(-F * percent // 100))]
        S, S0 = 1 - max(0, full - p(set(range(F)) - set(rationale))), 1 - max(0, full - none)
        sufficiency.append(min(1, max(0, (S - S0) / (1 - S0))))
        comprehensiveness.append(min(1, max(0, full - p(rationale)) / (1 - S0)))
    rated = judge.rate(scores, ("NS", "NC"))
    np.testing.assert_allclose(rated.found["NS"].by_length, sufficiency, atol=1e-5)
    np.testing.assert_allclose(rated.found["NC"].by_length, comprehensiveness, atol=1e-5)
    assert rated.found["NS"].value == pytest.approx(np.mean(sufficiency), abs=1e-5)


def test_the_class_is_the_predicted_one(explainer, encoded):
    assert Judge(explainer, encoded).target == explainer.logits(encoded).argmax()


def test_hard_metrics_share_their_forward_passes(explainer, encoded):
    """Eight metrics of six measures ask for no more inputs than there are distinct ones."""
    for name in CHEAP:
        judge_measure(explainer, encoded, name, "signed", HARD)
    asked = sum(explainer.oracles.of(encoded, erasure).counters.passes for erasure in (MASK, REMOVAL, ZERO))
    known = [len(explainer.oracles.of(encoded, erasure)._logits) for erasure in (MASK, REMOVAL, ZERO)]
    # What was known before its states were asked for is read a second time: the text itself, and leave-one-out's own
    # masks.
    assert asked <= sum(known) + encoded.F + 2


def test_every_number_has_the_p_values_of_its_inputs(explainer, encoded):
    rated = judge_measure(
        explainer, encoded, "leave-one-out", "signed", ("NS", "decision flip", "CORR", "Soft-NS", "sparsity")
    )
    assert set(rated.inputs) == {"NS", "decision flip", "CORR", "Soft-NS"}
    # The zero embedding, and 32 draws as one.
    judge = Judge(explainer, encoded, How(), True)
    q = retained(rated.scores, encoded.premasked)
    expected = [judge.soft.p(0 * q)["calibrated"][0], simes(judge.soft.p(q)["calibrated"])]
    np.testing.assert_allclose(rated.inputs["Soft-NS"]["calibrated"], expected)
    assert len(rated.inputs["CORR"]["calibrated"]) == encoded.F == len(rated.inputs["decision flip"]["literal"])
    mask = np.ones((1, encoded.F), dtype=bool)
    everything = explainer.tested(encoded).judge(mask).p["calibrated"][0]
    assert everything in rated.inputs["NS"]["calibrated"]


def test_rationales_are_tested_under_each_erasure(explainer, encoded):
    rated = judge_measure(explainer, encoded, "leave-one-out", "signed", ("NS",))
    assert set(rated.leaves) == {MASK, REMOVAL, ZERO}
    gone = np.zeros((1, encoded.F), dtype=bool)
    gone[0, ranking(rated.scores)[:1]] = True
    for erasure, forms in rated.leaves.items():
        assert forms["calibrated"].shape == (2, 5)
        assert forms["calibrated"][1, 0] == explainer.tested(encoded, erasure).judge(gone).p["calibrated"][0]
        assert forms["literal"][0, 0] == explainer.tested(encoded, erasure).judge(~gone).p["literal"][0]


def test_without_a_reference_nothing_is_tested(tiny_model):
    explainer = Explainer(tiny_model("bert"))
    rated = judge_measure(
        explainer,
        explainer.encode("The boat reads the wind", None, "word"),
        "leave-one-out",
        "signed",
        (*DEFAULT, "monotonicity"),
    )
    assert rated.inputs == {} == rated.leaves and set(rated.found) == {*DEFAULT, "monotonicity"}


def test_what_is_stored_is_read_and_is_the_same(bundled, tmp_path, encoded):
    first = with_reference(bundled, Store(tmp_path / "own"))
    made = judge_measure(first, encoded, "gradient", "signed", tuple(of_examples()), How(draws=4))
    again = with_reference(bundled, Store(tmp_path / "own"))
    before = bundled.scheduler.counters.passes
    read = judge_measure(again, encoded, "gradient", "signed", tuple(of_examples()), How(draws=4))
    assert bundled.scheduler.counters.passes == before
    for name, score in made.found.items():
        np.testing.assert_equal(
            (read.found[name].value, read.found[name].error, read.found[name].by_length, read.found[name].note),
            (score.value, score.error, score.by_length, score.note),
        )
    assert read.inputs.keys() == made.inputs.keys() and read.leaves.keys() == made.leaves.keys()
    for name, inputs in made.inputs.items():
        np.testing.assert_equal(read.inputs[name], inputs)
    np.testing.assert_equal(read.leaves, made.leaves)


def test_the_size_of_noise_is_part_of_what_its_scores_are_kept_by_and_of_no_other(untested, encoded):
    names = ("Soft-NS", "Soft-NC (noise)")
    one, two = (judge_measure(untested, encoded, "gradient", "signed", names, How(sigma=s)) for s in (0.5, 2.0))
    assert one.found["Soft-NS"].value == two.found["Soft-NS"].value
    # The louder, the more of the prediction goes.
    assert one.found["Soft-NC (noise)"].value < two.found["Soft-NC (noise)"].value


def test_the_shares_of_a_fixed_share_are_one_batch_of_draws_of_their_own(bundled, encoded):
    # Ten draws begin with those of four.
    scores, one_by_one = np.linspace(1, -1, encoded.F) ** 3, Judge(Explainer(bundled), encoded, How(draws=10))
    judge = Judge(Explainer(bundled), encoded, How(draws=4))
    found = judge.rate(scores, ("Soft-NS (fixed share)",)).found["Soft-NS (fixed share)"]
    assert (judge.soft.counters.passes, judge.soft.counters.batches) == (1 + len(SHARES) * 2, 2)
    # By hand: each share's two draws, of ten, through Soft-NS's own formula, asked for alone.
    full = probability(bundled, encoded, np.zeros(encoded.F, dtype=bool), MASK, judge.target)
    soft, every = one_by_one.soft, np.ones(encoded.F, dtype=bool)
    none = soft.probabilities(np.zeros(encoded.F))[0, judge.target]
    base = retained(scores, ~every)
    taken = [soft.probabilities(at_share(base, every, share))[:, judge.target] for share in SHARES]
    kept = [draws[2 * i : 2 * i + 2] for i, draws in enumerate(taken)]
    lost = np.maximum(0, full - np.array(kept)) / (full - none)
    values = np.clip(1 - lost, 0, 1)
    assert found.value == pytest.approx(values.mean(), abs=1e-5)
    assert found.error == pytest.approx(np.sqrt((values.var(axis=1, ddof=1) / 2).sum()) / 5, abs=1e-5)


@pytest.fixture(scope="module")
def untested(bundled, tmp_path_factory):
    """One without a reference, so that nothing is tested, and with a store, so that what is kept by too little of its
    choices is read for others.
    """
    return Explainer(bundled, Store(tmp_path_factory.mktemp("untested")))


@pytest.fixture(scope="module")
def as_usual(untested):
    return judge_measure(untested, untested.encode(TEXT, None, "word"), "gradient", "signed", DEFAULT, How(draws=4))


@pytest.mark.parametrize(
    "other",
    [
        How(draws=5),
        How(draws=4, seed=1),
        How(draws=4, scaling="sigmoid"),
        How(draws=4, scaling=REVERSED),
        How(draws=4, placement=NORMALISED),
        How(draws=4, erasure=REMOVAL),
    ],
)
def test_other_choices_are_other_results(untested, encoded, as_usual, other):
    two = judge_measure(untested, encoded, "gradient", "signed", DEFAULT, other)
    assert any(as_usual.found[name].value != two.found[name].value for name in DEFAULT)


def test_random_attributions_are_reproduced_stream_and_are_stored(bundled, tmp_path, encoded):
    explainer = with_reference(bundled, Store(tmp_path))
    steps = []
    work = judge_random(explainer, encoded, ("NS", "Soft-NC"), How(draws=2), 5)
    try:
        while True:
            steps.append(next(work))
    except StopIteration as end:
        found = end.value
    assert [len(step["NS"].values) for step in steps] == [1, 2, 3, 4, 5] and len(set(found["NS"].values)) > 1
    before = bundled.scheduler.counters.passes
    again = finish(judge_random(with_reference(bundled, Store(tmp_path)), encoded, ("NS", "Soft-NC"), How(draws=2), 5))
    assert again.keys() == found.keys()
    for name, one in found.items():
        np.testing.assert_array_equal(again[name].values, one.values)
        np.testing.assert_equal(again[name].p, one.p)
    assert bundled.scheduler.counters.passes == before
    judge = Judge(explainer, encoded, How(draws=2))
    assert judge.rate(judge.random(3), ("NS",)).found["NS"].value == found["NS"].values[3]


def test_inputs_of_random_attributions_are_tested_as_one_by_one(explainer, encoded):
    names, how = ("NS", "Soft-NC", "sparsity"), How(draws=2)
    found = finish(judge_random(explainer, encoded, names, how, 3))
    judge = Judge(explainer, encoded, how, True)
    each = [judge.rate(judge.random(r), names).inputs for r in range(3)]
    for name in ("NS", "Soft-NC"):
        for form, p in found[name].p.items():
            np.testing.assert_allclose(p, np.concatenate([one[name][form] for one in each]), atol=1e-9)
        assert set(found[name].p) == {"calibrated", "literal"} and len(found[name].p["calibrated"]) >= 3
    assert found["sparsity"].p == {}, "it asks for no input"
    bare = finish(judge_random(Explainer(explainer.model), encoded, names, how, 3))
    assert bare["NS"].p == {} and bare["NS"].values == pytest.approx(found["NS"].values, abs=1e-5)


def test_shuffled_scores_are_the_same_scores_elsewhere(explainer):
    encoded = explainer.encode("A warm [MASK] film about brothers", None, "word")
    judge = Judge(explainer, encoded)
    scores, _ = judge.attribution("leave-one-out")
    shuffled = [judge.shuffled(scores, r) for r in range(4)]
    for one in shuffled:
        np.testing.assert_array_equal(np.sort(one), np.sort(scores))
        assert one[2] == scores[2], "what the text masks stays where it is"
    assert len({tuple(one) for one in shuffled}) > 1
    found = finish(judge_shuffled(explainer, encoded, "leave-one-out", "signed", ("Soft-NS",), How(draws=2), 4))
    assert found["Soft-NS"].values.shape == (4,)
    # Tested beside it, it is in another batch.
    assert found["Soft-NS"].values[1] == pytest.approx(judge_shuffled_value(explainer, encoded, shuffled[1]), abs=1e-5)


def judge_shuffled_value(explainer, encoded, scores):
    return Judge(explainer, encoded, How(draws=2)).rate(scores, ("Soft-NS",)).found["Soft-NS"].value


def test_two_attributions_of_one_order_agree_under_hard_metrics_and_differ_under_soft_ones(explainer, encoded):
    """SoftFaith Fig. 1: the same top words, other weights."""
    judge = Judge(explainer, encoded, How(draws=16))
    order = ranking(judge.attribution("leave-one-out")[0])
    steep, even = np.zeros(encoded.F), np.zeros(encoded.F)
    steep[order] = np.geomspace(1, 1e-3, encoded.F)
    even[order] = np.linspace(1, 0.9, encoded.F)
    one, two = (judge.rate(scores, DEFAULT).found for scores in (steep, even))
    assert (one["NS"].value, one["NC"].value) == (two["NS"].value, two["NC"].value)
    assert one["Soft-NS"].value != two["Soft-NS"].value and one["Soft-NC"].value != two["Soft-NC"].value


@pytest.mark.parametrize("tested", [True, False])
def test_where_removal_leaves_nothing_the_metrics_that_need_it_say_so(tiny_model, tested):
    model = tiny_model("gpt2")
    explainer = Explainer(model, None, tiny_reference(model) if tested else None)
    encoded = explainer.encode("boat", None, "word")
    assert (encoded.feature_of >= 0).all(), "this tokenizer adds no special tokens"
    rated = judge_measure(
        explainer, encoded, "gradient", "signed", ("NS", "sparsity", "decision flip"), How(erasure=REMOVAL)
    )
    assert (
        np.isnan(rated.found["NS"].value)
        and "leaves nothing" in rated.found["NS"].note
        and np.isnan(rated.found["decision flip"].value)
    )
    assert np.isfinite(rated.found["sparsity"].value), "asks for no input"
    assert set(rated.leaves) == ({MASK, ZERO} if tested else set())


def test_a_text_that_is_masked_throughout_has_no_metrics_and_no_tests(explainer):
    rated = judge_measure(explainer, explainer.encode("[MASK] [MASK]", None, "word"), "gradient", "signed", DEFAULT)
    assert (
        all(np.isnan(score.value) and "masked" in score.note for score in rated.found.values()) and rated.leaves == {}
    )


def test_scores_without_an_order_are_not_tested(explainer, encoded):
    judge = Judge(explainer, encoded, How(), True)
    assert judge.leaves(np.full(encoded.F, np.nan)) == {}


def test_adding_a_metric_draws_nothing_again(bundled, tmp_path, encoded):
    def work(names):
        explainer = with_reference(bundled, Store(tmp_path / "own"))
        before = bundled.scheduler.counters.passes
        judge_measure(explainer, encoded, "gradient", "signed", names, How(draws=4))
        finish(judge_random(explainer, encoded, names, How(draws=4), 3))
        finish(judge_shuffled(explainer, encoded, "gradient", "signed", names, How(draws=4), 3))
        return bundled.scheduler.counters.passes - before

    assert work(("NS", "Soft-NC")) > 0
    assert work(("Soft-NC", "NS")) == 0
    # Seven attributions, four draws each, and the zero embedding for each of the three works.
    assert work(("Soft-NS", "NS", "Soft-NC")) == 7 * 4 + 3


def test_forgetting_an_example_writes_its_p_values(bundled, tmp_path, encoded):
    store = Store(tmp_path / "own")
    explainer = with_reference(bundled, store)
    masks = np.eye(encoded.F, dtype=bool)
    explainer.tested(encoded, REMOVAL).judge(masks)
    explainer.forget(encoded)
    assert with_reference(bundled, store).tested(encoded, REMOVAL).known(masks)


def test_a_judging_can_be_stopped(explainer, encoded):
    with pytest.raises(Cancelled):
        judge_measure(explainer, encoded, "leave-one-out", "signed", HARD, cancelled=lambda: True)


def test_the_cost_is_no_less_than_what_is_asked(explainer, encoded):
    names = (*DEFAULT, "monotonicity", "CORR")
    cost = judging_cost(explainer, encoded, names, How(draws=4), "leave-one-out")
    before = explainer.model.scheduler.counters.passes
    judge_measure(explainer, encoded, "leave-one-out", "signed", names, How(draws=4))
    assert explainer.model.scheduler.counters.passes - before <= cost.passes + 1 and cost.seconds > 0
    assert judging_cost(explainer, encoded, DEFAULT, attributions=BASELINES).passes > cost.passes


def test_the_cost_of_many_attributions_is_close_to_what_is_asked(bundled):
    """Thirty random ones of a short text have few rationales of one word: they cost what they take, not three times."""
    explainer = Explainer(bundled)
    encoded = explainer.encode("A quiet and moving film, and long.", None, "word")
    cost = judging_cost(explainer, encoded, DEFAULT, How(draws=2), attributions=BASELINES)
    before = explainer.model.scheduler.counters.passes
    finish(judge_random(explainer, encoded, DEFAULT, How(draws=2)))
    made = explainer.model.scheduler.counters.passes - before
    assert made <= cost.passes <= 1.25 * made
