"""What ships with the project: examples, the bundled model and its base."""

import difflib
import json
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from core.data.examples import bundled_set, first_example, read_bundled, title
from core.evaluation.families import examples_of, family, relatives
from core.evaluation.predicting import predict
from core.evaluation.studies.verdicts import VerdictsOfTexts
from core.explanation.explainer import with_reference
from core.loading.loading import load
from core.loading.locating import BASES, MODELS, bundled_models, find_seeds, member_names
from core.mathematics.statistics import share_interval
from core.measures.catalogue import default_measures
from core.results.caveats import Caveat
from core.results.inputs import model_caveats
from core.training.cards import readable_card
from core.validity.marks import decides
from core.validity.references import find_reference

ROOT = Path(__file__).resolve().parents[2]
NAME = "sst2-fmm"
# Accuracy on unmasked stories that each must reach.
STORY_MODELS = {"stories-1-decoder": 0.99, "stories-1-fmm": 0.99, "stories-2-fmm": 0.95, "stories-3-fmm": 0.80}
TAGS = {"negation", "contrast", "intensifier", "sarcasm", "comparison", "names", "mixed opinion", "no opinion words"}
# As the hard reviews were when results of them were first stored: links, commands and the store name them by these.
HARD_DIGEST = "ffb648b770794e4476c7180bb8e4037eec25cecdea09b7eab88ae63f202e0e91"
HARD_VERDICTS = "27dbe99ac73778e2b339dd8d895b6de109421909a3508139bc15aa2591cafad0"
TOPICS = {"film", "book", "food", "television", "music", "product", "hotel", "stage", "game"}
PHENOMENA = {"negation", "contrast", "comparison", "intensifier", "mixed opinion"}
NEWS_TAGS = {"numbers", "names", "quotation", "two topics", "metaphor", "short"}
HARD_NEWS = {"two topics", "metaphor"}


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


def test_hard_reviews_and_their_stored_results_keep_their_names(model):
    assert bundled_set("reviews").digest == HARD_DIGEST and bundled_set("reviews").name == "reviews"
    assert [one.id for one in read_bundled("reviews")] == [f"s{i:03d}" for i in range(1, 265)]
    assert first_example("reviews") == "s104" and title("reviews") == "hard reviews"
    assert VerdictsOfTexts(default_measures()).key(with_reference(model, None)) == HARD_VERDICTS


def test_ordinary_reviews_are_balanced_varied_and_unique():
    reviews = read_bundled("ordinary reviews")
    assert bundled_set("ordinary reviews").examples == tuple(reviews)
    assert len(reviews) >= 220 and [one.id for one in reviews] == [f"r{i:03d}" for i in range(1, len(reviews) + 1)]
    assert 0.45 < np.mean([one.label == "positive" for one in reviews]) < 0.55
    words = [len(one.text.split()) for one in reviews]
    assert 18 <= np.mean(words) <= 22 and 7 <= np.std(words) <= 10
    assert {tag for one in reviews for tag in one.tags} == TOPICS | PHENOMENA
    assert all(len(TOPICS & set(one.tags)) == 1 and not one.note for one in reviews)
    assert all(sum(tag in one.tags for one in reviews) >= 20 for tag in PHENOMENA)
    others = {one.text for data in ("reviews", "contrast pairs") for one in read_bundled(data)}
    starts = {" ".join(one.text.lower().split()[:4]) for one in reviews}
    assert len(starts) == len({one.text for one in reviews}) == len(reviews)
    assert not others & {one.text for one in reviews}
    assert all(one.text == one.text.strip() and one.label in ("negative", "positive") for one in reviews)


def test_ordinary_reviews_are_as_long_as_the_reference_knows(model):
    _, low, _, high, _ = with_reference(model, None).reference.about["tokens"]
    lengths = np.array([model.encode(one.text).T for one in read_bundled("ordinary reviews")])
    assert np.mean((lengths >= low) & (lengths <= high)) >= 0.95


def test_the_model_reads_ordinary_reviews_about_as_well_as_its_card_says(model, card):
    """Its share on the card lies in the interval of its share here."""
    reviews = read_bundled("ordinary reviews")
    predicted = predict(model, [model.encode(one.text) for one in reviews]).argmax(axis=1)
    right = int(sum(model.labels[p] == one.label for p, one in zip(predicted, reviews)))
    found = share_interval(right, len(reviews))
    assert found.low <= card["performance"]["masked"][0] <= found.high


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
    for values in (
        [e.id for e in reviews],
        [e.text for e in reviews],
        [" ".join(e.text.lower().split()[:4]) for e in reviews],
    ):
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


def test_news_cover_labels_lengths_and_tags():
    news = read_bundled("news")
    assert len(news) == 60
    assert Counter(example.label for example in news) == dict.fromkeys(("World", "Sports", "Business", "Sci/Tech"), 15)
    assert all(12 <= len(example.text.split()) <= 60 for example in news)
    assert {tag for example in news for tag in example.tags} == NEWS_TAGS
    assert all(sum(tag in example.tags for example in news) >= 6 for tag in NEWS_TAGS)


def test_news_are_unique_and_no_two_begin_alike():
    news = read_bundled("news")
    for values in ([e.id for e in news], [e.text for e in news], [" ".join(e.text.lower().split()[:4]) for e in news]):
        assert len(set(values)) == len(values)
    assert all("\n" not in e.note and e.text == e.text.strip() and len(set(e.tags)) == len(e.tags) for e in news)


def test_news_tags_that_can_be_read_off_the_text_are_right():
    for example in read_bundled("news"):
        seen = {
            "numbers": any(map(str.isdigit, example.text)),
            "quotation": '"' in example.text,
            "short": len(example.text.split()) < 24,
        }
        assert {tag for tag, there in seen.items() if there} == seen.keys() & set(example.tags), example.id


def test_hard_news_say_why_their_label_holds():
    hard = [example for example in read_bundled("news") if HARD_NEWS & set(example.tags)]
    assert len(hard) >= 15
    assert {example.label for example in hard} == {"World", "Sports", "Business", "Sci/Tech"}
    assert not [example.id for example in hard if not example.note]


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
    assert all(
        entry["both"] == pytest.approx((entry["unmasked"] + entry["masked"]) / 2) for entry in card["validation"]
    )
    assert (MODELS / NAME / "README.md").read_text(encoding="utf-8") == readable_card(card, NAME)


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


@pytest.mark.parametrize(("name", "unmasked"), STORY_MODELS.items())
def test_story_models_reach_what_they_must(name, unmasked):
    shown = json.loads((MODELS / name / "card.json").read_text(encoding="utf-8"))["performance"]
    assert shown["examples"] >= 2000
    assert shown["masked"][0] >= unmasked
    # Six places come up equally often: of 2,000 examples the commonest is ahead by chance alone.
    assert shown["masked"][-1] >= shown["class_majority"] - 0.02


@pytest.mark.parametrize(("name", "unmasked"), STORY_MODELS.items())
def test_story_models_answer_the_stories_that_ship(name, unmasked, shipped):
    model, told = shipped(name), read_bundled(f"stories {name[8]}")
    predicted = predict(model, [model.encode(example.text, example.second) for example in told]).argmax(axis=1)
    assert np.mean([model.labels[p] == example.label for p, example in zip(predicted, told)]) >= unmasked - 0.02


def test_the_family_of_five_converged_and_is_small():
    folder, members = MODELS / "stories-1-family", member_names("stories-1-family")
    assert list(members.values()) == [0, 1, 2, 3, 4] and find_seeds("stories-1-family").left_out == ()
    shown = [json.loads((MODELS / name / "card.json").read_text(encoding="utf-8"))["performance"] for name in members]
    assert min(one["masked"][0] for one in shown) >= 0.99
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 3_300_000


def test_the_decoder_is_small_and_masks_with_its_end_of_sequence_token(shipped):
    model = shipped("stories-1-decoder")
    assert model.module.config.model_type == "llama" and model.tokenizer.mask_token is None
    assert model.mask_id == model.tokenizer.eos_token_id and Caveat.STAND_IN in model_caveats(model)
    assert sum(path.stat().st_size for path in model.folder.iterdir()) <= 520_000


def test_the_news_model_reaches_what_it_must_and_reads_the_news_that_ship(shipped):
    shown = json.loads((MODELS / "ag-news-fmm" / "card.json").read_text(encoding="utf-8"))["performance"]
    assert shown["masked"][0] >= 0.85
    assert shown["masked"][-1] >= shown["class_majority"] - 0.02
    model, easy = shipped("ag-news-fmm"), [example for example in read_bundled("news") if not example.note]
    predicted = predict(model, [model.encode(example.text) for example in easy]).argmax(axis=1)
    assert np.mean([model.labels[p] == example.label for p, example in zip(predicted, easy)]) >= 0.75


@pytest.mark.parametrize("name", [one for name in bundled_models() for one in member_names(name) or [name]])
def test_every_model_has_a_reference_a_source_and_examples_of_its_task(name, shipped):
    model = shipped(name)
    # Otherwise its own figures would not be shown.
    assert model.card["weights_sha256"] == model.digest
    reference = find_reference(model)
    assert reference is not None and decides(reference)
    assert "Apache-2.0" in (MODELS / name.partition("/")[0] / "SOURCE.md").read_text(encoding="utf-8")
    assert (MODELS / name / "README.md").read_text(encoding="utf-8") == readable_card(model.card, model.folder.name)
    assert set(bundled_set(examples_of(name)).classes) == set(model.labels)


def test_every_strategy_of_training_on_sst2_can_be_compared():
    found = {one.name: one for one in family(json.loads((MODELS / NAME / "card.json").read_text(encoding="utf-8")))}
    assert {one.training for one in found.values()} == {"half", "none", "mask"}
    assert not found["sst2-only-masking"].ships and found["sst2-only-masking"].examples == found[NAME].examples
    assert relatives(NAME, None) == [] and "sst2-plain" in relatives(
        NAME, json.loads((MODELS / NAME / "card.json").read_text(encoding="utf-8"))
    )


def test_licence_and_source_stand_beside_the_weights():
    assert "Apache License" in (BASES / "all-minilm-l6-v2" / "LICENSE").read_text(encoding="utf-8")
    for folder in (BASES / "all-minilm-l6-v2", MODELS / NAME):
        assert "Apache-2.0" in (folder / "SOURCE.md").read_text(encoding="utf-8")


def test_no_system_rewrites_line_ends_of_what_ships_since_digests_are_of_its_bytes():
    names = [
        path.relative_to(ROOT).as_posix() for path in tracked() if "bundled" in path.parts and "core" in path.parts
    ]
    told = subprocess.run(["git", "check-attr", "text", "--", *names], cwd=ROOT, capture_output=True, check=True).stdout
    assert names and [line.rpartition(" ")[2] for line in told.decode().splitlines()] == ["unset"] * len(names)


def test_tracked_files_stay_within_the_budget_and_hold_no_pickle():
    files = [path for path in tracked() if path.exists()]
    assert sum(path.stat().st_size for path in files) < 76_000_000
    assert not [
        path.name for path in files if path.suffix in (".bin", ".pt", ".pth", ".pkl", ".pickle", ".joblib", ".ckpt")
    ]
