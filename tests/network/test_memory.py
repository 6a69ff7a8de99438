"""What is let go of leaves the memory: models, and what existed while another model was loaded."""

import gc
import weakref

import pytest
import streamlit as st

from core.loading.loading import load
from core.network.memory import without_collecting
from pages.parts.frame import resources
from tests import tiny


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
    assert job.cancelled() and not jobs._thread.is_alive() and getattr(resources, place)() is not jobs
