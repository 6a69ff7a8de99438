"""Take data files apart: bytes into text, text into rows, rows into columns, before anyone says what they mean."""

import codecs
import csv
import io
import json
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.data.parquets import MOST_COLUMNS, MOST_ROWS, TooMuch, class_names, column_values, open_parquet

# Keys that rows lack: each takes a place in memory and none in the file.
MOST_GAPS = 10_000_000
KINDS = {".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
USE = "Use .jsonl, .csv, .tsv or .parquet."
_PICTURE, _ARCHIVE = (
    f"is a picture, not a table. {USE}",
    "is a compressed archive. Unpack it, and give the file inside.",
)
_EXCEL, _BINARY = (
    "is an Excel workbook. Save it as CSV (UTF-8), and give that file.",
    f"is a binary file of another kind. Save its table as one that is read here. {USE}",
)
_PICKLE = "is a Python pickle; these can run foreign code and are never opened. Save the table as CSV or Parquet."
_FOREIGN = (
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP", _PICTURE),
    (rb"PK\x03\x04.{0,4000}?(xl/|\[Content_Types\]\.xml)|\xd0\xcf\x11\xe0", _EXCEL),
    (rb"PK\x03\x04|\x1f\x8b|BZh\d1AY|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!\x1a", _ARCHIVE),
    (rb"\x80[\x02-\x05]", _PICKLE),
    (rb"%PDF-|SQLite format 3\0|ARROW1|\x93NUMPY|\x89HDF|\x7fELF", _BINARY),
    (rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype html|html)", "is a web page, not a table. Download the file itself."),
    (rb"version https://git-lfs", "is a pointer of Git LFS, not the data itself. Fetch the file with “git lfs pull”."),
)
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_SEPARATORS = ",;\t|"
_LIMIT = threading.Lock()
_END = "end of the file"
_USUAL = frozenset(
    {"text", "sentence", "sentence1", "sentence2", "premise", "hypothesis", "question", "label", "labels", "id", "idx"}
)  # two of them make a header
_QUOTES = {  # how quotation marks can be meant, and what to say of it; the first that fits every row is taken
    "paired": ({"strict": True}, ""),
    "backslash": (
        {"strict": True, "escapechar": "\\", "doublequote": False},
        "Quotation marks after a backslash were read as part of the text.",
    ),
    "spaced": ({"strict": True, "skipinitialspace": True}, "Spaces after a separator were left out."),
    "lenient": ({}, "Some quotation marks inside quoted cells are not doubled; those cells may have lost one."),
    "literal": (
        {"quoting": csv.QUOTE_NONE},
        "Quotation marks are not paired, so they were read as ordinary characters.",
    ),
}


class BadData(ValueError):
    """A data file cannot be used; the message names the file, the line and what to change."""


@dataclass(eq=False)
class Parsed:
    """Columns as found; rows: the file's numbers of the N rows, () for 1…N; notes and classes as RawTable's."""

    columns: list
    cells: list[list]
    notes: list[str] = field(default_factory=list)
    rows: Sequence[int] = ()
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)


def listed(items: Iterable, most: int = 5) -> str:
    """Some items for a sentence: "3, 4, 5 and 12 more"."""
    items = [" ".join(str(item).split()) for item in items]
    items = [item if len(item) <= 60 else f"{item[:59]}…" for item in items]
    return ", ".join(items[:most]) + (f" and {len(items) - most:,} more" if len(items) > most else "")


def counted(rows: Sequence[int]) -> str:
    """How many rows and which, for a sentence: "2 rows (4, 7)"."""
    return f"{len(rows):,} row{'' if len(rows) == 1 else 's'} ({listed(rows)})"


def parse(content: bytes, name: str) -> Parsed:
    """Take a file apart by its ending, or by its content where that says clearly otherwise.

    Raises:
        BadData: it is no table that can be read, or holds more than fits.
    """
    try:
        return _parsed(content, name)
    except TooMuch as error:
        raise BadData(f"{name} {str(error).removeprefix('it ')}. Split it.") from error


def _parsed(content: bytes, name: str) -> Parsed:
    if not content.strip():
        raise BadData(f"{name} is empty.")
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    if content.startswith(b"PAR1"):
        found = parquet_columns(content, name)
        found.notes += [] if ending == ".parquet" else [f"{name} is a Parquet file and was read as one."]
        return found
    for start, what in _FOREIGN:
        if re.match(start, content[:5000], re.DOTALL):
            raise BadData(f"{name} {what}")
    kind = KINDS.get(ending)
    if kind is None:
        raise BadData(
            f"{name}: files ending in {ending or 'nothing'} are not read. "
            + ("Save it as CSV (UTF-8)." if ending.startswith(".xls") else USE)
        )
    if kind == "parquet":
        raise BadData(
            f"{name} is no Parquet file, or its beginning is damaged. If it is CSV or JSON Lines, name it .csv or "
            f".jsonl."
        )
    text, notes = decoded(content, name)
    if not text.strip():
        raise BadData(f"{name} is empty.")
    if kind == "csv" and _is_object(text.lstrip().split("\n", 1)[0]):
        kind, notes = "json", [*notes, f"{name} holds JSON Lines and was read as such."]
    found = json_columns(text, name) if kind == "json" else csv_columns(text, name, "\t" if ending == ".tsv" else ",")
    found.notes[:0] = notes
    return found


# ---- text


def decoded(content: bytes, name: str) -> tuple[str, list[str]]:
    """A file's text and notes on its encoding: by its byte-order mark, else UTF-8, else Windows-1252; never with NUL in
    it.
    """
    mark, encoding = next(((mark, encoding) for mark, encoding in _MARKS if content.startswith(mark)), (b"", ""))
    if not mark and b"\0" in content[:1000]:
        # Text in Western letters with every second byte empty is UTF-16 that lost its mark.
        zeros = [content[i:1000:2].count(0) / max(1, len(content[i:1000:2])) for i in (0, 1)]
        encoding = (
            "UTF-16-LE"
            if zeros[1] > 0.6 and zeros[0] < 0.1
            else "UTF-16-BE"
            if zeros[0] > 0.6 and zeros[1] < 0.1
            else ""
        )
    if encoding:
        try:
            text, notes = content.decode(encoding), [f"{name} was read as {encoding[:6]}."]
        except UnicodeDecodeError as error:
            raise BadData(
                f"{name} begins as {encoding[:6]} text, but is damaged further on. Save it again as UTF-8."
            ) from error
    else:
        text, notes = _unmarked(content.removeprefix(codecs.BOM_UTF8), name)
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadData(
            f"{name}, line {line}: there is a NUL byte, which no text holds. The file is damaged or of another kind; "
            f"save it again as UTF-8."
        )
    return text, notes


def _unmarked(content: bytes, name: str) -> tuple[str, list[str]]:
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    text = content.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    # Letters outside ASCII hardly ever form valid UTF-8 by chance: a few bad bytes among them are damage, not another
    # encoding.
    if len(re.findall(r"[^\x00-\x7f]", text)) > 2 * bad:
        return text, [
            f"{name} is UTF-8 with {bad} damaged character{'' if bad == 1 else 's'} (first in line {line}), shown as "
            f"\ufffd."
        ]
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        text = "\0"
    if re.search(r"[\x00-\x08\x0e-\x1f\x7f]", text):
        raise BadData(f"{name}, line {line}: this is neither UTF-8 nor Windows-1252 text. Save the file as UTF-8.")
    return text, [
        f"{name} is not UTF-8 (line {line}) and was read as Windows-1252; if letters look wrong, save it as UTF-8."
    ]


# ---- CSV and TSV


def cut(text: str, separator: str, longest: int = 131_072, **quoting) -> list[list[str]]:
    """Rows of cells, without blank lines; csv.Error names the line where a row went wrong begins."""
    rows, began = [], 1
    # The longest cell is a setting of the whole process.
    with _LIMIT:
        before = csv.field_size_limit(longest)
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, **quoting)
            for row in reader:
                if row:
                    rows.append(row)
                if len(rows) > MOST_ROWS + 1:
                    raise TooMuch(f"it holds more than {MOST_ROWS:,} rows")
                began = reader.line_num + 1
        except csv.Error as error:
            raise csv.Error(f"line {began}: {error}") from error
        finally:
            csv.field_size_limit(before)
    return rows


def csv_columns(text: str, name: str, usual: str) -> Parsed:
    """Columns of separated values; rows with too many or too few cells are left out and noted.

    Args:
        usual: the separator to expect; , ; tab and | are tried, and the one that gives the first rows
            the same number of cells wins.
    """
    declared = re.match(r"sep=([,;\t|])\r?\n", text)
    text = text[declared.end() :] if declared else text
    if not text.strip():
        raise BadData(f"{name} holds no rows.")
    separator = declared[1] if declared else _separator(text, usual)
    rows, how = _rows(text, separator, name)
    width = len(rows[0])
    if width > MOST_COLUMNS:
        raise BadData(
            f"{name} has {width:,} columns; at most {MOST_COLUMNS:,} are read. Keep the columns with texts and labels."
        )
    notes = [how] if how else []
    if len(rows) > 1 and _is_data(rows):
        notes.append(
            f"The first row of {name} looks like data, so the columns were given names; if it is a header, rename its "
            f"columns."
        )
        rows.insert(0, [""] * width)
    kept = [i for i, row in enumerate(rows) if i and _fits(row, width)]
    ragged = [i for i, row in enumerate(rows) if i and not _fits(row, width) and (len(row) > 1 or row[0].strip())]
    if ragged:
        notes.append(
            f"Left out, since they do not have {width} cell{'' if width == 1 else 's'} as the header: "
            f"{counted(ragged)}."
        )
    if not kept:
        raise BadData(f"{name} holds no rows, only column names: {listed(rows[0])}.")
    cells = [list(column) for column in zip(*(rows[i][:width] for i in kept))]
    # Spreadsheets like to add columns with neither name nor content.
    there = [i for i in range(width) if rows[0][i].strip() or any(cells[i])]
    if not there:
        raise BadData(f"{name} holds no rows, only separators.")
    return Parsed([rows[0][i] for i in there], [cells[i] for i in there], notes, kept)


def _separator(text: str, usual: str) -> str:
    """The separator under which the first rows agree best with the header; the usual one unless another splits it
    better.
    """

    def judged(separator: str) -> tuple:
        rows = cut(text[:200_000], separator, longest=len(text) + 1)[:200]
        rows = rows[:-1] if len(text) > 200_000 and len(rows) > 1 else rows
        width = len(rows[0]) if rows else 0
        return width > 1, sum(_fits(row, width) for row in rows) / max(1, len(rows)), separator == usual, width

    return max(_SEPARATORS, key=judged)


def _rows(text: str, separator: str, name: str) -> tuple[list[list[str]], str]:
    """All rows and a note on how quotation marks were read: the first way that fits every row, else the one that fits
    most.
    """
    try:
        literal = _attempt(text, separator, "literal")[0]
    except TooMuch:  # lines inside quotes are no rows
        literal = []
    opened = [cell for row in literal for cell in row if cell.startswith('"')]
    paired = sum(len(cell) > 1 and cell.endswith('"') for cell in opened)
    likely = (
        "paired",
        "backslash",
        "spaced",
        *(("literal", "lenient") if 2 * paired < len(opened) else ("lenient", "literal")),
    )
    best, most, trouble = ([], ""), 0, ""
    for how in likely:
        rows, problem = _attempt(text, separator, how)
        trouble = trouble or problem
        fitting = sum(_fits(row, len(rows[0])) for row in rows)
        if rows and fitting == len(rows):
            return rows, _QUOTES[how][1]
        if fitting > most:
            best, most = (rows, _QUOTES[how][1]), fitting
    rows = best[0]
    if len(rows[0]) == 1 and not trouble:
        return [
            [line] for line in re.split(r"[\r\n]+", text) if line.strip()
        ], f"The header of {name} names one column, so each line was read as one cell."
    missing = [i for i, row in enumerate(rows) if not _fits(row, len(rows[0]))]
    if trouble and 20 * len(missing) > len(rows):
        raise BadData(
            f"{name}, {trouble}: a quotation mark is opened there and not closed as it should be. Close it, or double "
            f"it inside a quoted text."
        )
    if 2 * len(missing) > len(rows) - 1:
        raise BadData(
            f"{name}: {len(missing):,} of {len(rows) - 1:,} rows do not have {len(rows[0])} cells as the first row, "
            f"the first of them "
            f"row {missing[0]}. Put texts that hold the separator {separator!r} in quotation marks, and give every "
            f"column a name."
        )
    return best


def _attempt(text: str, separator: str, how: str) -> tuple[list[list[str]], str]:
    """Rows under one way to read quotation marks, [] if it cannot be; and the line of the trouble, "" if there is
    none.
    """
    if how == "backslash" and '\\"' not in text or how == "spaced" and f'{separator} "' not in text:
        return [], ""
    lines = text if text.endswith(("\n", "\r")) else f"{text}\n"
    try:
        # Lenient reading does not say that the last cell was never closed; a line of our own that is swallowed does.
        rows = cut(
            f"{lines}{_END}\n" if how == "lenient" else text, separator, longest=len(text) + 100, **_QUOTES[how][0]
        )
    except csv.Error as error:
        return [], str(error).split(":")[0]
    return (rows, "") if how != "lenient" else (rows[:-1] if rows[-1] == [_END] else [], "")


def _fits(row: list[str], width: int) -> bool:
    """Whether a row has the header's number of cells; empty ones too many do no harm."""
    return len(row) == width or len(row) > width and not any(row[width:])


def _is_data(rows: list[list[str]]) -> bool:
    """Whether the first row is no header: a number beside a sentence, a very long cell, or a value that its column
    often repeats.
    """
    first, others = [cell.strip() for cell in rows[0]], rows[1:1001]
    if len(_USUAL.intersection(cell.lower() for cell in first)) > 1:
        return False  # whatever stands below them
    numbers = [cell for cell in first if re.fullmatch(r"-?\d+(\.\d+)?", cell)]
    if any(len(cell) > 120 for cell in first) or numbers and any(len(cell.split()) > 3 for cell in first):
        return True
    often = max(1, len(others) // 20)
    return any(
        cell and len(cell) < 50 and sum(len(row) > i and row[i].strip() == cell for row in others) >= often
        for i, cell in enumerate(first[:50])
    )


# ---- JSON


def json_objects(text: str, name: str) -> list[dict]:
    """The objects of JSON Lines; BadData names the line that is none."""
    rows = []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        row = _loaded(line, name, number)
        if not isinstance(row, dict):
            raise BadData(f"{name}, line {number}: expected an object, found {type(row).__name__}.")
        rows.append(row)
    return rows


def json_columns(text: str, name: str) -> Parsed:
    """Columns of JSON Lines, or of a list of objects; a key that a row lacks gives None."""
    notes = []
    rows = _json_rows(text, name)
    if len(rows) > MOST_ROWS:
        raise TooMuch(f"it holds more than {MOST_ROWS:,} rows")
    if re.search(r"\\u[dD][89a-fA-F]", text):
        whole = _whole(rows)
        notes += [f"Halves of characters in {name} were replaced by \ufffd."] if whole != rows else []
        rows = whole
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if not columns:
        raise BadData(f"{name} holds no rows with columns.")
    if len(columns) > MOST_COLUMNS or len(columns) * len(rows) - sum(map(len, rows)) > MOST_GAPS:
        raise BadData(
            f"{name} has {len(columns):,} different keys in {len(rows):,} rows. Give all rows the same few keys, such "
            f"as text and label."
        )
    lacking = [number for number, row in enumerate(rows, start=1) if len(row) < len(columns)]
    if lacking:
        keys = [repr(column) for column in columns if any(column not in rows[number - 1] for number in lacking)]
        notes.append(
            f"Not all rows have all keys; {listed(keys)} {'is' if len(keys) == 1 else 'are'} missing in "
            f"{counted(lacking)}."
        )
    return Parsed(columns, [[row.get(column) for row in rows] for column in columns], notes)


def _json_rows(text: str, name: str) -> list[dict]:
    start = text.lstrip()[:1]
    if start not in "[{":
        raise BadData(
            f'{name}, line 1: not valid JSON; each line must be an object such as {{"text": "…", "label": "…"}}.'
        )
    if start == "{":
        try:
            rows = json_objects(text, name)
        except BadData:
            if not _is_object(text):
                raise
            rows = [json.loads(text)]
        if len(rows) != 1 or not rows[0] or not all(isinstance(value, (dict, list)) for value in rows[0].values()):
            return rows
        inner = [
            value
            for value in rows[0].values()
            if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
        ]
        if len(inner) != 1:
            raise BadData(
                f"{name} is one object that holds everything. Save the rows as JSON Lines: one object with its text "
                f"and label in each line."
            )
        return inner[0]
    rows = _loaded(text, name, 1)
    strange = next((number for number, row in enumerate(rows, start=1) if not isinstance(row, dict)), None)
    if strange:
        raise BadData(f"{name}, row {strange}: expected an object, found {type(rows[strange - 1]).__name__}.")
    return rows


def _loaded(text: str, name: str, line: int):
    try:
        return json.loads(text)
    except RecursionError as error:
        raise BadData(f"{name}, line {line}: not valid JSON (nested too deeply).") from error
    except json.JSONDecodeError as error:
        raise BadData(
            f"{name}, line {line + error.lineno - 1}: not valid JSON ({error.msg}, column {error.colno})."
        ) from error
    except ValueError as error:
        raise BadData(f"{name}, line {line}: not valid JSON (a number with too many digits).") from error


def _is_object(text: str) -> bool:
    try:
        return text.lstrip().startswith("{") and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _whole(value):
    """The value with lone halves of characters (surrogates) replaced, which no file or page can hold."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


# ---- Parquet


def parquet_columns(content: bytes, name: str) -> Parsed:
    """Columns of a Parquet file, with the class names that the `datasets` library left in it."""
    try:
        table = open_parquet(content)
    except TooMuch:
        raise
    except Exception as error:  # whatever a damaged file makes the library raise
        why = str(error) if str(error).startswith("it has") else "it is damaged, cut off or of a kind that is not known"
        raise BadData(f"{name} cannot be read as Parquet ({why}). Write it again, or save it as CSV.") from error
    columns, cells, lost = [], [], []
    for column, values in zip(table.column_names, table.columns):
        try:
            cells.append(column_values(values))
            columns.append(column)
        except Exception:  # dates out of range, bytes that are no text, kinds without a Python value
            lost.append(column)
    notes = [f"Left out, since what they hold is neither text nor number: columns {listed(lost)}."] if lost else []
    if not columns or not len(table):
        raise BadData(f"{name} holds no rows.")
    return Parsed(columns, cells, notes, classes=class_names(table.schema.metadata or {}))
