"""All faithfulness metrics: every file in this room is loaded and registers itself."""

import functools
import importlib
import pkgutil

from core import metrics as room
from core.metrics.registry import Metric, registered

# Each hard metric with the soft one of the same formula: what SoftFaith compares, and what is shown unasked.
HARD_AND_SOFT = (("NS", "Soft-NS"), ("NC", "Soft-NC"))
DEFAULT = tuple(name for kind in zip(*HARD_AND_SOFT) for name in kind)
_ORDER = (*DEFAULT, "AOPC comprehensiveness", "AOPC sufficiency", "monotonicity", "CORR", "decision flip", "sparsity")


@functools.cache
def metrics() -> dict[str, Metric]:
    """Every metric by name, in the order of menus."""
    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    found, place = registered(), {name: i for i, name in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda item: (item[1].whole, place.get(item[0], len(place)), item[0])))


def of_examples() -> dict[str, Metric]:
    """The metrics that judge one attribution of one example."""
    return {name: metric for name, metric in metrics().items() if not metric.whole}
