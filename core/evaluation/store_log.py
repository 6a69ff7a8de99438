"""The rows of a study as a log of the store."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from core.storage.store import Entry, Store

if TYPE_CHECKING:
    from core.evaluation.engine import Place, Row, Run

# What a killed run loses at most.
SAVE_SECONDS = 5.0


class StoreLog:
    """The rows of a study as a log of the store, each under the digest of its `row_keys`."""

    def __init__(self, store: Store, key: str):
        self.store, self.key = store, key

    @property
    def seconds(self) -> float:
        """What a killed run loses at most."""
        return SAVE_SECONDS

    def read(self, run: "Run") -> "Iterator[tuple[int, Place, Row]]":
        """Rows of the log that are rows of the sample; the same text may be there twice."""
        segments, places = self.store.segments(self.key), {}
        for i in range(len(run.sample)) if segments else ():
            subject = run.subject(i)
            if subject is not None:
                for place, key in zip(np.ndindex(*run.study.parts), run.study.row_keys(subject)):
                    places.setdefault(bytes.fromhex(key), []).append((i, place))
        for segment in segments:
            columns = self._columns(run, segment)
            if columns is None:
                continue
            for k, name in enumerate(segment.arrays[run.study.names]):
                for i, place in places.get(name.tobytes(), ()):
                    yield i, place, {column: values[k] for column, values in columns.items()}

    def append(self, run: "Run", places: "list[tuple[int, Place]]") -> None:
        """Add rows as a segment."""
        keys, arrays, spoken, sentences = {}, {}, [], list(run.sentences)
        for i, _ in places:
            if i not in keys and (subject := run.subject(i)) is not None:
                order = np.ndindex(*run.study.parts)
                keys[i] = dict(zip(order, run.study.row_keys(subject)))
        names = b"".join(bytes.fromhex(keys[i][place]) for i, place in places)
        arrays[run.study.names] = np.frombuffer(names, dtype=np.uint8).reshape(len(places), 32)
        for name, column in run.study.columns.items():
            arrays[name] = np.stack([run.columns[name][(i, *place)] for i, place in places])
            spoken += [name] if column.sentence else []
        # Each segment stands by itself, so it has a list of its own, one for all its columns.
        used = np.unique([arrays[name] for name in spoken])
        arrays |= {name: np.searchsorted(used, arrays[name]).astype(np.int32) for name in spoken}
        self.store.append(self.key, arrays, {"sentences": [sentences[int(k)] for k in used]} if spoken else {})

    @staticmethod
    def _columns(run: "Run", segment: Entry) -> dict | None:
        """The columns of a segment, sentences as text; None where they are no rows of the study."""
        names, sentences = segment.arrays.get(run.study.names), segment.meta.get("sentences", [])
        found = {}
        for name, column in run.study.columns.items():
            values = segment.arrays.get(name)
            if names is None or values is None or len(values) != len(names) or not run.fits(name, values.shape[1:]):
                return None
            if column.sentence and not sentences:
                return None
            found[name] = [sentences[k] for k in values] if column.sentence else values
        return found
