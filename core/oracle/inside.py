"""Gradients and attention of one (masked) input, each computed once and shared by measures."""

import contextlib
import threading
from collections.abc import Callable, Generator, Hashable
from functools import cached_property
from typing import Any

import numpy as np

from core.network.architectures import Tensor
from core.network.features import Encoded, masked_ids
from core.network.model import Model
from core.network.scheduler import Cancelled, Counters, NonFinite, memory_in_words
from core.oracle.target import Target, logit_of

# What `Inside.ahead` may hold, beside what a measure puts there.
WORD_GRADIENT, ATTENTION, WEIGHTS = "word gradient", "attention", "weights"


class Inside:
    """What a model does inside on one input, for the logit of one class, or of one less that of another.

    Args:
        encoded, masked: the example and bool[F] of what is masked already.
        target: the explained class, or one rather than another.
    Attributes:
        ahead: what `core.oracle.together.Together` computed for it and others at once.
    """

    def __init__(self, model: Model, encoded: Encoded, masked: np.ndarray, target: Target):
        self.model, self.encoded, self.masked, self.target = model, encoded, masked, target
        self.ids = masked_ids(encoded, masked[None])
        self.counters = Counters()
        self.ahead: dict[Hashable, Any] = {}
        self._once = threading.RLock()
        self._watch = threading.local()

    def word_gradient(self) -> tuple[Tensor, Tensor]:
        """Word embeddings e_t and ∂f/∂e_t, Tensor[T, E] each, float32; one pass, kept."""
        with self._once:
            return self.ahead.get(WORD_GRADIENT) or self._word_gradient

    def attention(self) -> tuple[Tensor, Tensor]:
        """Last layer's attention and its gradient, Tensor[heads, T, T] each, float32; one pass, kept."""
        with self._once:
            return self.ahead.get(ATTENTION) or self._attention

    def attention_weights(self) -> Tensor:
        """Last layer's attention alone, Tensor[heads, T, T], float32; one pass without the way back, kept."""
        with self._once:
            if WEIGHTS in self.ahead:
                return self.ahead[WEIGHTS]
            return self._attention[0] if "_attention" in self.__dict__ else self._weights

    @contextlib.contextmanager
    def watched(self, progress: Callable[[int], None] | None, cancelled: Callable[[], bool] | None) -> Generator[None]:
        """Report passes to `progress` and ask `cancelled` before each batch, for the calling thread only."""
        self._watch.progress, self._watch.cancelled = progress, cancelled
        try:
            yield
        finally:
            self._watch.progress = self._watch.cancelled = None

    def logit(self, embeddings: Tensor) -> Tensor:
        """f of Tensor[B, T, E], as Tensor[B]; counts its passes, and raises Cancelled where that was asked for."""
        # Work gives way where it is asked, and nobody else could go on without the model.
        asked = None if self.model.lock.mine else getattr(self._watch, "cancelled", None)
        if asked is not None and asked():
            raise Cancelled("stopped between two batches")
        # The module is used in its forward pass only: the lock is free again while gradients flow back.
        with self.model.lock:
            logits, _ = self.model.differentiable(embeddings, self.encoded.type_ids)
        self.counters.add(passes=len(embeddings))
        if getattr(self._watch, "progress", None) is not None:
            self._watch.progress(len(embeddings))
        return logit_of(logits, self.target)

    def per_feature(self, scores: Tensor) -> np.ndarray:
        """Sum token scores Tensor[T] over each feature's tokens → float64[F]."""
        values = scores.detach().cpu().double().numpy()
        of = self.encoded.feature_of
        return self.finite(np.bincount(of[of >= 0], weights=values[of >= 0], minlength=self.encoded.F))

    def finite(self, scores: np.ndarray) -> np.ndarray:
        """Pass scores on; NonFinite with a sentence if one is NaN or infinite."""
        if not np.isfinite(scores).all():
            raise NonFinite(
                f"The model's gradient or attention is not a finite number for this text. {self.model.advice}"
            )
        return scores

    def reading(self) -> np.ndarray:
        """Weight of each token's position in what the classifier reads, float32[T], sum 1."""
        weights = np.zeros(self.encoded.T, dtype=np.float32)
        kind = self.model.reading
        weights[{"first": 0, "last": -1, "mean": slice(None)}[kind]] = 1 / self.encoded.T if kind == "mean" else 1
        return weights

    @cached_property
    def _word_gradient(self):
        import torch

        with self.model.lock, memory_in_words(), torch.enable_grad():
            embeddings = self.model.embed(self.ids)
            (gradient,) = torch.autograd.grad(self.logit(embeddings).sum(), embeddings)
            return embeddings.detach()[0].float(), gradient[0].float()

    def _attended(self) -> tuple[Tensor, Tensor]:
        """Logits and the last layer's attention of one pass; the caller holds the lock."""
        embeddings = self.model.embed(self.ids)
        logits, attention = self.model.differentiable(embeddings, self.encoded.type_ids, attentions=True)
        self.counters.add(passes=1)
        return logits, attention

    @cached_property
    def _weights(self):
        import torch

        with self.model.eager_attention(), memory_in_words(), torch.no_grad():
            return self._attended()[1][0].float()

    @cached_property
    def _attention(self):
        import torch

        with self.model.eager_attention(), memory_in_words(), torch.enable_grad():
            logits, attention = self._attended()
            (gradient,) = torch.autograd.grad(logit_of(logits[0], self.target), attention)
            return attention.detach()[0].float(), gradient[0].float()
