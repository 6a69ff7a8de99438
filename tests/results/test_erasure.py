"""What ranking measures by hard and soft metrics comes to: outcomes, facts and caveats of scores set by hand."""

from dataclasses import replace

import numpy as np
import pytest

from core.judging.baselines import Baseline
from core.judging.judging import How, Rated
from core.judging.metric_report import MetricReport
from core.metrics.catalogue import metrics
from core.metrics.registry import NO_ROOM, Score
from core.results.caveats import Caveat
from core.results.erasure import MOST_FIRST, ErasureOutcome, erasure_result
from core.results.result import Result
from core.texts.rendering import headline
from core.validity.marks import HOLM
from core.validity.references import CALIBRATED

NAN = float("nan")
BOTH, FOUR = ("NS", "Soft-NS"), ("NS", "NC", "Soft-NS", "Soft-NC")
FLOOR = 0.001


def reported(values, names=BOTH, error=NAN, marked=None, chance=None, rejected=(), measures="abcdefg", **more):
    """Measures a, b, … with these scores; marked: which rest on rejected inputs; chance: {metric: random scores}, and
    rejected: under which of these they rest on such inputs.
    """
    marked = np.zeros((len(values), len(names)), bool) if marked is None else np.array(marked, bool)
    rated = {
        measure: Rated(
            np.zeros(3),
            {name: Score(value, error) for name, value in zip(names, row)},
            {name: {CALIBRATED: np.array([FLOOR if out else 0.5])} for name, out in zip(names, outs)},
        )
        for measure, row, outs in zip(measures, values, marked.tolist())
    }
    drawn = {
        name: Baseline(np.array(scores), {CALIBRATED: np.full(9, FLOOR if name in rejected else 0.5)})
        for name, scores in (chance or {}).items()
    }
    settings = {"features": 5, "floor": FLOOR} | more
    return MetricReport(
        explained="positive",
        unit="word",
        names=names,
        sign="signed",
        how=How(),
        rule=HOLM,
        form=CALIBRATED,
        rated=rated,
        chance=drawn,
        shuffles={},
        drawn=tuple(drawn),
        **settings,
    )


def result_of(values, names=BOTH, **more) -> Result:
    found = erasure_result(reported(values, names, **more), len(values))
    assert headline(found)
    return found


def value(result: Result, key: str):
    fact = result.fact(key)
    return None if fact is None else fact.value


def test_the_same_winner_is_the_measure_that_both_kinds_rank_first():
    found = result_of([[0.9, 0.4], [0.5, 0.2]])
    assert found.outcome is ErasureOutcome.SAME_WINNER and found.slots == {"measures": ["a"]}
    assert (value(found, "pairs_alike"), value(found, "pairs_opposite"), found.fact("pairs_alike").of) == (1, 0, 1)
    assert (value(found, "hard_first"), value(found, "soft_first"), found.caveats) == ("a", "a", ())
    # Where one shares the first place, the other decides.
    shared = result_of([[0.9, 0.8], [0.9, 0.4], [0.5, 0.1]])
    assert shared.outcome is ErasureOutcome.SAME_WINNER and shared.slots == {"measures": ["a"]}
    level = result_of([[0.9, 0.8], [0.905, 0.8], [0.5, 0.4]])
    assert level.slots == {"measures": ["a", "b"]}, "closer than a hundredth"


def test_different_winners_are_named_with_how_many_pairs_the_kinds_order_oppositely():
    found = result_of([[0.9, 0.4], [0.5, 0.8], [0.1, 0.1]])
    assert found.outcome is ErasureOutcome.DIFFERENT_WINNERS and found.slots == {"hard": ["a"], "soft": ["b"]}
    assert (value(found, "pairs_alike"), value(found, "pairs_opposite"), found.fact("pairs_opposite").of) == (2, 1, 3)
    # Two hard metrics that contradict each other do not oppose the soft one.
    among = result_of([[0.9, 0.2, 0.5], [0.5, 0.4, 0.5], [0.1, 0.1, 0.2]], ("NS", "NC", "Soft-NS"))
    assert (value(among, "pairs_alike"), value(among, "pairs_opposite")) == (2, 0)
    assert among.outcome is ErasureOutcome.SAME_WINNER and among.slots == {"measures": ["a", "b"]}


def test_a_metric_that_is_better_where_it_is_lower_ranks_the_lower_score_first():
    names = ("AOPC sufficiency", "Soft-NS")
    assert result_of([[0.1, 0.9], [0.2, 0.5]], names).outcome is ErasureOutcome.SAME_WINNER
    assert result_of([[0.3, 0.9], [0.2, 0.5]], names).outcome is ErasureOutcome.DIFFERENT_WINNERS


def test_winners_are_those_with_the_best_sum_of_places_written_out():
    """Against counting, one measure and one metric at a time, how many measures are ahead by a hundredth or more."""
    rng = np.random.default_rng(7)
    outcomes = set()
    for _ in range(60):
        values = rng.choice([0.1, 0.2, 0.3, 0.4, NAN], size=(4, 4), p=[0.24, 0.24, 0.24, 0.24, 0.04])
        kinds: dict[bool, list[list[int]]] = {False: [], True: []}
        for k, name in enumerate(FOUR):
            column = [
                0 if one != one else 1 + sum(other - one >= 0.01 for other in values[:, k] if other == other)
                for one in values[:, k].tolist()
            ]
            if max(column) > 1:
                kinds[metrics()[name].soft].append(column)
        if not (kinds[False] and kinds[True]):
            continue
        placed = [i for i in range(4) if all(column[i] for both in kinds.values() for column in both)]
        if len(placed) < 2:
            continue
        first = {}
        for soft, columns in kinds.items():
            sums = {"abcd"[i]: sum(column[i] for column in columns) for i in placed}
            first[soft] = [one for one, total in sums.items() if total == min(sums.values())]
        found = result_of(values.tolist(), FOUR)
        outcomes.add(found.outcome)
        if same := [one for one in first[False] if one in first[True]]:
            wanted = {"measures": same}
        else:
            wanted = {"hard": first[False], "soft": first[True]}
        if found.outcome is not ErasureOutcome.TIED:
            assert found.slots == wanted, values
    assert {ErasureOutcome.SAME_WINNER, ErasureOutcome.DIFFERENT_WINNERS} <= outcomes


def test_what_draws_alone_may_order_is_a_tie():
    """0.4 apart: more than twice √2 · 0.1, and less than twice √2 · 0.2."""
    values = [[0.9, 0.4], [0.5, 0.8]]
    assert result_of(values, error=0.1).outcome is ErasureOutcome.DIFFERENT_WINNERS
    soft = result_of([[0.9, 0.4], [0.1, 0.8]], error=0.2)
    assert soft.outcome is ErasureOutcome.TIED and soft.slots == {"kinds": ["soft"]}
    assert result_of([[0.9, 0.5], [0.5, 0.5]]).slots == {"kinds": ["soft"]}
    every = result_of([[1, 1], [1, 1]])
    assert every.outcome is ErasureOutcome.TIED and every.slots == {"kinds": ["hard", "soft"]}
    assert value(every, "random_as_good") is None


def test_more_winners_than_are_named_are_a_tie():
    values = [[0.9, 0.9]] * MOST_FIRST + [[0.1, 0.1]]
    assert result_of(values).outcome is ErasureOutcome.SAME_WINNER
    assert result_of([[0.9, 0.9], *values]).outcome is ErasureOutcome.TIED


def test_no_winner_rests_on_rejected_inputs():
    values = [[0.9, 0.8, 0.2, 0.3], [0.5, 0.4, 0.6, 0.7]]
    assert result_of(values, FOUR).slots == {"hard": ["a"], "soft": ["b"]}
    soft = result_of(values, FOUR, marked=[[0, 0, 1, 1]] * 2)
    assert soft.outcome is ErasureOutcome.OUT_OF_DISTRIBUTION and soft.slots == {"kinds": ["soft"]}
    assert soft.caveats == (Caveat.OUT_OF_DISTRIBUTION,) and value(soft, "hard_first") == "a"
    assert value(soft, "soft_first") is None and value(soft, "smallest_p") == FLOOR
    assert (value(soft, "out_of_distribution"), soft.fact("out_of_distribution").of) == (4, 8)
    hard = result_of(values, FOUR, marked=[[1, 1, 0, 0]] * 2)
    assert hard.slots == {"kinds": ["hard"]} and value(hard, "soft_first") == "b"
    every = result_of(values, FOUR, marked=[[1] * 4] * 2)
    assert every.slots == {"kinds": ["hard", "soft"]} and value(every, "hard_first") is None
    # One number of each soft metric leaves nothing to compare, either; of the hard ones NC alone is left.
    some = result_of(values, FOUR, marked=[[1, 0, 1, 1], [0, 0, 0, 0]])
    assert some.slots == {"kinds": ["soft"]} and value(some, "hard_first") == "a"
    alone = result_of(values, FOUR, marked=[[0] * 4, [1] * 4])
    assert alone.slots == {"kinds": ["hard", "soft"]}, "a number that stands alone compares nothing"


def test_the_marks_of_a_measure_leave_the_others_compared():
    values = [[0.9, 0.8, 0.2, 0.3], [0.5, 0.4, 0.6, 0.7], [0.95, 0.95, 0.9, 0.9]]
    found = result_of(values, FOUR, marked=[[0] * 4, [0] * 4, [1, 1, 0, 0]])
    assert found.slots == {"hard": ["a"], "soft": ["b"]}, "c has no place by hard metrics, so it wins by neither"
    assert found.has(Caveat.OUT_OF_DISTRIBUTION)


@pytest.mark.parametrize(
    "values, names, more",
    [
        ([[0.9, 0.4]], BOTH, {}),
        ([[0.9, 0.8], [0.5, 0.4]], ("NS", "NC"), {}),
        ([[0.9, 0.8], [0.5, 0.4]], ("NS", "sparsity"), {}),
        ([[0.9, NAN], [0.5, NAN]], BOTH, {}),
        ([[NAN, NAN], [NAN, NAN]], BOTH, {}),
        ([[0.9, 0.4], [0.1, 0.2]], BOTH, {"features": 1}),
        ([], BOTH, {}),
        # a and c by the hard metric, b and c by the soft one.
        ([[0.9, NAN], [NAN, 0.2], [0.1, 0.4]], BOTH, {}),
    ],
)
def test_without_two_measures_with_both_scores_there_is_nothing_to_compare(values, names, more):
    assert result_of(values, names, **more).outcome is ErasureOutcome.NOTHING_TO_COMPARE


def test_what_no_metric_of_a_kind_defines_is_said_with_its_reason_and_while_more_is_to_come():
    report = reported([[NAN, 0.4], [NAN, 0.2]])
    told = {
        name: replace(one, found=one.found | {"NS": Score(NAN, note=NO_ROOM)}) for name, one in report.rated.items()
    }
    found = erasure_result(replace(report, rated=told), 3, coming=True)
    assert found.outcome is ErasureOutcome.NOTHING_TO_COMPARE and found.slots == {"why": NO_ROOM}
    # One measure that has a score, or another reason, leaves it open.
    for other in (Score(0.3), Score(NAN, note="another")):
        mixed = told | {"b": replace(told["b"], found=told["b"].found | {"NS": other})}
        assert not erasure_result(replace(report, rated=mixed), 2).slots.get("why")


def test_random_attributions_that_do_as_well_as_a_winner_are_counted_at_worst():
    values = [[0.9, 0.8], [0.5, 0.4]]
    found = result_of(values, chance={"NS": [0.1, 0.95, 0.2], "Soft-NS": [0.9, 0.85, 0.1]})
    assert (value(found, "random_as_good"), found.fact("random_as_good").of) == (2, 3)
    # Each winner by the metrics that it wins.
    apart = result_of([[0.9, 0.4], [0.5, 0.8]], chance={"NS": [0.7, 0.7, 0.1], "Soft-NS": [0.5, 0.5, 0.85]})
    assert value(apart, "random_as_good") == 1
    one = result_of(values, chance={"NS": [0.1, 0.95, 0.2]})
    assert value(one, "random_as_good") is None, "not known yet by the soft metric"
    gone = result_of(values, chance={"NS": [0.1] * 3, "Soft-NS": [0.1] * 3}, rejected=("Soft-NS",))
    assert value(gone, "random_as_good") is None, "random scores rest on rejected inputs"
    left = result_of(values, chance={"NS": [0.1, 0.95, 0.2]}, marked=[[0, 1]] * 2)
    assert value(left, "random_as_good") == 1, "by hard erasure alone"


def test_what_is_not_complete_is_partial_and_gives_no_winner_while_it_runs():
    report = reported([[0.9, 0.4], [0.5, 0.2]])
    running, stopped = erasure_result(report, 3, coming=True), erasure_result(report, 3)
    assert running.outcome is ErasureOutcome.RUNNING and running.has(Caveat.PARTIAL) and headline(running)
    assert stopped.outcome is ErasureOutcome.SAME_WINNER and stopped.has(Caveat.PARTIAL)
    assert not erasure_result(report, 2).has(Caveat.PARTIAL)


def test_inputs_that_no_reference_tests_are_a_caveat():
    assert result_of([[0.9, 0.4], [0.5, 0.2]], floor=None).caveats == (Caveat.NOT_TESTED,)
    # Nor can a reference whose smallest p is above the level.
    assert result_of([[0.9, 0.4], [0.5, 0.2]], floor=0.06).caveats == (Caveat.NOT_TESTED, Caveat.SMALL_REFERENCE)


def test_a_winner_that_masks_to_score_and_an_unstable_measure_are_caveats():
    masks = result_of([[0.9, 0.4], [0.5, 0.2]], measures=("leave-one-out", "gradient"))
    assert masks.caveats == (Caveat.MEASURE_USES_MASKING,)
    assert result_of([[0.1, 0.4], [0.5, 0.2]], measures=("leave-one-out", "gradient")).caveats == ()
    report = reported([[0.9, 0.4], [0.5, 0.2]])
    assert erasure_result(report, 2, unstable=["b"]).caveats == (Caveat.UNSTABLE,)
    assert erasure_result(report, 2, unstable=["c"]).caveats == ()
