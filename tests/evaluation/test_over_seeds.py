"""Means over seeds against hand-made numbers, and `evaluate` of a family of tiny models."""

import json
import shutil

import numpy as np
import pytest
from pyarrow import parquet
from safetensors.numpy import load_file, save_file
from scipy import stats

import core
from core.commands.command_line import main
from core.evaluation.over_seeds import means_over_seeds, ranks_over_seeds
from core.loading.loading import load
from core.loading.seeds import Member, Seeds
from core.mathematics.statistics import mean_interval, seeds_interval
from tests import tiny


def line(measure, value, example="a", **more):
    return {"example": example, "measure": measure, "metric": "NC", "direction": "↑", "value": value} | more


def test_means_are_of_each_seed_first():
    lines = [[line("x", 1.0), line("x", 2.0, "b"), line("x", None, "c")], [line("x", 3.0)], [line("x", 5.0)]]
    (found,) = means_over_seeds(lines)
    assert found.values.tolist() == [1.5, 3.0, 5.0] and found.about["measure"] == "x"
    assert found.mean == mean_interval(np.array([1.5, 3.0, 5.0]))
    expected = stats.bootstrap((np.array([1.5, 3.0, 5.0]),), np.mean, rng=np.random.default_rng(0), method="BCa")
    # Both draw from 27 resamples, so ends lie on the same few means.
    assert np.isclose([found.mean.low, found.mean.high], expected.confidence_interval, atol=0.6).all()


def test_shares_have_t_intervals_of_logits():
    lines = [[line("x", None, flips=flip, example=str(i)) for i, flip in enumerate(of)] for of in ([1, 0], [1, 1, 0])]
    lines = [[one | {"flips": bool(one["flips"])} for one in of] for of in lines]
    (found,) = means_over_seeds(lines)
    assert found.share and found.mean == seeds_interval(np.array([1 / 2, 2 / 3]))


def test_choices_and_places_are_no_numbers_of_seeds():
    (found,) = means_over_seeds([[line("x", 1.0, row=3, seed=5, draws=20, sigma=1.0, cut=False)]])
    assert found.name == "value" and not found.mean.known


def test_random_attributions_are_one_baseline():
    values = (("random 0", 1.0), ("random 11", 2.0), ("gradient, shuffle 3", 4.0), ("gradient", 5.0))
    found = means_over_seeds([[line(name, value) for name, value in values]])
    assert {one.about["measure"]: one.values[0] for one in found} == {
        "random": 1.5,
        "gradient, shuffle": 4.0,
        "gradient": 5.0,
    }


def test_a_seed_without_a_value_has_none():
    (found,) = means_over_seeds([[line("x", 1.0)], [line("x", None)]])
    assert found.values[0] == 1 and np.isnan(found.values[1])


def test_orders_of_measures_are_compared_pair_by_pair():
    values = [{"x": 3.0, "y": 2.0, "z": 1.0}, {"x": 2.0, "y": 3.0, "z": 1.0}, {"x": 3.0, "y": 2.0, "z": 1.0}]
    lines = [[line(name, value) for name, value in of.items()] for of in values]
    (found,) = ranks_over_seeds(means_over_seeds(lines))
    assert np.isclose(found.mean, (1 / 3 + 1 + 1 / 3) / 3) and np.isclose(found.smallest, 1 / 3)
    assert found.first == {"x": 2, "y": 1} and found.seeds == 3
    down = [[one | {"direction": "↓"} for one in of] for of in lines]
    (found,) = ranks_over_seeds(means_over_seeds(down))
    assert found.first == {"z": 3} and np.isclose(found.smallest, 1 / 3)


@pytest.fixture
def family(tiny_root, tmp_path, monkeypatch):
    """Three tiny models, each moved a little further, and a fourth that did not converge."""
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    for seed in range(3):
        folder = shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "family" / f"seed-{seed}")
        noise = np.random.default_rng(seed)
        tensors = load_file(folder / "model.safetensors")
        moved = {name: one + (0.05 * noise.normal(size=one.shape)).astype(one.dtype) for name, one in tensors.items()}
        save_file(moved, folder / "model.safetensors", metadata={"format": "pt"})
    members = [Member(f"seed-{seed}", seed) for seed in range(3)]
    Seeds(tmp_path / "family", "", (*members, Member("seed-3", 3, "it always predicts one class"))).write()
    rows = [{"text": text, "label": tiny.LABELS[i % 3]} for i, text in enumerate(tiny.SENTENCES[:22])]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path / "family"


def evaluate(family, out, *more, what="scores"):
    root = family.parent if (family / "family.json").exists() else family.parent.parent
    data, out = str(root / "texts.jsonl"), str(root / out)
    asked = ["evaluate", "--model", str(family), "--data", data, "--what", what, "--out", out, "--device", "cpu"]
    return main([*asked, *more])


SCORES = ("--measures", "gradient", "leave-one-out", "--metrics", "NS", "NC", "--count", "2", "--sample", "4")


def test_evaluate_asks_every_member_and_tells_means_over_seeds(family, capsys):
    assert evaluate(family, "found.parquet", *SCORES) == 0
    said = capsys.readouterr()
    assert "seed-3" in said.err and "one class" in said.err
    found = parquet.read_table(family.parent / "found.parquet").to_pylist()
    assert {one["model_seed"] for one in found if one["example"]} == {0, 1, 2}
    means = []
    for seed in range(3):
        of = [one for one in found if one["model_seed"] == seed and one["measure"] == "gradient"]
        known = [one for one in of if one["metric"] == "NC" and one["length"] is None and one["value"] is not None]
        means.append(np.mean([one["value"] for one in known]))
    (over,) = (
        one
        for one in found
        if one["example"] is None
        and one["measure"] == "gradient"
        and one["metric"] == "NC"
        and one["length"] is None
        and one["number"] == "value"
    )
    expected = mean_interval(np.array(means))
    assert np.isclose([over["mean"], over["low"], over["high"]], [expected.mean, expected.low, expected.high]).all()
    assert over["seeds"] == 3 and over["model_seed"] is None and over["low"] < over["high"]


def test_members_give_what_they_give_alone(family, capsys):
    assert evaluate(family, "all.json", *SCORES) == 0
    assert evaluate(family / "seed-1", "one.json", *SCORES) == 0
    found = json.loads((family.parent / "all.json").read_text())
    alone = json.loads((family.parent / "one.json").read_text())
    assert found["models"][1]["examples"] == alone["examples"]
    assert found["over_seeds"] and found["orders_over_seeds"]


def test_a_model_check_of_a_family_is_asked_alike_of_each(family):
    assert evaluate(family, "check.json", "--measures", "gradient", what="model check") == 0
    found = json.loads((family.parent / "check.json").read_text())
    unmasked = next(one for one in found["over_seeds"] if one["number"].endswith("unmasked ↑"))
    assert unmasked["seeds"] == 3
    assert {line["measure"] for line in found["examples"] if line["model"].endswith("seed-2")} == {
        line["measure"] for line in found["examples"] if line["model"].endswith("seed-0")
    }


def test_python_asks_a_family_as_the_command_does(family):
    assert evaluate(family, "found.json", *SCORES) == 0
    told = json.loads((family.parent / "found.json").read_text())
    chosen = {"metrics": ["NS", "NC"], "count": 2, "sample": 4, "device": "cpu"}
    found = core.evaluate(str(family), family.parent / "texts.jsonl", "scores", ["gradient", "leave-one-out"], **chosen)
    means = [one for one in found.lines if one.get("number") is not None]
    assert means == told["over_seeds"] and {one.get("model_seed") for one in found.lines} == {None, 0, 1, 2}


def test_a_loaded_model_stands_beside_a_whole_family(family, tiny_root):
    chosen = {"metrics": ["NS", "NC"], "count": 2, "sample": 4}
    asked = family.parent / "texts.jsonl", "scores", ["gradient", "leave-one-out"]
    loaded = core.load(str(tiny.folder("distilbert", tiny_root)), "cpu")
    found = core.evaluate(loaded, *asked, **chosen, beside=[str(family)])
    alone, whole = core.evaluate(loaded, *asked, **chosen), core.evaluate(str(family), *asked, **chosen)
    means = [one for one in found.lines if one.get("number") is not None]
    assert means and means == [one for one in whole.lines if one.get("number") is not None]
    own = [one["value"] for one in found.lines if one.get("number") is None and one["model_seed"] is None]
    assert own == [one["value"] for one in alone.lines] and len(found.reports) == 4


def test_a_member_does_not_count_twice_in_its_family(family, capsys):
    asked = family.parent / "texts.jsonl", "scores", ["gradient"]
    with pytest.raises(ValueError, match="seed-0"):
        core.evaluate(core.load(str(family), "cpu"), *asked, beside=[str(family)], sample=2)
    assert evaluate(family / "seed-1", "x.json", *SCORES, "--beside", str(family)) == 1
    assert "seed-1" in capsys.readouterr().err


def test_limits_of_a_family_are_those_of_its_members_and_their_means(family, capsys):
    asked = ("--measures", "gradient", "leave-one-out", "--sample", "3")
    assert evaluate(family, "all.parquet", *asked, what="limits") == 0
    said = capsys.readouterr().out
    assert "mean over seeds" in said
    found = parquet.read_table(family.parent / "all.parquet").to_pylist()
    assert evaluate(family / "seed-1", "one.parquet", *asked, what="limits") == 0
    number, means = "NAOPC comprehensiveness ↑", []
    alone = [one[number] for one in parquet.read_table(family.parent / "one.parquet").to_pylist()]
    assert len(alone) == 2 * 3
    for seed in range(3):
        lines = [one for one in found if one["model_seed"] == seed]
        assert seed != 1 or [one[number] for one in lines] == alone
        of = [one[number] for one in lines if one["measure"] == "gradient"]
        assert len(of) == 3
        means.append(np.mean([value for value in of if value is not None]))
    (over,) = (one for one in found if one["number"] == number and one["measure"] == "gradient")
    expected = mean_interval(np.array(means))
    assert np.isclose([over["mean"], over["low"], over["high"]], [expected.mean, expected.low, expected.high]).all()
    assert over["seeds"] == 3 and over["model_seed"] is None


def test_what_cannot_be_asked_of_a_family_is_refused(family, capsys):
    assert evaluate(family, "x.parquet", *SCORES, "--beside", "stories-1-family") == 1
    assert "one family" in capsys.readouterr().err
    config = family / "seed-1" / "config.json"
    labels = {str(i): name for i, name in enumerate("abc")}
    said = json.loads(config.read_text()) | {"id2label": labels, "label2id": {v: int(k) for k, v in labels.items()}}
    config.write_text(json.dumps(said))
    capsys.readouterr()
    assert evaluate(family, "x.parquet", *SCORES) == 1
    assert "seed-1" in capsys.readouterr().err
    assert not (family.parent / "x.parquet").exists()


@pytest.mark.parametrize("first", [True, False], ids=["family first", "family beside"])
def test_a_family_and_a_model_stand_beside_each_other(first, family, tiny_root, capsys):
    """Means are over the family's members alone, and the model has what it has alone."""
    other = str(tiny.folder("distilbert", tiny_root))
    asked = ["evaluate", "--data", str(family.parent / "texts.jsonl"), "--what", "scores", "--device", "cpu", *SCORES]
    models = (str(family), other) if first else (other, str(family))
    out = str(family.parent / "both.json")
    assert main([*asked, "--model", models[0], "--beside", models[1], "--out", out]) == 0
    assert evaluate(family, "alone.json", *SCORES) == 0
    assert main([*asked, "--model", other, "--out", str(family.parent / "other.json")]) == 0
    both, alone, one = (json.loads((family.parent / f"{name}.json").read_text()) for name in ("both", "alone", "other"))
    assert both["over_seeds"] == alone["over_seeds"] and len(both["models"]) == 4
    assert both["models"][-1 if first else 0]["examples"] == one["examples"]
    assert main([*asked, "--model", models[0], "--beside", models[1], "--out", out.replace("json", "parquet")]) == 0
    found = parquet.read_table(out.replace("json", "parquet")).to_pylist()
    of = {line["model"]: line["model_seed"] for line in found}
    assert of == {f"{family}/seed-{seed}": seed for seed in range(3)} | {other: None, str(family): None}


def test_limits_of_a_family_beside_a_model_are_those_of_both(family, tiny_root):
    other = str(tiny.folder("distilbert", tiny_root))
    asked = ("--measures", "gradient", "--sample", "2")
    assert evaluate(family, "alone.json", *asked, what="limits") == 0
    assert evaluate(family, "both.json", *asked, "--beside", other, what="limits") == 0
    alone, both = (json.loads((family.parent / f"{name}.json").read_text()) for name in ("alone", "both"))
    assert both["over_seeds"] == alone["over_seeds"] and len(both["models"]) == len(alone["models"]) + 1


def test_a_member_without_files_is_named_and_left_out(family, capsys):
    (family / "seed-0" / "model.safetensors").unlink()
    assert evaluate(family, "found.json", *SCORES) == 0
    assert "seed-0" in capsys.readouterr().err
    found = json.loads((family.parent / "found.json").read_text())
    assert [one["model"].rpartition("/")[2] for one in found["models"]] == ["seed-1", "seed-2"]
    assert load(str(family)).digest == load(str(family / "seed-1")).digest
