"""A lock that is handed on in the order of asking."""

import threading
from collections import deque

_MINE = threading.local()


def locks_held() -> list["FairLock"]:
    """The locks that the calling thread holds."""
    if not hasattr(_MINE, "locks"):
        _MINE.locks = []
    return _MINE.locks


class FairLock:
    """A reentrant lock for `with`, given to waiting threads first come, first served.

    Python's own lock may go to the thread that just gave it back; a long job that takes it batch after
    batch then keeps everyone else waiting until it ends.
    """

    def __init__(self):
        self._guard = threading.Lock()
        self._waiting: deque[tuple[int, threading.Event]] = deque()
        self._owner: int | None = None
        self._depth = 0

    @property
    def mine(self) -> bool:
        """Whether the calling thread holds it."""
        return self._owner == threading.get_ident()

    @property
    def waiting(self) -> int:
        """How many threads wait for it now."""
        return len(self._waiting)

    def __enter__(self) -> "FairLock":
        me, turn = threading.get_ident(), threading.Event()
        with self._guard:
            if self._owner == me:
                self._depth += 1
                return self
            if self._owner is None:
                self._owner, self._depth = me, 1
                locks_held().append(self)
                return self
            self._waiting.append((me, turn))
        try:
            turn.wait()
        except BaseException:
            # Interrupted while waiting: the turn may have come in the meantime and must go on.
            with self._guard:
                if turn.is_set():
                    self._hand_on()
                else:
                    self._waiting.remove((me, turn))
            raise
        locks_held().append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._owner != threading.get_ident():
                raise RuntimeError("only the holding thread can release a lock")
            self._depth -= 1
            if self._depth == 0:
                locks_held().remove(self)
                self._hand_on()

    def _hand_on(self) -> None:
        if not self._waiting:
            self._owner = None
            return
        self._owner, turn = self._waiting.popleft()
        self._depth = 1
        turn.set()
