"""Whatever lies in the store, and whatever the disk says: numbers are those of a run without a store."""

import ast
import errno
import io
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.evaluation import predicting
from core.evaluation.predicting import predict_all, stored_predictions
from core.mathematics.stepwise import finish
from core.storage.store import Store, canonical_key
from tests.storage.damage import BYTES, FOLDERS, PLACES, RESEALED, damage_file, damage_store, ways_of
from tests.storage.kept import TEXTS, everything, of_store, quick_map, same

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No waiting for a disk, and no map that takes seconds."""
    monkeypatch.setattr(os, "fsync", lambda number: None)
    quick_map(monkeypatch)


@pytest.fixture(scope="module")
def known(bundled):
    """Without a store."""
    with pytest.MonkeyPatch.context() as patch:
        quick_map(patch)
        return everything(bundled, None)


@pytest.fixture(scope="module")
def filled(bundled, known, tmp_path_factory):
    """A folder in which all of it is kept."""
    root = tmp_path_factory.mktemp("filled") / "cache"
    with pytest.MonkeyPatch.context() as patch:
        quick_map(patch)
        same(everything(bundled, Store(root)), known)
    return root


def producers(root: Path) -> dict[str, list[Path]]:
    """The files of a store by the names of what they hold: those of one producer look alike."""
    from safetensors import safe_open

    found = {}
    for path in of_store(root):
        with safe_open(path, framework="np") as file:
            found.setdefault(",".join(sorted(file.keys())), []).append(path)
    return found


def test_what_is_kept_is_read_and_costs_nothing(bundled, filled, known):
    before = bundled.scheduler.counters.passes
    found = everything(bundled, Store(filled))
    for name, values in known.items():
        np.testing.assert_allclose(found[name], values, atol=1e-5, rtol=1e-4, err_msg=name)
    assert bundled.scheduler.counters.passes == before and not (filled / "damaged").exists()
    # Each kind of entry and log is among them.
    assert len(producers(filled)) >= 11


@pytest.mark.parametrize("round", range(8))
def test_no_damage_is_served(bundled, filled, known, tmp_path, round):
    """Every file of the store at once, each in another way."""
    root, rng = tmp_path / "cache", random.Random(round)
    shutil.copytree(filled, root)
    for k, path in enumerate(of_store(root)):
        ways = ways_of(path)
        damage_file(path, ways[(k + 4 * round) % len(ways)], rng)
    same(everything(bundled, Store(root, 50_000_000)), known)
    before = bundled.scheduler.counters.passes
    same(everything(bundled, Store(root, 50_000_000)), known)
    assert bundled.scheduler.counters.passes == before, "what was computed again is kept again"


def test_a_store_is_damaged_again_and_again(filled, tmp_path):
    assert {way for path in of_store(filled) for way in ways_of(path)} == {*BYTES, *PLACES, *RESEALED, *FOLDERS}
    shutil.copytree(filled, tmp_path / "cache")
    rng = random.Random(0)
    said = [damage_store(tmp_path / "cache", rng) for _ in range(200)]
    assert len({one.partition(":")[0] for one in said}) > 20
    assert damage_store(tmp_path / "none", rng) == "nothing"


@pytest.mark.parametrize("way", RESEALED)
def test_predictions_that_are_not_finished_are_checked_too(bundled, tmp_path, monkeypatch, way):
    truth = finish(predict_all(bundled, TEXTS)).probabilities
    monkeypatch.setattr(predicting, "SAVE_ROWS", 1)
    monkeypatch.setattr(bundled.scheduler, "max_rows", 1)
    store = Store(tmp_path)
    work = predict_all(bundled, TEXTS, store=store, seconds=0)
    assert [next(work).done for _ in range(3)] == [2, 3, 4]
    work.close()
    for path in of_store(tmp_path):
        if len(path.parent.name) < 64:
            path.unlink()
    segments, rng = of_store(tmp_path), random.Random(0)
    assert len(segments) >= 2
    for path in segments[1:]:
        damage_file(path, way, rng)
    found = stored_predictions(bundled, TEXTS, store)
    there = ~np.isnan(found.probabilities).any(axis=1)
    np.testing.assert_allclose(found.probabilities[there], truth[there], atol=1e-5)
    assert set(found.problems) <= {2} and 0 < found.done < len(TEXTS)


# A disk that takes nothing more


class Refusing(io.FileIO):
    """A file in which no byte finds room."""

    number = errno.ENOSPC

    def write(self, data):
        raise OSError(self.number, os.strerror(self.number))


def refuse(patch, step: str, number: int) -> None:
    """From now on this step of every write fails."""

    def refused(*_, **__):
        raise OSError(number, os.strerror(number))

    def opened(path, mode="r", *more, **named):
        if (step, mode) == ("open", "xb"):
            refused()
        if (step, mode) == ("write", "wb"):
            return io.BufferedWriter(type("Refusing", (Refusing,), {"number": number})(path, "wb"))
        return really(path, mode, *more, **named)

    really = Path.open
    if step in ("open", "write"):
        patch.setattr(Path, "open", opened)
    else:
        patch.setattr(os, step, refused)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT], ids=errno.errorcode.get)
@pytest.mark.parametrize("step", ["mkdir", "open", "write", "fsync", "replace"])
def test_a_write_that_fails_anywhere_is_a_sentence_and_loses_nothing(tmp_path, step, number):
    store, keys = Store(tmp_path / "cache"), [canonical_key("test", i) for i in range(4)]
    store.put(keys[0], {"x": np.zeros(3)}, {"old": True})
    store.append(keys[1], {"x": np.zeros(3)}, {})
    before = {path: path.read_bytes() for path in of_store(store.root)}
    with pytest.MonkeyPatch.context() as patch:
        refuse(patch, step, number)
        for size in (3, 30_000):
            # In a folder of its own, so that one has to be made.
            store.put(keys[2], {"x": np.ones(size)}, {})
            store.append(keys[3], {"x": np.ones(size)}, {})
            store.put_text("a text" * size)
            if step != "mkdir":
                store.put(keys[0], {"x": np.ones(size)}, {})
                store.append(keys[1], {"x": np.ones(size)}, {})
        assert store.get(keys[2]) is None and store.get(keys[0]).meta == {"old": True}
    said = os.strerror(errno.ENOSPC if number == errno.EDQUOT else number)
    assert store.last_problem and said in store.last_problem and "FAITHSCOPE_CACHE" in store.last_problem
    assert {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()} == before
    store.put(keys[2], {"x": np.ones(3)}, {})
    assert store.last_problem is None and store.get(keys[2]) is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no limit of a file's size")
def test_a_file_that_the_system_cuts_off_is_not_kept(tmp_path):
    """Really: the kernel takes 4,096 bytes of a file and refuses the next."""
    code = (
        "import resource, sys, numpy as np\n"
        "from core.storage.store import Store, canonical_key\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "store = Store(sys.argv[1])\n"
        "for i in range(3): store.put(canonical_key('test', i), {'x': np.ones(30_000)}, {})\n"
        "print(store.last_problem)\n"
    )
    command = [sys.executable, "-c", code, tmp_path / "cache"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert told.stderr == "" and told.stdout.count("not kept") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_full_disk_changes_no_number_and_loses_none(bundled, filled, known, tmp_path, monkeypatch):
    shutil.copytree(filled, tmp_path / "cache")
    for path in of_store(tmp_path / "cache")[::2]:
        path.unlink()
    before = {path: path.read_bytes() for path in of_store(tmp_path / "cache")}
    refuse(monkeypatch, "write", errno.ENOSPC)
    store = Store(tmp_path / "cache")
    same(everything(bundled, store), known)
    assert store.last_problem and {path: path.read_bytes() for path in of_store(tmp_path / "cache")} == before


# Producers


def test_every_producer_says_what_it_means_to_read():
    """Whoever asks the store, or gives it something, declares the content: an entry is not believed for its seal."""
    asked = []
    for path in [*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]:
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            of, name = ast.unparse(call.func.value), call.func.attr
            if of.rpartition(".")[2] == "store" and name in ("get", "segments", "put", "append"):
                starred = any(isinstance(one, ast.Starred) for one in call.args)
                asked.append((f"{path.name}: {ast.unparse(call)}", len(call.args) + starred))
    wanted = {"get": 2, "segments": 2, "put": 4, "append": 4}
    assert len(asked) >= 14
    assert [said for said, count in asked if count < wanted[said.partition("store.")[2].partition("(")[0]]] == []
