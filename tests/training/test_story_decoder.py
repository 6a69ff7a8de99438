"""The decoder of the story models: what it is taught, how it reads, and that it learns."""

import itertools
import json

from core.data.examples import write_stories
from core.data.stories import GO, PLACES, Event, Story, StoryQuestion, answer, stories
from core.loading.loading import load
from core.training.bases import load_base
from core.training.stand_ins import ADDED, END, RESERVED, reserved_tokens
from core.training.story_encoder import (
    DECODER_SPECIAL,
    NOWHERE,
    UNASKED,
    WORDS,
    Shape,
    save_tokenizer,
    tags_before,
    write_encoder,
)
from core.training.training import Plan, train
from core.validity.references import find_reference

ALL = (*DECODER_SPECIAL, *WORDS)


def tagged(story: Story) -> list[tuple[str, str | None]]:
    """Each tagged word and the place of its tag, None for none."""
    return [
        (ALL[number], None if tag == NOWHERE else PLACES[tag])
        for number, tag in zip(*tags_before(story))
        if tag != UNASKED
    ]


def test_a_name_is_tagged_with_the_place_before_its_sentence():
    events = (Event("Bruno", GO, "attic", "went"), Event("Amina", GO, "cellar", "went"))
    events += (Event("Bruno", GO, "bakery", "went"), Event("Bruno", GO, "cellar", "walked"))
    story = Story(events, StoryQuestion("Bruno"), "cellar", ((3,),))
    expected = [("bruno", None), ("amina", None), ("bruno", "attic"), ("bruno", "bakery"), ("bruno", "cellar")]
    assert tagged(story) == expected


def test_tags_are_answers_from_what_stands_before_them():
    for story in itertools.islice(stories(1, 41, redundant=0.3), 60):
        before = [answer(story.events[:i], StoryQuestion(event.actor)) for i, event in enumerate(story.events)]
        assert [place for _, place in tagged(story)] == [*before, story.answer]


def test_the_tokenizer_reads_what_the_decoder_was_taught(tmp_path):
    from transformers import AutoTokenizer

    save_tokenizer(tmp_path, decoder=True)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    for story in itertools.islice(stories(1, 3), 20):
        assert tokenizer(story.text, story.question.sentence)["input_ids"] == tags_before(story)[0]
    assert tokenizer.mask_token_id is None and tokenizer.eos_token == "</s>"
    assert reserved_tokens(tokenizer) == ["<|reserved_0|>"]
    assert "token_type_ids" not in tokenizer("Amina went.")


def test_pretraining_lowers_the_loss_and_gives_a_base_for_every_stand_in(tmp_path):
    losses = []
    write_encoder(
        tmp_path / "decoder",
        steps=61,
        stop=61,
        batch=16,
        shape=Shape(2, 32, 2, decoder=True),
        progress=lambda what, *_: losses.append(float(what.split()[-1])),
    )
    assert losses[-1] < losses[0] - 0.02
    for stand_in, token in ((END, "</s>"), (RESERVED, "<|reserved_0|>"), (ADDED, "<mask>")):
        module, tokenizer, mask_id, longest = load_base(str(tmp_path / "decoder"), PLACES, "full", 8, 0, stand_in)
        assert tokenizer.convert_ids_to_tokens(mask_id) == token
        assert longest >= 1 + max(len(tags_before(story)[0]) for story in itertools.islice(stories(1, 0), 50))
        assert module.config.num_labels == len(PLACES)


def test_masked_fine_tuning_of_a_decoder_from_the_start_answers_nineteen_of_twenty(tmp_path):
    """About 500 steps of the base from random weights, and one epoch of masked fine-tuning."""
    write_encoder(tmp_path / "decoder", steps=800, stop=500, batch=32, rate=3e-3, shape=Shape(2, 64, 4, decoder=True))
    for name, count, seed in (("train", 1200, 1), ("validation", 200, 2)):
        write_stories(tmp_path / f"{name}.jsonl", 1, count, seed)
    base, *rows = (str(tmp_path / name) for name in ("decoder", "train.jsonl", "validation.jsonl", "out"))
    plan = Plan(base, *rows, labels=PLACES, epochs=1, batch=32, learning_rate=5e-4, device="cpu", half=True)
    card = json.loads((train(plan) / "card.json").read_text(encoding="utf-8"))
    (epoch,) = card["validation"]
    assert epoch["unmasked"] >= 0.95
    # Twice what guessing reaches.
    assert epoch["masked"] > 2 / len(PLACES)
    assert find_reference(load(rows[-1], "cpu")) is not None
