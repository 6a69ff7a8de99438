"""Model check makes a model measurable: a job with progress, cancelled or done, and old beside new at its end."""

import json
import shutil
from pathlib import Path

import pytest

from core.data.sources import open_data
from core.loading.locating import MODELS
from pages.parts.frame import resources
from tests.app_session import App, complete, wait

CHECK = "pages/model_check.py"
ROWS = [
    f"The {word} film number {i}.,{label}"
    for i in range(12)
    for word, label in (("fine", "positive"), ("dull", "negative"))
]


class Looking(App):
    """Who looks at the open tab alone."""

    tabs = False


@pytest.fixture
def checked(plain_server, monkeypatch, tmp_path):
    """The page of the plain twin over 24 texts of one's own, its tab open."""
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text("\n".join(["text,label", *ROWS]))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.csv"))
    monkeypatch.setattr("core.evaluation.families.relatives", lambda *_: [])
    return complete(Looking(CHECK, model="sst2-plain", part="measurable", measures=[]))


def test_calibration_ends_with_old_beside_new(checked):
    checked.set("button_group", "How", "calibration")
    checked.press("Start calibration", exact=False)
    app = wait(complete(checked), lambda: checked.has("button", "Compare with the old"))
    (made,) = resources.library().models()
    card = json.loads((Path(made) / "card.json").read_text())
    assert card["plan"]["method"] == "calibration" and card["data"]["train"]["examples"] == 20
    app.press("Compare with the old")
    assert app.widget("selectbox", "Model").value == made
    assert app.widget("multiselect", "Models beside it").value == ["sst2-plain"]
    (key,) = [one for one in resources.library().data() if "held out" in one]
    held = {one.text for one in open_data(resources.library(), key).examples}
    learnt = (Path(made).with_name(f"{Path(made).name}-data") / "train.jsonl").read_text()
    assert app.widget("selectbox", "Data").value == key and len(held) == 4
    assert not any(text in learnt for text in held) and not complete(app).errors


def test_fine_tuning_is_cancelled_and_goes_on(checked):
    checked.press("Start masked", exact=False)
    wait(checked, lambda: checked.has("button", "Cancel") or checked.has("button", "Compare"))
    if checked.has("button", "Cancel"):
        checked.press("Cancel")
    wait(checked, lambda: not checked.at.get("progress"))
    if not checked.has("button", "Compare"):
        assert not resources.library().models()
        checked.press("Start masked" if checked.has("button", "Start") else "Go on with", exact=False)
    app = wait(complete(checked), lambda: checked.has("button", "Compare with the old"), seconds=240)
    assert len(resources.library().models()) == 1 and not app.errors


def test_data_without_labels_of_the_model_says_so(plain_server, monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "odd.csv").write_text("\n".join(["text,label", *(row.replace("tive", "") for row in ROWS)]))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "odd.csv"))
    app = Looking(CHECK, model="sst2-plain", part="measurable", measures=[])
    assert not app.has("button", "Start")


def test_adding_a_model_leads_here(plain_server, monkeypatch, tmp_path):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.csv").write_text("\n".join(["text,label", *ROWS]))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.csv"))
    monkeypatch.setattr("core.evaluation.families.relatives", lambda *_: [])
    folder = shutil.copytree(MODELS / "sst2-plain", tmp_path / "own")
    # From this page, on which another tab is open.
    app = complete(Looking(CHECK, model="sst2-fmm", part="in-distribution", measures=[]))
    for name, offered in (("sst2-fmm", False), (str(folder), True)):
        app.widget("text_input", "Folder, hub id or adapter").set_value(name)
        assert "usable" in app.press("Check").badges and app.has("button", "Make it measurable") is offered
    complete(app.press("Make it measurable"))
    assert app.widget("selectbox", "Model").value == str(folder) and resources.library().models() == [str(folder)]
    assert app.has("button", "Start masked") and not app.errors
