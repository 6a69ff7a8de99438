"""`python -m core.tools notes`: notes go to a colleague and back, none is overwritten, and a kill loses none."""

import json
import os
import signal
import subprocess
import sys

import pytest

from core import settings
from core.commands.command_line import main
from core.data.sources import read_data
from core.storage.library import Library
from tests.hostile import lines
from tests.test_floors import ROOT

ROWS = [{"id": f"e{i}", "text": text} for i, text in enumerate(("one", "<b>two</b>", "\u202ethree"))]


@pytest.fixture
def at_home(monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "mine"))
    (tmp_path / "texts.jsonl").write_bytes(lines(*ROWS))
    return tmp_path


def library(folder):
    digest = read_data(folder / "texts.jsonl", lambda _: None)[2].digest
    return Library(settings.read().cache), digest


def notes(folder, *asked) -> int:
    return main(["notes", "--data", str(folder / "texts.jsonl"), *map(str, asked)], "core.tools")


def test_notes_go_out_and_come_in_and_those_here_stay(at_home, monkeypatch, capsys):
    mine, digest = library(at_home)
    mine.pin(digest, "e2", "\u202eodd")
    mine.pin(digest, "e0", "mine")
    assert notes(at_home, "--out", at_home / "notes.json") == 0
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(at_home / "theirs"))
    theirs, _ = library(at_home)
    theirs.pin(digest, "e0", "theirs")
    assert notes(at_home, "--add", at_home / "notes.json") == 0
    assert theirs.pins(digest) == {"e0": "theirs", "e2": "\u202eodd"}
    said = capsys.readouterr().out
    assert "new: 1" in said and "conflicts: 1" in said and "mine" in said and "theirs" in said
    # Once more adds nothing.
    assert notes(at_home, "--add", at_home / "notes.json") == 0 and "new: 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "said"),
    [((), "--out or --add"), (("--add", "texts.jsonl"), "holds no notes"), (("--add", "gone"), "gone")],
)
def test_what_cannot_be_done_is_one_sentence_and_changes_nothing(asked, said, at_home, monkeypatch, capsys):
    monkeypatch.chdir(at_home)
    mine, digest = library(at_home)
    mine.pin(digest, "e0", "mine")
    assert notes(at_home, *asked) == 1
    assert said in capsys.readouterr().err.strip().splitlines()[-1] and mine.pins(digest) == {"e0": "mine"}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_writer_that_is_killed_leaves_the_notes_before_it_and_no_half_one(at_home):
    """A process that writes one note after another is killed at an arbitrary moment."""
    mine, digest = library(at_home)
    mine.pin(digest, "before", "whole")
    code = (
        "import sys; from pathlib import Path; from core.storage.library import Library\n"
        "found = Library(Path(sys.argv[1]))\n"
        "for i in range(10**9):\n"
        "    found.pin(sys.argv[2], f'e{i % 40}', f'{i} ' * 90); print(i, flush=True)"
    )
    cache = str(settings.read().cache)
    for last in (3, 50, 97):
        with subprocess.Popen(
            [sys.executable, "-c", code, cache, digest], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=os.environ
        ) as writer:
            written = next(int(line) for line in writer.stdout if int(line) == last)
            writer.send_signal(signal.SIGKILL)
        found = Library(settings.read().cache).pins(digest)
        assert found.pop("before") == "whole"
        newest = {name: int(note.split()[0]) for name, note in found.items()}
        assert all(set(note.split()) == {str(newest[name])} for name, note in found.items())
        # What it said is written is there, or what it wrote in its place later.
        assert all(newest[f"e{i % 40}"] >= i for i in range(max(0, written - 39), written + 1))
    files = (settings.read().cache / "library" / "pins").glob("*.json")
    assert all(json.loads(one.read_text())["name"] for one in files)
