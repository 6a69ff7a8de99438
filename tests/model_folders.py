"""Folders of models as the tests change them, and adapters on them."""

import json
import shutil

import torch

from tests import tiny


def change_json(path, **changes):
    found = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({k: v for k, v in found.items() if v is not None}), encoding="utf-8")


def write_adapter(tiny_root, root, kind, base=None, classes=3, **settings):
    """Write a base and a PEFT adapter on it with random weights everywhere; return both folders."""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForSequenceClassification

    base = base or shutil.copytree(tiny.folder(kind, tiny_root), root / "base")
    module = AutoModelForSequenceClassification.from_pretrained(base, num_labels=classes)
    torch.manual_seed(3)
    wrapped = get_peft_model(module, LoraConfig(**{"r": 4, "lora_alpha": 12} | settings))
    with torch.no_grad():
        for parameter in wrapped.parameters():
            if parameter.requires_grad:
                parameter += 0.2 * torch.randn_like(parameter)
    wrapped.save_pretrained(root / "adapter")
    change_json(root / "adapter" / "adapter_config.json", base_model_name_or_path=str(base))
    return base, root / "adapter"
