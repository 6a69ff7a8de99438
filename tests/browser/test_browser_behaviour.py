"""Behaviour under masking in a real browser: drawn in both themes with real maps, and a point that is clicked chooses
its example.
"""

import re

import pytest
from playwright import sync_api as playwright

from core.data.examples import read_bundled
from tests import browsing
from tests.browsing import contrasts
from tests.hostile import lines
from tests.sessions import running_server

browser, visit = browsing.browser, browsing.visit
SHORT = [
    example for example in read_bundled("reviews") if example.id in ("s041", "s068", "s076", "s096", "s180", "s205")
]
MAP = "[class*=st-key-map-] .js-plotly-plot"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The app with an empty store and six short texts; its address."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "mine.jsonl").write_bytes(lines(*({"id": e.id, "text": e.text, "label": e.label} for e in SHORT)))
    with running_server(folder, FAITHSCOPE_DATA=str(folder / "mine.jsonl")) as address:
        yield address


def opened(visit, theme):
    """The page with everything computed and two maps on it."""
    person = visit(theme)
    person.page.goto(
        f"{person.server}/model_check?{browsing.urlencode({'part': 'behaviour', 'measures': 'gradient', 'example': SHORT[0].id})}"
    )
    playwright.expect(person.page.get_by_text("What erasing does to predictions and embeddings")).to_be_visible()
    maps, ask = person.page.locator(MAP), person.page.get_by_role("button", name=re.compile("^(Compute|Go on with) "))
    # On a slow machine some of it waits to be asked for.
    playwright.expect(maps.nth(1).or_(ask.first).first).to_be_visible()
    if ask.count():
        ask.first.click()
    playwright.expect(maps).to_have_count(2)
    playwright.expect(person.page.get_by_role("button", name="Cancel")).to_have_count(0)
    playwright.expect(maps.nth(1).locator(".legendtext").first).to_be_visible()
    return person


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_answers_and_draws_and_a_click_chooses_an_example(visit, theme):
    person = opened(visit, theme)
    legend = person.page.locator(".st-key-behaviour .js-plotly-plot .legendtext")
    playwright.expect(legend).to_have_count(4)
    assert {"random order, sst2-fmm", "gradient, sst2-fmm", "random order, sst2-plain", "gradient, sst2-plain"} == set(
        legend.all_text_contents()
    )
    assert (
        re.search("changes? the prediction of sst2-fmm", person.said)
        and "Do not rank models by fidelity" in person.said
    )
    assert len(contrasts(person, "td, th, [data-testid=stHtml] p")) > 30
    person.picture(f"behaviour-{theme}")
    name, content = person.saved("Table (CSV)")
    assert name.endswith(".csv") and len(content.decode("utf-8-sig").strip().splitlines()) == 1 + 4 * 11
    first = person.page.locator(MAP).first
    points = first.locator(".point")
    playwright.expect(points).to_have_count(30)
    first.scroll_into_view_if_needed()
    # Neighbours may lie over each other: whose point it was is what the page says itself (an id has three digits, the
    # share masked follows).
    chosen = SHORT[0].id
    for place in range(0, 30, 7):
        box = points.nth(place).bounding_box()
        person.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        hover = first.locator(".hoverlayer .hovertext")
        playwright.expect(hover).to_contain_text("% masked")
        chosen = re.match(r"s\d{3}", hover.text_content())[0]
        if chosen != SHORT[0].id:
            break
    assert chosen != SHORT[0].id
    person.page.mouse.down()
    person.page.mouse.up()
    playwright.expect(person.page).to_have_url(re.compile(f"example={chosen}"))
    playwright.expect(person.page.get_by_role("combobox", name="Example", exact=True)).to_have_value(re.compile(chosen))
    playwright.expect(person.page.locator(MAP).first.locator(".legendtext").first).to_have_text("the chosen example")
