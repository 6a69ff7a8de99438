"""`python -m core sweep`: its files, that it goes on where it stopped, and what it refuses."""

import csv
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyarrow import parquet

from core.commands.command_line import main
from core.evaluation.engine import Run
from core.loading import loading
from core.storage.files import only_writer
from core.sweeps.configuration import read_sweep
from core.sweeps.naopc import NORMALISED
from core.sweeps.registry import sweep_tables
from tests import tiny
from tests.provenance import PROVENANCE, unsaid


@pytest.fixture
def folder(tmp_path, tiny_model, monkeypatch):
    """A folder with labelled texts, in which a sweep of two tiny models can be asked for; one text is masked already."""
    texts = [*zip(tiny.SENTENCES[:3], tiny.LABELS), ("[MASK] [MASK]", "harbour")]
    lines = [json.dumps({"id": f"t{i}", "text": text, "label": label}) for i, (text, label) in enumerate(texts)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "load", lambda name, *_: tiny_model(name))
    return tmp_path


@pytest.fixture
def sweep(folder, monkeypatch):
    """`sweep(text, store)`: the exit status of a sweep by this configuration, with a store of its own."""

    def run(text, store="store"):
        monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder / store))
        (folder / "sweep.toml").write_text(text, encoding="utf-8")
        return main(["sweep", "sweep.toml"])

    return run


def written(*models, out="out", **more):
    """A configuration: few measures, metrics and texts."""
    keys = {"models": list(models), "data": ["texts.jsonl"], "measures": ["gradient"], "metrics": ["NS", "NC"]}
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in (keys | {"out": out} | more).items())


def rows_of(folder, out="out"):
    """{table: lines} of the Parquet files of a sweep."""
    return {path.stem: parquet.read_table(path).to_pylist() for path in (folder / out).glob("*.parquet")}


def test_every_table_is_written_five_ways_and_says_where_it_comes_from(sweep, folder):
    assert sweep(written("bert", "distilbert", seeds=[0, 7])) == 0
    found = rows_of(folder)
    assert set(found) == set(sweep_tables())
    for name, lines in found.items():
        table = sweep_tables()[name]
        facts = json.loads(parquet.read_schema(folder / "out" / f"{name}.parquet").metadata[b"faithscope"])
        assert unsaid(facts) == [], name
        assert facts["sample_ids"] == [f"texts.jsonl {one}" for one in sorted_ids(facts)] and facts["seeds"] == [0, 7]
        assert facts["sample_seed"] == 0
        with (folder / "out" / f"{name}.csv").open(encoding="utf-8-sig") as file:
            read = list(csv.DictReader(file))
        assert len(read) == len(lines) and unsaid(read[0]) == []
        assert all(any(read[0].get(one) for one in names) for names in PROVENANCE if names != ("commit",))
        if table.of_texts:
            assert not (folder / "out" / f"{name}.tex").exists()
            continue
        latex = (folder / "out" / f"{name}.tex").read_text(encoding="utf-8")
        assert r"\toprule" in latex and unsaid(latex) == []
        known = any(one[next(iter(table.values))] is not None for one in lines)
        for ending in (".pdf", ".svg") if table.drawn and known else ():
            drawn = (folder / "out" / f"{name}{ending}").read_bytes()
            assert unsaid(drawn.decode("latin-1")) == [], (name, ending)
    # Each table has both models, seeds where they are drawn by, and counts what is undefined.
    for name in ("areas", "ranks", "fidelity"):
        assert {Path(one["model"]).name for one in found[name]} == {"bert", "distilbert"}
    assert {one["seed"] for one in found["fidelity"]} == {one["seed"] for one in found["erasure"]} == {0, 7}
    assert {one["seed"] for one in found["performance"] if one["measure"] == "random order"} == {0, 7}
    assert {one["n"] for one in found["areas"]} == {4}


def sorted_ids(facts):
    """Ids in the order of drawing, each once."""
    found = [one.split()[-1] for one in facts["sample_ids"]]
    assert sorted(found) == [f"t{i}" for i in range(4)]
    return found


@pytest.mark.parametrize("after", [1, 6, 13])
def test_a_sweep_that_is_stopped_goes_on_to_the_same_tables(after, sweep, folder, monkeypatch):
    asked = written("bert", tables=["areas", "performance", "fidelity"])
    assert sweep(asked, "undisturbed") == 0
    whole = rows_of(folder)
    add, done = Run.add, []

    def stop(run, i, cancelled):
        if len(done) == after:
            raise KeyboardInterrupt
        done.append(run.sample.examples[i].id)
        add(run, i, cancelled)

    with monkeypatch.context() as stopped:
        stopped.setattr(Run, "add", stop)
        assert sweep(asked.replace('"out"', '"again"')) == 130
    assert rows_of(folder, "again") == {}
    computed = []
    monkeypatch.setattr(Run, "add", lambda run, i, cancelled: (computed.append(i), add(run, i, cancelled))[1])
    assert sweep(asked.replace('"out"', '"again"')) == 0
    assert rows_of(folder, "again") == whole
    # No example that was done is computed again, but for those that have no row.
    assert len(computed) < len(done) + len(computed) <= 4 * 4 + 2


def test_a_second_run_computes_nothing(sweep, folder, monkeypatch):
    asked = written("bert", tables=["areas"])
    assert sweep(asked) == 0
    first, monkeypatched = rows_of(folder), []
    add = Run.add
    monkeypatch.setattr(Run, "add", lambda run, i, c: (monkeypatched.append(run.sample.examples[i].id), add(run, i, c)))
    assert sweep(asked) == 0
    assert rows_of(folder) == first and set(monkeypatched) <= {"t3"}


def test_a_table_computes_what_it_shows_and_finds_what_others_computed(sweep, folder, monkeypatch):
    computed, add = [], Run.add

    def counted(run, i, cancelled):
        if run.sample.examples[i].id != "t3":  # masked already, it has no row
            computed.append(run.study)
        add(run, i, cancelled)

    monkeypatch.setattr(Run, "add", counted)
    found = {}
    for tables, parts in (["aopc"], {"random order", "gradient"}), (["naopc"], {"limits of AOPC"}), (["ranks"], set()):
        computed.clear()
        assert sweep(written("bert", tables=tables, out=tables[0])) == 0
        assert {one.label for one in computed} == parts and len(computed) == 3 * len(parts)
        assert not any(getattr(one, "whole", False) for one in computed if one.label != "limits of AOPC")
        found |= rows_of(folder, tables[0])
    figures = {name: {one["figure"] for one in found[name]} for name in found}
    assert figures["aopc"] == {*NORMALISED} and figures["naopc"] == {*NORMALISED.values()}
    means = {(one["measure"], one["figure"]): one["mean"] for name in ("aopc", "naopc") for one in found[name]}
    assert len(means) == 2 * 4 == len(found["ranks"]) and None not in means.values()
    assert {(one["measure"], one["figure"]): one["mean"] for one in found["ranks"]} == means


def test_two_sweeps_at_once_on_one_store_come_to_the_same(sweep, folder):
    assert sweep(written("bert", tables=["areas", "fidelity"])) == 0
    for name in ("one", "two"):
        (folder / f"{name}.toml").write_text(written("bert", tables=["areas", "fidelity"], out=name), encoding="utf-8")
    shutil.rmtree(folder / "store")
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(lambda name: main(["sweep", f"{name}.toml"]), ("one", "two"))) == [0, 0]
    assert rows_of(folder, "one") == rows_of(folder, "two") == rows_of(folder)


def test_one_folder_is_written_by_one_sweep_at_a_time(sweep, folder, capsys):
    with only_writer(folder / "out", folder=True):
        assert sweep(written("bert", tables=["areas"])) == 1
    assert "Another run" in capsys.readouterr().err


def test_texts_of_one_class_have_tables_too(sweep, folder):
    lines = [json.dumps({"text": text, "label": "kitchen"}) for text in tiny.SENTENCES[:3]]
    (folder / "texts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert sweep(written("bert", tables=["areas", "performance", "aopc"])) == 0
    assert set(rows_of(folder)) == {"areas", "performance", "aopc"}


@pytest.mark.parametrize(
    ("more", "named", "offered"),
    [
        ({"mesures": ["gradient"]}, "mesures", "measures"),
        ({"measures": ["gradeint"]}, "gradeint", "gradient"),
        ({"metrics": ["Soft-NX"]}, "Soft-NX", "Soft-NC"),
        ({"tables": ["area"]}, "area", "areas"),
        ({"values": "sined"}, "sined", "signed"),
        ({"data": [{"file": "texts.jsonl", "txet": "text"}]}, "txet", "text"),
        ({"data": [{"file": "texts.jsonl", "text": "txt"}]}, "txt", "text"),
        ({"seeds": ["one"]}, "seeds", "whole numbers"),
        ({"sample": 0}, "sample", "at least 1"),
        ({"sample_seed": -1}, "sample_seed", "at least 0"),
        ({"seeds": [0, -1]}, "seeds", "at least 0"),
        ({"sample_seed": 0.5}, "sample_seed", "whole number"),
        ({"models": []}, "models", "at least one"),
        ({"models": ["bert", "bert"]}, "bert", "twice"),
    ],
)
def test_what_cannot_be_asked_is_named_in_one_sentence_and_the_nearest_is_offered(more, named, offered, sweep, capsys):
    text = written("bert", **more)
    if "data = [{" in text:
        text = re.sub(r"data = \[\{(.*)\}\]", lambda found: f"data = [{{{found[1].replace(':', ' =')}}}]", text)
    assert sweep(text) == 1
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert named in said and offered in said


@pytest.mark.parametrize("text", ["models = [", 'models = ["bert"]\ndata = ["texts.jsonl"]'])
def test_a_configuration_that_is_none_is_refused(text, sweep, capsys):
    assert sweep(text) == 1
    assert "sweep.toml" in capsys.readouterr().err


def test_tables_that_need_labels_say_so(sweep, folder, capsys):
    (folder / "texts.jsonl").write_text(json.dumps({"text": "the soup"}), encoding="utf-8")
    assert sweep(written("bert", tables=["areas"])) == 1
    assert "has no labels" in capsys.readouterr().err
    assert sweep(written("bert", tables=["fidelity"])) == 0


def test_a_digest_is_of_the_choices_and_not_of_the_place(folder):
    digests = []
    for text in (written("bert"), written("bert", out="elsewhere"), written("bert", seeds=[1])):
        (folder / "sweep.toml").write_text(text, encoding="utf-8")
        digests.append(read_sweep(folder / "sweep.toml").digest)
    assert digests[0] == digests[1] != digests[2]
