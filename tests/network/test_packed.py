"""Products by oneDNN's layouts: those of PyTorch up to rounding, of the weights as they are now, on AMD's processors."""

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.bench.bench_limits import random_classifier
from core.network import packed
from core.network.halves import half_copy
from core.network.packed import PackedLinear, pack_layers, plain_products

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch was built without oneDNN")


@pytest.fixture
def amd(monkeypatch):
    """Whatever the machine, its products are packed."""
    monkeypatch.setattr(packed, "_is_faster", lambda dtype: True)


def layer(inputs=256, outputs=320, bias=True, frozen=True, dtype=torch.float32):
    torch.manual_seed(0)
    made = torch.nn.Linear(inputs, outputs, bias, dtype=dtype).requires_grad_(not frozen)
    made.__class__ = PackedLinear
    return made


def plainly(layer, rows):
    return torch.nn.functional.linear(rows, layer.weight, layer.bias)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 9), min_size=0, max_size=3),
    st.sampled_from([(256, 256), (256, 300), (300, 257)]),
    st.booleans(),
    st.booleans(),
)
def test_rows_of_every_shape_and_stride_give_what_pytorch_gives(before, widths, bias, strided):
    one = layer(*widths, bias)
    rows = torch.randn(*before, widths[0] * (1 + strided))[..., :: 1 + strided]
    with torch.no_grad():
        found, expected = one(rows), plainly(one, rows)
    assert found.shape == expected.shape
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_in_half_precision_what_pytorch_gives():
    one, rows = layer(dtype=torch.bfloat16), torch.randn(40, 256, dtype=torch.bfloat16)
    with torch.no_grad():
        torch.testing.assert_close(one(rows), plainly(one, rows), atol=1e-2, rtol=1e-2)


def test_gradients_for_what_is_given_are_those_of_pytorch():
    one, rows = layer(), torch.randn(2, 7, 256, requires_grad=True)
    weights = torch.randn(320)
    (found,) = torch.autograd.grad((one(rows).square() * weights).sum(), rows)
    (expected,) = torch.autograd.grad((plainly(one, rows).square() * weights).sum(), rows)
    assert type(one(rows).grad_fn).__name__ == "_ProductBackward"
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-5)


def test_weights_that_are_trained_get_their_gradients():
    one, rows = layer(frozen=False), torch.randn(5, 256)
    one(rows).sum().backward()
    torch.testing.assert_close(one.weight.grad, rows.sum(dim=0).expand(320, 256))
    torch.testing.assert_close(one.bias.grad, torch.full((320,), 5.0))


@pytest.mark.parametrize("change", ["in place", "a step", "replaced", "another type", "loaded"])
def test_changed_weights_are_those_that_multiply(change):
    one, rows = layer(frozen=change != "a step"), torch.randn(5, 256)
    sloped = torch.randn(5, 256, requires_grad=True)
    with torch.no_grad():
        before = one(rows)
    if change == "in place":
        one.weight.mul_(2)
    elif change == "a step":
        optimiser = torch.optim.SGD(one.parameters(), lr=1.0)
        one(rows).sum().backward()
        optimiser.step()
        one.requires_grad_(False)
    elif change == "replaced":
        one.weight.data = torch.randn(320, 256)
    elif change == "another type":
        one.to(torch.float64)
        rows, sloped = rows.double(), torch.randn(5, 256, dtype=torch.float64, requires_grad=True)
    else:
        one.load_state_dict({"weight": torch.randn(320, 256), "bias": torch.zeros(320)})
    with torch.no_grad():
        found = one(rows)
        torch.testing.assert_close(found, plainly(one, rows), atol=1e-4, rtol=1e-5)
    assert change == "another type" or (found - before).abs().max() > 0.1
    slopes = torch.autograd.grad(one(sloped).sum(), sloped)[0]
    torch.testing.assert_close(slopes, one.weight.sum(dim=0).expand(5, 256), atol=1e-4, rtol=1e-5)


def test_weights_that_lie_where_others_lay_are_those_that_multiply():
    one, rows = layer(), torch.randn(5, 256)
    for _ in range(20):
        with torch.no_grad():
            torch.testing.assert_close(one(rows), plainly(one, rows), atol=1e-4, rtol=1e-5)
        for _ in range(2):
            one.weight.data = torch.randn(320, 256)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_multiplies_by_its_own_weights(copied):
    one, rows = layer(), torch.randn(5, 256)
    with torch.no_grad():
        one(rows)
        other = copied(one)
        other.weight = torch.nn.Parameter(torch.zeros(320, 256), requires_grad=False)
        assert torch.equal(other(rows), other.bias.expand(5, 320))
        torch.testing.assert_close(one(rows), plainly(one, rows), atol=1e-5, rtol=1e-5)
    assert set(one.state_dict()) == {"weight", "bias"}


def test_wide_layers_of_a_model_that_is_not_too_large_are_packed(amd, monkeypatch):
    def packed_layers():
        module = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 255), torch.nn.Linear(512, 256))
        pack_layers(module)
        return [type(one) is PackedLinear for one in module]

    assert packed_layers() == [True, False, True]
    monkeypatch.setattr(packed, "_BYTES", 2 * 256 * 512 * 4)
    assert packed_layers() == [True, False, True]
    monkeypatch.setattr(packed, "_BYTES", 2 * 256 * 512 * 4 - 1)
    assert packed_layers() == [False, False, False]


@pytest.mark.parametrize(
    ("machine", "processor", "dtype", "faster"),
    [
        ("x86_64", "vendor_id : AuthenticAMD", torch.float32, True),
        ("AMD64", "AMD64 Family 25 Model 80 Stepping 0, AuthenticAMD", torch.float32, True),
        ("x86_64", "vendor_id : GenuineIntel", torch.float32, False),
        ("x86_64", "vendor_id : GenuineIntel", torch.bfloat16, True),
        ("x86_64", "vendor_id : AuthenticAMD", torch.float16, False),
        ("arm64", "Apple", torch.float32, False),
        ("aarch64", "", torch.bfloat16, False),
    ],
)
def test_the_processor_decides(machine, processor, dtype, faster, monkeypatch):
    monkeypatch.setattr(packed.platform, "machine", lambda: machine)
    monkeypatch.setattr(packed, "_processor", lambda: processor)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True, raising=False)
    assert packed._is_faster.__wrapped__(dtype) is faster


def test_a_classifier_gives_the_same_up_to_rounding_and_so_does_its_half(amd):
    from transformers import BertConfig

    shape = {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4, "num_hidden_layers": 2}
    model = random_classifier("cpu", BertConfig(vocab_size=90, **shape))
    assert sum(type(one) is PackedLinear for one in model.module.modules()) == 13
    ids = np.random.default_rng(0).integers(5, 90, (7, 11))
    lengths = np.array([11] * 6 + [4])
    half = half_copy(model)
    assert half is not None
    for one, most in ((model, 1e-6), (half, 1e-2)):
        logits, states = one.run(ids, lengths, hidden=True)
        with plain_products():
            plain = one.run(ids, lengths, hidden=True)
        np.testing.assert_allclose(logits, plain[0], atol=most)
        np.testing.assert_allclose(states, plain[1], atol=5 * most)
    assert PackedLinear.on
