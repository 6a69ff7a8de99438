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
            "FAITHSCOPE_HOSTS": "Box.local; [FE80::1]",
        }
    )
    assert found.hosts == ("box.local", "[fe80::1]")
    assert (found.device, found.precision, found.cache, found.cache_bytes, found.exact_scores) == (
        "cuda:1",
        "bfloat16",
        Path("somewhere"),
        7_000_000,
        512,
    )
