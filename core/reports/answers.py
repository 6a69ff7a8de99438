"""Files of what a command found, of the kind that their ending names; each says where it comes from."""

import datetime
import functools
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core import settings
from core.evaluation.study import Table
from core.reports.curves import CurvePicture
from core.reports.exports import csv_text, versions, visible
from core.results.result import Result
from core.results.smallest_sets import SetsReport, sets_results
from core.texts.rendering import latex_comment, write_result
from core.wording import text_table

ENDINGS = (".csv", ".parquet", ".json", ".tex", ".html")
# Columns that are text even where no line has a value.
_TEXTS = (
    "class problem measure values metric direction erasure scaling placement note predicted against verdict outcome "
    "caveats"
).split()


@dataclass(frozen=True, eq=False)
class Section:
    """A result and its tables of text; title: of what, "" where there is one alone; notes: sentences below; curves:
    what pages draw; figure: as Plotly has it, which a saved page draws without script.
    """

    title: str = ""
    result: Result | None = None
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    curves: CurvePicture | None = None
    figure: dict | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """One thing that is told of a text; found: what a saved page draws in its own way."""

    sections: Sequence[Section] = ()
    columns: Sequence[str] = ()
    lines: Sequence[Sequence] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)
    found: Any = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a command found. lines: {column: value} each; plain: values of a JSON file; facts: where it comes from;
    columns: that a table has without a line, too.
    """

    title: str
    sections: Sequence[Section] = ()
    lines: Sequence[Mapping[str, Any]] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    columns: Sequence[str] = ()


@functools.cache
def commit() -> str:
    """The commit that this checkout is of, "-dirty" behind it where files differ; "" where that is not known."""
    if not (settings.ROOT / ".git").exists():
        return ""
    asked = ["git", "-C", str(settings.ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def origin() -> dict[str, str]:
    """What a file was made with and when: versions, commit, and the date in UTC (ISO 8601)."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return dict(versions()) | {"commit": commit(), "date": now}


def ending_of(out: str | None, unnamed: str = "") -> str:
    """The kind of file that a name asks for; unnamed: of a name without an ending. ValueError for another one."""
    ending = Path(out or "").suffix.lower() or unnamed
    if out and ending not in ENDINGS:
        raise ValueError(f"--out ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not {ending or 'nothing'}")
    return ending


def answer_text(sections: Sequence[Section]) -> str:
    """What was found, for a terminal."""
    parts: list[str] = []
    for one in sections:
        parts += [one.title] if one.title else []
        parts += [] if one.result is None else [write_result(one.result)]
        parts += [text_table(header, [[visible(cell) for cell in row] for row in rows]) for header, rows in one.tables]
        parts += one.notes
    return "\n\n".join(map(visible, parts))


def answer_bytes(answer: Answer, ending: str) -> bytes:
    """A file of this kind: lines as CSV or Parquet, plain values as JSON, else tables as LaTeX or a page.

    Its origin stands in columns behind those of each CSV line, in Parquet metadata under "faithscope", at the top of a
    JSON file, in comments of LaTeX, and at the end of a page.
    """
    if ending == ".parquet":
        from core.reports.tables import parquet_bytes

        return parquet_bytes(answer.lines, answer.facts, _TEXTS)
    return {".csv": _csv, ".json": _json, ".tex": _latex, ".html": _page}[ending](answer).encode("utf-8")


def _csv(answer: Answer) -> str:
    # Examples have lines of their own.
    facts = {name: value for name, value in answer.facts.items() if not isinstance(value, (list, tuple))}
    names = dict.fromkeys((*answer.columns, *(name for line in answer.lines for name in line), *facts))
    return csv_text(list(names), ([(facts | dict(line)).get(name) for name in names] for line in answer.lines))


def _json(answer: Answer) -> str:
    return f"{json.dumps(dict(answer.facts) | dict(answer.plain), indent=1)}\n"


def _latex(answer: Answer) -> str:
    from core.reports.tables import latex_table

    parts = [latex_comment(one.result) for one in answer.sections if one.result is not None]
    parts += [f"% {name}: {' '.join(str(value).split())}" for name, value in answer.facts.items()]
    parts += [latex_table(*table, caption=one.title) for one in answer.sections for table in one.tables]
    return "\n".join(parts)


def _page(answer: Answer) -> str:
    from core.reports.page import read_style, write_page

    facts = {name: _told(value) for name, value in answer.facts.items()}
    sections = written_sections(answer.sections)
    return write_page(
        "answer.html", answer.title, read_style("page.css"), title_of=answer.title, sections=sections, facts=facts
    )


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value is None else str(value)


def sets_sections(report: SetsReport) -> list[Section]:
    """The smallest sets of a text, a section each."""
    return [Section(f"set that {kind} the prediction", result) for kind, result in sets_results(report).items()]


def written_sections(sections: Sequence[Section]) -> list[tuple]:
    """Sections as templates take them: title, result as HTML or None, tables, notes, curves or None, shapes or None."""
    from core.reports.attribution_page import written
    from core.reports.figure_picture import draw_picture

    return [
        (
            one.title,
            one.result and written(one.result),
            one.tables,
            one.notes,
            one.curves,
            one.figure and draw_picture(one.figure),
        )
        for one in sections
    ]
