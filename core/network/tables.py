"""Read labelled texts from JSON Lines, CSV, TSV or Parquet files."""

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np


class BadData(ValueError):
    """A data file cannot be used; the message names the file, the line and what to change."""


@dataclass(frozen=True)
class LabelledTexts:
    """N texts (and second texts) with labels int64[N], indices into `classes`; digest: SHA-256 of the file."""

    texts: list[str]
    seconds: list[str] | None
    labels: np.ndarray
    classes: tuple[str, ...]
    name: str
    digest: str

    def __len__(self) -> int:
        return len(self.texts)


def read_labelled(path: Path, text: str = "text", second: str | None = None, label: str = "label",
                  classes: tuple[str, ...] | None = None) -> LabelledTexts:
    """Read a data file with one labelled example a row.

    Args:
        path: .jsonl, .csv, .tsv or .parquet, UTF-8.
        text, second, label: names of the columns.
        classes: C class names; the label column holds these names or their numbers from 0. Without
            them, numbers name themselves and names are taken in alphabetical order.
    Raises:
        BadData: the file, a column or a value is missing or of the wrong kind.
    """
    path = Path(path)
    if not path.is_file():
        raise BadData(f"There is no file {str(path)!r}.")
    rows = _rows(path)
    if not rows:
        raise BadData(f"{path.name} holds no rows.")
    columns = [text, label] + ([second] if second else [])
    for number, row in enumerate(rows, start=1):
        lacking = [c for c in columns if row.get(c) is None]
        if lacking:
            raise BadData(f"{path.name}, row {number}: column {lacking[0]!r} is missing; it has {', '.join(map(str, row))}.")
        if not str(row[text]).strip():
            raise BadData(f"{path.name}, row {number}: the text is empty. Remove the row, or write at least one word.")
    classes, labels = _numbered([str(row[label]).strip() for row in rows], classes, path)
    return LabelledTexts([str(row[text]) for row in rows], [str(row[second]) for row in rows] if second else None,
                         labels, classes, path.name, hashlib.sha256(path.read_bytes()).hexdigest())


def read_json_lines(path: Path) -> list[dict]:
    """Read a JSON Lines file of objects; BadData names the line that is none."""
    rows = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadData(f"{Path(path).name}, line {number}: not valid JSON ({error}).") from error
        if not isinstance(row, dict):
            raise BadData(f"{Path(path).name}, line {number}: expected an object, found {type(row).__name__}.")
        rows.append(row)
    return rows


def _rows(path: Path) -> list[dict]:
    try:
        return _parsed(path, path.suffix.lower())
    except BadData:
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise BadData(f"{path.name} cannot be read ({error}). It must be UTF-8 and of the kind that its ending says.") from error


def _parsed(path: Path, kind: str) -> list[dict]:
    if kind in (".jsonl", ".ndjson"):
        return read_json_lines(path)
    if kind in (".csv", ".tsv"):
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t" if kind == ".tsv" else ","))
    if kind == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path).to_pylist()
    raise BadData(f"{path.name}: files ending in {kind or 'nothing'} are not read. Use .jsonl, .csv, .tsv or .parquet.")


def _numbered(raw: list[str], classes: tuple[str, ...] | None, path: Path) -> tuple[tuple[str, ...], np.ndarray]:
    numeric = all(value.isascii() and value.isdigit() for value in raw)
    if classes is None and numeric and max(map(int, raw)) >= len(raw):
        raise BadData(f"{path.name}: the label column holds the number {max(map(int, raw))}, more than there are rows. Number the classes from 0.")
    negative = next((row for row, value in enumerate(raw, start=1) if value[:1] == "-" and value[1:].isdigit()), None)
    if classes is None and negative is not None:
        raise BadData(f"{path.name}, row {negative}: the label {raw[negative - 1]} is negative, which often marks rows without a label. Leave such rows out.")
    if classes is None:
        classes = tuple(map(str, range(max(map(int, raw)) + 1))) if numeric else tuple(sorted(set(raw)))
    known = {name: i for i, name in enumerate(classes)}
    if numeric and not set(raw) <= set(known):
        known = {str(i): i for i in range(len(classes))}
    for row, value in enumerate(raw, start=1):
        if value not in known:
            raise BadData(f"{path.name}, row {row}: the label {value!r} is none of {', '.join(classes)}. Name all classes, in order, with --labels.")
    return classes, np.array([known[value] for value in raw], dtype=np.int64)
