"""The tour in a real browser: what a presenter presses stands still."""

from urllib.parse import urlencode

from playwright import sync_api as playwright

from core.texts.rendering import sentence
from pages.parts.frame.tour import STOPS


def top(found: playwright.Locator) -> float:
    """Where something begins below the window's edge."""
    place = found.bounding_box()
    assert place is not None
    return place["y"]


def test_home_and_the_way_on_stand_still_and_nothing_covers_it(visit):
    person = visit()
    page, title = person.page, person.page.get_by_role("heading", level=1)
    page.goto(person.server)
    page.get_by_text(sentence("home", "what")).wait_for()
    # The browser has put down what came with it.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    first = top(title)
    person.rest()
    assert top(title) == first, "what is above it has its place before the model is there"
    places = []
    # A short line, and a long one above a title of two lines.
    for at in (1, 5):
        stop = STOPS[at - 1]
        page.goto(f"{person.server}/{stop.path[6:-3]}?{urlencode(stop.choices | {'tour': str(at)})}")
        title.wait_for()
        page.get_by_role("button", name="Leave the tour").hover()
        onward = page.get_by_role("button", name="Next", exact=True)
        places.append(onward.bounding_box())
        assert places[-1] == places[0] and page.get_by_role("tooltip").count() == 0
        # It lies clear of the toolbar.
        onward.click(trial=True)
