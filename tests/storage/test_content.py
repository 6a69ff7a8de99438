"""What an entry must hold: names, shapes, kinds, ranges, and what is said beside."""

import math

import numpy as np
import pytest

from core.storage.content import ROWS, Content, Numbers, is_amount, is_count, is_text
from core.storage.store import Store, canonical_key

KEY = canonical_key("test", 1)
SHARES = Numbers("float64", (ROWS, 2), 0, 1)
CONTENT = Content(
    {"rows": Numbers("uint8", (ROWS, 4)), "p": SHARES, "more": Numbers("int32", (None,), (0,), (9,))},
    {"note": is_text},
    {"more"},
    lambda arrays, meta: len(meta["note"]) < 9,
)
GOOD = {"rows": np.zeros((3, 4), np.uint8), "p": np.full((3, 2), 0.5)}


@pytest.mark.parametrize(
    "numbers, array, fits",
    [
        (SHARES, np.array([[0.0, 1.0]]), True),
        (SHARES, np.zeros((0, 2)), True),
        (SHARES, np.array([[0.0, 1 + 1e-12]]), True),
        (SHARES, np.array([[0.0, 1.001]]), False),
        (SHARES, np.array([[-0.001, 1.0]]), False),
        (SHARES, np.array([[np.nan, 1.0]]), False),
        (SHARES, np.zeros((1, 3)), False),
        (SHARES, np.zeros(2), False),
        (SHARES, np.zeros(()), False),
        (SHARES, np.zeros((1, 2), np.float32), False),
        (SHARES, np.zeros((1, 2), np.int64), False),
        (SHARES._replace(nan=True), np.array([[np.nan, 1.0]]), True),
        (SHARES._replace(nan=True), np.array([[np.nan, 2.0]]), False),
        (SHARES._replace(nan=True), np.array([[np.inf, 1.0]]), False),
        (Numbers("float32", (2,)), np.array([1e30, -1e30], np.float32), True),
        (Numbers("float32", (2,)), np.array([1, -np.inf], np.float32), False),
        (Numbers("float16", (1,)), np.array([65504], np.float16), True),
        # A bound for each column: a value and its error.
        (Numbers("float64", (2,), (-1, 0), (1, math.inf), True), np.array([-1, 1e9]), True),
        (Numbers("float64", (2,), (-1, 0), (1, math.inf), True), np.array([-1, -0.5]), False),
        (Numbers("float64", (2,), (-1, 0), (1, math.inf), True), np.array([np.nan, np.nan]), True),
        (Numbers("int32", (2,), 0, 3), np.array([0, 3], np.int32), True),
        (Numbers("int32", (2,), 0, 3), np.array([0, 4], np.int32), False),
        (Numbers("bool", (None, 1)), np.ones((5, 1), bool), True),
    ],
)
def test_arrays_that_are_such(numbers, array, fits):
    assert numbers.hold(array, {}) == fits


@pytest.mark.parametrize(
    "arrays, meta, fits",
    [
        (GOOD, {"note": "", "besides": 3}, True),
        (GOOD | {"more": np.array([9], np.int32)}, {"note": ""}, True),
        (GOOD | {"more": np.array([10], np.int32)}, {"note": ""}, False),
        (GOOD | {"other": np.zeros(1)}, {"note": ""}, False),
        ({"rows": GOOD["rows"]}, {"note": ""}, False),
        (GOOD | {"p": np.zeros((2, 2))}, {"note": ""}, False),
        (GOOD, {}, False),
        (GOOD, {"note": 3}, False),
        (GOOD, {"note": "far too long"}, False),
        (GOOD, [], False),
        (GOOD, None, False),
        ({}, {"note": ""}, False),
    ],
)
def test_entries_that_are_such(tmp_path, arrays, meta, fits):
    assert CONTENT.fits(arrays, meta) == fits
    store = Store(tmp_path)
    # What is no such thing is neither read nor written.
    for content in (None, CONTENT):
        store.clear()
        store.put(KEY, arrays, meta, content)
        store.append(KEY, arrays, meta, content)
        assert (store.get(KEY, CONTENT) is not None) == fits == bool(store.segments(KEY, CONTENT))
        assert len([*(tmp_path / "damaged").glob("*")]) == (0 if fits or content else 2)


@pytest.mark.parametrize(
    "value, kinds",
    [
        ("", "text"),
        (0, "count amount"),
        (7, "count amount"),
        (0.5, "amount"),
        (-1, ""),
        (True, ""),
        (math.inf, ""),
        (math.nan, ""),
        (None, ""),
        ([], ""),
    ],
)
def test_what_is_said_beside(value, kinds):
    found = {"text": is_text(value), "count": is_count(value), "amount": is_amount(value)}
    assert " ".join(name for name, fits in found.items() if fits) == kinds
