"""A device that is pretended: its tensors compute on the CPU, and everything that another device refuses is an error.

A tensor of it is no NumPy array until it is copied, meets none of the CPU but numbers, and has no double precision, as
on Apple's GPU.
"""

import contextlib
import copy
from dataclasses import replace
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("apart")
DEVICE = torch.device("apart:0")
_COPIES = ("_to_copy", "copy_", "to")


class Forgotten(RuntimeError):
    """A tensor is where it should not be."""


class Apart(torch.Tensor):
    """A tensor of the pretended device."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            inner.size(),
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=DEVICE,
            requires_grad=inner.requires_grad,
        )

    def __init__(self, inner):
        if inner.dtype == torch.float64:
            raise Forgotten("the device has no double precision")
        self.inner = inner.detach()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})

    def __repr__(self):
        return f"Apart({self.inner!r})"


class Pretended(TorchDispatchMode):
    """While it is on, what asks for the device gets it."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _run(func, args, kwargs):
    name = func._schema.name.partition("::")[2]
    leaves = tree_leaves((args, kwargs))
    tensors = [one for one in leaves if isinstance(one, torch.Tensor)]
    apart = [one for one in tensors if isinstance(one, Apart)]
    asked = next((one for one in leaves if isinstance(one, torch.device)), None)
    if name == "_fused_sdp_choice":
        return 0
    if apart and name not in _COPIES:
        here = [one for one in tensors if not isinstance(one, Apart) and one.dim()]
        if here:
            raise Forgotten(f"{name} meets tensors of two devices: {[tuple(one.shape) for one in tensors]}")
    lies = bool(apart) if asked is None else asked.type == DEVICE.type
    if name == "copy_":
        lies = isinstance(args[0], Apart)
    plain = {id(one.inner): one for one in apart}

    def inside(one):
        if isinstance(one, Apart):
            return one.inner
        return torch.device("cpu") if isinstance(one, torch.device) else one

    found = func(*tree_map(inside, args), **tree_map(inside, kwargs))

    def outside(one):
        if not isinstance(one, torch.Tensor) or isinstance(one, Apart):
            return one
        if id(one) in plain and lies:
            return plain[id(one)]
        return Apart(one) if lies else one.clone() if id(one) in plain else one

    return tree_map(outside, found)


def moved(model):
    """A model as it would be on that device."""
    module = copy.deepcopy(model.module)
    for part in module.modules():
        for name, one in list(part._parameters.items()):
            if one is not None:
                part._parameters[name] = torch.nn.Parameter(Apart(one.data), requires_grad=one.requires_grad)
        for name, one in list(part._buffers.items()):
            if one is not None:
                part._buffers[name] = Apart(one)
    return replace(model, module=module, device=str(DEVICE), _gram=None, _spread=None)


@contextlib.contextmanager
def pretended():
    """The device is there."""
    # A tensor that wraps another cannot be one of inference.
    with Pretended(), mock.patch.object(torch, "inference_mode", torch.no_grad):
        yield
