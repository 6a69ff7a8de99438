"""What a person added: remembered between starts, shared by processes, and never in the way when it is damaged."""

import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from core.storage import library as module
from core.storage.library import Library

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
    "sst2",
    "../../etc/passwd",
    "/a/b",
    "a/b:c:d",
    "C:\\x",
    "ü🙂",
    "a\0b",
    "\ud800",
    " ",
    "x" * 10_000,
    "CON",
    ".",
    "a" + " " * 3,
]


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path / "cache")


def again(library):
    """The same folder at the next start."""
    return Library(library.root.parent)


def item(library, kind, name):
    return library.root / kind / f"{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}.json"


def is_sentence(text):
    return text is not None and text.endswith(".") and "\n" not in text


# ---- what is added comes back


def test_an_empty_library_writes_nothing(library):
    assert library.models() == [] and library.data() == {} and library.get_file("0" * 64) is None
    library.remove_model("x")
    library.remove_data("x")
    assert not library.root.exists() and library.last_problem is None


def test_models_come_back_in_the_order_of_adding(library):
    names = [name for name in NAMES if name.strip()]
    for name in names:
        library.add_model(name)
    assert library.models() == names == again(library).models()
    for name in names:
        library.add_model(name)
    assert library.models() == names, "adding again changes no place"
    library.remove_model(names[1])
    assert library.models() == again(library).models() == [names[0], *names[2:]]
    library.add_model(names[1])
    assert again(library).models() == [names[0], *names[2:], names[1]]


def test_nothing_is_written_outside_its_folders(library):
    for name in NAMES:
        if name.strip():
            library.add_model(name)
            library.add_data(name, {})
    for suffix in ("../../x", "/x", "", ".", "csv/..", "a" * 500, "C:\\x"):
        library.put_file(suffix.encode(), suffix)
    parts = [path.relative_to(library.root).parts for path in library.root.rglob("*") if path.is_file()]
    assert {part[0] for part in parts} == {"models", "data", "files"} and {len(part) for part in parts} == {2}
    assert [path.name for path in library.root.parent.iterdir()] == ["library"]


def test_data_come_back_as_json_has_them(library):
    about = {"text": "a", "names": ("x", "y"), "n": 1, "none": None, "deep": {"é": [True, 0.5]}}
    library.add_data("b", about)
    library.add_data("a", {})
    expected = {"b": about | {"names": ["x", "y"]}, "a": {}}
    assert library.data() == expected == again(library).data() and list(again(library).data()) == ["b", "a"]
    library.add_data("b", {"new": 1})
    assert again(library).data() == {"b": {"new": 1}, "a": {}} and list(again(library).data()) == ["b", "a"], (
        "a replaced one keeps its place"
    )
    library.remove_data("b")
    assert again(library).data() == {"a": {}}


def test_models_and_data_of_one_name_are_two_things(library):
    library.add_model("x")
    library.add_data("x", {"a": 1})
    library.remove_model("x")
    assert library.models() == [] and library.data() == {"x": {"a": 1}}


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_a_name_is_needed(library, name):
    with pytest.raises(ValueError, match="needs a name"):
        library.add_model(name)
    with pytest.raises(ValueError, match="needs a name"):
        library.add_data(name, {})
    assert not library.root.exists()


@pytest.mark.parametrize(
    "descriptor", [None, [], "x", {"a": {1, 2}}, {"a": float("nan")}, {"a": b"x"}, {"a": "x" * module.ITEM_BYTES}]
)
def test_a_descriptor_is_json_of_a_sane_size(library, descriptor):
    with pytest.raises(ValueError) as caught:
        library.add_data("x", descriptor)
    assert is_sentence(str(caught.value)) and library.data() == {} and not library.root.exists()


def test_ties_are_sorted_by_name_and_the_clock_may_stand_still(library, monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: 1_000)
    other = again(library)
    library.add_model("b")
    library.add_model("a")
    assert library.models() == ["b", "a"], "one process knows its order"
    other.add_model("Z")
    assert library.models() == ["Z", "b", "a"], "Z and b were added in the same instant"


# ---- files


@pytest.mark.parametrize(
    "content, suffix, ending",
    [
        (b"a,b\n", ".csv", "csv"),
        (b"", "jsonl", "jsonl"),
        (bytes(range(256)), ".TAR.gz", "tar.gz"),
        (b"?", "../x", "bin"),
    ],
)
def test_a_file_comes_back_by_its_digest(library, content, suffix, ending):
    digest = library.put_file(content, suffix)
    assert digest == hashlib.sha256(content).hexdigest()
    assert library.get_file(digest) == content == again(library).get_file(digest)
    assert [path.name for path in (library.root / "files").iterdir()] == [f"{digest}.{ending}"]
    assert library.put_file(content, "other") == digest and len(list((library.root / "files").iterdir())) == 1


def test_a_file_that_changed_is_none(library):
    digest = library.put_file(b"text", ".csv")
    path = library.root / "files" / f"{digest}.csv"
    path.write_bytes(b"texT")
    assert library.get_file(digest) is None
    assert library.put_file(b"text", ".csv") == digest and library.get_file(digest) == b"text", (
        "adding it again mends it"
    )


@pytest.mark.parametrize("digest", ["", "x", None, 3, "../" + "0" * 61, "0" * 63, "A" * 64, "0" * 64 + "\n"])
def test_an_odd_digest_is_none(library, digest):
    library.put_file(b"x", "csv")
    assert library.get_file(digest) is None


# ---- damage


def spoil(path, how):
    whole = path.read_bytes()
    path.unlink()
    found = json.loads(whole)
    odd = {
        "empty": b"",
        "half": whole[:-7],
        "not text": b"\xff\xfe\x00",
        "list": b"[]",
        "number": b"3",
        "null": b"null",
        "deep": b"[" * 100_000,
        "name missing": json.dumps({"added": 1, "descriptor": {}}).encode(),
        "name of another": json.dumps(found | {"name": "other"}).encode(),
        "name no text": json.dumps(found | {"name": 7}).encode(),
        "time no number": json.dumps(found | {"added": "now"}).encode(),
        "time true": json.dumps(found | {"added": True}).encode(),
        "time missing": json.dumps({k: v for k, v in found.items() if k != "added"}).encode(),
        "descriptor no dictionary": json.dumps(found | {"descriptor": [1]}).encode(),
        "huge": whole + b" " * module.ITEM_BYTES,
        "huge number": b'{"added": ' + b"9" * 5_000 + b"}",
    }
    if how in odd:
        path.write_bytes(odd[how])
    elif how == "folder":
        (path / "inside").mkdir(parents=True)
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "dangling":
        path.symlink_to(path.parent / "nowhere")
    elif how == "endless":
        path.symlink_to("/dev/zero")
    elif how == "loop":
        path.symlink_to(path)
    return odd.keys() | {"folder", "pipe", "dangling", "endless", "loop"}


ODD = [
    "empty",
    "half",
    "not text",
    "list",
    "number",
    "null",
    "deep",
    "name missing",
    "name of another",
    "name no text",
    "time no number",
    "time true",
    "time missing",
    "descriptor no dictionary",
    "huge",
    "huge number",
    "folder",
    "pipe",
    "dangling",
    "endless",
    "loop",
]


@pytest.mark.parametrize("how", ODD)
@pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")
def test_a_damaged_item_is_skipped_and_can_be_added_again(library, how):
    for name in ("first", "spoilt", "last"):
        library.add_model(name)
        library.add_data(name, {"of": name})
    for kind in ("models", "data"):
        assert how in spoil(item(library, kind, "spoilt"), how)
    assert library.models() == ["first", "last"] and library.data() == {
        "first": {"of": "first"},
        "last": {"of": "last"},
    }
    library.remove_model("spoilt")
    library.add_model("spoilt")
    library.add_data("spoilt", {"new": 1})
    assert library.models() == ["first", "last", "spoilt"] and library.data()["spoilt"] == {"new": 1}
    # A folder in the way cannot be replaced: then it is remembered in this process.
    assert (
        (library.last_problem is None) == (how != "folder") == (again(library).models() == ["first", "last", "spoilt"])
    )


def test_other_files_in_the_folders_are_left_alone(library):
    library.add_model("x")
    for name in ("notes.txt", ".123.tmp", "x.json", f"{'0' * 64}.json"):
        (library.root / "models" / name).write_text(
            item(library, "models", "x").read_text(encoding="utf-8"), encoding="utf-8"
        )
    assert library.models() == ["x"]
    library.remove_model("x")
    assert len(list((library.root / "models").iterdir())) == 4


@pytest.mark.parametrize("place", ["", "models", "data", "files"])
def test_a_file_in_place_of_a_folder(library, place):
    (library.root / place).parent.mkdir(parents=True, exist_ok=True)
    (library.root / place).write_text("in the way", encoding="utf-8")
    library.add_model("x")
    library.add_data("x", {"a": ("b",)})
    digest = library.put_file(b"text", "csv")
    assert library.models() == ["x"] and library.data() == {"x": {"a": ["b"]}} and library.get_file(digest) == b"text"
    assert (library.root / place).read_text(encoding="utf-8") == "in the way"


@tries(max_examples=60, deadline=None)
@given(st.data())
def test_no_change_of_bytes_raises_or_makes_up_an_item(tmp_path_factory, data):
    library = Library(tmp_path_factory.mktemp("library"))
    library.add_data("kept", {"a": 1})
    path = item(library, "data", "kept")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    assert list(library.data()) in ([], ["kept"])


# ---- a disk that does not take it


@pytest.fixture
def full(monkeypatch):
    """`full()` from now on: no room on the disk; `full(False)`: room again."""
    really = os.replace

    def switch(on=True):
        def refuse(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "replace", refuse if on else really)

    return switch


def test_a_full_disk_costs_remembering_only(library, full):
    library.add_model("before")
    library.add_data("before", {"a": 1})
    full()
    library.add_model("x")
    assert (
        is_sentence(library.last_problem)
        and "'x'" in library.last_problem
        and "No space" in library.last_problem
        and "FAITHSCOPE_CACHE" in library.last_problem
    )
    library.add_data("y", {"b": (1, 2)})
    library.add_data("before", {"a": 2})
    digest = library.put_file(b"text", ".csv")
    assert "uploaded file" in library.last_problem
    assert (
        library.models() == ["before", "x"]
        and library.data() == {"before": {"a": 2}, "y": {"b": [1, 2]}}
        and library.get_file(digest) == b"text"
    )
    assert (
        again(library).models() == ["before"]
        and again(library).data() == {"before": {"a": 1}}
        and again(library).get_file(digest) is None
    )
    assert not list(library.root.rglob("*.tmp"))
    library.remove_data("y")
    assert list(library.data()) == ["before"]
    full(False)
    library.add_model("x")
    assert library.last_problem is None and again(library).models() == ["before", "x"], (
        "adding it again keeps it once there is room"
    )
    library.add_model("x")
    assert library.last_problem is None


def test_a_refusal_to_replace_is_told(library, monkeypatch):
    library.add_data("x", {"a": 1})

    def refuse(*_):
        raise PermissionError(errno.EACCES, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", refuse)
    library.add_data("x", {"a": 2})
    assert (
        is_sentence(library.last_problem)
        and library.data() == {"x": {"a": 2}}
        and again(library).data() == {"x": {"a": 1}}
    )


def test_what_cannot_be_deleted_is_gone_until_the_next_start(library, monkeypatch):
    library.add_model("x")
    library.add_data("x", {"a": 1})
    monkeypatch.setattr(module, "delete", lambda path: False)
    library.remove_model("x")
    library.remove_data("x")
    assert is_sentence(library.last_problem) and library.models() == [] and library.data() == {}
    assert again(library).models() == ["x"]
    library.add_model("x")
    assert library.models() == ["x"] and library.last_problem is None
    other = again(library)
    other.add_data("x", {"a": 2})
    library.remove_data("gone")
    assert library.data() == {"x": {"a": 2}} and library.last_problem is None, (
        "what another process changed since is there"
    )


@pytest.mark.skipif(
    os.name == "nt" or getattr(os, "geteuid", lambda: 0)() == 0, reason="permissions do not stop this user"
)
def test_a_read_only_folder(library):
    library.add_model("kept")
    library.add_data("kept", {"a": 1})
    folders = [library.root / "models", library.root / "data", library.root]
    for folder in folders:
        folder.chmod(0o500)
    try:
        library.add_data("kept", {"a": 2})
        assert is_sentence(library.last_problem) and library.data() == {"kept": {"a": 2}}
        library.remove_model("kept")
        assert is_sentence(library.last_problem) and library.models() == []
    finally:
        for folder in folders:
            folder.chmod(0o700)


# ---- at the same time


def test_threads_share_one(library):
    def work(number):
        for i in range(15):
            library.add_model(f"{number}-{i}")
            library.add_data("shared", {"by": number})
            assert library.get_file(library.put_file(str(i).encode(), "csv")) == str(i).encode()
            if i % 3 == 0:
                library.remove_model(f"{number}-{i}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {f"{number}-{i}" for number in range(4) for i in range(15) if i % 3}
    assert set(library.models()) == expected == set(again(library).models()) and len(library.models()) == len(expected)
    assert library.data().keys() == {"shared"} and library.last_problem is None
    assert [name for name in library.models() if name[0] == "2"] == [f"2-{i}" for i in range(15) if i % 3]


def test_processes_share_the_folder(library):
    code = (
        "import sys; from core.storage.library import Library\n"
        "library = Library(sys.argv[1])\n"
        "for i in range(25): library.add_model(f'{sys.argv[2]}-{i}'); library.add_data(f'{i}', {'by': sys.argv[2]})\n"
        "assert library.last_problem is None, library.last_problem"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(library.root.parent), who], cwd=ROOT) for who in "ab"]
    while any(process.poll() is None for process in running):
        assert all(about["by"] in "ab" for about in library.data().values()), "never half an item"
    assert [process.returncode for process in running] == [0, 0]
    assert set(library.models()) == {f"{who}-{i}" for who in "ab" for i in range(25)} and len(library.data()) == 25
    for who in "ab":
        assert [name for name in library.models() if name[0] == who] == [f"{who}-{i}" for i in range(25)]


def test_the_store_beside_it_neither_counts_nor_clears_it(library):
    from core.storage.store import Store

    library.add_model("x")
    digest = library.put_file(b"x" * 1_000, "csv")
    store = Store(library.root.parent, cap_bytes=100)
    store.put_text("over the cap" * 5)
    store.clear()
    assert store.files() == [] and library.models() == ["x"] and library.get_file(digest) is not None


# Pins


@pytest.mark.parametrize("name", ["e1", "../../etc/passwd", "a\0b", "ü🙂", "x" * 5_000])
def test_pins_come_back_with_their_notes_and_belong_to_their_data(tmp_path, name):
    library, digest = Library(tmp_path), "d" * 64
    library.pin(digest, name, "first")
    library.pin(digest, "another", "<b>note</b>")
    library.pin("e" * 64, name, "of other data")
    library.pin(digest, name, "n" * 600)
    again = Library(tmp_path)
    # In the order of pinning, whatever is noted later; a note is bounded.
    assert list(again.pins(digest).items()) == [(name, "n" * 500), ("another", "<b>note</b>")]
    again.unpin(digest, name)
    again.unpin(digest, "never pinned")
    assert library.pins(digest) == {"another": "<b>note</b>"} and library.pins("e" * 64) == {name: "of other data"}
    assert not library.models() and not library.data()


def test_pins_are_bounded_and_what_is_no_pin_is_passed_over(tmp_path, monkeypatch):
    library, digest = Library(tmp_path), "d" * 64
    monkeypatch.setattr(module, "PINS_MOST", 2)
    library.pin(digest, "a", "")
    library.pin(digest, "b", "")
    with pytest.raises(ValueError, match="2 examples"):
        library.pin(digest, "c", "")
    library.pin(digest, "a", "noted")
    assert library.pins(digest) == {"a": "noted", "b": ""}
    for bad in (
        {"data": digest},
        {"data": digest, "example": 3, "note": ""},
        {"data": digest, "example": "x", "note": None},
    ):
        library._add("pins", f"bad {bad}", bad)
    assert library.pins(digest) == {"a": "noted", "b": ""}


def test_pins_of_a_folder_that_cannot_be_written_last_until_the_end(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, "No space left")

    library = Library(tmp_path)
    monkeypatch.setattr(module, "write_whole", refuse)
    library.pin("d" * 64, "a", "why")
    assert library.pins("d" * 64) == {"a": "why"} and "No space left" in library.last_problem
    library.unpin("d" * 64, "a")
    assert library.pins("d" * 64) == {}


def test_a_note_survives_a_kill_at_any_moment(tmp_path):
    """Killed while it writes note after note: each pin has one of the notes, whole."""
    code = (
        "import sys; from core.storage.library import Library\n"
        "library, i = Library(sys.argv[1]), 0\n"
        "while True: i += 1; library.pin('d' * 64, f'e{i % 3}', f'{i} ' * 60); print(i, flush=True)"
    )
    for times in (1, 20, 60):
        running = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        for _ in range(times):
            written = running.stdout.readline()
        running.kill()
        running.wait()
        running.stdout.close()
        pins = Library(tmp_path).pins("d" * 64)
        assert f"e{int(written) % 3}" in pins
        for example, note in pins.items():
            number = note.split()[0]
            assert note == (f"{number} " * 60)[:500] and example == f"e{int(number) % 3}"
