"""Interrupts wait for imports, and for nothing else."""

import importlib
import signal
import sys
import threading

import pytest

from core.front.interrupting import whole_imports

RAISED = "import signal\nsignal.raise_signal(signal.SIGINT)\nfor _ in range(50):\n    pass\nWHOLE = True\n"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """A folder of modules; SIGINT is an exception, as in a cell."""
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield tmp_path
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_a_module_is_imported_whole_and_then_the_interrupt_comes(modules):
    (modules / "half_imported.py").write_text(RAISED)
    reached = []

    @whole_imports
    def call():
        reached.append(importlib.import_module("half_imported").WHOLE)

    with pytest.raises(KeyboardInterrupt):
        call()
    assert reached == [True] and sys.modules.pop("half_imported").WHOLE
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("half_imported")
    assert "half_imported" not in sys.modules


def test_what_runs_between_imports_is_interrupted_at_once(modules):
    reached = []

    @whole_imports
    def outer():
        inner()

    @whole_imports
    def inner():
        signal.raise_signal(signal.SIGINT)
        reached.append("after")

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert reached == []


def test_a_module_that_calls_when_it_is_imported_is_interrupted(modules):
    (modules / "calls.py").write_text(
        "import signal\nfrom core.front.interrupting import whole_imports\n"
        "whole_imports(lambda: signal.raise_signal(signal.SIGINT))()\n"
    )
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("calls")


def test_other_threads_and_ignored_interrupts_are_left_alone(modules):
    kept = whole_imports(lambda: signal.getsignal(signal.SIGINT))
    found = []
    thread = threading.Thread(target=lambda: found.append(kept()))
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler] and kept() is not signal.default_int_handler
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert kept() is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)
