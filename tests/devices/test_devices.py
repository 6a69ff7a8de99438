"""No tensor forgets its device: nothing is made on torch's default one, and nothing that another device refuses."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import captum.attr
import pytest
import torch

from tests.devices.work import WORK, compare

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def on_meta(monkeypatch):
    """Whatever is made without naming its device has no values."""
    # Captum makes the sizes of its steps there and moves them, which from every other device is no mistake.
    here = SimpleNamespace(**vars(torch) | {"tensor": partial(torch.tensor, device="cpu")})
    monkeypatch.setattr(captum.attr._core.integrated_gradients, "torch", here)
    yield lambda: torch.set_default_device("meta")
    torch.set_default_device(None)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
@pytest.mark.parametrize("name", list(WORK))
def test_nothing_is_made_on_the_default_device(tiny_model, on_meta, kind, name):
    model = tiny_model(kind)
    expected = WORK[name](model)
    on_meta()
    found = WORK[name](model)
    torch.set_default_device(None)
    compare(found, expected)


def test_another_device_gives_the_same():
    """As many tests again, in a process of their own."""
    asked = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", "--tb", "short"]
    asked += ["--maxfail", "5", "tests/devices/on_pretended.py"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=540, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
