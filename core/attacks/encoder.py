"""How alike two texts are: the cosine of sentence embeddings of the encoder that ships."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from core.loading.loading import read_weights
from core.loading.locating import BASES, digest, locate
from core.loading.small_files import longest_input, mask_token, read_config, read_tokenizer
from core.network.architectures import architecture_of
from core.network.memory import IMPORTING
from core.network.model import Model
from core.network.scheduler import Input
from core.network.tokens import read_tokens

ENCODER = "all-minilm-l6-v2"


class SentenceEncoder:
    """Unit embeddings of texts: the mean of the last layer over all tokens, as all-MiniLM-L6-v2 defines it."""

    def __init__(self, model: Model):
        self.model = model

    def embed(self, texts: Sequence[str], cancelled: Callable[[], bool] | None = None) -> np.ndarray:
        """float32[N, H], each row of length 1; raises as `Scheduler.run`."""
        read = read_tokens(self.model.tokenizer, texts, None, self.model.max_tokens)
        rows = [Input(one.ids, one.type_ids) for one in read]
        found = np.empty((len(rows), self.model.H), dtype=np.float32)
        for indices, _, states in self.model.scheduler.run(rows, hidden="mean", cancelled=cancelled):
            if states is not None:
                found[indices] = states[:, -1]
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


@functools.cache
def encoder_digest() -> str:
    """SHA-256 of the weights, configuration and tokenizer of the encoder that ships."""
    return digest(locate(str(BASES / ENCODER)))


@functools.cache
def sentence_encoder(device: str) -> SentenceEncoder:
    """The encoder that ships, on a device; loaded once."""
    with IMPORTING:
        import torch

    source = locate(str(BASES / ENCODER))
    config, tokenizer = read_config(source), read_tokenizer(source)
    module, _ = read_weights(source, config, torch.float32)
    architecture, (mask_id, _) = architecture_of(config.model_type), mask_token(tokenizer, ENCODER)
    longest = longest_input(tokenizer, config, architecture)
    module.eval().requires_grad_(False).to(device)
    about = (architecture, device, "float32", ("0", "1"), mask_id, longest)
    return SentenceEncoder(Model(ENCODER, encoder_digest(), module, tokenizer, *about))
