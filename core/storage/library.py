"""Remember what a person added: models, data sets, uploaded files and pins, from one start to the next.

<root>/library/models/<SHA-256 of the name>.json     one model
<root>/library/data/<SHA-256 of the key>.json        one data set
<root>/library/pins/<SHA-256 of the name>.json       one example that is pinned
<root>/library/files/<SHA-256 of the content>.<ext>  one uploaded file

One file per item, written whole, so that processes that share the folder never lose each other's items.
"""

import hashlib
import json
import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from core.storage.files import cannot_write, clear_abandoned, delete, read_plain, write_whole

ITEM_BYTES = 1_000_000
FILE_BYTES = 1_000_000_000
_MODELS, _DATA, _PINS = "models", "data", "pins"
# Of a note, in characters; and of pins over all data, since each is a file.
NOTE_MOST, PINS_MOST = 500, 500
_DIGEST = re.compile("[0-9a-f]{64}")
_SUFFIX = re.compile(r"[a-z0-9]{1,10}(\.[a-z0-9]{1,10})?")


@dataclass(frozen=True)
class _Item:
    added: int
    name: str
    descriptor: dict


class Library:
    """What was added, oldest first; what cannot be kept on disk lives on in this process.

    Files that hold anything but an item are skipped, whatever they are. `last_problem` holds a
    sentence after something could not be kept or removed, None after it could. Threads may share a Library.

    Args:
        root: the folder of the cache; made at the first addition.
    """

    def __init__(self, root: Path):
        self.root = Path(root) / "library"
        self.last_problem: str | None = None
        self._guard = threading.RLock()
        self._unwritten: dict[tuple[str, str], _Item] = {}
        self._undeleted: dict[tuple[str, str], _Item] = {}
        self._files: dict[str, bytes] = {}
        self._last = 0
        self._cleared = False

    @property
    def references(self) -> Path:
        """Folder of MaSF references that cannot lie with their model, by its digest."""
        return self.root / "references"

    def models(self) -> list[str]:
        """Names of the models that were added, oldest first."""
        return [item.name for item in self._items(_MODELS)]

    def add_model(self, name: str) -> None:
        """Remember a model; one that is there keeps its place. ValueError for no name, or one far too long."""
        with self._guard:
            if name in self.models() and (_MODELS, name) not in self._unwritten:
                self.last_problem = None
            else:
                self._add(_MODELS, name, {})

    def remove_model(self, name: str) -> None:
        """Forget a model; nothing happens if it is not there."""
        self._remove(_MODELS, name)

    def data(self) -> dict[str, dict]:
        """Descriptors of the data sets that were added, by key, oldest first."""
        return {item.name: item.descriptor for item in self._items(_DATA)}

    def add_data(self, key: str, descriptor: dict) -> None:
        """Remember a data set; under a key that is there already its descriptor is replaced, and its place stays.

        Args:
            descriptor: what JSON can hold; tuples come back as lists.
        Raises:
            ValueError: no key, something that JSON cannot hold, or more than ITEM_BYTES of it.
        """
        self._add(_DATA, key, descriptor)

    def remove_data(self, key: str) -> None:
        """Forget a data set; its uploaded file stays, since other data sets may read it."""
        self._remove(_DATA, key)

    def pins(self, data: str) -> dict[str, str]:
        """Notes of the pinned examples of a data set (its digest), by the examples' ids, in the order of pinning."""
        found = (item.descriptor for item in self._items(_PINS))
        return {
            one["example"]: one["note"][:NOTE_MOST]
            for one in found
            if one.get("data") == data and all(isinstance(one.get(part), str) for part in ("example", "note"))
        }

    def pin(self, data: str, example: str, note: str) -> None:
        """Pin an example, with a note of at most `NOTE_MOST` characters; ValueError where PINS_MOST are pinned."""
        if example not in self.pins(data) and len(self._items(_PINS)) >= PINS_MOST:
            raise ValueError(f"{PINS_MOST} examples are pinned already; take one off first.")
        self._add(_PINS, f"{data} {example}", {"data": data, "example": example, "note": note[:NOTE_MOST]})

    def unpin(self, data: str, example: str) -> None:
        """Take the pin off an example; nothing happens if it has none."""
        self._remove(_PINS, f"{data} {example}")

    def put_file(self, content: bytes, suffix: str) -> str:
        """Keep an uploaded file; its SHA-256, kept or not. suffix: its kind, such as ".csv"; else ".bin"."""
        content, suffix = bytes(content), suffix.lower().lstrip(".")
        digest = hashlib.sha256(content).hexdigest()
        with self._guard:
            if self.get_file(digest) is None:
                place = self.root / "files" / f"{digest}.{suffix if _SUFFIX.fullmatch(suffix) else 'bin'}"
                if not self._write(place, content, "The uploaded file"):
                    self._files[digest] = content
        return digest

    def remove_file(self, digest: str) -> None:
        """Delete an uploaded file by its SHA-256; nothing happens if it is not there."""
        with self._guard:
            self._files.pop(digest, None)
            for name in _names(self.root / "files") if _DIGEST.fullmatch(digest) else ():
                if name.partition(".")[0] == digest:
                    delete(str(self.root / "files" / name))

    def get_file(self, digest: str) -> bytes | None:
        """Read an uploaded file by its SHA-256; None if it is not there, or not what it was."""
        # A digest may come from a URL; nothing else may become part of a path.
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            return None
        with self._guard:
            kept = self._files.get(digest)
        if kept is not None:
            return kept
        for name in _names(self.root / "files"):
            if name.partition(".")[0] == digest:
                content = _read(self.root / "files" / name, FILE_BYTES)
                if content is not None and hashlib.sha256(content).hexdigest() == digest:
                    return content
        return None

    def _items(self, kind: str) -> list[_Item]:
        with self._guard:
            found = {name: item for (k, name), item in self._unwritten.items() if k == kind}
            for name in _names(self.root / kind):
                item = _item(self.root / kind / name)
                if item is not None and item.name not in found and self._undeleted.get((kind, item.name)) != item:
                    found[item.name] = item
        return sorted(found.values(), key=lambda item: (item.added, item.name))

    def _add(self, kind: str, name: str, descriptor: dict) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError("An item needs a name.")
        if not isinstance(descriptor, dict):
            raise ValueError(f"{name[:80]!r} is described by {type(descriptor).__name__}; give a dictionary.")
        with self._guard:
            before = next((item for item in self._items(kind) if item.name == name), None)
            # Two additions within one tick of the clock keep their order.
            self._last = max(time.time_ns(), self._last + 1)
            added = before.added if before else self._last
            try:
                data = json.dumps({"name": name, "added": added, "descriptor": descriptor}, allow_nan=False).encode(
                    "ascii"
                )
            except (TypeError, ValueError, RecursionError) as error:
                raise ValueError(f"{name[:80]!r} cannot be remembered: it is no JSON.") from error
            if len(data) > ITEM_BYTES:
                raise ValueError(f"{name[:80]!r} cannot be remembered: over {ITEM_BYTES // 1_000_000} MB.")
            self._undeleted.pop((kind, name), None)
            if self._write(self._place(kind, name), data, repr(name[:80])):
                self._unwritten.pop((kind, name), None)
            else:
                # As it would have come back from the file.
                self._unwritten[kind, name] = _Item(added, name, json.loads(data)["descriptor"])

    def _remove(self, kind: str, name: str) -> None:
        with self._guard:
            if not isinstance(name, str):
                return
            self._unwritten.pop((kind, name), None)
            place = self._place(kind, name)
            item = _item(place)
            self.last_problem = None
            if item is not None and not delete(place):
                self._undeleted[kind, name] = item
                self.last_problem = f"{name[:80]!r} comes back at the next start. Make {self.root} writable."

    def _place(self, kind: str, name: str) -> Path:
        return self.root / kind / f"{_digest_of(name)}.json"

    def _write(self, place: Path, data: bytes, what: str) -> bool:
        self.last_problem = None
        if not self._cleared:
            self._cleared = True
            clear_abandoned(self.root)
        try:
            write_whole(place, data, replaces=True)
        except OSError as error:
            self.last_problem = f"{what} is remembered until this server stops: {cannot_write(self.root, error)}"
        return self.last_problem is None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _read(path: Path, most: int) -> bytes | None:
    """A regular file's content, of at most so many bytes; None for everything else."""
    try:
        return read_plain(path, most)
    except (OSError, MemoryError):
        return None


def _item(path: Path) -> _Item | None:
    """Read an item; None unless the file holds one, and the one that its name says."""
    content = _read(path, ITEM_BYTES) if path.suffix == ".json" else None
    try:
        found = json.loads(content or b"")
        name, added, descriptor = found["name"], found["added"], found["descriptor"]
        fine = (
            isinstance(name, str)
            and name.strip()
            and type(added) is int
            and isinstance(descriptor, dict)
            and _digest_of(name) == path.stem
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return _Item(added, name, descriptor) if fine else None


def _digest_of(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
