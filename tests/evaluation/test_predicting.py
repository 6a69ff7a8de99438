"""Predictions of whole data sets against one text after another, whatever is cut, kept, cancelled or broken."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.data.examples import bundled_data, read_bundled
from core.evaluation import predicting as module
from core.evaluation.predicting import Predictions, expected_cost, predict_all, rows_of, stored_predictions
from core.explanation.explainer import Explainer, softmax
from core.job import CANCELLED, DONE
from core.jobs import Jobs
from core.network.features import NoFeatures, masked_ids
from core.network.scheduler import Cancelled, Input, OutOfMemory
from core.storage.store import Store
from tests import tiny

EACH = pytest.mark.parametrize("kind", tiny.KINDS)
SOME = ("bert", "roberta", "gpt2")
# Another batch, another order of sums; the tiny models' weights are large, so that their rounding is too.
CLOSE = {"atol": 1e-4, "rtol": 0}
PIECES = (
    "the",
    " ",
    "  ",
    "\n",
    "'s",
    "'",
    "...",
    "(",
    "[",
    "wind",
    "Captain",
    "[MASK]",
    "<mask>",
    "x[MASK]y",
    "<|endoftext|>",
    "[SEP]",
    "</s>",
    "<pad>",
    "[PAD]",
    "[CLS]",
    "▁",
    "Ġ",
    "##",
    "👍🏽",
    "👩‍👧",
    "e\u0301",
    "\u0301",
    "İ",
    "中文",
    "שלום",
    "\0",
    "\u200b",
    "\ufeff",
    "\ufffd",
    "\ud800",
    "\u2028",
    "\x85",
    "x" * 120,
    "the wind " * 40,
)
ANY_TEXT = st.text(st.characters(), max_size=30) | st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
ANY_PAIR = st.tuples(ANY_TEXT, st.none() | ANY_TEXT)
THOROUGH = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SENTENCES = [(text, None) for text in tiny.SENTENCES]
ODD = [
    ("Salt the [MASK] before.", None),
    ("", None),
    ("The ferry leaves.", "It does not."),
    (" \t", None),
    ("\0", "a pair"),
    ("The ferry leaves.", None),
    ("the wind " * 200, None),
    ("the wind", "the wind " * 200),
    ("The ferry leaves.", "It does not."),
    ("It's cold.", ""),
    ("x\ud800", None),
]


def finish(generator) -> tuple[list[Predictions], Predictions]:
    """What a generator yields, and what it returns."""
    yielded = []
    while True:
        try:
            yielded.append(next(generator))
        except StopIteration as end:
            return yielded, end.value


def alone(model, text, second=None):
    """float64[C] of one text by the explainer, or the sentence why there is none."""
    try:
        return Explainer(model).probabilities(model.encode(text, second))
    except NoFeatures as error:
        return str(error)


def agrees(found: Predictions, model, texts) -> None:
    """All of it is there and equals one text after another."""
    assert len(found) == len(texts) and found.complete and found.done == len(texts)
    for i, pair in enumerate(texts):
        expected = alone(model, *pair)
        if isinstance(expected, str):
            assert found.problems[i] == expected and np.isnan(found.probabilities[i]).all() and found.predicted[i] == -1
        else:
            assert i not in found.problems
            np.testing.assert_allclose(found.probabilities[i], expected, **CLOSE)


class Counting:
    """A model whose network counts the inputs that it reads, and may fail or answer otherwise.

    Everything else is the model's own.
    """

    def __init__(self, model, monkeypatch, before=lambda count: None, change=lambda ids, logits: logits):
        self.read, real = 0, model.scheduler.network

        def network(ids, lengths, type_ids, hidden):
            before(self.read)
            logits, states = real(ids, lengths, type_ids, hidden)
            self.read += len(ids)
            return change(ids, logits.copy()), states

        monkeypatch.setattr(model.scheduler, "network", network)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache")


# The same ids as everywhere else


def same_rows(model, pairs) -> None:
    for (text, second), row in zip(pairs, rows_of(model, pairs), strict=True):
        try:
            encoded = model.encode(text, second)
        except NoFeatures as error:
            assert row == str(error)
            continue
        assert row.ids.dtype == np.int64
        np.testing.assert_array_equal(row.ids, masked_ids(encoded, np.zeros((1, encoded.F), dtype=bool))[0])
        assert (row.type_ids is None) == (encoded.type_ids is None)
        if row.type_ids is not None:
            assert row.type_ids.dtype == np.int64
            np.testing.assert_array_equal(row.type_ids, encoded.type_ids)


@EACH
def test_every_bundled_text_is_read_as_one_alone(tiny_model, kind):
    texts = [(example.text, example.second) for name in bundled_data() for example in read_bundled(name)]
    assert len(texts) > 300
    # Every family reads a third of them, and every text is read by some families.
    same_rows(tiny_model(kind), [*texts[tiny.KINDS.index(kind) % 3 :: 3], *SENTENCES, *ODD])


@EACH
@THOROUGH
@given(st.lists(ANY_PAIR, max_size=6))
def test_any_text_is_read_as_one_alone(tiny_model, kind, pairs):
    same_rows(tiny_model(kind), pairs)


@pytest.mark.parametrize("kind", SOME)
def test_plain_texts_take_the_short_way_and_odd_ones_the_long(tiny_model, kind, monkeypatch):
    model, asked = tiny_model(kind), []
    real = module._encoded
    monkeypatch.setattr(module, "_encoded", lambda model, *pair: asked.append(pair) or real(model, *pair))
    rows_of(model, [*SENTENCES, ("a [MASK] b", None), ("", None), ("a <mask>", "b")])
    assert asked == [("a [MASK] b", None), ("", None), ("a <mask>", "b")]


# Whole files


@EACH
def test_a_file_equals_one_text_after_another(tiny_model, kind):
    texts = [*SENTENCES, *ODD, *SENTENCES[:7]]
    yielded, found = finish(predict_all(tiny_model(kind), texts, seconds=600.0))
    agrees(found, tiny_model(kind), texts)
    assert found.probabilities.dtype == np.float32 and found.probabilities.shape == (len(texts), 3) and not yielded, (
        "one slice was enough"
    )


@THOROUGH
@given(st.lists(ANY_PAIR, max_size=8))
def test_any_file_equals_one_text_after_another(tiny_model, pairs):
    agrees(finish(predict_all(tiny_model("bert"), pairs))[1], tiny_model("bert"), pairs)


def test_the_bundled_model_agrees_within_what_is_promised():
    from core.loading.loading import load
    from core.loading.locating import bundled_models

    if not bundled_models():
        pytest.skip("no model ships with this copy")
    model = load(bundled_models()[0], "cpu")
    texts = [(example.text, example.second) for example in read_bundled("reviews")[:40]]
    _, found = finish(predict_all(model, texts))
    explainer = Explainer(model)
    for i, (text, _) in enumerate(texts):
        np.testing.assert_allclose(
            found.probabilities[i], explainer.probabilities(model.encode(text)), atol=1e-5, rtol=0
        )


def test_nothing_to_predict_is_done(tiny_model, store):
    for kept in (None, store):
        yielded, found = finish(predict_all(tiny_model("bert"), [], store=kept))
        assert (
            not yielded
            and found.complete
            and found.probabilities.shape == (0, 3)
            and found.predicted.shape == found.confidence.shape == (0,)
        )


def test_what_predictions_say_of_themselves():
    probabilities = np.array([[0.2, 0.7, 0.1], [np.nan] * 3, [0.5, 0.25, 0.25], [np.nan] * 3], dtype=np.float32)
    found = Predictions(probabilities, {3: "Empty."})
    assert found.predicted.tolist() == [1, -1, 0, -1] and found.there.tolist() == [True, False, True, False]
    np.testing.assert_array_equal(found.confidence, np.array([0.7, np.nan, 0.5, np.nan], dtype=np.float32))
    assert (found.done, found.complete, len(found)) == (3, False, 4)
    assert Predictions(probabilities, {1: "Empty.", 3: "Empty."}).complete


# Slices


def test_slices_add_up_and_earlier_pictures_stay_as_they_were(tiny_model, monkeypatch):
    model = tiny_model("bert")
    monkeypatch.setattr(model.scheduler, "max_rows", 4)
    yielded, found = finish(predict_all(model, SENTENCES, seconds=0))
    agrees(found, model, SENTENCES)
    assert [picture.done for picture in yielded] == [*range(4, 40, 4), 40]
    for picture in yielded:
        assert picture.there.sum() == picture.done
        np.testing.assert_array_equal(picture.probabilities[picture.there], found.probabilities[picture.there])


def test_the_first_texts_of_a_file_do_not_wait_for_the_shortest_of_all(tiny_model, monkeypatch):
    """Rows are sorted by length within windows of 32 batches only."""
    model = tiny_model("bert")
    monkeypatch.setattr(model.scheduler, "max_rows", 1)
    texts = [(f"{number} the wind", None) for number in range(32)] + [(f"{number}", None) for number in range(100, 120)]
    yielded, found = finish(predict_all(model, texts, seconds=0))
    agrees(found, model, texts)
    assert yielded[31].there.tolist() == [True] * 32 + [False] * 20


def test_progress_begins_with_what_was_there_and_counts_texts(tiny_model, store, monkeypatch):
    model, told = tiny_model("bert"), []
    monkeypatch.setattr(model.scheduler, "max_rows", 16)
    texts = [*SENTENCES, *SENTENCES[:5], ("", None)]
    generator = predict_all(model, texts, store=store, seconds=0, progress=lambda *at: told.append(at))
    next(generator), generator.close()
    assert told[0] == (0, 46) and told[1][0] >= 16 and len(told) == 2
    before = told[-1]
    told.clear()
    finish(predict_all(model, texts, store=store, progress=lambda *at: told.append(at)))
    assert told[0] == before and told[-1] == (46, 46) and [done for done, _ in told] == sorted(done for done, _ in told)


def test_identical_texts_are_read_once(tiny_model, monkeypatch):
    model = tiny_model("bert")
    counting = Counting(model, monkeypatch)
    texts = SENTENCES[:3] * 20 + [(SENTENCES[0][0], ""), (SENTENCES[0][0], "other")]
    _, found = finish(predict_all(model, texts))
    assert counting.read == 5 and found.done == 62
    agrees(found, model, texts)


# What is kept


def test_a_finished_file_is_read_back_without_the_network(tiny_model, store, monkeypatch):
    model, texts = tiny_model("bert"), [*SENTENCES, *ODD]
    _, first = finish(predict_all(model, texts, store=store))
    counting = Counting(model, monkeypatch)
    told = []
    yielded, again = finish(predict_all(model, texts, store=store, progress=lambda *at: told.append(at)))
    held = stored_predictions(model, texts, store)
    assert counting.read == 0 and not yielded and told == [(len(texts), len(texts))]
    for found in (again, held):
        np.testing.assert_array_equal(found.probabilities, first.probabilities)
        assert found.problems == first.problems and len(found.problems) == 3 and found.complete


def test_predictions_belong_to_texts_model_and_precision(tiny_model, store):
    model = tiny_model("bert")
    finish(predict_all(model, SENTENCES, store=store))
    assert stored_predictions(model, SENTENCES * 2, store).complete, "the same texts"
    for texts in (
        SENTENCES[:-1],
        SENTENCES[::-1],
        [(text, "") for text, _ in SENTENCES],
        [("".join(t for t, _ in SENTENCES), None)],
    ):
        assert stored_predictions(model, texts, store).done == 0
    assert stored_predictions(tiny_model("electra"), SENTENCES, store).done == 0
    before, model.precision = model.precision, "bfloat16"
    try:
        assert stored_predictions(model, SENTENCES, store).done == 0
    finally:
        model.precision = before


@pytest.mark.parametrize("how", ["closed", "cancelled", "failed", "killed"])
def test_work_goes_on_where_it_stopped(tiny_model, store, monkeypatch, how):
    model = tiny_model("bert")
    texts = [*SENTENCES, ("", None), *SENTENCES[:10]]
    monkeypatch.setattr(model.scheduler, "max_rows", 8)
    monkeypatch.setattr(module, "SAVE_ROWS", 16)

    def before(read):
        if how == "failed" and read >= 24:
            raise RuntimeError("the device fell off")

    with monkeypatch.context() as patch:
        counting = Counting(model, patch, before)
        generator = predict_all(
            model, texts, store=store, seconds=0, cancelled=lambda: how == "cancelled" and counting.read >= 24
        )
        yielded = [next(generator) for _ in range(3)]
        if how == "closed":
            generator.close()
        elif how == "killed":
            # Nothing more of it runs; its clean-up finds a store that takes nothing.
            patch.setattr(store, "append", lambda *_: None)
            patch.setattr(store, "put", lambda *_: None)
            generator.close()
        else:
            with pytest.raises(Cancelled if how == "cancelled" else RuntimeError):
                next(generator)
    kept = 16 if how == "killed" else 24
    held = stored_predictions(model, texts, store)
    assert held.there[:40].sum() == kept and not held.complete
    np.testing.assert_array_equal(held.probabilities[held.there], yielded[-1].probabilities[held.there])
    counting = Counting(model, monkeypatch)
    again, found = finish(predict_all(model, texts, store=store))
    assert counting.read == 40 - kept, "the rest only"
    assert again[0].done == held.done, "what is known is shown at once"
    agrees(found, model, texts)
    assert stored_predictions(model, texts, store).complete


def test_what_is_computed_is_kept_now_and_then(tiny_model, store, monkeypatch):
    model = tiny_model("bert")
    monkeypatch.setattr(model.scheduler, "max_rows", 8)
    generator = predict_all(model, SENTENCES, store=store, seconds=0)
    next(generator)
    assert stored_predictions(model, SENTENCES, store).done == 0, "too little to be worth a file"
    monkeypatch.setattr(module, "SAVE_SECONDS", 0.0)
    next(generator)
    assert stored_predictions(model, SENTENCES, store).done == 16
    generator.close()


def test_a_damaged_or_missing_segment_costs_its_computation_only(tiny_model, store, monkeypatch):
    model = tiny_model("bert")
    monkeypatch.setattr(model.scheduler, "max_rows", 8)
    monkeypatch.setattr(module, "SAVE_ROWS", 8)
    generator = predict_all(model, SENTENCES, store=store, seconds=0)
    for _ in range(3):
        next(generator)
    generator.close()
    paths = sorted(path for path in store.root.rglob("*.safetensors"))
    assert len(paths) == 3
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    assert stored_predictions(model, SENTENCES, store).done == 8
    _, found = finish(predict_all(model, SENTENCES, store=store))
    agrees(found, model, SENTENCES)


def test_a_store_that_cannot_be_written_loses_nothing_now(tiny_model, tmp_path):
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "cache")
    _, found = finish(predict_all(tiny_model("bert"), SENTENCES, store=store))
    agrees(found, tiny_model("bert"), SENTENCES)
    assert store.last_problem


# What goes wrong


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_text_that_gives_nan_has_a_sentence_and_the_others_their_numbers(tiny_model, store, monkeypatch):
    model = tiny_model("bert")
    broken = model.encode(SENTENCES[5][0]).ids

    def change(ids, logits):
        logits[
            (ids[:, : len(broken)] == broken).all(axis=1)
            if ids.shape[1] >= len(broken)
            else np.zeros(len(ids), dtype=bool),
            1,
        ] = np.inf
        return logits

    texts = [*SENTENCES, SENTENCES[5]]
    with monkeypatch.context() as patch:
        Counting(model, patch, change=change)
        _, found = finish(predict_all(model, texts, store=store))
    assert set(found.problems) == {5, 40} and "NaN or infinity" in found.problems[5] and found.problems[5].endswith(".")
    assert found.complete and found.there.sum() == 39 and np.isnan(found.confidence[[5, 40]]).all()
    held = stored_predictions(model, texts, store)
    assert held.problems == found.problems
    np.testing.assert_array_equal(held.probabilities, found.probabilities)


def test_one_text_too_large_for_the_memory_is_the_schedulers_sentence(tiny_model, store, monkeypatch):
    model = tiny_model("bert")
    monkeypatch.setattr(model.scheduler, "max_rows", 8)

    def before(read):
        if read >= 16:
            raise MemoryError

    with monkeypatch.context() as patch:
        Counting(model, patch, before)
        with pytest.raises(OutOfMemory, match="does not fit"):
            finish(predict_all(model, SENTENCES, store=store))
    assert stored_predictions(model, SENTENCES, store).done == 16


# As a job


def test_a_file_as_a_job_takes_turns_and_shows_what_is_there(tiny_model, store, monkeypatch):
    from tests.waiting import ended, until

    model, jobs = tiny_model("bert"), Jobs()
    monkeypatch.setattr(model.scheduler, "max_rows", 1)
    texts = [(f"{number} the wind", None) for number in range(3000)]
    job = jobs.submit(
        "file",
        "file",
        lambda job: predict_all(model, texts, store=store, seconds=0.01, progress=job.report, cancelled=job.cancelled),
    )
    until(lambda: job.partial is not None)
    other = jobs.submit("other", "other", lambda other: (job.state, job.partial.done))
    assert ended(other) == DONE and other.result[0] == "running" and 0 < other.result[1] < 3000
    assert job.total == 3000 and job.done >= other.result[1] and job.remaining_seconds > 0
    job.cancel()
    assert ended(job) == CANCELLED
    held = stored_predictions(model, texts, store)
    assert 0 < held.done < 3000
    job = jobs.submit(
        "file", "file", lambda job: predict_all(model, texts[: held.done], store=store, progress=job.report)
    )
    assert ended(job) == DONE and job.result.complete and job.done == job.total == held.done


def test_the_expected_cost_goes_by_length_and_number(tiny_model):
    model = tiny_model("bert")
    short, long = [("the wind", None)] * 100, [("the wind " * 10, None)] * 100
    cost = expected_cost(model, short)
    assert cost.passes == 100 and 0 < cost.seconds < expected_cost(model, long).seconds
    assert expected_cost(model, short * 3).seconds == pytest.approx(3 * cost.seconds, rel=0.01)
    assert (
        expected_cost(model, []).passes
        == 0
        == expected_cost(model, []).seconds
        == expected_cost(model, [("", None)]).seconds
    )


def test_rows_of_nothing_are_none(tiny_model):
    assert rows_of(tiny_model("bert"), []) == []
    assert isinstance(rows_of(tiny_model("bert"), [("a", None)])[0], Input) and re.search(
        "empty", rows_of(tiny_model("bert"), [("", "a")])[0]
    )
    np.testing.assert_allclose(softmax(np.zeros((2, 4))), 0.25)
