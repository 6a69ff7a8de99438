"""Standings between limits: comparisons of two models worked out by hand, and random orders taken out of their
masks.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.limiting import Found, OrderScore, Walk, find_exact, score
from core.explanation.recursive import BY_FEATURE, random_band
from core.explanation.standings import (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    Chance,
    StandingGates,
    StandingTable,
    build_standings,
    compare_standings,
    random_walks,
)
from core.mathematics.aopc import aopc, naopc, prefix_masks
from core.mathematics.search.limits import BEAM, EXACT, Limits
from core.mathematics.stepwise import finish
from core.validity.marks import Gate, with_sign
from core.validity.references import find_reference
from pages.parts.limits import setting_beside, standing
from pages.parts.limits.answering import what_scores_are
from pages.parts.sections.sides import classes_sentence
from tests import tiny

OPEN_GATE = Gate(None, np.zeros(2, dtype=bool), None, "Holm", 0.01, 2, 0)


def made(lower: float, upper: float, marked: bool = False, method: str = EXACT, **scores: float) -> StandingTable:
    """A board whose measures have these AOPC in both directions."""
    limits = Limits(lower, upper, np.array([0]), np.array([0]), method, None if method == EXACT else 5, 2)
    walk = Walk(np.array([0]), np.array([1.0, 0.0]), {})
    standings = tuple(
        SimpleNamespace(
            measure=name,
            aopc=dict.fromkeys((COMPREHENSIVENESS, SUFFICIENCY), value),
            marked=lambda *_: marked,
            naopc=dict.fromkeys((COMPREHENSIVENESS, SUFFICIENCY), naopc(value, lower, upper)),
        )
        for name, value in scores.items()
    )
    return StandingTable(limits, walk, walk, (OPEN_GATE, OPEN_GATE), "float32", standings, None)


class Shown:
    """Limits of one model as the page asks for them, by the direction alone."""

    def __init__(self, direction: str):
        self.choice = SimpleNamespace(direction=direction)


def test_a_model_may_be_ahead_before_and_behind_after():
    # 0.4 of at most 0.8 is half of what A allows, 0.3 of at most 0.4 is three quarters of what B allows.
    boards = {"A": made(0, 0.8, a=0.4), "B": made(0, 0.4, a=0.3)}
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert [(one.place, one.place_normalised) for one in found.placed] == [(1, 2), (2, 1)] and found.tau == -1
    assert found.ahead == {"a": ("A", "B")} and found.changed == ("a",)
    said = f"{setting_beside.comparison_line(found, True)} {setting_beside.ranges_line(boards)}"
    assert (
        "Normalising changes which model is ahead</b> for 1 of 1 measure (a: A is ahead by AOPC, B is ahead by NAOPC)"
        in said
        and "do not compare" in said
    )
    # Lower is better: B, with less, is ahead by AOPC, and A by NAOPC.
    assert compare_standings(boards, SUFFICIENCY).ahead == {"a": ("B", "A")}


@pytest.mark.parametrize(
    "first, second, ahead, said",
    [
        # .009 apart is level, as it is between measures; of halves of a range it is .018 apart.
        (0.4, 0.391, (None, "A"), "changes whether a model is ahead</b> for 1 of 1 measure (a: both are level"),
        (0.4, 0.399, (None, None), "does not change which model is ahead</b> for any of 1 measure: both are level"),
        (0.4, 0.39, ("A", "A"), "does not change which model is ahead</b> for any of 1 measure: A is ahead"),
    ],
)
def test_models_less_than_a_hundredth_apart_are_level(first, second, ahead, said):
    found = compare_standings({"A": made(0, 0.5, a=first), "B": made(0, 0.5, a=second)}, COMPREHENSIVENESS)
    assert found.ahead == {"a": ahead} and said in setting_beside.comparison_line(found, True)


def test_places_may_change_though_no_other_model_is_ahead():
    boards = {"M": made(0, 0.8, a=0.64, b=0.40), "N": made(0, 0.5, a=0.36, b=0.24)}
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert [(one.place, one.place_normalised) for one in found.placed] == [
        (1, 1),
        (2, 3),
        (3, 2),
        (4, 4),
    ] and found.tau == pytest.approx(2 / 3)
    assert "ahead is told once" in (early := setting_beside.comparison_line(found, False)) and "<b>Norm" not in early
    said = f"{setting_beside.comparison_line(found, True)} {setting_beside.ranges_line(boards)}"
    assert (
        "does not change which model is ahead</b> for any of 2 measures: M is ahead both ways, though 2 places "
        "in the common ranking change" in said
    )


def test_naopc_of_random_orders_rests_on_what_attains_the_limits_and_their_aopc_on_their_own_inputs():
    shut = replace(OPEN_GATE, rejected=np.array([False, True]), first=1)
    chance = Chance(np.array([0.1, 0.3]), 0.2, 0.1, 0.3, 0.25, OPEN_GATE, "2 random orders", 2)
    plain = replace(made(0, 0.8, a=0.4), chance=chance)
    for limits, own, marks in (
        (OPEN_GATE, OPEN_GATE, (False, False)),
        (shut, OPEN_GATE, (False, True)),
        (OPEN_GATE, shut, (True, True)),
    ):
        board = replace(plain, gates=(OPEN_GATE, limits), chance=replace(chance, gate=own))
        assert (board.chance_marked(), board.chance_marked(True)) == marks
        drawn = standing.chance_range(board)
        assert (drawn.marked, drawn.normal) == (marks[0], with_sign("0.25", marks[1]))
        cells = standing.table_rows(replace(board, standings=()), str, {})[0]
        assert cells[0] == drawn.orders == "2 random orders" and "tested" not in cells[-1]
        assert cells[1:3] == [with_sign("0.2 (0.1 to 0.3)", marks[0]), with_sign("0.25", marks[1])]
    assert not made(0, 1).chance_marked(), "there are none"


def test_the_steps_say_which_orders_the_limits_are_which_inputs_are_tested_and_which_random_orders_are_drawn():
    gating = SimpleNamespace(counts=np.arange(34), encoded=SimpleNamespace(unit="word"))
    exact, found = made(0, 1, a=0.5), made(0, 1, method=BEAM, a=0.5)
    for boards, ends in (([exact], "that there are"), ([exact, found], "that were scored")):
        said = standing.curves_caption(boards, gating)
        assert f"the best and the worst of all orders {ends}." in said and "tested" not in said
        assert f"between the least, 0, and the most, 1, of all orders {ends}." in what_scores_are(boards)
    eleven = replace(OPEN_GATE, tested=np.isin(np.arange(34), np.arange(11)), steps=11)
    said = standing.curves_caption([replace(exact, gates=(eleven, eleven))], gating)
    assert "Of the 34 inputs of each line 11 are tested: those at 0, 10 … 100 %" in said
    chance = Chance(np.zeros(99), 0.2, 0.1, 0.3, 0.25, OPEN_GATE, "99 random orders of the chance test", 30)
    drawn = replace(exact, chance=chance, standings=())
    assert "here that of the 30 orders whose inputs are tested" in standing.curves_caption([drawn], gating)
    assert standing.table_rows(drawn, str, {})[0][0::5] == [chance.name, "not rejected (30 tested)"]
    seen = standing.standings_in_words(drawn, COMPREHENSIVENESS)
    assert f"The mean of {chance.name} is 0.2, their middle 95 % 0.1 to 0.3." in seen


def test_two_models_are_told_of_by_the_same_measure():
    first, second = made(0, 0.8, a=0.6, b=0.4), made(0, 0.4, a=0.1, b=0.3)
    boards = {Shown(COMPREHENSIVENESS): first, Shown(COMPREHENSIVENESS): second}
    assert [setting_beside.same_measure(board, boards).measure for board in boards.values()] == ["a", "a"]
    # Where it is not scored yet under the second, the one that is.
    assert (
        setting_beside.same_measure(made(0, 0.4, b=0.3), boards).measure == "b"
        and setting_beside.same_measure(made(0, 1), boards) is None
    )


def test_of_two_models_both_scores_of_one_measure_are_told_with_what_the_best_order_reaches(monkeypatch):
    """AOPC by hand: 0.6 of limits 0 and 0.8 is 0.75 of the way, 0.5 of 0.1 and 0.6 is 0.8 of it."""

    def side(name, direction=COMPREHENSIVENESS, runs=False, explained=0):
        model = SimpleNamespace(name=name, labels=("a&b", "c"))
        shown = Shown(direction)
        shown.runs, shown.side = runs, SimpleNamespace(model=model, score_name="probability of a&b", predicted=0)
        shown.side.explained, shown.side.class_name, shown.side.than = explained, model.labels[explained], None
        return shown

    monkeypatch.setattr(setting_beside, "same_class", lambda sides: len({one.explained for one in sides}) == 1)
    first, second = made(0, 0.8, a=0.6, b=0.4), made(0.1, 0.6, True, BEAM, a=0.5, b=0.55)
    said = setting_beside.scores_of_both({side("m<"): first, side("n"): second})
    assert said == (
        "Under <b>n</b> that is 0.8 ⚠; there b comes closest (0.9 ⚠). Masking in <b>a</b>’s order lowers the probability of a&amp;b on average by 0.6 under "
        "<b>m&lt;</b> (the best order: 0.8) and 0.5 ⚠ under <b>n</b> (the best order that was found: 0.6): the AOPC ↑."
    )
    # Where lower is better the best order is that of the least.
    said = setting_beside.scores_of_both({side("m", SUFFICIENCY): first, side("n", SUFFICIENCY): second})
    assert "under <b>m</b> (the best order: 0)" in said and ": 0.1): the AOPC ↓." in said
    assert "Under <b>n</b> that is 0.9 ⚠; there a comes closest (0.8 ⚠). " in said, (
        "of the measure that comes closest under the first"
    )
    for boards in (
        {side("m"): first},
        {side("m"): first, side("n", runs=True): second},
        {side("m"): first, side("n", explained=1): second},
        {side("m"): first, side("n"): made(0, 0.8, b=0.4)},
        {side("m"): first, side("n"): made(0.5, 0.5, a=0.5)},
        {side("m"): made(0, 1), side("n"): second},
        {},
    ):
        assert setting_beside.scores_of_both(boards) == ""


def test_equal_ranges_equal_scores_and_marks_are_said():
    boards = {"M": made(0.1, 0.8, a=0.5), "N": made(0.1, 0.8, True, BEAM, a=0.5)}
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert found.ahead == {"a": (None, None)} and [one.place for one in found.placed] == [1, 1]
    said = f"{setting_beside.comparison_line(found, True)} {setting_beside.ranges_line(boards)} {setting_beside.numbers_line(found)}"
    assert "alone" not in setting_beside.comparison_line(found, True) and "cannot be told" in said
    assert "cannot be told here</b>: ⚠ scores of <b>N</b> rest on inputs that are rejected" in said
    assert (
        "do not compare" not in said
        and "both are level (less than 0.01 apart) both ways" in said
        and "⚠" in said
        and "(exact)" in said
        and "(beam 5)" in said
    )


def test_there_is_nothing_to_compare_with_one_model_or_where_limits_coincide():
    one, flat = made(0, 0.8, a=0.4), made(0.2, 0.2, a=0.2)
    assert (
        compare_standings({"A": one}, COMPREHENSIVENESS) is None
        and compare_standings({"A": one, "B": flat}, COMPREHENSIVENESS) is None
    )
    assert compare_standings({"A": one, "B": made(0, 1)}, COMPREHENSIVENESS) is None
    sides = [SimpleNamespace(class_name=name, model=SimpleNamespace(name="<b>")) for name in ("up", "down")]
    said = classes_sentence(sides)
    assert "different classes" in said and "not compared" in said and "<b>" not in said
    assert classes_sentence(sides[:1]) == ""


@pytest.mark.parametrize("text", ["It rained again.", "It [MASK] again ."])
def test_random_orders_are_read_out_of_their_masks(tiny_model, text):
    explainer = Explainer(tiny_model("bert"))
    encoded = explainer.encode(text, None, "word")
    band = finish(random_band(explainer, encoded, BY_FEATURE, orders=7))
    walks = random_walks(encoded, band, 1)
    assert len(walks) == 7 and len({tuple(walk.order) for walk in walks}) > 1
    for walk in walks:
        assert sorted(walk.order.tolist()) == np.flatnonzero(~encoded.premasked).tolist()
        logits = (
            explainer.oracles.of(encoded).logits(prefix_masks(walk.order, encoded.F, encoded.premasked)).astype(float)
        )
        v = np.exp(logits[:, 1]) / np.exp(logits).sum(axis=1)
        assert walk.values == pytest.approx(v, abs=1e-6) and walk.aopc == pytest.approx(aopc(v), abs=1e-6)


def test_every_order_that_was_scored_widens_beam_limits_and_exact_ones_stay(tiny_model):
    explainer = Explainer(tiny_model("bert"))
    encoded = explainer.encode(tiny.SENTENCES[3], None, "word")
    band, gating = finish(random_band(explainer, encoded, BY_FEATURE)), StandingGates(encoded, None)
    one = score(explainer, encoded, "gradient", 1)
    exact = finish(find_exact(explainer, encoded, 1))
    # A beam that found only the measure's own orders, of which one is now taken away.
    middle = Walk(one.comprehensive.order, one.comprehensive.values, {})
    narrow = Found(Limits(middle.aopc, middle.aopc, middle.order, middle.order, BEAM, 1, 2), middle, middle, "float32")
    found = build_standings(narrow, [one], band, 1, gating)
    reached = [walk.aopc for walk in random_walks(encoded, band, 1)] + [one.comprehensiveness, one.sufficiency]
    assert (found.limits.lower, found.limits.upper) == (min(reached), max(reached)) and found.limits.method == BEAM
    assert found.lowest.aopc == found.limits.lower and found.highest.aopc == found.limits.upper
    assert (
        found.chance.mean == pytest.approx(np.mean(reached[:-2]))
        and found.chance.low <= found.chance.mean <= found.chance.high
    )
    kept = build_standings(exact, [one], band, 1, gating)
    assert kept.lowest is exact.lowest and kept.highest is exact.highest
    assert kept.limits.upper == pytest.approx(exact.limits.upper, abs=1e-9)


def test_naopc_is_marked_where_an_order_that_attains_a_limit_is_rejected(bundled):
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode("A slow film , kind .", None, "word")
    one, exact = score(explainer, encoded, "gradient", 1), finish(find_exact(explainer, encoded, 1))
    clean = {form: np.full(encoded.F + 1, 0.5) for form in one.comprehensive.p}
    spoilt = {form: np.where(np.arange(encoded.F + 1) == 2, 0.001, 0.5) for form in clean}
    fine = OrderScore(
        "gradient",
        Walk(one.comprehensive.order, one.comprehensive.values, clean),
        Walk(one.sufficient.order, one.sufficient.values, clean),
    )
    found = Found(
        exact.limits,
        Walk(exact.lowest.order, exact.lowest.values, clean),
        Walk(exact.highest.order, exact.highest.values, spoilt),
        "float32",
    )
    (made_of,) = build_standings(found, [fine], None, 1, StandingGates(encoded, explainer.reference)).standings
    assert (
        not made_of.marked(COMPREHENSIVENESS)
        and made_of.marked(COMPREHENSIVENESS, True)
        and made_of.marked(SUFFICIENCY, True)
    )
    (clear,) = build_standings(
        Found(exact.limits, found.lowest, Walk(exact.highest.order, exact.highest.values, clean), "float32"),
        [fine],
        None,
        1,
        StandingGates(encoded, explainer.reference),
    ).standings
    assert not clear.marked(COMPREHENSIVENESS, True)
