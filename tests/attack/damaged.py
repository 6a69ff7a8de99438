"""Stores whose files are damaged: what is read again is what a fresh computation gives, and is kept again."""

import os
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from core.storage.store import Store
from tests.attack.tally import Tally


def attack(tally: Tally, folder: Path, count: int, step: int | None) -> dict:
    """Damage so many files, all of a store at each step; the tally with what was found, as JSON holds it."""
    from core.loading.loading import load
    from tests.storage import kept
    from tests.storage.damage import damage_file, ways_of

    class Patch:
        setattr = staticmethod(setattr)

    kept.quick_map(Patch)
    os.fsync = lambda number: None
    model, filled = load("sst2-fmm", "cpu"), folder / "filled"
    known = kept.everything(model, None)
    kept.same(kept.everything(model, Store(filled)), known)
    steps = iter([step]) if step is not None else iter(range(count))
    while (tally.tries < count or step is not None) and (at := next(steps, None)) is not None:
        with TemporaryDirectory(dir=folder) as place:
            root, rng, said = Path(place) / "cache", tally.rng(at), []
            shutil.copytree(filled, root)
            for path in kept.of_store(root)[: max(1, count - tally.tries)]:
                way = rng.choice(ways_of(path))
                said.append(f"{way}: {damage_file(path, way, rng).name[:12]}")
            tally.tries += len(said)
            for again in ("damaged", "read once more"):
                began = time.monotonic()
                try:
                    kept.same(kept.everything(model, Store(root, 50_000_000)), known)
                except AssertionError as error:
                    tally.fail("damaged reads", at, f"{again}: {error}, of {said}")
                except Exception as error:
                    tally.fail("tracebacks", at, f"{again}: {type(error).__name__}: {error}, of {said}")
                tally.took(time.monotonic() - began, at, f"the store, {again}")
    return vars(tally)
