"""Tiny classifiers of every supported family, each with a real tokenizer of its kind, made on the spot.

Weights are random but large, so that logits differ between inputs, masks and positions; norms and
biases are moved off their initial ones and zeros, so that a norm left out is seen.
"""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from tests import tiny_decoders

LABELS = ("harbour", "kitchen", "workshop")
# Rotary positions and grouped-query attention; Gemma's tokenizer has a mask token.
ROTARY = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "gemma3")
DECODERS = ("gpt2", *ROTARY)
KINDS = ("bert", "distilbert", "electra", "roberta", "deberta", "modernbert", "modernbert-mean", *DECODERS)
MASKLESS = ("gpt2", "llama", "mistral", "qwen2", "qwen3")
POSITIONS = 64

CORPUS = """The ferry leaves the old harbour before the first light of the day.
Nobody on the pier heard the captain's warning about the weather.
She tied the small boat to a rusty ring and walked home.
The lighthouse keeper's daughter paints the waves every morning.
A good crew reads the wind, not the calendar.
They waited for the tide, and the tide did not wait for them.
It's a slow river, but it's never an easy one.
The fisherman's net was empty again; he laughed anyway.
Don't leave the oars in the water when the wind is this strong!
We couldn't see the island because of the fog.
Salt the water before the pasta goes in.
The cook's knife was dull, and so was the soup.
What a wonderful smell: bread, butter and a little thyme.
Grandmother's recipe says nothing about the oven's temperature.
He burned the onions twice, then blamed the pan.
Is the bread too dry, or is it just too old?
The kitchen was warm, crowded and full of terrible jokes.
A pinch of sugar won't save a bitter sauce.
They're eating the cake that we baked for tomorrow.
Her lemon tart is the best thing on the whole menu.
The soup wasn't bad; it was simply cold.
Slice the pears thinly and keep the skins for the tea.
The carpenter's bench stands under the only window.
Measure it twice, cut it once, and sweep the floor after.
My brother's old plane still takes off a perfect curl of wood.
The glue did not hold, so the chair did not either.
Oil the hinge before you paint the door.
There's a box of bent nails that nobody throws away.
The apprentice asked why, and the master didn't know.
It rained through the roof and onto the new table.
A sharp chisel is safer than a dull one.
The lamp flickers whenever the saw starts.
She fixed the clock's spring with a hair pin.
The workshop smells of pine, dust and cold coffee.
You can't hurry varnish, and you can't hurry him.
The drawer sticks in summer and rattles in winter.
Nothing was broken, but nothing quite worked.
The best tool's the one that you have with you.
He sold the lathe, kept the stool and never came back.
We'd fix the fence today if the ground weren't frozen."""

SENTENCES = tuple(CORPUS.splitlines())


def folder(kind: str, root: Path) -> Path:
    """Write a classifier of three classes, weights and tokenizer, under `root` and return its folder."""
    from transformers import AutoModelForSequenceClassification

    path = Path(root) / kind
    if not (path / "config.json").exists():
        words = tokenizer(kind)
        config = configuration(kind, words)
        config.id2label, config.label2id = dict(enumerate(LABELS)), {name: i for i, name in enumerate(LABELS)}
        _write(_random(AutoModelForSequenceClassification, config), words, path)
    return path


def base(kind: str, root: Path) -> Path:
    """Write an encoder or decoder with a language-modelling head, as pretrained checkpoints have it."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    path = Path(root) / f"{kind}-base"
    if not (path / "config.json").exists():
        words = tokenizer(kind)
        family = AutoModelForCausalLM if kind in DECODERS else AutoModelForMaskedLM
        _write(_random(family, configuration(kind, words)), words, path)
    return path


def tokenizer(kind: str):
    """Train a tokenizer of the kind's own class on the corpus."""
    if kind in ("bert", "distilbert", "electra"):
        return _wordpiece(kind)
    if kind in ROTARY:
        return tiny_decoders.tokenizer(kind, byte_pairs)
    return {"roberta": _roberta, "gpt2": _gpt2, "deberta": _unigram}.get(kind, _modernbert)()


def configuration(kind: str, words):
    """The kind's configuration: hidden size 32, two heads, two or three layers."""
    from transformers import (
        BertConfig,
        DebertaV2Config,
        DistilBertConfig,
        ElectraConfig,
        GPT2Config,
        ModernBertConfig,
        RobertaConfig,
    )

    common = {"vocab_size": len(words), "initializer_range": 0.3, "pad_token_id": words.pad_token_id}
    encoder = common | {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
    ends = {"bos_token_id": words.bos_token_id, "eos_token_id": words.eos_token_id}
    if kind == "bert":
        return BertConfig(**encoder, max_position_embeddings=POSITIONS)
    if kind == "distilbert":
        return DistilBertConfig(
            **common, dim=32, n_layers=3, n_heads=2, hidden_dim=48, max_position_embeddings=POSITIONS
        )
    if kind == "electra":
        return ElectraConfig(**encoder, embedding_size=16, max_position_embeddings=POSITIONS)
    if kind == "roberta":
        return RobertaConfig(**encoder, **ends, max_position_embeddings=POSITIONS + 2, type_vocab_size=1)
    if kind == "deberta":
        return DebertaV2Config(
            **encoder,
            max_position_embeddings=POSITIONS,
            relative_attention=True,
            position_buckets=8,
            pos_att_type="p2c|c2p",
            share_att_key=True,
            norm_rel_ebd="layer_norm",
            position_biased_input=False,
            type_vocab_size=0,
            legacy=False,
        )
    if kind in ROTARY:
        return tiny_decoders.configuration(kind, encoder | ends | {"num_hidden_layers": 3}, POSITIONS)
    if kind == "gpt2":
        return GPT2Config(**common, **ends, n_embd=32, n_layer=3, n_head=2, n_inner=48, n_positions=POSITIONS)
    return ModernBertConfig(
        **encoder | {"num_hidden_layers": 3},
        bos_token_id=words.cls_token_id,
        eos_token_id=words.sep_token_id,
        cls_token_id=words.cls_token_id,
        sep_token_id=words.sep_token_id,
        max_position_embeddings=POSITIONS,
        local_attention=8,
        global_attn_every_n_layers=2,
        classifier_pooling="mean" if kind == "modernbert-mean" else "cls",
    )


def _random(family, config):
    import torch

    torch.manual_seed(7)
    module = family.from_config(config)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return module


def _write(module, words, path: Path) -> None:
    module.save_pretrained(path)
    words.save_pretrained(path)


def _wordpiece(kind: str):
    from tokenizers import normalizers, pre_tokenizers
    from transformers import BertTokenizer, DistilBertTokenizer

    clean, split = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    words = [word for line in SENTENCES for word, _ in split.pre_tokenize_str(clean.normalize_str(line))]
    pieces = _frequent_pieces(words, 240, inner="##")
    vocabulary = {piece: i for i, piece in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces])}
    return (DistilBertTokenizer if kind == "distilbert" else BertTokenizer)(vocab=vocabulary)


def _unigram():
    import math

    from tokenizers import pre_tokenizers
    from transformers import DebertaV2Tokenizer

    split = pre_tokenizers.Metaspace()
    # Letters and punctuation never share a piece, as in the real vocabulary, and all of ASCII is known.
    words = [
        part
        for line in SENTENCES
        for word, _ in split.pre_tokenize_str(line)
        for part in re.findall(r"▁?\w+|▁|[^\w▁]", word)
    ]
    pieces = dict.fromkeys(map(chr, range(33, 127)), 1) | _frequent_pieces(words, 300)
    scored = [(piece, math.log(count / sum(pieces.values()))) for piece, count in pieces.items()]
    special = [(name, 0.0) for name in ("[PAD]", "[CLS]", "[SEP]", "[UNK]")]
    return DebertaV2Tokenizer(vocab=[*special, *scored, ("[MASK]", 0.0)], unk_id=3)


def _roberta():
    from transformers import AddedToken, RobertaTokenizer

    vocabulary, merges = byte_pairs(["<s>", "<pad>", "</s>", "<unk>"])
    vocabulary["<mask>"] = len(vocabulary)
    return RobertaTokenizer(
        vocab=vocabulary, merges=merges, mask_token=AddedToken("<mask>", lstrip=True, normalized=False, special=True)
    )


def _gpt2():
    from transformers import GPT2Tokenizer

    # As in the real vocabulary the first ids are ordinary characters: a zero is no padding.
    vocabulary, merges = byte_pairs([])
    vocabulary["<|endoftext|>"] = len(vocabulary)
    return GPT2Tokenizer(vocab=vocabulary, merges=merges, pad_token="<|endoftext|>")


def _modernbert():
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import AddedToken, PreTrainedTokenizerFast

    vocabulary, merges = byte_pairs(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.normalizer, backend.decoder = normalizers.NFC(), decoders.ByteLevel()
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token=AddedToken("[MASK]", lstrip=True, normalized=False, special=True),
        model_input_names=["input_ids", "attention_mask"],
    )


# The library's own trainers break ties by hash order, so that no two runs agree; these two do not.


def _frequent_pieces(words: list[str], count: int, inner: str = "") -> dict[str, int]:
    """Every character and the `count` pieces of 2 to 6 characters that spell most of the corpus, with their
    frequencies.

    Pieces that do not begin a word carry the prefix `inner`.
    """
    found = Counter()
    for word in words:
        for start in range(len(word)):
            for end in range(start + 1, min(start + 6, len(word)) + 1):
                found[(inner if start else "") + word[start:end]] += 1
    letters = sorted({word[i] for word in words for i in range(len(word))})
    single = {piece: max(1, found[piece]) for letter in letters for piece in (letter, inner + letter)}
    longer = sorted(
        found.keys() - single, key=lambda piece: (-found[piece] * (len(piece.removeprefix(inner)) - 1), piece)
    )
    return single | {piece: found[piece] for piece in longer[:count]}


def byte_pairs(special: list[str], merged: int = 150) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Byte-level pair encoding: the vocabulary after `special`, and the merges in order."""
    from tokenizers import pre_tokenizers

    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = Counter(tuple(word) for line in SENTENCES for word, _ in split.pre_tokenize_str(line))
    merges = []
    for _ in range(merged):
        pairs = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = Counter({_joined(word, best): count for word, count in words.items()})
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet()), *(a + b for a, b in merges)]
    return {piece: i for i, piece in enumerate(pieces)}, merges


def _joined(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out = []
    for piece in word:
        if out and (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return tuple(out)
