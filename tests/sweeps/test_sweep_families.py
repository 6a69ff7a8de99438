"""A family of seeds in a sweep: members as models, and means over seeds."""

import json
import shutil

import numpy as np
import pytest
from pyarrow import parquet
from safetensors.numpy import load_file, save_file

from core.commands.command_line import main
from core.loading.seeds import Member, Seeds
from core.mathematics.statistics import mean_interval, seeds_interval
from tests import tiny

VALUES = {"aopc": "mean", "naopc": "mean", "areas": "racu", "fidelity": "fidelity"}


@pytest.fixture
def folder(tmp_path, tiny_root, monkeypatch):
    """A folder with a sweep of a family of two seeds, a third that did not converge, and a model beside it."""
    for seed in range(2):
        own = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "family" / f"seed-{seed}")
        noise = np.random.default_rng(seed)
        tensors = load_file(own / "model.safetensors")
        moved = {name: one + (0.05 * noise.normal(size=one.shape)).astype(one.dtype) for name, one in tensors.items()}
        save_file(moved, own / "model.safetensors", metadata={"format": "pt"})
    members = [Member(f"seed-{seed}", seed) for seed in range(2)]
    Seeds(tmp_path / "family", "", (*members, Member("seed-2", 2, "it always predicts one class"))).write()
    texts = [{"id": f"t{i}", "text": one, "label": tiny.LABELS[i % 3]} for i, one in enumerate(tiny.SENTENCES[:4])]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    keys = {"models": ["family", str(tiny.folder("distilbert", tiny_root))], "data": ["texts.jsonl"], "out": "out"}
    keys |= {"measures": ["gradient"], "tables": [*VALUES, "performance", "p_values", "ranks", "rank_correlations"]}
    (tmp_path / "sweep.toml").write_text("\n".join(f"{k} = {json.dumps(v)}" for k, v in keys.items()), encoding="utf-8")
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_family_has_lines_of_its_members_and_means_over_them(folder, capsys):
    assert main(["sweep", "sweep.toml", "--device", "cpu"]) == 0
    assert "seed-2" in capsys.readouterr().err
    found = {path.stem: parquet.read_table(path).to_pylist() for path in (folder / "out").glob("*.parquet")}
    for name, value in {**VALUES, "performance": "performance"}.items():
        of = {}
        for one in found[name]:
            of.setdefault(one["model"], []).append(one)
        assert len(of) == 4 and {one["seeds"] for one in of["family"]} == {2}, name
        for mean, *members in zip(of["family"], of["family/seed-0"], of["family/seed-1"]):
            values = np.array([one[value] for one in members], dtype=float)
            expected = seeds_interval(values, n=4) if name == "performance" else mean_interval(values)
            ends = [mean[value], mean[f"{value}_low"], mean[f"{value}_high"]]
            assert np.allclose(
                np.array(ends, dtype=float), [expected.mean, expected.low, expected.high], equal_nan=True
            )
            assert mean["n"] == min(one["n"] for one in members)
    assert "family" not in {one["model"] for one in found["p_values"]}
    assert {one["model"] for one in found["ranks"]} >= {"family", "family/seed-0", "family/seed-1"}
    pairs = {(one["first"], one["second"]) for one in found["rank_correlations"] if one["ranked"] == "measures"}
    assert ("family/seed-0", "family/seed-1") in pairs


def test_a_member_with_other_labels_is_named(folder, capsys):
    config = folder / "family" / "seed-1" / "config.json"
    labels = {str(i): name for i, name in enumerate("abc")}
    said = json.loads(config.read_text()) | {"id2label": labels, "label2id": {v: int(k) for k, v in labels.items()}}
    config.write_text(json.dumps(said))
    assert main(["sweep", "sweep.toml", "--device", "cpu"]) == 1
    assert "family/seed-1" in capsys.readouterr().err and not list((folder / "out").glob("*.parquet"))
