"""Options of a command without a command line: what it takes unasked or by name, and the command line that says so."""

import argparse
import shlex
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from core.commands.options import Options
from core.wording import refuse_unknown

# What a call says in its own way, or has no use for.
_OWN = ("model", "device", "precision", "data", "example", "text", "what", "out")


def unasked_options(command: ModuleType, /, **chosen: Any) -> Options:
    """What a command takes unasked, and what is chosen."""
    return Options(
        **{one.dest: one.default for one in _actions(command) if one.default is not argparse.SUPPRESS} | chosen
    )


def choices_of(command: ModuleType, given: Mapping[str, Any], **own: Any) -> Options:
    """A command's choices by their names: what it takes unasked, and what is given; own: what a call says itself.

    ValueError for no such choice, or not such a value.
    """
    offered = {one.dest: one.choices for one in _actions(command)}
    refuse_unknown(("choice", given, tuple(name for name in offered if name not in (*_OWN, *own))))
    for name, value in given.items():
        several = value if isinstance(value, (list, tuple)) else [value]
        if offered[name] is not None:
            refuse_unknown((name, several, tuple(offered[name] or ())))
    return unasked_options(command, **dict(given) | own)


def command_text(name: str, command: ModuleType, options: Options, always: tuple[str, ...] = ()) -> str:
    """The command line that asks for these options; those that are as unasked are left out, but for `always`."""
    words = ["python", "-m", "core", name]
    for action in _actions(command):
        value, flag = getattr(options, action.dest, None), action.option_strings[0]
        if value in (None, False, []) or (value == action.default and action.dest not in always):
            continue
        several = list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]
        if value is True:
            words.append(flag)
        elif action.nargs is not None:
            words += [flag, *several]
        else:
            # Joined, a value that begins like an option is none.
            words += [f"{flag}={one}" for one in several]
    return shlex.join(words)


def _actions(command: ModuleType) -> list[argparse.Action]:
    parser, found = argparse.ArgumentParser(), []
    command.add(lambda *flags, **about: found.append(parser.add_argument(*flags, **about)))
    return found
