"""What a data file comes to once it is taken apart, and the error that says why it cannot be."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.wording import counted, listed


class BadData(ValueError):
    """A data file cannot be used; the message names the file, the line and what to change."""


def no_rows(name: str) -> BadData:
    """The error of a table without rows."""
    return BadData(f"{name} holds no rows.")


class Repair(StrEnum):
    """What was left out, replaced or guessed when data were read; a note names the rows or columns behind it."""

    READ_AS = "Read by content as"
    WINDOWS = "Read as Windows-1252; if letters look wrong, save it as UTF-8"
    DAMAGED = "Damaged characters (\ufffd)"
    HALVES = "Lone surrogates became \ufffd"
    NO_HEADER = "No header: columns are numbered"
    ONE_COLUMN = "Each line read as one cell"
    RAGGED = "Left out (wrong number of cells)"
    LACKING = "Some rows lack"
    NAMELESS = "Unnamed columns became"
    SAME_NAME = "Repeated column names became"
    LOST_COLUMNS = "Left out, neither text nor number: columns"
    SEVERAL = "Left out, several values a row: columns"
    FIRST_ROWS = "Only first rows read"
    EMPTY_TEXT = "Left out (empty text)"
    EMPTY_SECOND = "Without a second text"
    REPEATED = "Repeated texts"
    ROW_IDS = "Row numbers used as ids (some missing or repeated)"
    NO_EVIDENCE = "Evidence is neither [start, end] pairs nor phrases of the text"
    REVERSED = "Pair in unusual order, which a model may read wrongly"
    NO_LABEL = "Without a label"
    MINUS_CLASS = "−1 read as a class; it may mean none"
    SAME_LABEL = "Labels read"
    UNKNOWN_LABEL = "Unknown label"
    UNUSED = "Left out (no label)"


def noted(repair: Repair, rows: Sequence[int], spellings: Iterable[object] = ()) -> list[str]:
    """The note on rows that were repaired, and on what stood there; [] where there are none."""
    written = listed(map(repr, dict.fromkeys(spellings)))
    return [f"{repair}{f' ({written})' if written else ''}: {counted(rows)}."] if rows else []


@dataclass(eq=False)
class Parsed:
    """Columns as found; rows: the file's numbers of the N rows, () for 1…N; notes and classes as RawTable's."""

    columns: list
    cells: list[list]
    notes: list[str] = field(default_factory=list)
    rows: Sequence[int] = ()
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
