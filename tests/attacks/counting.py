"""Models that count what they read, and one that is linear, for attacks."""

from collections import Counter
from dataclasses import fields
from typing import Any

import numpy as np

from core.network.model import Model


class CountingModel(Model):
    """Counts each input that it reads, and each gradient."""

    def run(self, ids, lengths, type_ids=None, hidden=False):
        self.__dict__.setdefault("read_rows", Counter()).update(
            row[:length].tobytes() for row, length in zip(ids, lengths)
        )
        return super().run(ids, lengths, type_ids, hidden)

    def differentiable(self, embeddings, type_ids=None, attentions=False):
        self.gradients = getattr(self, "gradients", 0) + len(embeddings)
        return super().differentiable(embeddings, type_ids, attentions)


class LinearModel(Model):
    """Logits are linear in the mean of the input embeddings, by `weights` float32[E, 2]."""

    @property
    def weights(self):
        import torch

        drawn = np.random.default_rng(5).normal(size=(self.word_embeddings.shape[1], len(self.labels)))
        return torch.from_numpy(drawn.astype(np.float32))

    def run(self, ids, lengths, type_ids=None, hidden=False):
        rows = [self.embed(row[None, :length]).detach() for row, length in zip(ids, lengths)]
        return np.concatenate([self.differentiable(row)[0].numpy() for row in rows]), None

    def differentiable(self, embeddings, type_ids=None, attentions=False):
        return embeddings.mean(dim=1) @ self.weights, None


def made_of(kind: type[Model], model: Model, **changed: Any) -> Model:
    """The same classifier as another kind of model."""
    taken = {one.name: getattr(model, one.name) for one in fields(Model) if one.init and one.name != "lock"}
    return kind(**taken | changed)
