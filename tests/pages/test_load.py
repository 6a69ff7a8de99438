"""Fourteen people at one server and one model: every number is that of one's own example, and waits are told.

`python -m pytest tests/pages/test_load.py -s` prints how long people waited; FAITHSCOPE_LOAD=20x20 sets how many
sessions ask for how many attributions each (14x2 unless it is set).
"""

import os
import statistics
import threading
import time

import numpy as np
import pytest

from tests.people import MEASURES, MODEL, Alone, Answer, Person
from tests.sessions import running_server

SESSIONS, EACH = map(int, os.environ.get("FAITHSCOPE_LOAD", "14x2").split("x"))


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> list[Answer]:
    """All that the sessions got from one server with an empty store, started together."""
    with running_server(tmp_path_factory.mktemp("load")) as server:
        start = threading.Barrier(SESSIONS + 1)
        people = [Person(number, server, start, EACH) for number in range(SESSIONS)]
        for person in people:
            person.start()
        start.wait(60)
        began = time.monotonic()
        for person in people:
            person.join(1800)
        total = time.monotonic() - began
    problems = [person.problem for person in people if person.problem]
    assert not problems, "\n".join(problems)
    found = [answer for person in people for answer in person.answers]
    _tell(found, total)
    return found


def _tell(found: list[Answer], total: float) -> None:
    first, later = ([a.seconds for a in found if (a.step == 0) == opening] for opening in (True, False))
    longest = max(first + later)
    print(
        f"\n{SESSIONS} sessions, {EACH} attributions each with {len(MEASURES)} measures, one model, started together "
        f"on an empty store: "
        f"{total:.1f} s in all, {len(found) / total:.1f} a second\n"
        f"longest wait {longest:.1f} s ({'below' if longest < 30 else 'NOT below'} 30 s); first views (the model "
        f"loads) "
        f"median {statistics.median(first):.1f} s, longest {max(first):.1f} s"
    )
    if later:
        print(
            f"later ones: median {statistics.median(later):.2f} s, 95 of 100 within {np.quantile(later, 0.95):.2f} s, "
            f"longest {max(later):.2f} s"
        )


@pytest.fixture(scope="module")
def alone(shipped) -> Alone:
    """What the same is when nobody else asks."""
    return Alone(shipped(MODEL))


def test_everybody_gets_all_they_asked_for(answers):
    assert sorted((a.person, a.step) for a in answers) == [(p, s) for p in range(SESSIONS) for s in range(EACH)]
    assert not [a.errors for a in answers if a.errors]
    assert all([row["name"] for row in a.words["rows"]] == list(MEASURES) for a in answers)
    asked = [a.asked for a in answers]
    assert len(set(asked)) < len(asked) or len(asked) < 28, "some ask for the same"
    assert len(asked) < 28 or (
        len({a.asked[0] for a in answers}) > 10 and {a.asked[1] for a in answers} == {"word", "token"}
    )


def test_nobody_sees_what_another_asked_for(answers, alone):
    for a in answers:
        assert not alone.mistaken(a), (a.person, a.step, a.asked)


def test_every_number_equals_the_one_computed_alone(answers, alone):
    values = otherwise = 0
    for a in answers:
        counted, spelled, wrong = alone.compared(a)
        assert not wrong, (a.person, a.step, a.asked)
        values, otherwise = values + counted, otherwise + spelled
    print(f"\n{values:,} values arrived, {values - otherwise:,} of them spelled as those computed alone")
    assert otherwise <= 0.01 * values
