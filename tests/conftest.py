"""Fixtures shared by the tests: tiny models, written and loaded once a session."""

import contextlib
import gc
import os
import shutil
import sys
import threading

import hypothesis
import pytest

from tests import tiny

# A test says what holds, not how long it takes: on a machine that is busy the same case takes a hundred times as long.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")
# Tiny matrices are multiplied fastest by one thread, and always in the same order; on cores that other tests have taken,
# threads that share a matrix spin until the last of them is done. Read when torch is imported, and by every process that
# a test starts.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
# What torch and its like are made of is looked through at every full collection, a quarter of a second each.
gc.set_threshold(10_000, 20, 10)
# To draw maps of some points, UMAP's functions run in less time than they take to compile; it is read at the import.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# What ships computed would be found where a test means to see it computed; its own tests turn it on.
os.environ["FAITHSCOPE_SHIPPED"] = "no"


def pytest_collection_modifyitems(items):
    """Files whose tests are few and long come first, one of a browser beside one of pages, so that no process waits
    at the end for the other's longest file.
    """
    rooms = {"browser": [], "pages": []}
    for item in items:
        files = rooms.get(item.path.parent.name, [])
        if item.path not in files:
            files.append(item.path)
    turns = {path: (turn, room) for room, files in rooms.items() for turn, path in enumerate(files)}
    last = len(turns), ""
    items.sort(key=lambda item: turns.get(item.path, last))


MAIN = sys.modules["__main__"]


@pytest.fixture(autouse=True)
def process_as_it_began():
    """Each test begins with torch on one thread, which drawing a map changes and all that follows takes several times
    as long; and with the main module of pytest, in whose place Streamlit leaves the page that ran last, for every
    process that a test spawns to run.
    """
    sys.modules["__main__"] = MAIN
    if "torch" in sys.modules and sys.modules["torch"].get_num_threads() != 1:
        sys.modules["torch"].set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_root(tmp_path_factory):
    """The session's folder of tiny models; tests read from it and copy before they change."""
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="session")
def tiny_model(tiny_root):
    """`tiny_model(kind)`: the loaded classifier of a kind, the same object throughout the session."""
    from core.loading.loading import load

    loaded = {}

    def model(kind: str):
        if kind not in loaded:
            loaded[kind] = load(str(tiny.folder(kind, tiny_root)), "cpu")
        return loaded[kind]

    return model


@pytest.fixture(scope="session")
def shipped():
    """`shipped(name)`: a model that ships, loaded once, whoever asks first and from whatever thread."""
    from core.loading.loading import load
    from tests.remembering import Remembering

    loaded, lock = {}, threading.Lock()

    def model(name: str):
        with lock:
            if name not in loaded:
                loaded[name] = load(name, "cpu")
                loaded[name].scheduler.network = Remembering(loaded[name].scheduler.network)
                # Neither it nor what was imported for it leaves before the end.
                gc.freeze()
            return loaded[name]

    return model


@pytest.fixture(scope="session")
def bundled(shipped):
    """The bundled model, loaded once."""
    return shipped("sst2-fmm")


@pytest.fixture(scope="session")
def twin(shipped):
    """The bundled model that was fine-tuned without masking, loaded once."""
    return shipped("sst2-plain")


@pytest.fixture
def passes(model):
    """`passes(work)`: what work costs in forward passes of the file's `model`."""

    def count(work):
        before = model.scheduler.counters.passes
        work()
        return model.scheduler.counters.passes - before

    return count


@pytest.fixture(scope="session")
def shared_store(tmp_path_factory):
    """A store that most tests here share, so that they spend their time on pages."""
    return tmp_path_factory.mktemp("shared") / "cache"


@pytest.fixture(scope="session")
def browser():
    """An installed browser, one for the session."""
    from tests.browsing import installed_browser

    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(installed_browser())
        except LookupError as error:
            missing = pytest.fail if os.environ.get("FAITHSCOPE_REQUIRE_BROWSER") == "1" else pytest.skip
            missing(str(error))
        yield opened


@pytest.fixture(scope="session")
def component_manifests():
    """What installed packages say of components that they bring; reading all of them costs more than a page."""
    from streamlit.components.v2.manifest_scanner import scan_component_manifests

    return scan_component_manifests()


@pytest.fixture(scope="session")
def compiled_scripts():
    """Compiled pages, which a server keeps and a session without a browser would compile anew at every run."""
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache

    return ScriptCache()


@pytest.fixture
def plain_server(monkeypatch, shared_store, shipped, component_manifests, compiled_scripts):
    """A server that has just started, as sessions without a browser see it; what it starts unasked is as in the app."""
    import streamlit as st
    from streamlit.components.v2 import manifest_scanner
    from streamlit.runtime.media_file_manager import MediaFileManager

    import core.loading.loading as loading
    from core.loading.locating import bundled_models
    from tests.app_session import NAMES, WAITING, ended
    from tests.remembering import Remembering

    for name in ("DEVICE", "PRECISION", "MODEL", "DATA", "CACHE_MB", "EXACT", "HOSTS"):
        monkeypatch.delenv(f"FAITHSCOPE_{name}", raising=False)
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(shared_store))
    really = loading.load
    # Loading is the slow part of a start; whatever is not a model that ships as it comes is really loaded.
    monkeypatch.setattr(
        loading,
        "load",
        lambda name, *more: (
            shipped(name) if name in bundled_models() and more == ("auto", "float32") else really(name, *more)
        ),
    )
    deferred = MediaFileManager.add_deferred

    def keep(manager, content, *more, **others):
        identifier = deferred(manager, content, *more, **others)
        WAITING[identifier], NAMES[identifier] = content, others.get("file_name", "")
        return identifier

    monkeypatch.setattr(MediaFileManager, "add_deferred", keep)
    monkeypatch.setattr("streamlit.testing.v1.local_script_runner.ScriptCache", lambda: compiled_scripts)
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", lambda: component_manifests)
    # Nothing is loaded here that the collector should pass over, and asking it how much it passes over takes time.
    monkeypatch.setattr("core.network.memory.without_collecting", contextlib.nullcontext)
    # A thousand looks a second at a script that runs take time from it.
    monkeypatch.setattr("streamlit.testing.v1.local_script_runner.require_widgets_deltas", ended)
    monkeypatch.setattr(Remembering, "on", True)
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    # What a test left behind (its jobs, what its buttons would save) holds models and results.
    st.cache_resource.clear()
    st.cache_data.clear()
    WAITING.clear()
    NAMES.clear()


@pytest.fixture
def server(monkeypatch, plain_server):
    """The same, which starts what is cheap in passes and no study."""
    from core.explanation.explainer import Cost

    # Whatever this machine's speed: beam search waits to be asked, the rest is computed at once.
    monkeypatch.setattr(Cost, "cheap", property(lambda cost: cost.passes < 300))
    # Nor do they wait for what stands aside; `stands_aside` is for those that do.
    monkeypatch.setattr("core.viewers._STAYS_SECONDS", 600.0)
    # A whole sample takes a minute, which most tests of pages only pass by.
    monkeypatch.setattr("pages.parts.sections.studying.StudyWork.at_once", property(lambda work: False))


@pytest.fixture
def fresh(monkeypatch, tmp_path, server):
    """An empty store: nothing was ever computed."""
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def predicted_reviews(bundled, tmp_path_factory):
    """A store that holds what the bundled model predicts for its reviews, and nothing else."""
    from core.data.examples import read_bundled
    from core.evaluation.predicting import predict_all
    from core.mathematics.stepwise import finish
    from core.storage.store import Store

    folder = tmp_path_factory.mktemp("predicted") / "cache"
    finish(predict_all(bundled, [(one.text, one.second) for one in read_bundled("reviews")], store=Store(folder)))
    return folder


@pytest.fixture
def nothing_added(monkeypatch, tmp_path, server, predicted_reviews):
    """A store of the test's own: nobody added anything, and nothing is known but what every visit to Examples predicts
    first.
    """
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(shutil.copytree(predicted_reviews, tmp_path / "cache")))


@pytest.fixture
def orders_wait(monkeypatch, server):
    """Random orders wait to be asked: of all that these pages do they are the dearest, and the test is not about
    them.
    """
    monkeypatch.setattr("pages.parts.sections.sides.Orders.at_once", property(lambda work: False))


@pytest.fixture
def stands_aside(server, monkeypatch):
    """What stands aside on a page starts as soon as nothing else is to do."""
    monkeypatch.setattr("core.viewers._STAYS_SECONDS", 0.0)
