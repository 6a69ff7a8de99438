"""A second copy of a classifier in half precision, for searches that score what they find again."""

import copy
import functools
import time
from dataclasses import replace
from typing import Any

from core.network.architectures import Module
from core.network.model import Model

HALF = "bfloat16"
# Below this the second copy is not worth its memory.
WORTH = 1.5
# So many products are timed, but no more once this many seconds have gone; two at least.
_PRODUCTS, _TIMED_SECONDS = 15, 0.2
# Rows of the batch, and of a small one that is timed first: without such arithmetic the other takes a second.
_ROWS, _FIRST_ROWS = 1024, 64


def half_twin(model: Model) -> Model | None:
    """The same classifier in bfloat16, where that makes it faster on this device; None where it does not.

    It shares the lock of its model, so that both never compete for one device, and has a scheduler of its own. None too
    where the model computes in half precision already, or the copy does not fit into memory.

    Returns:
        A Model of the same digest whose precision is "bfloat16"; of what it says alone nothing is shown but where
        random orders lie that are far from every measure.
    """
    return None if model.precision != "float32" or half_speed(model.device) < WORTH else half_copy(model)


def half_copy(model: Model) -> Model | None:
    """The same, however fast it is; None where the model is in half precision already, or no copy fits."""
    if model.precision != "float32":
        return None
    import torch

    try:
        with model.lock:
            module = copy.deepcopy(model.module)
            round_parameters(module, torch.bfloat16)
    except (RuntimeError, MemoryError):
        return None
    return replace(model, module=module, precision=HALF)


def round_parameters(module: Module, dtype: Any) -> None:
    """Convert a module's parameters; buffers (rotary frequencies) keep their precision, as transformers keeps them."""
    for parameter in module.parameters():
        parameter.data = parameter.data.to(dtype)


@functools.cache
def half_speed(device: str) -> float:
    """How many times faster a device multiplies matrices in bfloat16 than in float32, measured once; 0 where it cannot.

    The shapes are those of a small encoder's feed-forward layer on a batch of short texts.
    """
    try:
        first = _speed(device, _FIRST_ROWS)
        return first if first < 0.5 else _speed(device, _ROWS)
    except (RuntimeError, TypeError):
        return 0.0


def _speed(device: str, rows: int) -> float:
    """The same for a batch of so many rows."""
    import torch

    times = {}
    for dtype in (torch.float32, torch.bfloat16):
        left = torch.ones(rows, 384, dtype=dtype, device=device)
        right = torch.ones(384, 1536, dtype=dtype, device=device)
        # The fastest of several: others may be at work on the same cores, and the first product prepares what the rest
        # use.
        taken = [_product(left, right), _product(left, right)]
        while len(taken) < _PRODUCTS and sum(taken) < _TIMED_SECONDS:
            taken.append(_product(left, right))
        times[dtype] = min(taken)
    return times[torch.float32] / times[torch.bfloat16]


def _product(left, right) -> float:
    import torch

    started = time.perf_counter()
    product = left @ right
    if left.device.type == "cuda":
        torch.cuda.synchronize()
    elif left.device.type == "mps":
        # Reading a value waits for the device.
        product[0, 0].item()
    return time.perf_counter() - started
