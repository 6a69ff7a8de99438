"""Model check sets models side by side: what is known at once, verdicts and limits once they are asked for."""

from core.data.examples import DataSet, read_bundled
from core.evaluation.asking import ask
from core.evaluation.sampling import draw_sample
from core.evaluation.studies.side_by_side import SideBySide
from core.explanation.explainer import Explainer
from core.storage.store import Store
from core.validity.references import find_reference
from tests.app_session import App, complete, wait
from tests.hostile import lines

PAGE = "pages/model_check.py"
TEXTS = [one for one in read_bundled("reviews") if one.id in ("s041", "s068", "s076", "s096")]


def test_verdicts_and_limits_of_two_models_are_those_of_the_library(plain_server, monkeypatch, tmp_path, bundled, twin):
    monkeypatch.setattr("pages.parts.check.tabs.draw_behaviour", lambda *_: None)
    monkeypatch.setattr("pages.parts.check.attacking.draw_attacks", lambda *_: None)
    (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": e.id, "text": e.text, "label": e.label} for e in TEXTS)))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    app = complete(App(PAGE, measures=["gradient"], models=["sst2-plain"]))
    column = "gradient: better than random"
    if app.has("button", "Compute all"):
        complete(app.press("Compute all", exact=False))
    while app.has("button", "Compute verdicts") or app.has("button", "Compute limits"):
        complete(app.press("Compute", exact=False))

    def side_by_side() -> list[list[str]]:
        return next((one for one in app.tables if column in one[0]), [[]])

    wait(app, lambda: "—" not in [row[side_by_side()[0].index(column)] for row in side_by_side()[1:]])
    header, *rows = side_by_side()
    assert [row[0] for row in rows] == ["sst2-fmm", "sst2-plain"]
    for model, row in zip((bundled, twin), rows):
        line, asked = dict(zip(header, row)), SideBySide(("gradient",))
        explainer = Explainer(model, None, find_reference(model))
        sample = draw_sample(DataSet("mine", "0" * 64, tuple(TEXTS), ("negative", "positive")), model.labels, 50)
        figures = asked.conclude(ask(explainer, sample, asked, Store(tmp_path / "own")))
        assert line[column] == f"{figures.better[0].mean:.3g}"
        assert line["highest AOPC"] == f"{figures.upper.mean:.3g}"
