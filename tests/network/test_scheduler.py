"""The scheduler against a network that fails on purpose: every row right, in its place, and counted once."""

import gc
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.network import scheduler as module
from core.network.scheduler import Cancelled, Counters, Input, OutOfMemory, Scheduler

PROPERTY = settings(deadline=None, max_examples=60, derandomize=True)


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new_is_collected():
    """A collection follows each full memory; it passes over what other tests and imports left, which takes long."""
    gc.freeze()
    yield
    gc.unfreeze()


class Network:
    """A network in numpy: logits are (Σ of the real ids, their number, last id, Σ of type ids).

    Fails with `error` on batches larger than `room`; padding must be zeros and is never summed.
    """

    def __init__(self, room=10**9, error=None, typed=False, broken=()):
        self.room, self.error, self.typed, self.broken = (
            room,
            error or torch.OutOfMemoryError("CUDA out of memory."),
            typed,
            set(broken),
        )
        self.tried, self.ran = [], []

    def __call__(self, ids, lengths, type_ids, hidden):
        assert ids.dtype == lengths.dtype == np.int64 and ids.shape == (len(lengths), lengths.max())
        assert (type_ids is None) != self.typed and (type_ids is None or type_ids.shape == ids.shape)
        self.tried.append(len(ids))
        if len(ids) > self.room:
            raise self.error
        self.ran.append(lengths.tolist())
        logits = np.zeros((len(ids), 4), dtype=np.float32)
        for b, length in enumerate(lengths):
            assert (ids[b, length:] == 0).all() and (ids[b, :length] > 0).all()
            logits[b] = (
                ids[b, :length].sum(),
                length,
                ids[b, length - 1],
                0 if type_ids is None else type_ids[b, :length].sum(),
            )
            logits[b, 0] += np.nan if int(ids[b, 0]) in self.broken else 0
        return logits, np.repeat(logits[:, None, :2], 3, axis=1) if hidden else None


def rows_of(lengths, typed=False):
    """Row i begins with the id i + 1, so that no two are equal."""
    rng = np.random.default_rng(0)
    ids = [np.concatenate([[i + 1], rng.integers(1, 500, length - 1)]) for i, length in enumerate(lengths)]
    return [Input(row, np.arange(len(row)) % 2 if typed else None) for row in ids]


def expected(rows):
    return np.array(
        [[r.ids.sum(), len(r.ids), r.ids[-1], 0 if r.type_ids is None else r.type_ids.sum()] for r in rows],
        dtype=np.float32,
    ).reshape(-1, 4)


def run(network, rows, max_rows=64, max_tokens=16_384, **more):
    """All results by row; each row must come exactly once."""
    scheduler = Scheduler(network, max_rows, max_tokens)
    found, seen = np.full((len(rows), 4), -1, dtype=np.float32), []
    for indices, logits, states in scheduler.run(rows, **more):
        found[indices] = logits
        seen += indices.tolist()
        assert (states is not None) == bool(more.get("hidden")) and (
            states is None or (states[:, 1] == logits[:, :2]).all()
        )
    assert sorted(seen) == list(range(len(rows)))
    return scheduler, found


# Packing

lengths = st.lists(st.integers(1, 30), max_size=40)


@PROPERTY
@given(lengths, st.integers(1, 9), st.integers(1, 80), st.booleans(), st.booleans())
def test_every_row_comes_once_in_its_place_and_batches_fit(lengths, max_rows, max_tokens, typed, hidden):
    network, rows = Network(typed=typed), rows_of(lengths, typed)
    scheduler, found = run(network, rows, max_rows, max_tokens, hidden=hidden)
    np.testing.assert_array_equal(found, expected(rows))
    assert [n for batch in network.ran for n in batch] == sorted(lengths), "by length, so that little is padded"
    assert all(len(batch) <= max_rows for batch in network.ran)
    assert all(len(batch) == 1 or len(batch) * max(batch) <= max_tokens for batch in network.ran)
    # No batch was closed while the next row still fitted.
    for batch, after in zip(network.ran, network.ran[1:]):
        assert len(batch) == max_rows or (len(batch) + 1) * after[0] > max_tokens
    counters = scheduler.counters
    assert (counters.queries, counters.passes, counters.batches) == (len(rows), len(rows), len(network.ran))
    assert counters.tokens == sum(len(batch) * max(batch) for batch in network.ran)


def test_rows_of_one_length_keep_their_order():
    assert [i.tolist() for i, *_ in Scheduler(Network(), max_rows=3).run(rows_of([4] * 7))] == [
        [0, 1, 2],
        [3, 4, 5],
        [6],
    ]
    mixed = [int(i) for indices, *_ in Scheduler(Network()).run(rows_of([4, 3] * 150)) for i in indices]
    assert mixed == [*range(1, 300, 2), *range(0, 300, 2)]


def test_the_callers_rows_are_not_changed():
    rows = rows_of([5, 3, 9], typed=True)
    copies = [(row.ids.copy(), row.type_ids.copy()) for row in rows]
    run(Network(typed=True), rows)
    for row, (ids, types) in zip(rows, copies):
        np.testing.assert_array_equal(row.ids, ids)
        np.testing.assert_array_equal(row.type_ids, types)


@PROPERTY
@given(st.lists(st.integers(1, 20), max_size=40), st.integers(1, 20), st.integers(1, 12), st.booleans())
def test_batches_are_filled_up_to_few_sizes_and_nothing_else_changes(lengths, max_rows, multiple, hidden):
    network, rows = Network(), rows_of(lengths)
    scheduler = Scheduler(network, max_rows, multiple=multiple)
    found = np.full((len(rows), 4), -1, dtype=np.float32)
    for indices, logits, states in scheduler.run(rows, hidden=hidden):
        found[indices] = logits
        assert len(indices) == len(logits) and (states is None or len(states) == len(indices))
    assert (found == expected(rows)).all() and scheduler.counters.passes == len(rows)
    assert all(size % multiple == 0 or size == max_rows for size in network.tried)


def test_no_rows_are_no_work():
    network, told = Network(), []
    scheduler, _ = run(network, [], progress=lambda *now: told.append(now))
    assert not network.tried and not told and scheduler.counters == Counters()


# Full memory


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"),
        MemoryError(),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 "
            "bytes"
        ),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
    ],
    ids=lambda e: f"{type(e).__name__} {str(e)[:20]}",
)
def test_a_full_memory_halves_the_batch_until_it_fits(error):
    """64 fails, 32 fails, 16 works; nothing larger is tried again."""
    network, rows = Network(room=16, error=error), rows_of([3, 8, 2, 5] * 25)
    scheduler, found = run(network, rows)
    np.testing.assert_array_equal(found, expected(rows))
    assert network.tried == [64, 32, 16, 16, 16, 16, 16, 16, 4]
    counters = scheduler.counters
    assert (counters.passes, counters.batches, counters.queries, scheduler.max_rows) == (100, 7, 100, 16)
    assert counters.tokens == sum(len(batch) * max(batch) for batch in network.ran), "only what ran is counted"


def test_a_full_memory_in_the_middle_keeps_what_came_before():
    """Rows of 40 ids exhaust the memory at 8; the short ones before them did not."""

    class Narrow(Network):
        def __call__(self, ids, *rest):
            self.room = 64 if ids.shape[1] < 40 else 5
            return super().__call__(ids, *rest)

    network, rows = Narrow(), rows_of([40] * 8 + [2] * 64)
    scheduler, found = run(network, rows)
    np.testing.assert_array_equal(found, expected(rows))
    assert network.tried == [64, 8, 4, 4] and scheduler.counters.passes == 72


def test_a_smaller_size_is_kept_for_what_follows():
    network = Network(room=10)
    scheduler = Scheduler(network)
    for _ in range(2):
        list(scheduler.run(rows_of([3] * 16)))
    assert network.tried == [16, 8, 8, 8, 8]


def test_the_size_never_grows_back_when_another_thread_has_halved_it_further():
    """While a batch of 64 fails here, another thread has come down to 4."""

    class Crowded(Network):
        def __call__(self, ids, *rest):
            if len(ids) > 4:
                scheduler.max_rows = 4
            return super().__call__(ids, *rest)

    network = Crowded(room=4)
    scheduler = Scheduler(network)
    assert sum(len(i) for i, *_ in scheduler.run(rows_of([3] * 64))) == 64
    assert network.tried == [64] + [4] * 16


def test_the_failed_batch_is_let_go_before_memory_is_released(monkeypatch):
    """What the network held when it failed hangs on the error's frames: gone by the time the cache is emptied."""
    held, alive = [], []

    def network(ids, lengths, type_ids, hidden):
        activations = np.zeros(1000).view(Held)
        held.append(weakref.ref(activations))
        if len(ids) > 2:
            raise RuntimeError("out of memory")
        return np.zeros((len(ids), 2), dtype=np.float32), None

    monkeypatch.setattr(module, "_release_memory", lambda: alive.append(held[-1]() is not None))
    assert len(list(Scheduler(network).run(rows_of([3] * 8)))) == 4
    assert alive == [False, False]


class Held(np.ndarray):
    """An array that can be pointed at weakly."""


def test_a_single_row_that_does_not_fit_is_a_sentence():
    network = Network(room=0)
    scheduler = Scheduler(network)
    with pytest.raises(OutOfMemory, match=r"One input .*FAITHSCOPE_DEVICE=cpu") as caught:
        list(scheduler.run(rows_of([3] * 9)))
    assert caught.value.__cause__ is network.error
    assert (
        network.tried == [9, 4, 2, 1]
        and scheduler.counters.passes == scheduler.counters.batches == scheduler.counters.tokens == 0
    )
    network.room = 1
    assert len(list(scheduler.run(rows_of([3] * 9)))) == 9, "it goes on when there is room again"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        ValueError("out of memory, says a ValueError"),
        KeyError("x"),
    ],
)
def test_other_errors_pass_through(error):
    network = Network(room=0, error=error)
    with pytest.raises(type(error)) as caught:
        list(Scheduler(network).run(rows_of([3] * 9)))
    assert caught.value is error and network.tried == [9]


# Cancelling and progress


def test_cancelling_in_the_middle_keeps_what_was_yielded():
    network, got = Network(), []
    with pytest.raises(Cancelled, match="8 of 20"):
        for indices, _logits, _ in Scheduler(network, max_rows=4).run(
            rows_of([3] * 20), cancelled=lambda: len(got) == 8
        ):
            got += indices.tolist()
    assert got == list(range(8)) and network.tried == [4, 4]


def test_cancelled_before_the_start_runs_nothing():
    network = Network()
    with pytest.raises(Cancelled):
        list(Scheduler(network).run(rows_of([3]), cancelled=lambda: True))
    assert not network.tried


def test_cancelling_works_between_two_halvings():
    network = Network(room=1)
    with pytest.raises(Cancelled):
        list(Scheduler(network).run(rows_of([3] * 64), cancelled=lambda: len(network.tried) == 2))
    assert network.tried == [64, 32]


@PROPERTY
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 7), st.integers(1, 40))
def test_progress_rises_to_the_total(lengths, max_rows, room):
    told = []
    run(Network(room=room), rows_of(lengths), max_rows, progress=lambda *now: told.append(now))
    done = [now for now, _ in told]
    assert (
        done == sorted(set(done))
        and done[0] > 0
        and done[-1] == len(lengths)
        and {total for _, total in told} == {len(lengths)}
    )


def test_nan_passes_through_to_who_asked():
    rows = rows_of([3, 4, 5, 6])
    _, found = run(Network(broken=[2]), rows, max_rows=2)
    assert np.isnan(found[1, 0]) and np.isfinite(np.delete(found, 1, axis=0)).all()
    np.testing.assert_array_equal(found[[0, 2, 3]], expected(rows)[[0, 2, 3]])


# Counters


def test_expected_seconds_go_by_the_speed_seen():
    counters = Counters()
    assert counters.seconds_for(4_000, default_rate=1_000) == 4
    counters.add_batch(10, 1_000, 2.0)
    assert counters.seconds_for(4_000, default_rate=1_000) == 4, "the first pays for what is compiled once"
    counters.add_batch(10, 1_000, 0.2)
    assert counters.seconds_for(20_000, default_rate=1) == pytest.approx(4)
    counters.add_batch(1, 27, 10.0)
    assert counters.seconds_for(20_000, default_rate=1) == pytest.approx(4), "a small batch says little of the rate"
    assert (counters.passes, counters.batches, counters.tokens, counters.seconds) == (21, 3, 2_027, pytest.approx(12.2))


def test_much_work_is_expected_at_the_speed_of_full_batches():
    """A page has just read single texts, at a quarter of the speed: an hour of full batches is no four hours."""
    counters = Counters()
    for seconds in (9.0, 0.1, 0.1):
        counters.add_batch(64, 1_000, seconds)
    for _ in range(16):
        counters.add_batch(8, 200, 0.08)
    assert counters.seconds_for(1_000) == pytest.approx(0.4)
    assert counters.seconds_for(1_000_000) == pytest.approx(100)


def test_before_it_runs_a_network_is_as_fast_as_its_like():
    ran, twin, other = (Scheduler(Network(), kind=kind).counters for kind in ("small", "small", "large"))
    for seconds in (9.0, 0.5):
        ran.add_batch(10, 1_000, seconds)
    assert (twin.seconds_for(4_000), other.seconds_for(4_000)) == (2.0, 0.5)
    for seconds in (9.0, 1.0):
        twin.add_batch(10, 1_000, seconds)
    assert twin.seconds_for(4_000) == 4.0, "its own pace, once there is one"
    assert Scheduler(Network()).counters.seconds_for(4_000) == 0.5, "of no kind"


def test_expected_seconds_are_of_the_clock_and_not_of_the_best_moments():
    """Two jobs share the device: of 9 batches 5 take 0.3 s for 1,000 tokens, as long as both together."""
    counters = Counters()
    for seconds in [9.0] + [0.1, 0.3] * 4 + [0.3]:
        counters.add_batch(10, 1_000, seconds)
    assert counters.seconds_for(30_000) == pytest.approx(9)
    counters.add_batch(10, 1_000, 60.0)
    assert counters.seconds_for(30_000) == pytest.approx(9), "a moment in which the machine stood still"


def test_expected_seconds_follow_a_lasting_change_of_speed():
    counters = Counters()
    for seconds in [0.1] * 16 + [1.0] * 16:
        counters.add_batch(10, 1_000, seconds)
    assert counters.seconds_for(5_000) == pytest.approx(5)
