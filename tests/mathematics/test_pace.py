"""How long work takes, and still will: worked out by hand, and what the estimate must never do."""

import math

import pytest

from core.mathematics.pace import Pace, Speed


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


def test_a_first_that_took_long_counts_until_there_is_another():
    """Files are read and kernels compiled in it: 30 s, then a second a piece."""
    pace = paced((0, 0.0), (1, 30.0))
    assert pace.left(101, 30.0) == pytest.approx(3000)
    pace.report(2, 31.0)
    assert pace.left(101, 31.0) == pytest.approx(99)


def test_what_was_slow_before_counts_for_a_third_after_twenty_seconds():
    pace = paced((0, 0.0), (1, 1.0), (2, 31.0))
    assert pace.left(102, 31.0) == pytest.approx(3000)
    pace.report(22, 51.0)
    kept = math.exp(-1)
    assert pace.left(102, 51.0) == pytest.approx(80 * (kept * 30 + 20) / (kept + 20))
    for second in range(1, 101):
        pace.report(22 + second, 51.0 + second)
    assert pace.left(222, 151.0) == pytest.approx(100, rel=0.02)


def test_what_was_expected_counts_first_and_soon_for_little():
    """Expected: 500 s of 100 pieces. They take a second each."""
    pace = Pace()
    pace.expected = 500.0
    assert pace.left(0, 0.0) == 500 and pace.left(0, 20.0) == 480, "before it says how much there is"
    pace.report(20, 1.0)
    assert pace.left(120, 1.0) == 500 and pace.left(120, 11.0) == 490
    told = []
    for second in range(1, 41):
        pace.report(20 + second, 1.0 + second)
        told.append(pace.left(120, 1.0 + second) - (100 - second))
    # After its first piece 2 s at 5 s a piece and 1 s at 1 s a piece: 3 s for 1.4 pieces.
    assert told[0] == pytest.approx(99 * 3 / 1.4 - 99) and told[39] < 0.1 * 60
    assert told == sorted(told, reverse=True), "nearer and nearer"


def test_what_takes_longer_than_was_expected_is_thought_to_go_on():
    pace = Pace()
    pace.expected = 10.0
    assert [pace.left(0, seconds) for seconds in (0.0, 6.0, 10.0, 30.0)] == [10, 5 - 1, 5, 15]


def test_parts_of_a_piece_count_as_parts():
    pace = paced((0, 0.0), (0.25, 1.0), (0.5, 2.0))
    assert pace.left(3, 2.0) == pytest.approx(10) and pace.left(3, 2.5) == pytest.approx(9.5)


def test_the_share_done_and_what_it_took():
    assert Pace().worked(10) is None and paced((4, 7.0)).worked(10) is None
    assert paced((4, 7.0), (5, 9.0), (7, 19.0)).worked(10) == (0.5, 12.0)


def test_a_speed_is_that_of_the_token_in_the_middle():
    speed = Speed(newest=4)
    assert speed.pace is None
    speed.add(1_000, 1.0)
    assert speed.pace == 0.001
    # A stall, and small pieces, of which each costs a lot: neither decides.
    speed.add(1_000, 60.0), speed.add(1_000, 1.0), speed.add(10, 1.0)
    assert speed.pace == 0.001
    for _ in range(3):
        speed.add(1_000, 3.0)
    assert speed.pace == 0.003, "the newest four"


def test_while_a_piece_takes_longer_than_those_before_what_is_left_does_not_run_out():
    pace = paced((0, 0.0), (1, 1.0), (2, 2.0))
    told = [pace.left(4, 2.0 + since) for since in (0.0, 0.5, 1.0, 5.0, 20.0)]
    assert told[:3] == pytest.approx([2.0, 1.5, 1.0], rel=0.05)
    assert told[3] > 1.0 and told[4] > told[3], "it says more, not less"
