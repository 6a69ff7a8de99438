"""Tiny decoders with rotary positions: two heads that share their keys, windows shorter than texts, and tokenizers as
their families have them.
"""

WINDOW = 8


def configuration(kind, common, positions):
    """The kind's configuration: three layers, of which some see a window only where the family has windows."""
    from transformers import Gemma2Config, Gemma3TextConfig, LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config

    common = common | {"num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": positions}
    if kind == "llama":
        return LlamaConfig(**common)
    if kind == "mistral":
        return MistralConfig(**common, sliding_window=WINDOW)
    layers = {"layer_types": ["sliding_attention", "sliding_attention", "full_attention"], "sliding_window": WINDOW}
    if kind in ("qwen2", "qwen3"):
        family = Qwen2Config if kind == "qwen2" else Qwen3Config
        return family(**common, **layers, use_sliding_window=True, max_window_layers=0)
    if kind == "gemma2":
        return Gemma2Config(**common, **layers, query_pre_attn_scalar=16)
    return Gemma3TextConfig(**common, **layers, query_pre_attn_scalar=16)


def tokenizer(kind, byte_pairs):
    """Byte pairs; the first token of Llama, Mistral and Gemma begins every text, Qwen's texts begin with a word.

    Llama has a reserved token, Gemma a mask token, none a padding token of its own but Gemma.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    qwen, gemma = kind.startswith("qwen"), kind.startswith("gemma")
    begin, end = ("<bos>", "<eos>") if gemma else ("<s>", "</s>")
    special = ["<|endoftext|>", "<|im_start|>"] if qwen else ["<unk>", begin, end]
    special += (
        ["<pad>", "<mask>", "<unused0>"] if gemma else ["<|reserved_special_token_0|>"] if kind == "llama" else []
    )
    vocabulary, merges = byte_pairs(special)
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    backend.add_special_tokens(special)
    if qwen:
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
        return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token=special[0], model_input_names=_READ)
    backend.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A", pair=f"{begin} $A $B:1", special_tokens=[(begin, vocabulary[begin])]
    )
    own = {"pad_token": "<pad>", "mask_token": "<mask>"} if gemma else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", bos_token=begin, eos_token=end, model_input_names=_READ, **own
    )


_READ = ["input_ids", "attention_mask"]
