"""Work in steps: generators that yield on the way, and return what they found in the end."""

from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

Part = TypeVar("Part")
Said = TypeVar("Said")
Result = TypeVar("Result")


def finish(work: Generator[Part, None, Result]) -> Result:
    """Run work to its end and return what it returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def relay(work: Generator[Part, None, Result], say: Callable[[Part], Said]) -> Generator[Said, None, Result]:
    """Do work as part of other work: yields what `say` makes of each of its steps, and returns what it returns."""
    ended: list[Result] = []

    def steps() -> Iterator[Part]:
        ended.append((yield from work))

    for part in steps():
        yield say(part)
    return ended[0]
