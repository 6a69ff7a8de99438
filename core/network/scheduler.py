"""Pack masked inputs into batches, survive a full memory, count, report and stop on request."""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from core.mathematics.pace import Speed

_TOO_LARGE = (
    "One input alone does not fit into the device's memory. Use a shorter text, "
    "half precision (FAITHSCOPE_PRECISION=bfloat16), or the CPU (FAITHSCOPE_DEVICE=cpu)."
)
_MEMORY_FULL = ("out of memory", "not enough memory", "can't allocate memory")
# Stands in ids for a token whose word embedding is zero.
ZERO_ID = -1
# What the way through the network and back takes, in forward passes.
THERE_AND_BACK = 3


# Tokens of a batch that is as fast as a larger one, and so many such batches are work that runs in them.
_FULL, _LONG = 768, 32


class Cancelled(Exception):
    """The caller asked to stop; what was computed before is kept."""


class OutOfMemory(RuntimeError):
    """Not even one input fits into the device's memory; the message says what to do."""


class NonFinite(ValueError):
    """The model gave NaN or infinity; the message says for how many inputs and what to do."""


class Input(NamedTuple):
    """One input: ids int64[T], ZERO_ID for a zero word embedding; type_ids int64[T] where the model takes them."""

    ids: np.ndarray
    type_ids: np.ndarray | None = None


# How fast networks of one kind are here, by the kind: what has not run yet is expected to be as fast as its like.
_KINDS: dict[Hashable, Speed] = {}


@dataclass
class Counters:
    """Work done so far. `queries` counts inputs asked for, `passes` inputs that the network read
    (several make one batch), `tokens` their tokens with padding, `seconds` the network's time."""

    queries: int = 0
    passes: int = 0
    batches: int = 0
    tokens: int = 0
    seconds: float = 0.0
    _speed: Speed = field(default_factory=Speed, repr=False, compare=False)
    _alike: Speed = field(default_factory=Speed, repr=False, compare=False)
    _full: Speed = field(default_factory=Speed, repr=False, compare=False)
    _warm: bool = field(default=False, repr=False, compare=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, **amounts: float) -> None:
        with self._guard:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)

    def add_batch(self, rows: int, tokens: int, seconds: float) -> None:
        """Count one batch and remember its speed; few tokens say little, and the first batch pays for compiling."""
        self.add(passes=rows, batches=1, tokens=tokens, seconds=seconds)
        if tokens < 128 or seconds <= 0:
            return
        with self._guard:
            if self._warm:
                self._speed.add(tokens, seconds)
                self._alike.add(tokens, seconds)
            if self._warm and tokens >= _FULL:
                self._full.add(tokens, seconds)
            self._warm = True

    def seconds_for(self, tokens: float, default_rate: float = 8_000.0) -> float:
        """Expected seconds for a number of tokens, by the clock of the newest 16 batches: at the pace than which half
        of their tokens took longer, whoever else used the machine meanwhile. Fewer than two batches leave the pace of
        networks of its kind, and where none of these ran the default (tokens a second). Much work goes by full batches
        alone, where any ran.
        """
        with self._guard:
            full = self._full.pace if tokens >= _LONG * _FULL else None
            pace = full or self._speed.pace or self._alike.pace
        return tokens / default_rate if pace is None else tokens * pace


def pad(rows: list[np.ndarray]) -> np.ndarray:
    """Right-pad B arrays of length T_i with zeros → [B, max T]."""
    if len({*map(len, rows)}) == 1:
        return np.concatenate(rows).reshape(len(rows), -1)
    out = np.zeros((len(rows), max(map(len, rows))), dtype=rows[0].dtype)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


class Scheduler:
    """Run many inputs through one network in batches of similar length.

    The network is a callable `(ids int64[B, T], lengths int64[B], type_ids or None, hidden) →
    (logits float32[B, C], states float32[B, L, H] or None)`, or to what waits for these where it only begins with a
    batch: then the next one begins before the former is waited for. A batch that exhausts the memory is
    halved, and the smaller size is kept for what follows.

    Args:
        multiple: batches are filled up to a multiple of it with rows that are thrown away, where the device prepares
            itself for each new size of a batch (oneDNN compiles its half-precision kernels by size).
        kind: of networks that are as fast as each other on this machine; None where there is no other.
    """

    def __init__(
        self,
        network: Callable,
        max_rows: int = 64,
        max_tokens: int = 16_384,
        lock: contextlib.AbstractContextManager | None = None,
        multiple: int = 1,
        kind: Hashable = None,
    ):
        self.network = network
        self.max_rows = max_rows
        self.max_tokens = max_tokens
        self.multiple = multiple
        self.counters = Counters(_alike=Speed() if kind is None else _KINDS.setdefault(kind, Speed()))
        self._free_at = 0.0
        # Held while the clock runs, so that waiting for others is not taken for work.
        self._lock = lock or contextlib.nullcontext()

    def run(
        self,
        rows: Sequence[Input],
        *,
        hidden: bool | str = False,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Yield (indices int64[B], logits float32[B, C], states float32[B, L, H] or None) per batch.

        Rows come in order of length, not as given; every row comes exactly once. A consumer that
        keeps what is yielded loses nothing when a later batch fails.

        Args:
            rows: the inputs.
            hidden: ask for pooled hidden states of the same pass: "max" (or True) or "mean" over the tokens.
            progress: called with (done, total) after each batch.
            cancelled: asked before each batch.
        Raises:
            Cancelled: `cancelled` said yes.
            OutOfMemory: a single row does not fit.
        """
        lengths = np.array([len(row.ids) for row in rows], dtype=np.int64)
        order = np.argsort(lengths, kind="stable")
        self.counters.add(queries=len(rows))
        done = 0
        for indices, found in _one_late(self._launched(rows, order, lengths[order], hidden, cancelled)):
            logits, states = found() if callable(found) else found
            done += len(indices)
            yield indices, logits, states
            if progress is not None:
                progress(done, len(rows))

    def _launched(self, rows, order, lengths, hidden, cancelled) -> Iterator[tuple[np.ndarray, Any]]:
        """(indices, results or what waits for them) of each batch; a batch that exhausts the memory is halved."""
        done = 0
        while done < len(order):
            if cancelled is not None and cancelled():
                raise Cancelled(f"stopped after {done} of {len(rows)} inputs")
            # Ascending order: the newest row is the longest of the batch, and the sizes ascend.
            some = lengths[done : done + self.max_rows]
            fit = max(1, int((some * np.arange(1, len(some) + 1) <= self.max_tokens).sum()))
            indices = order[done : done + fit]
            try:
                found = self._batch([rows[i] for i in indices.tolist()], some[:fit], hidden)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                self.halve(len(indices), error)
                continue
            done += len(indices)
            yield indices, found

    def _batch(self, rows, lengths, hidden) -> Any:
        asked = len(rows)
        if more := min(-asked % self.multiple, max(0, self.max_rows - asked)):
            rows, lengths = [*rows, *[rows[-1]] * more], np.append(lengths, [lengths[-1]] * more)
        ids = pad([row.ids for row in rows])
        types = None if rows[0].type_ids is None else pad([row.type_ids for row in rows])
        with self._lock:
            started = time.perf_counter()
            found = self.network(ids, lengths, types, hidden)
            launched = time.perf_counter()

        def waited() -> tuple[np.ndarray, np.ndarray | None]:
            results = found()
            # The device begins when it is done with the batch before.
            began, self._free_at = max(started, self._free_at), time.perf_counter()
            return self._counted(results, asked, ids.size, self._free_at - began)

        return waited if callable(found) else self._counted(found, asked, ids.size, launched - started)

    def _counted(self, results, asked, tokens, seconds) -> tuple[np.ndarray, np.ndarray | None]:
        self.counters.add_batch(asked, tokens, seconds)
        logits, states = results
        return logits[:asked], None if states is None else states[:asked]

    def halve(self, size: int, error: Exception) -> None:
        """Allow half as many rows from now on; OutOfMemory where not even one fits."""
        if size == 1:
            raise OutOfMemory(_TOO_LARGE) from error
        # Another thread may have come further down.
        self.max_rows = min(self.max_rows, max(1, size // 2))
        # The traceback's frames hold the tensors of the batch that failed.
        error.__traceback__ = None
        _release_memory()


def _one_late(launched: Iterator[tuple[np.ndarray, Any]]) -> Iterator[tuple[np.ndarray, Any]]:
    """Batches, each after the next one has begun where it has to be waited for; all that began come before an error."""
    waiting = []
    try:
        for one in launched:
            waiting.append(one)
            if len(waiting) > 1 or not callable(one[1]):
                yield waiting.pop(0)
    except Exception:
        yield from waiting
        raise
    yield from waiting


@contextlib.contextmanager
def memory_in_words() -> Generator[None]:
    """Turn an exhausted memory into `OutOfMemory` with its sentence; for work that cannot be halved."""
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemory(_TOO_LARGE) from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether an exception says that the device's memory is full."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    # The CPU and MPS allocators raise plain RuntimeErrors.
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(sign in text for sign in _MEMORY_FULL)


def _release_memory() -> None:
    import gc
    import sys

    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
