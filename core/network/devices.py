"""What a device other than the processor is given: as many tokens as it has room for, and copies that keep it busy."""

from collections.abc import Callable, Sequence

import numpy as np

from core.network.architectures import Config, Module, Tensor, UnsupportedModel
from core.wording import bytes_text

# Tokens of a batch than which a larger one is no faster, and what a small card is given at least.
_MOST_TOKENS, _FEWEST_TOKENS = 65_536, 1_024
# Numbers of a token that are in memory at once, in widths of a layer and of what lies between two of its own.
_WIDTHS, _BETWEEN = 8, 2
# Weights that are loaded meanwhile, gradients and other programs find room beside a batch.
_SHARE = 0.5
# A trained weight, its gradient and the two moments that AdamW keeps of it.
_TRAINED = 4


def token_budget(free: int | None, config: Config, item_bytes: int) -> int:
    """Tokens of one batch: what half of the free memory holds, each with its hidden states; the most where unknown."""
    if free is None:
        return _MOST_TOKENS
    width, layers = config.hidden_size, config.num_hidden_layers
    between = getattr(config, "intermediate_size", None) or 4 * width
    numbers = (_WIDTHS + layers + 1) * width + _BETWEEN * between
    return int(np.clip(_SHARE * free / (numbers * item_bytes), _FEWEST_TOKENS, _MOST_TOKENS))


def free_bytes(device: str) -> int | None:
    """Bytes of a device's memory that nobody uses; None where it does not say."""
    import torch

    if device.startswith("cuda"):
        return torch.cuda.mem_get_info(device)[0]
    if device == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return None


def check_room(module: Module, device: str, name: str) -> None:
    """UnsupportedModel, with both numbers, where a module does not fit into the memory that others leave on a device.

    Of what is to be trained, gradients and the optimiser's moments count too.
    """
    there = free_bytes(device)
    parts = [(one, _TRAINED if one.requires_grad else 1) for one in (*module.parameters(), *module.buffers())]
    needed = sum(one.numel() * one.element_size() * copies for one, copies in parts)
    if there is not None and needed > there:
        raise UnsupportedModel(
            f"{name!r} needs {bytes_text(needed)}; {device} has {bytes_text(there)} free. Use FAITHSCOPE_DEVICE=cpu."
        )


def put(array: np.ndarray, device: str) -> Tensor:
    """Copy an array to a device; a card copies it while the processor goes on."""
    import torch

    made = torch.from_numpy(np.ascontiguousarray(array))
    return made.pin_memory().to(device, non_blocking=True) if device.startswith("cuda") else made.to(device)


def fetch_later(tensors: "Sequence[Tensor | None]") -> Callable[[], list[np.ndarray | None]]:
    """Begin to copy tensors to the processor; what is returned waits for them, and for nothing that is asked later."""
    import torch

    if not any(one is not None and one.is_cuda for one in tensors):
        return lambda: [None if one is None else one.cpu().numpy() for one in tensors]
    copies = [None if one is None else one.to("cpu", non_blocking=True) for one in tensors]
    copied = torch.cuda.Event()
    copied.record()

    def fetched() -> list[np.ndarray | None]:
        copied.synchronize()
        return [None if one is None else one.numpy() for one in copies]

    return fetched
