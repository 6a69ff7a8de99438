"""Faster products of frozen weights: oneDNN's, which lays a matrix out once as it reads it."""

import contextlib
import functools
import platform
from collections.abc import Generator
from pathlib import Path
from typing import Any

import torch

from core.network.architectures import Module

# Narrower layers lose by it; of a larger model the second and third copy of each matrix would be missed elsewhere.
_WIDTH, _BYTES = 256, 512 * 2**20
# Rows of the batch that a layout is made for; others are as right, and nearly as fast.
_ROWS = 768
_TYPES = (torch.float32, torch.bfloat16)


class PackedLinear(torch.nn.Linear):
    """A linear layer that multiplies by oneDNN's layout of its weights while these are frozen.

    What it gives agrees with `torch.nn.Linear` up to rounding, gradients for what it is given included. A
    layout is made when it is first asked for and again where the weights have changed.
    """

    on = True

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        weight = self.weight
        differentiated = torch.is_grad_enabled()
        alike = weight.dtype == input.dtype and input.dtype in _TYPES and input.numel() and not weight.is_inference()
        if not (alike and PackedLinear.on) or (differentiated and weight.requires_grad):
            return super().forward(input)
        return _Product.apply(input, self) if differentiated and input.requires_grad else self.product(input)

    def product(self, rows: torch.Tensor, backwards: bool = False) -> torch.Tensor:
        """Multiply float[..., in] by the weights, and add the bias; backwards a gradient [..., out] → [..., in]."""
        weight, made = self.weight, self.__dict__.setdefault("_layouts", {})
        now = weight.data_ptr(), weight._version
        if made.get(backwards, (None,))[0] != now:
            # Held, so that no other weights are ever laid out from where they lie.
            held = weight.detach()
            matrix = held.t().contiguous() if backwards else held
            made[backwards] = now, torch.ops.mkldnn._reorder_linear_weight(matrix, _ROWS), held
        bias = None if backwards else self.bias
        with torch.no_grad():
            return torch.ops.mkldnn._linear_pointwise(rows, made[backwards][1], bias, "none", [], "")

    def __getstate__(self) -> dict[str, Any]:
        # A copy makes its own: oneDNN's layouts cannot be copied.
        return {name: value for name, value in self.__dict__.items() if name != "_layouts"}


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, layer: PackedLinear) -> torch.Tensor:
        ctx.layer = layer
        return layer.product(input)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.layer.product(gradient, backwards=True), None


def pack_layers(module: Module) -> None:
    """Have the linear layers of a module on the processor multiply by oneDNN's layouts, where that is faster."""
    layers = [one for one in module.modules() if type(one) is torch.nn.Linear and min(one.weight.shape) >= _WIDTH]
    layers = [one for one in layers if _is_faster(one.weight.dtype)]
    if sum(one.weight.nbytes for one in layers) <= _BYTES:
        for one in layers:
            one.__class__ = PackedLinear


@contextlib.contextmanager
def plain_products() -> Generator[None]:
    """Multiply as PyTorch does meanwhile, in all threads: to count operations, and to compare."""
    before, PackedLinear.on = PackedLinear.on, False
    try:
        yield
    finally:
        PackedLinear.on = before


@functools.cache
def _is_faster(dtype: torch.dtype) -> bool:
    """Whether oneDNN's own products are faster here than those that PyTorch chooses.

    Known beforehand instead of timed, so that every process rounds alike: in float32 PyTorch asks MKL, which is
    slower than oneDNN on AMD's processors alone.
    """
    if not torch.backends.mkldnn.is_available() or platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    if dtype == torch.bfloat16:
        return torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return dtype == torch.float32 and "AuthenticAMD" in _processor()


def _processor() -> str:
    """What the system says of its processor, the maker's name included."""
    listed = Path("/proc/cpuinfo")
    return listed.read_text() if listed.exists() else platform.processor()
