"""What is let go of leaves the memory: models, and what existed while another model was loaded."""

import ast
import gc
import platform
import weakref
from pathlib import Path

import psutil
import pytest
import streamlit as st
import torch

from core.loading.loading import load
from core.network.memory import hand_back_freed_memory, keep_freed_memory, without_collecting
from pages.parts.frame import resources
from tests import tiny


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries hand it back by rules of their own")
def test_what_was_freed_between_blocks_in_use_is_handed_back():
    assert keep_freed_memory()
    process, blocks = psutil.Process(), [torch.ones(250_000) for _ in range(100)]
    kept = blocks[::2]
    del blocks
    before = process.memory_info().rss
    assert hand_back_freed_memory() and process.memory_info().rss < before - 30_000_000 and len(kept) == 50


class Circle:
    """Something that only the collector can free."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def unfrozen():
    gc.unfreeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_model_that_is_let_go_of_is_freed_without_the_collector(tiny_root, kind):
    model = load(str(tiny.folder(kind, tiny_root)), "cpu")
    held = weakref.ref(model), weakref.ref(model.module), weakref.ref(model.scheduler)
    gc.disable()
    try:
        del model
        assert [one() for one in held] == [None, None, None]
    finally:
        gc.enable()


def test_only_the_first_load_keeps_what_exists_from_the_collector(unfrozen):
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count(), "the libraries are left out of later collections"
    closed = Circle()
    seen = weakref.ref(closed)
    with without_collecting():
        del closed
    assert gc.isenabled()
    gc.collect()
    assert seen() is None


def test_a_collector_that_was_off_stays_off(unfrozen):
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled() and not gc.get_freeze_count()
    finally:
        gc.enable()


@pytest.mark.parametrize("place", ["jobs", "fetches"])
def test_clearing_the_caches_stops_the_work_and_ends_its_thread(server, place):
    jobs = getattr(resources, place)()
    begun = []

    def work(job):
        begun.append(job)
        while not job.cancelled():
            yield len(begun)

    job = jobs.submit("key", "label", work)
    st.cache_resource.clear()
    late = jobs.submit("late", "label", work)
    assert not late.active and late.cancelled(), "nobody would ever take it up"
    assert job.cancelled() and not job.active and getattr(resources, place)() is not jobs
    assert not (job._thread and job._thread.is_alive())


# Libraries that share others, such as matplotlib and scikit-learn, and that pages import in several threads.
SHARING = {"captum", "shapiq", "umap"}


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """(library, whether the lock is held) of each import inside a function that is one of those."""
    found = []

    def walk(node: ast.AST, inside: bool, held: bool) -> None:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        found.extend((name, held) for name in names if inside and name.partition(".")[0] in SHARING)
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        held = held or (isinstance(node, ast.With) and any(ast.unparse(one) == "IMPORTING" for one in node.items))
        for child in ast.iter_child_nodes(node):
            walk(child, inside, held)

    walk(ast.parse(path.read_text(encoding="utf-8")), False, False)
    return found


def test_libraries_that_share_others_are_imported_one_at_a_time():
    """Two threads that import parts of one from either end would see half of it."""
    root = Path(__file__).resolve().parents[2]
    found = [
        (path.name, *one)
        for room in ("core", "pages")
        for path in (root / room).rglob("*.py")
        for one in imports_of(path)
    ]
    assert {name.partition(".")[0] for _, name, _ in found} == SHARING
    assert {name for name, _, held in found if not held} <= {"bench.py"}
