"""Settings from the environment: defaults, lists, and what is refused."""

from pathlib import Path

import pytest

from core.settings import ROOT, SettingError, read


def test_unset_and_empty_are_the_default():
    for environment in (
        {},
        {
            f"FAITHSCOPE_{name}": ""
            for name in ("DEVICE", "PRECISION", "MODEL", "DATA", "CACHE", "CACHE_MB", "EXACT", "HOSTS")
        },
    ):
        found = read(environment)
        assert (found.device, found.precision, found.models, found.data) == ("auto", "float32", ("sst2-fmm",), ())
        assert found.model == "sst2-fmm" and found.cache == ROOT / "cache" and found.cache_bytes == 2_000_000_000


@pytest.mark.parametrize(
    "text, expected",
    [
        ("one", ("one",)),
        ("one;two", ("one", "two")),
        (" one ;; two;", ("one", "two")),
        (";", ()),
        ("  ", ()),
        ("a b/c d; e", ("a b/c d", "e")),
        ("owner/name:config:split;C:\\data\\x.csv;sst2", ("owner/name:config:split", "C:\\data\\x.csv", "sst2")),
        ("b;a;b", ("b", "a")),
    ],
)
def test_lists_are_separated_by_semicolons(text, expected):
    found = read({"FAITHSCOPE_MODEL": text, "FAITHSCOPE_DATA": text})
    assert found.data == expected and found.models == (expected or ("sst2-fmm",)) and found.model == found.models[0]


@pytest.mark.parametrize(
    "name, value",
    [
        ("PRECISION", "int8"),
        ("PRECISION", " float32"),
        ("CACHE_MB", "0"),
        ("CACHE_MB", "-1"),
        ("CACHE_MB", "1.5"),
        ("CACHE_MB", "²"),
        ("EXACT", "0"),
        ("EXACT", "many"),
        ("HOSTS", "box.local:8501"),
        ("HOSTS", "http://box.local"),
        ("HOSTS", "box.local;*"),
        ("HOSTS", "::1"),
        ("HOSTS", "bü/cher.local"),
        ("HOSTS", "bü cher.local"),
        ("SHIPPED", "maybe"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(name, value):
    with pytest.raises(SettingError, match=f"FAITHSCOPE_{name} is .*; write .*\\.$"):
        read({f"FAITHSCOPE_{name}": value})


def test_the_rest_is_taken_as_it_is():
    found = read(
        {
            "FAITHSCOPE_DEVICE": "cuda:1",
            "FAITHSCOPE_PRECISION": "bfloat16",
            "FAITHSCOPE_CACHE": "somewhere",
            "FAITHSCOPE_CACHE_MB": "7",
            "FAITHSCOPE_EXACT": "512",
            "FAITHSCOPE_HOSTS": "Box.local; [FE80::1]; Bücher.local; Straße.example",
            "FAITHSCOPE_SHIPPED": "no",
        }
    )
    # Names with other letters than English ones as browsers send them.
    assert found.hosts == ("box.local", "[fe80::1]", "xn--bcher-kva.local", "xn--strae-oqa.example")
    assert (found.shipped, read({}).shipped) == (False, True)
    assert (found.device, found.precision, found.cache, found.cache_bytes, found.exact_scores) == (
        "cuda:1",
        "bfloat16",
        Path("somewhere"),
        7_000_000,
        512,
    )


UNUSABLE = {
    "a number of many digits": ("CACHE_MB", "9" * 39),
    "a number of more digits than are read": ("EXACT", "1" * 5_000),
    "a number that overflows": ("EXACT", "9" * 39),
    "a long word for a number": ("CACHE_MB", "many " * 20_000),
    "halves of characters": ("MODEL", "sst2-fmm;\udcff\udcfe"),
    "data that are no text": ("DATA", "\udc80"),
    "a folder that is no text": ("CACHE", "/tmp/\udcff"),
    "a NUL": ("CACHE", "/tmp/a\0b"),
    "a long path": ("CACHE", "/tmp" + "/folder" * 800),
    "a long path that is not there": ("CACHE", "nowhere/at/all/" + "x" * 300),
    "a long name": ("MODEL", "m" * 100_000),
    "a long name of data": ("DATA", "sst2;" + "d" * 5_000),
    "many names": ("DATA", ";".join(map(str, range(10_000)))),
    "no device": ("DEVICE", "tpu" * 30_000),
    "a device of many digits": ("DEVICE", "cuda:" + "9" * 39),
    "half a device": ("DEVICE", "\udcff"),
    "a long host": ("HOSTS", "h" * 100_000 + "/"),
    "half a host": ("HOSTS", "\udcff"),
    "a long precision": ("PRECISION", "float" * 20_000),
}


@pytest.mark.parametrize("name, value", UNUSABLE.values(), ids=UNUSABLE)
def test_what_no_machine_could_use_is_a_short_sentence_at_the_start(name, value):
    with pytest.raises(SettingError, match=rf"(?s)^FAITHSCOPE_{name} is .*; write .*\.$") as caught:
        read({f"FAITHSCOPE_{name}": value})
    said = str(caught.value)
    assert len(said) < 300 and "\n" not in said and said.encode()


def test_numbers_may_be_as_large_as_is_of_use_and_folders_have_any_letters(tmp_path):
    found = read({"FAITHSCOPE_CACHE_MB": "1000000000", "FAITHSCOPE_EXACT": "0" * 50 + "1048576"})
    assert (found.cache_bytes, found.exact_scores) == (10**15, 2**20)
    folder = tmp_path / "Ergebnisse für später" / ("\u5bb6" * 80)
    assert read({"FAITHSCOPE_CACHE": str(folder)}).cache == folder
