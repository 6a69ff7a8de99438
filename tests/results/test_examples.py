"""What predictions of examples come to, against what is counted by hand."""

import numpy as np
import pytest

from core.data.browsing import Query, select
from core.evaluation.findings import FEW
from core.results.caveats import Caveat
from core.results.examples import ExamplesOutcome as Outcome
from core.results.examples import examples_result
from tests.evaluation.made_examples import made

ODD = Query(facets={"tag": ("odd",)})


def result(index, judged, query=None, complete=True):
    query = query or Query()
    return examples_result(index, judged, query, select(index, judged, query), complete)


def test_right_ones_are_counted_and_the_surest_mistake_is_named():
    index, judged = made([(40, 30, ())])
    judged.confidence[35] = 0.99
    found = result(index, judged)
    assert found.outcome is Outcome.RIGHT and (found.slots["right"], found.slots["count"]) == (30, 40)
    assert found.fact("accuracy").value == 0.75 and found.fact("accuracy").low < 0.75 < found.fact("accuracy").high
    assert found.fact("mistakes").value == 10 and found.fact("surest_mistake").value == "e35"
    assert found.fact("its_confidence").value == pytest.approx(0.99) and not found.caveats


def test_what_a_filter_leaves_is_compared_with_the_others():
    index, judged = made([(20, 4, ("odd",)), (40, 30, ())])
    found = result(index, judged, ODD)
    assert found.outcome is Outcome.RIGHT_OF_FILTERED and (found.slots["right"], found.slots["count"]) == (4, 20)
    assert found.fact("difference").value == pytest.approx(4 / 20 - 30 / 40) and found.fact("difference").high < 0
    # Nothing is compared before every example is predicted, nor of too few.
    early = result(index, judged, ODD, complete=False)
    assert early.fact("difference") is None and early.caveats == (Caveat.PARTIAL,)
    few = result(*made([(FEW - 1, 4, ("odd",)), (40, 30, ())]), ODD)
    assert few.fact("difference") is None and few.caveats == (Caveat.FEW_TEXTS,)


@pytest.mark.parametrize(
    "facet, value", [("outcome", "wrong"), ("predicted", "positive"), ("confidence", "80 to 95 %")]
)
def test_what_is_picked_by_the_prediction_is_not_compared(facet, value):
    index, judged = made([(40, 20, ("odd",)), (40, 20, ())])
    found = result(index, judged, Query(facets={facet: (value,), "tag": ("odd",)}))
    assert Caveat.SELECTED in found.caveats and found.fact("difference") is None


def test_each_text_counts_once():
    index, judged = made([(40, 40, ())])
    index.texts = np.repeat(np.arange(20), 2)
    found = result(index, judged)
    assert (found.slots["right"], found.slots["count"]) == (20, 20)


def test_what_is_not_known_is_not_claimed():
    index, judged = made([(4, 2, ())])
    judged.right[:] = -1
    judged.confidence[:] = [0.9, 0.6, 0.8, 0.7]
    none = result(index, judged)
    assert none.outcome is Outcome.NO_LABELS and none.fact("least_sure").value == "e1"
    judged.predicted[:] = -1
    assert result(index, judged).outcome is Outcome.NOT_PREDICTED
    assert result(index, judged, Query("nothing has this")).outcome is Outcome.NO_EXAMPLE
