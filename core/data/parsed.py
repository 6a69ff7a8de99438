"""What a data file comes to once it is taken apart, and the error that says why it cannot be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.wording import counted


class BadData(ValueError):
    """A data file cannot be used; the message names the file, the line and what to change."""


class Repair(StrEnum):
    """What was left out, replaced or guessed when data were read; a note names the rows or columns behind it."""

    READ_AS = "Read by its content, not by its ending, as"
    WINDOWS = "Read as Windows-1252; if letters look wrong, save it as UTF-8"
    DAMAGED = "Damaged characters are shown as \ufffd"
    HALVES = "Halves of characters were replaced by \ufffd"
    NO_HEADER = "The first row looks like data, so the columns were given names"
    ONE_COLUMN = "The header names one column, so each line was read as one cell"
    RAGGED = "Left out, since the number of cells is not the header's"
    LACKING = "Not all rows have"
    NAMELESS = "Columns without a name were called"
    SAME_NAME = "Columns with a name that is taken were called"
    LOST_COLUMNS = "Left out, since they hold neither text nor number: columns"
    FIRST_ROWS = "The split holds more rows than were read"
    EMPTY_TEXT = "Left out, since the text is empty"
    EMPTY_SECOND = "Read as a single text, since the second is empty"
    REPEATED = "Texts that occur in an earlier row too"
    ROW_IDS = "Row numbers are the ids, since the column of ids lacks or repeats some"
    NO_EVIDENCE = "Read without evidence, since it is no list of [start, end] characters or of phrases of the text"
    NO_LABEL = "Without a label"
    MINUS_ONE = "Without a label, −1 included, since it is no label name"
    UNKNOWN_LABEL = "Read without a label, since it is neither a label name nor the number of one"


def noted(repair: Repair, rows: Sequence[int]) -> list[str]:
    """The note on rows that were repaired; [] where there are none."""
    return [f"{repair}: {counted(rows)}."] if rows else []


@dataclass(eq=False)
class Parsed:
    """Columns as found; rows: the file's numbers of the N rows, () for 1…N; notes and classes as RawTable's."""

    columns: list
    cells: list[list]
    notes: list[str] = field(default_factory=list)
    rows: Sequence[int] = ()
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
