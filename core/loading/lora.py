"""LoRA adapters in PEFT's file format, added to a base's weights as they load.

Training uses PEFT; loading does not, because importing it takes longer than loading a model.
A test holds the two equal.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.loading.model_files import ADAPTER, ADAPTER_WEIGHTS, COPY_AGAIN, ModelFiles, cannot_read
from core.network.architectures import Module, UnsupportedModel

# A layer's name, or several with bars between: without repetition, so that matching takes no longer than the name.
_PLAIN_PATTERN = re.compile(r"\^?(?:[\w.|-]|\\\.)+\$?", re.ASCII)
_MOST_PATTERNS, _MOST_LETTERS = 2_000, 100_000
_AGAIN, _MERGE = "Save it again with PEFT.", "Merge it into its base with PEFT."
_OWN_BASE = "Give the base it was trained on."
_PREFIX = "base_model.model."
# What an adapter adds to the name of a parameter: to its layer, and in the place of its last part.
_ADDED = re.compile(r"\.lora_A|\.modules_to_save")
_CHANGED = re.compile(r"(token_adapter\.)?trainable_tokens_delta")


def adapter_settings(files: ModelFiles) -> dict | None:
    """What adapter_config.json of a folder holds; None without one, UnsupportedModel if damaged or not LoRA."""
    folder, path = files.folder, files.folder / ADAPTER
    if not path.exists():
        return None
    try:
        found = files.settings(ADAPTER)
        if not isinstance(found, dict):
            raise ValueError("no JSON object")
    except (OSError, ValueError) as error:
        raise cannot_read(ADAPTER, folder.name, error, _AGAIN) from error
    unknown = [key for key in ("use_dora", "layer_replication", "megatron_config", "use_qalora") if found.get(key)]
    if found.get("peft_type") != "LORA" or found.get("bias", "none") != "none" or unknown:
        raise _unfit(folder, "is not plain LoRA", _MERGE)
    lacking = [key for key in ("r", "lora_alpha") if not isinstance(found.get(key), int | float) or not found[key]]
    if lacking:
        raise _unfit(folder, f"lacks {lacking[0]}", _AGAIN)
    return found


def _unfit(folder: Path, why: str, remedy: str) -> UnsupportedModel:
    return UnsupportedModel(f"The adapter {folder.name!r} {why}. {remedy}")


def merge_adapter(module: Module, folder: Path, config: dict, tensors: dict) -> set[str]:
    """Add an adapter to a module's parameters, `W + s·B A` with s = alpha/r (alpha/√r where rank-stabilised).

    Args:
        module: the base with a classification head, float32; changed in place.
        folder: the adapter's.
        config: the adapter's settings.
        tensors: of the adapter; on the meta device, as the module then is, only names and shapes are compared.
    Returns:
        Names of the parameters that the adapter replaced whole (a trained head).
    Raises:
        UnsupportedModel: weights for parameters that the base lacks, or ranks for layers that are no plain names.
    Source: Hu et al. (2021), LoRA, Eq. 3.
    """
    import torch

    rank = _by_layer(config.get("rank_pattern"), config["r"], folder)
    alpha = _by_layer(config.get("alpha_pattern"), config["lora_alpha"], folder)
    parameters = dict(module.named_parameters())
    replaced = set()
    with torch.no_grad():
        for name in sorted(tensors):
            if name.endswith("lora_B.weight"):
                continue
            target = _target(name)
            if target not in parameters:
                raise _unfit(folder, f"changes {target!r}, which its base lacks", _OWN_BASE)
            weight, value = parameters[target], tensors[name].float()
            if name.endswith("lora_A.weight"):
                other = name.replace("lora_A", "lora_B")
                if other not in tensors:
                    raise _unfit(folder, f"lacks {other!r}", _AGAIN)
                scale = alpha(target) / (rank(target) ** 0.5 if config.get("use_rslora") else rank(target))
                delta = scale * (tensors[other].float() @ value)
                # PEFT goes by the layer too: its fan_in_fan_out flag says what the last layer was.
                layer = module.get_submodule(target.removesuffix(".weight"))
                weight += _fitting(delta.T if type(layer).__name__ == "Conv1D" else delta, weight, target, folder)
            elif name.endswith("trainable_tokens_delta"):
                rows = _token_indices(config, target, len(weight))
                weight[rows] = _fitting(value, weight[rows], target, folder)
            else:
                weight.copy_(_fitting(value, weight, target, folder))
                replaced.add(target)
    return replaced


def read_adapter(files: ModelFiles, heads: bool = False) -> dict[str, Any]:
    """An adapter's tensors, or only their heads, as of ModelFiles; UnsupportedModel with a sentence where there are
    none, or where they are cut short.
    """
    if ADAPTER_WEIGHTS not in files.names:
        raise _unfit(files.folder, f"holds no {ADAPTER_WEIGHTS}, and pickle is not read", _AGAIN)
    try:
        return files.heads(ADAPTER_WEIGHTS) if heads else files.tensors(ADAPTER_WEIGHTS)
    except Exception as error:
        raise cannot_read(ADAPTER_WEIGHTS, files.folder.name, error, COPY_AGAIN) from error


def _target(name: str) -> str:
    """Name of the parameter of the base that a tensor of the adapter changes."""
    return _CHANGED.sub("weight", _ADDED.sub("", name.removeprefix(_PREFIX)))


def _fitting(value, weight, target: str, folder: Path):
    if value.shape != weight.shape:
        shapes = f"{list(value.shape)}, its base {list(weight.shape)}"
        raise _unfit(folder, f"has {target!r} of shape {shapes}", _OWN_BASE)
    return value


def _by_layer(patterns: dict | None, default: float, folder: Path) -> Callable[[str], float]:
    """The value of the first pattern that a parameter's layer matches, as PEFT matches them."""
    patterns = patterns or {}
    too_many = len(patterns) > _MOST_PATTERNS or sum(map(len, patterns)) > _MOST_LETTERS
    if too_many or not all(map(_PLAIN_PATTERN.fullmatch, patterns)):
        raise _unfit(folder, "cannot be added to its base: ranks use patterns", _MERGE)
    compiled = [(re.compile(rf"(.*\.)?({key})$"), value) for key, value in patterns.items()]

    def value_for(target: str) -> float:
        layer = target.removesuffix(".weight")
        return next((value for pattern, value in compiled if pattern.match(layer)), default)

    return value_for


def _token_indices(config: dict, target: str, vocabulary: int) -> list[int]:
    chosen = config["trainable_token_indices"]
    if not isinstance(chosen, list):
        chosen = next(indices for layer, indices in chosen.items() if target.removesuffix(".weight").endswith(layer))
    if not all(0 <= index < vocabulary for index in chosen):
        raise ValueError(f"it trained tokens beyond the vocabulary of {vocabulary:,}")
    return chosen
