"""Batches of a device that works while the processor goes on: begun one ahead, each waited for once, none lost."""

import numpy as np
import pytest

from core.network.devices import token_budget
from core.network.scheduler import Cancelled, Input, Scheduler
from tests import tiny


class Device:
    """Begins with batches in order; `log` is what was begun (+) and waited for (−)."""

    def __init__(self, full_at=None, fails_at=None):
        self.log, self.full_at, self.fails_at, self.count = [], full_at, fails_at, 0

    def __call__(self, ids, lengths, types, hidden):
        self.count += 1
        if self.count == self.full_at:
            raise RuntimeError("CUDA out of memory")
        if self.count == self.fails_at:
            raise ValueError("broken")
        number = self.count
        self.log.append(number)

        def wait():
            self.log.append(-number)
            return ids[:, :2].astype(np.float32), None

        return wait


def rows(count):
    return [Input(np.array([i, i + 1, i + 2])) for i in range(count)]


def found(scheduler, count, **how):
    out = {}
    for indices, logits, _ in scheduler.run(rows(count), **how):
        out |= dict(zip(indices.tolist(), logits.tolist()))
    return out


def test_the_next_batch_begins_before_the_former_is_waited_for():
    device = Device()
    assert found(Scheduler(device, max_rows=4), 10) == {i: [i, i + 1] for i in range(10)}
    assert device.log == [1, 2, -1, 3, -2, -3]


def test_a_full_memory_loses_nothing_that_began():
    device = Device(full_at=3)
    scheduler = Scheduler(device, max_rows=4)
    assert found(scheduler, 16) == {i: [i, i + 1] for i in range(16)} and scheduler.max_rows == 2
    assert sorted(-one for one in device.log if one < 0) == sorted(one for one in device.log if one > 0)


@pytest.mark.parametrize("how", ["cancelled", "broken"])
def test_what_began_comes_before_the_error(how):
    device, kept = Device(fails_at=3 if how == "broken" else None), []
    asked = {"cancelled": lambda: device.count == 2} if how == "cancelled" else {}
    with pytest.raises(Cancelled if how == "cancelled" else ValueError):
        for indices, *_ in Scheduler(device, max_rows=4).run(rows(16), **asked):
            kept += indices.tolist()
    assert kept == [*range(8)]


def test_counters_count_what_came():
    scheduler = Scheduler(Device(), max_rows=4)
    found(scheduler, 10)
    counters = scheduler.counters
    assert (counters.queries, counters.passes, counters.batches, counters.tokens) == (10, 10, 3, 30)


def test_a_batch_is_as_large_as_the_free_memory_allows(tiny_model):
    config = tiny_model("bert").module.config
    assert token_budget(None, config, 4) == token_budget(10**12, config, 4) == 65_536
    assert token_budget(0, config, 4) == 1_024
    # Of H = 32, two layers and 48 between: (8 + 3)·32 + 2·48 numbers a token, in half of the memory.
    assert token_budget(2 * 4 * 448 * 5_000, config, 4) == 5_000
    assert token_budget(2 * 4 * 448 * 5_000, config, 2) == 10_000


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_every_family_says_how_wide_it_is(tiny_model, kind):
    assert 1_024 < token_budget(50_000_000, tiny_model(kind).module.config, 4) < 65_536
