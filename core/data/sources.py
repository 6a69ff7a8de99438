"""Where examples come from: what ships with the project and what people add, each under a key that stays the same.

Whatever is added is kept as one file in the library, so that opening it again needs no network.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from core.data.examples import DataSet, bundled_data, bundled_set
from core.data.guessing import guess_mapping
from core.data.mapping import Mapping, Named, build, not_guessed
from core.data.parsed import BadData, Repair, noted
from core.data.tables import LabelledTexts, RawTable, read_file, read_table
from core.data.tasks import Task, match_task, tasks
from core.storage.library import FILE_BYTES, Library
from core.wording import listed, quoted

# Rows that no file holds as they are (of a hub, or a part of a file) are kept as JSON Lines with their numbers.
_ROWS, _NUMBER = ".rows.jsonl", "faithscope row"
Told = Callable[[str], object]
_DAMAGED = "The kept data set is gone or damaged. Add it again."


@dataclass(frozen=True)
class DataSource:
    """A data set that was added: its name, its file in the library, and how its columns are understood.

    file: SHA-256 of the content; suffix: its kind; classes: {column: names of its numbered classes}; origin: where it
    came from, a few words for people; notes: what was repaired, where reading the file again does not say it.
    """

    name: str
    file: str
    suffix: str
    mapping: Mapping
    classes: dict[str, tuple[str, ...]]
    origin: str
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Name and eight hex digits over content and mapping: the same on every machine."""
        about = json.dumps([self.file, self.mapping.as_dict(), self.classes], sort_keys=True)
        return f"{self.name}@{hashlib.sha256(about.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"

    def as_dict(self) -> dict:
        """JSON for the library."""
        classes = {column: list(names) for column, names in self.classes.items()}
        return asdict(self) | {"mapping": self.mapping.as_dict(), "classes": classes, "notes": list(self.notes)}

    @classmethod
    def from_dict(cls, found: dict) -> "DataSource":
        """Read what `as_dict` wrote; BadData where it is something else."""
        try:
            name, file, suffix, origin = (found[part] for part in ("name", "file", "suffix", "origin"))
            classes = {column: tuple(map(str, names)) for column, names in found["classes"].items()}
            if not all(isinstance(text, str) for text in (name, file, suffix, origin)):
                raise TypeError("expected texts")
        except (KeyError, TypeError, AttributeError) as error:
            raise BadData(_DAMAGED) from error
        notes = found.get("notes")
        return cls(
            name,
            file,
            suffix,
            Mapping.from_dict(found.get("mapping")),
            classes,
            origin,
            tuple(map(str, notes)) if isinstance(notes, list) else (),
        )


def keep(library: Library, table: RawTable, mapping: Mapping, origin: str, content: bytes | None = None) -> DataSource:
    """Put a table into the library so that it is there at the next start.

    Args:
        table: as it was read; mapping: what its columns mean.
        origin: where it came from, for people.
        content: the file's own bytes, so that the kept file is the same; None writes the cells as JSON Lines.
    Raises:
        BadData: nothing usable in it with this mapping.
    """
    build(table, mapping)
    made = content is None
    suffix = _ROWS if made else f".{table.name.rpartition('.')[2].lower()}"
    digest = library.put_file(_as_json_lines(table) if made else content, suffix)
    problem = library.last_problem
    source = DataSource(table.name, digest, suffix, mapping, dict(table.classes), origin, table.notes if made else ())
    try:
        library.add_data(source.key, source.as_dict())
    except ValueError as error:
        raise BadData(f"{table.name} has too many class names or columns. Leave some out.") from error
    # A file that is not kept is worth saying, though its description is.
    library.last_problem = library.last_problem or problem
    return source


def forget_data(library: Library, key: str) -> None:
    """Take a data set off the list, and delete its file unless another data set reads it."""
    file = library.data().get(key, {}).get("file")
    library.remove_data(key)
    if file and all(about.get("file") != file for about in library.data().values()):
        library.remove_file(file)


def name_labels(library: Library, key: str, names: tuple[str, ...]) -> str:
    """Add the same data under other names of its labels 0, 1, …, beside what is there; its key.

    KeyError where the data is no longer there, BadData where its description is damaged.
    """
    found = DataSource.from_dict(library.data()[key])
    source = replace(found, mapping=replace(found.mapping, label_names=names))
    library.add_data(source.key, source.as_dict())
    return source.key


def understand(
    table: RawTable, task: Task | None = None, named: Named | None = None
) -> tuple[RawTable, Mapping, Task | None]:
    """The table (a task's own rows), what its columns mean, and its task or None; BadData where no column is text.

    named: columns that are not guessed.
    """
    found = task or match_task(table.columns)
    if found is not None and set(found.needed) <= set(table.columns):
        try:
            prepared = found.prepare(table)
            build(prepared, found.mapping())
            return prepared, replace(found.mapping(), **not_guessed(named)), found
        except BadData:
            # Columns of the same names may hold something else; a task that was asked for is not guessed.
            if task is not None:
                raise
    return table, guess_mapping(table, named), None


def read_data(
    source: Path | RawTable, told: Told, named: Named | None = None, classes: tuple[str, ...] = ()
) -> tuple[RawTable, Mapping, DataSet]:
    """A file or table, what its columns mean, and its examples.

    told: called with each sentence on what was guessed, repaired or left out. classes: names that its labels are, or
    number from 0. BadData as `read_table` and `build`.
    """
    table, mapping, _ = understand(source if isinstance(source, RawTable) else read_table(source), named=named)
    mapping = replace(mapping, label_names=classes) if classes and mapping.label is not None else mapping
    data = build(table, mapping)
    columns = ", ".join(f"{role} {quoted(column)}" for role, column in mapping.roles.items() if column)
    for note in (f"Columns: {columns}.", *data.notes):
        told(f"{data.name}: {note}")
    return table, mapping, data


def read_labelled(
    path: Path, told: Told, named: Named | None = None, classes: tuple[str, ...] = (), labelled: bool = True
) -> LabelledTexts:
    """A file's examples for fitting, as `read_data`: those with a label, or all, under no class.

    classes: () takes the file's own. BadData: there is no label, or one of no class.
    """
    table, mapping, data = read_data(path, told, named, classes)
    examples = [one for one in data.examples if not labelled or one.label is not None]
    if not examples:
        raise BadData(f"{data.name} has no labels. Name their column: {listed(table.columns, 10)}.")
    unknown = next((note for note in data.notes if labelled and note.startswith(Repair.UNKNOWN_LABEL)), None)
    if unknown is not None:
        raise BadData(f"{data.name}: {unknown} The classes are {listed(data.classes, 20)}. Correct it.")
    rows = dict(zip((one.id for one in data.examples), data.rows))
    kept = [rows.pop(one.id) for one in examples]
    for note in noted(Repair.UNUSED, list(rows.values())):
        told(f"{data.name}: {note}")
    classes = data.classes if labelled else ()
    labels = np.array([classes.index(cast(str, one.label)) if labelled else 0 for one in examples], dtype=np.int64)
    seconds = None if mapping.second is None else [one.second or "" for one in examples]
    texts = [one.text for one in examples]
    return LabelledTexts(texts, seconds, labels, classes, data.name, table.digest, kept, mapping.roles)


def from_setting(library: Library, asked: str) -> DataSource:
    """Find what a setting names: a file, a task by its name, or a hub id `owner/name`, `owner/name:config:split`.

    What was fetched once is not fetched again.

    Raises:
        BadData: there is no such thing, or it cannot be read; the message says what to do.
    """
    path = _file(asked)
    if path is not None:
        content, name = read_file(path, most_bytes=FILE_BYTES)
        return _keep_understood(library, read_table(content, name), None, f"file {path}", content)
    task = tasks().get(asked)
    if task is None and ("/" not in asked or asked.startswith((".", "/", "~"))):
        raise BadData(
            f"There is no file or task {quoted(asked)}. Give a file, a hub id or one of {', '.join(tasks())}."
        )
    if task is not None:
        if task.hub is None:
            raise BadData(task.local)
        split = next(filter(None, map(task.splits.get, ("test", "validation", "train"))))
        return from_hub(library, task.hub, task.config, split, task)
    hub, _, rest = asked.partition(":")
    config, _, split = rest.partition(":")
    return from_hub(library, hub, config or None, split or "validation")


def from_hub(library: Library, hub: str, config: str | None, split: str, task: Task | None = None) -> DataSource:
    """A split of a hub data set, from the library where it was fetched before; BadData as `read_hub` and `build`."""
    origin = hub_origin(hub, config, split, task)
    for about in library.data().values():
        if about.get("origin") == origin:
            return DataSource.from_dict(about)
    from core.data.hub_data import read_hub

    return _keep_understood(library, read_hub(hub, config, split), task or match_task((), hub, config), origin, None)


def hub_origin(hub: str, config: str | None, split: str, task: Task | None = None) -> str:
    """What stands as the origin of a hub data set; several tasks may be parts of one."""
    return (
        f"hub data set {hub}{f', {config}' if config else ''}, {split}{f' ({task.name})' if task is not None else ''}"
    )


def _file(asked: str) -> Path | None:
    try:
        path = Path(asked).expanduser()
        return path if path.is_file() else None
    except (ValueError, OSError, RuntimeError):
        return None


def _keep_understood(
    library: Library, table: RawTable, task: Task | None, origin: str, content: bytes | None
) -> DataSource:
    prepared, mapping, _ = understand(table, task)
    return keep(library, prepared, mapping, origin, content if prepared is table else None)


def listed_data(library: Library) -> dict[str, str]:
    """Keys of all data sets, shipped and added, and what each holds."""
    found = dict(bundled_data())
    for key, about in library.data().items():
        try:
            found[key] = DataSource.from_dict(about).origin
        except BadData:
            continue
    return found


def open_data(library: Library, key: str) -> DataSet:
    """Read a data set by its key; KeyError where there is none, BadData where its file is gone or damaged."""
    if key in bundled_data():
        return bundled_set(key)
    source = DataSource.from_dict(library.data()[key])
    content = library.get_file(source.file)
    if content is None:
        raise BadData(_DAMAGED)
    made = source.suffix == _ROWS
    table = _numbered(read_table(content, "rows.jsonl"), source) if made else read_table(content, source.name)
    # Numbered classes were named by the first place, which the file does not remember.
    table = replace(table, name=source.name, classes={**table.classes, **source.classes})
    return replace(build(table, source.mapping), name=source.name)


def _numbered(table: RawTable, source: DataSource) -> RawTable:
    """Rows as they were kept: their numbers come back from their own column."""
    numbers = table.cells.get(_NUMBER, [])
    columns = tuple(column for column in table.columns if column != _NUMBER)
    return replace(
        table,
        columns=columns,
        cells={column: table.cells[column] for column in columns},
        notes=source.notes,
        rows=tuple(numbers) if all(isinstance(n, int) for n in numbers) else (),
    )


def _as_json_lines(table: RawTable) -> bytes:
    numbers = table.rows or range(1, len(table) + 1)
    rows = (
        {_NUMBER: number} | dict(zip(table.columns, values))
        for number, values in zip(numbers, zip(*(table.cells[column] for column in table.columns)))
    )
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows).encode("ascii")
