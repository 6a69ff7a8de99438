"""The contract of every question over data: its columns and rows, the study that computes them, and its register."""

import abc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np

from core.data.examples import Example
from core.evaluation.findings import FEW
from core.evaluation.sampling import Sample
from core.explanation.explainer import Cost, Explainer
from core.network.features import Encoded, NoFeatures
from core.network.model import Model
from core.network.scheduler import NonFinite
from core.storage.content import Content, Numbers
from core.storage.store import canonical_key
from core.validity.references import Reference
from core.wording import Tally, as_json

Found = TypeVar("Found")
# One row: {column: value}; a sentence is text here and a place in a list of sentences where it is kept.
Row = dict[str, Any]
# Which of the rows of one example; () where there is one.
Place = tuple[int, ...]


class Column(NamedTuple):
    """One value of a row: its shape (0: as long as in the first row), and its blank, whose type is the array's; "" for
    a text.
    """

    shape: tuple[int, ...] = ()
    blank: Any = np.nan

    @property
    def sentence(self) -> bool:
        return isinstance(self.blank, str)

    def blanks(self, rows: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
        """An array of so many rows of a shape in which nothing is known."""
        return np.full((*rows, *shape), np.int32(0) if self.sentence else self.blank)

    @property
    def numbers(self) -> Numbers:
        """One value as it is kept: any number, and NaN where that is its blank."""
        blank = self.blanks((), ())
        shape = tuple(length or None for length in self.shape)
        low = 0 if self.sentence else -np.inf
        return Numbers(blank.dtype.name, shape, low, nan=blank.dtype.kind == "f" and bool(np.isnan(blank)))


@dataclass(frozen=True, eq=False)
class Subject:
    """An example as the model reads it. label: a class of the model; missing: bool[*parts], rows that are not known."""

    explainer: Explainer
    example: Example
    label: int
    encoded: Encoded
    missing: np.ndarray
    cancelled: Callable[[], bool] | None = None


class Known:
    """How far a study is. there: bool[N], what is computed; problems: {example: sentence}, what has no row; typed: in
    how many examples a special token is typed.
    """

    there: np.ndarray
    problems: dict[int, str]
    typed: int = 0

    def __len__(self) -> int:
        return len(self.there)

    @property
    def done(self) -> int:
        """Examples that are computed or have a problem."""
        return int(self.there.sum()) + len(self.problems)

    @property
    def complete(self) -> bool:
        return self.done == len(self)


@dataclass(frozen=True, eq=False)
class Rows(Known):
    """The rows of N examples, as far as they are known; the columns are shared: not to be changed.

    known: bool[N, *parts]; columns: {column: array[N, *parts, *shape]}, sentences as places in `sentences`; facts:
    {fact: float64[N]} of `Study.facts`, NaN where an example was not read.
    """

    there: np.ndarray
    problems: dict[int, str]
    known: np.ndarray
    columns: dict[str, np.ndarray]
    sentences: tuple[str, ...]
    facts: dict[str, np.ndarray]

    def fact(self, name: str) -> np.ndarray:
        """float64[N], NaN where nothing is known."""
        return self.facts.get(name, np.full(len(self), np.nan))

    @property
    def cut(self) -> dict[int, int]:
        """Examples that are longer than the model reads, {example: tokens that it reads}."""
        tokens = self.fact("tokens")
        return {int(i): int(tokens[i]) for i in np.flatnonzero(self.fact("cut") == 1)}

    @property
    def typed(self) -> int:
        """In how many a special token is typed."""
        return int((self.fact("typed") == 1).sum())


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

    found: {study: what it reports}, in the question's order; coming: the studies of which more is on its way.
    """

    model: Model
    reference: Reference | None
    sample: Sample
    found: dict[Any, Any]
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
    page: the page that it has a place on; labelled: whether it is asked of labelled examples; shown_of: a bundled model
    and data of which its answer ships, where few others have one.
    """

    name: str
    unit: str
    asks: ClassVar[str] = ""
    done: ClassVar[str] = "answered"
    order: ClassVar[int] = LAST
    page: ClassVar[str] = "Data set"
    labelled: ClassVar[bool] = False
    shown_of: ClassVar[tuple[str, str] | None] = None

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

    def together(self, every: "Sequence[Answers]") -> "Sequence[Answers]":
        """The answers of models beside one another, with what only all of them show."""
        return every

    def check(self, model: Model | None = None) -> None:
        """ValueError with a sentence for the first choice that cannot be carried out, as far as can be told."""

    @abc.abstractmethod
    def conclude(self, answers: Answers) -> Report | None:
        """What the answers come to; None while nothing can be said."""

    def without_effect(self, answers: Answers) -> int:
        """Examples on which masking changes nothing, as far as its rows show that."""
        return 0

    def tables(self, report: Report) -> list[Table]:
        """A report in tables of text, each (header, rows)."""
        return []

    @abc.abstractmethod
    def records(self, answers: Answers) -> list[dict]:
        """A line or several for each example, of plain values: its id as "example", "problem" where there is one."""


class Study(Question[Any], Generic[Found]):
    """One question that is asked of every example of a sample, and the choices by which it is asked.

    It says its `name`, `columns`, `key`, `row_keys`, `row` and `cost`. Where an example has several rows, `parts` is
    their shape, and `rows` takes the place of `row`. One that is asked by itself is registered, and has `conclude`.

    kept, version: see `key`; names: the array of the log with the keys of rows; leaves_out: errors that leave an
    example out; leads: whether it gives the answer alone, and begins unasked; seldom_all: whether most examples take a
    small part of the most.
    """

    columns: ClassVar[dict[str, Column]]
    kept, version, names = "", 1, "rows"
    leaves_out: tuple[type[Exception], ...] = (NonFinite, NoFeatures)
    leads = False
    seldom_all = False

    @property
    def label(self) -> str:
        """What it is called as work."""
        return self.name

    @property
    def studies(self) -> "tuple[Study, ...]":
        """Itself."""
        return (self,)

    @property
    def wider(self) -> Any:
        """One whose rows of an example serve for its own, under the same `row_keys`; None: there is none."""
        return None

    @property
    def parts(self) -> tuple[int, ...]:
        """Shape of the rows of one example; () for one."""
        return ()

    def key(self, explainer: Explainer) -> str:
        """Where its rows are kept, for all examples of whatever data: under `kept`, or its name, and `version`."""
        model, about = explainer.model, self.rests_on(explainer)
        about |= {"model": model.digest, "precision": model.precision, "unit": self.unit}
        return canonical_key(self.kept or self.name, self.version, **about)

    def rests_on(self, explainer: Explainer) -> dict[str, Any]:
        """What rows depend on, of whatever example, beside model, precision and unit."""
        return {}

    def row_keys(self, subject: Subject) -> list[str]:
        """What each row of an example is kept under, in the order of `parts`: all that it depends on besides `key`; the
        example as the model reads it, where nothing else is said.
        """
        return [canonical_key(f"{self.name}/row", 1, example=subject.encoded.digest)]

    def row(self, subject: Subject) -> Row:
        """The row of an example; raises one of `leaves_out` where it has none."""
        raise NotImplementedError

    def rows(self, subject: Subject) -> Iterator[tuple[Place, Row]]:
        """The missing rows of an example, each with its place in `parts`, as they are computed."""
        yield (), self.row(subject)

    def content(self, explainer: Explainer) -> Content:
        """What the values of a row may be; what is read from the log and is no such row is computed again."""
        return Content({name: column.numbers for name, column in self.columns.items()})

    def fits(self, explainer: Explainer, place: Place, row: Row) -> bool:
        """Whether values that are such can be the row in this place of an example."""
        return True

    def facts(self, subject: Subject) -> dict[str, float]:
        """What is told of an example before anything is computed."""
        return {
            "tokens": subject.encoded.T,
            "cut": subject.encoded.truncation.cut,
            "typed": subject.encoded.typed_special,
        }

    @abc.abstractmethod
    def cost(self, explainer: Explainer, encoded: Encoded, found: Found | None = None) -> Cost:
        """What one example takes at most; found: what is known already, where that is counted off."""

    def report(self, rows: Rows) -> Found:
        """What the rows come to, the rows themselves where nothing else is said; never changed later."""
        return cast(Found, rows)

    def conclude(self, answers: Answers) -> Any:
        """What it reports; None before the first example."""
        found = answers.found[self]
        return found if found.there.any() else None

    def records(self, answers: Answers) -> list[dict]:
        """A line for each example, with its columns where `report` gives rows that are one for each example."""
        rows, lines = cast(Rows, answers.found[self]), []
        for i, example in enumerate(answers.sample.examples):
            line = {"example": example.id, "problem": rows.problems.get(i), "cut": i in rows.cut}
            for name, column in self.columns.items() if rows.there[i] else ():
                value = rows.columns[name][i]
                line[name] = rows.sentences[value] if column.sentence else as_json(value)
            lines.append(line)
        return lines


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
