"""Notes on pinned examples as a file, and such a file read again: by the texts, whatever the examples are called."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from core.data.browsing import Index
from core.data.examples import Example
from core.data.parsed import BadData
from core.storage.library import NOTE_MOST

FORMAT = "faithscope notes"
# Of a file; notes of all pins together have less.
NOTES_BYTES = 10_000_000
_NO_EXPORT = "This file holds no notes. Choose one saved by “Save notes”."
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Note:
    """One pinned example. text: the digest of its text, see `text_digest`; id: how its data calls it; note: what is
    worth remembering of it, "" where it is only pinned.
    """

    text: str
    id: str
    note: str


@dataclass(frozen=True)
class Merged:
    """What notes of a file come to beside those that are here.

    added: {example: note}, pins and notes that are new here; same: how many are here already; conflicts: (example, the
    note here, the note in the file), where they differ; missing: how the file calls the examples whose texts this data
    does not have.
    """

    added: dict[str, str]
    same: int
    conflicts: tuple[tuple[str, str, str], ...]
    missing: tuple[str, ...]


def text_digest(example: Example) -> str:
    """SHA-256 of an example's text and second text."""
    return hashlib.sha256(json.dumps([example.text, example.second]).encode("ascii")).hexdigest()


def notes_file(index: Index, pins: Mapping[str, str]) -> dict:
    """The pinned examples of a data set as a file holds them; pins: {example: note}."""
    every, rows = index.data.examples, index.rows
    notes = [Note(text_digest(every[rows[one]]), one, note) for one, note in pins.items() if one in rows]
    return {"format": FORMAT, "version": 1, "data": index.data.name, "notes": [asdict(one) for one in notes]}


def read_notes(content: bytes) -> list[Note]:
    """The notes of a file; BadData with a sentence where it is none, or any of them is damaged."""
    try:
        found = json.loads(content if len(content) <= NOTES_BYTES else b"")
        notes = [Note(**one) for one in found["notes"]] if found["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadData(_NO_EXPORT) from error
    texts = [part for one in notes or () for part in (one.text, one.id, one.note)]
    if notes is None or not all(isinstance(one, str) for one in texts):
        raise BadData(_NO_EXPORT)
    if not all(_DIGEST.fullmatch(one.text) for one in notes):
        raise BadData(_NO_EXPORT)
    # Half an emoji can stand in no file.
    return [Note(one.text, _whole(one.id), _whole(one.note)[:NOTE_MOST]) for one in notes]


def merge_notes(index: Index, pins: Mapping[str, str], notes: list[Note]) -> Merged:
    """Set notes of a file beside those that are here, {example: note}, of which none is overwritten."""
    places: dict[str, list[str]] = {}
    for example in index.data.examples:
        places.setdefault(text_digest(example), []).append(example.id)
    here, added, same, conflicts, missing = dict(pins), {}, 0, [], []
    for one in notes:
        named = places.get(one.text)
        if named is None:
            missing.append(one.id)
            continue
        # Of a text that repeats, the example that is called the same.
        example = one.id if one.id in named else named[0]
        before = here.get(example)
        if before is None or (one.note and not before):
            here[example] = added[example] = one.note
        elif one.note and one.note != before:
            conflicts.append((example, before, one.note))
        else:
            same += 1
    return Merged(added, same, tuple(conflicts), tuple(missing))


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
