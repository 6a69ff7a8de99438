"""Verdicts on models that are tables: what is believed, what cannot be told, and why measures fail, each planted."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.limiting import Walk, score
from core.explanation.recursive import Band
from core.explanation.standings import SUFFICIENCY, Chance, StandingGates, StandingTable
from core.figures.verdicts_figures import among_random_orders
from core.interactions.finding import Interactions
from core.interactions.pairs import Paired, PairTest, listed_pairs
from core.interactions.splitting import Split
from core.mathematics.search.limits import EXACT, Limits
from core.mathematics.stepwise import finish
from core.measures.kernel_shap import all_sets
from core.network.halves import half_copy
from core.network.scheduler import NonFinite
from core.oracle.erasing import MASK, REMOVAL
from core.oracle.oracle import Oracle, Oracles
from core.storage.store import Store
from core.validity.references import find_reference
from core.verdicts.chance import MOST_DRAWS
from core.verdicts.deciding import Cause, Reasons, VerdictReport, Word, among_its_orders, decide_verdicts
from core.verdicts.finding import NoVerdict, Untold, chance_known, find_chance, null_cost, verdict_cost
from core.verdicts.operators import under_erasure
from core.verdicts.reasons import find_reasons
from core.verdicts.records import as_plain, orders_as_good
from tests.verdicts.table_explainer import TableExplainer

LOO, GRADIENT, IXG = "leave-one-out", "gradient", "input × gradient"


def masked(F: int) -> np.ndarray:
    """Which features each set of a table masks, float[2^F, F]."""
    return (np.arange(2**F)[:, None] >> np.arange(F) & 1).astype(float)


def additive(weights, whole: float = 0.95) -> np.ndarray:
    return whole - masked(len(weights)) @ np.asarray(weights, dtype=float)


def signed(scores) -> dict:
    return {"signed": scores, "absolute": np.abs(scores)}


def decided(explainer: TableExplainer, *names: str, known: Reasons | None = None, **more) -> VerdictReport:
    names = names or tuple(explainer.scores)
    test = finish(find_chance(explainer, explainer.encoded, 1, names, **more))
    return decide_verdicts(test, StandingGates(explainer.encoded, None), known, *more.get("directions", ())[:1])


def words(report: VerdictReport) -> list[str]:
    return [str(one.word) for one in report.verdicts]


WEIGHTS = np.array([0.3, 0.2, 0.15, 0.1, 0.05, 0.01, 0.0])


def test_the_best_order_is_believed_its_reverse_is_worse_and_the_middle_is_neither():
    middle = WEIGHTS[[3, 0, 6, 1, 5, 2, 4]]
    explainer = TableExplainer(
        additive(WEIGHTS), {LOO: signed(WEIGHTS), IXG: signed(-WEIGHTS), GRADIENT: {"L2": middle, "L1": middle}}
    )
    report = decided(explainer)
    assert words(report) == [Word.BETTER, Word.WORSE, Word.NO_BETTER]
    # Every order of seven: only the best one reaches so much, and only the worst so little.
    assert report.null.every and report.null.planned == 5040
    assert report.verdicts[0].p == (1 / 5040, 1 / 5040) and report.verdicts[1].worse == (1 / 5040, 1 / 5040)
    assert report.untested and report.planned == 3 and report.of(LOO).adjusted == pytest.approx((3 / 5040,) * 2)
    # Masked last, what counts least: sufficiency is lower the better.
    least = decided(explainer, directions=(SUFFICIENCY,))
    assert words(least)[:2] == [Word.BETTER, Word.WORSE] and least.direction == SUFFICIENCY


def test_how_many_random_orders_do_as_well_is_counted_by_hand():
    """Words that cost alike but for one: an order reaches what depends on where that one comes in it."""
    values, scores = additive([0.3, 0.01, 0.01, 0.01, 0.01]), signed(np.array([3.0, 4.0, 2.0, 1.0, 0.0]))
    report = decided(TableExplainer(values, {LOO: scores, GRADIENT: {"L2": np.ones(5)}}))
    # It masks that word second: so do 23 of the other 119 orders of five words, and 24 mask it first.
    assert report.null.every and orders_as_good(report, GRADIENT) is None, "it has no order"
    assert orders_as_good(report, LOO) == 47 and len(report.null.reached) == 120
    assert report.of(LOO).p[1] == pytest.approx(48 / 120) and report.of(LOO).adjusted[1] == pytest.approx(0.8)
    best = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)}))
    assert orders_as_good(best, LOO) == 0 and len(best.null.reached) == 5040


def test_what_holm_over_measures_does_not_reject_is_not_shown_and_can_be_luck():
    """The third best of 120 orders, p = 0.025, held against 0.05 / 3; the two others stand in the middle."""
    weights, near = np.array([0.3, 0.2, 0.1, 0.05, 0.02]), signed(np.array([5.0, 4.0, 2.0, 3.0, 1.0]))
    middling = {name: signed(np.array(one)) for name, one in ((IXG, [3.0, 1, 5, 2, 4]), ("LIME", [2.0, 5, 1, 3, 4]))}
    explainer = TableExplainer(additive(weights), {LOO: near, **middling})
    report = decided(explainer)
    assert words(report) == [Word.NO_BETTER] * 3 and report.of(LOO).p[1] == 3 / 120
    assert orders_as_good(report, LOO) == 2 and report.of(LOO).adjusted[1] == pytest.approx(0.075)
    # Alone it is believed; beside one that is, another is not shown to be better.
    alone = decided(explainer, LOO)
    assert words(alone) == [Word.BETTER]
    assert alone.planned == 1 and alone.of(LOO).adjusted == alone.of(LOO).p == (3 / 120,) * 2
    beside = TableExplainer(additive(weights), {LOO: signed(weights), **middling})
    both = decided(beside)
    assert words(both) == [Word.BETTER, Word.NO_BETTER, Word.NO_BETTER]
    assert both.of(LOO).adjusted[1] == pytest.approx(3 / 120)


def test_beyond_twelve_words_random_orders_are_drawn_and_shared_by_all_measures():
    weights = np.linspace(0.12, 0.0, 13)
    explainer = TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights[::-1])})
    report = decided(explainer)
    assert words(report) == [Word.BETTER, Word.WORSE]
    assert not report.null.every and report.null.planned == 60 and report.verdicts[0].p[0] == 1 / 61
    # Nothing of it, all of it, and what lies between on orders of one direction.
    assert explainer.tested(None).count <= 2 + (60 + 2) * 12
    assert orders_as_good(report, LOO) == 0
    # One in 61, for two measures: both that reach it have the same p, whichever does better.
    assert report.of(LOO).adjusted[1] == report.null.floor * report.planned == pytest.approx(2 / 61)
    # Where v of every set is known it costs nothing, and is the same verdict: what was asked for before changes none.
    explainer.tested(None).logits(all_sets(13))
    assert null_cost(explainer, explainer.encoded, 2, band=False).passes == 0
    free = decided(explainer)
    assert free.verdicts == report.verdicts and explainer.tested(None).count == 2**13
    np.testing.assert_allclose(free.null.reached, report.null.reached)


def test_a_board_stands_among_the_orders_that_its_verdicts_rest_on():
    weights = np.linspace(0.12, 0.0, 13)
    report = decided(TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights[::-1])}))
    limits, gate = Limits(0.0, 1.0, np.array([0]), np.array([0]), EXACT, None, 2), SimpleNamespace(marked=False)
    walk = Walk(np.array([0]), np.array([1.0, 0.0]), {})
    # The first 30 of the 60 are those whose inputs are tested.
    own = Chance.of(report.null.reached[:30], limits, gate, "30 random orders", 30)
    board = StandingTable(limits, walk, walk, (gate, gate), "float32", (), own)
    found = among_its_orders(board, report).chance
    assert found.name.startswith("60 ") and (found.tested, found.gate) == (30, gate)
    assert found.mean == found.naopc == pytest.approx(report.null.reached.mean()) != own.mean
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(report.null.reached, [0.025, 0.975])))
    # Before there are verdicts, where none is told, and where fewer orders settled them.
    untold = replace(report, verdicts=tuple(replace(one, word=Word.UNTOLD) for one in report.verdicts))
    early = replace(report, null=replace(report.null, reached=report.null.reached[:8]))
    assert all(among_its_orders(board, one) is board for one in (None, untold, early))
    assert among_its_orders(replace(board, chance=None), report).chance is None
    # Few words have no more orders than these, and that is all.
    every = replace(report, null=replace(report.null, reached=report.null.reached[:24], every=True))
    assert among_its_orders(board, every).chance.name.startswith("all 24 ")


def test_of_up_to_twelve_words_every_set_is_asked_for_and_many_orders_are_set_against():
    weights = np.linspace(0.12, 0.0, 12)
    explainer = TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights[::-1])})
    report = decided(explainer)
    assert words(report) == [Word.BETTER, Word.WORSE] and report.null.floor * report.planned < 0.001
    assert report.null.planned == MOST_DRAWS and explainer.tested(None).count == 2**12
    assert report.verdicts[0].p[0] < 1e-4 and report.limits[1] == pytest.approx(report.reached[LOO])


def test_five_measures_take_100_orders():
    weights = np.linspace(0.1, 0.0, 13)
    names = [LOO, IXG, "KernelSHAP", "LIME", "DecompX"]
    report = decided(TableExplainer(additive(weights), dict.fromkeys(names, signed(weights))))
    assert words(report) == [Word.BETTER] * 5 and report.null.planned == 100
    few = decided(TableExplainer(additive(weights), dict.fromkeys(names, signed(weights))), draws=99)
    assert words(few) == [Word.UNTOLD] * 5 and few.verdicts[0].why == Untold.FEW_ORDERS


@pytest.mark.parametrize("F", [1, 2, 3, 4])
def test_a_few_words_have_too_few_orders(F):
    weights = np.linspace(0.5, 0.1, F) / F
    explainer = TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights)})
    report = decided(explainer)
    assert words(report) == [Word.UNTOLD] * 2 and not report.verdicts[0].causes
    count = {1: 1, 2: 2, 3: 6, 4: 24}[F]
    assert [one.why for one in report.verdicts] == [Untold.FEW_ORDERS] * 2
    assert report.null.every and report.null.planned == count and report.null.floor == 1 / count
    assert report.orders == ("the only order" if F == 1 else f"all {count} orders")
    # Of four words the best of 24 orders is enough for one measure: 1/24 is below 5 %.
    assert words(decided(explainer, LOO)) == [Word.BETTER if F == 4 else Word.UNTOLD]


def test_a_flat_model_tells_nothing():
    for values in (np.full(2**7, 0.9), additive(WEIGHTS / 20)):
        explainer = TableExplainer(values, {LOO: signed(WEIGHTS), GRADIENT: {"L2": WEIGHTS, "L1": WEIGHTS}})
        report = decided(explainer)
        assert words(report) == [Word.UNTOLD] * 2 and report.verdicts[0].causes == (Cause.NARROW,)
        assert report.verdicts[0].why == Untold.NARROW and report.limits[1] - report.limits[0] < 0.05
    # Where no limits are known all that was tried is the same.
    report = decided(TableExplainer(np.full(2**13, 0.9), {LOO: signed(np.arange(13.0))}))
    assert (
        report.limits is None
        and report.verdicts[0].why == Untold.EQUAL
        and report.verdicts[0].causes == (Cause.NARROW,)
        and not report.null.complete
    )


def test_a_measure_without_an_order_is_told_and_the_others_are_judged():
    error = NonFinite("it gave NaN.")
    explainer = TableExplainer(
        additive(WEIGHTS),
        {LOO: signed(WEIGHTS), IXG: signed(np.full(7, 0.2)), GRADIENT: {"L2": np.full(7, np.nan)}, "LIME": error},
    )
    report = decided(explainer)
    assert [one.measure for one in report.verdicts] == [LOO, IXG, GRADIENT, "LIME"]
    assert words(report) == [Word.BETTER] + [Word.UNTOLD] * 3 and report.planned == 4
    assert [one.why for one in report.verdicts] == [None, Untold.NO_ORDER, Untold.NO_NUMBERS, Untold.NO_NUMBERS]
    assert all(np.isnan([*one.p, *one.worse, *one.adjusted]).all() for one in report.verdicts[1:])
    assert list(report.reached) == [LOO]
    nobody = decided(explainer, "LIME", IXG)
    assert words(nobody) == [Word.UNTOLD] * 2 and nobody.reached == {}


def test_where_nothing_is_left_to_mask_it_is_a_sentence():
    explainer = TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)})
    explainer.encoded.premasked = np.ones(7, dtype=bool)
    with pytest.raises(NoVerdict, match="Every word is masked already"):
        decided(explainer)


def test_a_sign_that_hides_what_counts_is_named():
    """What opposes the class counts most here, so that its sign puts it last."""
    counts = np.array([0.4, 0.25, 0.1, 0.02, 0.02, 0.02, 0.02])
    explainer = TableExplainer(additive(counts), {IXG: signed(-counts * [1, 1, 1, -1, -1, -1, -1])})
    report = decided(explainer)
    assert words(report) == [Word.WORSE] and report.verdicts[0].causes == (Cause.SIGN,)
    absolute = decided(explainer, sign="absolute")
    assert words(absolute) == [Word.BETTER] and report.turned == {IXG: absolute.verdicts[0].adjusted[1]}


def test_equal_orders_fail_alike_and_the_other_values_are_held_to_as_much_as_the_verdict():
    """With all values positive the absolute order is the signed one: neither is the cause of the other's failing."""
    weights = np.array([0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.01])
    near = weights[[1, 0, 3, 2, 5, 4, 6]]
    for sign in ("signed", "absolute"):
        report = decided(TableExplainer(additive(weights), {IXG: signed(near), LOO: signed(-near)}), sign=sign)
        assert all(Cause.SIGN not in one.causes for one in report.verdicts if one.measure == IXG)
    # The absolute order has p = .0377 among all 5,040: enough for one measure, and not for three.
    order = signed(weights[[2, 0, 1, 3, 4, 5, 6]] * [-1, -1, -1, -1, 1, 1, 1])
    alone = decided(TableExplainer(additive(weights), {IXG: order}))
    three = decided(TableExplainer(additive(weights), {IXG: order, LOO: order, "LIME": order}))
    assert alone.verdicts[0].causes == (Cause.SIGN,) and Cause.SIGN not in three.verdicts[0].causes


def test_words_that_say_the_same_hide_each_other_once_and_not_step_by_step(monkeypatch):
    """The second of two words that say the same counts only when the first is gone."""
    F, sets = 7, masked(7)
    values = 0.95 - sets @ [0.1, 0.09, 0.07, 0.05, 0.03, 0.01, 0.0] - 0.45 * sets[:, 0] * sets[:, 6]

    def one_by_one(start, seed):
        start = np.zeros(F, dtype=bool) if start is None else start
        at = int(start @ (1 << np.arange(F)))
        falls = [values[at] - values[at | 1 << i] for i in range(F)]
        return signed(np.where(start, 0.0, falls))

    monkeypatch.setattr("core.verdicts.reasons.why_no_pairs", lambda *_: "none are looked for")
    explainer = TableExplainer(values, {LOO: one_by_one})
    known = find_reasons(explainer, explainer.encoded, 1, [LOO])
    assert known.stepwise[LOO] == 1 / 31
    report = decided(explainer, known=Reasons(stepwise=known.stepwise))
    assert words(report) == [Word.NO_BETTER] and report.verdicts[0].causes == (Cause.REDUNDANCY,)
    assert report.stepwise == {LOO: 1 / 31}


def paired(F: int, i: int, j: int, value: float, p: float = 0.5) -> Paired:
    split = Split(np.zeros(F), np.zeros((F, F)))
    split.pairs[i, j] = split.pairs[j, i] = value
    found = Interactions(1, split, True, 2**F, F, 0, 0.0)
    return Paired(
        found, tuple(PairTest(pair, np.zeros(3), {"calibrated": np.full(3, p)}) for pair in listed_pairs(found))
    )


def test_two_words_that_work_only_together_are_named_where_measures_part():
    """An AND: nothing happens until both are masked."""
    F = 7
    sets = masked(F)
    alone = np.array([0, 0.05, 0.04, 0.03, 0.02, 0, 0.01])
    values = 0.95 - 0.6 * sets[:, 0] * sets[:, 5] - sets @ alone
    both = alone + np.array([0.3, 0, 0, 0, 0, 0.3, 0])
    explainer = TableExplainer(values, {IXG: signed(both), LOO: signed(alone)})
    pairs = paired(F, 0, 5, 2.0)
    report = decided(explainer, known=Reasons(pairs=pairs))
    assert words(report) == [Word.BETTER, Word.NO_BETTER]
    assert [Cause.TOGETHER in one.causes for one in report.verdicts] == [False, True]
    assert (report.pair.pair.first, report.pair.pair.second) == (0, 5)
    # Nothing parts where one measure is believed, and a small interaction is none.
    assert decided(explainer, IXG, known=Reasons(pairs=pairs)).pair is None
    assert decided(explainer, known=Reasons(pairs=paired(F, 0, 5, 0.3))).pair is None


def test_a_measure_that_draws_is_unstable_where_another_seed_names_another_word(monkeypatch):
    monkeypatch.setattr("core.verdicts.reasons.why_no_pairs", lambda *_: "none are looked for")

    def drawn(masked, seed):
        return signed(np.roll(WEIGHTS, seed))

    explainer = TableExplainer(additive(WEIGHTS), {"KernelSHAP": drawn, "LIME": signed(WEIGHTS), "random": drawn})
    known = find_reasons(explainer, explainer.encoded, 1, ["KernelSHAP", "LIME"])
    assert known.unstable == {"KernelSHAP"}
    report = decided(explainer, "KernelSHAP", "LIME", known=known)
    assert words(report) == [Word.BETTER] * 2
    assert [one.causes for one in report.verdicts] == [(Cause.UNSTABLE,), ()]


def test_what_wins_by_one_way_of_erasing_only_is_said():
    other = additive(WEIGHTS[::-1])
    explainer = TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)}, others={REMOVAL: other})
    reports = {erasure: decided(explainer, erasure=erasure) for erasure in (MASK, REMOVAL)}
    assert [words(one) for one in reports.values()] == [[Word.BETTER], [Word.WORSE]]
    assert [one.erasure for one in reports.values()] == [MASK, REMOVAL]
    gating = StandingGates(explainer.encoded, None)
    for erasure, report in reports.items():
        test = finish(find_chance(explainer, explainer.encoded, 1, [LOO], erasure=erasure))
        under = under_erasure(test, gating)
        assert under.report.verdicts == report.verdicts
        assert under.inputs(LOO) == under.inputs("random orders") == "validity unavailable"
        assert under.inputs("gradient") == "—"


# The same under real models


def test_it_asks_through_the_memo_and_nothing_is_asked_twice(tiny_model, tmp_path):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    encoded = explainer.encode("the ferry did not leave the old [MASK] before first light and then sank", None, "word")
    names = [LOO, GRADIENT]
    test = finish(find_chance(explainer, encoded, 1, names, early=False, draws=49))
    free = int((~encoded.premasked).sum())
    assert free == 13 and test.null.planned == len(test.null.reached) == 49
    spent = explainer.model.scheduler.counters.passes
    again = finish(find_chance(Explainer(explainer.model, explainer.store), encoded, 1, names, early=False, draws=49))
    assert explainer.model.scheduler.counters.passes == spent
    np.testing.assert_array_equal(again.null.reached, test.null.reached)
    assert isinstance(explainer.oracles.of(encoded), Oracle)
    own = 4 * free + 4
    assert explainer.oracles.of(encoded).count <= null_cost(explainer, encoded, 2, 49).passes + own
    assert explainer.oracles.of(encoded).count <= verdict_cost(explainer, encoded, names, 49).passes + own


def test_verdicts_are_known_once_every_random_order_is_and_to_ask_costs_nothing(tiny_model, tmp_path):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    encoded = explainer.encode("the ferry did not leave the old harbour before first light and sank", None, "word")
    scores = {name: score(explainer, encoded, name, 1) for name in (LOO, GRADIENT)}
    before = explainer.model.scheduler.counters.passes
    assert not chance_known(explainer, encoded, 1, scores, planned=2)
    assert explainer.model.scheduler.counters.passes == before
    finish(find_chance(explainer, encoded, 1, [*scores]))
    later, spent = Explainer(explainer.model, explainer.store), explainer.model.scheduler.counters.passes
    assert chance_known(later, encoded, 1, scores, planned=2)
    assert not chance_known(later, encoded, 1, scores, planned=40), "more measures take more orders"
    assert explainer.model.scheduler.counters.passes == spent


def test_half_precision_spares_inputs_and_changes_no_verdict(tiny_model, tmp_path):
    stores = [Store(tmp_path / name) for name in ("own", "half")]
    own, quick = (Explainer(tiny_model("bert"), store) for store in stores)

    def halved(explainer: Explainer) -> Explainer:
        copied = half_copy(explainer.model)
        explainer._half = (None if copied is None else Oracles(copied, explainer.store),)
        return explainer

    own._half = (None,)
    text = "the ferry did not leave the old harbour before first light and nobody on the pier knew why"
    encoded, names = own.encode(text, None, "word"), [LOO, GRADIENT, IXG]
    tests = [finish(find_chance(one, encoded, 1, names, early=False)) for one in (own, halved(quick))]
    reports = [decide_verdicts(test, StandingGates(encoded, None)) for test in tests]
    assert reports[0].verdicts == reports[1].verdicts and tests[0].null.rough == 0 < tests[1].null.rough
    assert quick.oracles.of(encoded).count < own.oracles.of(encoded).count
    assert as_plain(reports[1])["orders_in_half_precision"] == tests[1].null.rough
    # What is expected of like work goes by tokens: of more orders there are more, in either precision.
    for one in (own, quick):
        few, many = (null_cost(one, encoded, planned) for planned in (2, 8))
        assert 0 < few.tokens < many.tokens and few.seconds < many.seconds
    # What half precision said is kept, too.
    later = halved(Explainer(quick.model, quick.store))
    scores = {name: score(later, encoded, name, 1) for name in names}
    spent = quick.model.scheduler.counters.passes
    assert chance_known(later, encoded, 1, scores, planned=3)
    assert quick.model.scheduler.counters.passes == spent and not chance_known(
        Explainer(quick.model, Store(tmp_path / "none")), encoded, 1, scores, planned=3
    )


def test_inputs_that_are_rejected_leave_nothing_to_tell(twin):
    """A model that was trained without masking does not know its masked inputs."""
    explainer = Explainer(twin, None, find_reference(twin))
    encoded = explainer.encode("so bland that you want your evening back", None, "word")
    target = int(explainer.logits(encoded).argmax())
    test = finish(find_chance(explainer, encoded, target, [LOO]))
    report = decide_verdicts(test, StandingGates(encoded, explainer.reference))
    (one,) = report.verdicts
    assert one.word == Word.UNTOLD and one.causes == (Cause.REJECTED,)
    # Fewer measures or more orders, which would be advised where no p can be small enough, would tell nothing here.
    (lost,) = decide_verdicts(replace(test, planned=10**9), StandingGates(encoded, explainer.reference)).verdicts
    assert lost.causes == (Cause.REJECTED,) and lost.why == Untold.RANDOM_REJECTED
    # Whose inputs: here those of the random orders, and without these the measure's own.
    assert one.why == Untold.RANDOM_REJECTED and not report.untested
    (one,) = decide_verdicts(
        replace(test, band=Band(test.band.logits, {})), StandingGates(encoded, explainer.reference)
    ).verdicts
    assert one.why == Untold.OWN_REJECTED and one.causes == (Cause.REJECTED,)


def test_the_figure_holds_every_order_and_each_measure_at_its_own():
    report = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS), IXG: signed(-WEIGHTS)}))
    drawn = among_random_orders(report.null.reached, report.reached, "probability of <b>", report.null.every)
    bars, *lines = drawn["data"]
    assert sum(bars["y"]) == 5040 and bars["name"] == "all orders (5,040)"
    assert [(line["name"], line["x"]) for line in lines] == [(name, [report.reached[name]] * 2) for name in (LOO, IXG)]
    assert lines[0]["line"]["dash"] != lines[1]["line"]["dash"] and "<b>" not in str(drawn["layout"])
    low, high = drawn["layout"]["xaxis"]["range"]
    assert low < report.reached[IXG] and report.reached[LOO] < high
    # A class of any length leaves the title on a phone.
    drawn = among_random_orders(np.full(9, 0.2), {}, f"probability of {'so' * 200}", False)
    assert all(len(line) <= 40 for line in drawn["layout"]["xaxis"]["title"]["text"].split("<br>"))
    # Where every order reaches the same there is a bar all the same.
    assert max(among_random_orders(np.full(9, 0.2), {}, "v", False)["data"][0]["y"]) == 9
