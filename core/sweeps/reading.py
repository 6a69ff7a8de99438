"""Tables that a sweep wrote, read back."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.settings import BUNDLED
from core.storage.files import read_plain
from core.sweeps.registry import Line, sweep_tables
from core.wording import in_short

# The sweep that ships.
SHIPPED = BUNDLED / "computed" / "sweep"
_MOST_BYTES = 100_000_000


@dataclass(frozen=True, eq=False)
class ReadSweep:
    """lines: of each table that is there, by its name; facts: where they come from."""

    lines: dict[str, list[Line]]
    facts: dict[str, Any]


def read_tables(folder: Path) -> ReadSweep:
    """The tables in a sweep's folder; ValueError for one without, or with what cannot be read."""
    lines: dict[str, list[Line]] = {}
    facts: dict[str, Any] = {}
    for name, table in sweep_tables().items():
        path = folder / f"{name}.parquet"
        if not path.is_file():
            continue
        found, about = _read(path)
        needed = {*table.down, *table.values, *([table.across] if table.across else ())}
        if not found or needed - {*found[0]} or facts.get("configuration_sha256", about[_KEY]) != about[_KEY]:
            raise ValueError(f"{path.name} is of another sweep or version; run the sweep again")
        lines[name], facts = found, about
    if not lines:
        raise ValueError(f"{folder.name} holds no sweep; name the folder that python -m core sweep wrote")
    return ReadSweep(lines, facts)


_KEY = "configuration_sha256"


def _read(path: Path) -> tuple[list[Line], dict[str, Any]]:
    import pyarrow
    from pyarrow import parquet

    try:
        found = parquet.read_table(pyarrow.BufferReader(read_plain(path, _MOST_BYTES)))
        about = json.loads((found.schema.metadata or {})[b"faithscope"])
        if not isinstance(about[_KEY], str):
            raise ValueError(f"no {_KEY}")
        return found.to_pylist(), about
    except (OSError, ValueError, KeyError, TypeError, pyarrow.ArrowException) as error:
        raise ValueError(f"{path.name} cannot be read ({in_short(error)}); run the sweep again") from error
