"""Examples: which are worth looking at? How often the model is right, on all of them or on those that filters leave."""

import numpy as np

from core.data.browsing import Index, Predicted, Query, each_text_once, worst
from core.evaluation.findings import FEW
from core.evaluation.slices import slice_of
from core.mathematics.statistics import Interval
from core.results.caveats import Caveat
from core.results.result import Fact, Kind, Outcome, Result


class ExamplesOutcome(Outcome):
    """What predictions of a data set come to."""

    RIGHT = "right on so many"
    RIGHT_OF_FILTERED = "right on so many of those filtered"
    NO_LABELS = "no labels"
    NOT_PREDICTED = "not predicted"
    NO_EXAMPLE = "no example left"


def examples_result(index: Index, judged: Predicted, query: Query, rows: np.ndarray, complete: bool) -> Result:
    """How often the model is right on rows int64[n], which a query leaves; complete: whether all are predicted, and
    all is known that the query asks for.
    """
    partial = [] if complete else [Caveat.PARTIAL]
    if not len(rows):
        return Result.of(ExamplesOutcome.NO_EXAMPLE, caveats=partial, count=len(index))
    left = rows if query.narrows else np.arange(len(index))
    if not (judged.predicted[left] >= 0).any():
        return Result.of(ExamplesOutcome.NOT_PREDICTED, caveats=[Caveat.PARTIAL], count=len(left))
    found = slice_of(judged, left, index.texts)
    if not found.judged:
        row = int(left[np.nanargmin(judged.confidence[left])])
        fact = Fact("least_sure", "least sure example", index.data.examples[row].id, Kind.TEXT)
        return Result.of(ExamplesOutcome.NO_LABELS, [fact], partial, count=len(left))
    outcome = ExamplesOutcome.RIGHT_OF_FILTERED if query.narrows else ExamplesOutcome.RIGHT
    caveats = [*partial, *([Caveat.FEW_TEXTS] if found.judged < FEW else [])]
    caveats += [Caveat.SELECTED] if query.picked_by else []
    facts = [
        _fact("accuracy", "accuracy", found.accuracy, "accuracy"),
        *_difference(found, query, complete),
        *_worst(index, judged, left),
    ]
    right = each_text_once(np.isin(np.arange(len(judged.right)), left) & (judged.right >= 0), index.texts)
    return Result.of(outcome, facts, caveats, right=int((judged.right[right] == 1).sum()), count=found.judged)


def _fact(key: str, label: str, share: Interval, about: str) -> Fact:
    return Fact(key, label, share.mean, Kind.SHARE, "↑", share.low, share.high, about=about)


def _difference(found, query: Query, complete: bool) -> list[Fact]:
    """How much higher the accuracy is than on the others."""
    if not query.narrows or query.picked_by or not complete or found.against is None or not found.enough:
        return []
    return [_fact("difference", "above the others", found.against, "slice")]


def _worst(index: Index, judged: Predicted, left: np.ndarray) -> list[Fact]:
    row = worst(judged, left)
    wrong = int((judged.right[left] == 0).sum())
    facts = [Fact("mistakes", "mistakes", wrong, Kind.COUNT, "↓")]
    if row is not None:
        facts.append(Fact("surest_mistake", "surest mistake", index.data.examples[row].id, Kind.TEXT))
        facts.append(Fact("its_confidence", "its confidence", float(judged.confidence[row]), about="confidence"))
    return facts
