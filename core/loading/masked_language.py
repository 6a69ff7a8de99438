"""The masked-language head of a model's base, where its files hold one."""

import weakref
from typing import Any

from core.loading.loading import build_module
from core.loading.locating import ModelSource, locate
from core.loading.model_files import weight_files
from core.loading.small_files import read_config, read_tokenizer
from core.network.architectures import Module
from core.network.model import Model

# How the weights of such a head are called, family by family; without any, none are read.
_HEADS = ("cls.predictions.", "lm_head.", "lm_predictions.", "vocab_transform.", "generator_predictions.", "decoder.")
_HELD: "weakref.WeakKeyDictionary[Model, Module | None]" = weakref.WeakKeyDictionary()


def masked_language(model: Model) -> Module | None:
    """The base of a model with the masked-language head that it was pretrained with, frozen, on the model's device.

    Read once. An adapter's base keeps its head; a classifier that was trained whole as a rule does not.

    Returns:
        None where the folder of the weights holds no such head, or the model reads tokens of other ids.
    """
    if model not in _HELD:
        try:
            _HELD[model] = _read(model)
        except Exception:
            # Whatever a library says of files that are gone or were changed since; the classifier is in memory.
            _HELD[model] = None
    return _HELD[model]


def _read(model: Model) -> Module | None:
    import torch
    from transformers import MODEL_FOR_MASKED_LM_MAPPING

    if not model.origin or model.tokenizer.mask_token_id != model.mask_id:
        return None
    found = locate(model.origin)
    base = ModelSource(found.name, found.base, None)
    config = read_config(base)
    names, files = weight_files(base.base_files, config), base.base_files
    if type(config) not in MODEL_FOR_MASKED_LM_MAPPING or not any(
        tensor.startswith(_HEADS) for name in names for tensor in files.heads(name)
    ):
        return None
    if found.adapter and read_tokenizer(base).get_vocab() != model.tokenizer.get_vocab():
        return None
    tensors: dict[str, Any] = {}
    for name in names:
        tensors |= files.tensors(name)
    module, missing = build_module(MODEL_FOR_MASKED_LM_MAPPING, config, tensors, dtype=torch.float32)
    return None if missing else module.eval().requires_grad_(False).to(model.device)
