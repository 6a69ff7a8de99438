"""What the columns of a table mean: guessed as a person would, corrected by a person, and built into examples."""

import dataclasses
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.data.examples import Example
from core.data.guessing import guess_mapping
from core.data.mapping import Mapping, build
from core.data.parsed import BadData, Repair, noted
from core.data.tables import RawTable, read_table


def table(_classes=None, _rows=(), **cells) -> RawTable:
    return RawTable(
        "t.csv",
        tuple(cells),
        {name: list(values) for name, values in cells.items()},
        "0" * 64,
        classes=_classes or {},
        rows=_rows,
    )


def labels(*values, names=(), classes=None):
    """Labels, classes and notes of a label column."""
    found = build(
        table({"y": classes} if classes else None, t=[f"text {i}" for i in range(len(values))], y=values),
        Mapping("t", label="y", label_names=names),
    )
    return [e.label for e in found.examples], found.classes, found.notes


def refused(given_table: RawTable, mapping: Mapping) -> str:
    with pytest.raises(BadData) as caught:
        build(given_table, mapping)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    return str(caught.value)


# ---- guesses: a header, rows below it (repeated with numbers for #), and what a person would say

S1, S2, S3 = "The boat came in before the storm #", "Nobody saw the mill burn down #", "Bread was cheap that year #"
HEADERS = {
    "SST-2": ("sentence,label", [(S1, 1), (S2, 0)], Mapping("sentence", label="label")),
    "SST-2 hub": ("idx,sentence,label", [("#", S1, 1), ("#", S2, 0)], Mapping("sentence", label="label", id="idx")),
    "CoLA": (
        "source,label,mark,sentence",
        [("gj04", 1, "", S1), ("gj04", 0, "*", S2)],
        Mapping("sentence", label="label"),
    ),
    "MRPC": (
        "Quality,#1 ID,#2 ID,#1 String,#2 String",
        [(1, "7#", "9#", S1, S2), (0, "8#", "6#", S2, S3)],
        Mapping("#1 String", "#2 String", "Quality", "#1 ID"),
    ),
    "MRPC hub": (
        "sentence1,sentence2,label,idx",
        [(S1, S2, 1, "#"), (S2, S3, 0, "#")],
        Mapping("sentence1", "sentence2", "label", "idx"),
    ),
    "QQP": (
        "id,qid1,qid2,question1,question2,is_duplicate",
        [("#", "1#", "2#", S1, S2, 0), ("#", "3#", "4#", S2, S3, 1)],
        Mapping("question1", "question2", "is_duplicate", "id"),
    ),
    "MNLI": (
        "index,promptID,pairID,genre,sentence1,sentence2,label1,gold_label",
        [
            ("#", "p#", "q#", "fiction", S1, S2, "neutral", "neutral"),
            ("#", "r#", "s#", "travel", S2, S3, "entailment", "entailment"),
        ],
        Mapping("sentence1", "sentence2", "gold_label", "index"),
    ),
    "MNLI hub": (
        "premise,hypothesis,label,idx",
        [(S1, S2, 1, "#"), (S2, S1, 2, "#")],
        Mapping("premise", "hypothesis", "label", "idx"),
    ),
    "QNLI": (
        "question,sentence,label,idx",
        [(S1, S2, 1, "#"), (S2, S1, 0, "#")],
        Mapping("question", "sentence", "label", "idx"),
    ),
    "STS-B": ("sentence1,sentence2,score", [(S1, S2, "2.75"), (S2, S1, "4.2")], Mapping("sentence1", "sentence2")),
    "BoolQ": ("question,answer,passage", [(S1, True, S2), (S2, False, S3)], Mapping("question", "passage", "answer")),
    "SICK": (
        "pair_ID,sentence_A,sentence_B,relatedness_score,entailment_judgment",
        [("#", S1, S2, "4.5", "NEUTRAL"), ("#", S2, S3, "3.2", "ENTAILMENT")],
        Mapping("sentence_A", "sentence_B", "entailment_judgment", "pair_ID"),
    ),
    "IMDB hub": ("text,label", [(S1, 0), (S2, 1)], Mapping("text", label="label")),
    "IMDB Kaggle": ("review,sentiment", [(S1, "positive"), (S2, "negative")], Mapping("review", label="sentiment")),
    "Yelp": (
        "review_id,user_id,business_id,stars,date,text,useful",
        [("a#", "u1", "b", 5, "2019-01-01", S1, "#"), ("b#", "u1", "c", 1, "2019-01-02", S2, "3")],
        Mapping("text", label="stars", id="review_id"),
    ),
    "Amazon": ("label,title,content", [(1, "Good #", S1), (2, "Bad #", S2)], Mapping("content", label="label")),
    "Amazon Kaggle": (
        "Id,ProductId,UserId,ProfileName,HelpfulnessNumerator,Score,Time,Summary,Text",
        [("#", "B1", "U1", "ann", 1, 5, "13#", "Good #", S1), ("#", "B2", "U2", "bob", 0, 1, "14#", "Bad #", S2)],
        Mapping("Text", label="Score", id="Id"),
    ),
    "AG News": (
        "Class Index,Title,Description",
        [(3, "Wall #", S1), (1, "Sea #", S2)],
        Mapping("Description", label="Class Index"),
    ),
    "spam": ("v1,v2", [("ham", S1), ("spam", S2)], Mapping("v2", label="v1")),
    "disaster tweets": (
        "id,keyword,location,text,target",
        [("#", "fire", "north", S1, 1), ("#", "", "", S2, 0)],
        Mapping("text", label="target", id="id"),
    ),
    "airline tweets": (
        "tweet_id,airline_sentiment,airline_sentiment_confidence,airline_sentiment_gold,negativereason,airline,text",
        [("#", "neutral", "1.0", "", "", "United", S1), ("#", "negative", "0.34", "", "Late", "Delta", S2)],
        Mapping("text", label="airline_sentiment", id="tweet_id"),
    ),
    "tweet extraction": (
        "textID,text,selected_text,sentiment",
        [("x#", S1, "came in", "neutral"), ("y#", S2, "burn", "negative")],
        Mapping("text", label="sentiment", id="textID"),
    ),
    "movie phrases": (
        "PhraseId,SentenceId,Phrase,Sentiment",
        [("#", 1, S1, 2), ("#", 1, S2, 3)],
        Mapping("Phrase", label="Sentiment", id="PhraseId"),
    ),
    "hate speech": (
        ",count,hate_speech,offensive_language,neither,class,tweet",
        [("#", 3, 0, 0, 3, 2, S1), ("#", 3, 0, 3, 0, 1, S2)],
        Mapping("tweet", label="class", id="column 1"),
    ),
    "toxic comments": (
        "id,comment_text,toxic,severe_toxic",
        [("a#", S1, 0, 0), ("b#", S2, 1, 0)],
        Mapping("comment_text", label="toxic", id="id"),
    ),
    "clothes": (
        ",Clothing ID,Age,Title,Review Text,Rating,Recommended IND",
        [("#", 7, 33, "Fine #", S1, 4, 1), ("#", 8, 34, "", S2, 2, 0)],
        Mapping("Review Text", label="Rating", id="column 1"),
    ),
    "pandas": (
        "Unnamed: 0,text,label",
        [("#", S1, "a"), ("#", S2, "b")],
        Mapping("text", label="label", id="Unnamed: 0"),
    ),
    "SetFit": ("text,label,label_text", [(S1, 0, "no"), (S2, 1, "yes")], Mapping("text", label="label")),
    "TREC": ("label-coarse,label-fine,text", [(0, 3, S1), (1, 4, S2)], Mapping("text", label="label-coarse")),
    "SQuAD": (
        "id,title,context,question",
        [("a#", "Mills", S1, S2), ("b#", "Mills", S2, S3)],
        Mapping("question", "context", id="id"),
    ),
    "fact checks": (
        "claim,evidence,verdict",
        [(S1, S2, "SUPPORTS"), (S2, S3, "REFUTES")],
        Mapping("claim", "evidence", "verdict"),
    ),
    "fake news": (
        "Headline,articleBody,Stance",
        [(S1, S2, "agree"), (S2, S3, "discuss")],
        Mapping("Headline", "articleBody", "Stance"),
    ),
    "our own": (
        "id,text,second,label,tags,note",
        [("e#", S1, S2, "a", "x;y", "so"), ("f#", S2, S3, "b", "", "")],
        Mapping("text", "second", "label", "id", "tags", "note"),
    ),
    "prompts": ("prompt_a,prompt_b,winner", [(S1, S2, "a"), (S2, S3, "b")], Mapping("prompt_a", "prompt_b", "winner")),
    "other words": (
        "Nr,Äußerung,Kategorie",
        [("#", S1, "gut"), ("#", S2, "schlecht")],
        Mapping("Äußerung", label="Kategorie"),
    ),
    "other script": ("текст,метка", [(S1, "да"), (S2, "нет")], Mapping("текст", label="метка")),
    "texts only": ("text", [(S1,), (S2,)], Mapping("text")),
    "unclear labels": ("text,kind,tone", [(S1, "x", "p"), (S2, "y", "q")], Mapping("text")),
    "free answers": ("text,reply", [(S1, S2), (S2, S3)], Mapping("text")),
}


@pytest.mark.parametrize("header, rows, expected", HEADERS.values(), ids=HEADERS)
def test_columns_are_understood_as_a_person_would(header, rows, expected):
    import csv
    import io

    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(header.split(","))
    for i in range(20):
        writer.writerow([str(cell).replace("#", str(1000 + i)) for cell in rows[i % len(rows)]])
    found = read_table(sink.getvalue().encode(), "a.csv")
    assert guess_mapping(found) == expected
    assert len(build(found, expected)) == 20


@pytest.mark.parametrize(
    "row, mapping",
    [(f'%d,"{S1}"', Mapping("column 2", label="column 1")), (f'"{S1}",%d', Mapping("column 1", label="column 2"))],
)
def test_columns_without_a_header_are_understood_too(row, mapping):
    found = read_table("\n".join(row.replace("#", str(i)) % (i % 2) for i in range(20)).encode(), "a.csv")
    assert (
        guess_mapping(found) == mapping
        and len(build(found, mapping)) == 20
        and build(found, mapping).classes == ("0", "1")
    )


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "text",
                "Text",
                "sentence1",
                "sentence2",
                "label",
                "class",
                "id",
                "idx",
                "tags",
                "note",
                "evidence",
                "v1",
                "v2",
                "",
                "q_a",
                "q_b",
                "42",
            ]
        ),
        st.lists(
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text(max_size=20)
            | st.lists(st.text(max_size=3), max_size=2)
            | st.dictionaries(st.text(max_size=2), st.integers(), max_size=1),
            min_size=5,
            max_size=5,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_whatever_is_in_a_table_a_guess_uses_no_column_twice(cells):
    found = table(**cells)
    try:
        mapping = guess_mapping(found)
    except BadData:
        return
    used = [name for role, name in mapping.as_dict().items() if role != "label_names" and name is not None]
    assert len(used) == len(set(used)) and set(used) <= set(cells)
    try:
        data = build(found, mapping)
    except BadData as error:
        assert str(error).endswith(".")
        return
    assert 0 < len(data) <= 5 and len({e.id for e in data.examples}) == len(data)
    assert all(e.label is None or e.label in data.classes for e in data.examples)
    assert all(isinstance(value, (str, tuple, type(None))) for e in data.examples for value in dataclasses.astuple(e))


def test_where_there_is_no_text_a_sentence_says_so():
    for cells in ({"a": [1, 2]}, {"a": [None, ""]}, {"label": ["x", "y"]}, {"text": [["a"], ["b"]]}):
        with pytest.raises(BadData, match="no column holds"):
            guess_mapping(table(**cells))
    with pytest.raises(BadData, match="no rows"):
        guess_mapping(table(text=[]))


# ---- the choice as JSON

NAMES = st.text(min_size=1)


@given(
    st.builds(
        Mapping, NAMES, *[NAMES | st.none()] * 5, st.lists(st.text()).map(tuple), NAMES | st.none(), NAMES | st.none()
    )
)
def test_a_choice_survives_json(mapping):
    assert Mapping.from_dict(json.loads(json.dumps(mapping.as_dict()))) == mapping


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    ANY
    | st.dictionaries(
        st.sampled_from(["text", "second", "label", "id", "tags", "note", "evidence", "label_names"]), ANY
    )
)
def test_a_damaged_choice_is_a_sentence(found):
    try:
        mapping = Mapping.from_dict(found)
    except BadData as error:
        assert str(error).endswith(".")
    else:
        assert Mapping.from_dict(mapping.as_dict()) == mapping


def test_missing_parts_of_a_choice_are_none_and_strange_ones_are_ignored():
    assert Mapping.from_dict({"text": "a", "second": "", "colour": 3}) == Mapping("a")
    for wrong in (
        None,
        [],
        "text",
        {},
        {"text": 3},
        {"text": ""},
        {"text": "a", "label": 3},
        {"text": "a", "label_names": "ab"},
        {"text": "a", "label_names": [1]},
    ):
        with pytest.raises(BadData):
            Mapping.from_dict(wrong)


# ---- building


def test_a_table_becomes_examples_by_hand():
    raw = table(
        k=["a", "b", "c"],
        t=["warm bread", " ", 12],
        s=["x", "y", ""],
        y=[1, 0, 0],
        g=[["p", "q", "p"], None, "q; r|"],
        n=["so", None, None],
    )
    data = build(raw, Mapping("t", "s", "y", "k", "g", "n", ("no", "yes")))
    assert data.examples == (
        Example("a", "warm bread", "x", "yes", ("p", "q"), "so"),
        Example("c", "12", None, "no", ("q", "r"), ""),
    )
    assert data.classes == ("no", "yes") and data.name == "t.csv"
    assert data.notes == (*noted(Repair.EMPTY_TEXT, [2]), *noted(Repair.EMPTY_SECOND, [3]))


def test_texts_are_kept_to_the_letter_and_twins_are_counted():
    data = build(table(t=[" a\n", "b", "b", "b", "c", "c"]), Mapping("t"))
    assert [e.text for e in data.examples] == [" a\n", "b", "b", "b", "c", "c"] and data.classes == ()
    assert data.notes == tuple(noted(Repair.REPEATED, [3, 4, 6]))
    pairs = build(table(t=["b", "b", "b"], s=["x", "y", "x"]), Mapping("t", "s"))
    assert pairs.notes == tuple(noted(Repair.REPEATED, [3]))


def test_ids_tell_examples_apart_or_are_row_numbers_of_the_file():
    def ids(values, rows=()):
        data = build(table(_rows=rows, t=["a"] * len(values), k=values), Mapping("t", id="k"))
        return [e.id for e in data.examples], list(data.notes[1:])

    assert ids(["x", " y ", 3, 4.0]) == (["x", "y", "3", "4"], [])
    assert ids(["x", "y", "x"]) == (["1", "2", "3"], noted(Repair.ROW_IDS, [3]))
    assert ids(["x", None, "y"], (2, 5, 9)) == (["2", "5", "9"], noted(Repair.ROW_IDS, [5]))
    assert [e.id for e in build(table(t=["", "a", None, "b"]), Mapping("t")).examples] == ["2", "4"]
    # Only rows that are kept need an id.
    assert [e.id for e in build(table(t=["", "a", "b"], k=["x", "x", "y"]), Mapping("t", id="k")).examples] == [
        "x",
        "y",
    ]
    read = read_table(b"text,label\na b,x\nc,d,e\n\nf g,y\n,x\ni j,x\n", "a.csv")
    assert [e.id for e in build(read, guess_mapping(read)).examples] == ["1", "3", "5"]


LABELS = {  # values → labels, classes
    "names": (["b", " a ", "b"], ["b", "a", "b"], ("a", "b")),
    "names in any case": (["b", "A", "C"], ["b", "A", "C"], ("A", "b", "C")),
    "numbers in order of size": (["10", "9", "2"], ["10", "9", "2"], ("2", "9", "10")),
    "numbers": ([1, 0, 1], ["1", "0", "1"], ("0", "1")),
    "whole floats": ([1.0, None, 0.0], ["1", None, "0"], ("0", "1")),
    "whole floats as text": (["1.0", "", "0.0"], ["1", None, "0"], ("0", "1")),
    "halves stay": (["4.5", "5.0"], ["4.5", "5.0"], ("4.5", "5.0")),
    "yes and no": ([True, False], ["True", "False"], ("False", "True")),
    "leading zeros": (["007", "01"], ["007", "01"], ("01", "007")),
    "none of all kinds": (["x", None, "", " ", "nan", "NULL", "-"], ["x"] + [None] * 6, ("x",)),
    "a class called none": (["none", "hate"], ["none", "hate"], ("hate", "none")),
    "hidden": ([-1, -1], [None, None], ()),
    "hidden here and there": (["-1", "0", "1"], [None, "0", "1"], ("0", "1")),
    "hidden floats": ([-1.0, 0.0], [None, "0"], ("0",)),
    "plus and minus": ([-1, 1], ["-1", "1"], ("-1", "1")),
    "plus and minus, written": (["-1", "+1"], ["-1", "+1"], ("-1", "+1")),
    "infinite": ([float("inf"), 1.0], ["inf", "1.0"], ("1.0", "inf")),
}


@pytest.mark.parametrize("values, expected, classes", LABELS.values(), ids=LABELS)
def test_labels_without_names(values, expected, classes):
    assert labels(*values)[:2] == (expected, classes)


NAMED = {  # values, names → labels
    "numbers": ([1, 0, 2], ("no", "yes", "so"), ["yes", "no", "so"]),
    "numbers as text": (["1", "0.0", ""], ("no", "yes"), ["yes", "no", None]),
    "whole floats": (["1.0", "0.0", ""], ("no", "yes"), ["yes", "no", None]),
    "hidden": ([1, -1], ("no", "yes"), ["yes", None]),
    "names": (["yes", "NO"], ("no", "yes"), ["yes", "no"]),
    "yes and no": ([True, False], ("no", "yes"), ["yes", "no"]),
    "strange": ([1, 7], ("no", "yes"), ["yes", None]),
    "minus one is a class": ([-1, 0, 1], ("-1", "0", "1"), ["-1", "0", "1"]),
    "stars": ([5, 1], ("1", "2", "3", "4", "5"), ["5", "1"]),
    "stars from 0": ([0, 1], ("1", "2", "3", "4", "5"), ["1", "2"]),
    "stars and a slip": ([5, 1, 0], ("1", "2", "3", "4", "5"), ["5", "1", None]),
    "a hyphen is a class": (["-", "+"], ("-", "+"), ["-", "+"]),
}


@pytest.mark.parametrize("values, names, expected", NAMED.values(), ids=NAMED)
def test_labels_with_names(values, names, expected):
    found, classes, notes = labels(*values, names=names)
    assert found == expected and classes == names
    assert any(note.startswith(Repair.UNKNOWN_LABEL) for note in notes) == (
        None in expected and not {None, "", -1} & set(values)
    )


def test_names_from_the_source_are_used_where_none_are_chosen():
    assert labels(1, 0, -1, classes=("no", "yes"))[:2] == (["yes", "no", None], ("no", "yes"))
    assert labels(1, 0, names=("nein", "ja"), classes=("no", "yes"))[:2] == (["ja", "nein"], ("nein", "ja"))
    # The source counts from 0 whatever its names look like, also when the names were shown and confirmed.
    assert (
        labels(1, 2, classes=("1", "2", "3"))[0]
        == labels(1, 2, names=("1", "2", "3"), classes=("1", "2", "3"))[0]
        == ["2", "3"]
    )
    assert labels(1, 0, classes=("same", "same"))[:2] == (["1", "0"], ("0", "1"))


def test_what_is_wrong_with_labels_is_said():
    assert labels("x", "", "y", "-")[2] == tuple(noted(Repair.NO_LABEL, [2, 4], ["-"]))
    assert labels(0, -1)[2] == tuple(noted(Repair.NO_LABEL, [2], ["-1"]))
    assert labels(1, 7, 9, 7, names=("no", "yes"))[2] == tuple(noted(Repair.UNKNOWN_LABEL, [2, 3, 4], ["7", "9"]))
    texts = [str(i) for i in range(201)]
    assert len(labels(*range(200))[1]) == 200
    assert "201 different values" in refused(table(t=texts, y=texts), Mapping("t", label="y"))
    assert "row 2: column 'y'" in refused(table(t=["a", "b"], y=["x", ["x", "y"]]), Mapping("t", label="y"))
    strange = refused(table(t=["a"], y=["x"]), Mapping("t", label="y", label_names=("no", "yes")))
    assert "row 1: the label 'x'" in strange and "no, yes" in strange and "number up to 1" in strange
    for names in (("a", "a"), ("a", " ")):
        assert "empty" in refused(table(t=["a"], y=[0]), Mapping("t", label="y", label_names=names))


def test_what_is_wrong_with_columns_is_said():
    raw = table(t=["a", {"en": "b"}], s=["x", ["y"]], g=["p", [{"x": 1}]], e=["", None])
    assert "'text'; it has t, s, g, e." in refused(raw, Mapping("text"))
    assert "row 2: column 't' holds" in refused(raw, Mapping("t"))
    assert "row 2: column 's' holds" in refused(table(t=["a", "b"], s=["x", ["y"]]), Mapping("t", "s"))
    assert "row 2: column 'g' holds" in refused(table(t=["a", "b"], g=["x", [{"y": 1}]]), Mapping("t", tags="g"))
    assert "row 1: column 'g' holds" in refused(table(t=["a"], g=[{"y": 1}]), Mapping("t", tags="g"))
    assert "column 'e' holds" in refused(raw, Mapping("e")) and "no text" in refused(raw, Mapping("e"))
    assert "Column 't'" in refused(table(t=["a"]), Mapping("t", "t"))
    assert [
        e.note for e in build(table(t=["a", "b", "c"], n=[["x", 1], {"y": 1}, 2.5]), Mapping("t", note="n")).examples
    ] == ["x, 1", "", "2.5"]


def test_the_digest_is_over_content_and_choice():
    raw, mapping = table(t=["a"], y=["x"]), Mapping("t", label="y")
    expected = hashlib.sha256(json.dumps(["0" * 64, mapping.as_dict(), ["x"]], sort_keys=True).encode()).hexdigest()
    assert build(raw, mapping).digest == expected
    others = {
        build(dataclasses.replace(raw, digest="1" * 64), mapping).digest,
        build(raw, Mapping("t")).digest,
        build(raw, Mapping("y", label="t")).digest,
        build(dataclasses.replace(raw, cells={"t": ["a"], "y": [0]}, classes={"y": ("x", "z")}), mapping).digest,
    }
    assert len(others | {expected}) == 5


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=3)), min_size=1, max_size=10))
def test_every_row_is_an_example_or_is_counted(rows):
    raw = table(t=[text for text, _ in rows], y=[label for _, label in rows])
    kept = [i for i, (text, _) in enumerate(rows, start=1) if text.strip()]
    if not kept:
        assert "holds no text" in refused(raw, Mapping("t", label="y"))
        return
    data = build(raw, Mapping("t", label="y"))
    assert [(e.id, e.text) for e in data.examples] == [(str(i), rows[i - 1][0]) for i in kept]
    assert set(data.classes) == {e.label for e in data.examples} - {None}
    assert (f"{Repair.EMPTY_TEXT}: {len(rows) - len(kept)} row" in " ".join(data.notes)) == (len(kept) < len(rows))


def test_notes_of_the_reading_come_first():
    read = read_table("text,label\ndéjà vu,a\nx,y,z\n,b\nb c,b\n".encode("cp1252"), "a.csv")
    notes = build(read, guess_mapping(read)).notes
    assert notes[0].startswith(Repair.WINDOWS) and notes[1:] == (
        *noted(Repair.RAGGED, [2]),
        *noted(Repair.EMPTY_TEXT, [3]),
    )


# ---- evidence

TEXT = "The tea was cold, the tea was late."


def evidence(*values, text=TEXT):
    """Evidence of each row, and the notes."""
    found = build(table(t=[text] * len(values), e=list(values)), Mapping("t", evidence="e"))
    return [example.evidence for example in found.examples], [
        note for note in found.notes if "evidence" in note.lower()
    ]


def test_evidence_is_pairs_of_characters_or_phrases_or_either_as_json():
    for value in (
        [[4, 7], [12, 16]],
        [(12, 16), (4, 7), (4, 7)],
        ["tea", "cold"],
        ["cold", [4, 7]],
        "[[4, 7], [12, 16]]",
        ' ["cold", "tea"] ',
    ):
        assert evidence(value) == ([((4, 7), (12, 16))], [])
    assert evidence([[0, 35]], "[[34, 35]]", ["The tea was cold, the tea was late."]) == (
        [((0, 35),), ((34, 35),), ((0, 35),)],
        [],
    )
    assert evidence(None, "", "  ", [], "[]") == ([()] * 5, [])


def test_evidence_that_cannot_be_understood_is_counted_and_its_row_kept():
    wrong = [
        "tea",
        "[[4, 7]",
        "[4, 7]",
        "{}",
        "null",
        "true",
        "[" * 100_000,
        [4, 7],
        [[4]],
        [[4, 7, 9]],
        [["4", "7"]],
        [[True, 7]],
        [[4.0, 7.0]],
        [None],
        {"start": 4, "end": 7},
        [[7, 4]],
        [[4, 4]],
        [[-1, 3]],
        [[30, 36]],
        [[0, 10**40]],
        ["coffee"],
        [" "],
        [""],
        ["tea", "coffee"],
        [[4, 7], [4, 99]],
        3,
        [[0, 1]] * 2_000,
    ]
    found, (note,) = evidence(*wrong)
    assert found == [()] * len(wrong) and [note] == noted(Repair.NO_EVIDENCE, range(1, len(wrong) + 1))
    assert evidence(["tea"], ["coffee"])[0] == [((4, 7),), ()] and "1 row (2)" in evidence(["tea"], ["coffee"])[1][0]


@pytest.mark.parametrize("name", ["evidence", "Rationale", "rationales", "evidences", "Highlights"])
def test_a_column_of_evidence_is_known_by_its_name_and_its_lists(name):
    for values in ([[4, 7]], ["tea"]):
        rows = (
            json.dumps({"text": TEXT, "label": "a", name: values})
            + "\n"
            + json.dumps({"text": TEXT, "label": "b"})
            + "\n"
        )
        read = read_table(rows.encode(), "a.jsonl")
        mapping = guess_mapping(read)
        assert mapping == Mapping("text", label="label", evidence=name) and build(read, mapping).examples[
            0
        ].evidence == ((4, 7),)
    read = read_table(f'claim,{name},verdict\n"{TEXT}","[""tea""]",a\n"{TEXT}","[[4, 7]]",b\n'.encode(), "a.csv")
    mapping = guess_mapping(read)
    assert mapping == Mapping("claim", label="verdict", evidence=name) and {
        e.evidence for e in build(read, mapping).examples
    } == {((4, 7),)}


def test_prose_under_such_a_name_is_no_evidence():
    assert guess_mapping(table(claim=[S1, S2], evidence=[S2, S3], verdict=["a", "b"])).evidence is None
    assert (
        guess_mapping(table(text=[S1, S2], highlights=["one", "two"])).evidence is None
        and guess_mapping(table(text=[S1], evidence=[None])).evidence is None
    )


def test_a_pair_is_the_id_of_another_row_and_not_guessed():
    raw = table(t=[TEXT, TEXT + "!"], id=["a", "b"], pair=["b", None])
    first, second = build(raw, Mapping("t", id="id", pair="pair")).examples
    assert (first.pair, second.pair) == ("b", "") and guess_mapping(raw).pair is None


def test_data_without_evidence_keeps_its_key():
    assert Mapping("t", label="y").as_dict() == {
        "text": "t",
        "second": None,
        "label": "y",
        "id": None,
        "tags": None,
        "note": None,
        "label_names": [],
    }
    raw = table(t=[TEXT], e=[["tea"]])
    assert build(raw, Mapping("t")).digest != build(raw, Mapping("t", evidence="e")).digest
    assert "has no column 'x'" in refused(raw, Mapping("t", evidence="x"))


ODD = (
    st.none()
    | st.text(max_size=4)
    | st.lists(ANY, max_size=3)
    | st.lists(st.lists(st.integers(-2, 6), min_size=2, max_size=2), max_size=3)
)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=5), ODD, st.booleans())
def test_evidence_lies_in_its_text_whatever_a_cell_holds(text, value, as_json):
    raw = table(t=[f"a{text}"], e=[json.dumps(value) if as_json else value])
    (example,) = build(raw, Mapping("t", evidence="e")).examples
    assert all(0 <= start < end <= len(example.text) for start, end in example.evidence) and list(
        example.evidence
    ) == sorted(set(example.evidence))
