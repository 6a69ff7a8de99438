"""Options of a measure, in brackets behind its name: they are found, refused in words, and stored apart."""

import numpy as np
import pytest

from core.commands.evaluate import add
from core.evaluation.studies.scoring import Scoring
from core.explanation.explainer import Explainer
from core.figures.palette import hue
from core.measures.catalogue import is_measure, measure, measures
from core.measures.integrated_gradients import token_attributions
from core.oracle.inside import Inside
from core.storage.store import Store

NAME = "integrated gradients"
ASKED = f"{NAME} [steps=7, baseline=mask]"


@pytest.fixture(scope="module")
def encoded(tiny_model):
    return tiny_model("bert").encode("The captain reads the wind")


def test_what_is_asked_for_is_computed(tiny_model, encoded):
    model = tiny_model("bert")
    found = Explainer(model).attribute(encoded, ASKED, 1)
    inside = Inside(model, encoded, np.zeros(encoded.F, dtype=bool), 1)
    np.testing.assert_allclose(
        found.scores["signed"], inside.per_feature(token_attributions(inside, 7, "mask")), rtol=1e-5, atol=1e-9
    )
    assert found.measure == ASKED and found.passes == 7 == measure(ASKED).passes(encoded.F)
    plain = Explainer(model).attribute(encoded, NAME, 1).scores["signed"]
    assert np.abs(found.scores["signed"] - plain).max() > 1e-4


def test_each_is_stored_apart_and_defaults_where_they_were(tiny_model, encoded, tmp_path):
    explainer = Explainer(tiny_model("bert"), Store(tmp_path))
    explainer.attribute(encoded, NAME, 1)
    assert explainer.stored(encoded, f"{NAME} [steps=20]", 1) is not None
    assert explainer.stored(encoded, ASKED, 1) is None
    explainer.attribute(encoded, ASKED, 1)
    assert explainer.stored(encoded, f"{NAME} [baseline=mask,steps=7]", 1) is not None
    assert explainer.stored(encoded, f"{NAME} [steps=7]", 1) is None


def test_no_menu_holds_it_and_everything_that_takes_a_name_takes_it():
    assert is_measure(ASKED) and ASKED not in list(measures()) and hue(ASKED) == hue(NAME)
    assert "over 7 steps" in measure(ASKED).definition and "fully masked" in measure(ASKED).definition
    Scoring(measures=(NAME, ASKED)).check()
    told = []
    add(lambda *names, **more: told.append(more["help"]) if "--measures" in names else None)
    assert f"{NAME} [steps=…, baseline=…]" in told[0]


@pytest.mark.parametrize("steps", [1, 10_000])
def test_both_ends_of_a_range_can_be_asked_for(steps):
    assert measure(NAME).asked(f"steps={steps}").passes(3) == steps


@pytest.mark.parametrize(
    "wrong, said",
    [
        ("steps=0", "must be 1 to 10000"),
        ("steps=many", "must be 1 to 10000"),
        ("steps=99999999999", "must be 1 to 10000"),
        ("baseline=pad", "zero, mask"),
        ("width=3", "no option 'width'; it has steps, baseline"),
        ("", "no option ''"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(wrong, said, tiny_model, encoded):
    with pytest.raises(ValueError, match=said):
        measure(NAME).asked(wrong)
    assert not is_measure(f"{NAME} [{wrong}]")
    with pytest.raises(ValueError, match="there is no measure"):
        Explainer(tiny_model("bert")).attribute(encoded, f"{NAME} [{wrong}]", 1)


@pytest.mark.parametrize(
    "name", ["gradient [steps=2]", "no such [steps=2]", f"{NAME} [steps=2", f"{NAME}[steps=2]", ""]
)
def test_other_names_are_none(name):
    assert not is_measure(name)
    with pytest.raises((KeyError, ValueError)):
        measure(name)
