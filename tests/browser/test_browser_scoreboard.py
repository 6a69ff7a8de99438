"""Scoreboard in a real browser: cancelled in the middle and gone on with, and one example with its picture, its verdicts,
another order of the table, and its files.
"""

import csv
import io
import re

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
TABLE = "table:has(th:text-is('ms ↓'))"


def column(person, k: int) -> list[str]:
    """The cells of a column of the first table, from its top."""
    return person.page.locator(TABLE).locator(f"tbody tr > :nth-child({k})").all_text_contents()


def saves_what_is_shown(person) -> None:
    """Press each button of files, and find the table's numbers in what it writes."""
    shown = dict(zip(column(person, 1), zip(*(column(person, k) for k in (4, 5)))))
    name, content = person.saved("Lines (CSV)")
    lines = {line["measure"]: line for line in csv.DictReader(io.StringIO(content.decode("utf-8-sig")))}
    name_typed, typed = person.saved("Lines (Parquet)")
    rows = {row["measure"]: row for row in parquet.read_table(io.BytesIO(typed)).to_pylist()}
    assert name.startswith("scoreboard-") and name_typed.endswith(".parquet")
    assert set(lines) == set(rows) == set(shown) and len(shown) == 3
    for measure, cells in shown.items():
        for figure, cell in zip(("comprehensiveness ↑", "sufficiency ↓"), cells):
            assert f"{float(lines[measure][figure]):.3f}" == f"{rows[measure][figure]:.3f}" == cell.split()[0]
    name, content = person.saved("Tables (LaTeX)")
    told = content.decode()
    assert name.endswith(".tex") and "against chance" in told and r"\toprule" in told
    assert all(measure in told and cells[0].split()[0] in told for measure, cells in shown.items())


def test_it_is_cancelled_and_goes_on_and_one_example_is_judged_sorted_and_saved(visit, short):
    person = visit()
    page, query = person.page, browsing.urlencode(CHEAP | SAMPLE | {"data": short}, doseq=True)
    page.goto(f"{person.server}/scoreboard?{query}")
    table = page.locator(TABLE)
    ask = page.get_by_role("button", name=ASKS)
    playwright.expect(table.or_(ask).first).to_be_visible()
    # The first button asks for the others, too.
    if ask.count():
        ask.first.press("Enter")
    playwright.expect(table).to_be_visible()
    person.press("Cancel")
    playwright.expect(page.get_by_text("Cancelled; what was computed is kept").first).to_be_visible()
    playwright.expect(page.get_by_text(re.compile("^[12] of 3 examples so far"))).to_be_visible()
    playwright.expect(table).to_be_visible()
    person.computed()
    playwright.expect(page.get_by_text("Not enough to say which measure to believe: 3 texts")).to_be_visible()
    # Of so few there is a mean without an interval, and nobody asked here what Data set answers.
    assert not any("[" in cell for cell in table.locator("td").all_text_contents())
    assert column(person, 2) == ["—"] * 3 and "can be asked for on Data set" in person.said
    page.get_by_role("radio", name="this example").press("Space")
    playwright.expect(page.get_by_text("How this is told, and how it can be wrong")).to_be_visible()
    person.computed()
    playwright.expect(table.locator("tbody tr")).to_have_count(3)
    assert column(person, 1) == ["gradient", "attention", "random order"]
    assert all(
        re.match(r"(✓ better|– not shown better|✗ worse), p = |\? cannot be told", cell)
        for cell in column(person, 2)[:2]
    )
    assert re.search("Metrics (dis)?agree on which measure is ahead on this text", person.said)
    playwright.expect(page.locator(".st-key-board .js-plotly-plot").first).to_contain_text("random order")
    person.turn("dark")
    assert len(contrasts(person, "td, th, [data-testid=stHtml] p, [data-testid=stCaptionContainer] p")) > 40
    person.picture("scoreboard-dark")
    page.get_by_role("combobox", name="Order of the table").click()
    page.get_by_role("option", name="sufficiency ↓", exact=True).click()
    person.until("() => location.search.includes('ranked=sufficiency')")
    found = [float(cell.split()[0]) for cell in column(person, 5)]
    assert len(found) == 3 and found == sorted(found)
    saves_what_is_shown(person)
    person.narrow()
    assert person.page.evaluate(script("whole")) == [True] * 3


def test_all_measures_that_are_chosen_are_seen(visit):
    person = visit()
    person.page.goto(f"{person.server}/scoreboard?{browsing.urlencode({'example': EXAMPLE, 'on': 'this example'})}")
    chips = person.page.get_by_test_id("stMultiSelectTagsContainer")
    playwright.expect(chips.get_by_text("scaled attention", exact=True)).to_be_visible()
    assert chips.evaluate(
        "one => one.scrollWidth <= one.clientWidth && one.clientHeight <= one.parentElement.clientHeight"
    )
