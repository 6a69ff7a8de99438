"""All attacks: every file in this room is loaded and registers itself."""

import difflib

from core import attacks as room
from core.attacks.registry import REGISTERED, Attack
from core.registers import load_files


def attacks() -> dict[str, Attack]:
    """Every attack by name, in the order of menus."""
    load_files(room)
    return dict(sorted(REGISTERED.items(), key=lambda item: (item[1].order, item[0])))


def attack_named(name: str) -> Attack:
    """An attack by its name, in whichever case; ValueError with a sentence that offers the nearest."""
    found = {one.casefold(): attack for one, attack in attacks().items()}
    if name.casefold() in found:
        return found[name.casefold()]
    near = difflib.get_close_matches(name.casefold(), found, n=1, cutoff=0.0)
    raise ValueError(
        f"there is no attack {name!r}; did you mean {found[near[0]].name!r}? It can be {', '.join(attacks())}"
    )
