"""Interactions of an example: by the memo of the limits, kept, told by the stated rule, and marked where inputs are
rejected.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.explanation.explainer import Explainer, with_reference
from core.explanation.limiting import find_exact
from core.interactions.finding import Interactions, NoPairs, find_interactions, interactions_cost, stored_interactions
from core.interactions.pairs import (
    TOGETHER,
    TWICE,
    Paired,
    PairTest,
    WordPair,
    check_pairs,
    every_pair,
    listed_pairs,
    masks_of_pair,
)
from core.interactions.splitting import Split, split_exactly
from core.interactions.telling import PairReport, signed
from core.mathematics.stepwise import finish
from core.measures.kernel_shap import all_sets
from core.oracle.target import Contrast, logit_of
from core.results.caveats import Caveat
from core.results.result import Result
from core.results.word_pairs import WordPairsOutcome, pairs_result
from core.storage.store import Store
from core.texts.rendering import Form, headline

TEXT = "the boat did not leave"


@pytest.fixture
def explainer(tiny_model, tmp_path):
    return Explainer(tiny_model("bert"), Store(tmp_path))


def split(F: int, own: dict, pairs: dict) -> Split:
    made = Split(np.zeros(F), np.zeros((F, F)))
    for i, value in own.items():
        made.own[i] = value
    for (i, j), value in pairs.items():
        made.pairs[i, j] = made.pairs[j, i] = value
    return made


def interactions(F: int, own: dict, pairs: dict, exact: bool = True) -> Interactions:
    return Interactions(1, split(F, own, pairs), exact, 2**F, F, 0, 0.0)


def test_they_are_those_of_the_table_of_logits_and_free_once_the_limits_are_known(explainer):
    encoded = explainer.encode(TEXT, None, "word")
    finish(find_exact(explainer, encoded, 1))
    before = explainer.model.scheduler.counters.passes
    told = []
    found = finish(find_interactions(explainer, encoded, 1, progress=lambda *far: told.append(far)))
    assert explainer.model.scheduler.counters.passes == before and found.passes == 0 and found.sets == 32
    logits = explainer.oracles.of(encoded).logits(all_sets(encoded.F))
    expected = split_exactly(logits[:, 1].astype(np.float64))
    np.testing.assert_allclose(found.split.pairs, expected.pairs, atol=1e-9)
    assert told[-1] == (32, 32) and not found.stored
    again = finish(find_interactions(Explainer(explainer.model, explainer.store), encoded, 1))
    assert again.stored and (again.split.pairs == found.split.pairs).all() and again.sets == 32
    assert stored_interactions(explainer, encoded, 0) is None


def test_a_class_against_another_is_the_difference(explainer):
    encoded = explainer.encode(TEXT, None, "word")
    one, other, both = (
        finish(find_interactions(explainer, encoded, target)).split.pairs for target in (2, 0, Contrast(2, 0))
    )
    np.testing.assert_allclose(both, one - other, atol=1e-5)


def test_what_the_text_masks_has_no_pair_and_other_families_have_pairs_too(tiny_model):
    model = tiny_model("gpt2")
    explainer = Explainer(model)
    encoded = explainer.encode("the boat and the tide", None, "word")
    assert np.abs(finish(find_interactions(explainer, encoded, 0)).split.pairs).max() > 0
    model = tiny_model("bert")
    explainer = Explainer(model)
    encoded = explainer.encode("the [MASK] and the tide", None, "word")
    found = finish(find_interactions(explainer, encoded, 0))
    assert found.sets == 16 and found.F == 4 and not found.split.pairs[1].any() and found.split.own[1] == 0
    pair = every_pair(found)[0]
    assert masks_of_pair(encoded, pair)[:, 1].all() and masks_of_pair(encoded, pair).sum(axis=1).tolist() == [2, 2, 3]


@pytest.mark.parametrize(
    ("text", "exact", "said"),
    [
        ("boat", True, "2 to 20 words .* has 1:"),
        ("[MASK] [MASK]", True, "2 to 20 words .* has 0:"),
        ("the tide " * 11, True, "2 to 20 words .* has 22:"),
        ("the tide " * 12, True, "2 to 20 words .* has 24:"),
        ("the tide " * 12, False, "2 to 22 words .* has 24:"),
    ],
)
def test_too_few_or_too_many_words_are_a_sentence_and_cost_nothing(tiny_model, monkeypatch, text, exact, said):
    monkeypatch.setattr("core.interactions.finding.MOST_SAMPLED", 22)
    model = tiny_model("modernbert")
    explainer, encoded = Explainer(model), model.encode(text)
    assert interactions_cost(explainer, encoded, exact).passes == 0
    before = model.scheduler.counters.passes
    with pytest.raises(NoPairs, match=said):
        finish(find_interactions(explainer, encoded, 0, exact))
    assert model.scheduler.counters.passes == before


def test_a_model_that_always_says_the_same_has_no_pairs(explainer, monkeypatch):
    encoded = explainer.encode(TEXT, None, "word")
    oracle = explainer.oracles.of(encoded)
    monkeypatch.setattr(oracle, "logits", lambda masks, **_: np.full((len(masks), 3), 4.0, dtype=np.float32))
    found = finish(find_interactions(explainer, encoded, 1))
    paired = check_pairs(explainer, encoded, found)
    report = PairReport(paired, encoded, None, "Holm", "calibrated")
    assert every_pair(found) == [] and paired.tests == () and list(report.lines()) == []
    result = pairs_result(report)
    assert result.outcome == WordPairsOutcome.NO_PAIR and result.caveats == () and result.slots["unit"] == "word"
    assert result.fact("largest") is None and result.fact("sets").value == 32 and np.isnan(report.smallest)


def test_a_sample_says_so(tiny_model):
    model = tiny_model("bert")
    explainer, encoded = Explainer(model), model.encode("the tide did not wait for " * 4 + "them")
    cost = interactions_cost(explainer, encoded, False)
    found = finish(find_interactions(explainer, encoded, 1, False))
    assert not found.exact and found.sets == cost.passes == 2_048 and found.passes <= 2_048 and found.F == 25
    report = PairReport(check_pairs(explainer, encoded, found), encoded, None, "Holm", "calibrated")
    assert report.how.startswith("Sampled") and "2,048" in report.how and "2^25" in report.how
    assert {line[8] for line in report.lines()} == {"sampled"}


@pytest.mark.parametrize(
    ("value", "own", "kind"),
    [
        (2.0, (0.1, -0.2), TOGETHER),
        (-2.0, (1.0, 0.3), TOGETHER),
        (2.0, (1.1, 0.1), ""),
        (0.49, (0.0, 0.0), ""),
        (-1.0, (1.0, 1.2), TWICE),
        (1.0, (-1.0, -1.2), TWICE),
        (-0.6, (1.0, 4.0), TWICE),
        (-0.6, (1.3, 4.0), ""),
        (-2.0, (1.3, 3.0), ""),
        (1.0, (1.0, 1.2), ""),
        (-1.0, (1.0, -1.2), ""),
    ],
)
def test_the_rule_by_hand(value, own, kind):
    """Only together: at least 0.5, neither above half of it. The same twice: one sign alone, the other together, and of
    what the weaker adds ½ to 1½."""
    assert WordPair(0, 1, value, *own).kind == kind


def test_the_strongest_are_listed_and_what_is_told_of_weaker_ones_stands_after_them():
    own = {0: 1.0, 1: 1.1, 2: 9.0, 3: 9.0}
    pairs = {(2, 3): 5.0, (2, 4): 5.0, (3, 4): -5.0, (2, 5): 4.8, (3, 5): 4.9, (4, 5): 0.9, (0, 1): -0.8}
    listed = listed_pairs(interactions(6, own, pairs))
    assert [(pair.first, pair.second) for pair in listed[:5]] == [(2, 3), (2, 4), (3, 4), (3, 5), (2, 5)]
    assert [(pair.first, pair.second, pair.kind) for pair in listed[5:]] == [(4, 5, TOGETHER), (0, 1, TWICE)]


def test_outcomes_name_the_strongest_of_each_kind_and_hold_their_numbers(explainer):
    encoded = explainer.encode("not <b>bad</b> dull boring here", None, "word")
    own = {0: 0.1, 1: -0.2, 2: 1.2, 3: 1.0}

    def result(own: dict, pairs: dict) -> Result:
        found = interactions(5, own, pairs)
        tests = tuple(PairTest(pair, np.array([0.3, 0.2, 0.4]), {}) for pair in listed_pairs(found))
        report = PairReport(Paired(found, tests), encoded, None, "plain", "calibrated")
        assert [gate.marked for gate in report.gates] == [False] * len(tests)
        return pairs_result(report)

    both = result(own, {(0, 1): 2.1, (2, 3): -0.9})
    assert both.outcome == WordPairsOutcome.BOTH and both.caveats == (Caveat.NOT_TESTED,)
    assert (both.slots["together"], both.slots["twice"]) == (["“not”", "“<b>bad</b>”"], ["“dull”", "“boring”"])
    assert [both.fact(key).value for key in ("together", "twice", "largest", "sets")] == [2.1, -0.9, 2.1, 32]
    assert "<b>bad" not in headline(both, Form.HTML) and "&lt;b&gt;bad" in headline(both, Form.HTML)
    assert result(own, {(0, 1): 2.1}).outcome == WordPairsOutcome.ONLY_TOGETHER
    assert result(own, {(2, 3): -0.9}).outcome == WordPairsOutcome.SAME_TWICE
    none = result({0: 2.0, 1: -0.2, 2: 1.2}, {(0, 1): 0.4, (2, 3): -0.6})
    assert none.outcome == WordPairsOutcome.NONE_STANDS_OUT and none.fact("largest").value == -0.6
    assert none.fact("together") is none.fact("twice") is None
    assert [signed(value) for value in (2.1, -0.9, 0.0, 1e-9, -1e-9)] == ["+2.1", "-0.9", "0", "0", "0"]


def test_the_inputs_that_mask_a_pair_are_tested_and_mark_its_number(bundled):
    """By hand from the oracle and the reference: the first masked, the second, both; ⚠ where one of the three is
    rejected by Holm over three."""
    explainer = with_reference(bundled, None)
    encoded = explainer.encode("not a bad film", None, "word")
    found = finish(find_interactions(explainer, encoded, 1))
    paired = check_pairs(explainer, encoded, found)
    one = paired.tests[0]
    masks = masks_of_pair(encoded, one.pair)
    values = logit_of(explainer.oracles.of(encoded).logits(np.vstack([encoded.premasked, masks])), 1)
    np.testing.assert_allclose(one.falls, values[0] - values[1:], atol=1e-6)
    p = explainer.tested(encoded).judge(masks).p
    np.testing.assert_array_equal(one.p["calibrated"], p["calibrated"])
    marked = replace(one, p={"calibrated": np.array([0.5, 0.016, 0.9])})
    unmarked = replace(one, p={"calibrated": np.array([0.5, 0.018, 0.9])})
    assert marked.gate(explainer.reference).rejected.tolist() == [False, True, False]
    assert not unmarked.gate(explainer.reference).marked and unmarked.gate(explainer.reference, "plain").marked
    assert not one.gate(None).available
    report = PairReport(Paired(found, (marked,)), encoded, explainer.reference, "Holm", "calibrated")
    assert "⚠" in report.cells(marked)[1] and "⚠" in report.inputs(marked)[1] and "⚠" not in report.inputs(marked)[0]
    result = pairs_result(report)
    assert result.caveats == (Caveat.OUT_OF_DISTRIBUTION,) and result.fact("largest").marked
    assert (result.fact("rejected").value, result.fact("rejected").of, result.fact("smallest_p").value) == (1, 1, 0.016)
    lines = list(report.lines())
    assert len(lines) == len(every_pair(found)) and all(len(line) == len(report.header) for line in lines)
    assert dict(zip(report.header, lines[0]))["p_calibrated_second_masked"] == 0.016
    assert [line[-1] for line in lines[:2]] == [True, None]
    assert len(report.as_json()["interactions"]) == len(lines) and report.as_json()["features"][0]["text"] == "not"
