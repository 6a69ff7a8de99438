"""What predictions of a data set come to, as a sentence and as rows of a file, without a page or a model."""

import numpy as np

from core.data.browsing import Index, judge, match_labels
from core.data.examples import DataSet, Example
from core.evaluation.predicting import EXAMPLE_COLUMNS, example_rows, label_text

LABELS = ("negative", "<b>positive</b>")
SHARES = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])


def judged(labels, probabilities=SHARES, named=LABELS):
    examples = tuple(Example(f"e{i}", f"text {i}", None, label) for i, label in enumerate(labels))
    index = Index(DataSet("made up", "", examples, tuple(dict.fromkeys(filter(None, labels)))))
    match = match_labels(index.data.classes, named)
    return index, judge(index, named, match, probabilities), match


def test_a_label_says_the_class_that_it_means():
    _, found, match = judged(["0", "1", "1"])
    assert [label_text(found, match, label) for label in ("0", None, "2")] == ["0 = negative", "—", "2"]


def test_rows_of_a_file_have_a_cell_for_each_column():
    index, found, _ = judged(["negative", LABELS[1], None])
    rows = list(example_rows(index, found, [2, 1]))
    assert {len(row) for row in rows} == {len(EXAMPLE_COLUMNS)}
    assert [row[0] for row in rows] == ["e2", "e1"] and [row[7] for row in rows] == ["", "wrong"]
