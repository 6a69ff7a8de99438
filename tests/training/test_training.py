"""Masked fine-tuning: its masks, metrics and files, real small runs, and runs that are stopped and go on."""

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from core.attacks.vocabulary import Vocabulary
from core.commands import terminal
from core.commands.command_line import main
from core.data.parsed import BadData
from core.data.sources import read_labelled
from core.data.tables import LabelledTexts
from core.evaluation.families import NOT_ABOVE_CONSTANT, above_constant
from core.loading.loading import load
from core.mathematics.masking import bernoulli_masks, masked_count, random_mask, training_masks
from core.mathematics.performance import METRICS, accuracy, macro_f1, majority_class, matthews
from core.network.scheduler import pad
from core.settings import BUNDLED, ROOT
from core.training import augmenting, bases, cards, checkpoints, training
from core.training.bases import load_base, save_trained
from core.training.cards import readable_card
from core.training.checkpoints import Checkpoint
from core.training.training import Plan, TrainingError, batches, tokenise, train
from tests import tiny

# ---- masks


def test_masked_counts_by_hand():
    expected = {
        (0, 5): 0,
        (0.1, 10): 1,
        (0.3, 10): 3,
        (0.7, 10): 7,
        (0.9, 10): 9,
        (0.3, 3): 0,
        (0.34, 3): 1,
        (0.5, 7): 3,
        (0.99, 1): 0,
        (1, 1): 1,
        (1, 7): 7,
        (1, 0): 0,
        (0.29, 100): 29,
        (0.57, 100): 57,
        (0.999, 1000): 999,
        (0.6, 5): 3,
        (0.8, 15): 12,
    }
    assert {key: masked_count(*key) for key in expected} == expected
    # Each tenth of ten features is one more, although 0.1 + 0.1 + 0.1 is not 0.3.
    assert [masked_count(sum([0.1] * i), 10) for i in range(10)] == list(range(10))


@pytest.mark.parametrize("ratio", [-0.1, 1.1, math.nan, math.inf])
def test_ratios_outside_zero_to_one_are_refused(ratio):
    with pytest.raises(ValueError, match="ratio"):
        masked_count(ratio, 3)


def test_random_masks_have_the_exact_count_and_favour_no_feature():
    rng = np.random.default_rng(0)
    drawn = np.array([random_mask(4, 0.5, rng) for _ in range(6000)])
    assert drawn.dtype == bool and (drawn.sum(axis=1) == 2).all()
    sets, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(sets) == 6
    # Six sets, 1,000 expected of each: chi-square with 5 degrees of freedom, 99.9 % at 20.5.
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5


def test_masking_ratios_are_uniform_and_tokens_independent():
    maskable = np.ones((1500, 3000), dtype=bool)
    masks = bernoulli_masks(maskable, np.random.default_rng(1))
    assert kstest(masks.mean(axis=1), "uniform").pvalue > 0.01
    # Two examples: P(the same place masked in both) = E[r]², not E[min(r, s)] = 1/3.
    assert (masks[::2] & masks[1::2]).mean() == pytest.approx(1 / 4, abs=0.02)
    # With r uniform, P(n given tokens masked) = E[r^n] = 1 / (n + 1).
    assert (masks[:, :-1] & masks[:, 1:]).mean() == pytest.approx(1 / 3, abs=0.02)
    assert (masks[:, 0:-9] & masks[:, 4:-5] & masks[:, 9:]).mean() == pytest.approx(1 / 4, abs=0.02)


@pytest.mark.parametrize("strategy, rows", [("none", []), ("mask", [0, 1, 2, 3, 4, 5, 6]), ("half", [1, 3, 5])])
def test_which_examples_a_strategy_masks(strategy, rows):
    maskable = np.ones((7, 12), dtype=bool)
    maskable[:, [0, 11]] = False
    maskable[3, 6:] = False
    given_maskable, rng = maskable.copy(), np.random.default_rng(2)
    drawn = np.array([training_masks(maskable, strategy, rng) for _ in range(400)])
    assert drawn.dtype == bool and drawn.shape == (400, 7, 12)
    assert np.flatnonzero(drawn.any(axis=(0, 2))).tolist() == rows
    for row in rows:
        assert (drawn[:, row].any(axis=0) == maskable[row]).all(), (
            "each maskable token is masked at times, a special one never"
        )
        assert drawn[:, row][:, maskable[row]].mean() == pytest.approx(0.5, abs=0.06)
    np.testing.assert_array_equal(maskable, given_maskable)


def test_training_masks_follow_the_generator():
    maskable = np.ones((4, 30), dtype=bool)
    one, same, other = (training_masks(maskable, "half", np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert (one == same).all() and (one != other).any()


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match="often"):
        training_masks(np.ones((1, 1), dtype=bool), "often", np.random.default_rng(0))


# ---- metrics

PREDICTIONS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25)


def _confusion(labels, predicted):
    table = np.zeros((4, 4))
    for y, z in zip(labels, predicted):
        table[y, z] += 1
    return table


def _macro_f1_by_definition(labels, predicted):
    scores = []
    for c in set(labels) | set(predicted):
        found = sum(y == c and z == c for y, z in zip(labels, predicted))
        precision = found / list(predicted).count(c) if c in predicted else 0
        recall = found / list(labels).count(c) if c in labels else 0
        scores.append(2 * precision * recall / (precision + recall) if found else 0)
    return sum(scores) / len(scores)


def _matthews_by_definition(labels, predicted):
    """Gorodkin (2004), Eq. 8, sum by sum."""
    C, K = _confusion(labels, predicted), range(4)
    above = sum(C[k, k] * C[m, n] - C[n, k] * C[k, m] for k in K for n in K for m in K)
    left = sum(C[:, k].sum() * (C.sum() - C[:, k].sum()) for k in K)
    right = sum(C[k].sum() * (C.sum() - C[k].sum()) for k in K)
    return above / math.sqrt(left * right) if left * right else 0


def test_metrics_by_hand():
    y, z = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2, 2])
    assert accuracy(y, z) == pytest.approx(4 / 6)
    # F1 of the classes: 4/5, 1/2, 2/3.
    assert macro_f1(y, z) == pytest.approx((4 / 5 + 1 / 2 + 2 / 3) / 3)
    # Two classes, tp 1, tn 2, fp 1, fn 1: (1·2 − 1·1) / √(2·2·3·3).
    assert matthews(np.array([1, 1, 0, 0, 0]), np.array([1, 0, 1, 0, 0])) == pytest.approx(1 / 6)
    assert matthews(y, y) == pytest.approx(1) and matthews(np.array([0, 1]), np.array([1, 0])) == pytest.approx(-1)
    assert (
        matthews(y, np.zeros(6, int)) == 0
        and matthews(np.zeros(6, int), z) == 0
        and matthews(np.ones(3, int), np.ones(3, int)) == 0
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(PREDICTIONS)
def test_metrics_equal_their_definitions(pairs):
    labels, predicted = (np.array(side) for side in zip(*pairs))
    assert accuracy(labels, predicted) == pytest.approx(np.trace(_confusion(labels, predicted)) / len(pairs))
    assert macro_f1(labels, predicted) == pytest.approx(_macro_f1_by_definition(labels, predicted))
    assert matthews(labels, predicted) == pytest.approx(_matthews_by_definition(labels, predicted), abs=1e-12)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_metrics_refuse_unequal_or_no_arrays(metric):
    for labels, predicted in (([0, 1], [0]), ([], []), ([[0]], [[0]])):
        with pytest.raises(ValueError, match="equally long"):
            metric(np.array(labels), np.array(predicted))


def test_the_class_majority():
    assert majority_class(np.array([2, 1, 2, 1, 0]), 4) == 1
    assert majority_class(np.array([3]), 4) == 3


# ---- data files

GOOD = [
    {"text": "salt the soup", "label": "kitchen"},
    {"text": "tie the boat", "label": "harbour"},
    {"text": "oil the hinge", "label": "kitchen"},
]


def write_rows(path, rows):
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n", encoding="utf-8")
    return path


def test_a_row_that_the_tokenizer_drops_is_found_before_training(tmp_path):
    rows = [{"text": "a", "label": 0}, {"text": " ", "label": 1}, {"text": "\0", "label": 1}]
    with pytest.raises(BadData, match=r"a.jsonl, row 3"):
        tokenise(tiny.tokenizer("bert"), read_labelled(write_rows(tmp_path / "a.jsonl", rows), print), 64)


# ---- batches


def test_pairs_are_maskable_in_both_texts_but_not_at_special_tokens():
    words = tiny.tokenizer("bert")
    data = LabelledTexts(["the wind"], ["cold bread"], np.array([0]), ("a", "b"), "x", "")
    out = tokenise(words, data, 64)
    tokens = words.convert_ids_to_tokens(out.ids[0].tolist())
    assert [t in ("[CLS]", "[SEP]") for t in tokens] == (~out.maskable[0]).tolist() and tokens.count("[SEP]") == 2
    assert set(out.types[0]) == {0, 1}


def test_texts_that_training_cuts_are_counted_in_the_card():
    words = tiny.tokenizer("bert")
    data = LabelledTexts(["the wind", "the wind " * 9, "the the the"], None, np.array([0, 1, 0]), ("a", "b"), "x", "")
    assert tokenise(words, data, 5).cut == {1: 5} and tokenise(words, data, 4).cut == {1: 4, 2: 4}
    assert tokenise(words, data, 64).cut == {}
    card = json.loads((BUNDLED / "models" / "sst2-fmm" / "card.json").read_text(encoding="utf-8"))
    before, total = readable_card(card, "story"), card["data"]["train"]["examples"]
    card["data"]["train"] |= {"cut": 3, "tokens_of_cut": 64}
    assert f"3 of {total:,} texts" in readable_card(card, "story")
    assert "were cut" not in before


def test_batches_hold_every_example_once_and_little_padding():
    lengths = np.random.default_rng(3).integers(2, 60, 333)
    data = training.Tokenised([np.zeros(n, dtype=np.int64) for n in lengths], [], None, np.zeros(333))
    found = list(batches(data, 8, np.random.default_rng(4)))
    assert sorted(np.concatenate(found)) == list(range(333))
    assert sorted(map(len, found)) == [5] + [8] * 41
    padded = sum(len(b) * lengths[b].max() for b in found)
    assert padded < 1.15 * lengths.sum()
    # Within a batch the place says nothing about the length: every second example is not the longer one.
    assert np.mean([lengths[b[1::2]].mean() > lengths[b[::2]].mean() for b in found if len(b) == 8]) == pytest.approx(
        0.5, abs=0.25
    )


def test_padding_is_on_the_right():
    assert pad([np.array([1, 2]), np.array([3])]).tolist() == [[1, 2], [3, 0]]
    assert pad([np.array([True]), np.array([True, False, True])]).tolist() == [
        [True, False, False],
        [True, False, True],
    ]


# ---- what trains is what is loaded


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training, validation and test files of 64, 20 and 24 examples in three classes; most are of the workshop, in the
    test file of the kitchen.
    """
    root = tmp_path_factory.mktemp("data")
    topics = [0] * 10 + [1] * 12 + [2] * 18
    rows = [{"text": text, "label": tiny.LABELS[topic]} for text, topic in zip(tiny.SENTENCES, topics)]

    def part(row, a, b):
        words = row["text"].split()
        return {"text": " ".join(words[int(a * len(words)) : max(1, int(b * len(words)))]), "label": row["label"]}

    write_rows(root / "train.jsonl", rows + [part(row, 0, 0.6) for row in rows[::5] + rows[1::5] + rows[2::5]])
    write_rows(root / "validation.jsonl", [part(row, 0.3, 1) for row in rows[::2]])
    write_rows(root / "test.jsonl", [part(row, 0.1, 0.9) for row in rows[1:4] + rows[10:22] + rows[30:39]])
    return root


def plan_for(files, tiny_root, out, kind="bert", **chosen):
    return Plan(
        str(tiny.base(kind, tiny_root)),
        str(files / "train.jsonl"),
        str(files / "validation.jsonl"),
        str(out),
        device="cpu",
        **{"batch": 16, "epochs": 3, "learning_rate": 3e-3, "rank": 4} | chosen,
    )


def run_of(plan):
    """The loop's parts for a plan, as `train` puts them together."""
    _, data = training.read_files(plan, print)
    module, words, mask_id, longest = load_base(plan.base, data["train"].classes, plan.method, plan.rank, plan.seed)
    sets = [tokenise(words, data[split], longest) for split in ("train", "validation")]
    return training.TrainingRun(plan, module, mask_id, *sets, "cpu", lambda *_: None), words


@pytest.mark.parametrize("method", ["full", "lora"])
@pytest.mark.parametrize("kind", tiny.KINDS)
def test_training_computes_what_the_loaded_model_computes(files, tiny_root, tmp_path, kind, method):
    """Padded and masked batches while training, against the written folder, one example at a time."""
    plan = plan_for(files, tiny_root, tmp_path, kind, method=method)
    run, words = run_of(plan)
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in run.module.parameters():
            if parameter.requires_grad:
                parameter += 0.1 * torch.randn_like(parameter)
    indices = np.arange(8)
    valid, rng = run.valid_set, np.random.default_rng(0)
    masks = [
        [m & False, m, m & (rng.random(m.shape) < 0.5), m & (np.arange(len(m)) > 3)][i % 4]
        for i, m in enumerate(valid.maskable[:8])
    ]
    run.module.eval()
    with torch.inference_mode():
        ours = run._forward(valid, indices, pad(masks)).numpy()
    assert len({len(m) for m in masks}) > 1
    save_trained(run.module, words, tmp_path, plan.base, method, tiny.LABELS, half=False)
    model = load(str(tmp_path), "cpu")
    for i in indices:
        ids = np.where(masks[i], model.mask_id, valid.ids[i])
        types = None if valid.types is None else valid.types[i][None]
        np.testing.assert_allclose(ours[i], model.run(ids[None], np.array([len(ids)]), types)[0][0], atol=2e-5)


# ---- real runs


@pytest.fixture(scope="module")
def finished(files, tiny_root, tmp_path_factory):
    """`finished(method)`: the folder of a whole, uninterrupted run."""
    done = {}

    def run(method):
        if method not in done:
            done[method] = train(plan_for(files, tiny_root, tmp_path_factory.mktemp("whole") / method, method=method))
        return done[method]

    return run


def weights_of(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


def history_of(folder):
    history = json.loads((folder / "card.json").read_text(encoding="utf-8"))["validation"]
    return [{k: v for k, v in entry.items() if k != "seconds"} for entry in history]


# The other two ways to join a method and a kind are those that learn, below.
@pytest.mark.parametrize("method, kind", [("lora", "bert"), ("full", "gpt2")])
def test_train_from_the_command_line(files, tiny_root, tmp_path, capsys, method, kind):
    out = tmp_path / "model"
    status = main(
        [
            "train",
            "--base",
            str(tiny.base(kind, tiny_root)),
            "--train",
            str(files / "train.jsonl"),
            "--validation",
            str(files / "validation.jsonl"),
            "--test",
            str(files / "test.jsonl"),
            "--out",
            str(out),
            "--method",
            method,
            "--rank",
            "4",
            "--epochs",
            "2",
            "--batch",
            "16",
            "--learning-rate",
            "3e-3",
            "--seed",
            "5",
            "--device",
            "cpu",
        ]
    )
    assert status == 0
    model, card = load(str(out), "cpu"), json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert model.labels == tiny.LABELS and model.card == card and not (out / ".progress").exists()
    shown = capsys.readouterr().out
    assert f"Written: {out}" in shown and (out / "README.md").read_text(encoding="utf-8") in shown
    module = _by_library(out, method)
    _check_card(card, model, module, files)
    _check_readme((out / "README.md").read_text(encoding="utf-8"), card)


def _by_library(out, method):
    """The trained classifier as `transformers` and PEFT themselves read the folder."""
    from peft import PeftModel
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    if method == "full":
        AutoTokenizer.from_pretrained(out)
        return AutoModelForSequenceClassification.from_pretrained(out).eval()
    base = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))["base_model_name_or_path"]
    return PeftModel.from_pretrained(AutoModelForSequenceClassification.from_pretrained(base, num_labels=3), out).eval()


def _predicted(model, module, texts, masks_of, spaces=False):
    """Classes by the library, one text at a time, with the mask token at the places that `masks_of(maskable)` names.

    Tokens of a space alone are no features; training masks them all the same (`spaces`).
    """
    module.config.pad_token_id = -1 if model.reading == "last" else module.config.pad_token_id
    out = []
    for text in texts:
        batch = model.tokenizer(text, return_special_tokens_mask=True)
        ids, maskable = np.array(batch["input_ids"]), np.array(batch["special_tokens_mask"]) == 0
        maskable &= [spaces or model.tokenizer.decode([i]).strip() != "" for i in ids]
        ids[masks_of(maskable)] = model.mask_id
        with torch.inference_mode():
            out.append(int(module(input_ids=torch.from_numpy(ids)[None]).logits.argmax()))
    return np.array(out)


def _drawn(maskable, ratio, rng):
    out = np.zeros_like(maskable)
    out[np.flatnonzero(maskable)] = random_mask(maskable.sum(), ratio, rng)
    return out


def _check_card(card, model, module, files):
    test, valid = (
        [json.loads(line) for line in (files / f"{split}.jsonl").read_text().splitlines()]
        for split in ("test", "validation")
    )
    truth = np.array([tiny.LABELS.index(row["label"]) for row in test])
    texts = [row["text"] for row in test]
    shown = card["performance"]
    assert (
        shown["split"] == "test"
        and shown["examples"] == 24
        and shown["ratios"] == [i / 10 for i in range(11)]
        and shown["metric"] == "accuracy"
    )
    assert shown["masked"][0] == pytest.approx(
        (_predicted(model, module, texts, lambda m: np.zeros_like(m)) == truth).mean()
    )
    assert shown["masked"][10] == pytest.approx((_predicted(model, module, texts, lambda m: m) == truth).mean())
    for r, ratio in enumerate(shown["ratios"]):
        rng = np.random.default_rng([5, r])
        predicted = _predicted(model, module, texts, lambda m, ratio=ratio, rng=rng: _drawn(m, ratio, rng))
        assert shown["masked"][r] == pytest.approx((predicted == truth).mean())
    assert card["data"]["train"]["per_class"] == [16, 20, 28] and shown["majority_class"] == "workshop"
    assert shown["class_majority"] == pytest.approx((truth == 2).mean())
    best = max(card["validation"], key=lambda entry: entry["selection"])
    labels = np.array([tiny.LABELS.index(row["label"]) for row in valid])
    unmasked = _predicted(model, module, [row["text"] for row in valid], lambda m: np.zeros_like(m))
    rng = np.random.default_rng([5, 1])
    masked = _predicted(
        model,
        module,
        [row["text"] for row in valid],
        lambda m: (rng.random((1, 1)) > rng.random((1, len(m))))[0] & m,
        spaces=True,
    )
    assert best["unmasked"] == pytest.approx((unmasked == labels).mean())
    assert best["masked"] == pytest.approx((masked == labels).mean())
    assert best["selection"] == best["both"] == pytest.approx((best["unmasked"] + best["masked"]) / 2)
    assert [entry["epoch"] for entry in card["validation"]] == [1, 2]
    assert card["plan"]["seed"] == 5 and card["plan"]["learning_rate"] == 3e-3 and "/" not in json.dumps(card["plan"])


def _check_readme(page, card):
    for ratio, value in zip(card["performance"]["ratios"], card["performance"]["masked"]):
        assert f"| {ratio:.0%} | {value:.3f} |" in page
    for entry in card["validation"]:
        assert f"| {entry['epoch']} | {entry['loss']:.3f} | {entry['unmasked']:.3f} | {entry['masked']:.3f} |" in page
    assert all(texts["sha256"] in page for texts in card["data"].values())
    for texts in card["data"].values():
        assert (f"{texts['cut']} of {texts['examples']} texts" in page) == bool(texts["cut"])


@pytest.mark.parametrize("kind, method", [("bert", "full"), ("gpt2", "lora")])
def test_training_learns(tiny_root, tmp_path, kind, method):
    rows = [{"text": f"the {word} {word}", "label": i % 3} for i, word in enumerate(("tide", "soup", "glue") * 16)]
    write_rows(tmp_path / "train.jsonl", rows)
    write_rows(tmp_path / "validation.jsonl", rows[:6])
    out = train(
        plan_for(
            tmp_path,
            tiny_root,
            tmp_path / "out",
            kind,
            method=method,
            epochs=15,
            batch=8,
            training="none",
            validation_strategy="none",
        )
    )
    last = history_of(out)[-1]
    assert last["loss"] < 0.3 and last["unmasked"] == 1


def test_pairs_train_and_are_measured(tiny_root, tmp_path, monkeypatch):
    measured, predict_at_ratios = [], cards.predict_at_ratios

    def spy(model, encoded, *more):
        measured.extend(encoded)
        return predict_at_ratios(model, encoded, *more)

    monkeypatch.setattr(cards, "predict_at_ratios", spy)
    rows = [
        {"a": first, "b": second, "label": i % 2}
        for i, (first, second) in enumerate(zip(tiny.SENTENCES[:16], tiny.SENTENCES[16:32]))
    ]
    path = str(write_rows(tmp_path / "pairs.jsonl", rows))
    out = train(
        Plan(
            str(tiny.base("bert", tiny_root)),
            path,
            path,
            str(tmp_path / "out"),
            text="a",
            second="b",
            epochs=1,
            batch=8,
            device="cpu",
        )
    )
    card = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert (
        card["labels"] == ["0", "1"]
        and card["performance"]["split"] == "validation"
        and card["performance"]["examples"] == 16
    )
    # [CLS] and two [SEP] apart, every token of both texts can be masked.
    assert len(measured) == 16 and all(e.F == e.T - 3 for e in measured)


def test_a_model_that_is_no_better_than_a_constant_says_so(files, tiny_root, tmp_path, capsys):
    """Labels that have nothing to do with the texts, and a learning rate that teaches nothing."""
    rows = [{"text": text, "label": i % 2} for i, text in enumerate(tiny.SENTENCES)] * 3
    path = str(write_rows(tmp_path / "noise.jsonl", rows))
    command = ["train", "--base", str(tiny.base("bert", tiny_root)), "--train", path, "--validation", path]
    command += ["--out", str(tmp_path / "out"), "--epochs", "1", "--learning-rate", "1e-9", "--metric", "Matthews"]
    assert main([*command, "--device", "cpu"]) == 0
    told, card = capsys.readouterr(), json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    difference, low, _ = card["performance"]["above_majority"]
    assert difference == card["performance"]["masked"][0] - card["performance"]["class_majority"] and low <= 0
    for said in (told.err, told.out, (tmp_path / "out" / "README.md").read_text(encoding="utf-8")):
        assert NOT_ABOVE_CONSTANT in said
    assert not above_constant(card)


def test_half_precision_storage_is_rounded_once(files, tiny_root, tmp_path, finished):
    from safetensors.torch import load_file

    half = train(plan_for(files, tiny_root, tmp_path / "out", half=True))
    whole = load_file(finished("full") / "model.safetensors")
    for name, value in load_file(half / "model.safetensors").items():
        assert value.dtype == torch.float16 and torch.equal(value, whole[name].half()), name
    assert all(p.dtype == torch.float32 for p in load(str(half), "cpu").module.parameters())


# ---- stopped runs


def stop_at(word, step=1, error=KeyboardInterrupt):
    """A progress callback that raises at a step of the phase whose name begins with the word."""

    def progress(what, done, total):
        if what.startswith(word) and done == step:
            raise error

    return progress


@pytest.mark.parametrize("method", ["full", "lora"])
def test_a_stopped_run_ends_with_the_same_weights(files, tiny_root, tmp_path, finished, method):
    plan = plan_for(files, tiny_root, tmp_path / "out", method=method)
    with pytest.raises(KeyboardInterrupt):
        train(plan, stop_at("epoch 1", 3))
    assert not (tmp_path / "out" / "card.json").exists()
    for moment in (("epoch 2", 2), ("validating", 20), ("epoch 3", 4), ("measuring", 5)):
        with pytest.raises(KeyboardInterrupt):
            train(plan, stop_at(*moment))
    phases = set()
    out = train(plan, lambda what, done, total: phases.add(what.partition(",")[0]))
    assert phases == {"measuring", "reading the reference"}, "all three epochs were done before"
    assert weights_of(out) == weights_of(finished(method)) and history_of(out) == history_of(finished(method))
    assert not (out / ".progress").exists()


def test_a_killed_run_ends_with_the_same_weights(files, tiny_root, tmp_path, finished):
    plan = plan_for(files, tiny_root, tmp_path / "out")
    code = (
        "import json, os, sys, torch\n"
        "from core.training.training import Plan, train\n"
        f"torch.set_num_threads({torch.get_num_threads()})\n"
        "train(Plan(**json.loads(sys.argv[1])), lambda what, done, total: os._exit(9) if what.startswith('epoch 2') "
        "and done == 2 else None)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code, json.dumps(asdict(plan))],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert killed.returncode == 9, killed.stderr.decode()[-2000:]
    epochs = set()
    out = train(plan, lambda what, done, total: epochs.add(what.partition(",")[0]))
    assert "epoch 1 of 3" not in epochs and {"epoch 2 of 3", "epoch 3 of 3"} <= epochs
    assert weights_of(out) == weights_of(finished("full")) and history_of(out) == history_of(finished("full"))


def test_a_kill_while_the_state_is_written_keeps_the_former_epoch(files, tiny_root, tmp_path, finished, monkeypatch):
    plan, moved = plan_for(files, tiny_root, tmp_path / "out"), []

    def replace_once(source, target):
        moved.append(target.name)
        if moved.count("record.json") == 2:
            raise KeyboardInterrupt
        os.rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace_once)
        with pytest.raises(KeyboardInterrupt):
            train(plan)
    assert (tmp_path / "out" / ".progress" / "state-1.safetensors").exists()
    assert weights_of(train(plan)) == weights_of(finished("full"))


def test_a_damaged_state_starts_anew_and_is_set_aside(files, tiny_root, tmp_path, finished):
    plan, state = plan_for(files, tiny_root, tmp_path / "out"), tmp_path / "out" / ".progress" / "state-0.safetensors"
    with pytest.raises(KeyboardInterrupt):
        train(plan, stop_at("epoch 2"))
    # One bit of one weight: the file is as long as it was, and safetensors reads it.
    damaged = bytearray(state.read_bytes())
    damaged[-100] ^= 1
    state.write_bytes(damaged)
    epochs, said = set(), []
    out = train(plan, lambda name, done, total: epochs.add(name.partition(",")[0]), said.append)
    assert "epoch 1 of 3" in epochs
    # Behind it, that so few validation texts make a small reference.
    said = [told for told in said if "Columns: " not in told and not told.startswith("Epoch ")]
    assert len(said) == 2 and "are damaged" in said[0] and str(out / ".damaged") in said[0] and "486" in said[1]
    assert (out / ".damaged" / state.name).read_bytes() == damaged
    assert weights_of(out) == weights_of(finished("full")) and history_of(out) == history_of(finished("full"))


@pytest.mark.parametrize(
    "damage",
    [f"{what} {how}" for what in ("state", "best", "record") for how in ("cut", "gone", "flipped", "{}", "[]")],
)
def test_a_damaged_state_is_no_state(tmp_path, damage):
    module = torch.nn.Linear(1, 1)
    optimiser = torch.optim.AdamW(module.parameters())
    module(torch.ones(1)).sum().backward()
    optimiser.step()
    Checkpoint(tmp_path, "plan").save(module, optimiser, 0, {"selection": 1})
    before = module.weight.item()
    with torch.no_grad():
        module.weight.fill_(7)
    what, how = damage.split()
    path = (
        tmp_path
        / ".progress"
        / {"state": "state-0.safetensors", "best": "best-0.safetensors", "record": "record.json"}[what]
    )
    whole = path.read_bytes()
    path.unlink()
    if how != "gone":
        flipped = whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:]
        path.write_bytes({"cut": whole[: len(whole) // 2], "flipped": flipped}.get(how, how.encode()))
    checkpoint, said = Checkpoint(tmp_path, "plan"), []
    assert checkpoint.resume(module, optimiser, said.append) == 0 and checkpoint.history == []
    assert module.weight.item() == 7 != before and not checkpoint.folder.exists()
    assert bool(said) == (tmp_path / ".damaged").exists() == (damage != "record gone")


def test_a_digit_of_a_score_that_is_changed_chooses_no_epoch(tmp_path):
    module = torch.nn.Linear(1, 1)
    optimiser = torch.optim.AdamW(module.parameters())
    checkpoint = Checkpoint(tmp_path, "plan")
    for epoch, score in enumerate((0.25, 0.75)):
        checkpoint.save(module, optimiser, epoch, {"selection": score})
    record = checkpoint.folder / "record.json"
    record.write_text(record.read_text().replace("0.25", "0.85"))
    assert Checkpoint(tmp_path, "plan").resume(module, optimiser) == 0


def test_weights_that_are_damaged_while_it_trains_are_not_taken_for_the_best(tmp_path):
    module = torch.nn.Linear(1, 1)
    checkpoint = Checkpoint(tmp_path, "plan")
    checkpoint.save(module, torch.optim.AdamW(module.parameters()), 0, {"selection": 1})
    best = checkpoint.folder / "best-0.safetensors"
    best.write_bytes(best.read_bytes()[:-1] + b"!")
    with pytest.raises(TrainingError, match=r"best weights.*damaged"):
        checkpoint.load_best(module)


def test_a_kill_while_the_state_is_removed_is_no_damage(tmp_path, monkeypatch):
    """Before each removal in turn: the state is whole, or there is none."""
    module = torch.nn.Linear(1, 1)
    optimiser = torch.optim.AdamW(module.parameters())

    def dies_at(change, left: list[int]):
        def change_or_die(*given, **more):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return change(*given, **more)

        return change_or_die

    seen = []
    for at in range(5):
        checkpoint, said = Checkpoint(tmp_path / f"{at}", "plan"), []
        for epoch, score in enumerate((1, 0)):
            checkpoint.save(module, optimiser, epoch, {"selection": score})
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            left = [at]
            for name in ("unlink", "rmdir"):
                patch.setattr(os, name, dies_at(getattr(os, name), left))
            checkpoint.clear()
        seen.append(Checkpoint(tmp_path / f"{at}", "plan").resume(module, optimiser, said.append))
        assert said == [] and not (tmp_path / f"{at}" / ".damaged").exists()
    assert seen == [2, 0, 0, 0, 0]


def fingerprint(plan):
    return training.fingerprint(*training.read_files(plan, print))


def test_another_plan_neither_goes_on_from_a_state_nor_deletes_it(files, tiny_root, tmp_path):
    plan = plan_for(files, tiny_root, tmp_path / "out", epochs=2)
    with pytest.raises(KeyboardInterrupt):
        train(plan, stop_at("epoch 2"))
    for other in (
        replace(plan, seed=1),
        replace(plan, training="none"),
        replace(plan, epochs=3),
        replace(plan, train=plan.validation),
    ):
        assert fingerprint(other) != fingerprint(plan)
    moved = replace(plan, out=str(tmp_path / "elsewhere"), half=True, test=plan.validation)
    assert fingerprint(moved) == fingerprint(plan)
    there = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    with pytest.raises(TrainingError, match=r"\.progress holds 1 .*another plan.*--out"):
        train(replace(plan, seed=1))
    assert there == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    epochs = set()
    train(plan, lambda name, done, total: epochs.add(name.partition(",")[0]))
    assert "epoch 1 of 2" not in epochs


def test_epochs_of_other_versions_of_a_library_are_not_gone_on_from(tmp_path):
    """What is there stays; a record that does not say with what it was made is gone on from."""
    module = torch.nn.Linear(2, 1)

    def of(versions):
        return Checkpoint(tmp_path, "plan", versions)

    def resumed(versions):
        return of(versions).resume(module, torch.optim.AdamW(module.parameters()))

    now = {"torch": "2.13.0", "transformers": "5.23.0"}
    of(now).save(module, torch.optim.AdamW(module.parameters()), 0, {"selection": 1})
    assert resumed(now) == 1
    there = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(TrainingError) as told:
        resumed(now | {"torch": "2.14.0"})
    for named in (tmp_path / ".progress", "1 finished epoch", "install torch 2.13.0", "torch 2.14.0", "--out"):
        assert str(named) in str(told.value)
    assert there == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    of({}).save(module, torch.optim.AdamW(module.parameters()), 0, {"selection": 1})
    assert resumed(now) == 1


@pytest.mark.parametrize(
    "method, names", [("full", {"torch", "transformers"}), ("lora", {"torch", "transformers", "peft"})]
)
def test_a_run_remembers_the_libraries_that_compute(files, tiny_root, tmp_path, monkeypatch, method, names):
    plan = plan_for(files, tiny_root, tmp_path / "out", method=method)
    with pytest.raises(KeyboardInterrupt):
        train(plan, stop_at("epoch 2"))
    assert json.loads((tmp_path / "out" / ".progress" / "record.json").read_text())["versions"].keys() == names
    for name in names:
        with monkeypatch.context() as patch, pytest.raises(TrainingError, match=f"{name} 0.1 "):
            patch.setattr(checkpoints, "version", lambda asked, name=name: "0.1 " if asked == name else version(asked))
            train(plan)


def test_figures_of_other_weights_are_not_shown(files, tiny_root, tmp_path):
    """A model is trained anew in its folder, and the run is killed between weights and card."""
    plan = plan_for(files, tiny_root, tmp_path / "out", epochs=1)
    folder = str(train(plan))
    former = load(folder, "cpu")
    assert former.card["weights_sha256"] == former.digest and former.card["plan"]["seed"] == 0
    with pytest.raises(KeyboardInterrupt):
        train(replace(plan, seed=1), stop_at("measuring"))
    now = load(folder, "cpu")
    assert now.digest != former.digest and now.card is None and len(now.notes) == len(former.notes) + 1
    train(replace(plan, seed=1))
    again = load(folder, "cpu")
    assert again.digest == now.digest == again.card["weights_sha256"] and again.card["plan"]["seed"] == 1
    assert again.notes == former.notes


def test_an_interrupt_at_the_command_line_says_how_to_go_on(files, tiny_root, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(terminal.Bar, "__call__", lambda self, what, done, total: stop_at("epoch 2")(what, done, total))
    status = main(
        [
            "train",
            "--base",
            str(tiny.base("bert", tiny_root)),
            "--train",
            str(files / "train.jsonl"),
            "--validation",
            str(files / "validation.jsonl"),
            "--out",
            str(tmp_path / "out"),
            "--device",
            "cpu",
        ]
    )
    assert status == 130 and "last complete epoch" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / ".progress" / "record.json").read_text())["history"][0]["epoch"] == 1


# ---- the epoch that is kept


@pytest.mark.parametrize(
    "scores, best",
    [([0.5], 0), ([0.5, 0.7, 0.7, 0.6], 1), ([0.7, 0.7], 0), ([-0.2, -0.1, -0.3], 1), ([0.1, 0.2, 0.3], 2)],
)
def test_the_earliest_best_epoch_is_kept(tmp_path, scores, best):
    module = torch.nn.Linear(1, 1)
    optimiser = torch.optim.AdamW(module.parameters())
    checkpoint = Checkpoint(tmp_path, "plan")
    for epoch, score in enumerate(scores):
        torch.nn.functional.mse_loss(module(torch.ones(1)), torch.zeros(1)).backward()
        optimiser.step()
        with torch.no_grad():
            module.weight.fill_(epoch)
        checkpoint.save(module, optimiser, epoch, {"selection": score})
        assert len(list(checkpoint.folder.glob("*.safetensors"))) == 2, "only the last state and the best weights stay"
    assert checkpoint.best_epoch == best
    again = Checkpoint(tmp_path, "plan")
    assert again.resume(module, optimiser) == len(scores) and module.weight.item() == len(scores) - 1
    again.load_best(module)
    assert module.weight.item() == best
    with pytest.raises(TrainingError, match="of another plan"):
        Checkpoint(tmp_path, "another plan").resume(module, optimiser)
    assert Checkpoint(tmp_path, "plan").resume(module, optimiser) == len(scores)


def test_a_parameter_without_gradient_has_no_state_and_resumes(tmp_path):
    module = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])
    optimiser = torch.optim.AdamW(module.parameters())
    module[0](torch.ones(2)).sum().backward()
    optimiser.step()
    Checkpoint(tmp_path, "plan").save(module, optimiser, 0, {"selection": 1})
    fresh = torch.optim.AdamW(module.parameters())
    assert Checkpoint(tmp_path, "plan").resume(module, fresh) == 1
    assert set(fresh.state) == set(module[0].parameters())


# ---- strategies


def spied(plan, epochs=1):
    """TrainingRun epochs by a plan with a spy on every forward pass; return (training masks, validation masks, scores per
    epoch).
    """
    run, _ = run_of(plan)
    seen, forward = {"train": [], "validation": []}, run._forward

    def spy(data, indices, masks):
        seen["train" if data is run.train_set else "validation"].append((indices.copy(), masks.copy()))
        return forward(data, indices, masks)

    run._forward = spy
    scores = []
    for epoch in range(epochs):
        run.epoch(epoch)
        scores.append(run.validate())
    for split, data in (("train", run.train_set), ("validation", run.valid_set)):
        for indices, masks in seen[split]:
            assert not (masks & ~pad([data.maskable[i] for i in indices])).any(), (
                "special tokens and padding are never masked"
            )
    return seen["train"], seen["validation"], scores


def test_training_strategies_differ_as_they_should(files, tiny_root, tmp_path):
    plan = plan_for(files, tiny_root, tmp_path)
    masked = {
        strategy: [m.any(axis=1) for _, m in spied(replace(plan, training=strategy), 3)[0]]
        for strategy in ("none", "mask", "half")
    }
    assert not any(rows.any() for rows in masked["none"])
    assert np.concatenate(masked["mask"]).mean() > 0.8
    assert not any(rows[::2].any() for rows in masked["half"])
    assert np.concatenate([rows[1::2] for rows in masked["half"]]).mean() > 0.8


def test_each_epoch_draws_new_masks_and_a_new_order_and_the_seed_decides(files, tiny_root, tmp_path):
    plan = plan_for(files, tiny_root, tmp_path)
    first, again, other = (spied(replace(plan, seed=seed), 2)[0] for seed in (0, 0, 1))

    def flat(steps):
        return [(indices.tolist(), masks.tolist()) for indices, masks in steps]

    assert flat(first) == flat(again) != flat(other)
    assert flat(first[:4]) != flat(first[4:])


@pytest.mark.parametrize("strategy", ["none", "mask", "both"])
def test_validation_strategies_choose_by_their_copies(files, tiny_root, tmp_path, strategy):
    plan = plan_for(files, tiny_root, tmp_path, validation_strategy=strategy)
    _, validated, scores = spied(plan, 2)
    masks = [m for _, m in validated]
    assert len(masks) == 4 and not masks[0].any() and not masks[2].any()
    assert masks[1].any() and (masks[1] == masks[3]).all(), "masks are drawn once"
    for entry in scores:
        assert entry["both"] == pytest.approx((entry["unmasked"] + entry["masked"]) / 2)
        assert entry["selection"] == entry[{"none": "unmasked", "mask": "masked", "both": "both"}[strategy]]


def test_the_metric_over_both_copies_is_over_both_together(files, tiny_root, tmp_path):
    run, _ = run_of(plan_for(files, tiny_root, tmp_path, metric="macro F1"))
    labels = run.valid_set.labels
    copies = iter([labels.copy(), np.zeros_like(labels)])
    run.predict = lambda data, masks=None: next(copies)
    together = _macro_f1_by_definition([*labels, *labels], [*labels, *np.zeros_like(labels)])
    assert (
        run.validate()["both"]
        == pytest.approx(together)
        != pytest.approx((1 + macro_f1(labels, np.zeros_like(labels))) / 2)
    )


def test_the_learning_rate_rises_and_falls(files, tiny_root, tmp_path):
    run, _ = run_of(plan_for(files, tiny_root, tmp_path, epochs=25, learning_rate=2.0))
    rates = []
    for step in range(100):
        run._set_rate(step)
        rates.append(run.optimiser.param_groups[1]["lr"])
    # 4 steps an epoch; six warm-up steps of a hundred, then 94 down.
    assert run.steps == 4
    np.testing.assert_allclose(rates[:6], 2 * np.arange(1, 7) / 6)
    np.testing.assert_allclose(rates[6:], 2 * np.arange(94, 0, -1) / 94)


def test_each_step_takes_its_own_rate(files, tiny_root, tmp_path):
    run, _ = run_of(plan_for(files, tiny_root, tmp_path, epochs=2, learning_rate=1e-3))
    rates, step = [], run.optimiser.step
    run.optimiser.step = lambda: (rates.append(run.optimiser.param_groups[0]["lr"]), step())
    run.epoch(0)
    run.epoch(1)
    # One warm-up step of eight, then seven down.
    np.testing.assert_allclose(rates, 1e-3 * np.array([7, 7, 6, 5, 4, 3, 2, 1]) / 7)


# ---- what a plan refuses

WRONG = {
    "training": ({"training": "often"}, "training is 'often'; choose one of none, mask, half"),
    "validation": ({"validation_strategy": "half"}, "choose one of none, mask, both"),
    "method": ({"method": "prefix"}, "choose one of full, lora"),
    "metric": ({"metric": "R2"}, "choose one of accuracy"),
    "epochs": ({"epochs": 0}, "epochs is 0; it must be at least 1"),
    "batch": ({"batch": 0}, "batch is 0"),
    "half of one": ({"batch": 1}, '"half" needs at least 2'),
    "short": ({"max_tokens": 2}, "max_tokens is 2"),
}


@pytest.mark.parametrize("chosen, said", WRONG.values(), ids=WRONG)
def test_a_plan_that_cannot_be_carried_out(files, tiny_root, tmp_path, chosen, said):
    with pytest.raises(TrainingError, match=said):
        train(plan_for(files, tiny_root, tmp_path / "out", **chosen))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("named", ["folder", "link", "other spelling"])
def test_a_base_is_not_replaced_by_what_is_made_of_it(files, tiny_root, tmp_path, monkeypatch, named):
    base = shutil.copytree(tiny.base("bert", tiny_root), tmp_path / "base")
    (tmp_path / "link").symlink_to(base)
    before = weights_of(base)
    out = {"folder": base, "link": tmp_path / "link", "other spelling": tmp_path / "link" / ".." / "base"}[named]
    with pytest.raises(TrainingError, match=r"of the base.*--out"):
        train(replace(plan_for(files, tiny_root, out), base=str(base)))
    assert weights_of(base) == before
    # A bundled base goes by its name.
    monkeypatch.setattr(bases, "BASES", tmp_path)
    monkeypatch.setattr(bases, "bundled_bases", lambda: ["base"])
    with pytest.raises(TrainingError, match="of the base"):
        bases.check_out(out, "full", "base")


@pytest.mark.parametrize("method, there", [("full", "adapter_config.json"), ("lora", "model.safetensors")])
def test_a_folder_that_holds_the_other_kind_is_not_mixed(files, tiny_root, tmp_path, method, there):
    (tmp_path / there).write_text("{}", encoding="utf-8")
    with pytest.raises(TrainingError, match=r"another kind of model.*--out"):
        train(plan_for(files, tiny_root, tmp_path, method=method))


def test_a_loss_that_is_no_number_is_told(files, tiny_root, tmp_path):
    with pytest.raises(TrainingError, match="smaller learning rate"):
        train(plan_for(files, tiny_root, tmp_path / "out", learning_rate=1e30, epochs=2))


COMMANDS = {
    "missing column": ({"--text": "words"}, "BadData: train.jsonl has no column 'words'"),
    "missing file": ({"--validation": "gone.jsonl"}, "BadData: There is no file 'gone.jsonl'."),
    "labels": ({"--labels": "a b"}, "BadData: train.jsonl, row 1: the label 'harbour' is none of a, b,"),
    "single class": ({"--train": "ONE"}, "TrainingError: one.jsonl has a single class, kitchen."),
    "no base": ({"--base": "./gone"}, "UnsupportedModel: There is no folder './gone'."),
    "device": ({"--device": "tpu"}, "UnsupportedModel: Device 'tpu' is not available."),
    "out of range": (
        {"--validation": "OTHER"},
        "BadData: other.jsonl, row 1: the label 'attic' is none of harbour, kitchen, workshop,",
    ),
}


@pytest.mark.parametrize("options, said", COMMANDS.values(), ids=COMMANDS)
def test_problems_at_the_command_line_are_one_sentence(files, tiny_root, tmp_path, capsys, options, said):
    one = write_rows(tmp_path / "one.jsonl", [{"text": "salt", "label": "kitchen"}] * 3)
    other = write_rows(tmp_path / "other.jsonl", [{"text": "salt", "label": "attic"}])
    chosen = {
        "--base": str(tiny.base("bert", tiny_root)),
        "--train": str(files / "train.jsonl"),
        "--validation": str(files / "validation.jsonl"),
        "--out": str(tmp_path / "out"),
        "--device": "cpu",
    } | options
    named = {"ONE": str(one), "OTHER": str(other)}
    arguments = [
        part
        for key, value in chosen.items()
        for part in (key, *(value.split() if key == "--labels" else [named.get(value, value)]))
    ]
    assert main(["train", *arguments]) == 1
    told = capsys.readouterr().err.strip().splitlines()
    assert told[-1].startswith(said) and all(".jsonl: " in line for line in told[:-1]), told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["DeepWordBug", "substitution", "genetic", "HotFlip"])
def test_adversarial_training_learns_from_attacked_texts_and_the_card_counts_them(name, files, tiny_root, tmp_path):
    plan = replace(plan_for(files, tiny_root, tmp_path / "out"), adversarial=name.lower(), attacked=48)
    started = time.perf_counter()
    card = json.loads((train(plan) / "card.json").read_text())
    # Generous, since other work may go on beside it.
    assert time.perf_counter() - started < 120
    about = card["adversarial"]
    assert about["attack"] == name and about["attacked"] == 48 * plan.epochs and card["plan"]["attacked"] == 48
    assert about["queries"] == sum(entry["queries"] for entry in card["validation"]) > 0
    assert 0 <= about["successes"] <= about["attacked"]
    assert f"{about['successes']:,} successes" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize("name", ["DeepWordBug", "substitution", "genetic", "HotFlip"])
def test_protected_words_stay_in_adversarial_training(name, files, tiny_root, tmp_path, monkeypatch):
    """Half of the words that attacks change unasked are protected, in the same training."""
    monkeypatch.setattr(Vocabulary.near, "__defaults__", (None, -1.0))
    really, changed = augmenting.attack_text, []

    def attack(model, encoded, *given):
        found = really(model, encoded, *given)
        changed.extend(encoded.features[i].text.casefold() for i in found.changed)
        return found

    monkeypatch.setattr(augmenting, "attack_text", attack)
    chosen = {"adversarial": name, "attacked": 24, "epochs": 1}
    train(plan_for(files, tiny_root, tmp_path / "free", **chosen))
    kept = tuple(sorted({*changed})[::2])
    assert kept
    changed.clear()
    card = json.loads(
        (train(plan_for(files, tiny_root, tmp_path / "out", **chosen, protect=kept)) / "card.json").read_text()
    )
    assert not {*changed} & {*kept} and tuple(card["plan"]["protect"]) == kept


def test_words_to_protect_are_checked_before_anything_is_read(files, tiny_root, tmp_path):
    plan = plan_for(files, tiny_root, tmp_path / "out", protect=("soup",))
    for one, said in ((plan, "adversarial"), (replace(plan, adversarial="genetic", protect=("a b",)), "'a b' is not")):
        with pytest.raises(TrainingError, match=said):
            train(one)
    assert "protect" not in replace(plan, protect=()).as_dict() and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("owner", "name", "count"),
    [(training.TrainingRun, "epoch", 1), (augmenting, "attack_text", 12)],
    ids=["between two epochs", "while texts are attacked"],
)
def test_adversarial_training_goes_on_after_a_kill_to_the_same_weights(
    owner, name, count, files, tiny_root, tmp_path, monkeypatch
):
    """Each epoch attacks 8 texts, and the card tells the same of them."""
    plan = replace(plan_for(files, tiny_root, tmp_path / "whole"), adversarial="HotFlip", attacked=8)
    whole, stopped = train(plan), replace(plan, out=str(tmp_path / "stopped"))
    really, calls = getattr(owner, name), []

    def stops(*given, **more):
        if len(calls) == count:
            raise KeyboardInterrupt
        calls.append(given)
        return really(*given, **more)

    monkeypatch.setattr(owner, name, stops)
    with pytest.raises(KeyboardInterrupt):
        train(stopped)
    monkeypatch.setattr(owner, name, really)
    assert weights_of(train(stopped)) == weights_of(whole)
    told = [json.loads((Path(one.out) / "card.json").read_text())["adversarial"] for one in (plan, stopped)]
    assert told[0] == told[1] and told[0]["attacked"] == 8 * plan.epochs


def test_an_unknown_attack_is_refused_with_the_nearest_before_anything_is_read(files, tiny_root, tmp_path):
    plan = replace(plan_for(files, tiny_root, tmp_path / "out"), adversarial="genetics")
    with pytest.raises(TrainingError, match="did you mean 'genetic'"):
        train(plan)
    assert not (tmp_path / "out").exists()
