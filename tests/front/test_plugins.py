"""Measures of one's own: from a file, in every command; what breaks is a sentence and leaves nothing behind."""

import numpy as np
import pytest

import core
from core.commands.command_line import main
from core.evaluation.studies.catalogue import questions
from core.evaluation.study import REGISTERED as QUESTIONS
from core.measures.catalogue import measures
from core.measures.registry import REGISTERED
from core.metrics.catalogue import metrics
from core.metrics.registry import REGISTERED as METRICS
from tests.test_floors import ROOT

PLUGIN = ROOT / "tests" / "front" / "example_plugin.py"
ASKED = [*"explain --what attributions --model tiny --text".split(), "the boat left", "--measures", "word length"]


@pytest.fixture(autouse=True)
def taken_back():
    # Those of the project are loaded when they are asked for.
    measures(), metrics(), questions()
    registers = REGISTERED, METRICS, QUESTIONS
    before = [dict(one) for one in registers]
    yield
    for held, names in zip(registers, before):
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
    assert main([*ASKED, "--plugin", str(PLUGIN)]) == 0
    assert "word length" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("import core\ncore.register(3)", "Measure"),
        ("1 / 0", "ZeroDivisionError"),
        ("import sys\nsys.exit(3)", "SystemExit"),
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


def run_cell(*changes):
    """The example plugin as a cell of a notebook, edited."""
    source = PLUGIN.read_text(encoding="utf-8")
    for before, after in changes:
        source = source.replace(before, after)
    exec(compile(source, "<cell>", "exec"), {"__name__": "__main__"})


def test_a_cell_of_a_notebook_that_is_run_again_replaces_what_it_registered(tiny_model):
    model = core.Explainer(tiny_model("bert"))
    letters = [3.0, 4.0, 4.0]
    for factor in (1, 1, 2):
        run_cell(("dtype=np.float64)", f"dtype=np.float64) * {factor}"))
        found = core.explain(model, "the boat left", "word length").to_frame()["word length"].tolist()
        assert found == [factor * length for length in letters]
    kept = REGISTERED["word length"]
    # Another function does not take the name, and one that is wrong does not drive out what was there.
    another = ("def compute", "def another"), ("compute=compute", "compute=another")
    for changes in (another, [('variants=("absolute",)', "variants=()")]):
        with pytest.raises(ValueError):
            run_cell(*changes)
        assert REGISTERED["word length"] is kept
    with pytest.raises(ValueError, match="already"):
        core.load_plugin(PLUGIN)


METRIC = ROOT / "tests" / "metrics" / "example" / "half_erased.py"
QUESTION = ROOT / "tests" / "evaluation" / "example_mean" / "all_masked.py"


def written(folder, source, before="", after=""):
    """A plugin of an example of the tests, registered by `core.register`."""
    text = source.read_text(encoding="utf-8").replace(
        "import HIGHER, Case, Metric, Score, register", "import HIGHER, Case, Metric, Score"
    )
    text = text.replace("import Subject, register", "import Subject").replace(
        "\nregister(", "\nimport core\ncore.register("
    )
    text = text.replace("@register", "import core\n@core.register").replace(before, after)
    path = folder / source.name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_metric_and_a_question_of_files_are_asked(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    model = core.Explainer(tiny_model("bert"))
    for path in (METRIC, QUESTION):
        core.load_plugin(written(tmp_path, path))
        with pytest.raises(ValueError, match="already"):
            core.load_plugin(tmp_path / path.name)
    found = core.explain(model, "the boat left", "gradient").metrics(["half erased"])
    assert {line["metric"] for line in found.lines} == {"half erased"}
    falls = core.evaluate(model, ["the boat left", "she burned the soup"], "all masked").to_frame()["value"]
    probabilities = [
        core.explain(model, text, "gradient").probabilities for text in ("the boat left", "she burned the soup")
    ]
    assert (falls.abs() <= [max(one.values()) for one in probabilities]).all() and len(falls) == 2


@pytest.mark.parametrize(
    ("path", "before", "after", "asked"),
    [
        (PLUGIN, "np.array(lengths, dtype=np.float64)", "2.0 * np.array(lengths)", "word length"),
        (QUESTION, "whole.max() - ", "2 * whole.max() - ", "all masked"),
    ],
)
def test_what_is_edited_is_computed_again(path, before, after, asked, tiny_model, tmp_path, monkeypatch):
    from core.storage.store import Store

    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    numbers = []
    for change in ((), (before, after), ()):
        core.load_plugin(written(tmp_path, path, *change))
        model = core.Explainer(tiny_model("bert"), Store(tmp_path / "cache"))
        if path is PLUGIN:
            numbers.append(core.explain(model, "the boat left", asked).to_frame()[asked].tolist())
        else:
            numbers.append(core.evaluate(model, ["the boat left"], asked).to_frame()["value"].tolist())
        REGISTERED.pop(asked, None), QUESTIONS.pop(asked, None)
    assert numbers[0] == numbers[2] != numbers[1]


@pytest.mark.parametrize(
    ("compute", "said"),
    [
        ("explained.nothing", "word length failed: AttributeError"),
        ("{'absolute': np.zeros(explained.F + 1)}", "word length gives"),
        ("{}", "word length gives"),
    ],
)
def test_a_measure_that_breaks_when_it_is_asked_is_a_sentence(compute, said, tiny_model, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr("core.loading.loading.load", lambda *_: tiny_model("bert"))
    path = tmp_path / "broken.py"
    path.write_text(
        PLUGIN.read_text().replace("    return {", f"    return {compute}\n    return {{"), encoding="utf-8"
    )
    assert main([*ASKED, "--plugin", str(path)]) == 1
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "Error" in one]
    assert line.startswith("ValueError: ") and said in line
