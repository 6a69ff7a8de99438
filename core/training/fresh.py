"""Models that begin with nothing but the words of their training texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.loading.small_files import register_bilstm
from core.network.architectures import Module, Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_ROLES = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
# Words of a vocabulary, the most frequent; tokens of the longest input.
_WORDS, _LONGEST = 20_000, 512


def fresh_bilstm(
    texts: Sequence[str], seconds: Sequence[str] | None, labels: tuple[str, ...], seed: int
) -> tuple[Module, Tokenizer, int, int]:
    """A BiLSTM with attention and random weights, whose vocabulary is that of its training texts.

    Args:
        texts, seconds: the training texts, and the second of each pair or None; labels: C class names; seed: of the
            weights.
    Returns:
        module, tokenizer without special tokens around a text, mask token id, longest input in tokens.
    Source: ROAR §5.
    """
    import torch

    register_bilstm()
    from core.network.bilstm import BiLstmConfig, BiLstmForSequenceClassification

    plain = word_tokenizer({name: i for i, name in enumerate(SPECIAL)}, _LONGEST, "$A", "$A $B:1").backend_tokenizer
    counts: Counter[str] = Counter()
    for text in (*texts, *(seconds or ())):
        counts.update(word for word, _ in plain.pre_tokenizer.pre_tokenize_str(plain.normalizer.normalize_str(text)))
    # Equally frequent ones by the alphabet, so that the same texts make the same vocabulary.
    words = sorted(counts, key=lambda word: (-counts[word], word))[:_WORDS]
    numbers = {word: i for i, word in enumerate(dict.fromkeys((*SPECIAL, *words)))}
    torch.manual_seed(seed)
    config = BiLstmConfig(
        vocab_size=len(numbers),
        type_vocab_size=1 if seconds is None else 2,
        max_position_embeddings=_LONGEST,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    tokenizer = word_tokenizer(numbers, _LONGEST, "$A", "$A $B:1")
    return BiLstmForSequenceClassification(config), tokenizer, numbers["[MASK]"], _LONGEST


def word_tokenizer(
    numbers: Mapping[str, int],
    longest: int,
    single: str,
    pair: str,
    around: Sequence[str] = ("[CLS]", "[SEP]"),
    roles: Mapping[str, Any] = _ROLES,
    types: bool = True,
) -> Tokenizer:
    """A fast tokenizer: lower case, one token a word, punctuation by itself.

    Args:
        numbers: of each word, special tokens included; longest: tokens that a model reads; single, pair: how special
            tokens stand around texts; around: those that do; roles: what each is; types: whether it gives type ids.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(dict(numbers), unk_token=roles["unk_token"]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [(name, numbers[name]) for name in around]
    tokenizer.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=special)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=longest,
        model_input_names=["input_ids", *(["token_type_ids"] if types else []), "attention_mask"],
        **roles,
    )
