"""Words of two models beside each other: by hand, against SciPy's tests, error rates by simulation, and the command."""

import json

import numpy as np
import pytest
from pyarrow import parquet
from scipy import stats

from core.commands.command_line import main
from core.commands.words_of_two import lines_of_two
from core.evaluation.studies.words_beside import compare_words, words_beside_table
from core.mathematics.statistics import holm_adjusted
from core.results.asked import AskedOutcome
from core.results.words_beside import WordsBesideOutcome, words_of_two
from tests import tiny
from tests.evaluation.test_words_question import BETTER, NAMES, UNTOLD, told


def side(tops, words, model, faithful=BETTER):
    """A model whose top 3 of each text holds the words of bool[n, W], before three others that every text has."""
    others = ["a", "b", "c", "d"]
    texts = [
        (1, [*words, *others], [9.0 if one else -9.0 for one in row] + [float(len(others) - k) for k in range(4)])
        for row in tops
    ]
    question, answers, _ = told(texts, [[faithful, UNTOLD]] * len(tops))
    answers.model.name = model
    return question, answers


def test_shares_and_p_by_hand():
    """Of 24 texts the word is in the top 3 of one model on 20, of the other on 5, which are among the 20."""
    first, second = np.arange(24)[:, None] < 20, np.arange(24)[:, None] < 5
    question, one = side(first, ["zebra"], "one")
    _, other = side(second, ["zebra"], "other")
    report = compare_words(question, one, other)
    (zebra,) = (gap for gap in report.gaps if gap.word == "zebra")
    assert (zebra.texts, zebra.first, zebra.second, zebra.measure) == (24, 20 / 24, 5 / 24, NAMES[0])
    raw = stats.binomtest(15, 15).pvalue
    # Five words are tested: the four others, of which c gives way to the word, too.
    assert len(report.gaps) == 5 and zebra.p == pytest.approx(holm_adjusted(np.array([raw, raw, 1, 1, 1]))[0], rel=1e-9)
    assert {gap.word for gap in report.apart} == {"zebra", "c"}
    result = words_of_two(report)
    assert result.outcome == WordsBesideOutcome.APART
    assert (result.slots["word"], result.slots["model"], result.slots["other"]) == ("c", "other", "one")
    assert result.fact("apart").value == 2 and result.fact("tested").value == 5
    header, rows = words_beside_table(report)
    assert all(len(row) == len(header) for row in rows)


def test_equal_models_differ_in_no_word_and_few_texts_say_nothing():
    tops = np.ones((20, 1), dtype=bool)
    question, one = side(tops, ["zebra"], "one")
    assert words_of_two(compare_words(question, one, one)).outcome == WordsBesideOutcome.ALIKE
    question, few = side(tops[:8], ["zebra"], "few")
    assert words_of_two(compare_words(question, few, few)).outcome == AskedOutcome.FEW_TEXTS


def test_a_text_counts_only_where_the_measure_is_heard_under_both():
    tops = np.ones((20, 1), dtype=bool)
    question, one = side(tops, ["zebra"], "one")
    _, unheard = side(tops, ["zebra"], "unheard", UNTOLD)
    report = compare_words(question, one, unheard)
    assert report.n == 20 and not report.gaps
    assert words_of_two(report).outcome == WordsBesideOutcome.NOT_TESTED


def test_a_table_has_a_line_for_each_tested_word_of_each_further_model():
    rng = np.random.default_rng(0)
    chance = np.array([0.9, 0.5, 0.1])
    question, one = side(rng.random((20, 3)) < chance, ["x", "y", "z"], "one")
    others = [side(rng.random((20, 3)) < 1 - chance, ["x", "y", "z"], name)[1] for name in ("two", "three")]
    expected = [(other.model.name, gap) for other in others for gap in compare_words(question, one, other).gaps]
    lines = lines_of_two(question, [one, *others])
    assert len(lines) == len(expected) >= 6 and {line["against"] for line in lines} == {"one"}
    for line, (name, gap) in zip(lines, expected):
        assert (line["model"], line["word"], line["texts"], line["p"]) == (name, gap.word, gap.texts, gap.p)
        assert (line["top_3"], line["top_3_against"]) == (gap.second, gap.first)
    assert not lines_of_two(question, [one])


def test_rare_words_are_not_tested_where_they_could_not_be_significant():
    """Of five texts the smallest p is 1/16: they would only make the others' tests harder."""
    rng = np.random.default_rng(0)
    question, one = side(rng.random((5, 3)) < 0.5, ["x", "y", "z"], "one")
    assert not compare_words(question, one, one).gaps


@pytest.mark.simulation
@pytest.mark.parametrize("words", [1, 8])
def test_words_of_models_that_are_alike_differ_on_at_most_5_of_100_samples(words):
    """Both models have each word in the top 3 at random, by the same chance."""
    rng, differ, samples = np.random.default_rng(words), 0, 400
    for _ in range(samples):
        chance = rng.uniform(0.2, 0.8, words)
        question, one = side(rng.random((30, words)) < chance, [f"w{i}" for i in range(words)], "one")
        _, other = side(rng.random((30, words)) < chance, [f"w{i}" for i in range(words)], "other")
        differ += bool(compare_words(question, one, other).apart)
    assert differ / samples <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / samples)


def test_the_command_sets_models_side_by_side_and_writes_every_score(tiny_root, tmp_path, capsys):
    data = tmp_path / "texts.jsonl"
    rows = [{"id": f"t{i}", "text": text} for i, text in enumerate(tiny.SENTENCES[:6])]
    rows[0]["text"] = "<b>Salt</b> the שלום water the"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    models = [str(tiny.folder(kind, tiny_root)) for kind in ("bert", "distilbert")]
    asks = ["evaluate", "--what", "words", "--data", str(data), "--measures", *NAMES, "--model", models[0]]
    assert main([*asks, "--beside", models[1], "--out", str(tmp_path / "two.json")]) == 0
    (beside,) = json.loads((tmp_path / "two.json").read_text())["beside"]
    assert beside["outcome"] == AskedOutcome.FEW_TEXTS.value and beside["facts"]["texts"] == 6
    assert main([*asks, "--lines", "scores", "--out", str(tmp_path / "scores.parquet")]) == 0
    lines = parquet.read_table(tmp_path / "scores.parquet").to_pylist()
    own = [line for line in lines if line["example"] == "t0" and line["word"] is not None]
    assert {line["measure"] for line in own} == set(NAMES)
    the = [line for line in own if line["word"] == "the" and line["measure"] == NAMES[0]]
    assert [(line["position"], line["times"]) for line in the] == [(own_place(own, "the"), 2)]
    assert {"שלום", "<b>salt</b>"} <= {line["word"] for line in own}
    with pytest.raises(SystemExit):
        main([*asks, "--lines", "word"])
    capsys.readouterr()


def own_place(own, word):
    """The place of the word among the features, counted through the words that come before it."""
    return next(line["position"] for line in own if line["word"] == word)
