"""The smallest sets that change a prediction or keep it: by hand, and beside every set of lookup tables."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mathematics.search.fewest import CHANGES, KEEPS, fewest_to_flip, most_asked, smallest_set
from core.mathematics.stepwise import finish
from tests.table import Table


def of_table(values):
    """Two classes, the second of logit 0, so that the first is ahead by the value of the table."""
    table = Table(np.array(values))
    return lambda masks: np.column_stack([table.value(masks), np.zeros(len(masks))])


def by_brute_force(logits, masked, kind):
    """(size, the members that are furthest, probability, how many) over all sets; None where none does."""
    free = np.flatnonzero(~masked)
    first = int(logits(masked[None])[0].argmax())
    for size in range(len(free) + 1):
        does = []
        for chosen in combinations(free.tolist(), size):
            members = np.isin(np.arange(len(masked)), chosen)
            found = logits((masked | (members if kind == CHANGES else ~members))[None])[0]
            p = 1 / (1 + np.exp(found[1 - first] - found[first]))
            if (int(found.argmax()) == first) == (kind == KEEPS):
                does.append((p if kind == KEEPS else -p, members))
        if does:
            best = max(does, key=lambda one: one[0])
            return size, best[1], abs(best[0]), len(does)
    return None


def test_by_hand():
    """Masking 1 and 3 together changes it; any of them keeps it alone; masked words are in neither."""

    def logits(masks):
        # Of the pairs that change it, that with the fourth word leaves the first class less.
        gone = masks[:, 1] & (masks[:, 3] | masks[:, 4])
        return np.column_stack([np.where(gone, -1.0 - masks[:, 4], 1.0), np.zeros(len(masks))])

    nothing = np.zeros(5, dtype=bool)
    found = finish(smallest_set(logits, nothing, CHANGES))
    assert found.members.nonzero()[0].tolist() == [1, 4] and (found.size, found.count, found.exact) == (2, 2, True)
    assert found.probability == pytest.approx(1 / (1 + np.exp(2)))
    found = finish(smallest_set(logits, nothing, KEEPS))
    assert found.members.nonzero()[0].tolist() == [1] and found.erased.tolist() == [True, False, True, True, True]
    masked = np.array([False, True, False, False, False])
    found = finish(smallest_set(logits, masked, CHANGES))
    assert found.members.nonzero()[0].tolist() == [4] and found.erased.tolist() == [False, True, False, False, True]
    # With nothing left to read the prediction stays: no word is needed, and none changes it.
    same = of_table([1.0, 0.5, 2.0, 0.5])
    kept, never = (finish(smallest_set(same, nothing[:2], kind)) for kind in (KEEPS, CHANGES))
    assert kept.size == 0 and kept.members is not None and kept.erased.all() and kept.count == 1
    assert never.members is None and np.isnan(never.probability) and never.exact and never.count == 0
    with pytest.raises(ValueError, match="nothing can be erased"):
        finish(smallest_set(same, np.ones(2, dtype=bool), KEEPS))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.integers(1, 5).flatmap(lambda F: st.tuples(*[st.integers(-8, 8)] * 2**F)),
    st.integers(0, 4),
    st.sampled_from([CHANGES, KEEPS]),
    st.integers(1, 3),
)
def test_they_are_those_of_every_set_and_a_beam_is_no_smaller(values, premasked, kind, width):
    logits, F = of_table([value + 0.5 for value in values]), int(np.log2(len(values)))
    masked = np.arange(F) == premasked
    if masked.all():
        masked[:] = False
    found, expected = finish(smallest_set(logits, masked, kind)), by_brute_force(logits, masked, kind)
    beam = finish(smallest_set(logits, masked, kind, exact_features=0, width=width))
    wide = finish(smallest_set(logits, masked, kind, exact_features=0, width=2**F))
    # A beam knows of a pair that no word does alone, and of more words nothing.
    assert found.exact and beam.exact == (beam.members is not None and beam.size <= 2) and beam.count == 0
    assert not beam.exact or beam.size == expected[0]
    if expected is None:
        assert found.members is None and beam.members is None and kind == CHANGES
        return
    size, members, probability, count = expected
    assert (found.size, found.count) == (size, count) and found.probability == pytest.approx(probability)
    np.testing.assert_array_equal(found.members, members)
    assert not (found.members & masked).any()
    assert beam.members is None or beam.size >= size
    assert (wide.size, wide.probability) == (size, pytest.approx(probability))
    for one in (found, wide):
        predicted = logits(np.array([masked, one.erased])).argmax(axis=1)
        assert (predicted[0] == predicted[1]) == (kind == KEEPS)
    if kind == CHANGES:
        assert fewest_to_flip(logits, masked) == found.size


@pytest.mark.parametrize("kind", [CHANGES, KEEPS])
@pytest.mark.parametrize("F", [1, 4, 12, 13, 20])
def test_no_more_sets_are_asked_than_is_planned(F, kind):
    asked = []

    def logits(masks):
        asked.extend(map(bytes, masks))
        # Kept by the whole text alone, and changed by nothing.
        away = masks.any(axis=1) if kind == KEEPS else np.zeros(len(masks), dtype=bool)
        return np.column_stack([np.where(away, -1.0, 1.0), np.zeros(len(masks))])

    work, far = smallest_set(logits, np.zeros(F, dtype=bool), kind), []
    while True:
        try:
            far.append(next(work))
        except StopIteration as end:
            found = end.value
            break
    assert found.size == (F if kind == KEEPS else 0) and len(set(asked)) <= most_asked(F) + 1
    assert far == sorted(far) and far[-1] == len(asked)
