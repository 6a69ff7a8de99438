"""What predictions of a data set come to, as a sentence and as rows of a file, without a page or a model."""

from dataclasses import replace

import numpy as np
import pytest

from core.data.browsing import Index, judge, match_labels
from core.data.examples import DataSet, Example
from core.evaluation.families import Measured, card_sentence
from core.evaluation.predictions_report import EXAMPLE_COLUMNS, example_rows, label_text

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
    rows = list(example_rows(index, found, [2, 1], ["model"]))
    assert {len(row) for row in rows} == {len(EXAMPLE_COLUMNS) + 1}
    assert [row[0] for row in rows] == ["e2", "e1"] and [row[7] for row in rows] == ["", "wrong"]


@pytest.mark.parametrize("masked, trusted", [(0.55, True), (0.54, True), (0.53, False)])
def test_a_card_reaches_the_class_majority_down_to_one_example_below_it(masked, trusted):
    measured = Measured("m", "half", "both", "accuracy", 100, 0.9, masked, 0.55, True)
    assert "with every token masked" in card_sentence(measured)
    assert "with every token of both texts masked" in card_sentence(replace(measured, paired=True))
    said = card_sentence(Measured("m", "half", "both", "accuracy", 100, 0.9, masked, 0.55, True))
    where = "on its own test file (100 examples)"
    assert said.startswith(f"It reaches 90.0 % accuracy ↑ {where}; with every token masked, {100 * masked:.1f} % ↑")
    assert "on its own validation file" in card_sentence(replace(measured, split="validation"))
    assert (", less than" in said) is not trusted and ("no less than" in said) is (masked >= 0.55)
    assert ("within one example of" in said) is (trusted and masked < 0.55)
    # Whether the model is to be trusted is said in one place, of texts that are there.
    assert not any(word in said for word in ("trust", "sign", "familiar"))
