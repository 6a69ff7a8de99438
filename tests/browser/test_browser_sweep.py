"""The sweep that ships, in a real browser: a point of a curve, a dot and a cell each lead to their examples."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright import sync_api as playwright

from tests import browsing

# The marks of a figure under its second model.
MARKS = ".js-plotly-plot .subplot.x2y2 .scatterlayer .trace .points path"
LOO = "leave-one-out"
PLACES = (
    "all => all.map((one) => one.getBoundingClientRect()).map((one) => [one.x + one.width / 2, one.y + one.height / 2])"
)


def opened(person, **more):
    """A person before the sweep."""
    person.page.goto(f"{person.server}/data_set?{browsing.urlencode({'section': 'sweep', **more})}")
    playwright.expect(person.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    person.rest()
    return person


def arrived(person) -> dict[str, str]:
    """What the address chooses, once examples are there."""
    person.page.wait_for_url(lambda url: "/examples" in url)
    playwright.expect(person.page.get_by_text("298 examples", exact=True)).to_be_visible()
    return {name: values[0] for name, values in parse_qs(urlsplit(person.page.url).query).items()}


@pytest.mark.parametrize(
    ("figure", "chosen"),
    [
        ("NAOPC comprehensiveness", {"order": "naopc: integrated gradients", "columns": "naopc: integrated gradients"}),
        ("performance", {"along": "gradient", "order": "changes", "columns": "changes"}),
    ],
    ids=["dot", "point"],
)
def test_a_mark_leads_to_the_examples_of_its_model_and_measure(visit, figure, chosen):
    person = opened(visit(), **{"sweep-figure": figure})
    marks = np.array(person.page.locator(MARKS).evaluate_all(PLACES))
    # Curves have eleven points each: three random orders, leave-one-out, integrated gradients, and then gradient.
    offered = slice(5 * 11, 6 * 11) if figure == "performance" else slice(1)
    alone = np.linalg.norm(marks[offered, None] - marks, axis=2)
    person.page.mouse.move(*marks[offered][np.sort(alone, axis=1)[:, 1].argmax()])
    # Plotly clicks what it found under the mouse a moment before.
    person.page.wait_for_timeout(300)
    person.page.mouse.down()
    person.page.wait_for_timeout(80)
    person.page.mouse.up()
    found = arrived(person)
    assert {name: found.get(name) for name in ("model", *chosen)} == {"model": "sst2-plain"} | chosen


def test_a_cell_leads_to_them_too(visit):
    person = opened(visit())
    person.open_tab("NAOPC")
    person.page.locator("[data-testid=stHtml] td a").filter(visible=True).first.click()
    found = arrived(person)
    assert found["order"] == found["columns"] == f"naopc: {LOO}"
