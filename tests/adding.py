"""One more file in a room whose files register themselves, for as long as somebody looks."""

import contextlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from core import registers
from core.registers import load_files

TESTS = Path(__file__).resolve().parent


@contextlib.contextmanager
def one_more_file(room: ModuleType, registered: dict, folder: Path):
    """Let a folder's files be found as if they lay in the room; afterwards nothing is left of them.

    registered: what the room's files are registered in.
    """
    # What is there already is loaded first, so that it stays registered.
    load_files(room)
    before, names = set(sys.modules), dict(registered)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "__path__", [*room.__path__, str(folder)])
        yield
    for name in set(sys.modules) - before:
        if name.startswith(f"{room.__name__}."):
            del sys.modules[name]
    registered.clear()
    registered.update(names)
    registers._load.cache_clear()


def read_anew(path: str) -> ModuleType:
    """A file of tests as pytest would read it now, with the names that are registered now."""
    spec = importlib.util.spec_from_file_location(f"anew_{Path(path).stem}", TESTS / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
