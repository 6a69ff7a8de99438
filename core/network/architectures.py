"""What differs between model families, in one table: pooling, norms, embeddings' extra inputs."""

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import torch

# What `transformers` makes: a classifier, its settings and its tokenizer. What they hold is their family's own.
Module = Any
Config = Any
Tokenizer = Any
Tensor: TypeAlias = "torch.Tensor"


class UnsupportedModel(ValueError):
    """The model cannot be used; the message says why and what would work."""


# A base that training makes of its texts' words, and the family of what comes of it.
BILSTM, BILSTM_TYPE = "bilstm", "faithscope-bilstm"


@dataclass(frozen=True)
class Architecture:
    """How a family of `transformers` classifiers is driven.

    reading: the position that the classifier reads: "first", "last" or "config" (first or mean,
        as the model's own setting says).
    type_ids: the model takes token type ids.
    layer_norms: path of the norm that follows each hidden state but the last, for families
        that normalise before their blocks; None where states come out normalised.
    scale_free: the size of a word embedding does not matter, since it alone is normalised first.
    first_normed: of these families, the embedding output is normalised already.
    position_offset: positions that the position table reserves.
    soft_attention: its attention takes a bias for each pair of tokens, see `attention_bias`, and a special token is
    always there to attend to.
    after_mixing: path, in the last layer, of the module behind its attention: from there on no token sees another.
    embeddings: path of the module that gives the first hidden state; "": word embeddings are that state.
    """

    reading: str = "first"
    type_ids: bool = False
    layer_norms: tuple[str, str] | None = None
    first_normed: bool = False
    scale_free: bool = False
    position_offset: int = 0
    soft_attention: bool = False
    after_mixing: str | None = None
    embeddings: str = "embeddings"


_DECODER = Architecture(reading="last", layer_norms=("layers", "input_layernorm"), embeddings="")
_DECODERS = ("gemma2", "gemma3_text", "llama", "mistral", "qwen2", "qwen3")

ARCHITECTURES = {
    "bert": Architecture(type_ids=True, soft_attention=True, after_mixing="attention.output"),
    "electra": Architecture(type_ids=True, soft_attention=True, after_mixing="attention.output"),
    "deberta-v2": Architecture(type_ids=True),
    "roberta": Architecture(position_offset=2, soft_attention=True, after_mixing="attention.output"),
    "distilbert": Architecture(soft_attention=True),
    "modernbert": Architecture(
        reading="config", layer_norms=("layers", "attn_norm"), first_normed=True, scale_free=True
    ),
    "gpt2": Architecture(reading="last", layer_norms=("h", "ln_1"), embeddings="drop"),
    **dict.fromkeys(_DECODERS, _DECODER),
    BILSTM_TYPE: Architecture(type_ids=True),
}


def architecture_of(model_type: str) -> Architecture:
    """Look a family up; UnsupportedModel names the families that work."""
    try:
        return ARCHITECTURES[model_type]
    except KeyError:
        known = ", ".join(sorted(ARCHITECTURES))
        raise UnsupportedModel(f"Model type {model_type!r} is not supported. Choose one of {known}.") from None


def is_scale_free(architecture: Architecture, config: Config) -> bool:
    """Whether f(c·e) = f(e) for every c > 0: nothing is added to the word embedding before it is normalised.

    Then e · ∂f/∂e = 0, so that input × gradient holds rounding errors only, and integrated gradients
    from the zero embedding miss what happens at the jump from zero.
    """
    if config.model_type == "deberta-v2":
        return not config.position_biased_input and not config.type_vocab_size
    return architecture.scale_free


def classify(
    module: Module,
    architecture: Architecture,
    embeddings: Tensor,
    attention: "Tensor | None",
    type_ids: "Tensor | None",
    lengths: Tensor,
    hidden: bool,
    attentions: bool,
) -> tuple[Tensor, Any, Any]:
    """Run a classifier on word embeddings.

    The last-token families are read at the last *given* position, whatever the ids there are:
    `transformers` itself looks for the last token that is not padding, and their mask token
    (end of sequence) usually is the padding token too (NAOPC App. D).

    Args:
        embeddings: Tensor[B, T, E]; attention: Tensor[B, T] or None when nothing is padded;
            type_ids: Tensor[B, T] or None; lengths: Tensor[B].
    Returns:
        logits Tensor[B, C], tuple of hidden states Tensor[B, T, H] or None, attention tensors
        [B, heads, T, T] per layer or None.
    """
    import torch

    asked = {"output_hidden_states": hidden, "output_attentions": attentions, "return_dict": True}
    if architecture.reading == "last":
        out = module.base_model(inputs_embeds=embeddings, attention_mask=attention, use_cache=False, **asked)
        rows = torch.arange(len(lengths), device=lengths.device)
        return module.score(out.last_hidden_state[rows, lengths - 1]), out.hidden_states, out.attentions
    if architecture.type_ids and type_ids is not None:
        asked["token_type_ids"] = type_ids
    out = module(inputs_embeds=embeddings, attention_mask=attention, **asked)
    return out.logits, out.hidden_states, out.attentions


def attention_bias(weights: Tensor) -> Tensor:
    """What is added to attention before the softmax so that attending to token t counts `weights` [B, T] in [0, 1] →
    Tensor[B, 1, T, T].

    0 hides a token as padding is hidden. For families that see all tokens at once.
    """
    import torch

    T = weights.shape[1]
    bias = torch.log(weights).clamp(min=torch.finfo(weights.dtype).min)
    return bias[:, None, None, :].expand(-1, 1, T, T).contiguous()


@contextlib.contextmanager
def only_what_is_read(module: Module, architecture: Architecture) -> Generator[None]:
    """Compute the last layer, behind its attention, for the first position only; the caller holds the model's lock.

    Logits stay the same up to rounding, and three quarters of that layer's work are saved; hidden states and attention
    must not be asked for meanwhile. Families without `after_mixing` run as they are.
    """
    if architecture.after_mixing is None or module.config.chunk_size_feed_forward:
        yield
        return
    behind = module.base_model.encoder.layer[-1].get_submodule(architecture.after_mixing)
    hook = behind.register_forward_pre_hook(lambda _, given: tuple(tokens[:, :1].contiguous() for tokens in given))
    try:
        yield
    finally:
        hook.remove()


@contextlib.contextmanager
def embeddings_changed(
    module: Module, architecture: Architecture, change: "Callable[[Tensor], Tensor] | None"
) -> Generator[None]:
    """Change what the embedding layer gives, with positions, types and its normalisation if it has one; None: nothing.

    The caller holds the model's lock.
    """
    if change is None:
        yield
        return
    if architecture.embeddings:
        layer = module.base_model.get_submodule(architecture.embeddings)
        hook = layer.register_forward_hook(lambda _, given, found: change(found))
    else:
        hook = module.base_model.register_forward_pre_hook(
            lambda _, given, named: (given, named | {"inputs_embeds": change(named["inputs_embeds"])}), with_kwargs=True
        )
    try:
        yield
    finally:
        hook.remove()


def normalised(module: Module, architecture: Architecture, states: Any) -> list[Tensor]:
    """Hidden states after layer normalisation: the norm that follows, where a family norms before its blocks.

    The last state of every family has passed the final norm.
    Source: glossary, MaSF.
    """
    if architecture.layer_norms is None:
        return list(states)
    layers, norm = architecture.layer_norms
    blocks = getattr(module.base_model, layers)
    out = [getattr(block, norm)(state) for block, state in zip(blocks, states[:-1])]
    if architecture.first_normed:
        out[0] = states[0]
    return [*out, states[-1]]
