"""Every outcome of every question, and slots made up for its template."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

from core import results
from core.metrics.registry import NO_ROOM
from core.results.result import Outcome
from core.texts.rendering import _TEMPLATES

for _module in pkgutil.iter_modules(results.__path__):
    importlib.import_module(f"core.results.{_module.name}")
# A value for each slot that a template may name; text stands for what others wrote.
SLOTS: dict = {
    "count": 3,
    "unit": "word",
    "measure": "leave-one-out",
    "measures": ["leave-one-out", "gradient"],
    "label": "positive",
    "right": 2,
    "hard": ["leave-one-out"],
    "soft": ["gradient"],
    "kinds": ["hard", "soft"],
    "way": 0.877,
    "share": 0.877,
    "model": "sst2-fmm",
    "low": 11,
    "high": 44,
    "ratio": 0.3,
    "fewest": 20,
    "done": "scored",
    "metric": "Soft-NS",
    "against": "shuffles of their own scores",
    "metrics": ["NS", "Soft-NC"],
    "why": NO_ROOM,
    "called": "fall of the probability",
    "mean": 0.31,
    "word": "dull",
    "texts": 12,
    "attack": "DeepWordBug",
    "other": "sst2-plain",
}
SLOTS |= {"after": "negative", "together": ["not", "bad"], "twice": ["dull", "boring"]}
SLOTS |= {"words": ["not", "bad"], "rejected": ["sst2-plain"]}
SLOTS |= {"cheapest": ["gradient"], "figure": "comprehensiveness", "total": 24, "needed": 20, "passes": 11}
# Of ours: no name of others.
_OURS = {"unit", "kinds", "done", "against", "why"}


def _slots(outcome: Outcome) -> list[str]:
    """What the template of an outcome names."""
    text = (_TEMPLATES / f"{outcome.question()}.j2").read_text(encoding="utf-8")
    block = re.search(rf"{{% block {outcome.name} %}}(.*?){{% endblock %}}", text, re.DOTALL)
    assert block, f"{outcome} has no template"
    # A noun in quotation marks, as in {{ count | amount("measure") }}, is no slot.
    named = re.sub(r'"[^"]*"', "", block[1])
    return [name for name in SLOTS if re.search(rf"{{{{[^}}]*\b{name}\b", named)]


OUTCOMES: dict[type[Outcome], dict[Outcome, list[str]]] = {
    question: {one: _slots(one) for one in question} for question in Outcome.__subclasses__() if len(question)
}


def outcomes() -> Iterator[Outcome]:
    for question in OUTCOMES:
        yield from question


def names_others(outcome: Outcome) -> bool:
    """Whether the template of an outcome names text of others."""
    return any(isinstance(SLOTS[slot], str | list) and slot not in _OURS for slot in _slots(outcome))


def slots_of(outcome: Outcome, name: str | None = None, count: int = 3) -> dict:
    """Slots for the template of an outcome; name: of every text of others in it."""
    made = {slot: SLOTS[slot] for slot in _slots(outcome)}
    for slot, value in made.items():
        if isinstance(value, str) and slot not in _OURS and name is not None:
            made[slot] = name
        if isinstance(value, list) and slot not in _OURS and name is not None:
            made[slot] = [name, *value[1:]][:count]
        if slot == "count":
            made[slot] = count
    return made
