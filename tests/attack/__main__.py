"""python -m tests.attack --size small | large [--seed 0] [--only ATTACK [--step N]]

Prints a table of what was tried and what was found; the exit status is 1 where anything was. small takes seconds, large
about half an hour of one core.
"""

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.attack import alone  # noqa: F401
from tests.attack.kills import Kills, make_models
from tests.attack.tally import HEADER, Tally, table
from tests.attack.victims import undisturbed

# How much of each.
SIZES = {"small": {"kills": 26}, "large": {"kills": 1000}}


def main() -> int:
    """Attack; 1 where anything was found."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack", description="kills, damage, hostile inputs, sessions"
    )
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ATTACKS, help="one attack")
    parser.add_argument("--step", type=int, help="one step of it")
    chosen = parser.parse_args()
    tallies, began = [], time.monotonic()
    with TemporaryDirectory() as folder:
        for name, attack in ATTACKS.items():
            if chosen.only in (None, name):
                tallies.append(Tally(name, chosen.seed))
                attack(tallies[-1], Path(folder).resolve(), SIZES[chosen.size][name], chosen.step)
                for failure in tallies[-1].failures:
                    print(failure, flush=True)
    print(table([list(HEADER), *(tally.row() for tally in tallies)]))
    print(f"\n{chosen.size}, {time.monotonic() - began:.0f} s")
    return int(any(tally.failures for tally in tallies))


def kills(tally: Tally, root: Path, count: int, step: int | None) -> None:
    """So many kills, over all jobs in turn; in the large size one more at each change that training makes on the disk."""
    undisturbed(lambda: make_models(root), root)
    attack = Kills(tally, root)
    if step is not None:
        attack.step(step)
        return
    step = 0
    if count >= 1000:
        # Step -n is training, killed before its nth change of the disk.
        _, whole, _ = attack.job(-1)
        for dies in range(1, whole.changes + 1):
            attack.step(-dies)
    while tally.tries < count:
        attack.step(step)
        step += 1


ATTACKS = {"kills": kills}

if __name__ == "__main__":
    sys.exit(main())
