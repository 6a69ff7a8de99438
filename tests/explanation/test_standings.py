"""Standings between limits: comparisons of two models worked out by hand, and random orders taken out of their
masks.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.limiting import DIRECTIONS, Found, OrderScore, Walk, find_exact, score
from core.explanation.recursive import BY_FEATURE, random_band
from core.explanation.standings import (
    COMPREHENSIVENESS,
    SUFFICIENCY,
    Chance,
    Standing,
    StandingGates,
    StandingTable,
    build_standings,
    compare_standings,
    random_walks,
)
from core.figures.limit_figures import slope
from core.mathematics.aopc import aopc, naopc, prefix_masks
from core.mathematics.search.limits import BEAM, EXACT, Limits
from core.mathematics.stepwise import finish
from core.validity.marks import Gate, with_sign
from core.validity.references import find_reference
from pages.parts.limits import standing
from tests import tiny

OPEN_GATE = Gate(None, np.zeros(2, dtype=bool), None, "Holm", 0.01, 2)


def made(lower: float, upper: float, marked: bool = False, method: str = EXACT, **scores: float) -> StandingTable:
    """A board whose measures have these AOPC in both directions."""
    limits = Limits(lower, upper, np.array([0]), np.array([0]), method, None if method == EXACT else 5, 2)
    walk = Walk(np.array([0]), np.array([1.0, 0.0]), {})
    standings = tuple(
        Standing(
            name,
            dict.fromkeys(DIRECTIONS, walk),
            dict.fromkeys(DIRECTIONS, value),
            dict.fromkeys(DIRECTIONS, naopc(value, lower, upper)),
            dict.fromkeys(DIRECTIONS, OPEN_GATE),
            marked,
        )
        for name, value in scores.items()
    )
    return StandingTable(limits, walk, walk, (OPEN_GATE, OPEN_GATE), "float32", standings, None)


def known_of(direction: str = COMPREHENSIVENESS, name: str = "M", steps: int = 2, explained: str = "up"):
    """What the page knows of one model besides its board."""
    model = SimpleNamespace(name=name)
    side = SimpleNamespace(model=model, class_name=explained, unstable=lambda names, sign: {})
    choice = SimpleNamespace(direction=direction, measures=(), sign="signed")
    gating = SimpleNamespace(counts=np.arange(steps), encoded=SimpleNamespace(unit="word"))
    return SimpleNamespace(choice=choice, side=side, gating=gating, scored=[])


class Shown(SimpleNamespace):
    """The same as a key of boards."""

    __hash__ = object.__hash__


def test_a_model_may_be_ahead_before_and_behind_after():
    # 0.4 of at most 0.8 is half of what A allows, 0.3 of at most 0.4 is three quarters of what B allows.
    boards = {"A": made(0, 0.8, a=0.4), "B": made(0, 0.4, a=0.3)}
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert [(one.place, one.place_normalised) for one in found.placed] == [(1, 2), (2, 1)] and found.tau == -1
    assert found.ahead == {"a": ("A", "B")} and found.changed == ("a",)
    header, (row,) = standing.compared_table(found)
    assert dict(zip(header, row)) == {
        "measure": "a",
        "AOPC ↑ A": 0.4,
        "AOPC ↑ B": 0.3,
        "ahead by AOPC": "A",
        "NAOPC ↑ A": pytest.approx(0.5),
        "NAOPC ↑ B": pytest.approx(0.75),
        "ahead by NAOPC": "B",
        "⚠": None,
    }
    # Lower is better: B, with less, is ahead by AOPC, and A by NAOPC.
    assert compare_standings(boards, SUFFICIENCY).ahead == {"a": ("B", "A")}


@pytest.mark.parametrize(
    ("first", "second", "ahead"),
    [
        # .009 apart is tied, as it is between measures; of halves of a range it is .018 apart.
        (0.4, 0.391, (None, "A")),
        (0.4, 0.399, (None, None)),
        (0.4, 0.39, ("A", "A")),
    ],
)
def test_models_less_than_a_hundredth_apart_are_tied(first, second, ahead):
    found = compare_standings({"A": made(0, 0.5, a=first), "B": made(0, 0.5, a=second)}, COMPREHENSIVENESS)
    assert found.ahead == {"a": ahead} and found.changed == (("a",) if ahead[0] != ahead[1] else ())
    _, (row,) = standing.compared_table(found)
    assert [row[3], row[6]] == [one or standing.LEVEL for one in ahead]


def test_places_may_change_though_no_other_model_is_ahead():
    boards = {"M": made(0, 0.8, a=0.64, b=0.40), "N": made(0, 0.5, a=0.36, b=0.24)}
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert [(one.place, one.place_normalised) for one in found.placed] == [
        (1, 1),
        (2, 3),
        (3, 2),
        (4, 4),
    ] and found.tau == pytest.approx(2 / 3)
    assert found.changed == () and set(found.ahead.values()) == {("M", "M")}
    lines = slope(found)["data"]
    assert [line["y"] for line in lines] == [[1, 1], [2, 3], [3, 2], [4, 4]]
    assert [line["line"]["dash"] == "dash" for line in lines] == [one.model == "N" for one in found.placed]


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
        (cells,) = standing.table_rows(known_of(), replace(board, standings=()))
        row = dict(zip(standing.TABLE, cells, strict=True))
        assert row["measure"] == drawn.orders == "2 random orders" and row["middle 95 %"] == "[0.1, 0.3]"
        assert row["comprehensiveness ↑"] == row["sufficiency ↓"] == 0.2 and row["NAOPC ↑"] == row["NAOPC ↓"] == 0.25
        wanted = [name for name, holds in zip(("AOPC", "NAOPC"), marks) if holds]
        assert (row["⚠"] or "").split(", ") == (wanted or [""])
    assert not made(0, 1).chance_marked(), "there are none"


def test_a_row_of_random_orders_says_how_many_inputs_are_tested():
    chance = Chance(np.zeros(99), 0.2, 0.1, 0.3, 0.25, OPEN_GATE, "99 random orders of the chance test", 30)
    drawn = replace(made(0, 1, a=0.5), chance=chance, standings=())
    (cells,) = standing.table_rows(known_of(steps=34), drawn)
    row = dict(zip(standing.TABLE, cells, strict=True))
    assert row["measure"] == chance.name and row["validity"] == "not rejected (30 tested)"
    assert f"{chance.name} 0.2" in standing.standings_in_words(drawn, COMPREHENSIVENESS)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_best_order_is_that_which_the_direction_wants(direction):
    board = made(0, 1, a=0.5)
    high, low = (Walk(np.array([0]), np.array([1.0, end]), {}) for end in (0.0, 1.0))
    board = replace(board, highest=high, lowest=low)
    best, worst = standing.ends_of_board(board, direction)
    assert (best, worst) == ((high, low) if direction == COMPREHENSIVENESS else (low, high))


def test_raw_scores_have_no_naopc_before_there_are_limits():
    gating = SimpleNamespace(gate=lambda walk: OPEN_GATE, counts=np.arange(2), encoded=SimpleNamespace(unit="word"))
    walk = Walk(np.array([0]), np.array([1.0, 0.4]), {})
    known = known_of()
    known.gating, known.scored = (
        gating,
        [SimpleNamespace(latest=OrderScore("a", dict.fromkeys(DIRECTIONS, walk))), SimpleNamespace(latest=None)],
    )
    (cells,) = standing.table_rows(known, None)
    row = dict(zip(standing.TABLE, cells, strict=True))
    assert (row["measure"], row["comprehensiveness ↑"], row["NAOPC ↑"]) == ("a", pytest.approx(0.6), None)


def test_equal_scores_share_a_place_and_marks_stay():
    boards = {"M": made(0.1, 0.8, a=0.5), "N": made(0.1, 0.8, True, BEAM, a=0.5)}
    found = compare_standings(boards, COMPREHENSIVENESS)
    assert found.ahead == {"a": (None, None)} and [one.place for one in found.placed] == [1, 1]
    assert [one.marked for one in found.placed] == [False, True]
    _, (row,) = standing.compared_table(found)
    assert row[-1] == "⚠" and row[3] == row[6] == standing.LEVEL
    assert [line["name"][-1] == "⚠" for line in slope(found)["data"]] == [False, True]


def test_models_that_explain_different_classes_are_not_compared():
    first, second = made(0, 0.8, a=0.6), made(0, 0.4, a=0.1)
    alike = {Shown(**vars(known_of(name=name))): board for name, board in (("M", first), ("N", second))}
    assert standing.compared(alike).ahead == {"a": ("M", "M")} and list(standing.by_model(alike)) == ["M", "N"]
    apart = {Shown(**vars(known_of(name=name, explained=name))): board for name, board in (("M", first), ("N", second))}
    assert standing.compared(apart) is None


def test_there_is_nothing_to_compare_with_one_model_or_where_limits_coincide():
    one, flat = made(0, 0.8, a=0.4), made(0.2, 0.2, a=0.2)
    assert (
        compare_standings({"A": one}, COMPREHENSIVENESS) is None
        and compare_standings({"A": one, "B": flat}, COMPREHENSIVENESS) is None
    )
    assert compare_standings({"A": one, "B": made(0, 1)}, COMPREHENSIVENESS) is None


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
    middle = replace(one.walks[COMPREHENSIVENESS], p={})
    narrow = Found(Limits(middle.aopc, middle.aopc, middle.order, middle.order, BEAM, 1, 2), middle, middle, "float32")
    found = build_standings(narrow, [one], band, 1, gating)
    reached = [walk.aopc for walk in random_walks(encoded, band, 1)] + [*one.aopc.values()]
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
    clean = {form: np.full(encoded.F + 1, 0.5) for form in one.walks[COMPREHENSIVENESS].p}
    spoilt = {form: np.where(np.arange(encoded.F + 1) == 2, 0.001, 0.5) for form in clean}
    fine = OrderScore("gradient", {way: replace(walk, p=clean) for way, walk in one.walks.items()})
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
