"""Several inputs of one length, read in one pass: what `Inside` and the oracle give of each, computed ahead for all."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from core.network.architectures import Tensor
from core.network.scheduler import memory_in_words
from core.oracle.inside import ATTENTION, WEIGHTS, WORD_GRADIENT, Inside
from core.oracle.oracle import Oracle, ask_together

# Tokens that are read at once.
TOKENS = 4096


class Together:
    """B inputs of T tokens each, of one model, and the oracles of their examples.

    Args:
        insides: each for the logit of a class, not of one rather than another.
    """

    def __init__(self, insides: Sequence[Inside], oracles: Sequence[Oracle]):
        self.insides, self.oracles, self.model = insides, oracles, insides[0].model
        self.ids = np.concatenate([one.ids for one in insides])
        types = [one.encoded.type_ids for one in insides if one.encoded.type_ids is not None]
        self._types = np.stack(types) if types else None
        self._targets = self.model.tensor(np.array([one.target for one in insides], dtype=np.int64))

    def ask(self, planned: Callable[[np.ndarray], np.ndarray]) -> None:
        """Ask the oracles for masks bool[M, F], planned of what is masked already, bool[F]."""
        masked = [one.masked for one in self.insides]
        ask_together([(oracle, planned(one) | one) for oracle, one in zip(self.oracles, masked)])

    def logit(self, embeddings: Tensor) -> Tensor:
        """f of Tensor[K·B, T, E], the inputs again and again, as Tensor[K·B]."""
        with self.model.lock:
            logits, _ = self.model.differentiable(embeddings, self._types)
        return self._chosen(logits)

    def word_gradients(self) -> None:
        """As `Inside.word_gradient`, of each."""
        import torch

        with self.model.lock, memory_in_words(), torch.enable_grad():
            embeddings = self.model.embed(self.ids)
            (gradients,) = torch.autograd.grad(self.logit(embeddings).sum(), embeddings)
        self.hold(WORD_GRADIENT, zip(embeddings.detach().float(), gradients.float()))

    def attention(self) -> None:
        """As `Inside.attention`, of each."""
        import torch

        with self.model.eager_attention(), memory_in_words(), torch.enable_grad():
            logits, weights = self.model.differentiable(self.model.embed(self.ids), self._types, attentions=True)
            (gradients,) = torch.autograd.grad(self._chosen(logits).sum(), weights)
        self.hold(ATTENTION, zip(weights.detach().float(), gradients.float()))

    def attention_weights(self) -> None:
        """As `Inside.attention_weights`, of each."""
        import torch

        with self.model.eager_attention(), memory_in_words(), torch.no_grad():
            weights = self.model.differentiable(self.model.embed(self.ids), self._types, attentions=True)[1]
        self.hold(WEIGHTS, weights.float())

    def hold(self, name: Hashable, found: Iterable[Any]) -> None:
        """Keep what was found of each input where `Inside` looks for it."""
        for inside, one in zip(self.insides, found):
            inside.ahead[name] = one

    def _chosen(self, logits: Tensor) -> Tensor:
        targets = self._targets.repeat(len(logits) // len(self._targets))
        return logits.gather(1, targets[:, None])[:, 0]
