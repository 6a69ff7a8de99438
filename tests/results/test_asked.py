"""What limits any answer over texts: doubts of the labels, typed special tokens, and texts without effect."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.data.browsing import LabelMatch, match_labels
from core.data.examples import Example
from core.evaluation.sampling import Sample
from core.evaluation.study import Answers, Rows
from core.results.asked import AskedOutcome, limited_answer
from core.results.caveats import Caveat
from core.results.result import Result

CLASSES, N = ("negative", "positive"), 12
LABELS = np.arange(N) % 2


def limited(predicted, match: LabelMatch, labelled: bool = True, typed: int = 0, flat: int = 0, *already: Caveat):
    """A result of a question under a model that predicts so; predicted: None where no row keeps it."""
    facts = {"typed": np.where(np.arange(N) < typed, 1.0, 0.0)}
    columns = {} if predicted is None else {"predicted": predicted}
    rows = Rows(np.ones(N, dtype=bool), {}, np.ones(N, dtype=bool), columns, ("",), facts)
    sample = Sample("some", "digest", tuple(Example(f"{i}", f"text {i}") for i in range(N)), LABELS, match=match)
    model = SimpleNamespace(
        labels=CLASSES, module=SimpleNamespace(config=None), tokenizer=SimpleNamespace(mask_token_id=0), card=None
    )
    question = SimpleNamespace(labelled=labelled, without_effect=lambda answers: flat)
    answers = Answers(model, None, sample, {"study": rows})
    return limited_answer(Result.of(AskedOutcome.FEW_TEXTS, caveats=already), question, answers)


BY_ORDER, BY_NAME = match_labels(("0", "1"), CLASSES), match_labels(CLASSES, CLASSES)
WALKED = np.stack([1 - LABELS, LABELS], axis=1)


@pytest.mark.parametrize(
    "predicted, match, labelled, expected",
    [
        (LABELS, BY_NAME, True, set()),
        (LABELS, BY_ORDER, True, {Caveat.LABEL_ORDER_DOUBTFUL}),
        (1 - LABELS, BY_ORDER, True, {Caveat.LABELS_EXCHANGED}),
        (1 - LABELS, BY_NAME, True, {Caveat.LABELS_EXCHANGED}),
        # Followed as it is masked: the text as it stands counts.
        (WALKED, BY_ORDER, True, {Caveat.LABELS_EXCHANGED}),
        (1 - WALKED, BY_ORDER, True, {Caveat.LABEL_ORDER_DOUBTFUL}),
        (None, BY_ORDER, True, {Caveat.LABEL_ORDER_DOUBTFUL}),
        (1 - LABELS, BY_ORDER, False, set()),
    ],
)
def test_every_question_that_asks_for_labels_doubts_them(predicted, match, labelled, expected):
    assert set(limited(predicted, match, labelled).caveats) == expected


def test_a_doubt_that_is_said_is_not_weakened():
    found = limited(LABELS, BY_ORDER, True, 0, 0, Caveat.LABELS_EXCHANGED)
    assert found.caveats == (Caveat.LABELS_EXCHANGED,)


@pytest.mark.parametrize("typed, flat", [(0, 0), (3, 0), (0, 12), (1, 2)])
def test_typed_tokens_and_texts_without_effect_are_counted(typed, flat):
    found = limited(None, BY_NAME, typed=typed, flat=flat)
    assert found.has(Caveat.TYPED_SPECIAL) is (typed > 0) and found.has(Caveat.FLAT) is (flat > 0)
    for key, count in (("typed_special", typed), ("flat", flat)):
        fact = found.fact(key)
        assert (fact is None) if not count else (fact.value, fact.of) == (count, N)
