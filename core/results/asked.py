"""What any question over a sample comes to before it has an answer, and what limits every answer over texts."""

from collections.abc import Iterable

import numpy as np

from core.data.browsing import find_other
from core.evaluation.findings import FEW
from core.evaluation.study import Answers, Question, Rows
from core.results.caveats import Caveat, holding
from core.results.inputs import count_caveats, model_caveats
from core.results.result import Fact, Outcome, Result
from core.wording import Tally


class AskedOutcome(Outcome):
    """Why a question over a sample has no answer."""

    NOT_COMPUTED = "not computed"
    UNFINISHED = "unfinished"
    FEW_TEXTS = "few texts"
    NO_TEXT = "no text"


def without_report(texts: int, done: str, complete: bool, runs: bool) -> Result:
    """What a question comes to of which nothing is known; done: what is done to a text; complete: to none."""
    if complete:
        return Result.of(AskedOutcome.NO_TEXT, count=texts, done=done)
    if runs:
        return Result.of(AskedOutcome.UNFINISHED, caveats=[Caveat.PARTIAL], count=0, total=texts)
    return Result.of(AskedOutcome.NOT_COMPUTED, count=texts)


def unanswered(tally: Tally, n: int, facts: Iterable[Fact], caveats: Iterable[Caveat]) -> Result | None:
    """What a question comes to over n texts while more are to come, or of too few; None where it has an answer."""
    if not tally.settled:
        return Result.of(AskedOutcome.UNFINISHED, facts, caveats, count=tally.n, total=tally.total)
    if n < FEW:
        return Result.of(AskedOutcome.FEW_TEXTS, facts, caveats, count=n, fewest=FEW)
    return None


def sample_caveats(tally: Tally, n: int, cut: int, picked: str) -> list[Caveat]:
    """What limits an answer over n texts; cut: those that are longer than the model reads; picked: as of `Sample`."""
    return holding(
        {
            Caveat.PARTIAL: not tally.complete,
            Caveat.FEW_TEXTS: n < FEW,
            Caveat.TRUNCATED: cut > 0,
            Caveat.SELECTED: bool(picked),
        }
    )


def limited_answer(result: Result, question: Question, answers: Answers) -> Result:
    """A result with what limits any answer besides: the model's head, doubts of the labels where it asks for them, and
    how many texts hold a special token, or have no effect.
    """
    typed, flat = max(one.typed for one in answers.found.values()), question.without_effect(answers)
    caveats, facts = count_caveats(len(answers.sample), {Caveat.TYPED_SPECIAL: typed, Caveat.FLAT: flat})
    doubts = _doubts(answers) if question.labelled and not result.has(Caveat.LABELS_EXCHANGED) else []
    return result.limited([*caveats, *doubts, *model_caveats(answers.model)], facts)


def _doubts(answers: Answers) -> list[Caveat]:
    """Whether the labels may mean other classes, by the predictions of whatever study keeps them."""
    match, labels = answers.sample.match, answers.sample.labels
    for one in answers.found.values():
        # Of the text as it stands first, where it is followed as it is masked.
        predicted = one.columns.get("predicted") if isinstance(one, Rows) else getattr(one, "predicted", None)
        if predicted is not None:
            first = np.where(one.there, predicted.reshape(len(labels), -1)[:, 0], -1)
            if find_other(match, answers.model.labels, labels, first) is not None:
                return [Caveat.LABELS_EXCHANGED]
    return [Caveat.LABEL_ORDER_DOUBTFUL] if match.by_order else []
