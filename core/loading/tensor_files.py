"""The tensors of a safetensors file, each byte read once: hashed, and straight into the memory of its tensor."""

import hashlib
import json
import math
import os
import sys
from io import BufferedReader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.network.architectures import Tensor

# What the format calls a kind of numbers, and what torch does.
_KINDS = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2": "float8_e5m2",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "C64": "complex64",
    "BOOL": "bool",
    **{f"{sign}{bits}": f"{kind}{bits}" for sign, kind in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)},
}
_BAD_HEAD = "its head is damaged"
# The format's own limit for a head; what is read at a time, which a processor holds until it is hashed.
_MOST_HEAD, _AT_A_TIME = 100_000_000, 1 << 20


def read_tensors(file: BufferedReader) -> "tuple[dict[str, Tensor], bytes]":
    """All tensors of a file that is read from its start, and its SHA-256: of the very bytes that the tensors hold.

    No byte is in memory twice, neither meanwhile nor afterwards, and a tensor that nobody keeps is freed alone.

    Raises:
        ValueError: it is no such file, is cut short, or its head says what cannot be.
        OSError: it cannot be read.
    """
    import torch

    size, seen = os.fstat(file.fileno()).st_size, hashlib.sha256()
    length = int.from_bytes(_hashed(file, bytearray(8), seen), "little")
    if length > min(_MOST_HEAD, size - 8):
        raise ValueError(_BAD_HEAD)
    tensors = {}
    for name, kind, shape, start, end in _planned(_hashed(file, bytearray(length), seen), size - 8 - length):
        tensor = torch.empty(shape, dtype=kind)
        if end > start:
            raw = tensor.reshape(-1).view(torch.uint8).numpy()
            _hashed(file, raw, seen)
            if sys.byteorder == "big":
                # The format is little-endian; a complex number is two.
                part = tensor.element_size() // (2 if kind.is_complex else 1)
                raw.view(f"u{part}").byteswap(inplace=True)
        tensors[name] = tensor
    return tensors, seen.digest()


def _hashed(file: BufferedReader, place: Any, seen: Any) -> Any:
    """Fill a place with the next bytes, which are hashed on the way; ValueError where there are fewer."""
    view = memoryview(place)
    for start in range(0, len(view), _AT_A_TIME):
        part = view[start : start + _AT_A_TIME]
        if file.readinto(part) < len(part):
            raise ValueError("it is cut short")
        seen.update(part)
    return place


def _planned(head: bytearray, room: int) -> list[tuple[str, Any, list[int], int, int]]:
    """(name, kind, shape, first byte, end) of each tensor, by place; ValueError unless they fill the room."""
    import torch

    said = json.loads(head)
    if not isinstance(said, dict):
        raise ValueError(_BAD_HEAD)
    found = []
    for name, about in said.items():
        if name == "__metadata__":
            continue
        try:
            kind, shape, (start, end) = getattr(torch, _KINDS[about["dtype"]]), about["shape"], about["data_offsets"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(_BAD_HEAD) from error
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in (*shape, start, end)):
            raise ValueError(_BAD_HEAD)
        if end - start != math.prod(shape) * kind.itemsize:
            raise ValueError("its tensors do not fit their shapes")
        found.append((name, kind, shape, start, end))
    found.sort(key=lambda one: one[3:])
    ends = [0, *(end for *_, end in found)]
    if [start for *_, start, _ in found] != ends[:-1] or ends[-1] != room:
        raise ValueError("its tensors do not fill it")
    return found
