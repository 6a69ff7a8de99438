"""Scores beside the rows of Attributions: what they are, where they lead, and what is not computed unasked."""

import math
from types import SimpleNamespace
from unittest.mock import MagicMock
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Explainer
from core.explanation.limiting import find_exact, score
from core.explanation.recursive import NO_AREA, follow, random_band, summarise
from core.explanation.rows import build_row
from core.explanation.standings import COMPREHENSIVENESS, StandingGates, build_standings
from core.mathematics.stepwise import finish
from core.measures.catalogue import measure
from core.network.features import find_words
from core.results.verdicts import Status
from core.validity.references import find_reference
from core.wording import number
from pages.parts.attributions.scoring import ALL_NUMBERS, ScoredRows, _cell
from pages.parts.frame import resources
from pages.parts.sections.streaming import show_progress
from tests.app_session import ATTRIBUTIONS, App, complete, wait

pytestmark = pytest.mark.usefixtures("server", "stands_aside")
NAMES = ["leave-one-out", "input × gradient"]
SMALL = next(example for example in read_bundled("reviews") if len(find_words(example.text)) == 9)


@pytest.fixture
def any_speed(monkeypatch):
    """Scores start unasked, however busy the machine is."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e6)


def cells(app: App) -> dict[str, dict[str, dict]]:
    """{measure: {figure: cell}} as the page sends them to its words."""
    drawn = app.words
    return {row["name"]: {one["name"]: one for one in own} for row, own in zip(drawn["rows"], drawn["scores"])}


def test_the_scores_beside_a_row_are_the_librarys_and_lead_to_their_proof(bundled, fresh, any_speed):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES, rule="plain")
    assert list(app.rows) == NAMES, "the words do not wait for scores"
    shown = cells(complete(wait(app, lambda: "…" not in str(cells(app)), rest=60.0)))
    head, *table = next(table for table in app.tables if table[0] == ALL_NUMBERS)
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(SMALL.text, None, "word")
    target = int(explainer.logits(encoded).argmax())
    band = finish(random_band(explainer, encoded))
    found = finish(find_exact(explainer, encoded, target))
    standings = build_standings(
        found,
        [score(explainer, encoded, name, target) for name in NAMES],
        finish(random_band(explainer, encoded, "feature")),
        target,
        StandingGates(encoded, explainer.reference, "plain"),
    )
    for name, one in zip(NAMES, standings.standings, strict=True):
        steps = finish(follow(explainer, encoded, name, target, "signed"))
        path = summarise(steps, encoded.F, "ratio", target, band, explainer.reference, "plain")
        racu = shown[name]["RACU ↑"]
        assert racu["text"].removesuffix(" ⚠") == (
            "unstable" if path.areas.unstable else "no area" if math.isnan(path.racu) else number(path.racu)
        )
        assert ("⚠" in racu["text"]) == (path.marked and not path.areas.unstable)
        link = urlsplit(racu["href"])
        asked = parse_qs(link.query)
        assert link.path == "recursive_masking" and asked["example"] == [SMALL.id] and asked["measures"] == NAMES
        assert asked["rule"] == ["plain"] and asked["play"] == [name]
        (row,) = [row for row in table if row[0] == name]
        assert row[head.index("NAOPC ↑")] == number(one.naopc[COMPREHENSIVENESS])
        assert (row[head.index("⚠")] == "⚠") == (path.marked or one.marked(COMPREHENSIVENESS, True))


def test_what_a_page_has_computed_stands_beside_the_words_at_once(fresh, any_speed, monkeypatch):
    # Pairs and sets of words ask for more than these pages do.
    monkeypatch.setattr("pages.parts.attributions.pairing.AT_ONCE", 0)
    monkeypatch.setattr("pages.parts.attributions.smallest.EXACT_FEATURES", 0)
    complete(App("pages/recursive_masking.py", example=SMALL.id, measures=NAMES))
    complete(App("pages/aopc_and_naopc.py", example=SMALL.id, measures=NAMES))
    model = resources.explainer("sst2-fmm").model
    before = model.scheduler.counters.passes
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES)
    shown = cells(app)
    assert all("…" not in one["text"] for own in shown.values() for one in own.values())
    assert model.scheduler.counters.passes == before and not resources.jobs().active() and not app.errors


def test_slow_scores_are_not_computed_unasked(fresh, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient"])
    assert list(app.rows) == ["gradient"] and not resources.jobs().active()
    own = cells(app)["gradient"]
    assert own["verdict:"]["chip"] == Status.NOT_TESTED and own["RACU ↑"]["text"] == "not computed"
    asked = [button.label for button in app.at.button if str(button.key).startswith("ask-")]
    assert all(
        label.startswith(("Compute pairs", "Compute smallest", "Compute verdicts", "Compute how stable", "Write"))
        for label in asked
    )


def test_a_class_set_against_another_has_the_scores_of_the_pages_that_take_it(fresh, any_speed):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient"], than="positive", **{"class": "negative"})
    shown = cells(wait(app, lambda: "…" not in str(cells(app)), rest=60.0))["gradient"]
    assert parse_qs(urlsplit(shown["RACU ↑"]["href"]).query)["than"] == ["positive"]
    proof = complete(App("pages/recursive_masking.py", example=SMALL.id, measures=["gradient"], than="positive"))
    head, row = next(table for table in proof.tables if "RACU ↑" in table[0])[:2]
    value = shown["RACU ↑"]["text"].removesuffix(" ⚠")
    assert row[head.index("RACU ↑")].startswith(value.replace("unstable", "")) and value != "—" and not app.errors


def test_after_a_cancel_no_verdict_is_said_to_come(monkeypatch):
    waits = SimpleNamespace(runs=False, comes=True, complete=False, stopped=False)
    monkeypatch.setattr(ScoredRows, "_verdict_works", [waits])
    for stopped in (False, True):
        monkeypatch.setattr(ScoredRows, "works", [SimpleNamespace(stopped=stopped)])
        assert ScoredRows({}, None, 1).offered == ([waits] if stopped else [])


def test_where_there_is_no_area_the_row_says_why(fresh, any_speed):
    """Masking takes nothing off the class that is not predicted."""
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient"], **{"class": "positive"})
    racu = cells(wait(app, lambda: "…" not in str(cells(app)), rest=60.0))["gradient"]["RACU ↑"]
    assert racu["text"] == "no area" and NO_AREA in racu["about"]


def test_leave_one_out_is_told_while_it_is_computed_and_ends_the_same(bundled):
    explainer, told = Explainer(bundled), []
    encoded = explainer.encode("plain words " * 20, None, "word")
    whole = explainer.attribute(encoded, "leave-one-out", 0, watcher=told.append)
    waiting = [int(np.isnan(part["signed"]).sum()) for part in told]
    assert waiting == [25, 9, 0] and whole.scores["signed"] is not None
    plain = Explainer(bundled).attribute(encoded, "leave-one-out", 0)
    np.testing.assert_allclose(whole.scores["signed"], plain.scores["signed"], atol=1e-5)
    assert whole.passes == plain.passes == 41
    row = build_row(measure("leave-one-out"), type(whole)("leave-one-out", 0, told[0], 0, 0.0), "signed")
    assert (row.places > 0).sum() == 15 and not np.isnan(row.shades).any() and (row.shades[15:] == 0).all()


def test_a_long_text_shows_gradient_at_once_and_leave_one_out_as_words_are_answered(fresh, monkeypatch):
    from core.explanation.explainer import Cost

    monkeypatch.setattr(Cost, "cheap", property(lambda cost: cost.passes < 5))
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["leave-one-out", "gradient", "KernelSHAP", "beam"])
    assert "gradient" in app.rows, "it is there at once"
    assert app.has("button", "Compute all")
    complete(app)
    assert "leave-one-out" in app.rows and {"KernelSHAP", "beam"}.isdisjoint(app.rows), "that streams unasked"
    complete(app.press("Compute all", exact=False))
    assert list(app.rows) == ["leave-one-out", "gradient", "KernelSHAP", "beam"] and not app.errors


def test_a_figure_on_its_way_says_so_and_what_runs_is_named_once(monkeypatch):
    running = SimpleNamespace(
        key="one", label="limits", counts="", runs=True, comes=True, complete=False, seconds_left=9.0
    )
    waiting = SimpleNamespace(runs=False, comes=False, complete=False, seconds_left=None)
    done = SimpleNamespace(runs=False, comes=False, complete=True, seconds_left=None)
    texts = [
        _cell("RACU ↑", text, "", "", works)["text"] for text, works in (("", [running, waiting]), ("", [waiting]))
    ]
    assert texts == ["computing …", "not computed"]
    assert _cell("RACU ↑", "", "", "", [done])["text"] == "—"
    assert _cell("RACU ↑", "0.5", "", "", [running])["text"] == "0.5"
    told = []
    monkeypatch.setattr("pages.parts.sections.streaming.waits_in_words", told.append)
    monkeypatch.setattr("pages.parts.sections.streaming.st", MagicMock())
    running.share, running.told = 0.5, lambda *_: "limits"
    show_progress([running, running], "scores")
    assert told == [[running]]
