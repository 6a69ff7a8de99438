"""Importing and memory habits: libraries one at a time, no collecting meanwhile, freed memory handed back."""

import contextlib
import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Generator

# One thread at a time, so that none sees half of a library: two that import parts of one from either end would, since
# Python lets one of them go on rather than have both wait for ever. Captum and shapiq share matplotlib.
IMPORTING = threading.RLock()
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1


def keep_freed_memory() -> bool:
    """Let glibc reuse freed blocks of up to 64 MB, holding at most 256 MB; True where that took effect.

    By default every large intermediate result is mapped anew and its pages are zeroed by the kernel,
    which takes about a twentieth of a forward pass on a CPU. Other C libraries are left as they are.
    """
    mallopt = _of_glibc("mallopt")
    return bool(mallopt and mallopt(_MMAP_THRESHOLD, 64 * 2**20) and mallopt(_TRIM_THRESHOLD, 256 * 2**20))


def hand_back_freed_memory() -> bool:
    """Hand what was freed back to the system, also what lies between blocks in use; True where there was any.

    After a load that changes the precision this is more than the model. Other C libraries are left as they are.
    """
    trim = _of_glibc("malloc_trim")
    return bool(trim and trim(0))


def _of_glibc(name: str) -> Callable[..., int] | None:
    try:
        return getattr(ctypes.CDLL(None), name) if sys.platform.startswith("linux") else None
    except (OSError, AttributeError):
        return None


def free_memory() -> int:
    """Bytes of main memory that a program can still take without others being pushed out."""
    import psutil

    return psutil.virtual_memory().available


@contextlib.contextmanager
def without_collecting() -> Generator[None]:
    """Pause the garbage collector; what exists after the first time is left out of later collections.

    Importing the network's libraries makes over half a million lasting objects, and going through
    them again and again takes a fifth of the time of loading a model. Later loads import little, and
    leaving out what then exists would keep closed sessions and their models in memory for good.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
        gc.enable()


def import_network() -> None:
    """Import what any model needs, ahead of the first one that is loaded."""
    with IMPORTING, without_collecting():
        import torch  # noqa: F401
        import transformers.modeling_layers  # noqa: F401
