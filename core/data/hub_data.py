"""Read one split of a data set by its hub id: only its data files are fetched, and no code of the set ever runs.

The hub tells the names of a set's files; `datasets` finds configurations and splits among empty files of these names,
and then reads the few that were fetched. So its rules decide, without a look at anything that is not needed.
"""

import contextlib
import glob
import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from core.data.parsed import BadData, Repair, no_rows
from core.data.tables import A_FOLDER, RawTable
from core.storage.hub import HubError, quietly
from core.storage.hub_data_sets import INSTEAD, NO_HUB_ID, Listing, fetch_data_file, leads_out, list_data_set
from core.wording import in_short, listed, quoted, shortened

MOST_ROWS = 200_000
MOST_BYTES = 1_000_000_000
_PAGES = ("https://huggingface.co/datasets/", "huggingface.co/datasets/", "hf://datasets/")


def hub_choices(id: str) -> dict[str, list[str]]:
    """Configurations of a hub data set and the splits of each, in its order; BadData as `read_hub`."""
    name = _hub_id(id)
    with _plain_errors(name), _as_folder(list_data_set(name)) as folder:
        return {config: list(map(str, _builder(folder, config).config.data_files or {})) for config in _configs(folder)}


def read_hub(id: str, config: str | None = None, split: str = "validation") -> RawTable:
    """Read one split of a hub data set, at most the first MOST_ROWS rows.

    Args:
        id: as on the hub, such as "nyu-mll/glue".
        config: None takes the only one, or the one that the set marks as default.
    Returns:
        The table; its digest covers id, configuration, split, revision and all cells; its notes say what was left out.
    Raises:
        BadData: a sentence: no network, unknown, private or gated id, loading script, no such configuration or split
            (it names those there are), files that are too large or damaged.
    """
    name = _hub_id(id)
    with _plain_errors(name):
        listing = list_data_set(name)
    with _plain_errors(name), _as_folder(listing) as folder:
        config = _chosen(listing.id, config, _configs(folder), folder)
        files = dict(_builder(folder, config).config.data_files or {})
        if split not in files:
            raise BadData(
                f"{_called(listing.id, config)} has no split {quoted(split)}; it has {listed(files, 20) or 'none'}."
            )
        names = [Path(file).resolve().relative_to(folder).as_posix() for file in files[split]]
        filled = _filled(folder.parent / "split", listing, config, split, names)
        cells, classes, dropped = _cells(filled, config, split)
    more = any(len(values) > MOST_ROWS for values in cells.values())
    cells = {column: values[:MOST_ROWS] for column, values in cells.items()}
    if not cells or not next(iter(cells.values())):
        raise no_rows(f"{_called(listing.id, config)}, split {quoted(split)},")
    notes = [*listing.notes]
    notes += [f"{Repair.LOST_COLUMNS} {listed(dropped)}."] if dropped else []
    notes += [f"{Repair.FIRST_ROWS}: {MOST_ROWS:,}."] if more else []
    name = " ".join(filter(None, (listing.id, config if config != "default" else None, split)))
    return RawTable(name, tuple(cells), cells, _digest(listing, config, split, cells), tuple(notes), classes)


def _hub_id(id: str) -> str:
    name = id.strip() if isinstance(id, str) else ""
    page = next((page for page in _PAGES if name.startswith(page)), "")
    name = "/".join(name.removeprefix(page).split("/")[:2]) if page else name
    try:
        place = Path(name).expanduser()
        folder, there = place.is_dir(), place.exists()
    except (OSError, RuntimeError, ValueError):
        folder = there = False
    if folder and name:
        raise BadData(f"{quoted(name)} {A_FOLDER}")
    if not name or there or name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1:
        raise BadData(f"{quoted(name)} {NO_HUB_ID}")
    return name


@contextlib.contextmanager
def _as_folder(listing: Listing):
    """A folder that looks like the data set, its data files empty: enough to find configurations and splits."""
    if not listing.sizes:
        raise BadData(f"{quoted(listing.id)} holds no tables. {INSTEAD}")
    places = [[entry.get("data_files"), entry.get("data_dir")] for entry in _entries(listing.card, "configs")]
    outside = list(filter(leads_out, _named(places)))
    if outside:
        raise BadData(f"The card names files from elsewhere ({listed(outside)}). {INSTEAD}")
    with tempfile.TemporaryDirectory(prefix="faithscope-") as place:
        folder = Path(place).resolve() / "data"
        for name in listing.sizes:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        _write_card(folder, _only_there(listing.card, listing.sizes))
        yield folder


def _named(files) -> list[str]:
    """The names and patterns among what a card may say of its files: one, several, or some for each split."""
    if isinstance(files, str):
        return [files]
    if isinstance(files, dict):
        files = [files["path"]] if "path" in files else list(files.values())
    return [name for part in files for name in _named(part)] if isinstance(files, list) else []


def _write_card(folder: Path, card: dict) -> None:
    # JSON is YAML; what has no place in JSON, such as a date, becomes text.
    if card:
        (folder / "README.md").write_text(f"---\n{json.dumps(card, default=str)}\n---\n", encoding="utf-8")


def _only_there(card: dict, names: Iterable[str]) -> dict:
    """The card without splits whose files are not there: `datasets` refuses the whole set for one of them."""

    def there(patterns: Any) -> bool:
        wanted = [patterns] if isinstance(patterns, str) else [str(pattern) for pattern in patterns or ()]
        return any(
            fnmatch(name, pattern.removeprefix("./").replace("**/", "*")) for name in names for pattern in wanted
        )

    configs = []
    for config in _entries(card, "configs"):
        files = config.get("data_files")
        if isinstance(files, list) and all(isinstance(entry, dict) for entry in files) and not config.get("data_dir"):
            files = [entry for entry in files if there(entry.get("path"))]
            config = {**config, "data_files": files}
        if files != []:
            configs.append(config)
    kept = {key: value for key, value in card.items() if key != "configs"}
    return {**kept, "configs": configs} if configs else kept


def _configs(folder: Path) -> list[str]:
    from datasets import get_dataset_config_names

    return list(get_dataset_config_names(str(folder)))


def _chosen(id: str, config: str | None, there: list[str], folder: Path) -> str:
    from datasets import get_dataset_default_config_name

    if config is None:
        config = there[0] if len(there) == 1 else get_dataset_default_config_name(str(folder))
        if config is None:
            raise BadData(f"{quoted(id)} has several configurations; choose one of {listed(there, 60)}.")
    elif config not in there:
        raise BadData(f"{quoted(id)} has no configuration {quoted(config)}; it has {listed(there, 60)}.")
    return config


def _builder(folder: Path, config: str):
    from datasets import load_dataset_builder

    return load_dataset_builder(str(folder), config, cache_dir=str(folder.parent / "cache"))


def _filled(folder: Path, listing: Listing, config: str, split: str, names: list[str]) -> Path:
    """A folder with the real files of one split: of Parquet no more than hold MOST_ROWS rows and one."""
    from pyarrow.parquet import ParquetFile

    rows = size = 0
    used = []
    for name in names:
        size += listing.sizes[name]
        if size > MOST_BYTES:
            raise BadData(f"This split holds more than {MOST_BYTES // 1_000_000:,} MB. {INSTEAD}")
        held = listing.fetched
        real = held / name if held else fetch_data_file(listing.id, name, listing.revision or None)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.symlink(real.resolve(), folder / name)
        except OSError:
            shutil.copyfile(real, folder / name)
        used.append(name)
        rows += ParquetFile(real).metadata.num_rows if name.lower().endswith(".parquet") else 1
        if name.lower().endswith(".parquet") and rows > MOST_ROWS:
            break
    if not rows:
        raise no_rows(f"{_called(listing.id, config)}, split {quoted(split)},")
    # Only this split is named: `datasets` looks into every split that a card names, even to read another.
    about = next((entry for entry in _entries(listing.card, "configs") if entry.get("config_name") == config), {})
    about = {key: value for key, value in about.items() if key not in ("data_dir", "default")}
    about |= {"config_name": config, "data_files": [{"split": split, "path": [glob.escape(name) for name in used]}]}
    infos = [info for info in _entries(listing.card, "dataset_info") if info.get("config_name", "default") == config]
    _write_card(folder, {"configs": [about], "dataset_info": infos} if infos else {"configs": [about]})
    return folder


def _entries(card: dict, part: str) -> list[dict]:
    """The objects in a part of a card, which may be one or several."""
    found = card.get(part)
    return [entry for entry in (found if isinstance(found, list) else [found]) if isinstance(entry, dict)]


def _cells(folder: Path, config: str, split: str) -> tuple[dict[str, list], dict[str, tuple[str, ...]], list[str]]:
    """Cells of the first rows (one more than asked, where there is one), names of classes, columns left out."""
    from datasets import ClassLabel, LargeList, List, Value

    with quietly():
        found = _opened(folder, config, split)
        # CSV and JSON tell their columns only when they are read.
        features = found.features or next(iter(found.take(1)), {})
        dropped = [
            column
            for column, kind in features.items()
            if found.features and not isinstance(kind, ClassLabel | Value | List | LargeList | dict | list)
        ]
        found = found.remove_columns(dropped) if dropped else found
        cells: dict[str, list] = {column: [] for column in features if column not in dropped}
        for batch in found.iter(batch_size=1000):
            for column, values in cells.items():
                values += map(_plain, batch[column])
            if cells and len(values) > MOST_ROWS:
                break
    classes = {
        column: tuple(kind.names)
        for column, kind in (found.features or {}).items()
        if isinstance(kind, ClassLabel) and kind.names
    }
    if any(path.suffix.lower() in (".csv", ".tsv") for path in folder.rglob("*")):
        cells = {column: _whole(values) for column, values in cells.items()}
    return {column: values[: MOST_ROWS + 1] for column, values in cells.items()}, classes, dropped


def _opened(folder: Path, config: str, split: str):
    """A split as `datasets` has it, with its kinds of columns; of Parquet the first rows, read by pyarrow alone."""
    from datasets import Dataset, Features, load_dataset
    from datasets.table import table_cast
    from pyarrow import Table, concat_tables
    from pyarrow.parquet import ParquetFile, filters_to_expression

    builder = _builder(folder, config)
    files = list(map(str, builder.config.data_files[split]))
    if not all(file.lower().endswith(".parquet") for file in files):
        return load_dataset(str(folder), config, split=split, streaming=True, cache_dir=str(folder.parent / "cache"))
    # `datasets` would give the threads of Arrow an open file of Python's, by which processes hang and crash
    # (apache/arrow#45214); a path they open themselves.
    opened = [ParquetFile(file) for file in files]
    features = builder.info.features or Features.from_arrow_schema(opened[0].schema_arrow)
    # A card may leave out columns, and rows by any column.
    columns, left = builder.config.columns, builder.config.filters
    features = Features({name: kind for name, kind in features.items() if name in (columns or features)})
    tables, rows, read = [features.arrow_schema.empty_table()], 0, None if left else columns
    for batch in (part for file in opened for part in file.iter_batches(1000, columns=read, use_threads=False)):
        table = Table.from_batches([batch])
        table = table.filter(filters_to_expression(left)) if left else table
        table = table.select([name for name in table.column_names if name in columns]) if columns else table
        tables.append(table_cast(table, features.arrow_schema))
        rows += len(table)
        if rows > MOST_ROWS:
            break
    return Dataset(concat_tables(tables))


def _whole(values: list) -> list:
    """Whole numbers with gaps, which CSV readers widen to fractions, as whole numbers again."""
    if None in values and all(value is None or (isinstance(value, float) and value.is_integer()) for value in values):
        return [None if value is None else int(value) for value in values]
    return values


def _plain(value):
    """A cell as a table holds it: text, number, truth, nothing, or what JSON nests of these."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    return str(value)


def _digest(listing: Listing, config: str, split: str, cells: dict[str, list]) -> str:
    total = hashlib.sha256(json.dumps([listing.id, config, split, listing.revision]).encode())
    for column, values in cells.items():
        total.update(json.dumps([column, values], ensure_ascii=True).encode())
    return total.hexdigest()


@contextlib.contextmanager
def _plain_errors(id: str):
    """What `datasets` and pyarrow raise about a set's files becomes one sentence."""
    try:
        yield
    except BadData:
        raise
    except HubError as error:
        raise BadData(str(error)) from error.__cause__
    except Exception as error:
        cause = error.__cause__ or error
        raise BadData(f"{quoted(id)} cannot be read as tables ({in_short(cause)}). {INSTEAD}") from error


def _called(id: str, config: str) -> str:
    return quoted(id) if config == "default" else f"{quoted(id)} ({shortened(config)})"
