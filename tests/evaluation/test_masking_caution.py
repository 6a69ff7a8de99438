"""What pages that compute means say of a model check: one sentence by its verdict, and nothing where all is well."""

from types import SimpleNamespace

import numpy as np
import pytest

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
from core.evaluation.studies.masking_caution import masking_caution
from core.mathematics.statistics import Interval
from core.validity.references import CALIBRATED


def found(verdict, unmasked=False):
    """A check of this verdict, with at most 36 of 200 texts rejected, or with the unmasked ones rejected, too."""
    gate = SimpleNamespace(rejected=np.array([unmasked, *[True] * 10]))
    random = SimpleNamespace(gates={CALIBRATED: gate})
    return SimpleNamespace(verdict=verdict, random=random, most_rejected=lambda: Interval(0.18, 0.13, 0.24))


@pytest.mark.parametrize(
    "verdict, told",
    [
        (
            REJECTED,
            "Model check finds inputs of this data rejected as out-of-distribution when words are masked at random (at a masking ratio up to 18 % of the texts, where 5 % are expected), so means over these texts may rest partly on such inputs.",
        ),
        (
            DOUBTFUL,
            "Model check leaves open whether too many inputs of this data, masked at random, are rejected as out-of-distribution (at a masking ratio up to 18 % of the texts, where 5 % are expected).",
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
