"""Checking a model on a sample: a slow twin that masks by hand, what the store saves, reports worked out on paper, and
the command line.
"""

import html
import json
from dataclasses import replace
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from scipy.special import softmax
from scipy.stats import betabinom

from core.commands.command_line import main
from core.commands.evaluate import GOES_ON
from core.data.examples import DataSet, Example, bundled_set
from core.data.mapping import build
from core.data.parsed import BadData
from core.data.sources import understand
from core.data.tables import LabelledTexts, read_table
from core.evaluation import families
from core.evaluation.asking import read_study as known
from core.evaluation.asking import run_study as check
from core.evaluation.asking import study_cost as check_cost
from core.evaluation.engine import Run
from core.evaluation.findings import points_text
from core.evaluation.sampling import Sample, draw_examples, draw_sample, same_examples
from core.evaluation.studies.check_findings import (
    _LOSES_NOTHING,
    LengthSplit,
    _unmasked_too,
    by_length,
    check_findings,
    leads_by_length,
    length_split,
)
from core.evaluation.studies.check_question import MaskingCheck, check_json, check_rows
from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    ONE_CLASS,
    PICKED,
    POOR,
    REJECTED,
    TRAINED_HERE,
    TRUSTED,
    UNSURE,
    UNTESTED,
    build_check_report,
)
from core.evaluation.studies.check_tables import faithfulness_table, ratios_table, standing, training_table
from core.evaluation.studies.disagreement import disagreement
from core.evaluation.studies.model_check import Curve, Passed
from core.evaluation.studies.orders import RANDOM
from core.explanation.explainer import Explainer
from core.explanation.recursive import UNSTABLE, random_masks
from core.explanation.rows import choose_variant
from core.figures.check_figures import p_panels, panels, spans
from core.figures.figures import LOWEST_P
from core.mathematics.curves import Areas
from core.mathematics.statistics import Interval
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.network.features import masked_ids
from core.network.scheduler import Cancelled, Input, Scheduler
from core.results.caveats import Caveat
from core.results.model_check import ModelCheckOutcome, check_result, unchecked_result
from core.results.result import Kind
from core.storage.store import Store
from core.texts.checks import curves_table
from core.validity.fitting import Drawing, fit_reference
from core.validity.marks import SIGN, Why
from core.validity.masf import p_values
from core.validity.references import CALIBRATED, FORMS, LITERAL, held_out_of
from core.wording import Tally
from tests import tiny

LABELS = tiny.LABELS
TEXTS = tiny.SENTENCES[::5]
CHANCE, LOO, GRADIENT = Curve(), Curve("leave-one-out"), Curve("gradient", "absolute")


def data_of(texts, labels=LABELS, classes=LABELS, evidence=()) -> DataSet:
    """Examples whose labels take turns."""
    found = tuple(
        Example(f"e{i}", text, None, labels[i % len(labels)], (), "", tuple(evidence)) for i, text in enumerate(texts)
    )
    return DataSet("toy.jsonl", "0" * 64, found, classes)


def whole(data: DataSet) -> Sample:
    """All of the data, in the order of the file, which these tests read by place."""
    found = draw_sample(data, LABELS, len(data))
    order = sorted(range(len(found)), key=lambda i: data.examples.index(found.examples[i]))
    return replace(found, examples=tuple(found.examples[i] for i in order), labels=found.labels[order])


def part(sample: Sample, start: int, end: int) -> Sample:
    return replace(sample, examples=sample.examples[start:end], labels=sample.labels[start:end])


def drawn_from(sentences) -> LabelledTexts:
    return LabelledTexts(list(sentences), None, np.zeros(len(sentences), dtype=np.int64), (), "texts", "0" * 64)


@pytest.fixture(scope="module")
def model(tiny_model):
    return tiny_model("bert")


@pytest.fixture(scope="module")
def reference(model):
    return fit_reference(model, drawn_from(tiny.SENTENCES), Drawing(maskings=3))


@pytest.fixture(scope="module")
def sample():
    return whole(data_of(TEXTS))


@pytest.fixture
def explainer(model, reference):
    return Explainer(model, None, reference)


def same(one: Passed, other: Passed, atol: float = 0.0) -> bool:
    """atol: of numbers that were computed in other batches."""
    pairs = [
        (one.predicted, other.predicted),
        (one.values, other.values),
        (one.found, other.found),
        *((one.p[form], other.p[form]) for form in FORMS),
    ]
    alike = all(np.allclose(a, b, rtol=0, atol=atol, equal_nan=True) for a, b in pairs)
    return alike and one.problems == other.problems


# ---- the sample


def test_a_sample_is_the_same_for_a_seed_and_in_the_order_of_drawing():
    data = data_of(tiny.SENTENCES)
    one, again, other = (draw_sample(data, LABELS, 10, seed) for seed in (3, 3, 4))
    drawn = [example.id for example in one.examples]
    assert drawn == [example.id for example in again.examples] != [example.id for example in other.examples]
    assert drawn != sorted(drawn, key=lambda name: int(name[1:])) and len(set(drawn)) == 10
    # What a person sees on the way stands for the whole, however the file is sorted.
    assert drawn[:4] == [example.id for example in draw_sample(data, LABELS, 4, 3).examples]
    assert (one.name, one.digest) == (data.name, data.digest)


@pytest.mark.parametrize("seed", range(5))
def test_a_larger_sample_holds_the_smaller_ones_and_one_too_large_takes_all(seed):
    data = data_of(tiny.SENTENCES)
    drawn = [
        {example.id for example in draw_sample(data, LABELS, count, seed).examples}
        for count in (1, 2, 7, 20, 39, 40, 1000)
    ]
    assert [len(ids) for ids in drawn] == [1, 2, 7, 20, 39, 40, 40]
    assert all(small < large or len(small) == 40 for small, large in pairwise(drawn))


def test_labels_become_classes_whatever_their_case_or_number():
    for names in (LABELS, tuple(name.upper() for name in LABELS), ("0", "1", "2")):
        # The classes of the data stand in another order than the model's.
        found = whole(data_of(TEXTS, names, tuple(sorted(names, reverse=True))))
        assert found.labels.tolist() == [i % 3 for i in range(len(TEXTS))] and found.labels.dtype == np.int64


def test_what_has_no_label_that_the_model_knows_is_left_out_and_counted():
    data = data_of(tiny.SENTENCES, (LABELS[0], None, "attic", LABELS[1]), (*LABELS[:2], "attic"))
    found = whole(data)
    assert [example.label for example in found.examples] == [LABELS[0], LABELS[1]] * 10 and found.labels.tolist() == [
        0,
        1,
    ] * 10
    notes = " ".join(found.notes)
    assert "20 of 40 examples" in notes and "attic" in notes and f"the label {LABELS[2]}" in notes


def test_nothing_is_noted_where_every_class_is_there():
    assert whole(data_of(TEXTS)).notes == ()


def test_a_sample_of_one_class_says_that_the_majority_says_nothing():
    found = whole(data_of(TEXTS, LABELS[1:2]))
    assert len(found.notes) == 1
    assert [name in found.notes[0] for name in LABELS] == [True, False, *([True] * (len(LABELS) - 2))]


@pytest.mark.parametrize(
    "data, said",
    [
        (data_of(TEXTS, (None,), ()), "no labels"),
        (data_of(TEXTS, ("attic", "cellar"), ("attic", "cellar")), r"attic, cellar.*harbour, kitchen, workshop"),
        (data_of(TEXTS, (None,), LABELS), "no labels"),
    ],
)
def test_data_without_labels_of_this_task_are_a_sentence(data, said):
    with pytest.raises(BadData, match=said):
        draw_sample(data, LABELS, 5)


def test_a_model_beside_it_reads_the_same_examples_or_none():
    data = data_of(tiny.SENTENCES, LABELS)
    mine = draw_sample(data, LABELS, 20)
    theirs = same_examples(mine, data, LABELS[::-1])
    assert theirs.examples == mine.examples and theirs.labels.tolist() == (2 - mine.labels).tolist()
    with pytest.raises(BadData, match=f"no class for the label .*{LABELS[2]}"):
        same_examples(mine, data, LABELS[:2])


@pytest.mark.parametrize("count", [0, -1])
def test_a_sample_of_nothing_is_refused(count):
    with pytest.raises(ValueError, match=f"has {count} examples"):
        draw_sample(data_of(TEXTS), LABELS, count)


# ---- a slow twin: masks words by hand, ranks by hand, asks the network one input at a time


def slow_path(explainer, example, target, name, variant, recompute):
    """Masks of a path, bool[K, F]: floor(r·F) features, those ranked first on what is masked so far."""
    encoded, counts = explainer.encode(example.text, None, "word"), []
    mask, masks, order = np.zeros(encoded.F, dtype=bool), [], None
    for tenths in range(11):
        counts.append(int(np.floor(tenths / 10 * encoded.F + 1e-9)))
        while mask.sum() < counts[-1]:
            # All of a step are chosen by the attribution of the step before.
            if order is None or recompute:
                scores = explainer.attribute(encoded, name, target, mask).scores[variant]
                order = sorted((i for i in range(encoded.F) if not mask[i]), key=lambda i: (-scores[i], i))
            left = [i for i in order if not mask[i]]
            mask = mask.copy()
            mask[left[: counts[-1] - int(mask.sum())]] = True
        masks.append(mask)
    assert [int(m.sum()) for m in masks] == counts
    return encoded, np.stack(masks)


def slow_answers(explainer, encoded, masks, target):
    """Predicted class, probability of the label and p of both forms, each input by itself through the module."""
    model, predicted, values, p = explainer.model, [], [], {form: [] for form in FORMS}
    for mask in masks:
        ids = np.array(
            [
                encoded.mask_id if feature >= 0 and mask[feature] else token
                for token, feature in zip(encoded.ids, encoded.feature_of)
            ]
        )
        with torch.no_grad():
            types = {} if encoded.type_ids is None else {"token_type_ids": torch.from_numpy(encoded.type_ids)[None]}
            logits = (
                model.module(
                    input_ids=torch.from_numpy(ids)[None],
                    attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                    **types,
                )
                .logits[0]
                .double()
                .numpy()
            )
        predicted.append(int(logits.argmax()))
        values.append(softmax(logits)[target])
        ((_, _, states),) = model.scheduler.run([Input(ids, encoded.type_ids)], hidden=explainer.reference.pooling)
        for form, tested in p_values(explainer.reference.forms, states).items():
            # At the step's own ratio, also where it masks nothing yet.
            p[form].append(tested.at(np.array([len(predicted) - 1]))[0])
    return predicted, values, p


def assert_slow_twin(passed, i, answers):
    predicted, values, p = answers
    assert passed.predicted[i].tolist() == predicted
    np.testing.assert_allclose(passed.values[i], values, atol=1e-5)
    for form in FORMS:
        np.testing.assert_allclose(passed.p[form][i], p[form], atol=1e-9)


@pytest.mark.parametrize(
    "name, sign, variant, recompute",
    [
        ("leave-one-out", "signed", "signed", True),
        ("leave-one-out", "signed", "signed", False),
        ("gradient", "signed", None, True),
        ("beam", "signed", "signed", True),
    ],
)
def test_a_measures_curve_is_what_a_slow_twin_finds(explainer, sample, name, sign, variant, recompute):
    some = part(sample, 0, 4)
    passed = finish(check(explainer, some, Curve(name, sign, recompute=recompute)))
    variant = variant or choose_variant(measure(name), sign)
    assert passed.done == 4 and passed.there.all()
    for i, (example, target) in enumerate(zip(some.examples, some.labels)):
        # The order of beam is recursive already: it is never computed again.
        encoded, masks = slow_path(explainer, example, int(target), name, variant, recompute and name != "beam")
        assert_slow_twin(passed, i, slow_answers(explainer, encoded, masks, int(target)))


def test_computing_once_is_another_curve_than_computing_at_each_step(explainer, sample):
    every, once = (finish(check(explainer, sample, replace(LOO, recompute=again))) for again in (True, False))
    assert np.array_equal(every.values[:, 0], once.values[:, 0]) and not np.allclose(
        every.values, once.values, atol=1e-3
    )


@pytest.mark.parametrize("seed", [0, 5])
def test_random_order_is_the_order_of_its_seed(explainer, sample, seed):
    passed = finish(check(explainer, sample, Curve(seed=seed)))
    for i, (example, target) in enumerate(zip(sample.examples, sample.labels)):
        encoded = explainer.encode(example.text, None, "word")
        counts = np.array([int(np.floor(tenths / 10 * encoded.F + 1e-9)) for tenths in range(11)])
        masks = random_masks(encoded, counts, 1, seed)[0]
        assert masks.sum(axis=1).tolist() == counts.tolist() and all((a <= b).all() for a, b in pairwise(masks))
        assert_slow_twin(passed, i, slow_answers(explainer, encoded, masks, int(target)))
    assert np.isnan(passed.found).all(), "random order finds nothing"


def test_the_label_is_explained_whatever_is_predicted(explainer):
    example = Example("a", TEXTS[2], None, LABELS[0])
    told = [finish(check(explainer, Sample("s", "d", (example,), np.array([c])), LOO)) for c in range(3)]
    assert sum(one.values[0, 0] for one in told) == pytest.approx(1)
    for c, one in enumerate(told):
        encoded, masks = slow_path(explainer, example, c, "leave-one-out", "signed", True)
        assert_slow_twin(one, 0, slow_answers(explainer, encoded, masks, c))


def test_other_units_and_pairs_mask_what_they_name(explainer):
    pair = Example("p", TEXTS[0], TEXTS[1], LABELS[0])
    for unit in ("token", "word"):
        encoded = explainer.encode(pair.text, pair.second, unit)
        passed = finish(check(explainer, Sample("s", "d", (pair,), np.array([1])), Curve(unit=unit)))
        counts = np.array([int(np.floor(tenths / 10 * encoded.F + 1e-9)) for tenths in range(11)])
        masks = random_masks(encoded, counts, 1)[0]
        assert_slow_twin(passed, 0, slow_answers(explainer, encoded, masks, 1))
        # The second text is never masked.
        assert (
            (masked_ids(encoded, masks[-1:])[0] == encoded.mask_id).sum()
            == (encoded.feature_of >= 0).sum()
            < len(encoded.ids) - 3
        )


def test_without_a_reference_there_are_no_p_values_and_everything_else(model, explainer, sample):
    bare, tested = (finish(check(one, sample, CHANCE)) for one in (Explainer(model), explainer))
    assert np.array_equal(bare.predicted, tested.predicted) and all(np.isnan(bare.p[form]).all() for form in FORMS)


# ---- the store


def test_texts_that_are_longer_than_the_model_reads_are_checked_and_counted(model, explainer):
    # The tiny model reads 64 tokens.
    data = data_of([" ".join(tiny.SENTENCES[:12]), *TEXTS[:2]])
    passed = finish(check(explainer, whole(data), CHANCE))
    assert passed.there.all() and passed.cut == {0: 64}
    found = build_check_report(model, explainer.reference, whole(data), {CHANCE: passed})
    result = check_result(found)
    assert result.has(Caveat.TRUNCATED) and result.fact("cut").value == 1 and result.fact("cut").of == 3


def test_what_is_known_costs_nothing_and_a_larger_sample_only_what_is_new(explainer, sample, passes, tmp_path):
    store, some = Store(tmp_path), part(sample, 2, 5)
    for curve in (CHANCE, LOO):
        assert known(explainer, some, curve, store).done == 0
        first = passes(lambda: finish(check(explainer, some, curve, store)))
        assert first > 0 and passes(lambda: finish(check(explainer, some, curve, Store(tmp_path)))) == 0
        alone = passes(lambda: finish(check(explainer, sample, curve)))
        more = passes(lambda: finish(check(explainer, sample, curve, store)))
        # One order and another may mask alike.
        assert more == alone - first if curve == CHANCE else 0 < more <= alone - first
        # What comes from the store is what would be computed.
        assert same(known(explainer, sample, curve, store), finish(check(explainer, sample, curve)), 1e-5)
    before = passes(lambda: [finish(check(explainer, sample, curve, store)) for curve in (CHANCE, LOO)])
    assert before == 0, "one curve does not push out another"


def test_whatever_the_result_depends_on_is_computed_anew(model, explainer, sample, tmp_path):
    store = Store(tmp_path)
    finish(check(explainer, sample, LOO, store))
    finish(check(explainer, sample, CHANCE, store))
    fitted = fit_reference(model, drawn_from(tiny.SENTENCES), Drawing(seed=3))
    # A measure's two kinds of values are two orders.
    signed = replace(LOO, measure="input × gradient")
    for other, curve in (
        (Explainer(model, None, fitted), LOO),
        (Explainer(model), LOO),
        (explainer, replace(LOO, unit="token")),
        (explainer, replace(LOO, recompute=False)),
        (explainer, replace(CHANCE, seed=1)),
        (explainer, signed),
        (explainer, replace(signed, sign="absolute")),
    ):
        assert known(other, sample, curve, store).done == 0, curve
        assert same(finish(check(other, sample, curve, store)), finish(check(other, sample, curve)), 1e-5), curve
    labels = np.roll(sample.labels, 1)
    assert known(explainer, replace(sample, labels=labels), LOO, store).done == 0, "another label is another example"
    assert same(known(explainer, sample, LOO, store), finish(check(explainer, sample, LOO)))


def test_beam_is_the_same_curve_however_it_is_asked_for(explainer):
    assert Curve("beam").key(explainer) == Curve("beam", "absolute", recompute=False).key(explainer)


def test_evidence_that_became_known_later_is_scored(explainer, tmp_path):
    # The same texts and labels, with and without what their labels rest on.
    store = Store(tmp_path)
    bare, told, otherwise = (whole(data_of(TEXTS, evidence=spans)) for spans in ((), ((0, 9),), ((4, 20),)))
    assert np.isnan(finish(check(explainer, bare, LOO, store)).found).all()
    for one in (told, otherwise, bare):
        assert same(finish(check(explainer, one, LOO, store)), finish(check(explainer, one, LOO)))


def test_a_damaged_segment_is_computed_again(explainer, sample, passes, tmp_path):
    finish(check(explainer, sample, CHANCE, Store(tmp_path)))
    files = list(tmp_path.rglob("*.safetensors"))
    assert len(files) == 1 + len(sample), (
        "rows are one file, and what was asked of a text is one, not one for each step"
    )
    for file in files:
        data = bytearray(file.read_bytes())
        data[-20] ^= 1
        file.write_bytes(data)
    assert known(explainer, sample, CHANCE, Store(tmp_path)).done == 0
    assert passes(lambda: finish(check(explainer, sample, CHANCE, Store(tmp_path)))) == passes(
        lambda: finish(check(explainer, sample, CHANCE))
    )
    assert known(explainer, sample, CHANCE, Store(tmp_path)).done == len(sample)


def test_cancelled_in_the_middle_it_keeps_what_was_done_and_goes_on(explainer, model, sample, passes, tmp_path):
    alone = [passes(lambda i=i: finish(check(explainer, part(sample, i, i + 1), LOO))) for i in range(len(sample))]
    start, stop = model.scheduler.counters.passes, sum(alone[:3]) + 5
    with pytest.raises(Cancelled):
        finish(
            check(
                explainer,
                sample,
                LOO,
                Store(tmp_path),
                cancelled=lambda: model.scheduler.counters.passes - start >= stop,
            )
        )
    done = known(explainer, sample, LOO, Store(tmp_path))
    assert done.there.tolist() == [True] * 3 + [False] * (len(sample) - 3)
    # What was asked of the text that was not done is known, too.
    assert 0 < passes(lambda: finish(check(explainer, sample, LOO, Store(tmp_path)))) < sum(alone[3:])
    assert same(known(explainer, sample, LOO, Store(tmp_path)), finish(check(explainer, sample, LOO)))


def test_killed_between_two_examples_it_loses_none_of_them(explainer, sample, passes, tmp_path):
    work, told = check(explainer, sample, LOO, Store(tmp_path), progress=lambda *done: told.append(done)), []
    next(work), next(work)
    work.close()
    assert told == [(0, len(sample)), (1, len(sample))] and known(explainer, sample, LOO, Store(tmp_path)).done == 2
    rest = part(sample, 2, len(sample))
    assert passes(lambda: finish(check(explainer, sample, LOO, Store(tmp_path)))) == passes(
        lambda: finish(check(explainer, rest, LOO))
    )


def test_long_work_is_written_on_the_way(explainer, sample, monkeypatch, tmp_path):
    monkeypatch.setattr("core.evaluation.store_log.SAVE_SECONDS", 0.0)
    work = check(explainer, sample, CHANCE, Store(tmp_path))
    next(work), next(work)
    assert known(explainer, sample, CHANCE, Store(tmp_path)).done == 2
    work.close()


def test_it_yields_what_is_known_after_each_example_and_earlier_pictures_stay(explainer, sample):
    told = []
    pictures = list(check(explainer, sample, CHANCE, progress=lambda *done: told.append(done)))
    assert [one.done for one in pictures] == list(range(1, len(sample) + 1))
    assert told == [(i, len(sample)) for i in range(len(sample) + 1)]
    assert np.isnan(pictures[0].values[1:]).all() and (pictures[0].predicted[1:] == -1).all()


def test_what_it_costs_is_no_less_than_what_it_takes(explainer, sample, passes):
    for curve in (CHANCE, LOO, replace(LOO, recompute=False), Curve("beam")):
        some = part(sample, 0, 4)
        assert (
            passes(lambda curve=curve, some=some: finish(check(explainer, some, curve)))
            <= check_cost(explainer, some, curve).passes
        )


# ---- examples that have no curve


@pytest.mark.parametrize("curve", [CHANCE, LOO])
def test_what_cannot_be_masked_or_gives_nan_is_counted_and_does_not_stop_the_rest(
    explainer, model, monkeypatch, tmp_path, curve
):
    sound, odd = list(TEXTS[:3]), "It rained again and again through the roof of the workshop and onto the table."
    data = data_of([sound[0], "\u200b", sound[1], odd, sound[2]])
    expected, really = finish(check(explainer, whole(data_of(sound)), CHANCE)), model.scheduler.network
    T = explainer.encode(odd, None, "word").T
    assert all(explainer.encode(text, None, "word").T != T for text in sound)

    def network(ids, lengths, *more):
        logits, states = really(ids, lengths, *more)
        return np.where((lengths == T)[:, None], np.float32(np.nan), logits), states

    monkeypatch.setattr(model.scheduler, "network", network)
    passed = finish(check(explainer, whole(data), curve, Store(tmp_path)))
    assert sorted(passed.problems) == [1, 3] and "word" in passed.problems[1] and "NaN" in passed.problems[3]
    assert passed.there.tolist() == [True, False, True, False, True] and passed.done == 5
    assert np.array_equal(passed.predicted[[0, 2, 4], 0], expected.predicted[:, 0]), (
        "before anything is masked all curves say the same"
    )
    assert finish(check(explainer, whole(data), curve, Store(tmp_path))).done == 5
    # Once the model is well again, what had no answer gets one.
    monkeypatch.setattr(model.scheduler, "network", really)
    assert list(finish(check(explainer, whole(data), curve, Store(tmp_path))).problems) == [1]


def test_a_text_that_is_masked_already_has_one_step_many_times(explainer):
    passed = finish(check(explainer, whole(data_of(["[MASK] [MASK]"], evidence=((0, 3),))), LOO))
    assert passed.there.all() and (passed.values == passed.values[:, :1]).all() and np.isnan(passed.found).all()


# ---- evidence


def test_evidence_is_scored_by_the_attribution_of_the_unmasked_text(explainer):
    text = "The ferry leaves the old harbour before light."
    spans = [(text.index(word), text.index(word) + len(word)) for word in ("ferry", "harbour")]
    data = data_of([text], evidence=spans)
    encoded = explainer.encode(text, None, "word")
    for curve in (LOO, replace(LOO, recompute=False), GRADIENT):
        passed = finish(check(explainer, whole(data), curve))
        found = explainer.attribute(encoded, curve.measure, 0).scores
        scores = found[{"leave-one-out": "signed"}.get(curve.measure, next(iter(found)))]
        ranked = [
            encoded.features[i].text in ("ferry", "harbour")
            for i in sorted(range(encoded.F), key=lambda i: (-scores[i], i))
        ]
        first, second = np.flatnonzero(ranked) + 1
        assert passed.found[0].tolist() == pytest.approx([(1 / first + 2 / second) / 2, sum(ranked[:2]) / 2])


# ---- reports by hand


def card(metric="accuracy", majority="kitchen", training="half", masked=(0.9, 0.5), **more) -> dict:
    return {
        "performance": {"metric": metric, "majority_class": majority, "masked": masked, "class_majority": 0.5} | more,
        "plan": {"training": training},
    }


def model_of(card=None, name="m", labels=LABELS):
    return SimpleNamespace(name=name, digest="d" * 64, labels=labels, C=len(labels), card=card)


def floors(calibrated=0.001, literal=0.0, held_out=None):
    """Stands for a reference: its floors, how many texts its calibrated form ranks among, no ratios, and the shares of
    1,000 held-out texts that it rejects.
    """
    return SimpleNamespace(
        floor=lambda form: {CALIBRATED: calibrated, LITERAL: literal}[form],
        texts=round(1 / calibrated) - 1,
        forms={CALIBRATED: SimpleNamespace(R=1)},
        about={"false_rejection": {CALIBRATED: held_out, "texts": 1_000}},
    )


def sample_of(labels) -> Sample:
    return Sample(
        "toy", "0" * 64, tuple(Example(f"e{i}", "a b", None, LABELS[c]) for i, c in enumerate(labels)), np.array(labels)
    )


def passed_of(predicted, p=0.5, values=None, found=None, problems=None) -> Passed:
    """p: of every example and ratio, or what broadcasts to it."""
    predicted = np.array(predicted)
    p = (
        p
        if isinstance(p, dict)
        else {form: np.broadcast_to(np.asarray(p, dtype=float), predicted.shape).copy() for form in FORMS}
    )
    return Passed(
        predicted,
        np.full(predicted.shape, 0.5) if values is None else np.array(values, dtype=float),
        p,
        np.full((len(predicted), 2), np.nan) if found is None else np.array(found, dtype=float),
        problems or {},
    )


def until(k: int, label: int, then: int) -> list[int]:
    """Predicts the label at the first k ratios, then another class."""
    return [label] * k + [then] * (11 - k)


# Labels 0 0 0 1 1: random order is right up to 50 % and says 1 from there on; the measure says 1 once anything is
# masked.
FIVE = [0, 0, 0, 1, 1]
BY_CHANCE = [until(6, c, 1) for c in FIVE]
BY_MEASURE = [until(1, c, 1) for c in FIVE]


def test_performance_areas_and_the_majority_are_what_paper_and_pencil_say():
    found = build_check_report(
        model_of(), None, sample_of(FIVE), {LOO: passed_of(BY_MEASURE), CHANCE: passed_of(BY_CHANCE)}
    )
    assert [line.curve for line in found.lines] == [CHANCE, LOO], "random order comes first, whatever was asked first"
    np.testing.assert_allclose(found.random.performance, [1] * 6 + [0.4] * 5)
    np.testing.assert_allclose(found.lines[1].performance, [1] + [0.4] * 10)
    # Between them 0.6 at 10 to 50 %, nothing else: 5 · 0.6 · 0.1. The fully masked one at once: 0.6 at 0 % too, half of
    # it counts.
    assert found.lines[1].acu == pytest.approx(0.3) and found.lines[1].racu == pytest.approx(0.3 / 0.33)
    assert np.isnan(found.random.acu) and np.isnan(found.random.racu)
    assert (found.unmasked, found.masked, found.majority, found.majority_name, found.metric, found.n) == (
        1.0,
        0.4,
        0.6,
        LABELS[0],
        "accuracy",
        5,
    )
    assert found.training == "" and found.floor == {}


def test_the_cards_majority_and_metric_hold_before_the_samples():
    found = build_check_report(
        model_of(card("macro F1", LABELS[1], "none")), None, sample_of(FIVE), {CHANCE: passed_of(BY_CHANCE)}
    )
    # Always class 1: F1 of 1 is 2·2/(2·2 + 3), of 0 it is 0; the mean of both.
    assert (
        found.majority == pytest.approx((4 / 7) / 2) == found.masked
        and found.majority_name == LABELS[1]
        and found.training == "none"
    )
    assert found.metric == "macro F1" and found.unmasked == 1
    named = build_check_report(model_of(card(majority="attic")), None, sample_of(FIVE), {CHANCE: passed_of(BY_CHANCE)})
    assert named.majority_name == LABELS[0], "a class that the model does not have is passed over"


def test_areas_compare_on_the_examples_that_both_have():
    chance, mine = np.array(BY_CHANCE), np.array(BY_MEASURE)
    chance[4], mine[0] = -1, -1
    found = build_check_report(model_of(), None, sample_of(FIVE), {CHANCE: passed_of(chance), LOO: passed_of(mine)})
    assert (found.n, found.lines[1].n) == (4, 4)
    np.testing.assert_allclose(found.random.performance, [1] * 6 + [0.25] * 5)
    # Both have labels 0 0 1: right 1/3 of the time once all say 1, so 2/3 between them at 10 to 50 %.
    assert found.lines[1].acu == pytest.approx(5 * 2 / 3 * 0.1) and found.lines[1].racu == pytest.approx(10 / 11)


def test_several_random_orders_are_a_baseline_by_their_mean_and_told_of_the_first():
    """The second order is right up to 30 %: between the measure and their mean 0.6 at 10 to 30 %, 0.3 at 40 and 50."""
    other = passed_of([until(4, c, 1) for c in FIVE])
    chance, mine = passed_of(BY_CHANCE), passed_of(BY_MEASURE)
    found = build_check_report(model_of(), None, sample_of(FIVE), {CHANCE: chance, LOO: mine, Curve(seed=1): other})
    assert [line.curve for line in found.lines] == [CHANCE, LOO] and found.random.performance[5] == 1
    assert found.lines[1].acu == pytest.approx(0.24) and found.lines[1].racu == pytest.approx(0.24 / 0.27)
    # Before it has come as far as the measure it is left for later.
    other.predicted[4] = -1
    found = build_check_report(model_of(), None, sample_of(FIVE), {CHANCE: chance, LOO: mine, Curve(seed=1): other})
    assert found.lines[1].acu == pytest.approx(0.3)
    assert [curve.seed for curve in MaskingCheck(("gradient",), seeds=3, seed=4).studies] == [4, 4, 5, 6]


def test_a_measure_that_has_no_example_in_common_has_no_area_and_one_without_examples_no_line():
    chance, mine = np.array(BY_CHANCE), np.array(BY_MEASURE)
    chance[1:], mine[:1] = -1, -1
    found = build_check_report(
        model_of(),
        None,
        sample_of(FIVE),
        {CHANCE: passed_of(chance), LOO: passed_of(mine), GRADIENT: passed_of(np.full((5, 11), -1))},
    )
    assert (
        [line.curve for line in found.lines] == [CHANCE, LOO]
        and np.isnan(found.lines[1].acu)
        and np.isnan(found.lines[1].racu)
    )


def test_nothing_is_reported_before_random_order_has_an_example():
    nothing = passed_of(np.full((5, 11), -1), np.nan)
    assert build_check_report(model_of(), None, sample_of(FIVE), {CHANCE: nothing, LOO: passed_of(BY_MEASURE)}) is None
    assert build_check_report(model_of(), None, sample_of(FIVE), {LOO: passed_of(BY_MEASURE)}) is None


def test_the_data_sets_p_is_by_count_beside_simes():
    p = {CALIBRATED: np.full((5, 11), 0.5), LITERAL: np.full((5, 11), 0.9)}
    p[CALIBRATED][:, 3] = [0.2, 0.01, 0.04, 0.5, 0.9]
    found = build_check_report(model_of(), floors(), sample_of(FIVE), {CHANCE: passed_of(BY_CHANCE, p)}).random
    assert found.rejected[CALIBRATED].tolist() == [0] * 3 + [2] + [0] * 7 and not found.rejected[LITERAL].any()
    assert found.share(CALIBRATED)[3] == 0.4
    # Two of five below 5 %, each a rank among 999 texts.
    expected = betabinom(5, 49, 951).sf(1)
    assert found.p[CALIBRATED].tolist() == pytest.approx([1] * 3 + [expected] + [1] * 7)
    # 5 · 0.01 / 1, 5 · 0.04 / 2, 5 · 0.2 / 3, …: the smallest is 0.05.
    assert found.simes[CALIBRATED].tolist() == pytest.approx([0.5] * 3 + [0.05] + [0.5] * 7)
    assert found.p[LITERAL].tolist() == found.simes[LITERAL].tolist() == pytest.approx([0.9] * 11)
    # An example that is not there yet is none of them.
    partly = passed_of(BY_CHANCE, {form: np.where(np.arange(5)[:, None] == 1, np.nan, of) for form, of in p.items()})
    partly.predicted[1] = -1
    found = build_check_report(model_of(), floors(), sample_of(FIVE), {CHANCE: partly})
    assert found.random.simes[CALIBRATED][3] == pytest.approx(4 * 0.04) and found.random.rejected[CALIBRATED][3] == 1
    assert found.smallest() == (pytest.approx(betabinom(4, 49, 951).sf(0)), 0.3)
    assert (found.worst(), found.n) == (3, 4) and found.most_rejected().mean == 0.25


@pytest.mark.parametrize(
    "labels, answers, expected",
    [
        ([0] * 5 + [2], [1] * 6, 1 / 32),  # wrong on five of the majority's, right on none of the others'
        ([0] * 4 + [2], [1] * 5, 1 / 16),
        ([0] * 5, [1] * 5, 1.0),  # of one class, where the majority is right every time
        ([0] * 5 + [1], [1] * 6, 7 / 64),  # 5 worse, 1 better: (6 + 1) / 64
        (FIVE, [1] * 5, 16 / 32),  # 3 worse, 2 better: (10 + 5 + 1) / 32
        ([0, 0, 1, 1, 2], [0] * 5, 1.0),  # it is that answer: nothing to tell apart
        ([0, 0, 1, 2], [0, 0, 2, 1], 1.0),
    ],
)  # where both are wrong nothing is told
def test_worse_than_the_majority_is_the_sign_test(labels, answers, expected):
    found = build_check_report(
        model_of(), None, sample_of(labels), {CHANCE: passed_of([until(10, c, a) for c, a in zip(labels, answers)])}
    )
    assert found.worse == pytest.approx(expected) and found.majority_name == LABELS[0]


SOUND = [until(10, c, 0) for c in FIVE]  # answers the majority in the end
# On a sixth of another class both answers are wrong: a sample of one class would say nothing.
ZEROS = [0] * 5 + [2]
CONFUSING = [until(10, c, 1) for c in ZEROS]
FLOORS = floors()
# Ten of which the majority is right: the sign test's p is 2^-10.
MANY_ZEROS = [0] * 10 + [2]


def rejected_from(k: int) -> np.ndarray:
    return np.array([0.5] * k + [0.004] * (11 - k))


def judged(predicted, p=0.5, reference=FLOORS, labels=FIVE, card=None, name="m", times=4):
    """Each text so many times: verdicts begin at 20."""
    return build_check_report(
        model_of(card, name),
        reference,
        sample_of(list(labels) * times),
        {CHANCE: passed_of(list(predicted) * times, p)},
    )


def test_each_verdict_has_an_outcome_and_its_numbers():
    fine = judged(SOUND)
    assert fine.verdict == TRUSTED and not len(fine.rejected())
    result = check_result(fine)
    assert result.outcome is ModelCheckOutcome.NOT_REJECTED and result.outcome.answer == "yes" and not result.caveats
    assert result.fact("rejected").value == 0 and result.fact("smallest_p").value == 1
    assert result.fact("texts").value == 20 and result.slots["model"] == "m"
    later = judged(SOUND, rejected_from(7))
    assert later.verdict == REJECTED and later.rejected().tolist() == [7, 8, 9, 10]
    assert np.flatnonzero(later.random.gates[CALIBRATED].rejected).tolist() == [7, 8, 9, 10]
    result = check_result(later)
    assert result.outcome is ModelCheckOutcome.REJECTED and result.outcome.answer == "no"
    assert result.caveats == (Caveat.OUT_OF_DISTRIBUTION,)
    assert (result.slots["share"], result.slots["ratio"]) == (1.0, 0.7)
    most = result.fact("rejected")
    # All of 20 by Clopper and Pearson.
    assert (most.value, most.high) == (1, 1) and most.low == pytest.approx(0.8316, abs=1e-4) and most.marked
    unlike = check_result(replace(later, other_lengths=(5, 30), doubted=(Why.LENGTH,)))
    assert unlike.has(Caveat.LENGTH_OUTSIDE_REFERENCE) and (unlike.slots["low"], unlike.slots["high"]) == (5, 30)
    confused = judged([until(10, c, 1) for c in MANY_ZEROS], labels=MANY_ZEROS)
    assert confused.verdict == CONFUSED and confused.worse == pytest.approx(2.0**-40)
    result = check_result(confused)
    assert result.outcome is ModelCheckOutcome.CONFUSED and result.outcome.answer == "no"
    assert result.caveats == (Caveat.NOT_ABOVE_MAJORITY,) and result.slots["label"] == LABELS[0]
    too = check_result(judged([until(10, c, 1) for c in MANY_ZEROS], rejected_from(2), labels=MANY_ZEROS))
    assert too.outcome is ModelCheckOutcome.CONFUSED and too.has(Caveat.OUT_OF_DISTRIBUTION)
    untested = judged(SOUND, np.nan, None)
    assert untested.verdict == UNTESTED
    result = check_result(untested)
    assert result.outcome is ModelCheckOutcome.NOT_KNOWN and result.outcome.answer == "not known"
    assert result.caveats == (Caveat.NOT_TESTED,) and result.fact("rejected") is None
    for one in (fine, later, confused, untested):
        facts = check_result(one)
        assert facts.fact("unmasked").value == one.unmasked and facts.fact("all_masked").value == one.masked
        assert facts.fact("majority").value == one.majority


@pytest.mark.parametrize(
    "long, short, more",
    # Of 30 and 20 texts: 27 of 30 against 5 of 20 has a one-sided p of 3e-6; 15 against 9 of .46.
    [(27, 5, True), (15, 9, False)],
)
def test_length_is_a_reason_only_where_texts_of_other_lengths_are_rejected_more_often(long, short, more):
    p = np.full((52, 11), 0.5)
    p[:long, 10] = p[30 : 30 + short, 10] = 0.01
    passed = passed_of([until(11, 0, 1)] * 51 + [[-1] * 11], dict.fromkeys(FORMS, p))
    # The last of the 51 cannot be read, and another is not computed; 5 and 30 themselves are usual.
    tokens = np.array([31.0] * 15 + [4.0] * 15 + [5.0] * 10 + [30.0] * 10 + [np.nan, 99.0])
    split = by_length(replace(passed, tokens=tokens), (5, 30), CALIBRATED, 10)
    assert (split.alike, split.others) == ((short, 20), (long, 30))
    assert split.more is more and not split.parted
    assert by_length(passed, (5, 30), CALIBRATED, 10) is None


def test_it_is_known_whether_texts_of_usual_length_are_rejected_together():
    """Of 60 usual texts 20 are rejected at 90 % masked, where 3 are expected, and five of them with all masked; of 30
    others all.
    """
    p = np.full((90, 11), 0.5)
    p[:20, 9] = p[:5, 10] = p[60:, 10] = 0.01
    passed = replace(
        passed_of([until(11, 0, 1)] * 90, dict.fromkeys(FORMS, p)), tokens=np.array([20.0] * 60 + [99.0] * 30)
    )
    split = by_length(passed, (5, 30), CALIBRATED, 10, 1000)
    assert (split.alike, split.others) == ((5, 60), (30, 30)) and split.more is True
    assert split.together == (0.9,) and not split.parted
    # So few texts are not told of, and where the reference is not known nobody knows what is expected.
    few = replace(passed, tokens=np.array([20.0] * 19 + [99.0] * 71))
    assert by_length(few, (5, 30), CALIBRATED, 10, 1000).together is None
    assert by_length(passed, (5, 30), CALIBRATED, 10).together is None


def test_each_text_of_a_sample_counts_once():
    """Of five labelled examples two repeat the first; a pair is another text, and what has no label is left out first."""
    told = [
        ("a", None, "no"),
        ("a", None, "yes"),
        ("a", "b", "no"),
        ("c", None, None),
        ("a", None, "no"),
        ("d", None, "yes"),
    ]
    examples = tuple(Example(f"e{i}", *one) for i, one in enumerate(told))
    sample = draw_sample(DataSet("made up", "0" * 64, examples, ("no", "yes")), ("no", "yes"), 9)
    assert sorted(example.id for example in sample.examples) == ["e0", "e2", "e5"]
    assert any("once: 2 of 5 " in note for note in sample.notes)
    assert [one.id for one in draw_examples(examples[:2] + examples[4:5], 9)] == ["e0"], "without labels, too"
    assert not any("counts once" in note for note in draw_sample(data_of(TEXTS), LABELS, 2).notes)


def test_a_sample_says_which_labels_and_classes_it_lacks():
    """Of four examples one has a label of no class and one has none; of the two classes one has no example."""
    examples = tuple(Example(f"e{i}", f"text {i}", None, label) for i, label in enumerate(("no", "no", "odd", None)))
    data = DataSet("made up", "0" * 64, examples, ("no", "odd"))
    sample = draw_sample(data, ("no", "yes"), 9)
    assert sample.labels.tolist() == [0, 0] and sample.one_class and not sample.paired
    assert sum("2 of 4 " in note for note in sample.notes) == 1
    assert sum("yes" in note for note in sample.notes) == 1
    assert same_examples(sample, data, ("yes", "no")).labels.tolist() == [1, 1]
    whole = draw_sample(replace(data, examples=examples[:2], classes=("no",)), ("no",), 9)
    assert whole.notes == () and len(whole) == 2


def test_too_few_texts_of_usual_length_tell_nothing_of_length():
    assert LengthSplit(5, 30, (0, 19), (30, 30)).more is None
    assert LengthSplit(5, 30, (0, 0), (1, 1)).more is None


def split_by_length(p: np.ndarray):
    """65 texts, of which the first 30 are longer than nine of ten of the reference's."""
    found = judged([until(11, 0, 1)] * 65, p, labels=[1] * 65, times=1)
    tokens = np.array([31.0] * 30 + [5.0] * 20 + [30.0] * 15)
    return replace(found, followed=replace(found.followed, tokens=tokens), other_lengths=(5, 30))


def test_tables_hold_texts_of_usual_length_and_others_by_themselves():
    """27 of 30 long ones and 5 of 35 usual ones with all masked, 2 usual ones unmasked."""
    p = np.full((65, 11), 0.5)
    p[:27, 10] = p[30:35, 10] = p[63:, 0] = 0.01
    found = split_by_length(p)
    # The table of p-values has every ratio; by count 5 of 35 or more have p = .03 at 5 % each.
    header, rows = ratios_table([found], CALIBRATED)
    assert header[:2] == ["masked", "of"] and len(header) == 13 and {len(row) for row in rows} == {13}
    named = {row[0]: row[1:] for row in rows}
    assert named["random order: rejected"] == [65, 2, *[0] * 9, 32]
    rejected = [row[1:] for row in rows if row[0].endswith(": rejected")]
    assert rejected[1:3] == [[35, 2, *[0] * 9, 5], [30, *[0] * 10, 27]]
    (p_by_count,) = (row[1:] for row in rows if "5 to 30" in row[0] and "p by count" in row[0])
    assert 0.02 < p_by_count[-1] < 0.04
    # The picture has a line of the usual ones, which the answer is of.
    usual, found_split = "random order, texts of 5 to 30 tokens", length_split(found)
    (line,) = (one for one in panels([found])["data"] if one.get("name") == usual)
    assert line["yaxis"] == "y2" and line["y"] == pytest.approx([100 * 2 / 35, *[0] * 9, 100 * 5 / 35])
    assert usual not in json.dumps(panels([found], LITERAL)), "the split is by calibrated p"
    # So has that of p-values, by count.
    (line,) = (one for one in p_panels([found])["data"] if one.get("name") == usual)
    assert line["yaxis"] == "y3" and line["customdata"] == found_split.p.tolist() and 0.02 < line["y"][-1] < 0.04
    # Of usual lengths alone, of few texts, and while more come there is no such row.
    for other in (replace(found, other_lengths=None), replace(found, tally=Tally(65, 200, coming=True))):
        assert not any("tokens" in row[0] for row in ratios_table([other], CALIBRATED)[1])
        assert usual not in json.dumps([panels([other]), p_panels([other])])


def test_a_literal_form_that_cannot_reject_has_its_floor_beside_what_fmm_found():
    """Of so few reference texts that the smallest literal p there can be is above 5 %."""
    shut = of_twenty_judged({10: 9}, floors(literal=0.06))
    assert not shut.random.gates[LITERAL].available and shut.random.gates[CALIBRATED].available
    (told,) = (one for one in check_findings([replace(shut, training="half")]) if "rejected" in one.claim)
    assert "floor 0.06" in told.more and told.agrees is False


def test_the_answer_is_of_usual_lengths_where_these_are_rejected_nowhere_and_others_more_often():
    """27 of 30 long ones and 5 of 35 usual ones with all masked; held-out texts by ratio from 1 to 6 %."""
    p = np.full((65, 11), 0.5)
    p[:27, 10] = p[30:35, 10] = 0.01
    found = replace(split_by_length(p), held_out=held_out_of(floors(held_out=[0.06] + [0.01] * 10)))
    result, split = check_result(found), length_split(found)
    assert leads_by_length(found) and result.outcome is ModelCheckOutcome.NOT_REJECTED_AT_USUAL_LENGTHS
    assert result.outcome.answer == "yes" and (result.slots["low"], result.slots["high"]) == (5, 30)
    assert (split.alike, split.others, split.together) == ((5, 35), (27, 30), ())
    assert result.has(Caveat.OUT_OF_DISTRIBUTION) and result.fact("rejected").value == pytest.approx(32 / 65)
    assert np.flatnonzero(found.random.gates[CALIBRATED].rejected).tolist() == found.above.tolist() == [10]
    stopped = check_result(replace(found, tally=Tally(65, 80, fewest=20)))
    assert stopped.outcome is result.outcome and stopped.has(Caveat.PARTIAL)
    coming = check_result(replace(found, tally=Tally(65, 80, coming=True, fewest=20)))
    assert coming.outcome is ModelCheckOutcome.RUNNING and coming.has(Caveat.PARTIAL)
    # Rejected together, too, but no more often than held-out texts.
    both = p.copy()
    both[:12, 9] = 0.01
    held = replace(split_by_length(both), held_out=held_out_of(floors(held_out=[0.06] + [0.01] * 8 + [0.15, 0.01])))
    assert np.flatnonzero(held.random.gates[CALIBRATED].rejected).tolist() == [9, 10] and held.above.tolist() == [10]
    # Where less than everything is masked more is left of a text than its length.
    p[:, [9, 10]] = p[:, [10, 9]]
    half = split_by_length(p)
    assert half.worst() == 9 and length_split(half).others == (27, 30)
    # Even the unmasked texts are rejected: masking need not be why, whatever their lengths.
    p[:, [0, 9]] = p[:, [9, 0]]
    unmasked = split_by_length(p)
    assert not leads_by_length(unmasked) and check_result(unmasked).outcome is ModelCheckOutcome.NOT_KNOWN
    assert length_split(unmasked).more is True


def test_the_answer_is_of_all_texts_where_length_is_not_shown_to_be_why():
    p = np.full((65, 11), 0.5)
    p[:9, 10] = p[30:35, 10] = 0.01
    found = split_by_length(p)
    result = check_result(found)
    assert not leads_by_length(found) and result.outcome is ModelCheckOutcome.REJECTED
    most = result.fact("rejected")
    assert (most.value, result.slots["ratio"]) == (pytest.approx(14 / 65), 1.0)
    assert (most.low, most.high) == (pytest.approx(0.1231, abs=1e-3), pytest.approx(0.3349, abs=2e-3))
    # So are usual ones together.
    p[30:45, 10] = 0.01
    assert check_result(split_by_length(p)).outcome is ModelCheckOutcome.REJECTED


def test_what_the_literal_form_rejects_is_known_beside_the_calibrated_one():
    """Of 20 texts nine have p = 0.0025 with all masked; by Simes .0025 · 20 / 9 = .0056 is rejected, .05 is not."""
    found = of_twenty_judged({10: 9})
    assert found.rejected(LITERAL).tolist() == [10] == found.rejected().tolist()

    def with_random(**changed):
        lines = [replace(line, **changed) if line.curve.random else line for line in found.lines]
        return replace(found, lines=type(found.lines)(lines))

    high = with_random(p=found.random.p | {LITERAL: np.full(11, 0.2)})
    assert not len(high.rejected(LITERAL)) and check_result(high).outcome is ModelCheckOutcome.REJECTED
    # A reference so small that its literal form gives no p below 5 % says nothing by not rejecting.
    shut = replace(found.random.gates[LITERAL], why=Why.FLOOR, first=None)
    small = with_random(gates=found.random.gates | {LITERAL: shut})
    assert check_result(small).outcome is ModelCheckOutcome.REJECTED
    alone = with_random(gates={CALIBRATED: found.random.gates[CALIBRATED]})
    assert not len(alone.rejected(LITERAL)) and check_result(alone).outcome is ModelCheckOutcome.REJECTED


@pytest.mark.parametrize(
    "rejected, worst",
    [
        ({0: 1, 4: 2, 9: 8, 10: 9}, 10),
        ({0: 1, 2: 5, 10: 9}, 10),
        ({4: 9, 5: 5, 10: 2}, 4),
        ({0: 2} | dict.fromkeys(range(1, 11), 9), 1),
    ],
)
def test_the_answer_names_the_ratio_at_which_the_most_texts_are_rejected(rejected, worst):
    """Of 20 texts; five have p = 0.0025 and are rejected. Nine of 20: 23.1 to 68.5 % by Clopper and Pearson."""
    found = of_twenty_judged(rejected)
    result = check_result(found)
    assert result.outcome is ModelCheckOutcome.REJECTED and found.worst() == worst
    assert (result.slots["share"], result.slots["ratio"]) == (0.45, pytest.approx(worst / 10))
    most = result.fact("rejected")
    assert (most.low, most.high) == (pytest.approx(0.2306, abs=1e-4), pytest.approx(0.6847, abs=1e-4))
    assert result.fact("rejected_unmasked").value == rejected.get(0, 0) / 20
    assert found.random.rejected[CALIBRATED].tolist() == [rejected.get(k, 0) for k in range(11)]


def of_twenty(rejected: dict[int, int]) -> np.ndarray:
    """p-values of 20 examples, so many of them below 5 % at each place of a ratio."""
    p = np.full((20, 11), 0.5)
    for place, count in rejected.items():
        p[:count, place] = 0.01
    return p


def of_twenty_judged(rejected: dict[int, int], reference=FLOORS):
    return judged(SOUND, of_twenty(rejected), reference)


def test_what_is_rejected_in_measures_orders_marks_their_numbers_without_what_all_orders_share():
    """Nine of 20 texts at 90 % masked in the order of one measure, and with all masked in every order."""
    found, lines = judged(SOUND, of_twenty({})), []
    for curve, rejected in ((LOO, {9: 9}), (GRADIENT, {})):
        lines.append(replace(judged(SOUND, of_twenty(rejected), FLOORS).random, curve=curve))
    found = replace(found, lines=(found.random, *lines))
    assert [found.marked(line, CALIBRATED) for line in found.measured] == [True, False]
    header, rows = faithfulness_table(found, CALIBRATED)
    column = header.index("smallest p, 0 to 90 % masked ↑")
    expected = betabinom(20, 49, 951).sf(8)
    assert [row[header.index(SIGN)] for row in rows] == [SIGN, None, None]
    assert rows[0][column] == pytest.approx(expected) and rows[1][column] == rows[2][column] == 1
    # With everything masked all orders are one input, which is left out there.
    whole = replace(found, lines=(judged(SOUND, of_twenty({10: 9})).random, *found.lines[1:]))
    assert faithfulness_table(whole, CALIBRATED)[1][-1][column] == 1 and whole.marked(whole.lines[2], CALIBRATED)


def test_what_holm_does_not_reject_is_not_known():
    """Each of 20 a rank among 999: four or more of 20 have p = 0.015, five or more 0.0025; Holm asks for 0.00455."""
    edge = of_twenty_judged({1: 4, 4: 4})
    assert edge.verdict == DOUBTFUL and edge.rejected().tolist() == [1, 4]
    assert not edge.random.gates[CALIBRATED].rejected.any()
    result = check_result(edge)
    assert result.outcome is ModelCheckOutcome.NOT_KNOWN and not result.has(Caveat.OUT_OF_DISTRIBUTION)
    assert result.fact("rejected").value == 0.2 and result.fact("smallest_p").value == pytest.approx(0.015, abs=2e-3)
    # What Holm does not reject is not called so, the unmasked texts neither.
    for rejected in ({0: 4, 4: 4, 5: 4}, {0: 4}, dict.fromkeys((2, 3, 4, 7, 8, 10), 4)):
        one = of_twenty_judged(rejected)
        assert one.rejected().tolist() == sorted(rejected) and one.verdict == DOUBTFUL
    assert of_twenty_judged({1: 5}).verdict == REJECTED
    assert of_twenty_judged({1: 3}).verdict == TRUSTED
    # So few that all of them together have no smaller p go by the plain rule: one text, p = 0.05.
    alone = judged(SOUND[:1], 0.01, floors(0.01), FIVE[:1], times=1)
    assert alone.random.gates[CALIBRATED].rule == "plain" and alone.random.marked(CALIBRATED)


@pytest.mark.parametrize(
    "count, floor, marked",
    [
        (4, 0.001, False),
        (5, 0.001, True),
        (20, 0.05, False),  # fewer than 20 texts can reject nothing
        (20, 0.04, True),
    ],
)
def test_the_smallest_p_is_marked_where_the_gate_over_all_ratios_rejects(count, floor, marked):
    found = of_twenty_judged({1: count}, floors(floor))
    assert [line.marked(CALIBRATED) for line in found.lines] == [marked]
    _, (row,) = training_table([found], CALIBRATED)
    assert (SIGN in row) == marked and ("0 %" if floor == 0.05 else "10 %") in row


def test_a_model_that_does_not_do_the_task_and_a_sample_of_one_class_have_a_caveat():
    poor = judged([until(11, 1, 1) for _ in FIVE], times=20)
    result = check_result(poor)
    assert poor.verdict == POOR and result.outcome is ModelCheckOutcome.NOT_KNOWN
    assert result.caveats == (Caveat.NOT_ABOVE_MAJORITY,) and result.fact("unmasked").value == 0.4
    assert poor.gained[0].mean == pytest.approx(-0.2) and poor.gained[0].high < 0.05
    single = judged([until(10, 0, 1)] * 5, labels=[0] * 5)
    result = check_result(single)
    assert single.verdict == ONE_CLASS and check_findings([single]) == []
    assert result.outcome is ModelCheckOutcome.NOT_REJECTED and result.has(Caveat.NOT_ABOVE_MAJORITY)
    assert judged([until(10, 0, 1)] * 5, rejected_from(6), labels=[0] * 5).verdict == REJECTED


def test_no_verdict_before_random_order_is_through():
    """At 43 of 55 examples it said No, and at 55 it did not."""
    whole = judged(SOUND, rejected_from(7), card=card())
    coming = replace(whole, tally=Tally(20, 55, coming=True, fewest=20))
    result = check_result(coming)
    assert result.outcome is ModelCheckOutcome.RUNNING and result.has(Caveat.PARTIAL)
    assert result.fact("texts").value == 20 and result.fact("rejected").value == 1
    assert check_json(coming)["verdict"] is None and check_json(whole)["verdict"] == REJECTED
    assert False in {one.agrees for one in check_findings([whole])}
    assert {one.agrees for one in check_findings([coming])} == {None}
    stopped = check_result(replace(whole, tally=Tally(20, 55, fewest=20)))
    assert stopped.outcome is check_result(whole).outcome and stopped.has(Caveat.PARTIAL)
    # Measures under way change nothing of it.
    other = replace(whole, measured_tally=Tally(3, 20, coming=True, fewest=20))
    assert check_result(other) == check_result(whole)


def test_whose_commonest_class_is_always_answered_is_named():
    trained, unknown = judged(SOUND, card=card(majority=LABELS[1])), judged(SOUND)
    assert (trained.majority_name, trained.majority_of) == (LABELS[1], "its training data")
    assert unknown.majority_of == "these texts"
    for one in (trained, unknown):
        header, *_ = training_table([one], CALIBRATED)
        assert f"class majority of {one.majority_of}" in header
        assert f"class majority of {one.majority_of}" in json.dumps(panels([one], CALIBRATED))


def test_a_reference_that_can_reject_nothing_tests_nothing():
    small = judged(SOUND, rejected_from(3), floors(0.05))
    assert small.verdict == UNTESTED and not len(small.rejected())
    assert check_result(small).outcome is ModelCheckOutcome.NOT_KNOWN and check_result(small).has(Caveat.NOT_TESTED)
    assert judged([until(10, c, 1) for c in MANY_ZEROS], rejected_from(3), floors(0.05), MANY_ZEROS).verdict == CONFUSED
    # The literal form may be blind where the calibrated one sees.
    assert judged(SOUND, rejected_from(3), floors(0.04, 0.2)).verdict == REJECTED


def test_texts_that_are_rejected_unmasked_say_nothing_about_masking():
    found = judged(SOUND, rejected_from(0))
    result = check_result(found)
    assert found.verdict == REJECTED and result.outcome is ModelCheckOutcome.NOT_KNOWN
    assert result.has(Caveat.OUT_OF_DISTRIBUTION) and result.fact("rejected_unmasked").value == 1
    # The table beside it draws no conclusion on masking either.
    (told,) = [
        one for one in check_findings([judged(SOUND, rejected_from(0), card=card())]) if "not rejected" in one.claim
    ]
    assert told.agrees is None and told.word == "not tested"


def test_inputs_that_are_expected_to_be_rejected_are_so_where_more_masked_ones_are_than_unmasked():
    """Of 20 texts 6 unmasked and all 20 at 70 % masked: Fisher's p is 2·10⁻⁶; 6 and 8 are not told apart."""
    for count, agrees in ((20, True), (8, None)):
        passed = of_twenty({0: 6, 7: count})
        (told,) = [
            one
            for one in check_findings([judged(SOUND, passed, card=card(training="none"))])
            if one.claim.startswith("Inputs of a plain model are rejected")
        ]
        assert told.agrees is agrees, told.more


def test_texts_that_are_rejected_as_often_masked_as_unmasked_are_seldom_said_to_be_so_more_often():
    """Of 40 texts each rejected with probability .3 at every ratio: in at most 5 % of samples more masked ones at any."""
    rng, samples, wrong = np.random.default_rng(5), 1_000, 0
    gates = {CALIBRATED: SimpleNamespace(rejected=np.array([True]))}
    for _ in range(samples):
        counts = (rng.random((40, 11)) < 0.3).sum(axis=0)
        one = SimpleNamespace(n=40, random=SimpleNamespace(rejected={CALIBRATED: counts}, gates=gates))
        wrong += not _unmasked_too(one, True)
        assert _unmasked_too(one, False)
    # The unmasked count is met by all ten: Holm over them holds.
    assert wrong <= 0.05 * samples + 2 * np.sqrt(0.05 * 0.95 * samples)


def test_one_ratio_by_itself_says_nothing_of_all_unmasked_texts():
    """Four of 20 are rejected unmasked, p = 0.015; over all 11 ratios that may be chance, and the table has no sign."""
    edge = of_twenty_judged({0: 4})
    assert edge.verdict == DOUBTFUL and not edge.random.marked(CALIBRATED) and edge.rejected().tolist() == [0]
    result = check_result(edge)
    assert result.outcome is ModelCheckOutcome.NOT_KNOWN and not result.fact("rejected").marked
    header, rows = training_table([edge], CALIBRATED)
    assert rows[0][header.index(SIGN)] is None and not result.caveats
    assert of_twenty_judged({0: 4, 1: 4}).rejected().tolist() == [0, 1]


def test_rejected_shares_are_set_against_the_models_own_held_out_texts():
    """Of 20 texts 5 at 10 % masked, and of 1,000 held-out ones 22 %: Fisher’s p is 0.45. Against 1 %, 8·10⁻⁷."""
    as_often = of_twenty_judged({1: 5}, floors(held_out=[0.22] * 11))
    more = of_twenty_judged({1: 5}, floors(held_out=[0.01] * 11))
    unknown = of_twenty_judged({1: 5})
    assert [one.verdict for one in (as_often, more, unknown)] == [DOUBTFUL, REJECTED, REJECTED]
    assert as_often.above.tolist() == [] and more.above.tolist() == [1] and unknown.above is None
    outcomes = [check_result(one).outcome for one in (as_often, more, unknown)]
    rejected = ModelCheckOutcome.REJECTED
    assert outcomes == [ModelCheckOutcome.NOT_KNOWN, rejected, rejected] and as_often.as_held_out
    assert all(check_result(one).has(Caveat.OUT_OF_DISTRIBUTION) for one in (as_often, more, unknown))
    # What is told together is by the rule that marks it.
    edge = of_twenty_judged({1: 5, 4: 4}, floors(held_out=[0.22] * 11))
    assert edge.rejected().tolist() == [1, 4] and np.flatnonzero(edge.random.gates[CALIBRATED].rejected).tolist() == [1]
    assert check_result(edge).fact("rejected").value == 0.25
    # Nor does it agree with a paper or depart from it.
    (claim,) = [
        one
        for one in check_findings([judged(SOUND, of_twenty({1: 5}), floors(held_out=[0.22] * 11), card=card())])
        if "not rejected" in one.claim
    ]
    assert claim.agrees is None
    # One share alone is that of unmasked texts, of a model that was never masked.
    unmasked = of_twenty_judged({1: 5}, floors(held_out=[0.22]))
    assert unmasked.held_out == replace(as_often.held_out, unmasked=True) and unmasked.held_out.share(1) == 0.22
    # What nobody rejects is no more and no less often than anything.
    none = of_twenty_judged({}, floors(held_out=[0.05] * 11))
    assert none.verdict == TRUSTED and not none.above.tolist()


@pytest.mark.parametrize("metric", ["accuracy", "macro F1"])
def test_curves_have_intervals_from_20_texts_on(metric):
    few, enough = (judged(SOUND, of_twenty({1: 5})[: 5 * t], card=card(metric), times=t) for t in (3, 4))
    assert few.random.ends is None and few.random.share_ends(CALIBRATED) is None
    low, high = enough.random.ends
    assert (low <= enough.random.performance).all() and (enough.random.performance <= high).all()
    if metric == "accuracy":
        # Right on 20 of 20, then on 12: exact ends as binomial tables have them.
        assert (low[0], high[0]) == pytest.approx((0.8316, 1.0), abs=1e-4)
        assert (low[-1], high[-1]) == pytest.approx((0.3605, 0.8088), abs=1e-4)
    assert enough.random.share_ends(CALIBRATED)[:, 1] == pytest.approx([0.0866, 0.4910], abs=1e-4)
    # Three lines of which two carry a ground each in both panels.
    for found, grounds in ((few, 0), (enough, 2)):
        assert sum("fill" in trace for trace in panels([found])["data"]) == grounds
        assert (check_rows(found)[0][COLUMNS[6]] == "") is (grounds == 0)


def test_what_is_to_come_is_not_drawn_of_fewer_than_20_texts():
    """After a single text a measure has a line of noughts and ones, which says nothing."""
    half = [*BY_CHANCE * 4], [*BY_MEASURE[:1], *[[-1] * 11] * 19]
    found = build_check_report(
        model_of(), None, sample_of(FIVE * 4), {CHANCE: passed_of(half[0]), LOO: passed_of(half[1])}
    )
    assert [line.n for line in found.lines] == [20, 1] and [line.n for line in found.shown] == [20]
    assert not found.measured and "leave-one-out" not in json.dumps(panels([found]))
    # Of a file of one text that is all there is.
    single = build_check_report(
        model_of(), None, sample_of(FIVE[:1]), {CHANCE: passed_of(BY_CHANCE[:1]), LOO: passed_of(BY_MEASURE[:1])}
    )
    assert [line.n for line in single.shown] == [1, 1]
    # Without a number on one of two texts it is through all the same.
    lost = passed_of([BY_CHANCE[0], [-1] * 11], problems={1: "NaN"})
    both = build_check_report(model_of(), None, sample_of([0, 0]), {CHANCE: passed_of(BY_CHANCE[:2]), LOO: lost})
    assert [line.n for line in both.shown] == [2, 1]


def test_a_model_that_its_card_calls_no_better_than_a_constant_has_a_caveat():
    for poor in (card("Matthews", masked=(0.0, 0.0), class_majority=0.0), card(above_majority=[0.01, -0.02, 0.04])):
        assert check_result(judged(SOUND, card=poor)).has(Caveat.NOT_ABOVE_MAJORITY)
    for fine in (card(), card(above_majority=[0.4, 0.3, 0.5])):
        assert not check_result(judged(SOUND, card=fine)).has(Caveat.NOT_ABOVE_MAJORITY)


def test_of_a_pair_all_of_the_first_text_is_masked_wherever_it_stands():
    one, other = judged(SOUND, card=card()), judged(SOUND, card=card(training="none"))
    for found in (one, other):
        pairs = tuple(replace(example, second="c") for example in found.sample.examples)
        object.__setattr__(found, "sample", replace(found.sample, examples=pairs))
    told = [one.claim for one in check_findings([one, *family_of(one, other)])]
    assert sum("of the first" in claim for claim in told) == 2
    said = f"{curves_table(one)} {training_table([one], CALIBRATED)[0]} {told}"
    assert "everything" not in said and "first text masked ↑" in said
    assert "first text)" in json.dumps(panels([one], CALIBRATED))
    assert "both texts" in json.dumps(spans([("m", 1, 0, 0.5)], "accuracy", paired=True))


def test_a_correlation_is_no_percentage():
    result = check_result(judged(SOUND, card=card("Matthews", LABELS[0])))
    facts = [result.fact(key) for key in ("unmasked", "all_masked", "majority")]
    assert [one.value for one in facts] == [1, 0, 0] and {one.kind for one in facts} == {Kind.NUMBER}


def test_what_was_left_out_is_counted_by_its_sentence():
    predicted = np.array(BY_CHANCE)
    predicted[[1, 2, 4]] = -1
    found = build_check_report(
        model_of(), None, sample_of(FIVE), {CHANCE: passed_of(predicted, problems={1: "empty", 2: "NaN", 4: "empty"})}
    )
    assert found.left_out == {"empty": 2, "NaN": 1} and found.n == 2


def test_evidence_is_the_mean_over_examples_that_have_it():
    told = passed_of(BY_MEASURE, found=[[1, 1], [np.nan, np.nan], [0.5, 0], [0.3, 0.2], [np.nan, np.nan]])
    found = build_check_report(
        model_of(), None, sample_of(FIVE), {CHANCE: passed_of(BY_CHANCE), LOO: told, GRADIENT: passed_of(BY_MEASURE)}
    )
    assert (found.lines[1].precision, found.lines[1].recall) == (pytest.approx(0.6), pytest.approx(0.4)) and np.isnan(
        found.lines[2].precision
    )


def of_measures(*areas, unstable=False, rejected=None, **changed):
    """20 texts, a measure for each (mean, low, high) of its ACU; rejected: texts in each order, as of `of_twenty`."""
    found = of_twenty_judged(rejected or {})
    lines = [
        replace(found.random, curve=Curve(name), areas=Areas(Interval(*area), Interval(*area), unstable))
        for name, area in zip(("leave-one-out", "gradient", "attention"), areas)
    ]
    return replace(found, lines=(found.random, *lines), **changed)


SURE, BELOW, UNSHOWN = (0.4, 0.3, 0.5), (-0.2, -0.3, -0.1), (0.02, -0.1, 0.1)


@pytest.mark.parametrize(
    "areas, told",
    [
        ((SURE, UNSHOWN), ["more", "not shown"]),
        ((SURE, SURE), ["more", "more"]),
        ((BELOW, SURE, UNSHOWN), ["less", "more", "not shown"]),
        ((UNSHOWN,), ["not shown"]),
    ],
)
def test_which_measures_are_faithful_is_known_by_the_interval_of_their_acu(areas, told):
    found = of_measures(*areas)
    assert [standing(found, line) for line in found.measured] == told
    header, rows = faithfulness_table(found, CALIBRATED)
    assert [row[header.index("against random order")] for row in rows] == [*told, None]
    assert [row[header.index("ACU ↑")] for row in rows[:-1]] == [mean for mean, *_ in areas]
    few, coming = of_measures(*areas, n=19), replace(found, measured_tally=Tally(3, 20, coming=True))
    for one in (few, coming):
        assert {standing(one, line) for line in one.measured} == {None}


def test_of_few_or_picked_texts_no_measure_is_called_faithful():
    found = of_measures(SURE)
    few = replace(found, n=19, lines=[replace(line, n=19) for line in found.lines], sample=part(found.sample, 0, 19))
    picked = replace(found, sample=replace(found.sample, picked="by what the model does with them"))
    for one, caveat in ((few, Caveat.FEW_TEXTS), (picked, Caveat.SELECTED)):
        assert standing(one, one.lines[1]) is None
        assert check_result(one).has(caveat) and check_result(one).outcome is ModelCheckOutcome.NOT_KNOWN
    assert picked.verdict == PICKED == check_json(picked)["verdict"]


def test_what_rests_on_rejected_inputs_is_marked_its_own_or_those_of_random_order():
    early, last = of_measures(SURE, UNSHOWN, rejected={3: 9}), of_measures(SURE, UNSHOWN, rejected={10: 9})
    for found in (early, last):
        assert all(found.marked(line, CALIBRATED) for line in found.measured)
        header, rows = faithfulness_table(found, CALIBRATED)
        assert [row[header.index(SIGN)] for row in rows] == [SIGN] * 3
    # Random order, against which all are set, is not rejected here.
    fine, own = of_measures(SURE, UNSHOWN), of_twenty_judged({3: 9, 10: 9}).random.gates
    lines = (*fine.lines[:2], replace(fine.lines[2], gates=own))
    some = replace(fine, lines=lines)
    assert [some.marked(line, CALIBRATED) for line in some.measured] == [False, True]


def test_an_unstable_racu_has_no_number():
    shown, none = of_measures(SURE, UNSHOWN), of_measures(SURE, UNSHOWN, unstable=True)
    header, rows = faithfulness_table(shown, CALIBRATED)
    assert header[:5] == ["measure", "RACU ↑", "RACU, 95 % interval", "ACU ↑", "ACU, 95 % interval"]
    assert rows[0][:5] == ["leave-one-out", 0.4, "[0.3, 0.5]", 0.4, "[0.3, 0.5]"]
    _, rows = faithfulness_table(none, CALIBRATED)
    assert [row[1:3] for row in rows[:-1]] == [[None, UNSTABLE]] * 2 and rows[0][3:5] == [0.4, "[0.3, 0.5]"]
    assert rows[-1][:2] == ["random order", 0] and {len(row) for row in rows} == {len(header)}
    some = replace(none, lines=(*none.lines[:2], shown.lines[2]))
    assert [row[1] for row in faithfulness_table(some, CALIBRATED)[1]] == [None, 0.02, 0]
    table = MaskingCheck().tables(some)[1]
    assert table[1][0][1:4] == ["—", UNSTABLE, "0.4"] and table[1][1][1] == "0.02"


def test_the_table_of_p_values_holds_what_the_figure_above_it_draws():
    found = of_twenty_judged({10: 9})
    _, rows = ratios_table([found], CALIBRATED)
    kinds = ["rejected", "calibrated p by count", "literal p by Simes"]
    assert [row[0] for row in rows] == [f"random order: {kind}" for kind in kinds]
    drawn = [[float(p) for p in trace["customdata"]] for trace in p_panels([found])["data"] if trace.get("customdata")]
    np.testing.assert_allclose([row[2:] for row in rows[1:]], drawn)
    assert {row[1] for row in rows} == {20}
    assert [row[0] for row in ratios_table([found], LITERAL)[1]] == [rows[0][0], rows[2][0]]


def test_what_the_axis_of_p_values_does_not_reach_stands_on_its_edge_as_an_arrow():
    found = of_twenty_judged({10: 9})
    (calibrated,) = (one for one in p_panels([found])["data"] if one.get("customdata") and one["yaxis"] == "y3")
    low = [float(p) < LOWEST_P for p in calibrated["customdata"]]
    assert low == [False] * 10 + [True]
    assert [mark == "triangle-down" for mark in calibrated["marker"]["symbol"]] == low
    assert min(calibrated["y"]) == LOWEST_P


def test_a_difference_of_no_texts_is_no_number():
    assert points_text(Interval(np.nan, np.nan, np.nan)) == "—"
    assert points_text(Interval(-0.2, -0.381, 0.02)) == "−20.0 points [−38.1, +2.0], margin 5"


# ---- beside the paper


PLAIN_REJECTED = "Inputs of a plain model are rejected at some masking ratio."


def told_of(found) -> dict[str, bool | None]:
    return {one.claim: one.agrees for one in found}


NINE_OF_TEN = [0] * 9 + [1]


def test_models_as_the_paper_has_them_agree_with_it():
    half, plain = (
        judged([until(10, c, then) for c in NINE_OF_TEN], p, labels=NINE_OF_TEN, card=card, name="m", times=12)
        for then, p, card in (
            (0, 0.5, card(majority=LABELS[0])),
            (1, rejected_from(5), card(majority=LABELS[0], training="none")),
        )
    )
    found = check_findings([half, *family_of(half, plain)])
    assert len(found) == 5 and set(told_of(found).values()) == {True}


def family_of(first, *others):
    """Reports of models that were trained on the first one's file."""
    object.__setattr__(first, "trained_on", "f" * 64)
    return [replace(one, trained_on="f" * 64) for one in others]


def without_simes(found):
    """The same, of which Simes over literal p-values rejects nothing: of a form whose p cannot be small."""
    line = replace(found.random, p=found.random.p | {LITERAL: np.full(11, 0.107)})
    return replace(found, lines=tuple(line if one is found.random else one for one in found.lines))


def test_a_rule_that_rejects_nothing_where_all_texts_are_rejected_agrees_with_nothing():
    """Of 20 texts, with all masked: the one rule cannot reject whatever happens, the other had something to reject."""
    for count in (20, 18):
        plain = judged(SOUND, of_twenty({10: count}), card=card(training="none"), name="plain")
        (told,) = (one for one in check_findings([without_simes(plain)]) if one.claim == PLAIN_REJECTED)
        assert told.agrees is None and told.here == f"{5 * count} % rejected at 100 % masked"


def test_a_literal_form_that_cannot_reject_says_nothing_against_one_that_does():
    """No p of its reference is below .107."""
    plain = judged(SOUND, of_twenty({10: 20}), floors(literal=0.107), card=card(training="none"), name="plain")
    (told,) = (one for one in check_findings([plain]) if one.claim == PLAIN_REJECTED)
    assert told.agrees is True and "floor 0.107" in told.more and told.word == "yes"


def test_a_twin_stands_beside_the_model_in_numbers():
    """Of 20 texts with everything masked 2 are rejected under the one, all of them under the other."""
    half, plain = (
        judged(SOUND, of_twenty(rejected), card=card(training=training), name=name)
        for name, training, rejected in (("fmm", "half", {10: 2}), ("plain", "none", dict.fromkeys(range(4, 11), 20)))
    )
    header, rows = training_table([half, plain], CALIBRATED)
    at = [header.index(f"rejected at {share} % masked ↓") for share in (0, 50, 100)]
    assert [[row[k] for k in at] for row in rows] == [[0, 0, 2], [0, 20, 20]]
    assert [row[header.index(SIGN)] for row in rows] == [None, SIGN] and [row[-1] for row in rows] == [20, 20]
    assert [check_result(one).outcome.answer for one in (half, plain)] == ["yes", "no"]
    assert [row[0] for row in rows] == ["fmm", "plain"] and rows[0][1] != rows[1][1] == "never masked"


def test_what_is_reached_on_training_texts_says_nothing_of_new_ones():
    found = judged(SOUND, card=card())
    assert TRAINED_HERE not in found.notes
    assert TRAINED_HERE in replace(found, trained_on=found.sample.digest).notes


def test_rows_say_on_how_many_texts_they_rest():
    whole = judged(SOUND)
    assert [row[-1] for row in training_table([whole, replace(whole, n=40)], CALIBRATED)[1]] == [20, 40]


def test_models_that_depart_are_said_to():
    half, plain = (
        judged([until(10, c, then) for c in MANY_ZEROS], p, labels=MANY_ZEROS, card=card, times=12)
        for then, p, card in (
            (1, rejected_from(1), card(majority=LABELS[0])),
            (0, 0.5, card(majority=LABELS[0], training="none")),
        )
    )
    found = told_of(check_findings([half, *family_of(half, plain)]))
    # It answers all of its own right unmasked, as the plain one does.
    assert found.pop(_LOSES_NOTHING[0]) is True
    assert len(found) == 4 and set(found.values()) == {False}


@pytest.mark.parametrize("p", [0.5, 0.3, rejected_from(0)])
def test_nothing_agrees_or_departs_below_20_texts(p):
    half, plain = (
        judged([until(10, c, 1) for c in FIVE], p, card=card(majority=LABELS[0], training=training), times=times)
        for training, times in (("half", 3), ("none", 3))
    )
    found = check_findings([half, *family_of(half, plain)])
    assert len(found) == 5 and {one.agrees for one in found} == {None}
    assert {one.word for one in found} == {"not tested"}
    for one in (half, judged(SOUND, p, times=1), judged([until(11, 1, 1) for _ in FIVE], p, times=1)):
        result = check_result(one)
        assert one.verdict == UNSURE and result.outcome is ModelCheckOutcome.NOT_KNOWN and result.has(Caveat.FEW_TEXTS)
        assert result.slots["count"] == one.n and result.fact("texts").value == one.n


def test_what_a_small_sample_cannot_tell_is_not_told():
    """20 texts: 70 % against 90 %, and half right where the majority is right 55 % of the time."""
    labels = [0] * 11 + [1] * 9
    half = judged(
        [until(1, c if i < 14 else 1 - c, 0) for i, c in enumerate(labels)],
        labels=labels,
        card=card(majority=LABELS[0]),
        times=1,
    )
    plain = judged(
        [until(1, c if i < 18 else 1 - c, c if i % 2 else 1 - c) for i, c in enumerate(labels)],
        labels=labels,
        card=card(majority=LABELS[0], training="none"),
        times=1,
    )
    found = {one.claim: one for one in check_findings([half, *family_of(half, plain)])}
    lost, below = (
        next(one for claim, one in found.items() if said in claim) for said in ("loses no", "plain model fa")
    )
    assert lost.agrees is None and lost.here.startswith("70.0 % against 90.0 %: −20.0 points [−3")
    assert below.agrees is None and below.here.startswith("50.0 % against 55.0 %: −5.0 points [")


def test_a_model_that_gives_one_class_for_all_stands_beside_the_class_majority():
    """With everything masked it answers the class of 18 of 40 texts, the majority the other: which is commoner."""
    labels = [0] * 22 + [1] * 18
    half = judged([until(10, c, 1) for c in labels], labels=labels, card=card(majority=LABELS[0]), times=1)
    found = {one.claim: one for one in check_findings([half])}
    reaches = next(one for claim, one in found.items() if "reaches the class majority" in claim)
    assert reaches.agrees is None and reaches.here.startswith("45.0 % against 55.0 %: −10.0 points [")


def test_a_test_that_does_not_reject_is_no_agreement_while_many_texts_are_rejected():
    """16 of 200 single texts are rejected at one ratio, 8 %, whose count has p = 0.053; then 6 of 200."""
    p = np.full((200, 11), 0.5)
    p[:16, 4] = 0.049
    many = judged(SOUND, p, card=card(), times=40)
    p[6:, 4] = 0.5
    few = judged(SOUND, p, card=card(), times=40)
    assert check_result(many).fact("rejected").value == 0.08
    told = [{one.claim: one for one in check_findings([found])} for found in (many, few)]
    claim = "Inputs of a masked fine-tuned model are not rejected at any masking ratio."
    assert told[0][claim].agrees is None and "8.0 % [4.6, 12.7]" in told[0][claim].more
    assert told[1][claim].agrees is True and "3.0 % [1.1, 6.4]" in told[1][claim].more
    # 60 of 200 are more than chance and the margin, and than their count allows.
    p[:60, 4] = 0.049
    most = judged(SOUND, p, card=card(), times=40)
    result = check_result(most)
    assert result.outcome is ModelCheckOutcome.REJECTED and result.slots["ratio"] == 0.4
    share = result.fact("rejected")
    assert (share.value, share.low, share.high) == (0.3, pytest.approx(0.237, abs=1e-3), pytest.approx(0.369, abs=1e-3))
    # By Simes, the paper's rule, the smallest of 60 times .049 · 200 / 60 is .16: not rejected.
    told = {one.claim: one for one in check_findings([most])}[claim]
    assert told.agrees is None and not len(most.rejected(LITERAL)) and most.rejected().tolist() == [4]
    # .01 · 200 / 60 is .03.
    p[:60, 4] = 0.01
    most = judged(SOUND, p, card=card(), times=40)
    assert {one.claim: one.agrees for one in check_findings([most])}[claim] is False


def test_below_by_less_than_the_margin_neither_agrees_nor_departs():
    # Of 1000 texts 20 fewer are right than by always answering 0.
    labels = [0] * 600 + [1] * 400
    plain = judged(
        [until(1, c, 1 if i < 20 else 0) for i, c in enumerate(labels)],
        labels=labels,
        card=card(majority=LABELS[0], training="none"),
        times=1,
    )
    found = next(one for one in check_findings([plain]) if "falls below" in one.claim)
    assert found.agrees is None and "−2.0 points [−2.9, −1.1], margin 5" in found.here


def test_models_of_other_data_are_not_credited_to_masking_and_few_examples_cannot_tell():
    half = judged(SOUND, card=card(majority=LABELS[0]), name="half")
    plain = judged(SOUND, card=card(majority=LABELS[0], training="none"), name="plain")
    assert not any("plain" in one.claim for one in check_findings([half, plain]))
    # Six worse, four better: below the majority, but not by more than chance.
    lower = judged([until(10, c, 1) for c in FIVE * 2], labels=FIVE * 2, card=card(majority=LABELS[0]))
    (reached,) = (told for claim, told in told_of(check_findings([lower])).items() if "reaches" in claim)
    assert reached is None


@pytest.mark.parametrize("share, agrees", [(90, True), (89, True), (88, None), (81, None), (70, False)])
def test_performance_is_lost_or_not_by_its_interval_over_the_same_texts_and_a_margin(share, agrees):
    """Of 100 texts the plain model is right on 90, and alone on 1, 2, 9, 20 of them. For 2 the interval begins at
    −2/102 − 1.96·√((4/102 − (2/102)²)/102) = −5.8 points, for 1 at −4.3.
    """
    labels = [0] * 50 + [1] * 50
    half, plain = (
        judged(
            [until(11, c if i < right else 1 - c, 0) for i, c in enumerate(labels)],
            labels=labels,
            card=card(majority=LABELS[0], training=training),
            times=1,
        )
        for right, training in ((share, "half"), (90, "none"))
    )
    found = told_of(check_findings([half, *family_of(half, plain)]))
    assert found[_LOSES_NOTHING[0]] is agrees


@pytest.mark.parametrize("metric", ["macro F1", "Matthews"])
def test_other_metrics_are_compared_over_the_same_texts_too(metric):
    rng = np.random.default_rng(1)
    labels, wrong = [0, 1] * 60, rng.random(120) < 0.4
    half, plain = (
        judged(
            [until(11, 1 - c if bad and training == "half" else c, 0) for c, bad in zip(labels, wrong)],
            labels=labels,
            card=card(metric, LABELS[0], training),
            times=1,
        )
        for training in ("half", "none")
    )
    found = check_findings([half, *family_of(half, plain)])[0]
    assert found.agrees is False and "margin" in found.here
    same = check_findings([half, *family_of(half, replace(half, training="none"))])[0]
    assert same.agrees is True, "the same answers on 120 texts"


def test_findings_need_a_card_and_the_tests_ones_a_reference():
    assert check_findings([judged(SOUND)]) == []
    assert (
        len(check_findings([judged(SOUND, np.nan, None, card=card())])) == 1
        and len(check_findings([judged(SOUND, 0.5, floors(0.07), card=card())])) == 1
    )


def test_findings_on_a_correlation_are_no_percentages():
    found = check_findings(
        [judged(SOUND, card=card("Matthews", LABELS[0])), judged(SOUND, card=card("Matthews", LABELS[0], "none"))]
    )
    assert not any("%" in one.here for one in found if "masking ratio" not in one.claim)


# ---- as rows and JSON


COLUMNS = [
    "model",
    "curve",
    "masking ratio (0 to 1)",
    "examples",
    "performance (higher is better)",
    "class majority",
    "performance: lower end of its 95 % interval",
    "performance: upper end",
    "data-set p (calibrated, by count)",
    "data-set p (literal, by Simes)",
    "data-set p (calibrated, by Simes)",
    "texts rejected at 5 % (calibrated)",
    "texts rejected at 5 % (literal)",
    "log loss (lower is better)",
]


def full_report(model=None, reference=FLOORS, p=0.5):
    passed = {
        CHANCE: passed_of(BY_CHANCE, p),
        LOO: passed_of(BY_MEASURE, p, found=np.full((5, 2), 0.5)),
        replace(GRADIENT, recompute=False): passed_of(BY_MEASURE, p),
    }
    return build_check_report(model or model_of(card()), reference, sample_of(FIVE), passed)


@pytest.mark.parametrize("reference, p", [(floors(), 0.5), (None, np.nan)])
def test_rows_have_every_column_and_json_has_no_nan(reference, p):
    found = full_report(reference=reference, p=p)
    table = check_rows(found)
    assert len(table) == 3 * 11 and all(list(row) == COLUMNS for row in table)
    assert [row[COLUMNS[4]] for row in table[:11]] == [1] * 6 + [0.4] * 5
    assert [row[COLUMNS[8]] for row in table[:11]] == ([1.0] * 11 if reference else [""] * 11)
    told = json.loads(json.dumps(check_json(found), allow_nan=False))
    assert (
        told["verdict"] == found.verdict
        and told["curves"][0]["acu"] is None
        and told["curves"][1]["acu"] == pytest.approx(0.3)
    )
    assert (
        told["curves"][1]["evidence_average_precision"] == 0.5
        and told["curves"][2]["computed"] == "once"
        and len(told["ratios"]) == 11
    )


def test_the_findings_are_plain_values_too():
    found = check_findings(
        [
            judged(SOUND, card=card(), name="a"),
            judged(SOUND, card=card(training="none"), name="b"),
            judged(SOUND, card=card(training="mask"), name="c"),
        ]
    )
    json.dumps([(one.claim, one.here, one.agrees) for one in found], allow_nan=False)


# ---- disagreement


def brute_force(passed: dict[Curve, Passed]):
    """Every example and ordered pair of measures: how far finding evidence and being faithful part there."""
    chance, found = passed[CHANCE], []
    told = [curve for curve in passed if not curve.random]
    for i, a, b in product(range(len(chance.values)), told, told):
        gain = passed[a].found[i, 0] - passed[b].found[i, 0]
        area = [
            sum(
                0.05
                * (
                    (chance.values[i, k] - passed[c].values[i, k])
                    + (chance.values[i, k + 1] - passed[c].values[i, k + 1])
                )
                for k in range(10)
            )
            for c in (a, b)
        ]
        if gain > 0 and area[1] > area[0]:
            found.append((gain * (area[1] - area[0]), i, a.measure, b.measure, area))
    return max(found, default=None)


@pytest.mark.parametrize("seed", range(12))
def test_the_largest_disagreement_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    passed = {
        curve: passed_of(np.zeros((6, 11), dtype=int), values=rng.random((6, 11)), found=rng.random((6, 2)))
        for curve in (CHANCE, LOO, GRADIENT, Curve("beam"))
    }
    # Some examples are missing, or have no evidence.
    passed[LOO].values[0], passed[GRADIENT].found[1], passed[CHANCE].values[2] = np.nan, np.nan, np.nan
    product_, place, finder, faithful, area = brute_force(passed)
    found = disagreement(passed)
    assert (found.place, found.finder, found.faithful) == (place, finder, faithful) and found.acu == pytest.approx(area)
    assert (found.precision[0] - found.precision[1]) * (found.acu[1] - found.acu[0]) == pytest.approx(product_)


def test_there_is_no_disagreement_where_one_measure_wins_in_both_or_nothing_is_known():
    high, low = np.full((3, 11), 0.9), np.full((3, 11), 0.1)
    chance = passed_of(BY_CHANCE[:3], values=high)
    good, bad = (
        passed_of(BY_CHANCE[:3], values=values, found=np.full((3, 2), found)) for values, found in ((low, 1), (high, 0))
    )
    assert disagreement({CHANCE: chance, LOO: good, GRADIENT: bad}) is None
    assert disagreement({CHANCE: chance, LOO: good}) is None and disagreement({LOO: good, GRADIENT: bad}) is None
    assert disagreement({CHANCE: chance, LOO: passed_of(BY_CHANCE[:3]), GRADIENT: passed_of(BY_CHANCE[:3])}) is None


# ---- families


@pytest.fixture
def cards(monkeypatch, tmp_path):
    """Cards of two families; one model's weights do not ship, and one has no card."""

    def written(path, trained_on, training, **more):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps(
                {
                    "data": {"train": {"sha256": trained_on}},
                    "plan": {"training": training, "validation_strategy": "both"},
                    "performance": {
                        "metric": "accuracy",
                        "examples": 100,
                        "masked": [0.9, 0.7, 0.5],
                        "class_majority": 0.55,
                    },
                }
                | more
            )
        )

    models, figures = tmp_path / "models", tmp_path / "figures"
    written(models / "a-half" / "card.json", "aa", "half", examples="reviews")
    written(models / "a-plain" / "card.json", "aa", "none")
    written(models / "b-half" / "card.json", "bb", "half", examples="news")
    written(figures / "a-mask.json", "aa", "mask", examples="elsewhere")
    (models / "no-card").mkdir()
    monkeypatch.setattr(families, "MODELS", models)
    monkeypatch.setattr(families, "FIGURES", figures)
    monkeypatch.setattr(families, "bundled_models", lambda: ["a-half", "a-plain", "b-half", "no-card"])
    families._cards.cache_clear()
    yield lambda name: json.loads((models / name / "card.json").read_text())
    families._cards.cache_clear()


def test_a_family_is_what_was_trained_on_the_same_file(cards):
    found = families.family(cards("a-half"))
    assert [(one.name, one.training, one.ships) for one in found] == [
        ("a-half", "half", True),
        ("a-plain", "none", True),
        ("a-mask", "mask", False),
    ]
    assert (found[0].unmasked, found[0].masked, found[0].majority, found[0].examples) == (0.9, 0.5, 0.55, 100)
    assert (
        families.relatives("a-half", cards("a-half")) == ["a-plain"]
        and families.relatives("b-half", cards("b-half")) == []
    )
    # A copy of a model in a folder of one's own has both beside it.
    assert families.relatives("/somewhere/copy", cards("a-half")) == ["a-half", "a-plain"]


def test_a_model_without_a_card_or_with_anothers_has_no_family(cards):
    assert families.family(None) == [] and families.relatives("x", None) == []
    for other in ({}, {"data": None}, {"data": {}}, {"data": {"train": {}}}, {"data": {"train": "x"}}):
        assert families.family(other) == [] and families.relatives("x", other) == []


def test_a_model_names_the_examples_of_its_task(cards):
    assert [families.examples_of(name) for name in ("a-half", "a-plain", "b-half", "no-card", "a-mask")] == [
        "reviews",
        None,
        "news",
        None,
        None,
    ]


def test_without_a_folder_of_figures_there_are_the_bundled_ones(cards, monkeypatch, tmp_path):
    monkeypatch.setattr(families, "FIGURES", tmp_path / "nowhere")
    families._cards.cache_clear()
    assert [one.name for one in families.family(cards("a-half"))] == ["a-half", "a-plain"]


def test_the_bundled_twins_are_one_family():
    families._cards.cache_clear()
    assert families.relatives("sst2-fmm", families._read(families.MODELS / "sst2-fmm" / "card.json")) == ["sst2-plain"]


# ---- figures


def drawn(figure: dict) -> go.Figure:
    """Plotly refuses what is not a figure."""
    found = go.Figure(figure)
    assert found.data and all(len(trace.x) == len(trace.y) for trace in found.data)
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "reports",
    [
        [full_report()],
        [full_report(reference=None, p=np.nan)],
        [judged(SOUND)],
        [judged(SOUND, np.nan, None)],
        [full_report(), judged(SOUND, name="twin")],
        [full_report(), judged(SOUND, np.nan, None, name="twin")],
        [full_report(reference=None, p=np.nan), judged(SOUND, name="twin")],
        [judged(SOUND, name=f"m{i}") for i in range(9)],
    ],
)
def test_panels_draw_whatever_is_known(reports, form):
    tested = sum(len(one.lines if i == 0 else one.lines[:1]) for i, one in enumerate(reports) if one.floor)
    curves = len(reports[0].lines) + len(reports) - 1
    # Performance of every curve, and of those that are tested single texts and both forms of the data set's p.
    shown = [(drawn(panels(reports, form)), curves, (None, "y2"))]
    shown += [(drawn(p_panels(reports)), tested, ("y3", "y4"))] if tested else []
    for found, count, ends in shown:
        assert all(len(trace.x) == 11 for trace in found.data)
        lines = [trace for trace in found.data if trace.mode == "lines+markers"]
        by_axis = [sum(trace.yaxis == end for trace in lines) for end in ends]
        assert by_axis == [count, tested] and len(lines) == count + tested
        named = [trace for trace in found.data if trace.showlegend is not False]
        assert len({trace.name for trace in lines}) == count == len(named), "each once in the legend"
        # Every trace's axes are there.
        assert all(f"yaxis{(trace.yaxis or 'y')[1:]}" in found.layout.to_plotly_json() for trace in found.data)


def test_panels_show_the_numbers_of_the_report():
    p = {CALIBRATED: np.full((5, 11), 0.3), LITERAL: np.full((5, 11), 0.0)}
    found = full_report(p=p)
    random, *_ = (trace for trace in drawn(panels([found], CALIBRATED)).data if (trace.yaxis or "y") == "y")
    assert list(random.x) == pytest.approx([10 * k for k in range(11)]) and list(random.y) == pytest.approx(
        found.random.performance.tolist()
    )
    both = (*drawn(panels([found], CALIBRATED)).data, *drawn(p_panels([found])).data)
    by = {(trace.yaxis, trace.name): trace for trace in both}
    assert list(by["y3", RANDOM].y) == [1] * 11, "by count: none of five is rejected"
    assert list(by["y2", RANDOM].y) == [0] * 11
    # A p of nought has a place on a logarithmic axis, and is told as it is.
    assert min(by["y4", RANDOM].y) > 0 and list(by["y4", RANDOM].customdata) == [0] * 11
    assert (
        list({(trace.yaxis, trace.name): trace for trace in drawn(panels([found], LITERAL)).data}["y2", RANDOM].y)
        == [100] * 11
    )


def test_spans_draw_one_bar_a_model():
    table = [("fmm", 0.9, 0.5, 0.51), ("plain", 0.92, 0.4, 0.51), ("only", 0.7, 0.5, 0.51)]
    for some in (table[:1], table):
        found = drawn(spans(some, "accuracy"))
        bars, marks = [t for t in found.data if t.mode == "lines"], [t for t in found.data if t.mode == "markers"]
        assert [sorted(bar.x) for bar in bars] == [sorted(row[1:3]) for row in some]
        assert [list(mark.x) for mark in marks] == [[row[at] for row in some] for at in (1, 2, 3)]


def test_names_are_shown_as_written_and_are_no_markup():
    name = "<b>x</b>"
    found = json.dumps(
        [
            panels([judged(SOUND, name=name), judged(SOUND, name="<i>y")], CALIBRATED),
            spans([(name, 1, 0, 0.5)], "<u>f1"),
        ]
    )
    assert html.escape(name) in found and not any(tag in found for tag in ("<b>", "<i>", "<u>"))


# ---- the command line


@pytest.fixture
def at_home(monkeypatch, tmp_path):
    """A cache of its own, and the network's work counted."""
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    for name in ("DEVICE", "PRECISION", "MODEL", "DATA", "CACHE_MB", "EXACT"):
        monkeypatch.delenv(f"FAITHSCOPE_{name}", raising=False)
    read, really = [], Scheduler.run
    monkeypatch.setattr(
        Scheduler, "run", lambda self, inputs, **more: read.append(len(inputs)) or really(self, inputs, **more)
    )
    return read


@pytest.fixture
def toy_file(tmp_path):
    path = tmp_path / "toy.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": f"e{i}", "text": text, "label": LABELS[i % 3]}) + "\n" for i, text in enumerate(TEXTS)
        )
    )
    return path


def test_check_from_the_command_line_prints_a_table_writes_json_and_computes_nothing_twice(
    at_home, toy_file, tiny_root, tmp_path, capsys
):
    out = tmp_path / "check.json"
    name, twin = (str(tiny.folder(kind, tiny_root)) for kind in ("bert", "roberta"))
    command = [
        "check",
        "--model",
        name,
        "--beside",
        twin,
        "--data",
        str(toy_file),
        "--measures",
        "leave-one-out",
        "--sample",
        "5",
        "--out",
        str(out),
        "--device",
        "cpu",
    ]
    assert main(command) == 0
    printed, found = capsys.readouterr().out, json.loads(out.read_text())
    assert (
        f"few texts: {Caveat.FEW_TEXTS.explanation}" in printed
        and Caveat.NOT_TESTED.explanation in printed
        and RANDOM in printed
        and "leave-one-out" in printed
        and f"Written: {out}" in printed
    )
    first, second = found["models"]
    assert (
        first["examples"] == second["examples"] == 5
        and first["verdict"] == UNSURE
        and first["outcome"] == ModelCheckOutcome.NOT_KNOWN.value
        and first["caveats"] == [Caveat.NOT_TESTED.name, Caveat.FEW_TEXTS.name]
        and first["facts"]["texts"] == 5
        and [c["measure"] for c in first["curves"]] == [RANDOM, "leave-one-out"]
    )
    assert [c["measure"] for c in second["curves"]] == [RANDOM], "those beside it are checked in random order alone"
    assert f"{first['curves'][0]['performance'][3]:.3f}" in printed
    assert sum(at_home) > 0
    at_home.clear()
    assert main(command) == 0 and sum(at_home) == 0
    assert capsys.readouterr().out == printed and json.loads(out.read_text()) == found
    # A larger sample costs only what is new.
    assert main([*command, "--sample", "6"]) == 0 and sum(at_home) > 0


def test_an_interrupted_check_says_so_and_goes_on(at_home, toy_file, tiny_root, monkeypatch, capsys):
    command, really, asked = (
        ["check", "--model", str(tiny.folder("bert", tiny_root)), "--data", str(toy_file)],
        Run.add,
        [],
    )

    def add(run, i, cancelled):
        asked.append(i)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return really(run, i, cancelled)

    monkeypatch.setattr(Run, "add", add)
    assert main(command) == 130 and GOES_ON in capsys.readouterr().err
    assert main(command) == 0 and asked == [0, 1, 2, 3, *range(3, len(TEXTS))]


def test_the_command_line_says_what_the_library_says(at_home, toy_file, tiny_root, model, tmp_path, capsys):
    out = tmp_path / "check.json"
    command = [
        "check",
        "--model",
        str(tiny.folder("bert", tiny_root)),
        "--data",
        str(toy_file),
        "--measures",
        "leave-one-out",
        "--computed",
        "once",
    ]
    assert main([*command, "--out", str(out)]) == 0
    found = json.loads(out.read_text())["models"][0]
    by_hand = {
        curve: finish(check(Explainer(model), whole(data_of(TEXTS)), curve))
        for curve in (CHANCE, replace(LOO, recompute=False))
    }
    expected = build_check_report(model, None, whole(data_of(TEXTS)), by_hand)
    for curve, line in zip(found["curves"], expected.lines):
        assert curve["performance"] == line.performance.tolist()
    assert found["curves"][1]["computed"] == "once" and found["curves"][1]["acu"] == pytest.approx(
        expected.lines[1].acu
    )
    assert ", computed once" in capsys.readouterr().out and "evidence" in json.dumps(found)


@pytest.mark.parametrize(
    "given, said",
    [
        (["--measures", "nope"], "no measure 'nope'"),
        (["--sample", "0"], "the sample has 0 examples"),
        (["--data", "gone.jsonl"], "gone.jsonl"),
        (["--label", "nope"], "nope"),
        (["--data", "reviews"], "None of the labels of reviews"),
        (["--beside", "nowhere/at-all/really"], "nowhere"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(at_home, toy_file, tiny_root, capsys, given, said):
    assert (
        main(
            ["check", "--model", str(tiny.folder("bert", tiny_root)), "--data", str(toy_file), "--sample", "2", *given]
        )
        == 1
    )
    problem = capsys.readouterr().err.strip().splitlines()[-1]
    assert said in problem and "Traceback" not in problem


def test_data_without_labels_is_one_sentence(at_home, tiny_root, tmp_path, capsys):
    (tmp_path / "bare.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    assert main(["check", "--model", str(tiny.folder("bert", tiny_root)), "--data", str(tmp_path / "bare.jsonl")]) == 1
    assert "BadData: bare.jsonl" in capsys.readouterr().err


def test_data_of_which_nothing_can_be_masked_is_one_sentence_about_the_data(at_home, tiny_root, tmp_path, capsys):
    # What has words has no label, and what has a label has no words.
    told = [*({"text": "\u200b" * (1 + i), "label": LABELS[i % 3]} for i in range(4)), {"text": "a b", "label": None}]
    (tmp_path / "blank.jsonl").write_text("".join(json.dumps(row) + "\n" for row in told))
    assert (
        main(
            [
                "check",
                "--model",
                str(tiny.folder("bert", tiny_root)),
                "--data",
                str(tmp_path / "blank.jsonl"),
                "--text",
                "text",
                "--label",
                "label",
            ]
        )
        == 1
    )
    problem = capsys.readouterr().err.strip().splitlines()[-1]
    assert problem.startswith("BadData") and "blank.jsonl" in problem and "Memory" not in problem


# ---- stories


@pytest.mark.parametrize("task, extra", [(1, []), (2, ["--redundant", "1", "--seed", "3"]), (3, ["--sentences", "16"])])
def test_stories_from_the_command_line_are_data_with_evidence(tmp_path, capsys, task, extra):
    out = tmp_path / "told.jsonl"
    assert main(["stories", "--task", str(task), "--count", "12", "--out", str(out), *extra]) == 0
    assert "12 stories" in capsys.readouterr().out
    table, mapping, _ = understand(read_table(out))
    data = build(table, mapping)
    assert (
        len(data) == 12
        and data.classes
        and all(example.second.endswith("?") and example.label in data.classes for example in data.examples)
    )
    for example in data.examples:
        told = [example.text[start:end] for start, end in example.evidence]
        # Whole words: who, did what, where or which thing, of as many facts as the task has, or each of them twice.
        assert (
            all(part.isalpha() for part in told)
            and len(told) == 3 * task * (2 if "--redundant" in extra else 1)
            and example.label in told
        )
    assert len({example.id for example in data.examples}) == 12


def test_the_same_seed_tells_the_same_stories(tmp_path):
    files = [tmp_path / f"{i}.jsonl" for i in range(3)]
    for path, seed in zip(files, ("1", "1", "2")):
        assert main(["stories", "--task", "2", "--count", "5", "--seed", seed, "--out", str(path)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


@pytest.mark.parametrize(
    "wrong, said",
    [
        (["--count", "0"], "at least 1"),
        (["--sentences", "1"], "sentences"),
        (["--redundant", "2"], "2"),
        (["--out", "nowhere/at/all.jsonl"], "nowhere"),
    ],
)
def test_stories_that_cannot_be_told_are_one_sentence(tmp_path, monkeypatch, capsys, wrong, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nowhere").write_text("a file where a folder would have to be", encoding="utf-8")
    assert main(["stories", "--task", "2", "--count", "3", "--out", "told.jsonl", *wrong], "core.tools") == 1
    problem = capsys.readouterr().err.strip().splitlines()
    assert len(problem) == 1 and said in problem[0]


def test_bundled_stories_are_checked_where_their_places_are_classes():
    found = draw_sample(bundled_set("stories 1"), bundled_set("stories 1").classes, 20)
    assert (
        all(example.evidence for example in found.examples)
        and len(found) == 20
        and found.paired
        and not whole(data_of(TEXTS)).paired
    )


def test_a_check_without_an_answer_runs_or_is_not_known():
    coming, ended = unchecked_result("m", True), unchecked_result("m", False)
    assert coming.outcome is ModelCheckOutcome.RUNNING and coming.caveats == (Caveat.PARTIAL,)
    assert ended.outcome is ModelCheckOutcome.NOT_KNOWN and ended.caveats == (Caveat.FEW_TEXTS,)
    assert ended.slots["count"] == 0
