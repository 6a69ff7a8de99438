"""What predictions of a data set come to, as a sentence and as rows of a file, without a page or a model."""

from dataclasses import replace

import numpy as np
import pytest

from core.data.browsing import Index, judge, match_labels
from core.data.examples import DataSet, Example
from core.evaluation.families import Measured, card_sentence
from core.evaluation.predictions_report import EXAMPLE_COLUMNS, example_rows, label_text, predictions_sentence

LABELS = ("negative", "<b>positive</b>")
TWICE = [("a text", None), ("a text", None), ("a text", "with another"), ("another", None)]
SHARES = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])


def judged(labels, probabilities=SHARES, named=LABELS):
    examples = tuple(Example(f"e{i}", f"text {i}", None, label) for i, label in enumerate(labels))
    index = Index(DataSet("made up", "", examples, tuple(dict.fromkeys(filter(None, labels)))))
    match = match_labels(index.data.classes, named)
    return index, judge(index, named, match, probabilities), match


def test_right_answers_are_counted_and_the_surest_mistake_is_named():
    said = predictions_sentence(*judged(["negative", LABELS[1], LABELS[1]]), True)
    assert "right on <b>2 of 3</b> examples (66.7 %)" in said
    assert "is <b>e1</b>, “text 1”: it says negative with probability 0.8, the label is &lt;b&gt;positive" in said


def test_texts_that_are_told_several_times_are_counted_once_beside_it():
    examples = [Example(f"e{i}", text, second, "negative") for i, (text, second) in enumerate(TWICE)]
    index = Index(DataSet("made up", "", tuple(examples), ("negative",)))
    match = match_labels(index.data.classes, LABELS)
    said = predictions_sentence(index, judge(index, LABELS, match, np.full((4, 2), 0.5)), match, True)
    assert said.startswith(
        "The model is right on <b>4 of 4</b> examples (100.0 %). Each text counted once, on 3 of 3 (100.0 %). "
    )
    # The first that has a label counts.
    examples[0] = replace(examples[0], label=None)
    index = Index(DataSet("made up", "", tuple(examples), ("negative",)))
    said = predictions_sentence(index, judge(index, LABELS, match, np.full((4, 2), 0.5)), match, True)
    assert "<b>3 of 3</b> examples (100.0 %). Each text counted once, on 3 of 3 (" in said
    assert "counted once" not in predictions_sentence(*judged(["negative", LABELS[1], LABELS[1]]), True)


def test_of_what_a_filter_leaves_the_surest_mistake_is_named_and_all_are_counted():
    found = judged([LABELS[1], LABELS[1], LABELS[1]])
    said = predictions_sentence(*found, True, left=np.array([2, 1]))
    assert "1 of 3" in said and "Its most confident mistake of those that the filter leaves is <b>e1</b>" in said
    assert "mistake is <b>e0</b>" in predictions_sentence(*found, True)
    assert predictions_sentence(*found, True, left=np.array([2])).endswith(
        "no mistake on those that the filter leaves."
    )


def test_what_is_not_known_yet_is_not_claimed():
    right = judged(["negative", "negative", LABELS[1]])
    assert predictions_sentence(*right, True).endswith("It makes no mistake here.")
    assert "so far" in predictions_sentence(*right, False) and "no mistake" not in predictions_sentence(*right, False)
    assert "not known yet" in predictions_sentence(*judged(["negative"] * 3, None), True)


def test_without_labels_the_least_sure_example_is_named():
    assert (
        "least sure about <b>e2</b>, “text 2”: &lt;b&gt;positive&lt;/b&gt; with probability 0.6."
        in predictions_sentence(*judged([None] * 3), True)
    )


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
