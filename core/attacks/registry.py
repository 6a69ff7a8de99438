"""The register of attacks: what menus, commands, training, the README and the contract tests read."""

from collections.abc import Callable
from dataclasses import dataclass, field

from core.attacks.victim import Victim, Words

# Place in menus of an attack that asks for none: behind those that do, by name.
LAST = 1000


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One attack.

    Attributes:
        source: a paper, by author and year.
        compute: `Victim` → the words of the best text that it found; it changes free words only, at most `room` of
            them, and asks the model through its victim alone.
        order: place in menus, ascending.
        version: raised when results change.
    """

    name: str
    source: str
    compute: Callable[[Victim], Words] = field(repr=False)
    order: int = LAST
    version: int = 1


# Those registered so far, by name; `core.attacks.catalogue.attacks` loads them all.
REGISTERED: dict[str, Attack] = {}


def register(attack: Attack) -> Attack:
    """Add an attack; ValueError if its name is taken."""
    if attack.name in REGISTERED:
        raise ValueError(f"{attack.name!r} is registered already")
    REGISTERED[attack.name] = attack
    return attack
