"""The rows of a study as lines of JSON in a file beside the table that they become."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from core.data.parsed import BadData
from core.storage.files import write_whole

if TYPE_CHECKING:
    from core.evaluation.engine import Run
    from core.evaluation.study import Place, Row


class LineLog:
    """The rows of a study in a file, a line each, written as they come; for the one run that holds the output.

    A line is believed by its SHA-256, which covers the `fingerprint` of all that decides the rows.

    about: goes into every line; told: called with a sentence on what was damaged.
    """

    seconds = 0.0

    def __init__(self, path: Path, fingerprint: str, about: dict, told: Callable[[str], None] = lambda _: None):
        self.path, self.fingerprint, self.about, self.told = path, fingerprint, about, told
        # What is there, by example.
        self.lines: dict[int, dict] = {}

    def read(self, run: "Run") -> "Iterator[tuple[int, Place, Row]]":
        """The rows of an interrupted run; what is damaged is set aside in a file. BadData: rows of other choices."""
        head = json.dumps({"fingerprint": self.fingerprint}).encode()
        *written, torn = self.path.read_bytes().split(b"\n") if self.path.is_file() else [b""]
        believed = {line: row for line in written if (row := self._row(line)) is not None}
        damaged = [line for line in written if line not in believed and line != head]
        foreign = [] if believed else [line for line in damaged if _of_another(line)]
        if len(foreign) < len(damaged) and foreign:
            raise BadData(
                f"{self.path.name} holds rows of other texts, another model or other choices. Delete it, or choose "
                f"another --out."
            )
        # Without a row, nothing is lost.
        damaged = [line for line in damaged if line not in foreign]
        if damaged:
            self._set_aside(damaged)
        if damaged or torn or head not in written:
            write_whole(self.path, b"".join(line + b"\n" for line in (head, *believed)), replaces=True)
        for row in believed.values():
            self.lines.setdefault(row["example"], row)
        for example, row in self.lines.items():
            yield example - 1, (), {"row": row}

    def append(self, run: "Run", places: "list[tuple[int, Place]]") -> None:
        """Write rows behind those that are there, all of them or none."""
        rows = [{"example": i + 1} | self.about | run.columns["row"][i] for i, _ in places]
        data = b"".join(json.dumps(row | {"sha256": self._seal(row)}).encode() + b"\n" for row in rows)
        with self.path.open("ab", buffering=0) as file:
            start, done = file.tell(), 0
            try:
                while done < len(data):
                    done += file.write(data[done:])
            except OSError:
                file.truncate(start)
                raise
        self.lines |= {row["example"]: row for row in rows}

    def _row(self, line: bytes) -> dict | None:
        """What a line says; None unless its SHA-256 fits."""
        try:
            row = json.loads(line)
            seal = row.pop("sha256")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return row if seal == self._seal(row) else None

    def _seal(self, row: dict) -> str:
        return hashlib.sha256(f"{self.fingerprint} {json.dumps(row)}".encode()).hexdigest()

    def _set_aside(self, damaged: list[bytes]) -> None:
        place = self.path.with_name(f"{self.path.name}.damaged")
        before = place.read_bytes() if place.is_file() else b""
        write_whole(place, before + b"".join(line + b"\n" for line in damaged), replaces=True)
        self.told(
            f"Lines of {self.path.name} that are damaged, or of an earlier version: {len(damaged):,}. Their texts are "
            f"computed again, and the lines are kept in {place.name}."
        )


def _of_another(line: bytes) -> bool:
    """Whether a line says what decides rows."""
    try:
        return "fingerprint" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False
