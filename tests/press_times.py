"""Seconds from the last of ten presses of N in ten seconds to the first picture of the example that is shown then.

    python -m tests.press_times [--page PAGE …] [--rounds 3] [--alone]

On each page with an example, on a server with an empty store, while a run over many examples goes on in another tab (not
with --alone).
"""

import argparse
import contextlib
import re
import statistics
import tempfile
import time
from pathlib import Path

from playwright import sync_api as playwright

from core.data.examples import read_bundled
from tests.browsing import Person, installed_browser
from tests.sessions import running_server

PRESSES, EVERY_MS = 10, 1000
# Of each page, what shows something that was found of the example.
PICTURES = {
    "attributions": [".row .text"],
    "recursive_masking": [".player .text"],
    "aopc_and_naopc": ["table", "[role=figure] svg"],
    "hard_and_soft_erasure": ["table", ".js-plotly-plot"],
}
# What a page showed before stands there until it is drawn anew, marked as stale.
_ASKS = re.compile("^(Compute|Go on with) ")
FRESH = "[data-testid=stMain] [data-testid=stElementContainer]:not([data-stale=true])"


def seconds_after(browser, server: str, page: str, start: int) -> float:
    """Seconds to the first picture of the example ten places after the one at `start`."""
    examples = read_bundled("reviews")
    first, last = examples[start], examples[start + PRESSES]
    person = Person(browser, server)
    try:
        person.page.goto(f"{server}/{page}?example={first.id}")
        person.has_chosen(first.id)
        person.page.get_by_role("heading", level=1).first.click()
        for i in range(PRESSES):
            person.page.keyboard.press("n")
            person.page.wait_for_timeout(EVERY_MS if i < PRESSES - 1 else 0)
        began = time.monotonic()
        box = person.page.get_by_role("combobox", name="Example", exact=True)
        playwright.expect(box).to_have_value(re.compile(f"^{re.escape(last.id)} "))
        there = time.monotonic() - began
        fresh = ", ".join(f"{FRESH} {one}" for one in PICTURES[page])
        playwright.expect(person.page.locator(fresh).first).to_be_visible()
        seconds = time.monotonic() - began
        print(f"  {page} from {first.id}: chosen after {there:.2f}, drawn after {seconds:.2f}", flush=True)
        return seconds
    finally:
        person.close()


def batch(browser, server: str) -> Person:
    """A person in another tab who has begun a run over many examples: its first come unasked, or are asked for."""
    person = Person(browser, server)
    person.page.goto(f"{server}/data_set?section=diagnosticity&sample=1000&draws-of-data=32")
    asks, runs = person.page.get_by_role("button", name=_ASKS).first, person.page.get_by_role("button", name="Cancel")
    playwright.expect(asks.or_(runs).first).to_be_visible()
    if asks.count():
        asks.press("Enter")
    playwright.expect(runs.first).to_be_visible()
    return person


def table(found: dict[str, list[float]]) -> str:
    """Seconds by page (rows) and round (columns), and their median."""
    rounds = len(next(iter(found.values())))
    rows = [["seconds", *(f"round {i + 1}" for i in range(rounds)), "median"], ["---"] * (rounds + 2)]
    rows += [[page, *map("{:.2f}".format, times), f"{statistics.median(times):.2f}"] for page, times in found.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.press_times", description=__doc__.partition("\n")[0])
    parser.add_argument("--page", nargs="+", choices=list(PICTURES), default=list(PICTURES))
    parser.add_argument("--rounds", type=int, default=3, help="examples of each page (default 3)")
    parser.add_argument("--alone", action="store_true", help="without a run over many examples beside")
    chosen = parser.parse_args()
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(installed_browser())
        server = stack.enter_context(running_server(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        if not chosen.alone:
            stack.callback(batch(browser, server).close)
        found: dict[str, list[float]] = {page: [] for page in chosen.page}
        for turn in range(chosen.rounds):
            for place, page in enumerate(chosen.page):
                found[page].append(seconds_after(browser, server, page, 11 * (turn * len(chosen.page) + place)))
        print(table(found))
