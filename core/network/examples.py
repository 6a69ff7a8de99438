"""Examples to look at: those that ship with the project, read from JSON Lines."""

from dataclasses import dataclass
from pathlib import Path

from core.network.tables import BadData, read_json_lines
from core.settings import BUNDLED

FOLDER = BUNDLED / "examples"


@dataclass(frozen=True)
class Example:
    """One text (or pair) with its label's name and what is known about it; label None for typed text."""

    id: str
    text: str
    second: str | None = None
    label: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""


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
    path = FOLDER / {"reviews": "reviews.jsonl", "contrast pairs": "contrast_pairs.jsonl"}[name]
    return read_examples(path)


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
