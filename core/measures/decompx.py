"""DecompX: what each input token contributes to the logits, carried through every part of an encoder."""

from collections.abc import Callable

import numpy as np

from core.measures.registry import ATTENTION, Explained, Measure, register
from core.network.architectures import Module, Tensor, classify
from core.network.scheduler import memory_in_words
from core.oracle.inside import Inside
from core.oracle.target import logit_of

# Elements of the widest intermediate result at once: a quarter of a gigabyte.
_ELEMENTS = 2**26


def decompose(module: Module, states: Tensor, maps: list[Tensor]) -> Tensor:
    """Split a classifier's logits into shares of its input tokens.

    x_i = Σ_k x_{i⇐k} from the embedding layer on, where x_{i⇐i} = x_i: through attention (its weights as they are),
    residual connections, layer normalisation and feed-forward layers, whose activation is taken as the line through the
    origin and its value, θ(x) ⊙ x_{⇐k} with θ(x) = act(x)/x. Each bias b is shared by AbsDot, ω_k ∝ |b · z_{⇐k}|, z
    what b is added to; alike where all of these are 0, which the paper leaves open.

    Args:
        module: a sequence classifier of BERT or RoBERTa.
        states: what its embedding layer gives, Tensor[T, H].
        maps: the attention of each layer, Tensor[heads, T, T] each.
    Returns:
        Tensor[T, C], float32; the sum over tokens is the classifier's logits.
    Source: Modarressi et al. (2023), Eq. 1 to 13, biases by AbsDot (Eq. 5).
    """
    import torch

    parts = torch.diag_embed(states.float().T).permute(1, 2, 0)
    last = len(maps) - 1
    for i, (layer, attention) in enumerate(zip(module.base_model.encoder.layer, maps)):
        # The classifier reads the first position only.
        parts = _layer(layer, parts, attention.float(), 1 if i == last else len(parts))
    return _head(module, parts)[0]


def _layer(layer: Module, parts: Tensor, attention: Tensor, read: int) -> Tensor:
    """One encoder layer, Eq. 2 to 12, at the first `read` positions: Tensor[T, T, H] → Tensor[read, T, H]."""
    import torch

    value, output = layer.attention.self.value, layer.attention.output
    values = (parts @ value.weight.float().T).unflatten(-1, (len(attention), -1))
    # Eq. 3: attention adds up to 1, so that the bias of the values is a constant behind the mixing.
    bias = output.dense.bias.float() + output.dense.weight.float() @ value.bias.float()
    size, found = max(1, _ELEMENTS // (len(parts) * layer.intermediate.dense.out_features)), []
    for first in range(0, read, size):
        rows = slice(first, min(first + size, read))
        mixed = torch.einsum("hij,jkhd->ikhd", attention[:, rows], values).flatten(-2)
        attended = with_bias(mixed @ output.dense.weight.float().T, bias)
        attended = _norm(output.LayerNorm, parts[rows] + attended)
        # Eq. 9 to 12: the feed-forward layer.
        inner = _active(layer.intermediate.intermediate_act_fn, _dense(layer.intermediate.dense, attended))
        found.append(_norm(layer.output.LayerNorm, attended + _dense(layer.output.dense, inner)))
    return torch.cat(found)


def _head(module: Module, parts: Tensor) -> Tensor:
    """The classification head on the first token, Eq. 13: Tensor[1, T, H] → Tensor[1, T, C]."""
    import torch

    pooler = getattr(module.base_model, "pooler", None)
    if pooler is not None:
        return _dense(module.classifier, _active(pooler.activation, _dense(pooler.dense, parts)))
    return _dense(module.classifier.out_proj, _active(torch.tanh, _dense(module.classifier.dense, parts)))


def _dense(linear: Module, parts: Tensor) -> Tensor:
    return with_bias(parts @ linear.weight.float().T, linear.bias.float())


def _norm(norm: Module, parts: Tensor) -> Tensor:
    """Layer normalisation, Eq. 8: each part less its own mean, over the deviation of their sum."""
    spread = (parts.sum(dim=1, keepdim=True).var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
    centred = parts - parts.mean(dim=-1, keepdim=True)
    return with_bias(centred / spread * norm.weight.float(), norm.bias.float())


def _active(act: Callable[[Tensor], Tensor], parts: Tensor) -> Tensor:
    """The activation as the line through the origin and its value, Eq. 10."""
    import torch

    whole = parts.sum(dim=1, keepdim=True)
    return parts * torch.where(whole == 0, 0.0, act(whole) / whole)


def with_bias(parts: Tensor, bias: Tensor) -> Tensor:
    """Share a bias Tensor[D] by AbsDot among the parts, Tensor[rows, T, D], that add up over T, and so by it more.

    Source: Modarressi et al. (2023), Eq. 5 and 6.
    """
    import torch

    weights = (parts @ bias).abs()
    total = weights.sum(dim=1, keepdim=True)
    shares = torch.where(total > 0, weights / total, 1 / parts.shape[1])
    return parts + shares[..., None] * bias


def token_shares(inside: Inside) -> Tensor:
    """Each token's share of the explained logit, special tokens included: Tensor[T], sum f; one pass."""
    import torch

    model = inside.model
    with model.eager_attention(), memory_in_words(), torch.no_grad():
        embeddings = model.embed(inside.ids)
        lengths = model.tensor(np.array([inside.encoded.T]))
        types = None if inside.encoded.type_ids is None else model.tensor(inside.encoded.type_ids[None])
        _, states, maps = classify(model.module, model.architecture, embeddings, None, types, lengths, True, True)
        inside.counters.add(passes=1)
        return logit_of(decompose(model.module, states[0][0], [one[0] for one in maps]), inside.target)


def decompx(explained: Explained) -> dict[str, np.ndarray]:
    """Each feature's share of the logit, the sum over its tokens.

    Returns:
        {"signed": float64[F]}; with the shares of special tokens and of the second text they add up to the logit.
    Source: Modarressi et al. (2023), DecompX: Explaining Transformers Decisions by Propagating Token Decomposition.
    """
    inside = explained.network
    return {"signed": np.where(explained.masked, 0.0, inside.per_feature(token_shares(inside)))}


register(
    Measure(
        name="DecompX",
        variants=("signed",),
        definition="The word’s share of the logit, carried through every layer; shares of all tokens add up to it.",
        cost="1",
        passes=lambda F: 1,
        needs=ATTENTION,
        source="Modarressi et al. (2023)",
        unit="logits",
        compute=decompx,
        hue="#c2514e",
        order=62,
        swept=False,
        families=("bert", "roberta"),
    )
)
