"""Results of one text after another, a file a text: what studies over a sample share, whoever asked first."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from core.storage.content import Content, Numbers, is_count
from core.storage.store import Entry, Key, Store, canonical_key


def _are_places(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_count, value.values()))


# Files of the store one behind another, as bytes; in the metadata the place of each, and where it ends.
_CONTENT = Content({"files": Numbers("uint8", (None,))}, {"places": _are_places})


class Shelf(Store):
    """A store for texts that are asked one after another: an entry for each pass of each would be thousands of files.

    What the store below knows of a text by itself is read, too. Of texts that were not closed nothing is kept.
    """

    def __init__(self, below: Store):
        super().__init__(below.root, below.cap_bytes)
        self.below, self.names, self.shipped = below, below.names, below.shipped
        self._key: Key | None = None
        self._held: dict[str, bytes] = {}
        self._fresh: dict[str, bytes] = {}

    def open(self, model: str, example: str) -> None:
        """Take what is known of a text in hand; model, example: digests of a model and of a text as it reads it."""
        self.close()
        self._key = canonical_key("text", 1, model=model, example=example)
        for segment in self.below.segments(self._key, _CONTENT):
            files, begin = segment.arrays["files"].tobytes(), 0
            for place, end in segment.meta["places"].items():
                self._held[place], begin = files[begin:end], end

    def close(self) -> None:
        """Keep what was added to the text in hand, and let go of it."""
        if self._key is not None and self._fresh:
            # Metadata come back in the order of their names.
            places = sorted(self._fresh)
            files = [np.frombuffer(self._fresh[place], dtype=np.uint8) for place in places]
            ends = dict(zip(places, np.cumsum([len(one) for one in files]).tolist()))
            self.below.append(self._key, {"files": np.concatenate(files)}, {"places": ends}, _CONTENT)
        self._key, self._held, self._fresh = None, {}, {}

    def _listed(self, folder: Path) -> set[str]:
        inside = f"{self._below(folder)}/"
        held = {place.removeprefix(inside) for place in self._held if place.startswith(inside)}
        return held | self.below._listed(folder)

    def _read(self, path: Path, unpack: Callable[[bytes], Entry | None]) -> Entry | None:
        data = self._held.get(self._below(path))
        found = None if data is None else unpack(data)
        return found or self.below._read(path, unpack)

    def _write(self, path: Path, data: bytes) -> None:
        place = self._below(path)
        self._held[place] = self._fresh[place] = data
