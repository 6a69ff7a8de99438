"""The scoreboard by AOPC alone: the whole board's numbers from the passes that they need, and rows of either serve."""

import numpy as np
import pytest

from core.data.examples import Example
from core.data.tables import LabelledTexts
from core.evaluation.asking import ask, read_study
from core.evaluation.engine import Run
from core.evaluation.sampling import without_labels
from core.evaluation.store_log import StoreLog
from core.evaluation.studies.aopc_board import AopcBoard
from core.evaluation.studies.board_report import COMPREHENSIVENESS, NAOPC_C, NAOPC_S, SUFFICIENCY, arrow, figures
from core.evaluation.studies.scoreboard import Scoreboard
from core.explanation.explainer import Explainer
from core.storage.store import Store
from core.validity.fitting import Drawing, fit_reference
from tests import tiny

AOPC, NAOPC = (COMPREHENSIVENESS, SUFFICIENCY), (NAOPC_C, NAOPC_S)
# The last is masked already, and has no row.
TEXTS = tuple(Example(f"e{i}", one) for i, one in enumerate([*tiny.SENTENCES[2:5], "[MASK] [MASK]"]))
SAMPLE = without_labels("toy", "0" * 64, TEXTS)
CHOICES = {"measures": ("gradient", "leave-one-out"), "draws": 2, "orders": 3}
WHOLE, ALONE, BETWEEN = Scoreboard(**CHOICES), AopcBoard(**CHOICES), AopcBoard(**CHOICES, limited=True)


@pytest.fixture(scope="module")
def explainer(tiny_model):
    model = tiny_model("bert")
    texts = LabelledTexts([*tiny.SENTENCES], None, np.zeros(len(tiny.SENTENCES), dtype=np.int64), (), "texts", "0" * 64)
    return Explainer(model, None, fit_reference(model, texts, Drawing(maskings=3)))


@pytest.fixture
def asked(explainer, monkeypatch):
    """`asked(question, store)`: what the network reads for it, each masked input, tested or not, and each attribution."""
    found = []
    batch, compute = explainer.model.scheduler._batch, Explainer._compute

    def read(rows, lengths, hidden):
        found.extend((row.ids.tobytes(), bool(hidden)) for row in rows)
        return batch(rows, lengths, hidden)

    def computed(self, encoded, measure, target, masked, *more):
        found.append((measure.name, encoded.digest, masked.tobytes()))
        return compute(self, encoded, measure, target, masked, *more)

    monkeypatch.setattr(explainer.model.scheduler, "_batch", read)
    monkeypatch.setattr(Explainer, "_compute", computed)

    def of(question, store):
        found.clear()
        ask(explainer, SAMPLE, question, store)
        return [*found]

    return of


@pytest.fixture
def nothing_computed(monkeypatch):
    """Fails once a text that can be masked is computed."""

    def refused(run, i, cancelled):
        assert i == len(TEXTS) - 1, "a row is computed"
        return add(run, i, cancelled)

    add = Run.add
    return lambda: monkeypatch.setattr(Run, "add", refused)


@pytest.mark.parametrize(("question", "shown"), [(ALONE, AOPC), (BETWEEN, AOPC + NAOPC)])
def test_its_figures_are_those_of_the_whole_board_and_the_rest_is_undefined(explainer, tmp_path, question, shown):
    whole, alone = (
        one.conclude(ask(explainer, SAMPLE, one, Store(tmp_path / f"{k}"))) for k, one in enumerate((WHOLE, question))
    )
    assert alone.names == whole.names and alone.n == whole.n == len(TEXTS) - 1 and alone.left_out == whole.left_out
    for figure in figures():
        if figure in shown:
            np.testing.assert_allclose(alone.values[figure], whole.values[figure], atol=1e-5, err_msg=figure)
        elif figure in NAOPC or figure not in AOPC:
            assert np.isnan(alone.values[figure][:, :-1]).all(), figure
        for name in alone.names if figure in shown else ():
            one, other = alone.cells[name, figure], whole.cells[name, figure]
            assert (one.n, one.rejected, one.tested, one.marked) == (
                other.n,
                other.rejected,
                other.tested,
                other.marked,
            )


def test_lines_of_texts_are_those_of_the_whole_board(explainer, tmp_path):
    whole, alone = (
        one.records(ask(explainer, SAMPLE, one, Store(tmp_path / f"{k}"))) for k, one in enumerate((WHOLE, BETWEEN))
    )
    names = ["example", "measure", "class", *(arrow(figure) for figure in AOPC + NAOPC)]
    assert len(alone) == len(whole) == 3 * (len(TEXTS) - 1) + 1
    for one, other in zip(alone, whole):
        assert [one.get(name) for name in names] == pytest.approx([other.get(name) for name in names], abs=1e-5)


def test_what_it_has_asked_the_whole_board_does_not_ask_again(asked, tmp_path):
    """Conservation: both together read what the whole board reads alone, each once."""
    parts = [asked(one, Store(tmp_path / "both")) for one in (ALONE, WHOLE)]
    alone = asked(WHOLE, Store(tmp_path / "alone"))
    together = [one for part in parts for one in part]
    assert len(together) == len(set(together)) and set(together) >= set(alone) and all(parts)
    # Leave-one-out asks untested for some inputs that an erasure metric asks for first, tested.
    more = set(together) - set(alone)
    assert {(ids, True) for ids, _ in more} <= set(alone) and {tested for _, tested in more} <= {False}
    assert len(parts[0]) < len(alone) / 2


def test_limits_add_their_own_inputs_and_no_attribution(asked, tmp_path):
    store = Store(tmp_path)
    before, added, rest = (asked(one, store) for one in (ALONE, BETWEEN, WHOLE))
    assert added and not set(before) & set(added) and not set(added) & set(rest)
    assert {len(one) for one in added} == {2} and not asked(BETWEEN, store)
    # What limits have asked untested may be asked again to be tested.
    alone = asked(WHOLE, Store(tmp_path / "alone"))
    assert {one[0] for one in (*before, *added, *rest)} == {one[0] for one in alone}


@pytest.mark.parametrize("packed", [False, True])
def test_rows_of_a_whole_board_serve_without_computing(explainer, tmp_path, nothing_computed, packed):
    """Packed, as they ship, with nothing beside them of what was asked of a text."""
    store, read = Store(tmp_path / "full"), Store(tmp_path / "rows")
    expected = ask(explainer, SAMPLE, WHOLE, store)
    for study in WHOLE.studies:
        log = StoreLog(read, study.key(explainer))
        run = Run(explainer, SAMPLE, study, StoreLog(store, study.key(explainer)))
        (log.pack if packed else log.append)(run, [(i, ()) for i in np.flatnonzero(run.there)])
    nothing_computed()
    found = BETWEEN.conclude(ask(explainer, SAMPLE, BETWEEN, read))
    for figure in AOPC + NAOPC:
        np.testing.assert_allclose(found.values[figure], WHOLE.conclude(expected).values[figure], atol=1e-6)


def test_its_rows_are_no_rows_of_a_whole_board(explainer, tmp_path):
    store = Store(tmp_path)
    ask(explainer, SAMPLE, ALONE, store)
    assert all(read_study(explainer, SAMPLE, one, store).there[:-1].all() for one in ALONE.studies)
    assert not any(read_study(explainer, SAMPLE, one, store).there.any() for one in WHOLE.studies)


def test_what_it_costs_is_no_less_than_it_takes_and_less_than_the_whole_board(explainer):
    encoded = explainer.encode(TEXTS[0].text, None, "word")
    for lean, whole in zip((ALONE.chance, *ALONE.measured), (WHOLE.chance, *WHOLE.measured)):
        before = explainer.model.scheduler.counters.passes
        ask_one = without_labels("toy", "0" * 64, TEXTS[:1])
        found = Run(explainer, ask_one, lean, None)
        found.add(0, None)
        taken = explainer.model.scheduler.counters.passes - before
        assert taken <= lean.cost(explainer, encoded).passes < whole.cost(explainer, encoded).passes
