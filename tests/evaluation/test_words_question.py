"""Words over the data: by hand on made-up rows, against SciPy, a planted word, and the texts that are left out."""

import html
import json
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy import stats

from core.data.examples import Example
from core.evaluation.asking import ask
from core.evaluation.sampling import without_labels
from core.evaluation.studies.known_words import faithful_texts
from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.evaluation.studies.word_lines import RESAMPLES
from core.evaluation.studies.word_scores import WordScores, by_word, read_words
from core.evaluation.studies.words_question import Words
from core.evaluation.study import Rows
from core.explanation.explainer import Explainer
from core.figures.catalogue import question_figure
from core.mathematics.statistics import mean_interval
from core.results.asked import AskedOutcome
from core.results.catalogue import question_result
from core.results.words import WordsOutcome
from core.storage.store import Store
from core.wording import Tally
from tests import tiny

NAMES = ("leave-one-out", "gradient")
LABELS = ("bad", "good")
BETTER, NOT, UNTOLD = 1.0, 0.0, np.nan
# Better on all texts but one.
BUT_ONE = object()


def told(texts, faithful, labels=None):
    """The report of texts, each (class, words, scores of the first measure), with verdicts float[n, 2]."""
    n, question, rows = len(texts), Words(NAMES), []
    for label, words, scores in texts:
        scores = np.array(scores, dtype=float)
        row = by_word(words, scores > 2, [scores, -scores])
        rows.append(json.dumps({"class": label} | row))
    there, known = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
    scored = Rows(there, {}, known, {"words": np.arange(n)}, tuple(rows), {})
    word = np.array(faithful, dtype=float)
    p = np.choose(np.nan_to_num(word, nan=2).astype(int), [0.6, 0.01, np.nan])
    judged = Rows(there, {}, known, {"word": word, "p": p, "worse": 1.01 - p}, (), {})
    examples = tuple(Example(f"e{i}", "", label=None if labels is None else labels[i]) for i in range(n))
    answers = SimpleNamespace(
        found={question.scores: scored, question.verdicts: judged},
        model=SimpleNamespace(labels=LABELS, name="made", digest="0"),
        sample=SimpleNamespace(examples=examples, picked=""),
        tally=lambda _: Tally(n, n, fewest=20),
        coming=frozenset(),
        left_out={},
    )
    return question, answers, question.conclude(answers)


def test_a_texts_words_stand_once_with_the_mean_of_their_places():
    found = by_word(["not", "bad", "not", "."], np.array([0, 1, 1, 0], dtype=bool), [np.array([1.0, 5, 3, 0])])
    assert found == {
        "words": ["not", "bad", "."], "alone": [1, 1, 0], "scores": [[2.0, 5.0, 0.0]], "top": [[1, 1, 0]]
    }  # fmt: skip


def test_counts_means_and_shares_by_hand():
    """Six texts with "dull", of which one is not faithful and one of the other class."""
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    texts = [(0, ["dull", "x"], [value, 0.5]) for value in values]
    texts += [(0, ["dull", "x"], [100.0, 0]), (1, ["dull", "x"], [7.0, 0])]
    faithful = [[BETTER, NOT]] * 5 + [[UNTOLD, UNTOLD], [BETTER, NOT]]
    labels = ["bad", "bad", "good", "bad", "elsewhere", "bad", "good"]
    _, _, report = told(texts, faithful, labels)
    assert report.faithful == (6, 0) and report.n == 7
    assert {(one.word, one.label, one.measure) for one in report.lines} == {
        ("dull", "bad", NAMES[0]),
        ("x", "bad", NAMES[0]),
    }
    dull, x = report.lines
    assert (dull.word, dull.texts, dull.mean.mean, dull.alone, dull.top) == ("dull", 5, 3.0, 0.6, 1.0)
    # Four of the five have a label of the model's, three of them right; no faithful text of the class lacks the word.
    assert dull.right == 0.75 and np.isnan(dull.others) and x.mean.mean == 0.5
    rng = np.random.default_rng(0)
    found = stats.bootstrap((np.array(values),), np.mean, n_resamples=RESAMPLES, rng=rng).confidence_interval
    assert (dull.mean.low, dull.mean.high) == pytest.approx(found, abs=0.15)


def test_lines_are_those_of_counting_word_by_word():
    rng, vocabulary = np.random.default_rng(3), [f"w{i}" for i in range(12)]
    drawn = [rng.permutation(vocabulary)[: rng.integers(1, 9)].tolist() for _ in range(60)]
    texts = [(int(rng.integers(2)), words, rng.normal(1, 2, len(words)).round(1)) for words in drawn]
    faithful = np.where(rng.random((60, 2)) < 0.8, BETTER, UNTOLD)
    labels = rng.choice(["bad", "good", "elsewhere"], 60).tolist()
    _, answers, report = told(texts, faithful, labels)
    known = Words(NAMES).known(answers)
    expected = {}
    for m, name in enumerate(NAMES):
        for c, label in enumerate(LABELS):
            heard = [i for i in range(60) if known.faithful[i, m] and texts[i][0] == c]
            right = {i: labels[i] == label for i in heard if labels[i] in LABELS}
            for word in vocabulary:
                own = [(i, known.texts[i]["words"].index(word)) for i in heard if word in drawn[i]]
                if len(own) < 5:
                    continue
                here = [right[i] for i, _ in own if i in right]
                there = [good for i, good in right.items() if i not in dict(own)]
                columns = [[known.texts[i][of][m][at] for i, at in own] for of in ("scores", "top")]
                columns.append([known.texts[i]["alone"][at] for i, at in own])
                shares = [sum(one) / len(one) if one else np.nan for one in (*columns[1:], here, there)]
                span = mean_interval(np.array(columns[0]), RESAMPLES)
                expected[word, label, name] = [len(own), span.mean, span.low, span.high, *shares]
    found = {one[:3]: [one.texts, one.mean.mean, one.mean.low, one.mean.high, *one[5:]] for one in report.lines}
    assert set(found) == set(expected) and len(found) > 12
    for key, line in found.items():
        np.testing.assert_allclose(line, expected[key], atol=1e-12)
    for name in NAMES:
        for label in LABELS:
            means = [one.mean.mean for one in report.of(name, label)]
            assert means == sorted(means, reverse=True)


def test_a_word_of_four_faithful_texts_is_not_listed():
    texts = [(0, ["rare", "common"], [3.0, 1.0])] * 4 + [(0, ["common"], [1.0])]
    question, answers, report = told(texts, [[BETTER, BETTER]] * 5)
    assert {one.word for one in report.lines} == {"common"}
    every = question.records(answers)
    lines = [line for line in every if "word" in line]
    assert [line["example"] for line in every if "example" in line] == [f"e{i}" for i in range(5)]
    assert [set(line) >= {"word", "class", "measure", "texts", "mean", "low", "high"} for line in lines] == [True, True]
    assert {line["faithful"] for line in lines} == {5} == {line["judged"] for line in lines}


def test_a_text_on_which_one_word_decides_counts_though_its_verdict_is_not_better():
    """Of seven words the first decides: one order in seven begins with it, so p is 1/7, and no verdict is better."""
    n = 20
    word, p, worse = np.zeros((n, 1)), np.full((n, 1), 1 / 7), np.ones((n, 1))
    assert faithful_texts(word, worse, p).all()
    word[:3], p[3:6], worse[3:6] = np.nan, 1.0, 1 / 7
    expected = [False] * 6 + [True] * (n - 6)
    assert faithful_texts(word, worse, p)[:, 0].tolist() == expected
    assert not faithful_texts(word, p, worse).any()


@pytest.mark.simulation
@pytest.mark.parametrize("orders", [7, 100])
@pytest.mark.parametrize("n", [20, 100])
def test_a_measure_of_random_orders_is_heard_of_no_text_in_95_of_100_samples(orders, n):
    """Exchangeable AOPC with many ties at the top: three measures, any of which is heard on at most 5 % of samples."""
    rng, heard, samples = np.random.default_rng([n, orders]), 0, 2_000
    for _ in range(samples):
        drawn = np.minimum(rng.random((n, 3, orders)), 0.7)
        own = drawn[:, :, :1]
        p, worse = (drawn >= own).mean(axis=2), (drawn <= own).mean(axis=2)
        heard += faithful_texts(np.zeros((n, 3)), worse, p).any()
    # Four standard deviations of a share of 5 % above it.
    assert heard / samples <= 0.05 + 4 * np.sqrt(0.05 * 0.95 / samples)


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_word_comes_first_and_only_for_the_measure_that_sees_it(seed):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(40):
        words = [f"w{i}" for i in rng.choice(30, 6, replace=False)]
        scores = rng.normal(0, 0.3, 6).tolist()
        texts.append((1, ["zebra", *words], [2 + rng.normal(0, 0.1), *scores]))
    _, _, report = told(texts, [[BETTER, BETTER]] * 40)
    seen, blind = (report.of(name, "good") for name in NAMES)
    assert seen[0].word == "zebra" == report.leading.word and seen[0].mean.low > 1.5
    assert blind[-1].word == "zebra" and blind[-1].mean.high < 0


@pytest.mark.parametrize(
    ("count", "verdict", "score", "expected"),
    [
        (20, BETTER, 1.0, WordsOutcome.LEADING),
        (20, BUT_ONE, 1.0, WordsOutcome.NO_WORD),
        (20, BETTER, 0.0, WordsOutcome.NO_WORD),
        (20, UNTOLD, 1.0, WordsOutcome.NOT_FAITHFUL),
        (19, BETTER, 1.0, AskedOutcome.FEW_TEXTS),
    ],
)
def test_every_outcome(count, verdict, score, expected):
    texts = [(0, ["dull", f"w{i}"], [score + 0.01 * (score > 0) * i, 0]) for i in range(count)]
    faithful = [[BETTER if verdict is BUT_ONE and i < 19 else verdict, UNTOLD] for i in range(count)]
    question, _, report = told(texts, [[NOT if one is BUT_ONE else one, UNTOLD] for one, _ in faithful])
    result = question_result(question.name, report)
    assert result.outcome == expected
    assert all(len(header) == len(row) for header, rows in question.tables(report) for row in rows)


def test_the_figure_names_the_first_words_as_text_and_no_markup():
    texts = [(0, ["<b>dull</b>", f"w{i}"], [1 + 0.01 * i, 0]) for i in range(20)]
    question, _, report = told(texts, [[BETTER, UNTOLD]] * 20)
    points, _ = question_figure(question.name, [report])["data"]
    assert points["text"] == [html.escape("<b>dull</b>")] and points["x"] == [20]
    _, _, empty = told(texts, [[UNTOLD, UNTOLD]] * 20)
    assert question_figure(question.name, [empty]) is None


def test_the_figure_and_the_first_fact_are_of_the_measure_that_leads():
    """The first measure has words and leads with none; a fact of another than is drawn would contradict the picture."""
    texts = [(0, ["dull", f"w{i}"], [-1 - 0.01 * i, 0]) for i in range(20)]
    question, _, report = told(texts, [[BETTER, BETTER]] * 20)
    assert report.of(NAMES[0], "bad") and report.leading.measure == NAMES[1]
    drawn, mean = question_figure(question.name, [report]), question_result(question.name, report).fact("mean")
    assert NAMES[1] in drawn["layout"]["yaxis"]["title"]["text"] and NAMES[1] in mean.label
    assert drawn["data"][0]["y"] == [mean.value] == [pytest.approx(1.095)]


@pytest.mark.parametrize("same", (1, 3, 5))
def test_words_at_one_point_are_named_as_far_as_there_is_room(same):
    """For some names there is no room; their points stay."""
    words = [letter * 30 for letter in "abcde"[:same]]
    texts = [(0, [*words, f"w{i}"], [*[1 + 0.01 * i] * same, 0]) for i in range(20)]
    question, _, report = told(texts, [[BETTER, UNTOLD]] * 20)
    points = go.Figure(question_figure(question.name, [report])).data[0]
    shown = [name for name in points.text if name]
    assert len(points.x) == same and len(shown) >= 1 and set(shown) <= set(words)
    assert (len(shown) < same) == (same > 1)


def test_a_word_of_few_texts_may_lie_above_the_leading_one_and_is_hollow():
    texts = [(0, ["dull", "flat" if i < 6 else f"w{i}"], [1 + 0.01 * i, 3.0]) for i in range(20)]
    question, _, report = told(texts, [[BETTER, UNTOLD]] * 20)
    assert report.leading.word == "dull" and report.of(NAMES[0], report.labels[0])[0].word == "flat"
    points, of_class, few = question_figure(question.name, [report])["data"]
    assert dict(zip(points["text"], points["marker"]["symbol"])) == {"flat": "circle-open", "dull": "circle"}
    assert [one["marker"]["symbol"] for one in (of_class, few)] == ["circle", "circle-open"]


def test_the_leading_word_is_named_behind_many_of_few_texts():
    """Fifty words of five texts each lie above one of all fifty."""
    texts = [(0, ["dull", *[f"w{(i + k) % 50}" for k in range(5)]], [1 + 0.001 * i, *[3.0] * 5]) for i in range(50)]
    question, _, report = told(texts, [[BETTER, UNTOLD]] * 50)
    assert report.leading.word == "dull" and report.of(NAMES[0], "bad")[-1].word == "dull"
    points = question_figure(question.name, [report])["data"][0]
    assert points["text"][0] == "dull" and points["x"][0] == 50 and len(points["x"]) == 40


def test_rows_are_the_librarys_and_are_read_again(tiny_model, tmp_path):
    explainer, store = Explainer(tiny_model("bert")), Store(tmp_path)
    sample = without_labels("toy", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[:3])])
    question = Words(NAMES)
    answers = ask(explainer, sample, question, store)
    scored = answers.found[question.scores]
    for i, text in enumerate(tiny.SENTENCES[:3]):
        encoded, found = explainer.encode(text, None, "word"), read_words(scored, i)
        target = int(explainer.logits(encoded).argmax())
        assert found["class"] == target and found["words"] == list(
            dict.fromkeys(feature.text.casefold() for feature in encoded.features)
        )
        whole = explainer.attribute(encoded, "gradient", target).scores["L2"]
        each = [one.text.casefold() for one in encoded.features]
        means = [np.mean([v for v, w in zip(whole, each) if w == word]) for word in found["words"]]
        np.testing.assert_allclose(found["scores"][1], means, rtol=1e-5)
        flips = explainer.oracles.of(encoded).logits(np.eye(encoded.F, dtype=bool)).argmax(axis=1) != target
        assert found["alone"] == [int(any(f for f, w in zip(flips, each) if w == word)) for word in found["words"]]
    before = explainer.model.scheduler.counters.passes
    again = ask(Explainer(tiny_model("bert")), sample, question, store)
    assert explainer.model.scheduler.counters.passes == before and again.found[question.scores].there.all()
    assert [type(study) for study in question.studies] == [WordScores, VerdictsOfTexts]


def test_the_studies_of_a_question_read_a_text_once(tiny_model, tmp_path, monkeypatch):
    explainer, read = Explainer(tiny_model("bert")), []
    encode = Explainer.encode
    monkeypatch.setattr(Explainer, "encode", lambda self, text, *more: read.append(text) or encode(self, text, *more))
    sample = without_labels("made", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[:3])])
    for _ in range(2):
        read.clear()
        ask(explainer, sample, Words(NAMES), Store(tmp_path))
        assert sorted(read) == sorted(one.text for one in sample.examples)
