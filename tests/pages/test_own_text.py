"""A text of one's own is named by its digest in a link, and a link may name whatever is kept."""

import json

import pytest

from core.storage.store import Store
from pages.parts.frame import resources
from pages.parts.frame.picking import read_own

KEPT = """["A film.", null] | ["A film.", "Or is it?"] | null | 7 | "ab" | {"a": 1, "b": 2} | [] | ["a"] | ["a", 3]
| [["a"], null] | ["a", "b", "c"] | {"""


@pytest.mark.parametrize("kept", [*KEPT.split("|"), "[" * 90_000], ids=lambda kept: kept[:20])
def test_what_is_no_text_is_not_read_as_one(tmp_path, monkeypatch, kept):
    store = Store(tmp_path)
    monkeypatch.setattr(resources, "store", lambda: store)
    found = read_own(store.put_text(kept))
    assert found == (json.loads(kept) if "film" in kept else None)
