"""Hard and soft erasure in a real browser: the picture and the badges in both themes, tabs, a narrow window, and files."""

import re

from playwright import sync_api as playwright

from tests import browsing
from tests.browsing import contrasts

SMALL = "s087"
# Two hard metrics and a soft one, whose inputs alone are rejected: of other numbers the page's own tests tell. Asked for
# alike, so that what random attributions come to is computed once.
FEW = {"example": SMALL, "metrics": ["NS", "NC", "Soft-NS"]}


def opened(visit, **query):
    """The page with all that is fast, whatever the machine calls so at the moment."""
    person = visit()
    person.page.goto(f"{person.server}/hard_and_soft_erasure?{browsing.urlencode(FEW | query, doseq=True)}")
    playwright.expect(person.page.locator(".headline")).to_be_visible()
    return person.computed("shuffled")


def chart(person, key: str):
    return person.page.locator(f".st-key-{key} .js-plotly-plot").first


def look(person, part: str) -> None:
    """Open a tab."""
    person.page.get_by_role("tab", name=part).click()
    person.rest()


def test_the_answer_and_the_picture_are_seen_without_scrolling_and_each_tab_is_drawn(visit):
    person = opened(visit)
    playwright.expect(person.page.locator(".headline")).to_have_attribute("data-outcome", "out-of-distribution")
    drawn = chart(person, "scores")
    playwright.expect(drawn).to_contain_text("Soft-NS")
    playwright.expect(drawn).to_contain_text("random attributions")
    assert drawn.bounding_box()["y"] < 500
    playwright.expect(person.page.get_by_test_id("stDataFrame").first).to_be_visible()
    for part, key, text in (
        ("Ways to erase", "leaving", "zero embedding"),
        ("Lengths", "lengths", "2 words"),
        ("Agreement of metrics", "places", "input × gradient"),
    ):
        look(person, part)
        playwright.expect(chart(person, key)).to_contain_text(text)
    for theme in ("light", "dark"):
        person.turn(theme)
        assert contrasts(person, ".headline, [data-testid=stMetricLabel] p, [data-testid=stHtml] *")
        person.picture(f"hard_and_soft_erasure-{theme}")


def test_table_and_figures_are_saved_and_the_page_fits_a_phone(visit):
    person = opened(visit, measures=["leave-one-out", "gradient", "input × gradient"])
    name, content = person.saved("Table (CSV)")
    assert name.startswith(f"erasure-{SMALL}") and name.endswith(".csv")
    assert content.decode("utf-8-sig").count("leave-one-out") == 3
    buttons = person.page.locator(".st-key-save-scores").get_by_role("button")
    name, content = person.saved(buttons.filter(has_text=re.compile("SVG")).first)
    assert name.startswith(f"metric-scores-{SMALL}") and b"NC" in content
    look(person, "Ways to erase")
    name, content = person.saved(
        person.page.locator(".st-key-save-leaving").get_by_role("button").filter(has_text="PNG").first
    )
    assert name.endswith(".png") and content.startswith(b"\x89PNG")
    person.narrow()
