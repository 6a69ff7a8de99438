"""A loaded classifier: its tokenizer, its lock, and the only places where its module runs."""

import contextlib
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from core.network.architectures import (
    Architecture,
    Module,
    Tensor,
    Tokenizer,
    attention_bias,
    classify,
    embeddings_changed,
    normalised,
    only_what_is_read,
)
from core.network.devices import fetch_later, free_bytes, put, token_budget
from core.network.features import FIRST, Encoded, NoEmbedding, encode
from core.network.locks import FairLock
from core.network.scheduler import ZERO_ID, Scheduler
from core.network.tokens import Tokens
from core.wording import shortened

POOLINGS = ("max", "mean")
# What cards call a model of which a linear head on the logits alone was fitted.
CALIBRATION = "calibration"
# Kinds of problems, as configurations name them, of which not exactly one class is right.
MULTI_LABEL, REGRESSION = "multi_label_classification", "regression"
_NAN_WEIGHTS = "The weights hold NaN or infinity; choose another model."
_OTHER_MODEL = "Choose another model."
_IN_FLOAT32 = "Compute in float32 (FAITHSCOPE_PRECISION=float32), or choose another model."


@dataclass(eq=False)
class Model:
    """A frozen classifier on one device; every use of `module` holds `lock`.

    digest: SHA-256 of weights, configuration and tokenizer; labels: C class names; notes: sentences
    that the interface shows (a substitute for a missing mask token); card: what training measured;
    folder: where its files lie; origin: the name, path or hub id that it was loaded by; whole: of a model of one label
    that of all, see `core.network.one_label`.
    """

    name: str
    digest: str
    module: Module
    tokenizer: Tokenizer
    architecture: Architecture
    device: str
    precision: str
    labels: tuple[str, ...]
    mask_id: int
    max_tokens: int
    notes: tuple[str, ...] = ()
    card: dict | None = None
    folder: Path | None = None
    origin: str = ""
    lock: FairLock = field(default_factory=FairLock, repr=False)
    whole: "Model | None" = field(default=None, repr=False)
    scheduler: Scheduler = field(init=False, repr=False)
    _gram: "Tensor | None" = field(default=None, repr=False)
    _spread: float | None = field(default=None, repr=False)

    def __post_init__(self):
        # More tokens at once are no faster on a CPU and only take memory; in half precision a batch is over sooner.
        rows, tokens, multiple = (64, 4_096, 1) if self.precision == "float32" else (256, 8_192, 16)
        if self.device == "cpu":
            from core.network.packed import pack_layers

            pack_layers(self.module)
        else:
            item = next(self.module.parameters()).element_size()
            rows, tokens, multiple = 512, token_budget(free_bytes(self.device), self.module.config, item), 1
        # Held weakly: without a circle a model that is let go of leaves the memory at once, not when the collector
        # comes by.
        run: Any = weakref.WeakMethod(self.run if self.device == "cpu" else self.launch)
        # Twins of one size are told to take as long as each other before the second has run.
        kind = self.device, self.precision, sum(part.numel() for part in self.module.parameters())
        self.scheduler = Scheduler(lambda *asked, **how: run()(*asked, **how), rows, tokens, self.lock, multiple, kind)

    @property
    def C(self) -> int:
        return len(self.labels)

    @property
    def any_label(self) -> bool:
        """Whether it reads one label of several and nobody named which."""
        return self.whole is not None and self.origin == self.whole.origin

    @property
    def states_digest(self) -> str:
        """Digest of the model whose hidden states it has: of one label that of all."""
        return self.digest if self.whole is None else self.whole.digest

    @property
    def advice(self) -> str:
        """What to do where it gives NaN or infinity, by the cause as far as that can be told."""
        if not all(part.isfinite().all() for part in self.module.parameters()):
            return _NAN_WEIGHTS
        return _OTHER_MODEL if self.precision == "float32" else _IN_FLOAT32

    @property
    def H(self) -> int:
        """Elements of a pooled hidden state."""
        return self.module.config.hidden_size

    @property
    def reading(self) -> str:
        """What the classifier reads: "first", "last" or "mean" over the tokens."""
        if self.architecture.reading != "config":
            return self.architecture.reading
        return "mean" if self.module.config.classifier_pooling == "mean" else "first"

    @property
    def unknown_id(self) -> int | None:
        """The unknown token's id, None where the tokenizer has none or the model no word embedding for it."""
        found = getattr(self.tokenizer, "unk_token_id", None)
        return None if found is None or found >= self.module.config.vocab_size else found

    @property
    def word_embeddings(self) -> Tensor:
        """Tensor[vocabulary, E], the matrix of the word embeddings (frozen), as the first block reads them."""
        layer = self.module.get_input_embeddings()
        # Gemma multiplies them as it looks them up.
        scale = getattr(layer, "embed_scale", None)
        return layer.weight if scale is None else layer.weight * scale.to(layer.weight.dtype)

    @property
    def embedding_width(self) -> int:
        """Elements of what the embedding layer gives for a token; a hidden state of ELECTRA may be wider."""
        config = self.module.config
        return config.embedding_size if config.model_type == "electra" else config.hidden_size

    @property
    def gram(self) -> Tensor:
        """Tensor[E, E], EᵀE in float32: gives vocabulary norms of a gradient without the vocabulary."""
        with self.lock:
            if self._gram is None:
                matrix = self.word_embeddings.float()
                self._gram = matrix.T @ matrix
            return self._gram

    @property
    def spread(self) -> float:
        """Standard deviation of all elements of the word embeddings: the size of noise that is as large as they are."""
        with self.lock:
            if self._spread is None:
                self._spread = float(self.word_embeddings.float().std())
            return self._spread

    def encode(
        self,
        text: str,
        second: str | None = None,
        unit: str = "word",
        maskable: str = FIRST,
        tokens: Tokens | None = None,
    ) -> Encoded:
        """Encode an example, see `core.network.features.encode`; NoEmbedding where the model cannot read a token."""
        longest, mask = self.max_tokens, self.mask_id
        found = encode(
            self.tokenizer, text, second, unit=unit, max_tokens=longest, mask_id=mask, maskable=maskable, tokens=tokens
        )
        if not self.reads(found.ids, found.type_ids):
            beyond = [int(one) for one in found.ids if not self.reads(np.array([one]))]
            if not beyond:
                raise NoEmbedding("The model reads single texts. Remove the second.")
            token = shortened(str(self.tokenizer.convert_ids_to_tokens(beyond[0])))
            raise NoEmbedding(
                f"The model cannot read {token!r}. Change the text, or restore the model's own tokenizer."
            )
        return found

    def reads(self, ids: np.ndarray, type_ids: np.ndarray | None = None) -> bool:
        """Whether there is an embedding for each token, its place and its type, int64[T] each (None: it takes none)."""
        config = self.module.config
        # Without any, a family that can do without leaves types out.
        types = (getattr(config, "type_vocab_size", None) or np.inf) if self.architecture.type_ids else np.inf
        # Positions of such a family are counted from its padding token, which has none itself.
        placed = not self.architecture.position_offset or config.pad_token_id not in ids
        return bool(placed and (ids < config.vocab_size).all() and (type_ids is None or (type_ids < types).all()))

    def run(
        self, ids: np.ndarray, lengths: np.ndarray, type_ids: np.ndarray | None = None, hidden: bool | str = False
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Run one batch without gradients: what `launch` gives, once it is there.

        Returns:
            float32[B, C] logits, and float32[B, L, H] or None.
        """
        return self.launch(ids, lengths, type_ids, hidden)()

    def launch(
        self, ids: np.ndarray, lengths: np.ndarray, type_ids: np.ndarray | None = None, hidden: bool | str = False
    ) -> Callable[[], tuple[np.ndarray, np.ndarray | None]]:
        """Have the device begin with one batch, without gradients.

        Args:
            ids: int64[B, T], right-padded, ZERO_ID for a zero word embedding; lengths: int64[B]; type_ids: int64[B, T]
                or None.
            hidden: also give the hidden states of all L outputs, after layer normalisation, pooled over
                the non-padding tokens: their maximum ("max" or True) or their mean ("mean").
        Returns:
            What waits for float32[B, C] logits, and float32[B, L, H] or None.
        """
        import torch

        with self.lock, torch.inference_mode():
            ids_t, lengths_t = self.tensor(ids), self.tensor(lengths)
            padding = None
            if (lengths != ids.shape[1]).any():
                padding = (torch.arange(ids.shape[1], device=lengths_t.device) < lengths_t[:, None]).long()
            types = None if type_ids is None else self.tensor(type_ids)
            embeddings = self.module.get_input_embeddings()(ids_t.masked_fill(ids_t == ZERO_ID, 0))
            if (ids == ZERO_ID).any():
                embeddings = embeddings.masked_fill(ids_t[..., None] == ZERO_ID, 0.0)
            with contextlib.nullcontext() if hidden else only_what_is_read(self.module, self.architecture):
                logits, states, _ = classify(
                    self.module, self.architecture, embeddings, padding, types, lengths_t, bool(hidden), False
                )
            pooled = self._pool(states, padding, hidden == "mean") if hidden else None
            later: Any = fetch_later((logits.float(), pooled))
            return lambda: tuple(later())

    def differentiable(
        self, embeddings: Tensor, type_ids: np.ndarray | None = None, attentions: bool = False
    ) -> tuple[Tensor, Any]:
        """Run word embeddings Tensor[B, T, E] of equal length with gradients; the caller holds `lock`.

        Returns:
            logits Tensor[B, C] in float32 and the last layer's attention [B, heads, T, T] or None.
        """
        with contextlib.nullcontext() if attentions else only_what_is_read(self.module, self.architecture):
            logits, _, maps = self._classified(embeddings, type_ids, attentions=attentions)
        return logits.float(), maps[-1] if attentions else None

    def read(
        self,
        embeddings: Tensor,
        type_ids: np.ndarray | None = None,
        weights: "Tensor | None" = None,
        pooling: str = "",
        change: "Callable[[Tensor], Tensor] | None" = None,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Run word embeddings Tensor[B, T, E] of equal length without gradients; the caller holds `lock`.

        Args:
            weights: Tensor[B, T] in [0, 1], how much attention to each token counts: its logarithm is added before the
                softmax. 0 hides it.
            pooling: give hidden states too, as `run` does: "max" or "mean".
            change: of what the embedding layer gives, Tensor[B, T, embedding_width], before the first block reads it.
        Returns:
            float32[B, C] logits, and float32[B, L, H] or None.
        """
        attention = None if weights is None else attention_bias(weights)
        read = contextlib.nullcontext() if pooling else only_what_is_read(self.module, self.architecture)
        with read, embeddings_changed(self.module, self.architecture, change):
            logits, states, _ = self._classified(embeddings, type_ids, attention, bool(pooling))
        pooled = self._pool(states, None, pooling == "mean").cpu().numpy() if pooling else None
        return logits.float().cpu().numpy(), pooled

    def _classified(self, embeddings, type_ids, attention=None, hidden: bool = False, attentions: bool = False):
        """`classify` for word embeddings of equal length."""
        lengths = self.tensor(np.full(len(embeddings), embeddings.shape[1], dtype=np.int64))
        types = None
        if type_ids is not None:
            # One row for all, or so many that come again and again.
            rows = np.atleast_2d(type_ids)
            types = self.tensor(np.tile(rows, (len(embeddings) // len(rows), 1)))
        return classify(self.module, self.architecture, embeddings, attention, types, lengths, hidden, attentions)

    def embed(self, ids: np.ndarray) -> Tensor:
        """Word embeddings of int64[B, T] as a leaf Tensor[B, T, E] that records gradients."""
        return self.module.get_input_embeddings()(self.tensor(ids)).detach().requires_grad_(True)

    @contextlib.contextmanager
    def eager_attention(self) -> Generator[None]:
        """Hold the lock with attention maps available; the former implementation comes back after."""
        with self.lock:
            before = self.module.config._attn_implementation
            self.module.set_attn_implementation("eager")
            try:
                yield
            finally:
                self.module.set_attn_implementation(before)

    def tensor(self, array: np.ndarray) -> Tensor:
        """Copy an array to the model's device."""
        return put(array, self.device)

    def _pool(self, states, padding, mean: bool):
        import torch

        pooled = []
        for state in normalised(self.module, self.architecture, states):
            if mean:
                within = torch.ones_like(state[:, :, :1]) if padding is None else padding[:, :, None].to(state.dtype)
                pooled.append((state * within).sum(dim=1) / within.sum(dim=1))
                continue
            if padding is not None:
                state = state.masked_fill(padding[:, :, None] == 0, -torch.inf)
            pooled.append(state.amax(dim=1))
        return torch.stack(pooled, dim=1).float()
