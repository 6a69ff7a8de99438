"""Work in steps: what it yields, what it returns, and that stopping the whole stops the part."""

import pytest

from core.mathematics.stepwise import finish, relay


def count(n, said):
    try:
        yield from range(n)
        return f"{n} steps"
    finally:
        said.append("ended")


def test_it_is_run_to_its_end():
    assert finish(count(3, [])) == "3 steps" and finish(count(0, [])) == "0 steps"


def test_as_part_of_other_work_it_says_each_step_in_its_words():
    told = []

    def whole():
        found = yield from relay(count(2, told), lambda i: f"step {i}")
        yield found

    assert list(whole()) == ["step 0", "step 1", "2 steps"]


def test_the_part_ends_with_the_whole_and_fails_through_it():
    told = []
    work = relay(count(9, told), str)
    next(work)
    work.close()
    assert told == ["ended"]

    def broken():
        yield 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        finish(relay(broken(), str))
