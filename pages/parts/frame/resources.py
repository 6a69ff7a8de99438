"""What the server holds once for all sessions: the store, models, examples and jobs."""

import os
import threading
import time
from typing import TYPE_CHECKING

import streamlit as st

from core import settings
from core.loading.locating import bundled_models, titles
from core.measures.catalogue import import_captum
from core.network.memory import import_network
from core.storage.library import Library
from pages.parts.frame.server import connected

if TYPE_CHECKING:
    # Imported when they are asked for: the first page does not wait for them.
    from core.explanation.explainer import Explainer
    from core.jobs import Jobs
    from core.network.model import Model
    from core.storage.store import Store


@st.cache_resource(show_spinner=False)
def chosen_settings() -> settings.Settings:
    """The settings of this server; SettingError names what to change."""
    return settings.read()


@st.cache_resource(show_spinner=False)
def store() -> "Store":
    """The store under `cache/`, on what ships computed, shared by every session."""
    from core.storage.store import open_store

    return open_store(chosen_settings())


def ships_results() -> bool:
    """Whether results that ship are shown; not while a setting cannot be used."""
    try:
        return chosen_settings().shipped
    except settings.SettingError:
        return False


@st.cache_resource(show_spinner=False, max_entries=3)
def _model(name: str, written: str) -> "Model":
    # Begun as the server started: two threads must not meet half-way through these libraries.
    import_network()
    from core.network.memory import without_collecting

    with without_collecting():
        # What the first view needs besides is imported here too, where nothing is collected meanwhile.
        import core.explanation.explainer  # noqa: F401
        from core.loading.loading import load

        chosen = chosen_settings()
        loaded = load(name, chosen.device, chosen.precision)
    if loaded.name == name:
        loaded.name = model_title(name)
    _loaded().add(name)
    # Captum takes over a second to import; by the time someone asks for it, it is there.
    threading.Thread(target=_import_captum, daemon=True).start()
    return loaded


@st.cache_resource(show_spinner=False, max_entries=3)
def _explainer(name: str, written: str, fitted: int) -> "Explainer":
    from core.explanation.explainer import with_reference

    return with_reference(_model(name, written), store(), library().references)


def explainer(name: str) -> "Explainer":
    """A loaded model with its memo; a folder or a reference that was written anew is read anew."""
    from core.validity.references import fitted_at

    written = _written(name)
    return _explainer(name, written, fitted_at(library().references, _model(name, written)))


def is_loaded(name: str) -> bool:
    """Whether the model was loaded before on this server (it may have left memory since)."""
    return name in _loaded()


# Whoever clears the caches of the server means its work too; a thread left waiting would keep models and results in
# memory.
@st.cache_resource(show_spinner=False, on_release=lambda jobs: jobs.close())
def jobs() -> "Jobs":
    """Long work: what somebody looks at goes first."""
    from core.jobs import Jobs

    return Jobs(there=connected)


@st.cache_resource(show_spinner=False, on_release=lambda jobs: jobs.close())
def fetches() -> "Jobs":
    """What is fetched from the hub, beside the work of the device; results are large, so few are remembered."""
    from core.jobs import Jobs

    return Jobs(remembered=4)


@st.cache_resource(show_spinner=False)
def drawing_seconds() -> dict[tuple[str, str], float]:
    """Seconds of work that drawing a part of a page took last, by the page's path and the part's name."""
    return {}


@st.cache_resource(show_spinner=False)
def library() -> Library:
    """What people added on this machine, remembered between starts."""
    return Library(chosen_settings().cache)


def added_models() -> list[str]:
    """Models that people added here; none while a setting cannot be used."""
    try:
        return library().models()
    except settings.SettingError:
        return []


def models() -> list[str]:
    """Every model that is offered: the bundled ones, then those of the setting, then those added."""
    return list(dict.fromkeys([*bundled_models(), *chosen_settings().models, *library().models()]))


def model_title(name: str) -> str:
    """What pages call a model that is offered: without the path of its folder."""
    try:
        offered = models()
    except settings.SettingError:
        offered = []
    family, _, member = name.rpartition("/")
    if family in offered:
        return f"{titles(offered)[family]}/{member}"
    return titles(list(dict.fromkeys([*offered, name])))[name]


@st.cache_resource(show_spinner=False)
def _loaded() -> set[str]:
    return set()


def _written(name: str) -> str:
    """When a folder's files were written and how large they are; "" for what is no folder."""
    try:
        return str(sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in os.scandir(name)))
    except (OSError, ValueError):
        return ""


def _import_captum() -> None:
    # Let the first view finish before competing for the processor.
    time.sleep(5)
    import_captum()
