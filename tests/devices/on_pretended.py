"""All that reads a network, on a pretended device; in a process of its own, since torch keeps such a device for good."""

import pytest

from core.bench.bench_device import MOST_APART, compare_devices
from tests.devices.pretended import Apart, Forgotten, moved, pretended
from tests.devices.work import WORK, compare

KINDS = ("bert", "gpt2")


@pytest.mark.parametrize("kind", KINDS)
# A parameter whose content is exchanged still wraps the former one.
@pytest.mark.parametrize("name", [name for name in WORK if name != "half precision"])
def test_another_device_gives_the_same(tiny_model, kind, name):
    model = tiny_model(kind)
    expected = WORK[name](model)
    with pretended():
        found = WORK[name](moved(model))
    compare(found, expected)


@pytest.mark.parametrize("kind", ["roberta", "distilbert", "electra", "deberta", "modernbert-mean", "llama", "gemma3"])
@pytest.mark.parametrize("name", ["measure leave-one-out", "measure gradient", "erasure zero embedding, states mean"])
def test_every_family_runs_there(tiny_model, kind, name):
    model = tiny_model(kind)
    expected = WORK[name](model)
    with pretended():
        found = WORK[name](moved(model))
    compare(found, expected)


def test_what_the_device_refuses(tiny_model):
    import torch

    with pretended():
        there = torch.ones(3).to("apart")
        assert isinstance(there, Apart) and (there.cpu() == 1).all()
        for wrong in (
            lambda: there.double(),
            lambda: there + torch.ones(3),
            lambda: torch.zeros(3, dtype=torch.float64, device="apart"),
        ):
            with pytest.raises(Forgotten):
                wrong()
        with pytest.raises((TypeError, RuntimeError)):
            there.numpy()


def test_a_devices_figures_are_compared_with_the_processors(bundled):
    with pretended():
        apart, same, asked = compare_devices(bundled, moved(bundled), 2)
    assert apart < MOST_APART and same == asked == 4
