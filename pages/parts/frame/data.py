"""What the server holds of data sets for all sessions: their examples, indexed, and what models predict for them."""

import json
from dataclasses import asdict

import numpy as np
import streamlit as st

from core.data.browsing import Index, LabelMatch, Predicted, Query, counts, facets, judge, match_labels, select
from core.data.examples import bundled_data, bundled_set
from core.data.parsed import BadData
from core.data.sources import from_setting, listed, open_data
from core.evaluation.families import examples_of
from core.settings import SettingError
from core.storage.store import canonical_key
from pages.parts.frame import resources

# Predicting what takes no longer than this is done without being asked.
CHEAP_SECONDS = 3.0


def data_sets() -> dict[str, str]:
    """Keys of all data sets and what each holds: the bundled ones, then those of the setting, then those added."""
    try:
        found = listed(resources.library())
    except SettingError:
        # Said where the model is to be loaded; what ships is there all the same.
        return bundled_data()
    return {key: found[key] for key in dict.fromkeys([*bundled_data(), *_of_setting()[0], *found]) if key in found}


def first_data(model: str) -> str:
    """The data of the first view: the setting's first that can be read, else what ships for the model's task, else the
    reviews.
    """
    asked, _ = _of_setting()
    return asked[0] if asked else examples_of(model) or next(iter(bundled_data()))


def data_problems() -> list[str]:
    """Sentences on what the setting names and cannot be read."""
    return _of_setting()[1]


@st.cache_resource(show_spinner=False, max_entries=16)
def index(key: str) -> Index:
    """A data set, read and prepared for browsing; KeyError or BadData as `open_data`."""
    return Index(bundled_set(key) if key in bundled_data() else open_data(resources.library(), key))


def job_key(explainer, index: Index) -> str:
    """The key of the work that predicts a whole data set."""
    return canonical_key(
        "job/predictions", 1, model=explainer.model.digest, precision=explainer.model.precision, data=index.data.digest
    )


def predictions(explainer, index: Index):
    """What is known of a model's predictions for a data set: of the work under way, else of the store."""
    job = resources.jobs().find(job_key(explainer, index))
    known = None if job is None else job.result if job.state == "done" else job.partial if job.active else None
    # A job that ended on the way wrote more than it last told.
    state = "" if job is None else f"{job.state} {job.started}"
    return (
        known
        if known is not None
        else _stored(index.data.digest, explainer.model.digest, explainer.model.precision, state, explainer, index)
    )


def cost(explainer, index: Index):
    """What predicting the whole data set is expected to take, see `core.explanation.explainer.Cost`."""
    from core.evaluation.predicting import expected_cost

    return expected_cost(explainer.model, texts_of(index))


def predict(explainer, index: Index):
    """Start predicting a whole data set, or join the work that is under way; the job."""
    from core.evaluation.predicting import predict_all

    texts, model, store = texts_of(index), explainer.model, resources.store()
    # When this work is forgotten one day, the store knows more than it does now.
    _stored.clear()
    return resources.jobs().submit(
        job_key(explainer, index),
        f"predictions for {index.data.name}",
        lambda job: predict_all(model, texts, store=store, progress=job.report, cancelled=job.cancelled),
    )


def texts_of(index: Index) -> list[tuple[str, str | None]]:
    """The texts of a data set as predicting takes them."""
    return [(example.text, example.second) for example in index.data.examples]


def judged(key: str, explainer) -> tuple[Predicted, LabelMatch, str, object]:
    """A data set's labels beside a model's predictions, how labels were understood, a name for this state of both, and
    the predictions.
    """
    held = index(key)
    if explainer is None:
        return (
            _judged(held.data.digest, "", 0, held, (), LabelMatch({}), None),
            LabelMatch({}),
            f"{held.data.digest}//0",
            None,
        )
    labels, known = explainer.model.labels, predictions(explainer, held)
    match = match_labels(held.data.classes, labels)
    state = explainer.model.digest + explainer.model.precision
    return (
        _judged(held.data.digest, state, known.done, held, labels, match, known.probabilities),
        match,
        f"{held.data.digest}/{state}/{known.done}",
        known,
    )


def offered(state: str, index: Index, judged: Predicted) -> dict[str, tuple[str, ...]]:
    """What can be filtered by, see `core.data.browsing.facets`."""
    return _offered(state, index, judged)


def selection(
    state: str, query: Query, index: Index, judged: Predicted
) -> tuple[np.ndarray, dict[str, dict[str, int]]]:
    """The rows that a query leaves, in its order, and the counts of every facet."""
    return _selection(state, json.dumps(asdict(query), sort_keys=True), query, index, judged)


# Arguments with an underscore are not hashed: what is hashed names them wholly.


@st.cache_resource(show_spinner=False, max_entries=32)
def _stored(data: str, model: str, precision: str, job: str, _explainer, _index):
    from core.evaluation.predicting import stored_predictions

    return stored_predictions(_explainer.model, texts_of(_index), resources.store())


@st.cache_resource(show_spinner=False, max_entries=48)
def _judged(data: str, state: str, done: int, _index, _labels, _match, _probabilities) -> Predicted:
    return judge(_index, _labels, _match, _probabilities)


@st.cache_resource(show_spinner=False, max_entries=48)
def _offered(state: str, _index, _judged) -> dict[str, tuple[str, ...]]:
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
            keys.append(from_setting(resources.library(), asked).key)
        except BadData as error:
            problems.append(f"FAITHSCOPE_DATA names {asked}: {error}")
    return keys, problems
