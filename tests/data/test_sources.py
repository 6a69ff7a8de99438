"""Data sets that were added: each kind is the same when it is opened again, under a key that names its content."""

import json
from dataclasses import replace

import pytest

from core.data import sources
from core.data.examples import bundled_data, read_bundled
from core.data.mapping import Mapping
from core.data.parsed import BadData
from core.data.sources import DataSource, forget_data, from_hub, from_setting, keep, listed_data, open_data, understand
from core.data.tables import RawTable, read_table
from core.data.tasks import tasks
from core.storage.library import Library
from tests.hostile import parquet

ROWS = [
    {"text": "A dull evening.", "label": "negative", "id": "x1"},
    {"text": "Fine, really “fine”.\nYes.", "label": "positive", "id": "x2"},
    {"text": "هذا جيد 👍", "label": "positive", "id": "x3"},
]
CSV = 'id,text,label\nx1,A dull evening.,negative\nx2,"Fine, really “fine”.\nYes.",positive\nx3,هذا جيد 👍,positive\n'
FILES = {
    "a.csv": CSV.encode(),
    "a.tsv": CSV.replace(",", "\t", 2)
    .replace("x1,A dull evening.,", "x1\tA dull evening.\t")
    .replace('x2,"Fine, really “fine”.\nYes.",', 'x2\t"Fine, really “fine”.\nYes."\t')
    .replace("x3,هذا جيد 👍,", "x3\tهذا جيد 👍\t")
    .encode(),
    "bom.csv": CSV.encode("utf-8-sig"),
    "wide.csv": CSV.encode("utf-16"),
    "a.jsonl": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "a.json": json.dumps(ROWS).encode(),
    "a.parquet": parquet({name: [row[name] for row in ROWS] for name in ROWS[0]}),
    ".csv": CSV.encode(),
}


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path / "cache")


def kept(library, name, content):
    table, mapping, _ = understand(read_table(content, name))
    return keep(library, table, mapping, f"uploaded file {name}", content)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_added_is_the_same_at_the_next_start(name, library, tmp_path):
    source = kept(library, name, FILES[name])
    again = Library(tmp_path / "cache")
    data = open_data(again, source.key)
    assert [(e.id, e.text, e.label) for e in data.examples] == [(row["id"], row["text"], row["label"]) for row in ROWS]
    assert data.classes == ("negative", "positive") and data.name == name and source.key.startswith(f"{name}@")
    assert listed_data(again)[source.key] == f"uploaded file {name}" and list(listed_data(again))[:-1] == list(
        bundled_data()
    )
    # The same file under the same reading has the same key anywhere.
    assert kept(Library(tmp_path / "elsewhere"), name, FILES[name]).key == source.key


def test_bundled_data_needs_no_library(library):
    assert open_data(library, "reviews").examples == tuple(read_bundled("reviews"))
    with pytest.raises(KeyError):
        open_data(library, "nothing@00000000")


def test_another_reading_of_a_file_is_other_data(library):
    content = b"text,other,label\nAn evening at sea,A morning ashore,1\nTwo,Three,0\n"
    table = read_table(content, "a.csv")
    keys = {
        keep(library, table, mapping, "file", content).key
        for mapping in (
            Mapping("text", label="label"),
            Mapping("other", label="label"),
            Mapping("text"),
            Mapping("text", label="label", label_names=("no", "yes")),
        )
    }
    assert len(keys) == 4 == len(library.data())


def table_of(classes, notes=(), rows=()) -> RawTable:
    cells = {"text": ["A dull evening.", "Fine."], "label": [0, 1]}
    return RawTable("owner/set", ("text", "label"), cells, "d" * 64, notes, {"label": classes}, rows)


def test_two_sets_that_differ_in_their_class_names_only_are_two():
    from tempfile import mkdtemp

    library = Library(mkdtemp())
    one, two = (
        keep(library, table_of(classes), Mapping("text", label="label"), f"hub {classes}")
        for classes in (("negative", "positive"), ("positive", "negative"))
    )
    first, second = open_data(library, one.key), open_data(library, two.key)
    assert [e.label for e in first.examples] == ["negative", "positive"] and [e.label for e in second.examples] == [
        "positive",
        "negative",
    ]
    assert one.key != two.key and first.digest != second.digest


def test_what_was_said_of_a_hub_set_and_its_row_numbers_are_kept(library, tmp_path):
    source = keep(
        library,
        table_of(("no", "yes"), ("Two rows.",), (4, 8)),
        Mapping("text", label="label"),
        "hub data set owner/set, validation",
    )
    data = open_data(Library(tmp_path / "cache"), source.key)
    assert [e.id for e in data.examples] == ["4", "8"] and data.notes == ("Two rows.",) and data.name == "owner/set"
    assert [e.label for e in data.examples] == ["no", "yes"]


def test_a_kept_file_that_is_gone_or_damaged_is_a_sentence(library, tmp_path):
    source = kept(library, "a.csv", FILES["a.csv"])
    (file,) = (tmp_path / "cache" / "library" / "files").iterdir()
    file.write_bytes(b"other")
    with pytest.raises(BadData, match="gone or damaged"):
        open_data(Library(tmp_path / "cache"), source.key)


@pytest.mark.parametrize(
    "found",
    [
        {},
        [],
        None,
        "text",
        {"name": 1, "file": "x", "suffix": "y", "origin": "z", "classes": {}, "mapping": {}},
        {"name": "a", "file": "x", "suffix": "y", "origin": "z", "classes": [], "mapping": {"text": "t"}},
        {"name": "a", "file": "x", "suffix": "y", "origin": "z", "classes": {}, "mapping": None},
    ],
)
def test_a_damaged_description_is_a_sentence(found):
    with pytest.raises(BadData):
        DataSource.from_dict(found)


def test_a_description_round_trips(library):
    source = replace(kept(library, "a.csv", FILES["a.csv"]), classes={"label": ("a", "b")}, notes=("one",))
    assert DataSource.from_dict(json.loads(json.dumps(source.as_dict()))) == source


def test_data_taken_off_the_list_takes_its_file_along_unless_another_reads_it(library, tmp_path):
    content = FILES["a.csv"]
    one, two = (
        keep(library, read_table(content, "a.csv"), mapping, "file", content)
        for mapping in (Mapping("text", label="label"), Mapping("text"))
    )
    files = tmp_path / "cache" / "library" / "files"
    forget_data(library, one.key)
    assert list(library.data()) == [two.key] and len(list(files.iterdir())) == 1
    forget_data(library, two.key)
    assert not library.data() and not list(files.glob("*"))


def test_what_is_too_large_to_describe_is_a_sentence(library):
    with pytest.raises(BadData, match="too many class names"):
        keep(
            library,
            table_of(tuple(f"class number {i} with quite a long name" for i in range(30_000))),
            Mapping("text", label="label"),
            "hub",
        )


# By setting


def test_a_setting_names_a_file(library, tmp_path):
    (tmp_path / "my data.csv").write_bytes(FILES["a.csv"])
    source = from_setting(library, str(tmp_path / "my data.csv"))
    assert len(open_data(library, source.key)) == 3 and source.key.startswith("my data.csv@")


@pytest.mark.parametrize(
    "asked, said",
    [
        ("nowhere.csv", "no file or task 'nowhere.csv'"),
        ("/no/such/file.csv", "no file"),
        ("Anemia", "MIMIC"),
        ("~nobody/x.csv", "no file"),
    ],
)
def test_a_setting_that_names_nothing_is_a_sentence(asked, said, library):
    with pytest.raises(BadData, match=said):
        from_setting(library, asked)


def test_a_hub_set_is_fetched_once(library, monkeypatch):
    from core.data import hub_data

    fetched = []
    monkeypatch.setattr(
        hub_data,
        "read_hub",
        lambda hub, config, split: fetched.append((hub, config, split)) or table_of(("negative", "positive")),
    )
    first = from_setting(library, "owner/set:plain:test")
    assert from_setting(library, "owner/set:plain:test").key == first.key and fetched == [
        ("owner/set", "plain", "test")
    ]
    from_setting(library, "owner/set")
    assert fetched[1:] == [("owner/set", None, "validation")]


def test_parts_of_one_hub_set_are_data_sets_of_their_own(library, monkeypatch):
    from core.data import hub_data

    one, two = tasks()["bAbI-1"], tasks()["bAbI-2"]
    (column,) = one.only
    cells = {name: ["a b", "c d", "e f", "g h"] for name in one.columns} | {
        column: [one.only[column], two.only[column]] * 2,
        one.label: [one.label_names[0]] * 4,
    }
    monkeypatch.setattr(hub_data, "read_hub", lambda *_: RawTable(one.hub, tuple(cells), cells, "e" * 64))
    first, second = (from_hub(library, one.hub, one.config, "train", task) for task in (one, two))
    assert [e.id for e in open_data(library, first.key).examples] == ["1", "3"] and [
        e.id for e in open_data(library, second.key).examples
    ] == ["2", "4"]
    assert any("belong to bAbI-2" in note for note in open_data(library, second.key).notes)


def test_columns_that_only_look_like_a_tasks_are_guessed():
    task = tasks()["Wikipedia Toxic"]
    cells = {column: ["some words here", "others there"] for column in task.needed if column != task.label} | {
        task.label: ["spam", "ham"]
    }
    table = RawTable("mail.csv", tuple(cells), cells, "f" * 64)
    found, mapping, known = understand(table)
    assert known is None and mapping.text == task.masked and mapping.label_names == () and found is table
    with pytest.raises(BadData):
        understand(table, task)


def test_keys_hold_eight_digits_of_what_they_name(library):
    source = kept(library, "a.csv", FILES["a.csv"])
    assert len(source.key.rpartition("@")[2]) == 8 and sources.open_data(library, source.key).examples
