"""The scoreboard: its numbers are the library's, who beats whom is worked out by hand, and what it may not say yet."""

import itertools
import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import stats

from core.commands.command_line import main
from core.data.examples import Example
from core.evaluation.asking import ask, run_study
from core.evaluation.engine import Run
from core.evaluation.sampling import without_labels
from core.evaluation.studies.board_report import (
    COMPREHENSIVENESS,
    NAOPC_C,
    RACU,
    RANDOM,
    SUFFICIENCY,
    figures,
    rejected_texts,
)
from core.evaluation.studies.board_rows import FEWER, BoardMeasure, K, board_metrics, milliseconds_of, passes_of
from core.evaluation.studies.board_tables import (
    Lead,
    LeadKind,
    board_table,
    figure_leads,
    front,
    front_numbers,
    leads_table,
    measures_table,
    ordered,
    pairs_list,
    pairs_table,
    problems_table,
    values_table,
)
from core.evaluation.studies.scoreboard import _RESTS, Scoreboard
from core.evaluation.study import Answers, Rows
from core.explanation.explainer import Explainer
from core.explanation.limiting import score
from core.explanation.recursive import BY_RATIO, ORDERS, follow, random_band, summarise
from core.figures.board_figures import draw_front
from core.figures.figures import error_bar, upright
from core.figures.label_places import HEIGHT, WIDTHS, label_box, label_places, level_box
from core.judging.baselines import BASELINES, judge_random
from core.judging.judging import How, Judge
from core.mathematics.aopc import naopc
from core.mathematics.curves import racu
from core.mathematics.masking import RATIOS
from core.mathematics.ranking import compare_pairs
from core.mathematics.statistics import Interval, mean_interval, mean_intervals, signed_rank_p
from core.mathematics.stepwise import finish
from core.measures.registry import REGISTERED
from core.metrics.catalogue import metrics
from core.metrics.registry import NO_ROOM
from core.results.caveats import Caveat
from core.results.scoreboard import ScoreboardOutcome, scoreboard_result, waiting_result
from core.storage.store import Store
from core.texts.rendering import headline
from core.validity.marks import SIGN
from core.verdicts.deciding import Word
from tests import tiny
from tests.hostile import lines

NAN, S = float("nan"), len(board_metrics())
FAVOURED = (Caveat.UNSIGNED_MEASURE, Caveat.MEASURE_USES_MASKING)
TEXTS = tuple(Example(f"e{i}", text, evidence=((0, 3),)) for i, text in enumerate(tiny.SENTENCES[2:5]))
SAMPLE = without_labels("toy", "0" * 64, TEXTS)
SMALL = Scoreboard(("gradient", "attention"), draws=2, orders=ORDERS)


@pytest.fixture(scope="module")
def explainer(tiny_model):
    return Explainer(tiny_model("bert"))


@pytest.fixture(scope="module")
def answers(explainer, tmp_path_factory):
    return ask(explainer, SAMPLE, SMALL, Store(tmp_path_factory.mktemp("board")))


# ---- who beats whom


def test_a_paired_test_by_hand():
    """Eight differences of one sign: W = 36, mean 18, variance 8·9·17/24 = 51, z = 18/√51 = 2.5205, p = .01172."""
    assert signed_rank_p(np.arange(1, 9)) == pytest.approx(0.01172, abs=1e-5)
    assert signed_rank_p(-np.arange(1, 9)) == pytest.approx(0.01172, abs=1e-5)
    assert signed_rank_p(np.array([NAN, *range(1, 9)])) == pytest.approx(0.01172, abs=1e-5)
    assert signed_rank_p(np.full(9, 1e-7)) == 1.0 == signed_rank_p(np.empty(0))


def test_holm_goes_over_all_pairs():
    """A is ahead of B and C on every text, and B and C take turns: at eight texts p = .01172 < 5 %/3, at six .0277 is
    below 5 % and not below 5 %/3, so that by Holm p is three times that, of both pairs.
    """
    steps = np.arange(1.0, 9)
    values = np.stack([2 * steps, steps, steps + np.tile([0.1, -0.1], 4)], axis=1)
    found = compare_pairs(values)
    assert found.by.tolist() == [[False, True, True], [False] * 3, [False] * 3]
    assert found.unbeaten.tolist() == [True, False, False] and (found.n + 8 * np.eye(3) == 8).all()
    assert found.p[0, 1:] == pytest.approx(3 * 0.01172, abs=1e-4) and (found.p == found.p.T).all()
    few = compare_pairs(values[:6])
    assert few.p[0, 1:] == pytest.approx(3 * 0.0277, abs=3e-4) and not few.by.any() and few.unbeaten.all()
    # What is drawn tells what beats what, at whatever level.
    for spent in (1.0, 0.2):
        at = compare_pairs(values, spent)
        assert (at.by == (at.p < 0.05 * spent) & (values.sum(axis=0)[:, None] > values.sum(axis=0))).all()


def test_of_measures_that_are_alike_any_beats_another_in_at_most_five_of_a_hundred_samples():
    """Five measures whose values on a text differ by chance alone, on as few texts as are answered for; values that
    leave the middle to one side, and values with ties.
    """
    rng, N = np.random.default_rng(23), 200
    for draw in (rng.normal, lambda size: rng.exponential(size=size) + rng.normal(size=(size[0], 1)), None):
        wrong = 0
        for _ in range(N):
            values = draw(size=(20, 5)) if draw else rng.integers(0, 4, size=(20, 5)) / 4
            wrong += compare_pairs(values).by.any()
        assert wrong <= stats.binom.ppf(0.999, N, 0.05)


def test_one_without_values_beats_none_and_is_beaten_by_none():
    values = np.stack([np.arange(30.0) + 1, np.arange(30.0), np.full(30, NAN)], axis=1)
    found = compare_pairs(values)
    assert found.by.sum() == 1 and found.by[0, 1] and found.n[0, 2] == 0
    assert not compare_pairs(np.ones((30, 4))).by.any()


def test_intervals_together_are_those_of_each():
    values = np.random.default_rng(1).normal(size=(25, 3))
    values = np.concatenate([values, np.ones((25, 1)), np.where(np.arange(25) < 5, NAN, values[:, 0])[:, None]], axis=1)
    for column, found in zip(values.T, mean_intervals(values, 999)):
        one = mean_interval(column, 999)
        assert (found.mean, found.low, found.high) == pytest.approx((one.mean, one.low, one.high), abs=1e-12)
    assert all(one.mean == 1.0 and not one.known for one in mean_intervals(np.ones((1, 2))))


# ---- a report of rows that are written down


def made(aopc: dict[str, np.ndarray], marks=0.0, picked="", coming=(), reference=None, known=None, board=None):
    """Answers in which random order is 0 on every text, and a measure's comprehensiveness is given; sufficiency is its
    negative, erasure metrics are its half, and the path is flat at 1 less it.
    """
    board = board or Scoreboard(tuple(aopc), draws=1)
    N = len(next(iter(aopc.values())))
    sample = without_labels("made", "1" * 64, [Example(f"m{i}", "a b") for i in range(N)])
    there = np.ones(N, dtype=bool) if known is None else np.arange(N) < known

    def rows(columns, sentences=("",)):
        return Rows(there, {}, there, columns, sentences, {})

    nothing = np.zeros(N)
    found = {
        board.chance: rows(
            {
                "values": np.zeros((N, S)),
                "errors": np.full((N, S), NAN),
                "orders": np.zeros((N, FEWER)),
                "curves": np.broadcast_to(np.linspace(1, 0, K), (N, FEWER, K)),
                "marks": np.zeros((N, 2 + S)),
                "evidence": np.full(N, NAN),
                "predicted": np.zeros(N, dtype=np.int32),
                "probability": np.ones(N),
            }
        ),
        board.limits: rows(
            {"lower": nothing - 1, "upper": nothing + 1, "marks": nothing, "method": nothing.astype(int)}
        ),
    }
    for study, value in zip(board.measured, aopc.values()):
        value = np.asarray(value, dtype=np.float64)
        cells = np.full((N, 3 + S), marks)
        found[study] = rows(
            {
                "aopc": np.stack([value, -value], axis=1),
                "values": np.broadcast_to(value[:, None] / 2, (N, S)),
                "errors": np.full((N, S), NAN),
                "curve": np.linspace(1, 0, K) * (1 - value[:, None]),
                "marks": np.where(np.isnan(value)[:, None], NAN, cells),
                "evidence": np.full(N, NAN),
                "took": np.stack([np.full(N, passes_of(study.measure, 10)), np.full(N, 2.0)], axis=1),
                "notes": np.where(np.isnan(value), 1, 0),
            },
            ("", json.dumps({"": "it gave NaN."})),
        )
    model = SimpleNamespace(name="made up", labels=("no", "yes"))
    reference = reference or SimpleNamespace(texts=450)
    sample = replace(sample, picked=picked)
    return Answers(model, reference, sample, found, frozenset(board.measured if coming else ()))


def reported(*args, **more):
    answers = made(*args, **more)
    board = Scoreboard(answers_measures(answers), draws=1)
    return board, board.conclude(answers)


def answers_measures(answers):
    return tuple(study.measure for study in answers.found if isinstance(study, BoardMeasure))


UP, N = np.linspace(0.1, 0.3, 24), 24


def points_of(drawn) -> list[dict]:
    """The measures of a picture, without its line and the signs of its legend."""
    return [one for one in drawn["data"] if one["mode"] == "markers+text"]


def test_who_is_not_beaten_and_at_what_cost():
    near = UP + np.tile([0.01, -0.01], 12)
    board, report = reported({"leave-one-out": UP, "gradient": near, "attention": UP - 0.05})
    result = scoreboard_result(report)
    assert result.outcome == ScoreboardOutcome.SEVERAL_UNBEATEN and result.caveats == FAVOURED
    assert result.slots["figure"] == COMPREHENSIVENESS and result.slots["count"] == 24
    assert set(result.slots["measures"]) == {"leave-one-out", "gradient"} == set(report.leaders(COMPREHENSIVENESS))
    assert result.slots["cheapest"] == ["gradient"] and result.fact("passes").value == 3
    score, texts, unbeaten = (result.fact(key) for key in ("score", "texts", "unbeaten"))
    assert score.value == pytest.approx(0.2) and score.low < 0.2 < score.high and score.better == "↑"
    assert (texts.value, texts.of) == (24, 24) and unbeaten.value == unbeaten.of == len(report.beaten)
    assert "gradient" in headline(result) and "3 forward passes" in headline(result)
    assert report.verdict("attention") == Word.BETTER and report.unbeaten(SUFFICIENCY) == report.unbeaten(NAOPC_C)
    header, *rows = [board.tables(report)[1][0], *board.tables(report)[1][1]]
    assert header[1:] == ["leave-one-out", "gradient", "attention", RANDOM]
    assert rows[0][3].startswith("beats it") and not rows[2][1].startswith("beats it") and rows[0][1] == ""
    # Each pair once, the one ahead first.
    pairs = {(row[0], row[1]): row for row in pairs_list(report, COMPREHENSIVENESS)[1]}
    assert len(pairs) == 6 and pairs["leave-one-out", "attention"][3] == "yes"
    assert ("attention", "leave-one-out") not in pairs and pairs["gradient", RANDOM][2] < 0.01
    assert [row[2] for row in pairs_list(report, COMPREHENSIVENESS)[1]] == sorted(row[2] for row in pairs.values())


def test_what_is_not_told_from_random_order_is_no_measure_to_choose():
    """Attention takes one pass and is above random order on 13 of 24 texts, by as much as it is below on the others."""
    swings = np.array([*np.linspace(0.1, 0.6, 13), *np.linspace(-0.6, -0.1, 11)])
    _, report = reported({"leave-one-out": UP, "attention": swings})
    assert set(report.unbeaten(COMPREHENSIVENESS)) >= {"leave-one-out", "attention"}
    result = scoreboard_result(report)
    assert result.outcome == ScoreboardOutcome.ONE_LEADS and result.slots["measure"] == "leave-one-out"
    assert result.fact("passes").value == 11 and "attention" not in report.leaders(COMPREHENSIVENESS)


def test_where_metrics_disagree_each_names_its_own_and_none_is_averaged():
    answers = made({"leave-one-out": UP, "attention": UP - 0.05})
    board = Scoreboard(("leave-one-out", "attention"), draws=1)
    attention = answers.found[board.measured[1]]
    attention.columns["values"] = np.where(np.arange(S) == 0, 0.9, attention.columns["values"])
    report = board.conclude(answers)
    found = {one.figure: one for one in figure_leads(report)}
    assert found[board_metrics()[0]] == Lead(board_metrics()[0], LeadKind.UNBEATEN, ("attention",))
    assert {one.names for figure, one in found.items() if figure != board_metrics()[0]} == {("leave-one-out",)}
    unbeaten = scoreboard_result(report).fact("unbeaten")
    assert unbeaten.of - unbeaten.value == 1 and unbeaten.of == len(figures())
    assert [f"{board_metrics()[0]} ↑", "attention", "unbeaten"] in leads_table(report)[1]


def test_figures_that_leave_fewer_unbeaten_put_the_one_that_all_leave_first():
    """By AOPC neither beats the other; by one metric the first is ahead on every text, by one that has a third."""
    near = UP + np.tile([0.01, -0.01], 12)
    answers = made({"gradient": near, "leave-one-out": UP, "attention": UP - 0.05})
    board = Scoreboard(("gradient", "leave-one-out", "attention"), draws=1)
    _, loo, attention = (answers.found[one] for one in board.measured)
    loo.columns["values"] = np.where(np.arange(S) == 0, 0.9, loo.columns["values"])
    attention.columns["values"] = np.where(np.arange(S) == 1, UP[:, None] / 2, attention.columns["values"])
    first, second, *_ = board_metrics()
    report = board.conclude(answers)
    found = {one.figure: one.names for one in figure_leads(report)}
    assert found[first] == ("leave-one-out",)
    assert set(found[second]) == {"leave-one-out", "gradient", "attention"}
    result = scoreboard_result(report)
    assert result.slots["measures"] == ["leave-one-out", "gradient"] and result.slots["cheapest"] == ["gradient"]
    assert result.fact("unbeaten").value == result.fact("unbeaten").of == len(figures())
    assert "leave-one-out" in result.fact("unbeaten").label


def test_on_how_many_texts_a_figure_rests_on_rejected_inputs_is_counted_from_measure_to_measure():
    """Of 24 texts two are rejected under the one and all under the other; of NaN nothing can be said."""
    answers = made({"leave-one-out": UP, "gradient": UP})
    board = Scoreboard(("leave-one-out", "gradient"), draws=1)
    one, other = (answers.found[study] for study in board.measured)
    one.columns["marks"][:2, 3] = 1
    other.columns["marks"][:, 3] = 1
    one.columns["marks"][:, 4] = other.columns["marks"][:, 4] = NAN
    found = rejected_texts(board, answers)
    first, second, third, *_ = board_metrics()
    assert found[first] == (2, 24, 24, True) and found[third] == (0, 0, 24, False) and second not in found
    # What is not known of all texts is not counted.
    some = np.arange(24) < 23
    assert rejected_texts(board, made({"leave-one-out": UP, "gradient": UP}, known=23)) == {}
    assert rejected_texts(board, made({"leave-one-out": UP[:19], "gradient": UP[:19]})) == {}, "too few to tell"
    answers.found[board.measured[1]] = replace(other, there=some)
    # Two of 24 are no more than 5 % by chance explain, as in the table.
    assert rejected_texts(board, answers)[first] == (2, 2, 24, False)


def test_worse_than_random_order_is_not_believed():
    _, report = reported({"leave-one-out": -UP, "gradient": UP * 0})
    assert report.verdict("leave-one-out") == Word.WORSE and report.verdict("gradient") == Word.NO_BETTER
    assert scoreboard_result(report).outcome == ScoreboardOutcome.NONE_BETTER
    assert [one.key for one in scoreboard_result(report).facts] == ["texts"]


@pytest.mark.parametrize(
    "more, outcome, caveat, known",
    [
        ({"picked": "by its confidence"}, ScoreboardOutcome.CANNOT_BE_TESTED, Caveat.SELECTED, 24),
        ({"known": 19}, ScoreboardOutcome.RUNNING, Caveat.PARTIAL, 19),
        ({"known": 23, "coming": True}, ScoreboardOutcome.RUNNING, Caveat.PARTIAL, 23),
    ],
)
def test_no_verdict_before_it_may_be_told(more, outcome, caveat, known):
    board, report = reported({"leave-one-out": UP, "attention": UP - 0.05}, **more)
    result = scoreboard_result(report)
    assert result.outcome == outcome and result.has(caveat) and "measures" not in result.slots
    assert (result.slots["count"], result.slots["total"]) == (known, 24) == (result.facts[0].value, result.facts[0].of)
    assert report.verdict("leave-one-out") == Word.UNTOLD and not report.beaten and not pairs_table(report, RACU)[1]
    assert {row[1] for row in board_table(report)[1]} == {"—"} and len(board.tables(report)) == 1
    assert figure_leads(report) == [] and pairs_list(report, RACU)[1] == []


def test_before_the_first_text_nothing_is_claimed():
    before, none = waiting_result(100), waiting_result(100, complete=True)
    assert before.outcome == ScoreboardOutcome.RUNNING and before.caveats == (Caveat.PARTIAL,)
    assert none.outcome == ScoreboardOutcome.CANNOT_BE_TESTED and none.caveats == ()
    assert not before.facts and not none.facts and "0 of 100 texts" in headline(before)


@pytest.mark.parametrize("known, complete", [(20, False), (24, True)])
def test_where_work_was_stopped_after_enough_texts_the_result_is_partial(known, complete):
    result = scoreboard_result(reported({"leave-one-out": UP, "attention": UP - 0.05}, known=known)[1])
    assert result.outcome == ScoreboardOutcome.ONE_LEADS and result.has(Caveat.PARTIAL) != complete


def test_a_measure_that_was_stopped_is_no_whole_sample():
    """Random order and another measure are there for all texts, and it for 19 alone."""
    answers = made({"leave-one-out": UP, "attention": UP - 0.05})
    board = Scoreboard(("leave-one-out", "attention"), draws=1)
    answers.found[board.measured[1]] = replace(answers.found[board.measured[1]], there=np.arange(N) < 19)
    report = board.conclude(answers)
    assert report.n == 19 and scoreboard_result(report).outcome == ScoreboardOutcome.RUNNING and not report.beaten


def test_one_text_has_figures_and_neither_interval_nor_verdict():
    _, report = reported({"leave-one-out": UP[:1]}, marks=1.0)
    result = scoreboard_result(report)
    assert result.outcome == ScoreboardOutcome.FEW_TEXTS and result.slots["needed"] == 20 and result.slots["count"] == 1
    assert result.has(Caveat.FEW_TEXTS) and result.has(Caveat.OUT_OF_DISTRIBUTION)
    row = dict(zip(*(board_table(report)[0], board_table(report)[1][0])))
    assert row["comprehensiveness ↑"] == f"0.100 {SIGN}"
    # That of RACU is over the random orders of the text, as on Recursive masking.
    assert [figure for figure, told in row.items() if "[" in told] == ["RACU ↑"]


@pytest.mark.parametrize("known, there", [(8, False), (19, False), (20, True)])
def test_intervals_begin_where_verdicts_do(known, there):
    """Also of the texts that are known so far of a sample of 24, of one of them, and of a sample that is that small."""
    for sample in (UP, UP[:known]):
        _, report = reported({"leave-one-out": sample, "gradient": sample - 0.05}, known=known)
        rows = board_table(report)[1]
        assert report.n == known and any("[" in cell for row in rows for cell in row) == there
        assert ("error_y" in draw_front([report])["data"][1]) == there
        assert (scoreboard_result(report).outcome == ScoreboardOutcome.ONE_LEADS) == there
        assert (scoreboard_result(report).fact("score") is not None) == there
    first = reported({"leave-one-out": UP}, known=1)[1]
    assert not any("[" in cell for row in board_table(first)[1] for cell in row)


def test_on_one_text_who_is_ahead_by_which_metric():
    """By those of orders leave-one-out leads .3 to .1; erasure metrics are written down, of which three differ: random
    order leads by the first and ties by the second.
    """
    answers = made({"leave-one-out": [0.3], "gradient": [0.1]}, marks=0.0)
    board = Scoreboard(("leave-one-out", "gradient"), draws=1)
    one, other, third = board_metrics()[:3]
    random, gradient = answers.found[board.chance], answers.found[board.measured[1]]
    random.columns["values"][0, :2] = 0.9, 0.15
    gradient.columns["values"] = np.array([[0.05, 0.05, 0.8, *[0.05] * (S - 3)]])
    gradient.columns["marks"][0, 3 + 2] = 1.0
    alike = [COMPREHENSIVENESS, SUFFICIENCY, RACU, *board_metrics()[3:]]
    found = {lead.figure: lead for lead in figure_leads(board.conclude(answers))}
    assert [*found] == [COMPREHENSIVENESS, SUFFICIENCY, RACU, *board_metrics()]
    assert {found[figure][1:] for figure in alike} == {(LeadKind.AHEAD, ("leave-one-out",))}
    assert found[one].names == (RANDOM,) and found[other].names == ("leave-one-out", RANDOM)
    assert found[third] == Lead(third, LeadKind.OUT)
    assert [f"{third} ↑", None, str(LeadKind.OUT)] in leads_table(board.conclude(answers))[1]
    # Of three measures two are left, and one that is marked leads nobody.
    board = Scoreboard(("leave-one-out", "gradient", "attention"), draws=1)
    answers = made({"leave-one-out": [0.3], "gradient": [0.1], "attention": [0.9]}, board=board)
    answers.found[board.measured[2]].columns["marks"][:] = 1.0
    assert {lead[1:] for lead in figure_leads(board.conclude(answers))} == {(LeadKind.AHEAD, ("leave-one-out",))}
    report = reported({"leave-one-out": [0.3], "gradient": [0.1]})[1]
    assert {lead[1:] for lead in figure_leads(report)} == {(LeadKind.AHEAD, ("leave-one-out",))}

    def by_racu(cells):
        (lead,) = (lead for lead in figure_leads(replace(report, cells=cells)) if lead.figure == RACU)
        return lead

    # RACU whose intervals overlap puts none ahead.
    lead = report.cells["leave-one-out", RACU].interval.mean
    for least, tied in ((lead - 0.01, False), (lead + 0.01, True)):
        ends = {"leave-one-out": (lead, lead + 0.1), "gradient": (0.0, least)}
        spread = {
            key: one._replace(interval=replace(one.interval, low=ends[key[0]][0], high=ends[key[0]][1]))
            if key[1] == RACU and key[0] in ends
            else one
            for key, one in report.cells.items()
        }
        assert (by_racu(spread).standing == LeadKind.TIED) == tied
    # A number that says nothing puts nobody ahead.
    shaky = {key: one._replace(unstable=key[1] == RACU) for key, one in report.cells.items()}
    assert by_racu(shaky) == Lead(RACU, LeadKind.OUT)
    undefined = {
        key: one._replace(interval=replace(one.interval, mean=NAN)) if key[1] == RACU else one
        for key, one in report.cells.items()
    }
    assert by_racu(undefined) == Lead(RACU, LeadKind.NO_VALUE)
    # First by all, though tied with another by one.
    board = Scoreboard(("leave-one-out", "gradient", "attention"), draws=1)
    answers = made({"leave-one-out": [0.3], "gradient": [0.1], "attention": [0.05]}, marks=0.0, board=board)
    answers.found[board.measured[1]].columns["values"] = np.array([[0.15, *[0.05] * (S - 1)]])
    found = {lead.figure: lead.names for lead in figure_leads(board.conclude(answers))}
    assert found.pop(one) == ("leave-one-out", "gradient") and set(found.values()) == {("leave-one-out",)}
    assert figure_leads(reported({"leave-one-out": UP[:2], "gradient": UP[:2] / 2})[1]) == [], (
        "two are neither one nor many"
    )


def test_erasure_metrics_are_level_within_their_errors_as_on_their_own_page():
    """.15 and .05 with errors of .04 lie .1 apart, 1.8 standard errors of the difference; with .03, 2.4 of them."""
    for error, apart in ((0.04, False), (0.03, True)):
        board = Scoreboard(("leave-one-out", "gradient"), draws=32)
        answers = made({"leave-one-out": [0.3], "gradient": [0.1]}, board=board)
        for study in board.measured:
            answers.found[study].columns["errors"][:] = error
        answers.found[board.chance].columns["errors"][:] = 0.01
        report = board.conclude(answers)
        found = {one.figure: one.standing for one in figure_leads(report)}
        assert found[COMPREHENSIVENESS] == LeadKind.AHEAD
        assert {found[name] for name in board_metrics()} == {LeadKind.AHEAD if apart else LeadKind.TIED}
        row = dict(zip(*(board_table(report)[0], board_table(report)[1][0])))
        assert row[f"{board_metrics()[0]} ↑"] == f"0.150 ± {error:.3f}" and row["comprehensiveness ↑"] == "0.300"
        assert board_table(report)[1][-1][7] == "0.000 ± 0.010"
        errors = {(row[0], row[1]): row[5] for row in values_table(report)[1]}
        assert errors[f"{board_metrics()[0]} ↑", "gradient"] == error and errors["comprehensiveness ↑", RANDOM] != 0.01
        by = replace(board, by=board_metrics()[0])
        assert draw_front([by.conclude(answers)])["data"][1]["error_y"]["array"] == [error]


def test_the_line_in_the_picture_goes_through_those_that_beat_every_cheaper_one():
    _, two = reported({"leave-one-out": UP, "gradient": UP - 0.05})
    assert len(front(two)) == 2 and ": gradient, leave-one-out" in front_numbers(two)
    _, one = reported({"leave-one-out": UP - 0.05, "gradient": UP})
    assert front(one) == ["gradient"] and "line: gradient." in front_numbers(one)
    assert front(replace(two, better=frozenset())) == [], "none of them is on it"
    assert "on the line" not in front_numbers(replace(two, better=frozenset()))
    for report in (one, two):
        drawn = draw_front([report])["data"]
        assert [trace["name"].split()[:2] for trace in drawn if trace.get("showlegend")] == [
            ["none", "as"],
            ["better", "than"],
            ["not", "significantly"],
        ]


def test_a_mean_is_marked_where_more_texts_are_rejected_than_chance_explains():
    """Of 24 texts two may be rejected by chance at 5 % each, and ten may not."""
    for rejected, marked in ((0, False), (2, False), (10, True)):
        answers = made({"leave-one-out": UP})
        board = Scoreboard(("leave-one-out",), draws=1)
        answers.found[board.measured[0]].columns["marks"][:rejected, 0] = 1.0
        report = board.conclude(answers)
        cell = report.cells["leave-one-out", COMPREHENSIVENESS]
        assert (cell.rejected, cell.tested, cell.marked) == (rejected, 24, marked)
        assert report.cells["leave-one-out", NAOPC_C].marked == marked
        assert not report.cells["leave-one-out", SUFFICIENCY].marked
        assert (report.verdict("leave-one-out") == Word.UNTOLD) == marked
        assert scoreboard_result(report).has(Caveat.OUT_OF_DISTRIBUTION) == marked


def test_what_rests_on_rejected_inputs_has_no_part_in_what_is_said_of_the_others():
    """Attention has the best mean on every text, by inputs that are rejected; the others are as without it."""
    answers = made({"leave-one-out": UP, "gradient": UP - 0.05, "attention": UP + 0.3})
    board = Scoreboard(("leave-one-out", "gradient", "attention"), draws=1)
    answers.found[board.measured[2]].columns["marks"][:, 0] = 1.0
    report = board.conclude(answers)
    result = scoreboard_result(report)
    assert result.outcome == ScoreboardOutcome.ONE_LEADS and result.slots["measure"] == "leave-one-out"
    assert result.fact("passes").value == 11 and report.marked(COMPREHENSIVENESS) == ("attention",)
    assert result.caveats == (Caveat.OUT_OF_DISTRIBUTION, *FAVOURED)
    assert not any("attention" in row[:2] for row in pairs_list(report, COMPREHENSIVENESS)[1])
    assert report.verdict("attention") == Word.UNTOLD and report.verdict("gradient") == Word.BETTER
    rows = board.tables(report)[1][1]
    assert rows[2][1:] == [SIGN, SIGN, "", SIGN] and rows[0][2].startswith("beats it") and rows[0][3] == SIGN
    drawn = draw_front([report])
    assert 0.5 not in drawn["data"][0]["y"] and drawn["data"][3]["y"] == [pytest.approx(0.5)]
    assert "attention" not in front_numbers(report).rsplit("; on the line", 1)[1]
    # By a figure whose random orders are rejected, nothing can be set against chance.
    answers.found[board.chance].columns["marks"][:, 0] = 1.0
    report = board.conclude(answers)
    assert report.unbeaten(COMPREHENSIVENESS) == ("leave-one-out",) and report.leaders(COMPREHENSIVENESS) == ()
    assert scoreboard_result(report).outcome == ScoreboardOutcome.CANNOT_BE_TESTED
    assert {report.verdict(name) for name in board.measures} == {Word.UNTOLD}


def test_a_measure_that_gives_nan_has_a_line_that_says_why():
    _, report = reported({"leave-one-out": UP, "gradient": np.full(N, NAN)})
    assert problems_table(report)[1] == [["gradient", None, 24, "it gave NaN."]]
    assert scoreboard_result(report).outcome == ScoreboardOutcome.ONE_LEADS
    assert report.unbeaten(COMPREHENSIVENESS) == ("leave-one-out",) and report.verdict("gradient") == Word.UNTOLD
    assert ordered(report, COMPREHENSIVENESS) == ["leave-one-out", RANDOM, "gradient"]
    assert draw_front([report])["data"][1]["x"] == [11.0]


def test_a_model_that_always_says_the_same_beats_nobody():
    _, report = reported({"leave-one-out": np.zeros(N), "gradient": np.zeros(N)})
    assert scoreboard_result(report).outcome == ScoreboardOutcome.NONE_BETTER and not report.beaten[RACU].by.any()


def test_the_picture_has_a_point_a_measure_and_a_line_through_the_cheapest_best():
    """Gradient takes 3 passes, leave-one-out 11 and integrated gradients 60: the dear one in between is on no front."""
    low, high = draw_front([reported({"leave-one-out": [1e-16]})[1]])["layout"]["yaxis"]["range"]
    assert high - low > 0.002, "level but for the last bit"
    _, report = reported({"leave-one-out": UP, "gradient": UP - 0.05, "integrated gradients": UP - 0.01})
    drawn = draw_front([report])
    assert drawn["data"][0]["x"] == [3.0, 11.0] and len(points_of(drawn)) == 3
    assert drawn["data"][1]["y"] == [pytest.approx(0.2)] and "error_y" in drawn["data"][1]
    assert ": gradient, leave-one-out" in front_numbers(report)


def test_a_dearer_measure_is_on_the_line_only_where_it_beats_the_cheaper_ones():
    """Leave-one-out is ahead of gradient on half of the texts by as much as it is behind on the others, and .001 more."""
    swings = np.array([*np.linspace(0.01, 0.1, N // 2), *np.linspace(-0.1, -0.01, N // 2)])
    _, unsure = reported({"leave-one-out": UP + 0.001 + swings, "gradient": UP})
    _, sure = reported({"leave-one-out": UP + 0.01 + swings / 50, "gradient": UP})
    assert unsure.means(COMPREHENSIVENESS)[0] > unsure.means(COMPREHENSIVENESS)[1]
    assert front(unsure) == ["gradient"] and front(sure) == ["gradient", "leave-one-out"]
    # Where nothing may be told, means alone say it.
    assert front(replace(unsure, picked="by rank")) == ["gradient", "leave-one-out"]


def test_on_how_many_texts_inputs_are_rejected_is_a_table():
    answers = made({"leave-one-out": UP, "gradient": UP})
    board = Scoreboard(answers_measures(answers), draws=1)

    def rejected():
        header, rows = values_table(board.conclude(answers))
        found = [dict(zip(header, row)) for row in rows]
        return {(row["metric"], row["measure"]): (row["rejected"], row["tested"]) for row in found}

    answers.found[board.measured[1]].columns["marks"][:5, 0] = 1.0
    found = rejected()
    assert found["comprehensiveness ↑", "gradient"] == (5, N)
    assert found["comprehensiveness ↑", "leave-one-out"] == found["RACU ↑", "gradient"] == (0, N)
    answers.found[board.measured[1]].columns["marks"][:, 0] = NAN
    assert rejected()["comprehensiveness ↑", "gradient"] == (None, None)


def test_the_tables_of_numbers_hold_each_mean_its_ends_and_its_mark():
    answers = made({"leave-one-out": UP, "gradient": UP - 0.05})
    board = Scoreboard(answers_measures(answers), draws=1)
    answers.found[board.measured[1]].columns["marks"][:, 0] = 1.0
    report = board.conclude(answers)
    header, rows = measures_table(report)
    lines = {row[0]: dict(zip(header, row)) for row in rows}
    assert [row[0] for row in rows] == ["leave-one-out", "gradient", RANDOM], "the best first"
    assert lines["gradient"]["comprehensiveness ↑"] == pytest.approx(0.15) and SIGN not in str(rows[0])
    assert lines["gradient"][SIGN].split(" and ") == ["comprehensiveness", "NAOPC comprehensiveness"]
    assert [lines[name]["forward passes ↓"] for name in lines] == [11.0, 3.0, 0.0]
    assert [row[0] for row in measures_table(report, "forward passes")[1]] == ["gradient", "leave-one-out", RANDOM]
    header, rows = values_table(report)
    found = {(row[0], row[1]): dict(zip(header, row)) for row in rows}
    own = report.cells["gradient", COMPREHENSIVENESS]
    one = found["comprehensiveness ↑", "gradient"]
    assert (one["value"], one["95 % from"], one["95 % to"]) == (own.interval.mean, own.interval.low, own.interval.high)
    assert one[SIGN] == SIGN and found["sufficiency ↓", "gradient"][SIGN] is None and one["texts"] == N


def test_what_is_not_shown_to_do_better_than_chance_is_hollow_and_on_no_line():
    """Over texts by the pairs with random order, whose area is 0; of one text by its verdicts, where all are known."""
    board, report = reported({"leave-one-out": UP, "gradient": -UP, "attention": UP + 0.1})
    looks = [point["marker"]["symbol"] for point in points_of(draw_front([report]))]
    assert [report.not_better(name) for name in board.measures] == [False, True, False]
    assert looks == ["circle", "circle-open", "circle"]
    assert draw_front([report])["data"][0]["x"] == [1.0], "attention is the cheapest and has the best mean"
    one = replace(report, better=frozenset({"leave-one-out"}))
    assert draw_front([one])["data"][0]["x"] == [11.0]
    assert ": leave-one-out; on the line: leave" in front_numbers(one)
    assert not replace(report, n=1).not_better("gradient")


# ---- rows of a model


def test_its_numbers_are_the_librarys(explainer, answers):
    """What other pages say of the same text."""
    lines = {(one["example"], one["measure"]): one for one in SMALL.records(answers)}
    encoded = explainer.encode(TEXTS[1].text, None, "word")
    target, found = int(explainer.logits(encoded).argmax()), lines["e1", "attention"]
    own = score(explainer, encoded, "attention", target)
    assert found["comprehensiveness ↑"] == pytest.approx(own.aopc["comprehensiveness"], abs=1e-6)
    assert found["sufficiency ↓"] == pytest.approx(own.aopc["sufficiency"], abs=1e-6)
    judge = Judge(explainer, encoded, How(draws=2))
    rated = judge.rate(*judge.attribution("attention")[:1], board_metrics()).found
    for name in board_metrics():
        value = NAN if found[f"{name} ↑"] is None else found[f"{name} ↑"]
        assert value == pytest.approx(rated[name].value, abs=1e-6, nan_ok=True)
    assert sum(found[f"{name} ↑"] is not None for name in board_metrics()) == S
    steps = finish(follow(explainer, encoded, "attention", target, "signed", BY_RATIO))
    band = finish(random_band(explainer, encoded, BY_RATIO))
    path = summarise(steps, encoded.F, BY_RATIO, target, band, None)
    assert found["RACU ↑"] == pytest.approx(path.racu, abs=1e-6)
    assert found["RACU ↑"] == pytest.approx(racu(RATIOS, path.values, band.values(target).mean(axis=0)), abs=1e-6)
    limits = answers.found[SMALL.limits].columns
    at = [limits[end][1] for end in ("lower", "upper")]
    if encoded.F <= 10:
        assert found["NAOPC comprehensiveness ↑"] == pytest.approx(naopc(own.aopc["comprehensiveness"], *at), abs=1e-6)
    assert found["forward passes"] == passes_of("attention", encoded.F) and found["milliseconds"] > 0
    assert found[f"{COMPREHENSIVENESS} {_RESTS}"] is None and found["class"] in tiny.LABELS
    assert found["evidence found ↑"] == pytest.approx(1.0) or 0 < found["evidence found ↑"] < 1
    assert lines["e1", RANDOM]["RACU ↑"] == 0 and lines["e1", RANDOM]["forward passes"] == 0


def test_a_path_asks_for_nothing_that_is_known_or_decides_nothing(explainer, monkeypatch):
    """Ten steps of ten words: of the text the scores are known, and with one word left there is one order."""
    encoded, asked = explainer.encode(" ".join(["salt"] * 10), None, "word"), []
    target = int(explainer.logits(encoded).argmax())
    first, really = explainer.attribute(encoded, "gradient", target), explainer.attribute
    monkeypatch.setattr(explainer, "attribute", lambda *one, **more: asked.append(one) or really(*one, **more))
    walk = partial(follow, explainer, encoded, "gradient", target, "signed", BY_RATIO)
    whole, many = finish(walk()), len(asked)
    quick = finish(walk(together=True, first=first))
    assert (encoded.F, many, len(asked) - many) == (10, 10, 8)
    assert [one.mask.tolist() for one in quick] == [one.mask.tolist() for one in whole]
    assert np.array([one.logits for one in quick]) == pytest.approx(np.array([one.logits for one in whole]), abs=1e-5)


def test_a_measures_time_is_not_that_of_what_is_loaded_once(explainer, tmp_path):
    """Of one text the first computation pays for it, or finds what another measure had asked; of many the first text
    does, and does not move their median.
    """
    kept = Explainer(explainer.model, Store(tmp_path))
    encoded = kept.encode(TEXTS[0].text, None, "word")
    first = kept.attribute(encoded, "gradient", 0)
    for milliseconds in (1e9, 0.0):
        assert 0 < milliseconds_of(kept, encoded, replace(first, milliseconds=milliseconds)) < 1e6
    assert milliseconds_of(explainer, encoded, replace(first, milliseconds=7.0)) == 7.0
    answers = made({"leave-one-out": UP})
    board = Scoreboard(("leave-one-out",), draws=1)
    answers.found[board.measured[0]].columns["took"][0, 1] = 1e9
    assert board.conclude(answers).milliseconds == {"leave-one-out": 2.0}


def test_random_order_is_that_of_the_page_hard_and_soft_erasure(explainer, answers):
    """The same 30 attributions, and of soft metrics the r-th draw of the r-th, as one by one they are judged."""
    encoded, hard, soft = explainer.encode(TEXTS[1].text, None, "word"), ("NS", "NC"), ("Soft-NS", "Soft-NC")
    (line,) = [one for one in SMALL.records(answers) if (one["example"], one["measure"]) == ("e1", RANDOM)]
    page = finish(judge_random(explainer, encoded, hard, How(), BASELINES))
    for name in hard:
        assert line[f"{name} ↑"] == pytest.approx(page[name].values.mean(), abs=1e-6)
    judge = Judge(explainer, encoded, How(draws=BASELINES))
    for name in soft:
        each = []
        for r in range(BASELINES):
            case = judge.case(judge.random(r))
            one = replace(case, perturbed=lambda keep, kind, case=case, r=r: case.perturbed(keep, kind)[r : r + 1])
            each.append(metrics()[name](one).value)
        assert line[f"{name} ↑"] == pytest.approx(np.mean(each), abs=1e-6) and np.ptp(each) > 0.01


def test_of_a_sample_fewer_random_orders_are_taken_of_each_text(explainer):
    board = replace(SMALL, orders=3)
    assert board.chance.key(explainer) != SMALL.chance.key(explainer)
    found = ask(explainer, without_labels("toy", "0" * 64, TEXTS[:1]), replace(board, measures=("gradient",)), None)
    assert found.found[board.chance].columns["orders"].shape == (1, 3)
    assert Scoreboard().orders == FEWER < ORDERS


def test_it_goes_on_where_it_was_killed_and_adds_a_measure_alone(explainer, tmp_path, answers):
    store, study = Store(tmp_path), SMALL.measured[0]
    work = run_study(explainer, SAMPLE, study, store)
    assert next(work).done == 1
    work.close()
    asked, really = [], Run.add
    try:
        Run.add = lambda run, i, cancelled: asked.append((run.study.label, i)) or really(run, i, cancelled)
        again = ask(explainer, SAMPLE, SMALL, store)
        assert [i for label, i in asked if label == "gradient"] == [1, 2]
        asked.clear()
        ask(explainer, SAMPLE, replace(SMALL, measures=("gradient", "leave-one-out")), store)
    finally:
        Run.add = really
    assert set(asked) == {("leave-one-out", i) for i in range(3)}
    for figure in figures():
        one, other = (SMALL.conclude(each).values[figure] for each in (again, answers))
        assert one == pytest.approx(other, abs=1e-6, nan_ok=True)


def test_what_does_not_apply_says_so_and_the_others_stay(tiny_model, monkeypatch):
    broken = replace(REGISTERED["gradient"], compute=lambda explained: {"L2": np.full(explained.F, NAN)})
    monkeypatch.setitem(REGISTERED, "gradient", broken)
    board = Scoreboard(("leave-one-out", "DecompX", "gradient"), draws=1)
    model = Explainer(tiny_model("gpt2"))
    found = ask(model, without_labels("toy", "0" * 64, TEXTS[:1]), board, None)
    report = board.conclude(found)
    why = {row[0]: row for row in problems_table(report)[1]}
    assert why["DecompX"][2] == why["gradient"][2] == 1 and "model of type" in why["DecompX"][3]
    assert report.cells["leave-one-out", COMPREHENSIVENESS].n == 1
    assert report.cells["DecompX", COMPREHENSIVENESS].n == report.cells["gradient", RACU].n == 0


@pytest.mark.parametrize("words", [1, 2, 4])
def test_texts_of_few_words(tiny_model, words):
    text = " ".join(["salt", "the", "water", "well"][:words])
    board = Scoreboard(("leave-one-out",), draws=1)
    found = ask(Explainer(tiny_model("bert")), without_labels("toy", "0" * 64, [Example("e", text)]), board, None)
    lower, upper = (found.found[board.limits].columns[end][0] for end in ("lower", "upper"))
    (own, random) = board.records(found)
    assert lower - 1e-6 <= own["comprehensiveness ↑"] <= upper + 1e-6
    assert (own["NAOPC comprehensiveness ↑"] is None) == (words == 1) and random["measure"] == RANDOM


def test_the_command_writes_parquet_csv_and_latex(tiny_model, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.jsonl").write_bytes(lines(*({"id": one.id, "text": one.text} for one in TEXTS[:2])))
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("core.loading.loading.load", lambda *_: tiny_model("bert"))
    command = ["evaluate", "--model", "tiny", "--data", str(tmp_path / "mine.jsonl"), "--what", "scoreboard"]
    command += ["--measures", "gradient", "--draws", "1", "--by", "NS", "--out"]
    for ending in ("parquet", "csv", "tex"):
        assert main([*command, str(tmp_path / f"out.{ending}")]) == 0
    few = scoreboard_result(replace(reported({"gradient": UP[:2]})[1], board=Scoreboard(("gradient",), by="NS")))
    assert few.outcome == ScoreboardOutcome.FEW_TEXTS and headline(few) in capsys.readouterr().out
    found = parquet.read_table(tmp_path / "out.parquet")
    about = json.loads(parquet.read_schema(tmp_path / "out.parquet").metadata[b"faithscope"])
    assert found.num_rows == 4 and about["by"] == "NS"
    assert {"example", "measure", "forward passes", "Soft-NS ↑", f"NS {_RESTS}"} <= {*found.column_names}
    text = (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(text) == 5 and text[0].split(",")[: found.num_columns] == found.column_names
    assert set(found.column("outcome").to_pylist()) == {few.name} and "FEW_TEXTS" in found.column("caveats")[0].as_py()
    written = (tmp_path / "out.tex").read_text(encoding="utf-8")
    assert r"comprehensiveness $\uparrow$" in written and written.startswith(f"% {headline(few)}")


def test_notes_that_are_alike_are_one_line():
    """Two measures lack the same two figures, and one of them a third for another reason."""
    _, report = reported({"leave-one-out": UP, "gradient": UP})
    none = {"Soft-NS": "Nothing to erase.", "Soft-NC": "Nothing to erase."}
    why = {"leave-one-out": {json.dumps(none): 24}, "gradient": {json.dumps(none | {"NS": "No place."}): 24}}
    both = " and ".join(why)
    assert problems_table(replace(report, problems=why, left_out={"It is empty.": 2}))[1] == [
        [both, "Soft-NS", 24, "Nothing to erase."],
        [both, "Soft-NC", 24, "Nothing to erase."],
        ["gradient", "NS", 24, "No place."],
        [both, None, 2, "It is empty."],
    ]


def test_figures_without_room_are_counted_each_by_itself():
    """On ten texts soft ones alone, on two both: by figure 12 and 2."""
    _, report = reported({"leave-one-out": UP, "gradient": UP})
    soft = {"Soft-NS": NO_ROOM}
    why = {json.dumps(soft): 10, json.dumps(soft | {"NS": NO_ROOM}): 2}
    rows = problems_table(replace(report, problems=dict.fromkeys(("leave-one-out", "gradient"), why)))[1]
    both = "leave-one-out and gradient"
    assert rows == [[both, "Soft-NS", 12, NO_ROOM], [both, "NS", 2, NO_ROOM]]


def test_an_interval_is_drawn_to_both_ends_of_its_mean():
    bar = error_bar(Interval(0.5, 0.25, 1.0), "#123456", thickness=2)
    assert bar["array"] == [0.5] and bar["arrayminus"] == [0.25] and not bar["symmetric"]
    assert (bar["color"], bar["thickness"]) == ("#123456", 2)
    line = upright(0.5, "#123456", 1, "dot", yref="y2 domain")
    assert line["x0"] == line["x1"] == 0.5 and line["yref"] == "y2 domain" and line["line"]["dash"] == "dot"
    assert "dash" not in upright(0.5, "#123456", 1)["line"]


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.55, 0.8]), st.floats(0.1, 0.9)), min_size=1, max_size=6))
def test_names_in_the_picture_lie_on_no_other_name_where_points_leave_room(points):
    """Points of one cost at least two lines apart, and any of others: every name finds a place, also on a phone."""
    apart = 2.3 * 15 / HEIGHT
    kept = []
    for x, y in points:
        if all(abs(y - other) > apart for _, other in kept):
            kept.append((x, y))
    names = ["gradient", "attention", "input × gradient", "integrated gradients", "scaled attention", "LIME"][
        : len(kept)
    ]
    places = label_places(kept, names)
    for width in WIDTHS:
        boxes = [label_box(*one, width) for one in zip(kept, names, places)]
        for (left, bottom, right, top), (l2, b2, r2, t2) in itertools.combinations(boxes, 2):
            assert min(right, r2) <= max(left, l2) or min(top, t2) <= max(bottom, b2)


def test_names_keep_off_the_line_through_the_best():
    """Two points of a steep line whose names would lie on it above and below."""
    _, report = reported({"gradient": UP, "leave-one-out": UP + 0.1})
    drawn = draw_front([report])
    line, points = drawn["data"][0], points_of(drawn)
    (x0, x1), (y0, y1) = drawn["layout"]["xaxis"]["range"], drawn["layout"]["yaxis"]["range"]
    at = [((np.log10(x) - x0) / (x1 - x0), (y - y0) / (y1 - y0)) for x, y in zip(line["x"], line["y"])]
    assert len(at) == 2
    dots = [(at[0][0] + t * (at[1][0] - at[0][0]), at[0][1] + t * (at[1][1] - at[0][1])) for t in np.linspace(0, 1, 99)]
    for point in points:
        own = (np.log10(point["x"][0]) - x0) / (x1 - x0), (point["y"][0] - y0) / (y1 - y0)
        for width in WIDTHS:
            left, bottom, right, top = label_box(own, point["text"][0], point["textposition"], width)
            on = [left < x * width < right and bottom < y * HEIGHT < top for x, y in dots]
            assert not any(on), point["text"]


@pytest.mark.parametrize("half", [0.066, 0.068, 0.07, 0.076, 0.08])
def test_no_interval_strikes_a_name_through_that_could_begin_at_it(half):
    """Six measures as over ordinary reviews: above its point a name would have the bar in its middle, and beside it the
    way of the line, or on a phone the edge or another name.
    """
    names = ["leave-one-out", "gradient", "input × gradient", "integrated gradients", "attention", "scaled attention"]
    at = [(0.67, 0.765), (0.306, 0.397), (0.306, 0.273), (0.853, 0.833), (0.105, 0.421), (0.306, 0.778)]
    bars = [(x - 0.008, y - half, x + 0.008, y + half) for x, y in at]
    ways = [(at[4], at[5]), (at[5], at[3])]
    dots = [(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])) for a, b in ways for t in np.linspace(0, 1, 24)]
    line = [(x - 0.008, y - 0.008, x + 0.008, y + 0.008) for x, y in dots]
    for place, point, name in zip(label_places(at, names, bars + line), at, names):
        left, bottom, right, top = label_box(point, name, place, WIDTHS[0])
        x, (_, low, _, high) = point[0] * WIDTHS[0], bars[names.index(name)]
        assert not (left + 3 < x < right - 3 and bottom < high * HEIGHT and low * HEIGHT < top), (name, place)


def test_three_names_of_points_at_one_place_stand_around_it():
    """As attention, gradient and input × gradient do, which cost alike: above, below, and beside."""
    names = ["attention", "gradient", "input × gradient"]
    at = [(0.3, 0.52), (0.3, 0.5), (0.3, 0.48)]
    boxes = [label_box(*one, WIDTHS[0]) for one in zip(at, names, label_places(at, names))]
    for (left, bottom, right, top), (l2, b2, r2, t2) in itertools.combinations(boxes, 2):
        assert min(right, r2) <= max(left, l2) or min(top, t2) <= max(bottom, b2)


MEASURED = ["leave-one-out", "integrated gradients ⚠", "input × gradient", "attention", "scaled attention", "gradient"]


@given(st.lists(st.tuples(st.floats(0.05, 0.9), st.floats(0.1, 0.9)), min_size=1, max_size=6), st.floats(0.05, 0.9))
def test_names_that_find_no_place_are_left_out(points, height):
    """Wherever points lie: no name is on another, on that of the line, or cut, on a wide screen or on a phone."""
    names = MEASURED[: len(points)]
    places = label_places(points, names, level=(height, RANDOM))
    for width in WIDTHS:
        shown = [label_box(at, name, place, width) for at, name, place in zip(points, names, places) if place]
        assert all(box[0] >= -2 and box[2] <= width + 2 for box in shown)
        for (left, bottom, right, top), (l2, b2, r2, t2) in itertools.combinations(
            [*shown, level_box(height, RANDOM)], 2
        ):
            assert max(0, min(right, r2) - max(left, l2)) * max(0, min(top, t2) - max(bottom, b2)) <= 20
    if len(points) == 1 and all(0.2 < share < 0.8 for share in (*points[0], height)):
        assert places[0]


def test_equal_scores_at_one_cost_leave_names_out_and_every_point_in():
    _, report = reported(dict.fromkeys(("gradient", "input × gradient", "attention", "scaled attention"), UP))
    points = points_of(draw_front([report]))
    texts = [one["text"][0] for one in points]
    assert len(points) == 4 and "" in texts and any(texts) and all(one["hovertemplate"] for one in points)
