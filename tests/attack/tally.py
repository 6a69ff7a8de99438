"""What an attack did and what it found, as a row of a table and a list of failures."""

import random
from dataclasses import dataclass, field

# What takes longer has hung, however small the machine: everything here is tiny.
HANG = 10.0
HEADER = (
    *("attack", "tries", "damaged reads", "wrong numbers", "tracebacks", "hangs over 10 s", "other failures"),
    *("slowest s", "seed"),
)


@dataclass
class Tally:
    """One attack: how often it tried, and what it found, each failure with the step that reproduces it."""

    attack: str
    seed: int
    tries: int = 0
    slowest: float = 0.0
    found: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rng(self, step: int) -> random.Random:
        """What decides a step: nothing else, so that it is had again by itself."""
        return random.Random(f"{self.seed} {self.attack} {step}")

    def fail(self, kind: str, step: int, said: str) -> None:
        """Count a failure of a kind (a column of the table) and list it."""
        self.found[kind] = self.found.get(kind, 0) + 1
        again = f"python -m tests.attack --only {self.attack} --step {step} --seed {self.seed}"
        self.failures.append(f"{kind}: {said.strip()[-1500:]}\n    again: {again}")
        # At once, since the whole takes half an hour.
        print(self.failures[-1], flush=True)

    def took(self, seconds: float, step: int, what: str) -> None:
        """Note how long one thing took, without the time in which others used the machine."""
        self.slowest = max(self.slowest, seconds)
        if seconds > HANG:
            self.fail("hangs over 10 s", step, f"{what} took {seconds:.1f} s")

    def read(self, screen: str, step: int, what: str) -> None:
        """Look for a traceback in what was said on a screen or in a log."""
        if "Traceback (most recent call last)" in screen:
            self.fail("tracebacks", step, f"{what}: {screen}")

    def row(self) -> list[str]:
        """Its line of the table."""
        counts = [f"{self.found.get(kind, 0):,}" for kind in HEADER[2:-2]]
        return [self.attack, f"{self.tries:,}", *counts, f"{self.slowest:.1f}", f"{self.seed}"]


def table(rows: list[list[str]]) -> str:
    """Lines of Markdown; the first row is the header."""
    header, *others = rows
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *others))
