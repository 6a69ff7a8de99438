"""Scoreboard in a real browser: cancelled in the middle and gone on with, and one example with its picture, its verdicts,
its sortable table, and its files.
"""

import csv
import io
import re

import pytest
from playwright import sync_api as playwright
from pyarrow import parquet

from tests import browsing
from tests.browsing import contrasts, script

EXAMPLE = "s076"
# Two cheap measures, and soft metrics of one draw.
CHEAP = {"example": EXAMPLE, "measures": ["gradient", "attention"], "draws-of-data": "1", "draws": "8"}
# Three of the short texts, the example among them.
SAMPLE = {"on": "a sample of the data", "texts": "what the filter on Examples shows", "search": "and"}
ASKS = re.compile("^(Compute|Go on with) ")
# A sortable table is drawn on a canvas that holds its cells for readers of the screen.
CELLS = """() => [...document.querySelectorAll('[data-testid=stDataFrame] canvas table tr')].map(
  (row) => [...row.children].map((cell) => cell.textContent))"""


def lines_of(person) -> dict[str, dict[str, str]]:
    """The lines of the table that is open, by measure."""
    person.page.wait_for_function(f"() => ({CELLS})().length > 1")
    header, *rows = person.page.evaluate(CELLS)
    return {row[0]: dict(zip(header, row)) for row in rows}


def saves_what_is_shown(person) -> None:
    """Press each button of files, and find the table's numbers in what it writes."""
    shown = lines_of(person)
    name, content = person.saved("Lines (CSV)")
    lines = {line["measure"]: line for line in csv.DictReader(io.StringIO(content.decode("utf-8-sig")))}
    name_typed, typed = person.saved("Lines (Parquet)")
    rows = {row["measure"]: row for row in parquet.read_table(io.BytesIO(typed)).to_pylist()}
    assert name.startswith("scoreboard-") and name_typed.endswith(".parquet")
    assert set(lines) == set(rows) == set(shown) and len(shown) == 3
    name, content = person.saved("Tables (LaTeX)")
    written = content.decode()
    assert name.endswith(".tex") and "adjusted p" in written and r"\toprule" in written
    for measure, cells in shown.items():
        assert lines[measure]["outcome"] == rows[measure]["outcome"] == "few texts" and measure in written
        for figure in ("comprehensiveness ↑", "sufficiency ↓"):
            value = float(lines[measure][figure])
            assert value == rows[measure][figure] and float(cells[figure]) == pytest.approx(value, rel=0.01)
            assert f"{value:.3f}" in written


def test_it_is_cancelled_and_goes_on_and_one_example_is_judged_sorted_and_saved(visit, short):
    person = visit()
    page, query = person.page, browsing.urlencode(CHEAP | SAMPLE | {"data": short}, doseq=True)
    page.goto(f"{person.server}/scoreboard?{query}")
    files, ask = page.get_by_role("button", name="Lines (CSV)"), page.get_by_role("button", name=ASKS)
    playwright.expect(files.or_(ask).first).to_be_visible()
    # The first button asks for the others, too.
    if ask.count():
        ask.first.press("Enter")
    playwright.expect(files).to_be_visible()
    person.press("Cancel")
    playwright.expect(page.get_by_text("Cancelled; what was computed is kept").first).to_be_visible()
    headline = page.locator("p.headline")
    playwright.expect(headline).to_have_text(re.compile("^[12] of 3 texts "))
    playwright.expect(headline).to_have_attribute("data-outcome", "running")
    playwright.expect(files).to_be_visible()
    person.computed()
    # A loaded machine is slow to begin.
    playwright.expect(headline).to_have_attribute("data-outcome", "few texts", timeout=300_000)
    page.get_by_role("radio", name="this example").press("Space")
    playwright.expect(headline).to_have_attribute("data-question", "verdicts")
    person.computed()
    playwright.expect(headline).to_have_attribute("data-outcome", re.compile("random|tested"))
    # The headline comes with the first measure's line.
    person.page.wait_for_function(f"() => ({CELLS})().length === 4")
    assert set(lines_of(person)) == {"gradient", "attention", "random order"}
    playwright.expect(page.locator(".st-key-board .js-plotly-plot").first).to_contain_text("random order")
    person.turn("dark")
    assert len(contrasts(person, "p.headline, [data-testid=stMetricLabel] p, [data-testid=stHtml] p")) > 3
    person.picture("scoreboard-dark")
    saves_what_is_shown(person)
    person.open_tab("Verdicts")
    person.page.wait_for_function(f"() => ({CELLS})()[0]?.includes('verdict')")
    assert set(lines_of(person)) == {"gradient", "attention"}
    person.narrow()
    assert person.page.evaluate(script("whole")) == [True] * 3


def test_all_measures_that_are_chosen_are_seen(visit):
    person = visit()
    person.page.goto(f"{person.server}/scoreboard?{browsing.urlencode({'example': EXAMPLE, 'on': 'this example'})}")
    person.press("Settings")
    chips = person.page.get_by_test_id("stMultiSelectTagsContainer")
    playwright.expect(chips.get_by_text("scaled attention", exact=True)).to_be_visible()
    assert chips.evaluate(
        "one => one.scrollWidth <= one.clientWidth && one.clientHeight <= one.parentElement.clientHeight"
    )
