"""Notes as a file: what is exported imports again, by the texts, and overwrites nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.analysis.notes import NOTES_BYTES, Note, merge_notes, notes_file, read_notes, text_digest
from core.data.browsing import Index
from core.data.examples import DataSet, Example
from core.data.parsed import BadData

TEXTS = some.text(min_size=1, max_size=12)
NOTES = some.text(some.characters(exclude_categories=["Cs"]), max_size=30)


def indexed(*texts, prefix="e") -> Index:
    found = tuple(
        Example(f"{prefix}{i}", *((one, None) if isinstance(one, str) else one)) for i, one in enumerate(texts)
    )
    return Index(DataSet("made", "0" * 64, found))


def written(*notes: Note) -> bytes:
    return json.dumps({"format": "faithscope notes", "notes": [one.__dict__ for one in notes]}).encode()


@given(some.lists(TEXTS, min_size=1, max_size=6, unique=True), some.data())
def test_what_is_exported_comes_back_in_data_whose_examples_are_called_otherwise(texts, data):
    mine, theirs = indexed(*texts), indexed(*reversed(texts), prefix="x")
    pins = data.draw(some.dictionaries(some.sampled_from([*mine.rows]), NOTES))
    notes = read_notes(json.dumps(notes_file(mine, pins)).encode())
    # Here all are there already; there all are new, each at its text.
    assert merge_notes(mine, pins, notes) == merge_notes(mine, pins, []).__class__({}, len(pins), (), ())
    found = merge_notes(theirs, {}, notes)
    by_text = {theirs.data.examples[theirs.rows[one]].text: note for one, note in found.added.items()}
    assert by_text == {mine.data.examples[mine.rows[one]].text: note for one, note in pins.items()}
    assert not found.conflicts and not found.missing and not found.same


@given(some.data())
def test_every_note_is_new_here_in_conflict_or_missing_and_none_is_overwritten(data):
    index = indexed("a", "b", "a", ("a", "second"))
    pins = data.draw(some.dictionaries(some.sampled_from([*index.rows]), NOTES))
    texts = [text_digest(one) for one in index.data.examples] + ["0" * 64]
    made = some.builds(Note, some.sampled_from(texts), some.sampled_from(["e0", "e2", "y"]), NOTES)
    notes = data.draw(some.lists(made, max_size=8))
    found = merge_notes(index, pins, notes)
    assert len(found.missing) == sum(one.text == "0" * 64 for one in notes)
    # What was noted stays; only what was not, or was empty, is new.
    assert not any(pins.get(example) for example in found.added)
    assert all(here != theirs and here and theirs for _, here, theirs in found.conflicts)
    after = pins | found.added
    again = merge_notes(index, after, notes)
    assert not again.added and again.missing == found.missing


def test_conflicts_stand_side_by_side():
    index = indexed("one", "two", "three", "two")
    here = {"e0": "mine", "e1": "", "e2": "same"}
    first, second, third, _ = (text_digest(one) for one in index.data.examples)
    notes = [Note(first, "z", "theirs"), Note(second, "z", "filled"), Note(third, "z", "same"), Note(third, "z", "")]
    found = merge_notes(index, here, [*notes, Note(second, "e3", ""), Note("f" * 64, "gone", "x")])
    assert found.added == {"e1": "filled", "e3": ""} and found.same == 2
    assert found.conflicts == (("e0", "mine", "theirs"),) and found.missing == ("gone",)


def test_texts_and_pairs_have_their_own_digests():
    digests = {text_digest(Example("i", *one)) for one in [("ab", None), ("a", "b"), ("ab", ""), ("b", "a")]}
    assert len(digests) == 4 and text_digest(Example("x", "ab")) == text_digest(Example("y", "ab", None, "label"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"format": "other", "notes": []}',
        b'{"format": "faithscope notes"}',
        b'{"format": "faithscope notes", "notes": [3]}',
        b'{"format": "faithscope notes", "notes": [{"text": "0"}]}',
        b'{"format": "faithscope notes", "notes": {"a": 1}}',
        written(Note("../x", "i", "n")),
        written(Note("0" * 64, 3, "n")),
        written(Note("0" * 64, "i", None)),
        b" " * (NOTES_BYTES + 1),
    ],
)
def test_what_is_no_export_is_refused_in_a_sentence(content):
    with pytest.raises(BadData, match=r"^[A-Z].*\.$"):
        read_notes(content)


def test_a_note_is_bounded_and_half_a_character_replaced():
    (one,) = read_notes(written(Note("0" * 64, "i\ud83d", "n" * 600 + "\ud800")))
    assert one.note == "n" * 500 and one.id == "i?"
