"""The command line: every module of a room that has HELP and a function `run` is a command, under its own name."""

import argparse
import ast
import functools
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from core.storage.files import no_room
from core.wording import in_words

ROOM = "core.commands"
FREE_SPACE = "There is no room for it. Free some space, or raise the limit, and try again."
BEGINS_ANEW = "Unfinished work is lost; the same command starts over."
# Names that commands had, and what they are now; they work as before until the next version.
MOVED = {name: f"core.tools {name}" for name in ("bench", "encoder", "readme", "stories")} | {
    "check": 'core evaluate --what "model check"',
    "interactions": "core explain --what pairs",
    "limits": "core evaluate --what limits",
    "stability": "core explain --what stability",
    "verdict": "core explain --what verdicts",
}


@functools.cache
def commands(room: str = ROOM) -> dict[str, str]:
    """{name: help} of the commands of a room, read without importing them, which takes seconds: modules with HELP,
    `add(option)`, which declares what one takes, and `run(options)`, which returns an exit status; GOES_ON, where it
    has one, is said when it is interrupted.
    """
    (folder,) = import_module(room).__path__
    found = {path.stem: _help_of(path) for path in sorted(Path(folder).glob("*.py"))}
    return {name: told for name, told in found.items() if told}


def command(name: str, room: str = ROOM) -> Any:
    """The module of a command of a room, or what takes the place of one that moved from there."""
    if name in commands(room):
        return import_module(f"{room}.{name}")
    if MOVED[name].startswith("core.tools "):
        return import_module(f"core.tools.{name}")
    return import_module("core.commands.old").OLD[name]


def _help_of(path: Path) -> str:
    """HELP of a module that has `run`; "" of any other."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    texts = [one.value for one in body if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "HELP"]
    runs = any(isinstance(one, ast.FunctionDef) and one.name == "run" for one in body)
    return ast.literal_eval(texts[0]) if texts and runs else ""


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows a default that is a value; an option that is unset says itself what that means."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        unset = action.default is None or action.default is False
        return action.help if unset else super()._get_help_string(action)


def _read(arguments: list[str], room: str) -> argparse.Namespace:
    about = "Faithscope without a browser." if room == ROOM else import_module(room).__doc__
    parser = argparse.ArgumentParser(prog=f"python -m {room.removesuffix('.commands')}", description=about)
    offered = parser.add_subparsers(dest="command", required=True, metavar="command")
    asked = next((one for one in arguments if not one.startswith("-")), None)
    for name in (*commands(room), *(MOVED if room == ROOM else ())):
        told = commands(room).get(name)
        # Without a help a name is understood and not listed.
        add = offered.add_parser if told is None else functools.partial(offered.add_parser, help=told)
        one = add(name, formatter_class=_Help)
        if name == asked:
            command(name, room).add(one.add_argument)
    return parser.parse_args(arguments)


def _load_plugins(arguments: list[str]) -> None:
    """Load files that are named before commands declare what they offer."""
    paths = [after for flag, after in pairwise(arguments) if flag == "--plugin"]
    paths += [one.removeprefix("--plugin=") for one in arguments if one.startswith("--plugin=")]
    for path in paths:
        from core.plugins import load_plugin

        load_plugin(path)


def main(arguments: list[str] | None = None, room: str = ROOM) -> int:
    """Run one command of a room; 0 success, 1 a problem told in one sentence, 130 interrupted."""
    asked = None
    try:
        given = sys.argv[1:] if arguments is None else arguments
        _load_plugins(given)
        options = _read(given, room)
        asked = command(options.command, room)
        if options.command not in commands(room):
            print(f"This is now python -m {MOVED[options.command]}", file=sys.stderr)
        status = asked.run(options)
        # What is printed may go into a file, and its disk be full.
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"\nStopped. {getattr(asked, 'GOES_ON', BEGINS_ANEW)}", file=sys.stderr)
        return 130
    except (ValueError, RuntimeError, OSError, SafetensorError) as error:
        advice = f". {FREE_SPACE}" if no_room(error) else ""
        print(f"{type(error).__name__}: {in_words(error)}{advice}", file=sys.stderr)
        return 1
    return status
