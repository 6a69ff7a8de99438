"""Recursive masking: every mask worked out by hand on lookup tables, and conservation laws on the bundled model."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.explanation.explainer import Explainer, softmax, with_reference
from core.explanation.recursive import (
    BY_FEATURE,
    BY_RATIO,
    Band,
    Step,
    area_cells,
    band_cost,
    follow,
    masked_steps,
    path_cost,
    planned_counts,
    random_band,
    random_masks,
    shares,
    summarise,
)
from core.mathematics.curves import racu
from core.measures.beam import beam
from core.measures.leave_one_out import leave_one_out
from core.measures.registry import NOTHING, REGISTERED, Measure
from core.network.scheduler import Cancelled, NonFinite
from core.storage.store import Store
from core.validity.marks import decide_path, step_cells
from core.validity.mask_tests import MaskTest
from tests.table import Table, members

TEXT = "A dull, slow film that nobody would want to see twice."


def judge(table: Table):
    return lambda masks, place: MaskTest(table.logits(masks), {}, {})


def loo(table: Table):
    return lambda mask: leave_one_out(table.explained(np.flatnonzero(mask)))["signed"]


def walked(table: Table, counts, attribute=None, recompute=True, start=()) -> list[tuple[int, ...]]:
    first = np.zeros(table.F, dtype=bool)
    first[list(start)] = True
    steps = masked_steps(first, np.array(counts), attribute or loo(table), judge(table), recompute)
    return [tuple(np.flatnonzero(step.mask).tolist()) for step in steps]


def either_or() -> Table:
    """v = 1 while feature 0 or 1 (the same fact twice) stands, plus 0.3 for feature 2 and 0.1 for feature 3."""
    return Table(
        {
            members(code, 4): 1.0 * (not (code & 1 and code & 2)) + 0.3 * (not code & 4) + 0.1 * (not code & 8)
            for code in range(16)
        }
    )


def test_counts_are_the_floor_of_the_share_and_all_at_the_end():
    assert planned_counts(25, BY_RATIO).tolist() == [0, 2, 5, 7, 10, 12, 15, 17, 20, 22, 25]
    # 0.7 · 10 is 6.999… in floating point; the small number makes it 7.
    assert planned_counts(10, BY_RATIO).tolist() == list(range(11))
    assert planned_counts(3, BY_RATIO).tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert planned_counts(1, BY_RATIO).tolist() == [0] * 10 + [1]
    assert planned_counts(4, BY_FEATURE).tolist() == [0, 1, 2, 3, 4]


def test_what_the_text_masks_counts_as_masked():
    assert planned_counts(10, BY_RATIO, 3).tolist() == [3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10]
    assert planned_counts(4, BY_FEATURE, 2).tolist() == [2, 3, 4]
    assert planned_counts(2, BY_FEATURE, 2).tolist() == [2]


@pytest.mark.parametrize("F, step", [(0, BY_RATIO), (4, "leap")])
def test_no_features_or_an_unknown_step_are_refused(F, step):
    with pytest.raises(ValueError):
        planned_counts(F, step)


def test_shares_are_the_ratios_or_the_share_masked():
    np.testing.assert_allclose(shares(planned_counts(3, BY_RATIO), 3, BY_RATIO), np.arange(11) / 10)
    np.testing.assert_allclose(shares(planned_counts(4, BY_FEATURE), 4, BY_FEATURE), [0, 0.25, 0.5, 0.75, 1])


def test_redundancy_is_found_only_by_computing_again():
    # ROAR Fig. 2: with the fact there twice, masking either alone costs nothing, so 2 and 3 rank first; with 2 and 3
    # gone nothing has changed that; once one copy is masked (position breaks the tie) the other is worth 1.
    assert walked(either_or(), [0, 1, 2, 3, 4]) == [(), (2,), (2, 3), (0, 2, 3), (0, 1, 2, 3)]
    # Masked from the start, the first copy makes the second the most important, ahead of 2 and 3.
    assert walked(either_or(), [1, 2, 3, 4], start=(0,)) == [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)]
    # Ranked once, the second copy comes after 2 and 3, though it is worth more than both.
    once = walked(
        either_or(),
        [1, 2, 3, 4],
        attribute=lambda mask: leave_one_out(either_or().explained())["signed"],
        recompute=False,
        start=(0,),
    )
    assert once == [(0,), (0, 2), (0, 2, 3), (0, 1, 2, 3)]


def test_an_interaction_changes_the_order_on_the_way():
    # v is additive in 0 and 1, but with 0 masked feature 2 becomes worth 5: recursion takes it next, one-shot takes 1.
    values = {
        s: 10 - 3 * (0 in s) - 2 * (1 in s) - (5 if {0, 2} <= set(s) else 0)
        for s in (members(code, 3) for code in range(8))
    }
    assert walked(Table(values), [0, 1, 2, 3]) == [(), (0,), (0, 2), (0, 1, 2)]
    assert walked(Table(values), [0, 1, 2, 3], recompute=False) == [(), (0,), (0, 1), (0, 1, 2)]


def test_the_order_of_beam_is_kept_since_it_is_recursive_already():
    table = either_or()
    order = beam(table.explained())["signed"]
    assert REGISTERED["beam"].recursive
    masks = walked(table, [0, 1, 2, 3, 4], attribute=lambda mask: order, recompute=False)
    # Masking both copies first costs 1 at the second step; nothing else reaches more over the path.
    best = np.argsort(-order, kind="stable")
    assert masks == [tuple(sorted(best[:k].tolist())) for k in range(5)]


def test_steps_that_mask_the_same_are_computed_once_and_ratios_may_skip():
    asked = []
    table = either_or()
    walked(table, [0, 0, 0, 2, 2, 4], attribute=lambda mask: asked.append(tuple(mask)) or loo(table)(mask))
    assert len(asked) == 2, "at 0 and at 2 masked; with everything masked there is nothing to rank"


def test_scores_are_shown_for_what_is_left_only():
    steps = list(
        masked_steps(
            np.zeros(4, dtype=bool), np.array([0, 2, 4]), lambda mask: np.array([4.0, 3, 2, 1]), judge(either_or())
        )
    )
    assert [step.scores.tolist() for step in steps] == [[4, 3, 2, 1], [0, 0, 2, 1], [0, 0, 0, 0]]


def test_a_text_that_is_masked_already_has_one_step():
    steps = list(
        masked_steps(
            np.ones(3, dtype=bool),
            np.array([3]),
            lambda mask: pytest.fail("there is nothing to rank"),
            judge(Table(np.zeros(8))),
        )
    )
    assert len(steps) == 1 and steps[0].mask.all()


def test_masks_that_were_yielded_do_not_change_afterwards():
    steps = list(masked_steps(np.zeros(4, dtype=bool), np.array([0, 1, 2, 3, 4]), loo(either_or()), judge(either_or())))
    assert [step.mask.sum() for step in steps] == [0, 1, 2, 3, 4]


@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.floats(-5, 5), min_size=32, max_size=32), start=st.integers(0, 31), recompute=st.booleans())
def test_what_is_masked_stays_masked_and_counts_are_kept(values, start, recompute):
    table = Table(np.array(values))
    first = np.array([bool(start >> i & 1) for i in range(5)])
    counts = planned_counts(5, BY_RATIO, int(first.sum()))
    steps = list(masked_steps(first, counts, loo(table), judge(table), recompute))
    assert [int(step.mask.sum()) for step in steps] == counts.tolist()
    assert all((later.mask | earlier.mask == later.mask).all() for earlier, later in itertools.pairwise(steps))
    assert (steps[0].mask == first).all() and steps[-1].mask.all()


# ---- summaries


def made(values: list[float], counts: list[int], F: int, p: list[float] | None = None) -> tuple[Step, ...]:
    """Steps whose class 1 has these probabilities, of two."""
    logits = [np.array([0.0, np.log(value / (1 - value))], dtype=np.float64) for value in values]
    masks = [np.arange(F) < count for count in counts]
    return tuple(
        Step(count, mask, np.zeros(F), row, {} if p is None else {"calibrated": p[i], "literal": p[i]}, {})
        for i, (count, mask, row) in enumerate(zip(counts, masks, logits))
    )


def test_racu_of_a_path_by_hand():
    counts = planned_counts(10, BY_RATIO)
    line = np.linspace(0.9, 0.1, 11)
    band = Band(np.log(np.stack([1 - line, line], axis=-1))[None].repeat(2, axis=0), {})
    falls = made([0.9] + [0.1] * 10, counts.tolist(), 10)
    found = summarise(falls, 10, BY_RATIO, 1, band, None)
    assert found.racu == pytest.approx(0.90) and found.acu == pytest.approx(0.36) and found.flips == 1
    same = summarise(made(line.tolist(), counts.tolist(), 10), 10, BY_RATIO, 1, band, None)
    # At 50 % both classes have 0.5, and a tie is the first class's.
    assert same.racu == pytest.approx(0.0, abs=1e-9) and same.flips == 5


def test_racu_of_a_path_has_an_interval_over_its_orders_and_is_unstable_where_they_may_lose_nothing():
    counts = planned_counts(10, BY_RATIO)
    falls = made([0.9] + [0.1] * 10, counts.tolist(), 10)
    ends_at = np.linspace(0.2, 1, 30)
    orders = 0.1 + 0.8 * np.maximum(0, 1 - np.linspace(0, 1, 11) / ends_at[:, None])
    found = summarise(falls, 10, BY_RATIO, 1, Band(np.log(np.stack([1 - orders, orders], axis=-1)), {}), None).areas
    assert not found.unstable and found.acu.low < found.acu.mean < found.acu.high
    # Of one order less than nothing is known of the mean of them.
    alone = summarise(falls, 10, BY_RATIO, 1, Band(np.log(np.stack([1 - orders, orders], axis=-1))[:1], {}), None).areas
    assert alone.unstable and not alone.acu.known
    # The orders dip below where they end and above it by turns: what RACU divides by is 0.004 on average, give or take.
    turns = 0.5 + np.where(np.arange(30)[:, None] % 2, -0.19, 0.2) * (np.arange(11) % 10 > 0)
    dips = summarise(falls, 10, BY_RATIO, 1, Band(np.log(np.stack([1 - turns, turns], axis=-1)), {}), None)
    assert dips.areas.unstable and dips.racu > 20 and area_cells(dips.areas, False)[0] == "unstable"


def test_random_orders_that_do_as_well_are_counted_by_hand():
    """The path: 0.9, 0.4, then 0.6, 0.3 … to the end: it turns at 10 %, back at 20 %, and again at 30 %."""
    counts, path = planned_counts(10, BY_RATIO), np.array([0.9, 0.4, 0.6] + [0.3] * 8)
    orders = np.array(
        [
            path,  # ties count
            np.where(np.arange(11) == 1, 0.35, path),  # lower
            np.where(np.arange(11) == 1, 0.45, path),  # higher, as early
            np.where(np.arange(11) == 1, 0.55, np.where(np.arange(11) > 2, 0.1, path)),  # lower on average, later
            np.full(11, 0.9),  # never
        ]
    )
    band = Band(np.log(np.stack([1 - orders, orders], axis=-1)), {})
    found = summarise(made(path.tolist(), counts.tolist(), 10), 10, BY_RATIO, 1, band, None)
    assert (found.orders, found.as_good, found.as_early) == (5, 3, 3)
    assert found.flips == 1 and found.again == (2, 3)
    part = summarise(made(path[:3].tolist(), counts[:3].tolist(), 10), 10, BY_RATIO, 1, band, None)
    assert part.as_good is None and part.as_early == 3 and part.again == (2,)
    still = summarise(made([0.9] * 11, counts.tolist(), 10), 10, BY_RATIO, 1, band, None)
    assert still.as_early is None and still.as_good == 5 and still.again == ()


def test_an_unfinished_path_has_no_area_and_a_band_is_needed():
    counts = planned_counts(10, BY_RATIO)
    line = np.linspace(0.9, 0.1, 11)
    band = Band(np.log(np.stack([1 - line, line], axis=-1))[None], {})
    part = made([0.9, 0.8], counts[:2].tolist(), 10)
    assert np.isnan(summarise(part, 10, BY_RATIO, 1, band, None).racu)
    assert np.isnan(summarise(made([0.9] * 11, counts.tolist(), 10), 10, BY_RATIO, 1, None, None).acu)


class Fitted:
    """Stands for a reference: only its floor and how many ratios it knows are asked."""

    def __init__(self, floor, ratios=1):
        self.floor = lambda form="calibrated": floor
        self.forms = {"calibrated": SimpleNamespace(R=ratios)}


def test_the_gate_closes_at_the_first_rejected_step_and_stays_closed():
    counts, planned = np.arange(11), planned_counts(10, BY_RATIO)
    p = np.array([0.5, 0.4, 0.004, 0.6, 0.5, 0.001, 0.5, 0.5, 0.5, 0.5, 0.5])
    gate = decide_path(p, counts, planned, Fitted(0.0005))
    # Holm over 11: 0.001 is below 0.05 / 11 = 0.0045 and 0.004 below 0.05 / 10 = 0.005.
    assert gate.first == 2 and gate.rejected.tolist() == [False, False, True, False, False, True] + [False] * 5
    assert [gate.beyond(k) for k in range(4)] == [False, False, True, True]
    assert decide_path(p[:4], counts[:4], planned, Fitted(0.0005)).first == 2, "0.004 is below 0.0045 by itself"
    assert decide_path(np.array([0.0047]), counts[:1], planned, Fitted(0.0005)).first is None
    assert decide_path(np.array([0.0047]), counts[:1], planned, Fitted(0.0005), "plain").first == 0


def test_steps_that_mask_the_same_are_one_test():
    planned = planned_counts(3, BY_RATIO)
    p = np.where(planned == 3, 0.012, 0.5)
    # Four distinct inputs: 0.012 is below 0.05 / 4, but not below 0.05 / 11.
    assert decide_path(p, planned, planned, Fitted(0.001)).first == 10
    # Compared with other texts at each ratio, they are eleven tests: 0.004 is below 0.05 / 11.
    by_ratio = decide_path(p, planned, planned, Fitted(0.001, 11), by_ratio=True)
    assert by_ratio.first is None and by_ratio.steps == 11
    p[10] = 0.004
    assert decide_path(p, planned, planned, Fitted(0.001, 11), by_ratio=True).first == 10
    assert decide_path(p, planned, planned, Fitted(0.001, 1), by_ratio=True).steps == 4, "it knows no ratios"


def test_of_more_steps_than_the_reference_is_large_enough_for_the_eleven_ratios_are_tested():
    """30 words: Holm over 31 steps needs p < 0.0016, and the floor is 1/451; over 11 it needs p < 0.0045."""
    planned = planned_counts(30, BY_FEATURE)
    p = np.full(31, 0.5)
    p[[4, 15]] = 1 / 451
    gate = decide_path(p, planned, planned, Fitted(1 / 451, 11))
    assert gate.available and gate.steps == 11 and np.flatnonzero(gate.tested).tolist() == list(range(0, 31, 3))
    assert gate.first == 15 and np.flatnonzero(gate.rejected).tolist() == [15], "step 4 is none of them"
    assert step_cells(gate, 4, "calibrated")[0] == "not tested" and step_cells(gate, 15, "calibrated")[0] == "yes"
    # The same while the path is being walked, and not where even eleven are too many.
    assert decide_path(p[:16], planned[:16], planned, Fitted(1 / 451, 11)).first == 15
    assert decide_path(p, planned, planned, Fitted(1 / 200, 11)).why == "too few texts"
    # 21 steps are few enough: each is tested.
    assert decide_path(p[:21], planned[:21], planned[:21], Fitted(1 / 451, 11)).first == 4


@pytest.mark.parametrize(
    "floor, rule, why",
    [
        (None, "Holm", "no reference"),
        (0.05, "Holm", "floor"),
        (0.06, "plain", "floor"),
        (0.01, "Holm", "too few texts"),
        (0.01, "plain", None),
    ],
)
def test_a_reference_that_can_say_nothing_never_says_not_rejected(floor, rule, why):
    planned = planned_counts(10, BY_RATIO)
    gate = decide_path(np.full(11, 0.5), planned, planned, None if floor is None else Fitted(floor), rule)
    assert gate.why == why and gate.available == (why is None) and gate.first is None


# ---- with the bundled model


@pytest.fixture(scope="module")
def explainer(bundled, tmp_path_factory):
    return with_reference(bundled, Store(tmp_path_factory.mktemp("recursive")))


def run_out(generator):
    yielded = []
    while True:
        try:
            yielded.append(next(generator))
        except StopIteration as end:
            return yielded, end.value


@pytest.mark.parametrize("name", ["leave-one-out", "gradient", "beam", "random"])
def test_a_path_says_what_the_model_says_of_each_mask(explainer, bundled, name):
    encoded = explainer.encode(TEXT, None, "word")
    target = int(explainer.logits(encoded).argmax())
    so_far, steps = run_out(follow(explainer, encoded, name, target, "signed"))
    assert [len(part) for part in so_far] == list(range(1, 12)) and so_far[-1] == steps
    for k, step in enumerate(steps):
        ids = np.where(step.mask[encoded.feature_of] & (encoded.feature_of >= 0), encoded.mask_id, encoded.ids)
        logits, states = bundled.run(ids[None], np.array([encoded.T]), encoded.type_ids[None], "max")
        np.testing.assert_allclose(step.logits, logits[0], atol=1e-5)
        for form in ("calibrated", "literal"):
            alone = explainer.reference.forms[form].p_values(states)
            assert step.p[form] == pytest.approx(alone.at(np.array([k]))[0], abs=0.02), "at the step's own ratio"
            np.testing.assert_allclose(step.layers[form], alone.layers[0], atol=0.05)
        np.testing.assert_allclose(step.probabilities, softmax(step.logits))


def test_attributions_of_a_step_are_those_of_the_masked_input(explainer):
    encoded = explainer.encode(TEXT, None, "word")
    steps = run_out(follow(explainer, encoded, "leave-one-out", 0, "signed"))[1]
    for step in steps[:-1]:
        again = explainer.attribute(encoded, "leave-one-out", 0, step.mask).scores["signed"]
        np.testing.assert_array_equal(step.scores, again)
        oracle = explainer.oracles.of(encoded)
        free = int(np.flatnonzero(~step.mask)[-1])
        with_it, without = step.mask.copy(), step.mask.copy()
        without[free] = True
        v = oracle.logits(np.stack([with_it, without]))[:, 0]
        assert step.scores[free] == pytest.approx(float(v[0]) - float(v[1]), abs=1e-6)


def test_once_and_at_each_step_begin_alike_and_beam_is_the_same_both_ways(explainer):
    encoded = explainer.encode(TEXT, None, "word")
    paths = {
        (name, again): run_out(follow(explainer, encoded, name, 0, "signed", BY_FEATURE, again))[1]
        for name in ("gradient", "beam")
        for again in (True, False)
    }
    assert (paths["gradient", True][1].mask == paths["gradient", False][1].mask).all()
    scores = explainer.attribute(encoded, "gradient", 0).scores[REGISTERED["gradient"].variants[0]]
    order = np.argsort(-scores, kind="stable")
    assert [set(np.flatnonzero(s.mask)) for s in paths["gradient", False]] == [
        set(order[:k]) for k in range(encoded.F + 1)
    ]
    assert all((a.mask == b.mask).all() for a, b in zip(paths["beam", True], paths["beam", False]))


def test_a_second_walk_costs_no_pass_even_after_a_restart(bundled, tmp_path):
    store = Store(tmp_path)
    first = with_reference(bundled, store)
    encoded = first.encode(TEXT, None, "word")
    walked_once = run_out(follow(first, encoded, "leave-one-out", 1, "signed"))[1]
    band = run_out(random_band(first, encoded, orders=4))[1]
    again = with_reference(bundled, Store(tmp_path))
    before = bundled.scheduler.counters.passes
    walked_again = run_out(follow(again, encoded, "leave-one-out", 1, "signed"))[1]
    band_again = run_out(random_band(again, encoded, orders=4))[1]
    assert bundled.scheduler.counters.passes == before
    for one, other in zip(walked_once, walked_again):
        assert one.p == other.p and (one.logits == other.logits).all() and (one.scores == other.scores).all()
    assert (band.logits == band_again.logits).all() and (band.p["calibrated"] == band_again.p["calibrated"]).all()


def test_one_pass_serves_score_and_states(bundled):
    fresh = Explainer(bundled, None, with_reference(bundled, None).reference)
    encoded = fresh.encode(TEXT, None, "word")
    tested = fresh.tested(encoded)
    masks = np.eye(encoded.F, dtype=bool)
    before = bundled.scheduler.counters.passes
    tested.judge(masks)
    fresh.oracles.of(encoded).logits(masks)
    tested.judge(masks[::-1])
    assert bundled.scheduler.counters.passes - before == encoded.F


def test_expected_passes_are_not_exceeded(bundled):
    for name in ("leave-one-out", "gradient"):
        for step in (BY_RATIO, BY_FEATURE):
            fresh = Explainer(bundled, None, with_reference(bundled, None).reference)
            encoded = fresh.encode(TEXT, None, "word")
            before = bundled.scheduler.counters.passes
            run_out(follow(fresh, encoded, name, 1, "signed", step))
            assert 0 < bundled.scheduler.counters.passes - before <= path_cost(fresh, encoded, name, step).passes
            before = bundled.scheduler.counters.passes
            run_out(random_band(fresh, encoded, step, 5))
            assert 0 < bundled.scheduler.counters.passes - before <= band_cost(fresh, encoded, step, 5).passes


def test_random_orders_are_seeded_nested_and_differ(explainer):
    encoded = explainer.encode("A [MASK] film, slow and dull and long.", None, "word")
    counts = planned_counts(encoded.F, BY_FEATURE, 1)
    masks = random_masks(encoded, counts, 6)
    assert (masks == random_masks(encoded, counts, 6)).all() and (
        masks != random_masks(encoded, counts, 6, seed=1)
    ).any()
    assert (masks.sum(axis=2) == counts).all() and masks[:, 0].sum() == 6, "only the typed mask at first"
    assert (masks[:, 1:] | masks[:, :-1] == masks[:, 1:]).all()
    assert len({masks[r, 3].tobytes() for r in range(6)}) > 1


def test_a_band_is_what_its_orders_give(explainer):
    encoded = explainer.encode(TEXT, None, "word")
    counts = planned_counts(encoded.F, BY_RATIO)
    band = run_out(random_band(explainer, encoded, orders=3))[1]
    masks = random_masks(encoded, counts, 3)
    np.testing.assert_allclose(band.logits[2, 4], explainer.oracles.of(encoded).logits(masks[2, 4][None])[0], atol=1e-6)
    assert band.values(1).shape == (3, 11) and band.p["calibrated"].shape == (3, 11)
    assert np.ptp(band.values(1)[:, 0]) == 0 and np.ptp(band.values(1)[:, -1]) == 0


def test_cancelling_in_the_middle_leaves_the_steps_and_repeats_nothing(bundled, tmp_path):
    fresh = with_reference(bundled, Store(tmp_path))
    encoded = fresh.encode(TEXT, None, "word")
    seen, stop = [], []
    with pytest.raises(Cancelled):
        for steps in follow(fresh, encoded, "leave-one-out", 1, "signed", cancelled=lambda: bool(stop)):
            seen.append(steps)
            if len(steps) == 4:
                stop.append(True)
    assert len(seen[-1]) == 4
    before = bundled.scheduler.counters.passes
    resumed = follow(with_reference(bundled, Store(tmp_path)), encoded, "leave-one-out", 1, "signed")
    for _ in range(4):
        steps = next(resumed)
    assert bundled.scheduler.counters.passes == before
    assert all((one.scores == other.scores).all() for one, other in zip(steps, seen[-1]))


def test_a_measure_that_gives_nan_says_where(explainer, monkeypatch):
    def broken(explained):
        scores = np.arange(explained.F, dtype=float)
        return {"signed": np.where(explained.masked.sum() >= 2, np.nan, scores)}

    added = Measure(
        name="broken",
        variants=("signed",),
        signed=frozenset({"signed"}),
        definition="",
        cost="0",
        passes=lambda F: 0,
        needs=NOTHING,
        source="",
        unit="none",
        compute=broken,
    )
    monkeypatch.setitem(REGISTERED, "broken", added)
    encoded = explainer.encode(TEXT, None, "word")
    seen = []
    with pytest.raises(NonFinite, match="broken gave NaN with 2 of 13 words masked"):
        seen.extend(follow(explainer, encoded, "broken", 1, "signed", BY_FEATURE))
    assert len(seen[-1]) == 2


def test_without_a_reference_everything_but_the_p_values_is_there(bundled, explainer):
    bare = Explainer(bundled, None)
    encoded = bare.encode(TEXT, None, "word")
    steps, full = (run_out(follow(e, encoded, "gradient", 1, "signed"))[1] for e in (bare, explainer))
    assert all(step.p == {} and step.layers == {} for step in steps)
    assert all((one.mask == other.mask).all() for one, other in zip(steps, full))
    found = summarise(steps, encoded.F, BY_RATIO, 1, run_out(random_band(bare, encoded, orders=3))[1], None)
    assert not found.gate.available and np.isfinite(found.acu)


def test_one_word_has_two_inputs(explainer):
    encoded = explainer.encode("Dull", None, "word")
    steps = run_out(follow(explainer, encoded, "leave-one-out", 0, "signed"))[1]
    assert [step.count for step in steps] == [0] * 10 + [1]
    found = summarise(steps, 1, BY_RATIO, 0, run_out(random_band(explainer, encoded))[1], explainer.reference)
    # The unmasked text is compared at ten ratios: ten tests of one input, and that of the masked one.
    assert found.gate.steps == 11 and found.acu == pytest.approx(0.0, abs=1e-6), "there is only one order"
    assert racu(found.x, found.values, found.values) == pytest.approx(0.0) or np.isnan(
        racu(found.x, found.values, found.values)
    )
