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


def trait_name(name: str, unit: str) -> str:
    """What a trait is called where that is masked as one piece."""
    return _NAMES[name].format(unit=unit)


def trait_facts(traits: Collection[str], asked: Sought) -> dict[str, str]:
    """What values of these traits depend on, for a file: names of columns and what stands in them."""
    facts = {"masked in the order of": asked.measure} if ALONG_ORDER & {*traits} else {}
    together = ", ".join(dict.fromkeys((asked.measure, *default_measures())))
    facts |= {"verdicts by Holm over": together} if "verdict" in traits else {}
    facts |= {"measures compared": ", ".join(default_measures())} if "disagreement" in traits else {}
    return facts | ({"unit": asked.unit} if BY_UNIT & {*traits} else {})
