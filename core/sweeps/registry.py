"""The contract of every table of a sweep, what it is made of, and its register."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from core import sweeps as room
from core.evaluation.study import Answers, Question
from core.registers import load_files

# A line of a table: {column: plain value}; None: undefined.
Line = dict[str, Any]
# How a table is drawn: curves over masking ratios, or dots with their intervals.
CURVES, DOTS = "curves", "dots"


# From the choices of a `Sweep`, each question by its seed: None where one asking holds all of them.
Asks = Callable[[Any], dict[int | None, Question]]


class Reply(NamedTuple):
    """What one model answers on one data set to one question, by a seed or by all."""

    question: Any
    answers: Answers
    seed: int | None

    @property
    def about(self) -> Line:
        """What each line says of it."""
        return {"model": self.answers.model.name, "data": self.answers.sample.name}

    def conclude(self) -> Any:
        """What the answers come to; None where there are none."""
        return self.question.conclude(self.answers)


@dataclass(frozen=True)
class SweepTable:
    """A table of a sweep.

    asks: the questions, by seed; lines: of one model, data set and seed; over: names of other tables, whose lines
    of all models it is made of. down, across, values: columns that name a row, whose values become columns (""),
    and whose numbers fill the cells, {column: header}; one with an interval has columns *_low and *_high. drawn: CURVES
    or DOTS of the first value, "" for no figure; labelled: whether it needs labels;
    reference: a value that a figure marks; averaged: whether means over the seeds of a family say something.
    """

    name: str
    source: str
    asks: Asks
    lines: Callable[[Any], list[Line]]
    down: tuple[str, ...]
    values: Mapping[str, str]
    across: str = ""
    drawn: str = ""
    over: tuple[str, ...] = ()
    labelled: bool = False
    reference: float | None = None
    averaged: bool = True

    @property
    def of_texts(self) -> bool:
        """Whether its lines are of single texts: too long a table for paper."""
        return "example" in self.down


REGISTERED: dict[str, SweepTable] = {}


def register(table: SweepTable) -> SweepTable:
    """Add a table; ValueError if its name is taken."""
    if table.name in REGISTERED:
        raise ValueError(f"a table named {table.name!r} is registered already")
    REGISTERED[table.name] = table
    return table


def sweep_tables() -> dict[str, SweepTable]:
    """Every table by name; those over others behind them."""
    load_files(room)
    return dict(sorted(REGISTERED.items(), key=lambda item: (bool(item[1].over), item[0])))


def asked_by(tables: Sequence[SweepTable], choices: Any) -> list[tuple[Asks, int | None, Question]]:
    """What tables ask, each question and seed once, with what asks it."""
    every = dict.fromkeys(table.asks for table in tables)
    return [(asks, seed, question) for asks in every for seed, question in asks(choices).items()]


def interval_columns(name: str, interval: Any) -> Line:
    """A mean and its ends as columns; None where there are none."""
    cells = {name: interval.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {column: None if value != value else float(value) for column, value in cells.items()}
