"""LoRA adapters in PEFT's file format, added to a base's weights as they load.

Training uses PEFT; loading does not, because importing it takes longer than loading a model.
A test holds the two equal.
"""

import json
from pathlib import Path

from core.network.architectures import Module, UnsupportedModel

_PREFIX = "base_model.model."


def adapter_settings(folder: Path) -> dict | None:
    """Read adapter_config.json of a folder; None if it holds no adapter.

    Raises:
        UnsupportedModel: the file is damaged, or names a kind of adapter other than LoRA.
    """
    path = folder / "adapter_config.json"
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnsupportedModel(
            f"{path.name} of the adapter {folder.name!r} is not valid JSON. Save the adapter again."
        ) from error
    if not isinstance(found, dict):
        raise UnsupportedModel(
            f"{path.name} of the adapter {folder.name!r} is no object of settings. Save the adapter again."
        )
    unknown = [key for key in ("use_dora", "layer_replication", "megatron_config", "use_qalora") if found.get(key)]
    if found.get("peft_type") != "LORA" or found.get("bias", "none") != "none" or unknown:
        raise UnsupportedModel(
            f"The adapter {folder.name!r} is not a plain LoRA adapter. Merge it into its base with PEFT and give the "
            f"merged folder."
        )
    lacking = [key for key in ("r", "lora_alpha") if not isinstance(found.get(key), int | float) or not found[key]]
    if lacking:
        raise UnsupportedModel(
            f"{path.name} of the adapter {folder.name!r} lacks {lacking[0]}. Save the adapter again."
        )
    return found


def merge_adapter(module: Module, folder: Path, config: dict, tensors: dict | None = None) -> set[str]:
    """Add an adapter to a module's parameters, `W + s·B A` with s = alpha/r (alpha/√r where rank-stabilised).

    Args:
        module: the base with a classification head, float32; changed in place.
        folder: holds adapter_model.safetensors.
        config: the adapter's settings.
        tensors: read already; on the meta device, as the module then is, only names and shapes are compared.
    Returns:
        Names of the parameters that the adapter replaced whole (a trained head).
    Raises:
        UnsupportedModel: weights missing, cut short, or for parameters that the base lacks.
    Source: Hu et al. (2021), LoRA, Eq. 3.
    """
    import torch

    tensors = _read(folder) if tensors is None else tensors
    parameters = dict(module.named_parameters())
    replaced = set()
    with torch.no_grad():
        for name in sorted(tensors):
            if name.endswith("lora_B.weight"):
                continue
            target = _target(name, config)
            if target not in parameters:
                raise UnsupportedModel(
                    f"The adapter {folder.name!r} changes {target!r}, which its base does not have. Give the base that "
                    f"it was trained on."
                )
            weight, value = parameters[target], tensors[name].float()
            if name.endswith("lora_A.weight"):
                delta = _scale(config, target) * (_partner(tensors, name, folder).float() @ value)
                delta = delta.T if _transposed(module, target) else delta
                weight += _fitting(delta, weight, target, folder)
            elif name.endswith("trainable_tokens_delta"):
                rows = _token_indices(config, target, len(weight))
                weight[rows] = _fitting(value, weight[rows], target, folder)
            else:
                weight.copy_(_fitting(value, weight, target, folder))
                replaced.add(target)
    return replaced


def no_weights(folder: Path) -> UnsupportedModel:
    """The sentence for an adapter without safetensors."""
    return UnsupportedModel(
        f"The adapter {folder.name!r} holds no adapter_model.safetensors (pickle weights are not read). Save it again "
        f"with PEFT."
    )


def unreadable_adapter(folder: Path) -> UnsupportedModel:
    """The sentence for an adapter whose weights cannot be read."""
    return UnsupportedModel(
        f"The weights of the adapter {folder.name!r} cannot be read; the file may be cut short. Copy or download it "
        f"again."
    )


def _read(folder: Path):
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / "adapter_model.safetensors"
    if not path.exists():
        raise no_weights(folder)
    try:
        return load_file(path)
    except SafetensorError as error:
        raise unreadable_adapter(folder) from error


def _target(name: str, config: dict) -> str:
    name = name.removeprefix(_PREFIX).replace(".lora_A", "")
    if name.endswith("token_adapter.trainable_tokens_delta"):
        return name.replace("token_adapter.trainable_tokens_delta", "weight")
    return name.replace(".trainable_tokens_delta", ".weight").replace(".modules_to_save", "")


def _partner(tensors: dict, name: str, folder: Path):
    other = name.replace("lora_A", "lora_B")
    if other not in tensors:
        raise UnsupportedModel(f"The adapter {folder.name!r} lacks {other!r}. Save it again with PEFT.")
    return tensors[other]


def _fitting(value, weight, target: str, folder: Path):
    if value.shape != weight.shape:
        raise UnsupportedModel(
            f"The adapter {folder.name!r} has {target!r} of shape {list(value.shape)}, its base of shape "
            f"{list(weight.shape)}. Give the base that it was trained on, with its number of classes."
        )
    return value


def _transposed(module, target: str) -> bool:
    # PEFT goes by the layer too: its fan_in_fan_out flag says what the last layer was.
    return type(module.get_submodule(target.removesuffix(".weight"))).__name__ == "Conv1D"


def _scale(config: dict, target: str) -> float:
    rank = _pattern(config.get("rank_pattern"), target, config["r"])
    alpha = _pattern(config.get("alpha_pattern"), target, config["lora_alpha"])
    return alpha / (rank**0.5 if config.get("use_rslora") else rank)


def _pattern(patterns: dict | None, target: str, default):
    import re

    module = target.removesuffix(".weight")
    return next((value for key, value in (patterns or {}).items() if re.match(rf"(.*\.)?({key})$", module)), default)


def _token_indices(config: dict, target: str, vocabulary: int) -> list[int]:
    chosen = config["trainable_token_indices"]
    if not isinstance(chosen, list):
        chosen = next(indices for layer, indices in chosen.items() if target.removesuffix(".weight").endswith(layer))
    if not all(0 <= index < vocabulary for index in chosen):
        raise ValueError(f"it trained tokens beyond the {vocabulary:,} of the vocabulary")
    return chosen
