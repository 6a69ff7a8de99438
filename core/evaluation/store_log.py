"""The rows of a study as a log of the store, and packed, as they ship."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from core.evaluation.engine import Run
from core.evaluation.study import Place, Row
from core.storage.content import ROWS, Content, Numbers
from core.storage.store import Entry, Store, canonical_key

# What a killed run loses at most.
SAVE_SECONDS = 5.0
# Bytes of a packed row's name: no two of a study's rows that anybody asks for begin alike.
_SHORT = 8
# A number of single precision, byte by byte.
_SINGLE = np.dtype(">f4")


def short_name(key: str) -> str:
    """What a row is kept under where it is packed, of its key."""
    return key[: 2 * _SHORT]


class StoreLog:
    """The rows of a study as a log of the store, each under the digest of its `row_keys`."""

    def __init__(self, store: Store, key: str):
        self.store, self.key = store, key

    @property
    def seconds(self) -> float:
        """What a killed run loses at most."""
        return SAVE_SECONDS

    def read(self, run: Run) -> Iterator[tuple[int, Place, Row]]:
        """Rows of the log that are rows of the sample, packed ones first, and those of a wider study in front of all;
        the same text may be there twice.
        """
        keys = [self.key] if run.study.wider is None else [run.study.wider.key(run.explainer), self.key]
        segments, places = [], {}
        for key in keys:
            segments += [*self._packed(run, key), *self.store.segments(key, _content(run))]
        for i in range(len(run.sample)) if segments else ():
            subject = run.subject(i)
            if subject is not None:
                for place, key in zip(np.ndindex(*run.study.parts), run.study.row_keys(subject)):
                    for name in (bytes.fromhex(key), bytes.fromhex(key)[:_SHORT]):
                        places.setdefault(name, []).append((i, place))
        for segment in segments:
            columns = self._columns(run, segment)
            if columns is None:
                continue
            for k, name in enumerate(segment.arrays[run.study.names]):
                for i, place in places.get(name.tobytes(), ()):
                    row = {column: values[k] for column, values in columns.items()}
                    if run.study.fits(run.explainer, place, row):
                        yield i, place, row

    def append(self, run: Run, places: list[tuple[int, Place]]) -> None:
        """Add rows as a segment."""
        self.store.append(self.key, *self._segment(run, places), _content(run))

    def pack(self, run: Run, places: list[tuple[int, Place]]) -> None:
        """Add rows as a segment in a third of the room: numbers in single precision, names cut short."""
        arrays, meta = self._segment(run, places)
        packed = {name: _narrow(array) for name, array in arrays.items() if name != run.study.names}
        packed[run.study.names] = arrays[run.study.names][:, :_SHORT]
        self.store.append(self._packed_key(self.key), packed, meta, _content(run, packed=True))

    def packed_names(self, run: Run) -> set[str]:
        """Under what each packed row is kept, as `short_name`."""
        return {name.tobytes().hex() for entry in self._packed(run, self.key) for name in entry.arrays[run.study.names]}

    @property
    def folders(self) -> tuple[Path, Path]:
        """Where its segments lie, and where its packed ones do."""
        return self.store.folder(self.key), self.store.folder(self._packed_key(self.key))

    @staticmethod
    def _packed_key(key: str) -> str:
        return canonical_key("packed log", 1, log=key)

    def _packed(self, run: Run, key: str) -> list[Entry]:
        """What is packed, as segments whose names are short."""
        found, content = [], _content(run)
        for entry in self.store.segments(self._packed_key(key), _content(run, packed=True)):
            arrays = {name: _wide(array, content.arrays[name]) for name, array in entry.arrays.items()}
            values = {name: array for name, array in arrays.items() if name != run.study.names}
            if _content(run, names=False).fits(values, entry.meta):
                found.append(Entry(arrays, entry.meta))
        return found

    @staticmethod
    def _segment(run: Run, places: list[tuple[int, Place]]) -> tuple[dict, dict]:
        """Rows as the arrays and metadata of a segment."""
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
        return arrays, meta

    @staticmethod
    def _columns(run: Run, segment: Entry) -> dict | None:
        """The columns of a segment, sentences as text; None where they are not as long as those before."""
        found = {}
        for name, column in run.study.columns.items():
            values = segment.arrays[name]
            if not run.fits(name, values.shape[1:]):
                return None
            found[name] = [segment.meta["sentences"][k] for k in values] if column.sentence else values
        return found


def _narrow(array: np.ndarray) -> np.ndarray:
    """Floating-point numbers as uint8[4, ...], all first bytes, then all second ones, which packs well."""
    if array.dtype.name not in ("float32", "float64"):
        return array
    return np.moveaxis(array.astype(_SINGLE).view(np.uint8).reshape(*array.shape, 4), -1, 0)


def _wide(array: np.ndarray, numbers: Numbers) -> np.ndarray:
    """The same back."""
    if numbers.dtype not in ("float32", "float64"):
        return array
    return np.ascontiguousarray(np.moveaxis(array, 0, -1)).view(_SINGLE)[..., 0].astype(numbers.dtype)


def _content(run: Run, packed: bool = False, names: bool = True) -> Content:
    """What a segment of a study's log holds: the names of its rows, their columns, and the sentences that they say."""
    study = run.study
    rows, spoken = study.content(run.explainer), [name for name, column in study.columns.items() if column.sentence]

    def agrees(arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bool:
        most = len(meta["sentences"]) if spoken else 0
        return all((arrays[name] < most).all() for name in spoken) and rows.agrees(arrays, meta)

    arrays = {name: numbers.rows() for name, numbers in rows.arrays.items()}
    said = {"sentences": _are_sentences} if spoken else {}
    if packed:
        # What the numbers are is asked once they are whole.
        arrays = {name: _as_packed(numbers) for name, numbers in arrays.items()}
        return Content({study.names: Numbers("uint8", (ROWS, _SHORT))} | arrays, said, rows.optional)
    named = {study.names: Numbers("uint8", (ROWS, 32))} if names else {}
    return Content(named | arrays, {**rows.meta, **said}, rows.optional, agrees)


def _as_packed(numbers: Numbers) -> Numbers:
    if numbers.dtype not in ("float32", "float64"):
        return numbers
    return Numbers("uint8", (4, *numbers.shape))


def _are_sentences(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(sentence, str) for sentence in value)
