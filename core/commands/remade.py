"""Options of a command without a command line: what it takes unasked, and the command line that says the same."""

import argparse
import shlex
from types import ModuleType
from typing import Any

from core.commands.options import Options


def unasked_options(command: ModuleType, /, **chosen: Any) -> Options:
    """What a command takes unasked, and what is chosen."""
    return Options(
        **{one.dest: one.default for one in _actions(command) if one.default is not argparse.SUPPRESS} | chosen
    )


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
