"""A result: an outcome, facts and caveats. What is shown of it, anywhere, is formatted from these fields."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Any

from core.results.caveats import Caveat, in_order


class Kind(StrEnum):
    """How a fact's value is written."""

    NUMBER = "number"
    P = "p-value"
    COUNT = "count"
    SHARE = "share"
    TEXT = "text"


class Outcome(Enum):
    """The base of every question's outcomes; a member's value is the name under which it is stored."""

    @classmethod
    def question(cls) -> str:
        """The name of the question, which is also that of its template in `core/texts`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Outcome")).lower()


@dataclass(frozen=True)
class Fact:
    """One number of a result, as it stands in a metric, a table or a file.

    key: its name in files; label: its name on pages; value: None or NaN where it is undefined; kind: how it is written;
    better: "↑" or "↓", "" where neither direction is better; low, high: ends of a 95 % interval, None without one; of:
    the total that a count is out of, 0 for none; marked: whether it rests on out-of-distribution inputs; about: the
    term of the glossary that defines it.
    """

    key: str
    label: str
    value: float | int | str | None
    kind: Kind = Kind.NUMBER
    better: str = ""
    low: float | None = None
    high: float | None = None
    of: int = 0
    marked: bool = False
    about: str = ""


@dataclass(frozen=True)
class Result:
    """What a report comes to.

    outcome: a member of the question's own enumeration; slots: what its headline's template names, numbers and text of
    others; whose: of caveats that hold of some measures alone, these.
    """

    outcome: Outcome
    facts: tuple[Fact, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    slots: Mapping[str, Any] = field(default_factory=dict)
    whose: Mapping[Caveat, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, outcome: Outcome, facts: Iterable[Fact] = (), caveats: Iterable[Caveat] = (), **slots: Any) -> "Result":
        """A result with each caveat once, in the order of the enumeration."""
        return cls(outcome, tuple(facts), in_order(caveats), slots)

    @property
    def question(self) -> str:
        """The question's name."""
        return self.outcome.question()

    @property
    def name(self) -> str:
        """The outcome's name in files."""
        return str(self.outcome.value)

    def fact(self, key: str) -> Fact | None:
        """The fact of this key; None where there is none."""
        return next((one for one in self.facts if one.key == key), None)

    def limited(self, caveats: Iterable[Caveat], facts: Iterable[Fact] = ()) -> "Result":
        """The same with further caveats and facts."""
        return replace(self, caveats=in_order([*self.caveats, *caveats]), facts=(*self.facts, *facts))

    def has(self, caveat: Caveat) -> bool:
        """Whether a caveat holds."""
        return caveat in self.caveats


def as_record(result: Result) -> dict[str, Any]:
    """A result as plain values for JSON: its outcome, the values of its facts, and the names of its caveats."""
    return {
        "question": result.question,
        "outcome": result.name,
        "facts": {one.key: None if one.value != one.value else one.value for one in result.facts},
        "caveats": [one.name for one in result.caveats],
    }


def as_columns(result: Result) -> dict[str, str]:
    """A result as two columns of a table: its outcome, and the names of its caveats."""
    record = as_record(result)
    return {"outcome": record["outcome"], "caveats": ", ".join(record["caveats"])}
