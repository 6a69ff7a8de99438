"""Archives of results as they ship: what `core.storage.shipped` reads."""

import io
import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.storage.files import read_plain, write_whole

# A date that archives can hold, so that the same results make the same bytes.
_WRITTEN = (2020, 1, 1, 0, 0, 0)


def write_shipped(root: Path, names: Iterable[str], path: Path, kept: Mapping[str, bytes] | None = None) -> int:
    """Write files of a store's folder, by their places below `root`, as an archive; the same files make the same bytes.

    Args:
        kept: files by such places that go in as they are.
    Returns:
        Bytes of the archive.
    """
    held, kept = io.BytesIO(), kept or {}
    with zipfile.ZipFile(held, "w") as archive:
        for name in sorted({*names, *kept}):
            about = zipfile.ZipInfo(name, _WRITTEN)
            about.create_system = 3
            data = kept[name] if name in kept else read_plain(root / name, os.stat(root / name).st_size)
            archive.writestr(about, data, zipfile.ZIP_DEFLATED, compresslevel=9)
    write_whole(path, held.getvalue())
    return len(held.getvalue())
