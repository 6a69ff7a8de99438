"""Unpack Parquet files with an eye on their size: a thousand bytes of one can stand for gigabytes of text."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

MOST_ROWS, MOST_COLUMNS, MOST_UNPACKED = 600_000, 10_000, 500_000_000
# A text as long as the longest file that is uploaded; reading one takes many times its size.
MOST_CELL = 10_000_000
# Columns times row groups: each takes part of a millisecond, whatever it holds.
MOST_CHUNKS = 30_000
# Texts that people wrote are packed ten times, hardly ever a hundred times; less than so much does no harm.
_MOST_PACKED, _HARMLESS = 200, 50_000_000
# What a cell costs as an object of Python, whatever it holds.
_CELL = 32
# Of texts that are stored as what they share with the one before, so much is looked at in one go.
_AT_ONCE = 50_000_000


class TooMuch(ValueError):
    """A file holds more than is read; the message says more than what, as in "it holds more than 2,000,000 rows"."""

    def __init__(self, what: str, advice: str = "Split it."):
        super().__init__(what)
        self.advice = advice

    def said_of(self, name: str) -> str:
        """The same as a sentence about a file, with what to do."""
        return f"{name} {str(self).removeprefix('it ')}. {self.advice}"


def check_count(count: int) -> None:
    """TooMuch where a table has more rows than are read."""
    if count > MOST_ROWS:
        raise TooMuch(f"it holds more than {MOST_ROWS:,} rows")


def check_columns(count: int) -> None:
    """TooMuch where a table has more columns than are read."""
    if count > MOST_COLUMNS:
        raise TooMuch(f"it has {count:,} columns, over {MOST_COLUMNS:,}", "Leave some out.")


def open_parquet(content: bytes) -> Any:
    """A file as pyarrow.Table with its texts still packed: repeated ones are held once, as entries of a dictionary.

    Raises:
        TooMuch: it has too many rows or columns, a cell is too long, or it would unpack to too much; found before
            much memory is taken.
        ValueError, OSError: it is damaged.
    """
    import pyarrow
    from pyarrow import parquet

    def opened(packed: list[str]) -> parquet.ParquetFile:
        return parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=packed)

    # Only these parts of the header as yet: asking for a single column in a damaged one can end the whole process.
    about = opened([]).metadata
    leaves = [about.schema.column(place) for place in range(about.num_columns)]
    groups = [about.row_group(group) for group in range(min(about.num_row_groups, MOST_CHUNKS + 1))]
    size = _checked_size(about.num_rows, leaves, groups, len(content))
    # Parts of lists and objects cannot be put together while packed, nor can texts be packed that build on one another.
    # Nor is a name that several columns have the name of one.
    named = Counter(leaf.path if leaf.path == leaf.name else leaf.path.split(".")[0] for leaf in leaves)
    flat = {
        leaf.path: leaf.physical_type == "BYTE_ARRAY"
        for leaf in leaves
        if leaf.path == leaf.name and not leaf.max_repetition_level and named[leaf.path] == 1
    }
    for place, leaf in enumerate(leaves):
        if leaf.path not in flat:
            # Passes over all of it, a few values at a time, and so proves the column's header sound.
            opened([]).scan_contents([leaf.path])
            size += (_CELL + max(0, leaf.length)) * sum(group.column(place).num_values for group in groups)
            _refuse(size)
            size = _texts(opened, leaf.path, size) if leaf.physical_type == "BYTE_ARRAY" else size
    packed = [path for path, is_text in flat.items() if is_text]
    try:
        table = opened(packed).read()
    except (pyarrow.ArrowNotImplementedError, OSError):
        for path in packed:
            size = _texts(opened, path, size)
        table, packed = opened([]).read(), []
    _refuse(size + sum(_unpacked(table.column(path)) for path in packed))
    if any(_longest(column) > MOST_CELL for column in table.columns):
        raise TooMuch(f"it holds a cell of more than {MOST_CELL // 1_000_000} MB", "Leave it out.")
    return table


def _checked_size(rows: int, leaves: list, groups: list, packed: int) -> int:
    """Bytes that the cells take at least; TooMuch by what the header says; packed: bytes of the file."""
    check_columns(len(leaves))
    if len(leaves) * len(groups) > MOST_CHUNKS:
        raise TooMuch(f"it has over {MOST_CHUNKS:,} column chunks", "Use fewer row groups.")
    check_count(rows)
    size = rows * sum(_CELL + max(0, leaf.length) for leaf in leaves)
    unpacked = sum(group.total_byte_size for group in groups)
    _refuse(max(size, unpacked))
    if unpacked > max(_HARMLESS, _MOST_PACKED * packed):
        raise TooMuch(f"it unpacks to more than {_MOST_PACKED} times its size", "Save it as CSV.")
    return size


def column_values(column: Any) -> list:
    """The values of a column as Python has them; an exception where they have none, as dates out of range."""
    import pyarrow
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
        return [
            None if place is None else known[place]
            for chunk in chunks
            for known in [column_values(chunk.dictionary)]
            for place in chunk.indices.to_pylist()
        ]
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return [None if value is None else value.decode("utf-8") for value in column.to_pylist()]
    values = column.cast(pyarrow.string()) if types.is_temporal(kind) or types.is_decimal(kind) else column
    return [_plain(value) for value in values.to_pylist()]


def _plain(value: Any) -> Any:
    """A value as JSON has it, and whatever it holds: bytes as text, pairs of a map as lists."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def class_names(metadata: dict) -> dict[str, tuple[str, ...]]:
    """Names of numbered classes in the header that `datasets` writes; {} if it is not as expected."""
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        return {
            column: tuple(map(str, feature["names"]))
            for column, feature in features.items()
            if isinstance(feature, dict)
            and feature.get("_type") == "ClassLabel"
            and isinstance(feature.get("names"), list)
        }
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}


def _refuse(size: int) -> None:
    if size > MOST_UNPACKED:
        raise TooMuch(f"it holds more than {MOST_UNPACKED // 1_000_000} MB when unpacked")


def _texts(opened, path: str, size: int) -> int:
    """Bytes of the texts of a column, added to `size`; TooMuch as soon as they are too many."""
    import pyarrow

    # Opened once: each opening goes through all groups.
    plain, packed = opened([]), opened([path])
    about = plain.metadata
    for group in range(about.num_row_groups):
        try:
            size += sum(map(_unpacked, packed.read_row_group(group, columns=[path]).columns))
            _refuse(size)
        except (pyarrow.ArrowNotImplementedError, OSError):
            # Few at once, since each may be as long as all that is stored.
            few = min(1024, max(1, _AT_ONCE // max(1, about.row_group(group).total_byte_size)))
            for batch in plain.iter_batches(batch_size=few, row_groups=[group], columns=[path]):
                size += sum(map(_unpacked, batch.columns))
                _refuse(size)
    return size


def _unpacked(array) -> int:
    """Bytes of an array's values, each entry of a dictionary as often as it is used."""
    from pyarrow import compute, types

    size = 0
    for part in _parts(array):
        if not types.is_dictionary(part.type) or types.is_primitive(part.type.value_type):
            size += part.nbytes
        else:
            lengths = compute.call_function("binary_length", [part.dictionary])
            size += compute.call_function("sum", [lengths.take(part.indices)]).as_py() or 0
    return size


def _longest(array) -> int:
    """Bytes of the longest text of an array."""
    from pyarrow import compute, types

    values = [part.dictionary if types.is_dictionary(part.type) else part for part in _parts(array)]
    binary = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary)
    texts = [part for part in values if any(kind(part.type) for kind in binary)]
    lengths = (compute.call_function("binary_length", [part]) for part in texts)
    return max((compute.call_function("max", [part]).as_py() or 0 for part in lengths), default=0)


def _parts(array) -> Iterator:
    """An array's values without lists and objects around them, array by array."""
    import pyarrow
    from pyarrow import types

    if isinstance(array, pyarrow.ChunkedArray):
        inner = array.chunks
    elif types.is_struct(array.type):
        inner = array.flatten()
    elif types.is_map(array.type):
        inner = [array.keys, array.items]
    elif types.is_list(array.type) or types.is_large_list(array.type) or types.is_fixed_size_list(array.type):
        inner = [array.flatten()]
    else:
        yield array
        return
    for part in inner:
        yield from _parts(part)
