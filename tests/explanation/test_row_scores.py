"""What scores beside an explanation say of a word on which measures part, by hand."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Attribution
from core.explanation.row_scores import (
    RowScore,
    bridge_sentence,
    parted_sentence,
    parted_word,
    parting_sentence,
    reach_sentence,
    reach_text,
)
from core.explanation.rows import build_row
from core.measures.catalogue import measures

TEXT = SimpleNamespace(unit="word", F=3, features=[SimpleNamespace(text=word) for word in ("<b>", "is", "wasted")])
NAN = float("nan")


def row(name: str, *scores: float):
    measure, values = measures()[name], np.array(scores, dtype=float)
    return build_row(measure, Attribution(name, 1, dict.fromkeys(measure.variants, values), 0, 0.0), "signed")


ROWS = [row("leave-one-out", 0.1, 0, 2), row("gradient", 3, 2, 1), row("input × gradient", -0.1, 0.02, -0.1)]


def said(first: RowScore, second: RowScore) -> str:
    return parting_sentence(ROWS, {"leave-one-out": first, "input × gradient": second}, TEXT, "<i>")


def test_the_word_on_which_they_part_is_the_one_both_call_strong():
    i, one, other = parted_word(ROWS) or pytest.fail()
    assert (i, one.measure, other.measure) == (2, "leave-one-out", "input × gradient")
    # The first word is strong to one of them only; random order and rows without a sign part from nobody.
    assert parted_word([ROWS[0], row("input × gradient", -1, 0, 0.1)]) is None
    assert parted_word([ROWS[0], ROWS[1], row("random", 1, 1, -1)]) is None and parted_word([]) is None


def test_of_a_word_that_occurs_again_it_is_told_which_one():
    again = SimpleNamespace(unit="word", F=3, features=[SimpleNamespace(text=word) for word in ("to", "is", "to")])
    assert parted_sentence(ROWS, again, "<i>").startswith("On “<b>to</b>” (2nd of 2) the measures disagree: ")


def test_the_order_that_is_ahead_by_both_scores_is_called_the_more_faithful_on_this_text():
    told = said(RowScore(0.892, 0.407, better=True), RowScore(-0.312, 0.0146, better=False))
    assert told.startswith(
        "On “<b>wasted</b>” the measures disagree: leave-one-out says that it supports <b>&lt;i&gt;</b>, input × gradient that it "
        "opposes it. Masked in the order of leave-one-out the explained score falls faster, computed again at each step (RACU ↑ "
        "0.892 of leave-one-out, -0.312 of input × gradient) and as coloured here (NAOPC 0.407 ↑ against 0.0146), so by these "
    )
    assert told.endswith(
        "so by these two that order is the more faithful one on this text; of the single word this says nothing."
    )
    assert "the order of input × gradient the" in said(RowScore(0.1, 0.2), RowScore(0.2, 0.3))


@pytest.mark.parametrize("better, why", [(False, "not shown to do better than random orders"), (None, "is not known")])
def test_no_order_is_called_the_more_faithful_that_is_not_known_to_be_better_than_chance(better, why):
    told = said(RowScore(0.892, 0.407, better=better), RowScore(-0.312, 0.0146, better=True))
    assert (
        why in told
        and "faithful" not in told
        and re.search("which (measures )?to believe(” asks that| is not said).$", told)
    )


def test_a_winner_without_a_test_is_named_with_that():
    why = "Validity unavailable: this model has no MaSF reference."
    told = said(RowScore(0.9, 0.4, untested=why, better=True), RowScore(0.1, 0.2, untested=why))
    assert told.endswith(f"of the single word this says nothing. {why}") and told.count(why) == 1


@pytest.mark.parametrize(
    "first, second, why",
    [
        (
            RowScore(0.9, racu_marked=True),
            RowScore(0.1),
            "⚠ RACU and NAOPC cannot say which of the two to believe here: some of the masked",
        ),
        (
            RowScore(0.9),
            RowScore(0.1, racu_marked=True),
            "⚠ RACU and NAOPC cannot say which of the two to believe here: some of the masked",
        ),
        (RowScore(0.9, unstable=True), RowScore(0.1), "RACU is unstable on this text, and NAOPC alone"),
        (RowScore(NAN), RowScore(0.1), "RACU is not defined on this text, and NAOPC alone"),
        (RowScore(NAN), RowScore(0.1, better=False), "RACU is not defined on this text, and NAOPC alone"),
        (RowScore(NAN, better=True), RowScore(0.1, better=False), "only the order of leave-one-out is better than"),
        (RowScore(0.5, 0.2, better=False), RowScore(0.4, NAN, better=True), "only the order of input × gradient is"),
        (RowScore(0.5001), RowScore(0.5002), "their areas are equal"),
        (RowScore(0.9, 0.2), RowScore(0.1, 0.4), "leave-one-out is ahead by RACU"),
        (RowScore(0.9, 0.2), RowScore(0.1, 0.2), "by NAOPC they are equal"),
        (
            RowScore(0.9, 0.924),
            RowScore(0.1, 0.922),
            "by NAOPC they are level (0.924 ↑ and 0.922, less than 0.01 apart)",
        ),
        (
            RowScore(0.9, 0.922),
            RowScore(0.1, 0.924),
            "by NAOPC they are level (0.922 ↑ and 0.924, less than 0.01 apart)",
        ),
        (RowScore(0.5, NAN), RowScore(0.4, 0.9), "NAOPC is not defined on this text"),
        (RowScore(0.5, 0.1), RowScore(0.4, NAN), "NAOPC is not defined on this text"),
        (
            RowScore(0.5, 0.1, naopc_marked=True),
            RowScore(0.4, 0.9, naopc_marked=True),
            "⚠ RACU and NAOPC cannot say which of the two to believe here: some of the masked",
        ),
        (
            RowScore(0.5, 0.9),
            RowScore(0.4, 0.1, naopc_marked=True),
            "⚠ RACU and NAOPC cannot say which of the two to believe here: some of the masked",
        ),
    ],
)
def test_no_order_is_ranked_where_the_evidence_does_not_bear_it(first, second, why):
    told = said(first, second)
    assert why in told and "more faithful" not in told


def test_nothing_is_said_before_both_are_scored_or_where_none_part():
    # The lead may turn while limits are searched.
    assert said(RowScore(0.5), RowScore(0.4)) == "" == said(RowScore(0.5, 0.1), RowScore(0.4))
    scores = {"leave-one-out": RowScore(0.9, 0.8), "input × gradient": RowScore(0.4, 0.3)}
    assert "that it opposes it. Masked in the order of leave-one-out" in parting_sentence(ROWS, scores, TEXT, "bad")
    assert said(RowScore(0.9), RowScore()) == "" == parting_sentence(ROWS[:2], {}, TEXT, "bad")


def test_scores_that_put_different_measures_first_are_explained_and_no_others():
    def told(first, second, rows=(ROWS[0], ROWS[2])):
        return bridge_sentence(rows, {"leave-one-out": first, "input × gradient": second})

    said = told(RowScore(2.53, 0.69), RowScore(1.07, 0.707))
    assert said.startswith("By RACU leave-one-out is ahead (2.53 ↑), by NAOPC input × gradient (0.707 ↑): ")
    assert told(RowScore(2.53, 0.69), RowScore(1.07, 0.4)) == ""
    for other in (
        RowScore(1.07),
        RowScore(1.07, float("nan")),
        RowScore(1.07, 0.707, naopc_marked=True),
        RowScore(1.07, 0.707, racu_marked=True),
        RowScore(1.07, 0.707, unstable=True),
        RowScore(),
    ):
        assert told(RowScore(2.53, 0.69), other) == ""
    # gradient has no scores yet, and a single row is set against nothing.
    assert (
        told(RowScore(2.53, 0.69), RowScore(1.07, 0.707), ROWS)
        == ""
        == told(RowScore(2.53, 0.69), RowScore(), ROWS[:1])
    )


def board(low: float, high: float, **reached: float):
    """Limits 0.2 and 0.7, so that NAOPC is twice what AOPC exceeds 0.2 by; 30 random orders."""
    return SimpleNamespace(
        limits=SimpleNamespace(lower=0.2, upper=0.7),
        chance=SimpleNamespace(name="30 random orders", low=low, high=high, naopc=0.5),
        standings=[SimpleNamespace(measure=name, aopc={"comprehensiveness": aopc}) for name, aopc in reached.items()],
        chance_marked=lambda normalised: False,
    )


def test_orders_no_better_than_chance_are_set_against_what_random_orders_reach():
    found = board(0.25, 0.55, a=0.4, b=0.21, c=0.6, d=0.69)
    scores = {name: RowScore(0.3, 2 * (one - 0.2), better=False) for name, one in zip("abc", (0.4, 0.21, 0.6))}
    scores["d"] = RowScore(0.9, 0.98, better=True)
    middle = "the middle 95 % of 30 random orders"
    assert reach_text(found) == f"Random orders of these words reach a NAOPC of 0.1 to 0.7 ({middle})"
    said = (
        f"{reach_text(found)}: <b>a</b> (0.4) lies within that; <b>b</b> (0.02) lies below that; <b>c</b> (0.8) lies "
        "above that, as one of several measures may by luck."
    )
    assert (
        reach_sentence(found, scores)
        == f"{said} RACU masks in another order: the measure is asked again after each step."
    )
    assert reach_sentence(found, scores, anew=True) == said, "that is told already"
    found.chance_marked = lambda normalised: normalised
    assert "a NAOPC of 0.1 to 0.7 ⚠ (the" in reach_text(found), "limits rest on rejected inputs, and so does NAOPC"
    low = {"a": RowScore(-0.1, 0.4, better=False)}
    assert reach_sentence(found, low).endswith("lies within that."), "both say the same of it"


def test_nothing_is_set_against_random_orders_that_is_better_not_told_or_where_there_are_none():
    found = board(0.25, 0.55, a=0.4)
    for score in (RowScore(0.3, 0.4, better=True), RowScore(0.3, 0.4), RowScore(0.3, NAN, better=False)):
        assert reach_sentence(found, {"a": score}) == ""
    found.chance = None
    assert reach_text(found) == reach_sentence(found, {"a": RowScore(0.3, 0.4, better=False)}) == ""
