"""A classifier of several labels, a sigmoid each, read as two classes for one of them: absent and present."""

import copy
import hashlib
import re
from dataclasses import replace

from core.network.architectures import Module
from core.network.model import Model

# What stands between a model's name and that of its label.
SIGN = "#"
_HEAD = re.compile(r"classifier(\.out_proj)?|score")


def read_label(model: Model, label: int) -> Model:
    """The model of one label, with the logits [−z/2, z/2]: softmax is the label's sigmoid, and each class has a logit
    that words move. Weights, lock and hidden states are those of the whole model.

    Args:
        label: 0..K−1, a place in `model.labels`.
    """
    name, digest = model.labels[label], hashlib.sha256(f"{model.digest}\0{label}".encode()).hexdigest()
    return replace(
        model,
        name=f"{model.name}{SIGN}{name}",
        origin=f"{model.origin}{SIGN}{name}",
        digest=digest,
        module=_with_head(model.module, label),
        labels=(f"not {name}", name),
        # Its figures are of all labels together.
        card=None,
        whole=model,
    )


def _with_head(module: Module, label: int) -> Module:
    """The module with another last layer; all else is shared, as is the configuration, where layers look."""
    import torch

    path = next(name for name, part in module.named_modules() if _HEAD.fullmatch(name) and hasattr(part, "weight"))
    found = top = _sharing(module)
    *outer, last = path.split(".")
    for name in outer:
        found._modules[name] = _sharing(found._modules[name])
        found = found._modules[name]
    head = copy.deepcopy(found._modules[last])
    head.out_features = 2
    for name, parameter in [*head.named_parameters()]:
        row = parameter.detach()[label] / 2
        setattr(head, name, torch.nn.Parameter(torch.stack([-row, row]), requires_grad=False))
    found._modules[last] = head
    return top


def _sharing(module: Module) -> Module:
    """A module of its own with the parts of another."""
    found = copy.copy(module)
    found._modules = dict(module._modules)
    return found
