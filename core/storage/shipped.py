"""Results that ship with the project: files of the store in one archive, read where the store has none of its own."""

import functools
import io
import threading
import zipfile
import zlib
from pathlib import Path

from core.settings import BUNDLED
from core.storage.files import read_plain

RESULTS = BUNDLED / "computed" / "results.zip"
# What ships is far smaller; a file put in its place is not read into memory.
_MOST_BYTES = 50_000_000
_BROKEN = (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, MemoryError, ValueError)


class Shipped:
    """An archive of files as a `core.storage.store.Store` lays them out; one that cannot be read holds nothing.

    What is read is believed no more than the store's own files: it has their seals, and is asked for with a content.
    """

    def __init__(self, path: Path):
        self.path = path
        self._guard = threading.Lock()

    def read(self, name: str) -> bytes | None:
        """The bytes of a file by its place below the store's root; None if there is none that is whole."""
        with self._guard:
            archive, _ = self._opened
            try:
                return None if archive is None else archive.read(name)
            except (KeyError, *_BROKEN):
                return None

    def files(self, folder: str) -> list[str]:
        """The names of the files in a folder below the store's root, sorted."""
        with self._guard:
            return self._opened[1].get(folder, [])

    def everything(self) -> dict[str, bytes]:
        """Every file that is whole, by its place below the store's root."""
        found = {
            f"{folder}/{name}": self.read(f"{folder}/{name}")
            for folder, names in self._opened[1].items()
            for name in names
        }
        return {name: data for name, data in found.items() if data is not None}

    @functools.cached_property
    def _opened(self) -> tuple[zipfile.ZipFile | None, dict[str, list[str]]]:
        # Held in memory: it is small, and a file that stays open is one that Windows does not let go of.
        try:
            archive = zipfile.ZipFile(io.BytesIO(read_plain(self.path, _MOST_BYTES)))
        except _BROKEN:
            return None, {}
        files: dict[str, list[str]] = {}
        for name in sorted(archive.namelist()):
            folder, _, file = name.rpartition("/")
            files.setdefault(folder, []).append(file)
        return archive, files
