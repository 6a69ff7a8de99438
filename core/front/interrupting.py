"""Interrupts that wait for imports: a module that is half imported stays broken for as long as its process runs."""

import _thread
import functools
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
# Seconds until an interrupt that came during an import is tried again.
_AGAIN = 0.05
_IMPORT = "<frozen importlib._bootstrap>"


def whole_imports(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let an interrupt of a call wait while it imports a module; from other threads, and where nobody asked for
    interrupts, as it is.
    """

    @functools.wraps(call)
    def shielded(*given: _P.args, **choices: _P.kwargs) -> _R:
        held = signal.getsignal(signal.SIGINT)
        if not callable(held) or threading.current_thread() is not threading.main_thread():
            return call(*given, **choices)
        waiting, outside = _Waiting(held), sys._getframe()
        signal.signal(signal.SIGINT, functools.partial(waiting.take, outside))
        try:
            return call(*given, **choices)
        finally:
            signal.signal(signal.SIGINT, held)
            waiting.end()

    return shielded


class _Waiting:
    """An interrupt that came during an import; held: what takes it afterwards."""

    def __init__(self, held: Callable[[int, FrameType | None], Any]):
        self._held = held
        self._timer: threading.Timer | None = None

    def take(self, outside: FrameType, number: int, frame: FrameType | None) -> None:
        """An interrupt at a frame within another one."""
        self._timer = None
        if _imports(frame, outside):
            self._timer = threading.Timer(_AGAIN, _thread.interrupt_main)
            self._timer.daemon = True
            self._timer.start()
        else:
            self._held(number, frame)

    def end(self) -> None:
        """Take now what still waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._held(signal.SIGINT, None)


def _imports(frame: FrameType | None, outside: FrameType) -> bool:
    """Whether a module is being imported at a frame; what imported the caller does not count."""
    while frame is not None and frame is not outside:
        if frame.f_code.co_filename == _IMPORT:
            return True
        frame = frame.f_back
    return False
