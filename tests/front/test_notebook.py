"""The notebook runs from its first cell to its last, and the README's Python block as it stands."""

import re
import shutil

import nbformat
import pytest
from nbclient import NotebookClient

from core.loading.locating import bundled_models
from tests.test_floors import ROOT

NOTEBOOK = ROOT / "core" / "bundled" / "notebooks" / "first_steps.ipynb"
(BLOCK,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder of the user's own, from which the library is found."""
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_notebook_runs_and_shows_words_and_curves(elsewhere):
    copied = nbformat.read(shutil.copy(NOTEBOOK, elsewhere), as_version=4)
    assert all(not cell.get("outputs") for cell in copied.cells), "outputs are not kept"
    NotebookClient(copied, timeout=300, resources={"metadata": {"path": str(elsewhere)}}).execute()
    shown = [
        output["data"]["text/html"]
        for cell in copied.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert 'class="faithscope"' in shown[0] and "gripping" in shown[0]
    assert any("<polyline" in html for html in shown) and not any("<script" in html for html in shown)
    assert (elsewhere / "film.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_readmes_block_runs_as_a_newcomer_runs_it(elsewhere, capsys):
    lines = BLOCK.splitlines()
    assert [line for line in lines if re.match("import|from", line)] == ["import core"]
    assert any(f'"{name}"' in BLOCK for name in bundled_models()) and "leave-one-out" in BLOCK
    scope: dict = {}
    exec(compile("\n".join(lines[:6]), "README.md", "exec"), scope)
    first = capsys.readouterr().out
    assert "leave-one-out" in first, "the first result comes by the sixth line"
    exec(compile("\n".join(lines[6:]), "README.md", "exec"), scope)
    assert [path.name for path in elsewhere.glob("*.html")] == ["film.html"]
