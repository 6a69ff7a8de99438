"""What a data file comes to once it is taken apart, and the error that says why it cannot be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.wording import counted


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
    FIRST_ROWS = "Only first rows read"
    EMPTY_TEXT = "Left out (empty text)"
    EMPTY_SECOND = "Without a second text"
    REPEATED = "Repeated texts"
    ROW_IDS = "Row numbers used as ids (some missing or repeated)"
    NO_EVIDENCE = "Evidence is neither [start, end] pairs nor phrases of the text"
    NO_LABEL = "Without a label"
    MINUS_ONE = "Without a label (−1 included)"
    UNKNOWN_LABEL = "Unknown label, read as none"


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
