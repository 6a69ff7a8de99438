"""Commands that are interrupted in the middle and started again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def interrupted(
    command: Callable[[], int], owner: Any, name: str, count: int, out: Path
) -> tuple[list[tuple], list[tuple]]:
    """Run a command that is interrupted at one call of a function, and then to its end.

    Args:
        command: gives its exit status; owner, name: of the function; count: calls of it that go through; out: the
            output, which is there only when all is done.
    Returns:
        What the function was called with by either run.
    """
    really, first, again = getattr(owner, name), [], []

    def stops(*given, **more):
        if len(first) == count:
            raise KeyboardInterrupt
        first.append(given)
        return really(*given, **more)

    def counts(*given, **more):
        again.append(given)
        return really(*given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, stops)
        assert command() == 130 and not out.exists()
        patch.setattr(owner, name, counts)
        assert command() == 0 and out.exists()
    assert not list(out.parent.glob("*.partial"))
    return first, again
