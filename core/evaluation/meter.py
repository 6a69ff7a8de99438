"""How far a study is on its way over a sample, also within an example."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from core.network.scheduler import Counters

# An example that takes more than it was thought to is nearly done until it is.
_NEARLY = 0.95


class Meter:
    """How far a study is, in examples weighted by cost, reported whenever it asks `cancelled`."""

    def __init__(self, cancelled: Callable[[], bool] | None):
        self.cancelled = self._asked = cancelled
        self._tell: Callable[[float], None] | None = None

    def tell(self, tell: Callable[[float], None], done: int, claims: Sequence[int], counters: Counters) -> None:
        """Tell from now on, never less than before, up to the number of all examples; done: so many of them; claims:
        forward passes that each of the others takes at most.
        """
        # An example without passes takes a moment, too.
        whole = sum(claim + 1 for claim in claims)
        self._weights = [len(claims) * (claim + 1) / whole for claim in claims]
        self._claims, self._counters, self._tell = claims, counters, tell
        self._done, self._at, self._began = float(done), 0, 0
        # Passes that were claimed and made of the examples before: masks that come twice are read once.
        self._claimed = self._made = 0.0
        self.cancelled = self._asks
        tell(self._done)

    @contextmanager
    def example(self) -> Generator[None]:
        """The next example, from its beginning to its end."""
        if self._tell is None:
            yield
            return
        self._began = self._counters.passes
        yield
        self._claimed += self._claims[self._at]
        self._made += self._counters.passes - self._began
        self._done += self._weights[self._at]
        self._at += 1
        self._tell(self._done)

    def _asks(self) -> bool:
        claim, made = self._claims[self._at], self._counters.passes - self._began
        due = claim * (self._made / self._claimed if self._made else 1.0)
        if self._tell is not None:
            self._tell(self._done + self._weights[self._at] * min(_NEARLY, made / max(1.0, due)))
        return self._asked is not None and self._asked()
