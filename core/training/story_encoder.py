"""A small encoder or decoder for stories: pretrained by saying, at every word, where it is; masked fine-tuning starts
from it.

The answer alone teaches too little: with one label a story the encoder is still guessing after as many stories.
"""

import json
import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch.nn.utils.rnn import pad_sequence

from core.data.stories import ACTORS, EMPTY_WORDS, LENGTHS, PLACES, TASKS, THINGS, VERBS, Story, World, stories
from core.network.architectures import Module, Tensor
from core.storage.files import only_writer, whole_folder
from core.training.bases import check_out
from core.training.checkpoints import TrainingError
from core.training.fresh import SPECIAL, word_tokenizer

WORDS = tuple(
    word.lower()
    for word in (*ACTORS, *PLACES, *THINGS, *(verb for verbs in VERBS.values() for verb in verbs), *EMPTY_WORDS)
)
NOWHERE, UNASKED = len(PLACES), -100
_NUMBER = {word: i for i, word in enumerate((*SPECIAL, *WORDS))}
_POSITIONS = 144
# A decoder has no mask token: one of these stands in, or one that training adds.
DECODER_SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<|reserved_0|>")
_ROLES = dict(zip(("pad_token", "unk_token", "bos_token", "eos_token"), DECODER_SPECIAL))
_DECODER_NUMBER = {word: i for i, word in enumerate((*DECODER_SPECIAL, *WORDS))}


@dataclass(frozen=True)
class Shape:
    """Layers, width and heads; the width between is twice the width. decoder: a Llama, else a BERT."""

    layers: int = 4
    width: int = 128
    heads: int = 4
    decoder: bool = False


def write_encoder(
    out: Path,
    steps: int = 6000,
    stop: int = 3000,
    seed: int = 0,
    batch: int = 64,
    rate: float = 1e-3,
    shape: Shape = Shape(),
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Path:
    """Pretrain an encoder on stories of all three tasks and write a folder that `core train` takes as its base.

    Every actor and thing is tagged with the place where it is after that sentence, every place that somebody goes to
    with where they were, the asked word with the answer. Stories grow longer on the way. A decoder reads stories of
    task 1, see `tags_before`.

    Args:
        steps: mini-batches that the learning rate is planned for; stop: after so many; seed: of weights and stories;
        rate: peak, with warm-up and cosine decay.
        progress: called with (what is being done, done, total).
    Returns:
        The folder.
    Raises:
        TrainingError: steps below 1, or a folder that holds an adapter.
        InUse, OSError: as `core.storage.files.only_writer` and `whole_folder`.
    """
    for name, count in (("steps", steps), ("stop", stop)):
        if count < 1:
            raise TrainingError(f"{name} is {count}; it must be at least 1.")
    check_out(out, "full")
    with only_writer(out, folder=True) as place:
        module = _pretrained(steps, stop, seed, batch, rate, shape, progress)
        with whole_folder(place) as made:
            module.save_pretrained(made)
            save_tokenizer(made, shape.decoder)
    return out


def _pretrained(steps: int, stop: int, seed: int, batch: int, rate: float, shape: Shape, progress) -> Module:
    """The encoder after its lesson; see `write_encoder`."""
    torch.manual_seed(seed)
    module = _fresh_decoder(shape) if shape.decoder else _fresh(shape)
    tagger = torch.nn.Linear(shape.width, NOWHERE + 1)
    parameters = [*module.parameters(), *tagger.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    lesson, read = _lesson(steps, seed), stories(1, 1000 + seed)
    for step in range(min(steps, stop)):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 300) * max(0.02, 0.5 * (1 + math.cos(math.pi * step / steps)))
        if shape.decoder:
            loss = _decoder_loss(module, tagger, list(islice(read, batch)))
        else:
            loss = _loss(module, tagger, *_batch(next(lesson), batch))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if step % 20 == 0 or step == min(steps, stop) - 1:
            progress(f"base, loss {float(loss.detach()):.3f}", step + 1, min(steps, stop))
    return module


def tags(story: Story) -> tuple[list[int], list[int], list[int]]:
    """A story as word numbers, segment numbers, and the place that each word is tagged with (NOWHERE: not told;
    UNASKED: no tag).

    Source: the reading of `core.data.stories.answer`, at every sentence.
    """
    words, where = _tagged_sentences(story)
    question = _words(story.question.sentence)
    asked = [PLACES.index(story.answer) if word == story.question.what else UNASKED for word in question]
    ids, kinds, found = [_NUMBER["[CLS]"]], [0], [UNASKED]
    for segment, (part, tagged) in enumerate(((words, where), (question, asked))):
        ids += [*(_NUMBER[word.lower()] for word in part), _NUMBER["[SEP]"]]
        kinds += [segment] * (len(part) + 1)
        found += [*tagged, UNASKED]
    return ids, kinds, found


def tags_before(story: Story) -> tuple[list[int], list[int]]:
    """A story as a decoder's word numbers, the question behind it, and the place that each word is tagged with: a name
    with where its bearer was until that sentence, since nothing is seen of what follows.
    """
    world, ids, found = World(), [_DECODER_NUMBER["<s>"]], [UNASKED]
    for event in (*story.events, None):
        for word in _words(story.question.sentence if event is None else event.sentence):
            was = world.where(word)
            ids.append(_DECODER_NUMBER[word.lower()])
            found.append(UNASKED if word not in ACTORS else NOWHERE if was is None else PLACES.index(was))
        if event is not None:
            world.happen(event)
    return ids, found


def _tagged_sentences(story: Story) -> tuple[list[str], list[int]]:
    """The words of a story before its question, and the place that each is tagged with."""
    world, words, found = World(), [], []
    for event in story.events:
        before = world.where(event.actor)
        world.happen(event)
        for word in _words(event.sentence):
            now = world.where(word) if word in (*ACTORS, *THINGS) else before
            told = NOWHERE if now is None else PLACES.index(now)
            words.append(word)
            found.append(told if word in (*ACTORS, *THINGS, *PLACES) else UNASKED)
    return words, found


_DECODER_ROLES = _ROLES | {"additional_special_tokens": [DECODER_SPECIAL[-1]]}
# How one text and a pair are put together.
_ENCODER_FORM = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
_DECODER_FORM = "<s> $A", "<s> $A $B"


def save_tokenizer(out: Path, decoder: bool = False) -> None:
    """Write the words as a fast tokenizer: lower case, one token a word, punctuation by itself."""
    if decoder:
        tokenizer = word_tokenizer(_DECODER_NUMBER, _POSITIONS, *_DECODER_FORM, ("<s>",), _DECODER_ROLES, types=False)
    else:
        tokenizer = word_tokenizer(_NUMBER, _POSITIONS, *_ENCODER_FORM)
    tokenizer.save_pretrained(out)
    # What is tokenised has nothing to do with the machine that wrote it.
    path = out / "tokenizer_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _fresh(shape: Shape):
    """Random weights; words and positions start large and positions as waves, so that neighbours are found early."""
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        vocab_size=len(_NUMBER),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=2 * shape.width,
        max_position_embeddings=_POSITIONS,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.08,
        id2label=dict(enumerate(PLACES)),
        label2id={name: i for i, name in enumerate(PLACES)},
    )
    module = BertForSequenceClassification(config)
    with torch.no_grad():
        embeddings = module.bert.embeddings
        words, positions = embeddings.word_embeddings.weight, embeddings.position_embeddings.weight
        words.normal_(0, 0.5)
        words[0] = 0
        pace = torch.exp(-math.log(1000.0) * torch.arange(0, shape.width, 2) / shape.width)
        angle = torch.arange(_POSITIONS)[:, None] * pace
        positions[:, 0::2], positions[:, 1::2] = 0.5 * torch.sin(angle), 0.5 * torch.cos(angle)
    return module


def _fresh_decoder(shape: Shape) -> Module:
    """Random weights; words start large."""
    from transformers import LlamaConfig, LlamaForSequenceClassification

    config = LlamaConfig(
        vocab_size=len(_DECODER_NUMBER),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads // 2,
        intermediate_size=2 * shape.width,
        max_position_embeddings=_POSITIONS,
        initializer_range=0.08,
        pad_token_id=_DECODER_NUMBER["<pad>"],
        bos_token_id=_DECODER_NUMBER["<s>"],
        eos_token_id=_DECODER_NUMBER["</s>"],
        id2label=dict(enumerate(PLACES)),
        label2id={name: i for i, name in enumerate(PLACES)},
    )
    module: Module = LlamaForSequenceClassification(config)
    with torch.no_grad():
        module.get_input_embeddings().weight.normal_(0, 0.5)
    return module


def _lesson(steps: int, seed: int) -> Iterator[Iterator[Story]]:
    """Which stories each step reads: the harder tasks twice as often, short ones first."""
    rng = random.Random(f"story encoder {seed}")
    told = {
        (task, n): stories(task, 1000 + seed, n, 0.15 if n >= 3 * task else 0.0)
        for task in TASKS
        for n in range(2 * task, LENGTHS[task] + 1)
    }
    for step in range(steps):
        task, grown = rng.choice((1, 2, 2, 3, 3)), min(1.0, step / (0.3 * steps))
        longest = max(2 * task, round(2 * task + (LENGTHS[task] - 2 * task) * max(0.3, grown)))
        yield told[task, LENGTHS[task] if grown == 1 and rng.random() < 0.5 else rng.randint(2 * task, longest)]


def _batch(told: Iterator[Story], size: int):
    rows = [(tags(story), PLACES.index(story.answer)) for story, _ in zip(told, range(size))]
    ids, kinds, wanted = (
        pad_sequence([torch.tensor(row[part]) for row, _ in rows], batch_first=True, padding_value=value)
        for part, value in enumerate((0, 0, UNASKED))
    )
    return ids, kinds, wanted, torch.tensor([answer for _, answer in rows])


def _loss(module, tagger, ids, kinds, wanted, answers):
    # Half the time of float32 on processors that know the format, and as good here.
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = module.bert(input_ids=ids, attention_mask=(ids != 0).long(), token_type_ids=kinds)
        logits, tagged = module.classifier(out.pooler_output), tagger(out.last_hidden_state)
    told = torch.nn.functional.cross_entropy(tagged.float().flatten(0, 1), wanted.flatten(), ignore_index=UNASKED)
    return torch.nn.functional.cross_entropy(logits.float(), answers) + 3 * told


def _decoder_loss(module: Module, tagger: torch.nn.Linear, read: list[Story]) -> Tensor:
    """Of stories of one length: the answer at the last word, and the tags."""
    ids, found = (torch.tensor(part) for part in zip(*map(tags_before, read)))
    states = module.model(input_ids=ids, use_cache=False).last_hidden_state
    answers = torch.tensor([PLACES.index(story.answer) for story in read])
    tagged = torch.nn.functional.cross_entropy(tagger(states).flatten(0, 1), found.flatten(), ignore_index=UNASKED)
    return torch.nn.functional.cross_entropy(module.score(states[:, -1]), answers) + tagged


def _words(sentence: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", sentence)
