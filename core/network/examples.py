"""Examples to look at, and sets of them: those that ship with the project are read from JSON Lines."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from core.network.tables import BadData, read_json_lines
from core.settings import BUNDLED

FOLDER = BUNDLED / "examples"
_FILES = {"reviews": "reviews.jsonl", "contrast pairs": "contrast_pairs.jsonl"}


@dataclass(frozen=True, slots=True)
class Example:
    """One text (or pair) with its label's name and what is known about it; label None for typed text."""

    id: str
    text: str
    second: str | None = None
    label: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, eq=False)
class DataSet:
    """N examples of one source, ids all different.

    digest: SHA-256 over what was read and how its columns were understood; classes: names of the
    labels, in the source's order, () without labels; notes: sentences on what was left out or repaired.
    """

    name: str
    digest: str
    examples: tuple[Example, ...]
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.examples)


def bundled_data() -> dict[str, str]:
    """Names of the shipped example sets and what each holds."""
    return {"reviews": "Review sentences written for this project",
            "contrast pairs": "Pairs of sentences, one edit apart, with opposite labels"}


def read_bundled(name: str) -> list[Example]:
    """Read a shipped example set.

    Raises:
        KeyError: no such set.
        BadData: the file is damaged; the message names the line.
    """
    return read_examples(FOLDER / _FILES[name])


def bundled_set(name: str) -> DataSet:
    """A shipped example set with its digest; raises as `read_bundled` does."""
    found = tuple(read_bundled(name))
    return DataSet(name, hashlib.sha256((FOLDER / _FILES[name]).read_bytes()).hexdigest(), found, tuple(sorted({e.label for e in found if e.label is not None})))


def read_examples(path: Path) -> list[Example]:
    """Read `id`, `text`, `label` and, where given, `second`, `tags`, `note` from JSON Lines."""
    found = []
    for number, row in enumerate(read_json_lines(path), start=1):
        if not isinstance(row.get("text"), str) or not row["text"].strip():
            raise BadData(f"{path.name}, line {number}: 'text' is missing or empty.")
        label = row.get("label")
        found.append(Example(str(row.get("id", number)), row["text"], row.get("second"), None if label is None else str(label),
                             tuple(row.get("tags", ())), row.get("note", "")))
    return found
