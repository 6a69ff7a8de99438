"""What only a GPU can prove, on a processor: it runs, compares, and claims nothing."""

import copy
from dataclasses import replace

import pytest
import torch

from core.bench import bench_device
from core.bench.bench_device import MOST_APART, compare_devices, device_lines, measure_device
from core.commands.command_line import main


@pytest.fixture
def sooner(monkeypatch, bundled):
    """The model that is compared is loaded already, and its loops end after one turn."""
    monkeypatch.setattr(bench_device, "load", lambda *_: bundled)
    return bundled


def test_a_processor_runs_it_with_tiny_shapes_and_claims_nothing(sooner, monkeypatch, capsys):
    heard = []
    found = measure_device("cpu", 0.0, progress=lambda what, done, total: heard.append((done, total)))
    assert heard == [(done, 4) for done in range(5)]
    assert not found.claims and found.agrees and found.apart == 0.0 and found.same == found.attributions == 4
    assert found.beam > 0 and found.sets > 10 and (found.features, found.tokens) == (10, 32)
    assert "float32" in found.erased and {*found.steps} == {"float32", "bfloat16"}
    assert min([*found.erased.values(), *found.steps.values()]) > 0
    assert "tiny" in "\n".join(device_lines(found))
    assert "tiny" not in "\n".join(device_lines(replace(found, claims=True)))
    for apart, status in ((0.0, 0), (2 * MOST_APART, 1)):
        monkeypatch.setattr(bench_device, "measure_device", lambda *_, apart=apart, **__: replace(found, apart=apart))
        assert main(["device", "--device", "cpu"], "core.tools") == status
        assert "tiny" in capsys.readouterr().out


def test_another_model_does_not_agree(bundled):
    module = copy.deepcopy(bundled.module)
    with torch.no_grad():
        for one in module.parameters():
            one += 0.05 * torch.randn(one.shape, generator=torch.Generator().manual_seed(0))
    apart, same, asked = compare_devices(bundled, replace(bundled, module=module), 1)
    assert apart > MOST_APART and same <= asked == 2


def test_rates_are_of_whole_turns(monkeypatch):
    clock = iter([0.0, 0.0, 1.0, 2.5, 2.5])
    monkeypatch.setattr(bench_device.time, "perf_counter", lambda: next(clock))
    done = []
    assert bench_device._rate(lambda: done.append(1), 2.0) == 2 / 2.5 and len(done) == 3, "the first is not timed"
