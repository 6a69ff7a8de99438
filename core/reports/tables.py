"""Tables of results as Parquet and as LaTeX; CSV is of `core.reports.exports.csv_text`."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.texts.latex import latex_text
from core.validity.marks import MEANING, SIGN

_NEEDS = "% needs \\usepackage{booktabs}\n"


def latex_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table of text as LaTeX by booktabs, the first column left, the others right; the sign of doubt has a note."""
    columns = "l" + "r" * (len(header) - 1)
    body = [" & ".join(map(latex_text, row)) + r" \\" for row in rows]
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(map(latex_text, header)) + r" \\", r"\midrule", *body]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if any(SIGN in cell for row in (header, *rows) for cell in row):
        lines.append(rf"\par\smallskip{{\footnotesize {latex_text(MEANING)}}}")
    if caption:
        lines.append(rf"\caption{{{latex_text(caption)}}}")
    return _NEEDS + "\n".join([*lines, r"\end{table}"]) + "\n"


def parquet_bytes(lines: Sequence[Mapping[str, Any]], about: Mapping[str, Any], texts: Sequence[str] = ()) -> bytes:
    """Lines as the bytes of a Parquet file; columns that a line lacks are null.

    about: metadata, as JSON under "faithscope"; texts: columns that are text even where no line has a value.
    """
    import io

    import pyarrow
    from pyarrow import parquet

    columns, out = {}, io.BytesIO()
    for name in dict.fromkeys(name for line in lines for name in line):
        values = [line.get(name) for line in lines]
        empty = all(value is None for value in values)
        kind = (pyarrow.string() if name in texts else pyarrow.float64()) if empty else None
        columns[name] = pyarrow.array(values, kind)
    parquet.write_table(pyarrow.table(columns).replace_schema_metadata({"faithscope": json.dumps(about)}), out)
    return out.getvalue()
