"""Rooms whose files register what they hold: every file is loaded, so that a new one needs no line elsewhere."""

import functools
import importlib
import pkgutil
from types import ModuleType


def load_files(room: ModuleType) -> None:
    """Load every file of a room, once."""
    _load(room.__name__, *room.__path__)


@functools.cache
def _load(name: str, *folders: str) -> None:
    for module in pkgutil.iter_modules(folders):
        importlib.import_module(f"{name}.{module.name}")
