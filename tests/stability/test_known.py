"""What is known of stability is read and never computed: from the most runs that the store has, else from five draws."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.explanation.explainer import Explainer
from core.mathematics.stepwise import finish
from core.network.scheduler import Cancelled
from core.stability.finding import find_stability
from core.stability.known import draw_stability, known_stability, known_unstable, labelled, unstable_cell
from core.stability.telling import NOT_SHOWN, unstable_text
from core.storage.store import Store

NAME = "SmoothGrad [draws=2]"


@pytest.fixture
def explainer(tiny_model, tmp_path):
    return Explainer(tiny_model("bert"), Store(tmp_path))


def test_the_most_runs_are_read_and_nothing_is_computed(explainer):
    encoded, counters = (
        explainer.encode("the ferry leaves the harbour", None, "word"),
        explainer.model.scheduler.counters,
    )
    about, before = (explainer, encoded, 1), counters.passes
    names = [NAME, "gradient", "random"]
    assert known_unstable(*about, names, "signed") == {} and counters.passes == before
    # Four runs are not enough, the fifth makes it known; of what does not draw only the changes tell.
    for seed in range(5):
        assert known_unstable(*about, names, "signed") == {}
        explainer.attribute(encoded, NAME, 1, seed=seed)
    known = known_stability(*about, names, "signed")
    assert list(known) == [NAME] and known[NAME].runs.asked == 5 and not known[NAME].moves
    whole = finish(find_stability(explainer, encoded, NAME, 1))
    assert (known[NAME].drawn == whole.drawn["L2"]).all()
    finish(find_stability(explainer, encoded, NAME, 1, runs=10))
    finish(find_stability(explainer, encoded, "gradient", 1))
    before = counters.passes
    known = known_stability(*about, names, "signed")
    assert {name: one.runs.asked for name, one in known.items()} == {NAME: 10, "gradient": 1}
    assert known_unstable(*about, names, "signed") == {name: unstable_text(one) for name, one in known.items()}
    assert counters.passes == before


def test_five_runs_that_are_drawn_say_what_the_rule_says():
    def of(tops):
        scores = [np.eye(3)[top] for top in tops]
        explainer = SimpleNamespace(
            store=None,
            attribute=lambda encoded, name, target, seed, cancelled: SimpleNamespace(
                scores={"signed": scores[seed], "absolute": scores[seed]}
            ),
        )
        encoded = SimpleNamespace(F=3, unit="word", premasked=np.zeros(3, dtype=bool))
        assert draw_stability(explainer, encoded, 1, "gradient", "signed") is None
        assert draw_stability(explainer, encoded, 1, "random", "signed") is None
        assert known_stability(explainer, encoded, 1, ["LIME"], "signed") == {}
        return draw_stability(explainer, encoded, 1, "LIME", "signed")

    assert of([0, 1, 2, 0, 0]).unstable and not of([0, 0, 1, 0, 0]).unstable
    parted = of([1, 1, 0, 0, 1])
    assert parted.movers == ["other seeds"] and parted.dissent == 2 and "other seeds" in unstable_text(parted)


def test_runs_that_are_drawn_can_be_cancelled(explainer):
    encoded = explainer.encode("the ferry leaves the harbour", None, "word")
    with pytest.raises(Cancelled):
        draw_stability(explainer, encoded, 1, "LIME", "signed", cancelled=lambda: True)


def test_how_it_is_labelled():
    known = {"LIME": "LIME’s ranking is unstable: so.", "gradient": ""}
    assert [labelled(name, known) for name in ("LIME", "gradient", "beam")] == [
        "LIME (order unstable)",
        "gradient",
        "beam",
    ]
    assert [unstable_cell(name, known) for name in ("LIME", "gradient", "beam")] == [known["LIME"], NOT_SHOWN, None]
