"""Studies over the same texts share what each has asked of the network, whoever came first."""

from dataclasses import replace

import numpy as np
import pytest

from core.data.examples import Example
from core.data.tables import LabelledTexts
from core.evaluation import matrix
from core.evaluation.asking import ask
from core.evaluation.sampling import without_labels
from core.evaluation.studies.scoreboard import Scoreboard
from core.evaluation.studies.scoring import Scoring
from core.evaluation.studies.verdicts import Verdicts
from core.explanation.explainer import Explainer
from core.judging.judging import How
from core.network.scheduler import Cancelled
from core.storage.holdings import holdings
from core.storage.store import Store
from core.validity.fitting import Drawing, fit_reference
from tests import tiny

SAMPLE = without_labels("toy", "0" * 64, tuple(Example(f"e{i}", text) for i, text in enumerate(tiny.SENTENCES[2:5])))
MEASURES = "gradient", "leave-one-out", "integrated gradients"
SCORES = Scoring(MEASURES, how=How(draws=2), count=3)
BOARD = Scoreboard(MEASURES, draws=2, orders=3)
VERDICTS = Verdicts(MEASURES)


@pytest.fixture(scope="module")
def explainer(tiny_model):
    model = tiny_model("bert")
    texts = LabelledTexts([*tiny.SENTENCES], None, np.zeros(len(tiny.SENTENCES), dtype=np.int64), (), "texts", "0" * 64)
    return Explainer(model, None, fit_reference(model, texts, Drawing(maskings=3)))


@pytest.fixture
def asked(explainer, monkeypatch):
    """What is computed from here on: masked inputs and whether they are tested, attributions, soft scores."""
    found = []
    # A search in half precision asks another network.
    monkeypatch.setattr("core.network.halves.half_speed", lambda device: 0.0)
    batch, compute, rate = explainer.model.scheduler._batch, Explainer._compute, matrix.rate_kept

    def read(rows, lengths, hidden):
        found.extend((row.ids.tobytes(), hidden) for row in rows)
        return batch(rows, lengths, hidden)

    def computed(self, encoded, measure, target, masked, *more):
        found.append((measure.name, encoded.digest, masked.tobytes()))
        return compute(self, encoded, measure, target, masked, *more)

    def rated(judge, metric, scores, magnitudes):
        found.extend([(metric, judge.encoded.digest, scores.tobytes())] * matrix.metrics()[metric].soft)
        return rate(judge, metric, scores, magnitudes)

    monkeypatch.setattr(explainer.model.scheduler, "_batch", read)
    monkeypatch.setattr(Explainer, "_compute", computed)
    monkeypatch.setattr(matrix, "rate_kept", rated)
    return found


def computes(asked, explainer, question, store) -> list:
    asked.clear()
    ask(explainer, SAMPLE, question, store)
    return [*asked]


@pytest.mark.parametrize("first, second", [(SCORES, BOARD), (BOARD, SCORES), (BOARD, VERDICTS), (SCORES, VERDICTS)])
def test_what_one_question_has_asked_no_other_asks_again(explainer, asked, tmp_path, first, second):
    store = Store(tmp_path)
    before, after = (computes(asked, explainer, one, store) for one in (first, second))
    alone = computes(asked, explainer, second, Store(tmp_path / "alone"))
    assert not set(before) & set(after)
    # Tested by one of them, an input need not be asked for by the other without the test.
    assert {one[0] for one in alone} <= {one[0] for one in (*before, *after)}
    assert len(after) < len(alone)


@pytest.mark.parametrize("first, second", [(SCORES, BOARD), (BOARD, SCORES)])
def test_shared_numbers_are_those_of_each_alone(explainer, tmp_path, first, second):
    store = Store(tmp_path)
    ask(explainer, SAMPLE, first, store)
    shared, alone = (ask(explainer, SAMPLE, second, one) for one in (store, Store(tmp_path / "alone")))
    for study, rows in alone.found.items():
        columns = {"values": rows.values} if isinstance(study, Scoring) else rows.columns
        known = {"values": shared.found[study].values} if isinstance(study, Scoring) else shared.found[study].columns
        for name in columns.keys() - {"took"}:
            np.testing.assert_allclose(known[name], columns[name], atol=1e-5, err_msg=f"{study.name}, {name}")


def test_a_text_is_a_file_a_visit_and_belongs_to_its_model(explainer, tmp_path):
    store = Store(tmp_path)
    ask(explainer, SAMPLE, SCORES, store)
    one_log = 1
    assert len(store.files()) == len(SAMPLE) + one_log
    (held,) = holdings(store)
    assert (held.name, held.files) == (explainer.model.name, len(SAMPLE) + one_log)


def test_what_a_killed_run_asked_of_a_text_is_not_asked_again(explainer, asked, tmp_path, monkeypatch):
    store, alone = Store(tmp_path), replace(SCORES, metrics=("NS",))
    batches, batch = [], explainer.model.scheduler._batch

    def stopped(rows, lengths, hidden):
        batches.append(len(rows))
        if len(batches) == 3:
            raise Cancelled("stopped")
        return batch(rows, lengths, hidden)

    monkeypatch.setattr(explainer.model.scheduler, "_batch", stopped)
    with pytest.raises(Cancelled):
        ask(explainer, SAMPLE, alone, store)
    before = {*asked}
    after = computes(asked, explainer, alone, store)
    masked = {one for one in before if len(one) == 2}
    assert masked and not masked & set(after)


def test_damage_costs_computing_and_nothing_else(explainer, asked, tmp_path):
    store = Store(tmp_path)
    computes(asked, explainer, SCORES, store)
    for _, _, path, _ in store.files():
        with open(path, "r+b") as file:
            file.seek(-20, 2)
            file.write(b"\xff" * 20)
    assert set(computes(asked, explainer, SCORES, store)) == set(
        computes(asked, explainer, SCORES, Store(tmp_path / "alone"))
    )
