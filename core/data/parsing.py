"""Take data files apart: bytes into text, text into rows, rows into columns, before anyone says what they mean."""

import codecs
import json
import re
from typing import Any

from core.data.parquets import MOST_COLUMNS, TooMuch, check_count, class_names, column_values, open_parquet
from core.data.parsed import BadData, Parsed, Repair, no_rows
from core.data.separated import csv_columns
from core.wording import counted, listed

# Keys that rows lack: each takes a place in memory and none in the file.
MOST_GAPS = 10_000_000
KINDS = {".csv": "csv", ".tsv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
USE = "Use .jsonl, .csv, .tsv or .parquet."
_AS_CSV, AS_UTF8 = "Save it as CSV (UTF-8).", "Save it as UTF-8."
_ARCHIVE = "is a compressed archive. Unpack it first."
_BINARY = f"is a binary file. {USE}"
_PICKLE = "is a Python pickle; these can run foreign code and are never opened. Save the table as CSV or Parquet."
_EXCEL = f"is an Excel workbook. {_AS_CSV}"
_NO_PARQUET = "is no Parquet file, or damaged. Save it as CSV."
_FOREIGN = (
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP", f"is a picture. {USE}"),
    (rb"PK\x03\x04.{0,4000}?(xl/|\[Content_Types\]\.xml)|\xd0\xcf\x11\xe0", _EXCEL),
    (rb"PK\x03\x04|\x1f\x8b|BZh\d1AY|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!\x1a", _ARCHIVE),
    (rb"\x80[\x02-\x05]", _PICKLE),
    (rb"%PDF-|SQLite format 3\0|ARROW1|\x93NUMPY|\x89HDF|\x7fELF", _BINARY),
    (rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype html|html)", "is a web page. Download the file itself."),
    (rb"version https://git-lfs", "is a Git LFS pointer. Run “git lfs pull”."),
)
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def parse(content: bytes, name: str) -> Parsed:
    """Take a file apart by its ending, or by its content where that says otherwise; BadData where it cannot be.

    TooMuch: it holds more than is read.
    """
    if not content.strip():
        raise BadData(f"{name} is empty.")
    ending = name[name.rfind(".") :].lower() if "." in name else ""
    if content.startswith(b"PAR1"):
        found = parquet_columns(content, name)
        found.notes += [] if ending == ".parquet" else [f"{Repair.READ_AS} Parquet."]
        return found
    for start, what in _FOREIGN:
        if re.match(start, content[:5000], re.DOTALL):
            raise BadData(f"{name} {what}")
    kind = KINDS.get(ending)
    if kind is None:
        remedy = _AS_CSV if ending.startswith(".xls") else USE
        raise BadData(f"{name}: files ending in {ending or 'nothing'} are not read. {remedy}")
    if kind == "parquet":
        raise BadData(f"{name} {_NO_PARQUET}")
    text, notes = decoded(content, name)
    if not text.strip():
        raise BadData(f"{name} is empty.")
    if kind == "csv" and _is_object(text.lstrip().split("\n", 1)[0]):
        kind, notes = "json", [*notes, f"{Repair.READ_AS} JSON Lines."]
    found = json_columns(text, name) if kind == "json" else csv_columns(text, name, "\t" if ending == ".tsv" else ",")
    found.notes[:0] = notes
    return found


# ---- text


def decoded(content: bytes, name: str) -> tuple[str, list[str]]:
    """A file's text and notes: by its byte-order mark, else UTF-8, else Windows-1252; never with NUL in it."""
    mark, encoding = next(((mark, encoding) for mark, encoding in _MARKS if content.startswith(mark)), (b"", ""))
    if not mark and b"\0" in content[:1000]:
        # Text in Western letters with every second byte empty is UTF-16 that lost its mark.
        even, odd = (content[i:1000:2].count(0) / max(1, len(content[i:1000:2])) for i in (0, 1))
        if max(even, odd) > 0.6 and min(even, odd) < 0.1:
            encoding = "UTF-16-LE" if odd > even else "UTF-16-BE"
    if encoding:
        try:
            text, notes = content.decode(encoding), [f"Read as {encoding[:6]}."]
        except UnicodeDecodeError as error:
            raise BadData(f"{name} is damaged {encoding[:6]} text. {AS_UTF8}") from error
    else:
        text, notes = _unmarked(content.removeprefix(codecs.BOM_UTF8), name)
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadData(f"{name}, line {line}: NUL byte. {AS_UTF8}")
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
        return text, [f"{Repair.DAMAGED}: {bad:,}, first in line {line}."]
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        text = "\0"
    if re.search(r"[\x00-\x08\x0e-\x1f\x7f]", text):
        raise BadData(f"{name}, line {line}: neither UTF-8 nor Windows-1252 text. {AS_UTF8}")
    return text, [f"{Repair.WINDOWS} (line {line})."]


# ---- JSON


def json_objects(text: str, name: str) -> list[dict]:
    """The objects of JSON Lines; BadData names the line that is none."""
    rows = []
    lines = enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1)
    filled = [(number, line) for number, line in lines if line.strip()]
    check_count(len(filled))
    for number, line in filled:
        row = _loaded(line, name, number)
        if not isinstance(row, dict):
            raise _no_object(f"{name}, line {number}", row)
        rows.append(row)
    return rows


def json_columns(text: str, name: str) -> Parsed:
    """Columns of JSON Lines, or of a list of objects; a key that a row lacks gives None."""
    notes = []
    rows = _json_rows(text, name)
    check_count(len(rows))
    if re.search(r"\\u[dD][89a-fA-F]", text):
        whole = _whole(rows)
        notes += [f"{Repair.HALVES}."] if whole != rows else []
        rows = whole
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if not columns:
        raise no_rows(name)
    if len(columns) > MOST_COLUMNS or len(columns) * len(rows) - sum(map(len, rows)) > MOST_GAPS:
        raise BadData(f"{name} has {len(columns):,} different keys in {len(rows):,} rows. Give all the same.")
    lacking = [number for number, row in enumerate(rows, start=1) if len(row) < len(columns)]
    gaps: dict[tuple[int, ...], list[str]] = {}
    for column in columns if lacking else ():
        gaps.setdefault(tuple(number for number in lacking if column not in rows[number - 1]), []).append(repr(column))
    alike = [f"{listed(keys, 3)}: {counted(without)}" for without, keys in gaps.items() if without]
    if alike:
        more = f"; and {len(alike) - 3:,} more" if len(alike) > 3 else ""
        notes.append(f"{Repair.LACKING} {'; '.join(alike[:3])}{more}.")
    return Parsed(columns, [[row.get(column) for row in rows] for column in columns], notes)


def _json_rows(text: str, name: str) -> list[dict[str, Any]]:
    start = text.lstrip()[:1]
    if start not in "[{":
        raise BadData(
            f'{name}, line 1: not valid JSON; each line must be an object such as {{"text": "…", "label": "…"}}.'
        )
    if start == "{":
        try:
            rows = json_objects(text, name)
        except (BadData, TooMuch):
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
            raise BadData(f"{name} is a single object. Save its rows as JSON Lines.")
        return inner[0]
    rows = _loaded(text, name, 1)
    strange = next((number for number, row in enumerate(rows, start=1) if not isinstance(row, dict)), None)
    if strange:
        raise _no_object(f"{name}, row {strange}", rows[strange - 1])
    return rows


def _no_object(where: str, found: object) -> BadData:
    return BadData(f"{where}: expected an object, found {type(found).__name__}.")


def _loaded(text: str, name: str, line: int):
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:
        if isinstance(error, json.JSONDecodeError):
            line, why = line + error.lineno - 1, f"{error.msg}, column {error.colno}"
        else:
            why = "nested too deeply" if isinstance(error, RecursionError) else "too many digits"
        raise BadData(f"{name}, line {line}: not valid JSON ({why}). Correct this line, or save as CSV.") from error


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
        raise BadData(f"{name} {_NO_PARQUET}") from error
    columns, cells, lost = [], [], []
    for column, values in zip(table.column_names, table.columns):
        try:
            cells.append(column_values(values))
            columns.append(column)
        except Exception:  # dates out of range, bytes that are no text, kinds without a Python value
            lost.append(column)
    notes = [f"{Repair.LOST_COLUMNS} {listed(lost)}."] if lost else []
    if not columns or not len(table):
        raise no_rows(name)
    return Parsed(columns, cells, notes, classes=class_names(table.schema.metadata or {}))
