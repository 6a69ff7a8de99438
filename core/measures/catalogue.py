"""All importance measures: every file in this room is loaded and registers itself."""

import functools
import importlib
import pkgutil

from core import measures as room
from core.measures.registry import Measure, registered

# What is shown unasked: one of the oracle and two of the gradient, all cheap.
DEFAULT = ("leave-one-out", "gradient", "input × gradient")
_ORDER = (
    "leave-one-out",
    "gradient",
    "input × gradient",
    "integrated gradients",
    "attention",
    "scaled attention",
    "beam",
    "random",
)


@functools.cache
def measures() -> dict[str, Measure]:
    """Every measure by name, in the order of menus; new ones stand before the baselines."""
    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")
    found = registered()
    place = {name: i for i, name in enumerate(_ORDER)}
    return dict(sorted(found.items(), key=lambda item: (item[1].baseline, place.get(item[0], len(place)), item[0])))


def import_captum() -> None:
    """Import Captum ahead of its first use; that takes longer than loading a model."""
    import captum.attr  # noqa: F401
