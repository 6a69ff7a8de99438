"""Hostile inputs: data files, folders of models, and what stands beside an output. Each ends in a result or a sentence,
soon, and takes little memory.
"""

import json
import random
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from tests import hostile_seeded
from tests.attack.tally import HANG, Tally
from tests.attack.victims import Ended, Victim
from tests.hostile import hostile_files

# Beyond what the process holds already: a file may hold 500 MB unpacked, and its table is made of it.
MOST = 2_500_000_000


class Inputs:
    """The attack: each step is one input in a process of its own."""

    def __init__(self, tally: Tally, root: Path):
        self.tally, self.root, self.files = tally, root, list(hostile_files().values())
        self.most = 0.0
        with Victim(lambda: 0, root) as nothing:
            self.before = nothing.wait(HANG).megabytes

    def step(self, step: int) -> None:
        """Try one input; every second step is one of those that are made by hand."""
        rng = self.tally.rng(step)
        with TemporaryDirectory(dir=self.root) as folder:
            at = Path(folder)
            if step % 2 == 0:
                # In an order in which neighbours differ.
                file = self.files[step // 2 * 37 % len(self.files)]
                self._library(step, at, file.file, file.content)
            else:
                way = rng.choice((self._file, self._file, self._data, self._model, self._beside))
                way(step, at, rng)

    def _library(self, step: int, at: Path, name: str, content: bytes) -> None:
        with Victim(lambda: hostile_seeded.attack(name, content, at) and 0, at, most=MOST) as victim:
            self._look(step, f"{name[:60]!a} of {len(content):,} bytes", victim.wait(3 * HANG))

    def _file(self, step: int, at: Path, rng: random.Random) -> None:
        self._library(step, at, *hostile_seeded.hostile_file(rng.randrange(10**9)))

    def _data(self, step: int, at: Path, rng: random.Random) -> None:
        """A file as somebody gives it to a command."""
        name, content = hostile_seeded.hostile_file(rng.randrange(10**9))
        path = at / f"data.{name.rpartition('.')[2] if name.isprintable() and len(name) < 90 else 'csv'}"
        path.write_bytes(content)
        model = ["--model", f"{self.root / 'bert'}", "--device", "cpu"]
        few = [*model, "--data", f"{path}", "--out", f"{at / 'out.parquet'}", "--measures", "gradient"]
        train = ["train", "--base", f"{self.root / 'bert-base'}", "--epochs", "1", "--device", "cpu"]
        commands = {
            "behaviour": ["evaluate", "--what", "behaviour", "--sample", "2", *few],
            "check": ["check", "--sample", "2", *few],
            "train": [*train, "--train", f"{path}", "--validation", f"{path}", "--out", f"{at / 'trained'}"],
        }
        # Each row is trained on and measured, so only a file of few rows is.
        asked = rng.choice(["behaviour", "check", *["train"] * (len(content) < 2_000)])
        self._command(step, at, commands[asked], f"{asked} of {path.name}, {len(content):,} bytes")

    def _model(self, step: int, at: Path, rng: random.Random) -> None:
        """A folder of a model with one or more damaged files."""
        folder = at / "model"
        shutil.copytree(self.root / rng.choice(("bert", "distilbert")), folder)
        (folder / "card.json").write_text(json.dumps({"performance": {"masked": [1]}, "labels": ["a"]}))
        said = []
        for path in rng.sample(sorted(folder.iterdir()), rng.choice((1, 1, 2))):
            for _ in range(rng.choice((1, 3))):
                path.write_bytes(_spoiled(path.read_bytes(), rng))
            said.append(path.name)
        asked = ["--model", f"{folder}", "--data", f"{self.root / 'data.jsonl'}", "--device", "cpu"]
        evaluated = ["evaluate", "--what", "behaviour", "--measures", "gradient", "--sample", "2"]
        self._command(step, at, [*evaluated, *asked, "--out", f"{at / 'out.parquet'}"], f"a model with bad {said}")

    def _beside(self, step: int, at: Path, rng: random.Random) -> None:
        """What an interrupted run left beside its output, damaged."""
        train = f"--base {self.root / 'bert-base'} --train {self.root / 'data.jsonl'}".split()
        train += f"--validation {self.root / 'data.jsonl'} --epochs 2 --device cpu --out {at / 'out'}".split()
        limits = ["--model", f"{self.root / 'bert'}", "--data", f"{self.root / 'data.jsonl'}", "--device", "cpu"]
        limits += f"--measures gradient --width 1 --exact-up-to 1 --out {at / 'out.parquet'}".split()
        name = rng.choice(("train", "limits"))
        # Killed where the first epoch, or some rows, are kept.
        with Victim(lambda: self._main(at, [name, *(train if name == "train" else limits)]), at, dies=30) as victim:
            victim.wait(HANG)
        kept = [path for path in at.rglob("*") if path.is_file() and "cache" not in path.parts and path.stat().st_size]
        for path in kept:
            path.write_bytes(_spoiled(path.read_bytes(), rng))
        what = f"{name} beside bad {[path.name for path in kept]}"
        self._command(step, at, [name, *(train if name == "train" else limits)], what)

    def _main(self, at: Path, arguments: list[str]) -> int:
        import os

        from core.commands.command_line import main

        os.environ["FAITHSCOPE_CACHE"] = str(at / "cache")
        return main(arguments)

    def _command(self, step: int, at: Path, arguments: list[str], what: str) -> None:
        with Victim(lambda: self._main(at, arguments), at, most=MOST) as victim:
            ended = victim.wait(3 * HANG)
        self._look(step, what, ended)
        if ended.status == 1:
            told = ended.screen.strip().splitlines()[-1]
            if len(told) > 2_000 or not told.isprintable():
                self.tally.fail("other failures", step, f"{what}: no sentence: {told[:400]!a}")

    def _look(self, step: int, what: str, ended: Ended) -> None:
        self.tally.tries += 1
        self.tally.took(ended.seconds, step, what)
        self.tally.read(ended.screen, step, what)
        self.most = max(self.most, ended.megabytes - self.before)
        if ended.status not in (0, 1):
            self.tally.fail("other failures", step, f"{what} ended with {ended.status}: {ended.screen}")


def _spoiled(content: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, left out, doubled, or the end cut off; or something else in their place."""
    if rng.random() < 0.1:
        return rng.choice([b"", b"[]", b"{}", b"null", b"\0" * 90, b"[" * 100_000, b'{"a": ' * 20_000])
    start = rng.randrange(max(1, min(len(content), rng.choice([len(content) + 1, 4_000]))))
    end = min(len(content), start + rng.choice([1, 4, 300]))
    middle = rng.choice(
        [b"", rng.randbytes(end - start), content[start:end] * 2, b'"', b"\0", b"9" * 40, b"null", b"-"]
    )
    return content[:start] if rng.random() < 0.1 else content[:start] + middle + content[end:]
