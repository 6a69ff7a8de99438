"""The helper that picks combinations: no two values are left out that should meet."""

from itertools import combinations

from tests.pairs import pairs


def test_every_two_values_meet_and_few_rows_do_it():
    choices = {"a": range(8), "b": range(7), "c": range(6), "d": range(3), "e": range(2)}
    rows = pairs(**choices)
    for one, other in combinations(choices, 2):
        met = {(row[one], row[other]) for row in rows}
        assert met == {(x, y) for x in choices[one] for y in choices[other]}
    assert 56 <= len(rows) <= 70 and rows == pairs(**choices)
