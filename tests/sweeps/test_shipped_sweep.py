"""The sweep that ships is of this version, of these models, data and measures, and says what results say that ship."""

import numpy as np
import pytest

from core.data.examples import bundled_set
from core.evaluation.asking import read_study
from core.evaluation.engine import Run
from core.evaluation.sampling import draw_sample
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.study import Answers
from core.explanation.explainer import with_reference
from core.loading.loading import load
from core.measures.catalogue import measure
from core.storage.shipped import RESULTS
from core.storage.store import Store
from core.sweeps.checking import SeededCheck
from core.sweeps.performance import performance_lines
from core.sweeps.reading import SHIPPED, read_tables
from core.sweeps.registry import Reply
from core.sweeps.running import draw_set
from core.sweeps.texts import FIGURES, text_lines
from tests.shipped_work import MASKED, PLAIN, SWEEP

MOST_BYTES = 300_000
ORDINARY = bundled_set(SWEEP.data[0].file)


@pytest.fixture(scope="module")
def shipped():
    return read_tables(SHIPPED)


@pytest.fixture(scope="module", params=[MASKED, PLAIN])
def explainer(request, tmp_path_factory):
    """A bundled model above what ships, of which nothing is computed again."""
    store = Store(tmp_path_factory.mktemp("store"), shipped=RESULTS)
    return with_reference(load(request.param, "cpu", "float32"), store)


def answered(explainer, question, sample):
    found = {study: read_study(explainer, sample, study, explainer.store) for study in question.studies}
    return Reply(question, Answers(explainer.model, explainer.reference, sample, found), None)


def test_it_is_of_this_configuration_and_these_models_data_and_measures(shipped, explainer):
    facts, model = shipped.facts, explainer.model
    assert facts["configuration_sha256"] == SWEEP.digest and set(shipped.lines) == set(SWEEP.tables)
    assert f"{model.name} {model.digest} {model.precision} {explainer.tests_by}" in facts["models"]
    assert facts["data"] == [f"{ORDINARY.name} {ORDINARY.digest}"]
    assert facts["measures"] == [f"{name} {measure(name).version}" for name in SWEEP.measures]
    drawn = draw_set(SWEEP, ORDINARY, model.labels).examples
    assert facts["sample_ids"] == [f"{ORDINARY.name} {one.id}" for one in drawn] and len(drawn) == SWEEP.sample


def test_nothing_but_small_tables_ships():
    assert {path.suffix for path in SHIPPED.iterdir()} == {".parquet"}
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) <= MOST_BYTES


def test_texts_are_those_of_the_scoreboard_that_ships(shipped, explainer, monkeypatch):
    monkeypatch.setattr(Run, "add", lambda *_: pytest.fail("nothing is computed"))
    sample = draw_sample(ORDINARY, explainer.model.labels, 20)
    lines = text_lines(answered(explainer, Scoreboard(SWEEP.measures, SWEEP.values, SWEEP.unit), sample))
    there = {tuple(one[name] for name in ("model", "example", "measure")): one for one in shipped.lines["texts"]}
    assert len(lines) == len(sample) * (1 + len(SWEEP.measures))
    for line in lines:
        other = there[line["model"], line["example"], line["measure"]]
        assert (line["predicted"], line["right"], line["tags"]) == (other["predicted"], other["right"], other["tags"])
        values, others = (np.array([one[name] for name in FIGURES], dtype=float) for one in (line, other))
        assert np.allclose(values, others, atol=1e-4, equal_nan=True)


def test_random_order_is_that_of_the_check_that_ships(shipped, explainer, monkeypatch):
    monkeypatch.setattr(Run, "add", lambda *_: pytest.fail("nothing is computed"))
    sample = draw_set(SWEEP, ORDINARY, explainer.model.labels)
    lines = performance_lines(answered(explainer, SeededCheck((), SWEEP.values, SWEEP.unit), sample))
    shipped = [one for one in shipped.lines["performance"] if one["model"] == explainer.model.name and one["seed"] == 0]
    assert [one["performance"] for one in lines] == [one["performance"] for one in shipped] and len(lines) == 11
