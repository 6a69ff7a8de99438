"""The front door: what notebooks get is what the library computes, and what commands write."""

import csv
import importlib
import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
from numpydoc.validate import validate
from pandas import DataFrame

import core
from core.commands.command_line import main
from core.data.parsed import BadData
from core.explanation.explainer import Explainer
from core.explanation.recursive import follow
from core.mathematics.stepwise import finish
from core.storage.store import Store
from tests import tiny
from tests.test_floors import HEAVY, ROOT

TEXT = "the <b>boat</b> did not leave the harbour"
MEASURES = ["leave-one-out", "gradient"]
TEXTS = ["the boat leaves the harbour", "she burned the soup twice", "a sharp chisel is safer"]
FUNCTIONS = [name for name in core.__all__ if inspect.isfunction(getattr(core, name))]
METHODS = [
    f"{name}.{method}"
    for name in ("Answered", "Evaluation", "Explanation", "TextAnswer")
    for method, found in inspect.getmembers(getattr(core, name), inspect.isfunction)
    if not method.startswith("_")
]


@pytest.fixture
def model(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    return Explainer(tiny_model("bert"), Store(tmp_path / "cache"))


@pytest.fixture
def found(model):
    return core.explain(model, TEXT, MEASURES)


def test_a_frame_holds_the_librarys_scores_a_row_a_word(model, found):
    frame, encoded = found.to_frame(), model.encode(TEXT, None, "word")
    assert list(frame.columns) == ["word", *MEASURES] and frame["word"].tolist() == found.words
    target = int(model.logits(encoded).argmax())
    for name, variant in zip(MEASURES, ("signed", "L2")):
        np.testing.assert_allclose(frame[name], model.attribute(encoded, name, target).scores[variant], atol=1e-6)
    assert found.explained == found.predicted == max(found.probabilities, key=found.probabilities.get)
    assert sum(found.probabilities.values()) == pytest.approx(1)


def test_another_class_and_unit_are_chosen_by_the_names_of_the_command(model):
    least = min(core.explain(model, TEXT, ["gradient"]).probabilities.items(), key=lambda one: one[1])[0]
    other = core.explain(model, TEXT, "gradient", target=least, unit="token")
    assert other.explained == least != other.predicted and len(other.words) == model.encode(TEXT, None, "token").F


def test_steps_are_those_of_recursive_masking_and_p_values_stand_beside(model, found):
    frame, encoded = found.steps().to_frame(), model.encode(TEXT, None, "word")
    target = int(model.logits(encoded).argmax())
    for name in MEASURES:
        own = frame[frame["measure"] == name]
        steps = finish(follow(model, encoded, name, target, "signed"))
        assert own["masked_count"].tolist() == [step.count for step in steps]
        np.testing.assert_allclose(own["value"], [step.probabilities[target] for step in steps], atol=1e-6)
    p = found.p_values()
    assert list(p.columns) == MEASURES and p.index[0] == 0 and p.index[-1] == 1
    assert p.isna().all(axis=None), "there is no reference"
    assert set(found.steps(["gradient"]).to_frame()["measure"]) == {"gradient"}


def test_methods_say_what_the_command_writes(model, found, monkeypatch, tmp_path):
    monkeypatch.setattr("core.loading.loading.load", lambda *_: model.model)
    out = tmp_path / "told.json"
    parts = ["verdicts", "limits", "metrics", "pairs", "stability"]
    given = ["--model", "tiny", "--text", TEXT, "--measures", *MEASURES, "--runs", "2", "--out", str(out)]
    assert main(["explain", *given, "--what", *parts]) == 0
    told = json.loads(out.read_text(encoding="utf-8"))
    mine = [found.verdicts(), found.limits(), found.metrics(), found.pairs(), found.stability(runs=2)]
    for part, one in zip(parts, mine):
        one.save(tmp_path / "own.json")
        own = json.loads((tmp_path / "own.json").read_text(encoding="utf-8"))
        assert own[part] == told[part], part
        assert len(one.to_frame()) == len(one.lines)
    assert mine[0].outcomes == {"verdicts": told["verdicts"][0]["outcome"]}


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".json", ".tex", ".html"])
def test_what_is_saved_goes_by_its_ending_and_says_where_it_comes_from(found, ending, tmp_path):
    found.verdicts()
    content = found.save(tmp_path / f"found{ending}").read_bytes()
    assert found.provenance["weights_sha256"].encode() in content
    if ending == ".csv":
        rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
        assert {row["part"] for row in rows} == {"attributions", "verdicts"}


def test_another_ending_is_refused_and_nothing_is_written(found, tmp_path):
    with pytest.raises(ValueError, match=r"\.docx"):
        found.save(tmp_path / "found.docx")
    assert list(tmp_path.glob("found*")) == []


def test_a_cell_shows_words_and_curves_escaped_and_runs_nothing(found):
    found.steps()
    html = found._repr_html_()
    assert "<script" not in html and "<b>boat" not in html and "&lt;b&gt;boat" in html
    assert html.count('class="row"') == len(MEASURES) and html.count("<polyline") == len(MEASURES) + 1
    assert "http" not in html


def test_an_unknown_name_is_a_sentence_that_offers_the_nearest(model):
    with pytest.raises(ValueError, match="did you mean 'gradient'"):
        core.explain(model, TEXT, "gradeint")
    with pytest.raises(ValueError, match="did you mean 'unit'"):
        core.explain(model, TEXT, units="token")
    with pytest.raises(ValueError, match="did you mean 'verdicts'"):
        core.evaluate(model, TEXTS, "verdict")
    with pytest.raises(ValueError, match="no class"):
        core.explain(model, TEXT, target="nowhere")


@pytest.mark.parametrize(
    "given", [TEXTS, DataFrame({"text": TEXTS}), [{"text": one} for one in TEXTS]], ids=["list", "frame", "records"]
)
def test_data_in_memory_is_read_as_from_a_file(model, given, tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": one}) + "\n" for one in TEXTS), encoding="utf-8")
    asked = {"question": "scores", "measures": "gradient", "metrics": ["NC"], "count": 2}
    mine, filed = core.evaluate(model, given, **asked), core.evaluate(model, path, **asked)
    assert mine.to_frame().equals(filed.to_frame()) and len(mine.to_frame()) and mine.outcomes == filed.outcomes
    assert mine.provenance["sample_ids"] == filed.provenance["sample_ids"]


def test_limits_of_data_are_asked_as_any_question(model):
    found = core.evaluate(model, TEXTS, "limits", MEASURES, width=1, exact_up_to=1, target=tiny.LABELS[1])
    (report,) = found.reports
    assert (report.n, report.exact, len(found.lines)) == (3, 0, 6)
    assert {(line["method"], line["class"]) for line in found.lines} == {("beam", tiny.LABELS[1])}
    for name in MEASURES:
        naopc = [one["NAOPC sufficiency ↓"] for one in found.lines if one["measure"] == name]
        assert report.means[name][1].mean == pytest.approx(np.mean(naopc))
    with pytest.raises(ValueError, match="--width belongs to limits"):
        core.evaluate(model, TEXTS, "scores", MEASURES, width=1)


def test_data_without_texts_is_a_sentence(model):
    with pytest.raises(BadData):
        core.evaluate(model, [])
    with pytest.raises(ValueError, match="at least 1"):
        core.evaluate(model, TEXTS, sample=0)


def test_an_interrupted_call_goes_on_where_it_stopped(model, monkeypatch, tmp_path):
    asked = {"question": "scores", "measures": "gradient", "metrics": ["NC"], "count": 2}
    scheduler, calls = model.model.scheduler, []
    run, counters = scheduler.run, scheduler.counters

    def stop_at_the_fifth(*given, **others):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return run(*given, **others)

    monkeypatch.setattr(scheduler, "run", stop_at_the_fifth)
    with pytest.raises(KeyboardInterrupt):
        core.evaluate(model, TEXTS, **asked)
    before = counters.passes
    after = core.evaluate(Explainer(model.model, Store(tmp_path / "cache")), TEXTS, **asked).to_frame()
    resumed, before = counters.passes - before, counters.passes
    whole = core.evaluate(Explainer(model.model, Store(tmp_path / "other")), TEXTS, **asked).to_frame()
    assert 0 < resumed < counters.passes - before and after.equals(whole)


def test_the_door_opens_without_the_networks():
    code = f"import core, json, sys; print(json.dumps([one for one in {(*HEAVY, 'numpy', 'pandas')!r} if one in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == []


def test_every_public_name_is_there_and_no_other_is():
    assert sorted(core.__all__) == list(core.__all__) and set(core._HOMES) == set(core.__all__) <= set(dir(core))
    for name in core.__all__:
        assert inspect.getdoc(getattr(core, name)), name
    with pytest.raises(AttributeError):
        core.nothing_of_that_name  # noqa: B018


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHODS])
def test_a_public_function_is_annotated_and_documented(name):
    owner, _, method = name.rpartition(".")
    found = getattr(getattr(core, owner) if owner else core, method)
    signature = inspect.signature(found)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(
        one.annotation is not inspect.Parameter.empty for key, one in signature.parameters.items() if key != "self"
    )
    path = f"{found.__module__}.{found.__qualname__}"
    importlib.import_module(found.__module__)
    # Summary, parameters and what is returned; no examples and cross-references are asked for.
    wanted = {"GL08", "SS03", "SS05", "PR01", "PR02", "PR03", "PR04", "PR07", "RT01", "RT03", "YD01"}
    assert [text for code, text in validate(path)["errors"] if code in wanted] == []
