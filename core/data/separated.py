"""Take CSV and TSV apart: which separator, how quotation marks are meant, whether there is a header.

On 61 files as spreadsheets, pandas and R write them (tests/data) and 58 hostile ones (tests/hostile.py) it read more
right than DuckDB's sniffer and CleverCSV.
"""

import csv
import io
import re
import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from core.data.parquets import TooMuch, check_columns, check_count
from core.data.parsed import BadData, Parsed, Repair, no_rows, noted
from core.wording import listed

_SEPARATORS = ",;\t|"
_LIMIT = threading.Lock()
_END = "end of the file"
_USUAL = frozenset(
    {"text", "sentence", "sentence1", "sentence2", "premise", "hypothesis", "question", "label", "labels", "id", "idx"}
)  # two of them make a header
# How quotation marks can be meant: signs that it takes, how to read it, what to say; the first that fits all rows wins.
_QUOTES = {
    "apostrophes": (r"\A'[^'\n]*'SEP'", {"strict": True, "quotechar": "'"}, ""),
    "paired": ("", {"strict": True}, ""),
    "backslash": (
        r'\\"',
        {"strict": True, "escapechar": "\\", "doublequote": False},
        "Escaped quotation marks read as text.",
    ),
    "spaced": ('SEP "', {"strict": True, "skipinitialspace": True}, "Spaces after separators left out."),
    "escaped": (r"\\SEP", {"quoting": csv.QUOTE_NONE, "escapechar": "\\"}, "Escaped separators read as text."),
    "lenient": ("", {}, "Quotation marks inside quoted cells are not doubled; some may be lost."),
    "literal": ("", {"quoting": csv.QUOTE_NONE}, "Unpaired quotation marks read as text."),
}


def cut(text: str, separator: str, longest: int = 131_072, **quoting: Any) -> list[list[str]]:
    """Rows of cells, without blank lines; csv.Error names the line where a row went wrong begins.

    R numbers rows in a first column that its header leaves out; here that column has a name, an empty one.
    """
    rows, began = [], 1
    # The longest cell is a setting of the whole process.
    with _LIMIT:
        before = csv.field_size_limit(longest)
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, **quoting)
            for row in reader:
                if row:
                    rows.append(row)
                check_count(len(rows) - 1)
                began = reader.line_num + 1
        except csv.Error as error:
            raise csv.Error(f"line {began}: {error}") from error
        finally:
            csv.field_size_limit(before)
    numbers = {row[0] for row in rows[1:] if len(row) == len(rows[0]) + 1 and row[0].isdigit()}
    if text.startswith('"') and rows[1:] and len(numbers) == len(rows) - 1 and any(row[-1] for row in rows[1:]):
        rows[0].insert(0, "")
    return rows


def csv_columns(text: str, name: str, usual: str) -> Parsed:
    """Columns of separated values, without rows of another width. usual: the separator to expect, of , ; tab and |."""
    declared = re.match(r"sep=([,;\t|])\r?\n", text)
    text = text[declared.end() :] if declared else text
    if not text.strip():
        raise no_rows(name)
    separator = declared[1] if declared else _separator(text, usual)
    rows, how = _rows(text, separator, name)
    width = len(rows[0])
    check_columns(width)
    notes = [how] if how else []
    if len(rows) > 1 and _is_data(rows):
        notes.append(f"{Repair.NO_HEADER}.")
        rows.insert(0, [""] * width)
    kept = [i for i, row in enumerate(rows) if i and _fits(row, width)]
    ragged = [i for i, row in enumerate(rows) if i and not _fits(row, width) and (len(row) > 1 or row[0].strip())]
    notes += noted(Repair.RAGGED, ragged)
    if not kept:
        raise BadData(f"{name} holds no rows, only column names: {listed(rows[0])}.")
    cells = [list(column) for column in zip(*(rows[i][:width] for i in kept))]
    # Spreadsheets like to add columns with neither name nor content.
    there = [i for i in range(width) if rows[0][i].strip() or any(cells[i])]
    if not there:
        raise no_rows(name)
    return Parsed([rows[0][i] for i in there], [cells[i] for i in there], notes, kept)


def _separator(text: str, usual: str) -> str:
    """The separator under which the first rows agree best with the header; a space where R wrote the header."""

    def judged(separator: str) -> tuple:
        rows = cut(text[:200_000], separator, longest=len(text) + 1)[:200]
        rows = rows[:-1] if len(text) > 200_000 and len(rows) > 1 else rows
        width = len(rows[0]) if rows else 0
        fitting = sum(_fits(row, width) for row in rows) / max(1, len(rows))
        # Between digits alone, it may be a decimal comma.
        parting = any(not (a[-1:] + b[:1]).isdigit() for row in rows[1:] for a, b in pairwise(row))
        return width > 1, fitting, parting or separator != ",", separator == usual, width

    if re.match(r'\s*"[^"\n]*"( "[^"\n]*")+\r?\n', text):
        return " "
    return max(_SEPARATORS, key=judged)


def _rows(text: str, separator: str, name: str) -> tuple[list[list[str]], str]:
    """All rows and how quotation marks were read: the first way that fits every row, else the one that fits most."""
    best, most, trouble = ([], ""), 0, ""
    for how, rows, problem in _attempts(text, separator):
        trouble = trouble or problem
        fitting = sum(_fits(row, len(rows[0])) for row in rows)
        if rows and fitting == len(rows):
            return rows, _QUOTES[how][2]
        if fitting > most:
            best, most = (rows, _QUOTES[how][2]), fitting
    rows = best[0]
    if len(rows[0]) == 1 and not trouble:
        return [[line] for line in re.split(r"[\r\n]+", text) if line.strip()], f"{Repair.ONE_COLUMN}."
    missing = [i for i, row in enumerate(rows) if not _fits(row, len(rows[0]))]
    if trouble and 20 * len(missing) > len(rows):
        raise BadData(f"{name}, {trouble}: unclosed quotation mark. Close it, or double it in a text.")
    if 2 * len(missing) > len(rows) - 1:
        raise BadData(
            f"{name}: {len(missing):,} of {len(rows) - 1:,} rows, such as row {missing[0]}, lack the header's "
            f"{len(rows[0])} cells. Quote texts that hold {separator!r}."
        )
    return best


def _attempts(text: str, separator: str) -> Iterator[tuple[str, list[list[str]], str]]:
    """Each way to read quotation marks, the likeliest first, with what `_attempt` makes of it."""
    *usual, lenient, literal = _QUOTES
    for how in usual:
        yield how, *_attempt(text, separator, how)
    # Only now, since it takes as long as each of the others.
    try:
        plain = _attempt(text, separator, literal)
    except TooMuch as error:  # lines inside quotes are no rows
        yield lenient, *_attempt(text, separator, lenient)
        raise error
    opened = [cell for row in plain[0] for cell in row if cell.startswith('"')]
    paired = sum(len(cell) > 1 and cell.endswith('"') for cell in opened)
    for how in (literal, lenient) if 2 * paired < len(opened) else (lenient, literal):
        yield how, *(plain if how == literal else _attempt(text, separator, how))


def _attempt(text: str, separator: str, how: str) -> tuple[list[list[str]], str]:
    """Rows under one way to read quotation marks, [] if it cannot be; and the line of the trouble, "" for none."""
    signs, options, _ = _QUOTES[how]
    if not re.search(signs.replace("SEP", re.escape(separator)), text):
        return [], ""
    lines = text if text.endswith(("\n", "\r")) else f"{text}\n"
    try:
        # Lenient reading does not say that the last cell was never closed; a line of our own that is swallowed does.
        rows = cut(f"{lines}{_END}\n" if how == "lenient" else text, separator, longest=len(text) + 100, **options)
    except csv.Error as error:
        return [], str(error).split(":")[0]
    return (rows, "") if how != "lenient" else (rows[:-1] if rows[-1] == [_END] else [], "")


def _fits(row: list[str], width: int) -> bool:
    """Whether a row has the header's number of cells; empty ones too many do no harm."""
    return len(row) == width or (len(row) > width and not any(row[width:]))


def _is_data(rows: list[list[str]]) -> bool:
    """Whether the first row is no header: numbers beside a sentence, a long cell, or a value often repeated below."""
    first, others = [cell.strip() for cell in rows[0]], rows[1:1001]
    if len(_USUAL.intersection(cell.lower() for cell in first)) > 1:
        return False  # whatever stands below them
    numbers = [cell for cell in first if re.fullmatch(r"-?\d+([.,]\d+)?", cell)]
    if any(len(cell) > 120 for cell in first) or (numbers and any(len(cell.split()) > 3 for cell in first)):
        return True
    often = max(1, len(others) // 20)
    return any(
        cell and len(cell) < 50 and sum(len(row) > i and row[i].strip() == cell for row in others) >= often
        for i, cell in enumerate(first[:50])
    )
