"""The encoder of the story models: what it is taught, how it reads, and that it learns."""

import itertools

import numpy as np
import pytest

from core.data.stories import DROP, GO, PLACES, TAKE, TASKS, Event, Story, StoryQuestion, answer, stories
from core.training.checkpoints import TrainingError
from core.training.story_encoder import (
    NOWHERE,
    SPECIAL,
    UNASKED,
    WORDS,
    Shape,
    _batch,
    save_tokenizer,
    tags,
    write_encoder,
)

ALL = (*SPECIAL, *WORDS)


def tagged(story: Story) -> list[tuple[str, str | None]]:
    """Each tagged word and the place of its tag, None for none."""
    ids, _, found = tags(story)
    return [(ALL[number], None if tag == NOWHERE else PLACES[tag]) for number, tag in zip(ids, found) if tag != UNASKED]


def test_every_mention_is_tagged_with_the_place_after_its_sentence():
    events = (
        Event("Bruno", TAKE, "kettle", "took"),
        Event("Bruno", GO, "attic", "went"),
        Event("Bruno", GO, "cellar", "walked"),
        Event("Bruno", DROP, "kettle", "dropped"),
        Event("Bruno", GO, "bakery", "went"),
        Event("Amina", TAKE, "kettle", "took"),
    )
    story = Story(events[:5], StoryQuestion("kettle"), "cellar", ((2,), (3,)))
    assert tagged(story) == [
        ("bruno", None),
        ("kettle", None),
        ("bruno", "attic"),
        ("attic", None),
        ("bruno", "cellar"),
        ("cellar", "attic"),
        ("bruno", "cellar"),
        ("kettle", "cellar"),
        ("bruno", "bakery"),
        ("bakery", "cellar"),
        ("kettle", "cellar"),
    ]


@pytest.mark.parametrize("task", (1, 2))
def test_tags_are_the_answers_to_the_question_at_every_sentence(task):
    for story in itertools.islice(stories(task, 41, redundant=0.3), 60):
        expected = []
        for i, event in enumerate(story.events):
            sofar = story.events[: i + 1]
            expected.append(answer(sofar, StoryQuestion(event.actor)))
            expected.append(
                answer(story.events[:i], StoryQuestion(event.actor))
                if event.kind == GO
                else answer(sofar, StoryQuestion(event.what))
            )
        assert [place for _, place in tagged(story)] == [*expected, story.answer]


def test_the_tokenizer_reads_what_the_encoder_was_taught(tmp_path):
    from transformers import AutoTokenizer

    save_tokenizer(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    for story in itertools.chain.from_iterable(itertools.islice(stories(task, 3), 20) for task in TASKS):
        ids, kinds, _ = tags(story)
        read = tokenizer(story.text, story.question.sentence)
        assert (read["input_ids"], read["token_type_ids"]) == (ids, kinds)
        assert tokenizer(story.text.upper())["input_ids"] == tokenizer(story.text)["input_ids"]
    assert tokenizer.mask_token_id == ALL.index("[MASK]")
    assert tokenizer.unk_token_id in tokenizer("Nobody went.")["input_ids"]


def test_a_few_steps_of_pretraining_lower_the_loss_and_write_a_base(tmp_path):
    from core.training.bases import load_base

    losses = []
    write_encoder(
        tmp_path / "encoder",
        steps=61,
        stop=61,
        batch=16,
        shape=Shape(2, 32, 2),
        progress=lambda what, *_: losses.append(float(what.split()[-1])),
    )
    assert losses[-1] < 0.95 * losses[0]
    module, tokenizer, mask_id, longest = load_base(str(tmp_path / "encoder"), PLACES, "full", 8, 0)
    assert mask_id == tokenizer.mask_token_id
    assert longest >= 2 + max(len(tags(story)[0]) for story in itertools.islice(stories(3, 0, redundant=1.0), 200))
    told = list(itertools.islice(stories(1, 8), 32))
    assert share_right(module.eval(), told) == pytest.approx(
        np.mean([_answers(module, tokenizer, story) for story in told])
    )


@pytest.mark.parametrize(
    "chosen, said",
    [({"steps": 0}, "steps is 0; it must be at least 1"), ({"stop": 0}, "stop is 0"), ({}, "another kind")],
)
def test_what_is_no_encoder_is_refused_before_anything_is_written(tmp_path, chosen, said):
    if not chosen:
        (tmp_path / "adapter_config.json").write_text("{}")
    there = list(tmp_path.iterdir())
    with pytest.raises(TrainingError, match=said):
        write_encoder(tmp_path, **chosen)
    assert list(tmp_path.iterdir()) == there


def share_right(module, told: list[Story]) -> float:
    """Share of stories that an encoder's own head answers, read as its training reads them."""
    import torch

    ids, kinds, _, answers = _batch(iter(told), len(told))
    with torch.inference_mode():
        logits = module(input_ids=ids, attention_mask=(ids != 0).long(), token_type_ids=kinds).logits
    return float(np.mean((logits.argmax(dim=1) == answers).numpy()))


def _answers(module, tokenizer, story: Story) -> bool:
    import torch

    with torch.inference_mode():
        logits = module(**tokenizer(story.text, story.question.sentence, return_tensors="pt")).logits
    return PLACES[int(logits.argmax())] == story.answer
