"""Measures of one's own: from a file, in every command; what breaks is a sentence and leaves nothing behind."""

import numpy as np
import pytest

import core
from core.commands.command_line import main
from core.measures.registry import REGISTERED
from core.metrics.registry import REGISTERED as METRICS
from tests.test_floors import ROOT

PLUGIN = ROOT / "tests" / "front" / "example_plugin.py"


@pytest.fixture(autouse=True)
def taken_back():
    before = dict(REGISTERED), dict(METRICS)
    yield
    for held, names in zip((REGISTERED, METRICS), before):
        for name in set(held) - set(names):
            del held[name]


def test_a_measure_of_a_file_is_explained_with(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path))
    core.load_plugin(PLUGIN)
    found = core.explain(core.Explainer(tiny_model("bert")), "the boat left", ["word length", "gradient"])
    assert found.to_frame()["word length"].tolist() == [3, 4, 4]
    with pytest.raises(ValueError, match="already"):
        core.load_plugin(PLUGIN)
    assert "word length" in REGISTERED


def test_commands_take_it_before_they_read_their_options(tiny_model, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr("core.loading.loading.load", lambda *_: tiny_model("bert"))
    asked = [
        "explain",
        "--model",
        "tiny",
        "--text",
        "the boat left",
        "--measures",
        "word length",
        "--what",
        "attributions",
    ]
    assert main([*asked, "--plugin", str(PLUGIN)]) == 0
    assert "word length" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("import core\ncore.register(3)", "Measure"),
        ("1 / 0", "ZeroDivisionError"),
        ("def broken(:", "SyntaxError"),
        (None, "no plugin"),
    ],
)
def test_a_plugin_that_breaks_is_a_sentence_and_is_taken_back(content, said, tmp_path, capsys):
    path, names = tmp_path / "mine.py", set(REGISTERED)
    if content is not None:
        path.write_text(f"{PLUGIN.read_text(encoding='utf-8')}\n{content}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        core.load_plugin(path)
    assert set(REGISTERED) - {"word length"} <= names and "word length" not in REGISTERED
    assert main(["explain", "--text", "a", "--plugin", str(path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_name_of_the_project_is_not_taken():
    with pytest.raises(ValueError, match="already"):
        core.register(core.Measure(**{**vars(REGISTERED["random"]), "variants": ("random",)}))
    assert REGISTERED["random"].compute(type("E", (), {"seed": 0, "example": 0, "F": 1, "masked": np.array([False])}))
