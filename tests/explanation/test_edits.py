"""Two versions of a text: edits worked by hand, and what every lining up keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.data.examples import bundled_data, read_bundled
from core.explanation.edits import (
    Version,
    aligned,
    changed_cells,
    changed_places,
    changed_spans,
    is_edit,
    replaced,
    version_rows,
)
from core.explanation.explainer import Attribution
from core.explanation.rows import build_row
from core.measures.catalogue import measure
from core.network.features import find_words
from core.oracle.target import Contrast
from core.results.caveats import Caveat
from core.results.versions import VersionsOutcome, versions_result
from core.texts.rendering import Form, headline

WORDS = some.lists(some.sampled_from("abc"), max_size=8)


@pytest.fixture(scope="module")
def encode(shipped):
    return shipped("sst2-fmm").encode


@pytest.mark.parametrize(
    ("text", "word", "new", "expected"),
    [
        ("A dull film.", "dull", "fine", "A fine film."),
        ("A dull film.", "dull", "", "A film."),
        ("Dull, really.", "Dull", "", ", really."),
        ("Never a dull film", "Never", "", "a dull film"),
        ("It is dull.", "dull", "", "It is."),
        ("It is dull.", "dull", "<b>dull</b>", "It is <b>dull</b>."),
        ("It is (dull) here.", "dull", "", "It is () here."),
        ("First para.\n\nGood movie.", "Good", "", "First para.\n\nmovie."),
        ("A bad film\nIt is.", "film", "", "A bad\nIt is."),
        ("A  dull  film.", "dull", "", "A   film."),
        ("Dull\nfilm.", "Dull", "", "film."),
    ],
)
def test_a_word_is_replaced_or_taken_out_with_one_space(encode, text, word, new, expected):
    encoded = encode(text)
    at = [feature.text for feature in encoded.features].index(word)
    assert replaced(encoded, at, new) == (expected, None)


def test_what_the_model_does_not_read_stays(encode):
    text = "good " * 400 + "end."
    assert replaced(encode(text), 0, "bad") == ("bad" + text[4:], None)


def test_an_edit_that_is_none_is_refused_in_a_sentence(encode):
    for new, why in (("", "Nothing would be left"), ("Dull", "the word already")):
        with pytest.raises(ValueError, match=why):
            replaced(encode("Dull"), 0, new)


@pytest.mark.parametrize(
    ("first", "second", "places"),
    [
        ("a b c", "a x c", [(0, 0), (1, 1), (2, 2)]),
        ("a b c", "a c", [(0, 0), (1, None), (2, 1)]),
        ("a c", "a b c", [(0, 0), (None, 1), (1, 2)]),
        ("a b c", "a x y c", [(0, 0), (1, 1), (None, 2), (2, 3)]),
        ("a a", "a", [(0, 0), (1, None)]),
        ("", "a", [(None, 0)]),
    ],
)
def test_words_that_stay_stand_beside_themselves(first, second, places):
    assert aligned(first.split(), second.split()) == places


@given(WORDS, WORDS)
def test_every_word_of_both_has_one_place_in_order(first, second):
    places = aligned(first, second)
    for side, words in enumerate((first, second)):
        assert [pair[side] for pair in places if pair[side] is not None] == list(range(len(words)))
    assert (None, None) not in places


@pytest.mark.parametrize(
    ("text", "other", "marked"),
    [
        ("A dull, slow film.", "A dulk, slow film.", ["dull"]),
        ("A dull film.", "A very dull film!", ["."]),
        ("A very, very dull film.", "A dull film.", ["very", ",", "very"]),
        ("A dull film.", "A dull film.", []),
        ("A dull film.", "Nothing of it is alike here.", []),
    ],
)
def test_words_that_another_version_has_not_are_found(text, other, marked):
    assert [text[a:b] for a, b in changed_spans(text, other)] == marked


@given(WORDS, WORDS)
def test_what_is_not_marked_stands_in_the_other_version_in_the_same_order(first, second):
    text, left = " ".join(first), iter(second)
    marked = changed_spans(text, " ".join(second))
    stay = [text[a:b] for a, b in find_words(text) if (a, b) not in marked]
    assert not is_edit(text, " ".join(second)) or all(word in left for word in stay)


def test_a_text_is_an_edit_where_half_of_the_words_of_both_are_shared():
    assert is_edit("a b", "a c") and not is_edit("a b c", "a d e") and not is_edit("", "")
    assert is_edit("good " * 100_000, "good " * 99_999 + "bad")


def version(encode, text: str, shares) -> Version:
    return Version("original", encode(text), np.log(shares), None)


def test_what_changed_and_what_that_does_to_the_prediction(encode):
    first, second = version(encode, "A <i> film", [0.9, 0.1]), version(encode, "A <b> film", [0.2, 0.8])
    places, same = aligned(first.words, second.words), aligned(first.words, first.words)
    changed = changed_places(first, second, places)
    assert [(first.words[i], second.words[j]) for i, j in changed] == [("<i>", "<b>")]
    labels = "<n>", "p"
    result = versions_result(first, second, places, labels, [Caveat.NOT_TESTED])
    assert result.outcome == VersionsOutcome.CHANGES and result.has(Caveat.NOT_TESTED)
    assert [result.fact(key).value for key in ("changed", "before", "after")] == [1, pytest.approx(0.9), 0.8]
    assert "&lt;n&gt;" in headline(result, Form.HTML) and "<n>" not in headline(result, Form.HTML)
    assert changed_places(first, first, same) == []
    assert versions_result(first, first, same, labels, []).outcome == VersionsOutcome.SAME_WORDS
    again = version(encode, "A <b> film", [0.7, 0.3])
    assert versions_result(first, again, places, labels, []).outcome == VersionsOutcome.STAYS
    assert version_rows(first, second, ("n", "p"), 1, ["", ""]) == [
        ["prediction", "n", "p", ""],
        ["probability of p", "0.1", "0.8", "+0.7"],
    ]
    (_, row) = version_rows(first, second, ("n", "p"), Contrast(1, 0), ["", ""])
    assert row == ["logit of p − logit of n", "-2.2", "1.39", "+3.58"]


def test_the_word_that_stayed_and_moved_most_is_named():
    row = [
        build_row(
            measure("leave-one-out"), Attribution("leave-one-out", 0, {"signed": np.array(one)}, 0, 0.0), "signed"
        )
        for one in ([1.0, 2.0, 3.0], [1.5, -1.0, 0.25, 9.0])
    ]
    words = ["a", "b", "c"], ["a", "x", "c", "d"]
    assert changed_cells(row[0], row[1], words, aligned(*words)) == [
        "“b” +2 → “x” -1; (nothing) → “d” +9",
        "“c” +3 → +0.25",
    ]


def test_contrast_pairs_name_each_other_and_nothing_else_has_a_pair():
    found = {example.id: example for example in read_bundled("contrast pairs")}
    for name, example in found.items():
        other = found[example.pair]
        assert other.pair == name != example.pair and other.label != example.label and other.note == example.note
        assert is_edit(example.text, other.text)
        words = [[one.text[a:b] for a, b in find_words(one.text)] for one in (example, other)]
        assert any(i is None or j is None or words[0][i] != words[1][j] for i, j in aligned(*words))
    others = [name for name in bundled_data() if name != "contrast pairs"]
    assert not any(example.pair for name in others for example in read_bundled(name))
