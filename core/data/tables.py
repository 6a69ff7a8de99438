"""Read data files, JSON Lines, CSV, TSV or Parquet: as tables whose columns mean nothing yet, or as labelled texts."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.data.parquets import TooMuch
from core.data.parsed import BadData, Parsed, Repair
from core.data.parsing import parse
from core.storage.library import FILE_BYTES
from core.wording import listed, quoted

UPLOAD_BYTES = 10_000_000
A_FOLDER = "is a folder. Give a file in it."


@dataclass(frozen=True, eq=False)
class RawTable:
    """A file's cells before anyone said what its columns mean.

    name: file name; columns: their names in file order, all different; cells: for each column its N values, str, int,
    float, bool, None, or what JSON nests (list, dict); digest: SHA-256 of the content; notes: what was repaired;
    classes: names of a column's numbered classes; rows: the file's numbers of the N rows, () for 1…N.
    """

    name: str
    columns: tuple[str, ...]
    cells: dict[str, list]
    digest: str
    notes: tuple[str, ...] = ()
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows: Sequence[int] = ()

    def __len__(self) -> int:
        return len(self.cells[self.columns[0]]) if self.columns else 0


def read_table(source: Path | bytes, name: str | None = None, most_bytes: int | None = None) -> RawTable:
    """Read a table from a file or from the bytes of one.

    Args:
        source: path, or content.
        name: file name, whose ending says the kind: .csv, .tsv, .jsonl, .ndjson, .json or .parquet. A path has its own.
        most_bytes: refuse more than this; a file of more than 1 GB in any case.
    Raises:
        BadData: a sentence that says what is wrong, where, and what to do.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        content, name = bytes(source), _file_name(name or "data")
        _check_size(len(content), name, most_bytes, "can be uploaded. Give its path instead.")
    else:
        content, name = read_file(Path(source), name, most_bytes)
    try:
        found = parse(content, name)
    except TooMuch as error:
        raise BadData(error.said_of(name)) from error
    except RecursionError as error:
        raise BadData(f"{name} is nested too deeply. Use plain values.") from error
    columns, notes = _named(found)
    cells = {column: _plain(values) for column, values in zip(columns, found.cells)}
    classes = {column: found.classes[raw] for column, raw in zip(columns, found.columns) if raw in found.classes}
    return RawTable(
        name, tuple(columns), cells, hashlib.sha256(content).hexdigest(), (*found.notes, *notes), classes, found.rows
    )


def read_file(path: Path, name: str | None = None, most_bytes: int | None = None) -> tuple[bytes, str]:
    """A file's bytes, and its name for sentences; BadData where it cannot be read or is larger than `most_bytes`."""
    try:
        path = path.expanduser()
        if path.is_dir():
            raise BadData(f"{quoted(path, 200)} {A_FOLDER}")
        # Devices and pipes have no end.
        if not path.is_file():
            raise BadData(f"There is no file {quoted(path, 200)}.")
        name = _file_name(name or path.name)
        _check_size(path.stat().st_size, name, most_bytes or FILE_BYTES, "can be read. Split it.")
        return path.read_bytes(), name
    except BadData:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        raise BadData(
            f"{quoted(path, 200)} cannot be opened ({getattr(error, 'strerror', None) or 'it is no path'})."
        ) from error


def _check_size(size: int, name: str, most: int | None, advice: str) -> None:
    if most is not None and size > most:
        raise BadData(f"{name} has {size:,} bytes; at most {most:,} ({most / 1e6:g} MB) {advice}")


def _file_name(name: str) -> str:
    """The last part of a name, in printable characters and not too long for a sentence."""
    last = name.replace("\\", "/").rstrip("/").split("/")[-1] or "data"
    last = "".join(ch if ch.isprintable() else "?" for ch in last)
    return last if len(last) <= 100 else f"{last[:70]}…{last[-25:]}"


def _named(found: Parsed) -> tuple[list[str], list[str]]:
    """Names for all columns, all different, and sentences on those that had to be changed."""
    names, nameless, again, taken = [], [], [], set()
    for number, raw in enumerate(found.columns, start=1):
        # Halves of characters cannot be shown or stored.
        plain = " ".join(str(raw).encode("utf-8", "replace").decode("utf-8").split())[:200].strip()
        name, k = plain or f"column {number}", 1
        while name in taken:
            k += 1
            name = f"{plain or f'column {number}'} ({k})"
        taken.add(name)
        names.append(name)
        nameless += [name] if not plain else []
        again += [name] if plain and k > 1 else []
    changed = {Repair.NAMELESS: nameless, Repair.SAME_NAME: again}
    return names, [f"{repair} {listed(called)}." for repair, called in changed.items() if called]


def _plain(values: list) -> list:
    """Values with None where there is no number (NaN)."""
    return [None if isinstance(value, float) and value != value else value for value in values]


@dataclass(frozen=True)
class LabelledTexts:
    """N texts (and second texts) with labels int64[N], indices into `classes`; digest: SHA-256 of the file; rows: its
    numbers of the N texts, () for 1…N; columns: which was read as what.
    """

    texts: list[str]
    seconds: list[str] | None
    labels: np.ndarray
    classes: tuple[str, ...]
    name: str
    digest: str
    rows: Sequence[int] = ()
    columns: Mapping[str, str | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)
