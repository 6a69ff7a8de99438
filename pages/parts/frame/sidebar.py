"""The one sidebar: model, data, example, explained class, unit; the same on every page."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data.examples import Example
from core.explanation.explainer import Explainer
from core.explanation.rows import find_pieces
from core.loading.locating import bundled_models
from core.network.architectures import UnsupportedModel
from core.network.features import FIRST, MASKABLE, UNITS, Encoded, NoFeatures
from core.network.model import Model
from core.network.scheduler import NonFinite, OutOfMemory
from core.oracle.target import Contrast, Target, score_kind, score_name, target_name
from core.settings import SettingError
from core.settings import read as read_settings
from core.stability.known import known_unstable
from core.validity.marks import HOLM, RULES
from core.validity.references import CALIBRATED, FORMS, Reference
from core.wording import number, plain
from pages.parts.components.copy_link import copy_link
from pages.parts.components.steady import page_style, steady_buttons
from pages.parts.components.words import words
from pages.parts.frame import filters, resources
from pages.parts.frame.adding import TURN, ways_to_add
from pages.parts.frame.links import (
    arrive,
    choose,
    choose_one,
    folded,
    held,
    held_of,
    hold,
    linked,
    remark,
    say_missing,
    show_missing,
    shown_page,
    text_of_link,
)
from pages.parts.frame.pages import PAGES, page_of
from pages.parts.frame.picking import (
    AGAINST,
    NOT_KEPT,
    OWN,
    Browsed,
    Unshowable,
    browse,
    choose_member,
    keep_own_text,
    own_texts,
    pick_data,
    pick_example,
    read_own,
    text_box,
    wait_for_predictions,
)
from pages.parts.frame.tour import tour_bar
from pages.parts.frame.tray import draw_storage, draw_tray
from pages.parts.frame.words_and_keys import words_and_keys
from pages.parts.frame.working import arrive_anew, in_turn

_FORM_HELP = (
    "Calibrated rejects at most 5 % of texts like the reference's, on average over references. Literal is the paper's "
    "form; it rejects unmasked texts too often and cannot give very small p-values."
)
PREDICTED, ALL_OTHERS, HIGHEST = "predicted", "—", "highest"
_TEXT_GONE = "This text is not kept here. Type one, or choose other data."
_NO_TEXT_YET = "Type a text below and press Explain, or choose data in the sidebar."
_OTHER_WEIGHTS = "This link was made with other weights; numbers may differ."
_MODEL_HELP = "A text classifier, fine-tuned with masking or without"
_UNIT_HELP = "What is masked and scored as one piece; longer texts need larger ones."
_MASKABLE_HELP = "Which texts of a pair are masked and scored."
_THAN_HELP = "Explain the difference of two logits."
_ALONE = "This page explains the class alone."
# Classes that have a button each; of more the select box says how likely each is.
MOST_BUTTONS = 4
# Pages whose scores are logits, or may be a difference of two: they take "rather than", the others keep the class.
CONTRASTED = ("Attributions", "Recursive masking", "AOPC and NAOPC")


class NoTextYet(Unshowable):
    """A text of one's own is chosen and none is typed: no error, but where one begins."""


class Method(NamedTuple):
    """How inputs are tested on every page: the form of the MaSF test, and the rule of the gate."""

    form: str
    rule: str


class Places(NamedTuple):
    """What stands above the picture of a page: answer, measures, what is beside them, and a popover of the rest."""

    answer: DeltaGenerator
    measures: DeltaGenerator
    beside: DeltaGenerator
    example: DeltaGenerator


@dataclass(frozen=True, eq=False)
class View:
    """What a page shows: one example under one model, and the class to explain; browsed: its data set, None for typed
    text; than: the class that the explained one is set against, None where it is none; places: where its answer and its
    choices stand.
    """

    explainer: Explainer
    encoded: Encoded
    example: Example
    data: str
    browsed: Browsed | None
    probabilities: np.ndarray
    target: int
    places: "Places"
    than: int | None = None

    @property
    def explained(self) -> Target:
        return self.target if self.than is None else Contrast(self.target, self.than)

    @property
    def model(self) -> Model:
        return self.explainer.model

    @property
    def reference(self) -> Reference | None:
        return self.explainer.reference

    @property
    def predicted(self) -> int:
        return int(self.probabilities.argmax())

    @property
    def predicted_name(self) -> str:
        return self.model.labels[self.predicted]

    @property
    def probability(self) -> float:
        """Of the class that it predicts, in [0, 1]."""
        return float(self.probabilities[self.predicted])

    @property
    def class_name(self) -> str:
        return target_name(self.model.labels, self.explained)

    @property
    def score_name(self) -> str:
        """What v is: "probability of positive", "logit of positive − logit of negative"."""
        return score_name(self.model.labels, self.explained)

    @property
    def score_kind(self) -> str:
        """The same in a word or two for a sentence: "probability"."""
        return score_kind(self.explained)

    def unstable(self, names: Iterable[str], sign: str) -> dict[str, str]:
        """What is known of whether measures rank stably here, as of `known_unstable`; nothing is computed for it."""
        return known_unstable(self.explainer, self.encoded, self.explained, names, sign)

    @property
    def pair(self) -> Example | None:
        """The example of the same data that is another version of this one; None where there is none."""
        place = None if self.browsed is None else self.browsed.index.rows.get(self.example.pair)
        return None if self.browsed is None or place is None else self.browsed.index.data.examples[place]

    @property
    def label_class(self) -> int | None:
        """The class that the example's label means; None without a label, or where the model has no such class."""
        return None if self.browsed is None else self.browsed.match.classes.get(self.example.label)


@dataclass
class Frame:
    """What could be chosen, as far as it can be shown."""

    explainer: Explainer | None = None
    browsed: Browsed | None = None
    example: Example | None = None
    view: View | None = None


@dataclass(frozen=True)
class DataView:
    """What a page about data shows: a model and a data set; example: the one that is chosen there."""

    explainer: Explainer
    browsed: Browsed
    example: Example | None


def open_page(title: str, lead: Callable[[], None] | None = None, above: bool = False) -> View:
    """Draw the page's frame and sidebar and return what is chosen; lead: draws what stands there before all else;
    above: class and unit unfold above the picture, beside the measures, and do not stand in the sidebar.

    While a model loads for the first time its text stands there already, without colours. Where the
    choice cannot be shown, a sentence says why, a box takes another text, and the page stops.
    """
    frame = open_frame(title, lead, above)
    if frame.view is None:
        text_box("", "")
        st.stop()
    return frame.view


def open_frame(title: str, lead: Callable[[], None] | None = None, above: bool = False) -> Frame:
    """As `open_page`, but where the choice cannot be shown the page goes on after the sentence, with what there is."""
    arrive(title)
    arrive_anew()
    # An emoji: a Material icon as page icon would be fetched from a font server.
    st.set_page_config(page_title=f"{title} · Faithscope", page_icon="🔦", layout="wide")
    page_style()
    tour_bar(title)
    st.title(page_of(title).question, anchor=False)
    if lead is not None:
        lead()
    missing, frame = st.container(), Frame()
    answer, row = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    places = Places(answer, row.container(width=430), row.container(), row.container(width="content"))
    place = st.empty()
    try:
        with st.sidebar:
            _take_text_of_link()
            frame.view = _choose(frame, place, places, above)
    except (Unshowable, SettingError) as error:
        if isinstance(error, NoTextYet):
            place.info(plain(str(error)), icon=":material/edit:")
        else:
            place.error(plain(str(error)), icon=":material/error:")
    with st.sidebar:
        _choose_method()
        words_and_keys()
        own = frame.example if frame.example is not None and frame.browsed is None else None
        copy_link(*((own.text, own.second) if own is not None else ()))
        steady_buttons(st.session_state.get(TURN, 0))
        draw_storage()
        draw_tray()
    with missing:
        show_missing()
    filters.write(with_page=title == "Examples")
    return frame


def open_data_page(title: str, own: str) -> DataView | None:
    """As `open_frame`, for a page about data; None where there is no model or no data, which own or the page says."""
    frame = open_frame(title)
    if frame.view is None:
        # As on the other pages: a text of one's own is a way on.
        text_box("", "")
    if frame.explainer is None:
        return None
    if frame.browsed is None:
        if frame.example is not None:
            st.info(f"{own} in the sidebar, or add a file on the page Examples.")
        return None
    return DataView(frame.explainer, frame.browsed, frame.example)


def chosen_method() -> Method:
    """How inputs are tested, as chosen in the sidebar."""
    return Method(held_of("form", FORMS, CALIBRATED), held_of("rule", RULES, HOLM))


def chosen_maskable() -> str:
    """Which texts of pairs are masked, as chosen in the sidebar."""
    return held_of("maskable", MASKABLE, FIRST)


def _choose_method() -> None:
    with folded(st.popover("Method", icon=":material/science:", type="tertiary")):
        choose_one("Form of the test", FORMS, CALIBRATED, "form", _FORM_HELP)
        about = " ".join(f"{name.capitalize()}: {rule.about}." for name, rule in RULES.items())
        choose_one("Validity gate", list(RULES), HOLM, "rule", about)


def _choose(frame: Frame, body, places: Places, above: bool) -> View:
    for page in PAGES:
        st.page_link(page.path, label=page.title, icon=page.icon)
    name = _model_name()
    key = pick_data(name)
    own_texts()
    try:
        if key == OWN:
            frame.example = _own_text()
        else:
            st.query_params.pop("text", None)
            frame.example = _pick(frame, name, key, body)
        if above:
            # Not before there is something to set: it would unfold nothing.
            unfolded = places.example.popover("More settings", icon=":material/tune:", width="content")
            places = places._replace(example=unfolded)
        with folded(places.example) if above else contextlib.nullcontext():
            slot = st.container()
            unit = choose_one("Unit", UNITS, "word", "unit", _UNIT_HELP, width="stretch")
            maskable = _maskable(frame.example)
        frame.explainer = _load(name, frame.example, body)
        if frame.browsed is not None and frame.browsed.known is None:
            # Browsed before there was a model.
            frame.browsed = browse(key, frame.explainer)
        encoded = frame.explainer.encode(frame.example.text, frame.example.second, unit, maskable)
        with in_turn(frame.explainer.model):
            with folded(slot) if above else slot:
                frame.explainer = _of_label(frame.explainer, encoded)
            probabilities = frame.explainer.probabilities(encoded)
        if frame.browsed is not None and frame.explainer.model.whole is not None:
            frame.browsed = browse(key, frame.explainer)
    except NoFeatures as error:
        raise Unshowable(f"{error} Or choose another example in the sidebar.") from error
    except UnsupportedModel as error:
        raise Unshowable(f"{error} Until then, choose another model in the sidebar.") from error
    except (NonFinite, OutOfMemory) as error:
        raise Unshowable(str(error)) from error
    for problem in filter(None, (resources.store().last_problem, resources.library().last_problem)):
        st.warning(plain(problem))
    _check_weights(frame.explainer.model)
    with folded(slot) if above else slot:
        target = _target(frame.explainer.model.labels, probabilities)
        than = _than(frame.explainer.model.labels, target)
    return View(frame.explainer, encoded, frame.example, key, frame.browsed, probabilities, target, places, than)


def _maskable(example: Example) -> str:
    """Which texts of a pair are masked; of a text alone nothing is asked."""
    if example.second is None:
        return FIRST
    return choose_one("Masked texts", MASKABLE, FIRST, "maskable", _MASKABLE_HELP, width="stretch")


def _pick(frame: Frame, name: str, key: str, body: DeltaGenerator) -> Example:
    """Choose an example; filters on what the model predicts need the model first, and `body` says so."""
    if filters.current_query().asks_model or resources.is_loaded(name):
        if not resources.is_loaded(name):
            body.caption(f"Loading the model {plain(resources.model_title(name))} …")
        # A model that cannot be used is said when it is to be shown; the examples are there all the same.
        with contextlib.suppress(UnsupportedModel):
            frame.explainer = resources.explainer(name)
    frame.browsed = browse(key, frame.explainer)
    if frame.explainer is not None and wait_for_predictions(frame.explainer, frame.browsed):
        frame.browsed = browse(key, frame.explainer)
    return pick_example(frame.browsed)


def _check_weights(model: Model) -> None:
    """A link names the weights that it was made with; others give other numbers."""
    of_link = st.query_params.get("weights", ""), model.origin
    asked, named = st.session_state.setdefault("weights of link", of_link)
    if asked and named == model.origin and not model.digest.startswith(asked):
        st.warning(_OTHER_WEIGHTS)
    st.query_params["weights"] = model.digest[:12]


def _load(name: str, example: Example, body):
    if not resources.is_loaded(name):
        with body.container():
            st.caption(f"Loading the model {plain(resources.model_title(name))} …")
            # Drawing the words now also has the browser ready for them.
            words([], find_pieces(example.text), "", {}, key="words-waiting")
    explainer = resources.explainer(name)
    body.empty()
    return explainer


def _model_name() -> str:
    try:
        options, first = resources.models(), resources.chosen_settings().model
    except SettingError:
        # Said when the model is to be loaded; the rest of the sidebar is drawn all the same.
        options, first = bundled_models(), read_settings({}).model
    paths = [f"{title}: {name}" for name in options if (title := resources.model_title(name)) != name]
    about = "\n\n".join([_MODEL_HELP, *map(plain, paths)])
    chosen = linked(st.selectbox, "Model", options, first, "model", help=about, format_func=resources.model_title)
    name = choose_member(chosen)
    ways_to_add()
    return name


def _take_text_of_link() -> None:
    """A text that a link carries itself is a text of one's own from then on, beside the one that the link names."""
    carried, asked = text_of_link() if held("data") in (None, OWN) else None, held(AGAINST)
    if carried is None:
        return
    before = None if asked is None else read_own(asked)
    if asked is not None and before is None:
        remark(NOT_KEPT)
    keep_own_text(*carried, None if before is None else (before[0], before[1]))


def _own_text() -> Example:
    """The text that the session or its link names; Unshowable where there is none."""
    digest = held("text")
    found = read_own(digest) if digest else None
    if found is None:
        if digest:
            raise Unshowable(_TEXT_GONE)
        raise NoTextYet(_NO_TEXT_YET)
    hold("text", digest)
    st.query_params["text"] = digest
    st.query_params.pop("example", None)
    return Example("own", found[0], found[1])


def _of_label(explainer: Explainer, encoded: Encoded) -> Explainer:
    """The label that is read of several, unasked that with the largest sigmoid; of any other model nothing is asked."""
    if not explainer.model.any_label or explainer.model.whole is None:
        return explainer
    labels = explainer.model.whole.labels
    chosen = linked(st.selectbox, "Label", [HIGHEST, *labels], HIGHEST, "of-label")
    return explainer.of_label(explainer.highest_label(encoded) if chosen == HIGHEST else labels.index(chosen))


def _target(labels: tuple[str, ...], probabilities: np.ndarray) -> int:
    likely = labels[int(probabilities.argmax())]
    shares = dict(zip(labels, probabilities)) if len(labels) > MOST_BUTTONS else {}
    chosen = linked(
        st.selectbox,
        "Explained class",
        [PREDICTED, *labels],
        PREDICTED,
        "class",
        format_func=lambda name: f"{name} · {number(float(shares[name]))}" if name in shares else name,
        help=f"“{PREDICTED}” is {plain(likely)} here; fixed while words are masked.",
    )
    return int(probabilities.argmax()) if chosen == PREDICTED else labels.index(chosen)


def _than(labels: tuple[str, ...], target: int) -> int | None:
    """The class that the explained one is set against, on pages that take one; None where none is."""
    others, asked = [label for i, label in enumerate(labels) if i != target], held("than")
    if asked not in (None, ALL_OTHERS, *others):
        if "held than" in st.session_state and len(others) == 1:
            # Of two classes it is the other one, whichever is explained.
            choose("than", others[0])
        elif "held than" not in st.session_state:
            say_missing("the contrast with", [asked])
            st.query_params.pop("than", None)
    chosen = linked(st.selectbox, "Rather than", [ALL_OTHERS, *others], ALL_OTHERS, "than", help=_THAN_HELP)
    if chosen == ALL_OTHERS:
        return None
    if shown_page() not in CONTRASTED:
        st.caption(_ALONE)
        return None
    return labels.index(chosen)
