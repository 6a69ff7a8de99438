"""Work in steps: generators that yield on the way, and return what they found in the end."""

from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

Part = TypeVar("Part")
Said = TypeVar("Said")
Result = TypeVar("Result")


def finish(work: Generator[Part, None, Result]) -> Result:
    """Run work to its end and return what it returns."""
    steps = _Steps(work)
    for _ in steps:
        pass
    return steps.result


def relay(work: Generator[Part, None, Result], say: Callable[[Part], Said]) -> Generator[Said, None, Result]:
    """Do work as part of other work: yields what `say` makes of each of its steps, and returns what it returns."""
    steps = _Steps(work)
    for part in steps:
        yield say(part)
    return steps.result


class _Steps(Generic[Part, Result]):
    """What work yields; afterwards `result` is what it returned."""

    result: Result

    def __init__(self, work: Generator[Part, None, Result]):
        self._work = work

    def __iter__(self) -> Iterator[Part]:
        self.result = yield from self._work
