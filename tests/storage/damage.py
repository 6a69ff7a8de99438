"""Damage a store as accidents and other programs might: broken bytes, sealed files of other content, and what is no file
at all. Whatever is read afterwards must be what it was, or be computed again.

A number that is sealed anew within its range is none of these: nothing could tell it from a result.
"""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from core.storage import store as module

# Arrays of which any number at all is a result, and those in which NaN stands for what is undefined.
UNBOUNDED = {"logits", "states", "signed", "absolute", "L2", "L1", "random"}
WITH_NAN = {"score", "found"}
SPARSE_BYTES = 300_000_000_000


def damage_store(folder: Path, rng: random.Random) -> str:
    """Damage one file of a store in one way; says which and how. Does nothing to an empty store."""
    paths = sorted(path for path in (folder / "v1").rglob("*") if path.suffix in (".safetensors", ".text"))
    if not paths:
        return "nothing"
    path = rng.choice(paths)
    way = rng.choice(ways_of(path))
    return f"{way}: {damage_file(path, way, rng)}"


def ways_of(path: Path) -> list[str]:
    """The ways in which a file can be damaged; a text has no seal of its own, and only a log has a folder."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 1_000_000_000:
        return ["nothing more"]
    sealed = RESEALED if path.suffix == ".safetensors" and _parts(path) else ()
    return [*BYTES, *PLACES, *sealed, *(FOLDERS if len(path.parent.name) == 64 else ())]


def damage_file(path: Path, way: str, rng: random.Random) -> Path:
    """Damage one file; where it lay."""
    if way in BYTES:
        path.write_bytes(BYTES[way](path.read_bytes(), rng))
    elif way in RESEALED:
        _reseal(path, RESEALED[way], rng)
    elif way in PLACES:
        _remove(path)
        PLACES[way](path)
    elif way in FOLDERS:
        shutil.rmtree(path.parent)
        FOLDERS[way](path.parent)
    return path


# The file's bytes

BYTES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "one bit flipped": lambda data, rng: _flipped(data, rng.randrange(8 * max(1, len(data)))),
    "cut short": lambda data, rng: data[: rng.randrange(max(1, len(data)))],
    "empty": lambda data, rng: b"",
    "grown": lambda data, rng: data + bytes(rng.randrange(1, 100)),
    "another header length": lambda data, rng: rng.randbytes(8) + data[8:],
    "noise": lambda data, rng: rng.randbytes(len(data)),
    "noise in the middle": lambda data, rng: (
        data[: len(data) // 3] + rng.randbytes(9) + data[len(data) // 3 + 9 :] + b"."
    ),
}


def _flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data or b"\0")
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


# What is no file of the store


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2_000_000_000)
        # Where this disk's files can be as long.
        with contextlib.suppress(OSError):
            file.truncate(SPARSE_BYTES)


def _linked_pipe(path: Path) -> None:
    pipe = path.with_name(f"pipe-{path.name[:20]}")
    _remove(pipe)
    os.mkfifo(pipe)
    path.symlink_to(pipe)


def _full_folder(path: Path) -> None:
    path.mkdir()
    (path / "file").write_text("x")


PLACES: dict[str, Callable[[Path], object]] = {
    "a folder": _full_folder,
    "a sparse file": _sparse,
    "a link to nothing": lambda path: path.symlink_to("nothing there"),
    "gone": lambda path: None,
}
if hasattr(os, "mkfifo"):
    PLACES |= {
        "a pipe": os.mkfifo,
        "a link to a pipe": _linked_pipe,
        "a link to an endless device": lambda path: path.symlink_to("/dev/zero"),
        "a link to itself": lambda path: path.symlink_to(path.name),
    }
FOLDERS: dict[str, Callable[[Path], object]] = {
    "a log that is a file": lambda path: path.write_bytes(b"x"),
    **({"a log that is a pipe": os.mkfifo} if hasattr(os, "mkfifo") else {}),
}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# Sealed files of other content

Arrays = dict[str, np.ndarray]


def _one(arrays: Arrays, rng: random.Random, change: Callable[[np.ndarray], np.ndarray], kinds: str = "") -> Arrays:
    """One of the arrays changed, of these kinds where it matters."""
    names = [name for name, array in arrays.items() if not kinds or array.dtype.kind in kinds]
    name = rng.choice(names) if names else None
    return arrays | ({name: change(arrays[name])} if name else {"more": np.zeros(1)})


def _beyond(arrays: Arrays, rng: random.Random, meta: dict) -> Arrays:
    """Numbers that none of a range can be."""
    bounded = {
        name: np.full_like(array, 5 if array.dtype.kind == "f" else -7)
        for name, array in arrays.items()
        if name not in UNBOUNDED and array.dtype.kind in "fi" and not (name == "places" and array.dtype.kind == "f")
    }
    return arrays | bounded if bounded else _one(arrays, rng, lambda array: array * np.inf, "f")


def _undefined(arrays: Arrays, rng: random.Random, meta: dict) -> Arrays:
    """NaN where none may stand."""
    fixed = {name for name, array in arrays.items() if array.dtype.kind == "f"} - WITH_NAN
    fixed -= set() if "predicted" in arrays else {"values"}
    blank = {name: np.full_like(arrays[name], np.nan) for name in fixed}
    return arrays | (blank or {"more": np.zeros(1)})


def _other_meta(arrays: Arrays, rng: random.Random, meta: dict) -> Arrays:
    for name in meta:
        meta[name] = rng.choice(
            [None, -1, 0.5, [[]], {"a": [10**9]}, {"a": 7}, ["a", 7], [], "\ud800"[: rng.randrange(1)]]
        )
        if name == "note":
            meta[name] = 7
    return arrays


RESEALED: dict[str, Callable[[Arrays, random.Random, dict], Arrays]] = {
    "sealed with single numbers": lambda arrays, rng, meta: {
        name: np.array(array.flat[0] if array.size else 0, dtype=array.dtype) for name, array in arrays.items()
    },
    "sealed with other lengths": lambda arrays, rng, meta: _one(
        arrays, rng, lambda array: np.concatenate([np.atleast_1d(array), np.zeros((1, *array.shape[1:]), array.dtype)])
    ),
    "sealed with other widths": lambda arrays, rng, meta: {
        name: np.repeat(np.atleast_1d(array), 2, axis=-1) for name, array in arrays.items()
    },
    "sealed with another rank": lambda arrays, rng, meta: _one(arrays, rng, lambda array: array[None]),
    "sealed with another kind": lambda arrays, rng, meta: _one(
        arrays, rng, lambda array: array.astype(np.float16 if array.dtype != np.float16 else np.float64)
    ),
    "sealed beyond the range": _beyond,
    "sealed with NaN": _undefined,
    "sealed with infinity": lambda arrays, rng, meta: _one(arrays, rng, lambda array: array + np.inf, "f"),
    "sealed with an array less": lambda arrays, rng, meta: dict(rng.sample(sorted(arrays.items()), len(arrays) - 1)),
    "sealed with an array more": lambda arrays, rng, meta: arrays | {"more": np.zeros(3)},
    "sealed under another name": lambda arrays, rng, meta: {f"{name}_": array for name, array in arrays.items()},
    "sealed with nothing": lambda arrays, rng, meta: {},
    "sealed with other metadata": _other_meta,
    "sealed without metadata": lambda arrays, rng, meta: meta.clear() or arrays,
}


def _parts(path: Path) -> tuple[str, dict, Arrays] | None:
    """Key, metadata and arrays of a file; None where it is damaged already."""
    data = path.read_bytes()
    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about = json.loads(header["__metadata__"]["faithscope"][65:].encode("latin-1").decode("utf-8", "surrogatepass"))
        return about["key"], about["meta"], load(data)
    except (SafetensorError, LookupError, ValueError, TypeError):
        return None


def _reseal(path: Path, change: Callable, rng: random.Random) -> None:
    key, meta, arrays = _parts(path)
    arrays = change(arrays, rng, meta)
    seal, data = module._pack(key, arrays, meta)
    if path.stem != key:
        # A segment's name is its seal.
        path.unlink()
        path = path.with_stem(seal)
    path.write_bytes(data)
