"""Models side by side: shares of verdicts and limits against each text's own, and the line of a model."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from core.data.examples import Example
from core.evaluation.asking import ask
from core.evaluation.sampling import without_labels
from core.evaluation.studies.check_question import MaskingCheck
from core.evaluation.studies.check_report import X
from core.evaluation.studies.side_by_side import SideBySide, side_by_side_table
from core.evaluation.studies.verdicts import Verdicts
from core.explanation.explainer import Explainer
from core.explanation.limiting import walk
from core.storage.store import Store
from core.training.further import log_loss

NAMES = ("leave-one-out", "gradient")
LOSS, BETTER = "log loss at 0 % masked ↓", "gradient: better than random"
TEXTS = ("The tide rises", "Cold soup today", "Nobody heard it")


@pytest.fixture(scope="module")
def explainer(tiny_model):
    return Explainer(tiny_model("bert"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("asked"))


@pytest.fixture(scope="module")
def answers(explainer, store):
    sample = without_labels("toy", "0" * 64, [Example(f"e{i}", text) for i, text in enumerate(TEXTS)])
    return ask(explainer, sample, SideBySide(NAMES), store)


def test_limits_are_means_over_all_orders_of_each_text(explainer, answers):
    figures, ends = SideBySide(NAMES).conclude(answers), []
    for text in TEXTS:
        encoded = explainer.encode(text, None, "word")
        target = int(explainer.logits(encoded).argmax())
        orders = [np.array(one) for one in permutations(range(encoded.F))]
        reached = [one.aopc for one in walk(explainer, encoded, orders, target)]
        ends.append((min(reached), max(reached)))
    assert (figures.lower.mean, figures.upper.mean) == pytest.approx(tuple(np.mean(ends, axis=0)), abs=1e-6)
    assert (figures.n, figures.m) == (3, 3) and not figures.lower.known
    assert np.isnan(figures.rejected), "without a reference nothing is rejected"


def test_shares_are_those_of_the_question_about_verdicts(explainer, answers, store):
    asked = Verdicts(NAMES)
    report = asked.conclude(ask(explainer, answers.sample, asked, store))
    figures = SideBySide(NAMES).conclude(answers)
    assert [one.mean for one in figures.better] == pytest.approx([count / 3 for count in report.better_counts])


def test_what_is_not_known_yet_is_nan_and_nothing_is_none(answers):
    question = SideBySide(NAMES)

    def only(*known):
        found = {
            study: rows if study in known else replace(rows, there=np.zeros_like(rows.there))
            for study, rows in answers.found.items()
        }
        return question.conclude(replace(answers, found=found))

    assert only() is None
    assert np.isnan(only(question.verdicts).upper.mean) and only(question.verdicts).n == 3
    assert np.isnan(only(question.limits).better[0].mean) and only(question.limits).m == 3


def test_a_line_of_the_table_is_what_the_check_and_both_studies_say(explainer, answers, store):
    labels = explainer.model.labels
    examples = [Example(f"e{i}", text, None, labels[i % 2]) for i, text in enumerate(TEXTS)]
    sample = replace(answers.sample, examples=tuple(examples), labels=np.arange(3) % 2)
    check = MaskingCheck()
    report = check.conclude(ask(explainer, sample, check, store))
    figures = SideBySide(NAMES).conclude(answers)
    header, (known, unknown) = side_by_side_table(NAMES, [(report, "full", figures), (report, "calibration", None)])
    line, other = dict(zip(header, known, strict=True)), dict(zip(header, unknown, strict=True))
    encoded = [explainer.encode(text, None, "word") for text in TEXTS]
    logits = np.stack([explainer.logits(one) for one in encoded])
    assert line[LOSS] == pytest.approx(log_loss(logits, sample.labels), abs=1e-5)
    assert line["accuracy at 0 % masked ↑"] == pytest.approx(np.mean(logits.argmax(axis=1) == sample.labels))
    assert line["accuracy at 100 % masked ↑"] == report.random.performance[list(X).index(1.0)]
    assert line["rejected at 50 % masked ↓"] is None
    assert line["highest AOPC"] == figures.upper.mean and line[BETTER] == (figures.better[1].mean)
    assert other["highest AOPC"] is None and other["trained"] == "calibration"
