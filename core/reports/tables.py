"""Tables of results as Parquet and as LaTeX; CSV is of `core.reports.exports.csv_text`."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.validity.marks import MEANING, SIGN

# What LaTeX would run, or has no sign for in every font; a backslash and braces are written first.
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    # Behind the end of a line a bracket would be read as a length.
    "[": "{[}",
    "]": "{]}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    "−": "$-$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "—": "---",
    "–": "--",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    SIGN: r"$^{!}$",
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def latex_text(text: str) -> str:
    """A text that LaTeX sets as it reads: what it would run is escaped, line ends and control characters are spaces.

    The sign of rejected inputs becomes a raised exclamation mark, arrows and × mathematics.
    """
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], _CONTROL.sub(" ", text))


def latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table of text as LaTeX, in rules of the package booktabs; the first column is set left, the others right.

    Numbers in brackets behind others, as intervals, stay in their cells; under it stands what the sign of rejected
    inputs means, where it is in the table.
    """
    marked = any(SIGN in cell for row in (header, *rows) for cell in row)
    columns = "l" + "r" * (len(header) - 1)
    body = [" & ".join(map(latex_text, row)) + r" \\" for row in rows]
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(map(latex_text, header)) + r" \\", r"\midrule", *body]
    lines += [r"\bottomrule", r"\end{tabular}", *[rf"\par\smallskip{{\footnotesize {latex_text(MEANING)}}}"] * marked]
    lines += [*[rf"\caption{{{latex_text(caption)}}}"] * bool(caption)]
    return "% needs \\usepackage{booktabs}\n" + "\n".join([*lines, r"\end{table}"]) + "\n"


def parquet_table(lines: Sequence[Mapping[str, Any]], about: Mapping[str, Any], texts: Sequence[str] = ()) -> Any:
    """Lines as a table of `pyarrow`; columns that a line lacks are null.

    about: goes into the file's metadata, as JSON under "faithscope"; texts: columns that are text where no line has a
    value, so that tables of several runs can be joined.
    """
    import pyarrow

    columns = {}
    for name in dict.fromkeys(name for line in lines for name in line):
        values = [line.get(name) for line in lines]
        empty = all(value is None for value in values)
        kind = (pyarrow.string() if name in texts else pyarrow.float64()) if empty else None
        columns[name] = pyarrow.array(values, kind)
    return pyarrow.table(columns).replace_schema_metadata({"faithscope": json.dumps(about)})


def parquet_bytes(lines: Sequence[Mapping[str, Any]], about: Mapping[str, Any], texts: Sequence[str] = ()) -> bytes:
    """The same as the bytes of a file."""
    import io

    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(parquet_table(lines, about, texts), out)
    return out.getvalue()
