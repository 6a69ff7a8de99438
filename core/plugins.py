"""Measures, metrics and questions of one's own, from a file or a notebook."""

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from core.evaluation.study import REGISTERED as ASKED
from core.evaluation.study import Question, Study
from core.evaluation.study import register as register_question
from core.measures.catalogue import measures
from core.measures.registry import REGISTERED as MEASURED
from core.measures.registry import Explained, Measure
from core.measures.registry import register as register_measure
from core.metrics.catalogue import metrics
from core.metrics.registry import REGISTERED as JUDGED
from core.metrics.registry import Metric
from core.metrics.registry import register as register_metric
from core.network.scheduler import Cancelled, NonFinite, OutOfMemory
from core.wording import in_words, quoted

# What cells of a notebook registered, by the name of their function or class: run again, a cell replaces its own.
_CELLS: dict[tuple[str, str], str] = {}


def register(thing: Measure | Metric | type[Question]) -> Measure | Metric | type[Question]:
    """Add a measure, metric or question of one's own: every function, command and page then offers it.

    Parameters
    ----------
    thing : Measure, Metric or subclass of Question
        See the examples that CONTRIBUTING.md names.

    Returns
    -------
    Measure, Metric or subclass of Question
        What is registered, so that it can stand above a class.

    Raises
    ------
    ValueError
        Its name is taken, or it is none of these.
    """
    # Those of the project keep their names.
    measures(), metrics()
    if isinstance(thing, Measure):
        version = _version(thing.version, thing.compute)
        added = replace(thing, version=version, compute=partial(_scores, thing))
        return _in_place(MEASURED, register_measure, added, thing.compute)
    if isinstance(thing, Metric):
        version = _version(thing.version, thing.compute)
        added = replace(thing, version=version, compute=partial(_computed, thing))
        return _in_place(JUDGED, register_metric, added, thing.compute)
    if isinstance(thing, type) and issubclass(thing, Question):
        from core.evaluation.studies.catalogue import questions

        questions()
        if issubclass(thing, Study):
            thing.version = _version(thing.version, thing)
        return _in_place(ASKED, register_question, thing, thing)
    raise ValueError(f"register takes a Measure, a Metric or a subclass of Question, not {quoted(repr(thing))}")


def load_plugin(path: str | Path) -> None:
    """Run a Python file that registers measures, metrics or questions of one's own.

    Parameters
    ----------
    path : str or Path
        The file; it is run with all rights of whoever names it.

    Raises
    ------
    ValueError
        There is no such file, or it raises; what it had registered by then is taken back.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no plugin {quoted(str(path))}; give a Python file")
    measures(), metrics()
    registers: tuple[dict[str, Any], ...] = (ASKED, MEASURED, JUDGED)
    before = [dict(held) for held in registers]
    name = f"faithscope_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path.name} is no Python file; its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        for held, names in zip(registers, before):
            for added in set(held) - set(names):
                del held[added]
        sys.modules.pop(name, None)
        raise ValueError(f"{path.name} could not be loaded: {type(error).__name__}: {in_words(error)}") from error


def _in_place(held: dict[str, Any], add: Callable[[Any], Any], thing: Any, own: Any) -> Any:
    """Register, in the place of what the same function or class of a notebook registered before."""
    cell = (add.__module__, thing.name)
    named = getattr(own, "__qualname__", None) if own.__module__ == "__main__" else None
    before = held.pop(thing.name) if named and _CELLS.get(cell) == named and thing.name in held else None
    try:
        added = add(thing)
    except ValueError:
        if before is not None:
            held[thing.name] = before
        raise
    if named:
        _CELLS[cell] = named
    return added


def _version(version: int, own: Any) -> int:
    """A version that changes with the source: what is edited finds no results of what it was."""
    file = getattr(sys.modules.get(own.__module__), "__file__", None)
    try:
        source = Path(file).read_bytes() if file else inspect.getsource(own).encode()
    except (OSError, TypeError):
        source = _bytes_of(getattr(own, "__code__", None))
    return int(hashlib.sha256(b"%d " % version + source).hexdigest()[:12], 16)


def _bytes_of(code: CodeType | None) -> bytes:
    """What a function does, with its names and constants; b"" without code."""
    if code is None:
        return b""
    held = [_bytes_of(one) if isinstance(one, CodeType) else repr(one).encode() for one in code.co_consts]
    return b"\0".join([code.co_code, repr(code.co_names).encode(), *held])


def _computed(own: Measure | Metric, *given: Any) -> Any:
    """What it computes; ValueError with its name where it raises."""
    try:
        return own.compute(*given)
    except (Cancelled, NonFinite, OutOfMemory):
        raise
    except Exception as error:
        raise ValueError(f"{own.name} failed: {type(error).__name__}: {in_words(error)}") from error


def _scores(own: Measure, explained: Explained) -> dict[str, np.ndarray]:
    """Its scores; ValueError where they are not a number for each feature."""
    found = dict(_computed(own, explained))
    for variant in own.variants:
        shape = np.asarray(found.get(variant, ())).shape
        if shape != (explained.F,):
            raise ValueError(f"{own.name} gives {variant} scores of shape {shape}, not ({explained.F},)")
    return found
