"""Choices of commands by their names, for whoever asks without a command line."""

from argparse import SUPPRESS, Namespace
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from core.wording import refuse_unknown

# Seconds before a cell of a notebook shows how far work is.
DELAY = 2.0


# What a call says in its own way, or has no use for.
_OWN = ("model", "device", "precision", "data", "example", "text", "what", "out")


def choices_of(command: ModuleType, given: Mapping[str, Any], **own: Any) -> Namespace:
    """A command's choices by their names: what it takes unasked, and what is given; own: what a call says itself.

    ValueError for no such choice, or not such a value.
    """
    found: dict[str, Any] = {}
    offered: dict[str, Iterable[Any] | None] = {}

    def declare(flag: str, **about: Any) -> None:
        name = about.get("dest", flag.lstrip("-").replace("-", "_"))
        offered[name] = about.get("choices")
        default = False if about.get("action") == "store_true" else None
        if about.get("default") is not SUPPRESS:
            found[name] = about.get("default", default)

    command.add(declare)
    refuse_unknown(("choice", given, tuple(name for name in offered if name not in (*_OWN, *own))))
    for name, value in given.items():
        several = value if isinstance(value, (list, tuple)) else [value]
        if offered[name] is not None:
            refuse_unknown((name, several, tuple(offered[name] or ())))
    return Namespace(**found | dict(given) | own)
