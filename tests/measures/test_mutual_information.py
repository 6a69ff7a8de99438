"""Mutual information of words: by hand, against scikit-learn, and what of it is kept and told."""

import json
import shutil
from dataclasses import replace
from math import log2

import numpy as np
import pytest

from core.commands.command_line import main
from core.data.examples import Example
from core.evaluation.asking import run_study
from core.evaluation.sampling import Sample, without_labels
from core.evaluation.studies.behaviour import Course
from core.evaluation.studies.limits_of_texts import LimitsOfTexts
from core.evaluation.studies.model_check import Curve
from core.evaluation.studies.scoring import SHUFFLED, VALUE, Scoring
from core.evaluation.studies.traits import Agreement
from core.evaluation.study import Subject
from core.explanation.explainer import Explainer, with_reference
from core.explanation.recursive import BY_RATIO
from core.judging.judging import How, Judge
from core.loading.loading import load
from core.loading.model_files import WORDS_FILE
from core.loading.word_bits import find_words_of
from core.mathematics.stepwise import finish
from core.measures.mutual_information import MissingClass, count_bits, measure_words
from core.measures.registry import NotApplicable
from core.storage.store import Store
from core.validity.marks import HOLM
from core.validity.references import CALIBRATED
from pages.parts.erasure.judging import Judging, Shuffling
from pages.parts.frame.sidebar import View
from pages.parts.sections.paths import Choice, Path
from pages.parts.sections.sides import RECURSIVE, Orders
from pages.parts.sections.standings import OrderScoring
from pages.parts.sections.studying import StudyWork
from tests import tiny

NAME = "mutual information"
TEXTS = [
    "The ferry leaves",
    "the FERRY, again",
    "Salt the soup",
    "the soup was salt",
    "a lathe",
    "the lathe and a ferry",
]
LABELS = np.array([0, 0, 1, 1, 2, 2])


def plug_in(word):
    """Σ_c P(c) I(U; C_c) over the texts and one of each class that holds every word, cell by cell."""
    held = [word in text.lower().replace(",", " ").split() for text in TEXTS] + [True] * 3
    of = [*LABELS.tolist(), 0, 1, 2]
    total = 0.0
    for c in range(3):
        for u in (True, False):
            for k in (True, False):
                both = sum(h == u and (label == c) == k for h, label in zip(held, of)) / 9
                alone = sum(h == u for h in held) / 9 * (sum((label == c) == k for label in of) / 9)
                total += of.count(c) / 9 * (both * log2(both / alone) if both else 0.0)
    return total


def test_every_word_by_its_definition():
    found = measure_words(TEXTS, LABELS, tiny.LABELS)
    assert set(found.words) == set("the ferry leaves , again salt soup was a lathe and".split())
    for word in found.words:
        expected = plug_in(word) if word != "," else plug_in("again")
        assert found.of(word) == pytest.approx(expected, abs=1e-12), word
    assert found.of("FERRY") == found.of("ferry") > found.of("the")
    assert found.of("zebra") == found.unseen < found.of("soup") and found.unseen == pytest.approx(plug_in("zebra"))


def test_one_word_by_hand():
    """Two classes of 3 texts; a word in all of the first and none of the second: smoothed 4 of 4 against 1 of 4."""
    found = count_bits(np.array([[3, 0]]), np.array([3, 3]))
    # H(class) = 1; of the 5 texts with it 4 are of the first class, the 3 without it of the second.
    expected = 1 - 5 / 8 * (-4 / 5 * log2(4 / 5) - 1 / 5 * log2(1 / 5))
    np.testing.assert_allclose(found, [expected])


def test_scikit_learn_counts_the_same():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    of, held = rng.integers(0, 4, 300), rng.random((300, 25)) < rng.random(25)
    held[of == 2, :5] = rng.random((int((of == 2).sum()), 5)) < 0.9
    present = np.array([[(held[:, w] & (of == c)).sum() for c in range(4)] for w in range(25)])
    found = count_bits(present, np.bincount(of))
    smoothed, words = np.concatenate([of, np.arange(4)]), np.concatenate([held, np.ones((4, 25), dtype=bool)])
    expected = [
        sum((smoothed == c).mean() * metrics.mutual_info_score(words[:, w], smoothed == c) for c in range(4))
        / np.log(2)
        for w in range(25)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_class_without_texts_is_a_sentence():
    with pytest.raises(
        MissingClass, match=r"^None of these \d+ texts is of class kitchen; give the whole training split\.$"
    ):
        measure_words(TEXTS[:2], np.array([0, 2]), tiny.LABELS)
    with pytest.raises(MissingClass, match="needs two classes"):
        measure_words(["a"], np.array([0]), ("only",))


@pytest.fixture
def cached(tmp_path, monkeypatch):
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "library" / "references"


def written(path, texts=TEXTS, labels=LABELS):
    rows = (json.dumps({"text": text, "label": tiny.LABELS[label]}) for text, label in zip(texts, labels))
    path.write_text("\n".join(rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def fitted(tiny_model, tmp_path, monkeypatch, cached):
    """`fitted(texts, labels)`: what the command prints of them; kept in the cache, as for a model of the hub."""
    monkeypatch.setattr(
        "core.loading.loading.load", lambda *_: replace(tiny_model("bert"), name="some/model", origin="some/model")
    )

    def fit(*given):
        return main(["words", "--model", "some/model", "--data", written(tmp_path / "train.jsonl", *given)])

    return fit


def test_what_a_file_holds_reaches_the_terminal_as_signs(fitted, capsys):
    assert fitted(["a \x1b[31mlathe", "the soup", "the ferry"], np.array([2, 1, 0])) == 0
    told = capsys.readouterr().out
    assert "\x1b" not in told and "␛[31mlathe" in told


def test_the_command_measures_and_explanations_find_it(tiny_model, fitted, cached, capsys):
    model = tiny_model("bert")
    assert fitted() == 0
    told = capsys.readouterr().out
    assert "11 words of 6 texts" in told and WORDS_FILE in told
    expected = measure_words(TEXTS, LABELS, tiny.LABELS)
    explainer = with_reference(model, None, cached)
    found = explainer.attribute(model.encode("the Ferry, zebra [MASK]"), NAME, 0)
    bits = [expected.of(word) for word in ("the", "ferry", ",", "zebra")]
    np.testing.assert_allclose(found.scores["absolute"], [*bits, 0])
    assert found.passes == 0
    np.testing.assert_allclose(
        found.scores["absolute"],
        explainer.attribute(model.encode("the Ferry, zebra [MASK]"), NAME, 2).scores["absolute"],
    )


@pytest.mark.parametrize("unit", ["token", "clause"])
def test_other_units_have_what_their_words_have(tiny_model, fitted, cached, unit):
    model = tiny_model("bert")
    assert fitted() == 0
    encoded, expected = model.encode("the lathe, the soup", unit=unit), measure_words(TEXTS, LABELS, tiny.LABELS)
    found = with_reference(model, None, cached).attribute(encoded, NAME, 0).scores["absolute"]
    if unit == "clause":
        first = expected.of("the") + expected.of("lathe") + expected.of(",")
        np.testing.assert_allclose(found, [first, expected.of("the") + expected.of("soup")])
    else:
        owner = {"the": "the", ",": ","}
        for feature, score in zip(encoded.features, found):
            word = owner.get(feature.text, "lathe" if feature.end <= 9 else "soup")
            assert score == pytest.approx(expected.of(word))


def test_measured_anew_it_is_computed_anew(tiny_model, fitted, cached, tmp_path):
    model, encoded = tiny_model("bert"), tiny_model("bert").encode("the lathe")
    assert fitted() == 0
    first = with_reference(model, Store(tmp_path / "kept"), cached)
    assert first.stored(encoded, NAME, 0) is None
    before = first.attribute(encoded, NAME, 0)
    assert first.stored(encoded, NAME, 0) is not None
    assert fitted(["a lathe", "the lathe", "the soup"], np.array([0, 1, 2])) == 0
    assert first.stored(encoded, NAME, 0) is None
    assert np.abs(first.attribute(encoded, NAME, 0).scores["absolute"] - before.scores["absolute"]).max() > 1e-3


def keys_of(explainer, name):
    """What the rows of every study by this measure, and the work of pages with it, are kept under."""
    encoded = explainer.encode("the lathe", None, "word")
    subject = Subject(explainer, Example("e1", "the lathe", None, tiny.LABELS[0]), 0, encoded, np.array(True))
    studies = [
        Curve(name),
        Course(name),
        Agreement((name, "attention")),
        Scoring((name, "attention"), ("NS",), baseline=SHUFFLED, count=1),
        LimitsOfTexts((name,)),
    ]
    rows = [(study.key(explainer), *study.row_keys(subject)) for study in studies]
    likely = explainer.probabilities(encoded)
    side = View(explainer, encoded, subject.example, "some", None, likely, 0, places=None)
    choice = Choice((name,), name, "signed", BY_RATIO, RECURSIVE, HOLM, CALIBRATED)
    works = [
        Path(side, name, choice, Orders(side, BY_RATIO)),
        OrderScoring(side, name, "signed"),
        Judging(side, name, "signed", ("NS",), How()),
        Shuffling(side, (name,), "signed", ("NS",), How()),
        *(StudyWork(explainer, Sample("some", "0" * 64, (), np.array([])), study) for study in studies),
    ]
    return rows, [work.key for work in works]


def test_what_rests_on_words_is_found_again_for_the_same_words_only(tiny_model, fitted, cached):
    model = tiny_model("bert")
    explainer = with_reference(model, None, cached)
    others = keys_of(explainer, "gradient")[0]
    assert fitted() == 0
    (rows, works), again = keys_of(explainer, NAME), keys_of(explainer, NAME)
    assert (rows, works) == again and explainer.words_read("gradient", "random order") == {}
    assert fitted(["a lathe", "the lathe", "the soup"], np.array([0, 1, 2])) == 0
    for before, after in zip(rows, keys_of(explainer, NAME)[0], strict=True):
        assert before != after
    assert not set(works) & set(keys_of(explainer, NAME)[1])
    # Of its two measures the second reads no words; the prediction and what is said of that one stay.
    scores, anew = rows[3], keys_of(explainer, NAME)[0][3]
    assert [one == other for one, other in zip(scores, anew)] == [True, True, False, True, False, True]
    assert keys_of(explainer, "gradient")[0] == others


def test_a_study_reads_the_words_and_without_them_the_other_measures_have_their_scores(tiny_model, fitted, cached):
    model = tiny_model("bert")
    explainer = with_reference(model, None, cached)
    study = Scoring((NAME, "gradient"), ("NS", "NC"), "signed", How(), 1)
    sample = without_labels("some", "0" * 64, (Example("a", "the lathe, the soup"), Example("b", "a ferry again")))
    without = finish(run_study(explainer, sample, study))
    assert without.there.all() and not without.problems
    assert np.isnan(without.values[:, 0]).all() and np.isfinite(without.values[:, 1:, :, VALUE]).all()
    assert all("not measured" in without.sentences[note] for note in without.notes[:, 0].ravel())
    assert fitted() == 0
    measured = finish(run_study(explainer, sample, study))
    judge = Judge(explainer, model.encode("the lathe, the soup"), How())
    scores, magnitudes = judge.attribution(NAME, "signed")
    for s, metric in enumerate(study.metrics):
        expected = judge.rate(scores, (metric,), magnitudes).found[metric].value
        # Other texts in a batch change the last bits of a forward pass.
        assert measured.values[0, 0, s, VALUE] == pytest.approx(expected, abs=1e-5, nan_ok=True)
    np.testing.assert_allclose(measured.values[:, 1:], without.values[:, 1:], atol=1e-5)


def test_beside_weights_of_ones_own_it_is_no_part_of_them(tiny_root, tmp_path, cached):
    folder = str(shutil.copytree(tiny.folder("bert", tiny_root), tmp_path / "mine"))
    before = load(folder, "cpu")
    assert main(["words", "--model", folder, "--data", written(tmp_path / "train.jsonl"), "--device", "cpu"]) == 0
    assert (tmp_path / "mine" / WORDS_FILE).is_file() and not cached.exists()
    after = load(folder, "cpu")
    assert after.digest == before.digest and find_words_of(after) is not None


def test_what_cannot_be_used_is_a_sentence(tiny_model, fitted, cached, capsys):
    model = tiny_model("bert")
    encoded = model.encode("the lathe")
    explainer = with_reference(model, None, cached)
    with pytest.raises(NotApplicable, match=r"not measured for this model.*python -m core words"):
        explainer.attribute(encoded, NAME, 0)
    assert fitted(TEXTS[:4], LABELS[:4]) == 1
    assert "class workshop" in capsys.readouterr().err
    assert fitted() == 0
    (place,) = cached.glob("*.safetensors")
    other = tiny_model("roberta")
    place.rename(place.with_name(place.name.replace(model.digest, other.digest)))
    with pytest.raises(NotApplicable, match="for another model"):
        find_words_of(other, cached)
    (place,) = cached.glob("*.safetensors")
    place.write_bytes(place.read_bytes()[:-9])
    explainer = with_reference(other, Store(cached / "kept"), cached)
    assert explainer.stored(other.encode("the lathe"), NAME, 0) is None
    with pytest.raises(NotApplicable, match="damaged"):
        explainer.attribute(other.encode("the lathe"), NAME, 0)
    with pytest.raises(NotApplicable, match="not measured"):
        Explainer(model).attribute(encoded, NAME, 0)
