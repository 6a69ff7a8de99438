"""The rows of a study as a log of the store."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from core.storage.content import ROWS, Content, Numbers
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
        segments, places = self.store.segments(self.key, _content(run)), {}
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
                    row = {column: values[k] for column, values in columns.items()}
                    if run.study.fits(run.explainer, place, row):
                        yield i, place, row

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
        meta = {"sentences": [sentences[int(k)] for k in used]} if spoken else {}
        self.store.append(self.key, arrays, meta, _content(run))

    @staticmethod
    def _columns(run: "Run", segment: Entry) -> dict | None:
        """The columns of a segment, sentences as text; None where they are not as long as those before."""
        found = {}
        for name, column in run.study.columns.items():
            values = segment.arrays[name]
            if not run.fits(name, values.shape[1:]):
                return None
            found[name] = [segment.meta["sentences"][k] for k in values] if column.sentence else values
        return found


def _content(run: "Run") -> Content:
    """What a segment of a study's log holds: the names of its rows, their columns, and the sentences that they say."""
    study = run.study
    rows, spoken = study.content(run.explainer), [name for name, column in study.columns.items() if column.sentence]

    def agrees(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bool:
        most = len(meta["sentences"]) if spoken else 0
        return all((arrays[name] < most).all() for name in spoken) and rows.agrees(arrays, meta)

    arrays = {name: numbers.rows() for name, numbers in rows.arrays.items()}
    said = {"sentences": _are_sentences} if spoken else {}
    return Content({study.names: Numbers("uint8", (ROWS, 32))} | arrays, {**rows.meta, **said}, rows.optional, agrees)


def _are_sentences(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(sentence, str) for sentence in value)
