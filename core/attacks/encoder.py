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


def embed_sentences(texts: Sequence[str], device: str, cancelled: Callable[[], bool] | None = None) -> np.ndarray:
    """Unit embeddings of texts, float32[N, H]: the mean of the last layer over all tokens, as all-MiniLM-L6-v2 defines
    it; raises as `Scheduler.run`.
    """
    model = sentence_encoder(device)
    rows = [Input(one.ids, one.type_ids) for one in read_tokens(model.tokenizer, texts, None, model.max_tokens)]
    found = np.empty((len(rows), model.H), dtype=np.float32)
    for indices, _, states in model.scheduler.run(rows, hidden="mean", cancelled=cancelled):
        if states is not None:
            found[indices] = states[:, -1]
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


@functools.cache
def encoder_digest() -> str:
    """SHA-256 of the weights, configuration and tokenizer of the encoder that ships."""
    return digest(locate(str(BASES / ENCODER)))


@functools.cache
def sentence_encoder(device: str) -> Model:
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
    return Model(ENCODER, encoder_digest(), module, tokenizer, *about)
