"""Hub data sets, read through the real `huggingface_hub` and `datasets` from a small hub of the test's own on this
machine.
"""

import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from core.data.hub_data import hub_choices, read_hub
from core.data.parsed import BadData, Repair
from core.storage import hub_data_sets
from tests.app_session import EXAMPLES, App, wait

SHA = "0123456789abcdef0123456789abcdef01234567"
MIRROR = "refs/convert/parquet"
NAMES = ["contradiction", "entailment"]


class Hub(ThreadingHTTPServer):
    """Serves folders as data sets, as the hub does: listing, headers and files; keeps what was asked for."""

    daemon_threads = True

    def __init__(self, root: Path):
        super().__init__(("127.0.0.1", 0), _Answer)
        self.root, self.fetched, self.refused, self.closed = root, [], {}, set()

    def folder(self, id: str, revision: str) -> Path:
        """Where a data set's files lie; its Parquet mirror lies beside it."""
        return self.root / (f"{id}@mirror" if revision in (MIRROR, "m" * 40) else id)


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        parts = unquote(urlsplit(self.path).path).strip("/").split("/")
        if parts[:2] == ["api", "datasets"]:
            at = parts.index("revision") if "revision" in parts else len(parts)
            return self.listing("/".join(parts[2:at]), "/".join(parts[at + 1 :]) or "main")
        if parts[0] == "datasets" and "resolve" in parts:
            at = parts.index("resolve")
            return self.file("/".join(parts[1:at]), parts[at + 1], "/".join(parts[at + 2 :]))
        return self.answer(404, b"")

    def listing(self, id: str, revision: str):
        if id in self.server.refused:
            status, code = self.server.refused[id]
            return self.answer(status, b"{}", {"X-Error-Code": code})
        folder = self.server.folder(id, revision)
        if not folder.is_dir():
            return self.answer(
                404, b"{}", {"X-Error-Code": "RepoNotFound" if revision == "main" else "RevisionNotFound"}
            )
        files = [
            {"rfilename": p.relative_to(folder).as_posix(), "size": p.stat().st_size}
            for p in sorted(folder.rglob("*"))
            if p.is_file()
        ]
        return self.answer(
            200,
            json.dumps({"id": id, "sha": "m" * 40 if revision == MIRROR else SHA, "siblings": files}).encode(),
            {"Content-Type": "application/json"},
        )

    def file(self, id: str, revision: str, name: str):
        if id in self.server.closed:
            return self.answer(403, b"", {"X-Error-Code": "GatedRepo"})
        path = self.server.folder(id, revision) / name
        commit = {"X-Repo-Commit": "m" * 40 if revision == "m" * 40 else SHA}
        if not path.is_file():
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound", **commit})
        content = path.read_bytes()
        if self.command == "GET":
            self.server.fetched.append(name)
        return self.answer(200, content, {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', **commit})

    def answer(self, status: int, content: bytes, headers: dict[str, str] | None = None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub of this test alone, and an empty cache."""
    from huggingface_hub import constants

    server = Hub(tmp_path / "hub")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.chdir(tmp_path)
    yield server
    server.shutdown()
    server.server_close()


def parquet(path: Path, rows: dict[str, list], names: dict[str, list[str]] | None = None):
    """Write a Parquet file as `datasets` does: class names lie in the schema's metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(rows)
    if names:
        kinds = {
            c: {"names": names[c], "_type": "ClassLabel"} if c in names else {"dtype": "string", "_type": "Value"}
            for c in rows
        }
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": kinds}})})
    pq.write_table(table, path)


def card(folder: Path, text: str):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(f"---\n{text}\n---\n# A card\n", encoding="utf-8")


def pairs(server: Hub) -> Path:
    """A data set of two configurations, whose card says which file is what."""
    folder = server.root / "someone/pairs"
    card(
        folder,
        """
configs:
- config_name: small
  data_files:
  - split: train
    path: small/train-*
  - split: dev
    path: small/dev-*
- config_name: large
  data_files:
  - split: test
    path: large/test-*
dataset_info:
- config_name: small
  features:
  - name: premise
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': contradiction
          '1': entailment
- config_name: large
  features:
  - name: premise
    dtype: string
  - name: label
    dtype: int64
""",
    )
    parquet(folder / "small/train-0.parquet", {"premise": ["It is wet.", "It is dry."], "label": [1, 0]})
    parquet(folder / "small/dev-0.parquet", {"premise": ["It rains.", "It snows.", "Fog."], "label": [1, -1, 0]})
    parquet(folder / "large/test-0.parquet", {"premise": ["Hail."], "label": [0]})
    return folder


def test_choices_are_those_of_the_card_and_no_data_is_fetched(hub):
    pairs(hub)
    choices = hub_choices("someone/pairs")
    assert choices == {"small": ["train", "dev"], "large": ["test"]}
    assert {type(split) for splits in choices.values() for split in splits} == {str}
    assert hub.fetched == ["README.md"]


def test_a_split_is_read_with_its_class_names_and_nothing_else_is_fetched(hub):
    pairs(hub)
    table = read_hub("someone/pairs", "small", "dev")
    assert table.columns == ("premise", "label")
    assert table.cells == {"premise": ["It rains.", "It snows.", "Fog."], "label": [1, -1, 0]}
    assert table.classes == {"label": ("contradiction", "entailment")}
    assert table.name == "someone/pairs small dev" and table.notes == () and len(table) == 3
    assert hub.fetched == ["README.md", "small/dev-0.parquet"]


@pytest.mark.parametrize(
    "config, split, said",
    [
        (None, "dev", "'someone/pairs' has several configurations; choose one of small, large."),
        ("medium", "dev", "'someone/pairs' has no configuration 'medium'; it has small, large."),
        ("small", "validation", "'someone/pairs' (small) has no split 'validation'; it has train, dev."),
    ],
)
def test_what_is_not_there_is_named_with_what_is(hub, config, split, said):
    pairs(hub)
    with pytest.raises(BadData) as found:
        read_hub("someone/pairs", config, split)
    assert str(found.value) == said and hub.fetched == ["README.md"]


def test_without_a_card_the_files_names_tell_the_splits(hub):
    folder = hub.root / "someone/plain"
    parquet(folder / "data/train-00000-of-00001.parquet", {"text": ["one"], "label": [0]}, {"label": NAMES})
    parquet(folder / "data/test-00000-of-00001.parquet", {"text": ["two", "three"], "label": [1, 0]}, {"label": NAMES})
    assert hub_choices("someone/plain") == {"default": ["train", "test"]}
    table = read_hub("someone/plain", split="test")
    assert table.cells == {"text": ["two", "three"], "label": [1, 0]} and table.classes == {"label": tuple(NAMES)}
    assert table.name == "someone/plain test" and hub.fetched == ["data/test-00000-of-00001.parquet"]


def test_json_lines_and_csv_are_read_too(hub):
    lines = hub.root / "someone/lines"
    lines.mkdir(parents=True)
    for split, rows in {"train": [["a", 1]], "valid": [["b", 2], ["c", 3]], "test": [["d", 4]]}.items():
        (lines / f"babi_{split}.jsonl").write_text(
            "".join(json.dumps({"passage": p, "task": t}) + "\n" for p, t in rows), encoding="utf-8"
        )
    assert list(hub_choices("someone/lines")["default"]) == ["train", "validation", "test"]
    assert read_hub("someone/lines").cells == {"passage": ["b", "c"], "task": [2, 3]}
    sheet = hub.root / "someone/sheet"
    sheet.mkdir(parents=True)
    (sheet / "train.csv").write_text('text,label\n"one, two",0\nthree,\n', encoding="utf-8")
    assert read_hub("someone/sheet", split="train").cells == {"text": ["one, two", "three"], "label": [0, None]}


def test_configurations_of_different_formats_are_each_read_by_its_own(hub):
    folder = hub.root / "someone/mixed"
    card(
        folder,
        "configs:\n"
        "- {config_name: a, data_files: [{split: validation, path: a/*.csv}]}\n"
        "- {config_name: b, data_files: [{split: validation, path: b/*.jsonl}]}\n"
        "- {config_name: c, data_files: [{split: validation, path: c/*.parquet}]}",
    )
    for place in "abc":
        (folder / place).mkdir(parents=True)
    (folder / "a/one.csv").write_text("text,label\nfine,1\n")
    (folder / "b/one.jsonl").write_text('{"text": "good", "label": 0}\n{"text": "bad", "label": 1}\n')
    parquet(folder / "c/one.parquet", {"text": ["long"], "score": [2.5]})
    found = {config: read_hub("someone/mixed", config).cells for config in "abc"}
    assert found["a"] == {"text": ["fine"], "label": [1]}
    assert found["b"] == {"text": ["good", "bad"], "label": [0, 1]}
    assert found["c"] == {"text": ["long"], "score": [2.5]}


def test_only_the_first_rows_are_read_and_only_their_files_fetched(hub, monkeypatch):
    folder = hub.root / "someone/long"
    for number in range(3):
        parquet(folder / f"data/train-0000{number}-of-00003.parquet", {"text": [f"{number}{i}" for i in range(4)]})
    monkeypatch.setattr("core.data.hub_data.MOST_ROWS", 5)
    table = read_hub("someone/long", split="train")
    assert table.cells == {"text": ["00", "01", "02", "03", "10"]}
    assert table.notes == (f"{Repair.FIRST_ROWS}: 5.",)
    assert [name[15:16] for name in hub.fetched] == ["0", "1"]
    monkeypatch.setattr("core.data.hub_data.MOST_ROWS", 12)
    whole = read_hub("someone/long", split="train")
    assert len(whole) == 12 and whole.notes == ()
    monkeypatch.setattr("core.data.hub_data.MOST_ROWS", 200_000)
    assert read_hub("someone/long", split="train").digest == whole.digest != table.digest


@pytest.mark.parametrize("kinds", ["", "\ndataset_info:\n  features:\n  - {name: text, dtype: string}"])
def test_a_card_leaves_out_columns_and_rows(hub, kinds):
    """Beside what `datasets` reads of the same folder."""
    folder = hub.root / "someone/part"
    told = "columns: [text]" if kinds else 'columns: [text, score]\n  filters: [[[score, ">", 0.2]]]'
    card(folder, f"configs:\n- config_name: default\n  data_files: a.parquet\n  {told}{kinds}")
    parquet(folder / "a.parquet", {"url": ["x", "y"], "score": [0.1, 0.9], "text": ["One.", "Two."]})
    found = read_hub("someone/part", split="train")
    expected = load_dataset(str(folder), split="train", cache_dir=str(hub.root / "kept"))
    assert found.cells == expected.to_dict()
    assert found.cells == ({"text": ["One.", "Two."]} if kinds else {"score": [0.9], "text": ["Two."]})


@pytest.mark.parametrize(
    "second, cells",
    [({}, {"text": ["One.", "Two."], "score": [0.5, None]}), ({"url": ["x"]}, None)],
    ids=["lacks a column", "has one more"],
)
def test_what_a_file_lacks_is_empty_and_a_column_without_a_kind_is_refused(hub, second, cells):
    folder = hub.root / "someone/uneven"
    card(folder, "dataset_info:\n  features:\n  - {name: text, dtype: string}\n  - {name: score, dtype: float64}")
    parquet(folder / "data/train-0.parquet", {"text": ["One."], "score": [0.5]})
    parquet(folder / "data/train-1.parquet", {"text": ["Two."], **second})
    if cells is None:
        with pytest.raises(BadData, match="as tables"):
            read_hub("someone/uneven", split="train")
    else:
        assert read_hub("someone/uneven", split="train").cells == cells


def test_arrow_opens_parquet_files_itself(hub, monkeypatch):
    """A file that Python opened, read by threads of Arrow, hung processes and crashed them."""
    pairs(hub)
    opened, honest = [], open
    monkeypatch.setattr(
        "builtins.open", lambda file, *how, **more: opened.append(str(file)) or honest(file, *how, **more)
    )
    assert len(read_hub("someone/pairs", "small", "dev")) == 3
    assert opened and not [file for file in opened if file.endswith(".parquet")]


def test_files_above_the_limit_are_not_fetched(hub, monkeypatch):
    monkeypatch.setattr("core.data.hub_data.MOST_BYTES", 10)
    pairs(hub)
    with pytest.raises(BadData, match="more than 0 MB"):
        read_hub("someone/pairs", "small", "dev")
    assert hub.fetched == ["README.md"]


def test_cells_become_what_a_table_holds(hub):
    rows = {
        "text": ["a", None],
        "score": [float("nan"), 0.5],
        "true": [True, False],
        "tags": [["x", "y"], []],
        "idx": [{"paragraph": 1, "answer": 2}, {"paragraph": 1, "answer": 3}],
    }
    parquet(hub.root / "someone/kinds/train.parquet", rows)
    cells = read_hub("someone/kinds", split="train").cells
    assert cells == {
        "text": ["a", None],
        "score": [None, 0.5],
        "true": [True, False],
        "tags": [["x", "y"], []],
        "idx": [{"paragraph": 1, "answer": 2}, {"paragraph": 1, "answer": 3}],
    }
    assert all(type(value) is bool for value in cells["true"])


def test_the_digest_changes_with_the_cells_and_the_split(hub):
    folder = hub.root / "someone/few"
    for split in ("train", "test"):
        parquet(folder / f"{split}.parquet", {"text": ["same"]})
    first = read_hub("someone/few", split="train").digest
    assert first == read_hub("someone/few", split="train").digest and len(first) == 64
    assert first != read_hub("someone/few", split="test").digest


def test_a_script_is_not_run_and_the_hubs_own_parquet_copy_is_read_instead(hub):
    folder = hub.root / "someone/old"
    folder.mkdir(parents=True)
    (folder / "old.py").write_text("raise SystemExit('the script ran')\n", encoding="utf-8")
    with pytest.raises(BadData, match="loading script"):
        read_hub("someone/old", split="test")
    mirror = hub.root / "someone/old@mirror"
    parquet(mirror / "qa1/train/0000.parquet", {"text": ["a"], "label": [1]}, {"label": NAMES})
    parquet(mirror / "qa1/test/0000.parquet", {"text": ["b"], "label": [0]}, {"label": NAMES})
    parquet(mirror / "qa2/partial-train/0000.parquet", {"text": ["c"], "label": [0]}, {"label": NAMES})
    assert hub_choices("someone/old") == {"qa1": ["test", "train"], "qa2": ["train"]}
    table = read_hub("someone/old", "qa1", "test")
    assert table.cells == {"text": ["b"], "label": [0]} and table.classes == {"label": tuple(NAMES)}
    assert table.notes == (hub_data_sets._COPY, hub_data_sets._PART) and "old.py" not in hub.fetched


@pytest.mark.parametrize(
    "status, code, said",
    [
        (404, "RepoNotFound", "spelling.*hf auth login"),
        (401, "RepoNotFound", "spelling.*hf auth login"),
        (403, "GatedRepo", "is gated.*hf auth login"),
        (503, "", "503"),
    ],
)
def test_what_the_hub_refuses_becomes_a_sentence(hub, status, code, said):
    hub.refused["someone/shut"] = (status, code)
    with pytest.raises(BadData, match=said):
        read_hub("someone/shut")


def test_a_listed_but_gated_set_says_so(hub):
    pairs(hub)
    hub.closed.add("someone/pairs")
    with pytest.raises(BadData, match="is gated"):
        read_hub("someone/pairs", "small", "dev")


def test_a_damaged_file_and_a_set_without_tables_become_sentences(hub):
    folder = hub.root / "someone/broken"
    folder.mkdir(parents=True)
    (folder / "train.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(BadData, match="as tables"):
        read_hub("someone/broken", split="train")
    (hub.root / "someone/pictures").mkdir()
    (hub.root / "someone/pictures/a.png").write_bytes(b"")
    with pytest.raises(BadData, match="holds no tables"):
        hub_choices("someone/pictures")
    parquet(hub.root / "someone/none/train.parquet", {"text": pa.array([], pa.string())})
    with pytest.raises(BadData, match="holds no rows"):
        read_hub("someone/none", split="train")


@pytest.mark.parametrize(
    "damaged",
    [
        "configs: 5",
        "configs: [{config_name: a, data_files: [{split: 3}]}]",
        "{{",
        "configs:\n- config_name: x\n  data_files: gone.csv",
    ],
)
def test_a_damaged_card_never_shows_a_traceback(hub, damaged):
    folder = hub.root / "someone/card"
    card(folder, damaged)
    parquet(folder / "train.parquet", {"text": ["a"]})
    try:
        assert read_hub("someone/card", split="train").cells == {"text": ["a"]}
    except BadData as error:
        assert "someone/card" in str(error) and "\n" not in str(error)


def test_names_that_lead_out_of_the_folder_are_never_touched(hub, monkeypatch):
    from huggingface_hub import HfApi

    pairs(hub)
    honest = HfApi.dataset_info

    def sly(*args, **more):
        found = honest(*args, **more)
        found.siblings[-1].rfilename = "../../escaped/train-0.parquet"
        return found

    monkeypatch.setattr(HfApi, "dataset_info", sly)
    assert hub_choices("someone/pairs")
    assert not list(hub.root.parent.rglob("escaped*"))


SLY = (
    "../../escaped.parquet",
    "qa1/../../../escaped/0000.parquet",
    "../qa1/escaped.parquet",
    "/escaped/0000.parquet",
    "//escaped/0000.parquet",
    "qa1/test/..\\escaped.parquet",
    "c:/escaped/0000.parquet",
    "qa1/test/c:escaped.parquet",
    "./qa1/escaped.parquet",
    "qa1//escaped.parquet",
    "qa1/test/escaped\0.parquet",
)


@pytest.mark.parametrize("name", SLY)
@pytest.mark.parametrize("id", ["someone/pairs", "someone/old"])
def test_files_with_names_that_lead_out_of_the_folder_are_never_made(hub, monkeypatch, name, id):
    """Nor are they fetched, whether the set is read itself or from the hub's own copy of it."""
    from types import SimpleNamespace

    from huggingface_hub import HfApi

    pairs(hub)
    (hub.root / "someone/old").mkdir()
    (hub.root / "someone/old/old.py").write_text("", encoding="utf-8")
    parquet(hub.root / "someone/old@mirror/qa1/test/0000.parquet", {"text": ["b"]})
    made, honest = [], HfApi.dataset_info

    def sly(*args, **more):
        found = honest(*args, **more)
        found.siblings.append(SimpleNamespace(rfilename=name, size=1))
        return found

    def touch(path, *how, **more):
        made.append(path.as_posix())
        if "escaped" not in path.as_posix():
            path.write_bytes(b"")

    monkeypatch.setattr(HfApi, "dataset_info", sly)
    monkeypatch.setattr(Path, "touch", touch)
    config, split = ("small", "dev") if id == "someone/pairs" else ("qa1", "test")
    assert split in hub_choices(id)[config] and len(read_hub(id, config, split)) == (3 if config == "small" else 1)
    assert made and not any("escaped" in path for path in [*made, *hub.fetched])


@pytest.mark.parametrize(
    "part, refused",
    [
        ("data_dir: ../../..", True),
        ("data_dir: /", True),
        ("data_files: ./data/*.csv\n  sep: ':'", False),
        ("data_files: 'data/**'\n  description: 'See https://example.org'", False),
    ],
)
def test_only_what_a_card_names_as_files_can_lie_elsewhere(hub, part, refused):
    folder = hub.root / "someone/elsewhere"
    card(folder, f"configs:\n- config_name: default\n  {part}")
    (folder / "data").mkdir()
    (folder / "data/train.csv").write_text("text:label\na:b\n", encoding="utf-8")
    if refused:
        with pytest.raises(BadData, match="from elsewhere"):
            hub_choices("someone/elsewhere")
    else:
        assert hub_choices("someone/elsewhere") == {"default": ["train"]}


@pytest.mark.parametrize(
    "id, said",
    [
        ("", "is no hub id"),
        ("  ", "is no hub id"),
        ("./data", "is no hub id"),
        ("/no/such/folder", "is no hub id"),
        ("a/b/c", "is no hub id"),
        ("c:\\data", "is no hub id"),
        ("some one/x?", "is no hub id"),
        ("x" * 5000, "is no hub id"),
        ("nul\0", "is no hub id"),
        ("here", "is a folder"),
        ("file.csv", "is no hub id"),
    ],
)
def test_what_is_no_hub_id_is_told_without_asking(hub, id, said):
    Path("here").mkdir()
    Path("file.csv").write_text("text\na\n", encoding="utf-8")
    with pytest.raises(BadData, match=said):
        read_hub(id)
    with pytest.raises(BadData, match=said):
        hub_choices(id)


def test_a_page_of_the_hub_is_understood(hub):
    pairs(hub)
    assert hub_choices("https://huggingface.co/datasets/someone/pairs/viewer/small") == hub_choices("someone/pairs")


def test_without_a_network_the_sentence_comes_at_once_and_what_was_fetched_is_read(hub, monkeypatch):
    from huggingface_hub import constants

    pairs(hub)
    before = read_hub("someone/pairs", "small", "dev")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", "http://127.0.0.1:9/{repo_id}/resolve/{revision}/{filename}"
    )
    started = time.perf_counter()
    with pytest.raises(BadData, match=r"'someone/unseen' .* local file"):
        read_hub("someone/unseen")
    assert time.perf_counter() - started < 5
    again = read_hub("someone/pairs", "small", "dev")
    assert again.cells == before.cells and again.classes == before.classes and again.digest == before.digest
    assert again.notes == (hub_data_sets._BEFORE,)
    with pytest.raises(BadData, match=r"'train'; it has dev\.|has no configuration"):
        read_hub("someone/pairs", "small", "train")


def test_offline_mode_is_a_sentence_too(hub, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(BadData, match="could not be reached"):
        hub_choices("someone/pairs")


def test_a_task_gives_a_hub_set_its_meaning(hub):
    from core.data.mapping import build
    from core.data.tasks import match_task, tasks

    parquet(
        hub.root / "fancyzhx/yelp_polarity/plain_text/test-00000-of-00001.parquet",
        {"text": ["Good.", "Bad."], "label": [1, 0]},
        {"label": ["1", "2"]},
    )
    parquet(
        hub.root / "google/civil_comments/data/test-00000-of-00001.parquet",
        {"text": ["Fine.", "Fool."], "toxicity": pa.array([0.1, 0.5], pa.float32())},
    )
    for name, columns, labels in (
        ("Yelp", ("text", "label"), ["positive", "negative"]),
        ("Civil Comments", ("text", "toxicity"), ["non-toxic", "toxic"]),
    ):
        task = tasks()[name]
        found = read_hub(task.hub, task.config, task.splits["test"])
        assert found.columns == columns and match_task(found.columns, task.hub) is task
        data = build(task.prepare(found), task.mapping())
        assert [example.label for example in data.examples] == labels and data.classes == task.label_names


@pytest.mark.parametrize(
    "name",
    [
        "https://example.org/train.csv",
        "/etc/hosts.csv",
        "../other/train.csv",
        "file:///etc/hosts.csv",
        "C:\\data\\train.csv",
    ],
)
@pytest.mark.parametrize(
    "files",
    [
        "data_files: {0}",
        "data_files: [{0}]",
        "data_files: [{{split: train, path: [train.parquet, {0}]}}]",
        "data_dir: {0}",
    ],
)
def test_a_card_that_names_files_elsewhere_is_told_in_a_sentence(hub, name, files):
    folder = hub.root / "someone/elsewhere"
    card(folder, f"configs:\n- config_name: default\n  {files.format(json.dumps(name))}")
    parquet(folder / "train.parquet", {"text": ["a"]})
    with pytest.raises(BadData, match="from elsewhere") as found:
        read_hub("someone/elsewhere", split="train")
    assert name.split(":")[0] in str(found.value) and "train.parquet" not in hub.fetched


def test_the_page_lists_configurations_and_splits_of_a_typed_id(hub, server):
    pairs(hub)
    app = App(EXAMPLES).set("button_group", "From", "A data set of the hub")
    assert not app.has("selectbox", "Configuration") and not app.has("button", "Fetch")
    app.set("text_input", "Hub id", "someone/nowhere")
    wait(app, lambda: app.errors)
    assert "was not found" in app.errors[0] and app.has("button", "Ask again")
    app.set("text_input", "Hub id", "someone/pairs")
    wait(app, lambda: app.has("selectbox", "Configuration"))
    assert not app.errors and app.widget("selectbox", "Configuration").options == ["small", "large"]
    assert app.widget("selectbox", "Split").options == ["train", "dev"]
    assert not any(name.endswith(".parquet") for name in hub.fetched)
    app.set("selectbox", "Configuration", "large")
    assert app.widget("selectbox", "Split").options == ["test"]
    app.press("Fetch")
    wait(app, lambda: app.has("button", "Add this data"))
    assert "1 example" in app.said and not app.errors
