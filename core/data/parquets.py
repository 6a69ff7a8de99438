"""Unpack Parquet files with an eye on their size: a thousand bytes of one can stand for gigabytes of text."""

import json
from typing import Any

MOST_ROWS, MOST_COLUMNS, MOST_UNPACKED = 2_000_000, 10_000, 500_000_000
# What a cell costs as an object of Python, whatever it holds.
_CELL = 32
# Of texts that are stored as what they share with the one before, so much is looked at in one go.
_AT_ONCE = 50_000_000


class TooMuch(ValueError):
    """A file holds more than is read; the message says more than what, as in "it holds more than 2,000,000 rows"."""


def open_parquet(content: bytes) -> Any:
    """A file as pyarrow.Table with its texts still packed: repeated ones are held once, as entries of a dictionary.

    Raises:
        TooMuch: it has too many rows, or would unpack to too much; found before much memory is taken.
        ValueError, OSError: it is damaged, or has too many columns.
    """
    import pyarrow
    from pyarrow import parquet

    def opened(packed: list[str]):
        return parquet.ParquetFile(pyarrow.BufferReader(content), read_dictionary=packed)

    # Only these parts of the header as yet: asking for a single column in a damaged one can end the whole process.
    about = opened([]).metadata
    leaves = [about.schema.column(place) for place in range(about.num_columns)]
    if len(leaves) > MOST_COLUMNS:
        raise ValueError(f"it has {len(leaves):,} columns, which is too much")
    if about.num_rows > MOST_ROWS:
        raise TooMuch(f"it holds more than {MOST_ROWS:,} rows when unpacked")
    size = about.num_rows * sum(_CELL + max(0, leaf.length) for leaf in leaves)
    _refuse(max(size, sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))))
    # Parts of lists and objects cannot be put together while packed, nor can texts be packed that build on one another.
    flat = {
        leaf.path: leaf.physical_type == "BYTE_ARRAY"
        for leaf in leaves
        if leaf.path == leaf.name and not leaf.max_repetition_level
    }
    for place, leaf in enumerate(leaves):
        if leaf.path not in flat:
            # Passes over all of it, a few values at a time, and so proves the column's header sound.
            opened([]).scan_contents([leaf.path])
            size += (_CELL + max(0, leaf.length)) * sum(
                about.row_group(group).column(place).num_values for group in range(about.num_row_groups)
            )
            _refuse(size)
            size = _texts(opened, leaf.path, size) if leaf.physical_type == "BYTE_ARRAY" else size
    packed = [path for path, is_text in flat.items() if is_text]
    try:
        table = opened(packed).read()
    except (pyarrow.ArrowNotImplementedError, OSError):
        for path in packed:
            size = _texts(opened, path, size)
        return opened([]).read()
    _refuse(size + sum(_unpacked(table.column(path)) for path in packed))
    return table


def column_values(column: Any) -> list:
    """The values of a column as Python has them, equal texts of a dictionary as one object.

    Raises:
        Exception: they have no Python value (bytes that are no text, dates out of range).
    """
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
    values = (
        column.cast(pyarrow.string()) if types.is_temporal(kind) or types.is_decimal(kind) else column
    ).to_pylist()
    return [
        value if value is None or isinstance(value, (str, int, float, list, dict)) else str(value) for value in values
    ]


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

    about = opened([]).metadata
    for group in range(about.num_row_groups):
        try:
            size += sum(map(_unpacked, opened([path]).read_row_group(group, columns=[path]).columns))
            _refuse(size)
        except (pyarrow.ArrowNotImplementedError, OSError):
            # Few at once, since each may be as long as all that is stored.
            few = min(1024, max(1, _AT_ONCE // max(1, about.row_group(group).total_byte_size)))
            for batch in opened([]).iter_batches(batch_size=few, row_groups=[group], columns=[path]):
                size += sum(map(_unpacked, batch.columns))
                _refuse(size)
    return size


def _unpacked(array) -> int:
    """Bytes of an array's values, each entry of a dictionary as often as it is used."""
    import pyarrow
    from pyarrow import compute, types

    if isinstance(array, pyarrow.ChunkedArray):
        return sum(map(_unpacked, array.chunks))
    kind = array.type
    if types.is_struct(kind):
        return sum(map(_unpacked, array.flatten()))
    if types.is_map(kind):
        return _unpacked(array.keys) + _unpacked(array.items)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _unpacked(array.flatten())
    if not types.is_dictionary(kind) or types.is_primitive(kind.value_type):
        return array.nbytes
    lengths = compute.call_function("binary_length", [array.dictionary])
    return compute.call_function("sum", [lengths.take(array.indices)]).as_py() or 0
