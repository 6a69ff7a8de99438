"""Measures, metrics and questions of one's own, from a file or a notebook."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

from core.evaluation.study import Question
from core.evaluation.study import register as register_question
from core.measures.catalogue import measures
from core.measures.registry import Measure
from core.measures.registry import register as register_measure
from core.metrics.catalogue import metrics
from core.metrics.registry import Metric
from core.metrics.registry import register as register_metric
from core.wording import in_words, quoted


def register(thing: Measure | Metric | type[Question]) -> Measure | Metric | type[Question]:
    """Add a measure, metric or question of one's own: every function, command and page then offers it.

    Parameters
    ----------
    thing : Measure, Metric or subclass of Question
        See the examples that CONTRIBUTING.md names.

    Returns
    -------
    Measure, Metric or subclass of Question
        The same, so that it can stand above a class.

    Raises
    ------
    ValueError
        Its name is taken, or it is none of these.
    """
    # Those of the project keep their names.
    measures(), metrics()
    if isinstance(thing, Measure):
        return register_measure(thing)
    if isinstance(thing, Metric):
        return register_metric(thing)
    if isinstance(thing, type) and issubclass(thing, Question):
        from core.evaluation.studies.catalogue import questions

        questions()
        return register_question(thing)
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
    from core.evaluation.study import REGISTERED as ASKED
    from core.measures.registry import REGISTERED as MEASURED
    from core.metrics.registry import REGISTERED as JUDGED

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
    except Exception as error:
        for held, names in zip(registers, before):
            for added in set(held) - set(names):
                del held[added]
        sys.modules.pop(name, None)
        raise ValueError(f"{path.name} could not be loaded: {type(error).__name__}: {in_words(error)}") from error
