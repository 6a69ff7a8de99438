"""Attributions of one text under several seeds: by hand, and on a family of tiny models."""

import numpy as np
import pytest
from scipy import stats

from core.explanation.explainer import Explainer
from core.mathematics.ranking import spearman
from core.mathematics.stepwise import finish
from core.results.caveats import Caveat
from core.results.seed_stability import SeedStabilityOutcome, seed_stability_result
from core.stability.seeds import SeedsOfText, compare_seeds


def of_text(*scores, measure="gradient", planned=None):
    words, S = tuple("abcdefgh"[: len(scores[0])]), len(scores)
    return SeedsOfText(
        measure, "L2", tuple(range(len(words))), words, np.array(scores, float), tuple(range(S)), planned or S
    )


def test_by_hand():
    found = of_text([5, 4, 3, 2, 1], [5, 4, 1, 2, 3], [1, 5, 4, 3, 2])
    assert found.counts.tolist() == [2, 3, 2, 1, 1]
    assert found.steady == ["b"]
    # {a b c}, {a b e}, {b c d}: 2, 2 and 1 of 3 in common.
    assert np.isclose(found.overlap, 5 / 9)
    # 1 − 6 Σd²/(n(n² − 1)): Σd² = 8, 20 and 28.
    assert np.isclose(found.correlation, np.mean([1 - 6 * d / 120 for d in (8, 20, 28)]))
    assert [row[0] for row in found.word_cells()] == ["b", "a", "c", "d", "e"]
    assert {line[5]: line[6] for line in found.lines()[2:]} == dict(zip("abcde", [2, 3, 2, 1, 1]))


def test_spearman_is_scipys_and_nan_without_an_order():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, size=(2, 12))
    assert np.isclose(spearman(a, b), stats.pearsonr(stats.rankdata(a), stats.rankdata(b)).statistic)
    assert np.isnan(spearman(a, np.ones(12))) and np.isnan(spearman(a[:1], b[:1]))


@pytest.mark.parametrize(
    ("found", "outcome", "words"),
    [
        ([of_text([5, 4, 3, 2, 1], [5, 4, 1, 2, 3])], SeedStabilityOutcome.EVERY, ["a", "b"]),
        ([of_text([6, 5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 6])], SeedStabilityOutcome.NO_WORD, []),
        (
            [of_text([5, 4, 3, 2, 1], [5, 4, 1, 2, 3]), of_text([1, 2, 3, 4, 5], [1, 2, 3, 5, 4])],
            SeedStabilityOutcome.NO_WORD,
            [],
        ),
        ([of_text([5, 4, 3, 2, 1], planned=3)], SeedStabilityOutcome.FEW_SEEDS, None),
    ],
)
def test_outcomes(found, outcome, words):
    result = seed_stability_result(found)
    assert result.outcome is outcome and result.slots.get("words") == words
    assert result.has(Caveat.PARTIAL) == any(not one.complete for one in found)


def test_each_member_is_asked_and_equal_ones_agree(tiny_model):
    explainer = Explainer(tiny_model("bert"))
    text = "The cook's knife was dull and so was the soup"
    encoded = explainer.encode(text, None, "word")

    def read(one):
        return one.encode(text, None, "word")

    asked = []

    def opened(name):
        asked.append(name)
        return explainer

    about = opened, {"a": 0, "b": 4}, encoded, read, 1, ["gradient", "leave-one-out"], "signed"
    found = finish(compare_seeds(*about))
    assert asked == ["a", "b"] and [one.seeds for one in found] == [(0, 4), (0, 4)]
    alone = explainer.attribute(encoded, "leave-one-out", 1)
    assert np.array_equal(found[1].scores[1], next(iter(alone.scores.values()))[~encoded.premasked])
    assert all(one.correlation == pytest.approx(1) and one.overlap == 1 and len(one.steady) == 3 for one in found)


def test_a_member_of_other_classes_is_refused(tiny_model, monkeypatch):
    explainers = [Explainer(tiny_model("bert")), Explainer(tiny_model("distilbert"))]
    monkeypatch.setattr(explainers[1].model, "labels", ("a", "b", "c"))
    encoded = explainers[0].encode("The soup was cold and so was he", None, "word")
    work = compare_seeds(
        lambda name: explainers[int(name)], {"0": 0, "1": 1}, encoded, lambda _: encoded, 0, ["gradient"], "signed"
    )
    with pytest.raises(ValueError, match="other classes"):
        finish(work)
