"""Hard and soft erasure in a real browser: the table with its signs, a slider that is moved, a narrow window, and
files.
"""

import re

from playwright import sync_api as playwright

from tests import browsing
from tests.browsing import contrasts

SMALL = "s087"
# Two hard metrics and a soft one, whose inputs alone are rejected: of other numbers the page's own tests tell. Asked for
# alike, so that what random attributions come to is computed once.
FEW = {"example": SMALL, "draws": "8", "metrics": ["NS", "NC", "Soft-NS"]}


def opened(visit, **query):
    """The page with all that is cheap, whatever the machine calls so at the moment."""
    person = visit()
    person.page.goto(f"{person.server}/hard_and_soft_erasure?{browsing.urlencode(FEW | query, doseq=True)}")
    playwright.expect(person.page.get_by_text("The model predicts")).to_be_visible()
    return person.computed("shuffled")


def chart(person, key: str):
    return person.page.locator(f".st-key-{key} .js-plotly-plot").first


def look(person, part: str) -> None:
    """Choose a part of the closer look by how its name begins."""
    person.page.get_by_role("radio", name=re.compile(f"^{part}")).press("Space")
    person.rest()


def test_the_table_is_read_in_both_themes_and_its_signs_have_words(visit):
    person = opened(visit)
    row = person.page.get_by_role("row", name=re.compile("^gradient")).first
    playwright.expect(row).to_contain_text("⚠")
    hard, _, soft = row.locator("td").all()
    # Its place among the others is drawn with the last of them.
    playwright.expect(hard).to_contain_text("random as good")
    assert (
        re.match(r"\d(st|nd|rd|th) [\d.]+\n\d+ of \d+ random as good", hard.inner_text())
        and "as good" not in soft.inner_text()
    )
    colours = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).backgroundImage]"
    (_, plain), (bare, hatched) = hard.evaluate(colours), soft.evaluate(colours)
    assert plain == "none" and bare == "rgba(0, 0, 0, 0)" and "repeating-linear-gradient" in hatched
    kinds = person.page.get_by_role("columnheader", name=re.compile("^(Hard|Soft): "))
    assert [cell.get_attribute("colspan") for cell in kinds.all()] == ["2", "1"]
    head = person.page.get_by_role("columnheader", name="Soft-NS ↑").first
    assert "Keep of each feature a share" in head.locator("span").first.get_attribute("title")
    for part, key, text in (
        ("Which erasure", "leaving", "zero embedding"),
        ("Does the rationale", "lengths", "2 words"),
        ("Do they rank", "places", "input × gradient"),
    ):
        look(person, part)
        playwright.expect(chart(person, key)).to_contain_text(text)
    look(person, "Same order")
    playwright.expect(person.page.get_by_role("slider").first).to_be_visible()
    for theme in ("light", "dark"):
        person.turn(theme)
        cells = contrasts(person, "td, th, td span, [data-testid=stCaptionContainer] p, [data-testid=stHtml] *")
        assert len({cell["under"] for cell in cells if re.match(r"\d+ of \d+ random as good", cell["text"])}) > 2, (
            "what few random ones reach is shaded by how few"
        )
        person.picture(f"hard_and_soft_erasure-{theme}")


def test_table_and_figures_are_saved_and_a_slider_changes_what_the_hard_metrics_say_and_the_address(visit):
    person = opened(visit, measures=["leave-one-out", "gradient", "input × gradient"])
    name, content = person.saved("Table (CSV)")
    assert (
        name.startswith(f"erasure-{SMALL}")
        and name.endswith(".csv")
        and content.decode("utf-8-sig").count("leave-one-out") == 3
    )
    buttons = person.page.locator(".st-key-save-places").get_by_role("button")
    name, content = person.saved(buttons.filter(has_text="SVG").first)
    assert name.startswith(f"metric-places-{SMALL}") and b"NC" in content
    look(person, "Which erasure")
    name, content = person.saved(
        person.page.locator(".st-key-save-leaving").get_by_role("button").filter(has_text="PNG").first
    )
    assert name.endswith(".png") and content.startswith(b"\x89PNG")
    look(person, "Same order")
    playwright.expect(person.page.get_by_text("NS and NC are exactly the same")).to_be_visible()
    slider = person.page.get_by_role("slider", name=re.compile("^A ·")).first
    slider.focus()
    slider.press("Home")
    playwright.expect(person.page.get_by_text("The two no longer rank the words alike")).to_be_visible()
    person.until("() => location.search.includes('weight-a1=0')")
    person.page.reload()
    playwright.expect(person.page.get_by_text("The two no longer rank the words alike")).to_be_visible()
    slider.focus()
    slider.press("End")
    playwright.expect(person.page.get_by_text("NS and NC are exactly the same")).to_be_visible()
    person.until("() => !location.search.includes('weight-a1')")
    person.narrow()
