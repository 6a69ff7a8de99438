"""Slices against what is counted by hand: how often the model is right on them, and when anything is compared."""

import numpy as np
import pytest

from core.data.browsing import Index, Trait, judge, match_labels
from core.data.examples import DataSet, Example
from core.evaluation.findings import FEW
from core.evaluation.slices import (
    COMING,
    HEADER,
    HIGHER,
    LOWER,
    TOO_FEW,
    UNSURE,
    Slice,
    count_compared,
    rejected_cell,
    slice_cells,
    slice_of,
    slices_by,
)
from core.mathematics.statistics import Interval, shares_difference
from tests.evaluation.made_examples import LABELS, made


@pytest.mark.parametrize("right, others, said", [(20, 10, HIGHER), (4, 30, LOWER), (13, 26, UNSURE)])
def test_a_slice_is_compared_with_the_others_by_its_interval(right, others, said):
    index, judged = made([(20, right, ("odd",)), (40, others, ())])
    one = slices_by(index, judged, "tag")["odd"]
    assert (one.examples, one.judged, one.right, one.said) == (20, 20, right, said)
    assert one.against.mean == pytest.approx(right / 20 - others / 40) and one.against.holds(0) == (said == UNSURE)


def test_each_text_is_judged_once_on_either_side_and_in_the_slice_alone_where_it_is_on_both():
    """Ten texts twice within the slice, the first five of them and 30 others outside, of which one can not be judged."""
    labels = [LABELS[i % 2] for i in range(40)]
    odd = [Example(f"o{i}{k}", f"text {i}", None, labels[i], ("odd",)) for i in range(10) for k in range(2)]
    rest = [Example(f"r{i}", f"text {i}", None, labels[i]) for i in [*range(5), *range(10, 40)]]
    index = Index(DataSet("made", "0" * 64, (*rest, *odd), LABELS))
    p = np.array([[0.9, 0.1] if one.label == LABELS[0] else [0.2, 0.8] for one in (*rest, *odd)])
    judged = judge(index, LABELS, match_labels(LABELS, LABELS), p)
    judged.right[5] = -1
    one = slices_by(index, judged, "tag")["odd"]
    assert (one.examples, one.judged, one.right) == (20, 10, 10) and one.against == shares_difference(10, 10, 29, 29)
    whole, _ = made([(20, 20, ("odd",)), (40, 10, ())])
    assert whole.texts is None


@pytest.mark.parametrize("inside, outside", [(FEW - 1, 60), (60, FEW - 1), (1, 1), (60, 0)])
def test_of_too_few_on_either_side_nothing_is_compared(inside, outside):
    index, judged = made([(inside, inside, ("odd",)), (outside, 0, ())])
    one = slices_by(index, judged, "tag")["odd"]
    assert one.said == TOO_FEW and not one.enough and slice_cells(one)[-2:] == ["—", TOO_FEW]


def test_by_label_the_slices_add_up_to_all():
    index, judged = made([(30, 20, ("odd", "long")), (25, 5, ("long",)), (7, 7, ())])
    by_label, by_tag = (slices_by(index, judged, facet) for facet in ("label", "tag"))
    assert sum(one.examples for one in by_label.values()) == sum(one.judged for one in by_label.values()) == len(index)
    assert sum(one.right for one in by_label.values()) == int((judged.right == 1).sum())
    # An example may have several tags, or none.
    assert {name: one.examples for name, one in by_tag.items()} == {"long": 55, "odd": 30, "(no tag)": 7}
    assert all(len(slice_cells(one)) + 1 == len(HEADER) for one in (*by_label.values(), *by_tag.values()))


def test_a_slice_and_what_is_left_are_all():
    index, judged = made([(30, 11, ("odd",)), (33, 20, ())])
    rows = np.flatnonzero(index.tagged[0])
    one, rest = slice_of(judged, rows), slice_of(judged, np.setdiff1d(np.arange(len(index)), rows))
    assert one.examples + rest.examples == len(index) and one.right + rest.right == int((judged.right == 1).sum())
    assert one.against.mean == pytest.approx(-rest.against.mean) and one.accuracy.low < one.accuracy.mean


def test_what_cannot_be_judged_is_no_mistake():
    index, judged = made([(40, 40, ("odd",))])
    judged.right[:15] = -1
    one = slices_by(index, judged, "tag")["odd"]
    assert (one.examples, one.judged, one.right) == (40, 25, 25) and one.accuracy.mean == 1
    judged.right[:] = -1
    one = slices_by(index, judged, "tag")["odd"]
    assert slice_cells(one) == ["40", "—", "—", "—", TOO_FEW] and np.isnan(one.accuracy.mean)


def test_nothing_is_compared_before_every_example_is_predicted():
    _, judged = made([(40, 5, ("odd",)), (40, 38, ())])
    one = slice_of(judged, np.arange(40))
    assert slice_cells(one)[-1] == LOWER and slice_cells(one, False)[-2:] == ["—", COMING]
    # What is counted so far is no comparison.
    assert slice_cells(one)[:-2] == slice_cells(one, False)[:-2]


def test_two_labels_that_are_each_others_rest_are_one_comparison():
    enough, few = Slice(40, 40, 30, Interval(0.1, 0.0, 0.2), True), Slice(9, 9, 3, None, False)
    assert count_compared({"label": {"no": enough, "yes": enough}}) == 1
    assert count_compared({"label": {"no": enough, "yes": few}}) == 1
    assert count_compared({"label": {"no": few, "yes": few}}) == 0
    tags = {"a": enough, "b": enough}
    assert count_compared({"label": {"x": enough, "y": enough, "z": few}, "tag": tags}) == 4


def test_rejections_are_counted_where_they_are_known():
    index, judged = made([(3, 3, ("odd",)), (3, 0, ())])
    assert rejected_cell(slices_by(index, judged, "tag")["odd"]) == "not computed"
    values = np.array([0.0, np.inf, np.nan, 1.0, np.inf, np.nan])
    judged.traits["rejected"] = Trait(values, np.array([True, True, True, True, False, False]))
    found = slices_by(index, judged, "tag")
    assert found["odd"].rejected == (1, 2) and found["(no tag)"].rejected == (1, 1)
    by_label = slices_by(index, judged, "label").values()
    assert np.sum([one.rejected for one in by_label], axis=0).tolist() == [2, 3]
    assert rejected_cell(found["odd"]) == "1 of 2 (50.0 %)"
