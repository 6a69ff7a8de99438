"""Every file of every command says where it comes from: one list, each command, each kind of file."""

import csv
import json
import re

import pytest
from pyarrow import parquet

from core.commands.command_line import main
from core.reports.answers import commit
from tests import tiny
from tests.provenance import undrawn, unsaid

FEW = ["--measures", "gradient", "--device", "cpu"]
DIGEST = r"configuration_sha256</dt>\s*<dd><bdi>[0-9a-f]{64}</bdi>"
SCORES = ["--metrics", "NC", "--count", "2"]
ASKED = {
    "a typed text": ["explain", "--text", tiny.SENTENCES[0], "--what", "attributions"],
    "an example": ["explain", "--data", "texts.jsonl", "--example", "t1", "--what", "attributions", "steps"],
    "scores": ["evaluate", "--data", "texts.jsonl", "--what", "scores", "--sample", "2", *SCORES],
    "a model check": ["evaluate", "--data", "texts.jsonl", "--what", "model check"],
    "limits": ["evaluate", "--data", "texts.jsonl", "--what", "limits", "--sample", "2"],
}
REPORTS = {
    "of an example": ["--data", "texts.jsonl", "--example", "t1"],
    "of answers": ["--data", "texts.jsonl", "--what", "behaviour"],
}


@pytest.fixture
def folder(model, tmp_path, monkeypatch):
    """A folder with labelled texts."""
    rows = [{"id": f"t{i}", "text": text, "label": tiny.LABELS[i]} for i, text in enumerate(tiny.SENTENCES[:3])]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_every_kind_of_file_says_where_it_comes_from(asked, folder):
    outs = {ending: folder / f"found.{ending}" for ending in ("json", "csv", "parquet", "tex", "html")}
    for out in outs.values():
        assert main([*asked, "--model", "tiny", *FEW, "--out", str(out)]) == 0
    with outs["csv"].open(encoding="utf-8-sig", newline="") as file:
        line = next(csv.DictReader(file))
    said = {
        "json": json.loads(outs["json"].read_text(encoding="utf-8")),
        "csv": line,
        "parquet": json.loads(parquet.read_schema(outs["parquet"]).metadata[b"faithscope"]),
        "tex": outs["tex"].read_text(encoding="utf-8"),
    }
    assert {ending: unsaid(facts) for ending, facts in said.items()} == {ending: [] for ending in said}
    digests = [said[ending]["configuration_sha256"] for ending in ("json", "csv", "parquet")]
    assert len({*digests}) == 1 and len(digests[0]) == 64 and digests[0] in said["tex"]
    assert undrawn(said["json"], outs["html"].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("asked", REPORTS.values(), ids=REPORTS)
def test_a_report_says_it_too(asked, folder, model):
    assert main(["report", *asked, "--model", "tiny", *FEW, "--out", "report.html"]) == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(one in page for one in (commit(), model.digest, "float32", "word", "signed", "t1"))
    assert re.search(DIGEST, page)


@pytest.mark.parametrize(
    ("name", "more"),
    [("an example", ["--values", "absolute"]), ("scores", ["--seed", "5"]), ("scores", ["--count", "3"])],
)
def test_a_digest_is_of_the_choices_and_not_of_the_place(name, more, folder):
    found = []
    for out, *rest in (["a.json"], ["b.json"], ["c.json", *more]):
        assert main([*ASKED[name], "--model", "tiny", *FEW, "--out", out, *rest]) == 0
        found.append(json.loads((folder / out).read_text(encoding="utf-8"))["configuration_sha256"])
    assert found[0] == found[1] != found[2]
