"""Does a server grow that is used for long? Memory, open files and threads over many switches of example, and over many
sessions opened and closed.

    python -m tests.growth [--size small | large] [--switches 200] [--sessions 40]

For each of the two: where it stood at the start, in the middle and at the end, and the slope over the last half with its
interval at 95 %, from the means of ten stretches, since single readings depend on each other. Of a server that does not
grow the interval holds 0.
"""

import argparse
import itertools
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
from scipy import stats

from core.data.examples import read_bundled
from tests.sessions import Session, open_files, start_server

SIZES = {"small": (200, 40), "large": (1000, 200)}
PAGES = ("", "attributions", "examples", "recursive_masking")
READ = ("megabytes", "open files", "threads")
STRETCHES = 10
# Seconds after which a session that ended is let go of: twice the one in which it may come back here, and a little.
LET_GO = 2.5


def readings(process: psutil.Process) -> tuple[float, int, int]:
    """What `READ` names, as of now."""
    return process.memory_info().rss / 2**20, open_files(process), process.num_threads()


def switched(server: str, count: int) -> Iterator[None]:
    """One session that goes to another example, so many times."""
    # Of one page of the menu.
    names = [example.id for example in read_bundled("reviews")[:200]]
    chosen, shown = random.Random(0), names[-1]
    with Session(server, "attributions", example=shown) as session:
        for _ in range(count):
            shown = chosen.choice([name for name in names if name != shown])
            session.choose("Example", shown)
            assert not session.errors, session.errors
            yield


def opened_and_closed(server: str, count: int) -> Iterator[None]:
    """Sessions one after the other, each on the next page, and let go of."""
    for page in itertools.islice(itertools.cycle(PAGES), count):
        with Session(server, page) as session:
            assert not session.errors, session.errors
        time.sleep(LET_GO)
        yield


def slope(values: np.ndarray) -> tuple[float, float, float]:
    """Growth for each 100 steps over the last half of values [n], and the ends of its interval at 95 %."""
    half = values[len(values) // 2 :]
    parts = np.array_split(np.arange(len(half)), STRETCHES)
    fitted = stats.linregress([part.mean() for part in parts], [half[part].mean() for part in parts])
    # Of what never changes scipy gives no error.
    around = stats.t.ppf(0.975, STRETCHES - 2) * np.nan_to_num(fitted.stderr)
    return 100 * fitted.slope, 100 * (fitted.slope - around), 100 * (fitted.slope + around)


def row(over: str, name: str, values: np.ndarray) -> list[str]:
    """One line of the table."""
    found, low, high = slope(values)
    stood = [f"{values[at]:.0f}" for at in (0, len(values) // 2, -1)]
    held = "yes" if low <= 0 <= high else "no"
    return [over, name, *stood, f"{found:+.2f}", f"{low:+.2f} to {high:+.2f}", held]


def measured(switches: int, sessions: int) -> list[list[str]]:
    """The lines of the table, from one server of its own."""
    table = []
    with tempfile.TemporaryDirectory() as folder:
        # What sessions hold while they may come back depends on how fast others follow, and is no growth.
        server, address = start_server(Path(folder), STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="1")
        try:
            process = psutil.Process(server.pid)
            for over, steps in (
                (f"{switches} switches", switched(address, switches)),
                (f"{sessions} sessions", opened_and_closed(address, sessions)),
            ):
                found = np.array([readings(process) for _ in steps])
                table += [row(over, name, values) for name, values in zip(READ, found.T)]
        finally:
            server.terminate()
            server.wait()
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.growth", description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=SIZES, default="small", help="200 switches and 40 sessions, or 1,000 and 200")
    parser.add_argument("--switches", type=int, help="instead of those of the size")
    parser.add_argument("--sessions", type=int, help="instead of those of the size")
    chosen = parser.parse_args()
    if any(steps is not None and steps < 4 * STRETCHES for steps in (chosen.switches, chosen.sessions)):
        parser.error(f"at least {4 * STRETCHES} switches and sessions, or the last half tells nothing")
    switches, sessions = SIZES[chosen.size]
    header = ["over", "of the server", "start", "middle", "end", "slope for each 100", "interval", "holds 0"]
    lines = [header, ["---"] * len(header), *measured(chosen.switches or switches, chosen.sessions or sessions)]
    print("\n".join(f"| {' | '.join(line)} |" for line in lines))
