"""Traits of examples against what each study says of one, and as facets of the data."""

from dataclasses import replace

import numpy as np
import pytest

from core.data.browsing import TRAITS, Index, Query, Trait, counts, judge, match_labels, select
from core.data.examples import DataSet, read_bundled
from core.evaluation.asking import run_study
from core.evaluation.sampling import without_labels
from core.evaluation.studies.behaviour import Changes, Course
from core.evaluation.studies.board_report import NAOPC_C, RACU, text_values
from core.evaluation.studies.model_check import Curve
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.traits import (
    Agreement,
    best_verdict,
    first_rejected,
    joined_traits,
    least_agreement,
    predicted_sample,
    trait_cell,
    trait_of,
    trait_studies,
    trait_text,
    twin_differs,
    words_until_change,
)
from core.evaluation.studies.verdicts import WORDS, VerdictsOfTexts
from core.evaluation.study import Answers, Rows
from core.explanation.explainer import Explainer
from core.explanation.limiting import score
from core.explanation.recursive import BY_RATIO, follow, summarise
from core.explanation.standings import StandingGates
from core.mathematics.aopc import naopc
from core.mathematics.ranking import kendall_tau
from core.mathematics.stepwise import finish
from core.measures.catalogue import default_measures
from core.validity.references import find_reference
from core.verdicts.deciding import decide_verdicts
from core.verdicts.finding import find_chance

LABELS = ("negative", "positive")
SOME = tuple(example for example in read_bundled("reviews") if example.id in ("s009", "s041", "s068", "s076"))
DATA = DataSet("some", "0" * 64, SOME, LABELS)
NAN, INF = np.nan, np.inf


@pytest.fixture(scope="module")
def explained(bundled):
    """The explainer, the examples as they are browsed, and their sample."""
    explainer = Explainer(bundled, None, find_reference(bundled))
    p = np.stack([explainer.probabilities(bundled.encode(e.text)) for e in SOME])
    index = Index(DATA)
    judged = judge(index, LABELS, match_labels(LABELS, LABELS), p)
    return explainer, index, judged, predicted_sample(DATA, judged, np.arange(len(SOME)))


def test_the_first_rejected_step_is_that_of_the_page_about_one_example(explained, twin):
    for explainer in (explained[0], Explainer(twin, None, find_reference(twin))):
        sample = without_labels("some", "0" * 64, SOME[:2])
        found = first_rejected(finish(run_study(explainer, sample, Curve("gradient"))), explainer, sample, "word")
        for i, example in enumerate(SOME[:2]):
            encoded = explainer.encode(example.text, None, "word")
            steps = finish(follow(explainer, encoded, "gradient", 0, "signed"))
            gate = summarise(steps, encoded.F, BY_RATIO, 0, None, explainer.reference).gate
            assert found[i] == (INF if gate.first is None else gate.first / 10)


def test_the_words_until_the_prediction_changes_are_counted_one_by_one(explained):
    explainer, _, judged, sample = explained
    whole = finish(run_study(explainer, sample, Course("gradient")))
    found = words_until_change(finish(run_study(explainer, sample, Changes("gradient"))))
    assert found.tolist() == words_until_change(whole).tolist()
    for i, example in enumerate(SOME):
        encoded, mine = explainer.encode(example.text, None, "word"), int(judged.predicted[i])
        order = np.argsort(-explainer.attribute(encoded, "gradient", mine).scores["L2"], kind="stable")
        masks = np.zeros((encoded.F, encoded.F), dtype=bool)
        for k in range(encoded.F):
            masks[k, order[: k + 1]] = True
        changed = np.flatnonzero(explainer.oracles.of(encoded).logits(masks).argmax(axis=1) != mine)
        assert found[i] == (changed[0] + 1 if len(changed) else INF)


def test_measures_agree_as_little_as_their_worst_pair(explained):
    explainer, _, judged, sample = explained
    names = ("leave-one-out", "gradient", "input × gradient")
    rows = finish(run_study(explainer, sample, Agreement(names)))
    assert rows.columns["tau"].shape == (len(SOME), 3)
    for i, example in enumerate(SOME):
        encoded = explainer.encode(example.text, None, "word")
        scores = [explainer.attribute(encoded, name, int(judged.predicted[i])).scores for name in names]
        one, two, three = (next(iter(variants.values())) for variants in scores)
        pairs = [kendall_tau(one, two), kendall_tau(one, three), kendall_tau(two, three)]
        np.testing.assert_allclose(rows.columns["tau"][i], pairs)
        assert least_agreement(rows)[i] == pytest.approx(min(pairs))
    with pytest.raises(ValueError, match="where there are two"):
        Agreement(("gradient",)).check()


def test_disagreement_is_of_magnitudes_so_that_a_measure_without_a_sign_opposes_none_for_that(explained):
    """A word that strongly opposes the class is strong to gradient, whose norm has no sign, and last where signs rank."""
    explainer, _, judged, sample = explained
    rows = finish(run_study(explainer, sample, trait_studies("gradient", "word")["disagreement"][0]))
    for i, example in enumerate(SOME):
        encoded, mine = explainer.encode(example.text, None, "word"), int(judged.predicted[i])
        alone = np.abs(explainer.attribute(encoded, "leave-one-out", mine).scores["signed"])
        norm = explainer.attribute(encoded, "gradient", mine).scores["L2"]
        product = explainer.attribute(encoded, "input × gradient", mine).scores["absolute"]
        least = min(kendall_tau(alone, norm), kendall_tau(alone, product), kendall_tau(norm, product))
        assert least_agreement(rows)[i] == pytest.approx(least)


def test_the_verdict_is_that_of_attributions(explained):
    explainer, _, judged, _ = explained
    # Of one random orders are drawn, of the other every set is known.
    sample = predicted_sample(DATA, judged, np.array([0, 1]))
    (study,) = trait_studies("gradient", "word")["verdict"]
    assert isinstance(study, VerdictsOfTexts) and study.measures == ("gradient", "leave-one-out", "input × gradient")
    rows = finish(run_study(explainer, sample, study))
    for i, example in enumerate(SOME[:2]):
        encoded = explainer.encode(example.text, None, "word")
        test = finish(find_chance(explainer, encoded, int(judged.predicted[i]), default_measures()))
        report = decide_verdicts(test, StandingGates(encoded, explainer.reference))
        for k, name in enumerate(study.measures):
            found = report.of(name)
            assert WORDS.get(rows.columns["word"][i, k], "cannot be told") == found.word
            assert rows.columns["p"][i, k] == found.p[1] and rows.columns["worse"][i, k] == found.worse[1]
            assert rows.columns["reached"][i, k] == pytest.approx(report.reached[name])
        value = trait_of("verdict", {study: rows}, explainer, sample, "word").values[i]
        assert WORDS.get(value, "cannot be told") == report.of("gradient").word
    with pytest.raises(ValueError, match="at least one measure"):
        VerdictsOfTexts(()).check()
    # A text of which nothing is left to mask has no row, and says why.
    masked = replace(sample, examples=(replace(SOME[0], text="[MASK] [MASK]"),), labels=sample.labels[:1])
    told = finish(run_study(explainer, masked, study))
    assert not told.there.any() and "masked already" in told.problems[0]


def test_what_is_not_computed_is_no_value(explained):
    explainer, index, judged, sample = explained
    for name, studies in trait_studies("gradient", "word").items():
        first = {}
        for study in studies:
            work = run_study(explainer, sample, study)
            first[study] = next(work)
            work.close()
        trait = trait_of(name, first, explainer, sample, "word")
        assert trait.known.tolist() == [True, False, False, False] and np.isnan(trait.values[1:]).all()
        assert [trait_text(name, trait, i) == "not computed" for i in range(4)] == [False, True, True, True]
        judged.traits[name] = trait
        tally = counts(index, judged, Query())[name]
        assert sum(tally.values()) == 4 and tally["(not computed)"] == 3
        assert select(index, judged, Query(order=name))[0] == 0
    judged.traits.clear()


def test_one_word_decides_where_one_of_all_does(explained):
    explainer, _, judged, sample = explained
    (study,) = trait_studies("gradient", "word")["smallest"]
    found = trait_of("smallest", {study: finish(run_study(explainer, sample, study))}, explainer, sample, "word")
    assert found.known.all()
    for i, example in enumerate(SOME):
        encoded = explainer.encode(example.text, None, "word")
        alone = explainer.oracles.of(encoded).logits(np.eye(encoded.F, dtype=bool)).argmax(axis=1)
        assert (found.values[i] == 1) == (alone != judged.predicted[i]).any()
        # No order needs fewer.
        assert found.values[i] >= 1
    # The order of a measure is one of all orders.
    (along,) = trait_studies("gradient", "word")["changes"]
    first = trait_of("changes", {along: finish(run_study(explainer, sample, along))}, explainer, sample, "word")
    assert (found.values <= first.values).all()


def test_the_best_verdict_is_the_best_that_can_be_told():
    words = np.array([[-1.0, -1.0], [-1.0, 0.0], [NAN, 1.0], [-1.0, NAN], [NAN, NAN]])
    one = np.ones(5, dtype=bool)
    rows = Rows(one, {}, one, {"word": words}, (), {})
    np.testing.assert_equal(best_verdict(rows), [-1, 0, 1, NAN, NAN])


def test_figures_are_those_of_the_scoreboard_and_by_the_formulas(explained):
    explainer, *_ = explained
    sample = without_labels("some", "0" * 64, SOME[:2])
    board, values = Scoreboard(("gradient",)), {}
    for name in ("naopc", "racu"):
        studies = trait_studies("gradient", "word")[name]
        found = {study: finish(run_study(explainer, sample, study)) for study in studies}
        values[name] = trait_of(name, found, explainer, sample, "word").values
    answers = Answers(explainer.model, explainer.reference, sample, found | {board.limits: None})
    assert {*studies} <= {*board.studies}
    limits = finish(run_study(explainer, sample, board.limits))
    answers.found[board.limits] = limits
    for i, example in enumerate(sample.examples):
        encoded = explainer.encode(example.text, None, "word")
        target = int(explainer.logits(encoded).argmax())
        own = score(explainer, encoded, "gradient", target)
        reached = [limits.columns[end][i] for end in ("lower", "upper")]
        assert values["naopc"][i] == pytest.approx(naopc(own.aopc["comprehensiveness"], *reached), abs=1e-6)
        told = text_values(board, answers, i, "gradient")
        assert [values[name][i] for name in ("naopc", "racu")] == [told[NAOPC_C], told[RACU]]


def test_evidence_is_missed_where_none_of_it_is_among_as_many_top_words(explained):
    explainer, *_ = explained
    spans = ((0, len(SOME[0].text.split()[0])),)
    marked = tuple(replace(example, evidence=spans) for example in (SOME[0], replace(SOME[0], id="last")))
    last = SOME[0].text.rstrip(" .").rindex(" ") + 1
    marked = (marked[0], replace(marked[1], evidence=((last, len(SOME[0].text)),)))
    sample = without_labels("some", "0" * 64, marked)
    (study,) = trait_studies("gradient", "word")["evidence"]
    found = trait_of("evidence", {study: finish(run_study(explainer, sample, study))}, explainer, sample, "word")
    for i, example in enumerate(marked):
        encoded = explainer.encode(example.text, None, "word")
        scores = explainer.attribute(encoded, "gradient", int(sample.labels[i])).scores["L2"]
        (start, end), words = example.evidence[0], encoded.features
        mine = {k for k, word in enumerate(words) if word.start < end and word.end > start}
        top = {*np.argsort(-scores, kind="stable")[: len(mine)].tolist()}
        assert found.values[i] == pytest.approx(len(top & mine) / len(mine))


def test_every_band_by_hand():
    index = Index(DATA)
    said = {
        "rejected": ([0.0, 0.5, 0.6, INF], ["unmasked", "10 to 50 % masked", "60 to 100 % masked", "at no step"]),
        "changes": ([1.0, 2.0, 5.0, INF], ["1 masked", "2 masked", "3 to 5 masked", "never"]),
        "disagreement": ([-1.0, 0.0, 0.5, NAN], [*TRAITS["disagreement"].values(), "(undefined)"]),
        "twin": ([0.0, 1.0, 0.0, NAN], ["says the same", "differs", "says the same", "(undefined)"]),
        "verdict": ([-1.0, 0.0, 1.0, NAN], [*TRAITS["verdict"].values(), "(undefined)"]),
        "best": ([-1.0, 0.0, 1.0, NAN], [*TRAITS["best"].values(), "(undefined)"]),
        "smallest": ([1.0, 2.0, 6.0, INF], ["1 masked", "2 masked", "6 masked and more", "never"]),
        "naopc": ([0.0, 0.5, 1.0, NAN], [*TRAITS["naopc"].values(), "(undefined)"]),
        "racu": ([-0.5, 0.0, 2.5, NAN], [*TRAITS["racu"].values(), "(undefined)"]),
        "evidence": ([0.0, 0.5, 1.0, NAN], [*TRAITS["evidence"].values(), "(undefined)"]),
    }
    texts = {
        "rejected": ["at 0 %", "at 50 %", "at 60 %", "no step"],
        "changes": ["1", "2", "5", "never"],
        "disagreement": ["-1", "0", "0.5", "—"],
        "twin": ["same", "differs", "same", "—"],
        "verdict": ["worse than chance", "not shown better than chance", "better than chance", "cannot be told"],
        "best": ["all worse", "none better", "one better", "cannot be told"],
        "smallest": ["1", "2", "6", "never"],
        "naopc": ["0", "0.5", "1", "—"],
        "racu": ["-0.5", "0", "2.5", "—"],
        "evidence": ["0 %", "50 %", "100 %", "—"],
    }
    for name, (values, bands) in said.items():
        trait = Trait(np.array(values), np.ones(4, dtype=bool))
        judged = judge(index, LABELS, match_labels(LABELS, LABELS), np.full((4, 2), 0.5))
        judged.traits[name] = trait
        for i, band in enumerate(bands):
            assert i in select(index, judged, Query(facets={name: (band,)})), (name, band)
        assert sum(counts(index, judged, Query())[name].values()) == 4
        assert [trait_text(name, trait, i) for i in range(4)] == texts[name]
        # A spreadsheet reads a correlation below 0 as a number, too.
        numbers = name in ("disagreement", "naopc", "racu", "evidence")
        cells = [*values[:3], "—"] if numbers else texts[name]
        assert [trait_cell(name, trait, i) for i in range(4)] == cells


def test_a_twin_differs_by_the_name_of_its_class():
    mine, other = np.array([0, 1, 1, -1]), np.array([1, 0, 1, 0])
    found = twin_differs(mine, ("Negative", "positive"), other, ("positive", "negative"))
    assert found.values.tolist()[:3] == [0, 0, 1] and found.known.tolist() == [True, True, True, False]


def test_what_comes_later_stands_on_top():
    whole = Trait(np.array([1.0, NAN, NAN, NAN]), np.array([True, False, False, False]))
    part = Trait(np.array([5.0, NAN, 7.0]), np.array([True, True, False]))
    found = joined_traits(whole, np.array([1, 2, 3]), part)
    assert found.known.tolist() == [True, True, True, False] and found.values[:2].tolist() == [1, 5]
    assert np.isnan(found.values[2:]).all() and not whole.known[1]
