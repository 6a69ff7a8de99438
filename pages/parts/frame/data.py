"""What the server holds of data sets for all sessions: examples, predictions, and what was found out of them."""

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.data.browsing import (
    PER_MEASURE,
    TRAITS,
    Index,
    LabelMatch,
    Predicted,
    Query,
    Trait,
    counts,
    facets,
    judge,
    match_labels,
    select,
)
from core.data.examples import bundled_data, bundled_set
from core.data.parsed import BadData
from core.data.sources import from_setting, listed_data, open_data
from core.evaluation.families import examples_of, relatives
from core.explanation.explainer import Cost, Explainer
from core.job import Job
from core.measures.catalogue import measures
from core.settings import SettingError
from core.storage.store import canonical_key
from core.wording import amount
from pages.parts.frame import resources
from pages.parts.frame.links import held
from pages.parts.frame.working import Work

if TYPE_CHECKING:
    # Imported when something is predicted: the first page does not wait for it.
    from core.evaluation.predicting import Predictions

# Predicting what takes no longer than this is done without being asked.
CHEAP_SECONDS = 3.0


def data_sets() -> dict[str, str]:
    """Keys of all data sets and what each holds: the bundled ones, then those of the setting, then those added."""
    try:
        found = listed_data(resources.library())
    except SettingError:
        # Said where the model is to be loaded; what ships is there all the same.
        return bundled_data()
    return {key: found[key] for key in dict.fromkeys([*bundled_data(), *_of_setting()[0], *found]) if key in found}


def first_data(model: str) -> str:
    """The data of the first view: the setting's first, else what ships for the model's task, else the first bundled."""
    asked, _ = _of_setting()
    return asked[0] if asked else examples_of(model) or next(iter(bundled_data()))


def data_problems() -> list[str]:
    """Sentences on what the setting names and cannot be read."""
    return _of_setting()[1]


@st.cache_resource(show_spinner=False, max_entries=16)
def index(key: str) -> Index:
    """A data set, read and prepared for browsing; KeyError or BadData as `open_data`."""
    return Index(bundled_set(key) if key in bundled_data() else open_data(resources.library(), key))


@dataclass(frozen=True, eq=False)
class Predicting(Work):
    """A model's predictions for a whole data set."""

    explainer: Explainer
    index: Index
    asks, asks_again, failed = "Compute predictions", "Go on with predictions", "{problem}"
    first = batch = True
    counted = "examples"

    @property
    def key(self) -> str:
        model = self.explainer.model
        return canonical_key(
            "job/predictions", 1, model=model.digest, precision=model.precision, data=self.index.data.digest
        )

    @property
    def label(self) -> str:
        return f"predictions for {self.index.data.name}"

    @property
    def cost(self) -> Cost:
        from core.evaluation.predicting import expected_cost

        whole = expected_cost(self.explainer.model, texts_of(self.index))
        return whole.times((len(self.index) - self.known.done) / max(1, len(self.index)))

    @property
    def likeness(self) -> str:
        return f"predictions {self.explainer.model.digest} {self.explainer.model.precision}"

    @property
    def price(self) -> str:
        left = len(self.index) - self.known.done
        return f"{amount(left, 'text')} to read, about {self.takes}; the page stays usable"

    @property
    def at_once(self) -> bool:
        return self.cost.seconds <= CHEAP_SECONDS

    @property
    def begun(self) -> bool:
        return self.known.done > 0

    @property
    def kept(self) -> str:
        return f"Cancelled; {self.known.done:,} predictions are kept."

    @property
    def known(self) -> "Predictions":
        """What is known of them: of the work under way or done, else of the store."""
        known, job, model = self.latest if self.runs or self.complete else None, self.job, self.explainer.model
        # A job that ended on the way wrote more than it last told.
        state = "" if job is None else f"{job.state} {job.started}"
        stored = (self.index.data.digest, model.digest, model.precision, state, self.explainer, self.index)
        return _stored(*stored) if known is None else known

    def ask(self, wanted: bool = True) -> None:
        """Start the job, or join the one that is under way."""
        # When this work is forgotten one day, the store knows more than it does now.
        _stored.clear()
        super().ask(wanted)

    def run(self, job: Job) -> Any:
        from core.evaluation.predicting import predict_all

        model, texts, store = self.explainer.model, texts_of(self.index), resources.store()
        return predict_all(model, texts, store=store, progress=job.report, cancelled=job.cancelled)


def texts_of(index: Index) -> list[tuple[str, str | None]]:
    """The texts of a data set as predicting takes them."""
    return [(example.text, example.second) for example in index.data.examples]


def judged(key: str, explainer: Explainer | None) -> tuple[Predicted, LabelMatch, str, "Predictions | None"]:
    """Labels beside predictions, how labels were understood, a name for this state of both, and the predictions."""
    held = index(key)
    if explainer is None:
        match, state = LabelMatch({}), f"{held.data.digest}//0"
        return _judged(held.data.digest, "", 0, held, (), match, None), match, state, None
    labels, known = explainer.model.labels, Predicting(explainer, held).known
    match = match_labels(held.data.classes, labels, held.data.ordered)
    state = explainer.model.digest + explainer.model.precision
    found = _judged(held.data.digest, state, known.done, held, labels, match, known.probabilities)
    return found, match, f"{held.data.digest}/{state}/{known.done}", known


def selection(
    state: str, query: Query, index: Index, judged: Predicted
) -> tuple[np.ndarray, dict[str, dict[str, int]]]:
    """The rows that a query leaves, in its order, and the counts of every facet."""
    return _selection(state, json.dumps(asdict(query), sort_keys=True), query, index, judged)


# Of more examples traits are not offered: each is read as the model reads it whenever something was computed.
MOST_TRAITS = 1_000


@dataclass(frozen=True)
class Sought:
    """Traits that are asked for: their names; measure: whose order rejections and changes follow; unit: of words;
    moment: what was read of the store at another may be less than is there now.
    """

    names: tuple[str, ...]
    measure: str
    unit: str
    moment: str = ""


def twin_of(explainer: Explainer) -> str | None:
    """The model that *two models differ* is about: the one that was set beside it on another page, else one that was
    trained on the same data in another way; None where there is neither.
    """
    beside = held("beside")
    if beside in resources.models() and beside != explainer.model.origin and resources.is_loaded(beside):
        return beside
    return next(iter(relatives(explainer.model.origin, explainer.model.card)), None)


def offered_traits(explainer: Explainer | None, index: Index) -> list[str]:
    """The traits that can be found out of a data set's examples under a model."""
    if explainer is None or len(index) > MOST_TRAITS:
        return []
    lacking = {
        "twin": twin_of(explainer) is None,
        "rejected": explainer.reference is None,
        "evidence": not any(example.evidence for example in index.data.examples),
    }
    alone = [name for name in TRAITS if name not in PER_MEASURE and not lacking.get(name, False)]
    known = [name for name, one in measures().items() if not one.baseline]
    return [*alone, *(f"{name}: {measure}" for name in PER_MEASURE for measure in known)]


def with_traits(
    state: str, explainer: Explainer | None, index: Index, judged: Predicted, asked: Sought
) -> tuple[Predicted, str]:
    """What is known of the traits that are asked for, beside the predictions, and a name for this state of both."""
    names = [name for name in offered_traits(explainer, index) if name in asked.names] if asked.names else []
    if explainer is None or not names:
        return judged, state
    from core.evaluation.studies.traits import studies_of

    found, told = {}, [state, asked.measure, asked.unit, asked.moment]
    for name in names:
        if name == "twin":
            twin = Predicting(resources.explainer(twin_of(explainer) or ""), index)
            found[name] = _twin(state, twin.key, twin.known.done, explainer, judged, twin)
            told.append(f"{name} {twin.key} {twin.known.done}")
            continue
        places = [study_place(explainer, index, one) for one in studies_of(name, asked.measure, asked.unit)]
        read = _trait(name, " ".join(places), state, asked.moment, asked, explainer, index, judged)
        # What is being computed is newer than what was read; of several studies all are read once they are kept.
        work = trait_works().get(places[0]) if len(places) == 1 else None
        found[name] = read if work is None else work.on_top(name, read, explainer)
        told.append(f"{name} {int(found[name].known.sum())}")
    return replace(judged, traits=found), "/".join(told)


def pins_of(index: Index) -> dict[str, str] | None:
    """Notes of the pinned examples of a data set, by their ids; None where no library can be opened."""
    try:
        return resources.library().pins(index.data.digest)
    except SettingError:
        return None


def with_pins(state: str, index: Index, judged: Predicted) -> tuple[Predicted, str]:
    """Which examples are pinned, beside what is known, and a name for this state of both."""
    pinned = np.zeros(len(index), dtype=np.int64)
    for one, note in (pins_of(index) or {}).items():
        if one in index.rows:
            pinned[index.rows[one]] = 2 if note else 1
    places = np.flatnonzero(pinned)
    return replace(judged, pinned=pinned), f"{state}/{places.tolist()}{pinned[places].tolist()}"


def study_place(explainer: Explainer, index: Index, study: Any) -> str:
    """A name for a study of a whole data set under a model, whatever is known of it."""
    about = {"asked": study.name, "choices": asdict(study)}
    return canonical_key("trait", 2, study=study.key(explainer), data=index.data.digest, **about)


@st.cache_resource(show_spinner=False)
def trait_works() -> dict[str, Any]:
    """The work that was asked for last of a study that finds traits, by `study_place`; for all sessions."""
    return {}


# Arguments with an underscore are not hashed: what is hashed names them wholly.


@st.cache_resource(show_spinner=False, max_entries=32)
def _trait(name: str, places: str, state: str, moment: str, _asked, _explainer, _index, _judged) -> Trait:
    from core.evaluation.asking import read_study
    from core.evaluation.studies.traits import joined_traits, predicted_sample, studies_of, trait_of

    everything, N = np.arange(len(_index)), len(_index)
    sample = predicted_sample(_index.data, _judged, everything)
    studies = studies_of(name, _asked.measure, _asked.unit)
    read = {study: read_study(_explainer, sample, study, resources.store()) for study in studies}
    found = trait_of(name, read, _explainer, sample, _asked.unit)
    nothing = Trait(np.full(N, np.nan), np.zeros(N, dtype=bool))
    return joined_traits(nothing, np.flatnonzero(_judged.predicted >= 0), found)


@st.cache_resource(show_spinner=False, max_entries=16)
def _twin(state: str, other: str, done: int, _explainer, _judged, _twin) -> Trait:
    from core.evaluation.studies.traits import twin_differs

    found = _twin.known.predicted if _twin.known.done else np.full(len(_judged.predicted), -1)
    return twin_differs(_judged.predicted, _explainer.model.labels, found, _twin.explainer.model.labels)


@st.cache_resource(show_spinner=False, max_entries=32)
def _stored(data: str, model: str, precision: str, job: str, _explainer, _index):
    from core.evaluation.predicting import stored_predictions

    return stored_predictions(_explainer.model, texts_of(_index), resources.store())


@st.cache_resource(show_spinner=False, max_entries=48)
def _judged(data: str, state: str, done: int, _index, _labels, _match, _probabilities) -> Predicted:
    return judge(_index, _labels, _match, _probabilities)


@st.cache_resource(show_spinner=False, max_entries=48)
def offered(state: str, _index: Index, _judged: Predicted) -> dict[str, tuple[str, ...]]:
    """What can be filtered by, see `core.data.browsing.facets`."""
    return facets(_index, _judged)


@st.cache_resource(show_spinner=False, max_entries=64)
def _selection(state: str, asked: str, _query, _index, _judged):
    return select(_index, _judged, _query), counts(_index, _judged, _query)


@st.cache_resource(show_spinner="Reading the data that FAITHSCOPE_DATA names …")
def _of_setting() -> tuple[list[str], list[str]]:
    """Keys of the data sets that the setting names, and sentences on those that cannot be read."""
    keys, problems = [], []
    try:
        named = resources.chosen_settings().data
    except SettingError:
        named = ()
    for asked in named:
        try:
            keys.append(asked if asked in bundled_data() else from_setting(resources.library(), asked).key)
        except BadData as error:
            problems.append(f"FAITHSCOPE_DATA names {asked}: {error}")
    return keys, problems
