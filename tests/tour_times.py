"""Seconds from a press of *Continue the tour* to the next stop of the tour, drawn and at rest, read from what ships.

    python -m tests.tour_times [--rounds 3]

The first round is that of a server that has just started, and loads models; each has an empty store.
"""

import argparse
import contextlib
import statistics
import tempfile
import time
from pathlib import Path

from playwright import sync_api as playwright

from pages.parts.frame.tour import STOPS
from tests.browsing import RESTS, Person, installed_browser
from tests.press_times import FRESH
from tests.sessions import running_server

# What shows that a stop's page has found something.
PICTURES = ", ".join(f"{FRESH} {one}:visible" for one in ("table", ".row .text", ".player .text", "[role=figure] svg"))


def seconds_of_stops(browser, server: str) -> list[tuple[float, float]]:
    """Of each stop, from the press that leads there: seconds to its first picture, and until it rests."""
    person, found = Person(browser, server), []
    try:
        person.page.goto(server)
        press = person.page.get_by_role("button", name="Take the tour")
        for i, stop in enumerate(STOPS):
            press.wait_for()
            began = time.monotonic()
            press.click()
            person.page.wait_for_function("place => location.search.includes(`tour=${place}`)", arg=str(i + 1))
            playwright.expect(person.page.get_by_role("heading", level=1).first).to_be_visible()
            first = person.page.get_by_role("textbox") if stop is STOPS[-1] else person.page.locator(PICTURES)
            playwright.expect(first.first).to_be_visible()
            drawn = time.monotonic() - began
            person.page.wait_for_selector(RESTS)
            found.append((drawn, time.monotonic() - began))
            person.page.wait_for_timeout(500)
            press = person.page.get_by_role("button", name="Next", exact=True)
    finally:
        person.close()
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.tour_times", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="walks through the tour (default 3)")
    chosen = parser.parse_args()
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(installed_browser())
        server = stack.enter_context(
            running_server(Path(stack.enter_context(tempfile.TemporaryDirectory())), FAITHSCOPE_SHIPPED="yes")
        )
        walks = [seconds_of_stops(browser, server) for _ in range(chosen.rounds)]
    print("| stop | first walk: drawn | at rest | later, median: drawn | at rest |\n| --- | --- | --- | --- | --- |")
    for i, stop in enumerate(STOPS):
        later = [statistics.median(walk[i][k] for walk in walks[1:] or walks) for k in (0, 1)]
        cells = [f"{i + 1} {stop.title}", *(f"{value:.2f}" for value in (*walks[0][i], *later))]
        print(f"| {' | '.join(cells)} |")
