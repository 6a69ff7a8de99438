"""The task table: each row read from a small file as its data set writes it; the papers' figures; recognising a task;
its fields.
"""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import tasks as module
from core.data.mapping import build
from core.data.parsed import BadData, Repair, noted
from core.data.tables import RawTable, read_table
from core.data.tasks import FILE, match_task, tasks
from core.mathematics.performance import METRICS
from tests.task_files import FILES

ROWS = json.loads(FILE.read_text(encoding="utf-8"))
# What each field of a row may hold.
KINDS = {
    "name": str,
    "hub": str | None,
    "config": str | None,
    "splits": dict,
    "local": str,
    "columns": list,
    "masked": str,
    "auxiliary": str | None,
    "label": str,
    "label_names": list | None,
    "label_values": dict | None,
    "threshold": int | float | None,
    "only": dict | None,
    "metric": str,
    "class_majority": int | float | None,
    "majority_from": str,
    "citation": str,
    "papers": list,
    "checked": bool,
    "note": str,
}
# The papers' figures, written down from the papers and not from the table.
MAJORITY = {
    "RTE": 47,
    "SNLI": 34,
    "MNLI": 35,
    "QNLI": 51,
    "CB": 22,
    "MRPC": 41,
    "QQP": 39,
    "SST2": 51,
    "IMDB": 33,
    "Anemia": 39,
    "Diabetes": 45,
    "CoLA": 0,
    "BoolQ": 62,
    "bAbI-1": 15,
    "bAbI-2": 19,
    "bAbI-3": 18,
}
PAIRS = {
    "RTE": "sentence2",
    "SNLI": "hypothesis",
    "MNLI": "hypothesis",
    "CB": "hypothesis",
    "QNLI": "question",
    "MRPC": "sentence2",
    "QQP": "question2",
    "BoolQ": "question",
    "bAbI-1": "question",
    "bAbI-2": "question",
    "bAbI-3": "question",
    "MultiRC": "query_and_answer",
    "Evidence Inference": "query",
}
MACRO = {"SNLI", "CB", "MRPC", "QQP", "IMDB", "Anemia", "Diabetes"}


@pytest.mark.parametrize("name", FILES)
def test_each_task_is_read_from_a_file_as_its_data_set_writes_it(name):
    task, wanted = tasks()[name], FILES[name]
    table = task.prepare(read_table(wanted.content.encode(), wanted.file))
    found = build(table, task.mapping()).examples
    assert [example.text for example in found] == wanted.texts
    assert [example.second for example in found] == (wanted.seconds or [None] * len(wanted.texts))
    assert [example.label for example in found] == wanted.labels
    assert build(table, task.mapping()).classes == task.label_names


def test_every_task_of_the_papers_is_there():
    assert list(tasks()) == [
        "RTE",
        "SNLI",
        "MNLI",
        "QNLI",
        "CB",
        "MRPC",
        "QQP",
        "SST2",
        "IMDB",
        "Anemia",
        "Diabetes",
        "CoLA",
        "BoolQ",
        "bAbI-1",
        "bAbI-2",
        "bAbI-3",
        "AG News",
        "Yelp",
        "MultiRC",
        "Evidence Inference",
        "Wikipedia Toxic",
        "Civil Comments",
        "Twitter climate",
    ]
    assert set(FILES) == set(tasks())


def test_figures_metrics_and_masked_columns_are_the_papers():
    for name, task in tasks().items():
        assert task.class_majority == (MAJORITY[name] / 100 if name in MAJORITY else None)
        assert task.auxiliary == PAIRS.get(name) and task.metric in METRICS
        if "FMM" in task.papers:
            assert task.metric == ("macro F1" if name in MACRO else "Matthews" if name == "CoLA" else "accuracy")
    assert {name for name, task in tasks().items() if "FMM" in task.papers} == set(MAJORITY)
    assert {name for name, task in tasks().items() if "NAOPC" in task.papers} == {
        "Yelp",
        "SST2",
        "IMDB",
        "SNLI",
        "AG News",
    }
    assert {name for name, task in tasks().items() if "SoftFaith" in task.papers} == {
        "SST2",
        "Evidence Inference",
        "AG News",
        "MultiRC",
    }
    assert {name for name, task in tasks().items() if "RobustInf" in task.papers} == {
        "SST2",
        "Wikipedia Toxic",
        "Civil Comments",
        "Twitter climate",
    }


@pytest.mark.parametrize(
    "name, counts, best, metric",
    [
        ("MRPC", [129, 279], 1, "macro F1"),
        ("MNLI", [3479, 3123, 3213], 0, "accuracy"),
        ("BoolQ", [1237, 2033], 1, "accuracy"),
        ("SNLI", [3368, 3219, 3237], 0, "accuracy"),
        ("bAbI-1", [187, 154, 157, 182, 171, 149], 5, "accuracy"),
        ("bAbI-2", [187, 160, 165, 146, 167, 175], 0, "accuracy"),
    ],
)
def test_class_majorities_follow_from_the_published_counts(name, counts, best, metric):
    """Counts of the test labels, and the most frequent training class, as FMM's code states them."""
    share = counts[best] / sum(counts)
    score = share if metric == "accuracy" else 2 * share / (1 + share) / len(counts)
    assert tasks()[name].class_majority == pytest.approx(score, abs=0.006)


def test_what_is_on_no_public_hub_says_how_to_get_it():
    local = {name: task for name, task in tasks().items() if task.hub is None}
    assert set(local) == {"Anemia", "Diabetes", "Evidence Inference", "Twitter climate"}
    for name, task in local.items():
        assert task.local.startswith(name) and task.local.endswith("open that file.") and not any(task.splits.values())
    assert all("credentialed access" in tasks()[name].local for name in ("Anemia", "Diabetes"))


@pytest.mark.parametrize(
    "columns, name",
    [
        (["question", "sentence", "label", "idx"], "QNLI"),
        (["question1", "question2", "label"], "QQP"),
        (["tweetid", "message", "sentiment"], "Twitter climate"),
        (["text", "toxicity"], "Civil Comments"),
        (["passage", "question", "answer"], "BoolQ"),
        (["premise", "hypothesis", "label"], None),
        (["sentence1", "sentence2", "label"], None),
        (["text", "label"], None),
        (["text", "diagnosis"], None),
        (["passage", "question", "answer", "task"], None),
        (["question1", "question2", "label", "source"], None),
        (["text"], None),
        ([], None),
    ],
)
def test_a_task_is_recognised_by_its_columns_only_if_no_other_has_them(columns, name):
    found = match_task(columns)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    "columns, hub_id, config, name",
    [
        (["premise", "hypothesis", "label"], "stanfordnlp/snli", None, "SNLI"),
        (["text", "label"], "fancyzhx/ag_news", None, "AG News"),
        ([], "imdb", None, "IMDB"),
        ([], "StanfordNLP/SNLI", "plain_text", "SNLI"),
        ([], "nyu-mll/glue", None, None),
        ([], "nyu-mll/glue", "mrpc", "MRPC"),
        ([], "glue", "cola", "CoLA"),
        ([], "nyu-mll/glue", "stsb", None),
        (["sentence1", "sentence2", "label", "idx"], "nyu-mll/glue", None, None),
        (["question1", "question2", "label", "idx"], "nyu-mll/glue", None, "QQP"),
        (["other"], "stanfordnlp/imdb", None, None),
        ([], "Muennighoff/babi", None, None),
        (["text", "label"], "someone/else", None, None),
        ([], "", None, None),
    ],
)
def test_a_task_is_recognised_by_its_hub_id(columns, hub_id, config, name):
    found = match_task(columns, hub_id, config)
    assert (found.name if found else None) == name


def table(**cells) -> RawTable:
    return RawTable("t", tuple(cells), cells, "0" * 64)


def test_truth_values_are_labels_however_they_are_written():
    found = build(
        table(passage=list("abcd"), question=list("wxyz"), answer=[True, "false", "TRUE", 0]),
        tasks()["BoolQ"].mapping(),
    )
    assert [example.label for example in found.examples] == ["True", "False", "True", "False"]


def test_a_table_that_needs_nothing_stays_the_same():
    given_table = table(text=["a"], label=[1])
    assert tasks()["IMDB"].prepare(given_table) is given_table


def test_rows_of_other_tasks_are_left_out_and_said():
    given_table = table(
        passage=["a", "b", "c"], question=["x", "y", "z"], answer=["office", "yes", "garden"], task=[2, "6", 2.0]
    )
    found = tasks()["bAbI-2"].prepare(given_table)
    assert found.cells == {
        "passage": ["a", "c"],
        "question": ["x", "z"],
        "answer": ["office", "garden"],
        "task": [2, 2.0],
    }
    assert "2 of 3" in found.notes[0] and len(found.notes) == 1 and found.digest != given_table.digest
    assert [example.id for example in build(found, tasks()["bAbI-2"].mapping()).examples] == ["1", "3"]
    with pytest.raises(BadData, match=r"task 1.*bAbI-1"):
        tasks()["bAbI-1"].prepare(given_table)
    with pytest.raises(BadData, match=r"bAbI-3 .*'task'.* passage, question, answer"):
        tasks()["bAbI-3"].prepare(table(passage=["a"], question=["x"], answer=["office"]))


def test_labels_that_are_already_names_stay_and_unknown_ones_are_counted():
    found = tasks()["Twitter climate"].prepare(
        table(message=list("abcdef"), sentiment=["-1", -1, -1.0, "pro", 7, None])
    )
    assert found.cells["sentiment"] == ["anti", "anti", "anti", "pro", None, None]
    assert found.notes == tuple(noted(Repair.UNKNOWN_LABEL, [5], [7]))


def test_preparing_twice_changes_no_cell():
    once = tasks()["Civil Comments"].prepare(table(text=["a", "b"], toxicity=[0.2, 0.7]))
    assert once.cells["toxicity"] == ["non-toxic", "toxic"] == tasks()["Civil Comments"].prepare(once).cells["toxicity"]


@given(st.lists(st.one_of(st.none(), st.floats(), st.text(max_size=3), st.booleans()), min_size=1))
def test_a_threshold_parts_numbers_and_nothing_else(values):
    found = tasks()["Civil Comments"].prepare(table(text=["a"] * len(values), toxicity=values)).cells["toxicity"]
    for value, label in zip(values, found, strict=True):
        if isinstance(value, float) and not math.isnan(value):
            assert label == ("toxic" if value >= 0.5 else "non-toxic")
        elif value is None or isinstance(value, float):
            assert label is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_each_row_has_every_field_and_each_of_its_kind(row):
    assert set(row) == set(KINDS)
    for name, kind in KINDS.items():
        assert isinstance(row[name], kind), name
        assert kind is bool or not isinstance(row[name], bool), name
    texts = [*row["columns"], *row["papers"], *(row["label_names"] or ()), *(row["label_values"] or {}).values()]
    assert all(isinstance(text, str) and text for text in [*texts, row["name"], row["citation"]])
    assert tuple(row["splits"]) == ("train", "validation", "test")
    assert all(split is None or isinstance(split, str) for split in row["splits"].values())


def test_no_name_stands_twice():
    assert len({row["name"] for row in ROWS}) == len(ROWS) == len(tasks())


@pytest.mark.parametrize("name", [row["name"] for row in ROWS])
def test_the_fields_of_each_task_fit_each_other(name):
    task = tasks()[name]
    assert task.metric in METRICS
    assert task.class_majority is None or 0 <= task.class_majority <= 1
    assert (task.class_majority is None) == (not task.majority_from)
    # Either a hub id and splits, or how to get it.
    assert (task.hub is not None) == any(task.splits.values()) == (not task.local)
    assert set(task.needed) <= set(task.columns)
    assert len(set(task.label_names)) == len(task.label_names) != 1
    assert set(task.label_values.values()) <= set(task.label_names)
    assert task.threshold is None or len(task.label_names) == 2


def test_open_label_sets_are_allowed():
    assert module._task(ROWS[1] | {"label_names": None}).mapping().label_names == ()
