"""What a page trains on: the labelled texts of a data set, in two files, the same whenever it starts again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data.examples import DataSet, Example
from core.data.parsed import BadData
from core.training.own_data import FEWEST_TEXTS, HELD_OUT, labelled_places, write_splits

CLASSES = {"bad": 0, "good": 1}


def data_of(labels):
    examples = [Example(f"e{i}", f"text {i}", None, label) for i, label in enumerate(labels)]
    return DataSet("mine", "0", tuple(examples), ("bad", "good"))


@given(labels=st.lists(st.sampled_from(["bad", "good", None, "odd"]), min_size=60, max_size=120))
def test_every_labelled_text_goes_to_one_file_a_fifth_of_each_class_held_out(labels, tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("splits"), data_of(labels)
    counts = [labels.count("bad"), labels.count("good")]
    if min(counts) == 0 or sum(counts) < FEWEST_TEXTS:
        with pytest.raises(BadData):
            write_splits(data, CLASSES, ("negative", "positive"), folder)
        return
    paths = write_splits(data, CLASSES, ("negative", "positive"), folder)
    learnt, held = ([json.loads(line) for line in path.read_text().splitlines()] for path in paths)
    texts = [row["text"] for row in (*learnt, *held)]
    assert sorted(texts) == sorted(one.text for one in data.examples if one.label in CLASSES)
    assert [sum(row["label"] == name for row in held) for name in ("negative", "positive")] == [
        count // HELD_OUT for count in counts
    ]
    before = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in write_splits(data, CLASSES, ("negative", "positive"), folder)] == before


def test_a_text_that_is_there_twice_counts_once():
    data = data_of(["bad", "good"] * 15)
    twice = DataSet("mine", "0", (*data.examples, *data.examples), data.classes)
    assert labelled_places(twice, CLASSES) == labelled_places(data, CLASSES)


@pytest.mark.parametrize("labels", [["bad", "good"] * 9, ["bad"] * 40, [None] * 40])
def test_too_few_labelled_texts_are_refused(labels):
    with pytest.raises(BadData, match="labelled"):
        labelled_places(data_of(labels), CLASSES)
