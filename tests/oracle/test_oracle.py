"""The masking oracle against the network itself: equal, each distinct input once, whatever fails in between."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.evaluation.predicting import predict
from core.network.features import masked_ids
from core.network.model import Model
from core.network.scheduler import Cancelled, NonFinite
from core.oracle import oracle as module
from core.oracle.oracle import Oracle, Oracles
from core.storage.store import Store
from core.validity.mask_tests import MasfTest
from tests import tiny

TEXT, SECOND = "The captain's boat reads the wind", "Salt the water"
EVERY = pytest.mark.parametrize("kind", tiny.KINDS)
PROPERTY = settings(deadline=None, max_examples=25, derandomize=True)


class Spy:
    """Stands before the network: records every row, and can be slow or break rows."""

    def __init__(self, monkeypatch, model):
        self.rows, self.breaks, self.seconds, self._network = [], (), 0.0, model.run
        monkeypatch.setattr(model.scheduler, "network", self)

    def __call__(self, ids, lengths, type_ids, hidden):
        time.sleep(self.seconds)
        here = [tuple(row[:length].tolist()) for row, length in zip(ids, lengths)]
        self.rows += here
        logits, states = self._network(ids, lengths, type_ids, hidden)
        logits[[i for i, row in enumerate(here) if row in self.breaks]] = np.nan
        return logits, states


@pytest.fixture
def model(tiny_model):
    return tiny_model("bert")


@pytest.fixture
def spy(monkeypatch, model):
    return Spy(monkeypatch, model)


def random_masks(F, M, seed=0):
    return np.random.default_rng(seed).random((M, F)) < 0.5


def every_mask(F):
    return (np.arange(2**F)[:, None] >> np.arange(F) & 1).astype(bool)


def directly(model, encoded, masks, hidden=False):
    """Each masked input alone, through Model.run."""
    found = [
        model.run(
            row[None], np.array([encoded.T]), None if encoded.type_ids is None else encoded.type_ids[None], hidden
        )
        for row in masked_ids(encoded, masks)
    ]
    return np.array([logits[0] for logits, _ in found]), np.array(
        [states[0] for _, states in found]
    ) if hidden else None


@EVERY
@pytest.mark.parametrize("unit", ["word", "token"])
def test_the_oracle_is_the_network(tiny_model, kind, unit):
    model = tiny_model(kind)
    encoded = model.encode(TEXT, SECOND, unit)
    masks = random_masks(encoded.F, 9)
    given_masks = masks.copy()
    logits = Oracle(model, encoded).logits(masks)
    assert logits.shape == (9, 3) and logits.dtype == np.float32
    np.testing.assert_allclose(logits, directly(model, encoded, masks)[0], atol=1e-5)
    np.testing.assert_array_equal(masks, given_masks)
    assert len(np.unique(logits.round(4), axis=0)) > 5, "masks matter"


@EVERY
def test_states_come_from_the_same_pass(tiny_model, monkeypatch, kind):
    model = tiny_model(kind)
    encoded = model.encode(TEXT)
    spy, oracle, masks = Spy(monkeypatch, model), Oracle(model, encoded), random_masks(encoded.F, 6)
    logits, states = oracle.logits_and_states(masks[[0, 1, 2, 3, 4, 5, 0, 3]])
    assert len(spy.rows) == len(set(spy.rows)) == 6 and oracle.counters.passes == 6 and oracle.counters.queries == 8
    alone = directly(model, encoded, masks, hidden=True)
    assert states.shape == (8, *alone[1].shape[1:]) and states.dtype == np.float32
    np.testing.assert_allclose(logits, alone[0][[0, 1, 2, 3, 4, 5, 0, 3]], atol=1e-5)
    np.testing.assert_allclose(states, alone[1][[0, 1, 2, 3, 4, 5, 0, 3]], atol=1e-5)
    np.testing.assert_array_equal(oracle.logits(masks), logits[:6])
    np.testing.assert_array_equal(oracle.logits_and_states(masks[::-1])[1], states[:6][::-1])
    assert len(spy.rows) == 6, "both are known by now"


def test_states_that_do_not_fit_into_memory_are_right_all_the_same(model, spy, monkeypatch):
    encoded = model.encode(TEXT)
    masks, one = random_masks(encoded.F, 7), 3 * 32 * 4
    expected = Oracle(model, encoded).logits_and_states(masks)
    monkeypatch.setattr(module, "STATES_BYTES", 2 * one)
    oracle = Oracle(model, encoded)
    spy.rows.clear()
    for _ in range(2):
        found = oracle.logits_and_states(masks)
        np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-5)
    assert len(spy.rows) == 7 + 5 and sum(s.nbytes for s in oracle._states.values()) == 2 * one


# The memo


@PROPERTY
@given(st.lists(st.lists(st.integers(0, 31), min_size=1, max_size=12), min_size=1, max_size=4))
def test_each_distinct_mask_runs_once(tiny_model, calls):
    model = tiny_model("bert")
    encoded = model.encode("the tide reads no wind")
    table, asked = every_mask(5), set()
    with pytest.MonkeyPatch.context() as patch:
        spy, oracle = Spy(patch, model), Oracle(model, encoded)
        first = {}
        for call in calls:
            known = oracle.known(table[call])
            assert known.tolist() == [code in asked for code in call]
            for code, row in zip(call, oracle.logits(table[call])):
                np.testing.assert_array_equal(first.setdefault(code, row), row)
            asked |= set(call)
            assert len(spy.rows) == len(set(spy.rows)) == len(asked) == oracle.counters.passes
    assert oracle.counters.queries == sum(map(len, calls))


def test_what_the_text_masks_itself_is_masked_in_every_query(model, spy):
    encoded = model.encode("the [MASK] reads <mask> wind")
    assert encoded.premasked.tolist() == [False, True, False, True, False]
    oracle = Oracle(model, encoded)
    logits = oracle.logits(every_mask(5))
    assert len(spy.rows) == len(set(spy.rows)) == 8
    free = every_mask(5)[:, [0, 2, 4]] @ [1, 2, 4]
    for code in range(8):
        assert (logits[free == code] == logits[free == code][0]).all()
    # "<mask>" is several tokens to BERT: masking them all is not what the network read in the text itself.
    ids = masked_ids(encoded, np.zeros((1, 5), dtype=bool))
    assert tuple(ids[0]) in spy.rows and (ids[0] != encoded.ids).sum() > 1


def test_an_empty_query_is_an_empty_answer(model, spy):
    encoded = model.encode(TEXT)
    assert Oracle(model, encoded).logits(np.zeros((0, encoded.F), dtype=bool)).shape == (0, 3) and not spy.rows


@pytest.mark.parametrize("masks", [np.zeros((2, 3), dtype=bool), np.zeros(6, dtype=bool), np.zeros((2, 6), dtype=int)])
def test_masks_of_another_shape_are_refused(model, spy, masks):
    with pytest.raises(ValueError, match=r"masks must be bool\[M, 6\], got"):
        Oracle(model, model.encode(TEXT)).logits(masks)
    assert not spy.rows


def test_a_returned_row_is_the_callers_own(model):
    encoded = model.encode(TEXT)
    oracle, masks = Oracle(model, encoded), random_masks(encoded.F, 3)
    logits, states = oracle.logits_and_states(masks)
    kept = logits.copy(), states.copy()
    logits[:], states[:] = 7, 7
    np.testing.assert_array_equal(oracle.logits(masks), kept[0])
    np.testing.assert_array_equal(oracle.logits_and_states(masks)[1], kept[1])


# The store


def test_a_second_oracle_with_the_same_store_runs_nothing(model, spy, tmp_path):
    encoded, masks = model.encode(TEXT), random_masks(6, 9)
    first = Oracle(model, encoded, Store(tmp_path))
    logits = first.logits(masks)
    first.flush()
    first.flush()
    ran = len(spy.rows)
    again = Oracle(model, encoded, Store(tmp_path))
    np.testing.assert_array_equal(again.logits(masks), logits)
    assert again.known(masks).all() and len(spy.rows) == ran and again.counters.passes == 0
    assert len(Store(tmp_path).segments(first.key)) == 1
    more = random_masks(6, 9, seed=1)
    again.logits(more)
    again.flush()
    third = Oracle(model, encoded, Store(tmp_path))
    assert third.known(np.vstack([masks, more])).all()


def test_states_are_not_on_disk_and_run_again(model, spy, tmp_path):
    encoded, masks = model.encode(TEXT), random_masks(6, 4)
    first = Oracle(model, encoded, Store(tmp_path))
    expected = first.logits_and_states(masks)
    first.flush()
    again, ran = Oracle(model, encoded, Store(tmp_path)), len(spy.rows)
    found = again.logits_and_states(masks)
    assert len(spy.rows) == 2 * ran
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_a_full_segment_is_written_without_being_asked(model, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SEGMENT_ROWS", 5)
    encoded, store = model.encode(TEXT), Store(tmp_path)
    oracle = Oracle(model, encoded, store)
    oracle.logits(every_mask(6)[:4])
    assert not store.segments(oracle.key)
    oracle.logits(every_mask(6)[:7])
    assert sum(len(s.arrays["masks"]) for s in store.segments(oracle.key)) == 7
    assert Oracle(model, encoded, store).known(every_mask(6)).sum() == 7


@pytest.mark.parametrize("damage", ["cut short", "deleted", "foreign"])
def test_a_damaged_segment_costs_time_only(model, spy, tmp_path, damage):
    encoded, masks, store = model.encode(TEXT), every_mask(6), Store(tmp_path)
    oracle = Oracle(model, encoded, store)
    expected = []
    for part in (masks[:20], masks[20:50]):
        expected.append(oracle.logits(part))
        oracle.flush()
    segments = sorted(tmp_path.rglob("*.safetensors"), key=lambda path: path.stat().st_size)
    if damage == "cut short":
        segments[0].write_bytes(segments[0].read_bytes()[:-1])
    elif damage == "deleted":
        segments[0].unlink()
    else:
        segments[0].unlink()
        store.append(oracle.key, {"masks": np.zeros((3, 2), np.uint8), "logits": np.zeros((3, 3), np.float32)}, {})
        store.append(oracle.key, {"masks": np.zeros((3, 1), np.uint8), "logits": np.zeros((3, 5), np.float32)}, {})
        store.append(oracle.key, {"masks": np.zeros((3, 1), np.uint8), "logits": np.zeros((4, 3), np.float32)}, {})
        store.append(oracle.key, {"other": np.zeros(3)}, {})
    spy.rows.clear()
    again = Oracle(model, encoded, store)
    np.testing.assert_allclose(again.logits(masks[:50]), np.vstack(expected), atol=1e-5)
    assert len(spy.rows) == 20


def test_examples_units_models_and_precisions_do_not_share(tiny_model, tmp_path):
    keys = set()
    for kind in ("bert", "roberta"):
        for encoded in (
            tiny_model(kind).encode(TEXT),
            tiny_model(kind).encode(TEXT, unit="token"),
            tiny_model(kind).encode(TEXT, SECOND),
        ):
            keys.add(Oracle(tiny_model(kind), encoded).key)
    model = tiny_model("bert")
    precision = model.precision
    try:
        model.precision = "bfloat16"
        keys.add(Oracle(model, model.encode(TEXT)).key)
    finally:
        model.precision = precision
    assert len(keys) == 7


# Failures


def test_nan_is_a_sentence_and_the_other_rows_stay(model, spy, monkeypatch):
    encoded = model.encode("the tide reads no wind")
    masks = every_mask(5)
    monkeypatch.setattr(model.scheduler, "max_rows", 4)
    broken = masked_ids(encoded, masks)[[3, 17]]
    spy.breaks = {tuple(row) for row in broken.tolist()}
    oracle = Oracle(model, encoded)
    with pytest.raises(NonFinite, match=r"NaN or infinity for 2 of 32 inputs\. .*another model\.$"):
        oracle.logits(masks)
    assert len(spy.rows) == 32 and np.flatnonzero(~oracle.known(masks)).tolist() == [3, 17], (
        "batches after the broken one ran too"
    )
    with pytest.raises(NonFinite, match="1 of 1"):
        oracle.logits(masks[[0, 3]])
    spy.breaks = ()
    spy.rows.clear()
    np.testing.assert_allclose(oracle.logits(masks), directly(model, encoded, masks)[0], atol=1e-5)
    assert len(spy.rows) == 2


def test_nan_never_reaches_the_store(model, spy, tmp_path):
    encoded, masks = model.encode("the tide reads"), every_mask(3)
    spy.breaks = {tuple(masked_ids(encoded, masks)[5].tolist())}
    oracle = Oracle(model, encoded, Store(tmp_path))
    with pytest.raises(NonFinite):
        oracle.logits_and_states(masks)
    oracle.flush()
    assert Oracle(model, encoded, Store(tmp_path)).known(masks).tolist() == [i != 5 for i in range(8)]


@pytest.mark.parametrize("hidden", [False, True])
def test_cancelled_in_the_middle_only_the_rest_is_left(model, spy, monkeypatch, hidden):
    encoded, masks = model.encode("the tide reads no wind"), every_mask(5)
    monkeypatch.setattr(model.scheduler, "max_rows", 5)
    oracle = Oracle(model, encoded)
    ask = oracle.logits_and_states if hidden else oracle.logits
    with pytest.raises(Cancelled):
        ask(masks, cancelled=lambda: len(spy.rows) >= 10)
    assert len(spy.rows) == 10 == oracle.known(masks).sum()
    before = oracle.counters.passes
    found = ask(masks)
    assert len(spy.rows) == len(set(spy.rows)) == 32 and oracle.counters.passes - before == 22
    np.testing.assert_allclose(found[0] if hidden else found, directly(model, encoded, masks)[0], atol=1e-5)


def test_an_error_of_the_network_leaves_the_oracle_usable(model, monkeypatch):
    encoded = model.encode(TEXT)
    oracle, masks = Oracle(model, encoded), random_masks(6, 5)
    with monkeypatch.context() as patch:

        def fail(*_):
            raise ZeroDivisionError

        patch.setattr(model.scheduler, "network", fail)
        with pytest.raises(ZeroDivisionError):
            oracle.logits(masks)
    assert not oracle.known(masks).any() and not oracle._lock.mine
    np.testing.assert_allclose(oracle.logits(masks), directly(model, encoded, masks)[0], atol=1e-5)


# Threads


def test_two_threads_on_one_oracle_run_each_mask_once(model, spy, monkeypatch):
    encoded, masks = model.encode("the tide reads no wind"), every_mask(5)
    expected = directly(model, encoded, masks)[0]
    monkeypatch.setattr(model.scheduler, "max_rows", 4)
    oracle, found, spy.seconds = Oracle(model, encoded), {}, 0.002
    together = threading.Barrier(2)

    def ask(name, order):
        together.wait()
        found[name] = oracle.logits(masks[order])

    orders = {"up": np.arange(32), "down": np.arange(32)[::-1]}
    threads = [threading.Thread(target=ask, args=item) for item in orders.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spy.rows) == len(set(spy.rows)) == 32
    for name, order in orders.items():
        np.testing.assert_allclose(found[name], expected[order], atol=1e-5)


# Several examples


@pytest.mark.parametrize("kind", ["bert", "gpt2", "modernbert-mean"])
@PROPERTY
@given(lengths=st.lists(st.integers(1, 12), min_size=1, max_size=8), max_rows=st.integers(1, 5), data=st.data())
def test_examples_of_different_lengths_in_one_batch_equal_each_alone(tiny_model, kind, lengths, max_rows, data):
    model = tiny_model(kind)
    words = "the tide reads no wind and salt the water of a boat".split()
    encoded = [model.encode(" ".join(words[i % 3 :][:length] or words[:1])) for i, length in enumerate(lengths)]
    masks = [np.array(data.draw(st.lists(st.booleans(), min_size=e.F, max_size=e.F)), dtype=bool) for e in encoded]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model.scheduler, "max_rows", max_rows)
        found = predict(model, encoded, masks)
    expected = np.vstack([Oracle(model, one).logits(mask[None]) for one, mask in zip(encoded, masks)])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_predicting_without_masks_masks_nothing_and_counts_them(model):
    encoded = [model.encode(TEXT), model.encode("boat")]
    np.testing.assert_allclose(
        predict(model, encoded), predict(model, encoded, [np.zeros(6, dtype=bool), np.zeros(1, dtype=bool)]), atol=1e-6
    )
    with pytest.raises(ValueError, match="2 examples need as many masks, got 1"):
        predict(model, encoded, [np.zeros(6, dtype=bool)])


def test_oracles_are_one_an_example_and_the_oldest_are_written_and_forgotten(model, tmp_path):
    oracles = Oracles(model, Store(tmp_path), most=2)
    texts = [model.encode(text) for text in ("the tide", "the wind", "the boat")]
    first = oracles.of(texts[0])
    first.logits(every_mask(2))
    assert oracles.of(model.encode("the tide")) is first
    second = oracles.of(texts[1])
    oracles.of(texts[0])
    oracles.of(texts[2])
    assert oracles.of(texts[0]) is first, "asked last but one"
    assert oracles.of(texts[1]) is not second
    oracles.of(texts[2])
    assert oracles.of(texts[0]) is not first and oracles.of(texts[0]).known(every_mask(2)).all()


def test_a_known_answer_does_not_wait_for_a_search_on_the_same_example(tiny_model, monkeypatch):
    model = tiny_model("bert")
    oracle = Oracle(model, model.encode("the boat sank in the bay"))
    nothing = np.zeros((1, oracle.F), dtype=bool)
    expected = oracle.logits(nothing)
    started, go = threading.Event(), threading.Event()
    run = model.run

    def slow(*arguments):
        started.set()
        assert go.wait(30)
        return run(*arguments)

    monkeypatch.setattr(model.scheduler, "network", slow)
    search = threading.Thread(target=oracle.logits, args=(~nothing,), daemon=True)
    search.start()
    assert started.wait(30)
    answers = []
    reader = threading.Thread(target=lambda: (answers.append(oracle.logits(nothing)), oracle.flush()), daemon=True)
    reader.start()
    reader.join(10)
    assert not reader.is_alive() and np.array_equal(answers[0], expected)
    go.set()
    search.join(30)
    assert oracle.known(~nothing).all()


def test_a_text_is_encoded_once_while_it_is_shown(tiny_model, monkeypatch):
    from core.explanation.explainer import Explainer

    text = "The bread is warm."
    explainer, really, asked = Explainer(tiny_model("bert")), Model.encode, []
    monkeypatch.setattr(Model, "encode", lambda model, *what: asked.append(what) or really(model, *what))
    first = explainer.encode(text, None, "word")
    assert explainer.encode(text, None, "word") is first and len(asked) == 1
    other = (explainer.encode(text, "And old.", "word"), explainer.encode(text, None, "token"))
    assert len({first.digest, *(encoded.digest for encoded in other)}) == 3 == len(asked)
    for i in range(80):
        explainer.encode(f"Loaf number {i}.", None, "word")
    assert len(explainer._encoded) == 64 and explainer.encode(text, None, "word").digest == first.digest


@pytest.mark.parametrize("precision, advised", [("float32", False), ("bfloat16", True), ("float16", True)])
def test_float32_is_advised_only_where_it_is_not_in_use(model, monkeypatch, precision, advised):
    monkeypatch.setattr(model, "precision", precision)
    assert ("float32" in model.advice) is advised and "weights" not in model.advice
    weight = next(model.module.parameters())
    kept = weight.detach().clone()
    try:
        weight.data[0, 0] = torch.inf
        assert "weights hold" in model.advice and "float32" not in model.advice
    finally:
        weight.data.copy_(kept)


def test_states_that_are_no_numbers_get_the_same_advice(model):
    with pytest.raises(NonFinite, match="hidden states") as raised:
        MasfTest(SimpleNamespace(pooling="mean"), model).tested(np.full((1, 2, 3), np.nan))
    assert str(raised.value).endswith(model.advice)
