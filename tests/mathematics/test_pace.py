"""How long work will still take: worked out by hand, and what the estimate must never do."""

import math

import pytest

from core.mathematics.pace import Pace


def paced(*reports):
    pace = Pace()
    for done, seconds in reports:
        pace.report(done, seconds)
    return pace


def test_before_a_second_report_nobody_can_tell():
    assert paced().left(10, 5.0) is None and paced((3, 1.0)).left(10, 5.0) is None
    assert paced((3, 1.0), (3, 4.0)).left(10, 5.0) is None, "the same told again is no pace"


def test_a_steady_pace_is_what_is_left_at_it():
    pace = paced((40, 3.0), (50, 8.0))
    assert pace.left(100, 8.0) == pytest.approx(25) and pace.left(100, 8.2) == pytest.approx(24.8)
    assert pace.left(50, 8.0) == pace.left(20, 9.0) == 0
    pace.report(60, 13.0)
    assert pace.left(100, 13.0) == pytest.approx(20)


def test_the_first_that_took_long_is_forgotten_and_counts_for_a_third_after_twenty_seconds():
    pace = paced((0, 0.0), (1, 30.0))
    assert pace.left(101, 30.0) == pytest.approx(3000)
    pace.report(21, 50.0)
    kept = math.exp(-1)
    assert pace.left(101, 50.0) == pytest.approx(80 * (kept * 30 + 20) / (kept + 20))
    for second in range(1, 101):
        pace.report(21 + second, 50.0 + second)
    assert pace.left(221, 150.0) == pytest.approx(100, rel=0.02)


def test_while_a_piece_takes_longer_than_those_before_what_is_left_does_not_run_out():
    pace = paced((0, 0.0), (1, 1.0), (2, 2.0))
    told = [pace.left(4, 2.0 + since) for since in (0.0, 0.5, 1.0, 5.0, 20.0)]
    assert told[:3] == pytest.approx([2.0, 1.5, 1.0], rel=0.05)
    assert told[3] > 1.0 and told[4] > told[3], "it says more, not less"
