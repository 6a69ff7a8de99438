"""What pages that compute means say of a model check: one sentence by its verdict, and nothing where all is well."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.evaluation.studies.board_report import RejectedTexts
from core.evaluation.studies.check_report import (
    CONFUSED,
    DOUBTFUL,
    ONE_CLASS,
    PICKED,
    POOR,
    REJECTED,
    TRUSTED,
    UNSURE,
    UNTESTED,
)
from core.evaluation.studies.masking_caution import masking_caution, metrics_caution
from core.validity.references import CALIBRATED

WHOLE = SimpleNamespace(paired=False, whole="everything", of_first="")


def found(verdict, unmasked=False, where=(9, 10), most=10, sample=WHOLE):
    """A check of this verdict: at one ratio 36 of 200 texts are rejected and at the others 10, together at some."""
    rejected = np.isin(np.arange(11), [0] * unmasked + [*where])
    counts = {CALIBRATED: np.where(np.arange(11) == most, 36, 10)}
    random = SimpleNamespace(gates={CALIBRATED: SimpleNamespace(rejected=rejected)}, rejected=counts)
    return SimpleNamespace(verdict=verdict, random=random, n=200, sample=sample)


@pytest.mark.parametrize(
    "verdict, told",
    [
        (
            REJECTED,
            "Model check finds that inputs of this data are rejected as out-of-distribution when words are masked at random (from 90 % masked on; the most with everything masked, 18 % of the texts, where 5 % are expected: nothing but its length is left of a text then), so means over these texts may rest partly on such inputs.",
        ),
        (
            DOUBTFUL,
            "Model check leaves open whether too many inputs of this data, masked at random, are rejected as out-of-distribution (the most with everything masked, 18 % of the texts, where 5 % are expected: nothing but its length is left of a text then).",
        ),
        (UNTESTED, "Model check could not test whether the model knows masked inputs of this data."),
        (
            CONFUSED,
            "Model check finds that masking confuses the model on this data, so that scores which rest on masking say little.",
        ),
        (
            POOR,
            "Model check finds that the model does not do the task of this data, so that what masking does to it says little.",
        ),
        (UNSURE, "Model check cannot say of this data whether the model can be trusted under masking."),
        (ONE_CLASS, "Model check gives half an answer on this data, since its texts are of one class."),
        (TRUSTED, ""),
        (PICKED, ""),
    ],
)
def test_each_verdict_is_a_sentence_and_one_that_speaks_against_nothing_is_none(verdict, told):
    assert masking_caution(found(verdict)) == told
    assert masking_caution(found(verdict), "<b>There</b>") == told.replace("Model check", "<b>There</b>")


def test_of_texts_that_are_rejected_unmasked_masking_is_not_blamed_and_of_no_check_nothing_is_said():
    assert masking_caution(found(REJECTED, unmasked=True)) == (
        "Model check finds texts of this data rejected as out-of-distribution unmasked already, so means over them may rest on such inputs."
    )
    assert masking_caution(None) == ""


@pytest.mark.parametrize(
    "where, most, told",
    [
        (
            [10],
            10,
            " when words are masked at random, but only with everything masked: 18 % of the texts, where 5 % are expected (nothing but its length is left of a text then), so means",
        ),
        (
            [3, 4, 10],
            3,
            " when words are masked at random (at 30, 40 and 100 % masked; the most with 30 % masked, 18 % of the texts, where 5 % are expected), so means",
        ),
        ([4], 0, " (at 40 % masked; the most unmasked, 18 % of the texts, where 5 % are expected), so means"),
    ],
)
def test_the_ratio_at_which_the_most_texts_are_rejected_is_named_and_what_is_left_of_them_there(where, most, told):
    assert told in masking_caution(found(REJECTED, where=where, most=most))


def test_of_pairs_the_second_text_stays_so_that_more_than_a_length_is_left():
    pairs = SimpleNamespace(paired=True, whole="all of the first text", of_first=" of the first text")
    only = masking_caution(found(REJECTED, where=[10], sample=pairs))
    assert "but only with all of the first text masked: 18 % of the texts, where 5 % are expected, so means" in only
    some = masking_caution(found(REJECTED, where=[3, 10], most=3, sample=pairs))
    assert "the most with 30 % masked of the first text, 18 % of the texts" in some and "length" not in only + some


@pytest.mark.parametrize("unmasked", [False, True])
def test_where_no_mean_is_shown_none_is_said_to_rest_on_such_inputs(unmasked):
    said = masking_caution(found(REJECTED, unmasked), means=False)
    assert "mean" not in said and said == masking_caution(found(REJECTED, unmasked)).partition(", so means")[0] + "."


def test_metrics_whose_inputs_are_rejected_are_named_together_the_most_rejected_first():
    every, few = RejectedTexts(100, 100, 100, True), RejectedTexts(7, 8, 100, False)
    found = {"NS": RejectedTexts(18, 21, 100, True), "NC": few, "Soft-NS": every, "Soft-NC": every}
    assert metrics_caution(found, "<b>There</b>") == (
        "⚠ Of 100 texts of this data, the inputs that a metric gives the model are rejected as out-of-distribution on all "
        "100 for Soft-NS and Soft-NC and on 18 to 21 for NS (depending on the measure); on 7 to 8 for NC (depending on the "
        "measure), not shown to be more than the 5 % expected by chance (<b>There</b>)."
    )
    assert metrics_caution({"Soft-NS": every}, "There") == (
        "⚠ Of 100 texts of this data, the inputs that a metric gives the model are rejected as out-of-distribution on all "
        "100 for Soft-NS; 5 % are expected (There)."
    )
    assert metrics_caution({"NS": RejectedTexts(0, 0, 24, False)}, "There") == (
        "Of 24 texts of this data, the inputs that a metric gives the model are rejected as out-of-distribution on 0 for "
        "NS, not shown to be more than the 5 % expected by chance (There)."
    )
    assert metrics_caution({}, "There") == ""
