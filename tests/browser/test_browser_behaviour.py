"""Behaviour under masking in a real browser: drawn in both themes with real maps, and a point that is clicked chooses
its example.
"""

import re

from playwright import sync_api as playwright

from tests import browsing
from tests.browsing import contrasts

FIRST = "s041"
MAP = "[class*=st-key-map-] .js-plotly-plot"


def opened(visit, short):
    """The page with everything computed and two maps on it."""
    person = visit()
    asked = {"part": "behaviour", "measures": "gradient", "data": short, "example": FIRST}
    person.page.goto(f"{person.server}/model_check?{browsing.urlencode(asked)}")
    playwright.expect(person.page.locator(".st-key-behaviour .js-plotly-plot").first).to_be_visible()
    person.open_tab("Embedding map")
    maps, ask = person.page.locator(MAP), person.page.get_by_role("button", name=re.compile("^(Compute|Go on with) "))
    # On a slow machine some of it waits to be asked for.
    playwright.expect(maps.nth(1).or_(ask.first).first).to_be_visible()
    if ask.count():
        ask.first.press("Enter")
    playwright.expect(maps).to_have_count(2)
    playwright.expect(person.page.get_by_role("button", name="Cancel")).to_have_count(0)
    playwright.expect(maps.nth(1).locator(".legendtext").first).to_be_visible()
    return person


def test_it_answers_and_draws_and_a_click_chooses_an_example(visit, short):
    person = opened(visit, short)
    legend = person.page.locator(".st-key-behaviour .js-plotly-plot .legendtext")
    playwright.expect(legend).to_have_count(4)
    orders, models = ("random order", "gradient"), ("sst2-fmm", "sst2-plain")
    assert {f"{order}, {model}" for order in orders for model in models} == set(legend.all_text_contents())
    told = person.page.locator(".headline[data-question=behaviour]")
    playwright.expect(told).to_have_attribute("data-outcome", "random order alone")
    for theme in ("light", "dark"):
        person.turn(theme)
        assert len(contrasts(person, "[data-testid=stHtml] p, [data-testid=stMetric] *, button p")) > 10
        person.picture(f"behaviour-{theme}")
    # The page shows no other tab, so that there is one such button.
    name, content = person.saved("Table (CSV)")
    assert name.endswith(".csv") and len(content.decode("utf-8-sig").strip().splitlines()) == 1 + 4 * 11
    first = person.page.locator(MAP).first
    points = first.locator(".point")
    playwright.expect(points).to_have_count(30)
    first.scroll_into_view_if_needed()
    # Neighbours may lie over each other: whose point it was is what the page says itself (an id has three digits, the
    # share masked follows).
    chosen = FIRST
    for place in range(0, 30, 7):
        box = points.nth(place).bounding_box()
        person.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        hover = first.locator(".hoverlayer .hovertext")
        playwright.expect(hover).to_contain_text("% masked")
        chosen = re.match(r"s\d{3}", hover.text_content())[0]
        if chosen != FIRST:
            break
    assert chosen != FIRST
    person.page.mouse.down()
    person.page.mouse.up()
    playwright.expect(person.page).to_have_url(re.compile(f"example={chosen}"))
    playwright.expect(person.page.get_by_role("combobox", name="Example", exact=True)).to_have_value(re.compile(chosen))
    playwright.expect(person.page.locator(MAP).first.locator(".legendtext").first).to_have_text("the chosen example")
