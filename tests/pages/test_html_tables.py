"""Tables as HTML: what is read as one stands in one line, and text is data."""

import pytest

from pages.parts.components.tables import macros


def cell_of(text: str) -> str:
    """The HTML of a cell with this text."""
    drawn = macros("components/tables.html").table(["measure", "figure"], [["a", text]], 200)
    return str(drawn).partition("<td")[2].partition(">")[2].partition("</td>")[0]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("not shown better, p = 0.211", ["p = 0.211"]),
        ("beats it, p < 0.0001", ["p &lt; 0.0001"]),
        ("p ≥ 0.09; p ≤ 1e-05", ["p ≥ 0.09", "p ≤ 1e-05"]),
        ("0.988 ± 0.001 ⚠", ["0.988 ± 0.001 ⚠"]),
        ("0.988 ± 0.001", ["0.988 ± 0.001"]),
        ("−0.2 ⚠", ["−0.2 ⚠"]),
        ("64.5 % against 66.0 % of others", ["64.5 %", "66.0 %"]),
        ("wasp = 3, a map", []),
    ],
)
def test_what_is_read_as_one_stands_in_one_line(text, whole):
    parts = cell_of(text).split('<span style="white-space:nowrap">')[1:]
    assert [part.partition("</span>")[0] for part in parts] == whole


def test_a_cell_is_text():
    assert cell_of("<b>p = 0.1</b> & {{ x }}") == (
        '&lt;b&gt;<span style="white-space:nowrap">p = 0.1</span>&lt;/b&gt; &amp; {{ x }}'
    )
