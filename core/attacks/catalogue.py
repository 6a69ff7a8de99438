"""All attacks: every file in this room is loaded and registers itself."""

from core import attacks as room
from core.attacks.registry import REGISTERED, Attack
from core.registers import load_files
from core.wording import refuse_unknown


def attacks() -> dict[str, Attack]:
    """Every attack by name, in the order of menus."""
    load_files(room)
    return dict(sorted(REGISTERED.items(), key=lambda item: (item[1].order, item[0])))


def attack_named(name: str) -> Attack:
    """An attack by its name, in whichever case; ValueError with a sentence that offers the nearest."""
    found = {one.casefold(): attack for one, attack in attacks().items()}
    if name.casefold() not in found:
        refuse_unknown(("attack", [name], attacks()))
    return found[name.casefold()]
