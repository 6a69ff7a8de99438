"""What a command says, and writes into its file, of models and texts that are read otherwise than meant."""

import json
import re
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.commands.command_line import main
from core.loading.loading import load
from core.results.caveats import Caveat
from core.results.inputs import model_caveats, text_caveats
from tests import tiny
from tests.model_folders import change_json

LONG = " ".join(["the soup was cold"] * 60)


def change_head(folder, change) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors["classifier.weight"])
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


CHANGES = {
    "as it is": lambda folder: None,
    "several labels": lambda folder: change_json(folder / "config.json", problem_type="multi_label_classification"),
    "a number": lambda folder: change_json(folder / "config.json", problem_type="regression"),
    "flat": lambda folder: change_head(folder, lambda weight: weight.zero_()),
    "broken": lambda folder: change_head(folder, lambda weight: weight[1].fill_(torch.nan)),
}


@pytest.fixture
def changed(tiny_root, tmp_path, monkeypatch):
    """`changed(kind, change)`: the folder of such a model."""
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))

    def make(kind: str, change: str = "as it is"):
        folder = shutil.copytree(tiny.folder(kind, tiny_root), tmp_path / f"{kind}-{change}")
        CHANGES[change](folder)
        return folder

    return make


@pytest.mark.parametrize(
    "kind, change, text, expected",
    [
        ("bert", "as it is", "the boat left the harbour", set()),
        ("bert", "several labels", "the boat left the harbour", {Caveat.SEVERAL_LABELS}),
        ("bert", "a number", "the boat left the harbour", {Caveat.A_NUMBER}),
        ("bert", "as it is", LONG, {Caveat.TRUNCATED}),
        ("roberta", "as it is", LONG, {Caveat.TRUNCATED}),
        ("bert", "as it is", "the boat [SEP] the harbour", {Caveat.TYPED_SPECIAL}),
        ("roberta", "as it is", "the boat </s> the harbour", {Caveat.TYPED_SPECIAL}),
        # The sign of another family is a word, and a typed mask masks.
        ("roberta", "as it is", "the boat [SEP] the harbour", set()),
        ("bert", "as it is", "the boat [MASK] the harbour", set()),
        ("gpt2", "as it is", "the boat <|endoftext|> the harbour", {Caveat.STAND_IN}),
        ("bert", "as it is", "harbour", {Caveat.SINGLE_FEATURE}),
    ],
)
def test_what_limits_a_text_is_said_and_written_alike(changed, kind, change, text, expected, tmp_path, capsys):
    folder = changed(kind, change)
    model = load(str(folder), "cpu")
    found = {*text_caveats(model.encode(text)), *model_caveats(model)} - {Caveat.UNKNOWN_WORDS}
    assert found == expected
    asked = ["explain", "--model", str(folder), "--text", text, "--measures", "gradient", "--what", "attributions"]
    for ending in ("json", "html", "csv", "tex"):
        out = tmp_path / f"found.{ending}"
        assert main([*asked, "--out", str(out)]) == 0
        said, written = capsys.readouterr().out, out.read_text(encoding="utf-8")
        for caveat in found:
            assert f"{caveat.badge}: " in said
            assert (caveat.badge if ending == "html" else caveat.name) in written, (caveat, ending)
    told = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["text_caveats"]
    assert {Caveat[name] for name in told.split(", ") if name} - {Caveat.UNKNOWN_WORDS} == found


def test_probabilities_over_data_are_limited_too(changed, tmp_path, capsys):
    folder, data, out = changed("bert", "several labels"), tmp_path / "some.jsonl", tmp_path / "found.json"
    data.write_text("".join(json.dumps({"text": text}) + "\n" for text in tiny.SENTENCES[:2]), encoding="utf-8")
    asked = ["--data", str(data), "--what", "verdicts", "--measures", "gradient", "--out", str(out)]
    assert main(["evaluate", "--model", str(folder), *asked]) == 0
    assert Caveat.SEVERAL_LABELS.badge in capsys.readouterr().out
    assert Caveat.SEVERAL_LABELS.name in json.loads(out.read_text(encoding="utf-8"))["caveats"]


OVER_TEXTS = {
    "scores": ["--count", "3", "--draws", "2"],
    "diagnosticity": ["--count", "3", "--draws", "2"],
    "verdicts": [],
    "scoreboard": ["--draws", "1"],
    "limits": ["--width", "2"],
    "behaviour": [],
    "model check": [],
}


@pytest.mark.parametrize("what", OVER_TEXTS)
@pytest.mark.parametrize("change", ["as it is", "flat"])
def test_texts_without_effect_or_with_a_typed_separator_are_counted(changed, what, change, tmp_path, capsys):
    """Two texts of which one holds a separator; only a model that ignores its text has no effect, on both."""
    folder, data, out = changed("bert", change), tmp_path / "some.jsonl", tmp_path / "found.json"
    texts = ["the boat left the cold harbour", "the soup [SEP] was warm again"]
    labels = load(str(folder), "cpu").labels
    lines = [json.dumps({"text": text, "label": label}) for text, label in zip(texts, labels)]
    data.write_text("\n".join(lines), encoding="utf-8")
    asked = ["--data", str(data), "--what", what, *OVER_TEXTS[what], "--measures", "leave-one-out", "gradient"]
    assert main(["evaluate", "--model", str(folder), *asked, "--out", str(out)]) == 0
    said, written = capsys.readouterr().out, json.loads(out.read_text(encoding="utf-8"))
    (told,) = written.get("models", [written])
    assert f"{Caveat.TYPED_SPECIAL.badge}: 1 of 2" in said and Caveat.TYPED_SPECIAL.name in told["caveats"]
    assert told["facts"]["typed_special"] == 1
    shows = change == "flat" and what not in ("behaviour", "model check")
    assert (Caveat.FLAT.name in told["caveats"]) is shows and told["facts"].get("flat") == (2 if shows else None)
    assert (f"{Caveat.FLAT.badge}: 2 of 2" in said) is shows


@pytest.mark.parametrize("what", ["attributions", "verdicts"])
def test_a_model_that_ignores_its_text(changed, what, capsys):
    asked = ["--text", "the boat left the harbour", "--measures", "gradient", "leave-one-out", "--what", what]
    assert main(["explain", "--model", str(changed("bert", "flat")), *asked]) == 0
    assert Caveat.FLAT.badge in capsys.readouterr().out
    assert main(["explain", "--model", str(changed("bert")), *asked]) == 0
    assert Caveat.FLAT.badge not in capsys.readouterr().out


def test_where_every_word_is_masked_nothing_is_said_of_the_model(changed, capsys):
    asked = ["--text", "[MASK] [MASK]", "--measures", "gradient", "--what", "attributions"]
    assert main(["explain", "--model", str(changed("bert")), *asked]) == 0
    assert Caveat.FLAT.badge not in capsys.readouterr().out


def test_weights_without_numbers_are_named(changed, capsys):
    asked = ["--text", "the boat left", "--measures", "gradient"]
    assert main(["explain", "--model", str(changed("bert", "broken")), *asked]) == 1
    said = capsys.readouterr().err
    assert "weights" in said and "float32" not in said


@pytest.mark.parametrize(
    "measure, told",
    [
        ("LIME [samples=0]", "samples"),
        ("LIME [samples=x]", "'x'"),
        ("integrated gradients [baseline=foo]", "zero, mask"),
        ("integrated gradients [depth=3]", "'depth'"),
        ("gradient [steps=3]", "'steps'"),
        ("no such thing [a=1]", "no such thing"),
        ("LIME [samples=100", "LIME [samples=100"),
    ],
)
@pytest.mark.parametrize("command", ["explain", "evaluate"])
def test_an_option_says_itself_what_is_wrong_with_it(measure, told, command, changed, tmp_path, capsys):
    data = tmp_path / "some.jsonl"
    data.write_text('{"text": "a boat"}\n', encoding="utf-8")
    given = ["--text", "a boat"] if command == "explain" else ["--data", str(data)]
    assert main([command, "--model", str(changed("bert")), *given, "--measures", measure]) == 1
    said = capsys.readouterr().err
    assert told in said and (("no measure" in said) == (measure[0] == "n" or measure[-1] != "]"))


NLI = ("contradiction", "neutral", "entailment")


@pytest.fixture
def numbered(changed, tmp_path):
    """A model, and a file whose labels are its own predictions, each number one too high."""
    folder = changed("bert")
    change_json(folder / "config.json", id2label=dict(enumerate(NLI)), label2id=None)
    model, lines = load(str(folder), "cpu"), []
    from core.evaluation.predicting import predict_all
    from core.mathematics.stepwise import finish

    predicted = finish(predict_all(model, [(text, None) for text in tiny.SENTENCES])).predicted
    for text, c in zip(tiny.SENTENCES, predicted):
        lines.append(json.dumps({"text": text, "label": (int(c) + 1) % 3}))
    path = tmp_path / "numbered.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return folder, path


def test_a_doubt_names_the_option_that_settles_it(numbered, tmp_path, capsys):
    folder, data = numbered
    out = tmp_path / "found.json"
    asked = ["evaluate", "--model", str(folder), "--data", str(data), "--what", "model check", "--measures"]
    assert main([*asked, "--out", str(out)]) == 0
    (report,) = json.loads(out.read_text(encoding="utf-8"))["models"]
    said = capsys.readouterr()
    assert Caveat.LABELS_EXCHANGED.name in report["caveats"] and Caveat.LABELS_EXCHANGED.badge in said.out
    (names,) = re.findall(r"--labels (.*)", said.out)
    assert names.split() == [NLI[2], NLI[0], NLI[1]]
    assert main([*asked, "--out", str(out), "--labels", *names.split()]) == 0
    (report,) = json.loads(out.read_text(encoding="utf-8"))["models"]
    assert not {Caveat.LABELS_EXCHANGED.name, Caveat.LABEL_ORDER_DOUBTFUL.name} & set(report["caveats"])
    assert report["facts"]["unmasked"] == 1.0


def test_names_against_classes_without_names_are_asked_for(changed, tmp_path, capsys):
    folder, data = changed("bert"), tmp_path / "named.jsonl"
    change_json(folder / "config.json", id2label={i: f"LABEL_{i}" for i in range(3)}, label2id=None)
    lines = [json.dumps({"text": text, "label": NLI[i % 3]}) for i, text in enumerate(tiny.SENTENCES[:6])]
    data.write_text("\n".join(lines), encoding="utf-8")
    asked = ["evaluate", "--model", str(folder), "--data", str(data), "--what", "model check", "--measures"]
    assert main(asked) == 1 and "LABEL_0" in capsys.readouterr().err
    assert main([*asked, "--labels", *NLI]) == 0
    said = capsys.readouterr().out
    assert Caveat.LABEL_ORDER_DOUBTFUL.badge in said and "entailment = LABEL_2" in said
