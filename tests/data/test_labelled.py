"""A file's examples are the same in the app and in every command, and so is what there is to say of them."""

import contextlib
import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.commands.command_line import main
from core.data.mapping import Mapping, build
from core.data.parsed import BadData, Repair, noted
from core.data.sources import keep, open_data, read_data, read_labelled, understand
from core.data.tables import read_table
from core.reports.exports import csv_text, restored
from core.storage.library import Library
from core.training.training import tokenise
from tests import tiny
from tests.hostile import columns_alike, lines, parquet

GOOD = [("salt the soup", "kitchen"), ("tie the boat", "harbour"), ("oil the hinge", "kitchen")]
ROWS = [dict(zip(("text", "label"), row)) for row in GOOD]


def written(folder: Path, content: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def jsonl(*labels) -> bytes:
    return lines(*({"text": f"text {i}", "label": label} for i, label in enumerate(labels)))


# ---- kinds of files

RAGGED = "text,label\nA warm film,b\nSlow, grey, and long,a\nA cold film,a\n"
KINDS = {  # name, content → texts, classes, labels, repairs of which rows are named
    "lists of objects": ("a.json", json.dumps(ROWS, indent=1), None, ("harbour", "kitchen"), [1, 0, 1], {}),
    "a mark": ("a.csv", "\ufefflabel,text\nb,x y\na,z\n", ["x y", "z"], ("a", "b"), [1, 0], {}),
    "tabs": ("a.tsv", "text\tlabel\nx, y\tb\nz\ta\n", ["x, y", "z"], ("a", "b"), [1, 0], {}),
    "semicolons": ("a.csv", "text;label\nx, y;b\nz, u;a\n", ["x, y", "z, u"], ("a", "b"), [1, 0], {}),
    "pipes": ("a.csv", "review|sentiment\nx, y|b\nz, u|a\n", ["x, y", "z, u"], ("a", "b"), [1, 0], {}),
    "UTF-16": ("a.csv", "text,label\nnaïve x,b\nz,a\n".encode("utf-16"), ["naïve x", "z"], ("a", "b"), [1, 0], {}),
    "other encoding": (
        "a.csv",
        "text,label\nnaïve,b\ndéjà,a\n".encode("cp1252"),
        ["naïve", "déjà"],
        ("a", "b"),
        [1, 0],
        {Repair.WINDOWS: None},
    ),
    "another column": ("a.csv", "sentence,label\nx y,b\nz,a\n", ["x y", "z"], ("a", "b"), [1, 0], {}),
    "ragged": ("a.csv", RAGGED, ["A warm film", "A cold film"], ("a", "b"), [1, 0], {Repair.RAGGED: [2]}),
    "a long cell": ("a.csv", f"text,label\n{'x' * 200_000},b\nz,a\n", ["x" * 200_000, "z"], ("a", "b"), [1, 0], {}),
    "half a letter": (
        "a.jsonl",
        '{"text": "lone \\ud83d half", "label": 0}\r\n\r\n{"text": "b", "label": 1}',
        ["lone \ufffd half", "b"],
        ("0", "1"),
        [0, 1],
        {Repair.HALVES: None},
    ),
    "no text": (
        "a.jsonl",
        '{"text": "a", "label": 0}\n{"text": " \\n", "label": 1}\n{"label": 0}\n{"text": "b", "label": 1}',
        ["a", "b"],
        ("0", "1"),
        [0, 1],
        {Repair.EMPTY_TEXT: [2, 3]},
    ),
    "no label": ("a.csv", "text,label\na,x\nb,\nc,y\n", ["a", "c"], ("x", "y"), [0, 1], {Repair.UNUSED: [2]}),
    "floats and gaps": (
        "a.csv",
        "text,label\na,1.0\nb,0.0\nc,\n",
        ["a", "b"],
        ("0", "1"),
        [1, 0],
        {Repair.UNUSED: [3]},
    ),
    "columns alike": (
        "a.parquet",
        columns_alike(["a b", "c d"], [1, 2]),
        ["a b", "c d"],
        None,
        None,
        {Repair.SAME_NAME: None},
    ),
}


@pytest.mark.parametrize("name, content, texts, classes, labels, repairs", KINDS.values(), ids=KINDS)
def test_kinds_of_files_are_read_and_what_was_left_out_is_named(
    tmp_path, name, content, texts, classes, labels, repairs
):
    notes = []
    read = read_labelled(written(tmp_path, content, name), notes.append, labelled=classes is not None)
    assert read.texts == (texts or [text for text, _ in GOOD]) and read.seconds is None and read.name == name
    assert classes is None or (read.classes, read.labels.tolist()) == (classes, labels)
    for repair, rows in repairs.items():
        (note,) = (note for note in notes if repair in note)
        assert note.startswith(f"{name}: ") and (rows is None or note.endswith(noted(repair, rows)[0][-9:]))


def test_every_kind_of_file_reads_the_same(tmp_path):
    table = "".join(f'"{text}",{label}\n' for text, label in GOOD)
    files = {"a.jsonl": lines(*ROWS), "a.csv": f"text,label\n{table}", "a.parquet": parquet(_columns(ROWS))}
    found = [read_labelled(written(tmp_path, content, name), print) for name, content in files.items()]
    for read in found:
        assert read.texts == [text for text, _ in GOOD] and read.labels.tolist() == [1, 0, 1]
        assert read.classes == ("harbour", "kitchen") and list(read.rows) == [1, 2, 3]
    assert len({read.digest for read in found}) == 3 and all(len(read.digest) == 64 for read in found)


def _columns(rows: list[dict]) -> dict[str, list]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_labels_are_names_or_numbers(tmp_path):
    numbered, named = written(tmp_path, jsonl(1, 0, 2), "n.jsonl"), written(tmp_path, lines(*ROWS), "m.jsonl")
    assert read_labelled(numbered, print).classes == ("0", "1", "2") and read_labelled(
        numbered, print
    ).labels.tolist() == [1, 0, 2]
    assert read_labelled(numbered, print, classes=("x", "y", "z")).labels.tolist() == [1, 0, 2]
    assert read_labelled(named, print, classes=("kitchen", "attic", "harbour")).labels.tolist() == [0, 2, 0]
    stars = read_labelled(written(tmp_path, jsonl(5, 1, 3), "s.jsonl"), print)
    assert stars.classes == ("1", "3", "5") and stars.labels.tolist() == [2, 0, 1]
    assert read_labelled(written(tmp_path, jsonl(1, 1), "o.jsonl"), print, classes=("x", "y")).labels.tolist() == [1, 1]


def test_unusual_characters_stay_in_their_row(tmp_path):
    texts = ["a\u2028b", "c\x85d\x0be", "f\x1cg\x0ch", 'quote " and \\', "i\rj"]
    rows = [{"text": text, "label": i % 2} for i, text in enumerate(texts)]
    assert read_labelled(written(tmp_path, lines(*rows), "a.jsonl"), print).texts == texts
    halves = read_labelled(written(tmp_path, KINDS["half a letter"][1], "s.jsonl"), print)
    assert len(tokenise(tiny.tokenizer("gpt2"), halves, 64).ids) == 2


BAD = {
    "no text": ("a.jsonl", '{"n": 1, "label": 0}\n{"n": 2, "label": 1}', {}, ["a.jsonl", "n, label"]),
    "no label": ("a.csv", "text\na b\nc d\n", {}, ["a.csv", "text"]),
    "several labels": ("a.jsonl", jsonl(["a"], ["b", "c"]), {}, ["a.jsonl", "label"]),
    "named column gone": (
        "a.csv",
        "text,label\na,b\n",
        {"named": {"text": "words"}},
        ["a.csv", "'words'", "text, label"],
    ),
    "only gaps": ("a.jsonl", jsonl(-1, -1), {}, ["a.jsonl", "label"]),
    "foreign class": ("a.jsonl", jsonl(0, 3), {"classes": ("x", "y")}, ["a.jsonl", "1 row (2)", "'3'", "x, y"]),
    "all foreign": ("a.jsonl", jsonl("p", "q"), {"classes": ("x", "y")}, ["a.jsonl, row 1", "'p'", "x, y"]),
    "bad JSON": ("a.jsonl", '{"text": "a", "label": 0}\n{"text": ', {}, ["a.jsonl", "line 2"]),
    "no object": ("a.jsonl", '{"text": "a", "label": 0}\n[1, 2]', {}, ["line 2", "list"]),
    "unknown ending": ("a.xlsx", "a", {}, [".xlsx", "CSV"]),
    "no ending": ("data", "a", {}, ["data", "nothing"]),
    "empty": ("a.jsonl", "\n\n", {}, ["a.jsonl", "empty"]),
    "header only": ("a.csv", "text,label\n", {}, ["a.csv", "no rows"]),
    "binary": ("a.jsonl", b'{"text": "\x01\xff", "label": 0}', {}, ["a.jsonl, line 1", "UTF-8"]),
    "no parquet": ("a.parquet", "nothing", {}, ["a.parquet", "Parquet"]),
    "mostly ragged": ("a.csv", "text,label\n" + "a, b, c,x\n" * 3, {}, ["3 of 3 rows", "row 1"]),
}


@pytest.mark.parametrize("name, content, asked, words", BAD.values(), ids=BAD)
def test_bad_files_are_named_in_a_sentence(tmp_path, name, content, asked, words):
    with pytest.raises(BadData) as caught:
        read_labelled(written(tmp_path, content, name), print, **asked)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


# ---- which column is what

PAIR = "premise,hypothesis,tone,label\n" + "a man sleeps here,he rests now,x,y\na dog runs fast,it moves on,z,n\n" * 2
NAMED = {  # what is named → text, second, label
    "nothing": ({}, ("premise", "hypothesis", "label")),
    "an empty text": ({"text": ""}, ("premise", "hypothesis", "label")),
    "its text": ({"text": "premise"}, ("premise", "hypothesis", "label")),
    "the other text": ({"text": "hypothesis"}, ("hypothesis", "", "label")),
    "both, the other way round": ({"text": "hypothesis", "second": "premise"}, ("hypothesis", "premise", "label")),
    "no second": ({"second": ""}, ("premise", "", "label")),
    "another label": ({"label": "tone"}, ("premise", "hypothesis", "tone")),
    "a text as label": ({"label": "premise"}, ("hypothesis", "", "premise")),
    "no label": ({"label": ""}, ("premise", "hypothesis", "")),
}


@pytest.mark.parametrize("named, expected", NAMED.values(), ids=NAMED)
def test_what_is_named_is_not_guessed(tmp_path, named, expected):
    notes = []
    read = read_labelled(written(tmp_path, PAIR), notes.append, named, labelled=False)
    assert tuple(read.columns[role] for role in ("text", "second", "label")) == expected
    reverse = any(Repair.REVERSED in note for note in notes)
    assert reverse == ("other way" in str(named) or expected[:2] == ("hypothesis", "premise"))


# ---- the app and every command


class Enough(ValueError):
    """What is computed of examples is not of interest."""


def stop(*_, **__):
    raise Enough


COMMANDS = {  # everything that reads a file, up to where it would compute
    "explain": "explain --data FILE --example gone",
    "verdict": "verdict --data FILE --example gone",
    "evaluate": "evaluate --model m --data FILE --what behaviour",
    "limits of texts": "evaluate --model m --data FILE --what limits --out OUT.parquet",
    "check": "check --model m --data FILE",
    "limits": "limits --model m --data FILE --out OUT",
    "train": "train --base m --train FILE --validation FILE --out OUT",
    "reference": "reference --model m --data FILE --out OUT --training half",
    "words": "words --model m --data FILE --out OUT",
    "bench": "bench --model m --texts FILE",
}


@contextlib.contextmanager
def nothing_computed(classes: tuple[str, ...], read: list):
    """Commands end where they would compute; read: what they have read by then."""

    def spied(*asked):
        read.append(read_data(*asked))
        return read[-1]

    model = SimpleNamespace(name="m", labels=classes, notes=())
    with pytest.MonkeyPatch.context() as patch:
        for place in ("core.data.sources.read_data", "core.commands.terminal.read_data"):
            patch.setattr(place, spied)
        patch.setattr("core.loading.loading.load", lambda *_: model)
        patch.setattr("core.explanation.explainer.Explainer", lambda model: None)
        for place in (
            "core.commands.terminal.open_models",
            "core.validity.fitting.fit_reference",
            "core.measures.mutual_information.measure_words",
            "core.bench.bench_search.chosen_texts",
            "core.training.training.load_base",
        ):
            patch.setattr(place, stop)
        yield


TEXTS = st.lists(st.text("ab,;|é\"' ", min_size=3, max_size=20).filter(str.strip), min_size=6, max_size=9)
SPELLINGS = [
    ["good", "bad"],
    ["good", "bad", "n/a", "", "NULL"],
    ["1.0", "0.0", ""],
    ["1", "0", "0.0"],
    ["true", "false", "1"],
    ["0", "1", "-1"],
    ["a b", "-"],
]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), texts=TEXTS, separator=st.sampled_from(",;\t|"), column=st.sampled_from(["text", "review"]))
def test_the_app_and_every_command_read_the_same_examples_and_say_the_same(tmp_path, data, texts, separator, column):
    spelled = data.draw(st.sampled_from(SPELLINGS))
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, delimiter=separator)
    writer.writerows([(column, "label"), *((f"{text} x", spelled[i % len(spelled)]) for i, text in enumerate(texts))])
    if data.draw(st.booleans()):
        writer.writerow(["one", "too", "many"])
    path = written(tmp_path, sink.getvalue().encode(encoding))
    table, mapping, _ = understand(read_table(path.read_bytes(), path.name))
    known = build(table, mapping)
    source = keep(Library(tmp_path / "cache"), table, mapping, "here", path.read_bytes())
    assert open_data(Library(tmp_path / "cache"), source.key).examples == known.examples
    for name, command in COMMANDS.items():
        read, said = [], io.StringIO()
        asked = command.replace("FILE", str(path)).replace("OUT", str(tmp_path / "out")).split(" ")
        with nothing_computed(known.classes, read), contextlib.redirect_stderr(said):
            # A file of one class trains nothing.
            assert main(asked) == 1, name
        notes = [line.removeprefix("a.csv: ") for line in said.getvalue().splitlines() if line.startswith("a.csv: ")]
        notes = [note for note in dict.fromkeys(notes) if not note.startswith(("Columns: ", Repair.UNUSED))]
        assert notes == list(known.notes), name
        assert all(found.examples == known.examples for _, _, found in read) and read, name


# ---- what is worth a note

LABELS = {  # labels → classes, what the notes must name
    "−1 beside one": ([-1, 1, -1, 1], ("-1", "1"), {Repair.MINUS_CLASS: "2 rows (1, 3)"}),
    "−1 beside several": ([-1, 0, 1], ("0", "1"), {Repair.NO_LABEL: "'-1'"}),
    "only −1": ([-1, -1], (), {Repair.NO_LABEL: "'-1'"}),
    "names of nothing": (["null", "defect", "n/a", ""], ("defect",), {Repair.NO_LABEL: "('null', 'n/a'): 3 rows"}),
    "numbers and truth": (
        [1, "0", 0.0, "1", True, False],
        ("0", "1"),
        {Repair.SAME_LABEL: "0.0 as 0, True as 1, False as 0"},
    ),
    "truth and a number": ([True, 0], ("0", "1"), {Repair.SAME_LABEL: "True as 1"}),
    "a name beside": (["maybe", 0.0, "0"], ("0", "maybe"), {Repair.SAME_LABEL: "0.0 as 0"}),
    "truth beside names": ([True, False, "maybe"], ("False", "maybe", "True"), {}),
    "truth": ([True, False], ("False", "True"), {}),
    "fractions": ([0.5, 1.0, 0], ("0", "0.5", "1.0"), {}),
}


@pytest.mark.parametrize("values, classes, noted_as", LABELS.values(), ids=LABELS)
def test_labels_are_never_guessed_silently(tmp_path, values, classes, noted_as):
    _, _, data = read_data(written(tmp_path, jsonl(*values), "a.jsonl"), print, {"label": "label"})
    about = [note for note in data.notes if note.startswith((Repair.NO_LABEL, Repair.MINUS_CLASS, Repair.SAME_LABEL))]
    assert data.classes == classes and len(about) == len(noted_as)
    assert all(note.startswith(repair) and told in note for note, (repair, told) in zip(about, noted_as.items()))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([0, "0", 0.0, "0.0", "00.0", False, "false", 1, "1.0", True, "TRUE"]), min_size=1))
def test_equal_numbers_are_one_class_however_they_are_written(values):
    texts = [f"text {i}" for i in range(len(values))]
    data = build(read_table(lines(*map(_row, texts, values)), "a.jsonl"), Mapping("text", label="label"))
    truth = [str(value).casefold() in ("true", "false") for value in values]
    meant = ["1" if str(value).casefold() in ("true", "1", "1.0") else "0" for value in values]
    if not all(truth):
        assert [one.label for one in data.examples] == meant
        assert any(truth) <= any(note.startswith(Repair.SAME_LABEL) for note in data.notes)


def _row(text, label) -> dict:
    return {"text": text, "label": label}


def test_columns_that_hold_several_values_are_named(tmp_path):
    cells = {
        "text": ["warm", "cold"],
        "label": ["a", "b"],
        "answers": [[{"answer": "b"}], None],
        "more": [{"x": 1}] * 2,
    }
    _, _, data = read_data(written(tmp_path, parquet(cells), "a.parquet"), print)
    (note,) = (note for note in data.notes if note.startswith(Repair.SEVERAL))
    assert "answers, more" in note and len(data) == 2


SPANS = [[{"start": 4, "end": 7}, {"start": 12, "end": 16}], [[4, 7], [12, 16]], ["tea", "cold"]]


@pytest.mark.parametrize("spans", SPANS, ids=str)
def test_evidence_of_a_parquet_file_is_read(tmp_path, spans):
    cells = {"text": ["The tea was cold."] * 2, "label": ["a", "b"], "evidence": [spans, None]}
    _, mapping, data = read_data(written(tmp_path, parquet(cells), "a.parquet"), print)
    assert mapping.evidence == "evidence" and [one.evidence for one in data.examples] == [((4, 7), (12, 16)), ()]


def test_keys_that_rows_lack_are_named_with_their_own_rows():
    rows = [{"text": "a", "tags": ["x"]}, {"text": "b", "note": "so"}, {"text": "c"}]
    (note,) = read_table(lines(*rows), "a.jsonl").notes
    assert note.startswith(Repair.LACKING) and "'tags': 2 rows (2, 3)" in note and "'note': 2 rows (1, 3)" in note
    many = [{"text": "a", **{f"k{j}": 1 for j in range(i)}} for i in range(40)]
    (note,) = read_table(lines(*many), "a.jsonl").notes
    assert len(note) < 400 and "36 more" in note


# ---- what the project writes


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text("naïve 家,;\"'=+\n ab", min_size=1), st.sampled_from("ab")), min_size=2, max_size=6))
def test_saved_tables_begin_with_a_mark_and_are_read_back(rows):
    written_rows = [(f"{text}x", label) for text, label in rows]
    content = csv_text(["text", "label"], map(list, written_rows)).encode("utf-8")
    table = read_table(content, "a.csv")
    assert content.startswith(b"\xef\xbb\xbf") and table.columns == ("text", "label")
    assert [restored(text) for text in table.cells["text"]] == [text for text, _ in written_rows]


# ---- size


def test_a_file_of_many_rows_is_refused_before_it_is_read_to_the_end(monkeypatch):
    monkeypatch.setattr("core.data.parquets.MOST_ROWS", 1_000)
    row = b'{"text": "a", "label": 1}\n'
    with pytest.raises(BadData, match=r"^a\.jsonl holds more than 1,000 rows"):
        # What follows is no JSON, and never looked at.
        read_table(row * 1_001 + b"{" * 100, "a.jsonl")


def test_the_labels_of_texts_without_any_are_zeros(tmp_path):
    read = read_labelled(written(tmp_path, "text\na b\nc d\n"), print, labelled=False)
    assert read.classes == () and np.array_equal(read.labels, [0, 0])
