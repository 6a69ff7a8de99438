"""Commands and writers, killed at random moments and started again until they end: what they wrote is what an undisturbed
run writes, and nothing else is left.
"""

import json
import os
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from core.storage.library import Library
from core.storage.store import Store, canonical_key
from tests import tiny
from tests.attack.outcomes import difference, written
from tests.attack.tally import HANG, Tally
from tests.attack.victims import Ended, Victim, killed_at_random, undisturbed

IN_USE = "Another run is writing"
_LAST = canonical_key("attack", 1, what="the last result")


@dataclass(frozen=True)
class Job:
    """What is killed. work: does it, given the folder of its output; the store lies beside that."""

    name: str
    work: Callable[[Path], int | None]
    # Whether two at once take turns by the lock of the output.
    locked: bool = True


def make_models(root: Path) -> int:
    """Tiny models and data that commands are given, in a folder."""
    tiny.folder("bert", root)
    tiny.folder("distilbert", root)
    tiny.base("bert", root)
    rows = ({"id": f"t{i}", "text": text, "label": tiny.LABELS[i % 3]} for i, text in enumerate(tiny.SENTENCES[:9]))
    (root / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return 0


def jobs(root: Path) -> list[Job]:
    """Everything that writes: each command, each question of `evaluate`, and those who keep results and additions."""
    few = ["--measures", "gradient", "leave-one-out"]
    asked = ["--model", f"{root / 'bert'}", "--data", f"{root / 'data.jsonl'}", "--device", "cpu"]
    train = f"--base {root / 'bert-base'} --train {root / 'data.jsonl'} --validation {root / 'data.jsonl'}".split()
    train += "--epochs 2 --batch 4 --device cpu".split()
    commands = {
        "train": ["train", *train],
        "limits": [
            "limits",
            *asked,
            *few,
            "--exact-up-to",
            "1",
            "--width",
            "1",
            "--full",
            "--beside",
            f"{root / 'distilbert'}",
        ],
        "scores": ["evaluate", *asked, *few, "--metrics", "NS", "Soft-NC", "--count", "1", "--draws", "2"],
        "reference": ["reference", *asked],
        "check": ["check", *asked, "--measures", "gradient", "--sample", "6"],
        "stories": ["stories", "--task", "1", "--count", "100"],
        "behaviour": ["evaluate", "--what", "behaviour", *asked, "--measures", "gradient"],
        "diagnosticity": [*"evaluate --what diagnosticity --metrics NC --count 2".split(), *asked, *few],
        "model check": ["evaluate", "--what", "model check", *asked, "--measures", "gradient"],
        "encoder": ["encoder", "--steps", "1", "--stop", "1"],
        "train an adapter": ["train", *train, "--method", "lora"],
    }
    found = [Job(name, _command(arguments)) for name, arguments in commands.items()]
    # What takes least comes before what has to be imported first.
    kept = [Job("results", _keep_results, False), Job("additions", _keep_additions, False)]
    return [*found[:6], *kept, *found[6:]]


def _command(arguments: list[str]) -> Callable[[Path], int]:
    names = {"check": "out.json", "reference": "out.safetensors", "stories": "out.jsonl"}
    names |= {"limits": "out.parquet", "evaluate": "out.parquet"}

    def work(at: Path) -> int:
        from core.commands.command_line import main

        return main([*arguments, "--out", str(at / "made" / names.get(arguments[0], "out"))])

    return work


def _keep_results(at: Path) -> None:
    """Entries, segments and texts, some of them anew and some of them long."""
    store = Store(at / "cache")
    for i in range(30):
        values, key = np.full(1 + 4_000 * (i % 5), i % 7), canonical_key("attack", 1, i=i % 7)
        store.put(key, {"x": values}, {"i": i % 7})
        store.append(canonical_key("attack", 1, log=True), {"x": values}, {"i": i % 7})
        store.put_text(f"text {i % 7} " * 2_000)


def _keep_additions(at: Path) -> None:
    library = Library(at / "cache")
    for i in range(12):
        library.add_model(f"model {i}")
        library.add_data(f"data {i}", {"rows": [i] * 2_000})
        library.put_file(b"%d" % i * 20_000, ".csv")
        # Whoever is told so finds it whatever happens then.
        print(f"added {i}", flush=True)


def kept(at: Path) -> dict:
    """What those two have kept, as it is read again; AssertionError where it is none of it."""
    store, library = Store(at / "cache"), Library(at / "cache")
    entries = {i: store.get(canonical_key("attack", 1, i=i)) for i in range(7)}
    for i, entry in [*entries.items(), *((None, one) for one in store.segments(canonical_key("attack", 1, log=True)))]:
        if entry is not None:
            assert i in (None, entry.meta["i"]) and (entry.arrays["x"] == entry.meta["i"]).all(), (i, entry)
    data = library.data()
    assert all(one == {"rows": [int(key.split()[1])] * 2_000} for key, one in data.items()), data.keys()
    return {
        "entries": [i for i, entry in entries.items() if entry is not None],
        "segments": len(store.segments(canonical_key("attack", 1, log=True))),
        "models": sorted(library.models()),
        "data": sorted(data),
    }


class Kills:
    """The attack: each step is one job, killed some times in a row and then left to its end."""

    def __init__(self, tally: Tally, root: Path):
        self.tally, self.root, self.jobs = tally, root, jobs(root)
        self.known: dict[str, tuple[Ended, dict]] = {}

    def step(self, step: int) -> None:
        """Kill a job some times; one below 0 is the first job, killed once before that change of the disk."""
        (job, whole, known), rng, dies = self.job(step), self.tally.rng(step), max(0, -step)
        with TemporaryDirectory(dir=self.root) as folder:
            at = Path(folder)
            for _ in range(0 if dies else rng.randint(1, 4)):
                for ended in self._killed(job, at, whole, rng):
                    self._look(job, step, ended)
            if dies:
                with Victim(self.work(job, at), at, dies=dies, torn=rng.choice((None, 0.5))) as victim:
                    self._look(job, step, victim.wait(HANG))
            with Victim(self.work(job, at), at) as victim:
                ended = victim.wait(HANG)
            self._look(job, step, ended, last=True)
            if ended.status is not None:
                self._compare(job, step, at, known)

    def job(self, step: int) -> tuple[Job, Ended, dict]:
        """What a step kills, how it ends where nobody does, and what it has written then."""
        job = self.jobs[max(0, step) % len(self.jobs)]
        if job.name not in self.known:
            for _ in range(2):
                # The second time without the imports of the first.
                with TemporaryDirectory(dir=self.root) as folder:
                    ended = undisturbed(self.work(job, Path(folder)), Path(folder))
                    self.known[job.name] = ended, _outcome(Path(folder))
                if ended.seconds < 1:
                    break
        return job, *self.known[job.name]

    def work(self, job: Job, at: Path) -> Callable[[], int | None]:
        """A job with a folder of its own."""

        def work() -> int | None:
            os.environ["FAITHSCOPE_CACHE"] = str(at / "cache")
            return job.work(at)

        return work

    def _killed(self, job: Job, at: Path, whole: Ended, rng: random.Random) -> list[Ended]:
        if rng.random() > 0.15:
            return [killed_at_random(self.work(job, at), at, whole, rng, HANG)]
        # Two at once.
        with ExitStack() as stack:
            both = []
            for _ in range(2):
                both.append(stack.enter_context(Victim(self.work(job, at), at)))
                time.sleep(rng.uniform(0, 0.3) * whole.seconds)
            time.sleep(rng.uniform(0, 0.7) * whole.seconds)
            rng.shuffle(both)
            for one in both:
                one.kill()
                time.sleep(rng.uniform(0, 0.1) * whole.seconds)
            return [one.wait(60) for one in both]

    def _look(self, job: Job, step: int, ended: Ended, last: bool = False) -> None:
        """Whether a run was killed or came to its end in a way that it may."""
        self.tally.read(ended.screen, step, job.name)
        self.tally.tries += ended.status is None and not last
        self.tally.took(ended.seconds, step, job.name)
        refused = job.locked and not last and ended.status == 1 and IN_USE in ended.screen
        if not refused and ended.status:
            self.tally.fail("other failures", step, f"{job.name} ended with {ended.status}: {ended.screen}")
        if "damaged" in ended.screen:
            said = [line for line in ended.screen.splitlines() if "damaged" in line]
            self.tally.fail("damaged reads", step, f"{job.name}: {said}")

    def _compare(self, job: Job, step: int, at: Path, known: dict) -> None:
        try:
            found = _outcome(at)
        except Exception as error:
            self.tally.fail("wrong numbers", step, f"{job.name}: {type(error).__name__}: {error}")
            return
        left = sorted(set(found["made"]) - set(known["made"]))
        if left:
            self.tally.fail("other failures", step, f"{job.name} left {left}")
        found["made"] = {name: content for name, content in found["made"].items() if name not in left}
        apart = difference(found, known)
        if apart:
            self.tally.fail("wrong numbers", step, f"{job.name}: {apart}")
        aside = [path.name for path in (at / "cache" / "damaged").rglob("*")]
        if aside:
            self.tally.fail("damaged reads", step, f"{job.name}: {aside} were set aside")
        Store(at / "cache").put(_LAST, {"x": np.zeros(3)}, {})
        Library(at / "cache").add_model("the last addition")
        half = sorted(path.name for path in (at / "cache").rglob("*.tmp"))
        if half:
            self.tally.fail("other failures", step, f"{job.name} left {half} in the store")


def _outcome(at: Path) -> dict:
    (at / "made").mkdir(exist_ok=True)
    return {"made": written(at / "made"), "kept": kept(at)}
