"""The page Examples as a person at a real browser uses it: its table, its file box, and what is saved from it."""

import contextlib
import csv
import io
import random
import re
from urllib.parse import parse_qs

from playwright import sync_api as playwright

from tests.browsing import Person, script

expect = playwright.expect
PREDICTED = script("predicted")
FOCUS = (
    "() => { let at = document.activeElement; while (at.shadowRoot?.activeElement) at = "
    "at.shadowRoot.activeElement; return at.dataset.key ?? at.className; }"
)


def predicted(person: Person) -> Person:
    """Wait until all is predicted; a machine that stood still, or an earlier test that left, lets it wait to be asked."""
    ask = person.page.get_by_role("button", name=re.compile("^(Compute predictions|Go on with predictions)"))
    person.until(
        f"() => ({PREDICTED})() || [...document.querySelectorAll('button')].some("
        "(b) => /^(Compute predictions|Go on with predictions)/.test(b.textContent.trim()))"
    )
    # What was asked a moment ago is still offered until the page is drawn again.
    with contextlib.suppress(playwright.TimeoutError):
        if ask.count():
            ask.first.press("Enter", timeout=5_000)
    return person.until(PREDICTED) or person


def focus(person: Person) -> str:
    return person.page.evaluate(FOCUS)


def ids(person: Person) -> list[str]:
    return [
        row.get_attribute("data-key").removeprefix("row:") for row in person.page.locator(".browser tbody tr").all()
    ]


def found(person: Person, text: str) -> None:
    """Wait until the table says how many examples it holds."""
    expect(person.page.locator(".found")).to_have_text(text)
    person.rest()


def chip(person: Person, key: str):
    return person.page.locator(f'.chip[data-key="{key}"]')


def row(person: Person, identifier: str):
    return person.page.locator(f'.browser tbody tr[data-key="row:{identifier}"]')


def hand_over(person: Person, file) -> None:
    """Give a file (its path, or its name and content) to the page's file box."""
    tab = person.page.get_by_role("tab", name="A file or data set")
    if not tab.is_visible():
        person.page.get_by_text("Add texts", exact=True).click()
    tab.click()
    person.page.locator("[data-testid=stFileUploader] input[type=file]").set_input_files(
        {"name": file[0], "mimeType": "text/plain", "buffer": file[1]} if isinstance(file, tuple) else file
    )


def add(person: Person, name: str, content: bytes, examples: int) -> None:
    """Upload a file, keep it, and wait until its examples are in the table."""
    hand_over(person, (name, content))
    person.press("Add this data")
    found(person, f"{examples:,} examples")
    # What is said of it stands at the top, and what was pressed stood below.
    assert person.page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop") == 0


def safe_rows(content: bytes) -> list[list[str]]:
    """The lines of a CSV file in which no cell is a formula to a spreadsheet."""
    lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert len({len(line) for line in lines}) == 1
    for cell in (cell for line in lines for cell in line):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or re.fullmatch(
            r"[+-]?[\d.]+(e[+-]?\d+)?", cell
        ), cell
    return lines


def many(count: int, seed: int) -> list[tuple[str, str]]:
    """Short texts that all differ, with a label each."""
    rng = random.Random(seed)
    return [
        (
            f"{rng.choice(['a fine', 'a dull', 'not a good', 'an odd'])} film {seed}{i}",
            rng.choice(["negative", "positive"]),
        )
        for i in range(count)
    ]


def untouched(person: Person) -> None:
    """Nothing of the texts became an element, an attribute that runs, or code that ran."""
    assert person.page.evaluate(script("untouched"))


def opened_offline(browser, path, content: bytes, word: str) -> None:
    """A saved page shows its words without a network, asks for nothing and runs nothing."""
    path.write_bytes(content)
    problems, context = [], browser.new_context()
    context.set_offline(True)
    page = context.new_page()
    page.on(
        "request", lambda request: None if request.url in (path.as_uri(), "data:,") else problems.append(request.url)
    )
    page.on("console", lambda message: problems.append(message.text))
    page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.mouse.move(200, 200)
    assert (
        page.locator(".word").count() > 0
        and word in page.locator("body").text_content()
        and page.locator("script, img, svg, iframe").count() == 0
    )
    context.close()
    assert not problems


def state(person: Person) -> dict:
    """What the table shows, for comparing."""
    page = person.page
    return {
        "ids": ids(person),
        "rows": page.locator(".browser tbody tr").all_text_contents(),
        "chosen": page.locator("tr[aria-selected=true]").all_text_contents(),
        "on": [c.get_attribute("data-key") for c in page.locator(".chip[aria-pressed=true]").all()],
        "search": page.locator(".search").input_value(),
        "sort": [h.get_attribute("aria-sort") for h in page.locator("th").all()],
        "where": page.locator(".where").text_content(),
        "found": page.locator(".found").text_content(),
        "example": person.chosen("Example"),
        "data": person.chosen("Data"),
    }


def query(person: Person) -> dict:
    return {name: sorted(values) for name, values in parse_qs(person.query).items()}
