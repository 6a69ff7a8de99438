"""When a verdict may be told: once all is counted, or where it stopped, and of enough only."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.evaluation.engine import Known
from core.evaluation.findings import FEW, Finding, findings_in_short, once_counted
from core.evaluation.questions import Answers
from core.evaluation.sampling import without_labels
from core.wording import WHOLE, Tally

COMING = Tally(43, 55, coming=True, fewest=FEW)
STOPPED = replace(COMING, coming=False)


def test_a_verdict_waits_for_the_last_example():
    assert COMING.tell("No.", "Half are right.") == (
        "43 of 55 examples so far; the answer comes with the last. Half are right."
    )
    assert not COMING.settled
    # Those that were left out are never counted; what is still under way then adds nothing.
    for done in (WHOLE, replace(COMING, n=55), replace(COMING, n=50, left_out=5)):
        assert done.tell("No.", "Half are right.") == "No." and done.settled


def test_where_it_stopped_it_is_told_of_so_many_and_of_enough_alone():
    assert STOPPED.tell("No.", "Half are right.") == "Stopped at 43 of 55 examples. No." and STOPPED.settled
    assert replace(STOPPED, n=FEW).settled
    few = replace(STOPPED, n=FEW - 1)
    assert few.tell("No.", "Half are right.") == ("19 of 55 examples so far; answers begin at 20. Half are right.")
    assert not few.settled


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
    assert [one.agrees for one in early] == [None, None] and "43 of 55 examples so far" in early[0].said
    assert [one.here for one in early] == ["…", "…"], "one may rest on other examples than another"
    assert once_counted(told, STOPPED) == once_counted(told, WHOLE) == told


def test_findings_are_counted_in_a_sentence_once_all_are_told():
    told = [Finding("a", "1", True), Finding("b", "2", True), Finding("c", "3", False), Finding("d", "4", None)]
    assert findings_in_short(told, "P") == "Of 4 findings of P on this data: 2 agree, 1 departs, 1 cannot be told."
    assert findings_in_short(told[:1], "P") == "Of 1 finding of P on this data: 1 agrees."
    assert findings_in_short(once_counted(told, COMING), "P") == ""
