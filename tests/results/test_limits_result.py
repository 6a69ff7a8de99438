"""What the limits of a text come to: every outcome from a made-up board."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.standings import COMPREHENSIVENESS, SUFFICIENCY, Chance
from core.mathematics.search.limits import BEAM
from core.results.caveats import Caveat
from core.results.limits import LimitsOutcome, limits_result, way_to_best
from core.validity.marks import Why
from tests.explanation.test_standings import OPEN_GATE, made

ENCODED = SimpleNamespace(unit="word", premasked=np.zeros(3, dtype=bool))
REJECTED = replace(OPEN_GATE, rejected=np.array([False, True]), first=1)


def of(board, direction=COMPREHENSIVENESS, **more):
    return limits_result(board, direction, ENCODED, **more)


def facts(result):
    return {one.key: one.value for one in result.facts}


def test_the_closest_measure_is_named_with_its_share_of_the_way_in_either_direction():
    board = made(0.1, 0.6, gradient=0.5, attention=0.2)
    up, down = of(board), of(board, SUFFICIENCY)
    assert (up.outcome, up.slots["measure"], up.slots["way"]) == (LimitsOutcome.CLOSEST, "gradient", pytest.approx(0.8))
    # Lower is better there: 0.2 of the range is 0.8 of the way to the best.
    assert (down.outcome, down.slots["measure"], down.slots["way"]) == (
        LimitsOutcome.CLOSEST,
        "attention",
        pytest.approx(0.8),
    )
    for found, naopc, aopc, better in ((up, 0.8, 0.5, "↑"), (down, 0.2, 0.2, "↓")):
        assert facts(found) == {
            "naopc": pytest.approx(naopc),
            "aopc": aopc,
            "left": pytest.approx(0.1),
            "lower": 0.1,
            "upper": 0.6,
            "scores": 2,
        }
        assert found.fact("naopc").better == found.fact("aopc").better == better and not found.caveats
    assert way_to_best(0.25, COMPREHENSIVENESS) == 0.25 and way_to_best(0.25, SUFFICIENCY) == 0.75


@pytest.mark.parametrize("value", [0.0, 0.2, 0.49])
def test_below_half_of_the_way_the_closest_measure_is_nearer_to_the_worst_order(value):
    found = of(made(0, 1, gradient=value, attention=0.0))
    assert (found.outcome, found.slots["measure"]) == (LimitsOutcome.NEARER_WORST, "gradient")
    assert of(made(0, 1, gradient=0.5)).outcome == LimitsOutcome.CLOSEST


def test_scores_on_rejected_inputs_are_another_outcome_and_marked():
    board = made(0, 1, gradient=0.9)
    own = replace(
        board, standings=(replace(board.standings[0], gates=dict.fromkeys(board.standings[0].gates, REJECTED)),)
    )
    limit = replace(made(0, 1, True, gradient=0.9), gates=(OPEN_GATE, REJECTED))
    for made_of, aopc in ((own, True), (limit, False)):
        found = of(made_of)
        assert found.outcome == LimitsOutcome.OUT_OF_DISTRIBUTION and found.has(Caveat.OUT_OF_DISTRIBUTION)
        assert found.fact("naopc").marked and found.fact("aopc").marked is aopc


def test_inputs_that_no_reference_tests_are_a_caveat():
    shut = replace(OPEN_GATE, why=Why.NO_REFERENCE)
    board = made(0, 1, gradient=0.9)
    first = replace(board.standings[0], gates=dict.fromkeys(board.standings[0].gates, shut))
    found = of(replace(board, standings=(first,), gates=(shut, shut)))
    assert found.outcome == LimitsOutcome.CLOSEST and found.caveats == (Caveat.NOT_TESTED,)


def test_where_every_order_scores_the_same_there_is_no_closest():
    found = of(made(0.2, 0.2, gradient=0.2))
    assert found.outcome == LimitsOutcome.TIED and "naopc" not in facts(found) and not found.has(Caveat.NARROW_LIMITS)


def test_limits_within_a_twentieth_and_limits_that_were_searched_are_caveats():
    assert of(made(0.2, 0.24, gradient=0.23)).caveats == (Caveat.NARROW_LIMITS,)
    assert of(made(0, 1, False, BEAM, gradient=0.7)).caveats == (Caveat.LIMITS_SEARCHED,)


def test_what_is_missing_runs_or_is_partial():
    for found in (of(None), of(made(0, 1))):
        assert found.outcome == LimitsOutcome.RUNNING and found.has(Caveat.PARTIAL)
    found = of(made(0, 1, gradient=0.7), complete=False)
    assert found.outcome == LimitsOutcome.CLOSEST and found.caveats == (Caveat.PARTIAL,)


def test_a_text_that_is_masked_throughout_has_no_orders():
    masked = SimpleNamespace(unit="token", premasked=np.ones(2, dtype=bool))
    found = limits_result(None, COMPREHENSIVENESS, masked)
    assert (found.outcome, dict(found.slots), found.caveats) == (LimitsOutcome.NO_ORDERS, {"unit": "token"}, ())


def test_an_unstable_ranking_and_a_measure_that_masks_are_caveats_of_the_closest_alone():
    board = made(0, 1, **{"leave-one-out": 0.7, "gradient": 0.6})
    assert of(board, unstable=["gradient"]).caveats == (Caveat.MEASURE_USES_MASKING,)
    assert of(board, unstable=["leave-one-out"]).caveats == (Caveat.UNSTABLE, Caveat.MEASURE_USES_MASKING)
    assert of(made(0, 1, gradient=0.7, **{"leave-one-out": 0.6})).caveats == ()
    assert of(made(0, 1, **{"leave-one-out": 0.7})).caveats == (), "nothing that does not mask stands beside it"


def test_random_orders_are_a_fact_with_the_mark_of_their_own_inputs():
    chance = Chance(np.array([0.1, 0.3]), 0.2, 0.1, 0.3, 0.25, REJECTED, "2 random orders", 2)
    found = of(replace(made(0, 0.8, gradient=0.7), chance=chance))
    assert found.fact("random_naopc").value == 0.25 and found.fact("random_naopc").marked
    assert found.has(Caveat.OUT_OF_DISTRIBUTION) and not found.fact("naopc").marked
