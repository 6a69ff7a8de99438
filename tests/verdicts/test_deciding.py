"""Verdicts on models that are tables: what is believed, what cannot be told, and why measures fail, each planted."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.limiting import Walk, score
from core.explanation.recursive import Band
from core.explanation.standings import SUFFICIENCY, Chance, StandingGates, StandingTable
from core.figures.verdict_figures import among_random_orders
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
from core.verdicts.chance import MOST_DRAWS, NullOrders
from core.verdicts.deciding import Cause, Reasons, Verdict, VerdictReport, Word, among_its_orders, decide_verdicts
from core.verdicts.finding import NoVerdict, chance_known, find_chance, null_cost, verdict_cost
from core.verdicts.operators import operator_rows, operators_sentence, under_erasure
from core.verdicts.reasons import find_reasons
from core.verdicts.telling import (
    as_good_sentence,
    as_plain,
    believe_sentence,
    beside_sentence,
    chance_sentence,
    erasures_sentence,
    families_sentence,
    favoured_sentence,
    reason_text,
    suits_sentence,
    unsigned_sentence,
    verdict_cells,
    verdict_text,
    why_sentence,
)
from core.wording import number, without_markup
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
    said = believe_sentence(report, explainer.encoded)
    why = "masked one by one in its order, the most important first, words take the score down further on average than in random orders"
    assert said.startswith(
        f"Believe <b>leave-one-out</b> (chance p = 0.000595) here, of 3 measures: {why}; <b>gradient</b>"
    )
    assert "<b>input × gradient</b> (chance p = 0.000595) does worse than chance" in said
    told = "Told by AOPC comprehensiveness (higher is better), and chance p (lower is better), adjusted for 3 measures "
    assert chance_sentence(report).startswith(f"{told}by Holm. Each order is set against all 5,040 orders")
    assert report.untested and report.untested in said
    # Masked last, what counts least: sufficiency is lower the better.
    least = decided(explainer, directions=(SUFFICIENCY,))
    assert (
        words(least)[:2] == [Word.BETTER, Word.WORSE]
        and "in its order, the least important first, words take the score down less on average than in random orders"
        in (believe_sentence(least, explainer.encoded))
    )
    assert "by AOPC sufficiency (lower is better)" in chance_sentence(least)


def test_how_many_random_orders_do_as_well_is_counted_by_hand():
    """Words that cost alike but for one: an order reaches what depends on where that one comes in it."""
    values, scores = additive([0.3, 0.01, 0.01, 0.01, 0.01]), signed(np.array([3.0, 4.0, 2.0, 1.0, 0.0]))
    report = decided(TableExplainer(values, {LOO: scores, GRADIENT: {"L2": np.ones(5)}}))
    # It masks that word second: so do 23 of the other 119 orders of five words, and 24 mask it first.
    assert report.null.every and as_good_sentence(report, GRADIENT) == "", "it has no order"
    assert as_good_sentence(report, LOO) == (
        "47 of the other 119 orders do as well as leave-one-out: p = 0.4 by itself, 0.8 adjusted for 2 measures."
    )
    best = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)}))
    assert as_good_sentence(best, LOO) == "None of the other 5,039 orders do as well as leave-one-out."


def test_what_holm_over_measures_does_not_reject_is_not_shown_and_can_be_luck():
    """The third best of 120 orders, p = 0.025, held against 0.05 / 3; the two others stand in the middle."""
    weights, near = np.array([0.3, 0.2, 0.1, 0.05, 0.02]), signed(np.array([5.0, 4.0, 2.0, 3.0, 1.0]))
    middling = {name: signed(np.array(one)) for name, one in ((IXG, [3.0, 1, 5, 2, 4]), ("LIME", [2.0, 5, 1, 3, 4]))}
    explainer = TableExplainer(additive(weights), {LOO: near, **middling})
    report = decided(explainer)
    assert words(report) == [Word.NO_BETTER] * 3 and report.of(LOO).p[1] == 3 / 120
    assert as_good_sentence(report, LOO) == (
        "2 of the other 119 orders do as well as leave-one-out: with 3 measures tried that can be luck (chance p = 0.075 by Holm)."
    )
    assert believe_sentence(report, explainer.encoded).startswith(
        "<b>None</b> of these 3 orders is shown to do better than chance here, that is, to take the "
        "score down further on average than random orders do (smallest chance p = 0.075 by Holm); that does not show them wrong."
    )
    # Alone it is believed; beside one that is, another is not shown to be better.
    alone = decided(explainer, LOO)
    assert words(alone) == [Word.BETTER]
    assert "(lower is better), over one measure alone." in chance_sentence(alone)
    assert "of 1" not in believe_sentence(alone, explainer.encoded)
    # The same text has another word over fewer measures, which is said; and nothing where words are the same.
    assert families_sentence(report, alone) == (
        "2 of the other 119 orders do as well as <b>leave-one-out</b>: p = 0.025 by itself, 0.075 adjusted for 3 measures. "
        "Over the 1 measure that other pages begin with it is 0.025, better than chance: borderline. Report the family of "
        "measures that you chose beforehand."
    )
    assert families_sentence(report, report) == "" == families_sentence(report, decided(explainer, IXG))
    beside = TableExplainer(additive(weights), {LOO: signed(weights), **middling})
    said = believe_sentence(decided(beside), beside.encoded)
    assert said.startswith(
        "Believe <b>leave-one-out</b> (chance p = 0.025) here, of 3 measures: masked one by one in its order, the most "
        "important first, words take the score"
    )
    assert "are not shown to do better than chance." in said


def of_family(drawn: list[float], planned: int, word: Word, p: float, **more) -> VerdictReport:
    """One measure that reaches .5 among `planned` measures, against orders that reach so much."""
    adjusted = (min(1.0, planned * p),) * 2
    one = Verdict(LOO, word, (p, p), (1.0, 1.0), **({"adjusted": adjusted} | more))
    null = NullOrders(np.array(drawn), len(drawn))
    return VerdictReport((one,), "comprehensiveness", "signed", MASK, null, planned, None, {LOO: 0.5}, None, "")


def test_a_verdict_that_two_families_tell_differently_is_called_borderline_by_count_and_both_p():
    six = of_family([0.6] + [0.1] * 119, 6, Word.NO_BETTER, 2 / 121)
    three = of_family([0.1] * 99, 3, Word.BETTER, 1 / 100)
    ends = "Report the family of measures that you chose beforehand."
    assert families_sentence(six, three) == (
        f"1 of 120 random orders does as well as <b>{LOO}</b>: p = 0.0165 by itself, 0.0992 adjusted for 6 measures. Over "
        f"the 3 measures that other pages begin with (99 random orders) it is 0.03, better than chance: borderline. {ends}"
    )
    # The same word in both is not borderline, whatever p is.
    same = of_family([0.1] * 120, 6, Word.BETTER, 1 / 121)
    assert families_sentence(same, three) == ""
    # As many orders are not named again; what more orders tell may be the other way round.
    fewer = of_family([0.1] * 120, 3, Word.BETTER, 1 / 121)
    assert "begin with it is 0.0248, better than chance" in families_sentence(six, fewer)
    none = of_family([0.6] + [0.1] * 98, 3, Word.NO_BETTER, 2 / 100)
    assert families_sentence(same, none).startswith(
        f"None of 120 random orders do as well as <b>{LOO}</b>: p = 0.00826 by itself, 0.0496 adjusted for 6 measures."
    )
    assert "it is 0.06, not shown better than chance: borderline." in families_sentence(same, none)
    # Where more measures leave it open there is one answer, which is not borderline.
    untold = of_family([0.1] * 24, 6, Word.UNTOLD, 1 / 25, why="Too few.")
    assert families_sentence(untold, three) == (
        "Over the 3 measures that other pages begin with (99 random orders) "
        f"<b>{LOO}</b> is better than chance (chance p = 0.03). {ends}"
    )
    worse = of_family([0.9] * 99, 3, Word.WORSE, 1.0, adjusted=(0.03, 0.03))
    assert families_sentence(six, worse).startswith(
        f"<b>{LOO}</b> is not shown better than chance over 6 measures. Over the 3 measures that other pages begin with "
        "(99 random orders) it is worse than chance (chance p = 0.03)."
    )


def test_of_a_second_model_it_is_said_in_short_whom_to_believe():
    better = TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)})
    said = beside_sentence(decided(better), "<twin>")
    assert said == "Under <b>&lt;twin&gt;</b> believe <b>leave-one-out</b> (chance p = 0.000198)."
    none = TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS[[3, 0, 6, 1, 5, 2, 4]])})
    assert beside_sentence(decided(none), "b") == "Under <b>b</b> none is shown to do better than chance."
    flat = TableExplainer(additive(np.zeros(7)), {LOO: signed(WEIGHTS)})
    assert beside_sentence(decided(flat), "b").startswith(
        "Under <b>b</b> which to believe <b>cannot be told</b>: every"
    )


def test_a_measure_that_masks_beside_others_is_said_to_suit_the_test():
    told = "leave-one-out masks words to score them, as the chance test does: that favours it, and by how much is not known."
    assert suits_sentence([LOO, GRADIENT]) == told == suits_sentence([GRADIENT, LOO, "random order"])
    assert suits_sentence([LOO, "LIME", GRADIENT]).startswith("leave-one-out and LIME mask words")
    assert suits_sentence([LOO]) == "" == suits_sentence([GRADIENT, IXG]) == suits_sentence([LOO, "LIME"])


def test_a_measure_without_a_sign_is_said_to_put_the_other_class_first_too():
    told = "gradient has no sign, so that words against the class stand first, too: that counts against it."
    assert unsigned_sentence([LOO, GRADIENT, "random"], "signed") == told
    assert unsigned_sentence([LOO, GRADIENT, "attention"], "signed").startswith("gradient and attention have no sign")
    assert unsigned_sentence([LOO, GRADIENT], "absolute") == "" == unsigned_sentence([GRADIENT, "attention"], "signed")
    # What searches for the order itself needs no sign.
    assert unsigned_sentence([LOO, GRADIENT, "beam"], "signed") == told
    # Of what is believed all the same nothing is said, nor where nobody is believed.
    worse, better = signed(WEIGHTS[[3, 0, 6, 1, 5, 2, 4]]), signed(WEIGHTS)
    hurt = decided(TableExplainer(additive(WEIGHTS), {LOO: better, GRADIENT: worse | {"L2": worse["signed"]}}))
    assert without_markup(favoured_sentence(hurt)).endswith(told)
    both = decided(TableExplainer(additive(WEIGHTS), {LOO: better, GRADIENT: better | {"L2": better["signed"]}}))
    assert "has no sign" not in favoured_sentence(both) and "that favours it" in favoured_sentence(both)
    # Of two without a sign both are named, and which is believed all the same.
    harmed, spared = worse | {"L2": worse["signed"]}, {"absolute": better["signed"]}
    three = decided(TableExplainer(additive(WEIGHTS), {LOO: better, GRADIENT: harmed, "attention": spared}))
    assert words(three)[2] == Word.BETTER != words(three)[1]
    assert without_markup(favoured_sentence(three)).endswith(
        " gradient and attention have no sign, so that words against the class stand first, too: that counts against "
        "them, though attention is better than chance here."
    )
    # What favours a measure explains nothing where that is not believed.
    other = decided(TableExplainer(additive(WEIGHTS), {LOO: worse, IXG: better}))
    assert words(other)[1] == Word.BETTER != words(other)[0] and favoured_sentence(other) == ""
    assert (
        favoured_sentence(
            decided(TableExplainer(additive(WEIGHTS), {LOO: worse, GRADIENT: worse | {"L2": worse["signed"]}}))
        )
        == ""
    )


def test_beyond_twelve_words_random_orders_are_drawn_and_shared_by_all_measures():
    weights = np.linspace(0.12, 0.0, 13)
    explainer = TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights[::-1])})
    report = decided(explainer)
    assert words(report) == [Word.BETTER, Word.WORSE]
    assert not report.null.every and report.null.planned == 99 and report.verdicts[0].p[0] == 0.01
    assert explainer.tested(None).count <= 99 * 12 + 4 * 14
    assert as_good_sentence(report, LOO) == (
        "None of 99 random orders do as well as leave-one-out: chance p is the smallest that so many allow."
    )
    # One in 100, for two measures: both that reach it have the same p, whichever does better.
    assert (
        "The smallest chance p that 99 orders allow for 2 measures is 0.02: measures that both have"
        in chance_sentence(report)
    )
    none = replace(report, verdicts=tuple(replace(one, word=Word.UNTOLD) for one in report.verdicts))
    assert "is at least" not in chance_sentence(none), "where nothing is told no measure reaches it"
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
    # The first 30 of the 99 are those whose inputs are tested.
    own = Chance.of(report.null.reached[:30], limits, gate, "30 random orders", 30)
    board = StandingTable(limits, walk, walk, (gate, gate), "float32", (), own)
    found = among_its_orders(board, report).chance
    assert (found.name, found.tested, found.gate) == ("99 random orders of the chance test", 30, gate)
    assert found.mean == found.naopc == pytest.approx(report.null.reached.mean()) != own.mean
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(report.null.reached, [0.025, 0.975])))
    # Before there are verdicts, where none is told, and where fewer orders settled them.
    untold = replace(report, verdicts=tuple(replace(one, word=Word.UNTOLD) for one in report.verdicts))
    early = replace(report, null=replace(report.null, reached=report.null.reached[:8]))
    assert all(among_its_orders(board, one) is board for one in (None, untold, early))
    assert among_its_orders(replace(board, chance=None), report).chance is None
    # Few words have no more orders than these, and that is all.
    every = replace(report, null=replace(report.null, reached=report.null.reached[:24], every=True))
    assert among_its_orders(board, every).chance.name == "all 24 orders of the chance test"


def test_of_up_to_twelve_words_every_set_is_asked_for_and_many_orders_are_set_against():
    weights = np.linspace(0.12, 0.0, 12)
    explainer = TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights[::-1])})
    report = decided(explainer)
    assert words(report) == [Word.BETTER, Word.WORSE] and "is at least" not in chance_sentence(report)
    assert report.null.planned == MOST_DRAWS and report.null.free and explainer.tested(None).count == 2**12
    assert report.verdicts[0].p[0] < 1e-4 and report.limits[1] == pytest.approx(report.reached[LOO])


def test_five_measures_take_100_orders():
    weights = np.linspace(0.1, 0.0, 13)
    names = [LOO, IXG, "KernelSHAP", "LIME", "DecompX"]
    report = decided(TableExplainer(additive(weights), dict.fromkeys(names, signed(weights))))
    assert words(report) == [Word.BETTER] * 5 and report.null.planned == 100
    few = decided(TableExplainer(additive(weights), dict.fromkeys(names, signed(weights))), draws=99)
    assert words(few) == [Word.UNTOLD] * 5 and "choose more orders" in few.verdicts[0].why


@pytest.mark.parametrize("F", [1, 2, 3, 4])
def test_a_few_words_have_too_few_orders(F):
    weights = np.linspace(0.5, 0.1, F) / F
    explainer = TableExplainer(additive(weights), {LOO: signed(weights), IXG: signed(weights)})
    report = decided(explainer)
    assert words(report) == [Word.UNTOLD] * 2 and not report.verdicts[0].causes
    ways = f"choose {'fewer measures, ' if F == 4 else ''}a longer text or a smaller unit."
    smallest = {2: "2 orders, so no p is below 0.5", 3: "6 orders, so no p is below 0.167"}
    smallest[4] = "24 orders, so no p is below 0.0417"
    assert report.verdicts[0].why == (
        f"There is one order only, so none that it could be better than: {ways}"
        if F == 1
        else f"There are only {smallest[F]}, and Holm over 2 measures asks for less: {ways}"
    )
    assert report.orders == ("the only order" if F == 1 else f"all {smallest[F].partition(',')[0]}")
    assert "cannot be told here: " in believe_sentence(report, explainer.encoded)
    # Of four words the best of 24 orders is enough for one measure: 1/24 is below 5 %.
    assert words(decided(explainer, LOO)) == [Word.BETTER if F == 4 else Word.UNTOLD]


def test_a_flat_model_tells_nothing():
    for values in (np.full(2**7, 0.9), additive(WEIGHTS / 20)):
        explainer = TableExplainer(values, {LOO: signed(WEIGHTS), GRADIENT: {"L2": WEIGHTS, "L1": WEIGHTS}})
        report = decided(explainer)
        assert words(report) == [Word.UNTOLD] * 2 and report.verdicts[0].causes == (Cause.NARROW,)
        assert "too close together" in report.verdicts[0].why
    # Where no limits are known all that was tried is the same.
    report = decided(TableExplainer(np.full(2**13, 0.9), {LOO: signed(np.arange(13.0))}))
    assert report.limits is None and report.verdicts[0].causes == (Cause.NARROW,) and not report.null.complete


def test_a_measure_without_an_order_is_told_and_the_others_are_judged():
    error = NonFinite("it gave NaN.")
    explainer = TableExplainer(
        additive(WEIGHTS),
        {LOO: signed(WEIGHTS), IXG: signed(np.full(7, 0.2)), GRADIENT: {"L2": np.full(7, np.nan)}, "LIME": error},
    )
    report = decided(explainer)
    assert [one.measure for one in report.verdicts] == [LOO, IXG, GRADIENT, "LIME"]
    assert words(report) == [Word.BETTER] + [Word.UNTOLD] * 3 and report.planned == 4
    whys = [one.why for one in report.verdicts]
    assert "every word the same score" in whys[1] and "gradient gave NaN" in whys[2] and whys[3] == "it gave NaN."
    assert verdict_cells(report, report.verdicts[3])[2:5] == ["—"] * 3
    nobody = decided(explainer, "LIME", IXG)
    assert words(nobody) == [Word.UNTOLD] * 2 and "Of <b>LIME</b> it cannot be told" in believe_sentence(
        nobody, explainer.encoded
    )


def test_where_nothing_is_left_to_mask_it_is_a_sentence():
    explainer = TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)})
    explainer.encoded.premasked = np.ones(7, dtype=bool)
    with pytest.raises(NoVerdict, match="no orders to compare"):
        decided(explainer)


def test_a_sign_that_hides_what_counts_is_named():
    """What opposes the class counts most here, so that its sign puts it last."""
    counts = np.array([0.4, 0.25, 0.1, 0.02, 0.02, 0.02, 0.02])
    explainer = TableExplainer(additive(counts), {IXG: signed(-counts * [1, 1, 1, -1, -1, -1, -1])})
    report = decided(explainer)
    assert words(report) == [Word.WORSE] and report.verdicts[0].causes == (Cause.SIGN,)
    absolute = decided(explainer, sign="absolute")
    assert words(absolute) == [Word.BETTER] and report.turned == {IXG: absolute.verdicts[0].adjusted[1]}
    p = number(report.turned[IXG])
    told = f"by its absolute values (chance p = {p}, not adjusted for being a second look at this text)"
    assert f"does better than chance {told}." in believe_sentence(report, explainer.encoded)
    assert reason_text(report, report.verdicts[0]) == f"sign: does better than chance {told}"


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
    why = (
        f"<b>{LOO}</b> may do better than chance if it is asked again after each step of masking (chance p = 0.0323 by "
        "itself, a hint and no verdict): in another order than this one, that of Recursive masking and RACU."
    )
    assert believe_sentence(report, explainer.encoded).startswith("This order is <b>not</b> shown to do")
    assert why_sentence(report, explainer.encoded).startswith(why) and why in believe_sentence(
        report, explainer.encoded
    )
    assert "step of masking" not in believe_sentence(report, explainer.encoded, why=False)


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
    assert "“<b>w0</b>” and “<b>w5</b>” work only together" in believe_sentence(report, explainer.encoded)
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
    said = erasures_sentence(reports)
    assert "<b>leave-one-out</b> is shown to do better than chance by mask token, and not by removal" in said
    assert "erased by removal" in believe_sentence(reports[REMOVAL], explainer.encoded)
    assert erasures_sentence({MASK: reports[MASK]}) == "" and said == operators_sentence(reports)
    assert "none can be compared" in operators_sentence({MASK: reports[MASK]})
    untold = replace(
        reports[REMOVAL], verdicts=tuple(replace(one, word=Word.UNTOLD) for one in reports[REMOVAL].verdicts)
    )
    assert operators_sentence({MASK: reports[MASK], REMOVAL: untold}) == (
        "Only by mask token can a verdict be told here, so that ways of erasing cannot be compared."
    )
    assert "by some ways only" in operators_sentence({MASK: reports[MASK], REMOVAL: reports[MASK]})
    gating = StandingGates(explainer.encoded, None)
    under = {
        erasure: under_erasure(finish(find_chance(explainer, explainer.encoded, 1, [LOO], erasure=erasure)), gating)
        for erasure in reports
    }
    header, rows = operator_rows(under)
    assert header == ["measure", MASK, REMOVAL] and [row[0] for row in rows] == [LOO, "random orders"]
    for cell, report in zip(rows[0][1:], reports.values(), strict=True):
        assert cell == f"{verdict_text(report.verdicts[0])}; validity unavailable"


def test_names_of_measures_and_words_are_text():
    report = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS)}))
    one = Verdict("<i>", Word.UNTOLD, (np.nan,) * 2, (np.nan,) * 2, "<b>why</b>")
    told = believe_sentence(VerdictReport((one,), *list(vars(report).values())[1:]), SimpleNamespace(features=[]))
    assert "<i>" not in told and "<b>why" not in told and verdict_text(one) == "? cannot be told"


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
    assert "scored in half precision" in chance_sentence(reports[1])
    one = replace(reports[1], null=replace(reports[1].null, rough=1))
    assert "1 of them was scored in half precision, which is faster and rounds more: it lies much" in chance_sentence(
        one
    )
    assert as_plain(reports[1])["orders_in_half_precision"] == tests[1].null.rough
    # What is expected of like work goes by tokens: of more orders there are more, in either precision.
    for one in (own, quick):
        few, many = (null_cost(one, encoded, planned) for planned in (2, 8))
        assert 0 < few.tokens < many.tokens and few.seconds < many.seconds
    # What half precision said is kept, too.
    later = halved(Explainer(quick.model, quick.store))
    spent = quick.model.scheduler.counters.passes
    assert chance_known(later, encoded, 1, {name: score(later, encoded, name, 1) for name in names}, planned=3)
    assert quick.model.scheduler.counters.passes == spent and not chance_known(
        Explainer(quick.model, Store(tmp_path / "none")), encoded, 1, tests[0].scores, planned=3
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
    assert lost.causes == (Cause.REJECTED,) and "choose" not in lost.why
    # Whose inputs: here those of the random orders, and without these the measure's own.
    assert verdict_text(one) == "? cannot be told ⚠ inputs of the random orders rejected"
    assert "inputs of the random orders are rejected as out-of-distribution" in believe_sentence(report, encoded)
    (one,) = decide_verdicts(
        replace(test, band=Band(test.band.logits, {})), StandingGates(encoded, explainer.reference)
    ).verdicts
    assert verdict_text(one) == "? cannot be told ⚠ inputs of its own order rejected"


def test_the_figure_holds_every_order_and_each_measure_at_its_own():
    report = decided(TableExplainer(additive(WEIGHTS), {LOO: signed(WEIGHTS), IXG: signed(-WEIGHTS)}))
    drawn = among_random_orders(report.null.reached, report.reached, "probability of <b>", report.null.every)
    bars, *lines = drawn["data"]
    assert sum(bars["y"]) == 5040 and bars["name"] == "all orders (5,040)"
    assert [(line["name"], line["x"]) for line in lines] == [(name, [report.reached[name]] * 2) for name in (LOO, IXG)]
    assert lines[0]["line"]["dash"] != lines[1]["line"]["dash"] and "<b>" not in str(drawn["layout"])
    low, high = drawn["layout"]["xaxis"]["range"]
    assert low < report.reached[IXG] and report.reached[LOO] < high
    # Where every order reaches the same there is a bar all the same.
    assert max(among_random_orders(np.full(9, 0.2), {}, "v", False)["data"][0]["y"]) == 9
