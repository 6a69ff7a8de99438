"""Verdicts on Attributions: the badge beside each row, headline, facts and table, the proof, and files."""

import csv
import io
import threading
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from core.data.examples import read_bundled
from core.explanation.explainer import Cost, Explainer
from core.explanation.limiting import find_exact
from core.explanation.recursive import random_band
from core.explanation.standings import StandingGates
from core.mathematics.stepwise import finish
from core.oracle.erasing import MASK, erasures_of
from core.results.caveats import Caveat
from core.results.verdicts import (
    Status,
    erasure_table,
    statuses,
    verdict_badge,
    verdict_cells,
    verdict_status,
    verdicts_result,
)
from core.texts.rendering import Form, fact_label, fact_text, headline
from core.validity.marks import SIGN
from core.validity.references import find_reference
from core.verdicts.deciding import Reasons, decide_verdicts
from core.verdicts.finding import find_chance
from core.verdicts.operators import under_erasure
from core.verdicts.records import p_text
from core.wording import number
from pages.parts.attributions.scoring import ALL_NUMBERS
from pages.parts.frame import resources
from pages.parts.sections.standings import Searching
from pages.parts.sections.verdicts import VerdictWork
from tests.app_session import ATTRIBUTIONS, App, complete, wait
from tests.pages.test_scored_rows import cells
from tests.verdicts.table_explainer import TableExplainer

pytestmark = pytest.mark.usefixtures("server", "stands_aside")
NAMES = ["leave-one-out", "gradient"]
SMALL = next(example for example in read_bundled("reviews") if example.id == "s230")
AOPC = "pages/aopc_and_naopc.py"


@pytest.fixture(scope="module")
def report(bundled):
    """What the library says of it."""
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(SMALL.text, None, "word")
    target = int(explainer.logits(encoded).argmax())
    limits = finish(find_exact(explainer, encoded, target)).limits
    test = finish(find_chance(explainer, encoded, target, NAMES))
    return decide_verdicts(test, StandingGates(encoded, explainer.reference), Reasons(limits))


@pytest.fixture
def any_speed(monkeypatch):
    """It starts unasked, however busy the machine is."""
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 1e6)


def offers_verdicts(app: App) -> bool:
    """Whether they wait to be asked for; what ends while a page is drawn stands in its answer a moment later."""
    return app.has("button", "Compute verdicts") and app.outcomes == ["not computed"]


def judged(app: App) -> bool:
    there = not {"running", "not computed"} & {*app.outcomes}
    return there and all("chip" in own.get("verdict:", {}) for own in cells(app).values())


def test_the_badge_beside_a_row_is_the_librarys_and_leads_to_its_proof(report, fresh, any_speed):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES)
    assert list(app.rows) == NAMES, "the words do not wait for verdicts"
    shown = cells(wait(app, lambda: judged(app), rest=60.0))
    for name in NAMES:
        badge, found = shown[name]["verdict:"], report.of(name)
        p = p_text(found.adjusted) if found.told else ""
        assert (badge["chip"], badge["text"]) == (str(verdict_status(found)), p)
        assert badge["tone"] == verdict_status(found).name and badge["about"]
        link = urlsplit(badge["href"])
        assert link.path == "aopc_and_naopc" and parse_qs(link.query)["measures"] == NAMES
    # The proof: the orders, p and the verdicts, of the same work.
    before = resources.explainer("sst2-fmm").model.scheduler.counters.passes
    proof = complete(App(AOPC, example=SMALL.id, measures=NAMES))
    table = next(table for table in proof.tables if table[0][:2] == ["measure", "verdict"])
    assert [(row[0], row[1].removesuffix(f" {SIGN}")) for row in table[1:]] == list(statuses(report).items())
    assert resources.explainer("sst2-fmm").model.scheduler.counters.passes == before and not proof.errors
    rows = list(csv.DictReader(io.StringIO(proof.download("Scores (CSV)"))))
    assert [row["verdict"] for row in rows] == [str(one.word) for one in report.verdicts]


def test_the_headline_facts_and_table_are_the_librarys_and_stand_in_what_is_saved(report, fresh, any_speed):
    # Old links that asked for another answer show the same.
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES, says="which measures to believe")
    complete(wait(app, lambda: judged(app), rest=60.0))
    result = verdicts_result(report)
    assert ("verdicts", result.name, headline(result)) in app.headlines and not app.errors
    for fact in result.facts:
        assert app.facts[fact_label(fact)] == fact_text(fact)
    assert all(any(one.badge in badge for badge in app.badges) for one in result.caveats[:2])
    head, *rows = next(table for table in app.tables if table[0] == ALL_NUMBERS)
    assert [row[:2] for row in rows] == [verdict_cells(report, one)[:2] for one in report.verdicts]
    assert [row[head.index("AOPC")] for row in rows] == [number(report.reached[name]) for name in NAMES]
    naopc = [row[head.index("NAOPC ↑")] for row in rows]
    low, high = report.limits
    assert naopc == [number((report.reached[name] - low) / (high - low)) for name in NAMES]
    assert [row[head.index("RACU ↑")] for row in rows] == [
        cells(app)[name]["RACU ↑"]["text"].removesuffix(" ⚠") for name in NAMES
    ]
    files = app.downloads
    table = next(text for name, text in files.items() if name.startswith("attributions") and name.endswith("csv"))
    for row in csv.DictReader(io.StringIO(table)):
        found = report.of(row["measure"])
        assert row["verdict"] == found.word and float(row["p_better_to"]) == pytest.approx(found.p[1])
    page = next(text for name, text in files.items() if name.startswith("attributions") and name.endswith("html"))
    assert headline(result, Form.HTML) in page
    assert all(verdict_badge(one).replace("<", "&lt;") in page for one in report.verdicts)


def test_a_text_of_another_length_than_the_references_has_a_badge_for_that(fresh, any_speed):
    """Two tokens, where nine of ten texts of the reference have more."""
    app = App(ATTRIBUTIONS, data="own text", text="Great phone.", measures=NAMES)
    wait(app, lambda: "cannot be tested" in app.outcomes, rest=60.0)
    assert any(Caveat.LENGTH_OUTSIDE_REFERENCE.badge in badge for badge in app.badges)
    usual = complete(App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES))
    assert not any(Caveat.LENGTH_OUTSIDE_REFERENCE.badge in badge for badge in usual.badges)


def test_a_slow_verdict_is_offered_and_not_computed(fresh, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient"])
    assert cells(app)["gradient"]["verdict:"]["chip"] == Status.NOT_TESTED and not resources.jobs().active()
    assert app.outcomes == ["not computed"] and app.has("button", "Compute verdicts")


def test_what_waits_is_asked_for_by_one_button_and_comes_unasked_from_then_on(fresh, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    # However busy the machine is, all but the verdicts starts unasked.
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 500.0)
    monkeypatch.setattr(VerdictWork, "cost", property(lambda work: Cost(10**6, 1e4)))
    monkeypatch.setattr(Searching, "cost", property(lambda work: Cost(10**6, 1e6)))
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "no")
    # So long that no other work of the page asks for every set.
    chosen = {"example": "s009", "measures": NAMES}
    app = App(ATTRIBUTIONS, **chosen)
    wait(app, lambda: offers_verdicts(app), rest=60.0)
    # The price of what it rests on, not that of limits which nobody asked for.
    assert "about 2.8 h" in app.said
    assert all(own["verdict:"]["chip"] == Status.NOT_TESTED for own in cells(app).values())
    held = threading.Event()

    def waits(*about, **asked):
        held.wait(60)
        return (yield from find_chance(*about, **asked))

    monkeypatch.setattr("pages.parts.sections.verdicts.find_chance", waits)
    # Progress stands below the words, with what cancels it.
    app.press("Compute verdicts")
    assert "cancel-scores" in [one.key for one in app.at.button] and app.outcomes == ["running"]
    assert all(own["verdict:"]["text"] == "computing …" for own in cells(app).values())
    held.set()
    wait(app, lambda: judged(app), rest=60.0)
    assert app.outcomes[0] not in ("running", "not computed")
    resources.jobs.clear()
    again = App(ATTRIBUTIONS, **chosen)
    wait(again, lambda: judged(again), rest=60.0)
    assert not again.has("button", "Compute verdicts")


def test_slow_verdicts_are_offered_while_other_work_runs(fresh, monkeypatch):
    """No other work that ends would start them, so nobody waits for what nobody asked for."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "no")
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    # However busy the machine is, all but the verdicts starts unasked.
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 500.0)
    monkeypatch.setattr(VerdictWork, "cost", property(lambda work: Cost(10**6, 1e4)))
    monkeypatch.setattr(Searching, "cost", property(lambda work: Cost(10**6, 1e6)))
    held = threading.Event()

    def waits(*about, **asked):
        # Meanwhile others have their turns.
        while not held.wait(0.02):
            yield
        return (yield from random_band(*about, **asked))

    monkeypatch.setattr("pages.parts.sections.sides.random_band", waits)
    app = App(ATTRIBUTIONS, example="s009", measures=NAMES)
    try:
        wait(app, lambda: offers_verdicts(app), rest=1.0)
        assert any("random orders" in job.label for job in resources.jobs().active())
    finally:
        held.set()


def test_by_every_way_of_erasing_the_verdicts_are_the_librarys(bundled, fresh, any_speed):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES)
    wait(app, lambda: app.has("button", "Compute the same by removal"), rest=60.0)
    complete(app)
    complete(app.press("Compute the same by removal, zero embedding and unknown token"))
    # What the page asked for is not asked for again.
    explainer = resources.explainer("sst2-fmm")
    encoded = explainer.encode(SMALL.text, None, "word")
    target, gating = int(explainer.logits(encoded).argmax()), StandingGates(encoded, explainer.reference)
    limits = finish(find_exact(explainer, encoded, target)).limits
    found = {}
    for erasure in erasures_of(bundled):
        test = finish(find_chance(explainer, encoded, target, NAMES, erasure=erasure))
        found[erasure] = under_erasure(test, gating, Reasons(limits) if erasure == MASK else None)
    header, rows = erasure_table({erasure: one.report for erasure, one in found.items()})
    assert header == ["measure", "mask token", "removal", "zero embedding", "unknown token"]
    assert next(table for table in app.tables if table[0] == header)[1:] == rows and not app.errors
    files = app.downloads
    text = next(text for name, text in files.items() if name.startswith("attributions") and name.endswith("csv"))
    for row in csv.DictReader(io.StringIO(text)):
        for erasure, one in found.items():
            assert row[f"verdict ({erasure})"] == one.report.of(row["measure"]).word
            assert row[f"inputs ({erasure})"] == one.inputs(row["measure"])


def test_a_verdict_is_decided_once_for_all_parts_of_a_page_and_anew_for_what_it_rests_on():
    weights = np.linspace(0.3, 0.0, 6)
    explainer = TableExplainer(
        0.95 - (np.arange(64)[:, None] >> np.arange(6) & 1) @ weights,
        {NAMES[0]: {"signed": weights, "absolute": weights}},
    )
    test = finish(find_chance(explainer, explainer.encoded, 1, NAMES[:1]))
    work = SimpleNamespace(latest=test, complete=True, direction="comprehensiveness")

    def told(rule="Holm", **known):
        return VerdictWork.report(work, StandingGates(explainer.encoded, None, rule), Reasons(**known))

    first = told()
    assert told() is first and told(rule="plain") is not first
    narrow = told(limits=SimpleNamespace(lower=0.0, upper=0.9))
    assert narrow is not first and told(stepwise={NAMES[0]: 0.5}).stepwise == {NAMES[0]: 0.5} != first.stepwise
    assert VerdictWork.report(SimpleNamespace(latest=test, complete=False), None, Reasons()) is None
