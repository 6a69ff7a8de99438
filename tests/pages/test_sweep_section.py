"""The page Data set on a sweep: its tables and links, a filter, and folders that hold none."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from core.data.browsing import length_band
from core.data.examples import read_bundled
from core.data.sources import open_data
from core.evaluation.studies.board_report import NAOPC_S, RANDOM
from core.storage.library import Library
from core.sweeps.configuration import Source, Sweep
from core.sweeps.naopc import NORMALISED
from core.sweeps.ranks import rank_lines
from core.sweeps.running import Swept
from core.sweeps.writing import write_tables
from pages.parts.data_set.sweep import without_members
from pages.parts.data_set.sweep_links import examples_of_line, keys_of
from tests.app_session import App

pytestmark = pytest.mark.usefixtures("server")
PAGE, FMM, PLAIN, DATA = "pages/data_set.py", "sst2-fmm", "sst2-plain", "reviews"
FIGURES = [one for pair in NORMALISED.items() for one in pair]


def value_of(model, k):
    """NAOPC of the k-th text: under the FMM 0.3 higher."""
    return 0.3 + 0.01 * (k % 5) + (0.3 if model == FMM else 0.0)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder with a sweep of two bundled models over 24 bundled reviews, of which each predicts the first wrong."""
    examples = read_bundled(DATA)[:24]
    lines = {"texts": [], "aopc": [], "performance": []}
    for model in (FMM, PLAIN):
        for k, one in enumerate(examples):
            wrong = {"positive": "negative", "negative": "positive"}[one.label]
            about = {"model": model, "data": DATA, "example": one.id, "label": one.label, "tags": ";".join(one.tags)}
            about |= {"length": length_band(len(one.text.split())), "predicted": wrong if k == 0 else one.label}
            about["right"] = k > 0
            for name in ("gradient", RANDOM):
                lines["texts"].append(about | {"measure": name} | dict.fromkeys(FIGURES, value_of(model, k)))
        for name in ("gradient", RANDOM):
            for figure in FIGURES:
                way = -1 if figure in ("sufficiency", NAOPC_S) else 1
                mean = 0.6 if name == "gradient" else 0.3
                about = {"model": model, "data": DATA, "measure": name, "figure": figure, "direction": way}
                lines["aopc"].append(about | {"mean": mean, "mean_low": mean - 0.1, "mean_high": mean + 0.1, "n": 24})
        for k in range(11):
            about = {"model": model, "data": DATA, "measure": "gradient", "seed": None, "ratio": k / 10}
            lines["performance"].append(about | {"performance": 1 - k / 20})
    lines["ranks"] = rank_lines(lines["aopc"])
    data = open_data(Library(tmp_path_factory.mktemp("library")), DATA)
    sweep = Sweep((FMM, PLAIN), (Source(DATA),), "out", tables=tuple(lines))
    out = tmp_path_factory.mktemp("swept")
    write_tables(sweep, Swept(lines, {DATA: (data.digest, [one.id for one in examples])}, [FMM, PLAIN]), out)
    return out


@pytest.fixture
def asked(swept, monkeypatch):
    """`asked(**query)`: the page on that sweep."""
    monkeypatch.setattr("pages.parts.data_set.sweep.SHIPPED", swept)
    return lambda **query: App(PAGE, section="sweep", model=FMM, data=DATA, **query).run()


def links(app):
    """The choices of each link to Examples."""
    found = [unescape(one) for _, text in app.markup() for one in re.findall(r'href="(examples\?[^"]*)"', text)]
    return [{name: value for name, (value,) in parse_qs(urlsplit(one).query).items()} for one in found]


def test_two_models_are_compared_and_each_table_has_a_tab(asked):
    app = asked()
    assert app.outcomes == ["higher"] and not app.errors
    assert [one.label for one in app.at.tabs][:2] == ["Two models", "AOPC"]
    assert {"Confusion", "By tag", "By length"} <= {one.label for one in app.at.tabs}


def test_a_folder_without_a_sweep_is_a_sentence(asked, tmp_path, monkeypatch):
    monkeypatch.setattr("pages.parts.data_set.sweep.SHIPPED", tmp_path)
    app = asked()
    assert not app.outcomes and any("holds no sweep" in one.value for one in app.at.info)


def test_a_filter_leaves_the_texts_that_both_have(asked):
    app = asked(texts="what the filter on Examples shows", search=read_bundled(DATA)[1].id)
    assert app.outcomes == ["undecided"] and app.facts["texts"] == "1"


def test_members_of_a_family_have_their_examples_and_stand_in_tables_alone():
    family, members = "stories-1-family", [f"stories-1-family/seed-{seed}" for seed in range(2)]
    keys = keys_of([family, *members], "stories 1")
    lines = [{"model": one, "data": "stories 1", "measure": "gradient"} for one in (*members, family)]
    found = [examples_of_line(one, "aopc", keys) for one in lines]
    assert {one["model"] for one in found} == {family} and [one.get("member") for one in found] == ["0", "1", None]
    assert without_members(lines) == lines[-1:] and without_members(lines[:2]) == lines[:2]


def test_cells_lead_to_the_examples_of_their_model_and_measure(asked, monkeypatch):
    monkeypatch.setattr("pages.parts.face.body.draw_tabs", lambda parts, key: [draw() for draw in parts.values()])
    found = links(asked())
    assert {"model": PLAIN, "data": DATA, "order": "naopc: gradient", "columns": "naopc: gradient"} in found
    assert {"model": FMM, "data": DATA, "along": "gradient", "order": "changes", "columns": "changes"} in found
    confused = [one for one in found if "predicted" in one and one["model"] == FMM]
    assert {(one["label"], one["predicted"]) for one in confused} >= {
        ("positive", "negative"),
        ("negative", "negative"),
    }
    assert any("tag" in one for one in found) and any("length" in one for one in found)
    assert all(one["model"] in (FMM, PLAIN) and one["data"] == DATA for one in found)
