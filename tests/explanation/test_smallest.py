"""Smallest sets of an example: free beside exact limits, kept in the store, and marked where an input is rejected."""

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.explanation.limiting import find_exact
from core.explanation.smallest import SmallestSets, find_sets, sets_cost, stored_sets
from core.mathematics.search.fewest import CHANGES, KEEPS, SmallestSet
from core.mathematics.stepwise import finish
from core.network.features import NoFeatures
from core.results.caveats import Caveat
from core.results.smallest_sets import SetsReport, SmallestSetsOutcome, sets_results
from core.storage.store import Store
from core.validity.references import CALIBRATED, find_reference
from tests.mathematics.test_smallest_sets import by_brute_force

TEXT = "the boat did not leave"
LONG = "the boat did not leave the quiet harbour before the first light of the day"


@pytest.fixture
def explainer(tiny_model, tmp_path):
    return Explainer(tiny_model("bert"), Store(tmp_path))


def report(found, encoded, reference=None) -> SetsReport:
    return SetsReport(found, encoded, "positive", reference, "Holm", CALIBRATED)


def test_they_cost_nothing_once_the_limits_are_known_and_are_read_from_the_store(explainer):
    encoded, told = explainer.encode(TEXT, None, "word"), []
    finish(find_exact(explainer, encoded, 1))
    before = explainer.model.scheduler.counters.passes
    found = finish(find_sets(explainer, encoded, progress=lambda *far: told.append(far)))
    assert explainer.model.scheduler.counters.passes == before and found.p == {}
    assert told and all(done <= most for done, most in told) and sets_cost(explainer, encoded).passes == 32
    oracle = explainer.oracles.of(encoded)
    for kind, one in zip((CHANGES, KEEPS), found.sets):
        first = int(explainer.logits(encoded).argmax())

        def two(masks, first=first):
            # The other classes as one, which is ahead where any of them is.
            logits = oracle.logits(masks).astype(float)
            return np.column_stack([logits[:, first], np.delete(logits, first, axis=1).max(axis=1)])

        expected = by_brute_force(two, encoded.premasked, kind)
        assert (one.members is None) == (expected is None)
        assert expected is None or (one.size, one.count) == (expected[0], expected[3])
    again = Explainer(explainer.model, explainer.store)
    for one, other in zip(found.sets, stored_sets(again, encoded)):
        assert (one.kind, one.size, one.count, one.exact) == (other.kind, other.size, other.count, other.exact)
        np.testing.assert_array_equal(one.erased, other.erased)


def test_beyond_twelve_words_a_beam_of_more_than_a_pair_is_told_as_such(explainer):
    encoded = explainer.encode(LONG, None, "word")
    found = finish(find_sets(explainer, encoded))
    results = sets_results(report(found, encoded))
    for one, result in zip(found.sets, results.values()):
        assert one.exact == (one.members is not None and one.size <= 2)
        assert result.has(Caveat.SET_SEARCHED) == (not one.exact)
        assert result.has(Caveat.NOT_TESTED) == (one.members is not None)
    assert [one.exact for one in stored_sets(explainer, encoded)] == [one.exact for one in found.sets]


def test_nothing_to_mask_is_a_sentence(explainer):
    with pytest.raises(NoFeatures, match="masked already"):
        finish(find_sets(explainer, explainer.encode("[MASK] [MASK]", None, "word")))


def made(kind, members, exact=True):
    members = np.array(members, dtype=bool)
    return SmallestSet(kind, members, members if kind == CHANGES else ~members, 0.25, 1, exact)


@pytest.mark.parametrize(
    ("p", "marked"), [((0.9, 0.9), [False, False]), ((0.9, 0.001), [False, True]), ((0.03, 0.9), [False, False])]
)
def test_each_is_marked_by_holm_over_both(bundled, p, marked):
    """0.03 is below 5 %, and not below 5 % by two inputs."""
    explainer = Explainer(bundled, None, find_reference(bundled))
    encoded = explainer.encode(TEXT, None, "word")
    sets = made(CHANGES, [1, 0, 0, 0, 0]), made(KEEPS, [0, 0, 0, 1, 0])
    found = SmallestSets(sets, {CALIBRATED: np.array(p)})
    results = list(sets_results(report(found, encoded, explainer.reference)).values())
    assert [one.has(Caveat.OUT_OF_DISTRIBUTION) for one in results] == marked
    assert [one.fact("p").marked for one in results] == marked and results[1].fact("p").value == p[1]
    # One that is not there is no test: the other then has 5 % for itself.
    alone = SmallestSets(
        (SmallestSet(CHANGES, None, None, float("nan"), 0, True), sets[1]), {CALIBRATED: np.array([1, 0.03])}
    )
    first, second = sets_results(report(alone, encoded, explainer.reference)).values()
    assert first.outcome == SmallestSetsOutcome.UNCHANGED and not first.facts and not first.caveats
    assert second.has(Caveat.OUT_OF_DISTRIBUTION)


def test_p_values_are_those_of_the_inputs_that_they_leave(bundled, tmp_path):
    explainer = Explainer(bundled, Store(tmp_path), find_reference(bundled))
    encoded = explainer.encode("A quiet and moving film.", None, "word")
    found = finish(find_sets(explainer, encoded))
    for i, one in enumerate(found.sets):
        if one.erased is not None:
            judged = explainer.tested(encoded).judge(one.erased[None])
            assert {form: p[0] for form, p in judged.p.items()} == {form: p[i] for form, p in found.p.items()}
            assert judged.logits[0].argmax() != explainer.logits(encoded).argmax() or one.kind == KEEPS
