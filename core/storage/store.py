"""Keep results on disk under a hash of everything they depend on; several processes may share the folder.

<root>/v1/<first two hex>/<key>.safetensors            an entry
<root>/v1/<first two hex>/<key>/<seal>.safetensors     a segment of a log
<root>/v1/<first two hex>/<digest>.text                a text, UTF-8
<root>/damaged/                                        what could not be read back

Below it may lie an archive of such files that ships with the project and is only ever read.

A file is never changed in place, so a reader needs no lock. Its *seal* is the SHA-256 of the whole
file with the seal's own 64 characters as zeros: it covers names, dtypes, shapes, values, key and
metadata, and is checked on every read. A seal says that a file is whole, not that it holds what its
reader means: that is checked against the content that the reader declares.
"""

import contextlib
import hashlib
import json
import math
import os
import re
import secrets
import stat
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from core.settings import Settings
from core.storage.content import Content
from core.storage.files import cannot_write, clear_abandoned, delete, delete_abandoned, read_plain, write_whole
from core.storage.shipped import RESULTS, Shipped

_KEY = re.compile("[0-9a-f]{64}")
_SEGMENT = re.compile(r"[0-9a-f]{64}\.safetensors")
# Quotes inside JSON strings are escaped, so that no name or text can pass for the seal.
_SEAL = re.compile(rb'"faithscope":"([0-9a-f]{64}) ')
_UNSEALED = b"0" * 64
_DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64".split()
# No result is nearly as large; what else lies there is not read into memory.
_MOST_BYTES = 1_000_000_000
_NOT_KEPT = "A result was not kept"
_IMPOSSIBLE = f"{_NOT_KEPT}: it holds invalid values, such as infinity."
_NO_MEMORY = f"{_NOT_KEPT}: out of memory."
_TOO_LARGE = f"{_NOT_KEPT}: it exceeds 1,000 MB or nine tenths of FAITHSCOPE_CACHE_MB."


@dataclass(frozen=True, eq=False)
class Entry:
    """What was stored: arrays by name (sorted, writable, in memory) and metadata (tuples come back as lists)."""

    arrays: dict[str, np.ndarray]
    meta: dict


class Key(str):
    """A key of the store; model: digest of the model whose result it is, "" where it is of none."""

    __slots__ = ("model",)
    model: str

    def __new__(cls, text: str, model: str = "") -> "Key":
        key = super().__new__(cls, text)
        key.model = model
        return key


def canonical_key(producer: str, version: int, **inputs: Any) -> Key:
    """Hash a producer and all its inputs: SHA-256 of canonical JSON, 64 hex characters.

    The order of keywords and of dictionaries does not matter; 1, 1.0, True and "1" differ; a tuple
    is a list, and a numpy scalar the Python number that equals it exactly.

    Args:
        producer: name of the function whose result is kept.
        version: raised when its results change.
        inputs: None, bool, int, float, str, and lists, tuples or dictionaries of these; the result belongs to the model
            whose digest is `model`, or else to that of the first input that is a key of one.
    Raises:
        TypeError: another type; arrays and files go in by their digest.
        ValueError: NaN or infinity.
    """
    if not isinstance(producer, str) or isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"a key needs a name and a whole-number version, got {producer!r} and {version!r}.")
    owner, owners = inputs.get("model"), [one.model for one in inputs.values() if isinstance(one, Key) and one.model]
    inputs = {name: _plain(value, name, finite=True) for name, value in inputs.items()}
    text = hashlib.sha256(_json_bytes({"producer": producer, "version": version, "inputs": inputs})).hexdigest()
    if isinstance(owner, str) and _KEY.fullmatch(owner):
        return Key(text, owner)
    return Key(text, owners[0] if owners else "")


class Store:
    """A folder of results that may vanish at any time: losing one costs its computation, nothing else.

    Damage is a miss, never an exception, and is set aside; a failure to write leaves a sentence in `last_problem`
    (None after a write that worked). Threads may share a Store.

    Args:
        root: the folder; made at the first write.
        cap_bytes: above it the oldest files go, down to 90 %. Each process looks at the folder after
            every twentieth of the cap that it wrote, so several may overshoot by that much each.
        shipped: an archive of results (`core.storage.shipped`), read where the folder has none.

    Attributes:
        names: {digest: name} of models, written beside their results (`core.storage.holdings`).
    """

    def __init__(self, root: Path, cap_bytes: int = 2_000_000_000, shipped: Path | None = None):
        self.root = Path(root)
        self.shipped = None if shipped is None else Shipped(shipped)
        self.cap_bytes = cap_bytes
        self.last_problem: str | None = None
        self.names: dict[str, str] = {}
        self._most = int(min(0.9 * cap_bytes, _MOST_BYTES))
        self._cleared = False
        self._room = 0
        self._guard = threading.Lock()

    def get(self, key: str, content: Content | None = None) -> Entry | None:
        """Read an entry; None if there is none, or none that is whole.

        Args:
            content: what it must hold; None: whatever it holds, which no producer can mean.
        Raises:
            ValueError: the key is not 64 lower-case hex characters.
        """
        return self._read(self._place(key, ".safetensors"), partial(_unpack, key=key, content=content))

    def put(self, key: str, arrays: dict[str, np.ndarray], meta: dict, content: Content | None = None) -> None:
        """Keep an entry, in place of an earlier one.

        Args:
            key: from `canonical_key`.
            arrays: of numbers or booleans, in any layout; not changed. Byte order is not kept.
            meta: what `canonical_key` takes, NaN and infinity too.
            content: as it will be asked for; what is none of it, such as NaN, is not kept.
        Raises:
            TypeError: an array of objects, strings or dates, or metadata that JSON cannot hold.
            ValueError: the key is not 64 lower-case hex characters, or the name of an array cannot be kept.
        """
        self._pack_and_write(self._place(key, ".safetensors"), key, arrays, meta, content)

    def append(self, key: str, arrays: dict[str, np.ndarray], meta: dict, content: Content | None = None) -> None:
        """Add a segment to the log under a key; the same content twice is one segment. As `put`."""
        self._pack_and_write(self._place(key), key, arrays, meta, content)

    def segments(self, key: str, content: Content | None = None) -> list[Entry]:
        """Read the log under a key: its whole segments, in the order of their seals. As `get`."""
        folder = self._place(key)
        found = [
            self._read(path, partial(_unpack, key=key, content=content, seal=path.stem))
            for path in sorted(folder / name for name in self._listed(folder) if _SEGMENT.fullmatch(name))
        ]
        return [entry for entry in found if entry is not None]

    def put_text(self, text: str) -> str:
        """Keep a text, lone surrogates too; the SHA-256 of its UTF-8 as hex, kept or not."""
        data = text.encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(data).hexdigest()
        if self.get_text(digest) is None:
            self._write(self._place(digest, ".text"), data)
        return digest

    def get_text(self, digest: str) -> str | None:
        """Read a text by its digest, as of `put_text`; None if it is not there, or not what the digest says."""

        def checked(data: bytes) -> str | None:
            return data.decode("utf-8", "surrogatepass") if hashlib.sha256(data).hexdigest() == digest else None

        return self._read(self._place(digest, ".text"), checked)

    def folder(self, key: str) -> Path:
        """Where the segments of the log under a key lie, whether there are any or not."""
        return self._place(key)

    def clear(self) -> None:
        """Delete everything that the store wrote; other files in the folder stay."""
        for _, _, path, _ in self.files():
            delete(path)

    def _place(self, key: str, suffix: str = "") -> Path:
        # Keys and digests may come from a URL; nothing else may become part of a path.
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise ValueError(f"A store key is 64 characters of 0-9a-f, got {key!r:.80}.")
        return self.root / "v1" / key[:2] / f"{key}{suffix}"

    def _below(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _listed(self, folder: Path) -> set[str]:
        """Names of the files in a folder, and of those that ship there."""
        try:
            names = {path.name for path in folder.iterdir()}
        except OSError as error:
            names = set()
            if isinstance(error, NotADirectoryError):
                self._set_aside(folder)
        return names if self.shipped is None else names | set(self.shipped.files(self._below(folder)))

    def _read(self, path: Path, unpack):
        """What a file of the store holds, or else what ships in its place; damage is set aside."""
        found = None
        try:
            found = unpack(read_plain(path, self._most))
            damaged = found is None
        except (OSError, MemoryError):
            damaged = not self._later(path)
        if damaged:
            self._set_aside(path)
        data = self.shipped.read(self._below(path)) if found is None and self.shipped is not None else None
        return found if data is None else unpack(data)

    def _later(self, path: Path) -> bool:
        """Whether nothing is there, or what could be read at another time: a plain file, no larger than a result."""
        try:
            about = os.stat(path)
        except OSError:
            return not os.path.islink(path)
        return stat.S_ISREG(about.st_mode) and about.st_size <= self._most

    def _set_aside(self, path: Path) -> None:
        # Another process may do the same, or have put a whole file there: then that one is computed again.
        with contextlib.suppress(OSError):
            (self.root / "damaged").mkdir(exist_ok=True)
            os.replace(path, self.root / "damaged" / f"{path.name}.{secrets.token_hex(4)}")

    def _pack_and_write(self, place: Path, key: str, arrays: dict, meta: dict, content: Content | None) -> None:
        if content is not None and not content.fits(arrays, meta):
            self.last_problem = _IMPOSSIBLE
            return
        try:
            seal, data = _pack(key, arrays, meta, self.names.get(getattr(key, "model", ""), ""))
        except MemoryError:
            self.last_problem = _NO_MEMORY
        else:
            self._write(place if place.suffix else place / f"{seal}.safetensors", data)

    def _write(self, path: Path, data: bytes) -> None:
        if len(data) > self._most:
            self.last_problem = _TOO_LARGE
            return
        try:
            try:
                write_whole(path, data)
            except OSError:
                # What fills the disk may be what killed writers left; looked for once until there is room again.
                cleared, self._cleared = self._cleared, True
                if cleared or not clear_abandoned(self.root / "v1"):
                    raise
                write_whole(path, data)
        except OSError as error:
            self.last_problem = f"{_NOT_KEPT}: {cannot_write(self.root, error)}"
            return
        self.last_problem, self._cleared = None, False
        self._make_room(len(data))

    def _make_room(self, written: int) -> None:
        with self._guard:
            self._room -= written
            if self._room > 0:
                return
            files = self.files()
            size = sum(f[3] for f in files)
            cap = self.cap_bytes if size <= self.cap_bytes else 0.9 * self.cap_bytes
            for _, _, path, bytes_there in sorted(files):
                if delete_abandoned(path) if path.endswith(".tmp") else size > cap and delete(path):
                    size -= bytes_there
            # Other processes write too: look again before this one alone could have filled the rest.
            self._room = min(self.cap_bytes - size, self.cap_bytes // 20)

    def files(self) -> list[tuple[bool, int, str, int]]:
        """(False if damaged or too large, time of writing in ns, path, bytes) of every file: the first goes first."""
        found = []
        for top in ("v1", "damaged"):
            for folder, _, names in os.walk(self.root / top):
                for path in (os.path.join(folder, name) for name in names):
                    with contextlib.suppress(OSError):
                        about = os.lstat(path)
                        readable = top == "v1" and about.st_size <= self._most
                        found.append((readable, about.st_mtime_ns, path, about.st_size))
        return found


def open_store(chosen: Settings) -> Store:
    """The store of these settings, above what ships unless that is left out."""
    return Store(chosen.cache, chosen.cache_bytes, RESULTS if chosen.shipped else None)


def _pack(key: str, arrays: dict, meta: dict, name: str = "") -> tuple[str, bytes]:
    about: dict[str, Any] = {"key": key, "meta": _plain(meta, "meta", finite=False)}
    if model := getattr(key, "model", ""):
        about |= {"model": model, "name": name}
    told = _json_bytes(about).decode("latin-1")
    data = save(
        {name: _storable(name, array) for name, array in arrays.items()}, {"faithscope": f"{_UNSEALED.decode()} {told}"}
    )
    start, end = next(_SEAL.finditer(data)).span(1)
    seal = hashlib.sha256(data).hexdigest()
    return seal, data[:start] + seal.encode() + data[end:]


def _unpack(data: bytes, key: str, content: Content | None, seal: str | None = None) -> Entry | None:
    """Read a file; None unless it is whole, of this key and content and, for a segment, of this seal."""
    head = 8 + int.from_bytes(data[:8], "little")
    place = _SEAL.search(data, 8, min(head, len(data)))
    if place is None or seal not in (None, place[1].decode()):
        return None
    start, end = place.span(1)
    whole = hashlib.sha256(data[:start])
    whole.update(_UNSEALED)
    # A copy of a large file's numbers would be for nothing.
    whole.update(memoryview(data)[end:])
    if whole.hexdigest() != place[1].decode():
        return None
    try:
        about = json.loads(data[8:head])["__metadata__"]["faithscope"][65:]
        about = json.loads(about.encode("latin-1").decode("utf-8", "surrogatepass"))
        entry = Entry(dict(sorted(load(data).items())), about["meta"])
        fits = content is None or content.fits(entry.arrays, entry.meta)
        return entry if about["key"] == key and fits else None
    # A sealed file may still be another program's.
    except (SafetensorError, ArithmeticError, LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _storable(name: str, array) -> np.ndarray:
    if not isinstance(name, str) or not name.isprintable() or name == "__metadata__":
        raise ValueError(f"An array cannot be stored under the name {name!r}; use printable characters.")
    if (
        not isinstance(array, (np.ndarray, np.generic))
        or isinstance(array, np.ma.MaskedArray)
        or array.dtype.name not in _DTYPES
    ):
        kind = getattr(array, "dtype", type(array).__name__)
        raise TypeError(
            f"{name!r} cannot be stored: it is {type(array).__name__} of {kind}. Give numpy arrays of "
            f"{', '.join(_DTYPES)}."
        )
    # safetensors writes the memory as it lies and so scrambles any other layout; ascontiguousarray would make 0-d
    # arrays 1-d.
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _plain(value, where: str, finite: bool):
    """What JSON can hold, exactly; anything else is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and finite and not math.isfinite(value):
        raise ValueError(f"{where} is {value}; a key needs finite numbers.")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, where, finite) for item in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {name: _plain(item, f"{where}.{name}", finite) for name, item in value.items()}
    raise TypeError(
        f"{where} is {type(value).__name__}, which has no canonical JSON; give numbers, strings, "
        "lists or dictionaries with string keys, and arrays by their digest."
    )


def _json_bytes(value) -> bytes:
    # As ASCII, two lone surrogates and the one character that they would encode become the same escapes.
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
