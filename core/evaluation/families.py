"""Models that were trained on the same data in different ways, and the examples that ship for their task."""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.data.examples import bundled_data, bundled_set
from core.loading.locating import MODELS, bundled_models
from core.loading.seeds import first_member
from core.mathematics.statistics import Interval
from core.settings import BUNDLED

# Cards of models whose weights do not ship.
FIGURES = BUNDLED / "figures"
HOME = "examples"
# Of a model that is no better than a constant answer by its card.
NOT_ABOVE_CONSTANT = "Not significantly better than always answering one class. Train it longer."


@dataclass(frozen=True)
class Measured:
    """What a model's card says it reaches on its own file, the `split`; training: strategy; ships:
    whether its weights do; paired: whether it reads two texts, which are then both masked there.
    """

    name: str
    training: str
    metric: str
    examples: int
    unmasked: float
    masked: float
    majority: float
    ships: bool
    paired: bool = False
    split: str = "test"


def reads_pairs(card: dict) -> bool:
    """Whether a card is that of a model of pairs."""
    return card["plan"].get("second") is not None


def takes_second(name: str, card: dict | None) -> bool:
    """Whether a model may be given a second text: not where its card, or that of what ships by its name, denies it."""
    card = card or next((one for other, one, ships in _cards() if ships and other == name), None)
    try:
        return card is None or reads_pairs(card)
    except (KeyError, TypeError, AttributeError):
        return True


def above_constant(card: dict) -> bool:
    """Whether a model beats a constant answer by its card: by the 95 % interval, else by its two numbers."""
    shown = card["performance"]
    gained = shown.get("above_majority")
    if isinstance(gained, list) and len(gained) == 3 and all(isinstance(end, int | float) for end in gained):
        return Interval(*gained).low > 0
    return shown["masked"][0] > shown["class_majority"]


def family(card: dict | None) -> list[Measured]:
    """Every model with a card here that was trained on the same file as this one; [] without a card."""
    trained_on = training_file(card)
    return [
        measured_card(name, other, ships)
        for name, other, ships in _cards()
        if trained_on is not None and training_file(other) == trained_on
    ]


def relatives(name: str, card: dict | None) -> list[str]:
    """Bundled models of the same family, without the one that is named."""
    return [one.name for one in family(card) if one.ships and one.name != name]


def other_classes(name: str, labels: Sequence[str]) -> bool:
    """Whether a model has none of these classes, in any case; False where there is no card of it here."""
    card = next((card for one, card, _ in _cards() if one == name), None)
    return card is not None and not {label.casefold() for label in card["labels"]} & {one.casefold() for one in labels}


def examples_of(model: str, now: str | None = None) -> str | None:
    """The bundled data for a bundled model: what is looked at now if it has its labels and is no other task's, else
    that of its task; None where the model does not ship, or names none.
    """
    # Of a bundled family's member, the family's.
    own = model.partition("/")[0]
    card = next((card for name, card, ships in _cards() if ships and name == own), None)
    if card is None:
        return None
    claimed = {other.get(HOME) for _, other, _ in _cards()} - {card.get(HOME)}
    if now in bundled_data() and now not in claimed and set(bundled_set(now).classes) <= set(card["labels"]):
        return now
    return card.get(HOME)


@functools.cache
def _cards() -> tuple[tuple[str, dict, bool], ...]:
    found = [(name, first_member(MODELS / name) / "card.json", True) for name in bundled_models()]
    found += [(path.stem, path, False) for path in (sorted(FIGURES.glob("*.json")) if FIGURES.is_dir() else ())]
    return tuple((name, _read(path), ships) for name, path, ships in found if path.is_file())


def training_file(card: dict | None) -> str | None:
    """Digest of the training file; None where a card (anybody may have written it) does not say."""
    try:
        return (card or {})["data"]["train"]["sha256"]
    except (KeyError, TypeError):
        return None


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def measured_card(name: str, card: dict, ships: bool = True) -> Measured:
    """What the card of a model says that it reaches."""
    shown, plan = card["performance"], card["plan"]
    return Measured(
        name,
        plan["training"],
        shown["metric"],
        shown["examples"],
        shown["masked"][0],
        shown["masked"][-1],
        shown["class_majority"],
        ships,
        reads_pairs(card),
        shown.get("split", "test"),
    )
