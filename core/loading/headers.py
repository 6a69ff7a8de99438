"""Names and shapes of a model's weights, from the heads of its files, held against what its family expects."""

import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from core.loading import lora
from core.loading.loading import building, check_complete, check_weights, merged, unreadable
from core.loading.locating import ModelSource
from core.network.architectures import Config, Module, UnsupportedModel
from core.storage import hub

_INDEX = "model.safetensors.index.json"


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

    @property
    def description(self) -> str:
        """A sentence on the file format and what the numbers are stored as."""
        kinds = sorted({dtype for tensors in (self.base, self.adapter) for dtype, _ in (tensors or {}).values()})
        return f"The weights are safetensors, stored as {', '.join(kinds)}."


def read_headers(source: ModelSource, config: Config) -> Headers:
    """Read names and shapes of a model's tensors, base and adapter, without their values.

    What was not fetched from the hub yet is asked for there.

    Raises:
        UnsupportedModel: no safetensors, or files that are cut short.
    """
    base, here = _tensors(source.base, source.base_id, lambda: _weights(source, config), adapter=False)
    if source.adapter is None:
        return Headers(base, None, base is not None, _bytes(here, base, folders=[source.base]), not here)
    folder = source.adapter
    adapter, also_here = _tensors(folder, source.adapter_id, lambda: _adapter_weights(folder), adapter=True)
    here, seen = here and also_here, base is not None and adapter is not None
    return Headers(base, adapter, seen, _bytes(here, base, adapter, folders=[source.base, folder]), not here)


def blueprint(source: ModelSource, config: Config, headers: Headers) -> Module:
    """Build the module without memory for its weights, and hold the files' tensors against it.

    Returns:
        the module, its parameters on the meta device.
    Raises:
        UnsupportedModel: what `load` would raise: tensors that are missing or of another shape.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    adapter = lora.adapter_settings(source.adapter) if source.adapter else None
    with building():
        try:
            with torch.device("meta"):
                module = AutoModelForSequenceClassification.from_config(config, trust_remote_code=False)
            if not headers.seen:
                return module
            # Given tensors without memory, transformers does all that it does when it loads: it renames, converts and
            # compares.
            module, report = type(module).from_pretrained(
                None,
                config=config,
                state_dict=_shapes(headers.base),
                device_map="meta",
                dtype=torch.float32,
                output_loading_info=True,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
            )
        except Exception as error:
            raise unreadable(source.name, error) from error
    missing = set(report["missing_keys"])
    if adapter:
        missing -= merged(module, source, adapter, _shapes(headers.adapter))
    check_complete(source, missing)
    return module


def _shapes(tensors: dict | None) -> dict:
    import torch

    return {name: torch.empty(shape, device="meta") for name, (_, shape) in (tensors or {}).items()}


def _tensors(folder: Path, hub_id: str | None, read, adapter: bool) -> tuple[dict | None, bool]:
    """The tensors that one folder's weights hold, and whether they are here; None where the hub has them and does not
    tell.
    """
    try:
        return read(), True
    except UnsupportedModel:
        if hub_id is None:
            raise
    found = hub.tensor_shapes(hub_id, folder, adapter)
    if found == {}:
        raise UnsupportedModel(
            f"{hub_id!r} has no safetensors weights on the hub, and pickle weights are not read. "
            "Choose a model with model.safetensors, or convert it with save_pretrained."
        )
    return found, False


def _weights(source: ModelSource, config) -> dict[str, tuple[str, tuple[int, ...]]]:
    check_weights(source)
    try:
        return {name: about for file in _weight_files(source.base, config) for name, about in _head(file).items()}
    except Exception as error:
        raise unreadable(source.name, error) from error


def _adapter_weights(folder: Path) -> dict[str, tuple[str, tuple[int, ...]]]:
    file = folder / "adapter_model.safetensors"
    if not file.exists():
        raise lora.no_weights(folder)
    try:
        return _head(file)
    except Exception as error:
        raise lora.unreadable_adapter(folder) from error


def _head(file: Path) -> dict[str, tuple[str, tuple[int, ...]]]:
    from safetensors import safe_open

    with safe_open(file, framework="pt") as tensors:
        views = {key: tensors.get_slice(key) for key in tensors.keys()}  # noqa: SIM118 (no dictionary: it iterates over nothing)
        return {key: (view.get_dtype(), tuple(view.get_shape())) for key, view in views.items()}


def _weight_files(folder: Path, config) -> list[Path]:
    """The files that transformers reads, by its own rules; whatever it would refuse raises."""
    chosen = getattr(config, "transformers_weights", None)
    if chosen is None:
        chosen = "model.safetensors" if (folder / "model.safetensors").is_file() else _INDEX
    # Not resolved: in the hub's cache the files are links to another folder.
    elif not chosen.endswith((".safetensors", ".safetensors.index.json")) or not os.path.abspath(
        folder / chosen
    ).startswith(os.path.abspath(folder) + os.sep):
        raise ValueError(f"the configuration names {chosen!r} as the file of weights")
    if not chosen.endswith(".index.json"):
        return [folder / chosen]
    found = json.loads((folder / chosen).read_text(encoding="utf-8"))["weight_map"]
    return [folder / part for part in sorted(set(found.values()))]


def _bytes(here: bool, *tensors: dict | None, folders: list[Path]) -> int:
    if here:
        return sum(path.stat().st_size for folder in folders for path in folder.iterdir() if path.is_file())
    return (
        0
        if None in tensors
        else sum(_tensor_bytes(*about) for found in filter(None, tensors) for about in found.values())
    )


def _tensor_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    bits = re.search(r"\d+", dtype)
    return math.prod(shape) * max(1, int(bits[0]) // 8 if bits else 1)
