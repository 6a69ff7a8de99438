"""The store: what comes back is what was put, or nothing, whatever happens to its files."""

import errno
import hashlib
import math
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from safetensors import safe_open
from safetensors.numpy import save_file

from core.storage import store as module
from core.storage.store import Store, canonical_key

ROOT = Path(__file__).resolve().parents[2]
KEY = canonical_key("test", 1)
OTHER = canonical_key("test", 2)
PROPERTY = settings(deadline=None, max_examples=80)
BAD_KEYS = [
    "",
    "..",
    "../" * 21 + "x",
    "/" * 64,
    "a" * 63,
    "a" * 65,
    "A" * 64,
    "g" * 64,
    "a" * 64 + "\n",
    "a" * 62 + "/x",
    "１" * 64,
    "a" * 63 + "\0",
    ".." + "a" * 62,
    "..\\" + "a" * 61,
    b"a" * 64,
    None,
    7,
]

any_text = st.text(st.characters(), max_size=20)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
names = st.text(st.sampled_from('abcxyz_é. "\\:,{}[]'), max_size=8)
little = st.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8"])
arrays = st.builds(lambda kind, order: np.dtype(order + kind), little, st.sampled_from("<>")).flatmap(
    lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
LAYOUTS = {
    "as is": lambda a: a,
    "transposed": lambda a: a.T,
    "Fortran": np.asfortranarray,
    "reversed": lambda a: a[(slice(None, None, -1),) * a.ndim],
    "every second": lambda a: a[(slice(None, None, 2),) * a.ndim],
    "broadcast": lambda a: np.broadcast_to(a, (3, *a.shape)),
    "cut out": lambda a: np.pad(a, 1)[(slice(1, -1),) * a.ndim] if a.ndim else a,
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
}


def strict(value):
    """A value with its types spelled out, so that 1, 1.0 and True differ and a tuple is a list."""
    if isinstance(value, dict):
        return "dict", tuple(sorted((name, strict(item)) for name, item in value.items()))
    if isinstance(value, (list, tuple)):
        return "list", tuple(strict(item) for item in value)
    return type(value).__name__, repr(value)


def one_by_one(array):
    """Shape, kind and the bytes of each element, read by its index: no layout can matter."""
    native = array.dtype.newbyteorder("=")
    return native.str, array.shape, [array[i].astype(native).tobytes() for i in np.ndindex(array.shape)]


def files(store, pattern="*"):
    return sorted(path for path in store.root.rglob(pattern) if path.is_file())


def path_of(store, key, suffix=".safetensors"):
    return store.root / "v1" / key[:2] / f"{key}{suffix}"


def has(store, key):
    return path_of(store, key).is_file()


def size_bytes(store):
    """Of all files of the store, damaged ones included."""
    return sum(size for *_, size in store.files())


def is_sentence(problem):
    return isinstance(problem, str) and problem[0].isupper() and problem.endswith(".") and len(problem.split()) > 5


@pytest.fixture(scope="module", autouse=True)
def quick_disk():
    """Thousands of files are written here; a busy disk takes up to a second to sync each (other processes still
    sync).
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        yield


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache")


# Round trips


@PROPERTY
@given(found=st.dictionaries(names, st.tuples(arrays, st.sampled_from(sorted(LAYOUTS))), max_size=3), log=st.booleans())
@example(
    found={
        "x": (np.zeros((0, 5), np.float16), "as is"),
        "y": (np.array(True), "as is"),
        "z": (np.float32(1.5), "as is"),
    },
    log=False,
)
@example(found={"x": (np.arange(6.0).reshape(2, 3), "transposed")}, log=True)
@example(found={"x": (np.arange(6, dtype=">i4").reshape(2, 3), "reversed")}, log=False)
def test_arrays_come_back_whatever_their_layout(tmp_path_factory, found, log):
    store = Store(tmp_path_factory.mktemp("store"))
    given_arrays = {
        name: LAYOUTS[layout](array) if layout != "as is" else array for name, (array, layout) in found.items()
    }
    before = {name: (one_by_one(a), a.dtype, a.strides, a.flags.writeable) for name, a in given_arrays.items()}
    (store.append if log else store.put)(KEY, given_arrays, {"n": 1})
    assert store.last_problem is None
    got = store.segments(KEY)[0] if log else store.get(KEY)
    assert list(got.arrays) == sorted(given_arrays)
    for name, array in given_arrays.items():
        assert one_by_one(got.arrays[name]) == before[name][0]
        assert (one_by_one(array), array.dtype, array.strides, array.flags.writeable) == before[name]


@PROPERTY
@given(meta=st.dictionaries(any_text, plain | st.sampled_from([math.inf, -math.inf, math.nan]), max_size=4))
@example(
    meta={"a": "\x00", "b": "\ud800", "c": "\ud83d\ude00", "d": "😀", "sha256": "0" * 64, "faithscope": "0" * 64 + " "}
)
def test_metadata_comes_back(tmp_path_factory, meta):
    store = Store(tmp_path_factory.mktemp("store"))
    store.put(KEY, {}, meta)
    assert strict(store.get(KEY).meta) == strict(meta)


@PROPERTY
@given(text=any_text)
@example(text="")
@example(text="a\x00b\r\n\x1a")
@example(text="\ud800 lone, \ude00\ud83d swapped")
@example(text="\ud83d\ude00")
def test_texts_come_back(tmp_path_factory, text):
    store = Store(tmp_path_factory.mktemp("store"))
    digest = store.put_text(text)
    assert store.get_text(digest) == text
    assert digest == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_two_surrogates_are_not_the_character_that_they_encode(store):
    apart, one = store.put_text("\ud83d\ude00"), store.put_text("😀")
    assert apart != one and store.get_text(apart) == "\ud83d\ude00" and store.get_text(one) == "😀"
    assert canonical_key("t", 1, text="\ud83d\ude00") != canonical_key("t", 1, text="😀")


def test_another_reader_of_safetensors_reads_the_same(store):
    array = np.arange(12, dtype=np.float32).reshape(3, 4).T
    store.put(KEY, {"x": array}, {"name": "Zoë"})
    with safe_open(path_of(store, KEY), framework="np") as file:
        assert np.array_equal(file.get_tensor("x"), array)


def test_a_file_of_this_format_stays_readable(store):
    """Written by the first version; a change that cannot read it must move to another folder than v1."""
    about = f'{{"key":"{KEY}","meta":{{"unit":"word"}}}}'.replace('"', '\\"')
    header = f'{{"__metadata__":{{"faithscope":"{"0" * 64} {about}"}},"v":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}}}'.encode()
    whole = len(header).to_bytes(8, "little") + header + np.array([0.5, -2], "<f4").tobytes()
    path = path_of(store, KEY)
    path.parent.mkdir(parents=True)
    path.write_bytes(whole.replace(b"0" * 64, hashlib.sha256(whole).hexdigest().encode(), 1))
    entry = store.get(KEY)
    assert entry.arrays["v"].tolist() == [0.5, -2.0] and entry.meta == {"unit": "word"}


def test_what_is_returned_is_the_callers_own(store):
    store.put(KEY, {"x": np.arange(5)}, {"list": [1]})
    first, second = store.get(KEY), store.get(KEY)
    first.arrays["x"][:] = -1
    first.meta["list"].append(2)
    store.clear()
    assert second.arrays["x"].tolist() == [0, 1, 2, 3, 4] and second.meta == {"list": [1]}


def test_put_replaces_and_keys_do_not_mix(store):
    store.put(KEY, {"x": np.zeros(3)}, {})
    store.put(KEY, {"y": np.ones(2)}, {})
    store.put(OTHER, {"z": np.ones(1)}, {})
    assert list(store.get(KEY).arrays) == ["y"] and list(store.get(OTHER).arrays) == ["z"]


def test_a_text_that_spells_an_entrys_key_does_not_become_that_entry(store):
    spelled = '{"inputs":{},"producer":"test","version":1}'
    assert store.put_text(spelled) == KEY
    assert store.get(KEY) is None and not has(store, KEY)


def test_nothing_is_made_before_the_first_write(store):
    assert store.get(KEY) is None and not has(store, KEY) and store.segments(KEY) == [] and store.get_text(KEY) is None
    assert size_bytes(store) == 0
    store.clear()
    assert not store.root.exists()


# Segments


def test_segments_come_in_one_order_each_once(tmp_path):
    contents = [({"x": np.full(4, i)}, {"i": i}) for i in range(8)]
    orders = []
    for seed in range(3):
        store = Store(tmp_path / str(seed))
        for i in [*random.Random(seed).sample(range(8), 8), 0, 3]:
            store.append(KEY, *contents[i])
        segments = store.segments(KEY)
        assert all((s.arrays["x"] == s.meta["i"]).all() for s in segments)
        orders.append([s.meta["i"] for s in segments])
    assert sorted(orders[0]) == list(range(8)) and orders[0] == orders[1] == orders[2]
    assert store.get(KEY) is None and store.segments(OTHER) == []


def test_a_damaged_segment_is_skipped_and_the_others_are_not(store):
    for i in range(4):
        store.append(KEY, {"x": np.full(4, i)}, {"i": i})
    victim = files(store, "*.safetensors")[1]
    kept = {s.meta["i"] for s in store.segments(KEY)}
    victim.write_bytes(victim.read_bytes()[:-1])
    left = [s.meta["i"] for s in store.segments(KEY)]
    assert len(left) == 3 and set(left) < kept
    assert not victim.exists() and len(files(Store(store.root / "damaged"))) == 1


def test_segments_of_another_name_or_key_are_damaged(store):
    store.append(KEY, {"x": np.zeros(2)}, {})
    (path,) = files(store, "*.safetensors")
    path.rename(path.with_stem("0" * 64))
    assert store.segments(KEY) == []
    store.append(KEY, {"x": np.zeros(2)}, {})
    place = path_of(store, OTHER, "") / path.name
    place.parent.mkdir(parents=True)
    path.rename(place)
    assert store.segments(OTHER) == [] and not place.exists()
    assert len(files(Store(store.root / "damaged"))) == 2


# Damage


def corrupted(whole):
    """Every file that differs in one byte (several ways each), is cut short at any length, or is too long."""
    for i, byte in enumerate(whole):
        for other in {byte ^ 1, byte ^ 0x20, byte ^ 0x80, 0, 0x20} - {byte}:
            yield whole[:i] + bytes([other]) + whole[i + 1 :]
    for length in range(len(whole)):
        yield whole[:length]
    yield whole + b"\0"
    yield whole + whole


@pytest.mark.parametrize("kind", ["entry", "segment", "text"])
def test_every_corruption_is_a_miss_and_set_aside(store, kind):
    if kind == "text":
        digest = store.put_text("not a bad é film")
        path, read = path_of(store, digest, ".text"), lambda: store.get_text(digest)
    else:
        (store.put if kind == "entry" else store.append)(
            KEY, {"ab": np.arange(2, dtype=np.int16), "f": np.array(0.5)}, {"u": "wörd"}
        )
        (path,) = files(store)
        read = (lambda: store.get(KEY)) if kind == "entry" else (lambda: store.segments(KEY) or None)
    whole, count = path.read_bytes(), 0
    for count, broken in enumerate(corrupted(whole), start=1):
        path.write_bytes(broken)
        assert read() is None, broken
        assert not path.exists(), broken
        (aside,) = files(Store(store.root / "damaged"))
        assert aside.read_bytes() == broken
        aside.unlink()
    assert count > 2 * len(whole)
    path.write_bytes(whole)
    assert read() is not None and store.last_problem is None


class Trap:
    def __reduce__(self):
        return exec, ("raise SystemExit('a pickle was read')",)


def test_foreign_files_are_misses(store, tmp_path):
    path = path_of(store, KEY)
    path.parent.mkdir(parents=True)
    save_file({"x": np.zeros(3)}, tmp_path / "plain")
    save_file({"x": np.zeros(3)}, tmp_path / "with metadata", {"faithscope": "0" * 64 + " {}"})
    store.put(OTHER, {"x": np.zeros(3)}, {})
    foreign = [
        (tmp_path / "plain").read_bytes(),
        (tmp_path / "with metadata").read_bytes(),
        path_of(store, OTHER).read_bytes(),
        b"",
        b"{}",
        pickle.dumps(Trap()),
        b"\xff" * 100,
        b"\xff" * 8,
        (2**63).to_bytes(8, "little") + b"x" * 50,
        b"\x93NUMPY" + bytes(80),
    ]
    for number, content in enumerate(foreign, start=1):
        path.write_bytes(content)
        assert store.get(KEY) is None and not path.exists()
        assert len(files(Store(store.root / "damaged"))) == number
    assert store.get(OTHER) is not None


@pytest.mark.parametrize("about", ["", "[]", "7", "{}", '{"key":3}', "[" * 9_000, "\u20ac", "{"])
def test_a_sealed_file_of_other_content_is_a_miss(store, about):
    data = module.save({}, {"faithscope": "0" * 64 + " " + about})
    path = path_of(store, KEY)
    path.parent.mkdir(parents=True)
    path.write_bytes(data.replace(b"0" * 64, hashlib.sha256(data).hexdigest().encode(), 1))
    assert store.get(KEY) is None and not path.exists()


def test_folders_and_files_in_the_wrong_places(store):
    path_of(store, KEY).mkdir(parents=True)
    (path_of(store, KEY) / "file").write_text("x")
    assert store.get(KEY) is None and not has(store, KEY) and not path_of(store, KEY).exists()
    path_of(store, KEY, "").write_text("a file where segments belong")
    assert store.segments(KEY) == []
    store.append(KEY, {"x": np.zeros(1)}, {})
    store.put(KEY, {"x": np.zeros(1)}, {})
    assert len(store.segments(KEY)) == 1 and store.get(KEY) is not None and store.last_problem is None
    (store.root / "v1" / OTHER[:2]).write_text("a file where a folder belongs")
    store.put(OTHER, {"x": np.zeros(1)}, {})
    assert store.get(OTHER) is None and store.segments(OTHER) == [] and is_sentence(store.last_problem)


def test_damage_that_cannot_be_set_aside_is_a_miss_all_the_same(store):
    store.put(KEY, {"x": np.zeros(3)}, {})
    path_of(store, KEY).write_bytes(b"broken")
    (store.root / "damaged").write_text("in the way")
    assert store.get(KEY) is None
    store.put(KEY, {"x": np.ones(3)}, {})
    assert store.get(KEY).arrays["x"].tolist() == [1, 1, 1]


def test_damaged_texts_are_written_again(store):
    digest = store.put_text("good")
    path_of(store, digest, ".text").write_bytes(b"evil")
    assert store.put_text("good") == digest and store.get_text(digest) == "good"


# What cannot be kept


@pytest.mark.parametrize(
    "array",
    [
        np.array([{}, 1], dtype=object),
        np.array(["a"]),
        np.array([b"a"]),
        np.zeros(2, "datetime64[s]"),
        np.zeros(2, "complex128"),
        np.zeros(2, [("a", "f4")]),
        np.ma.masked_array([1.0, 2.0], [True, False]),
        [1.0, 2.0],
        None,
        3.0,
        "x",
    ],
)
def test_what_is_no_array_of_numbers_is_refused_with_a_sentence(store, array):
    for write in (store.put, store.append):
        with pytest.raises(TypeError, match="'x' cannot be stored"):
            write(KEY, {"x": array}, {})
    assert not store.root.exists()


def test_nothing_here_unpickles():
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert "pickle" not in source and "np.load" not in source and "np.save" not in source


@pytest.mark.parametrize("name", ["__metadata__", "\ud800", "a\x00", 3])
def test_names_that_the_format_cannot_hold_are_refused(store, name):
    with pytest.raises(ValueError, match="under the name"):
        store.put(KEY, {name: np.zeros(1)}, {})


@pytest.mark.parametrize(
    "meta", [{1: "a"}, {"a": {2: 3}}, {"a": b"x"}, {"a": {1, 2}}, {"a": np.zeros(2)}, {"a": object()}]
)
def test_metadata_that_json_would_change_is_refused(store, meta):
    with pytest.raises(TypeError, match="canonical JSON"):
        store.put(KEY, {}, meta)


def test_the_storage_failing_loses_nothing_else(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file")
    for write in (store.put, store.append):
        store.last_problem = None
        write(KEY, {"x": np.zeros(3)}, {})
        assert is_sentence(store.last_problem) and "FAITHSCOPE_CACHE" in store.last_problem
    store.last_problem = None
    digest = store.put_text("abc")
    assert is_sentence(store.last_problem) and digest == hashlib.sha256(b"abc").hexdigest()
    assert (
        store.get(KEY) is None
        and store.segments(KEY) == []
        and store.get_text(digest) is None
        and size_bytes(store) == 0
    )
    assert (tmp_path / "file").read_text() == "not a folder"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_a_sentence_and_no_scraps(store, monkeypatch, step):
    store.put(KEY, {"x": np.zeros(3)}, {"old": True})
    with monkeypatch.context() as patch:

        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(os, step, full)
        store.put(KEY, {"x": np.ones(3)}, {})
        store.put(OTHER, {"x": np.ones(3)}, {})
    assert is_sentence(store.last_problem) and "No space left" in store.last_problem
    assert store.get(KEY).meta == {"old": True} and store.get(OTHER) is None
    assert len(files(store)) == 1
    store.put(OTHER, {"x": np.ones(3)}, {})
    assert store.last_problem is None and has(store, OTHER)


def test_a_file_is_on_the_disk_before_it_takes_its_place(store, monkeypatch):
    replace, steps = os.replace, []

    def moved(source, target):
        steps.append(("replace", os.path.getsize(source), Path(source).parent == Path(target).parent))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", lambda number: steps.append(("fsync", os.fstat(number).st_size)))
    monkeypatch.setattr(os, "replace", moved)
    store.put(KEY, {"x": np.zeros(3)}, {})
    size = path_of(store, KEY).stat().st_size
    assert steps == [("fsync", size), ("replace", size, True)]


def test_no_memory_to_write_with_is_no_exception(store, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(module, "save", full)
    store.put(KEY, {"x": np.zeros(3)}, {})
    assert is_sentence(store.last_problem) and store.get(KEY) is None


def test_windows_refusing_to_replace_an_open_file(store, monkeypatch):
    store.put(KEY, {"x": np.zeros(3)}, {})

    def refuse(*_):
        raise PermissionError(errno.EACCES, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", refuse)
    store.put(KEY, {"x": np.zeros(3)}, {})
    assert store.last_problem is None and store.get(KEY) is not None
    store.put(OTHER, {"x": np.zeros(3)}, {})
    assert is_sentence(store.last_problem) and store.get(OTHER) is None
    assert len(files(store)) == 1


@pytest.mark.skipif(
    os.name == "nt" or getattr(os, "geteuid", lambda: 0)() == 0, reason="permissions do not stop this user"
)
def test_a_read_only_folder_is_read(store):
    store.put(KEY, {"x": np.zeros(3)}, {})
    folder = path_of(store, KEY).parent
    folder.chmod(0o500)
    try:
        store.append(KEY, {"x": np.zeros(3)}, {})
        assert is_sentence(store.last_problem) and store.get(KEY) is not None
    finally:
        folder.chmod(0o700)


# Paths


@pytest.mark.parametrize("key", BAD_KEYS, ids=repr)
def test_keys_cannot_leave_the_folder(store, key):
    store.root.mkdir()
    (store.root / "v1").mkdir()
    calls = [
        store.get,
        store.segments,
        store.get_text,
        lambda k: store.put(k, {"x": np.zeros(1)}, {}),
        lambda k: store.append(k, {"x": np.zeros(1)}, {}),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="64 characters"):
            call(key)
    assert files(store) == [] and sorted(p.name for p in store.root.parent.iterdir()) == ["cache"]


# Keys


def test_the_key_format_is_pinned():
    """If this fails, every stored result becomes unreachable: raise v1 in the module if that is meant."""
    key = canonical_key(
        "occlusion",
        3,
        text="Ça va\n\ud800",
        unit="word",
        seed=0,
        ratio=0.1,
        masks=(True, None),
        nested={"b": [], "a": -0.0},
    )
    assert key == "1480d22becca3ba99ecd6f32c3f82e70c6cf54cd7ddce2b2b01117e5ee4b6a03"


def test_a_key_is_the_hash_of_canonical_json():
    assert (
        canonical_key("p", 2, b="é", a=[1, 2.5])
        == hashlib.sha256('{"inputs":{"a":[1,2.5],"b":"é"},"producer":"p","version":2}'.encode()).hexdigest()
    )


@PROPERTY
@given(
    inputs=st.dictionaries(st.sampled_from("abcdef"), plain, min_size=1, max_size=5),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_order_never_matters_and_every_change_does(inputs, seed, data):
    key = canonical_key("p", 1, **inputs)
    order = random.Random(seed).sample(list(inputs), len(inputs))
    assert canonical_key("p", 1, **{name: inputs[name] for name in order}) == key
    changed = dict(inputs)
    name = data.draw(st.sampled_from(order))
    changed[name] = data.draw(plain.filter(lambda value: strict(value) != strict(inputs[name])))
    without = {k: v for k, v in inputs.items() if k != name}
    others = [
        canonical_key("p", 1, **changed),
        canonical_key("p", 1, **without),
        canonical_key("p", 2, **inputs),
        canonical_key("q", 1, **inputs),
        canonical_key("p", 1, **without, **{name + "_": inputs[name]}),
    ]
    assert key not in others


def test_values_that_look_alike_have_different_keys():
    values = [
        None,
        "None",
        "null",
        "",
        0,
        0.0,
        -0.0,
        False,
        "0",
        1,
        1.0,
        True,
        "1",
        [],
        [[]],
        {},
        [1],
        [[1]],
        [1, 1],
        {"a": 1},
        {"a": [1]},
        {"a": None},
        "a",
        ["a"],
        "ab",
        ["a", "b"],
        ["ab"],
        0.1,
        np.float32(0.1),
        math.nextafter(0.1, 1),
        10**30,
        1e30,
        2**53,
        2**53 + 1,
        "é",
        "e\u0301",
        "\\u00e9",
        "\ud83d\ude00",
        "😀",
        "\x00",
        "\\u0000",
        '"',
        '\\"',
    ]
    keys = [canonical_key("p", 1, x=value) for value in values]
    assert len(set(keys)) == len(values)


def test_numpy_scalars_and_tuples_are_the_values_they_equal():
    def key(x):
        return canonical_key("p", 1, x=x)

    assert (
        key(np.int64(-3)) == key(-3)
        and key(np.uint64(2**64 - 1)) == key(2**64 - 1)
        and key(np.bool_(True)) == key(True)
    )
    assert key(np.float64(0.1)) == key(0.1) and key(np.float32(0.1)) == key(float(np.float32(0.1))) != key(0.1)
    assert key(np.str_("a")) == key("a") and key((1, (2,))) == key([1, [2]])


@pytest.mark.parametrize(
    "value",
    [
        b"x",
        {1},
        object(),
        np.zeros(2),
        1j,
        Path("x"),
        {1: 2},
        [set()],
        np.longdouble(1),
        np.datetime64("2020"),
        Ellipsis,
    ],
)
def test_unknown_types_are_refused_with_a_sentence(value):
    with pytest.raises(TypeError, match=r"x is .*canonical JSON"):
        canonical_key("p", 1, x=value)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, np.float32("nan"), [1.0, [math.nan]], {"a": math.inf}]
)
def test_keys_take_finite_numbers_only(value):
    with pytest.raises(ValueError, match=r"x.* is -?(nan|inf)"):
        canonical_key("p", 1, x=value)


@pytest.mark.parametrize("producer, version", [(3, 1), ("p", "1"), ("p", 1.0), ("p", True), (None, 1)])
def test_a_key_needs_a_name_and_a_version(producer, version):
    with pytest.raises(TypeError, match="whole-number version"):
        canonical_key(producer, version)


# The cap


def numbered(i):
    return canonical_key("numbered", 1, i=i)


def test_the_oldest_go_first_down_to_nine_tenths(tmp_path):
    big = Store(tmp_path / "cache")
    for i in range(10):
        big.put(numbered(i), {"x": np.full(1_000, i)}, {})
        big.append(numbered(100), {"x": np.full(1_000, i)}, {})
        big.put_text(f"{i}" * 8_000)
    everything = files(big)
    assert len(everything) == 30
    for age, path in enumerate(random.Random(1).sample(everything, 30)):
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    by_age = sorted(everything, key=lambda path: path.stat().st_mtime)
    sizes = {path: path.stat().st_size for path in everything}
    cap = 150_000
    small = Store(big.root, cap)
    small.put(KEY, {"x": np.zeros(500)}, {})
    total = sum(sizes.values()) + path_of(small, KEY).stat().st_size
    gone = 0
    while total > 0.9 * cap:
        total -= sizes[by_age[gone]]
        gone += 1
    assert 0 < gone < 30
    assert set(files(small)) == {*by_age[gone:], path_of(small, KEY)}
    assert size_bytes(small) == total


def test_it_stays_under_the_cap_and_reading_refreshes_nothing(tmp_path):
    # Files of about 300 bytes, well below the twentieth of the cap after which the store looks.
    store = Store(tmp_path / "cache", 20_000)
    for i in range(80):
        store.put(numbered(i), {"x": np.zeros(3)}, {})
        assert store.get(numbered(i)) is not None
        assert size_bytes(store) <= 20_000
        store.get(numbered(0))
    left = [i for i in range(80) if has(store, numbered(i))]
    assert 0 < len(left) < 80 and left == list(range(80 - len(left), 80))


def test_several_processes_overshoot_by_little(tmp_path):
    stores = [Store(tmp_path / "cache", 40_000) for _ in range(4)]
    for i in range(100):
        stores[i % 4].put(numbered(i), {"x": np.zeros(100)}, {})
        assert size_bytes(stores[0]) <= 40_000 * (1 + 4 / 20)
    assert size_bytes(stores[0]) > 28_000


def test_damaged_files_count_and_go_first(tmp_path):
    store = Store(tmp_path / "cache", 100_000)
    for i in range(9):
        store.put(numbered(i), {"x": np.zeros(1_200)}, {})
    for i in (3, 8):
        path_of(store, numbered(i)).write_bytes(b"x" * 20_000)
        assert store.get(numbered(i)) is None
    assert size_bytes(store) > 100_000
    for i in (3, 8):
        store.put(numbered(i), {"x": np.zeros(1_200)}, {})
    Store(store.root, 100_000).put(numbered(0), {"x": np.zeros(1_200)}, {})
    assert files(Store(store.root / "damaged")) == [] and all(store.get(numbered(i)) for i in range(9))


def test_a_result_larger_than_the_store_evicts_nothing(tmp_path):
    store = Store(tmp_path / "cache", 10_000)
    store.put(KEY, {"x": np.zeros(10)}, {})
    store.put(OTHER, {"x": np.zeros(10_000)}, {})
    assert (
        has(store, KEY)
        and not has(store, OTHER)
        and is_sentence(store.last_problem)
        and "FAITHSCOPE_CACHE_MB" in store.last_problem
    )


def test_leftovers_of_an_hour_ago_are_removed_and_younger_ones_are_not(store):
    store.put(KEY, {"x": np.zeros(3)}, {})
    old, young = (path_of(store, KEY).with_name(name) for name in (".1-aa.tmp", ".1-bb.tmp"))
    for path, age in ((old, 3_700), (young, 3_500)):
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
    Store(store.root).put(OTHER, {"x": np.zeros(3)}, {})
    assert not old.exists() and young.exists() and has(store, KEY)


def test_what_is_too_large_for_the_store_goes_before_its_results(tmp_path):
    store = Store(tmp_path / "cache", 10_000)
    for i in range(9):
        store.put(numbered(i), {"x": np.zeros(10)}, {})
    vast = path_of(store, OTHER)
    vast.parent.mkdir(parents=True, exist_ok=True)
    with vast.open("wb") as file:
        file.truncate(10**9)
    Store(store.root, 10_000).put(numbered(0), {"x": np.zeros(10)}, {})
    assert not vast.exists() and all(has(store, numbered(i)) for i in range(9))


def test_clear_leaves_other_files_alone(store):
    store.root.mkdir()
    (store.root / ".gitkeep").touch()
    store.put(KEY, {"x": np.zeros(3)}, {})
    store.append(KEY, {"x": np.zeros(3)}, {})
    digest = store.put_text("a")
    path_of(store, digest, ".text").write_text("b")
    assert store.get_text(digest) is None and size_bytes(store) > 0
    store.clear()
    assert size_bytes(store) == 0 and store.get(KEY) is None and [p.name for p in files(store)] == [".gitkeep"]
    store.put(KEY, {"x": np.zeros(3)}, {})
    assert has(store, KEY) and store.last_problem is None


# Several at once


def child(code, *args):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


RACER = """
    import os, random, sys, time
    import numpy as np
    from core.storage.store import Store, canonical_key

    rng, store = random.Random(int(sys.argv[2])), Store(sys.argv[1], 40_000)
    keys = [canonical_key("race", 1, i=i) for i in range(10)]
    texts = [f"{i} \\ud800" * 50 for i in range(10)]
    digests = {}
    hits, problems = 0, set()
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        i, j, act = rng.randrange(10), rng.randrange(5), rng.random()
        if act < 0.25:
            store.put(keys[i], {"x": np.arange(i * 50).reshape(i, 50).T}, {"i": i})
        elif act < 0.5:
            if (entry := store.get(keys[i])) is not None:
                assert np.array_equal(entry.arrays["x"], np.arange(i * 50).reshape(i, 50).T) and entry.meta == {"i": i}
                hits += 1
        elif act < 0.65:
            store.append(keys[i], {"x": np.full(99, i * 100 + j)}, {"i": i, "j": j})
        elif act < 0.8:
            entries = store.segments(keys[i])
            assert all((e.arrays["x"] == i * 100 + e.meta["j"]).all() and len(e.arrays["x"]) == 99 and e.meta["i"] == i for e in entries)
            assert len({e.meta["j"] for e in entries}) == len(entries)
            hits += len(entries)
        elif act < 0.85:
            digests[i] = store.put_text(texts[i])
        elif act < 0.95:
            assert i not in digests or store.get_text(digests[i]) in (None, texts[i])
        elif act < 0.98:
            try:
                with open(os.path.join(sys.argv[1], "v1", keys[i][:2], keys[i] + ".safetensors"), "r+b") as file:
                    file.truncate(i * 40)
            except FileNotFoundError:
                pass
        elif act < 0.99:
            store.clear()
        else:
            assert sum(size for *_, size in store.files()) >= 0
        problems.add(store.last_problem)
    print(hits, problems - {None})
"""


def test_processes_racing_for_the_same_keys_see_whole_values_or_none(tmp_path):
    racers = [child(RACER, tmp_path / "cache", seed) for seed in range(4)]
    outputs = [racer.communicate(timeout=60) for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4, outputs
    assert all(error == "" and int(out.split()[0]) > 20 for out, error in outputs), outputs
    store = Store(tmp_path / "cache", 40_000)
    store.put(KEY, {"x": np.zeros(1)}, {})
    assert size_bytes(store) <= 40_000 and files(store, "*.tmp") == []


def test_a_folder_that_vanishes_during_a_write_is_made_again(store, monkeypatch):
    replace, tries = os.replace, []

    def cleared_meanwhile(source, target):
        tries.append(target)
        if len(tries) == 1:
            Store(store.root).clear()
        replace(source, target)

    monkeypatch.setattr(os, "replace", cleared_meanwhile)
    store.put(KEY, {"x": np.zeros(3)}, {})
    assert len(tries) == 2 and store.last_problem is None and store.get(KEY) is not None


def test_threads_share_one_store(tmp_path):
    store = Store(tmp_path / "cache", 50_000)

    def work(seed):
        rng = random.Random(seed)
        for _ in range(40):
            i = rng.randrange(8)
            store.put(numbered(i), {"x": np.full(700, i)}, {"i": i})
            entry = store.get(numbered(rng.randrange(8)))
            assert entry is None or (entry.arrays["x"] == entry.meta["i"]).all()
        return True

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(work, range(6)))
    assert store.last_problem is None and not (store.root / "damaged").exists()


kills = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")


@kills
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_killed_in_the_middle_of_a_write(tmp_path, step):
    store = Store(tmp_path / "cache")
    store.put(KEY, {"x": np.zeros(3)}, {"old": True})
    writer = child(
        """
        import os, sys, time
        import numpy as np
        from core.storage.store import Store
        def stop(*_):
            print("there", flush=True)
            time.sleep(60)
        setattr(os, sys.argv[2], stop)
        Store(sys.argv[1]).put(sys.argv[3], {"x": np.ones(100_000)}, {})
    """,
        store.root,
        step,
        KEY,
    )
    assert writer.stdout.readline() == "there\n"
    # Another process looks at the folder while this one writes, and once it is gone.
    Store(store.root).put(OTHER, {"x": np.ones(3)}, {})
    (left,) = files(store, "*.tmp")
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=30)
    assert store.get(KEY).meta == {"old": True} and left.exists()
    Store(store.root).put(OTHER, {"x": np.ones(3)}, {})
    assert not left.exists() and store.get(KEY) is not None and store.get(OTHER) is not None
    assert not (store.root / "damaged").exists()


@kills
def test_killed_at_any_time(tmp_path):
    store, rng = Store(tmp_path / "cache"), random.Random(0)
    for _ in range(4):
        writer = child(
            """
            import sys
            import numpy as np
            from core.storage.store import Store, canonical_key
            store = Store(sys.argv[1])
            print("ready", flush=True)
            while True:
                for i in range(5):
                    store.put(canonical_key("numbered", 1, i=i), {"x": np.full(50_000, i)}, {"i": i})
                    store.append(canonical_key("numbered", 1, i=9), {"x": np.full(50_000, i)}, {"i": i})
        """,
            store.root,
        )
        assert writer.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=30)
        entries = [store.get(numbered(i)) for i in range(5)]
        for entry in [e for e in entries if e is not None] + store.segments(numbered(9)):
            assert len(entry.arrays["x"]) == 50_000 and (entry.arrays["x"] == entry.meta["i"]).all()
    # Nothing half-written ever stood in an entry's place.
    assert not (store.root / "damaged").exists()
    assert any(entry is not None for entry in entries)
