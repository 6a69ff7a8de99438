"""How well measures find the evidence of a text: every outcome from rows made up by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.plausibility import Evidence
from core.results.evidence import EvidenceOutcome, evidence_result

NOTHING = np.zeros(4, dtype=bool)
SECOND = Evidence(np.array([False, True, False, False]), NOTHING)


def rows(**scores: list[float]):
    return [SimpleNamespace(measure=name, scores=np.array(one)) for name, one in scores.items()]


@pytest.mark.parametrize(
    ("found", "outcome", "named", "precision"),
    [
        # In the first, second and last place: 1, 1/2 and 1/4; at random (1 + 1/2 + 1/3 + 1/4)/4.
        ({"gradient": [0, 3, 2, 1], "attention": [3, 2, 1, 0]}, EvidenceOutcome.HIGHEST, ["gradient"], 1.0),
        ({"gradient": [0, 3, 2, 1], "random": [0, 3, 2, 1]}, EvidenceOutcome.HIGHEST, ["gradient"], 1.0),
        ({"gradient": [0, 3, 2, 1], "beam": [1, 4, 3, 2]}, EvidenceOutcome.HIGHEST, ["gradient", "beam"], 1.0),
        ({"gradient": [3, 2, 1, 0]}, EvidenceOutcome.NOT_BETTER, None, 0.5),
        ({"gradient": [3, 0, 2, 1], "attention": [3, 2, 1, 0]}, EvidenceOutcome.NOT_BETTER, None, 0.5),
        ({"random": [0, 3, 2, 1]}, EvidenceOutcome.NOT_RANKED, None, None),
        ({"gradient": [1, 1, 1, 1]}, EvidenceOutcome.NOT_RANKED, None, None),
        ({}, EvidenceOutcome.NOT_RANKED, None, None),
    ],
)
def test_who_finds_one_of_four_words(found, outcome, named, precision):
    result = evidence_result(SECOND, rows(**found), "word")
    assert result.outcome == outcome and result.slots.get("measures") == named
    assert (result.fact("precision") and result.fact("precision").value) == precision
    assert precision is None or result.fact("chance").value == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


def test_none_is_called_the_best_by_a_hair():
    """Of 40 words 20 are evidence; one order has its first mistake a place later than the other."""
    mask = np.arange(40) < 20
    scores = {name: np.arange(40, 0, -1.0) for name in ("gradient", "attention")}
    scores["attention"][[19, 20]] = scores["attention"][[20, 19]]
    result = evidence_result(Evidence(mask, np.zeros(40, dtype=bool)), rows(**scores), "word")
    assert result.outcome == EvidenceOutcome.ALIKE and result.slots["measures"] == ["gradient", "attention"]


def test_evidence_that_is_everything_or_not_read_needs_no_measure():
    assert evidence_result(Evidence(~NOTHING, NOTHING), rows(), "word").outcome == EvidenceOutcome.EVERYTHING
    assert evidence_result(None, rows(gradient=[1, 2, 3, 4]), "word").outcome == EvidenceOutcome.NOT_READ
