"""One engine for every study: example by example, kept as it comes, resumed where it was cancelled or killed."""

import abc
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from core.data.examples import Example
from core.evaluation.meter import Meter
from core.evaluation.questions import Answers, Question
from core.evaluation.sampling import Sample
from core.evaluation.store_log import StoreLog
from core.explanation.explainer import Cost, Explainer
from core.mathematics.stepwise import finish
from core.network.features import Encoded, NoFeatures
from core.network.scheduler import NonFinite
from core.storage.content import Content, Numbers
from core.storage.store import Store
from core.wording import as_json

Found = TypeVar("Found")
# One row: {column: value}; a sentence is text here and a place in a list of sentences where it is kept.
Row = dict[str, Any]
# Which of the rows of one example; () where there is one.
Place = tuple[int, ...]


class Column(NamedTuple):
    """One value of a row: its shape (0: as long as in the first row), and its blank, whose type is the array's; "" for
    a text, None for any object, which the store does not take.
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
    """How far a study is. there: bool[N], what is computed; problems: {example: sentence}, what has no row."""

    there: np.ndarray
    problems: dict[int, str]

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


class Study(Question[Any], Generic[Found]):
    """One question that is asked of every example of a sample, and the choices by which it is asked.

    It says its `name`, `columns`, `key`, `row_keys`, `row` and `cost`. Where an example has several rows, `parts` is
    their shape, and `rows` takes the place of `row`. One that is asked by itself is registered, and has `conclude`.

    names: the array of the log with the keys of rows; leaves_out: errors that leave an example out; leads: whether it
    gives the answer alone, and begins unasked; seldom_all: whether most examples take a small part of the most.
    """

    columns: ClassVar[dict[str, Column]]
    names = "rows"
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
    def parts(self) -> tuple[int, ...]:
        """Shape of the rows of one example; () for one."""
        return ()

    @abc.abstractmethod
    def key(self, explainer: Explainer) -> str:
        """Where its rows are kept, for all examples of whatever data."""

    def row_keys(self, subject: Subject) -> list[str]:
        """What each row of an example is kept under, in the order of `parts`: all that it depends on besides `key`."""
        raise NotImplementedError

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

    def excuse(self, problem: str) -> Row | None:
        """A row that keeps why an example has none; None: nothing is kept, and it is asked again next time."""
        return None

    def facts(self, subject: Subject) -> dict[str, float]:
        """What is told of an example before anything is computed."""
        return {"tokens": subject.encoded.T, "cut": subject.encoded.truncation.cut}

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


def run_study(
    explainer: Explainer,
    sample: Sample,
    study: Study[Found],
    store: Store | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    within: Callable[[float], None] | None = None,
) -> Generator[Found, None, Found]:
    """Ask a study of every example of a sample; yields what is known after each, and returns all of it.

    What the store knows is read; texts that cannot be masked, or give NaN, are left out and counted.

    Args:
        progress: called with (examples done, N); within: with how far it is, weighted by cost, before each batch.
    Raises:
        Cancelled, OutOfMemory: what was computed before is kept.
        ValueError: as `Study.check`.
    """
    study.check(explainer.model)
    # The study's own log is the store here: an entry for each forward pass of each example would be thousands of files.
    # One example is what pages show, which know much of it already.
    bare = Explainer(explainer.model, None, explainer.reference, kept=explainer.kept) if len(sample) > 1 else explainer
    log = None if store is None else StoreLog(store, study.key(explainer))
    return (yield from Run(bare, sample, study, log).go(progress, cancelled, within))


def ask(
    explainer: Explainer,
    sample: Sample,
    question: Question,
    store: Store,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    drawn_from: int = 0,
) -> Answers:
    """Ask a question of every example, study by study, resuming; progress: (label of the study, examples done, N).
    ValueError as `Study.check`.
    """
    found = {
        study: finish(run_study(explainer, sample, study, store, progress=partial(progress, study.label)))
        for study in question.studies
    }
    return Answers(explainer.model, explainer.reference, sample, found, drawn_from)


def lacking(found: Known) -> list[int]:
    """The examples that are neither computed nor left out for a problem."""
    return [i for i, there in enumerate(found.there) if not there and i not in found.problems]


def read_study(explainer: Explainer, sample: Sample, study: Study[Found], store: Store) -> Found:
    """What the store knows of a study on a sample; computes nothing."""
    return Run(explainer, sample, study, StoreLog(store, study.key(explainer))).so_far()


def study_cost(
    explainer: Explainer, sample: Sample, study: Study[Found], found: Found | None = None, looked_at: int = 48
) -> Cost:
    """What a study takes at most on examples that are not known, by some of every length; found: what is."""
    left, costs = list(range(len(sample))) if found is None else lacking(cast(Known, found)), []
    rising = sorted((sample.examples[i] for i in left), key=lambda one: (len(one.text), one.text))
    for k in range(parts := min(looked_at, len(rising))):  # the price hangs on the length
        example = rising[(2 * k + 1) * len(rising) // (2 * parts)]
        try:
            costs.append(study.cost(explainer, explainer.encode(example.text, example.second, study.unit), found))
        except NoFeatures:
            continue
    return Cost.sum(costs).times(len(left) / max(1, len(costs)))


class Log(Protocol):
    """Where the rows of a run are kept."""

    @property
    def seconds(self) -> float:
        """What a killed run loses at most."""
        ...

    def read(self, run: "Run") -> Iterator[tuple[int, Place, Row]]:
        """Rows that are there already, each with its example."""
        ...

    def append(self, run: "Run", places: list[tuple[int, Place]]) -> None:
        """Keep rows of the run, each named by its example and place."""


class Run(Known, Generic[Found]):
    """A study on its way over a sample: known, columns and problems as of `Rows`, columns {} before the first row."""

    def __init__(self, explainer: Explainer, sample: Sample, study: Study[Found], log: Log | None):
        self.explainer, self.sample, self.study, self.log = explainer, sample, study, log
        self.known = np.zeros((len(sample), *study.parts), dtype=bool)
        self.columns: dict[str, np.ndarray] = {}
        self.sentences: dict[str, int] = {"": 0}
        self.problems: dict[int, str] = {}
        self.facts: dict[str, np.ndarray] = {}
        self.encoded: dict[int, Encoded] = {}
        self.unsaved: list[tuple[int, Place]] = []
        self.last_saved = time.monotonic()
        self.read()

    @property
    def there(self) -> np.ndarray:
        """Examples of which every row is known, bool[N]."""
        return np.all(self.known, axis=tuple(range(1, self.known.ndim)))

    def missing(self) -> list[int]:
        """Examples that are still to be computed."""
        return lacking(self)

    def go(
        self,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        within: Callable[[float], None] | None = None,
    ) -> Generator[Found, None, Found]:
        """Compute what is missing; yields what is known after each example, and returns all of it."""
        missing, meter = self.missing(), Meter(cancelled)
        try:
            for i in missing:
                if progress is not None:
                    progress(self.done, len(self.sample))
                if within is not None and i == missing[0]:
                    meter.tell(within, self, missing)
                with meter.example():
                    self.add(i, meter.cancelled)
                yield self.so_far()
        finally:
            self.save()
        if progress is not None:
            progress(self.done, len(self.sample))
        return self.so_far()

    def so_far(self) -> Found:
        """A picture of what is known now."""
        columns = self.columns or {
            name: column.blanks(self.known.shape, column.shape) for name, column in self.study.columns.items()
        }
        facts = {name: values.copy() for name, values in self.facts.items()}
        return self.study.report(
            Rows(self.there, dict(self.problems), self.known.copy(), columns, tuple(self.sentences), facts)
        )

    def add(self, i: int, cancelled: Callable[[], bool] | None) -> None:
        """Compute what is not known of one example; one that has no row is noted with its sentence."""
        subject = self.subject(i, cancelled)
        if subject is not None:
            try:
                for place, row in self.study.rows(subject):
                    self.put(i, place, row)
                    self.unsaved.append((i, place))
            except self.study.leaves_out as error:
                self._leave_out(i, str(error))
            finally:
                if len(self.sample) > 1:
                    self.explainer.forget(subject.encoded)
        if self.log is None or time.monotonic() - self.last_saved >= self.log.seconds:
            self.save()

    def read(self) -> None:
        """Take what is kept already."""
        for i, place, row in self.log.read(self) if self.log is not None else ():
            self.put(i, place, row)

    def save(self) -> None:
        """Keep what is not kept yet; what was held of its examples is let go."""
        if self.log is not None and self.unsaved:
            self.log.append(self, self.unsaved)
        for i, _ in self.unsaved:
            self.encoded.pop(i, None)
        self.unsaved, self.last_saved = [], time.monotonic()

    def subject(self, i: int, cancelled: Callable[[], bool] | None = None) -> Subject | None:
        """An example as the model reads it; None where nothing in it can be masked."""
        example, new = self.sample.examples[i], i not in self.encoded
        if new:
            try:
                self.encoded[i] = self.explainer.encode(example.text, example.second, self.study.unit)
            except NoFeatures as error:
                self._leave_out(i, str(error))
                return None
        label = int(self.sample.labels[i])
        subject = Subject(self.explainer, example, label, self.encoded[i], ~self.known[i], cancelled)
        for name, value in self.study.facts(subject).items() if new else ():
            self.facts.setdefault(name, np.full(len(self.sample), np.nan))[i] = value
        return subject

    def put(self, i: int, place: Place, row: Row) -> None:
        """Take a row."""
        if not self.columns:
            self.columns = {
                name: column.blanks(self.known.shape, np.shape(row[name]))
                for name, column in self.study.columns.items()
            }
        for name, column in self.study.columns.items():
            value, held = row[name], self.columns[name]
            if np.shape(value) != held.shape[self.known.ndim :] and column.blank is not None:
                raise ValueError(
                    f"{self.study.name}: {name} of {self.sample.examples[i].id} has the shape {np.shape(value)} and in "
                    f"the rows before {held.shape[self.known.ndim :]}; a column is as long for every example"
                )
            held[(i, *place)] = self.sentences.setdefault(value, len(self.sentences)) if column.sentence else value
        # Last, so that whoever shares the arrays reads whole rows only.
        self.known[(i, *place)] = True

    def fits(self, name: str, shape: tuple[int, ...]) -> bool:
        """Whether a value of this shape can stand in a column."""
        column = self.columns.get(name)
        wanted = self.study.columns[name].shape if column is None else column.shape[self.known.ndim :]
        return len(shape) == len(wanted) and all(there in (0, size) for there, size in zip(wanted, shape))

    def _leave_out(self, i: int, problem: str) -> None:
        row = self.study.excuse(problem)
        if row is None:
            self.problems[i] = problem
        else:
            self.put(i, (), row)
            self.unsaved.append((i, ()))
