"""Tables as LaTeX and Parquet: what LaTeX would run is set as it reads, and lines come back as they were."""

import io
import json
import re

from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from core.reports.tables import latex_table, latex_text, parquet_bytes


def test_latex_by_hand():
    assert latex_text(r"50 % of $x_1$ & {a}\b #2~^") == (
        r"50 \% of \$x\_1\$ \& \{a\}\textbackslash{}b \#2\textasciitilde{}\textasciicircum{}"
    )
    assert latex_text("NS ↑ 0.1 [0, 0.2] ⚠\nnext") == r"NS $\uparrow$ 0.1 {[}0, 0.2{]} $^{!}$ next"


@given(st.text())
def test_nothing_of_a_text_is_run(text):
    """Once what is written for signs is taken out, no sign is left that LaTeX reads as anything but itself."""
    written = re.sub(
        r"\\text[a-z]+\{\}|\\dots\{\}|\\[{}&%$#_]|\$(\\[a-z]+|-|\^\{!\})\$|\{[\[\]]\}", "", latex_text(text)
    )
    assert not set(written) & set("\\{}&%$#_~^[]\n\r")


def test_a_table_has_a_line_a_row_and_as_many_columns_as_names():
    found = latex_table(["measure", "NS ↑"], [["a & b", "1"], ["[c", "2 %"]], "of 5 % & more")
    assert r"\begin{tabular}{lr}" in found and r"\caption{of 5 \% \& more}" in found
    body = found.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert body == [r"a \& b & 1 \\", r"{[}c & 2 \% \\"] and "footnotesize" not in found
    # What the raised mark means stands under a table that has one.
    noted = latex_table(["measure", "NS ↑"], [["a", "0.1 ± 0.02 ⚠"]])
    assert r"a & 0.1 $\pm$ 0.02 $^{!}$ \\" in noted
    assert noted.count(r"\footnotesize $^{!}$ marks") == 1 and r"\caption" not in noted
    assert all(one.startswith("% ") and "booktabs" in one.splitlines()[0] for one in (found, noted))


def test_parquet_gives_back_the_lines():
    lines = [{"a": 1.5, "b": "x", "c": None, "note": None}, {"a": None, "b": "=1", "d": True}]
    table = parquet.read_table(io.BytesIO(parquet_bytes(lines, {"by": "NS"}, ["note"])))
    assert table.to_pylist() == [{**dict.fromkeys("abcd"), "note": None, **line} for line in lines]
    assert json.loads(table.schema.metadata[b"faithscope"]) == {"by": "NS"}
    assert str(table.schema.field("note").type) == "string" and str(table.schema.field("c").type) == "double"
