"""Verdicts on pages: the chip beside each row, the answer where it is asked for, the proof, and files."""

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
from core.results.verdicts import statuses
from core.validity.marks import SIGN
from core.validity.references import find_reference
from core.verdicts.deciding import Reasons, decide_verdicts
from core.verdicts.finding import find_chance
from core.verdicts.operators import operator_rows, operators_sentence, under_erasure
from core.verdicts.telling import ERROR_RATE, HANGS, verdict_about, verdict_text
from core.wording import without_markup
from pages.parts.attributions.believing import BELIEVED
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


def judged(app: App) -> bool:
    return all(
        "chance p " in str(own.get("verdict:")) or "cannot" in str(own.get("verdict:")) for own in cells(app).values()
    )


def test_the_chip_beside_a_row_is_the_librarys_and_leads_to_its_proof(report, fresh, any_speed):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES)
    assert list(app.rows) == NAMES, "the words do not wait for verdicts"
    shown = cells(wait(app, lambda: judged(app), rest=60.0))
    for name in NAMES:
        chip, found = shown[name]["verdict:"], report.of(name)
        of = ", adjusted for 2 measures" if found.told else ""
        assert (chip["chip"], chip["text"]) == (found.word.chip, verdict_about(found) + of) and ERROR_RATE in chip[
            "about"
        ]
        link = urlsplit(chip["href"])
        assert link.path == "aopc_and_naopc" and parse_qs(link.query)["measures"] == NAMES
    # The proof: the orders, p and the verdicts, of the same work.
    before = resources.explainer("sst2-fmm").model.scheduler.counters.passes
    proof = complete(App(AOPC, example=SMALL.id, measures=NAMES))
    table = next(table for table in proof.tables if table[0][:2] == ["measure", "verdict"])
    assert [(row[0], row[1].removesuffix(f" {SIGN}")) for row in table[1:]] == list(statuses(report).items())
    assert resources.explainer("sst2-fmm").model.scheduler.counters.passes == before and not proof.errors
    rows = list(csv.DictReader(io.StringIO(proof.download("Scores (CSV)"))))
    assert [row["verdict"] for row in rows] == [str(one.word) for one in report.verdicts]


def test_asked_for_it_is_the_answer_and_stands_in_what_is_saved(report, fresh, any_speed):
    plain = complete(App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES))
    assert "The answer says" in [one.label for one in plain.at.get("button_group")] and ERROR_RATE not in plain.said
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES, says=BELIEVED)
    wait(app, lambda: ERROR_RATE in app.said, rest=60.0)
    better = [one.measure for one in report.verdicts if one.word == "better than chance"]
    assert ("is shown to do better than chance here, that is" in app.said) == (not better)
    # No word parts them, so which words count is said besides, as it is where it is the answer.
    said = next(element.value for element in plain.at.html if "Speaks most for" in element.value)
    words = without_markup(said).partition("Speaks most for")[2].partition(".")[0]
    assert f"Speaks most for{words}." in app.said
    assert HANGS in app.said and HANGS not in plain.said
    assert all(name in app.said for name in better) and not app.errors
    # Each row has its own p.
    assert "(chance p" not in app.said.partition(ERROR_RATE)[0].partition("asked again")[0]
    files = app.downloads
    table = next(text for name, text in files.items() if name.startswith("attributions") and name.endswith("csv"))
    for row in csv.DictReader(io.StringIO(table)):
        found = report.of(row["measure"])
        assert row["verdict"] == found.word and float(row["p_better_to"]) == pytest.approx(found.p[1])
    page = next(text for name, text in files.items() if name.endswith("html"))
    assert all(verdict_text(one) in page for one in report.verdicts) and "each tail is tested at 5 %" in page


def test_where_nothing_can_be_told_of_a_text_of_another_length_that_is_said(fresh, any_speed):
    """Five tokens, where nine of ten texts of the reference have more."""
    app = App(ATTRIBUTIONS, data="own text", text="Great phone.", measures=NAMES, says=BELIEVED)
    wait(app, lambda: "cannot be told here" in app.said, rest=60.0)
    assert "This text has 5 tokens; nine of ten texts of the reference have 11 to 44." in app.said
    usual = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES, says=BELIEVED)
    wait(usual, lambda: ERROR_RATE in usual.said, rest=60.0)
    assert "nine of ten texts of the reference have" not in usual.said


def test_a_dear_verdict_says_what_it_costs_and_is_not_computed(fresh, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    monkeypatch.setattr("pages.parts.frame.working.AT_ONCE_SECONDS", 0.0)
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=["gradient"], says=BELIEVED)
    assert (
        cells(app)["gradient"]["verdict:"]["text"].startswith("not asked for yet (about ")
        and not resources.jobs().active()
    )
    assert "No order is scored yet" in app.said


def test_what_waits_to_be_asked_for_is_asked_where_it_is_missed_and_comes_unasked_from_then_on(fresh, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    monkeypatch.setattr(VerdictWork, "cost", property(lambda work: Cost(10**6, 1e4)))
    monkeypatch.setattr(Searching, "cost", property(lambda work: Cost(10**6, 1e6)))
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "no")
    # So long that no other work of the page asks for every set.
    chosen = {"example": "s009", "measures": NAMES, "says": BELIEVED}
    app = App(ATTRIBUTIONS, **chosen)
    wait(app, lambda: "Which measures to believe is not computed yet." in app.said, rest=60.0)
    # The price of what it rests on, not that of limits which nobody asked for.
    assert "about 2.8 h" in app.said
    assert all(own["verdict:"]["text"] == "not asked for yet (about 2.8 h)" for own in cells(app).values())
    held = threading.Event()

    def waits(*about, **asked):
        held.wait(60)
        return (yield from find_chance(*about, **asked))

    monkeypatch.setattr("pages.parts.sections.verdicts.find_chance", waits)
    # Where it was asked for, progress stands, and what cancels it.
    app.press("Compute which measures to believe")
    assert "cancel-believed" in [one.key for one in app.at.button] and "being computed" in app.said
    held.set()
    wait(app, lambda: HANGS in app.said, rest=60.0)
    assert judged(app) and "cancel-believed" not in [one.key for one in app.at.button]
    resources.jobs.clear()
    again = App(ATTRIBUTIONS, **chosen)
    wait(again, lambda: HANGS in again.said, rest=60.0)
    assert not again.has("button", "Compute which measures to believe")


def test_dear_verdicts_are_offered_while_other_work_runs(fresh, monkeypatch):
    """No other work that ends would start them, so nobody waits for what nobody asked for."""
    monkeypatch.setenv("FAITHSCOPE_SHIPPED", "no")
    monkeypatch.setenv("FAITHSCOPE_EXACT", "1")
    monkeypatch.setattr(VerdictWork, "cost", property(lambda work: Cost(10**6, 1e4)))
    monkeypatch.setattr(Searching, "cost", property(lambda work: Cost(10**6, 1e6)))
    held = threading.Event()

    def waits(*about, **asked):
        held.wait(60)
        return (yield from random_band(*about, **asked))

    monkeypatch.setattr("pages.parts.sections.sides.random_band", waits)
    app = App(ATTRIBUTIONS, example="s009", measures=NAMES, says=BELIEVED)
    try:
        wait(app, lambda: app.has("button", "Compute which measures to believe"), rest=60.0)
        assert any("random orders" in job.label for job in resources.jobs().active())
        assert "Which measures to believe is not computed yet." in app.said and "being computed" not in app.said
    finally:
        held.set()


def test_by_every_way_of_erasing_the_verdicts_are_the_librarys(bundled, fresh, any_speed):
    app = App(ATTRIBUTIONS, example=SMALL.id, measures=NAMES, says=BELIEVED)
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
    header, rows = operator_rows(found)
    assert header == ["measure", "mask token", "removal", "zero embedding", "unknown token"]
    assert next(table for table in app.tables if table[0] == header)[1:] == rows
    said = operators_sentence({erasure: one.report for erasure, one in found.items()})
    assert without_markup(said) in app.said and not app.errors
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
