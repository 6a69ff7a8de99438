"""A real mouse, pressed and let go a moment later, on buttons of a page that streams and moves meanwhile."""

import re
from urllib.parse import urlencode

from playwright import sync_api as playwright

from core.data.examples import read_bundled

REVIEWS = {example.id: example for example in read_bundled("reviews")}
# Beam search on it takes long enough to be cancelled.
LONG = max(REVIEWS.values(), key=lambda example: len(example.text)).id
# What a page does when a picture above a button appears or grows.
GROWS = """() => document.querySelector('[data-testid=stMainBlockContainer]')
.prepend(Object.assign(document.createElement('div'), { style: 'height: 300px; flex: none' }))"""


# Whether the half of a click that was just made met a button.
MET = """button => window.addEventListener(
  'pointerdown', (event) => { window.met = button.contains(event.target); }, { capture: true, once: true })"""


def meet(person, button) -> tuple[float, float]:
    """Press the mouse on a button, and again where the page moved it away before the mouse was there; where that was."""
    for _ in range(20):
        playwright.expect(button).to_be_visible()
        button.scroll_into_view_if_needed()
        person.rest()
        button.evaluate(MET)
        box = button.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        person.page.mouse.move(x, y)
        person.page.mouse.down()
        if person.page.evaluate("window.met"):
            return x, y
        person.page.mouse.move(x, y - 150)
        person.page.mouse.up()
    raise AssertionError(f"{button} moved away twenty times before it could be pressed")


def press(person, button, between=None, to=(0, 0)) -> None:
    """Press the mouse on a button and let it go, with what happens in between, or after it has moved away."""
    x, y = meet(person, button)
    if between is not None:
        person.page.evaluate(between)
    person.page.wait_for_timeout(120)
    person.page.mouse.move(x + to[0], y + to[1])
    person.page.mouse.up()


def test_a_mouse_presses_buttons_that_move_between_the_halves_of_a_click(visit):
    person = visit()
    person.page.goto(f"{person.server}/recursive_masking?{urlencode({'example': LONG, 'measures': 'beam'})}")
    ask = person.page.get_by_role("button", name=re.compile("^(Compute|Go on with) beam"))
    cancel = person.page.get_by_role("button", name="Cancel", exact=True)
    # Random orders come by themselves.
    playwright.expect(ask).to_be_visible()
    person.idle()
    # Whoever moves away before letting go presses nothing.
    press(person, ask, to=(0, -150))
    person.page.wait_for_timeout(500)
    assert cancel.count() == 0
    for between in (None, GROWS):
        press(person, ask, between)
        press(person, cancel, between)
        playwright.expect(person.page.get_by_text("Cancelled; what was computed is kept").first).to_be_visible()
        playwright.expect(ask).to_be_visible()


def test_a_click_that_meets_its_button_is_one_click_and_explain_takes_one_that_does_not(visit):
    person = visit().open("attributions", data="reviews")
    person.page.evaluate(
        "() => { window.clicks = 0; document.addEventListener('click', (event) => { window.clicks += "
        "Boolean(event.target.closest('.stFormSubmitButton')); }, true); }"
    )
    person.page.get_by_text("Type or edit a text", exact=True).click()
    explain = person.page.get_by_role("button", name="Explain", exact=True)
    for clicks, (between, text) in enumerate(((None, "Warm and funny."), (GROWS, "Cold and dull.")), start=1):
        box = person.page.get_by_role("textbox", name="Text", exact=True)
        box.fill(text)
        # What is drawn meanwhile takes nothing back that is typed.
        person.idle()
        playwright.expect(box).to_have_value(text)
        press(person, explain, between)
        person.shows(text)
        assert person.page.evaluate("window.clicks") == clicks
