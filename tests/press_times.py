"""Seconds from the last of ten quick presses of N to the first picture of the example that is shown then.

    python -m tests.press_times [--page PAGE …] [--rounds 3] [--alone]

Ten presses in ten seconds, on each page with an example, on a server with an empty store, while a run over many examples
goes on in another tab (not with --alone). A first picture is the example's words with the colours of one measure, on
*AOPC and NAOPC* its chart's first curve.
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
# Of each page, what is there once something of the shown example is answered for.
PICTURES = {
    "attributions": ".row .text",
    "recursive_masking": ".player:not(:has([aria-pressed])) .text",
    "aopc_and_naopc": ".js-plotly-plot .scatterlayer .trace, .pictures svg path",
    "hard_and_soft_erasure": ".row .text",
}


def seconds_after(browser, server: str, page: str, start: int) -> float:
    """Seconds to the first picture of the example ten places after the one at `start`."""
    examples = read_bundled("reviews")
    person = Person(browser, server)
    try:
        person.page.goto(f"{server}/{page}?example={examples[start].id}")
        person.page.get_by_role("heading", level=1).first.click()
        person.page.wait_for_timeout(EVERY_MS)
        for i in range(PRESSES):
            person.page.keyboard.press("n")
            if i < PRESSES - 1:
                person.page.wait_for_timeout(EVERY_MS)
        began, last = time.monotonic(), examples[start + PRESSES]
        box = person.page.get_by_role("combobox", name="Example", exact=True)
        playwright.expect(box).to_have_value(re.compile(f"^{re.escape(last.id)} "))
        chosen = time.monotonic() - began
        picture = person.page.locator(PICTURES[page]).first
        if page == "aopc_and_naopc":
            playwright.expect(picture).to_be_visible()
        else:
            playwright.expect(picture).to_have_text(last.text, use_inner_text=False)
        print(
            f"  {page} from {examples[start].id}: chosen {chosen:.2f}, drawn {time.monotonic() - began:.2f}", flush=True
        )
        return time.monotonic() - began
    finally:
        person.close()


def batch(browser, server: str) -> Person:
    """A person in another tab who has begun a run over many examples."""
    person = Person(browser, server)
    person.page.goto(f"{server}/data_set?sample=1000")
    person.page.get_by_role("button", name=re.compile("^(Compute|Go on with) ")).first.press("Enter")
    playwright.expect(person.page.get_by_role("button", name="Cancel").first).to_be_visible()
    return person


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.press_times", description=__doc__.partition("\n")[0])
    parser.add_argument("--page", nargs="+", choices=list(PICTURES), default=list(PICTURES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without a run over many examples beside")
    chosen = parser.parse_args()
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(installed_browser())
        server = stack.enter_context(running_server(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        if not chosen.alone:
            stack.callback(batch(browser, server).close)
        print("| page | " + " | ".join(f"round {i + 1}" for i in range(chosen.rounds)) + " | median |")
        found = {page: [] for page in chosen.page}
        for turn in range(chosen.rounds):
            for place, page in enumerate(chosen.page):
                found[page].append(seconds_after(browser, server, page, 11 * (turn * len(chosen.page) + place)))
        for page, times in found.items():
            print(f"| {page} | " + " | ".join(f"{one:.2f}" for one in times) + f" | {statistics.median(times):.2f} |")
