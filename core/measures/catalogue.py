"""All importance measures: every file in this room is loaded and registers itself."""

from collections.abc import Iterable

from core import measures as room
from core.measures.registry import REGISTERED, Measure
from core.network.memory import IMPORTING
from core.registers import load_files


def measures() -> dict[str, Measure]:
    """Every measure by name, in the order of menus, baselines last."""
    load_files(room)
    return dict(sorted(REGISTERED.items(), key=lambda item: (item[1].baseline, item[1].order, item[0])))


def measure(name: str, **options: object) -> Measure:
    """A measure by its name, with what is asked in brackets behind it and by keyword: `measure("LIME", samples=100)`.

    Raises:
        KeyError: there is no such measure; ValueError: it has no such option, or not such a value.
    """
    load_files(room)
    plain, bracket, written = name.partition(" [")
    if plain not in REGISTERED or (bracket and not written.endswith("]")):
        raise KeyError(name)
    parts = [part for part in written[:-1].split(",") if part.strip() or bracket]
    parts += [f"{option}={value}" for option, value in options.items()]
    return REGISTERED[plain].asked(",".join(parts)) if parts else REGISTERED[plain]


def is_measure(name: str) -> bool:
    """Whether there is such a measure; ValueError for an option that it has not, or not with such a value."""
    try:
        return bool(measure(name))
    except KeyError:
        return False


def offered_measures(names: Iterable[str] = ()) -> list[str]:
    """Names of every measure, and of those among `names` that are one with options; ValueError as `is_measure`."""
    known = list(measures())
    return known + [name for name in names if name not in known and is_measure(name)]


def default_measures() -> tuple[str, ...]:
    """What is shown unasked: one of the oracle and two of the gradient, all cheap."""
    return tuple(name for name, one in measures().items() if one.default)


def swept_measures() -> tuple[str, ...]:
    """What is scored unasked over a data set: measures whose scores are magnitudes, and not too slow."""
    return tuple(name for name, one in measures().items() if one.swept and not (one.baseline or one.rank_only))


def import_captum() -> None:
    """Import Captum ahead of its first use; that takes longer than loading a model."""
    with IMPORTING:
        import captum.attr  # noqa: F401
