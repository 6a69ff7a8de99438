"""Data set in a real browser: it waits to be asked, streams, is read in both themes and saved; a filter set on Examples
reaches it.
"""

import re

from playwright import sync_api as playwright

from tests import browsing
from tests.browsing import contrasts

PAGE = "data_set"
# Few texts, and nothing dear: the filter leaves a handful.
QUICK = {
    "data": "reviews",
    "section": "diagnosticity",
    "texts": "what the filter on Examples shows",
    "search": "soup",
    "measures": "gradient",
    "metrics": ["NS", "Soft-NS"],
    "draws-of-data": "1",
}
ASKS = re.compile("^(Compute|Go on with) ")


def test_a_filter_of_examples_is_answered_for_and_read_in_both_themes(visit):
    person = visit()
    person.page.goto(f"{person.server}/{PAGE}?{browsing.urlencode(QUICK, doseq=True)}")
    # A badge with a help text is there twice; one of the two is hidden.
    texts = person.page.get_by_text(re.compile(r"\d of 264 texts")).filter(visible=True)
    # A run that another takes over from may leave its own for a moment.
    playwright.expect(texts.first).to_be_visible()
    answered = person.page.locator(".st-key-preferences")
    ask = person.page.get_by_role("button", name=ASKS)
    # What is dear on a slow machine waits to be asked; on the second visit all is known.
    playwright.expect(answered.or_(ask).first).to_be_visible()
    if ask.count():
        ask.first.press("Enter")
    playwright.expect(answered).to_be_visible()
    playwright.expect(person.page.get_by_role("button", name="Cancel")).to_have_count(0)
    person.rest()
    playwright.expect(texts).to_have_count(1)
    playwright.expect(person.page.locator("[data-outcome=unfinished]")).to_have_count(0)
    person.open_tab("By length")
    legend = person.page.locator(".st-key-diagnosticity .js-plotly-plot").first.locator(".legendtext")
    playwright.expect(legend).to_have_count(2)
    assert legend.all_text_contents() == ["NS", "Soft-NS"]
    person.open_tab("Tests")
    playwright.expect(person.page.get_by_test_id("stDataFrame").first).to_be_visible()
    for theme in ("light", "dark"):
        person.turn(theme)
        assert contrasts(person, "[data-testid=stHtml] p, [data-testid=stMetric] label, [data-testid=stBadge]")
        person.picture(f"data_set-{theme}")
    name, content = person.saved("Table (CSV)")
    # Two metrics over all measures and for the one, five lengths of the hard one, below the header.
    assert (
        name.startswith("diagnosticity-sst2-fmm")
        and len(content.decode("utf-8-sig").strip().splitlines()) == 1 + 2 * 2 + 5
    )
