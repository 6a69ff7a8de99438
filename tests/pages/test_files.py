"""What figures and files of the pages say of themselves: whose numbers they hold, and which values of a measure."""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
import streamlit as st

from core.data.examples import read_bundled
from core.evaluation.studies import embedding_map
from core.measures.catalogue import measure, measures
from core.results.caveats import Caveat
from tests.app_session import ATTRIBUTIONS, EXAMPLES, App, complete
from tests.commands.test_values import TAKEN
from tests.hostile import lines

FMM, PLAIN = "sst2-fmm", "sst2-plain"
BOTH = {FMM, PLAIN}
STEPS, LIMITS, CHECK = "pages/recursive_masking.py", "pages/aopc_and_naopc.py", "pages/model_check.py"
ERASURE, DATA_SET = "pages/hard_and_soft_erasure.py", "pages/data_set.py"
# Whose figures they are, by the key of the chart; a map's key says it itself.
SHOWN = {"paths-0": {FMM}, "paths-1": {PLAIN}, "gauges-0": BOTH, "curves-0": {FMM}}
SHOWN |= {"verdicts-0": {FMM}, "verdicts-1": {PLAIN}}
SHOWN |= {
    "curves-1": {PLAIN},
    "slope": BOTH,
    "curves": BOTH,
    "p-values": BOTH,
    "behaviour": BOTH,
    "diagnosticity": {FMM},
}


@pytest.fixture(scope="module")
def store_of_files(tmp_path_factory):
    """A store of these tests alone: it remembers their data set, which other tests do not expect in their menus."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def at_once(monkeypatch, server, store_of_files, tmp_path):
    """Everything starts at once, over five sentences; a map is drawn without UMAP."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e9)
    monkeypatch.setattr("pages.parts.sections.studying.StudyWork.at_once", property(lambda work: True))
    monkeypatch.setattr("core.judging.baselines.BASELINES", 3)
    monkeypatch.setattr(embedding_map, "_umap", lambda states: states[:, :2].copy())
    told = sorted(read_bundled("reviews"), key=lambda example: len(example.text))[:4]
    rows = [{"id": one.id, "text": one.text, "label": one.label} for one in told]
    rows.append({"id": "small", "text": "Warm and quite funny", "label": "positive"})
    (tmp_path / "mine.jsonl").write_bytes(lines(*rows))
    monkeypatch.setenv("FAITHSCOPE_DATA", str(tmp_path / "mine.jsonl"))
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(store_of_files / "cache"))
    st.cache_resource.clear()


def named(text: str) -> set[str]:
    """The models that a text names."""
    return set(re.findall(rf"{FMM}|{PLAIN}", text))


def models_of(name: str, text: str) -> set[str]:
    """The models whose numbers a saved file holds, by what stands in it."""
    if name.endswith(".csv"):
        return {row["model"] for row in csv.DictReader(io.StringIO(text))}
    if name.endswith(".json"):
        told = json.loads(text)
        return {one["model"] for one in told.get("models", [told])}
    return named(re.search("<title>.*?</title>", text)[0])


def leaves(told, path=()):
    """(names on the way to it, number) of every number in a JSON document."""
    if isinstance(told, dict):
        for name, value in told.items():
            yield from leaves(value, (*path, name))
    elif isinstance(told, list):
        for value in told:
            yield from leaves(value, path)
    elif isinstance(told, int | float) and not isinstance(told, bool):
        yield path, told


# What a JSON file counts, in whole numbers; every other number of it has a point, 0.0 and 1.0 too.
COUNTS = {
    "examples",
    "judged",
    "random_orders",
    "examples_of_different_classes",
    "left_out",
    "count",
    "draws",
    "seed",
    "predicted",
    "undefined",
    "above",
    "against",
}
COUNTS |= {
    "held_out_rejected",
    "held_out_texts",
    "pairs",
    "undefined_pairs",
    "texts_rejected",
    "position",
    "first_position",
    "second_position",
    "sets",
    "texts",
    "cut",
    "queries",
    "wrong",
}
VIEWS = {
    "attributions": (ATTRIBUTIONS, {}, {FMM}),
    "examples": (EXAMPLES, {}, {FMM}),
    "steps": (STEPS, {}, BOTH),
    "limits": (LIMITS, {}, BOTH),
    "validity": (CHECK, {"part": "in-distribution"}, BOTH),
    "behaviour": (CHECK, {"part": "behaviour"}, BOTH),
    "erasure": (ERASURE, {}, {FMM}),
    "data set": (DATA_SET, {"section": "diagnosticity", "metrics": ["NS", "NC"]}, {FMM}),
}


@pytest.mark.parametrize("view", list(VIEWS))
def test_figures_and_files_say_whose_numbers_they_hold(view, bundled, twin):
    page, query, expected = VIEWS[view]
    app = complete(App(page, example="small", beside=PLAIN, models=[PLAIN], measures=["gradient"], **query))
    weights = {FMM: bundled.digest[:12], PLAIN: twin.digest[:12]}
    files, pictures = app.downloads, app.pictures
    assert files and (pictures or view == "examples")
    for name, text in files.items():
        # Attacks are of the page's own model.
        assert named(name) == models_of(name, text) == ({FMM} if "attack" in name else expected), name
    for name, text in files.items():
        numbers = leaves(json.loads(text)) if name.endswith(".json") else ()
        # Of examples that stand there one by one, what stands in each.
        inner = [(path[1:] if path[0] == "examples" and path[1:] else path, value) for path, value in numbers]
        assert not [path for path, value in inner if type(value) is not (int if COUNTS & set(path) else float)], name
    drawn = set()
    for one in pictures:
        figure = one.get("figure", "")
        digest = figure.split("-")[1] if figure.startswith("map-") else ""
        by_digest = {model for model, weight in weights.items() if weight == digest}
        # A pane of the stepper is headed by its model's name; other figures of one example are the page's own model's.
        shown = by_digest or SHOWN.get(figure) or named(one.get("title", "")) or {FMM}
        assert named(one["name"]) == named(one["about"]) == shown, one
        assert {model for model in BOTH if weights[model] in one["about"]} == shown, one
        drawn |= shown
    assert drawn == expected or not pictures


def relabelled(monkeypatch, twin, labels):
    """The twin calls its classes otherwise."""
    import core.loading.loading as loading

    really, other = loading.load, replace(twin, labels=labels)
    monkeypatch.setattr(loading, "load", lambda name, *more: other if name == PLAIN else really(name, *more))
    st.cache_resource.clear()


def rows_of(app: App) -> list[list[dict[str, str]]]:
    """The rows of each table with a line a score or step that the page saves."""
    tables = {name: text for name, text in app.downloads.items() if name.endswith(".csv") and "orders" not in name}
    return [list(csv.DictReader(io.StringIO(text))) for text in tables.values()]


@pytest.mark.parametrize("labels, same", [(("negative", "positive"), "true"), (("no", "yes"), "false")])
@pytest.mark.parametrize("page", [STEPS, LIMITS])
def test_models_that_explain_different_classes_are_said_to_on_the_page_and_in_its_files(
    page, labels, same, monkeypatch, twin
):
    relabelled(monkeypatch, twin, labels)
    app = complete(App(page, example="small", beside=PLAIN, measures=["gradient"]))
    assert (f"⚠ {Caveat.OTHER_CLASSES.badge}" in app.badges) == (same == "false")
    tables = rows_of(app)
    assert tables
    for rows in tables:
        assert {row["models explain the same class"] for row in rows} == {same}
        assert {(row["model"], row["explained class"], row["class predicted unmasked"]) for row in rows} == {
            (FMM, "positive", "positive"),
            (PLAIN, labels[1], labels[1]),
        }
    (rows,) = rows_of(complete(App(page, example="small", measures=["gradient"])))
    assert {row["models explain the same class"] for row in rows} == {""}


@pytest.mark.parametrize("page", [STEPS, LIMITS])
def test_a_model_that_predicts_another_class_than_the_one_explained_is_said_to(page, monkeypatch, twin):
    relabelled(monkeypatch, twin, ("positive", "negative"))
    app = complete(App(page, example="small", beside=PLAIN, measures=["gradient"]))
    # Each model's own prediction stands beside its headline.
    assert [badge.split()[0] for badge in app.badges if re.match("(positive|negative) [01]", badge)] == [
        "positive",
        "negative",
    ]
    (rows,) = rows_of(app)
    found = {(row["model"], row["explained class"], row["class predicted unmasked"]) for row in rows}
    assert found == {(FMM, "positive", "positive"), (PLAIN, "positive", "negative")}


def test_behaviour_of_models_counts_the_texts_on_which_they_predict_different_classes(monkeypatch, twin):
    relabelled(monkeypatch, twin, ("positive", "negative"))
    app = complete(App(CHECK, models=[PLAIN], measures=["gradient"], part="behaviour"))
    files = {name: text for name, text in app.downloads.items() if name.startswith("behaviour")}
    (table,) = (text for name, text in files.items() if name.endswith(".csv"))
    (told,) = (json.loads(text) for name, text in files.items() if name.endswith(".json"))
    # Each of the five texts is clear to both, and the twin calls it by the other name.
    assert f"⚠ {Caveat.OTHER_CLASSES.badge}" in app.badges
    assert {
        row["examples on which the models predict different classes"] for row in csv.DictReader(io.StringIO(table))
    } == {"5"}
    assert told["examples_of_different_classes"] == 5


def values_in(name: str, text: str) -> dict[str, str]:
    """{measure: values} of a saved file; {} where it does not say them."""
    if name.endswith(".csv"):
        rows = list(csv.DictReader(io.StringIO(text)))
        return {row["measure"]: row["values"] for row in rows if "values" in row}
    if name.endswith(".json"):
        told = json.loads(text)
        values = told.get("values", {})
        return values | {line["measure"]: line["values"] for one in told.get("models", []) for line in one["curves"]}
    found = re.search(r"<dt>values</dt><dd>(?:<bdi>)?(.*?)<", text)
    return dict(part.split(": ") for part in found[1].split(", ")) if found else {}


@pytest.mark.parametrize("view", ["steps", "limits", "validity", "behaviour", "erasure", "data set"])
def test_files_say_which_values_of_each_measure_were_taken(view):
    page, query, _ = VIEWS[view]
    every = [name for name in measures() if not measure(name).baseline]
    asked = every if page in (STEPS, LIMITS, ERASURE) else ["gradient", "attention"]
    app = complete(App(page, example="small", measures=asked, values="signed", models=[], **query))
    found = {name: values_in(name, text) for name, text in app.downloads.items()}
    told = {name: values for name, values in found.items() if values}
    assert told
    for name, values in told.items():
        # Random order takes no values of a measure.
        assert values.pop("random order", None) is None
        assert values == {measure: TAKEN[measure][0] for measure in asked}, name
