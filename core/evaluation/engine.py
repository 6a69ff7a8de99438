"""Work through a sample example by example: what is computed is kept in a log of the store, and goes on where it was
cancelled or killed.
"""

import time
from collections.abc import Callable, Generator

import numpy as np

from core.evaluation.sampling import Sample
from core.explanation.explainer import Cost, Explainer
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite
from core.storage.store import Store

# What a killed run loses at most.
SAVE_SECONDS = 5.0


class SampleRun:
    """One kind of work on its way over a sample; a row of arrays for each example, kept under its name.

    A kind of work says its `columns`, and gives `compute(i, encoded, cancelled)`, the row of an example by column,
    `name(i)`, the key of whatever the row
    depends on besides the log's own key, and `so_far()`, a picture of what is known now.
    there: bool[N], which rows are known; rows: {column: array[N, …]}, {} before the first one; problems: {example:
    sentence}, examples without a row.
    """

    columns: tuple[str, ...] = ()

    def __init__(self, explainer: Explainer, sample: Sample, unit: str, key: str, store: Store | None):
        self.explainer, self.sample, self.unit, self.key, self.store = explainer, sample, unit, key, store
        self.there = np.zeros(len(sample), dtype=bool)
        self.rows: dict[str, np.ndarray] = {}
        self.problems: dict[int, str] = {}
        self.encoded: dict[int, Encoded] = {}
        self.unsaved: list[int] = []
        self.last_saved = time.monotonic()
        if store is not None:
            self._read_store()

    @property
    def done(self) -> int:
        return int(self.there.sum()) + len(self.problems)

    @property
    def cut(self) -> int:
        """Examples that are longer than the model reads."""
        return sum(encoded.truncation.cut for encoded in self.encoded.values())

    def missing(self) -> list[int]:
        return [i for i in range(len(self.sample)) if not self.there[i] and i not in self.problems]

    def go(
        self, progress: Callable[[int, int], None] | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Generator:
        """Compute what is missing; yields what is known after each example, and returns all of it."""
        try:
            for i in self.missing():
                if progress is not None:
                    progress(self.done, len(self.sample))
                self.add(i, cancelled)
                yield self.so_far()
        finally:
            self.save()
        if progress is not None:
            progress(self.done, len(self.sample))
        return self.so_far()

    def add(self, i: int, cancelled) -> None:
        """Compute one example; one that has no row is noted with its sentence."""
        encoded = self.encode(i)
        if encoded is None:
            return
        try:
            row = self.compute(i, encoded, cancelled)
        except (NonFinite, NoFeatures) as error:
            self.problems[i] = str(error)
            return
        finally:
            self.explainer.forget(encoded)
        self._put(i, row)
        self.unsaved.append(i)
        if time.monotonic() - self.last_saved >= SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Keep what is not kept yet."""
        if self.store is not None and self.unsaved:
            names = np.stack([self._name(i) for i in self.unsaved])
            self.store.append(
                self.key, {"rows": names} | {column: self.rows[column][self.unsaved] for column in self.columns}, {}
            )
        self.unsaved, self.last_saved = [], time.monotonic()

    def encode(self, i: int) -> Encoded | None:
        """An example as the model reads it; None where nothing in it can be masked."""
        if i not in self.encoded:
            example = self.sample.examples[i]
            try:
                self.encoded[i] = self.explainer.encode(example.text, example.second, self.unit)
            except NoFeatures as error:
                self.problems[i] = str(error)
                return None
        return self.encoded[i]

    def _put(self, i: int, row: dict[str, np.ndarray]) -> None:
        for column in self.columns:
            value = np.asarray(row[column])
            self.rows.setdefault(column, np.zeros((len(self.sample), *value.shape), dtype=value.dtype))[i] = value
        # Last, so that whoever shares the arrays reads whole rows only.
        self.there[i] = True

    def _name(self, i: int) -> np.ndarray:
        """What a row is kept under, uint8[32]."""
        return np.frombuffer(bytes.fromhex(self.name(i)), dtype=np.uint8)

    def _fits(self, parts: dict[str, np.ndarray]) -> bool:
        """Whether rows that were read are rows of this work."""
        return all(
            part.shape[1:] == self.rows[column].shape[1:] for column, part in parts.items() if column in self.rows
        )

    def _read_store(self) -> None:
        kept = {}
        for segment in self.store.segments(self.key):
            names, parts = segment.arrays.get("rows"), {column: segment.arrays.get(column) for column in self.columns}
            if (
                names is not None
                and all(part is not None and len(part) == len(names) for part in parts.values())
                and self._fits(parts)
            ):
                kept.update(
                    {
                        name.tobytes(): {column: part[k] for column, part in parts.items()}
                        for k, name in enumerate(names)
                    }
                )
        for i in range(len(self.sample)) if kept else ():
            row = None if self.encode(i) is None else kept.get(self._name(i).tobytes())
            if row is not None:
                self._put(i, row)


def sample_cost(
    explainer: Explainer, sample: Sample, unit: str, one: Callable[[Encoded], Cost], looked_at: int = 12
) -> Cost:
    """What work takes on a whole sample at most, going by what `one` says of some of its examples; what is known
    already is not counted off.
    """
    costs = []
    for i in np.unique(np.linspace(0, len(sample) - 1, looked_at).astype(int)):
        example = sample.examples[i]
        try:
            costs.append(one(explainer.encode(example.text, example.second, unit)))
        except NoFeatures:
            continue
    scale = len(sample) / max(1, len(costs))
    return Cost(round(scale * sum(cost.passes for cost in costs)), scale * sum(cost.seconds for cost in costs))
