"""Questions that can be asked of any sample, and their register."""

import abc
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from core.evaluation.findings import FEW
from core.evaluation.sampling import Sample
from core.network.model import Model
from core.validity.references import Reference
from core.wording import Tally

if TYPE_CHECKING:
    from core.evaluation.engine import Study

Report = TypeVar("Report")
Table = tuple[list[str], list[list[str]]]
# Place in menus of a question that asks for none: behind those that do, by name.
LAST = 1000


class Offered(NamedTuple):
    """A choice that a question has of its own: what is offered, the default in front, and what it is about."""

    offered: tuple[Any, ...]
    about: str


def choice(default: Any, offered: tuple[Any, ...], about: str) -> Any:
    """A field of a question that the command and the page offer; what several questions share they know by its name:
    measures, metrics, sign, unit, erasure, scaling, draws, baseline, count and seed.
    """
    offered = (default, *(one for one in offered if one != default))
    return field(default=default, metadata={"choice": Offered(offered, about)})


@dataclass(frozen=True, eq=False)
class Answers:
    """What is known of a question on a sample under one model; nothing of it changes.

    found: {study: what it reports}, in the question's order; drawn_from: of how many examples the sample was drawn;
    coming: the studies of which more is on its way.
    """

    model: Model
    reference: Reference | None
    sample: Sample
    found: dict[Any, Any]
    drawn_from: int = 0
    coming: frozenset = frozenset()

    @property
    def complete(self) -> bool:
        """Whether no row is to come any more."""
        return all(one.complete for one in self.found.values())

    @property
    def resamples(self) -> int:
        """Of intervals: fewer while more examples are still to come."""
        return 9_999 if self.complete else 999

    def tally(self, studies: "Sequence[Study] | None" = None) -> Tally:
        """How far these studies (all by default) are: the least far of those under way, else the furthest."""
        asked = [study for study in self.found if studies is None or study in studies]
        coming = [study for study in asked if study in self.coming and not self.found[study].complete]
        how_far = {study: self.found[study].done for study in asked}
        told = min(coming, key=how_far.__getitem__) if coming else max(asked, key=how_far.__getitem__)
        one = self.found[told]
        return Tally(int(one.there.sum()), len(one), len(one.problems), bool(coming), fewest=FEW)

    @property
    def left_out(self) -> dict[str, int]:
        """Why examples have no row in any study: {sentence: examples}."""
        return dict(Counter({i: why for one in self.found.values() for i, why in one.problems.items()}.values()))


class Question(abc.ABC, Generic[Report]):
    """A question, a frozen dataclass of the choices by which it is asked, `unit` among them.

    asks: the question in words; done: what is done to an example, "could not be …"; order: place in menus, ascending;
    page: the page that it has a place on; labelled: whether it is asked of labelled examples.
    """

    name: str
    unit: str
    asks: ClassVar[str] = ""
    done: ClassVar[str] = "answered"
    order: ClassVar[int] = LAST
    page: ClassVar[str] = "Data set"
    labelled: ClassVar[bool] = False

    @classmethod
    def choices(cls) -> tuple[str, ...]:
        """By what it can be asked."""
        return tuple(one.name for one in fields(cast(Any, cls)))

    @classmethod
    def own_choices(cls) -> dict[str, Offered]:
        """Those of them that are its own, each with what is offered, the default in front."""
        return {one.name: one.metadata["choice"] for one in fields(cast(Any, cls)) if "choice" in one.metadata}

    @classmethod
    def unasked(cls, name: str) -> Any:
        """What a choice is where nobody chooses."""
        (one,) = (one for one in fields(cast(Any, cls)) if one.name == name)
        return one.default if one.default_factory is MISSING else one.default_factory()

    @classmethod
    def asked(cls, chosen: Mapping[str, Any]) -> "Question":
        """The question by what is chosen; what it has no choice of is passed over, and the rest is as it is unasked."""
        given = {name: chosen[name] for name in cls.choices() if name in chosen}
        return cls(**{name: tuple(one) if isinstance(one, list) else one for name, one in given.items()})

    @property
    @abc.abstractmethod
    def studies(self) -> "tuple[Study, ...]":
        """By which it is asked, the one that answers first in front."""

    def beside(self) -> "Question":
        """As it is asked of a model that stands beside the one it is about."""
        return self

    def check(self, model: Model | None = None) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out, as far as can be told."""

    @abc.abstractmethod
    def conclude(self, answers: Answers) -> Report | None:
        """What the answers come to; None while nothing can be said."""

    def tables(self, report: Report) -> list[Table]:
        """A report in tables of text, each (header, rows)."""
        return []

    @abc.abstractmethod
    def records(self, answers: Answers) -> list[dict]:
        """A line or several for each example, of plain values: its id as "example", "problem" where there is one."""

    def as_json(self, answers: Answers) -> dict:
        """Answers and what they come to as plain values for a JSON file."""
        report = self.conclude(answers)
        return {
            "question": self.asks,
            "name": self.name,
            "choices": asdict(cast(Any, self)),
            "model": answers.model.name,
            "weights": answers.model.digest,
            "precision": answers.model.precision,
            "data": answers.sample.name,
            "data_sha256": answers.sample.digest,
            "sentences": [],
            "tables": [] if report is None else [[header, *rows] for header, rows in self.tables(report)],
            "examples": self.records(answers),
        }


Asked = TypeVar("Asked", bound=Question)
# Those registered so far, by name; `core.evaluation.studies.catalogue.questions` loads them all.
REGISTERED: dict[str, type[Question]] = {}


def register(question: type[Asked]) -> type[Asked]:
    """Add a question, above its class; ValueError if its name is taken or it asks nothing."""
    if question.name in REGISTERED:
        raise ValueError(f"a question named {question.name!r} is registered already")
    if not question.asks.endswith("?"):
        raise ValueError(f"{question.name!r} asks {question.asks!r}, which is no question")
    REGISTERED[question.name] = question
    return question
