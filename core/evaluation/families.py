"""Models that belong together: trained on the same data in different ways, and the examples that ship for their
task.
"""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

from core.data.examples import bundled_data, bundled_set
from core.loading.locating import MODELS, bundled_models
from core.settings import BUNDLED
from core.wording import percent

# Cards of models whose weights do not ship.
FIGURES = BUNDLED / "figures"
HOME = "examples"


@dataclass(frozen=True)
class Measured:
    """What a model's card says it reaches on its test file; training and validation: strategies; ships: whether its
    weights do.
    """

    name: str
    training: str
    validation: str
    metric: str
    examples: int
    unmasked: float
    masked: float
    majority: float
    ships: bool


def card_sentence(found: Measured) -> str:
    """What a model's card lets one expect of it under masking; plain text."""
    unmasked, end, floor = (percent(value, found.metric) for value in (found.unmasked, found.masked, found.majority))
    reach = f"It reaches {unmasked} {found.metric} ↑; with every token masked, {end} ↑"
    # One example more or less is a tie.
    if found.masked >= found.majority - 1 / found.examples:
        return (
            f"{reach}, no less than always answering the commonest class ({floor}): a necessary sign, though no proof, "
            "that it stays on familiar ground when words are masked."
        )
    return (
        f"{reach}, less than always answering the commonest class ({floor}): masking confuses it, so distrust "
        f"scores that rest on masking."
    )


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


def examples_of(model: str, now: str | None = None) -> str | None:
    """The bundled data to look at with a bundled model: what is looked at now where it fits, else that of its task.

    It fits where the model has its labels and no other model's task claims it.

    None where the model does not ship, or where it says nothing of its task.
    """
    card = next((card for name, card, ships in _cards() if ships and name == model), None)
    if card is None:
        return None
    claimed = {other.get(HOME) for _, other, _ in _cards()} - {card.get(HOME)}
    if now in bundled_data() and now not in claimed and set(bundled_set(now).classes) <= set(card["labels"]):
        return now
    return card.get(HOME)


@functools.cache
def _cards() -> tuple[tuple[str, dict, bool], ...]:
    found = [(name, MODELS / name / "card.json", True) for name in bundled_models()]
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
        plan["validation_strategy"],
        shown["metric"],
        shown["examples"],
        shown["masked"][0],
        shown["masked"][-1],
        shown["class_majority"],
        ships,
    )
