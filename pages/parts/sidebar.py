"""The one sidebar: model, data, example, explained class, unit; the same on every page."""

import contextlib
import json
from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.composition.rows import find_pieces
from core.network.architectures import UnsupportedModel
from core.network.examples import Example, bundled_data
from core.network.features import UNITS, NoFeatures
from core.network.loading import bundled_models
from core.network.scheduler import NonFinite, OutOfMemory
from core.settings import SettingError
from pages.parts import resources
from pages.parts.links import arrive, choose, held, hold, linked
from pages.parts.wording import plain, shortened
from pages.parts.words import words

OWN = "own text"
PREDICTED = "predicted"
PAGES = (("app.py", "Home", ":material/home:"), ("pages/attributions.py", "Attributions", ":material/format_color_text:"))


@dataclass(frozen=True)
class View:
    """What a page shows: one example under one model, and the class to explain."""

    explainer: object
    encoded: object
    example: Example
    data: str
    probabilities: np.ndarray
    target: int

    @property
    def model(self):
        return self.explainer.model

    @property
    def predicted(self) -> int:
        return int(self.probabilities.argmax())

    @property
    def class_name(self) -> str:
        return self.model.labels[self.target]


class Unshowable(Exception):
    """What is chosen cannot be shown; the sentence says why and what to do."""


def open_page(title: str, question: str) -> View:
    """Draw the page's frame and sidebar and return what is chosen.

    While a model loads for the first time its text stands there already, without colours. Where the
    choice cannot be shown, a sentence says why, a box takes another text, and the page stops.
    """
    arrive(title)
    # An emoji: a Material icon as page icon would be fetched from a font server.
    st.set_page_config(page_title=f"{title} · Faithscope", page_icon="🔦", layout="wide")
    st.header(question, anchor=False)
    problem = st.empty()
    try:
        with st.sidebar:
            return _choose(problem)
    except (Unshowable, SettingError) as error:
        problem.error(plain(str(error)), icon=":material/error:")
    text_box("", "")
    st.stop()


def text_box(text: str, second: str) -> None:
    """A box for a text of one's own, which then holds on every page."""
    with st.form("own-text", border=False):
        first = st.text_area("Text", text, height=110, key=f"typed-{hash(text)}", placeholder="Type or paste a text, then press Explain")
        other = st.text_area("Second text", second, height=68, key=f"typed-second-{hash(text)}",
                             help="For models that read two texts (premise and hypothesis, question and passage). It is never masked.")
        if st.form_submit_button("Explain", type="primary"):
            # Without a store (a setting that cannot be used) the page says so above.
            with contextlib.suppress(SettingError):
                _keep_own_text(first, other)
                st.rerun()


def _choose(body) -> View:
    for path, label, icon in PAGES:
        st.page_link(path, label=label, icon=icon)
    name = _model_name()
    example, data = _example()
    slot = st.container()
    unit = linked(st.segmented_control, "Unit", UNITS, "word", "unit", required=True,
                  help="What is masked and scored as one piece: words as people see them, or the tokenizer's tokens.")
    try:
        explainer = _load(name, example, body)
        encoded = explainer.model.encode(example.text, example.second, unit)
        probabilities = explainer.probabilities(encoded)
    except NoFeatures as error:
        raise Unshowable(f"{error} Or choose another example in the sidebar.") from error
    except UnsupportedModel as error:
        raise Unshowable(f"{error} Until then, choose another model in the sidebar.") from error
    except (NonFinite, OutOfMemory) as error:
        raise Unshowable(str(error)) from error
    if resources.store().last_problem:
        st.warning(plain(resources.store().last_problem))
    with slot:
        target = _target(explainer.model.labels, probabilities)
    return View(explainer, encoded, example, data, probabilities, target)


def _load(name: str, example: Example, body):
    if not resources.is_loaded(name):
        with body.container():
            st.caption(f"Loading the model {plain(name)} …")
            # Drawing the words now also has the browser ready for them.
            words([], find_pieces(example.text), "", {}, key="words-waiting")
    explainer = resources.explainer(name)
    body.empty()
    return explainer


def _model_name() -> str:
    try:
        options, first = [*bundled_models(), *resources.added_models()], resources.chosen_settings().model
    except SettingError:
        # Said when the model is to be loaded; the rest of the sidebar is drawn all the same.
        options, first = bundled_models(), bundled_models()[0]
    name = linked(st.selectbox, "Model", options, first, "model",
                  help="A text classifier. Those fine-tuned with masking stay on familiar ground when words are masked.")
    with st.popover("Add a model", width="stretch"):
        with st.form("add-model", border=False):
            typed = st.text_input("Folder, hub id or adapter", key="typed-model", placeholder="folder, or owner/name")
            if st.form_submit_button("Load") and typed.strip():
                _add_model(typed.strip())
    return name


def _add_model(name: str) -> None:
    try:
        with st.spinner("Loading the model …"):
            resources.explainer(name)
    except UnsupportedModel as error:
        st.error(plain(str(error)))
        return
    if name not in [*bundled_models(), *resources.added_models()]:
        resources.added_models().append(name)
    choose("model", name)
    st.rerun()


def _example() -> tuple[Example, str]:
    data = linked(st.selectbox, "Data", [*bundled_data(), OWN], "reviews", "data",
                  help="Examples that ship with Faithscope, or a text of your own.")
    if data == OWN:
        return _own_text(), data
    st.query_params.pop("text", None)
    by_id = {example.id: example for example in resources.examples(data)}
    # Another set of data starts at its own first example.
    if st.session_state.get("data of example", data) != data:
        choose("example", next(iter(by_id)))
        st.session_state["data of example"] = data
        st.rerun()
    st.session_state["data of example"] = data
    ids = list(by_id)
    chosen = linked(st.selectbox, "Example", ids, ids[0], "example", format_func=lambda i: f"{i} · {shortened(by_id[i].text, 70)}")
    _previous_and_next(ids, chosen)
    return by_id[chosen], data


def _previous_and_next(ids: list[str], chosen: str) -> None:
    place = ids.index(chosen)

    def go(step: int) -> None:
        choose("example", ids[(place + step) % len(ids)])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Previous", key="previous", on_click=go, args=(-1,), shortcut="P")
        st.button("Next", key="next", on_click=go, args=(1,), shortcut="N")
        st.caption(f"{place + 1} of {len(ids)}")


def _keep_own_text(text: str, second: str) -> None:
    content = [text, second if second.strip() else None]
    hold("text", resources.store().put_text(json.dumps(content)))
    # A store that cannot be written still leaves the session its own text.
    st.session_state["own text"] = content
    choose("data", OWN)


def _own_text() -> Example:
    digest = held("text")
    found = _read_own(digest) if digest else None
    if found is None:
        reason = "The text of this link is not kept on this machine." if digest else "There is no text of your own yet."
        raise Unshowable(f"{reason} Type one below, or choose other data in the sidebar.")
    hold("text", digest)
    st.query_params["text"] = digest
    st.query_params.pop("example", None)
    return Example("own", found[0], found[1])


def _read_own(digest: str) -> list | None:
    try:
        found = json.loads(resources.store().get_text(digest) or "null")
    except ValueError:
        found = None
    return found or (st.session_state.get("own text") if "held text" in st.session_state else None)


def _target(labels: tuple[str, ...], probabilities: np.ndarray) -> int:
    likely = labels[int(probabilities.argmax())]
    chosen = linked(st.selectbox, "Explained class", [PREDICTED, *labels], PREDICTED, "class",
                    help=f"“{PREDICTED}” is {plain(likely)} here. Attributions say what speaks for this class. It stays fixed while words are masked.")
    return int(probabilities.argmax()) if chosen == PREDICTED else labels.index(chosen)
