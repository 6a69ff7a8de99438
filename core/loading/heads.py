"""Heads of one output that are sigmoids, by their configuration: read as two classes with logits [0, z]."""

import re

from core.network.architectures import BILSTM_TYPE, Config, Tensor

_HEAD = re.compile(r"(classifier(\.out_proj)?|score)\.(weight|bias)")
_CLASSES = ("single_label_classification", "multi_label_classification")


def with_both_classes(found: dict) -> dict:
    """What a configuration's file holds, with both classes named where its one output decides between classes.

    One without a `problem_type` may be a regression, and keeps its one output.
    """
    names = found.get("id2label")
    names = names if isinstance(names, dict) and names else {}
    if found.get("problem_type") not in _CLASSES or (len(names) or found.get("num_labels")) != 1:
        return found
    name = str(names.get("0", "LABEL_0"))
    both = ("class 0", "class 1") if name == "LABEL_0" else (f"not {name}", name)
    kept = {key: value for key, value in found.items() if key != "num_labels"}
    return kept | {
        "id2label": {str(i): one for i, one in enumerate(both)},
        "label2id": {one: i for i, one in enumerate(both)},
        "problem_type": _CLASSES[0],
    }


def with_both_rows(config: Config, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Put an output of zeros before the one of a head where two classes are named: softmax is then its sigmoid."""
    import torch

    # What a BiLSTM calls score gives attention, and one number is right.
    if config.num_labels != 2 or config.problem_type == "regression" or config.model_type == BILSTM_TYPE:
        return tensors
    single = {name: one for name, one in tensors.items() if _HEAD.fullmatch(name) and one.shape[0] == 1}
    return tensors | {name: torch.cat([torch.zeros_like(one), one]) for name, one in single.items()}
