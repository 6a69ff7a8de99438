"""Training that starts from a classifier: its adapter trained on, or a linear head fitted on its logits alone."""

import json

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from core.commands.command_line import main
from core.data.tables import LabelledTexts
from core.evaluation.predicting import predict
from core.loading.loading import load
from core.network.architectures import UnsupportedModel
from core.results.caveats import Caveat
from core.results.inputs import model_caveats
from core.training.further import base_of, fit_linear_head, last_layer, log_loss, under_classes
from core.training.training import Plan, TrainingError, train
from tests import tiny

WORDS = {"positive": ["good", "great", "fine"], "negative": ["bad", "dull", "poor"]}


def rows(count: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    labels = [("positive", "negative")[i % 2] for i in range(count)]
    texts = [" ".join(rng.choice([*WORDS[label], "the", "film", "was"], 6)) for label in labels]
    return "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in zip(texts, labels))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("further")
    for split, count in (("train", 40), ("validation", 24)):
        (folder / f"{split}.jsonl").write_text(rows(count, count))
    return folder


@pytest.fixture(scope="module")
def started(files, tiny_root, tmp_path_factory):
    """`started(kind, method)`: a classifier trained without masking."""
    done = {}

    def run(kind, method):
        if (kind, method) not in done:
            out = tmp_path_factory.mktemp("started") / f"{kind}-{method}"
            base = str(tiny.base(kind, tiny_root))
            more = {"training": "none", "epochs": 1, "batch": 16, "device": "cpu", "rank": 2}
            plan = Plan(base, f"{files}/train.jsonl", f"{files}/validation.jsonl", str(out), method=method, **more)
            done[kind, method] = train(plan)
        return done[kind, method]

    return run


def plan_from(files, folder, out, **chosen) -> Plan:
    about = {"epochs": 1, "batch": 16, "device": "cpu", "further": True, "method": "lora"} | chosen
    return Plan(str(folder), f"{files}/train.jsonl", f"{files}/validation.jsonl", str(out), **about)


def logits_of(model, texts, share=0.0):
    encoded = [model.encode(text, None, "token") for text in texts]
    masks = [np.arange(one.F) < share * one.F for one in encoded]
    return predict(model, encoded, masks)


# ---- the head


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), C=st.integers(2, 4))
@example(seed=587, C=4)
def test_a_planted_distortion_is_undone(seed, C):
    """Labels drawn from true logits; what is observed is a linear image of them."""
    rng = np.random.default_rng(seed)
    true = rng.normal(scale=1.5, size=(20_000, C))
    labels = (softmax(true, axis=1).cumsum(axis=1) < rng.random((len(true), 1))).sum(axis=1).clip(max=C - 1)
    noise = rng.normal(size=(C, C))
    # No direction shrinks below a half: the pull towards none leaves as it is what is nearly lost.
    distorted = true @ (np.eye(C) + 0.5 * noise / np.linalg.norm(noise, 2)).T + rng.normal(size=C)
    head = fit_linear_head(distorted, labels)
    assert np.abs(softmax(head(distorted), axis=1) - softmax(true, axis=1)).mean() < 0.02
    assert log_loss(head(distorted), labels) <= log_loss(distorted, labels)


def test_what_is_right_already_stays_and_no_bias_is_none():
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=2, size=(50_000, 2))
    labels = (rng.random(len(logits)) < softmax(logits, axis=1)[:, 1]).astype(np.int64)
    assert np.abs(softmax(fit_linear_head(logits, labels)(logits), axis=1) - softmax(logits, axis=1)).max() < 0.03
    assert (fit_linear_head(np.add(logits, [0, 1]), labels, bias=False).bias == 0).all()


def test_log_loss_by_hand():
    assert log_loss(np.zeros((3, 2)), np.array([0, 1, 1])) == pytest.approx(np.log(2))
    assert log_loss(np.array([[np.log(3), 0.0]]), np.array([0])) == pytest.approx(np.log(4 / 3))


@pytest.mark.parametrize(("logits", "labels"), [(np.zeros((0, 2)), []), (np.full((2, 2), np.nan), [0, 1])])
def test_a_head_of_nothing_or_of_nan_is_refused(logits, labels):
    with pytest.raises(ValueError, match="logits"):
        fit_linear_head(logits, np.array(labels, dtype=np.int64))


@pytest.mark.parametrize("method", ["full", "lora"])
@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "gpt2"])
def test_calibrating_changes_logits_by_one_linear_map_and_no_state(files, started, tmp_path, kind, method):
    """What is saved gives one head's image of the frozen model's logits, masked or not, and the same hidden states."""
    before = started(kind, method)
    out = train(plan_from(files, before, tmp_path / "out", method="calibration"))
    old, new = load(str(before), "cpu"), load(str(out), "cpu")
    texts = [json.loads(line)["text"] for line in rows(12, 5).splitlines()]
    given = np.concatenate([logits_of(old, texts, share) for share in (0.0, 0.5, 1.0)])
    found = np.concatenate([logits_of(new, texts, share) for share in (0.0, 0.5, 1.0)])
    image = np.column_stack([given, np.ones(len(given))])
    weights = np.linalg.lstsq(image, found, rcond=None)[0]
    np.testing.assert_allclose(image @ weights, found, atol=2e-5)
    assert not np.allclose(given, found, atol=1e-3)
    ids = old.encode(texts[0], None, "token").ids[None]
    lengths = np.array([ids.shape[1]])
    np.testing.assert_array_equal(old.run(ids, lengths, hidden=True)[1], new.run(ids, lengths, hidden=True)[1])
    assert Caveat.CALIBRATED in model_caveats(new) and Caveat.CALIBRATED not in model_caveats(old)
    (epoch,) = new.card["validation"]
    assert epoch["loss"] <= epoch["loss_before"] and new.card["plan"]["training"] == "none"
    assert (out / "adapter_config.json").is_file() == (method == "lora")


# ---- further training


@pytest.mark.parametrize("method", ["full", "lora"])
def test_training_goes_on_from_what_the_classifier_is(files, started, tmp_path, method):
    """At a rate of almost nothing its logits are those of before: head and adapter are its own."""
    before = started("bert", method)
    out = train(plan_from(files, before, tmp_path / "out", learning_rate=1e-12))
    texts = [json.loads(line)["text"] for line in rows(6, 7).splitlines()]
    for share in (0.0, 0.5):
        old, new = (logits_of(load(str(folder), "cpu"), texts, share) for folder in (before, out))
        np.testing.assert_allclose(old, new, atol=1e-4)

    def base_named(folder):
        return json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"]

    assert base_named(out) == (base_named(before) if method == "lora" else str(before))


def test_a_kill_loses_at_most_the_epoch(files, started, tmp_path):
    before, texts = started("bert", "lora"), [json.loads(line)["text"] for line in rows(6, 7).splitlines()]
    whole = train(plan_from(files, before, tmp_path / "whole", epochs=2))

    class Killed(BaseException):
        pass

    def stop(what, done, total):
        if what.startswith("epoch 2"):
            raise Killed

    with pytest.raises(Killed):
        train(plan_from(files, before, tmp_path / "cut", epochs=2), stop)
    seen = []
    cut = train(plan_from(files, before, tmp_path / "cut", epochs=2), lambda what, *_: seen.append(what))
    assert not any(what.startswith("epoch 1") for what in seen)
    np.testing.assert_array_equal(logits_of(load(str(whole), "cpu"), texts), logits_of(load(str(cut), "cpu"), texts))


def test_what_ships_names_its_own_base():
    assert base_of("sst2-plain") == "all-minilm-l6-v2" and base_of("stories-1-fmm") == "stories-1-fmm"


def texts_of(*classes):
    labels = np.arange(4) % len(classes)
    return {"train": LabelledTexts(["a", "b", "c", "d"], None, labels, classes, "mine.csv", "")}


@pytest.mark.parametrize(
    ("classes", "found"),
    [(("Positive", "negative"), [1, 0, 1, 0]), (("0", "1"), [0, 1, 0, 1]), (("1", "0"), [1, 0, 1, 0])],
)
def test_labels_go_by_the_classes_of_the_model(classes, found):
    heard = []
    data = under_classes(texts_of(*classes), ("negative", "positive"), heard.append)["train"]
    assert data.labels.tolist() == found and data.classes == ("negative", "positive")
    assert len(heard) == classes[0].isdigit()


@pytest.mark.parametrize("classes", [("good", "bad"), ("negative", "positive", "mixed"), ("0", "2")])
def test_labels_that_are_none_of_the_model_are_refused(classes):
    with pytest.raises(TrainingError, match="--labels"):
        under_classes(texts_of(*classes), ("negative", "positive"), print)


def test_a_head_that_is_not_linear_is_refused():
    with pytest.raises(UnsupportedModel, match="lora"):
        last_layer(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()), 2)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "--base"),
        (["--base", "x", "--from", "y"], "--base"),
        (["--base", "x", "--method", "calibration"], "--from"),
        (["--from", "nowhere"], "nowhere"),
    ],
)
def test_bad_commands_say_what_to_change(files, tmp_path, capsys, asked, said):
    given = ["--train", f"{files}/train.jsonl", "--validation", f"{files}/validation.jsonl", "--out", f"{tmp_path}/o"]
    assert main(["train", *asked, *given]) == 1
    assert said in capsys.readouterr().err and not (tmp_path / "o").exists()
