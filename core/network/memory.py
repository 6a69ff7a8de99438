"""Memory habits that cost time: collecting while importing, handing freed memory back between passes."""

import contextlib
import ctypes
import gc
import sys
from collections.abc import Generator

_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1


def keep_freed_memory() -> bool:
    """Let glibc reuse freed blocks of up to 64 MB, holding at most 256 MB; True where that took effect.

    By default every large intermediate result is mapped anew and its pages are zeroed by the kernel,
    which takes about a twentieth of a forward pass on a CPU. Other C libraries are left as they are.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, 64 * 2**20) and mallopt(_TRIM_THRESHOLD, 256 * 2**20))


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
