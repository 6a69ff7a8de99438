"""A study on its way over a sample: example by example, kept as it comes, resumed where it was cancelled or killed."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol

import numpy as np

from core.evaluation.sampling import Sample
from core.evaluation.study import Found, Known, Place, Row, Rows, Study, Subject
from core.explanation.explainer import Explainer
from core.network.features import Encoded, NoFeatures
from core.network.tokens import Tokens, read_tokens
from core.storage.shelf import Shelf

# An example that takes more than it was thought to is nearly done until it is.
_NEARLY = 0.95
# Texts as a model reads them, by their places in a sample and their unit, and so many that studies share.
Texts = dict[tuple[int, str], Encoded]
_SHARED = 10_000
# So many are tokenised together where their rows are looked for, unless they are long: their tokens are held.
_AHEAD, _LONG = 256, 2_000


class Counted(Protocol):
    """What has forward passes that were made."""

    @property
    def passes(self) -> int: ...


class Meter:
    """How far a study is, in examples weighted by cost, reported whenever it asks `cancelled`."""

    def __init__(self, cancelled: Callable[[], bool] | None):
        self.cancelled = self._asked = cancelled
        self._tell: Callable[[float], None] | None = None

    def tell(self, tell: Callable[[float], None], done: int, claims: Sequence[int], counted: Counted) -> None:
        """Tell from now on, never less than before, up to the number of all examples; done: so many of them; claims:
        forward passes that each of the others takes at most; counted: has those that were made.
        """
        # An example without passes takes a moment, too.
        whole = sum(claim + 1 for claim in claims)
        self._weights = [len(claims) * (claim + 1) / whole for claim in claims]
        self._claims, self._counted, self._tell = claims, counted, tell
        self._done, self._at, self._began = float(done), 0, 0
        # Passes that were claimed and made of the examples before: masks that come twice are read once.
        self._claimed = self._made = 0.0
        self.cancelled = self._asks
        tell(self._done)

    @contextmanager
    def example(self) -> Generator[None]:
        """The next example, from its beginning to its end."""
        if self._tell is None:
            yield
            return
        self._began = self._counted.passes
        yield
        self._claimed += self._claims[self._at]
        self._made += self._counted.passes - self._began
        self._done += self._weights[self._at]
        self._at += 1
        self._tell(self._done)

    def _asks(self) -> bool:
        claim, made = self._claims[self._at], self._counted.passes - self._began
        due = claim * (self._made / self._claimed if self._made else 1.0)
        if self._tell is not None:
            self._tell(self._done + self._weights[self._at] * min(_NEARLY, made / max(1.0, due)))
        return self._asked is not None and self._asked()


def lacking(found: Known) -> list[int]:
    """The examples that are neither computed nor left out for a problem."""
    return [i for i, there in enumerate(found.there) if not there and i not in found.problems]


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
    """A study on its way over a sample: known, columns and problems as of `Rows`, columns {} before the first row.

    texts: examples as the model reads them, which the studies of a question share.
    """

    def __init__(
        self, explainer: Explainer, sample: Sample, study: Study[Found], log: Log | None, texts: Texts | None = None
    ):
        self.texts = texts
        self.explainer, self.sample, self.study, self.log = explainer, sample, study, log
        self.known = np.zeros((len(sample), *study.parts), dtype=bool)
        self.columns: dict[str, np.ndarray] = {}
        self.sentences: dict[str, int] = {"": 0}
        self.problems: dict[int, str] = {}
        self.facts: dict[str, np.ndarray] = {}
        self.encoded: dict[int, Encoded] = {}
        self.unsaved: list[tuple[int, Place]] = []
        self.ahead: dict[int, Tokens] | None = None
        self.last_saved = time.monotonic()
        self.read()

    @property
    def there(self) -> np.ndarray:
        """Examples of which every row is known, bool[N]."""
        return np.all(self.known, axis=tuple(range(1, self.known.ndim)))

    def go(
        self,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        within: Callable[[float], None] | None = None,
    ) -> Generator[Found, None, Found]:
        """Compute what is missing; yields what is known after each example, and returns all of it."""
        missing, meter = lacking(self), Meter(cancelled)
        try:
            for i in missing:
                if progress is not None:
                    progress(self.done, len(self.sample))
                if within is not None and i == missing[0]:
                    meter.tell(within, self.done, [self._claim(j) for j in missing], self.explainer)
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
        subject, shelf = self.subject(i, cancelled), self.explainer.store
        if subject is not None:
            if isinstance(shelf, Shelf):
                shelf.open(self.explainer.model.digest, subject.encoded.digest)
            try:
                for place, row in self.study.rows(subject):
                    self.put(i, place, row)
                    self.unsaved.append((i, place))
            except self.study.leaves_out as error:
                self.problems[i] = str(error)
            finally:
                if len(self.sample) > 1:
                    self.explainer.forget(subject.encoded)
                if isinstance(shelf, Shelf):
                    shelf.close()
        if self.log is None or time.monotonic() - self.last_saved >= self.log.seconds:
            self.save()

    def read(self) -> None:
        """Take what is kept already."""
        self.ahead = {}
        for i, place, row in self.log.read(self) if self.log is not None else ():
            self.put(i, place, row)
        self.ahead = None

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
                self.encoded[i] = self._read(i)
            except NoFeatures as error:
                self.problems[i] = str(error)
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
            if np.shape(value) != held.shape[self.known.ndim :]:
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

    def _read(self, i: int) -> Encoded:
        example, texts, key = self.sample.examples[i], self.texts, (i, self.study.unit)
        if texts is not None and key in texts:
            return texts[key]
        unit, maskable = self.study.unit, self.sample.maskable
        encoded = self.explainer.encode(example.text, example.second, unit, maskable, self._tokens(i))
        if texts is not None and len(texts) < _SHARED:
            texts[key] = encoded
        return encoded

    def _tokens(self, i: int) -> Tokens | None:
        """An example's tokens, read together with those behind it while rows are looked for; None: by themselves."""
        if self.ahead is None:
            return None
        if i not in self.ahead:
            some = self.sample.examples[i : i + _AHEAD]
            texts, seconds = [one.text for one in some], [one.second or "" for one in some]
            if any(seconds) != all(seconds) or max(map(len, texts + seconds)) > _LONG:
                return None
            model = self.explainer.model
            found = read_tokens(model.tokenizer, texts, seconds if any(seconds) else None, model.max_tokens)
            self.ahead = dict(enumerate(found, i))
        return self.ahead.pop(i)

    def _claim(self, i: int) -> int:
        """Forward passes that an example takes at most; 0 where nothing in it can be masked."""
        try:
            encoded = self._read(i)
        except NoFeatures:
            return 0
        return self.study.cost(self.explainer, encoded).passes
