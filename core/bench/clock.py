"""What work takes: seconds, and memory."""

import time
import tracemalloc
from collections.abc import Callable

import torch


def clocked(work: Callable[[], object], device: str = "cpu") -> tuple:
    """What work returns, and its seconds until the device has done it."""
    started = time.perf_counter()
    result = work()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return result, time.perf_counter() - started


def most_held(work: Callable[[], object]) -> float:
    """Most megabytes that work held beyond what was there before it."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6
