"""Results that ship: found where the store has none, believed no more than its own, and never written."""

import numpy as np
import pytest

from core.storage.store import Store, canonical_key
from tests.archives import write_shipped

ENTRY, LOG = canonical_key("made", 1), canonical_key("rows", 1)


def numbers(entry) -> list:
    return entry.arrays["values"].tolist()


def names(store: Store) -> list[str]:
    return sorted(path.relative_to(store.root).as_posix() for path in store.root.rglob("*.safetensors"))


@pytest.fixture
def archive(tmp_path):
    """An archive of one entry and a log of two segments."""
    made = Store(tmp_path / "made")
    made.put(ENTRY, {"values": np.arange(3.0)}, {"by": "archive"})
    for at in (1.0, 2.0):
        made.append(LOG, {"values": np.array([at])}, {})
    path = tmp_path / "shipped.zip"
    assert write_shipped(made.root, names(made), path) == path.stat().st_size
    return path


def test_an_entry_that_the_store_lacks_is_the_shipped_one(archive, tmp_path):
    store = Store(tmp_path / "store", shipped=archive)
    assert numbers(store.get(ENTRY)) == [0, 1, 2]
    assert store.get(canonical_key("made", 2)) is None
    assert not store.root.exists()


def test_the_stores_own_entry_comes_first_and_a_damaged_one_leaves_the_shipped_one(archive, tmp_path):
    store = Store(tmp_path / "store", shipped=archive)
    store.put(ENTRY, {"values": np.array([7.0])}, {})
    assert numbers(store.get(ENTRY)) == [7]
    next(store.root.rglob("*.safetensors")).write_bytes(b"damaged")
    assert numbers(store.get(ENTRY)) == [0, 1, 2]
    assert len(list((store.root / "damaged").iterdir())) == 1


def test_a_log_is_what_ships_and_what_was_added_each_once(archive, tmp_path):
    store = Store(tmp_path / "store", shipped=archive)
    assert sorted(map(numbers, store.segments(LOG))) == [[1], [2]]
    for at in (2.0, 3.0):
        store.append(LOG, {"values": np.array([at])}, {})
    assert sorted(map(numbers, store.segments(LOG))) == [[1], [2], [3]]
    assert len(names(store)) == 2


def test_a_content_is_asked_of_what_ships_too(archive, tmp_path):
    from core.storage.content import Content, Numbers

    store = Store(tmp_path / "store", shipped=archive)
    assert store.get(ENTRY, Content({"values": Numbers("float64", (3,))})) is not None
    assert store.get(ENTRY, Content({"values": Numbers("float64", (4,))})) is None
    assert store.segments(LOG, Content({"values": Numbers("float32", (1,))})) == []


@pytest.mark.parametrize("damage", ["missing", "folder", "empty", "half", "flipped"])
def test_an_archive_that_cannot_be_read_holds_nothing(archive, tmp_path, damage):
    data = archive.read_bytes()
    archive.unlink()
    if damage == "folder":
        archive.mkdir()
    elif damage == "flipped":
        # In the content of the first file: its checksum tells.
        archive.write_bytes(data[:200] + bytes([data[200] ^ 255]) + data[201:])
    elif damage != "missing":
        archive.write_bytes(data[: len(data) // 2 if damage == "half" else 0])
    store = Store(tmp_path / "store", shipped=archive)
    found = [store.get(ENTRY), *store.segments(LOG)]
    assert sum(entry is not None for entry in found) == (2 if damage == "flipped" else 0)
    assert not store.root.exists()


def test_the_same_files_make_the_same_bytes(archive, tmp_path):
    before = archive.read_bytes()
    made = Store(tmp_path / "made")
    write_shipped(made.root, reversed(names(made)), archive)
    assert archive.read_bytes() == before
