"""Verdicts on a text: each outcome, badge and caveat is reached, and every name and number survives in every form."""

import csv
import html
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from core.commands.parts import verdict_lines, verdict_sections
from core.network.scheduler import NonFinite
from core.oracle.erasing import REMOVAL
from core.reports.answers import answer_text
from core.reports.attribution_page import attribution_page
from core.reports.exports import csv_text
from core.results.caveats import Caveat
from core.results.result import as_record
from core.results.verdicts import (
    TABLE,
    Status,
    VerdictsOutcome,
    erasure_table,
    measure_caveats,
    reason_text,
    report_caveats,
    statuses,
    uses_masking,
    verdict_badge,
    verdict_cells,
    verdict_rows,
    verdicts_result,
    without_sign,
    word_status,
    words_result,
)
from core.texts.rendering import Form, write_result
from core.verdicts.chance import NullOrders
from core.verdicts.deciding import Cause, Verdict, VerdictReport, Word
from core.verdicts.finding import Untold
from core.verdicts.records import RECORDED, as_plain, p_text, verdict_record
from tests.saved_page import harmless
from tests.shown import shown
from tests.verdicts.table_explainer import TableExplainer
from tests.verdicts.test_deciding import GRADIENT, IXG, LOO, WEIGHTS, additive, decided, signed

# What HTML, Markdown, LaTeX or a spreadsheet would take for markup.
NAMES = ["leave-one-out", "a <b>bold</b> & c", "p < 0.0001 <i>", "*x* _y_ $z$ 50 %", "=1+1", "שלום <u>"]
TINY, LARGE = 1e-5, 0.602


def made(names: list[str], words: list[Word], whys: list | None = None, **more) -> VerdictReport:
    """Verdicts written down by hand: a p below 0.0001 where a measure is better or worse, else 0.602."""
    p = {Word.BETTER: TINY, Word.WORSE: TINY, Word.NO_BETTER: LARGE, Word.UNTOLD: np.nan}
    found = tuple(
        Verdict(name, word, (p[word],) * 2, (p[word],) * 2, why, adjusted=(p[word],) * 2)
        for name, word, why in zip(names, words, whys or [None] * len(names))
    )
    null = NullOrders(np.linspace(0.1, 0.3, 99), 99)
    reached = {name: 0.1 * (i + 1) for i, name in enumerate(names)}
    return VerdictReport(
        found, "comprehensiveness", "signed", "mask token", null, len(names), None, reached, None, **more
    )


HOSTILE = made(NAMES, [Word.BETTER, Word.BETTER, Word.BETTER, Word.NO_BETTER, Word.WORSE, Word.NO_BETTER])
READ = {Form.TEXT: lambda text: text, Form.HTML: lambda text: html.unescape(re.sub(r"</?(?:b|p)>", "", text))}


# Every name and number survives


@pytest.mark.parametrize("form", list(Form))
def test_every_believed_name_and_every_number_stands_in_every_form(form):
    told = READ[form](write_result(verdicts_result(HOSTILE), form))
    for name in NAMES[:3]:
        assert name in told
    for part in ("3 of 6", "p < 0.0001", "0.6", "99"):
        assert part in told


def test_the_terminal_prints_each_measure_with_its_numbers_where_evidence_is_strongest():
    told = answer_text(verdict_sections({"mask token": HOSTILE}))
    for name, status in statuses(HOSTILE).items():
        (line,) = [line for line in told.split("\n") if line.startswith(name) and str(status) in line]
        p = "p = 0.602" if status == Status.NOT_SIGNIFICANT else "p < 0.0001"
        assert line.removeprefix(name).count(p) == 3, "adjusted, of better and of worse"
    both = answer_text(verdict_sections({"mask token": HOSTILE, REMOVAL: HOSTILE}))
    assert both.count(NAMES[1]) > told.count(NAMES[1]) * 2 - 1 and REMOVAL in both


def test_the_saved_page_holds_each_measure_with_its_numbers():
    result = replace(verdicts_result(HOSTILE), caveats=(Caveat.TRUNCATED,))
    page = harmless(attribution_page(replace(shown(names=("leave-one-out",)), verdicts=HOSTILE, result=result)))
    for name in NAMES:
        assert name in page.said
    for one in HOSTILE.verdicts:
        assert " ".join(verdict_cells(HOSTILE, one)).split()[0] in page.said
    assert page.said.count("p < 0.0001") >= 4 * 3 and page.said.count("p = 0.602") == 2 * 3
    assert Caveat.TRUNCATED.badge in page.said and Caveat.TRUNCATED.explanation in page.said


def test_files_hold_each_measure_with_its_numbers_the_outcome_and_the_caveats():
    record = json.loads(json.dumps(as_plain(HOSTILE) | as_record(verdicts_result(HOSTILE))))
    assert [one["measure"] for one in record["verdicts"]] == NAMES
    assert [one["p_holm_to"] for one in record["verdicts"]] == [TINY, TINY, TINY, LARGE, TINY, LARGE]
    assert record["outcome"] == "some better than random" and record["facts"]["better"] == 3
    assert record["facts"]["smallest_p"] == TINY and set(record["caveats"]) == {
        one.name for one in report_caveats(HOSTILE)
    }
    text = csv_text([*RECORDED, "outcome", "caveats"], verdict_lines({"mask token": HOSTILE}))
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [row["measure"] for row in rows] == [f"'{name}" if name[0] == "=" else name for name in NAMES]
    assert {row["outcome"] for row in rows} == {"some better than random"}
    assert [float(row["p_better_to"]) for row in rows[:4]] == [TINY, TINY, TINY, LARGE]


# Outcomes, badges, caveats


def test_the_best_order_is_better_its_reverse_worse_and_the_middle_not_significant():
    middle = WEIGHTS[[3, 0, 6, 1, 5, 2, 4]]
    report = decided(
        TableExplainer(
            additive(WEIGHTS), {LOO: signed(WEIGHTS), IXG: signed(-WEIGHTS), GRADIENT: {"L2": middle, "L1": middle}}
        )
    )
    assert statuses(report) == {LOO: Status.BETTER, IXG: Status.WORSE, GRADIENT: Status.NOT_SIGNIFICANT}
    result = verdicts_result(report)
    assert result.outcome == VerdictsOutcome.SOME_BETTER and result.slots["measures"] == [LOO]
    facts = {one.key: one.value for one in result.facts}
    assert facts["better"] == 1 and facts["orders"] == 5040 and result.fact("better").of == 3
    assert facts["smallest_p"] == pytest.approx(3 / 5040) and facts["best_aopc"] == max(report.reached.values())
    # It masks to score, and it is the one that is believed; the one without a sign is not.
    assert set(result.caveats) == {Caveat.NOT_TESTED, Caveat.MEASURE_USES_MASKING, Caveat.UNSIGNED_MEASURE}
    least = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)}), directions=("sufficiency",))
    assert verdicts_result(least).fact("best_aopc").better == "↓"


def test_where_none_is_better_none_is_named():
    worse = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(-WEIGHTS)}))
    result = verdicts_result(worse)
    assert result.outcome == VerdictsOutcome.NONE_SIGNIFICANT and result.slots["measures"] == []
    # What favours a measure explains nothing where it is not better.
    assert Caveat.MEASURE_USES_MASKING not in result.caveats


def test_a_flat_model_ties_every_order_and_equal_scores_are_tied():
    flat = decided(TableExplainer(np.full(2**7, 0.9), {LOO: signed(WEIGHTS)}))
    assert statuses(flat) == {LOO: Status.TIED}
    assert verdicts_result(flat).outcome == VerdictsOutcome.CANNOT_BE_TESTED
    assert Caveat.NARROW_LIMITS in verdicts_result(flat).caveats
    equal = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS), IXG: signed(np.full(7, 0.2))}))
    assert statuses(equal) == {LOO: Status.BETTER, IXG: Status.TIED}
    nan = decided(TableExplainer(additive(WEIGHTS), {LOO: NonFinite("it gave NaN."), IXG: signed(WEIGHTS)}))
    assert statuses(nan) == {IXG: Status.BETTER, LOO: Status.NOT_TESTED} and nan.of(LOO).why == Untold.NO_NUMBERS


def test_few_orders_and_rejected_inputs_block_a_verdict():
    weights = np.array([0.4, 0.3])
    few = decided(TableExplainer(additive(weights), {LOO: signed(weights)}))
    result = verdicts_result(few)
    assert result.outcome == VerdictsOutcome.CANNOT_BE_TESTED and Caveat.FEW_ORDERS in result.caveats
    for why in (Untold.OWN_REJECTED, Untold.RANDOM_REJECTED):
        rejected = made([LOO, IXG], [Word.UNTOLD, Word.UNTOLD], [why, why])
        assert verdicts_result(rejected).caveats == (Caveat.OUT_OF_DISTRIBUTION,)
        assert set(statuses(rejected).values()) == {Status.NOT_TESTED}
    drawn = made([LOO], [Word.UNTOLD], [Untold.NOT_DRAWN])
    assert verdicts_result(drawn).caveats == (Caveat.FEW_ORDERS,)
    # One without a verdict keeps no other from its own.
    part = made([LOO, IXG], [Word.NO_BETTER, Word.UNTOLD], [None, Untold.OWN_REJECTED])
    assert verdicts_result(part).outcome == VerdictsOutcome.NONE_SIGNIFICANT


def test_what_is_not_there_yet_is_asked_for_or_under_way():
    running = verdicts_result(None, planned=3)
    assert running.outcome == VerdictsOutcome.RUNNING and running.caveats == (Caveat.PARTIAL,)
    assert verdicts_result(None, planned=3, asked=False).outcome == VerdictsOutcome.NOT_ASKED


def test_of_words_alone_the_outcome_is_the_same():
    words = {LOO: Word.BETTER, IXG: Word.WORSE, GRADIENT: Word.UNTOLD}
    result = words_result(words)
    assert result.outcome == VerdictsOutcome.SOME_BETTER and result.slots["measures"] == [LOO]
    assert words_result({LOO: Word.UNTOLD}).outcome == VerdictsOutcome.CANNOT_BE_TESTED
    assert words_result({LOO: Word.WORSE}).outcome == VerdictsOutcome.NONE_SIGNIFICANT
    assert [word_status(word) for word in Word] == [
        Status.BETTER,
        Status.NOT_SIGNIFICANT,
        Status.WORSE,
        Status.NOT_TESTED,
    ]


def test_what_favours_or_harms_some_measures_and_not_others():
    assert uses_masking([LOO, GRADIENT, "random order"]) == [LOO] and uses_masking([LOO, "LIME", GRADIENT]) == [
        LOO,
        "LIME",
    ]
    assert uses_masking([LOO]) == uses_masking([LOO, "LIME"]) == uses_masking([GRADIENT, IXG]) == []
    assert without_sign([LOO, GRADIENT, "random"]) == [GRADIENT] == without_sign([LOO, GRADIENT, "beam"])
    assert without_sign([LOO, GRADIENT], "absolute") == without_sign([GRADIENT, "attention"]) == []
    assert measure_caveats([LOO, GRADIENT]) == [Caveat.MEASURE_USES_MASKING, Caveat.UNSIGNED_MEASURE]
    assert measure_caveats([LOO, IXG], "absolute") == [Caveat.MEASURE_USES_MASKING]
    # Of what is better without a sign that is no harm.
    both = signed(WEIGHTS) | {"L2": WEIGHTS}
    better = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS), GRADIENT: both}))
    assert Caveat.UNSIGNED_MEASURE not in report_caveats(better)
    unstable = replace(HOSTILE, verdicts=(replace(HOSTILE.verdicts[0], causes=(Cause.UNSTABLE,)),))
    assert Caveat.UNSTABLE in report_caveats(unstable)


# Tables


def test_a_table_has_a_row_a_measure_with_numbers_where_they_were_drawn_to_their_end():
    rows = verdict_rows(HOSTILE)
    assert all(len(row) == len(TABLE) for row in rows) and [row[0] for row in rows] == NAMES
    assert [row[2] for row in rows] == [TINY, TINY, TINY, LARGE, TINY, LARGE]
    # Of the 99 orders from 0.1 to 0.3 so many reach at least as much.
    reached = HOSTILE.null.reached
    assert [row[6] for row in rows] == [int((reached >= 0.1 * (i + 1) - 1e-6).sum()) for i in range(6)]
    stopped = replace(HOSTILE, verdicts=(replace(HOSTILE.verdicts[3], adjusted=(0.2, 0.9)), *HOSTILE.verdicts[:1]))
    assert [row[2] for row in verdict_rows(stopped)] == ["p ≥ 0.2", "p < 0.0001"]
    assert verdicts_result(replace(stopped, verdicts=stopped.verdicts[:1])).fact("smallest_p").value == "p ≥ 0.2"
    lost = made([LOO], [Word.UNTOLD], [Untold.NO_NUMBERS])
    cells = verdict_cells(lost, lost.verdicts[0])
    assert cells[1] == "not tested" and cells[2:5] == ["—"] * 3 and cells[-1] == str(Untold.NO_NUMBERS)


def test_beside_a_verdict_stands_how_many_random_orders_do_as_well_and_p_by_itself():
    """Of 120 orders one reaches .5, and 40 reach .1; of what cannot be told nothing stands."""
    null = NullOrders(np.array([0.5] + [0.1] * 39 + [0.0] * 80), 120)
    told = (
        Verdict(LOO, Word.NO_BETTER, (2 / 121, 2 / 121), (1.0, 1.0), adjusted=(12 / 121, 12 / 121)),
        Verdict(GRADIENT, Word.NO_BETTER, (41 / 121, 41 / 121), (0.9, 0.9), adjusted=(1.0, 1.0)),
        Verdict("attention", Word.BETTER, (0.0, 1 / 121), (1.0, 1.0), adjusted=(0.0, 6 / 121)),
        Verdict("beam", Word.UNTOLD, (0.4, 0.4), (0.6, 0.6), Untold.EQUAL),
    )
    reached = {LOO: 0.4, GRADIENT: 0.05, "attention": 0.6, "beam": 0.05}
    report = replace(HOSTILE, verdicts=told, null=null, reached=reached, planned=6)
    cells = [verdict_cells(report, one) for one in told]
    assert [(row[2], row[3], row[6]) for row in cells] == [
        ("p = 0.0992", "p = 0.0165", "1"),
        ("p = 1", "p = 0.339", "40"),
        ("p ≤ 0.0496", "p ≤ 0.00826", "0"),
        ("—", "p = 0.4", "—"),
    ]
    assert verdict_record(told[0], 3) | {"p_better_from": 2 / 121, "measures_tested": 3} == verdict_record(told[0], 3)
    assert report.better([LOO, "attention"]) == {"attention"} == report.better([])
    # One that is still to be judged may change the others' verdicts.
    assert report.better([LOO, "saliency"]) is None
    # Of all 24 orders one is the measure's own.
    every = NullOrders(np.array([0.5, 0.4] + [0.0] * 22), 24, every=True)
    assert verdict_cells(replace(report, null=every), told[0])[6] == "1"
    # What Data set keeps has no order.
    assert verdict_cells(replace(report, null=NullOrders(np.empty(0), 0)), told[0])[6] == "—"


def test_causes_stand_with_their_p_and_rejected_inputs_with_the_sign():
    one = replace(HOSTILE.verdicts[3], causes=(Cause.REDUNDANCY, Cause.SIGN, Cause.UNSTABLE))
    report = replace(HOSTILE, verdicts=(one,), stepwise={one.measure: 0.032}, turned={one.measure: 0.01})
    assert reason_text(report, one) == "redundancy (p = 0.032), sign (p = 0.01), unstable"
    rejected = replace(one, word=Word.UNTOLD, why=Untold.OWN_REJECTED, causes=(Cause.REJECTED,))
    assert verdict_badge(rejected) == "not tested ⚠"
    header, rows = erasure_table({"mask token": HOSTILE, REMOVAL: replace(report, verdicts=(rejected,))})
    assert header == ["measure", "mask token", REMOVAL] and len(rows) == len(NAMES)
    assert rows[0] == [NAMES[0], "better than random, p < 0.0001", "—"]
    assert rows[3][2] == "not tested ⚠"


def test_p_values_that_were_not_drawn_to_their_end_are_bounds():
    assert p_text((0.2, 0.9)) == "p ≥ 0.2" and p_text((0.0, 0.04)) == "p ≤ 0.04"
    assert p_text((TINY, TINY)) == "p < 0.0001" and p_text((np.nan, np.nan)) == "—"
    assert as_record(verdicts_result(HOSTILE))["facts"]["orders"] == 99
