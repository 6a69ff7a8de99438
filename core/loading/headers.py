"""Names and shapes of a model's weights, from the heads of its files, held against what its family expects."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.loading import lora
from core.loading.loading import NO_WEIGHTS, build_classifier, building, check_complete, merged, unreadable, weights_of
from core.loading.locating import ModelSource
from core.loading.model_files import ForeignFile
from core.network.architectures import Config, Module, UnsupportedModel
from core.network.memory import IMPORTING
from core.storage import hub


@dataclass(frozen=True)
class Headers:
    """What the heads of a model's files say.

    base, adapter: {tensor's name: (dtype, shape)}; None where that is not known (or there is no
    adapter). bytes: of the files, or of the tensors where they have yet to be fetched; 0: not known.
    """

    base: dict[str, tuple[str, tuple[int, ...]]] | None
    adapter: dict[str, tuple[str, tuple[int, ...]]] | None
    seen: bool
    bytes: int
    to_fetch: bool


def read_headers(source: ModelSource, config: Config) -> Headers:
    """Names and shapes of a model's tensors, from its files or the hub; UnsupportedModel where there are none."""
    base, here = _tensors(source.base, source.base_id, lambda: _weights(source, config), adapter=False)
    adapter, found, files = None, [base], source.adapter_files
    if files is not None:
        read = partial(lora.read_adapter, files, heads=True)
        adapter, also_here = _tensors(files.folder, source.adapter_id, read, adapter=True)
        here, found = here and also_here, [base, adapter]
    size = sum(one.size for one in source.files) if here else _bytes(found)
    return Headers(base, adapter, None not in found, size, not here)


def blueprint(source: ModelSource, config: Config, headers: Headers) -> Module:
    """Build the module without memory for its weights, and hold the files' tensors against it.

    Returns:
        the module, its parameters on the meta device.
    Raises:
        UnsupportedModel: what `load` would raise: tensors that are missing or of another shape.
    """
    with IMPORTING:
        import torch
        from transformers import AutoModelForSequenceClassification

    adapter = lora.adapter_settings(source.adapter_files) if source.adapter_files else None
    try:
        if not headers.seen:
            with building(), torch.device("meta"):
                return AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
        module, missing = build_classifier(config, _shapes(headers.base), device_map="meta", dtype=torch.float32)
    except Exception as error:
        raise unreadable(source.name, error) from error
    if adapter:
        missing -= merged(module, source, adapter, _shapes(headers.adapter))
    check_complete(source, missing)
    return module


def _shapes(tensors: dict | None) -> dict:
    import torch

    return {name: torch.empty(shape, device="meta") for name, (_, shape) in (tensors or {}).items()}


def _tensors(folder: Path, hub_id: str | None, read: Callable[[], dict], adapter: bool) -> tuple[dict | None, bool]:
    """The tensors of one folder's weights (None: the hub does not tell), and whether they are here."""
    try:
        return read(), True
    except ForeignFile:
        raise
    except UnsupportedModel:
        if hub_id is None:
            raise
    found = hub.tensor_shapes(hub_id, folder, adapter)
    if found == {}:
        raise UnsupportedModel(f"{hub_id!r} {NO_WEIGHTS}")
    return found, False


def _weights(source: ModelSource, config) -> dict[str, tuple[str, tuple[int, ...]]]:
    named = weights_of(source, config)
    try:
        return {name: about for file in named for name, about in source.base_files.heads(file).items()}
    except Exception as error:
        raise unreadable(source.name, error) from error


def _bytes(found: list[dict | None]) -> int:
    """Bytes of tensors, by their heads; 0 where some are not known."""
    about = [] if None in found else [one for tensors in found if tensors for one in tensors.values()]
    bits = ((re.search(r"\d+", dtype), shape) for dtype, shape in about)
    return sum(math.prod(shape) * max(1, int(number[0]) // 8 if number else 1) for number, shape in bits)
