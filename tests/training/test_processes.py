"""One training in several processes, in batches that add up, and in bfloat16: the weights that one process gives."""

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from streamlit.testing.v1 import AppTest
from torch import distributed as dist
from torch import multiprocessing

from core.commands.command_line import main
from core.network.processes import ALONE, Processes, fast_products, joined_processes
from core.training import training
from core.training.bases import load_base
from core.training.checkpoints import Checkpoint, NotFinite
from core.training.plan import Plan
from core.training.training import TrainingRun, tokenise, train
from tests import tiny
from tests.model_folders import change_json

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def plan(tmp_path, tiny_root):
    """A plan without dropout, which each process would draw for itself: 40 texts, so that the last step is short."""
    base = shutil.copytree(tiny.base("bert", tiny_root), tmp_path / "base")
    change_json(base / "config.json", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    rows = [{"text": text, "label": tiny.LABELS[i % 3]} for i, text in enumerate(tiny.SENTENCES[:39])]
    for name, part in (("train", rows), ("validation", rows[:12])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
    files = (str(tmp_path / "train.jsonl"), str(tmp_path / "validation.jsonl"))
    return Plan(str(base), *files, str(tmp_path / "out"), device="cpu", epochs=2, learning_rate=1e-3, batch=16)


def run_of(plan, processes=ALONE):
    _, data = training.read_files(plan, print)
    module, words, mask_id, longest = load_base(plan.base, data["train"].classes, plan.method, plan.rank, plan.seed)
    sets = [tokenise(words, data[split], longest) for split in ("train", "validation")]
    return TrainingRun(plan, module, mask_id, *sets, "cpu", lambda *_: None, processes)


def weights(out):
    """Weights that a gradient decides: that of a key's bias is zero, and Adam makes steps of its rounding errors."""
    found = load_file(Path(out) / "model.safetensors")
    return {name: one for name, one in found.items() if not name.endswith("key.bias")}


def assert_same(one, other, atol=2e-5):
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=atol, rtol=1e-4, msg=lambda said, name=name: name)


def torchrun(plan, count=2):
    """Train by the command in several processes of this machine."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    asked = ["--base", plan.base, "--train", plan.train, "--validation", plan.validation, "--out", plan.out]
    asked += ["--epochs", plan.epochs, "--batch", plan.batch, "--learning-rate", plan.learning_rate, "--device", "cpu"]
    started = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", count, "--master-port", port]
    return subprocess.run(
        [str(one) for one in [*started, "-m", "core", "train", *asked]],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_two_processes_give_the_weights_of_one_with_twice_the_batch(plan, tmp_path):
    done = torchrun(replace(plan, batch=8, out=str(tmp_path / "two")))
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("Written:") == 1
    train(plan)
    assert_same(weights(tmp_path / "two"), weights(plan.out))


def test_a_family_of_seeds_takes_one_process(plan, monkeypatch, capsys):
    monkeypatch.setenv("WORLD_SIZE", "2")
    files = ["--train", plan.train, "--validation", plan.validation, "--out", plan.out]
    assert main(["train", "--base", plan.base, *files, "--seeds", "2"]) == 1
    assert "one process" in capsys.readouterr().err and not Path(plan.out).exists()


def test_batches_that_add_up_give_the_weights_of_a_larger_one(plan, tmp_path):
    train(plan)
    train(replace(plan, batch=4, accumulate=4, out=str(tmp_path / "four")))
    assert_same(weights(tmp_path / "four"), weights(plan.out))


def test_every_example_of_a_step_falls_to_one_process():
    for rows in (1, 2, 7, 32):
        for count in (1, 2, 3):
            parts = [Processes(rank, count).parts(rows, 4) for rank in range(count)]
            assert sorted(np.concatenate([part for own in parts for part in own])) == [*range(rows)]
            assert max(len(part) for own in parts for part in own) <= 4
    assert [part.tolist() for part in ALONE.parts(5, 5)] == [[0, 1, 2, 3, 4]]


def _joined(rank, port, out):
    """Two processes that begin apart: what they share, and the gradients that they add up."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "RANK": str(rank)}
    with joined_processes() as processes:
        torch.manual_seed(rank)
        module = torch.nn.ModuleDict({"used": torch.nn.Linear(3, 2), "unused": torch.nn.Linear(3, 2)})
        optimiser = torch.optim.AdamW(module.parameters())
        if processes.first:
            module["used"](torch.ones(1, 3)).sum().backward()
            optimiser.step()
        epoch = processes.share(module, optimiser, 5 if processes.first else 0)
        optimiser.zero_grad(set_to_none=True)
        # The second has no example of this step.
        loss = torch.zeros(())
        if processes.first:
            loss = module["used"](torch.ones(1, 3)).sum()
            loss.backward()
        total = processes.add(module, loss.detach())
        assert dist.get_world_size() == 2
        grads = [one.grad for one in module.parameters()]
        optimiser.step()
        torch.save((epoch, total, grads, module.state_dict(), optimiser.state_dict()), f"{out}/{rank}.pt")


def _page():
    import streamlit as st

    st.write("A page")


@pytest.fixture(scope="module")
def page_ran():
    """A page that ran before, which a spawned process cannot run."""
    assert not AppTest.from_function(_page).run().exception


def test_what_the_first_has_is_shared_and_gradients_add_up(page_ran, tmp_path):
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    multiprocessing.spawn(_joined, (port, str(tmp_path)), 2)
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert first[0] == second[0] == 5 and first[1] == second[1]
    for one, other in zip(first[2], second[2]):
        assert (one is None and other is None) or torch.equal(one, other)
    assert [one is None for one in first[2]] == [False, False, True, True]
    assert all(torch.equal(first[3][name], second[3][name]) for name in first[3])
    steps = [[float(one["step"]) for one in found[4]["state"].values()] for found in (first, second)]
    assert steps[0] == steps[1] == [2.0, 2.0]
    kept = [found[4]["state"] for found in (first, second)]
    assert all(torch.equal(one[part], kept[1][k][part]) for k, one in kept[0].items() for part in one)
    assert all(one["exp_avg"].any() for one in kept[0].values())


def test_bfloat16_keeps_weights_in_float32_and_learns_as_well(plan):
    one, other = run_of(plan), run_of(replace(plan, bfloat16=True))
    losses = [[run.epoch(epoch)["loss"] for epoch in range(2)] for run in (one, other)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.03)
    assert losses[0] != losses[1], "it did compute in bfloat16"
    assert {p.dtype for p in other.module.parameters()} == {torch.float32}
    assert all(part.dtype == torch.float32 for state in other.optimiser.state.values() for part in state.values())


def test_nan_under_autocast_is_a_sentence_that_says_what_to_do(plan):
    run = run_of(replace(plan, bfloat16=True))
    with torch.no_grad():
        next(run.module.parameters())[5:] = float("nan")
    with pytest.raises(NotFinite, match=r"not finite\. Try without --bfloat16\.$"):
        run.epoch(0)


def test_a_gradient_that_is_lost_at_the_last_step_is_seen(plan):
    run = run_of(replace(plan, bfloat16=True, batch=39))
    next(one for one in run.module.parameters() if one.requires_grad).register_hook(lambda grad: grad * float("inf"))
    with pytest.raises(NotFinite):
        run.epoch(0)


def test_one_fused_optimiser_goes_on_where_it_stopped(plan, tmp_path):
    """Its steps are counted where the weights are, others on the processor."""
    run, again = run_of(plan), run_of(plan)
    for one in (run, again):
        for group in one.optimiser.param_groups:
            group["fused"], group["foreach"] = True, None
    scores = {"selection": 0.5} | run.epoch(0)
    Checkpoint(tmp_path / "kept", "f").save(run.module, run.optimiser, 0, scores)
    assert Checkpoint(tmp_path / "kept", "f").resume(again.module, again.optimiser) == 1
    run.epoch(1)
    again.epoch(1)
    assert_same(dict(again.module.state_dict()), dict(run.module.state_dict()), atol=0)


def test_seldom_choices_leave_older_plans_as_they_are(plan):
    assert not {"bfloat16", "accumulate"} & plan.as_dict().keys()
    changed = replace(plan, bfloat16=True, accumulate=2).as_dict()
    assert changed["bfloat16"] is True and changed["accumulate"] == 2


def test_precision_of_products_is_given_back():
    before = torch.backends.cuda.matmul.fp32_precision
    with fast_products("cuda:0", alone=True):
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    with fast_products("cuda:0", alone=False):
        assert torch.backends.cuda.matmul.fp32_precision == before
    with fast_products("cpu", alone=True):
        assert torch.backends.cuda.matmul.fp32_precision == before
    assert torch.backends.cuda.matmul.fp32_precision == before
