"""Families of seeds: trained one after the other, stopped and resumed, listed with what did not converge."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from core.commands.command_line import main
from core.loading import locating
from core.loading.inspection import check_model
from core.loading.loading import load
from core.loading.locating import find_seeds, member_names
from core.loading.seeds import FAMILY, Member, read_seeds
from core.network.architectures import UnsupportedModel
from core.training import seeds
from core.training.checkpoints import NotFinite
from core.training.retraining import Problem
from core.training.seeds import seeds_report, train_seeds
from core.training.training import Plan, TrainingError, train
from tests import tiny


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Training and validation files of the same 40 texts in three classes."""
    root = tmp_path_factory.mktemp("data")
    topics = [0] * 10 + [1] * 12 + [2] * 18
    rows = [{"text": text, "label": tiny.LABELS[topic]} for text, topic in zip(tiny.SENTENCES, topics)]
    for name, part in (("train", rows), ("validation", rows)):
        (root / f"{name}.jsonl").write_text("\n".join(map(json.dumps, part)), encoding="utf-8")
    return root


def plan_for(files, tiny_root, out, **chosen):
    base = str(tiny.base("bert", tiny_root))
    files = str(files / "train.jsonl"), str(files / "validation.jsonl")
    return Plan(base, *files, str(out), device="cpu", **{"batch": 8, "epochs": 6, "learning_rate": 3e-3} | chosen)


@pytest.fixture(scope="module")
def trained(files, tiny_root, tmp_path_factory):
    """A family of three, trained without a stop."""
    return train_seeds(plan_for(files, tiny_root, tmp_path_factory.mktemp("family") / "three"), 3)


@pytest.fixture
def copied(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "three")


def weights(folder):
    return (folder / "model.safetensors").read_bytes()


def test_members_are_what_each_seed_trains_alone(trained, files, tiny_root, tmp_path):
    found = read_seeds(trained)
    assert [(one.folder, one.seed) for one in found.trained] == [("seed-0", 0), ("seed-1", 1), ("seed-2", 2)]
    alone = train(plan_for(files, tiny_root, tmp_path / "alone", seed=1))
    assert weights(trained / "seed-1") == weights(alone)
    assert weights(trained / "seed-1") != weights(trained / "seed-0")


def test_a_stopped_family_loses_the_training_in_hand_alone(trained, files, tiny_root, tmp_path, monkeypatch):
    plan, asked = plan_for(files, tiny_root, tmp_path / "out"), []

    def stopped(own, *told):
        asked.append(own.seed)
        if own.seed == 1 and len(asked) == 2:
            raise KeyboardInterrupt
        return train(own, *told)

    monkeypatch.setattr(seeds, "train", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_seeds(plan, 2)
    assert [one.seed for one in read_seeds(tmp_path / "out").trained] == [0]
    train_seeds(plan, 3)
    assert asked == [0, 1, 1, 2]
    assert all(weights(tmp_path / "out" / one) == weights(trained / one) for one in ("seed-0", "seed-1", "seed-2"))
    train_seeds(plan, 3)
    assert asked == [0, 1, 1, 2]


def test_a_seed_that_does_not_converge_is_named_and_left_out(files, tiny_root, tmp_path, monkeypatch):
    def failing(own, *told):
        if own.seed == 1:
            raise NotFinite("The loss is not finite.")
        return train(own, *told)

    told = []
    monkeypatch.setattr(seeds, "train", failing)
    out = train_seeds(plan_for(files, tiny_root, tmp_path / "out"), 2, told=told.append)
    found = read_seeds(out)
    assert found.trained[1] == Member("seed-1", 1, str(Problem.NOT_FINITE))
    assert [one.seed for one in found.members] == [0]
    assert len([one for one in told if "seed-1" in one]) == 1


def test_a_family_without_a_converged_seed_is_an_error_and_stays_listed(files, tiny_root, tmp_path):
    with pytest.raises(TrainingError, match="converged"):
        train_seeds(plan_for(files, tiny_root, tmp_path / "out", learning_rate=1e-12, epochs=1), 1)
    (only,) = read_seeds(tmp_path / "out").trained
    assert only.problem in (str(Problem.ONE_CLASS), str(Problem.NOT_ABOVE))
    with pytest.raises(UnsupportedModel, match="can be used"):
        load(str(tmp_path / "out"))


def test_another_plan_and_a_folder_of_a_model_are_refused(copied, files, tiny_root):
    plan = plan_for(files, tiny_root, copied)
    with pytest.raises(TrainingError, match="another plan"):
        train_seeds(replace(plan, epochs=2), 3)
    with pytest.raises(TrainingError, match="holds a model"):
        train_seeds(replace(plan, out=str(copied / "seed-0")), 1)
    with pytest.raises(TrainingError, match="at least 1"):
        train_seeds(plan, 0)


def test_the_interval_over_seeds_is_that_of_logits(trained):
    found = seeds_report(read_seeds(trained))
    cards = [json.loads((trained / f"seed-{s}" / "card.json").read_text())["performance"] for s in range(3)]
    n, masked = cards[0]["examples"], np.array([card["masked"] for card in cards])
    at = int(np.flatnonzero(np.ptp(masked, axis=0) > 0)[0])
    shares = np.array([(card["masked"][at] * n + 0.5) / (n + 1) for card in cards])
    logits = special.logit(shares)
    low, high = stats.t.interval(0.95, 2, logits.mean(), stats.sem(logits))
    assert np.isclose([found.mean[at].low, found.mean[at].high], special.expit([low, high])).all()


def test_a_family_loads_as_its_first_member_that_can_be_used(copied):
    name = str(copied)
    assert member_names(name) == {f"{name}/seed-{s}": s for s in range(3)}
    assert load(name).digest == load(f"{name}/seed-0").digest
    assert check_model(name).usable
    (copied / "seed-0" / "model.safetensors").unlink()
    assert load(name).digest == load(f"{name}/seed-1").digest
    assert list(member_names(name).values()) == [1, 2]
    assert len(find_seeds(name).left_out) == 1


def test_a_bundled_family_and_its_members_load_by_name(trained, tmp_path, monkeypatch):
    shutil.copytree(trained, tmp_path / "models" / "three")
    monkeypatch.setattr(locating, "MODELS", tmp_path / "models")
    assert list(member_names("three")) == ["three/seed-0", "three/seed-1", "three/seed-2"]
    assert load("three/seed-2").digest == load(str(trained / "seed-2")).digest


@pytest.mark.parametrize(
    "listed", ["{", "[]", '{"plan": "", "members": [{"folder": "../x", "seed": 0}]}', '{"plan": 1, "members": []}']
)
def test_a_damaged_list_is_an_error_and_no_model(copied, listed):
    (copied / FAMILY).write_text(listed, encoding="utf-8")
    with pytest.raises(UnsupportedModel, match="cannot be read"):
        load(str(copied))


def test_the_command_trains_a_family_and_refuses_none(files, tiny_root, tmp_path, capsys):
    base = str(tiny.base("bert", tiny_root))
    asked = ["train", "--base", base, "--train", str(files / "train.jsonl"), "--validation", str(files / "train.jsonl")]
    asked += [
        "--epochs",
        "6",
        "--batch",
        "8",
        "--learning-rate",
        "3e-3",
        "--device",
        "cpu",
        "--out",
        str(tmp_path / "x"),
    ]
    assert main([*asked, "--seeds", "0"]) == 1
    assert main([*asked, "--seeds", "2", "--seed", "3"]) == 0
    assert [one.seed for one in read_seeds(tmp_path / "x").members] == [3, 4]
    assert "accuracy" in capsys.readouterr().out
