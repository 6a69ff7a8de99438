"""Labels of data and classes of a model: what is tied, what is left out, and when predictions speak for another
reading.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.data.browsing import LabelMatch, find_other, match_labels, names_by
from core.data.mapping import Mapping, build
from core.data.tables import read_table

LABELS, UNNAMED = ("negative", "positive"), ("LABEL_0", "LABEL_1")
NLI = ("contradiction", "neutral", "entailment")


@pytest.mark.parametrize(
    "labels, model, expected, said",
    [
        (("negative", "positive"), LABELS, {"negative": 0, "positive": 1}, ""),
        (("POSITIVE", " Negative "), LABELS, {"POSITIVE": 1, " Negative ": 0}, ""),
        (("0", "1"), LABELS, {"0": 0, "1": 1}, "0 = negative, 1 = positive"),
        (("0",), LABELS, {"0": 0}, "0 = negative"),
        # Stars from 1 to 5, or classes numbered from 1, are nobody's numbers.
        (("1", "2", "3", "4", "5"), LABELS, {}, "negative"),
        (("1", "2"), LABELS, {}, "negative"),
        (("World", "Sports"), LABELS, {}, "World, Sports"),
        (("positive", "neutral"), LABELS, {"positive": 1}, "neutral"),
        (("0", "1"), UNNAMED, {"0": 0, "1": 1}, "0 = LABEL_0"),
        # The order of the alphabet is nobody's.
        (("no", "yes"), UNNAMED, {}, "no, yes"),
        (("a", "b", "c"), UNNAMED, {}, "a, b, c"),
        ((), LABELS, {}, ""),
    ],
)
def test_labels_meet_classes(labels, model, expected, said):
    match = match_labels(labels, model)
    assert match.classes == expected and said in match.how and bool(match.how) == bool(said)
    assert match.by_order == (" = " in said)


@pytest.mark.parametrize(
    "cells, names, expected",
    [
        (("yes", "no"), (), None),
        (("yes", "no"), ("yes", "no"), {"yes": 0, "no": 1}),
        (("yes", "no"), ("no", "yes"), {"no": 0, "yes": 1}),
        (("0", "1"), ("yes", "no"), {"yes": 0, "no": 1}),
    ],
)
def test_names_that_are_given_in_an_order_meet_classes_without_names(cells, names, expected):
    table = read_table("text,label\n{}".format("".join(f"a word,{one}\n" for one in cells)).encode(), "a.csv")
    data = build(table, Mapping("text", label="label", label_names=names))
    match = match_labels(data.classes, UNNAMED, data.ordered)
    assert match.classes == (expected or {}) and match.by_order == (expected is not None)


def by_order(classes: int) -> LabelMatch:
    return LabelMatch({f"{i}": i for i in range(classes)}, "by order", True)


@pytest.mark.parametrize(
    "model, meant, predicted, right, names",
    [
        (NLI, [0, 1, 2] * 6, [2, 1, 0] * 6, (18, 6), ("entailment", "neutral", "contradiction")),
        (LABELS, [0, 1] * 6, [1, 0] * 6, (12, 0), ("positive", "negative")),
        (LABELS, [0, 1] * 50, [1, 0] * 45 + [0, 1] * 5, (90, 10), ("positive", "negative")),
        # Turned round by one, and one text that has no label or no prediction.
        (NLI, [0, 1, 2, -1, 0] * 10, [1, 2, 0, 0, -1] * 10, (30, 0), ("neutral", "entailment", "contradiction")),
        # Too few to tell, right, always one class, no better than chance, or one label alone.
        (LABELS, [0, 1] * 2, [1, 0] * 2, None, None),
        (NLI, [0, 1, 2] * 2, [2, 1, 0] * 2, None, None),
        (LABELS, [0, 1] * 50, [0, 1] * 50, None, None),
        (LABELS, [0, 1] * 50, [0, 0] * 50, None, None),
        (LABELS, [0, 1] * 50, [1, 0] * 30 + [0, 1] * 20, None, None),
        (LABELS, [0] * 50, [1] * 50, None, None),
        (LABELS, [], [], None, None),
    ],
)
def test_another_reading_is_found_where_it_is_right_far_more_often(model, meant, predicted, right, names):
    found = find_other(by_order(len(model)), model, np.array(meant, dtype=int), np.array(predicted, dtype=int))
    if right is None:
        assert found is None
        return
    assert names_by(found, model) == names and all(name in found.how for name in names)
    assert [int(number) for number in re.findall(r"on (\d+)", found.how)] == list(right)
    # Read so, it is not doubted any more.
    again = LabelMatch(found.classes)
    read = np.array([found.classes[f"{m}"] if m >= 0 else -1 for m in meant])
    assert find_other(again, model, read, np.array(predicted)) is None


def test_of_very_many_classes_there_are_more_readings_than_a_float_holds():
    """Two texts say nothing of 200 classes; four thousand that are right by another order do."""
    names = tuple(f"topic {i}" for i in range(200))
    meant = np.arange(4000) % 200
    assert find_other(by_order(200), names, meant[:2], meant[:2] + 1) is None
    assert find_other(by_order(200), names, meant, (meant + 1) % 200).classes["7"] == 8


def test_names_are_given_for_labels_that_are_numbers_from_0():
    named = match_labels(("no", "yes"), UNNAMED, ordered=True)
    turned = find_other(named, UNNAMED, np.array([0, 1] * 10), np.array([1, 0] * 10))
    assert turned.classes == {"no": 1, "yes": 0} and names_by(turned, UNNAMED) == ()
    gap = find_other(match_labels(("0", "2"), NLI), NLI, np.array([0, 2] * 10), np.array([2, 0] * 10))
    assert gap.classes == {"0": 2, "2": 0} and names_by(gap, NLI) == () == names_by(None, NLI)


@given(some.integers(2, 7), some.integers(0, 2**32 - 1))
def test_a_model_that_is_mostly_right_by_another_order_is_told_that_order(classes, seed):
    rng = np.random.default_rng(seed)
    order, meant = rng.permutation(classes), rng.integers(0, classes, 400)
    predicted = np.where(rng.random(400) < 0.9, order[meant], rng.integers(0, classes, 400))
    names = tuple(f"class {i}" for i in range(classes))
    found = find_other(by_order(classes), names, meant, predicted)
    moved = (order != np.arange(classes)).sum()
    assert (found is None) == (moved == 0)
    assert found is None or list(found.classes.values()) == order.tolist()


@pytest.mark.simulation
@pytest.mark.parametrize("systematic", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 4, 8])
def test_the_right_reading_is_hardly_ever_doubted(classes, systematic):
    """Right on 40 to 90 % of 20 to 500 texts; errors at random, or always the next class."""
    rng, names = np.random.default_rng(classes), tuple(f"class {i}" for i in range(classes))
    for right in (0.4, 0.5, 0.6, 0.9):
        for texts in (20, 50, 100, 500):
            doubted = 0
            for _ in range(300):
                meant = rng.integers(0, classes, texts)
                wrong = 1 if systematic else rng.integers(1, classes, texts)
                predicted = np.where(rng.random(texts) < right, meant, (meant + wrong) % classes)
                doubted += find_other(by_order(classes), names, meant, predicted) is not None
            assert doubted <= 0.01 * 300, (right, texts)
