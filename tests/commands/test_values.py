"""Which values of a measure a command took stands in every file that it writes: the variant, not what was asked for."""

import json

import pytest
from pyarrow import parquet

from core.commands.command_line import main
from core.explanation.rows import SIGNS, values_taken
from core.measures.catalogue import measure, measures
from core.measures.registry import WORDS
from tests import tiny

# What a measure has of the two that are asked for, written down from its own file; of others, what they register.
WRITTEN = {
    "leave-one-out": ("signed", "absolute"),
    "gradient": ("L2", "L2"),
    "input × gradient": ("signed", "absolute"),
    "integrated gradients": ("signed", "absolute"),
    "attention": ("absolute", "absolute"),
    "scaled attention": ("signed", "signed"),
    "beam": ("signed", "signed"),
    "random": ("random", "random"),
}
TAKEN = {
    name: tuple(sign if sign in measure.variants else measure.variants[0] for sign in SIGNS)
    for name, measure in measures().items()
    # The model's training texts are not to be had.
    if measure.needs != WORDS
} | WRITTEN


@pytest.fixture
def run(tmp_path, tiny_model, monkeypatch):
    """`run(command, …)`: what a command writes of two texts, of every measure."""
    path, out = tmp_path / "texts.jsonl", tmp_path / "found"
    path.write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in zip(("a b", "b c d"), tiny.LABELS))
    )
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("core.loading.loading.load", lambda *_: tiny_model("bert"))

    def found(command, *more):
        given = ["--model", "tiny", "--data", str(path), "--out", str(out), "--measures", *TAKEN, *more]
        assert main([command, *given, "--device", "cpu"]) == 0
        return parquet.read_table(out).to_pylist() if command == "evaluate" else json.loads(out.read_text())

    return found


def test_what_is_taken_is_what_stands_in_the_measures_file():
    for name in TAKEN:
        assert set(TAKEN[name]) <= set(measure(name).variants)
        assert tuple(values_taken(name, sign) for sign in SIGNS) == TAKEN[name]
    assert values_taken("integrated gradients [steps=5]", "absolute") == "absolute"
    assert values_taken("random order", "signed") is None


@pytest.mark.parametrize("k, sign", enumerate(SIGNS))
def test_commands_write_the_variant(run, k, sign):
    taken = {name: values[k] for name, values in TAKEN.items()}
    scored = run("evaluate", "--values", sign, "--metrics", "NS", "--count", "1")
    assert {line["measure"]: line["values"] for line in scored} == taken | {"random 0": None}
    behaved = run("evaluate", "--what", "behaviour", "--values", sign)
    assert {line["measure"]: line["values"] for line in behaved} == taken | {"random order": None}
    (model,) = run("check", "--values", sign)["models"]
    assert {line["measure"]: line["values"] for line in model["curves"]} == taken | {"random order": None}
