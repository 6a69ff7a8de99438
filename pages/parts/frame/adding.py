"""Adding one's own model or data: checked before anything is computed, and kept for the next start."""

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from core.data.browsing import match_labels
from core.data.examples import DataSet
from core.data.mapping import Mapping, build
from core.data.parsed import BadData
from core.data.sources import DataSource, forget_data, hub_origin, keep, understand
from core.data.tables import UPLOAD_BYTES, RawTable, read_file, read_table
from core.data.tasks import match_task, tasks
from core.job import Job
from core.loading.inspection import NO, PARTLY, YES, ModelCheck, check_model
from core.network.architectures import UnsupportedModel
from core.settings import SettingError
from core.wording import amount, joined, listed, plain, share_text, shortened
from pages.parts.components.presses import pressed
from pages.parts.components.tables import table
from pages.parts.frame import data, resources
from pages.parts.frame.links import choose, current, held, held_of_all, shown_page, visit
from pages.parts.frame.pages import CHECK_TABS, MAKING, MEASURABLE

UPLOAD, PATH, TASK, HUB = "Upload a file", "A file on this machine", "A data set of the papers", "A data set of the hub"
_NONE = "—"
_CHECKED, _KEPT = "checked model", "kept models"
# Whether data is about to be added.
ADDING = "adding data"
# How many data sets a session added.
TURN = "data added"
# What a path may name; what is uploaded is limited by the server.
PATH_BYTES = 200_000_000
_SIGNS = {PARTLY: ":material/change_history:", NO: ":material/block:"}
_ROLES = {"text": "Text (its words are masked)", "second": "Second text (read, never masked)", "label": "Label"}
_MORE = {"id": "Id", "tags": "Tags", "note": "Note", "evidence": "Evidence (what the label rests on)"}


def ways_to_add() -> None:
    """Draw how a model and how data is added, side by side, so that the example stays in the first view."""
    with st.container(horizontal=True, gap="small"):
        _ask_for_model()
        _lead_to_data()


def _lead_to_data() -> None:
    """A way from every page to where data is added, which unfolds there until that page is left."""
    if shown_page() != "Examples":
        st.session_state.pop(ADDING, None)
    if pressed(st.button, "Add data", "add-data"):
        st.session_state[ADDING] = True
        st.switch_page("pages/examples.py")


def _ask_for_model() -> None:
    """A box in the sidebar: check a model, see what works with it, load and keep it."""
    # Another key is another popover, which is closed.
    with st.popover("Add a model", key=f"adding {st.session_state.get(_KEPT, 0)}"):
        with st.form("add-model", border=False):
            typed = st.text_input(
                "Folder, hub id or adapter", key="typed-model", placeholder="folder, or owner/name"
            ).strip()
            st.caption("Checking reads its configuration and tokenizer only; nothing is computed.")
            if pressed(st.form_submit_button, "Check", "checking") and typed:
                st.session_state[_CHECKED] = _check(typed)
        if _CHECKED in st.session_state:
            _show_check(st.session_state[_CHECKED])
        for name in resources.added_models():
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(plain(shortened(name, 50)), help="Removing takes it off the list; its files stay.")
                st.button("Remove", key=f"remove-model-{name}", on_click=_remove_model, args=(name,))


def _check(name: str) -> ModelCheck:
    with st.spinner("Reading its configuration and tokenizer …"):
        return check_model(name)


def _show_check(checked: ModelCheck) -> None:
    with st.container(horizontal=True):
        st.markdown(f"**{plain(shortened(checked.name, 60))}**")
        st.badge("usable" if checked.usable else "unusable", color="green" if checked.usable else "red")
    for finding in checked.findings:
        if finding.works != YES:
            show = st.error if finding.works == NO else st.info
            show(f"**{plain(finding.what)}**: {plain(finding.why)}", icon=_SIGNS[finding.works])
    if checked.usable:
        with st.container(horizontal=True):
            kept = pressed(st.button, "Load and keep", "keep-model", type="primary")
            making = not checked.masked and pressed(st.button, MAKING, "make-model")
        if kept or making:
            _keep_model(checked.name, making)
    fine = [[f"✓ {finding.what}", finding.why] for finding in checked.findings if finding.works == YES]
    if fine:
        table(["what", "why"], fine, 400)


def _keep_model(name: str, making: bool) -> None:
    """Load a model and put it on the list; making: go to where it is trained with masking."""
    try:
        with st.spinner("Loading the model …"):
            resources.explainer(name)
    except UnsupportedModel as error:
        st.error(plain(str(error)))
        return
    if name not in resources.models():
        resources.library().add_model(name)
    st.session_state.pop(_CHECKED, None)
    st.session_state[_KEPT] = st.session_state.get(_KEPT, 0) + 1
    if making:
        st.session_state.pop(CHECK_TABS, None)
        visit("Model check", **held_of_all("data", "unit"), model=name, part=MEASURABLE)
    choose("model", name)
    st.rerun()


def _remove_model(name: str) -> None:
    resources.library().remove_model(name)
    if held("model") == name:
        choose("model", resources.chosen_settings().model)


def add_data() -> None:
    """A part of a page: read a file or data set, say what its columns are, keep it."""
    way = st.segmented_control(
        "From",
        [UPLOAD, PATH, TASK, HUB],
        default=UPLOAD,
        key="way-of-adding",
        required=True,
        label_visibility="collapsed",
    )
    try:
        found = {UPLOAD: _uploaded, PATH: _on_disk, TASK: _of_task, HUB: _of_hub}[way]()
        if found is not None:
            _mapped(*found)
        _added()
    except BadData as error:
        st.error(plain(str(error)), icon=":material/error:")
        _added()
    except SettingError:
        # Said at the top of the page.
        return


def _uploaded():
    file = st.file_uploader(
        "CSV, TSV, JSON Lines or Parquet, at most 10 MB",
        key=f"upload-{_turn()}",
        max_upload_size=10,
        help="Kept in the cache folder until you remove it.",
    )
    if file is None:
        return None
    content = file.getvalue()
    if len(content) > UPLOAD_BYTES:
        # Not read at all: the sentence is the same, without the work.
        read_table(content, file.name, UPLOAD_BYTES)
    return _table(hashlib.sha256(content).hexdigest(), file.name, content), None, f"uploaded file {file.name}", content


def _on_disk():
    typed = st.text_input("Path of the file", key=f"path-of-data-{_turn()}", placeholder="/home/me/reviews.csv").strip()
    if not typed:
        return None
    try:
        written = os.stat(os.path.expanduser(typed))
        state = f"{written.st_mtime_ns} {written.st_size}"
    except (OSError, ValueError):
        state = ""
    found, content = _file(typed, state)
    return found, None, f"file {typed}", content


@st.cache_resource(show_spinner="Reading the file …", max_entries=2)
def _file(path: str, state: str):
    content, name = read_file(Path(path), most_bytes=PATH_BYTES)
    return read_table(content, name), content


def _turn() -> int:
    """Counts what was added in this session: the boxes of what is done are drawn anew, empty."""
    return st.session_state.setdefault(TURN, 0)


def _of_task():
    name = st.selectbox(
        "Data set", list(tasks()), key="task-of-data", format_func=lambda n: f"{n} · {tasks()[n].citation}"
    )
    task = tasks()[name]
    majority = "" if task.class_majority is None else f"{share_text(task.class_majority)} ({task.majority_from})"
    about = {
        "masked": task.masked,
        "auxiliary": task.auxiliary,
        "metric": task.metric,
        "class majority": majority,
        "names checked": "yes" if task.checked else "no",
        "note": task.note,
    }
    table(["about", task.name], [[name, value] for name, value in about.items() if value], 400)
    if task.hub is None:
        st.info(plain(task.local))
        return None
    split = st.selectbox("Split", list(filter(task.splits.get, ("test", "validation", "train"))))
    return _fetched(task.hub, task.config, task.splits[split] or split, task)


def _of_hub():
    hub = st.text_input("Hub id", key="hub-id", placeholder="owner/name").strip()
    if not hub:
        return None

    def ask() -> dict[str, list[str]]:
        from core.data.hub_data import hub_choices

        return hub_choices(hub)

    there = _asked(f"choices of {hub}", hub, ask, "Ask again", unasked=True)
    if not there:
        return None
    left, right = st.columns(2)
    config = left.selectbox("Configuration", list(there), key=f"hub-config-{hub}")
    splits = there[config]
    start = splits.index("validation") if "validation" in splits else 0
    split = right.selectbox("Split", splits, start, key=f"hub-split-{hub}-{config}")
    # The only one needs no name.
    config = config if len(there) > 1 else None
    return _fetched(hub, config, split, match_task((), hub, config)) if split else None


def _fetched(hub: str, config: str | None, split: str, task):
    """The rows of a hub data set: fetched when asked, in the background."""

    def fetch() -> RawTable:
        from core.data.hub_data import read_hub

        return read_hub(hub, config, split)

    origin = hub_origin(hub, config, split, task)
    found = _asked(origin, hub, fetch, "Fetch", help="From the hub, once; it is kept on this machine.")
    return None if found is None else (found, task, origin, None)


def _asked(what: str, hub: str, ask: Callable, button: str, unasked: bool = False, help: str | None = None):
    """What the hub answers, in the background; None while it does not, or says no in a sentence, with a button to ask.

    unasked: the first time it is asked without the button.
    """
    # Every asking is work of its own: what failed for somebody else before may work now.
    held_key = f"fetch {_turn()} {what}"

    def answer(job: Job) -> Any:
        # A problem is a result: the job's own failures are for what nobody foresaw.
        try:
            return ask()
        except BadData as error:
            return error

    def start() -> None:
        st.session_state[held_key] = f"{what} {secrets.token_hex(4)}"
        resources.fetches().submit(st.session_state[held_key], hub, answer)

    if unasked and held_key not in st.session_state:
        start()
    job = resources.fetches().find(st.session_state.get(held_key, ""))
    if job is not None and job.state == "done":
        if not isinstance(job.result, BadData):
            return job.result
        st.error(plain(str(job.result)), icon=":material/error:")
    if job is not None and job.active and not job.cancelled():
        _fetching(job.key)
    else:
        st.button(button, key=f"ask {what}", on_click=start, help=help)
    return None


@st.fragment(run_every=0.5)
def _fetching(key: str) -> None:
    job = resources.fetches().find(key)
    if job is None or not job.active or job.cancelled():
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"Fetching {plain(job.label)} …")
        if ahead := resources.fetches().ahead(key):
            st.badge(f"{ahead} ahead", color="gray")
        st.button("Cancel", key="cancel-fetch", on_click=job.cancel)


@st.cache_resource(show_spinner="Reading the file …", max_entries=4)
def _table(digest: str, name: str, _content: bytes):
    return read_table(_content, name)


def _mapped(found, task, origin: str, content: bytes | None) -> None:
    """Show what each column is taken for, let it be corrected, and keep the data."""
    given = found
    found, guess, task = _understood(f"{found.digest} {found.name}", task and task.name, found, task)
    # What a task prepared is no longer the file's own bytes.
    content = content if found is given else None
    mapping = _choose_columns(found, guess)
    known = _built(found.digest, json.dumps([mapping.as_dict(), found.classes, found.name]), found, mapping)
    if task is not None:
        st.caption(f"Columns: {plain(task.name)}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        labels = plain(listed(known.classes, 12)) or "none"
        st.markdown(f"**{amount(len(known), 'example')}** of {amount(len(found), 'row')}. Labels: {labels}.")
        asked = pressed(st.button, "Add this data", "keep-data", type="primary")
    _preview(known, mapping.evidence is not None)
    if asked:
        source = keep(resources.library(), found, mapping, origin, content)
        st.session_state[TURN] = _turn() + 1
        choose("data", source.key)
        st.session_state.pop(ADDING, None)
        st.toast(f"Added: {plain(source.name)}")
        st.rerun()


def _preview(known: DataSet, marked: bool) -> None:
    """What was repaired, how labels meet the classes of the model, and the first examples."""
    model, notes = held("model") or resources.chosen_settings().model, [*known.notes]
    if known.classes and resources.is_loaded(model):
        notes.append(match_labels(known.classes, resources.explainer(model).model.labels, known.ordered).how)
    for note in filter(None, notes):
        st.caption(plain(note))
    columns = ["id", "text", "second text", "label", "evidence"]
    rows = [
        [e.id, shortened(e.text, 160), shortened(e.second or "", 80), e.label or _NONE, _quoted(e)]
        for e in known.examples[:3]
    ]
    shown = len(columns) if marked else len(columns) - 1
    table(columns[:shown], [row[:shown] for row in rows])


def _quoted(example) -> str:
    """The words of an example's evidence."""
    return " … ".join(shortened(example.text[start:end]) for start, end in example.evidence[:5]) or _NONE


def _choose_roles(found, guess: Mapping, roles: dict[str, str]) -> dict[str, str]:
    """Which column is which, {role: column}."""
    chosen, places = {}, st.columns(len(roles))
    for place, (role, label) in zip(places, roles.items()):
        options = list(found.columns) if role == "text" else [_NONE, *found.columns]
        start = getattr(guess, role)
        # The key holds the file, so that another file starts from its own guess.
        chosen[role] = place.selectbox(
            label, options, options.index(start) if start in options else 0, key=f"column-{role}-{found.digest[:12]}"
        )
    return chosen


def _choose_columns(found, guess: Mapping) -> Mapping:
    chosen = _choose_roles(found, guess, _ROLES)
    # What few files have does not stand between the file and the button that adds it.
    taken = any(getattr(guess, role) for role in _MORE) or bool(guess.label_names)
    more = joined([label.partition(" (")[0].lower() for label in _MORE.values()])
    with st.expander(f"More columns ({more}), and names of numbered labels", taken):
        chosen |= _choose_roles(found, guess, _MORE)
        mapping = replace(guess, **{role: None if value == _NONE else value for role, value in chosen.items()})
        return replace(mapping, label_names=() if mapping.label is None else _choose_names(found, guess, mapping.label))


def _choose_names(found, guess: Mapping, label: str) -> tuple[str, ...]:
    names = (guess.label_names if label == guess.label else ()) or found.classes.get(label, ())
    typed = st.text_area(
        "Names of numbered labels, in order, one a line",
        "\n".join(names),
        height=90,
        key=f"names-{label}-{found.digest[:12]}",
        help="Of labels 0, 1, …; or labels in the order of a model’s classes without names. Else leave empty.",
    )
    return tuple(filter(None, map(str.strip, typed.split("\n"))))


@st.cache_resource(show_spinner=False, max_entries=4)
def _understood(file: str, task: str | None, _found, _task):
    return understand(_found, _task)


@st.cache_resource(show_spinner=False, max_entries=4)
def _built(digest: str, mapping: str, _found, _mapping: Mapping):
    return build(_found, _mapping)


def _added() -> None:
    """What was added, with a way to take it off the list."""
    mine = resources.library().data()
    if not mine:
        return
    st.markdown("**Added on this machine**")
    for key, about in mine.items():
        try:
            source = DataSource.from_dict(about)
        except BadData:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{plain(key)} · {plain(source.origin)}")
            st.button("Remove", key=f"remove-data-{key}", on_click=_remove_data, args=(key,))


def _remove_data(key: str) -> None:
    forget_data(resources.library(), key)
    if held("data") == key:
        choose("data", data.first_data(current("model") or ""))
