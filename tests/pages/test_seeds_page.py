"""A family of seeds on pages: chosen like a model, a member beside it, and whether seeds agree on a text."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from core.commands.command_line import main
from core.loading.loading import load
from core.loading.seeds import Member, Seeds
from core.stability.seeds import COLUMNS
from pages.parts.attributions.seeding import TITLE
from tests import tiny
from tests.app_session import ATTRIBUTIONS, App, complete

pytestmark = pytest.mark.usefixtures("server")


@pytest.fixture
def folder(fresh, tiny_root, tmp_path, monkeypatch):
    """A family of two seeds that the app offers."""
    folder = tmp_path / "family"
    for seed in (3, 4):
        own = shutil.copytree(tiny.folder("bert", tiny_root), folder / f"seed-{seed}")
        moved = {name: one * (1 + 0.1 * (seed - 3)) for name, one in load_file(own / "model.safetensors").items()}
        moved = {name: np.asarray(one, dtype=np.float32) for name, one in moved.items()}
        save_file(moved, own / "model.safetensors", metadata={"format": "pt"})
    Seeds(folder, "", (Member("seed-3", 3), Member("seed-4", 4))).write()
    monkeypatch.setenv("FAITHSCOPE_MODEL", f"sst2-fmm;{folder}")
    return folder


def test_a_family_is_chosen_like_a_model_and_seeds_are_compared(folder):
    app = App(ATTRIBUTIONS, model=str(folder), measures=["gradient"]).type(tiny.SENTENCES[0])
    box = app.widget("selectbox", "Seed")
    assert (box.options, box.value) == (["3", "4"], "3") and not app.errors
    first = app.at.query_params["weights"]
    app.set("selectbox", "Seed", "4")
    digests = [load(f"{folder}/seed-{seed}").digest[:12] for seed in (3, 4)]
    assert [first, app.at.query_params["weights"]] == digests
    assert [one.label for one in app.at.expander].count(TITLE) == 1
    complete(app.press("Compute seeds"))
    (table,) = [table for table in app.tables if table[0] == COLUMNS]
    assert table[1][0] == "gradient" and table[1][-1] == "2 of 2"
    assert "seed_stability" in [question for question, *_ in app.findings] and not app.errors
    app.set("selectbox", "Model", "sst2-fmm")
    assert not app.has("selectbox", "Seed") and TITLE not in [one.label for one in app.at.expander]


def test_a_question_of_the_data_is_asked_of_every_seed(folder, tmp_path, monkeypatch):
    """The tab has what `evaluate` says of the family; a model of none has no such tab."""
    data = tmp_path / "texts.jsonl"
    data.write_text("\n".join(json.dumps({"id": f"t{i}", "text": tiny.SENTENCES[i]}) for i in range(3)))
    monkeypatch.setattr("pages.parts.face.body.draw_tabs", lambda parts, key: [draw() for draw in parts.values()])
    monkeypatch.setenv("FAITHSCOPE_DATA", str(data))
    chosen = {"section": "scores", "metrics": "NC", "measures": ["gradient", "leave-one-out"]}
    app = complete(App("pages/data_set.py", model=str(folder), **chosen))
    assert not app.errors
    # First the model's own, then those of the other seeds.
    for _ in range(3):
        for label in [one.label for one in app.at.button if one.label.startswith("Compute")][:1]:
            complete(app.press(label))
    _, *rows = next(found for found in app.tables if "mean over seeds" in found[0])
    asked = ["evaluate", "--model", str(folder), "--data", str(data), "--what", "scores", "--metrics", "NC"]
    out = tmp_path / "found.json"
    assert main([*asked, "--measures", "gradient", "leave-one-out", "--out", str(out), "--device", "cpu"]) == 0
    means = json.loads(out.read_text())["over_seeds"]
    found = {one["measure"]: one["mean"] for one in means if one["number"] == "value" and one.get("length") is None}
    for name in ("gradient", "leave-one-out"):
        (row,) = [row for row in rows if row[0] == f"{name}, NC" and row[1] == "value"]
        assert float(row[2]) == pytest.approx(found[name], abs=0.01)
    assert any(table[0][:2] == ["ordered by", "mean τ-b ↑"] for table in app.tables)
