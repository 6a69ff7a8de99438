"""Seconds until the app has started and every page stands there with all that it computes by itself.

    python -m tests.page_times [--beside FOLDER …] [--rounds 4]

Cold is the first visit to a page of a server whose store was empty when it started, warm the second; a round starts a
server per checkout and visits every page of all of them in turn, so that a slow minute of the machine meets each. The
texts are few and short, since it is the pages that are timed.
"""

import argparse
import contextlib
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from playwright import sync_api as playwright

from core.data.examples import read_bundled
from tests.browsing import Person, installed_browser
from tests.hostile import lines
from tests.sessions import ROOT, running_server

TEXTS = ("s041", "s068", "s076", "s096", "s180", "s205")
PAGES = {
    "": {},
    "examples": {},
    "attributions": {},
    "recursive_masking": {"measures": "leave-one-out"},
    "aopc_and_naopc": {},
    "hard_and_soft_erasure": {},
    "model_check": {"measures": "gradient"},
    "data_set": {
        "section": "diagnosticity",
        "measures": "gradient",
        "metrics": ["NS", "Soft-NS"],
        "draws-of-data": "1",
    },
    "scoreboard": {"measures": "gradient", "draws-of-data": "1"},
}
# What waits to be asked for on any machine.
DEAR = "exact|beam sizes|shuffled"


def page_times(checkouts: list[Path], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Seconds by what was waited for and checkout, one for each round."""
    found: dict[str, dict[str, list[float]]] = {}

    def took(what: str, checkout: Path, began: float) -> None:
        found.setdefault(what, {}).setdefault(str(checkout), []).append(time.monotonic() - began)

    for turn in range(rounds):
        # Who goes first changes.
        order = checkouts[turn % len(checkouts) :] + checkouts[: turn % len(checkouts)]
        with contextlib.ExitStack() as stack:
            browser, servers = stack.enter_context(installed_browser()), {}
            for checkout in order:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                texts = folder / "short.jsonl"
                texts.write_bytes(
                    lines(*(as_row(example) for example in read_bundled("reviews") if example.id in TEXTS))
                )
                began = time.monotonic()
                servers[checkout] = stack.enter_context(
                    running_server(folder, root=checkout, FAITHSCOPE_DATA=str(texts))
                )
                took("start", checkout, began)
            for page, query in PAGES.items():
                for visit in ("cold", "warm"):
                    for checkout in order:
                        began = time.monotonic()
                        person = opened(browser, servers[checkout], page, query)
                        took(f"{page or 'home'}, {visit}", checkout, began)
                        person.leave()
    return found


def as_row(example) -> dict:
    """What a file of one's own says of an example."""
    return {"id": example.id, "text": example.text, "label": example.label}


def opened(browser, server: str, page: str, query: dict) -> Person:
    """A person before a page on which all is computed but what is dear everywhere."""
    person = Person(browser, server)
    person.page.goto(f"{server}/{page}?{urlencode(query, doseq=True)}")
    # Older checkouts head their pages with the second level.
    playwright.expect(person.page.locator("[data-testid=stMain] :is(h1, h2)").first).to_be_visible()
    return person.computed(DEAR)


def table(found: dict[str, dict[str, list[float]]]) -> str:
    """Medians by what was waited for (rows) and checkout (columns), and of the first its ratio to each other one."""
    first, *others = next(iter(found.values()))
    rows = [["seconds (median)", first, *(part for other in others for part in (other, f"{first} / {other}"))]]
    for what, times in found.items():
        medians = {checkout: statistics.median(seconds) for checkout, seconds in times.items()}
        beside = (f"{part:.2f}" for other in others for part in (medians[other], medians[first] / medians[other]))
        rows.append([what, f"{medians[first]:.2f}", *beside])
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.page_times", description=__doc__.partition("\n")[0])
    parser.add_argument("--beside", nargs="+", type=Path, default=[], help="older checkouts, timed in turn with this")
    parser.add_argument(
        "--rounds", type=int, default=4, help="servers and visits of each; who goes first changes (default 4)"
    )
    chosen = parser.parse_args()
    print(table(page_times([ROOT, *(path.resolve() for path in chosen.beside)], chosen.rounds)))
