"""`python -m core.tools readme` keeps the tables of both READMEs."""

import shutil
from pathlib import Path

import pytest

from core import settings
from core.commands.command_line import main
from core.tools.readme import renewed

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def house(tmp_path, monkeypatch):
    """The files that the tables stand in and are made of, elsewhere."""
    for name in ("README.md", "core", "pages"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("bundled", "__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    monkeypatch.setattr(settings, "ROOT", tmp_path)
    return tmp_path


def test_both_hold_what_is_registered_and_what_the_rooms_promise():
    for path, (is_, should) in renewed(ROOT).items():
        assert is_ == should, f"{path.relative_to(ROOT)}: run python -m core.tools readme --write"


def test_what_differs_is_said_and_written(house, capsys):
    assert main(["readme", "--check"]) == 0 and capsys.readouterr().out == ""
    for name, line in (
        ("README.md", "| Examples | Which example is worth looking at? |"),
        ("core/README.md", "| gradient | L2, L1 |"),
        ("core/README.md", "| `core/jobs` | Long work"),
    ):
        text = (house / name).read_text(encoding="utf-8")
        assert text.count(line) == 1
        (house / name).write_text(text.replace(line, f"{line} no more"), encoding="utf-8")
    assert main(["readme", "--check"]) == 1 == main(["readme"])
    told = capsys.readouterr().out
    assert "-| Examples |" in told and "-| gradient | L2, L1 | no more" in told and "+| `core/jobs` | Long" in told
    assert main(["readme", "--write"]) == 0 == main(["readme", "--check"])
    for name in ("README.md", "core/README.md"):
        assert (house / name).read_text(encoding="utf-8") == (ROOT / name).read_text(encoding="utf-8")


def test_a_room_says_its_promise_once_it_is_changed(house):
    promise = house / "core" / "storage" / "__init__.py"
    promise.write_text('"""Another promise, of\ntwo lines.\n\nAnd more."""\n', encoding="utf-8")
    told = renewed(house)[house / "core" / "README.md"][1]
    assert "| Another promise" in told


def test_a_table_without_its_marks_is_an_error(house, capsys):
    (house / "README.md").write_text("no table", encoding="utf-8")
    assert main(["readme", "--check"]) == 1 and "table of pages" in capsys.readouterr().err
