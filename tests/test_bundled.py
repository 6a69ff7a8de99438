"""What ships with the project: examples, the bundled model and its base."""

import difflib
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from core.composition.cards import readable
from core.composition.predicting import predict
from core.network.examples import read_bundled
from core.network.loading import BASES, MODELS, load

ROOT = Path(__file__).resolve().parent.parent
NAME = "sst2-fmm"
TAGS = {"negation", "contrast", "intensifier", "sarcasm", "comparison", "names", "mixed opinion", "no opinion words"}


@pytest.fixture(scope="module")
def model():
    return load(NAME, "cpu")


@pytest.fixture(scope="module")
def card():
    return json.loads((MODELS / NAME / "card.json").read_text(encoding="utf-8"))


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout, so there is no list of tracked files")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_reviews_cover_lengths_labels_and_phenomena():
    reviews = read_bundled("reviews")
    words = [len(example.text.split()) for example in reviews]
    assert len(reviews) >= 240
    assert sum(n <= 12 for n in words) >= 60
    assert sum(n >= 35 for n in words) >= 40
    assert 0.4 < np.mean([example.label == "positive" for example in reviews]) < 0.6
    assert {tag for example in reviews for tag in example.tags} == TAGS
    assert all(sum(tag in example.tags for example in reviews) >= 20 for tag in TAGS)


def test_reviews_are_unique_and_no_two_begin_alike():
    reviews = read_bundled("reviews")
    for values in ([e.id for e in reviews], [e.text for e in reviews], [" ".join(e.text.lower().split()[:4]) for e in reviews]):
        assert len(set(values)) == len(values)
    assert all("\n" not in e.note and e.text == e.text.strip() and e.label in ("negative", "positive") for e in reviews)


def test_hard_reviews_say_what_makes_them_hard():
    for example in read_bundled("reviews"):
        if {"sarcasm", "mixed opinion"} & set(example.tags):
            assert example.note, example.id


def test_contrast_pairs_differ_by_one_edit_and_in_label():
    found = read_bundled("contrast pairs")
    first, second = found[::2], found[1::2]
    assert len(first) == len(second) >= 40
    for one, other in zip(first, second):
        assert one.id[:-1] == other.id[:-1]
        assert {one.label, other.label} == {"negative", "positive"}
        share = difflib.SequenceMatcher(None, one.text.split(), other.text.split()).ratio()
        assert 0.5 < share < 1, (one.id, share)


def test_card_reaches_what_a_masked_model_must(card):
    shown = card["performance"]
    assert shown["split"] == "test"
    assert shown["masked"][0] >= 0.88
    assert shown["masked"][-1] >= shown["class_majority"]
    assert card["plan"]["training"] == "half" and card["plan"]["validation_strategy"] == "both"


def test_card_agrees_with_itself(card):
    shown, data = card["performance"], card["data"]
    majority = int(np.argmax(data["train"]["per_class"]))
    assert card["labels"][majority] == shown["majority_class"]
    per_class = data["test"]["per_class"]
    assert shown["class_majority"] == pytest.approx(per_class[majority] / sum(per_class))
    # A share of whole examples, at every ratio.
    assert all(abs(value * shown["examples"] - round(value * shown["examples"])) < 1e-6 for value in shown["masked"])
    assert all(entry["both"] == pytest.approx((entry["unmasked"] + entry["masked"]) / 2) for entry in card["validation"])
    assert (MODELS / NAME / "README.md").read_text(encoding="utf-8") == readable(card, NAME)


def test_model_reads_easy_reviews_right(model):
    easy = [example for example in read_bundled("reviews") if not example.note]
    predicted = predict(model, [model.encode(example.text) for example in easy]).argmax(axis=1)
    assert np.mean([model.labels[p] == example.label for p, example in zip(predicted, easy)]) >= 0.8


def test_fully_masked_text_is_answered_by_its_length_alone(model):
    encoded = [model.encode(text) for text in ("A dull and boring film .", "A fine and happy film .")]
    masks = [np.ones(example.F, dtype=bool) for example in encoded]
    one, other = predict(model, encoded, masks)
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_digest_is_the_same_at_every_load(model):
    assert load(NAME, "cpu").digest == model.digest


def test_licence_and_source_stand_beside_the_weights():
    assert "Apache License" in (BASES / "all-minilm-l6-v2" / "LICENSE").read_text(encoding="utf-8")
    for folder in (BASES / "all-minilm-l6-v2", MODELS / NAME):
        assert "Apache-2.0" in (folder / "SOURCE.md").read_text(encoding="utf-8")


def test_tracked_files_stay_within_the_budget_and_hold_no_pickle():
    files = [path for path in tracked() if path.exists()]
    assert sum(path.stat().st_size for path in files) < 64_000_000
    assert not [path.name for path in files if path.suffix in (".bin", ".pt", ".pth", ".pkl", ".pickle", ".joblib", ".ckpt")]
