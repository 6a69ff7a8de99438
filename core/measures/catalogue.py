"""All importance measures: every file in this room is loaded and registers itself."""

from core import measures as room
from core.measures.registry import REGISTERED, Measure
from core.network.memory import IMPORTING
from core.registers import load_files


class Measures(dict[str, Measure]):
    """Measures by name, in the order of menus; one with options in brackets behind its name is found, too."""

    def __missing__(self, name: str) -> Measure:
        plain, _, options = name.partition(" [")
        if not options.endswith("]") or plain not in self.keys():
            raise KeyError(name)
        return self[plain].asked(options[:-1])

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and bool(self[name])
        except (KeyError, ValueError):
            return False


def measures() -> Measures:
    """Every measure by name, in the order of menus, baselines last."""
    load_files(room)
    return Measures(sorted(REGISTERED.items(), key=lambda item: (item[1].baseline, item[1].order, item[0])))


def with_option(name: str, option: str, value: object) -> str:
    """A measure's name with an option in brackets; KeyError or ValueError where there is none such."""
    plain, _, written = name.partition(" [")
    asked = dict(part.split("=", 1) for part in written.removesuffix("]").split(", ") if part)
    return measures()[plain].asked(", ".join(f"{key}={one}" for key, one in (asked | {option: value}).items())).name


def default_measures() -> tuple[str, ...]:
    """What is shown unasked: one of the oracle and two of the gradient, all cheap."""
    return tuple(name for name, measure in measures().items() if measure.default)


def swept_measures() -> tuple[str, ...]:
    """What is scored unasked over a data set: measures whose scores are magnitudes, and not too slow."""
    return tuple(
        name for name, measure in measures().items() if measure.swept and not (measure.baseline or measure.rank_only)
    )


def import_captum() -> None:
    """Import Captum ahead of its first use; that takes longer than loading a model."""
    with IMPORTING:
        import captum.attr  # noqa: F401
