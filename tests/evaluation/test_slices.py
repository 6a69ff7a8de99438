"""Slices against what is counted by hand: how often the model is right on them, and when anything is compared."""

import numpy as np
import pytest

from core.data.browsing import Index, Query, Trait, judge, match_labels, select
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
    slice_sentence,
    slices_by,
    slices_note,
)
from core.mathematics.statistics import Interval

LABELS = ("negative", "positive")


def made(parts: list[tuple[int, int, tuple[str, ...]]]):
    """Examples in parts, each (examples, how many of them are judged right, tags); labels alternate."""
    examples, p = [], []
    for count, right, tags in parts:
        for i in range(count):
            label = len(examples) % 2
            examples.append(Example(f"e{len(examples)}", f"a {len(examples)}", None, LABELS[label], tags))
            p.append([0.9, 0.1] if (label == 0) == (i < right) else [0.1, 0.9])
    index = Index(DataSet("made", "0" * 64, tuple(examples), LABELS))
    return index, judge(index, LABELS, match_labels(LABELS, LABELS), np.array(p))


@pytest.mark.parametrize("right, others, said", [(20, 10, HIGHER), (4, 30, LOWER), (13, 26, UNSURE)])
def test_a_slice_is_compared_with_the_others_by_its_interval(right, others, said):
    index, judged = made([(20, right, ("odd",)), (40, others, ())])
    one = slices_by(index, judged, "tag")["odd"]
    assert (one.examples, one.judged, one.right, one.said) == (20, 20, right, said)
    assert one.against.mean == pytest.approx(right / 20 - others / 40) and one.against.holds(0) == (said == UNSURE)
    told = slice_sentence(judged, select(index, judged, query := Query(facets={"tag": ("odd",)})), query, True)
    assert f"right on {right} of 20 here" in told and f"against {100 * (right + others) / 60:.1f} % of all" in told
    words = {HIGHER: "more often right here", LOWER: "less often right here", UNSURE: "chance may explain"}
    assert [word in told for word in words.values()] == [key == said for key in words]


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
    assert (one.examples, one.judged, one.right, one.others, one.others_right) == (20, 10, 10, 29, 29)
    rows, query = np.arange(35, 55), Query(facets={"tag": ("odd",)})
    told = slice_sentence(judged, rows, query, True, index.texts)
    assert "20 examples: the model is right on 10 of 10 different texts here" in told and "100.0 % of all" in told
    # Where no text repeats nothing is said of that.
    whole, every = made([(20, 20, ("odd",)), (40, 10, ())])
    assert whole.texts is None and "different" not in slice_sentence(every, np.arange(20), query, True)


@pytest.mark.parametrize("inside, outside", [(FEW - 1, 60), (60, FEW - 1), (1, 1), (60, 0)])
def test_of_too_few_on_either_side_nothing_is_compared(inside, outside):
    index, judged = made([(inside, inside, ("odd",)), (outside, 0, ())])
    one, query = slices_by(index, judged, "tag")["odd"], Query(facets={"tag": ("odd",)})
    told = slice_sentence(judged, select(index, judged, query), query, True)
    assert one.said == TOO_FEW and "comparisons begin at 20" in told and f"{min(inside, outside)} judged" in told
    assert "often right" not in told and "chance may" not in told and slice_cells(one)[-2:] == ["—", TOO_FEW]


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
    one, query = slices_by(index, judged, "tag")["odd"], Query("a")
    assert slice_cells(one) == ["40", "—", "—", "—", TOO_FEW] and np.isnan(one.accuracy.mean)
    assert slice_sentence(judged, np.arange(40), query, True) == "The filter leaves 40 of 40 examples."


@pytest.mark.parametrize(
    "facet, value", [("outcome", "wrong"), ("predicted", "positive"), ("confidence", "below 60 %")]
)
def test_what_is_picked_by_the_prediction_is_not_compared(facet, value):
    _, judged = made([(40, 20, ("odd",)), (40, 20, ())])
    query = Query(facets={facet: (value,), "tag": ("odd",)})
    rows = np.flatnonzero(judged.right == 0)
    told = slice_sentence(judged, rows, query, False)
    assert "says nothing about the model" in told and "so far" in told and "points" not in told and "of all" not in told


def test_nothing_is_compared_before_every_example_is_predicted():
    _, judged = made([(40, 5, ("odd",)), (40, 38, ())])
    rows, query = np.arange(40), Query(facets={"tag": ("odd",)})
    early, late = (slice_sentence(judged, rows, query, complete) for complete in (False, True))
    assert early.endswith("Compared once every example is predicted.") and "points" not in early
    assert "less often right here" in late
    one = slice_of(judged, rows)
    assert slice_cells(one)[-1] == LOWER and slice_cells(one, False)[-2:] == ["—", COMING]
    # What is counted so far is no comparison.
    assert slice_cells(one)[:-2] == slice_cells(one, False)[:-2]


def test_without_a_filter_there_is_nothing_to_say():
    _, judged = made([(4, 2, ())])
    assert slice_sentence(judged, np.arange(4), Query(order="length"), True) == ""
    assert "0.6 would differ" in slices_note(12) and "10 would differ" in slices_note(200)
    # Where none is compared, nothing is said of comparisons.
    assert "would differ" not in slices_note(0) and "nothing is compared" in slices_note(0)
    assert "Of 1 such comparison about 0.05" in slices_note(1)


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
