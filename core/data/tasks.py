"""The data sets of the papers as tasks: where each is, which of its columns is what, and what it is measured by."""

import functools
import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from core.data.mapping import Mapping, short_text
from core.data.parsed import BadData, Repair, noted
from core.data.tables import RawTable
from core.settings import BUNDLED
from core.wording import listed, quoted

FILE = BUNDLED / "tasks.json"


@dataclass(frozen=True)
class Task:
    """One data set as the papers use it. Only the masked column has features; the auxiliary one is only read.

    hub, config: None for those to be opened as a local file; `local` then says, in a sentence, how to get it.
    splits: "train", "validation" and "test" with the hub's name of each, or None.
    columns: all columns as documented; label_names: in the order of their numbers, () where the set of labels is open.
    metric: a key of METRICS; class_majority: share in [0, 1] by `majority_from`, None where no paper gives one.
    papers: short names of those that use it; checked: columns and labels were compared with documentation; a hub id was
    never opened for it.
    label_values: {label as written: its name} where numbers from 0 do not name the labels.
    threshold: a number in the label column counts as the second label from here on; only: {column: value} of the rows
    that belong to the task.
    """

    name: str
    hub: str | None
    config: str | None
    splits: dict[str, str | None]
    local: str
    columns: tuple[str, ...]
    masked: str
    auxiliary: str | None
    label: str
    label_names: tuple[str, ...]
    metric: str
    class_majority: float | None
    majority_from: str
    citation: str
    papers: tuple[str, ...]
    checked: bool
    note: str
    label_values: dict[str, str] = field(default_factory=dict)
    threshold: float | None = None
    only: dict[str, str] = field(default_factory=dict)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which a table cannot be this task."""
        return tuple(dict.fromkeys(filter(None, (self.masked, self.auxiliary, self.label, *self.only))))

    def mapping(self) -> Mapping:
        """Which column is what, for a table that `prepare` has seen."""
        return Mapping(text=self.masked, second=self.auxiliary, label=self.label, label_names=self.label_names)

    def prepare(self, table: RawTable) -> RawTable:
        """The task's own rows, labels as names; BadData where a column is missing or no row belongs to it."""
        if not (self.only or self.label_values or self.threshold is not None):
            return table
        lacking = [column for column in self.needed if column not in table.cells]
        if lacking:
            raise BadData(
                f"{table.name}: {self.name} needs column {quoted(lacking[0])}; there are {listed(table.columns, 10)}."
            )
        notes = list(table.notes)
        rows = [
            row
            for row in range(len(table))
            if all(_written(table.cells[column][row]) == value for column, value in self.only.items())
        ]
        if not rows:
            which = ", ".join(f"{column} {value}" for column, value in self.only.items())
            raise BadData(f"{table.name}: no row has {which or 'content'} for {self.name}.")
        numbers = table.rows or range(1, len(table) + 1)
        if len(rows) < len(table):
            notes.append(f"{len(rows):,} of {len(table):,} rows belong to {self.name}.")
        cells = {column: [values[row] for row in rows] for column, values in table.cells.items()}
        if self.label_values or self.threshold is not None:
            before = cells[self.label]
            cells[self.label] = [self._named(value) for value in before]
            lost = [
                (numbers[row], old)
                for row, old, new in zip(rows, before, cells[self.label], strict=True)
                if new is None and old not in (None, "")
            ]
            notes += noted(Repair.UNKNOWN_LABEL, [row for row, _ in lost], [old for _, old in lost])
        rule = json.dumps([table.digest, self.name, self.only, self.label_values, self.threshold], sort_keys=True)
        classes = {column: names for column, names in table.classes.items() if column != self.label}
        return replace(
            table,
            cells=cells,
            notes=tuple(notes),
            classes=classes,
            digest=hashlib.sha256(rule.encode()).hexdigest(),
            rows=tuple(numbers[row] for row in rows),
        )

    def _named(self, value) -> str | None:
        if isinstance(value, str) and value.strip() in self.label_names:
            return value.strip()
        if self.threshold is None:
            return self.label_values.get(_written(value).casefold())
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return None if math.isnan(number) else self.label_names[number >= self.threshold]


@functools.cache
def tasks() -> dict[str, Task]:
    """All tasks by name, in the order of the file."""
    return {row["name"]: _task(row) for row in json.loads(FILE.read_text(encoding="utf-8"))}


def match_task(columns: Iterable[str], hub_id: str | None = None, config: str | None = None) -> Task | None:
    """The task that a table is, by its hub id or by its columns; None where several or none could be meant.

    Args:
        columns: names of the table's columns; none with a hub id goes by the id alone.
        hub_id: as on the hub; its last part alone is an old name of the same set.
        config: of the hub data set; None where it is not known.
    """
    there = set(columns)
    if hub_id is not None:
        wanted = hub_id.strip().lower()
        fitting = [
            task
            for task in tasks().values()
            if task.hub
            and wanted in (task.hub.lower(), task.hub.rpartition("/")[2].lower())
            and (None in (config, task.config) or config == task.config)
            and (not there or set(task.needed) <= there)
        ]
    else:
        # Only all documented columns and no other count: many files have a text and a label.
        fitting = [task for task in tasks().values() if set(task.needed) <= there <= set(task.columns)]
    return fitting[0] if len(fitting) == 1 else None


def _task(row: dict[str, Any]) -> Task:
    return replace(
        Task(**row),
        columns=tuple(row["columns"]),
        papers=tuple(row["papers"]),
        label_names=tuple(row["label_names"] or ()),
        label_values=row["label_values"] or {},
        only={column: _written(value) for column, value in (row["only"] or {}).items()},
    )


def _written(value) -> str:
    """A cell as one would write it: 1.0 is 1, truth values are in lower case."""
    return str(value).lower() if isinstance(value, bool) else short_text(value)
