"""Quick presses in a real browser: each one counts, and what is on the screen then goes before all that was left and
before a run over many examples.
"""

import re

from playwright import sync_api as playwright

from tests.browser.conftest import SHORT


def pressed(person, *keys: str) -> None:
    """Press keys so quickly that the page is still being drawn for the ones before."""
    for key in keys:
        person.page.keyboard.press(key)
        person.page.wait_for_timeout(60)


def shows(person, place: int) -> None:
    """Wait for the first picture of an example, and see that no other takes its place."""
    example = SHORT[place]
    text = person.page.locator(".player:not(:has([aria-pressed])) .text").first
    playwright.expect(text).to_have_text(example.text, use_inner_text=False)
    person.has_chosen(example.id)
    playwright.expect(text).to_have_text(example.text, use_inner_text=False)


def test_every_press_counts_and_what_is_shown_goes_before_a_run_over_many(visit, short):
    other = visit().open("examples")
    # Its first texts come unasked, with so many draws for long enough; where they are too dear for that, asked for.
    other.page.goto(f"{other.server}/data_set?section=diagnosticity&sample=1000&draws-of-data=32")
    asks = other.page.get_by_role("button", name=re.compile("^(Compute|Go on with) ")).first
    playwright.expect(asks.or_(other.page.get_by_role("button", name="Cancel")).first).to_be_visible()
    if asks.count():
        asks.press("Enter")
    runs = other.page.get_by_role("button", name="Cancel").first
    playwright.expect(runs).to_be_visible()
    person = visit().open("recursive_masking", data=short, measures=["gradient"])
    person.page.get_by_role("heading", level=1).click()
    # Eleven times among six texts is five on.
    pressed(person, *"nnnnnnnnnnn")
    shows(person, 5)
    for _ in range(3):
        # Forced: where a button is drawn anew under the pointer, the driver would take the click back and try again,
        # and the page counts both.
        person.page.get_by_role("button", name=re.compile("^Previous")).click(force=True)
    shows(person, 2)
    pressed(person, *"ppn")
    shows(person, 1)
    playwright.expect(runs).to_be_visible()
