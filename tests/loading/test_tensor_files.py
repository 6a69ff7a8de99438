"""Weights are read as the library reads them, once: no second copy of them, neither while they load nor afterwards."""

import hashlib
import json
import random
import struct
import sys
import tracemalloc

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load as library_load
from safetensors.torch import save

from core.loading.loading import load
from core.loading.model_files import ModelFiles, read_tensors
from tests import tiny

HALVES = torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz
WHOLE = torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64
KINDS = torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.bool, *HALVES, *WHOLE
SHAPES = (3, 5), (), (0,), (2, 0, 3), (1, 1, 7), (700, 701)


def read(path, data: bytes):
    path.write_bytes(data)
    with path.open("rb") as file:
        return read_tensors(file)


def as_bytes(tensor: torch.Tensor) -> bytes:
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def some_tensors() -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(0)
    found = {}
    for i, kind in enumerate(KINDS):
        shape = SHAPES[i % len(SHAPES)]
        size = torch.Size(shape).numel() * kind.itemsize
        raw = torch.randint(0, 2 if kind == torch.bool else 256, (size,), dtype=torch.uint8, generator=made)
        # Names in another order than bytes.
        found[f"{(7 * i) % len(KINDS)}.é"] = raw.view(kind).reshape(shape) if size else torch.empty(shape, dtype=kind)
    return found


def same(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> bool:
    return found.keys() == expected.keys() and all(
        (found[k].dtype, found[k].shape, as_bytes(found[k])) == (v.dtype, v.shape, as_bytes(v))
        for k, v in expected.items()
    )


def test_every_kind_of_number_is_read_as_the_library_reads_it(tmp_path):
    tensors = some_tensors()
    data = save(tensors, {"format": "pt"})
    found, seen = read(tmp_path / "x", data)
    assert same(found, tensors) and same(found, library_load(data)) and seen == hashlib.sha256(data).digest()


def test_bytes_are_turned_round_where_a_machine_needs_it(tmp_path, monkeypatch):
    tensors = {"a": torch.tensor([1.5, -2.25]), "b": torch.tensor([1, 515], dtype=torch.int16), "c": torch.tensor([3j])}
    data = save({"a": tensors["a"], "b": tensors["b"], "c": tensors["c"].to(torch.complex64)})
    monkeypatch.setattr(sys, "byteorder", "big")
    found, _ = read(tmp_path / "x", data)
    assert struct.unpack(">2f", as_bytes(found["a"])) == (1.5, -2.25)
    assert struct.unpack(">2h", as_bytes(found["b"])) == (1, 515)
    assert struct.unpack(">2f", as_bytes(found["c"])) == (0.0, 3.0)


def test_what_the_library_refuses_is_refused_and_nothing_else_is_read_otherwise(tmp_path):
    """Heads and lengths that a seed damages: never another error, and never other numbers than the library's."""
    drawn, agreed, refused = random.Random(3), 0, 0
    whole = save({"a": torch.arange(6.0).reshape(2, 3), "b": torch.arange(3, dtype=torch.uint8)}, {"format": "pt"})
    length = 8 + int.from_bytes(whole[:8], "little")
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(drawn.randint(1, 3)):
            at = drawn.randrange(length)
            data[at] = drawn.choice(b'0123456789[]{},:"-.eFIU abcdtrue') if at > 7 else drawn.randrange(256)
        data = bytes(data[: drawn.choice((len(data), len(data), drawn.randrange(len(data))))])
        try:
            expected = library_load(data)
        except (SafetensorError, KeyError, AssertionError, ValueError, TypeError, RuntimeError, OverflowError):
            expected = None
        try:
            found, _ = read(tmp_path / "x", data)
        except ValueError:
            refused += 1
            continue
        assert expected is not None and same(found, expected), data[8:length]
        agreed += 1
    assert agreed > 5 and refused > 100


@pytest.mark.parametrize(
    "about",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F32", "shape": [-2, -1], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [1 << 62, 1 << 62], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
        {"dtype": "F32", "shape": [True, 2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]},
        {"dtype": "Tensor", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": [], "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
        [],
    ],
    ids=str,
)
def test_a_head_that_lies_is_refused_before_memory_is_taken(tmp_path, about):
    head = json.dumps({"a": about}).encode()
    with pytest.raises(ValueError, match=r"its (head|tensors)"):
        read(tmp_path / "x", len(head).to_bytes(8, "little") + head + bytes(8))


def test_a_loaded_model_is_in_memory_once(tmp_path, tiny_root):
    """What Python gives out meanwhile is far less than the file, and the parameters are all that stays."""
    import shutil

    from transformers import BertConfig, BertForSequenceClassification

    folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "big")
    config = BertConfig.from_pretrained(folder, vocab_size=120_000, num_labels=3)
    BertForSequenceClassification(config).save_pretrained(folder)
    size = (folder / "model.safetensors").stat().st_size
    assert size > 10_000_000
    tracemalloc.start()
    try:
        ModelFiles(folder).tensors("model.safetensors")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    model = load(str(folder), "cpu")
    stays = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in model.module.parameters()}
    assert peak < size / 4 and sum(stays.values()) <= size
