"""The command line: every module of this room that has a function `run` is a command, under its own name."""

import argparse
import functools
import importlib
import pkgutil
import sys
from types import ModuleType

from safetensors import SafetensorError

from core import commands as room
from core.storage.files import no_room

FREE_SPACE = "The disk is full. Free some space and try again."
BEGINS_ANEW = "Unfinished work is lost; the same command starts over."


@functools.cache
def commands() -> dict[str, ModuleType]:
    """Every command by name: a module with HELP, `add(option)`, which declares what it takes, and `run(options)`, which
    returns an exit status; GOES_ON, where it has one, is said when it is interrupted.
    """
    names = [module.name for module in pkgutil.iter_modules(room.__path__)]
    found = {name: importlib.import_module(f"{room.__name__}.{name}") for name in names}
    return {name: module for name, module in found.items() if hasattr(module, "run")}


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows a default that is a value; an option that is unset says itself what that means."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        unset = action.default is None or action.default is False
        return action.help if unset else super()._get_help_string(action)


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m core", description="Faithscope without a browser")
    offered = parser.add_subparsers(dest="command", required=True)
    for name, command in commands().items():
        command.add(offered.add_parser(name, help=command.HELP, formatter_class=_Help).add_argument)
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 success, 1 a problem told in one sentence, 130 interrupted."""
    command = None
    try:
        options = _read(arguments)
        command = commands()[options.command]
        status = command.run(options)
        # What is printed may go into a file, and its disk be full.
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"\nStopped. {getattr(command, 'GOES_ON', BEGINS_ANEW)}", file=sys.stderr)
        return 130
    except (ValueError, RuntimeError, OSError, SafetensorError) as error:
        advice = f". {FREE_SPACE}" if no_room(error) else ""
        print(f"{type(error).__name__}: {error}{advice}", file=sys.stderr)
        return 1
    return status
