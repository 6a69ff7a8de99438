"""One training in several processes, one a GPU, as `torchrun` starts them; and the precision that is trusted in it."""

import contextlib
import os
from collections.abc import Generator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist

from core.network.architectures import Module, Tensor

# Others wait while the first validates, saves and fits the reference.
_PATIENCE = timedelta(days=1)


@dataclass(frozen=True)
class Processes:
    """This process among those that share a training; rank: 0 for the one that validates and writes."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether it is the one that validates and writes."""
        return self.rank == 0

    def parts(self, rows: int, most: int) -> list[np.ndarray]:
        """The places of a mini-batch that fall to this process, int64 each, so many at once at most."""
        own = np.array_split(np.arange(rows), self.count)[self.rank]
        return [own[start : start + most] for start in range(0, len(own), most)]

    def add(self, module: Module, loss: Tensor) -> float:
        """Add up gradients and loss of all; a parameter that no gradient reached in any has none."""
        if self.count == 1:
            return float(loss)
        parameters = [one for one in module.parameters() if one.requires_grad]
        reached = torch.tensor([float(one.grad is not None) for one in parameters], device=loss.device)
        dist.all_reduce(reached)
        reached = [one for one, count in zip(parameters, reached.tolist()) if count]
        grads = [torch.zeros_like(one) if one.grad is None else one.grad for one in reached]
        flat = torch.cat([loss.reshape(1), *(one.reshape(-1) for one in grads)])
        dist.all_reduce(flat)
        for one, part in zip(reached, flat[1:].split([one.numel() for one in reached])):
            one.grad = part.view_as(one)
        return float(flat[0])

    def share(self, module: Module, optimiser: torch.optim.Optimizer, epoch: int) -> int:
        """Take over what the first has: trained weights, the optimiser's state and the epoch, which is returned."""
        if self.count == 1:
            return epoch
        parameters = [one for one in module.parameters() if one.requires_grad]
        # Tensors alone: an object would travel as a pickle.
        known = [float(epoch), *(float(bool(optimiser.state.get(one))) for one in parameters)]
        shared = torch.tensor(known, device=parameters[0].device)
        for one in (shared, *(one.data for one in module.parameters())):
            dist.broadcast(one, 0)
        fused = optimiser.param_groups[0].get("fused")
        for one, begun in zip(parameters, shared[1:].tolist()):
            if not begun:
                optimiser.state.pop(one, None)
                continue
            step = torch.zeros((), device=one.device if fused else "cpu")
            blank = {"exp_avg": torch.zeros_like(one), "exp_avg_sq": torch.zeros_like(one), "step": step}
            optimiser.state[one] = blank | optimiser.state[one]
            for part in blank:
                dist.broadcast(optimiser.state[one][part], 0)
        return int(shared[0])

    def wait(self) -> None:
        """Until all have come this far."""
        if self.count > 1:
            dist.barrier()


ALONE = Processes()


@contextlib.contextmanager
def joined_processes() -> Generator[Processes]:
    """The processes that `torchrun` started, joined until the end; one alone without it."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield ALONE
        return
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", timeout=_PATIENCE)
    try:
        yield Processes(dist.get_rank(), count)
    finally:
        dist.destroy_process_group()


def own_device(device: str, processes: Processes) -> str:
    """The device of a process: of several GPUs its own."""
    if processes.count == 1 or device != "cuda":
        return device
    own = f"cuda:{os.environ['LOCAL_RANK']}"
    torch.cuda.set_device(own)
    return own


@contextlib.contextmanager
def fast_products(device: str, alone: bool) -> Generator[None]:
    """TF32 in the products of a GPU, where nothing but a training runs in this process: it is a matter of them all."""
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    if alone and device.startswith("cuda"):
        products.fp32_precision = "tf32"
    try:
        yield
    finally:
        products.fp32_precision = before
