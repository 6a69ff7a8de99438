"""When a verdict may be told: once all is counted, or where it stopped, and of enough only."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.evaluation.findings import FEW, Finding, once_counted
from core.evaluation.sampling import without_labels
from core.evaluation.study import Answers, Known
from core.results.asked import AskedOutcome, sample_caveats, unanswered, without_report
from core.results.caveats import Caveat
from core.wording import WHOLE, Tally

COMING = Tally(43, 55, coming=True, fewest=FEW)
STOPPED = replace(COMING, coming=False)


@pytest.mark.parametrize(
    "tally, settled, outcome",
    [
        (COMING, False, AskedOutcome.UNFINISHED),
        # Those that were left out are never counted; what is still under way then adds nothing.
        (WHOLE, True, None),
        (replace(COMING, n=55), True, None),
        (replace(COMING, n=50, left_out=5), True, None),
        # Where it stopped an answer is of so many, and of enough alone.
        (STOPPED, True, None),
        (replace(STOPPED, n=FEW), True, None),
        (replace(STOPPED, n=FEW - 1), False, AskedOutcome.UNFINISHED),
        (Tally(FEW - 1, FEW - 1, fewest=FEW), True, AskedOutcome.FEW_TEXTS),
    ],
)
def test_an_answer_waits_for_the_last_example_and_for_enough(tally, settled, outcome):
    n = FEW if tally == WHOLE else tally.n
    early = unanswered(tally, n, [], sample_caveats(tally, n, 0, ""))
    assert tally.settled == settled and (None if early is None else early.outcome) is outcome
    if early is not None:
        assert early.slots["count"] == n and set(early.caveats) <= {Caveat.PARTIAL, Caveat.FEW_TEXTS}
    assert (Caveat.PARTIAL in sample_caveats(tally, n, 0, "")) == (not tally.complete)


@pytest.mark.parametrize(
    "complete, runs, outcome",
    [
        (True, False, AskedOutcome.NO_TEXT),
        (False, True, AskedOutcome.UNFINISHED),
        (False, False, AskedOutcome.NOT_COMPUTED),
    ],
)
def test_before_the_first_text_it_is_known_whether_it_is_computed_waits_or_cannot_be(complete, runs, outcome):
    result = without_report(7, "scored", complete, runs)
    assert result.outcome is outcome and 7 in (result.slots["count"], result.slots.get("total"))
    assert result.has(Caveat.PARTIAL) == runs


@dataclass(frozen=True, eq=False)
class Some(Known):
    there: np.ndarray
    problems: dict[int, str]


def known(done: int, problems: int = 0) -> Known:
    return Some(np.arange(10) < done, {9 - k: "why" for k in range(problems)})


@pytest.mark.parametrize(
    "found, coming, expected",
    [
        # Of those under way the one that is least far decides, however far others are.
        ({"a": known(10), "b": known(6), "c": known(3)}, {"b", "c"}, Tally(3, 10, 0, True, fewest=FEW)),
        # What waits to be asked for keeps nothing back.
        ({"a": known(10), "b": known(0)}, set(), Tally(10, 10, fewest=FEW)),
        # All there, though its work has not ended.
        ({"a": known(8, 2)}, {"a"}, Tally(8, 10, 2, False, fewest=FEW)),
        ({"a": known(4, 1), "b": known(0)}, set(), Tally(4, 10, 1, fewest=FEW)),
    ],
)
def test_answers_are_as_far_as_what_is_under_way(found, coming, expected):
    answers = Answers(None, None, without_labels("d", "0" * 64, []), found, coming=frozenset(coming))
    assert answers.tally() == expected
    assert answers.tally(["a"]).coming == (not found["a"].complete and "a" in coming)


def test_no_finding_agrees_or_departs_before_all_are_counted():
    told = [Finding("It falls.", "it rises", False), Finding("It rises.", "it rises", True)]
    early = once_counted(told, COMING)
    assert [one.agrees for one in early] == [None, None] and {one.word for one in early} == {"not tested"}
    assert [one.here for one in early] == ["…", "…"], "one may rest on other examples than another"
    assert once_counted(told, STOPPED) == once_counted(told, WHOLE) == told
