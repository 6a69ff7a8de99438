"""What a command wrote, as values that two runs share: times aside, and numbers up to the rounding of other batches."""

import json
import re
from pathlib import Path

import numpy as np

# What differs from run to run and is no result.
_TIMES = {"seconds", "machine", "date"}


def written(path: Path, root: Path | None = None) -> dict[str, object]:
    """All files at a path by their names, hidden ones too, with what they hold that are not hidden."""
    root = root or path
    found = {}
    for one in sorted(path.iterdir()):
        if one.is_dir():
            found |= written(one, root)
        else:
            # A hidden one is none that an undisturbed run leaves.
            found[str(one.relative_to(root))] = None if one.name.startswith(".") else _content(one)
    return found


def _content(path: Path) -> object:
    data = path.read_bytes()
    if data.startswith(b"PAR1"):
        return _without_times(_rows(path))
    if path.suffix == ".json":
        return _without_times(json.loads(data))
    if path.suffix == ".safetensors":
        from safetensors.numpy import load

        return {"head": data[8:].partition(b'"__metadata__"')[2][:2000], **load(data)}
    if path.name == "README.md":
        # Its minutes, and the last column of its table of epochs.
        return re.sub(r"Trained in .*|\| \d+ \|$", "", data.decode(), flags=re.MULTILINE)
    return data


def _rows(path: Path) -> dict:
    from pyarrow import parquet

    # Without its threads: processes are forked from this one.
    with parquet.ParquetFile(path) as file:
        read = file.read(use_threads=False)
    return {"about": json.loads((read.schema.metadata or {}).get(b"faithscope", b"{}")), "rows": read.to_pydict()}


def _without_times(value):
    if isinstance(value, dict):
        return {name: _without_times(one) for name, one in value.items() if name not in _TIMES}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


def difference(found, known, where: str = "") -> str:
    """Where two such values first differ, "" where they do not."""
    if isinstance(known, dict) and isinstance(found, dict):
        if found.keys() != known.keys():
            return f"{where}: {sorted(found)} and not {sorted(known)}"
        return next(filter(None, (difference(found[name], known[name], f"{where}/{name}") for name in known)), "")
    if isinstance(known, list) and isinstance(found, list):
        if len(found) != len(known):
            return f"{where}: {len(found)} and not {len(known)}"
        pairs = enumerate(zip(found, known))
        return next(filter(None, (difference(*pair, f"{where}/{i}") for i, pair in pairs)), "")
    if isinstance(known, (float, np.ndarray)) and isinstance(found, (float, np.ndarray)):
        same = np.shape(found) == np.shape(known) and np.allclose(found, known, rtol=1e-4, atol=1e-5, equal_nan=True)
    else:
        same = type(found) is type(known) and found == known
    return "" if same else f"{where}: {found!r:.300} and not {known!r:.300}"
