"""What traits of examples are called in menus and files, and what they depend on."""

from collections.abc import Collection

from core.data.browsing import ALONG_ORDER, BY_UNIT
from core.measures.catalogue import default_measures
from pages.parts.frame.data import Sought

_NAMES = {
    "rejected": "first rejected step",
    "changes": "{unit}s until the prediction changes",
    "disagreement": "disagreement of measures",
    "twin": "twin differs",
    "verdict": "verdict of the measure",
}


# What values depend on, and the traits of which that holds.
FACTS = {
    "masked in the order of": ALONG_ORDER,
    "verdicts by Holm over": {"verdict"},
    "measures compared": {"disagreement"},
    "unit": BY_UNIT,
}


def trait_name(name: str, unit: str) -> str:
    """What a trait is called where that is masked as one piece."""
    return _NAMES[name].format(unit=unit)


def trait_facts(traits: Collection[str], asked: Sought) -> dict[str, str]:
    """What values of these traits depend on, for a file: names of columns and what stands in them."""
    usual = default_measures()
    values = asked.measure, ", ".join(dict.fromkeys((asked.measure, *usual))), ", ".join(usual), asked.unit
    return {name: value for (name, of), value in zip(FACTS.items(), values) if {*of} & {*traits}}
