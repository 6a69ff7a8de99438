"""The masking oracle: from masks to logits, each distinct input computed once."""

import threading
from collections.abc import Callable, Sequence

import numpy as np
from cachetools import FIFOCache, LRUCache

from core.mathematics.arrays import Value
from core.network.features import Encoded, with_premasked
from core.network.locks import FairLock
from core.network.model import Model
from core.network.scheduler import Counters, NonFinite
from core.oracle.erasing import MASK, erased_rows
from core.storage.content import ROWS, Content, Numbers
from core.storage.store import Store, canonical_key

SEGMENT_ROWS = 512
STATES_BYTES = 16_000_000
# What the memo holds for a known mask, measured: key, logits, and their place in a dictionary.
BYTES_A_MASK = 320


class Oracle:
    """`v` of one example under one model: bool[M, F] → float32[M, C], with a memo.

    The memo lives in memory and, in segments, in the store; losing the last segment costs time and
    nothing else. Features that the text itself masks are masked in every query. `counters` tells
    what this oracle asked of the network. erasure: what masking a feature does, one of `core.oracle.erasing.ERASURES`.
    """

    def __init__(self, model: Model, encoded: Encoded, store: Store | None = None, erasure: str = MASK):
        self.model, self.encoded, self.store, self.erasure = model, encoded, store, erasure
        self.counters = Counters()
        other = {} if erasure == MASK else {"erasure": erasure}
        self.key = canonical_key(
            "forward", 1, model=model.digest, precision=model.precision, example=encoded.digest, **other
        )
        self._logits: dict[bytes, np.ndarray] = {}
        self._states: FIFOCache[tuple[str, bytes], np.ndarray] = FIFOCache(STATES_BYTES, lambda state: state.nbytes)
        self._unsaved: list[bytes] = []
        # Two locks, so that reading what is known never waits for a long search on the same example. A search that
        # gives way between two batches holds the first; who waits for it is seen.
        self._lock = FairLock()
        self._saving = threading.Lock()
        self._read_store()

    @property
    def F(self) -> int:
        return self.encoded.F

    @property
    def content(self) -> Content:
        """A segment: packed masks, and the logits of each."""
        masks = Numbers("uint8", (ROWS, -(-self.F // 8)))
        return Content({"masks": masks, "logits": Numbers("float32", (ROWS, self.model.C))})

    def logits(self, masks: np.ndarray, *, cancelled: Callable[[], bool] | None = None) -> np.ndarray:
        """Logits of masked inputs.

        Args:
            masks: bool[M, F], True = masked; not changed. Repeated masks cost nothing.
            cancelled: asked before each batch.
        Returns:
            float32[M, C].
        Raises:
            Cancelled, OutOfMemory, NonFinite: what was computed before stays in the memo.
            ValueError: masks of another shape.
        Source: core/README.md, Rooms: the one boundary.
        """
        keys = self._keys(masks)
        self.counters.add(queries=len(keys))
        if any(key not in self._logits for key in keys):
            with self._lock:
                self._compute(masks, [k for k in dict.fromkeys(keys) if k not in self._logits], keys, "", cancelled)
        return self._known_logits(keys)

    def logits_and_states(
        self, masks: np.ndarray, pooling: str = "max", *, cancelled: Callable[[], bool] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Logits float32[M, C] and, from the same pass, pooled hidden states float32[M, L, H].

        States are the maximum or the mean over the non-padding tokens after layer normalisation. The
        newest are kept in memory up to 16 MB, and not on disk. Raises as `logits` does.
        Source: FMM §3.3.
        """
        keys = self._keys(masks)
        if not keys:
            raise ValueError("hidden states need at least one mask")
        self.counters.add(queries=len(keys))
        with self._lock:
            held = {k: self._states[pooling, k] for k in keys if (pooling, k) in self._states}
            held |= self._compute(masks, [k for k in dict.fromkeys(keys) if k not in held], keys, pooling, cancelled)
            return self._known_logits(keys), np.stack([held[k] for k in keys])

    def known(self, masks: np.ndarray) -> np.ndarray:
        """Which of bool[M, F] masks cost nothing any more → bool[M]."""
        return np.array([key in self._logits for key in self._keys(masks)], dtype=bool)

    @property
    def count(self) -> int:
        """How many distinct masks cost nothing any more."""
        return len(self._logits)

    def flush(self) -> None:
        """Write what the store does not hold yet as one segment."""
        with self._saving:
            unsaved, self._unsaved = self._unsaved, []
        if self.store is not None and unsaved:
            masks = np.frombuffer(b"".join(unsaved), dtype=np.uint8).reshape(len(unsaved), -1)
            logits = np.stack([self._logits[k] for k in unsaved])
            self.store.append(self.key, {"masks": masks, "logits": logits}, {}, self.content)

    def _known_logits(self, keys: list[bytes]) -> np.ndarray:
        return np.array([self._logits[k] for k in keys], dtype=np.float32).reshape(len(keys), self.model.C)

    def _compute(self, masks, missing, keys, pooling, cancelled) -> dict[bytes, np.ndarray]:
        if not missing:
            return {}
        place = {key: i for i, key in enumerate(keys)}
        rows = erased_rows(
            self.encoded, np.asarray(masks)[[place[k] for k in missing]], self.erasure, self.model.unknown_id
        )
        fresh, broken = {}, 0
        try:
            for indices, logits, states in self.model.scheduler.run(rows, hidden=pooling, cancelled=cancelled):
                self.counters.add(passes=len(indices), batches=1)
                broken += self._keep([missing[i] for i in indices.tolist()], logits, states, pooling, fresh)
        finally:
            if len(self._unsaved) >= SEGMENT_ROWS:
                self.flush()
        if broken:
            raise NonFinite(
                f"The model returned NaN or infinity for {broken} of {len(missing)} inputs. {self.model.advice}"
            )
        return fresh

    def _keep(self, keys, logits, states, pooling, fresh) -> int:
        good = np.flatnonzero(np.isfinite(logits).all(axis=1)).tolist()
        # Copied once: each mask holds its row of the batch.
        rows, kept = list(logits[good]), [keys[i] for i in good]
        new = {key: row for key, row in zip(kept, rows) if key not in self._logits}
        with self._saving:
            self._logits.update(new)
            self._unsaved += new
        if states is not None:
            for i, key in zip(good, kept):
                fresh[key] = self._states[pooling, key] = states[i].copy()
        return len(keys) - len(good)

    def _keys(self, masks: np.ndarray) -> list[bytes]:
        return [row.tobytes() for row in np.packbits(with_premasked(self.encoded, masks), axis=1)]

    def _read_store(self) -> None:
        for segment in self.store.segments(self.key, self.content) if self.store is not None else ():
            self._logits.update(zip((row.tobytes() for row in segment.arrays["masks"]), segment.arrays["logits"]))


class Oracles:
    """The oracles of one model, the least recently used forgotten after `most` examples."""

    def __init__(self, model: Model, store: Store | None = None, most: int = 64):
        self.model, self.store = model, store
        self._held: LRUCache[tuple[str, str], Oracle] = LRUCache(most)
        self._lock = threading.Lock()

    def of(self, encoded: Encoded, erasure: str = MASK) -> Oracle:
        """The oracle of an example under an erasure, the same object for the same two."""
        key = encoded.digest, erasure
        with self._lock:
            oracle, forgotten = self._held.get(key), None
            if oracle is None:
                oracle = Oracle(self.model, encoded, self.store, erasure)
                forgotten = self._held.popitem()[1] if len(self._held) == self._held.maxsize else None
                self._held[key] = oracle
        if forgotten is not None:
            forgotten.flush()
        return oracle

    def flush(self, encoded: Encoded) -> None:
        """Write what the oracles of an example know and the store does not."""
        with self._lock:
            held = [self._held[key] for key in self._held if key[0] == encoded.digest]
        for oracle in held:
            oracle.flush()

    def forget(self, encoded: Encoded) -> None:
        """Let go of an example's oracles; what they know is written to the store."""
        with self._lock:
            forgotten = [self._held.pop(key) for key in list(self._held) if key[0] == encoded.digest]
        for oracle in forgotten:
            oracle.flush()


def ask_together(asked: Sequence[tuple[Oracle, np.ndarray]]) -> None:
    """Let oracles of one model read their masks, bool[M, F] each, in common batches; their memos hold the logits.

    What is not finite is not held, so that who asks for it is told.
    """
    owners, keys, rows = [], [], []
    for oracle, masks in asked:
        new = {key: mask for key, mask in zip(oracle._keys(masks), masks) if key not in oracle._logits}
        if new:
            rows += erased_rows(oracle.encoded, np.stack([*new.values()]), oracle.erasure, oracle.model.unknown_id)
            keys += new
            owners += [oracle] * len(new)
    if not rows:
        return
    for indices, logits, _ in owners[0].model.scheduler.run(rows):
        for i, one in zip(indices, logits):
            owners[i].counters.add(passes=1)
            owners[i]._keep([keys[i]], one[None], None, "", {})


class Unknown(Exception):
    """A score that is not known yet."""


def known_value(oracle: Oracle, value: Value) -> Value:
    """A value, bool[M, F] → float[M], that raises Unknown instead of asking the network; it waits for nobody.

    Args:
        oracle: of the masks; value: what asks it, as `core.explanation.limiting.value_by_mask`.
    """

    def known(masks: np.ndarray) -> np.ndarray:
        if not oracle.known(masks).all():
            raise Unknown
        return value(masks)

    return known
