"""python -m tests.attack --size small | large [--seed 0] [--only ATTACK [--step N]]

Prints a table of what was tried and what was found; the exit status is 1 where anything was. small takes seconds, large
about half an hour of one core.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attack import alone, damaged, numbers, presses, servers
from tests.attack.inputs import Inputs
from tests.attack.kills import Kills, make_models
from tests.attack.servers import Links, ServerKills
from tests.attack.tally import HEADER, Tally, table
from tests.attack.victims import in_another, undisturbed

# How much of each; of sessions how many, and numbers, answers, switches of each.
SIZES = {
    "small": {
        "kills": 6,
        "servers": 1,
        "inputs": 6,
        "links": 2,
        "damage": 30,
        "numbers": (2, 200),
        "presses": (2, 6),
        "sessions": (0, 0),
        "growth": (0, 0),
    },
    "large": {
        "kills": 1000,
        "servers": 60,
        "inputs": 300,
        "links": 100,
        "damage": 200,
        "numbers": (20, 10_000),
        "presses": (20, 12),
        "sessions": (20, 14),
        "growth": (1000, 200),
    },
}


def main() -> int:
    """Attack; 1 where anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__.rpartition("\n\n")[2])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ATTACKS, nargs="+", default=list(ATTACKS), help="some of the attacks")
    parser.add_argument("--step", type=int, help="one step of them")
    chosen = parser.parse_args()
    tallies, began = [], time.monotonic()
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        alone.import_all()
        undisturbed(lambda: make_models(root), root)
        for name in chosen.only:
            if not isinstance(SIZES[chosen.size][name], tuple) or SIZES[chosen.size][name][0]:
                tallies.append(Tally(name, chosen.seed))
                ATTACKS[name](tallies[-1], root, SIZES[chosen.size][name], chosen.step)
                print(*tallies[-1].notes, f"{name}: {sum(os.times()[:4]):.0f} s of CPU so far", sep="\n", flush=True)
    print(table([list(HEADER), *(tally.row() for tally in tallies)]))
    print(f"\n{chosen.size}, {time.monotonic() - began:.0f} s, {sum(os.times()[:4]):.0f} s of CPU")
    return int(any(tally.failures for tally in tallies))


def kills(tally: Tally, root: Path, count: int, step: int | None) -> None:
    """So many kills, over all jobs in turn; from a thousand on one more before each change that training makes on the
    disk.
    """
    attack, step_now = Kills(tally, root), 0
    if step is not None:
        attack.step(step)
        return
    if count >= 1000:
        # Step -n is training, killed before its nth change of the disk.
        _, whole, _ = attack.job(-1)
        for dies in range(1, whole.changes + 1):
            attack.step(-dies)
    while tally.tries < count:
        attack.step(step_now)
        step_now += 1


def server_kills(tally: Tally, root: Path, count: int, step: int | None) -> None:
    """So many kills of a server, over all pages in turn."""
    attack, step_now = ServerKills(tally, root), 0
    while tally.tries < count if step is None else step_now == 0:
        attack.step(step_now if step is None else step)
        step_now += 1


def links(tally: Tally, root: Path, count: int, step: int | None) -> None:
    """So many links that nobody should follow."""
    Links(tally, root).steps(range(count) if step is None else range(step, step + 1))


def hostile_inputs(tally: Tally, root: Path, count: int, step: int | None) -> None:
    """So many files, folders and leftovers."""
    attack = Inputs(tally, root)
    for one in range(count) if step is None else (step,):
        attack.step(one)
    tally.notes.append(f"inputs took at most {attack.most:.0f} MB beyond what the process held before")


def damaged_files(tally: Tally, root: Path, count: int, step: int | None) -> None:
    """So many damaged files of stores."""
    _told(tally, lambda: damaged.attack(tally, root, count, step), root)


def many_sessions(tally: Tally, root: Path, count: tuple[int, int], step: int | None) -> None:
    """So many sessions that ask for so many numbers each."""
    _told(tally, lambda: numbers.attack(tally, root, *count), root)


def many_presses(tally: Tally, root: Path, count: tuple[int, int], step: int | None) -> None:
    """So many people who press at random, so often each."""
    _told(tally, lambda: presses.attack(tally, root, *count, step), root)


def sessions(tally: Tally, root: Path, count: tuple[int, int], step: int | None) -> None:
    """So many sessions at one server, that many answers each."""
    _told(tally, lambda: servers.many_people(tally, root, *count), root)


def growth(tally: Tally, root: Path, count: tuple[int, int], step: int | None) -> None:
    """So many switches of example and sessions opened and closed: nothing grows. Its own table is printed too."""
    from tests.growth import measured

    _told(tally, lambda: _grown(tally, measured(*count)), root)


def _grown(tally: Tally, rows: list[list[str]]) -> dict:
    tally.tries += len(rows)
    for line in rows:
        tally.notes.append(f"| {' | '.join(line)} |")
        if line[-1] != "yes":
            tally.fail("other failures", 0, f"over {line[0]} the server's {line[1]} grow: {line[2:]}")
    return vars(tally)


def _told(tally: Tally, work, root: Path) -> None:
    """Let an attack that has threads, or models, run in a process of its own."""
    found, ended = in_another(work, root, 3_000)
    if found is None:
        tally.fail("other failures", 0, f"ended with {ended.status}: {ended.screen}")
    else:
        vars(tally).update(found)
        print(*tally.failures, sep="\n", end="\n" * bool(tally.failures), flush=True)
    tally.read(ended.screen, 0, tally.attack)


ATTACKS = {
    "kills": kills,
    "servers": server_kills,
    "inputs": hostile_inputs,
    "links": links,
    "damage": damaged_files,
    "numbers": many_sessions,
    "presses": many_presses,
    "sessions": sessions,
    "growth": growth,
}

if __name__ == "__main__":
    sys.exit(main())
