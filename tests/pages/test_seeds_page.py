"""A family of seeds on pages: chosen like a model, a member beside it, and whether seeds agree on a text."""

import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from core.loading.loading import load
from core.loading.seeds import Member, Seeds
from core.stability.seeds import COLUMNS
from pages.parts.attributions.seeding import TITLE
from tests import tiny
from tests.app_session import ATTRIBUTIONS, App, complete

pytestmark = pytest.mark.usefixtures("server")


def test_a_family_is_chosen_like_a_model_and_seeds_are_compared(fresh, tiny_root, tmp_path, monkeypatch):
    folder = tmp_path / "family"
    for seed in (3, 4):
        own = shutil.copytree(tiny.folder("bert", tiny_root), folder / f"seed-{seed}")
        moved = {name: one * (1 + 0.1 * (seed - 3)) for name, one in load_file(own / "model.safetensors").items()}
        moved = {name: np.asarray(one, dtype=np.float32) for name, one in moved.items()}
        save_file(moved, own / "model.safetensors", metadata={"format": "pt"})
    Seeds(folder, "", (Member("seed-3", 3), Member("seed-4", 4))).write()
    monkeypatch.setenv("FAITHSCOPE_MODEL", f"sst2-fmm;{folder}")
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
